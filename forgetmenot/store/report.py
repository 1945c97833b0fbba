"""Totals over the whole memory, so that two of them tell what happened in between.

What was pruned or erased since counts too: triggers of the schema keep its numbers in `tally` as `gone_…`.
"""

from dataclasses import dataclass, fields

from forgetmenot.store.database import Database

_TOTALS = """
WITH counted (name, count) AS (
    SELECT iif(name = 'semantic_notes', 'notes', name), seq FROM sqlite_sequence
     WHERE name IN ('episodes', 'semantic_notes')
    UNION ALL
    SELECT 'superseded', count(*) FROM note_changes WHERE to_status = 'superseded'
    UNION ALL
    SELECT 'replies', count(*) FROM bot_messages WHERE status IN ('sent', 'shadow')
    UNION ALL
    SELECT 'proposed', count(*) FROM action_logs
    UNION ALL
    SELECT 'allowed', count(*) FROM action_logs WHERE verdict IN ('allow', 'allow_changed')
    UNION ALL
    SELECT 'denied', count(*) FROM action_logs WHERE verdict = 'deny'
    UNION ALL
    SELECT 'executed', count(*) FROM action_logs WHERE status IN ('done', 'undone')
    UNION ALL
    SELECT 'llm_calls', count(*) FROM model_calls
    UNION ALL
    SELECT 'estimated', sum(json_extract(token_usage_json, '$.estimated')) FROM bot_messages
    UNION ALL
    SELECT 'prefix', sum(json_extract(prompt_json, '$.prefix_tokens')) FROM bot_messages
     WHERE json_extract(token_usage_json, '$.estimated') > 0
    UNION ALL
    SELECT 'billed', sum(input) FROM model_calls WHERE purpose = 'reply'
    UNION ALL
    SELECT 'cached', sum(cached) FROM model_calls WHERE purpose = 'reply'
    UNION ALL
    SELECT 'billed_in_all', sum(input) FROM model_calls
    UNION ALL
    SELECT substr(name, length('gone_') + 1), count FROM tally WHERE name GLOB 'gone_*'
)
SELECT name, coalesce(sum(count), 0) AS count FROM counted GROUP BY name
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
    counted = {row["name"]: int(row["count"]) for row in await db.rows(_TOTALS)}
    return Totals(**{field.name: counted.get(field.name, 0) for field in fields(Totals)})
