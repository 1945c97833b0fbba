"""A mode of the room that a moderator switched on is neither switched on again nor off by the bot's own end of it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from forgetmenot.app import bot as program
from forgetmenot.app.bot import Bot, Myself, open_bot
from forgetmenot.app.no_account import NoAccount
from forgetmenot.clock import MINUTE, SECOND, ManualClock
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.llm.build import Models
from forgetmenot.settings.schema import ActionSettings, BotSettings, ClassMode, Mode, Settings
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import Status
from forgetmenot.twitch.chat_lines import RoomState
from forgetmenot.twitch.helix import ChannelState
from tests.stage import ScriptedModel

SLOW, FAST = RoomState("1", slow_s=30), RoomState("1", slow_s=0)
WISH = "@forgetmenot_bot please put on slow mode"
SETTINGS = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    actions=ActionSettings(class_b=ClassMode.LIVE, channel_cooldown_s=0, viewer_cooldown_s=0),
)


@dataclass
class Account(NoAccount):
    """An account that may talk and slow the chat down."""

    slowed: list[int | None] = field(default_factory=list)

    async def say(self, _text: str, _reply_to: str | None = None) -> Outcome:
        return Outcome(OutcomeKind.DONE, twitch_id="m")

    async def set_slow_mode(self, seconds: int | None) -> Outcome:
        self.slowed.append(seconds)
        return Outcome(OutcomeKind.DONE)


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
async def bot(
    tmp_path: Path, clock: ManualClock, account: Account, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bot]:
    """A live stream, and a model that always slows the chat down."""
    model = ScriptedModel(['Slower! [ACTION:{nonce} slow_mode seconds=30 else="No."]'] * 3)
    monkeypatch.setattr(program, "build_models", lambda *_: Models(model, model))  # type: ignore[arg-type]
    me = Myself("99", "forgetmenot_bot")
    path = tmp_path / "memory.sqlite3"
    async with open_bot(path, "test", settings=lambda: SETTINGS, clock=clock, account=account, me=me) as opened:
        await opened.channel_is(ChannelState(live=True, title="", category="", started_at=clock.now(), stream_id="1"))
        yield opened


async def wish(bot: Bot, clock: ManualClock) -> list[tuple[Status, str]]:
    """A moderator asks for slow mode; what became of every proposal so far, newest first."""
    at = clock.now()
    badges = frozenset({"moderator"})
    await bot.hear(ChatEvent(f"e{at}", EventKind.MESSAGE, "7", "carol", "Carol", WISH, at, badges=badges))
    await bot.settle()
    return [(row.status, row.rule) for row in await action_logs.latest(bot.db, 9)]


async def test_a_moderators_slow_mode_is_left_alone(bot: Bot, clock: ManualClock, account: Account) -> None:
    await bot.hear(SLOW)
    assert await wish(bot, clock) == [(Status.DENIED, "already_on")]
    await clock.advance(2 * MINUTE)
    await bot.approvals.work_off()
    assert account.slowed == []


async def test_its_own_is_forgotten_with_the_end_of_it(bot: Bot, clock: ManualClock, account: Account) -> None:
    """Also when Twitch's word that it is off gets lost."""
    await wish(bot, clock)
    await bot.hear(SLOW)
    await clock.advance(31 * SECOND)
    await bot.approvals.work_off()
    assert account.slowed == [5, None]
    assert bot.room.modes == frozenset()
    await clock.advance(MINUTE)
    assert [status for status, _ in await wish(bot, clock)] == [Status.DONE, Status.UNDONE]


async def test_what_waited_for_a_person_is_refused_if_the_room_is_in_the_mode_by_then(
    bot: Bot, clock: ManualClock, account: Account
) -> None:
    async with bot.db.write() as tx:
        waiting = action_logs.NewAction(
            key="k",
            at=clock.now(),
            name="slow_mode",
            kind="B",
            params={"seconds": "30", "gap": "5"},
            verdict="ask",
            rule="for_everybody",
            reason="",
            status=Status.WAITING,
            asked_by="7",
            expires_at=clock.now() + MINUTE,
        )
        row = await action_logs.insert(tx, waiting)
    await bot.hear(SLOW)
    answer = await bot.approvals.approve(row or 0, "7")
    assert (answer.ok, account.slowed) == (False, [])
    assert "already" in answer.line
