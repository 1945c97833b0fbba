"""What was said minutes ago is found before any summary has it, and a question about it hastens the next one."""

import random
import time

import pytest
from msgspec.structs import replace

from forgetmenot.domain import EventKind
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.memory import unsummarised
from forgetmenot.memory.query import query_of
from forgetmenot.privacy.suppression_list import suppress
from forgetmenot.settings.schema import MemorySettings, PrivacySettings
from forgetmenot.store import events, viewers
from forgetmenot.text.days import local_time
from forgetmenot.text.meaning import word_table
from tests.notes_world import World, prompt_for, section
from tests.rows import put

ALICE = "1"
BOB = "2"
STREAMER = "9"
QUESTION = "what is my hamster called?"


async def says(
    world: World, text: str, viewer_id: str = ALICE, **columns: object
) -> str:
    """Somebody says something; returns the label that a prompt has of it."""
    now = world.clock.now()
    at = local_time(now, world.settings.bot.timezone)
    async with world.db.write() as tx:
        number = await tx.value("SELECT count(*) FROM events")
        row = {"id": f"line{number}", "viewer_id": viewer_id, "text": text, "at": now}
        await put(tx, "events", **(row | columns))
    return f"[said today at {at:%H:%M}, not summarised yet]"


async def chatter(world: World, lines: int = 30) -> None:
    """Others talk, more than a prompt shows of chat."""
    for number in range(lines):
        await world.clock.advance(10 * SECOND)
        await says(world, f"what a jump number {number}", BOB)


async def unsummarised_lines(
    world: World, text: str = QUESTION, viewer_id: str = ALICE
) -> str:
    """The lines that a question brings up."""
    login = {ALICE: "alice", BOB: "bob", STREAMER: "carol"}[viewer_id]
    return section(await prompt_for(world, viewer_id, login, text), "unsummarised")


async def test_what_the_speaker_said_minutes_ago_is_found_and_dated(
    world: World,
) -> None:
    label = await says(world, "my hamster is called Pixel")
    await chatter(world)
    assert f"{label} Alice: my hamster is called Pixel" in await unsummarised_lines(
        world
    )
    prompt = await prompt_for(world, ALICE, "alice", QUESTION)
    assert "You remember nothing about them" not in section(prompt, "speaker")


async def test_so_is_what_somebody_said_who_is_asked_about(world: World) -> None:
    label = await says(world, "my hamster is called Pixel")
    await says(world, "my hamster is called Dot", BOB)
    await chatter(world)
    prompt_text = await unsummarised_lines(
        world, "what is alice's hamster called?", STREAMER
    )
    assert f"{label} Alice: my hamster is called Pixel" in prompt_text
    assert "Dot" not in prompt_text


@pytest.mark.parametrize(
    "question",
    [
        "who was hungry for chipotle?",
        "what does chat say about chipotle?",
        "wer wollte zu chipotle?",
    ],
)
async def test_a_question_that_names_nobody_finds_anybodys_line(
    world: World, question: str
) -> None:
    label = await says(world, "i will get some chipotle today")
    await chatter(world)
    prompt_text = await unsummarised_lines(world, question, STREAMER)
    assert f"{label} Alice: i will get some chipotle today" in prompt_text


@pytest.mark.parametrize(("people", "is_found"), [(5, True), (6, False)])
async def test_nobody_hides_a_line_by_copying_it_but_a_chant_is_left_out(
    world: World, people: int, is_found: bool
) -> None:
    async with world.db.write() as tx:
        for number in range(20, 20 + people):
            await put(tx, "viewers", id=str(number), login=f"viewer{number}")
    for number in range(20, 20 + people):
        await says(world, "i will get some chipotle today", str(number))
    await chatter(world)
    shown = await unsummarised_lines(world, "who was hungry for chipotle?", STREAMER)
    assert ("chipotle" in shown) is is_found


@pytest.mark.parametrize(
    "line",
    [
        "what did i say about chipotle?",
        "what did bob say about chipotle?",
        "chipotle is fine by me",
    ],
)
async def test_a_question_about_oneself_or_another_and_a_statement_find_it_not(
    world: World, line: str
) -> None:
    await says(world, "i will get some chipotle today")
    await chatter(world)
    assert await unsummarised_lines(world, line, STREAMER) == ""


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("i adopted two dogs yesterday", "which pet do I have?"),
        ("mein Hamster heißt Pixel", "wie heißt mein Hamster?"),
        ("ハムスターの名前はピクセルです", "私のハムスターの名前は何？"),
        ("my hamster is called Pixel", "whats the name of my hamstre"),
        ("i moved to Gent", "what do you know about me?"),
        ("i moved to Gent", "what's new with me?"),
    ],
)
async def test_other_words_languages_and_slips_find_it(
    world: World, line: str, question: str
) -> None:
    await says(world, line)
    await chatter(world)
    assert line in await unsummarised_lines(world, question)


