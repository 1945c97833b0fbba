"""docs/PRIVACY.md promises the numbers that the settings have by default."""

from pathlib import Path

import pytest

from forgetmenot.settings.schema import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "PRIVACY.md").read_text(encoding="utf-8")
HOURS = f"{Settings().memory.raw_events_h:g}"
PRIVACY = Settings().privacy


@pytest.mark.parametrize(
    ("words", "times"),
    [
        (f"`events` | {HOURS} hours, or less", 1),
        (f"deleted after {HOURS} hours", 1),
        (f"| {PRIVACY.keep_replies_d} days |", 3),
        (f"replies after {PRIVACY.keep_replies_d} days", 1),
        (f"the newest {PRIVACY.keep_backups}; one at each start and every day", 1),
    ],
)
def test_the_page_has_the_numbers_of_the_defaults(words: str, times: int) -> None:
    assert " ".join(PAGE.replace("> ", "").split()).count(words) >= times
