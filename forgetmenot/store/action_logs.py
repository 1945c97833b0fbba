"""Proposed actions, the decisions and the outcomes, one row per proposal, kept for `keep_replies_d` days.

- `key` is unique, so a proposal is acted on at most once.
- A row is `running` before Twitch is called. What a crash left running becomes `unknown` or what Twitch shows of it at
  the next start; it is never done again.
- `revert_at` is set by the transaction that claims the action, so a crash cannot lose what must be reverted.
- A waiting row with `decided_by` was approved by another process; the running bot carries it out.
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

# In the words of the index action_logs_open: for `status = 'waiting'` alone SQLite does not see that
# the index has all such rows, and reads a month of actions, every second.
_IS_OPEN = "status IN ('waiting', 'running')"


class ActionStatus(StrEnum):
    """What became of a proposed action."""

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
    # By subqueries: the id of somebody who is not stored, such as a viewer who opted out, becomes
    # NULL. By itself the foreign key would refuse the row.
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
    tx: Transaction,
    action_id: int,
    now: int,
    *,
    decided_by: str,
    revert_at: int | None,
) -> bool:
    """Claim a waiting action for execution; False if it was claimed before or has expired."""
    # Checked by the statement that claims it: a click in the dock and a command in chat may come at
    # once, and one of the two changes no row.
    waits = "id = ? AND status = 'waiting' AND expires_at > ?"
    sql = f"""
        UPDATE action_logs
        SET status = 'running', decided_by = ?, revert_at = ?
        WHERE {waits}
    """
    return await tx.execute(sql, (decided_by, revert_at, action_id, now)) == 1


async def clips_and_markers(
    source: Source,
    since: int,
    until: int,
    limit: int,
) -> list[tuple[int, str, str]]:
    """Return the clips and markers made between two times (ms): time, "clip" or "marker", and its address or text."""
    sql = """
        SELECT at, name, iif(name = 'clip', detail, coalesce(params_json ->> 'text', ''))
        FROM action_logs
        WHERE status = 'done'
            AND name IN ('clip', 'marker')
            AND at BETWEEN ? AND ?
        ORDER BY at, id
        LIMIT ?
    """
    return [tuple(row) for row in await source.rows(sql, (since, until, limit))]


async def settle(
    tx: Transaction,
    action_id: int,
    status: ActionStatus,
    detail: str,
    now: int,
) -> None:
    """Store the outcome of an action. One that was not done needs no undo."""
    await tx.execute(
        """
        UPDATE action_logs
        SET status = ?, detail = ?, finished_at = ?,
            revert_at = CASE WHEN ? IN ('done', 'unknown') THEN revert_at END
        WHERE id = ?
        """,
        (status, detail, now, status, action_id),
    )
    # In the same transaction, so that a crash leaves no clip without its moment.
    await figures.add_clip(tx, action_id)


async def clear_words(tx: Transaction, reply_ids: Sequence[int]) -> None:
    """Delete the texts of the actions of these replies, whose own texts were cleared; deny those that wait.

    One that is running keeps its text until it is settled, since Twitch may have to be asked about it.
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
        # what an undo needs stays: none of that is a viewer's words
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
    tx: Transaction,
    action_id: int,
    *,
    by: str,
    rule: str,
    reason: str,
    now: int,
) -> bool:
    """Deny a waiting action; False if it does not wait any more."""
    denied = "status = 'denied', decided_by = ?, rule = ?, reason = ?, finished_at = ?"
    sql = f"UPDATE action_logs SET {denied} WHERE id = ? AND status = 'waiting'"
    return await tx.execute(sql, (by, rule, reason, now, action_id)) == 1


async def ask_for_undo(
    tx: Transaction,
    action_id: int,
    *,
    by: str,
    now: int,
) -> bool:
    """Request the undo of an action; False if it was not done, or is undone already."""
    sql = """
        UPDATE action_logs
        SET revert_at = ?1, decided_by = ?2
        WHERE id = ?3
            AND status IN ('done', 'unknown')
            AND (revert_at IS NULL OR revert_at > ?1)
    """
    return await tx.execute(sql, (now, by, action_id)) == 1


async def expire(db: Database, now: int) -> None:
    """Expire the actions that waited too long. If there are none, no transaction is opened."""
    due = f"{_IS_OPEN} AND status = 'waiting' AND expires_at <= ?1"
    if await db.row(f"SELECT 1 FROM action_logs WHERE {due}", (now,)) is None:
        return
    sql = f"UPDATE action_logs SET status = 'expired', finished_at = ?1 WHERE {due}"
    async with db.write() as tx:
        await tx.execute(sql, (now,))


