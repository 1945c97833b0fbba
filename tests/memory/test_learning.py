"""The chat of past streams becomes summaries and notes; its lines are never stored, and a file counts once."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import ModelRequest, Purpose, Video
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.errors import InputError, ModelUnavailable
from forgetmenot.languages import ENGLISH
from forgetmenot.memory.learning import Learned, Learner
from forgetmenot.past_chat.chat_file import Unread
from forgetmenot.privacy.erasure import erase_rows
from forgetmenot.settings.schema import MemorySettings, Settings
from forgetmenot.store import privacy_choices, streams, viewers
from forgetmenot.store.database import Database
from tests.memory.conftest import answer
from tests.notes_world import Scripted
from tests.past_chat.test_chat_file import broadcast, comment

BEGAN = 1_777_665_600_000  # 1 May 2026, 20:00 UTC
SETTINGS = Settings(
    memory=MemorySettings(
        window_min_events=5, window_max_events=10, known_bots=("helper",)
    )
)


def log(path: Path, days: int = 2, lines: int = 12) -> Path:
    """A log of evenings: alice and bob take turns."""
    text = []
    for day in range(days):
        for number in range(lines):
            login = ("alice", "bob")[number % 2]
            minute = number
            tags = f"id=d{day}n{number};user-id={1 + number % 2};tmi-sent-ts={BEGAN + day * DAY + minute * MINUTE}"
            text.append(
                f"@{tags} :{login}!{login}@{login} PRIVMSG #demo :zitherbloom {day} {number}\n"
            )
    path.write_text("".join(text), encoding="utf-8")
    return path


class Past:
    """A memory that learns, and a model whose every answer is another."""

    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.db = db
        self.clock = clock
        self.model = Scripted()
        self.settings = SETTINGS
        self.model.reply = self._writes

    def _writes(self, request: ModelRequest) -> str:
        fact = f"planted tree number {len(self.model.asked)}"
        if request.purpose is Purpose.SUMMARY:
            return answer(f"P1 {fact}.")
        return json.dumps(
            {"notes": [{"who": "P1", "fact": fact, "lifetime": "permanent"}]}
        )

    def learner(self) -> Learner:
        return Learner(
            db=self.db,
            model=self.model,
            settings=lambda: self.settings,
            clock=self.clock,
        )

    async def learn(self, *paths: Path) -> Learned:
        return await self.learner().learn(paths)

    async def counts(self) -> list[int]:
        """Streams, summaries, raw lines."""
        return [
            await self.db.value(f"SELECT count(*) FROM {table}")  # noqa: S608
            for table in ("streams", "episodes", "events")
        ]

    async def leaves(self, viewer_id: str, *, erased: bool) -> None:
        if erased:
            await erase_rows(self.db, viewer_id, self.clock.now())
            return
        async with self.db.write() as tx:
            await privacy_choices.opt_out(tx, viewer_id, self.clock.now())


@pytest.fixture
async def past(db: Database, clock: ManualClock) -> Past:
    await clock.move_to(BEGAN + 30 * DAY)
    return Past(db, clock)


async def test_past_streams_are_learned_with_their_own_dates_once_and_no_line_is_stored(
    past: Past, tmp_path: Path
) -> None:
    path = log(tmp_path / "demo.log")
    report = await past.learn(path)
    assert (report.lines, report.streams, report.trouble) == (24, 2, "")
    assert await past.counts() == [2, report.episodes, 0]
    assert await past.db.column("SELECT started_at FROM streams ORDER BY id") == [
        BEGAN,
        BEGAN + DAY,
    ]
    first_said = await past.db.column(
        "SELECT first_said_at FROM semantic_notes ORDER BY id"
    )
    assert first_said
    assert all(BEGAN <= at < BEGAN + 2 * DAY for at in first_said)
    assert await past.db.value("SELECT count(*) FROM attendance") == 4
    files = [
        file for file in tmp_path.iterdir() if file.is_file() and file.suffix != ".log"
    ]
    assert not [file for file in files if b"zitherbloom" in file.read_bytes()]
    again = await past.learn(path.rename(tmp_path / "other.log"))
    assert (again.lines, again.known, await past.counts()) == (
        0,
        24,
        [2, report.episodes, 0],
    )


async def test_what_was_stopped_goes_on_where_it_was(
    past: Past, tmp_path: Path
) -> None:
    path = log(tmp_path / "demo.log")
    first = past.learner()
    report = await first.learn([path], lambda _share: first.stop())
    assert 0 < report.lines < 24
    assert (
        await streams.current_id(past.db) is None
    )  # it would be taken for the stream that is on
    async with past.db.write() as tx:
        assert await streams.set_recap(tx, 1, "Of the first part.", past.clock.now())
    assert report.lines + (await past.learn(path)).lines == 24
    assert [stream.id for stream in await streams.without_recap(past.db)] == [1, 2]


async def test_a_model_that_is_away_stops_it_and_nothing_is_lost(
    past: Past, tmp_path: Path
) -> None:
    past.model.reply = lambda _: ModelUnavailable("down")
    report = await past.learn(log(tmp_path / "demo.log"))
    assert report.in_words(ENGLISH).startswith("Stopped after 0 lines")
    assert (report.lines, await past.counts()) == (0, [0, 0, 0])


# ── people who leave while it is read, or who are known by other names ───────────────────────


def by_name(path: Path) -> Path:
    """A justlog evening: names without ids."""
    moment = (
        datetime.fromtimestamp(BEGAN / 1_000 + number * 60, UTC).astimezone()
        for number in range(12)
    )
    text = (
        f"[{at:%Y-%m-%d %H:%M:%S}] #demo {('alice', 'bob')[n % 2]}: hi {n}\n"
        for n, at in enumerate(moment)
    )
    path.write_text("".join(text), encoding="utf-8")
    return path


@pytest.mark.parametrize(("known_as", "file"), [("1", by_name), ("login:alice", log)])
async def test_who_left_before_is_left_out_by_their_name_and_by_their_id(
    past: Past, tmp_path: Path, known_as: str, file: Callable[[Path], Path]
) -> None:
    """Known by their id, in a file of names; erased when only their name was known, in a file of ids."""
    async with past.db.write() as tx:
        await viewers.record_seen(
            tx, [viewers.SeenViewer(known_as, "alice", "alice", None, BEGAN, BEGAN)]
        )
    await past.leaves(known_as, erased=known_as != "1")
    report = await past.learn(file(tmp_path / "demo.log"))
    assert report.excluded == report.lines / 2
    assert not await past.db.column(
        "SELECT viewer_id FROM attendance WHERE viewer_id IN ('1', 'login:alice')"
    )


@pytest.mark.parametrize("erased", [False, True])
async def test_who_leaves_while_the_model_thinks_leaves_nothing(
    past: Past, tmp_path: Path, *, erased: bool
) -> None:
    async def leaves() -> None:
        await past.leaves("1", erased=erased)

    past.model.meanwhile = leaves
    report = await past.learn(log(tmp_path / "demo.log", days=1))
    assert (report.excluded, report.lines, report.trouble) == (6, 12, "")
    summaries = await past.db.column("SELECT summary FROM episodes")
    assert summaries
    assert not [
        summary for summary in summaries if summary.endswith("number 1.")
    ]  # what was asked for before they left
    assert not await past.db.column(
        "SELECT 1 FROM episode_people WHERE viewer_id = '1'"
    )


async def test_what_claims_to_be_said_in_the_future_is_set_aside(
    past: Past, tmp_path: Path
) -> None:
    path = log(tmp_path / "demo.log", days=1)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(
        "".join(
            line.replace("sent-ts=", "sent-ts=99") if "alice" in line else line
            for line in lines
        )
    )
    report = await past.learn(path)
    assert (report.lines, report.unread) == (
        6,
        {str(path): Unread(6, [1, 3, 5, 7, 9, 11])},
    )
    assert not await past.db.column(
        "SELECT id FROM streams WHERE last_event_at > ?", (past.clock.now(),)
    )


async def test_two_who_learn_from_one_file_at_once_do_not_add_it_twice(
    past: Past, tmp_path: Path
) -> None:
    path = log(tmp_path / "demo.log", days=1)

    async def other() -> None:
        await past.learn(path)

    past.model.meanwhile = other
    with pytest.raises(InputError, match="Other files are being read"):
        await past.learn(path)
    assert await past.db.value("SELECT sum(events) FROM episodes") == 12


@pytest.mark.parametrize(
    "began",
    ["", "0001-01-01T00:00:00Z", "1970-01-02T00:00:00Z", "2026-04-28T19:00:00Z"],
)
async def test_a_stream_knows_its_video_and_a_file_that_lies_about_its_beginning_is_dated_by_its_lines(
    past: Past, tmp_path: Path, began: str
) -> None:
    path = broadcast(
        tmp_path / "b.json",
        [comment(number, f"I planted tree {number}") for number in range(10)],
    )
    path.write_text(
        path.read_text().replace(
            "2026-05-01T20:00:00Z", began or "2026-05-01T20:00:00Z", 1
        )
    )
    await past.learn(path)
    assert BEGAN <= await streams.start_of(past.db, 1) < BEGAN + DAY
    videos = await streams.videos(past.db, [1])
    assert videos == ({} if began else {1: Video(2134, BEGAN, BEGAN + 60 * DAY)})
