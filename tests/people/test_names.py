"""Who is meant by a name: on every surface, at every time, present or not."""

import json
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock, iso
from forgetmenot.domain import Scope, SourceKind
from forgetmenot.durations import DAY
from forgetmenot.memory.transfer import SEVERAL, import_notes
from forgetmenot.people import names
from forgetmenot.people.names import index_of, owners, resolve
from forgetmenot.privacy.erasure import erase_rows
from forgetmenot.store import notes, privacy_choices, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.notes import NewNote
from tests.memory.test_learning import BEGAN, Past, by_name
from tests.memory.test_learning import past as past_fixture

past = past_fixture
YEAR = 365 * DAY


def seen_viewer(
    viewer_id: str, login: str, first: int, last: int
) -> viewers.SeenViewer:
    return viewers.SeenViewer(viewer_id, login, login, None, first, last)


async def take_in(db: Database, *people: viewers.SeenViewer) -> None:
    for person in people:
        async with db.write() as tx:
            await viewers.record_seen(tx, [person])


async def know(db: Database, viewer_id: str, fact: str) -> int:
    async with db.write() as tx:
        note = NewNote(Scope.VIEWER, viewer_id, fact, 0.9, SourceKind.SELF_CLAIM, BEGAN)
        return await notes.insert(tx, note, cause="said", now=BEGAN)


async def named_ids(db: Database, text: str) -> list[str]:
    return (await index_of(db, [text])).named_in(text)


def import_line(fact: str, at: int) -> str:
    return json.dumps({"viewer": "alice", "fact": fact, "observed_at": iso(at)})


async def test_a_name_that_changed_hands_means_whoever_had_it_then(
    db: Database,
) -> None:
    await take_in(
        db,
        seen_viewer("1", "alice", BEGAN - YEAR, BEGAN - YEAR + 10 * DAY),
        seen_viewer("1", "alicia", BEGAN, BEGAN + DAY),
        seen_viewer("2", "alice", BEGAN, BEGAN + 3 * DAY),
    )

    async def owner(at: int) -> str:
        return (await owners(db, ["alice"], at))["alice"]

    assert await owner(BEGAN - YEAR + DAY) == "1"
    assert await owner(BEGAN + DAY) == "2"
    assert await owner(BEGAN + 9 * DAY) == "2"
    # neither was seen with it: it is somebody else, whom nobody who comes is joined with
    for at in (BEGAN - YEAR - DAY, BEGAN - 30 * DAY):
        assert (await owner(at)).startswith("login:alice.202")
    assert await resolve(db, "alice") == ["2"]
    assert await owners(db, ["nobody"], BEGAN) == {}


async def test_an_only_owner_had_a_name_until_they_were_seen_with_another(
    db: Database,
) -> None:
    await take_in(
        db,
        seen_viewer("1", "alice", BEGAN, BEGAN),
        seen_viewer("1", "alicia", BEGAN + DAY, BEGAN + DAY),
    )
    assert await owners(db, ["alice"], BEGAN - YEAR) == {"alice": "1"}
    assert (await owners(db, ["alice"], BEGAN + 2 * DAY))["alice"] != "1"
    assert await resolve(db, "@Alice") == ["1"]


@pytest.mark.parametrize("leaves", ["opts out", "is banned", "is erased"])
async def test_who_left_under_a_new_name_leaves_nothing_under_the_old_one(
    past: Past, tmp_path: Path, leaves: str
) -> None:
    db = past.db
    await take_in(
        db,
        seen_viewer("1", "alice", BEGAN, BEGAN + DAY),
        seen_viewer("1", "alicia", BEGAN + 2 * DAY, BEGAN + 2 * DAY),
    )
    if leaves == "is banned":
        async with db.write() as tx:
            await viewers.set_banned(tx, "1", past.clock.now())
    else:
        await past.leaves("1", erased=leaves == "is erased")
    report = await past.learn(by_name(tmp_path / "demo.log"))
    assert report.excluded == report.lines / 2
    line = import_line("plays drums", BEGAN)
    imported = await import_notes(db, [line], now=past.clock.now())
    stored = await db.column(
        "SELECT fact FROM semantic_notes WHERE subject_id IN ('1', 'login:alice')"
    )
    assert stored == (
        ["plays drums"] if leaves == "is banned" and imported.imported else []
    )
    assert not await db.column(
        "SELECT 1 FROM attendance WHERE viewer_id IN ('1', 'login:alice')"
    )


async def test_what_was_learned_under_an_old_name_goes_with_the_person(
    past: Past, tmp_path: Path
) -> None:
    db = past.db
    await take_in(
        db,
        seen_viewer("1", "alice", BEGAN, BEGAN + DAY),
        seen_viewer("1", "alicia", BEGAN + 2 * DAY, BEGAN + 2 * DAY),
    )
    await past.learn(by_name(tmp_path / "demo.log"))
    assert (
        await db.value("SELECT count(*) FROM episode_people WHERE viewer_id = '1'") > 0
    )
    await erase_rows(db, "1", past.clock.now())
    assert not await db.column("SELECT id FROM viewers WHERE id LIKE '%alice%'")


