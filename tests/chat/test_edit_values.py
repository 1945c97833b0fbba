"""`!edit` in people's words: a value that changed is changed in the note's own sentence."""

from functools import partial

import pytest

from forgetmenot.errors import ModelUnavailable
from forgetmenot.memory import edits
from forgetmenot.memory.rewording import reworded
from tests.chat.conftest import IDS, Chat
from tests.notes_world import Scripted

CHANGED = [
    ("main game is Celeste", "celeste is now Hades", "main game is Hades"),
    ("plays Celeste with <@1002>", "celeste is now Hades", "plays Hades with <@1002>"),
    ("plays drums", "drums Bass guitar", "plays Bass guitar"),
    (
        "plays drums in a band",
        "not drums but bass guitar",
        "plays bass guitar in a band",
    ),
    ("lives in Oslo", "Oslo is now Bergen", "lives in Bergen"),
    ("lives in Oslo", "it's Bergen, not Oslo", "lives in Bergen"),
    ("lives in Oslo", "Oslo -> Bergen", "lives in Bergen"),
    ("has a cat called Mia", "cat is now called Max", "has a cat called Max"),
    ("has a cat called Mia", "Mia is now Max", "has a cat called Max"),
    ("has a cat named Mia", "Mia is now called Max", "has a cat named Max"),
    ("has a cat", "cat is now called Max", "has a cat called Max"),
    ("has a cat called Mia", "cat is now Max", "has a cat called Max"),
    (
        "has a dog called Rex that ate a sofa",
        "dog is called Max",
        "has a dog called Max that ate a sofa",
    ),
    (
        "favourite game is Celeste",
        "favourite game is now Hades",
        "favourite game is Hades",
    ),
    ("works as a nurse", "nurse is now a teacher", "works as a teacher"),
    ("has an old car", "an old car is now a new bike", "has a new bike"),
    ("drives a red tractor", "tractor is now a blue van", "drives a blue van"),
    ("drinks three coffees a day", "three is now five", "drinks five coffees a day"),
    ("plays Celeste", "Celeste ist jetzt Hades", "plays Hades"),
    ("plays drums", "nicht drums sondern bass", "plays bass"),
    ("juega Celeste", "no Celeste sino Hades", "juega Hades"),
]
AS_TYPED = [
    ("plays drums", "plays the cello", "plays the cello"),
    ("lives in Oslo", "I live in Bergen now", "lives in Bergen now"),
    ("lives in Oslo", "lives in Bergen with two cats", "lives in Bergen with two cats"),
    ("plays drums", "is now a drum teacher", "is now a drum teacher"),
    ("has a cat called Mia", "my cat is now in heaven", "their cat is now in heaven"),
    ("has a cat", "has a cat that is now ten kilos", "has a cat that is now ten kilos"),
]
ASKED_BACK = [
    ("plays drums", "drums"),
    ("plays drums", "hm"),
    ("plays drums", "drums and so on and so forth"),
]


@pytest.mark.parametrize("number", ["1 ", ""])
@pytest.mark.parametrize(("fact", "typed", "then"), CHANGED + AS_TYPED)
async def test_a_value_is_changed_in_the_notes_own_sentence(
    chat: Chat, fact: str, typed: str, then: str, number: str
) -> None:
    await edits.remember(
        chat.db, IDS["alice"], fact, by=IDS["carol"], at=chat.clock.now()
    )
    await chat.clock.advance(1_000)
    answer = await chat.say("alice", f"!edit {number}{typed}") or ""
    assert await chat.facts("alice") == [then], answer


@pytest.mark.parametrize(("fact", "typed"), ASKED_BACK)
async def test_what_is_no_sentence_and_no_known_form_is_asked_back(
    chat: Chat, fact: str, typed: str
) -> None:
    await edits.remember(
        chat.db, IDS["alice"], fact, by=IDS["carol"], at=chat.clock.now()
    )
    assert "Type the whole note" in (await chat.say("alice", f"!edit 1 {typed}") or "")
    assert await chat.facts("alice") == [fact]


FORMLESS = "drums? nah, it is all about the piano these days"


async def test_what_no_form_fits_is_worded_by_the_model_and_else_asked_back(
    chat: Chat,
) -> None:
    """What the model says counts only where it has a word of what was typed."""
    model = Scripted()
    chat.bot.operations.reword = partial(reworded, model)
    await edits.remember(
        chat.db,
        IDS["alice"],
        "plays drums with <@1002>",
        by=IDS["carol"],
        at=chat.clock.now(),
    )
    for odd in (
        "{}",
        "no JSON",
        '{"fact": ""}',
        '{"fact": "likes tea"}',
        '{"fact": "plays the piano with P9"}',
    ):
        model.reply = lambda _, answer=odd: answer  # type: ignore[misc]
        assert "Type the whole note" in (
            await chat.say("alice", f"!edit 1 {FORMLESS}") or ""
        )
    model.reply = lambda _: ModelUnavailable("away")
    assert "Type the whole note" in (
        await chat.say("alice", f"!edit 1 {FORMLESS}") or ""
    )
    model.reply = lambda _: '{"fact": "plays the piano with P1"}'
    await chat.say("alice", f"!edit 1 {FORMLESS}")
    assert await chat.facts("alice") == ["plays the piano with <@1002>"]
    assert "1002" not in model.asked[0].prompt


@pytest.mark.parametrize(
    "typed",
    [
        "@alice cat is called Max",
        "@alice: Mia is now Max",
        "alice cat is called Max",
        "alice: cat is called Max",
    ],
)
async def test_a_moderator_changes_a_value_in_the_note_of_somebody_else(
    chat: Chat, typed: str
) -> None:
    fact = "has a cat called Mia, who is three"
    await edits.remember(
        chat.db, IDS["alice"], fact, by=IDS["alice"], at=chat.clock.now()
    )
    await chat.say("carol", f"!edit {typed}")
    assert await chat.facts("alice") == ["has a cat called Max, who is three"]
