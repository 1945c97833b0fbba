"""Promise 5: erasing somebody changes nothing of anybody else, however their name reads.

A name may be a word, a game, a month, a column, a letter, a number, or the beginning of another name: the memory is
filled with such people, who were in the same chat as bob and carol, and with bob's and carol's texts that have all
these words in them.
"""

import json
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import Scope
from forgetmenot.durations import DAY, HOUR
from forgetmenot.languages import reason
from forgetmenot.memory import backups
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.store import channel_state, viewers
from forgetmenot.store.backup import copies_of
from forgetmenot.store.database import Database, Transaction
from tests.rows import put

BOB = "880000001"
CAROL = "880000002"
WORDS = (
    *("drums", "friday", "team", "game", "will", "may", "december"),
    *("valorant", "minecraft", "overwatch2", "schlagzeug"),
    *(
        "target",
        "null",
        "fact",
        "status",
        "kind",
        "text",
        "name",
        "rows",
        "sections",
        "notes",
    ),
    *(
        "sent",
        "live",
        "mention",
        "slow_mode",
        "gemma3",
        "title",
        "digest",
        "id",
        "true",
    ),
    *("a", "xy", "7", "2048", "123456"),
    *("bo", "bobb", "caro", "bob_7", "rob_1"),
    *("猫", "ドラム"),
)
PEOPLE = {str(990000000 + number): word for number, word in enumerate(WORDS)}
# whom nobody else's word names: their bare name goes from what was said in their streams
KUROMI = "990000900"
KUROMI_NAME = "kuromi_87"
OTHER_NAMES = ("bob", "bobby", "bob_77", "bob_7up", "carol", "rob_12", "prob_1")
OURS = {"wipe_due", "privacy_requests"}
# counts, and the index of words, which follows the notes by triggers
COUNTED = {"tally", "sqlite_sequence", "note_words"}


def sentence(word: str) -> str:
    """What bob says with that word."""
    return f"plays {word} with {word.upper()} and {word}, or {word}."


async def fill(db: Database, now: int, recap_file: Path) -> None:
    """Everybody was in one stream, and in each of its summaries."""
    async with db.write() as tx:
        names = {BOB: "bob", CAROL: "carol", KUROMI: KUROMI_NAME, **PEOPLE}
        times = {"first_seen_at": now - DAY, "last_seen_at": now}
        for viewer_id, login in names.items():
            display_name = login.title()
            await put(
                tx,
                "viewers",
                id=viewer_id,
                login=login,
                display_name=display_name,
                **times,
            )
            name = {
                "viewer_id": viewer_id,
                "login": login,
                "display_name": display_name,
            }
            await put(tx, "viewer_names", **name, **times)
        for number, login in enumerate(OTHER_NAMES[1:]):
            other = {"id": f"88000001{number}", "login": login}
            if login not in {"carol", "rob_12", "prob_1"}:  # these two were never here
                await put(tx, "viewers", **other, **times)
        stream = await put(
            tx,
            "streams",
            started_at=now - HOUR,
            last_event_at=now,
            title=" ".join(WORDS),
            category="Overwatch 2",
            recap=" ".join(f"<@{BOB}> {sentence(word)}" for word in WORDS),
            recap_file=str(recap_file),
        )
        for viewer_id in names:
            visit = {"viewer_id": viewer_id, "stream_id": stream, "lines": 3}
            await put(tx, "attendance", **visit, first_at=now - HOUR, last_at=now)
        for word in (*WORDS, *OTHER_NAMES):
            await _texts_with(tx, word, stream, names, now)
        state = {
            "title": f"<3 {' '.join(WORDS)}",
            "category": "Valorant",
            "digest": " ".join(f"<@{CAROL}> {sentence(word)}" for word in WORDS),
            "gap_reason": reason("no_answer"),
            **{word: word for word in WORDS if word not in {"title", "digest"}},
        }
        await channel_state.put(tx, state, now)
        for viewer_id, login in ((KUROMI, KUROMI_NAME), *PEOPLE.items()):
            await _texts_about(tx, viewer_id, login, stream, now)


