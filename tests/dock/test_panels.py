"""What the panels are told: texts as they are, names looked up, odd questions refused in a sentence."""

import re
from importlib import resources
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from forgetmenot.clock import ManualClock
from forgetmenot.dock import server
from forgetmenot.domain import NOTHING, Scope, SourceKind, Surface
from forgetmenot.durations import DAY, HOUR
from forgetmenot.languages import in_language, reason
from forgetmenot.operations.commands import buttons
from forgetmenot.operations.targets import owner
from forgetmenot.ports import HearingState
from forgetmenot.privacy import suppression_list
from forgetmenot.settings.load import parse_settings
from forgetmenot.store import channel_state, notes, viewers
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.notes import NewNote
from forgetmenot.store.privacy_requests import RequestKind
from forgetmenot.store.receipts import Receipt, ReceiptFile, ReceiptKind
from tests.dock.conftest import Served
from tests.rows import put

EVIL = "<img src=x onerror=alert(1)>"


async def rows(dock: Served, path: str) -> Any:  # noqa: ANN401  # JSON
    status, value = await dock.get(path)
    assert status == 200, value
    return value


async def hide(db: Database, viewer_id: str) -> None:
    async with db.write() as tx:
        await tx.execute("UPDATE viewers SET banned_at = 1 WHERE id = ?", (viewer_id,))


@pytest.fixture
async def people(db: Database, clock: ManualClock) -> None:
    async with db.write() as tx:
        for viewer, login, name, seen_at in (
            ("1", "alice", "Alice", 5),
            ("2", "bob", EVIL, 9),
            ("3", "carol_x", "Carol", 1),
        ):
            await put(
                tx,
                "viewers",
                id=viewer,
                login=login,
                display_name=name,
                last_seen_at=seen_at,
            )
        await put(tx, "streams", id=1, title=EVIL)
        await tx.execute(
            "INSERT INTO attendance VALUES ('1', 1, ?, ?, 3)",
            (clock.now(), clock.now()),
        )
        for number in range(120):
            new = NewNote(
                Scope.VIEWER,
                "1",
                f"knows fact {number} of <@2>",
                0.8,
                SourceKind.SELF_CLAIM,
                number,
            )
            await notes.insert(tx, new, cause="test", now=number)
        bit = NewNote(Scope.RUNNING_BIT, None, EVIL, 0.9, SourceKind.OBSERVED, 500)
        await notes.insert(tx, bit, cause="test", now=500)


@pytest.mark.usefixtures("people")
async def test_people_and_notes_are_found_by_any_part_in_capitals_or_not(
    dock: Served, db: Database
) -> None:
    everybody = await rows(dock, "/api/people")
    assert [row["id"] for row in everybody["rows"]] == ["1", "2", "3"], (
        "regulars come first"
    )
    assert everybody["rows"][0]["notes"] == 120
    assert [
        row["id"] for row in (await rows(dock, "/api/people?find=@ALI"))["rows"]
    ] == ["1"]
    assert (await rows(dock, "/api/people?find=%25"))["total"] == 0  # a % is a %
    assert [
        row["id"] for row in (await rows(dock, "/api/people?find=l_x"))["rows"]
    ] == ["3"]
    fact = "grows up in Москва, Straße 3, eats Éclairs in 東京 100%_ of the time"
    async with db.write() as tx:
        await notes.insert(
            tx,
            NewNote(Scope.CHANNEL, None, fact, 0.8, SourceKind.COMMAND, 1),
            cause="test",
            now=1,
        )
        await tx.execute(
            "UPDATE viewers SET display_name = 'Москва Straße Éclair 東京 gro 100%_' WHERE id = '3'"
        )
    for find in (
        "Straße",
        "straße",
        "москва",
        "МОСКВА",
        "ÉCLAIR",
        "東京",
        "gro",
        "100%_",
    ):
        query = f"find={quote(find)}"
        assert [
            row["fact"] for row in (await rows(dock, f"/api/notes?{query}"))["rows"]
        ] == [fact]
        assert [
            row["id"] for row in (await rows(dock, f"/api/people?{query}"))["rows"]
        ] == ["3"]


@pytest.mark.usefixtures("people")
async def test_the_bots_own_account_is_never_among_people(
    dock: Served, db: Database, clock: ManualClock
) -> None:
    """Neither the one that is signed in, nor the one of a bot without any."""
    async with db.write() as tx:
        await put(tx, "viewers", id="bot", login="forgetmenot", last_seen_at=9)
        await put(
            tx, "viewers", id="7", login="keeper", display_name="Keeper", last_seen_at=9
        )
        await channel_state.put(tx, {"bot_login": "keeper"}, clock.now())
    everybody = await rows(dock, "/api/people")
    assert [person["id"] for person in everybody["rows"]] == ["1", "2", "3"]
    assert everybody["total"] == 3


