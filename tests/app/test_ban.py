"""A ban hides at once all that is known about an account, and erases it after seven days unless it is lifted."""

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.clock import DAY, HOUR, MINUTE, ManualClock
from forgetmenot.domain.chat import ChatEvent, EventKind, Redaction
from forgetmenot.domain.memory import EpisodeKind, Part
from forgetmenot.memory.notes.remember import remember
from forgetmenot.prompt.assemble import assemble
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.triggers import Conversations, trigger_of
from forgetmenot.store import channel_state, episodes, streams, viewers
from forgetmenot.store.dock import feed as dock_feed
from forgetmenot.store.dock import memory as dock_memory
from forgetmenot.store.dock.memory import Page
from forgetmenot.store.episodes import NewEpisode

ALICE, BOB, CAROL = "771234501", "771234502", "771234503"
LOGINS = {ALICE: "alicequux", BOB: "bobquux", CAROL: "carolquux"}
TRACES = ("alicequux", "zitherbloom", "marimbaglow", ALICE)


async def say(bot: Bot, clock: ManualClock, who: str, text: str, *badges: str) -> str | None:
    """Somebody says something; what a command answers."""
    await clock.advance(1_000)
    login, at = LOGINS[who], clock.now()
    event = ChatEvent(f"{who}-{at}", EventKind.MESSAGE, who, login, login, text, at, badges=frozenset(badges))
    await bot.hear(event)
    await bot.settle()
    return await bot.viewers.handle(event)


@pytest.fixture
async def full(bot: Bot, clock: ManualClock) -> Bot:
    """Alice is in everything there is; then she is banned."""
    await bot.chores.catch_up()
    for who in LOGINS:
        await say(bot, clock, who, "hello everybody, nice to see you")
    now = clock.now()
    await remember(bot.db, ALICE, "plays the zitherbloom", by=ALICE, at=now)
    await remember(bot.db, BOB, f"is a friend of <@{ALICE}>", by=BOB, at=now)
    stream = int(await bot.db.value("SELECT max(id) FROM streams"))
    seqs = [int(row[0]) for row in await bot.db.rows("SELECT seq FROM events")]
    summary = f"<@{ALICE}> built a marimbaglow. <@{BOB}> fixed a bike."
    people = {ALICE: Part(1, 0), BOB: Part(1, 0)}
    await episodes.write(bot.db, NewEpisode(EpisodeKind.CHAT, stream, now, now, summary, people, seqs[:1]), now)
    async with bot.db.write() as tx:
        await streams.set_recap(tx, stream, summary, now)
        await channel_state.put(tx, {"digest": summary, "digest_of": str(stream)}, now)
    await bot.keeper.refresh()
    return bot


async def ban(bot: Bot, clock: ManualClock) -> None:
    await clock.advance(MINUTE)
    await bot.hear(Redaction(clock.now(), user_id=ALICE))
    await bot.settle()


async def prompt(bot: Bot, clock: ManualClock, who: str, text: str) -> str:
    login = LOGINS[who]
    event = ChatEvent("q", EventKind.MESSAGE, who, login, login, f"@ForgetMeNot {text}", clock.now())
    trigger = trigger_of(event, bot.identity(), Conversations({}), bot.settings(), event.at)
    assert trigger is not None
    gatherer = Gatherer(db=bot.db, recall=bot.recall, clock=clock)
    material = await gatherer.tail(trigger, bot.settings(), nonce="abcd", bot_id="")
    whole = assemble(await bot.keeper.current(), material, bot.settings())
    return "\n".join(section.text for section in whole.sections).casefold()


async def shown(bot: Bot, clock: ManualClock) -> str:
    """Everything that people and models get to see, as one text. The question itself does not name her."""
    seen = [await prompt(bot, clock, BOB, "what happened with the marimba and the zither?")]
    seen += [str(await say(bot, clock, BOB, "!memory"))]
    seen += [str(await bot.recall.about_viewer(ALICE, "zitherbloom marimbaglow", 10))]
    seen += [str(bot.recall.crowd.named_in("what does @alicequux play?"))]
    _, notes = await dock_memory.page(bot.db, Page(status=""))
    seen += [str([note.fact for note in notes if note.subject_id != BOB])]
    return " ".join(seen).casefold()


async def test_before_the_ban_all_of_it_is_there(full: Bot, clock: ManualClock) -> None:
    """Else the next test would prove nothing."""
    seen = await shown(full, clock)
    assert [trace for trace in TRACES if trace not in seen] == []


async def test_a_ban_hides_everything_at_once(full: Bot, clock: ManualClock) -> None:
    await ban(full, clock)
    seen = await shown(full, clock)
    assert [trace for trace in TRACES if trace in seen] == []
    assert "is a friend of somebody" in seen
    named = await prompt(full, clock, BOB, "how is alicequux doing with the zither?")
    assert named.count("alicequux") == 1  # in the question
    assert "zitherbloom" not in named
    answer = await say(full, clock, CAROL, "!memory alicequux", "moderator/1")
    assert "zitherbloom" not in str(answer)
    _, people = await dock_memory.people(full.db, find="", since=0, bot="", offset=0, limit=10)
    assert [(one.id, one.notes) for one in people if one.banned] == [(ALICE, 0)]


async def test_what_she_said_is_in_no_feed(full: Bot, clock: ManualClock) -> None:
    await ban(full, clock)
    assert await full.db.value("SELECT count(*) FROM events WHERE viewer_id = ? AND text <> ''", (ALICE,)) == 0
    assert ALICE not in str([tuple(row) for row in await dock_feed.lines(full.db, 0, 50)])


async def test_it_is_erased_after_seven_days(full: Bot, clock: ManualClock) -> None:
    await ban(full, clock)
    await clock.advance(7 * DAY - HOUR)
    await full.chores.catch_up()
    assert await viewers.get(full.db, ALICE) is not None
    await clock.advance(HOUR)
    await full.chores.catch_up()
    assert await viewers.get(full.db, ALICE) is None
    folder = full.db.path.parent
    held = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file()).lower()
    assert [trace for trace in TRACES if trace.encode() in held] == []


async def test_a_lifted_ban_shows_it_again_and_erases_nothing(full: Bot, clock: ManualClock) -> None:
    """Somebody who talks is not banned any more; Twitch says nothing else about it."""
    await ban(full, clock)
    await clock.advance(DAY)
    await say(full, clock, ALICE, "back again")
    assert "zitherbloom" in str(await full.recall.about_viewer(ALICE, "zitherbloom", 10))
    await clock.advance(8 * DAY)
    await full.chores.catch_up()
    assert await viewers.get(full.db, ALICE) is not None
