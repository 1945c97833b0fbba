"""Claims of deeds that nobody did: the shares that are heard, on sentences that the words were not made from."""

import json
from pathlib import Path

from bench_memory import lines_of
from hypothesis import given
from hypothesis import strategies as st
from scoring import facts

from forgetmenot.operations.action_claims import claims_action, without_machine_text
from forgetmenot.text.clean import clean

# The sentences that once went out live, and talk that has to stay.
CLAIMS = (
    "Bob: banned.", "Shoutout sent!", "Title updated.", "Bob wurde gebannt.", "Mensaje borrado.",
    "I have timed out Bob.", "Clipped!", "I will ban Carol for 10 minutes.", "Slow mode is on now.",
    "The category has been changed.", "I posted an announcement",
    "That's not fair. I'm going to ban you from the stream!", "Ich werde dich bannen!", "✅ bob banned",
    "I've noted that for you",
    "Clipping the poll, starting now.", "Sure, starting a poll!",
    "I can't believe I banned bob", "No problem, bob is banned", "𝐛𝐚𝐧𝐧𝐞𝐝",
)  # fmt: skip
TALK = (
    "I can't ban anybody.", "Who banned bob?", "Should I time him out?", "The mods banned him.",
    "Ich habe bob nicht gebannt", "A ban would be harsh.", "I love clips", "You clipped through the floor",
    "Ask a mod for a shoutout", "Not today, bob.", "He was timed out by a mod yesterday.", "Remember to drink water",
    "The title of that book is long", "If you do that I'm going to ban you", "They are going to ban you",
    "Ich werde dich nicht bannen", "Enjoy the stream!", "The stream is on!", "Stream's over, good night!",
    "Your message made me smile", "Watching that clip again", "Der Stream ist da!",
)  # fmt: skip
MOST_FALSE = 0.03
LEAST_HEARD = 0.9


def test_the_claims_that_went_out_are_heard_and_talk_is_not() -> None:
    assert [text for text in CLAIMS if not claims_action(text)] == []
    assert [text for text in TALK if claims_action(text)] == []


def test_claims_are_heard_as_well_as_they_were() -> None:
    """On the half that the rules were made on; `scripts/bench_memory.py claims` prints the other one, too."""
    rates, _ = facts.claims(lines_of(Path(__file__).parent.parent / "data" / "action_claims.tsv", "\t", 4))
    assert rates["dev: claims heard"] >= LEAST_HEARD
    assert rates["dev: other talk taken for one"] <= MOST_FALSE


def test_what_was_really_done_may_be_told_and_no_more() -> None:
    for text, done, more in (
        ("I timed out bob", {"timeout"}, False),
        ("I timed out bob", {"clip"}, True),
        ("I made a clip and timed out bob", {"timeout", "clip"}, False),
        ("I timed out bob, and he is banned", {"timeout"}, True),
        ("I timed bob out for an hour", {"long_timeout"}, False),
        ("I timed out bob", {"no such action"}, True),
    ):
        assert claims_action(text, done) is more, text


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
