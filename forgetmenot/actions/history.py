"""What the bot really did lately, for the next prompts: the model may speak of these and of nothing else."""

from forgetmenot.actions.catalogue import find
from forgetmenot.actions.entry import Kind
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import LoggedAction, Status
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import mention

_TOLD = {
    Status.DONE: "done",
    Status.UNDONE: "done, and taken back since",
    Status.UNKNOWN: "tried; not known whether it worked",
    Status.WAITING: "not done: waits for a moderator",
}


async def recently_done(db: Database, limit: int = 5) -> list[str]:
    """One line for each, newest first, people as `<@id>`; no times, and no words of the model."""
    return [_line(row) for row in await action_logs.latest(db, limit, tuple(_TOLD))]


def _line(row: LoggedAction) -> str:
    parts = [row.name.replace("_", " ")]
    if row.target_id:
        parts.append(f"of {mention(row.target_id)}")
    action = find(row.name)
    if action is not None and any(one.kind is Kind.SECONDS and one.name == "seconds" for one in action.params):
        parts.append(f"for {row.params.get('seconds', '?')} s")
    return f"{' '.join(parts)}: {_TOLD[row.status]}"
