"""A viewer's rights: erase, opt out, opt in, export, and what is kept. They work in every mode and without a model.

Promises that nothing is erased unless it was confirmed, and that an erasure which was promised in chat is finished even
if the program stops (memory/erasure.Eraser.erase_due).
"""

from dataclasses import asdict, replace

from forgetmenot.clock import iso
from forgetmenot.domain.chat import Role
from forgetmenot.domain.operation import Asker, OperationResult, Surface, Target
from forgetmenot.memory.privacy_queue import DeferredKind, DeferredRequest, Fulfilled, PrivacyQueue
from forgetmenot.operations.entry import OperationContext, Request, Service
from forgetmenot.operations.run import UnknownViewer, run
from forgetmenot.store import opt_outs, personal_data, viewers


async def erase(context: OperationContext, request: Request) -> OperationResult:
    """Erase everything about a viewer. In chat it is begun, and runs on beside the answer."""
    who = request.target
    if who.id is None:
        return OperationResult(ok=False, code="erase_a_person", target=who)
    queue = _queue(context, request)
    if queue is not None and request.flag("confirm"):
        done = await queue.submit(DeferredKind.ERASE, who.id, own=who.own, line_id=request.asker.line_id)
        return erase_begun(done, who)
    await context.flush()
    if not await personal_data.is_known(context.db, who.id):
        return OperationResult(ok=False, code="nothing_held", target=who)
    if not request.flag("confirm"):
        typed = "" if who.own else f"{who.name} "
        return OperationResult(ok=False, code="erase_unconfirmed", data={"typed": typed}, target=who)
    if request.asker.surface is Surface.CHAT:
        begun, receipt = await context.eraser.begin(who.id)
        return erase_begun(Fulfilled(begun, receipt), who)
    report = await context.eraser.erase(who.id, request.progress)
    return OperationResult(ok=True, code="erased", data=asdict(report), target=who)


def _queue(context: OperationContext, request: Request) -> PrivacyQueue | None:
    """The queue, for requests from chat, which wait for the disk; elsewhere a person sees the error and retries."""
    return context.privacy_queue if request.asker.surface is Surface.CHAT else None


def erase_begun(done: Fulfilled, who: Target) -> OperationResult:
    """What is said of an erasure that was begun in chat."""
    if not done.receipt:
        return OperationResult(ok=False, code="nothing_held", target=who)
    code = "erasing" if done.changed else "erase_again"
    return OperationResult(ok=True, code=code, data={"receipt": done.receipt}, target=who)


def late_result(deferred: DeferredRequest, done: Fulfilled) -> OperationResult:
    """The result of a request that an earlier run accepted and this one carried out. Names nobody."""
    if done.result is not None:
        return done.result
    who = Target(deferred.viewer_id, "They", own=deferred.own)
    if deferred.kind is DeferredKind.ERASE:
        return erase_begun(done, who)
    said = {DeferredKind.OPT_OUT: "opted_out", DeferredKind.OPT_IN: "opted_in" if done.changed else "in_already"}
    return OperationResult(ok=True, code=said[deferred.kind], data={"viewer": deferred.viewer_id}, target=who)


def queued(service: Service, kind: DeferredKind) -> Service:
    """The service of an operation of that name, which from chat is run as soon as the memory can be written."""

    async def wait(context: OperationContext, request: Request) -> OperationResult:
        queue, asker = _queue(context, request), request.asker
        if queue is None:
            return await service(context, request)
        done = await queue.submit(
            kind, asker.viewer_id, line_id=asker.line_id, what=request.text("what"), moderates=asker.moderates
        )
        return done.result or OperationResult(ok=False, code="input", data={"sentence": "That did not work."})

    return wait


async def run_deferred(context: OperationContext, deferred: DeferredRequest) -> OperationResult:
    """Run such an operation as it was typed. Raises StoreError."""
    role = Role.MODERATOR if deferred.moderates else Role.VIEWER
    asker = Asker(Surface.CHAT, deferred.viewer_id, role, line_id=deferred.line_id)
    return await run(replace(context, privacy_queue=None), deferred.kind, {"what": deferred.what}, asker)


async def opt_out(context: OperationContext, request: Request) -> OperationResult:
    """Store nothing of a viewer from now on; what is known of them is neither shown nor used."""
    who = request.target
    if who.id is None:
        return OperationResult(ok=False, code="opt_a_person", target=who)
    queue = _queue(context, request)
    if queue is not None:
        await queue.submit(DeferredKind.OPT_OUT, who.id, own=who.own, line_id=request.asker.line_id)
    else:
        async with context.db.write() as tx:
            await opt_outs.opt_out(tx, who.id, context.clock.now())
        await context.db.wipe_deleted()
    await context.refresh()
    return OperationResult(ok=True, code="opted_out", data={"viewer": who.id}, target=who)


async def opt_in(context: OperationContext, request: Request) -> OperationResult:
    """Remember a viewer again."""
    who = request.target
    if who.id is None:
        return OperationResult(ok=False, code="opt_a_person", target=who)
    queue = _queue(context, request)
    if queue is not None:
        was_out = (await queue.submit(DeferredKind.OPT_IN, who.id, line_id=request.asker.line_id)).changed
    else:
        async with context.db.write() as tx:
            was_out = await opt_outs.opt_in(tx, who.id)
    if was_out:
        await context.refresh()
    elif not who.own and await viewers.get(context.db, who.id) is None:
        raise UnknownViewer(who.name)
    return OperationResult(ok=True, code="opted_in" if was_out else "in_already", data={"viewer": who.id}, target=who)


async def privacy(context: OperationContext, _request: Request) -> OperationResult:
    """What is kept, with the streamer's link."""
    settings = context.settings()
    data = {"hours": f"{settings.memory.raw_events_h:g}", "link": settings.privacy.privacy_url}
    return OperationResult(ok=True, code="privacy", data=data)


async def export(context: OperationContext, request: Request) -> OperationResult:
    """Everything that is kept about a viewer, as JSON."""
    who = request.target
    person = await personal_data.export_person(context.db, who.id) if who.id is not None else {}
    if who.id is None or not person:
        return OperationResult(ok=False, code="nothing_held", target=who)
    rows = await personal_data.export_rows(context.db, who.id)
    return OperationResult(
        ok=True,
        code="exported",
        data={"person": person, "exported_at": iso(context.clock.now()), **rows},
        target=who,
    )


async def fun(context: OperationContext, request: Request) -> OperationResult:
    """Take part in fun moderation, or not: only ever the one who types it."""
    choice = request.text("on|off")
    if choice:
        async with context.db.write() as tx:
            await viewers.set_fun(tx, request.asker.viewer_id, context.clock.now(), takes_part=choice == "on")
    return OperationResult(ok=True, code=f"fun_{choice}" if choice else "fun")
