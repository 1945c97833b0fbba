"""What became of the last actions, for the next prompts: the model may speak of these and of nothing else."""

from forgetmenot.actions.catalogue import find
from forgetmenot.actions.entry import Kind
from forgetmenot.prompt.material import ActionDone
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import LoggedAction, Status
from forgetmenot.store.database import Source
from forgetmenot.text.mentions import mention

_TOLD = {
    Status.DONE: "done",
    Status.UNDONE: "done, and taken back since",
    Status.REFUSED: "not done: Twitch refused",
    Status.FAILED: "not done: it failed",
    Status.UNKNOWN: "tried; not known whether it worked",
    Status.WAITING: "not done: waits for a moderator",
}


async def lately(source: Source, *, since: int, limit: int = 3) -> tuple[ActionDone, ...]:
    """The last of those since then, oldest first, people as `<@id>`; no times, and no words of the model."""
    rows = await action_logs.latest(source, limit, tuple(_TOLD))
    return tuple(_told(row) for row in reversed(rows) if row.at >= since)


def _told(row: LoggedAction) -> ActionDone:
    return ActionDone(row.id, line(row), row.name if row.status is Status.DONE else "")


def line(row: LoggedAction) -> str:
    """What was tried and what became of it; people as `<@id>`."""
    parts = [row.name.replace("_", " ")]
    if row.target_id:
        parts.append(f"of {mention(row.target_id)}")
    action = find(row.name)
    if action is not None and any(one.kind is Kind.SECONDS and one.name == "seconds" for one in action.params):
        parts.append(f"for {row.params.get('seconds', '?')} s")
    return f"{' '.join(parts)}: {_TOLD.get(row.status, row.status.value)}"
