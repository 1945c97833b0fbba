"""Checks the guarantees that can be checked from rows. Reads only.

`forgetmenot doctor --verify` and scripts/chaos.py call `verify`: an empty list means that nothing was lost, doubled,
kept too long or left behind. It reads the whole memory, which takes seconds for a large one.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.store import privacy_choices
from forgetmenot.store.counts import all_counts, line_counts
from forgetmenot.store.database import Database, separate_reader
from forgetmenot.store.note_keys import note_keys, unpacked
from forgetmenot.text.mentions import ids_in

# How long after its time something may still be stored (ms): two sweeps.
SLACK = 20 * MINUTE


class Violation(Struct, frozen=True):
    """A guarantee that does not hold. `count`: the rows at fault; `example`: the id of one, or what SQLite says."""

    name: str
    count: int
    example: str

    def __str__(self) -> str:
        return f"{self.name}: {self.count} (for example {self.example})"


# Each query gives the ids of the rows at fault. Its times (ms): raw chat from before `:oldest` must be deleted, what
# began before `:ripe` must be over, notes that ended before `:expired` must not be active.
_ROWS = {
    "chat kept too long": "SELECT seq FROM events WHERE at < :oldest",
    "a cleared line with text": """
        SELECT seq
        FROM events
        WHERE redacted_at IS NOT NULL
            AND (text <> '' OR system_text <> '')
    """,
    "an episode over more lines than it counts": """
        SELECT e.id
        FROM episodes e
        WHERE e.events < (
            SELECT count(*)
            FROM events v
            WHERE v.episode_id = e.id
                AND v.redacted_at IS NULL
        )
    """,
    "an empty summary with people": """
        SELECT id
        FROM episodes e
        WHERE summary = ''
            AND EXISTS (SELECT 1 FROM episode_people p WHERE p.episode_id = e.id)
    """,
    "a note without evidence": """
        SELECT id
        FROM semantic_notes n
        WHERE NOT EXISTS (SELECT 1 FROM note_evidence e WHERE e.note_id = n.id)
    """,
    "a note without history": """
        SELECT id
        FROM semantic_notes n
        WHERE NOT EXISTS (SELECT 1 FROM note_changes c WHERE c.note_id = n.id)
    """,
    "a status that is not its history's last": """
        SELECT n.id
        FROM semantic_notes n
        JOIN note_changes c ON c.id = (SELECT max(id) FROM note_changes WHERE note_id = n.id)
        WHERE c.to_status <> n.status
    """,
    "a replaced note without its successor": """
        SELECT id
        FROM semantic_notes
        WHERE (status = 'superseded') <> (superseded_by IS NOT NULL)
    """,
    # UNION and not UNION ALL: it drops what was seen before, and so ends in a circle.
    "notes that replace each other in a circle": """
        WITH RECURSIVE after (first, id) AS (
            SELECT id, superseded_by
            FROM semantic_notes
            WHERE superseded_by IS NOT NULL
            UNION
            SELECT a.first, n.superseded_by
            FROM after a
            JOIN semantic_notes n ON n.id = a.id
            WHERE n.superseded_by IS NOT NULL
        )
        SELECT first
        FROM after
        WHERE id = first
    """,
    "a note that outlived its end": """
        SELECT id
        FROM semantic_notes
        WHERE status = 'active'
            AND NOT pinned
            AND source_kind <> 'import'
            AND expires_at < :expired
    """,
    "a line of somebody who opted out": """
        SELECT e.seq
        FROM events e
        JOIN viewers v ON v.id = e.viewer_id
        WHERE v.opted_out_at IS NOT NULL
            AND e.redacted_at IS NULL
            AND e.text <> ''
            AND NOT e.from_bot
    """,
    "an answer to somebody who opted out": """
        SELECT m.id
        FROM bot_messages m
        JOIN viewers v ON v.id = m.viewer_id
        WHERE v.opted_out_at IS NOT NULL
            AND m.text <> ''
            AND m.at < v.opted_out_at
            AND m.at < :ripe
    """,
    "an erasure that was not finished": "SELECT id FROM viewers WHERE erase_at < :ripe",
    "a message that is sent for ever": "SELECT id FROM bot_messages WHERE status = 'sending' AND at < :ripe",
    "an action done twice": """
        SELECT min(id)
        FROM action_logs
        WHERE bot_message_id IS NOT NULL
            AND status IN ('done', 'running', 'unknown')
        GROUP BY bot_message_id, name, target_id, params_json
        HAVING count(*) > 1
    """,
    "an action that is carried out for ever": "SELECT id FROM action_logs WHERE status = 'running' AND at < :ripe",
    "an action of class C that nobody decided": """
        SELECT id
        FROM action_logs
        WHERE class = 'C'
            AND status IN ('done', 'running')
            AND decided_by IS NULL
    """,
    "a reply that cannot be explained": "SELECT id FROM bot_messages WHERE model <> '' AND prompt_json = '{}'",
    "a minute with more people than lines": "SELECT minute FROM minutes WHERE people > lines OR addressed > lines",
    "a moment with words of somebody": """
        SELECT id
        FROM moments
        WHERE kind IN ('raid', 'gift')
            AND text GLOB '*[^0-9]*'
    """,
    # Foreign keys are checked at each write, but not in a file that was copied, or edited
    # elsewhere.
    "a row that points nowhere": "SELECT \"table\" || ' ' || rowid FROM pragma_foreign_key_check",
}
# Which of them `broken_guarantees` checks.
_CHECKED = (
    "a note without evidence",
    "a line of somebody who opted out",
    "a replaced note without its successor",
)
_TEXTS = {
    "a summary": "SELECT id, summary FROM episodes WHERE summary LIKE '%<@%'",
    "a note": "SELECT id, fact FROM semantic_notes WHERE fact LIKE '%<@%'",
    "a recap": "SELECT id, recap FROM streams WHERE recap LIKE '%<@%'",
    "a brief": "SELECT id, text FROM briefs WHERE text LIKE '%<@%'",
}


async def verify(
    db: Database,
    *,
    now: int,
    keep_h: float = 24.0,
) -> list[Violation]:
    """Return all violations in this memory. Raises StoreError.

    `now` (ms): a time that has certainly passed; `keep_h`: the hours for which raw chat is kept.
    """
    times = {
        "oldest": now - int(keep_h * HOUR) - SLACK,
        "ripe": now - SLACK,
        "expired": now - DAY - SLACK,
    }
    violations: list[Violation] = []
    for name, sql in _ROWS.items():
        violations += _violations(name, await db.column(sql, times))
    violations += await _people_violations(db)
    counts = await line_counts(db)
    violations += _violations("chat pruned unread", range(counts.pruned_unread))
    violations += _violations(
        "lines that do not add up", [] if counts.balanced else [counts]
    )
    not_indexed = await asyncio.to_thread(_not_indexed, db.path)
    violations += _violations("a note whose words are not in the index", not_indexed)
    violations += await _file_violations(db)
    return violations


async def broken_guarantees(db: Database) -> list[str]:
    """Return the names of broken guarantees, of those few that are checked while the bot runs."""
    broken = []
    counts = await all_counts(db)
    if counts.get("pruned_unread"):
        broken.append("chat pruned unread")
    # in reads of their own, so that a reply waits for one of them at most
    for name in _CHECKED:
        rows_at_fault = await db.value(f"SELECT count(*) FROM ({_ROWS[name]})")
        if rows_at_fault:
            broken.append(name)
    return broken


def _violations(name: str, ids: Iterable[object]) -> list[Violation]:
    """Return the violation that these rows at fault are; nothing for no rows."""
    rows = list(ids)
    if not rows:
        return []
    return [Violation(name, len(rows), str(rows[0]))]


async def _people_violations(db: Database) -> list[Violation]:
    """Return where a text mentions somebody who is not stored, or a privacy request does not hold."""
    viewers = await db.rows("SELECT id, first_seen_at, opted_out_at FROM viewers")
    stored_ids = {row["id"] for row in viewers}
    violations: list[Violation] = []
    for name, sql in _TEXTS.items():
        unknown = []
        for row_id, text in await db.rows(sql):
            if not stored_ids.issuperset(ids_in(text)):
                unknown.append(row_id)
        violations += _violations(
            f"{name} that names somebody who is not known", unknown
        )
    # By the requests as well as by the rows: a memory that was restored is older than they are.
    await asyncio.to_thread(db.requests.refresh)
    erased = []
    for viewer_id, first_seen_at, _opted_out_at in viewers:
        if first_seen_at <= db.requests.erased_at(viewer_id):
            erased.append(viewer_id)
    violations += _violations("somebody who was erased", erased)
    authors = await db.column(
        "SELECT DISTINCT viewer_id FROM events WHERE text <> '' AND NOT from_bot"
    )
    opted_out = [viewer_id for viewer_id in authors if db.requests.is_out(viewer_id)]
    violations += _violations("a line of somebody who opted out", opted_out)
    waiting = len(db.requests.lines) - await privacy_choices.carried_out(db)
    violations += _violations(
        "a privacy request that was not carried out", range(waiting)
    )
    return violations


def _not_indexed(path: Path) -> list[int]:
    """Return the ids of notes whose words differ from what `note_words` has of them."""
    indexed: dict[int, set[int]] = defaultdict(set)
    wrong = []
    with separate_reader(path) as connection:
        # Both ways: a note that the index lacks is not found, and one that it has too many is a
        # trace.
        for key, span, packed in connection.execute(
            "SELECT word, span, notes FROM note_words"
        ):
            for note_id in unpacked(span, packed):
                indexed[note_id].add(key)
        sql = "SELECT id, fact, topics, asked_with, status FROM semantic_notes"
        for note_id, *columns in connection.execute(sql):
            expected = set(json.loads(note_keys(*columns)))
            if indexed.pop(note_id, set()) != expected:
                wrong.append(note_id)
    # what is left in the index belongs to no note
    return wrong + list(indexed)


async def _file_violations(db: Database) -> list[Violation]:
    """Return damage of the file, and whether deleted rows are not overwritten."""
    answers = await db.column("PRAGMA integrity_check(20)")
    damages = [answer for answer in answers if answer != "ok"]
    violations = _violations("a damaged file", damages)
    # On the connection that writes: the setting is each connection's own.
    async with db.write() as tx:
        if await tx.value("PRAGMA secure_delete") != 1:
            violations += _violations(
                "deleted rows are not overwritten", ["secure_delete"]
            )
    return violations