async def set_revert(
    tx: Transaction,
    action_id: int,
    revert_at: int | None,
    detail: str,
    status: ActionStatus | None = None,
) -> None:
    """Store when an undo is tried next (ms; None: never again), and what became of the action."""
    await tx.execute(
        """
        UPDATE action_logs
        SET revert_at = ?, status = coalesce(?, status), detail = ?
        WHERE id = ?
        """,
        (revert_at, status, detail, action_id),
    )


async def get(db: Database, action_id: int) -> LoggedAction | None:
    """Return an action by its id; None if it is not stored (any more)."""
    actions = await _actions_where(db, "id = ?", action_id)
    return actions[0] if actions else None


async def running(db: Database) -> list[LoggedAction]:
    """Return rows that are not settled; at start, what a crash interrupted."""
    return await _actions_where(db, f"{_IS_OPEN} AND status = 'running' ORDER BY id")


async def waiting(db: Database, now: int) -> list[LoggedAction]:
    """Return what waits for a person, oldest first."""
    condition = f"{_IS_OPEN} AND status = 'waiting' AND expires_at > ? ORDER BY id"
    return await _actions_where(db, condition, now)


async def due_for_revert(db: Database, now: int) -> list[LoggedAction]:
    """Return rows to be reverted by now, except running ones."""
    return await _actions_where(
        db, "revert_at <= ? AND status IN ('done', 'unknown') ORDER BY revert_at", now
    )


async def latest(
    source: Source,
    limit: int,
    statuses: Iterable[ActionStatus] = tuple(ActionStatus),
) -> list[LoggedAction]:
    """Return the newest rows with one of those statuses, newest first."""
    # From the newest id backwards, until the limit is reached.
    condition = "status IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?"
    return await _actions_where(source, condition, list(statuses), limit)


async def of_reply(source: Source, reply_id: int) -> list[LoggedAction]:
    """Return what one reply proposed, oldest first."""
    return await _actions_where(source, "bot_message_id = ? ORDER BY id", reply_id)


async def refusals_of(
    db: Database,
    viewer_id: str,
    since: int,
    ignored_rules: Iterable[str],
) -> int:
    """Return how many of a viewer's requests were refused by rules that say something about the viewer."""
    # The time's index narrows it to the last minutes: no index on who asked is kept up for this.
    refused = "asked_by = ? AND at >= ? AND status = 'denied' AND rule NOT IN (SELECT value FROM json_each(?))"
    sql = f"SELECT count(*) FROM action_logs WHERE {refused}"
    return int(await db.value(sql, (viewer_id, since, list(ignored_rules))))


async def done_since(db: Database, since: int) -> int:
    """Return how many actions were carried out, or may have been."""
    sql = """
        SELECT count(*)
        FROM action_logs
        WHERE at >= ?
            AND status IN ('running', 'done', 'unknown', 'undone')
    """
    return int(await db.value(sql, (since,)))


async def last_allowed(
    db: Database,
    *,
    name: str = "",
    kind: str = "",
    about: str = "",
) -> int:
    """Return when an action was last allowed (ms); 0: never.

    `name`, `kind` (its class) and `about` (its target; without one, who asked for it) restrict which; "" is any.
    """
    sql = """
        SELECT max(at)
        FROM action_logs
        WHERE verdict IN ('allow', 'allow_changed')
            AND ?1 IN ('', name)
            AND ?2 IN ('', class)
            AND ?3 IN ('', coalesce(target_id, asked_by))
    """
    return int(await db.value(sql, (name, kind, about)) or 0)


async def was_done_to(
    source: Source,
    name: str,
    target_id: str,
    since: int,
    until: int,
) -> bool:
    """Return whether the bot did an action to a viewer between two times (ms), or may have."""
    sql = """
        SELECT 1
        FROM action_logs
        WHERE at BETWEEN ? AND ?
            AND name = ?
            AND target_id = ?
            AND status IN ('running', 'done', 'unknown')
    """
    return await source.row(sql, (since, until, name, target_id)) is not None


async def _actions_where(
    source: Source,
    condition: str,
    *params: object,
) -> list[LoggedAction]:
    """Return the actions of a condition (SQL), in the order that it names."""
    actions = []
    for row in await source.rows(
        f"SELECT * FROM action_logs WHERE {condition}", params
    ):
        action = row_as(
            row,
            LoggedAction,
            kind=row["class"],
            params=msgspec.json.decode(row["params_json"]),
            reason=read_reason(row["reason"]),
            detail=read_reason(row["detail"]),
        )
        actions.append(action)
    return actions
