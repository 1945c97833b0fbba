"""Proposed actions, the decisions and the outcomes, kept for the days of `keep_replies_d`.

One row per proposal. `key` is unique, so a proposal is acted on at most once; a row is `running` before Twitch is
called, and what a crash left running is looked up and settled at the next start, and never done again. `revert_at` is
set in the same transaction that claims an action which must be reverted, so a crash cannot lose that either.
A waiting row whose `decided_by` is set was approved by another process and is the running bot's to carry out.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from forgetmenot import languages
from forgetmenot.languages import read_reason
from forgetmenot.store import figures
from forgetmenot.store.database import Database, Source, Transaction, row_as


class ActionStatus(StrEnum):
    """Status of a proposal."""

    DENIED = "denied"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    UNDONE = "undone"


class NewAction(Struct, frozen=True):
    """A decided proposal, before its row exists. Ids of people who are not stored are left out."""

    key: str
    at: int
    name: str
    kind: str
    params: Mapping[str, str]
    verdict: str
    rule: str
    reason: str
    status: ActionStatus
    asked_by: str | None = None
    target_id: str | None = None
    bot_message_id: int | None = None
    expires_at: int | None = None
    revert_at: int | None = None


class LoggedAction(NewAction, frozen=True, kw_only=True):
    """One row, with its JSON read."""

    id: int
    detail: str
    decided_by: str | None
    finished_at: int | None


async def insert(tx: Transaction, new: NewAction) -> int | None:
    """Write the row; returns its id, or None if a proposal of that key exists."""
    action_id: int | None = await tx.value(
        """
        INSERT INTO action_logs (at, bot_message_id, key, asked_by, target_id, name, class,
            params_json, verdict, rule, reason, status, expires_at, revert_at)
        VALUES (
            :at, :bot_message_id, :key, (SELECT id FROM viewers WHERE id = :asked_by), (
                SELECT id
                FROM viewers
                WHERE id = :target_id
            ), :name, :kind, :params, :verdict, :rule, :reason, :status, :expires_at, :revert_at
        )
        ON CONFLICT (key) DO NOTHING
        RETURNING id
        """,
        asdict(new) | {"params": msgspec.json.encode(new.params).decode()},
    )
    return action_id


async def claim(
    tx: Transaction, action_id: int, now: int, *, decided_by: str, revert_at: int | None
) -> bool:
    """Claim a waiting action for execution; False if it was claimed before or has expired."""
    waits = "id = ? AND status = 'waiting' AND expires_at > ?"
    sql = f"""
        UPDATE action_logs
        SET status = 'running', decided_by = ?, revert_at = ?
        WHERE {waits}
    """
    return await tx.execute(sql, (decided_by, revert_at, action_id, now)) == 1


async def clips_and_markers(
    source: Source, since: int, until: int, limit: int
) -> list[tuple[int, str, str]]:
    """Clips and markers that were made in that time: when, which of the two, and its address or text."""
    made = "status = 'done' AND name IN ('clip', 'marker') AND at BETWEEN ? AND ?"
    text = "iif(name = 'clip', detail, coalesce(params_json ->> 'text', ''))"
    sql = f"SELECT at, name, {text} FROM action_logs WHERE {made} ORDER BY at, id LIMIT ?"
    return [tuple(row) for row in await source.rows(sql, (since, until, limit))]


async def settle(
    tx: Transaction, action_id: int, status: ActionStatus, detail: str, now: int
) -> None:
    """Record the outcome. What was not done need not be reverted."""
    await tx.execute(
        """
        UPDATE action_logs
        SET status = ?, detail = ?, finished_at = ?,
            revert_at = CASE WHEN ? IN ('done', 'unknown') THEN revert_at END
        WHERE id = ?
        """,
        (status, detail, now, status, action_id),
    )
    await figures.add_clip(tx, action_id)


async def clear_words(tx: Transaction, reply_ids: Sequence[int]) -> None:
    """Take away what these replies' actions were to say: what they rest on was cleared. Deny those that wait.

    One that runs keeps it until it is settled, since Twitch may have to be asked about it.
    """
    await tx.execute(
        """
        UPDATE action_logs
        SET status = 'denied', rule = 'cleared', reason = ?
        WHERE status = 'waiting'
            AND bot_message_id IN (SELECT value FROM json_each(?))
        """,
        (languages.reason("cleared"), reply_ids),
    )
    await tx.execute(
        # what undoing it needs stays, and none of that is anybody's words
        """
        UPDATE action_logs
        SET params_json = (
            SELECT json_group_object(key, value)
            FROM json_each(params_json)
            WHERE key IN ('target', 'seconds', 'gap', 'effect')
        )
        WHERE status <> 'running'
            AND bot_message_id IN (SELECT value FROM json_each(?))
        """,
        (reply_ids,),
    )


async def deny(
    tx: Transaction, action_id: int, *, by: str, rule: str, reason: str, now: int
) -> bool:
    """Deny a waiting action; False if it does not wait any more."""
    denied = "status = 'denied', decided_by = ?, rule = ?, reason = ?, finished_at = ?"
    sql = f"UPDATE action_logs SET {denied} WHERE id = ? AND status = 'waiting'"
    return await tx.execute(sql, (by, rule, reason, now, action_id)) == 1


async def ask_for_undo(tx: Transaction, action_id: int, *, by: str, now: int) -> bool:
    """Request the undo of a done action; False if it was not done or is undone already."""
    stands = "status IN ('done', 'unknown') AND (revert_at IS NULL OR revert_at > ?1)"
    sql = f"""
        UPDATE action_logs
        SET revert_at = ?1, decided_by = ?2
        WHERE id = ?3
            AND {stands}
    """
    return await tx.execute(sql, (now, by, action_id)) == 1


async def expire(db: Database, now: int) -> None:
    """Expire what waited too long; nothing is written where there is none."""
    due = "status = 'waiting' AND expires_at <= ?1"
    if await db.row(f"SELECT 1 FROM action_logs WHERE {due}", (now,)):
        async with db.write() as tx:
            await tx.execute(
                f"UPDATE action_logs SET status = 'expired', finished_at = ?1 WHERE {due}", (now,)
            )


async def set_revert(
    tx: Transaction,
    action_id: int,
    revert_at: int | None,
    detail: str,
    status: ActionStatus | None = None,
) -> None:
    """Say when a revert is tried (again), or that it is over (None), and what became of the action."""
    await tx.execute(
        """
        UPDATE action_logs
        SET revert_at = ?, status = coalesce(?, status), detail = ?
        WHERE id = ?
        """,
        (revert_at, status, detail, action_id),
    )


async def get(db: Database, action_id: int) -> LoggedAction | None:
    """One row by its id; None if there is none, or none any more."""
    return next(iter(await _actions_where(db, "id = ?", action_id)), None)


async def running(db: Database) -> list[LoggedAction]:
    """Rows that are not settled; at start, what a crash interrupted."""
    return await _actions_where(db, "status = 'running' ORDER BY id")


async def waiting(db: Database, now: int) -> list[LoggedAction]:
    """What waits for a person, oldest first."""
    return await _actions_where(db, "status = 'waiting' AND expires_at > ? ORDER BY id", now)


async def due_for_revert(db: Database, now: int) -> list[LoggedAction]:
    """Rows to be reverted by now, except running ones."""
    return await _actions_where(
        db, "revert_at <= ? AND status IN ('done', 'unknown') ORDER BY revert_at", now
    )


async def latest(
    source: Source, limit: int, statuses: Iterable[ActionStatus] = tuple(ActionStatus)
) -> list[LoggedAction]:
    """The newest rows with one of those statuses, newest first."""
    wanted = "status IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?"
    return await _actions_where(source, wanted, list(statuses), limit)


async def of_reply(source: Source, reply_id: int) -> list[LoggedAction]:
    """What one reply proposed, oldest first."""
    return await _actions_where(source, "bot_message_id = ? ORDER BY id", reply_id)


async def refusals_of(
    db: Database, viewer_id: str, since: int, ignored_rules: Iterable[str]
) -> int:
    """How many of a viewer's requests were refused, without refusals by rules that say nothing about the viewer."""
    refused = "asked_by = ? AND at >= ? AND status = 'denied' AND rule NOT IN (SELECT value FROM json_each(?))"
    sql = f"SELECT count(*) FROM action_logs WHERE {refused}"
    return int(await db.value(sql, (viewer_id, since, list(ignored_rules))))


