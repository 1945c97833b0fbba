"""A question that asks for a person is answered from what is known about everybody."""

import pytest

from forgetmenot.domain import NoteStatus
from forgetmenot.durations import DAY
from forgetmenot.memory import edits
from forgetmenot.memory.channel_search import PER_SUBJECT
from forgetmenot.memory.recall import Recall
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.suppression_list import suppress
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import notes, privacy_choices, viewers
from tests.notes_world import World, prompt_for, section
from tests.rows import put

KNOWN = {
    "dana": ("plays the cello in a string quartet", "who plays the cello?"),
    "erik": ("keeps bees on the roof", "who keeps bees"),
    "fern": ("speaks Finnish with her grandmother", "does anyone here speak Finnish?"),
    "gus": ("drives a tram for a living", "wer fährt eigentlich tram?"),
    "hugo": ("has an iguana called Pickle", "whose iguana was Pickle again"),
    "iris": ("won the pumpkin race in October", "tell me who won that pumpkin race"),
    "jon": ("paints miniature dragons", "who was it that paints miniatures?"),
    "kai": ("bakes sourdough at four in the morning", "who of you bakes sourdough?"),
}  # fmt: skip


async def two_evenings(world: World) -> dict[str, int]:
    """Eight people came, four an evening, and one thing is known of each; the note of each by login."""
    written = {}
    for number, (login, (fact, _)) in enumerate(KNOWN.items()):
        if number % 4 == 0:
            await world.over(recap="")
        await world.viewer(f"1{number}", login)
        written[login] = await world.note(fact, f"1{number}")
    return written


async def anybody_lines(world: World, text: str) -> str:
    """What a third viewer's question brings up about anybody."""
    return section(await prompt_for(world, "2", "bob", text), "anybody")


@pytest.mark.parametrize("days", [1, 7, 90])
async def test_whoever_it_is_is_found_however_long_ago(world: World, days: int) -> None:
    written = await two_evenings(world)
    await world.clock.advance(days * DAY)
    found_logins = []
    for login, (fact, question) in KNOWN.items():
        brought_up = await anybody_lines(world, question)
        if (
            f"{login.title()}: [id:{written[login]};" in brought_up
            and fact in brought_up
        ):
            found_logins.append(login)
    assert found_logins == list(KNOWN)


@pytest.mark.parametrize("question", ["who knows drums?", "wer kennt drums?"])
async def test_a_word_that_only_asks_hides_nobody(world: World, question: str) -> None:
    """In a small memory a word that no note has would outweigh one that some have."""
    await world.over(recap="")
    await world.viewer("10", "gina")
    await world.viewer("11", "dora")
    await world.note("plays drums in a band", "10")
    await world.note("taught a niece to play drums", "10")
    await world.note("trains for a marathon", "11")
    assert "Gina: [id:1; " in await anybody_lines(world, question)


async def test_what_nobody_does_brings_up_nobody(world: World) -> None:
    await two_evenings(world)
    for text in (
        "who flies a helicopter?",
        "who are you?",
        "I play the cello",
        "what is a cello?",
    ):
        assert await anybody_lines(world, text) == ""


async def test_a_misspelt_word_and_one_of_nearly_the_same_meaning_find_it(
    world: World,
) -> None:
    await two_evenings(world)
    assert "Dana" in await anybody_lines(world, "who plays the cellp?")
    await world.note("adopted two greyhounds and a dog", "9")
    assert "Carol" in await anybody_lines(world, "who has got a pet?")


@pytest.mark.parametrize(
    "question",
    [
        "wer hat eine Katze?",
        "¿quién tiene un gato?",
        "quem tem um gato?",
        "誰が猫を飼ってる？",
        "qui a un chat ?",
    ],
)
async def test_it_is_asked_in_other_languages(world: World, question: str) -> None:
    await two_evenings(world)
    await world.note(
        "owns a pet called Miso", "9", asked_with=("Katze", "gato", "猫", "chat")
    )
    assert "Carol: " in await anybody_lines(world, question)


async def test_the_channels_facts_are_found_and_nothing_stands_there_twice(
    world: World,
) -> None:
    await world.note("blames the lantern for everything", "2")
    await world.note("the lantern was invented by <@1>", None)
    await world.clock.advance(DAY)
    for number in range(8):
        await world.note(f"rule {number}: no spoilers for the {number}th lantern", None)
    prompt = await prompt_for(world, "2", "bob", "who blames what lantern?")
    assert prompt.tail.count("blames the lantern for everything") == 1
    question = "who invented that lantern?"
    recall = Recall(db=world.db, settings=lambda: world.settings, clock=world.clock)
    own_look = await world.db.together(lambda at: recall.look(at, []))
    recalled = await world.db.together(
        lambda at: recall.of_anybody(at, question, own_look)
    )
    assert recalled[0].note.fact == "the lantern was invented by <@1>"
    assert len(recalled) <= PER_SUBJECT


# ── what may never be in such an answer ───────────────────────────────────────────────────────


