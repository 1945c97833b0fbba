"""Chapters of a stream from its summaries: for a video's description, as CSV, and as an edit list."""

import asyncio
import csv
import io
from pathlib import Path

import pytest

from forgetmenot.cli import build_parser
from forgetmenot.clock import ManualClock
from forgetmenot.domain import Video
from forgetmenot.durations import HOUR, MINUTE, SECOND
from forgetmenot.errors import InputError
from forgetmenot.memory.chapters import Chapter, as_text, chapters_of
from forgetmenot.settings.schema import PeopleSettings, Settings
from forgetmenot.store import privacy_choices, streams
from forgetmenot.store.database import Database, open_database
from tests.rows import put

SETTINGS = Settings(people=PeopleSettings(regular_streams=1))
VIEW = "and the view over the whole of the valley was praised"
SUMMARIES = (
    "Chat greeted.",
    "<@1> fell off the ladder. They cried. <@2> laughed.",
    "=<@2> beat the boss",
    "",
    f"The tower was climbed, {VIEW} by everybody who was there to see it at that hour.",
)


async def put_stream(db: Database, began_at: int) -> int:
    """A stream of two hours with five episodes of 20 minutes, the first of which begins after 5 s."""
    async with db.write() as tx:
        for viewer_id, login in (("1", "alice"), ("2", "bob"), ("3", "carol")):
            await put(tx, "viewers", id=viewer_id, login=login)
        stream_id = await put(
            tx,
            "streams",
            started_at=began_at,
            last_event_at=began_at + 2 * HOUR,
            ended_at=began_at + 2 * HOUR,
            title="Tower night",
        )
        for viewer_id in ("1", "2"):
            await put(
                tx,
                "attendance",
                viewer_id=viewer_id,
                stream_id=stream_id,
                first_at=began_at,
                last_at=began_at,
                lines=9,
            )
        for number, summary in enumerate(SUMMARIES):
            episode_at = began_at + number * 20 * MINUTE + 5 * SECOND
            await put(
                tx,
                "episodes",
                stream_id=stream_id,
                summary=summary,
                started_at=episode_at,
                ended_at=episode_at + 19 * MINUTE,
            )
        asked_at = began_at + 30 * MINUTE
        await put(
            tx,
            "episodes",
            kind="command",
            stream_id=stream_id,
            summary="asked to remember about <@1>: plays drums",
            started_at=asked_at,
            ended_at=asked_at,
        )
    return stream_id


async def test_a_chapter_is_a_sentence_of_a_summary(
    db: Database, clock: ManualClock
) -> None:
    stream_id = await put_stream(db, clock.now())
    chapters = await chapters_of(db, stream_id, SETTINGS)
    assert as_text(chapters, "youtube", "Tower night").splitlines() == [
        "0:00 Chat greeted",
        "20:05 Alice fell off the ladder",
        "40:05 =Bob beat the boss",
        f"1:20:05 The tower was climbed, {VIEW} by everybody who was…",
    ]


async def test_a_chapter_is_at_least_ten_seconds_long(
    db: Database, clock: ManualClock
) -> None:
    began_at = clock.now()
    stream_id = await put_stream(db, began_at)
    # the summaries of ladder, boss and tower begin so many seconds into the stream
    times = {"%ladder%": 9 * SECOND, "%boss%": 11 * SECOND, "%tower%": 20 * SECOND}
    async with db.write() as tx:
        for words, time in times.items():
            sql = "UPDATE episodes SET started_at = ? WHERE summary LIKE ?"
            await tx.execute(sql, (began_at + time, words))
    chapters = await chapters_of(db, stream_id, SETTINGS)
    assert [chapter.begin for chapter in chapters] == [0, 11 * SECOND]
    assert chapters[1].title == "=Bob beat the boss"