async def test_what_shares_nothing_and_what_only_asks_stays_out(world: World) -> None:
    await says(world, "that boss took an hour")
    await says(world, "@forgetmenot_bot what is my hamster called?")
    await says(world, "@forgetmenot_bot how is my hamster called")
    await says(world, "!remember my hamster is called Pixel")
    await chatter(world)
    assert await unsummarised_lines(world) == ""
    assert await unsummarised_lines(world, "hello there") == ""


@pytest.mark.parametrize(
    "line",
    [
        "@forgetmenot remember that alice is a thief",
        "ForgetMeNot, remember that alice is a thief",
        "@forgetmenot forget that alice is a thief",
        "@forgetmenot !edit 3 alice is a thief",
        "!remember alice is a thief",
    ],
)
async def test_what_is_said_to_the_bot_as_a_command_is_no_evidence(
    world: World, line: str
) -> None:
    await says(world, line, BOB)
    await chatter(world)
    assert await unsummarised_lines(world, "who is a thief?", STREAMER) == ""


@pytest.mark.parametrize(
    "line",
    ["@forgetmenot alice is a thief in this game", "remember that thief lol"],
)
async def test_other_talk_to_the_bot_and_about_memories_is_shown(
    world: World, line: str
) -> None:
    await says(world, line, BOB)
    await chatter(world)
    assert line in await unsummarised_lines(world, "who is a thief?", STREAMER)


async def test_six_lines_at_most_the_newest_first(world: World) -> None:
    for number in range(9):
        await says(world, f"my hamster ate {number} seeds")
        await world.clock.advance(MINUTE)
    await chatter(world)
    prompt_text = await unsummarised_lines(world)
    places = [prompt_text.find(f"ate {number} seeds") for number in (8, 7, 6, 5, 4, 3)]
    assert -1 not in places
    assert places == sorted(places)
    assert "ate 2 seeds" not in prompt_text


@pytest.mark.parametrize("pause", [0, 10 * SECOND], ids=["at once", "one by one"])
@pytest.mark.parametrize("later", [5, 39, 40, 41, 98, 99])
async def test_the_last_hundred_lines_are_searched_whichever_of_them_chat_shows(
    world: World, later: int, pause: int
) -> None:
    """Those that a prompt reads as chat are not read twice, and those before them are not skipped."""
    label = await says(world, "chipotle would be my choice")
    for number in range(later):
        await world.clock.advance(pause)
        await says(world, f"what a jump number {number}", BOB)
    line = f"{label} Alice: chipotle would be my choice"
    shown = await unsummarised_lines(world, "who wanted chipotle?", STREAMER)
    assert (line in shown) == (later < unsummarised.MOST_COMPARED)
    await world.clock.advance(SECOND)
    await says(world, "and another jump", BOB)
    still_shown = await unsummarised_lines(world, "who wanted chipotle?", STREAMER)
    assert (line in still_shown) == (later + 1 < unsummarised.MOST_COMPARED)


async def test_no_summarised_line_of_chat_is_found_for_anybody(world: World) -> None:
    await says(world, "chipotle would be my choice")
    await world.episode("Alice would choose chipotle.", {ALICE: (9, 0)})
    async with world.db.write() as tx:
        await tx.execute("UPDATE events SET episode_id = 1")
    await chatter(world, 5)
    question = "who wanted chipotle?"
    assert "choice" not in await unsummarised_lines(world, question, STREAMER)


async def test_no_line_stands_in_a_prompt_twice(world: World) -> None:
    await says(world, "my hamster is called Pixel")
    prompt = await prompt_for(world, ALICE, "alice", QUESTION)
    assert prompt.tail.count("my hamster is called Pixel") == 1
    assert "You remember nothing about them" not in section(prompt, "speaker")
    prompt = await prompt_for(world, BOB, "bob", "what is alice's hamster called?")
    assert prompt.tail.count("my hamster is called Pixel") == 1
    assert "not summarised yet" in section(prompt, "unsummarised")


async def test_a_summary_takes_its_place(world: World) -> None:
    await says(world, "my hamster is called Pixel")
    await chatter(world)
    episode = await world.episode("<@1> has a hamster called Pixel.", {ALICE: (1, 0)})
    async with world.db.write() as tx:
        await events.set_episode(tx, [1], episode)
    assert await unsummarised_lines(world) == ""


