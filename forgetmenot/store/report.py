"""Totals over the whole memory, so that two of them tell what happened in between (also of what was pruned since)."""

from dataclasses import dataclass, fields

from forgetmenot.store.database import Database

_TOTALS = """
SELECT (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'episodes')       AS episodes,
       (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'semantic_notes') AS notes,
       (SELECT count(*) FROM note_changes WHERE to_status = 'superseded')                AS superseded,
       (SELECT count(*) FROM bot_messages WHERE status IN ('sent', 'shadow'))            AS replies,
       (SELECT count(*) FROM action_logs)                                                AS proposed,
       (SELECT count(*) FROM action_logs WHERE verdict IN ('allow', 'allow_changed'))    AS allowed,
       (SELECT count(*) FROM action_logs WHERE verdict = 'deny')                         AS denied,
       (SELECT count(*) FROM action_logs WHERE status IN ('done', 'undone'))             AS executed,
       (SELECT count(*) FROM model_calls)                                                AS llm_calls,
       (SELECT coalesce(sum(json_extract(token_usage_json, '$.estimated')), 0) FROM bot_messages) AS estimated,
       (SELECT coalesce(sum(json_extract(prompt_json, '$.prefix_tokens')), 0) FROM bot_messages
         WHERE json_extract(token_usage_json, '$.estimated') > 0)                        AS prefix,
       (SELECT coalesce(sum(input), 0) FROM model_calls WHERE purpose = 'reply')         AS billed,
       (SELECT coalesce(sum(cached), 0) FROM model_calls WHERE purpose = 'reply')        AS cached,
       (SELECT coalesce(sum(input), 0) FROM model_calls)                                 AS billed_in_all
"""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts since the memory began; tokens are of replies' inputs, `billed_in_all` of all calls' inputs.

    `prefix`: those of `estimated` that stood in the unchanged prefix, which a provider may bill at a cached rate.
    """

    episodes: int
    notes: int
    superseded: int
    replies: int
    proposed: int
    allowed: int
    denied: int
    executed: int
    llm_calls: int
    estimated: int
    prefix: int
    billed: int
    cached: int
    billed_in_all: int

    def since(self, before: "Totals") -> "Totals":
        """What was added."""
        return Totals(*(getattr(self, f.name) - getattr(before, f.name) for f in fields(Totals)))


async def totals(db: Database) -> Totals:
    """The totals as of now."""
    row = await db.row(_TOTALS)
    assert row is not None  # noqa: S101  # a SELECT without FROM always has one row
    return Totals(**{key: int(row[key]) for key in row.keys()})  # noqa: SIM118  # a Row has keys but is no mapping