async def test_it_begins_with_the_line_that_its_sentence_rests_on(
    db: Database, clock: ManualClock
) -> None:
    stream_id = await put_stream(db, clock.now())
    times = f"[{clock.now() + 33 * MINUTE}, 0, 0]"
    async with db.write() as tx:
        sql = "UPDATE episodes SET sentence_times = ? WHERE summary LIKE '%ladder%'"
        await tx.execute(sql, (times,))
    text = as_text(await chapters_of(db, stream_id, SETTINGS), "youtube", "")
    assert text.splitlines()[1] == "33:00 Alice fell off the ladder"


async def test_it_counts_from_where_the_video_begins(
    db: Database, clock: ManualClock
) -> None:
    stream_id = await put_stream(db, clock.now())
    async with db.write() as tx:
        video = Video(77, clock.now() - 10 * SECOND, clock.now() + HOUR)
        await streams.set_video(tx, stream_id, video)
    text = as_text(await chapters_of(db, stream_id, SETTINGS), "youtube", "")
    assert text.splitlines()[:2] == [
        "0:00 Chat greeted",
        "20:15 Alice fell off the ladder",
    ]


async def test_nobody_is_named_who_may_not_be(db: Database, clock: ManualClock) -> None:
    stream_id = await put_stream(db, clock.now())
    async with db.write() as tx:
        await privacy_choices.opt_out(tx, "1", clock.now())
    text = as_text(await chapters_of(db, stream_id, SETTINGS), "youtube", "")
    assert "Alice" not in text
    assert "ladder" not in text
    assert "They" not in text
    assert "20:05 Bob laughed" in text


async def test_a_table_runs_no_formula_and_has_begin_and_end(
    db: Database, clock: ManualClock
) -> None:
    stream_id = await put_stream(db, clock.now())
    chapters = await chapters_of(db, stream_id, SETTINGS)
    rows = list(csv.reader(io.StringIO(as_text(chapters, "csv", ""))))
    assert rows[0] == ["start", "end", "title"]
    assert rows[1] == ["0:00:00", "0:20:05", "Chat greeted"]
    assert rows[3] == ["0:40:05", "1:20:05", "'=Bob beat the boss"]
    assert rows[4][:2] == ["1:20:05", "2:00:00"]


@pytest.mark.parametrize("title", ["=1", "＝1", "+1", "＋1", "-1", "－1", "@a", "＠a"])
def test_no_title_begins_as_a_formula(title: str) -> None:
    rows = list(csv.reader(io.StringIO(as_text([Chapter(0, 1, title)], "csv", ""))))
    assert rows[1][2] == f"'{title}"


def test_a_description_has_no_angle_brackets_which_youtube_refuses() -> None:
    text = as_text([Chapter(0, 1, "Alice sent <3 to Bob -> chat")], "youtube", "")
    assert text == "0:00 Alice sent ‹3 to Bob -› chat\n"


async def test_an_edit_list_has_a_marker_for_each(
    db: Database, clock: ManualClock
) -> None:
    stream_id = await put_stream(db, clock.now())
    chapters = await chapters_of(db, stream_id, SETTINGS)
    lines = as_text(chapters, "edl", "Tower\nnight").splitlines()
    assert lines[:2] == ["TITLE: Tower night", "FCM: NON-DROP FRAME"]
    assert lines[3:6] == [
        "001  001      V     C        01:00:00:00 01:00:00:01 01:00:00:00 01:00:00:01",
        "* FROM CLIP NAME: Chat greeted",
        " |C:ResolveColorBlue |M:Chat greeted |D:1",
    ]
    assert any(
        line.startswith("002  001      V     C        01:20:05:00") for line in lines
    )


async def test_there_is_no_stream(db: Database) -> None:
    with pytest.raises(InputError):
        await chapters_of(db, 99, SETTINGS)


async def test_the_command_prints_those_of_the_last_stream(
    tmp_path: Path, clock: ManualClock, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "memory.sqlite3"
    async with open_database(path) as db:
        await put_stream(db, clock.now())
    words = ["recap", "--db", str(path), "--chapters", "youtube"]
    arguments = build_parser("recap").parse_args(words)
    assert await asyncio.to_thread(arguments.run, arguments) == 0
    assert capsys.readouterr().out.startswith("0:00 Chat greeted\n")
