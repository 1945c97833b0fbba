"""Around the commands: how many answers one viewer gets, the channel's modes, and the notice once per stream."""

from forgetmenot.chat.command_rate_limit import BURST, MS_PER_ANSWER, CommandRateLimiter
from forgetmenot.chat.notice import take_notice
from forgetmenot.clock import ManualClock
from forgetmenot.operations.actions import ACTIONS
from forgetmenot.reply.send_rate import WINDOW_MS, SendRateLimiter
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import channel_state, streams
from forgetmenot.store.database import Database
from forgetmenot.twitch.chat_lines import RoomState
from forgetmenot.twitch.room_modes import RoomModeTracker

SPEAKING = Settings(bot=BotSettings(mode=Mode.MENTIONS, notice="I remember; !privacy"))


def test_a_few_at_once_then_one_at_a_time() -> None:
    limiter = CommandRateLimiter()
    assert [limiter.allows("1", 0) for _ in range(BURST + 2)] == [True] * BURST + [
        False,
        False,
    ]
    assert limiter.allows("2", 0)
    assert not limiter.allows("1", MS_PER_ANSWER - 1)
    assert limiter.allows("1", MS_PER_ANSWER)
    assert not limiter.allows("1", MS_PER_ANSWER)
    assert [limiter.allows("1", 9 * MS_PER_ANSWER) for _ in range(BURST + 1)] == [
        True
    ] * BURST + [False]
    assert not limiter.allows("1", 0)  # a clock that steps back refills nothing


def test_a_viewer_who_floods_leaves_places_for_the_commands_of_others() -> None:
    limiter = CommandRateLimiter()
    pace = SendRateLimiter()
    other_viewers = 0
    for at in range(0, WINDOW_MS, 1_000):
        answered = limiter.allows("1", at) + (
            at % 10_000 == 0
        )  # a command each second, and a reply as often as may be
        for _ in range(answered):
            pace.call_begins(at)
    while not pace.is_crowded(WINDOW_MS - 1, 0):
        pace.call_begins(WINDOW_MS - 1)
        other_viewers += 1
    assert other_viewers >= 4


def test_a_mode_holds_until_twitch_reports_it_off() -> None:
    room = RoomModeTracker()
    room.heard(RoomState("100", emote_only=True, slow_s=30))
    assert (
        room.modes
        == {"slow", "emote_only"}
        == {action.mode for action in ACTIONS if action.mode}
    )
    room.heard(RoomState("100", slow_s=0))
    assert room.modes == {"emote_only"}


async def test_the_notice_is_given_once_in_each_stream_unless_the_bot_is_paused(
    db: Database, clock: ManualClock
) -> None:
    assert await take_notice(db, SPEAKING, clock.now()) is None
    for paused in ("1", ""):
        async with db.write() as tx:
            last = await streams.current(tx)
            if last is not None:
                await streams.end(tx, last["id"], clock.now())
            await streams.begin(tx, clock.now())
            await channel_state.put(tx, {"paused": paused}, clock.now())
        for bot in (
            BotSettings(),
            BotSettings(mode=Mode.LIVE, notice=" "),
            BotSettings(mode=Mode.SHADOW, notice="x"),
        ):
            assert await take_notice(db, Settings(bot=bot), clock.now()) is None
        expected = None if paused else "I remember; !privacy"
        assert await take_notice(db, SPEAKING, clock.now()) == expected
        assert await take_notice(db, SPEAKING, clock.now()) is None
