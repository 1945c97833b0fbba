"""What a ban hides and erases, and what the bot does about modes that a moderator set."""

import gc
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from forgetmenot.app import bot as program
from forgetmenot.app.bot import Bot, BotIdentity, open_bot
from forgetmenot.clock import DAY, MINUTE, SECOND, ManualClock
from forgetmenot.domain import ChannelState, ChatEvent, EpisodeKind, EventKind, Outcome, OutcomeKind, Part, Redaction
from forgetmenot.llm.build import Models
from forgetmenot.memory.edits import remember
from forgetmenot.prompt.assemble import assemble
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.triggers import Conversations, trigger_of
from forgetmenot.settings.schema import ActionSettings, BotSettings, ClassMode, Mode, Settings
from forgetmenot.store import action_logs, bot_messages, channel_state, dock_rows, episodes, streams, viewers
from forgetmenot.store.action_logs import ActionStatus
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.dock_rows import NotePage
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.text import words
from forgetmenot.twitch.chat_lines import RoomState
from tests.stage import RecordingAccount, ScriptedModel, answering

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
    seen += [str(bot.recall.active_viewers.named_in("what does @alicequux play?"))]
    _, notes = await dock_rows.page(bot.db, NotePage(status="any"))
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


async def test_no_moderator_makes_the_bot_tell_of_her_in_chat(full: Bot, clock: ManualClock) -> None:
    await say(full, clock, BOB, "I am married to alicequux")
    assert "alicequux" in str(await say(full, clock, BOB, "!memory"))
    await ban(full, clock)
    assert await say(full, clock, BOB, "!memory @alicequux", "moderator") == "I know nothing about alicequux yet."
    assert "alicequux" not in str(await say(full, clock, BOB, "!memory"))


async def test_what_she_said_is_in_no_feed(full: Bot, clock: ManualClock) -> None:
    await ban(full, clock)
    assert await full.db.value("SELECT count(*) FROM events WHERE viewer_id = ? AND text <> ''", (ALICE,)) == 0
    assert ALICE not in str(await dock_rows.lines(full.db, 0, 50))


async def test_a_lifted_ban_shows_it_again_and_erases_nothing(full: Bot, clock: ManualClock) -> None:
    """Somebody who talks is not banned any more; Twitch says nothing else about it."""
    await ban(full, clock)
    await clock.advance(DAY)
    await say(full, clock, ALICE, "back again")
    assert "zitherbloom" in str(await full.recall.about([ALICE], "zitherbloom", 10))
    await clock.advance(8 * DAY)
    await full.tasks.catch_up()
    assert await viewers.get(full.db, ALICE) is not None


SLOW = RoomState("1", slow_s=30)
WISH = "@forgetmenot_bot please put on slow mode"
SETTINGS = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    actions=ActionSettings(class_b=ClassMode.LIVE, channel_cooldown_s=0, viewer_cooldown_s=0),
)


@dataclass
class Account(RecordingAccount):
    """An account that may also slow the chat down."""

    slowed: list[int | None] = field(default_factory=list)

    async def set_slow_mode(self, seconds: int | None) -> Outcome:
        self.slowed.append(seconds)
        return Outcome(OutcomeKind.DONE)


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
async def slowing(
    tmp_path: Path, clock: ManualClock, account: Account, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bot]:
    """A live stream, and a model that always slows the chat down."""
    model = ScriptedModel([answering("Slower!", "slow_mode", seconds=30, if_refused="No.")] * 3)
    monkeypatch.setattr(program, "build_models", lambda *_, **_how: Models(model, model))  # type: ignore[arg-type]
    me = BotIdentity("99", "forgetmenot_bot")
    path = tmp_path / "memory.sqlite3"
    async with open_bot(path, "test", settings=lambda: SETTINGS, clock=clock, account=account, me=me) as opened:
        await opened.channel_is(ChannelState(live=True, title="", category="", started_at=clock.now(), stream_id="1"))
        yield opened


async def wish(bot: Bot, clock: ManualClock) -> list[tuple[ActionStatus, str]]:
    """A moderator asks for slow mode; what became of every proposal so far, newest first."""
    at = clock.now()
    badges = frozenset({"moderator"})
    await bot.hear(ChatEvent(f"e{at}", EventKind.MESSAGE, "7", "carol", "Carol", WISH, at, badges=badges))
    await bot.settle()
    return [(row.status, row.rule) for row in await action_logs.latest(bot.db, 9)]


async def test_its_own_is_forgotten_with_the_end_of_it(slowing: Bot, clock: ManualClock, account: Account) -> None:
    """Also when Twitch's word that it is off gets lost."""
    await wish(slowing, clock)
    await slowing.hear(SLOW)
    await clock.advance(31 * SECOND)
    await slowing.approvals.work_off()
    assert account.slowed == [5, None]
    assert slowing.room.modes == frozenset()
    await clock.advance(MINUTE)
    assert [status for status, _ in await wish(slowing, clock)] == [ActionStatus.DONE, ActionStatus.UNDONE]


async def test_an_erasure_empties_what_the_process_kept_of_texts(full: Bot) -> None:
    def kept() -> list[str]:
        held = (gc.get_referents(clear.__self__) for clear in words._clears)  # type: ignore[attr-defined]
        return [what for each in held for what in map(str, each) if "zitherbloom" in what]

    assert kept()
    await full.eraser.erase(ALICE)
    assert not kept()


async def test_a_reply_that_a_moderator_deletes_is_marked_whatever_is_said_later(bot: Bot, clock: ManualClock) -> None:
    async with bot.db.write() as tx:
        row = await bot_messages.begin(tx, at=clock.now(), event_id=None, viewer_id=None, trigger="name", mode="live")
        await bot_messages.settle(tx, row, ReplyStatus.SENT, twitch_id="sent-1")
    await bot.hear(Redaction(clock.now(), event_id="somebody-elses"))
    assert (await bot.db.value("SELECT outcome FROM bot_messages")) == ""
    await bot.hear(Redaction(clock.now(), event_id="sent-1"))
    async with bot.db.write() as tx:
        await bot_messages.set_outcome(tx, row, "good")
    assert (await bot.db.value("SELECT outcome FROM bot_messages")) == "deleted"
