"""Who waits for whom."""

import asyncio

from forgetmenot.llm.gate import Gate


async def _hold(gate: Gate, name: str, log: list[str], release: asyncio.Event, *, urgent: bool) -> None:
    async with gate.place(urgent=urgent):
        log.append(name)
        await release.wait()


async def test_no_more_than_the_limit_are_inside_at_once() -> None:
    log: list[str] = []
    gate, release = Gate(3), asyncio.Event()
    tasks = [asyncio.create_task(_hold(gate, str(i), log, release, urgent=True)) for i in range(5)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert log == ["0", "1", "2"]
    release.set()
    await asyncio.gather(*tasks)
    assert len(log) == 5


async def test_memory_calls_leave_one_place_for_a_reply() -> None:
    log: list[str] = []
    gate, release = Gate(2), asyncio.Event()
    patient = [asyncio.create_task(_hold(gate, f"m{i}", log, release, urgent=False)) for i in range(2)]
    await asyncio.sleep(0)
    urgent = asyncio.create_task(_hold(gate, "reply", log, release, urgent=True))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert log == ["m0", "reply"]
    release.set()
    await asyncio.gather(*patient, urgent)


async def test_a_reply_jumps_the_queue_when_there_is_one_place_only() -> None:
    log: list[str] = []
    gate = Gate(1)
    first, rest = asyncio.Event(), asyncio.Event()
    rest.set()
    holder = asyncio.create_task(_hold(gate, "first", log, first, urgent=False))
    await asyncio.sleep(0)
    waiting = [
        asyncio.create_task(_hold(gate, "memory", log, rest, urgent=False)),
        asyncio.create_task(_hold(gate, "reply", log, rest, urgent=True)),
    ]
    await asyncio.sleep(0)
    first.set()
    await asyncio.gather(holder, *waiting)
    assert log == ["first", "reply", "memory"]


async def test_giving_up_just_when_let_in_costs_no_place() -> None:
    log: list[str] = []
    gate, release = Gate(1), asyncio.Event()
    async with gate.place(urgent=True):
        leaver = asyncio.create_task(_hold(gate, "leaver", log, release, urgent=True))
        await asyncio.sleep(0)
    leaver.cancel()  # it has its turn, but has not run yet
    await asyncio.gather(leaver, return_exceptions=True)
    assert log == []
    async with asyncio.timeout(1), gate.place(urgent=False):
        pass


async def test_giving_up_while_waiting_costs_no_place() -> None:
    log: list[str] = []
    gate, release = Gate(1), asyncio.Event()
    holder = asyncio.create_task(_hold(gate, "holder", log, release, urgent=True))
    await asyncio.sleep(0)
    leaver = asyncio.create_task(_hold(gate, "leaver", log, release, urgent=True))
    await asyncio.sleep(0)
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    release.set()
    await asyncio.gather(holder)
    async with asyncio.timeout(1), gate.place(urgent=False):
        pass