async def test_an_old_log_of_a_name_that_was_given_up_is_nobodys_of_today(
    past: Past, tmp_path: Path
) -> None:
    db = past.db
    await take_in(
        db,
        seen_viewer("1", "alice", BEGAN - 300 * DAY, BEGAN - 300 * DAY),
        seen_viewer("1", "alicia", BEGAN - 200 * DAY, BEGAN),
        seen_viewer("2", "alice", BEGAN + 20 * DAY, BEGAN + 20 * DAY),
    )
    await past.learn(by_name(tmp_path / "demo.log"))
    spoke = await db.column("SELECT DISTINCT viewer_id FROM attendance ORDER BY 1")
    assert spoke == ["login:alice.2026", "login:bob"]
    # and the next file of that time is of the same person, whom nobody is joined with
    await take_in(db, seen_viewer("2", "alice", BEGAN + 40 * DAY, BEGAN + 40 * DAY))
    assert (
        await db.value("SELECT login FROM viewers WHERE id = 'login:alice.2026'")
        is None
    )
    assert await owners(db, ["alice"], BEGAN) == {"alice": "login:alice.2026"}


async def test_an_import_by_a_login_that_several_had_asks_for_the_id(
    db: Database,
) -> None:
    await take_in(
        db,
        seen_viewer("1", "alice", BEGAN - YEAR, BEGAN - YEAR),
        seen_viewer("1", "alicia", BEGAN - YEAR + DAY, BEGAN),
        seen_viewer("2", "alice", BEGAN, BEGAN),
    )
    lines = [
        import_line("plays chess", at) for at in (BEGAN - YEAR, BEGAN - 30 * DAY, BEGAN)
    ]
    report = await import_notes(db, lines, now=BEGAN + DAY)
    assert [(refused.line, refused.reason) for refused in report.refused] == [
        (2, SEVERAL)
    ]
    subjects = await db.column("SELECT subject_id FROM semantic_notes ORDER BY id")
    assert subjects == ["1", "2"]


async def test_a_number_that_is_an_id_and_another_ones_login_is_asked_about(
    db: Database,
) -> None:
    await take_in(
        db, seen_viewer("777777", "alice", 1, 1), seen_viewer("2", "777777", 1, 1)
    )
    assert await resolve(db, "777777") == ["777777", "2"]
    assert await resolve(db, "@777777") == ["2"]
    assert await resolve(db, "id:777777") == ["777777"]
    listed = await names.told_apart(db, ["777777", "2"])
    assert listed == "alice (@alice, id:777777), 777777 (@777777, id:2)"


async def test_a_nickname_counts_while_its_note_does_and_takes_nobodys_name(
    db: Database,
) -> None:
    await take_in(
        db, seen_viewer("1", "shlomo122", 1, 1), seen_viewer("2", "bob", 1, 1)
    )
    note_id = await know(db, "1", "goes by Momo or Bob")
    assert await named_ids(db, "what does momo play?") == ["1"]
    assert await resolve(db, "momo", may_be_short=True) == ["1"]
    assert await resolve(db, "momo") == []
    assert await named_ids(db, "what does bob play?") == ["2"]
    async with db.write() as tx:
        await tx.execute(
            "UPDATE semantic_notes SET status = 'retracted' WHERE id = ?", (note_id,)
        )
    assert await named_ids(db, "what does momo play?") == []
    async with db.write() as tx:
        await tx.execute("UPDATE semantic_notes SET fact = '' WHERE id = ?", (note_id,))
    assert await db.value("SELECT count(*) FROM nicknames") == 0


async def test_the_index_of_names_goes_with_the_person(db: Database) -> None:
    await take_in(
        db, seen_viewer("1", "theodor77", 1, 1), seen_viewer("1", "annika_x", 2, 2)
    )
    await know(db, "1", "goes by Momo")
    assert await named_ids(db, "what does theo play?") == [
        "1"
    ]  # a part of a former name
    async with db.write() as tx:
        await privacy_choices.mark_opted_out(tx, "1", 3)
    assert await named_ids(db, "what does theo or momo or @annika_x play?") == []
    await erase_rows(db, "1", 4)
    for table in ("name_words", "nicknames", "viewer_names"):
        assert await db.value(f"SELECT count(*) FROM {table}") == 0  # noqa: S608


async def test_a_provisional_name_is_found_until_somebody_else_has_it(
    db: Database, clock: ManualClock
) -> None:
    async with db.write() as tx:
        await viewers.add_unseen(tx, {"login:theodor77": "theodor77"}, clock.now())
    await know(db, "login:theodor77", "plays chess")
    assert await named_ids(db, "does theo play?") == ["login:theodor77"]
    await take_in(db, seen_viewer("5", "theodor77", 5, 5))
    assert await named_ids(db, "does theo play?") == ["5"]
