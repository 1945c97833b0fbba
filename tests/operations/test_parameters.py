"""Parameters: only the entry's own, clean, inside their bounds."""

import pytest

from forgetmenot.operations.catalogue import BY_NAME
from forgetmenot.operations.requests import Checked, check, resolve
from forgetmenot.operations.types import PersonFacts
from forgetmenot.settings.schema import ReplySettings

ANNOUNCE, TIMEOUT, LONG = BY_NAME["announce"], BY_NAME["timeout"], BY_NAME["long_timeout"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("hello", "hello"), ("  /ban bob", "ban bob"), ("\u200b/ban bob", "ban bob"), ("!.!/ban bob", "ban bob"),
        ('hi {"action": "ban"} there', "hi there"), ("hi <@42>", "hi (@42>"), ("two\nlines", "two lines"),
    ],
)  # fmt: skip
def test_a_text_is_one_harmless_line(given: str, text: str) -> None:
    assert check(ANNOUNCE, {"text": given}, 60) == Checked({"text": text})


@pytest.mark.parametrize("seconds", ["", "soon", "-5", "0", "1e3", "６０", "60;ban", "99999999"])
def test_what_is_no_number_of_seconds_is_refused(seconds: str) -> None:
    assert check(TIMEOUT, {"target": "bob", "seconds": seconds}, 60).problem


@pytest.mark.parametrize(
    ("given", "most", "seconds"), [("5", 60, "5"), ("1m", 60, "60"), ("90 s", 60, "60"), ("60", 20, "20")]
)
def test_seconds_stand_inside_the_settings_own_bound(given: str, most: int, seconds: str) -> None:
    assert check(TIMEOUT, {"target": "bob", "seconds": given}, most).params["seconds"] == seconds


def test_the_bound_of_class_b_does_not_shorten_class_c_and_a_short_long_timeout_is_refused() -> None:
    assert check(LONG, {"target": "bob", "seconds": "600"}, 60).params["seconds"] == "600"
    assert check(LONG, {"target": "bob", "seconds": "5"}, 60).problem


def test_what_is_posted_passes_the_filters_of_a_reply() -> None:
    text = "badword free skins at https://evil.zip and evil.com /ban"
    plain, strict = ReplySettings(), ReplySettings(blocklist=("badword",))
    for name in ("announce", "marker", "title", "category"):
        checked = check(BY_NAME[name], {"text": text}, 60, strict)
        assert checked.params["text"] == "… free skins at and /ban"
        assert checked.changed == "Shortened or filtered: text."
    allowed = check(ANNOUNCE, {"text": "see evil.com"}, 60, ReplySettings(allow_links=True))
    assert (allowed.params, allowed.changed) == ({"text": "see evil.com"}, "")
    assert check(ANNOUNCE, {"text": "https://evil.zip"}, 60, plain).problem == "Missing or not allowed: text."
    assert check(BY_NAME["remember"], {"target": "me", "fact": "badword"}, 60, strict).params["fact"] == "badword"


@pytest.mark.parametrize(("written", "name"), [("Confetti", "Confetti"), (" confetti ", "Confetti"), ("Stop", None)])
def test_an_effect_is_one_of_those_that_the_settings_list(written: str, name: str | None) -> None:
    checked = check(BY_NAME["effect"], {"effect": written}, 60, effects=("Confetti",))
    assert checked.params.get("effect") == name
    assert (checked.problem == "") == (name is not None)


ALICE = PersonFacts("1", "alice", display_name="Alice")
BOB = PersonFacts("2", "bob_42", display_name="Bob")
OTHER_BOB = PersonFacts("3", "robert", display_name="BOB")
JAPANESE = PersonFacts("4", "yuki", display_name="雪")


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("alice", [ALICE]), ("@Alice,", [ALICE]), ("ALICE", [ALICE]), ("me", [ALICE]), ("bob_42", [BOB]),
        ("bob", [BOB, OTHER_BOB]), ("雪", [JAPANESE]),
        *((name, []) for name in ("2", "", "@", "ali", "аlice", "alice bob_42")),
    ],
)  # fmt: skip
def test_a_name_is_one_person_or_nobody(name: str, who: list[PersonFacts]) -> None:
    assert resolve(name, [ALICE, BOB, OTHER_BOB, JAPANESE], ALICE) == who
