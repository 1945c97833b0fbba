"""The figures of the dock's pictures, read from a memory on disk: whom they count, and whom they never show."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from forgetmenot.demo.past_streams import with_price
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.settings.schema import BotSettings, Settings
from forgetmenot.store import picture_rows
from forgetmenot.store.database import Database
from tests.conftest import NOON
from tests.dock.conftest import Served
from tests.rows import put
from tests.wishes import erase

ENDPOINTS = (
    "attendance",
    "people",
    "timeline/nobody",
    "learned",
    "learned/1",
    "costs",
    "costs?days=365",
    "answers",
    "answers/2026-07-20",
)


async def read(dock: Served, path: str) -> Any:  # noqa: ANN401  # JSON
    status, answer = await dock.get(f"/api/{path}")
    assert status == 200, answer
    return answer


async def put_streams(db: Database, count: int) -> list[int]:
    """Streams, one a day, the last one today; alice came to all, bob long ago, carol to the last one."""
    ids = []
    async with db.write() as tx:
        for number, login in enumerate(("alice", "bob", "carol", "dave"), start=1):
            first = NOON - count * DAY
            last = NOON - 30 * DAY if login == "bob" else NOON
            await put(
                tx,
                "viewers",
                id=str(number),
                login=login,
                first_seen_at=first,
                last_seen_at=last,
            )
        for day in range(count):
            at = NOON - (count - 1 - day) * DAY
            stream = await put(
                tx,
                "streams",
                started_at=at,
                last_event_at=at + HOUR,
                ended_at=at + HOUR,
                title=f"Day {day}",
            )
            present = [("1", 20)]
            if day < 6:
                present.append(("2", 3))
            if day == count - 1:
                present += [("3", 1), ("4", 7)]
            for viewer, lines in present:
                await put(
                    tx,
                    "attendance",
                    viewer_id=viewer,
                    stream_id=stream,
                    first_at=at,
                    last_at=at,
                    lines=lines,
                )
            ids.append(stream)
    return ids


async def hide(db: Database, viewer: str) -> None:
    async with db.write() as tx:
        await tx.execute("UPDATE viewers SET banned_at = 1 WHERE id = ?", (viewer,))


async def test_an_empty_memory_has_empty_pictures(dock: Served) -> None:
    for path in ENDPOINTS:
        await read(dock, path)
    assert (await dock.get("/api/evening/1"))[0] == 404
    for odd in ("costs?days=0", "costs?days=99999", "costs?days=x", "people?kind=none"):
        assert (await dock.get(f"/api/{odd}"))[0] == 404


async def test_who_comes_counts_regulars_new_and_missing_people_and_nobody_hidden(
    dock: Served, db: Database
) -> None:
    await put_streams(db, 40)
    await hide(db, "4")
    attendance = await read(dock, "attendance")
    listed = (await read(dock, "people"))["total"]
    assert attendance["kinds"] == {
        "came": 3,
        "everybody": listed,
        "regular": 1,
        "new": 1,
        "missing": 1,
    }
    assert [stream["title"] for stream in attendance["streams"]] == [
        f"Day {day}" for day in range(10, 40)
    ]
    for kind, names in (
        ("regular", ["Alice"]),
        ("new", ["Carol"]),
        ("missing", ["Bob"]),
    ):
        page = await read(dock, f"people?kind={kind}")
        assert (page["total"], [row["name"] for row in page["rows"]]) == (1, names)
    cells = {row["name"]: row["cells"] for row in (await read(dock, "people"))["rows"]}
    assert cells == {"Alice": [20] * 30, "Carol": [0] * 29 + [1], "Bob": [], "Dave": []}


async def test_nobody_is_missing_while_the_channel_itself_pauses(
    dock: Served, db: Database
) -> None:
    """Of forty days only the first six have a stream, and one more: Bob missed no second one."""
    stream_ids = await put_streams(db, 40)
    async with db.write() as tx:
        for stream_id in stream_ids[7:]:
            await tx.execute("DELETE FROM attendance WHERE stream_id = ?", (stream_id,))
            await tx.execute("DELETE FROM streams WHERE id = ?", (stream_id,))
    attendance = await read(dock, "attendance")
    assert attendance["kinds"]["missing"] == 0


async def test_a_regular_who_is_away_is_missing_and_no_regular(
    dock: Served, db: Database
) -> None:
    """Bob came often within the last 60 days, and not at all within the last 21."""
    await put_streams(db, 40)
    people = (await read(dock, "people"))["rows"]
    marks = {row["name"]: (row["regular"], row["missing"]) for row in people}
    assert marks["Alice"] == (True, False)
    assert marks["Bob"] == (False, True)
    assert marks["Carol"] == (False, False)
    for row in people:
        person = await read(dock, f"person/{row['id']}")
        assert (person["regular"], person["missing"]) == marks[row["name"]]


# ── the timeline of one person ────────────────────────────────────────────────────────────────


async def timeline_of_alice(dock: Served) -> dict[str, Any]:
    timeline: dict[str, Any] = await read(dock, "timeline/1")
    return timeline


async def put_note_of_alice(db: Database, fact: str, **columns: object) -> int:
    async with db.write() as tx:
        return await put(tx, "semantic_notes", subject_id="1", fact=fact, **columns)


async def put_raid_by_alice(db: Database, stream: int) -> None:
    async with db.write() as tx:
        raid = {"kind": "raid", "text": "12", "viewer_id": "1", "at": NOON}
        await put(tx, "moments", stream_id=stream, **raid)


async def put_joke_by_alice(db: Database) -> None:
    """A running joke, and that she said it."""
    async with db.write() as tx:
        fact = "the ladder wins again"
        joke = await put(tx, "semantic_notes", scope="running_bit", fact=fact)
        episode = await put(tx, "episodes", summary="A ladder.")
        evidence = {"stance": "stated", "speaker_id": "1", "at": NOON}
        await put(tx, "note_evidence", note_id=joke, episode_id=episode, **evidence)


async def test_a_timeline_has_the_lines_of_each_stream(
    dock: Served, db: Database
) -> None:
    await put_streams(db, 3)
    timeline = await timeline_of_alice(dock)
    assert [stream["lines"] for stream in timeline["streams"]] == [20, 20, 20]


async def test_a_timeline_shows_by_what_a_note_was_replaced_and_when(
    dock: Served, db: Database
) -> None:
    await put_streams(db, 1)
    oslo = await put_note_of_alice(db, "lives in Oslo", first_said_at=NOON - 3 * HOUR)
    bergen = await put_note_of_alice(
        db, "lives in Bergen", first_said_at=NOON - 2 * HOUR
    )
    async with db.write() as tx:
        await tx.execute(
            "UPDATE semantic_notes SET status = 'superseded', superseded_by = ? WHERE id = ?",
            (bergen, oslo),
        )
        replaced = {"to_status": "superseded", "cause": "x", "at": NOON - 2 * HOUR}
        await put(tx, "note_changes", note_id=oslo, **replaced)
    [old, new] = (await timeline_of_alice(dock))["notes"]
    assert (old["replaced_by"], old["gone_at"]) == (bergen, NOON - 2 * HOUR)
    assert new["replaced_by"] is None


async def test_a_timeline_shows_the_day_of_a_plan(dock: Served, db: Database) -> None:
    await put_streams(db, 1)
    await put_note_of_alice(db, "has a concert on 1 August", first_said_at=NOON - HOUR)
    [concert] = (await timeline_of_alice(dock))["notes"]
    assert concert["plan_at"] > NOON


async def test_a_timeline_reads_a_day_in_no_name(dock: Served, db: Database) -> None:
    """Somebody called August who is given five lamps is not the fifth of August."""
    await put_streams(db, 1)
    async with db.write() as tx:
        await tx.execute("UPDATE viewers SET display_name = 'August' WHERE id = '2'")
    await put_note_of_alice(db, "will give <@2> 5 lamps", first_said_at=NOON - HOUR)
    [present] = (await timeline_of_alice(dock))["notes"]
    assert present["fact"] == "will give August 5 lamps"
    assert present["plan_at"] is None


async def test_a_timeline_shows_moments_of_the_person(
    dock: Served, db: Database
) -> None:
    [stream] = await put_streams(db, 1)
    await put_raid_by_alice(db, stream)
    moments = (await timeline_of_alice(dock))["moments"]
    assert [moment["text"] for moment in moments] == ["12"]


async def test_a_timeline_shows_the_jokes_that_the_person_said(
    dock: Served, db: Database
) -> None:
    await put_streams(db, 1)
    await put_joke_by_alice(db)
    jokes = (await timeline_of_alice(dock))["jokes"]
    assert [joke["fact"] for joke in jokes] == ["the ladder wins again"]


async def test_the_timeline_of_who_is_hidden_is_empty(
    dock: Served, db: Database
) -> None:
    [stream] = await put_streams(db, 1)
    await put_note_of_alice(db, "lives in Oslo")
    await put_raid_by_alice(db, stream)
    await put_joke_by_alice(db)
    timeline = await timeline_of_alice(dock)
    assert all(timeline.values())
    await hide(db, "1")
    hidden = await timeline_of_alice(dock)
    assert hidden == {"streams": [], "notes": [], "jokes": [], "moments": []}


# ── what was learned ──────────────────────────────────────────────────────────────────────────


@pytest.fixture
async def learned(db: Database) -> list[int]:
    """Three streams. In the second one note each about alice and carol is new, and alice's is replaced.

    In the third alice's is removed and carol's is confirmed. Returns the ids of the streams.
    """
    streams = await put_streams(db, 3)
    changes = (
        (1, NOON - DAY + 1, "", "active"),
        (2, NOON - DAY + 1, "", "active"),
        (1, NOON - 1, "active", "superseded"),
        (1, NOON + 1, "superseded", "retracted"),
    )
    async with db.write() as tx:
        for number, viewer in enumerate(("1", "3"), start=1):
            note = {"id": number, "subject_id": viewer, "fact": f"plays drum {number}"}
            await put(tx, "semantic_notes", **note)
        for note_id, at, before, after in changes:
            change = {"at": at, "from_status": before or None, "to_status": after}
            await put(tx, "note_changes", note_id=note_id, cause="x", **change)
        episode = await put(tx, "episodes", summary="Drums.", stream_id=streams[2])
        confirmed = {"stance": "confirmed", "at": NOON + 2}
        await put(tx, "note_evidence", note_id=2, episode_id=episode, **confirmed)
    return streams


async def learned_bars(dock: Served) -> list[tuple[int, ...]]:
    """Of each stream: how many notes were new, confirmed, replaced and removed."""
    kinds = ("new", "confirmed", "replaced", "gone")
    return [tuple(row[kind] for kind in kinds) for row in await read(dock, "learned")]


@pytest.mark.usefixtures("learned")
async def test_what_was_learned_is_counted_by_stream(dock: Served) -> None:
    assert await learned_bars(dock) == [(0, 0, 0, 0), (2, 0, 1, 0), (0, 1, 0, 1)]


async def test_what_was_learned_in_a_stream_is_listed(
    dock: Served, learned: list[int]
) -> None:
    changes = await read(dock, f"learned/{learned[1]}")
    assert [(change["kind"], change["who"]) for change in changes] == [
        ("new", "Alice"),
        ("new", "Carol"),
        ("replaced", "Alice"),
    ]


@pytest.mark.usefixtures("learned")
async def test_what_was_learned_of_who_is_hidden_is_not_counted(
    dock: Served, db: Database
) -> None:
    await hide(db, "3")
    assert await learned_bars(dock) == [(0, 0, 0, 0), (1, 0, 1, 0), (0, 0, 0, 1)]


@pytest.mark.usefixtures("learned")
async def test_what_was_learned_of_who_was_erased_is_not_counted(
    dock: Served, db: Database
) -> None:
    await erase(db, "1", now=NOON + DAY)
    assert await learned_bars(dock) == [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0)]


async def test_costs_are_money_where_every_model_has_a_price_and_calls_elsewhere(
    dock: Served, db: Database
) -> None:
    async with db.write() as tx:
        tokens = {"calls": 2, "input": 1_000_000, "cached": 0, "output": 0, "failed": 1}
        await put(
            tx,
            "spending",
            day="2026-07-22",
            purpose="reply",
            model="demo-model",
            **tokens,
        )
        await put(
            tx,
            "spending",
            day="2026-07-24",
            purpose="recap",
            model="demo-model",
            **tokens,
        )
        await put(
            tx,
            "spending",
            day="2026-01-01",
            purpose="reply",
            model="demo-model",
            **tokens,
        )
    costs = await read(dock, "costs?days=3")
    assert (costs["money"], costs["calls"], costs["failed"]) == (False, 4, 2)
    assert [day["day"] for day in costs["days"]] == [
        "2026-07-22",
        "2026-07-23",
        "2026-07-24",
    ]
    assert [(day["reply"], day["memory"]) for day in costs["days"]] == [
        (2, 0),
        (0, 0),
        (0, 2),
    ]
    assert (costs["day_limit"], costs["stream_limit"]) == (0, 0)
    priced = with_price(Settings())  # as a file with prices would have it
    limits = replace(priced.limits, money_per_stream=0.1)
    dock.settings._current = replace(priced, limits=limits)
    costs = await read(dock, "costs?days=3")
    assert (costs["money"], costs["currency"], costs["day_limit"]) == (
        True,
        "USD",
        0.15,
    )
    assert costs["stream_limit"] == 0.1
    assert [round(day["reply"] + day["memory"], 6) for day in costs["days"]] == [
        0.3,
        0,
        0.3,
    ]


# ── an evening ────────────────────────────────────────────────────────────────────────────────


async def test_an_evening_has_its_minutes(dock: Served, db: Database) -> None:
    [stream] = await put_streams(db, 1)
    counts = {"minute": NOON // MINUTE, "lines": 4, "people": 2, "addressed": 1}
    async with db.write() as tx:
        await put(tx, "minutes", stream_id=stream, **counts)
    evening = await read(dock, f"evening/{stream}")
    assert evening["minutes"] == [[NOON // MINUTE, 4, 2, 1]]


async def test_an_evening_has_its_moments_without_the_names_of_hidden_people(
    dock: Served, db: Database
) -> None:
    [stream] = await put_streams(db, 1)
    raid = {"stream_id": stream, "at": NOON + MINUTE, "kind": "raid", "text": "9"}
    async with db.write() as tx:
        for viewer in ("1", "4"):
            await put(tx, "moments", viewer_id=viewer, **raid)
    await hide(db, "4")
    evening = await read(dock, f"evening/{stream}")
    assert [moment["who"] for moment in evening["moments"]] == ["Alice", ""]


async def test_an_evening_has_the_times_of_replies_and_of_no_answers_to_commands(
    dock: Served, db: Database
) -> None:
    [stream] = await put_streams(db, 1)
    replies = ((NOON + 1, "mention"), (NOON + 2, "command"), (NOON - 1, "mention"))
    async with db.write() as tx:
        for at, trigger in replies:
            await put(tx, "bot_messages", at=at, trigger=trigger, text="hi")
    evening = await read(dock, f"evening/{stream}")
    assert evening["replies"] == [NOON + 1]


# ── answers ───────────────────────────────────────────────────────────────────────────────────

PROMPT = {"sections": [{"name": "lore", "rows": [["notes", 1], ["notes", 2]]}]}


async def put_answers(db: Database, *, login: str = "alice", viewer: str = "1") -> None:
    async with db.write() as tx:
        await put(tx, "viewers", id=viewer, login=login)
        for number, (outcome, used) in enumerate(
            (("good", "[1]"), ("bad", "[2]"), ("", "[]"))
        ):
            await put(
                tx,
                "bot_messages",
                viewer_id=viewer,
                at=NOON - number * DAY,
                text=f"answer {number}",
                outcome=outcome,
                notes_json=used,
                prompt_json=json.dumps(PROMPT),
            )
        await put(
            tx,
            "reply_weeks",
            week="2026-06-01",
            outcome="corrected",
            replies=5,
            shown=14,
            used=4,
        )


async def test_answers_are_counted_by_week_with_the_replies_that_are_kept(
    dock: Served, db: Database
) -> None:
    await put_answers(db)
    answers = await read(dock, "answers")
    assert answers["replies"] == 8
    assert {name: n for name, n in answers["outcomes"].items() if n} == {
        "good": 1,
        "bad": 1,
        "silence": 1,
        "corrected": 5,
    }
    assert (answers["shown"], answers["used"], answers["share_used"]) == (20, 6, 0.3)
    assert (answers["ranks"]["1"], answers["ranks"]["2-3"], answers["median_rank"]) == (
        1,
        1,
        1.5,
    )
    assert [(week["week"], week["kept"]) for week in answers["weeks"]] == [
        ("2026-06-01", False),
        ("2026-07-20", True),
    ]
    rows = await read(dock, "answers/2026-07-20")
    assert [(row["text"], row["outcome"], row["who"]) for row in rows] == [
        ("answer 0", "good", "Alice"),
        ("answer 1", "bad", "Alice"),
        ("answer 2", "silence", "Alice"),
    ]
    await hide(db, "1")
    assert {row["who"] for row in await read(dock, "answers/2026-07-20")} == {""}
    [reply] = (await picture_rows.replies_by_id(db, [1])).values()
    assert reply["viewer_id"] is None


async def test_the_page_counts_days_by_the_channels_time_zone(dock: Served) -> None:
    dock.settings._current = Settings(bot=BotSettings(timezone="Asia/Tokyo"))
    async with dock.client.get(dock.origin) as answer:
        assert '"zone":"Asia/Tokyo"' in await answer.text()
