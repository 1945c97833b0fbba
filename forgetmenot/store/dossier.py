"""Everything that is held about one person, row by row, as it lies in the database."""

from forgetmenot.store.database import Database

PARTS: dict[str, str] = {
    "names": "SELECT login, display_name, first_seen_at, last_seen_at FROM viewer_names"
    " WHERE viewer_id = ?1 ORDER BY 3",
    "streams": "SELECT a.stream_id, a.first_at, a.last_at, a.lines FROM attendance a WHERE viewer_id = ?1 ORDER BY 2",
    "lines": "SELECT at, kind, text, system_text FROM events WHERE viewer_id = ?1 AND redacted_at IS NULL ORDER BY seq",
    "notes": "SELECT id, fact, status, source_kind, confidence, importance, topics, asked_with, created_at,"
    " last_confirmed_at, expires_at, superseded_by, pinned FROM semantic_notes WHERE subject_id = ?1 ORDER BY id",
    "notes_history": "SELECT c.note_id, c.at, c.from_status, c.to_status, c.cause FROM note_changes c"
    " JOIN semantic_notes n ON n.id = c.note_id WHERE n.subject_id = ?1 ORDER BY c.id",
    "evidence": "SELECT v.note_id, v.episode_id, v.stance, v.at FROM note_evidence v"
    " JOIN semantic_notes n ON n.id = v.note_id WHERE n.subject_id = ?1 ORDER BY v.note_id, v.at",
    "said_about_others": "SELECT n.id, n.fact, n.status, v.at FROM note_evidence v JOIN semantic_notes n"
    " ON n.id = v.note_id WHERE v.speaker_id = ?1 AND n.subject_id IS NOT ?1 ORDER BY n.id",
    "mentioned_in_notes": "SELECT id, fact, status FROM semantic_notes"
    " WHERE subject_id IS NOT ?1 AND instr(fact, '<@' || ?1 || '>') ORDER BY id",
    "summaries": "SELECT e.id, e.started_at, e.ended_at, e.kind, e.summary FROM episodes e"
    " JOIN episode_people p ON p.episode_id = e.id WHERE p.viewer_id = ?1 ORDER BY e.id",
    "recaps": "SELECT id AS stream_id, recap FROM streams WHERE instr(recap, '<@' || ?1 || '>') ORDER BY id",
    "briefs": "SELECT kind, text, made_at FROM briefs WHERE viewer_id = ?1 ORDER BY id",
    "replies": "SELECT at, trigger, text, status FROM bot_messages WHERE viewer_id = ?1 ORDER BY id",
    "actions": "SELECT at, name, params_json, verdict, reason, status, asked_by = ?1 AS asked_by_them FROM action_logs"
    " WHERE asked_by = ?1 OR target_id = ?1 ORDER BY id",
    "cooldowns": "SELECT name, until FROM cooldowns WHERE key = ?1 ORDER BY name",
    "fun": "SELECT at FROM fun_consents WHERE viewer_id = ?1",
    "never_mention": "SELECT words, note_id, at, by_id = ?1 AS asked_by_them FROM never_mention"
    " WHERE viewer_id = ?1 OR by_id = ?1 ORDER BY id",
    "channel_texts": "SELECT name, value FROM channel_state WHERE instr(value, '<@' || ?1 || '>') ORDER BY name",
}
_PERSON = "SELECT id, login, display_name, role, first_seen_at, last_seen_at, opted_out_at, banned_at FROM viewers"

Rows = list[dict[str, object]]


async def person(db: Database, viewer_id: str) -> dict[str, object]:
    """Somebody's own row; empty if there is none."""
    return next(iter(await _rows(db, f"{_PERSON} WHERE id = ?1", viewer_id)), {})


async def everything(db: Database, viewer_id: str) -> dict[str, Rows]:
    """What is held besides that row, by kind. Times in ms; people in texts as `<@id>`."""
    return {name: await _rows(db, sql, viewer_id) for name, sql in PARTS.items()}


async def _rows(db: Database, sql: str, viewer_id: str) -> Rows:
    return [{key: row[key] for key in row.keys()} for row in await db.rows(sql, (viewer_id,))]  # noqa: SIM118  # a Row is no mapping
