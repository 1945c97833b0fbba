"""What a ban hides and erases, what the bot does about modes that a moderator set, and a flood of commands."""

import gc
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, BotIdentity, open_bot
from forgetmenot.chat import BURST
from forgetmenot.clock import MINUTE, ManualClock
from forgetmenot.domain import ChatEvent, EpisodeKind, EventKind, Part, Redaction
from forgetmenot.memory.edits import VIEWER_TRUST, remember
from forgetmenot.prompt.assemble import assemble
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.triggers import Conversations, trigger_of
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import channel_state, dock_rows, episodes, notes, personal_data, streams
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.text import words
from tests.stage import RecordingAccount, said

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
    return await bot.commands.handle(event)


@pytest.fixture
async def full(bot: Bot, clock: ManualClock) -> Bot:
    """Alice is in everything there is; then she is banned."""
    await bot.tasks.catch_up()
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
    gatherer = ContextGatherer(db=bot.db, recall=bot.recall, clock=clock)
    material = await gatherer.tail(trigger, bot.settings(), bot_id="")
    whole = assemble(await bot.keeper.current(), material, bot.settings())
    return "\n".join(section.text for section in whole.sections).casefold()


async def shown(bot: Bot, clock: ManualClock) -> str:
    """Everything that people and models get to see, as one text. The question itself does not name her."""
    seen = [await prompt(bot, clock, BOB, "what happened with the marimba and the zither?")]
    seen += [str(await say(bot, clock, BOB, "!memory"))]
    seen += [str(await bot.recall.about([ALICE], "zitherbloom marimbaglow", 10))]
    seen += [str(bot.recall.active_viewers.names.named_in("what does @alicequux play?"))]
    _, notes = await dock_rows.page(bot.db, status="any")
    seen += [str([note.fact for note in notes if note.subject_id != BOB])]
    return " ".join(seen).casefold()


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
    _, people = await dock_rows.people(full.db, find="", since=0, bot="", offset=0, limit=10)
    assert [(one["id"], one["notes"]) for one in people if one["banned"]] == [(ALICE, 0)]


async def test_an_erasure_empties_what_the_process_kept_of_texts(full: Bot) -> None:
    def kept() -> list[str]:
        held = (gc.get_referents(clear.__self__) for clear in words._clears)  # type: ignore[attr-defined]
        return [what for each in held for what in map(str, each) if "zitherbloom" in what]

    assert kept()
    await full.eraser.erase(ALICE)
    assert not kept()


SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS))


async def test_a_flood_of_commands_silences_nobody_and_every_right_still_works(
    tmp_path: Path, clock: ManualClock
) -> None:
    account, me = RecordingAccount(), BotIdentity("99", "forgetmenot")
    path = tmp_path / "m.sqlite3"
    async with open_bot(path, settings=lambda: SETTINGS, clock=clock, account=account, me=me) as bot:
        await bot.hear(said(clock, "e0", "id-alice", "alice", "hello"))
        await bot.settle()
        for number in range(1, 31):
            await bot.hear(
                said(
                    clock,
                    f"e{number}",
                    "id-alice",
                    "alice",
                    f"!remember I own {number} hats and {number + 40} left shoes",
                )
            )
        await bot.hear(said(clock, "e31", "id-alice", "alice", "!optout"))
        await bot.settle()
        assert 1 <= len(account.said) <= BURST
        assert "id-alice" in await personal_data.opted_out(bot.db)
        assert len(await notes.of_subject(bot.db, "id-alice")) <= (VIEWER_TRUST.most or 0)
        before = len(account.said)
        await bot.hear(said(clock, "e32", "id-carol", "carol", "!bot status", "moderator"))
        await bot.settle()
        assert len(account.said) == before + 1