@pytest.mark.usefixtures("people")
async def test_notes_come_in_pages_with_present_names_and_none_of_who_is_hidden(
    dock: Served, db: Database
) -> None:
    async with db.write() as tx:  # an inactive note is in the list, so it is counted
        await tx.execute("UPDATE semantic_notes SET stale = 1 WHERE id = 3")
    assert (
        (await rows(dock, "/api/person/1"))["notes"]
        == (await rows(dock, "/api/notes?subject=1"))["total"]
        == 120
    )
    page = await rows(dock, "/api/notes?subject=1&offset=100&limit=50")
    assert (page["total"], len(page["rows"])) == (120, 20)
    assert (
        page["rows"][0]["fact"] == f"knows fact 19 of {EVIL}"
    )  # as text: the page never reads markup
    channel = await rows(dock, "/api/notes?scope=channel")
    assert [row["fact"] for row in channel["rows"]] == [EVIL]
    assert (await rows(dock, "/api/notes?status=past"))["total"] == 0
    assert (await rows(dock, "/api/notes?status=any&find=fact 7"))["total"] == 11
    assert (await rows(dock, "/api/notes?find=@"))["total"] == 121  # asks for nothing
    assert (await rows(dock, "/api/note/1"))["fact"] == f"knows fact 0 of {EVIL}"
    await hide(db, "1")
    for path in ("note/1", "note/1?chain=1"):
        assert (await dock.get(f"/api/{path}"))[0] == 404


@pytest.mark.usefixtures("people")
async def test_pinned_notes_stand_before_newer_ones(dock: Served, db: Database) -> None:
    async with db.write() as tx:
        await notes.set_pinned(tx, 5, pinned=True)
    page = await rows(dock, "/api/notes?subject=1&limit=2")
    assert [note["id"] for note in page["rows"]] == [5, 120]


@pytest.mark.usefixtures("people")
async def test_a_note_about_somebody_who_is_hidden_does_not_name_them(
    dock: Served, db: Database
) -> None:
    assert (await rows(dock, "/api/note/1"))["fact"] == f"knows fact 0 of {EVIL}"
    await hide(db, "2")
    assert (await rows(dock, "/api/note/1"))["fact"] == "knows fact 0 of somebody"


@pytest.mark.usefixtures("people")
async def test_what_the_streamer_edited_is_edited_by_you_and_else_by_a_name(
    dock: Served, db: Database
) -> None:
    dock.settings._current = parse_settings('[twitch]\nchannel = "Carol_X"', "test")
    async with db.write() as tx:
        for old_id, editor_id in ((1, "3"), (3, "2")):
            await put_edit(tx, old_id, editor_id)
    assert await edited(dock, 2) == (True, True, "Carol")
    assert await edited(dock, 4) == (True, False, EVIL)
    assert await edited(dock, 5) == (False, False, "")
    await hide(db, "2")
    assert await edited(dock, 4) == (True, False, "")


@pytest.mark.usefixtures("people")
async def test_without_a_channel_what_the_streamer_edited_is_edited_by_you(
    dock: Served, db: Database
) -> None:
    streamer = await owner(db, Surface.DOCK, "", 5)
    async with db.write() as tx:
        await put_edit(tx, 1, streamer.viewer_id)
        await put_edit(tx, 3, "2")
    _is_edited, is_edited_by_you, _name = await edited(dock, 2)
    assert is_edited_by_you
    assert await edited(dock, 4) == (True, False, EVIL)


async def put_edit(tx: Transaction, old_id: int, editor_id: str) -> None:
    """Somebody wrote a note anew by hand: the next note took its place."""
    change = {"to_status": "superseded", "cause": reason("by_hand"), "at": 5}
    await tx.execute(
        "UPDATE semantic_notes SET status = 'superseded', superseded_by = ? WHERE id = ?",
        (old_id + 1, old_id),
    )
    await put(tx, "note_changes", note_id=old_id, **change)
    episode = await put(tx, "episodes", kind="command", summary="")
    evidence = {"stance": "stated", "speaker_id": editor_id, "at": 5}
    await put(tx, "note_evidence", note_id=old_id + 1, episode_id=episode, **evidence)


async def edited(dock: Served, note_id: int) -> tuple[bool, bool, str]:
    """Whether a note was edited, whether by the streamer, and the name of who did."""
    note = await rows(dock, f"/api/note/{note_id}")
    return note["edited"], note["edited_by_you"], note["edited_by"]


@pytest.mark.usefixtures("people")
async def test_an_approval_links_to_its_target_and_to_nobody_who_is_hidden(
    dock: Served, db: Database
) -> None:
    async with db.write() as tx:
        people = {"asked_by": "1", "target_id": "3"}
        decision = {"verdict": "ask", "status": "denied"}
        await put(tx, "action_logs", key="ban", name="ban", **people, **decision)
    assert await targets(dock) == [("Carol", "3")]
    await hide(db, "3")
    assert await targets(dock) == [("", "")]