async def test_nobody_who_is_hidden_and_nothing_that_is_left_alone(
    world: World,
) -> None:
    written = await two_evenings(world)
    async with world.db.write() as tx:
        await privacy_choices.opt_out(tx, "10", world.clock.now())
        await viewers.set_banned(tx, "11", world.clock.now())
    await suppress(world.db, "12", "Finnish", by="12", at=0)
    await suppress(world.db, None, f"#{written['gus']}", by="9", at=0)
    await edits.retract(world.db, written["hugo"], at=world.clock.now(), cause="wrong")
    for login in ("dana", "erik", "fern", "gus", "hugo"):
        assert await anybody_lines(world, KNOWN[login][1]) == ""
    assert "Iris" in await anybody_lines(world, KNOWN["iris"][1])
    async with world.db.write() as tx:
        await viewers.set_banned(tx, "11", None)
    assert "Erik" in await anybody_lines(world, KNOWN["erik"][1])


async def test_of_who_is_hidden_no_name_stands_in_what_is_known_of_others(
    world: World,
) -> None:
    await world.note("plays chess with <@1> on Sundays", "9")
    async with world.db.write() as tx:
        await viewers.set_banned(tx, "1", world.clock.now())
    prompt_text = await anybody_lines(world, "who plays chess on Sundays?")
    assert "plays chess with somebody on Sundays" in prompt_text
    assert "lice" not in prompt_text


async def test_nothing_sensitive_is_asked_for_or_told_even_where_it_may_be_stored(
    world: World,
) -> None:
    world.settings = world.settings.__class__(
        privacy=PrivacySettings(allow_categories=("health",))
    )
    await world.note("was diagnosed with asthma as a child", "1")
    await world.note("was a child in Oslo", "9")
    await world.note("brought his boyfriend along to the gay bar", "9")
    for text in (
        "who has asthma?",
        "anyone gay here?",
        "who here is gay",
        "wer ist hier schwul?",
    ):
        assert await anybody_lines(world, text) == ""
    prompt_text = await anybody_lines(world, "who was a child in Oslo or diagnosed?")
    assert "child in Oslo" in prompt_text
    assert "asthma" not in prompt_text


async def test_plans_that_are_over_and_notes_of_another_persona_are_not_found(
    world: World,
) -> None:
    await world.note("rides to the lighthouse", "1", expires_at=world.clock.now() + DAY)
    await world.note("guards the lighthouse", "9", persona="pirate")
    assert "Alice" in await anybody_lines(world, "who rides to the lighthouse?")
    await world.clock.advance(2 * DAY)
    assert await anybody_lines(world, "who rides to the lighthouse?") == ""
    assert await anybody_lines(world, "who guards the lighthouse?") == ""


# ── the index is kept by writes ───────────────────────────────────────────────────────────────


async def entries(world: World) -> list[tuple[int, int, bytes]]:
    return [
        tuple(row)
        for row in await world.db.rows("SELECT * FROM note_words ORDER BY 1, 2")
    ]


async def test_the_index_follows_every_change_of_a_note(world: World) -> None:
    before = await entries(world)
    first = await world.note(
        "plays the zither", "1", topics=("music",), asked_with=("instrument",)
    )
    assert "Alice" in await anybody_lines(world, "who has an instrument?")
    entries_before = await entries(world)
    note = await notes.get(world.db, first)
    assert note is not None
    async with world.db.write() as tx:
        await notes.set_status(tx, note, NoteStatus.RETRACTED, at=0, cause="wrong")
    assert await entries(world) == before
    await edits.undo(world.db, first, at=world.clock.now())
    assert await entries(world) == entries_before
    second = await world.note("plays the zither too", "9")
    async with world.db.write() as tx:
        await notes.swap_numbers(tx, first, second)
    assert f"Carol: [id:{first};" in await anybody_lines(world, "who plays the zither")
    async with world.db.write() as tx:
        await notes.swap_numbers(tx, first, second)
        await notes.delete_of_subject(tx, "9", [second])
    assert await entries(world) == entries_before


async def test_an_erased_persons_words_leave_the_index(world: World) -> None:
    await world.note("bakes rye bread with <@2>", "1")
    before = await entries(world)
    await world.viewer("77", "quuxabel")
    await world.note("carves a marimbaglow", "77")
    await world.note("is a friend of <@77>", "1")
    during = await entries(world)
    await Eraser(db=world.db, clock=world.clock).erase("77")
    assert len(await entries(world)) < len(during)
    async with world.db.write() as tx:
        await tx.execute("DELETE FROM semantic_notes WHERE id > 1")
    assert await entries(world) == before


async def test_a_login_that_becomes_an_id_is_followed(world: World) -> None:
    async with world.db.write() as tx:
        await put(tx, "viewers", id="login:abel", login="abel")
    await world.note("is married to <@login:abel>", "1")
    async with world.db.write() as tx:
        await viewers.join_provisional(tx, {"abel": "78"})
    assert "Alice" in await anybody_lines(world, "who is married to @abel?")
