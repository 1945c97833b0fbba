"""When a stream begins and ends, and its recap."""

import asyncio
import sqlite3
from functools import partial

import pytest

from forgetmenot.domain import ChannelState, ModelRequest, Purpose
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import ModelBlocked, StoreError
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.store import streams
from forgetmenot.store.database import Row, Source
from forgetmenot.text.mentions import fenced_texts
from tests.memory.conftest import SAID_SOMETHING, Channel, answer


def state(
    *, live: bool, started_at: int | None = None, stream_id: str = ""
) -> ChannelState:
    return ChannelState(live, "A title", "Art", started_at, stream_id)


@pytest.mark.parametrize(
    ("steps", "current", "ended", "name"),
    [
        ([("s1", 0, 0), ("", 0, 9)], 1, None, "s1"),
        ([("s1", 0, 0), ("", 0, 9), ("", 0, 11)], None, 0, "s1"),
        ([("s1", 0, 0), ("", 0, 5), ("s2", 8, 9)], 1, None, "s2"),  # an interruption
        ([("s1", 0, 0), ("s2", 300, 300)], 2, 0, "s1"),  # another broadcast
    ],
)
async def test_helix_opens_and_closes_a_stream(
    channel: Channel,
    steps: list[tuple[str, int, int]],
    current: int | None,
    ended: int | None,
    name: str,
) -> None:
    """Each step: the id that Helix has ("" when offline), when it started and when it is asked, in minutes."""
    start = channel.clock.now()
    for stream_id, started, asked_min in steps:
        reported = state(
            live=bool(stream_id),
            stream_id=stream_id,
            started_at=start + started * MINUTE,
        )
        await channel.stream_tracker.live(reported, start + asked_min * MINUTE)
    assert await streams.current_id(channel.db) == current
    [first, *_] = await channel.db.rows(
        "SELECT ended_at, twitch_id FROM streams ORDER BY id"
    )
    assert tuple(first) == (None if ended is None else start + ended * MINUTE, name)