async def targets(dock: Served) -> list[tuple[str, str]]:
    """The name and the id of whom each decided action is against."""
    log = (await rows(dock, "/api/approvals"))["log"]
    return [(action["target"], action["target_id"]) for action in log]


async def test_what_may_be_a_name_counts_among_what_a_receipt_says_remained(
    dock: Served, db: Database, clock: ManualClock
) -> None:
    now = clock.now()
    day = now - now % DAY
    receipt = Receipt(
        "abcdef", ReceiptKind.ERASURE, day, remaining=1, doubtful=2, is_finished=True
    )
    ReceiptFile(db.path).put(receipt, now)
    [dock_receipt] = await rows(dock, "/api/receipts")
    assert (dock_receipt["code"], dock_receipt["remaining"]) == ("ABCDEF", 3)


async def test_what_was_spent_stands_beside_the_limits_of_day_and_stream(
    dock: Served, db: Database, clock: ManualClock
) -> None:
    now = clock.now()
    async with db.write() as tx:
        await put(tx, "streams", id=1, started_at=now, last_event_at=now)
        for model, at, tokens in (
            ("small", now, 1_000_000),
            ("large", now - HOUR, 2_000_000),
        ):
            await put(
                tx,
                "model_calls",
                at=at,
                model=model,
                input=tokens,
                cached=500_000,
                output=100_000,
                thoughts=0,
            )
    assert (await dock.now())["spent"]["cost"] == ""
    dock.settings._current = parse_settings(
        '[model]\ncurrency = "EUR"\n[prices.small]\ninput = 1\ncached = 0.5\noutput = 10\n'
        "[limits]\nmoney_per_day = 7\ntokens_per_stream = 4_400_000",
        "test",
    )
    spent = (await dock.now())["spent"]
    assert spent["cost"] == "at least 1.75 EUR"
    assert spent["limits"] == {
        "day": {
            "spent": "at least 1.75 EUR",
            "text": "7.00 EUR",
            "share": 0.25,
            "in_money": True,
        },
        "stream": {
            "spent": "1,100,000 tokens",
            "text": "4,400,000 tokens",
            "share": 0.25,
            "in_money": False,
        },
    }


@pytest.mark.usefixtures("people")
async def test_a_topic_is_shown_of_which_only_the_file_of_requests_knows(
    dock: Served, db: Database
) -> None:
    """After a restore: without its words, so that it can be lifted all the same."""
    for viewer, words, at in (("1", {"divorc"}, 5), (None, {"elect"}, 6)):
        topic = db.requests.of_words(RequestKind.NEVER_MENTION, viewer, words, at=at)
        db.requests.add(topic)
    [channels] = await rows(dock, "/api/left_alone")
    [alices] = (await rows(dock, "/api/person/1"))["left_alone"]
    assert (await rows(dock, "/api/person/2"))["left_alone"] == []
    assert [(row["words"], row["note"], row["at"]) for row in (channels, alices)] == [
        ("", None, 6),
        ("", None, 5),
    ]
    assert await suppression_list.unsuppress(db, alices["id"], 7)
    assert (await rows(dock, "/api/person/1"))["left_alone"] == []


@pytest.mark.usefixtures("people")
async def test_a_topic_that_names_somebody_is_shown_with_their_name(
    dock: Served, db: Database
) -> None:
    await suppression_list.suppress(db, None, "<@1> election", by=None, at=5)
    [topic] = await rows(dock, "/api/left_alone")
    assert "<@" not in topic["words"]
    assert topic["words"].casefold() == "alice election"


async def test_a_stretch_in_which_nothing_happened_is_no_summary_of_a_stream(
    dock: Served, db: Database
) -> None:
    async with db.write() as tx:
        stream_id = await put(tx, "streams", started_at=1)
        for summary in (NOTHING, "Of ladders."):
            await put(tx, "episodes", stream_id=stream_id, summary=summary)
    summaries = [row["summary"] for row in await rows(dock, f"/api/stream/{stream_id}")]
    assert summaries == ["Of ladders."]


@pytest.mark.usefixtures("people")
async def test_a_note_that_is_never_mentioned_names_its_entry_of_the_list(
    dock: Served, db: Database
) -> None:
    note_id = await db.value("SELECT id FROM semantic_notes WHERE subject_id = '1'")
    assert (await rows(dock, f"/api/note/{note_id}"))["left_alone"] is None
    async with db.write() as tx:
        await notes.add_suppression(tx, "1", "", note_id=note_id, by_id="3", at=5)
    [entry] = (await rows(dock, "/api/person/1"))["left_alone"]
    assert (await rows(dock, f"/api/note/{note_id}"))["left_alone"] == entry["id"]


