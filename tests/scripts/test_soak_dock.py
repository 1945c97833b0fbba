"""The soak of the dock's page tells what grew, and the bench says why it measures nothing."""

from pathlib import Path

import browser
import pytest
import soak_dock
from soak_dock import Minute
from speed import dock


def minutes(*heaps: float, elements: int = 1_000, slowest: float = 0.1, shown: bool = True) -> list[Minute]:
    return [Minute(number, heap, elements, 30, slowest, shown, 2.0) for number, heap in enumerate(heaps, 1)]


def test_a_page_that_settles_is_no_trouble() -> None:
    assert soak_dock.troubles(minutes(9.0, 2.4, 2.4, 2.6), []) == []
    assert soak_dock.troubles(minutes(2.4), []) == []


def test_flat_is_said_only_of_what_was_watched_after_it_settled() -> None:
    assert "stayed flat" in soak_dock.verdict(minutes(9.0, 2.4, 2.4), [])
    assert "stayed flat" not in soak_dock.verdict(minutes(9.0, 2.4), [])
    assert "at least 3 minutes" in soak_dock.verdict(minutes(9.0, 2.4), [])
    assert soak_dock.verdict(minutes(9.0), ["odd", "odder"]) == "odd\nodder"


def test_what_grows_or_lags_is_told() -> None:
    assert soak_dock.troubles(minutes(2.0, 2.0, 2.5), []) == ["Its memory grew from 2.0 to 2.5 MB."]
    more = [*minutes(2.0, 2.0), *minutes(2.0, elements=2_000)]
    assert soak_dock.troubles(more, ["odd"]) == ["The console told: odd", "Its elements grew from 1000 to 2000."]
    behind = soak_dock.troubles(minutes(2.0, slowest=1.5, shown=False), [])
    assert behind == ["After 1 min the page was behind.", "After 1 min a panel took 1.5 s."]


def test_without_a_browser_the_bench_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(browser, "find", lambda: None)
    assert dock.measure(tmp_path, 1) == []
    assert "there is no Chromium here" in capsys.readouterr().err
