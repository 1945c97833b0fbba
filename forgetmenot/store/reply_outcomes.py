"""How chat took each reply, and what of its prompt it used; and the sums of that over a time."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forgetmenot.store.database import Database, Source, Transaction

GOOD, BAD, DELETED = "good", "bad", "deleted"


class OpenReply(NamedTuple):
    """A reply that went out and of which no outcome is known yet."""

    id: int
    at: int
    text: str
    to: str


async def record_support(
    tx: Transaction, reply_id: int, used: Sequence[int], unsupported: Sequence[tuple[str, int, int]]
) -> None:
    """Keep which notes a reply used and which of its words no row supports."""
    await tx.execute(
        "INSERT INTO reply_outcomes (reply_id, used, unsupported) VALUES (?1, ?2, ?3)"
        " ON CONFLICT DO UPDATE SET used = ?2, unsupported = ?3",
        (reply_id, json.dumps(list(used)), json.dumps([list(one) for one in unsupported])),
    )


async def set_outcome(tx: Transaction, reply_id: int, outcome: str, *, over: Sequence[str] = ("",)) -> None:
    """Keep how a reply was taken. `over`: the codes that it may replace."""
    await tx.execute(
        "INSERT INTO reply_outcomes (reply_id, outcome) SELECT id, ?2 FROM bot_messages WHERE id = ?1"
        " ON CONFLICT DO UPDATE SET outcome = ?2 WHERE outcome IN (SELECT value FROM json_each(?3))",
        (reply_id, outcome, json.dumps(list(over))),
    )


async def rate(tx: Transaction, reply_id: int, *, good: bool) -> None:
    """A person's word on a reply; a deletion stays what it is."""
    await tx.execute(
        "INSERT INTO reply_outcomes (reply_id, outcome) VALUES (?1, ?2)"
        " ON CONFLICT DO UPDATE SET outcome = ?2 WHERE outcome <> ?3",
        (reply_id, GOOD if good else BAD, DELETED),
    )


async def of_reply(source: Source, reply_id: int) -> tuple[str, list[int], list[tuple[str, int, int]]]:
    """The outcome, the notes that were used, and what no row supports; empty where nothing is kept."""
    row = await source.row("SELECT outcome, used, unsupported FROM reply_outcomes WHERE reply_id = ?", (reply_id,))
    if row is None:
        return "", [], []
    return row[0], json.loads(row[1]), [(one[0], one[1], one[2]) for one in json.loads(row[2])]


async def still_open(source: Source, since: int, until: int) -> list[OpenReply]:
    """The model's replies that went out in that time (ms) and have no outcome, oldest first."""
    rows = await source.rows(
        "SELECT m.id, m.at, m.text, coalesce(v.login, '') FROM bot_messages m"
        " LEFT JOIN viewers v ON v.id = m.viewer_id LEFT JOIN reply_outcomes o ON o.reply_id = m.id"
        " WHERE m.at BETWEEN ? AND ? AND m.status = 'sent' AND m.model <> '' AND coalesce(o.outcome, '') = ''"
        " ORDER BY m.at, m.id LIMIT 200",
        (since, until),
    )
    return [OpenReply(*row) for row in rows]


async def lines_after(source: Source, at: int, until: int, limit: int) -> list[tuple[str, str]]:
    """Who said what in that time; no line of the bot, none that was cleared, no command."""
    rows = await source.rows(
        "SELECT coalesce(v.login, ''), e.text FROM events e JOIN viewers v ON v.id = e.viewer_id"
        " WHERE e.at > ? AND e.at <= ? AND e.from_bot = 0 AND e.redacted_at IS NULL AND e.text NOT LIKE '!%'"
        " AND v.opted_out_at IS NULL ORDER BY e.at, e.seq LIMIT ?",
        (at, until, limit),
    )
    return [(row[0], row[1]) for row in rows]


async def sent_as(source: Source, twitch_id: str) -> int | None:
    """The reply that Twitch shows under this id."""
    found = await source.value("SELECT id FROM bot_messages WHERE twitch_id = ?", (twitch_id,))
    return None if found is None else int(found)


async def last_sent(source: Source, since: int) -> int | None:
    """The newest reply of the model that went out since then."""
    found = await source.value(
        "SELECT id FROM bot_messages WHERE status = 'sent' AND model <> '' AND at >= ?"
        " ORDER BY at DESC, id DESC LIMIT 1",
        (since,),
    )
    return None if found is None else int(found)


# ── sums ────────────────────────────────────────────────────────────────────────────────────

