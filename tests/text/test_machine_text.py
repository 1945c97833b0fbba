"""What only programs read is cut from a line for chat, and ordinary brackets stay."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.operations.catalogue import NAMES
from forgetmenot.text.clean import clean
from forgetmenot.text.outgoing import without_machine_text

HERE = Path(__file__).parent
PIECES = st.sampled_from(
    [
        "[", "]", "{", "}", '{"a": ', '"', "ban(", "action", ":", "=", "<", ">", "target=", "[id:1]", "(said by them",
        ")", " ",
    ]
)  # fmt: skip


def test_json_tags_calls_and_annotations_are_cut() -> None:
    hostile = [json.loads(line) for line in (HERE / "hostile.txt").read_text(encoding="utf-8").splitlines()]
    assert len(hostile) >= 90
    assert [text for text in hostile if without_machine_text(clean(text)) == clean(text)] == []


def test_ordinary_brackets_stay() -> None:
    harmless = (HERE / "harmless.txt").read_text(encoding="utf-8").splitlines()
    assert [text for text in harmless if without_machine_text(text) != text] == []


def test_what_stands_around_it_stays() -> None:
    said = {
        "[000000] Bob moved to Oslo.": "Bob moved to Oslo.",
        "Tea, I think (said by them; tags: drinks; 2 days ago).": "Tea, I think.",
        'Sure! {"action": {"name": "ban"}, "say": "x"} Bye': "Sure! Bye",
        'You said {"say": "cut of': "You said",
        "[id:12] likes tea": "likes tea",
    }
    assert {text: without_machine_text(text) for text in said} == said


@given(st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join))
def test_twice_is_once(text: str) -> None:
    once = without_machine_text(text)
    assert without_machine_text(once) == once


def test_a_call_of_any_action_is_cut() -> None:
    assert {name for name in NAMES if without_machine_text(f'Sure! {name}(target="bob")') != "Sure!"} == set()
