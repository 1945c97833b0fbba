"""The log of actions, cooldowns and consents in the store."""

from dataclasses import replace

from forgetmenot.clock import DAY
from forgetmenot.store import action_logs, cooldowns
from forgetmenot.store.action_logs import NewAction, Status
from forgetmenot.store.database import Database

NEW = NewAction(
    key="k",
    at=1_000,
    name="clip",
    kind="A",
    params={"text": "x"},
    verdict="allow",
    rule="allowed",
    reason="No rule objects.",
    status=Status.RUNNING,
    asked_by="nobody-stored",
)


async def test_a_key_is_taken_once(db: Database) -> None:
    async with db.write() as tx:
        assert await action_logs.insert(tx, NEW) == 1
        assert await action_logs.insert(tx, NEW) is None
    [row] = await action_logs.latest(db, 9)
    assert (row.asked_by, dict(row.params)) == (None, {"text": "x"})


async def test_old_rows_go_but_not_what_is_still_to_do(db: Database) -> None:
    async with db.write() as tx:
        await action_logs.insert(tx, replace(NEW, key="done", status=Status.DONE))
        await action_logs.insert(tx, replace(NEW, key="due", status=Status.DONE, revert_at=2_000))
        await action_logs.insert(tx, replace(NEW, key="waits", status=Status.WAITING, verdict="ask", expires_at=9))
        await action_logs.insert(tx, replace(NEW, key="no", status=Status.DENIED, verdict="deny"))
    async with db.write() as tx:
        assert await action_logs.prune(tx, DAY) == 2
    assert {row.key for row in await action_logs.latest(db, 9)} == {"due", "waits"}


async def test_a_rest_is_not_shortened_and_ends(db: Database) -> None:
    async with db.write() as tx:
        await cooldowns.rest(tx, {("clip", ""): 100})
        await cooldowns.rest(tx, {("clip", ""): 50})
    assert await cooldowns.until(db, "clip") == 100
    async with db.write() as tx:
        assert await cooldowns.forget_past(tx, 100) == 1
    assert await cooldowns.until(db, "clip") == 0