@pytest.mark.usefixtures("people")
async def test_what_somebody_who_opted_out_asked_to_be_called_is_not_shown(
    dock: Served, db: Database
) -> None:
    async with db.write() as tx:
        await viewers.set_wishes(tx, "1", {"called": "Ally"}, 1)
    assert "Ally" in (await rows(dock, "/api/person/1"))["wishes"]
    async with db.write() as tx:
        await tx.execute("UPDATE viewers SET opted_out_at = 5 WHERE id = '1'")
    assert (await rows(dock, "/api/person/1"))["wishes"] == ""


MISSING = """people?offset=-1 people?limit=x notes?scope=evil notes?status=1 person/404 note/x note/9?chain=1 why/7
    stream/99999999999999999999 nothing"""


async def test_what_is_not_there_is_refused_in_a_sentence(dock: Served) -> None:
    for path in MISSING.split():
        status, answer = await dock.get(f"/api/{path}")
        assert status == 404, path
        assert isinstance(answer, dict)
        assert answer["line"].endswith(".")


async def test_the_pages_buttons_are_the_tables_and_each_reaches_the_bot(
    dock: Served,
) -> None:
    operations = await rows(dock, "/api/operations")
    assert operations == buttons()
    for name in buttons():
        assert await dock.post(f"/api/do/{name}", {"id": 7}) == (
            200,
            {"ok": True, "line": "Done.", "id": None},
        )
    assert dock.control.calls == [(name, {"id": 7}) for name in buttons()]
    for name in (
        "nothing",
        "memory",
        "export",
    ):  # nothing of that name, not for the dock, no button
        assert (await dock.post(f"/api/do/{name}", {}))[0] == 404


def test_every_call_of_the_page_is_a_button_of_the_table() -> None:
    scripts = "".join(
        content.decode()
        for name, content in server.load().files.items()
        if name.endswith(".js")
    )
    called = set(
        re.findall(r"\b(?:act|adder|go|label|tool|does)\(\"([a-z_]+)\"", scripts)
    )
    assert called >= {"remember", "retract", "never_mention"}
    assert called <= set(buttons())


def test_the_static_files_stay_small_and_ask_nobody_else() -> None:
    files = server.load().files
    assert sum(len(content) for content in files.values()) <= 200_000
    for name, content in files.items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        for odd in (
            "http:",
            "https:",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
            " style=",
            "onclick=",
            "<<<<<<<",
        ):
            assert odd not in text, f"{odd} in {name}"


async def test_a_page_knows_its_build_and_its_files_never_change(dock: Served) -> None:
    build = server.load().build
    async with dock.client.get(dock.origin) as answer:
        assert f'content="{build}"' in await answer.text()
        assert answer.headers["Cache-Control"] == "no-store"
    for asked_build, lasts in ((build, "immutable"), ("older", "no-store")):
        async with dock.client.get(
            f"{dock.origin}/static/{asked_build}/main.js"
        ) as answer:
            assert lasts in answer.headers["Cache-Control"]


async def test_a_program_may_send_what_was_said_and_is_told_why_not(
    dock: Served,
) -> None:
    assert await dock.post("/api/hear", {"text": "hi"}) == (
        404,
        {"ok": False, "line": in_language("en")("reason.hearing_off")},
    )
    dock.control.now = replace(dock.control.now, hearing=HearingState(listening=True))
    assert await dock.post("/api/hear", {"text": "hello chat"}) == (200, {"ok": True})
    assert (await dock.post("/api/hear", {"text": "too many"}))[0] == 429
    odd_bodies: tuple[object, ...] = (
        {},
        {"text": ""},
        {"text": 5},
        {"text": "x" * 501},
        {"text": " \u200b"},
        [],
    )
    for odd in odd_bodies:
        assert (await dock.post("/api/hear", odd))[0] == 400
    assert dock.control.calls[1] == ("hear", {"text": "hello chat"})
    assert (await dock.post("/api/hear", {"text": "hi"}, X_Dock_Token="wrong"))[
        0
    ] == 401
    for page in ("null", "http://evil.example", f"http://localhost:{dock.port}"):
        assert (await dock.post("/api/hear", {"text": "hi"}, Origin=page))[0] == 403
    assert len(dock.control.calls) == 3
    assert (await dock.now())["hearing"] == {"on": True, "trouble": ""}


def test_the_style_asks_nothing_that_the_oldest_browser_of_obs_lacks() -> None:
    """OBS 28 to 30 bring Chromium 103; `:has()` came with 105."""
    style = resources.files("forgetmenot.dock") / "static" / "style.css"
    assert ":has(" not in style.read_text(encoding="utf-8")