async def done_since(db: Database, since: int) -> int:
    """How many actions were carried out, or may have been."""
    sql = """
        SELECT count(*)
        FROM action_logs
        WHERE at >= ?
            AND status IN ('running', 'done', 'unknown', 'undone')
    """
    return int(await db.value(sql, (since,)))


async def last_allowed(db: Database, *, name: str = "", kind: str = "", about: str = "") -> int:
    """When an action of this name or class was last allowed, of this viewer or anybody's, in ms; 0: never.

    Of an action without a target the viewer is who asked for it.
    """
    asked = "?1 IN ('', name) AND ?2 IN ('', class) AND ?3 IN ('', coalesce(target_id, asked_by))"
    sql = f"""
        SELECT max(at)
        FROM action_logs
        WHERE verdict IN ('allow', 'allow_changed')
            AND {asked}
    """
    return int(await db.value(sql, (name, kind, about)) or 0)


async def was_done_to(source: Source, name: str, target_id: str, since: int, until: int) -> bool:
    """Whether the bot itself did that to somebody in that time (ms); one that Twitch has not answered yet counts."""
    done = "at BETWEEN ? AND ? AND name = ? AND target_id = ? AND status IN ('running', 'done', 'unknown')"
    return (
        await source.row(f"SELECT 1 FROM action_logs WHERE {done}", (since, until, name, target_id))
        is not None
    )


async def _actions_where(source: Source, condition: str, *params: object) -> list[LoggedAction]:
    """The rows that a condition of ours picks, in its order."""
    found = []
    for row in await source.rows(f"SELECT * FROM action_logs WHERE {condition}", params):
        more = {"kind": row["class"], "params": msgspec.json.decode(row["params_json"])}
        found.append(
            row_as(
                row,
                LoggedAction,
                **more,
                **{one: read_reason(row[one]) for one in ("reason", "detail")},
            )
        )
    return found