async def test_a_stream_that_the_first_lines_open_is_not_opened_twice_by_a_pass_at_the_same_moment(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = channel.stream_tracker
    now = channel.clock.now()
    looked = asyncio.Event()
    look = streams.current

    async def slowly(source: Source) -> Row | None:
        stream_id = await look(source)
        if source is channel.db:
            await looked.wait()
        return stream_id

    monkeypatch.setattr(streams, "current", slowly)
    passing = asyncio.create_task(tracker.tick(now))
    await asyncio.sleep(0.05)
    async with channel.db.write() as tx:
        opened = await tracker.place(tx, now, now)
    looked.set()
    await passing
    async with channel.db.write() as tx:
        assert await tracker.place(tx, now, now) == opened


async def test_a_stream_whose_end_could_not_be_written_ends_with_the_next_lines(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = channel.stream_tracker
    now = channel.clock.now()
    async with channel.db.write() as tx:
        await tracker.place(tx, now, now)

    async def fails() -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as full, pytest.raises(StoreError):
        full.setattr(channel.db._writer, "commit", fails)
        await tracker.tick(now + 13 * HOUR)
    async with channel.db.write() as tx:
        await tracker.place(tx, now + 14 * HOUR, now + 14 * HOUR)
    assert await channel.db.column("SELECT ended_at FROM streams ORDER BY id") == [
        now,
        None,
    ]


async def _stream_of_two_windows(channel: Channel) -> None:
    await channel.stream_tracker.live(
        state(live=True, stream_id="s1"), channel.clock.now()
    )
    await channel.chat(120)
    await channel.compactor.run_pass()
    await channel.clock.advance(11 * MINUTE)
    await channel.stream_tracker.live(state(live=False), channel.clock.now())


async def test_a_closed_stream_gets_one_recap_after_its_remainder(
    channel: Channel,
) -> None:
    await _stream_of_two_windows(channel)
    answers: list[str | ModelBlocked] = [ModelBlocked("no"), answer("P1 danced.")]
    channel.model.reply = lambda r: (
        answers[0] if r.purpose is Purpose.RECAP else SAID_SOMETHING
    )
    for _ in range(
        20
    ):  # one that is refused is asked for again in an hour, not at every pass
        assert (await channel.compactor.run_pass()).recaps == 0
        await channel.clock.advance(3 * MINUTE)
    del answers[0]
    assert [(await channel.compactor.run_pass()).recaps for _ in range(2)] == [1, 0]
    recap_requests = [
        request for request in channel.model.asked if request.purpose is Purpose.RECAP
    ]
    assert len(recap_requests) == 2
    assert "P1" in fenced_texts(recap_requests[1].prompt)["episodes"]
    assert (await streams.get_many(channel.db, [1]))[1].recap == "<@id-viewer0> danced."


async def test_a_line_cleared_while_the_model_thinks_of_a_recap_leaves_it_unwritten(
    channel: Channel,
) -> None:
    await _stream_of_two_windows(channel)

    def reply(request: ModelRequest) -> str:
        if request.purpose is Purpose.SUMMARY:  # while the next one is made, the recap
            channel.model.meanwhile = partial(channel.clear, user_id="id-viewer0")
        return answer(
            "P1 told a secret."
            if request.purpose is Purpose.RECAP
            else "P1 said something."
        )

    channel.model.reply = reply
    assert (await channel.compactor.run_pass()).recaps == 0
    assert (await streams.get_many(channel.db, [1]))[1].recap == ""


async def test_a_stream_begins_by_twitchs_clock_where_the_pcs_own_is_behind(
    channel: Channel,
) -> None:
    """Helix answers before the first line of chat tells what time it is."""
    wrong = channel.clock.now()
    right = wrong + 9 * HOUR
    await channel.stream_tracker.live(
        state(live=True, stream_id="s1", started_at=right), wrong
    )
    assert await channel.db.value("SELECT started_at FROM streams") == right
    await channel.stream_tracker.live(state(live=False), wrong + 11 * MINUTE)
    assert await channel.db.value("SELECT ended_at - started_at FROM streams") >= 0


async def test_a_stream_that_obs_alone_reports_ends_and_three_evenings_are_three_streams(
    channel: Channel,
) -> None:
    """OBS knows no id of Twitch's, and says once that it is over; chat goes on with a line an hour."""
    tracker = channel.stream_tracker
    for _ in range(3):
        await tracker.live(
            state(live=True, started_at=channel.clock.now()), channel.clock.now()
        )
        await channel.chat(3, every_ms=HOUR)
        await tracker.live(state(live=True), channel.clock.now())
        await tracker.live(state(live=False), channel.clock.now())
        for _ in range(20):
            await channel.chat(1, every_ms=HOUR)
            await tracker.tick(channel.clock.now())
    rows = await channel.db.rows(
        "SELECT ended_at - started_at FROM streams ORDER BY id"
    )
    assert [row[0] for row in rows] == [3 * HOUR] * 3
    assert await channel.db.column("SELECT DISTINCT twitch_id FROM streams") == [None]


async def test_a_stream_that_chat_opened_is_closed_ten_minutes_after_twitch_says_it_is_off(
    channel: Channel,
) -> None:
    began = channel.clock.now()
    await channel.chat(5, every_ms=MINUTE)
    for _ in range(20):
        await channel.stream_tracker.live(state(live=False), channel.clock.now())
        await channel.chat(1, every_ms=MINUTE)
    ended = await channel.db.column("SELECT ended_at FROM streams")
    assert ended == [began + 5 * MINUTE]


async def test_an_obs_that_streams_again_within_ten_minutes_goes_on_and_later_begins_another(
    channel: Channel,
) -> None:
    tracker = channel.stream_tracker
    for pause in (9 * MINUTE, 11 * MINUTE):
        await tracker.live(
            state(live=True, started_at=channel.clock.now()), channel.clock.now()
        )
        await tracker.live(state(live=False), channel.clock.now())
        await channel.clock.advance(pause)
    await tracker.live(
        state(live=True, started_at=channel.clock.now()), channel.clock.now()
    )
    assert len(await channel.db.rows("SELECT id FROM streams")) == 2


async def test_a_stream_that_ended_before_a_restart_is_closed_by_the_next_run(
    channel: Channel,
) -> None:
    began = channel.clock.now()
    await channel.stream_tracker.live(state(live=True), began)
    await channel.chat(3, every_ms=MINUTE)
    ended = channel.clock.now()
    await channel.stream_tracker.live(state(live=False), ended)
    next_run = StreamTracker(channel.db)
    await next_run.end_stopped(began - HOUR, ended + HOUR)  # of a stream before
    await next_run.end_stopped(ended, ended + 9 * MINUTE)
    assert await channel.db.column("SELECT ended_at FROM streams") == [None]
    await next_run.end_stopped(ended, ended + 11 * MINUTE)
    assert await channel.db.column("SELECT ended_at FROM streams") == [ended]