async def _texts_with(
    tx: Transaction, word: str, stream: int, names: dict[str, str], now: int
) -> None:
    """Everything of bob's and carol's that may have a word in it."""
    episode = await put(
        tx,
        "episodes",
        stream_id=stream,
        started_at=now - HOUR,
        ended_at=now,
        summary=f"<@{BOB}> {sentence(word)} They like {word}. {word.title()} was on.",
        topic=word.title(),
        model=word,
        key=f"import {word}",
    )
    for viewer_id in names:
        person = {"viewer_id": viewer_id, "lines": 3}
        await put(tx, "episode_people", episode_id=episode, **person)
    note = await put(
        tx,
        "semantic_notes",
        subject_id=BOB,
        fact=sentence(word),
        topics=json.dumps([word, "music"]),
        asked_with=json.dumps([word.upper(), "band"]),
    )
    await put(
        tx,
        "note_evidence",
        note_id=note,
        episode_id=episode,
        stance="stated",
        speaker_id=BOB,
        at=now,
    )
    await put(
        tx, "semantic_notes", scope=Scope.CHANNEL, fact=f"on {word} there is {word}"
    )
    cause = reason("removed_by", name=f"<@{CAROL}>")
    change = {"note_id": note, "at": now, "to_status": "retracted"}
    await put(
        tx,
        "note_changes",
        **change,
        cause=json.dumps(["removed_by", dict(cause.values)]),
    )
    await put(tx, "note_changes", **change, cause=word)
    await put(
        tx, "never_mention", viewer_id=CAROL, words=f"my {word}", by_id=CAROL, at=now
    )
    for text in (
        f"i play {word} all {word}",
        f"!remember I like {word}",
        f"!forget {word}",
    ):
        key = f"line {word} {text}"
        await put(
            tx, "events", id=key, stream_id=stream, viewer_id=BOB, text=text, at=now
        )
    reply = await put(
        tx,
        "bot_messages",
        at=now,
        viewer_id=BOB,
        trigger="mention",
        text=f"You play {word}, bob! {word.title()} is on at eight.",
        detail=json.dumps(["cooldown", {"n": word}]),
        model=word,
        twitch_id=f"sent {word}",
        token_usage_json=json.dumps({"estimated": 12, "billed": None, word: None}),
        prompt_json=json.dumps(
            {
                "sections": [{"name": word, "rows": [["notes", note]], "dropped": 0}],
                "shed": [word],
                "target": {"kind": word},
            }
        ),
        filters_json=json.dumps([word]),
    )
    await put(
        tx,
        "bot_messages",
        at=now,
        viewer_id=CAROL,
        trigger="command",
        text=f"What I know about you: #{note} {sentence(word)}",
    )
    await put(
        tx,
        "action_logs",
        at=now,
        bot_message_id=reply,
        key=f"reply:{word}",
        asked_by=BOB,
        target_id=CAROL,
        params_json=json.dumps(
            {"target": "carol", "text": f"more {word}", "effect": word}
        ),
        reason=json.dumps(["needs", {"parameter": word}]),
        detail=f"note {word}",
        decided_by=word,
        status="waiting",
        expires_at=now + HOUR,
    )
    await put(tx, "model_calls", model=word, error=word, at=now)


async def _texts_about(
    tx: Transaction, viewer_id: str, login: str, stream: int, now: int
) -> None:
    """What is theirs, and where others' texts have them."""
    them = f"<@{viewer_id}>"
    fact = f"fixes the bagpipes of {login}"
    note = await put(tx, "semantic_notes", subject_id=viewer_id, fact=fact)
    await put(
        tx,
        "bot_messages",
        at=now,
        viewer_id=CAROL,
        about_id=viewer_id,
        trigger="command",
        text=f"What I know about {login}: #{note} {fact}",
    )
    await put(
        tx,
        "semantic_notes",
        subject_id=CAROL,
        fact=f"is a friend of {them}, or @{login}",
        topics=json.dumps(["friends", them]),
    )
    await put(
        tx,
        "episodes",
        stream_id=stream,
        started_at=now,
        ended_at=now,
        summary=f"<@{BOB}> {sentence(login)} {them} won. <@{CAROL}> and {them} sang.",
    )
    line = {"stream_id": stream, "at": now}
    await put(
        tx,
        "events",
        id=f"own line of {login}",
        viewer_id=viewer_id,
        text="hello",
        **line,
    )
    await put(
        tx,
        "events",
        id=f"line at {login}",
        viewer_id=BOB,
        text=f"hi @{login}, hi",
        **line,
    )
    await put(
        tx,
        "bot_messages",
        at=now,
        viewer_id=viewer_id,
        trigger="mention",
        text=f"Hello {login}",
        event_id=f"own line of {login}",
    )
    waits = {"status": "waiting", "expires_at": now + HOUR, "at": now}
    params = json.dumps({"target": login})
    await put(
        tx, "action_logs", key=f"own action of {login}", asked_by=viewer_id, **waits
    )
    await put(
        tx,
        "action_logs",
        key=f"action at {login}",
        asked_by=BOB,
        params_json=params,
        **waits,
    )


