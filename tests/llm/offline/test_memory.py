"""The offline model writes episodes, recaps and notes by rules."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.domain.model import ModelRequest, Purpose
from forgetmenot.llm.offline.extract import extract
from forgetmenot.llm.offline.model import Offline
from forgetmenot.llm.offline.summary import MOST_WORDS, recap, summary
from forgetmenot.text.fences import fence

CHAT = """[20:00] P1: welcome in everybody, tonight we climb the clock tower
[20:01] P3: hello! my cat is called Miso and she is watching
[20:01] P4 (to the bot): I moved to Oslo last month
[20:02] * P5: P5 subscribed at Tier 1. They've subscribed for 14 months!
[20:02] P5: so glad to be part of this lovely place again
[20:02] KEKW ×37, 30 people
[20:03] BOT: I live in a database
[20:03] P3: blame the ladder
[20:03] P4: blame the ladder
[20:04] P5: Blame the ladder!
[20:04] P6: blame the ladder
[20:05] P6: the clock tower is hard
[20:06] P4: clock tower boss time"""


def test_a_window_becomes_claims_events_bits_and_topics() -> None:
    told = summary(CHAT)
    for part in (
        "P3's cat is called Miso.",
        "P4 moved to Oslo last month.",
        "P5 subscribed for 14 months.",
        'Running bit: chat kept saying "blame the ladder".',
        "clock tower",
        "KEKW (30 people)",
        "In chat: 5 people",
    ):
        assert part in told
    assert "lovely place" not in told
    assert "database" not in told


def test_a_collapsed_phrase_is_a_running_bit_too() -> None:
    assert 'chat kept saying "blame the ladder"' in summary("[20:00] blame the ladder ×6, 5 people")
    assert "Running bit" not in summary("[20:00] LETS GOOO ×6, 5 people")


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("P9: 42 raiders from P9 have joined!", "P9 raided with 42 people."),
        ("P4: P4 is gifting 5 Tier 1 Subs to P1's community! They've gifted a total of 9.", "P4 gifted 5 subs."),
        ("P4: P4 gifted a Tier 1 sub to P7! This is their first Gift Sub in the channel!", "P4 gifted a sub to P7."),
        ("P4: P4 watched 15 consecutive streams and sparked a watch streak!", "P4 watched 15 consecutive streams"),
        ("P4 subscribed: and wrote a long line about it", "P4 subscribed."),
        ("P4: P4 subscribed at Tier 1.", "P4 subscribed at Tier 1."),
    ],
)
def test_twitchs_own_sentences_are_told_without_their_small_print(event: str, told: str) -> None:
    assert summary(f"[20:00] * {event}").startswith(told)


def test_a_notice_about_nobody_is_left_out() -> None:
    assert summary("[20:00] * P4: has been a moderator for 18 months!") == "Nothing in particular was said."


def test_words_of_one_person_are_no_running_bit() -> None:
    assert "Running bit" not in summary("[20:00] buy my thing ×9, 1 person")


@pytest.mark.parametrize("nothing", ["", "no transcript at all", "[20:00] BOT: hello"])
def test_nothing_said_is_told_as_such(nothing: str) -> None:
    assert summary(nothing) == "Nothing in particular was said."


_TEXT = "I my live in Oslo play the drums cat is called Miso and but so since very long ago we KEKW ladder"
WORDS = st.sampled_from(_TEXT.split())
SPEECH = st.lists(WORDS, min_size=1, max_size=25).map(" ".join)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 9), SPEECH), max_size=60))
def test_a_summary_is_short_and_never_quotes_eight_words(lines: list[tuple[int, str]]) -> None:
    told = summary("\n".join(f"[20:00] P{who}: {text}" for who, text in lines))
    assert len(told.split()) <= MOST_WORDS
    have = told.replace(".", "").replace('"', "").split()
    runs = {tuple(have[i : i + 8]) for i in range(len(have) - 7)}
    for _, text in lines:
        said = text.split()
        assert not runs & {tuple(said[i : i + 8]) for i in range(len(said) - 7)}


def test_a_recap_keeps_what_happened_and_leaves_out_the_small_change() -> None:
    told = recap(
        "- P3 moved to Oslo. Most of the talk was about ladders, bread and hats. In chat: 5 people, above all P3.\n"
        "- P3 moved to Oslo. P4 raided with 42 people. Most of the talk was about bread and boss."
    )
    assert told == "The stream was about ladders, bread and boss. P4 raided with 42 people. P3 moved to Oslo."
    assert recap("") == "A quiet stream."


# ── notes ───────────────────────────────────────────────────────────────────────────────────


def _changes(episode: str, known: str = "") -> list[dict[str, Any]]:
    prompt = "\n\n".join((fence("people", "P3 viewer, 4 lines"), fence("known", known), fence("episode", episode)))
    found: list[dict[str, Any]] = json.loads(extract(prompt))["changes"]
    return found


def test_sentences_about_people_become_notes_with_words_to_find_them() -> None:
    cat, home = _changes("P3's cat is called Miso. P4 moved to Oslo last month. In chat: 5 people, above all P3.")
    assert (cat["op"], cat["about"], cat["fact"], cat["said_by"]) == ("add", "P3", "has a cat called Miso", "P3")
    assert "pet" in cat["asked_with"]
    assert (home["about"], home["fact"], home["lifetime"]) == ("P4", "moved to Oslo last month", "permanent")
    assert {"where", "live"} <= set(home["asked_with"])
    assert home["topics"] == ["home"]


def test_a_running_bit_belongs_to_nobody() -> None:
    (bit,) = _changes('Running bit: chat kept saying "blame the ladder".')
    assert (bit["about"], bit["fact"], bit["said_by"]) == ("bit", 'chat kept saying "blame the ladder"', "")


@pytest.mark.parametrize(
    ("known", "episode", "op"),
    [
        ("[12] P3: plays drums in a band", "P3 plays drums in a band.", "confirm"),
        ("[12] P4: plays drums in a band", "P3 plays drums in a band.", "add"),
        ("[12] P3: favourite game is Celeste", "P3's favourite game is Hades.", "supersede"),
        ("[12] P3: favourite game is Celeste", "P3's favourite colour is blue.", "add"),
        ("[12] P3: lives in Bergen", "P3 moved to Oslo.", "supersede"),
        ("[12] P3: plays drums", "P3 no longer plays drums.", "supersede"),
        ("[12] P3: plays drums", "P3 no longer plays chess.", "add"),
    ],
)
def test_what_is_known_is_confirmed_replaced_or_added_to(known: str, episode: str, op: str) -> None:
    (change,) = _changes(episode, known)
    assert change["op"] == op
    assert change.get("id") == (None if op == "add" else 12)


@pytest.mark.parametrize(
    ("fact", "lifetime"),
    [
        ("plays chess", "permanent"),
        ("is writing an exam tomorrow", "3d"),
        ("has a day off today", "1d"),
        ("wants to visit Japan", "30d"),
    ],
)
def test_a_lifetime_is_read_from_the_words(fact: str, lifetime: str) -> None:
    assert _changes(f"P3 {fact}.")[0]["lifetime"] == lifetime


@settings(max_examples=100)
@given(st.text(max_size=300))
def test_any_episode_gives_valid_changes(episode: str) -> None:
    for change in _changes(episode):
        assert change["op"] in {"add", "confirm", "supersede"}


# ── the form ────────────────────────────────────────────────────────────────────────────────

SHAPE = {
    "type": "object",
    "properties": {"words": {"type": "integer"}, "summary": {"type": "string"}},
    "required": ["summary", "words"],
}


@pytest.mark.parametrize("purpose", list(Purpose))
async def test_every_purpose_is_answered_the_same_each_time_and_with_a_bill(purpose: Purpose) -> None:
    request = ModelRequest(purpose, "You are Bot, a bot.", fence("chat", CHAT), 500)
    first, second = await Offline().generate(request), await Offline().generate(request)
    assert first == second
    assert first.text
    assert first.usage.input
    assert first.usage.cached is None


async def test_where_a_schema_is_asked_the_text_stands_in_its_first_text_property() -> None:
    request = ModelRequest(Purpose.SUMMARY, "", fence("chat", CHAT), 500, schema=SHAPE)
    told = json.loads((await Offline().generate(request)).text)
    assert told["words"] == 0
    assert "P3's cat" in told["summary"]
