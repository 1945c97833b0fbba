"""Counts over time for the dock's charts, and figures for the guarantees. Reads only; bounded queries."""

from collections import Counter

from forgetmenot.settings.prices import Used
from forgetmenot.store.database import Database


async def chat_per_minute(db: Database, since: int, step: int) -> list[tuple[int, int]]:
    """Lines per stretch of `step` ms: when it began, and how many."""
    rows = await db.rows(
        "SELECT at / :step * :step AS began, count(*) FROM events WHERE at >= :since AND from_bot = 0"
        " GROUP BY began ORDER BY began",
        {"since": since, "step": step},
    )
    return [(row[0], row[1]) for row in rows]


async def tokens_per_section(db: Database, last: int) -> list[tuple[str, float]]:
    """The mean of each section of the last prompts, in the order of the prompt."""
    rows = await db.rows(
        "WITH latest AS (SELECT prompt_json FROM bot_messages WHERE prompt_json <> '{}' ORDER BY id DESC LIMIT ?)"
        " SELECT s.value ->> 'name' AS name, total(s.value ->> 'tokens') / (SELECT count(*) FROM latest)"
        " FROM latest, json_each(latest.prompt_json, '$.sections') AS s GROUP BY name ORDER BY avg(s.key)",
        (last,),
    )
    return [(row[0], row[1]) for row in rows]


async def bills(db: Database, last: int) -> list[tuple[int, int, int, int]]:
    """Of the last replies, oldest first: id, tokens estimated, billed, cached."""
    rows = await db.rows(
        "SELECT id, coalesce(token_usage_json ->> 'estimated', 0), coalesce(token_usage_json ->> 'billed', 0),"
        " coalesce(token_usage_json ->> 'cached', 0) FROM bot_messages WHERE model <> '' ORDER BY id DESC LIMIT ?",
        (last,),
    )
    return [(row[0], row[1], row[2], row[3]) for row in reversed(rows)]


async def used_per_stream(db: Database, last: int) -> list[tuple[int, dict[str, Used]]]:
    """Of the last streams, oldest first: the start, and the tokens of all calls until the next one's, by model."""
    rows = await db.rows(
        "SELECT s.started_at, c.model, coalesce(sum(c.input), 0), coalesce(sum(c.cached), 0),"
        " coalesce(sum(c.output), 0) + coalesce(sum(c.thoughts), 0)"
        " FROM (SELECT * FROM streams ORDER BY id DESC LIMIT ?) s LEFT JOIN model_calls c ON c.at >= s.started_at"
        " AND c.at < coalesce((SELECT min(n.started_at) FROM streams n WHERE n.id > s.id), 9e15)"
        " GROUP BY s.id, c.model ORDER BY s.id",
        (last,),
    )
    found: dict[int, dict[str, Used]] = {}
    for began, model, *tokens in rows:
        used = found.setdefault(began, {})
        if model is not None:
            used[model] = Used(*tokens)
    return list(found.items())


async def note_moves(db: Database, step: int) -> list[tuple[int, str, int]]:
    """How many notes came into (+) or left (-) a status, per stretch of `step` ms, oldest first."""
    rows = await db.rows(
        "SELECT at / :step * :step AS began, status, sum(moved) FROM ("
        " SELECT at, to_status AS status, 1 AS moved FROM note_changes UNION ALL"
        " SELECT at, from_status, -1 FROM note_changes WHERE from_status IS NOT NULL)"
        " GROUP BY began, status ORDER BY began",
        {"step": step},
    )
    return [(row[0], row[1], row[2]) for row in rows]


async def rules(db: Database, since: int) -> list[tuple[str, str, int]]:
    """How often each rule of the policy decided, and what."""
    rows = await db.rows(
        "SELECT rule, verdict, count(*) AS fired FROM action_logs WHERE at >= ? GROUP BY rule, verdict"
        " ORDER BY fired DESC, rule",
        (since,),
    )
    return [(row[0], row[1], row[2]) for row in rows]


_PROMISES = {
    "raw_old": "SELECT count(*) FROM events WHERE at < :oldest",
    "unread": "SELECT count(*) FROM events WHERE episode_id IS NULL AND redacted_at IS NULL",
    "pruned_unread": "SELECT coalesce(sum(count), 0) FROM tally WHERE name = 'pruned_unread'",
    "no_evidence": "SELECT count(*) FROM semantic_notes n"
    " WHERE NOT EXISTS (SELECT 1 FROM note_evidence e WHERE e.note_id = n.id)",
    "hidden_lines": "SELECT count(*) FROM events e JOIN viewers v ON v.id = e.viewer_id"
    " WHERE v.opted_out_at IS NOT NULL AND e.text <> '' AND e.redacted_at IS NULL",
    "lost_successor": "SELECT count(*) FROM semantic_notes WHERE status = 'superseded' AND superseded_by IS NULL",
    "over_budget": "SELECT count(*) FROM bot_messages WHERE prompt_json ->> 'estimated' > prompt_json ->> 'budget'",
    "largest_prompt": "SELECT coalesce(max(prompt_json ->> 'estimated'), 0) FROM bot_messages",
    "ran_unasked": "SELECT count(*) FROM action_logs WHERE class = 'C' AND status IN ('done', 'running')"
    " AND decided_by IS NULL",
    "without_trail": "SELECT count(*) FROM bot_messages WHERE model <> '' AND prompt_json = '{}'",
    "unsure": "SELECT count(*) FROM bot_messages WHERE status = 'unknown'",
    "to_extract": "SELECT count(*) FROM episodes WHERE extracted_at IS NULL",
    "set_aside": "SELECT coalesce(sum(count), 0) FROM tally WHERE name = 'set_aside'",
    "erasing": "SELECT count(*) FROM viewers WHERE erase_at IS NOT NULL",
    "last_line_at": "SELECT coalesce(max(last_event_at), 0) FROM streams",
    "size": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
}


async def promises(db: Database, *, oldest: int) -> dict[str, int]:
    """The live figures behind the promises. `oldest`: raw chat from before that time (ms) should be gone."""
    # one by one: a reply that has to be thought meanwhile reads in between
    return {name: int(await db.value(sql, {"oldest": oldest})) for name, sql in _PROMISES.items()}


async def refused(db: Database) -> list[tuple[str, str, int]]:
    """What was kept out of the memory, most often first: `note_refused` or `summary_cut`, by which rule, how often."""
    rows = await db.rows(
        "SELECT name, sum(count) AS n FROM tally WHERE name GLOB 'note_refused:*' OR name GLOB 'summary_cut:*'"
        " GROUP BY name"
    )
    counted: Counter[tuple[str, str]] = Counter()
    for name, number in rows:
        what, rule = name.split(":")[:2]
        counted[what, rule] += number
    return [(what, rule, number) for (what, rule), number in counted.most_common()]
