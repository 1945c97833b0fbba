"""What a ban hides at once, and a flood of commands."""

from pathlib import Path

from forgetmenot.app.bot import Bot
from forgetmenot.chat.command_rate_limit import BURST
from forgetmenot.clock import ManualClock
from forgetmenot.domain import (
    ChatEvent,
    EpisodeKind,
    EventKind,
    Participation,
    Redaction,
)
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.memory.edits import VIEWER_TRUST, remember
from forgetmenot.people.names import index_of
from forgetmenot.prompt.assemble import assemble
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.triggers import Conversations, trigger_of
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import (
    channel_state,
    dock_rows,
    episodes,
    notes,
    privacy_choices,
    streams,
)
from forgetmenot.store.episodes import NewEpisode
from tests.stage import live_bot, said

ALICE = "771234501"
BOB = "771234502"
CAROL = "771234503"
LOGINS = {ALICE: "alicequux", BOB: "bobquux", CAROL: "carolquux"}
NAMED = "what does @alicequux play?"
TRACES = ("alicequux", "zitherbloom", "marimbaglow", ALICE)


async def say(
    bot: Bot, clock: ManualClock, viewer_id: str, text: str, *badges: str
) -> str:
    """Somebody says something; what a command answers."""
    await clock.advance(SECOND)
    event = said(
        clock, f"{viewer_id}-{clock.now()}", viewer_id, LOGINS[viewer_id], text, *badges
    )
    await bot.hear(event)
    await bot.settle()
    answer = await bot.commands.handle(event)
    return "" if answer is None else answer.line


async def prompt(bot: Bot, clock: ManualClock, text: str) -> str:
    """What the model is shown when Bob asks."""
    event = ChatEvent(
        "q",
        EventKind.MESSAGE,
        BOB,
        "bobquux",
        "bobquux",
        f"@ForgetMeNot {text}",
        clock.now(),
    )
    trigger = trigger_of(
        event, bot.identity(), Conversations({}), bot.settings(), event.at
    )
    assert trigger is not None
    gatherer = ContextGatherer(db=bot.db, recall=bot.recall, clock=clock)
    material = await gatherer.tail(trigger, bot.settings(), bot_id="")
    whole = assemble((await bot.keeper.current()).prefix, material, bot.settings())
    return "\n".join(section.text for section in whole.sections).casefold()


async def test_a_ban_hides_everything_at_once(bot: Bot, clock: ManualClock) -> None:
    """Of somebody who is in everything there is."""
    await bot.tasks.catch_up()
    for viewer_id in LOGINS:
        await say(bot, clock, viewer_id, "hello everybody, nice to see you")
    now = clock.now()
    await remember(bot.db, ALICE, "plays the zitherbloom", by=ALICE, at=now)
    await remember(bot.db, BOB, f"is a friend of <@{ALICE}>", by=BOB, at=now)
    stream = int(await bot.db.value("SELECT max(id) FROM streams"))
    seqs = await bot.db.column("SELECT seq FROM events LIMIT 1")
    summary = f"<@{ALICE}> built a marimbaglow. <@{BOB}> fixed a bike."
    people = {ALICE: Participation(1, 0), BOB: Participation(1, 0)}
    await episodes.write(
        bot.db,
        NewEpisode(EpisodeKind.CHAT, stream, now, now, summary, people, seqs),
        now,
    )
    async with bot.db.write() as tx:
        await streams.set_recap(tx, stream, summary, now)
        await channel_state.put(tx, {"digest": summary, "digest_of": str(stream)}, now)
    await bot.keeper.refresh()
    question = "what happened with the marimba and the zither?"
    before = await prompt(bot, clock, question)
    assert all(trace in before for trace in ("alicequux", "marimbaglow"))

    await clock.advance(MINUTE)
    await bot.hear(Redaction(clock.now(), user_id=ALICE))
    await bot.settle()
    _, listed = await dock_rows.page(bot.db, status="any")
    visible_text = " ".join(
        [
            await prompt(bot, clock, question),
            await say(bot, clock, BOB, "!memory"),
            str(await bot.recall.about([ALICE], "zitherbloom marimbaglow", 10)),
            str((await index_of(bot.db, [NAMED])).named_in(NAMED)),
            *(note.fact for note in listed if note.subject_id != BOB),
        ]
    ).casefold()
    assert [trace for trace in TRACES if trace in visible_text] == []
    assert "is a friend of somebody" in visible_text
    assert "zitherbloom" not in await prompt(
        bot, clock, "how is alicequux doing with the zither?"
    )
    reply = await say(bot, clock, CAROL, "!memory @alicequux", "moderator")
    assert reply == "I know nothing about Alicequux yet."


async def test_a_flood_of_commands_silences_nobody_and_every_right_still_works(
    tmp_path: Path, clock: ManualClock
) -> None:
    settings = Settings(bot=BotSettings(mode=Mode.MENTIONS))
    async with live_bot(tmp_path / "m.sqlite3", clock, lambda: settings) as (
        bot,
        account,
    ):
        await bot.hear(said(clock, "e0", ALICE, "alice", "hello"))
        await bot.settle()
        for number in range(1, 31):
            text = f"!remember I own {number} hats and {number + 40} left shoes"
            await bot.hear(said(clock, f"e{number}", ALICE, "alice", text))
        await bot.hear(said(clock, "e31", ALICE, "alice", "!optout"))
        await bot.settle()
        assert 1 <= len(account.said) <= BURST
        assert ALICE in await privacy_choices.opted_out(bot.db)
        notes_per_stream = VIEWER_TRUST.notes_per_stream or 0
        assert len(await notes.of_subject(bot.db, ALICE)) <= notes_per_stream
        before = len(account.said)
        await bot.hear(said(clock, "e32", CAROL, "carol", "!bot status", "moderator"))
        await bot.settle()
        assert len(account.said) == before + 1