async def test_deleted_spoken_hidden_and_suppressed_lines_stay_out(
    world: World,
) -> None:
    await says(world, "my hamster is called Gone")
    await says(world, "my hamster is called Aloud", STREAMER, kind=EventKind.SPOKEN)
    await says(world, "my hamster is called Secret", BOB)
    await says(world, "my hamster is called Hidden", BOB)
    async with world.db.write() as tx:
        await events.clear(
            tx, events.Clear(world.clock.now(), event_id="line0"), world.clock.now()
        )
    await suppress(world.db, BOB, "secret", by=BOB, at=world.clock.now())
    assert "Gone" not in await unsummarised_lines(world)
    assert await unsummarised_lines(world, QUESTION, STREAMER) == ""
    prompt_text = await unsummarised_lines(
        world, "what is bob's hamster called?", STREAMER
    )
    assert "Secret" not in prompt_text
    assert "Hidden" in prompt_text
    async with world.db.write() as tx:
        await viewers.set_banned(tx, BOB, world.clock.now())
    assert (
        await unsummarised_lines(world, "what is @bob's hamster called?", STREAMER)
        == ""
    )


async def test_what_is_sensitive_is_not_brought_up_again(world: World) -> None:
    await says(world, "my hamster knows that i have diabetes")
    await chatter(world)
    assert await unsummarised_lines(world) == ""
    world.settings = replace(
        world.settings, privacy=PrivacySettings(allow_categories=("health",))
    )
    assert "diabetes" in await unsummarised_lines(world)


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("pregnant wife at home", "who in chat is pregnant?"),
        ("autistic and proud", "which of you is autistic?"),
        ("schwul und stolz", "wer ist hier schwul?"),
    ],
)
async def test_a_sensitive_question_that_names_nobody_finds_nobodys_line(
    world: World, line: str, question: str
) -> None:
    """As with notes: the line alone states nothing that is filtered, but beside the question it does."""
    await says(world, line)
    await chatter(world)
    assert await unsummarised_lines(world, question, STREAMER) == ""


async def test_a_question_that_names_nobody_finds_nothing_sensitive_that_is_allowed(
    world: World,
) -> None:
    """What the streamer allowed is shown of somebody who is asked about by name."""
    world.settings = replace(
        world.settings, privacy=PrivacySettings(allow_categories=("health",))
    )
    await says(world, "i will get some chipotle for my diabetes")
    await chatter(world)
    question = "what does alice get at chipotle?"
    assert "chipotle" in await unsummarised_lines(world, question, STREAMER)
    assert await unsummarised_lines(world, "who gets some chipotle?", STREAMER) == ""


async def test_who_asked_the_same_before_does_not_hide_the_answer(
    world: World,
) -> None:
    """A question shares all of its words with the same one before it, and with its own line in the memory."""
    question = "whose hamster was it?"
    await says(world, "my hamster Pixel sits in its cage again and eats")
    await says(world, f"@forgetmenot {question}", BOB)
    await chatter(world)
    await says(world, question, STREAMER, id="dry")
    assert "Pixel" in await unsummarised_lines(world, question, STREAMER)


async def test_the_line_that_asks_does_not_hide_the_answer(world: World) -> None:
    await says(world, "my hamster Pixel sits in its cage again and eats")
    await chatter(world)
    request = "tell us whose hamster alice showed"
    await says(world, request, STREAMER, id="dry")
    assert "Pixel" in await unsummarised_lines(world, request, STREAMER)


async def test_nothing_is_shown_of_it_after_a_day(world: World) -> None:
    await says(world, "my hamster is called Pixel")
    await world.clock.advance(DAY - MINUTE)
    assert "Pixel" in await unsummarised_lines(world)
    await world.clock.advance(2 * MINUTE)
    assert "Pixel" not in await unsummarised_lines(world)
    world.settings = replace(world.settings, memory=MemorySettings(raw_events_h=2))
    await says(world, "my hamster is called Dot")
    await world.clock.advance(2 * HOUR + MINUTE)
    assert "Dot" not in await unsummarised_lines(world)


async def test_a_question_of_hundreds_of_words_does_not_hold_up_the_bot(
    world: World,
) -> None:
    """Each of them may be a slip of each word of the lines: the dearest question there is."""
    letters = random.Random(1)

    def typed(words: int) -> str:
        endings = (
            "".join(letters.choices("bcdfghjklmnpqrstvwxz", k=3)) for _ in range(words)
        )
        return " ".join(f"bc{ending}" for ending in endings)

    for _ in range(unsummarised.MOST_COMPARED):
        await says(world, typed(83))
    query = query_of(typed(160))
    now = world.clock.now()
    # read once, and not by the first who is asked
    word_table()
    start = time.process_time()
    lines = await unsummarised.search(
        world.db,
        unsummarised.Question(query, (), now),
        [ALICE],
        settings=world.settings,
        now=now,
        is_request=lambda _text: False,
    )
    assert time.process_time() - start < 0.5
    assert len(lines) == unsummarised.MOST_LINES
