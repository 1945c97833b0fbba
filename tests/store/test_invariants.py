"""Each promise that rows can show is broken by hand, and told; an orderly memory breaks none."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.durations import DAY, HOUR
from forgetmenot.memory.transfer import import_notes
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database, connect, open_database
from forgetmenot.store.invariants import verify
from forgetmenot.store.privacy_requests import RequestKind
from tests.conftest import NOON
from tests.memory.conftest import SAID_SOMETHING, open_channel
from tests.notes_world import Scripted
from tests.wishes import erase

MESSAGE = "INSERT INTO bot_messages (id, at, viewer_id, trigger, mode, text, status, model) VALUES"
ACTION = (
    "INSERT INTO action_logs (at, params_json, verdict, rule, reason, bot_message_id, key, name, class, status)"
    " SELECT 4, '{}', 'allow', '', '',"
)
BROKEN = {
    "chat pruned unread": "INSERT INTO tally VALUES ('pruned_unread', 3)",
    "chat kept too long": "UPDATE events SET at = at - 90000000 WHERE seq = 1",
    "a cleared line with text": "UPDATE events SET redacted_at = 1 WHERE seq = 1",
    "an episode over more lines than it counts": "UPDATE episodes SET events = 2 WHERE id = 1",
    "an empty summary with people": "UPDATE episodes SET summary = '' WHERE id = 1",
    "a note without evidence": "DELETE FROM note_evidence WHERE note_id = 1",
    "a note without history": "DELETE FROM note_changes WHERE note_id = 1",
    "a status that is not its history's last": "UPDATE semantic_notes SET status = 'retracted' WHERE id = 1",
    "a replaced note without its successor": "UPDATE semantic_notes SET status = 'superseded' WHERE id = 1",
    "notes that replace each other in a circle": "UPDATE semantic_notes SET superseded_by = 3 - id WHERE id < 3",
    "a note whose words are not in the index": "DELETE FROM note_words WHERE word = (SELECT min(word) FROM note_words)",
    "a note that outlived its end": "UPDATE semantic_notes SET expires_at = 5, source_kind = 'observed' WHERE id = 1",
    "a line of somebody who opted out": "UPDATE viewers SET opted_out_at = 5 WHERE id = 'id-viewer0'",
    "an answer to somebody who opted out": MESSAGE  # noqa: S608  # the test's own
    + " (9, 4, 'id-viewer0', 'mention', 'live', 'hi', 'sent', ''); UPDATE viewers SET opted_out_at = 5",
    "an erasure that was not finished": "UPDATE viewers SET erase_at = 5",
    "a message that is sent for ever": f"{MESSAGE} (9, 4, NULL, 'mention', 'live', 'hi', 'sending', '')",
    "an action of class C that nobody decided": f"{ACTION} NULL, 'k', 'ban', 'C', 'done'",
    "an action that is carried out for ever": f"{ACTION} NULL, 'k', 'timeout', 'B', 'running'",
    "an action done twice": f"{MESSAGE} (9, 4, NULL, 'mention', 'live', 'hi', 'sent', '');"
    f"{ACTION} 9, 'k', 'timeout', 'B', 'done'; {ACTION} 9, 'l', 'timeout', 'B', 'done'",
    "a reply that cannot be explained": f"{MESSAGE} (9, 4, NULL, 'mention', 'live', 'hi', 'sent', 'm')",
    "a minute with more people than lines": "UPDATE minutes SET people = lines + 1",
    "a moment with words of somebody": "INSERT INTO moments (stream_id, at, kind, text)"
    " SELECT id, 4, 'raid', 'bob says hi' FROM streams",
    "a row that points nowhere": "INSERT INTO note_evidence (note_id, episode_id, stance, at) VALUES (99, 99, 'x', 1)",
    "a summary that names somebody who is not known": "UPDATE episodes SET summary = '<@777> won.' WHERE id = 1",
    "a note that names somebody who is not known": "UPDATE semantic_notes SET fact = 'met <@777>' WHERE id = 1",
    "lines that do not add up": "UPDATE tally SET count = count + 1 WHERE name = 'lines'",
    "a damaged file": "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, '(at)', '(kind)')"
    " WHERE name = 'events_by_age'; PRAGMA schema_version = 9999",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Made once, copied for each promise."""
    path = tmp_path_factory.mktemp("filled") / "memory.sqlite3"
    clock = ManualClock(NOON)

    async def make() -> None:
        async with open_database(path) as db:
            channel = await open_channel(
                db, clock, Settings(), Scripted(SAID_SOMETHING)
            )
            await channel.chat(60)
            await channel.compactor.run_pass(everything=True)
            lines = [
                {"scope": "channel", "fact": "plays chess"},
                {"viewer": "viewer1", "fact": "likes jazz"},
            ]
            await import_notes(db, map(json.dumps, lines), now=clock.now())
            await erase(db, "id-viewer2", now=clock.now())
            async with db.write() as tx:
                await tx.execute(
                    "UPDATE viewers SET opted_out_at = ?, first_seen_at = 1 WHERE id = 'id-viewer3'",
                    (DAY,),
                )
                await tx.execute(
                    "UPDATE events SET text = '', redacted_at = 0 WHERE viewer_id = 'id-viewer3'"
                )

    asyncio.run(make())
    return path, clock.now()


@pytest.fixture
async def orderly(
    filled: tuple[Path, int], tmp_path: Path
) -> AsyncIterator[tuple[Database, int]]:
    """A memory in which everything is as it should be, and what time it is there."""
    path, now = filled
    async with open_database(
        shutil.copytree(path.parent, tmp_path, dirs_exist_ok=True) / path.name
    ) as db:
        yield db, now


async def test_an_orderly_memory_breaks_no_promise(
    orderly: tuple[Database, int],
) -> None:
    db, now = orderly
    assert await verify(db, now=now) == []


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_promise_is_told(
    orderly: tuple[Database, int], name: str
) -> None:
    db, now = orderly
    with closing(connect(db.path, "rw")) as other:
        other.executescript(f"PRAGMA foreign_keys = OFF; {BROKEN[name]}")
    assert name in {violation.name for violation in await verify(db, now=now)}


async def test_who_was_erased_and_is_there_again_as_before_is_told(
    orderly: tuple[Database, int],
) -> None:
    db, now = orderly
    db.requests.add(db.requests.of(RequestKind.ERASE, "id-viewer0", now + HOUR))
    db.requests.add(db.requests.of(RequestKind.OPT_OUT, "id-viewer1", now))
    violations = {violation.name: violation for violation in await verify(db, now=now)}
    assert violations["somebody who was erased"].example == "id-viewer0"
    assert violations["a line of somebody who opted out"].example == "id-viewer1"
    assert violations["a privacy request that was not carried out"].count == 2