_SUMS: Mapping[str, str] = {
    "prompts": "SELECT trigger, count(*) FROM bot_messages WHERE at >= :since AND model <> ''"
    " GROUP BY 1 ORDER BY 2 DESC",
    "replies": "SELECT iif(coalesce(o.outcome, '') = '', m.status, o.outcome), count(*) FROM bot_messages m"
    " LEFT JOIN reply_outcomes o ON o.reply_id = m.id WHERE m.at >= :since AND m.model <> ''"
    " GROUP BY 1 ORDER BY 2 DESC",
    "filters": "SELECT f.value, count(*) FROM bot_messages m, json_each(m.filters_json) f"
    " WHERE m.at >= :since GROUP BY 1 ORDER BY 2 DESC",
    "rules": "SELECT rule || ': ' || verdict, count(*) FROM action_logs WHERE at >= :since GROUP BY 1 ORDER BY 2 DESC",
    "shed": "SELECT m.trigger || ': ' || s.value, count(*) FROM bot_messages m, json_each(m.prompt_json, '$.shed') s"
    " WHERE m.at >= :since AND m.model <> '' GROUP BY 1 ORDER BY 2 DESC",
    "unsupported": "SELECT u.value ->> 0, count(DISTINCT o.reply_id) FROM reply_outcomes o"
    " JOIN bot_messages m ON m.id = o.reply_id, json_each(o.unsupported) u WHERE m.at >= :since"
    " GROUP BY 1 ORDER BY 2 DESC",
    "calls": "SELECT purpose || ' ' || model, count(*) FROM model_calls WHERE at >= :since GROUP BY 1 ORDER BY 2 DESC",
    "tokens": "SELECT purpose || ' ' || model, total(input) + total(output) + total(thoughts) FROM model_calls"
    " WHERE at >= :since GROUP BY 1 ORDER BY 2 DESC",
}
_SECTIONS = (
    "SELECT s.value ->> 'name', total(s.value ->> 'tokens') / count(*), total(json_array_length(s.value, '$.rows')),"
    " total((SELECT count(*) FROM json_each(s.value, '$.rows') r WHERE s.value ->> 'of' = 'notes'"
    "  AND r.value IN (SELECT value FROM json_each(o.used)))), count(*)"
    " FROM bot_messages m JOIN json_each(m.prompt_json, '$.sections') s"
    " LEFT JOIN reply_outcomes o ON o.reply_id = m.id WHERE m.at >= :since AND m.model <> '' GROUP BY 1 ORDER BY 2 DESC"
)
_NOTES = (
    "SELECT r.value, count(*), total(r.value IN (SELECT value FROM json_each(o.used))),"
    " total(o.outcome IN ('corrected', 'bad', 'deleted') AND r.value IN (SELECT value FROM json_each(o.used)))"
    " FROM bot_messages m JOIN json_each(m.prompt_json, '$.sections') s JOIN json_each(s.value, '$.rows') r"
    " JOIN reply_outcomes o ON o.reply_id = m.id"
    " WHERE m.at >= :since AND m.model <> '' AND s.value ->> 'of' = 'notes' GROUP BY 1 ORDER BY 2 DESC LIMIT 500"
)


async def sums(db: Database, since: int) -> dict[str, dict[str, int]]:
    """Counts by name since then (ms), the most frequent first."""
    return {
        name: {str(row[0]): int(row[1]) for row in await db.rows(sql, {"since": since})} for name, sql in _SUMS.items()
    }


async def sections(db: Database, since: int) -> list[dict[str, Any]]:
    """Each section of the prompts since then: mean tokens, rows shown, notes of it that were used, prompts."""
    names = ("name", "tokens", "shown", "used", "prompts")
    return [
        dict(zip(names, (row[0], *map(round, tuple(row)[1:])), strict=True))
        for row in await db.rows(_SECTIONS, {"since": since})
    ]


async def notes_offered(db: Database, since: int) -> list[dict[str, int]]:
    """Each note that a prompt offered: how often, how often used, how often in a reply that was called wrong."""
    names = ("id", "offered", "used", "corrected")
    return [dict(zip(names, map(int, tuple(row)), strict=True)) for row in await db.rows(_NOTES, {"since": since})]


async def latencies(db: Database, since: int) -> list[int]:
    """Of the replies since then, in ms, the shortest first."""
    rows = await db.rows(
        "SELECT latency_ms FROM bot_messages WHERE at >= :since AND model <> '' AND latency_ms IS NOT NULL ORDER BY 1",
        {"since": since},
    )
    return [int(row[0]) for row in rows]