async def all_rows(db: Database) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    tables = await db.column("SELECT name FROM sqlite_master WHERE type = 'table'")
    rows = {}
    for table in tables:
        table_rows = await db.rows(f"SELECT * FROM {table}")  # noqa: S608  # the schema's
        rows[table] = [tuple(row) for row in table_rows]
    return rows


def of_others(
    rows: dict[str, list[tuple[object, ...]]],
) -> dict[str, list[tuple[object, ...]]]:
    """The rows in which the data names none of the erased."""
    other_rows = {}
    for table in rows.keys() - COUNTED:
        other_rows[table] = [row for row in rows[table] if not is_about_erased(row)]
    other_rows["channel_state"] = [
        row for row in other_rows["channel_state"] if row[0] not in OURS
    ]
    return other_rows


def is_about_erased(row: tuple[object, ...]) -> bool:
    """Whether one of the people who are erased stands in a row as a person."""
    text = "\n".join(map(str, row))
    names = (KUROMI_NAME, *WORDS)
    if "bagpipes" in text or any(viewer_id in text for viewer_id in (KUROMI, *PEOPLE)):
        return True
    return any(f"@{name}" in text or f'"target": "{name}"' in text for name in names)


async def test_a_backup_that_does_not_know_them_stays_and_one_that_does_goes(
    db: Database, clock: ManualClock, tmp_path: Path
) -> None:
    """It may be the only place in which words of others are left."""
    async with db.write() as tx:
        await put(tx, "viewers", id=BOB, login="bob")
        await put(tx, "semantic_notes", subject_id=BOB, fact="plays drums")
    old = await backups.make(db, at=clock.now(), keep=5)
    before = old.path.read_bytes()
    async with db.write() as tx:
        for viewer_id, login in (("990000001", "drums"), ("990000002", "kuromi_87")):
            await put(tx, "viewers", id=viewer_id, login=login)
    newer = await backups.make(db, at=clock.now() + 1, keep=5)
    eraser = Eraser(db=db, clock=clock)
    await eraser.erase("990000001")
    assert copies_of(db.path) == [old.path]
    assert old.path.read_bytes() == before
    assert not newer.path.exists()
    async with db.write() as tx:
        await put(tx, "semantic_notes", subject_id=BOB, fact="is a friend of kuromi_87")
    naming_them = await backups.make(db, at=clock.now() + 2, keep=5)
    await eraser.erase("990000002")
    assert copies_of(db.path) == [old.path], (
        "this one named them, though it need not know them"
    )
    assert not naming_them.path.exists()


@pytest.fixture
async def memory(db: Database, clock: ManualClock, tmp_path: Path) -> Database:
    """A filled memory."""
    await fill(db, clock.now(), tmp_path / "recap.md")
    return db


@pytest.mark.slow
async def test_an_erasure_leaves_every_row_of_others_byte_for_byte(
    memory: Database, clock: ManualClock
) -> None:
    before = of_others(await all_rows(memory))
    eraser = Eraser(db=memory, clock=clock)
    askers = list(PEOPLE)[::2]
    banned = list(PEOPLE)[1::2]
    for viewer_id in (KUROMI, *askers):
        await eraser.erase(viewer_id)
    async with memory.write() as tx:
        for viewer_id in banned:
            await viewers.set_banned(tx, viewer_id, clock.now() - 8 * DAY)
    assert len(await eraser.erase_due()) == len(banned)
    after = await all_rows(memory)
    for table, rows in before.items():
        assert [row for row in rows if row not in after[table]] == [], table
    for table, rows in after.items():
        assert [row for row in rows if is_about_erased(row)] == [], table
    friends = await memory.column(
        "SELECT fact FROM semantic_notes WHERE fact LIKE 'is a friend%'"
    )
    assert set(friends) == {"is a friend of somebody, or somebody"}
    summaries = await memory.column(
        "SELECT summary FROM episodes WHERE summary LIKE '%sang%'"
    )
    expected = [f"<@{BOB}> {sentence(word)} <@{CAROL}> sang." for word in WORDS]
    assert [summary for summary in expected if summary not in summaries] == []
    lines = await memory.column("SELECT text FROM events WHERE text LIKE 'hi %'")
    assert set(lines) == {"hi somebody, hi"}
    assert (
        await memory.column(
            "SELECT text FROM bot_messages WHERE text LIKE '%bagpipes%'"
        )
        == []
    )
    for row in await memory.rows("SELECT * FROM bot_messages"):
        for column in ("token_usage_json", "prompt_json", "filters_json", "notes_json"):
            json.loads(row[column])
    for row in await memory.rows("SELECT params_json FROM action_logs"):
        json.loads(row[0])
