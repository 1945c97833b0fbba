"""The handlers of a viewer's rights: erase, opt out, opt in, export, what is kept.

They work in every mode and without a model. Nothing is erased unless it was confirmed, and an erasure that was promised
in chat is finished even if the program stops (privacy/erasure.Eraser.erase_due).
"""

from msgspec.structs import asdict

from forgetmenot.clock import iso
from forgetmenot.domain import OperationResult, Surface
from forgetmenot.operations.run import Refused
from forgetmenot.operations.types import (
    OperationContext,
    Request,
)
from forgetmenot.privacy.erasure import ErasureReport
from forgetmenot.store import personal_data, viewers

# After that chat is answered that it is under way.
LONGEST_ERASURE_S = 10.0


async def erase(context: OperationContext, request: Request) -> OperationResult:
    """Erase everything about a viewer. One that takes long runs on beside the answer in chat."""
    who, viewer_id = request.target, _person(request)
    if request.asker.surface is Surface.CHAT and request.flag("confirm"):
        if not await context.rights.erase(viewer_id, request.asker.login if who.own else ""):
            return OperationResult(ok=False, code="memory_empty", target=who)
        if not context.eraser.is_begun(viewer_id):
            return OperationResult(ok=True, code="erasing", target=who)
        found = await context.eraser.report_of(viewer_id, LONGEST_ERASURE_S)
        if (
            found is None or not found.wiped
        ):  # somebody else's comes first, or another program reads the file
            return OperationResult(ok=True, code="erasing", target=who)
        return OperationResult(ok=True, code="erased", data=_figures(found), target=who)
    await context.flush()
    if not await personal_data.is_known(context.db, viewer_id):
        return OperationResult(ok=False, code="memory_empty", target=who)
    if not request.flag("confirm"):
        typed = "" if who.own else f"{who.name} "
        return OperationResult(
            ok=False, code="erase_unconfirmed", data={"typed": typed}, target=who
        )
    report = await context.eraser.erase(viewer_id)
    return OperationResult(ok=True, code="erased", data=_figures(report), target=who)


def _figures(report: ErasureReport) -> dict[str, object]:
    return {**asdict(report), "mb": round(report.bytes / 1e6, 1)}


def _person(request: Request) -> str:
    """The id of the viewer that it is about. Raises Refused: it is about the channel."""
    if request.target.id is None:
        raise Refused("unknown_viewer", name="channel")
    return request.target.id


async def opt_out(context: OperationContext, request: Request) -> OperationResult:
    """Store nothing of a viewer from now on; what is known of them is neither shown nor used."""
    viewer_id = _person(request)
    await context.rights.opt_out(viewer_id)
    await context.refresh()
    return OperationResult(
        ok=True, code="opted_out", data={"viewer": viewer_id}, target=request.target
    )


async def opt_in(context: OperationContext, request: Request) -> OperationResult:
    """Remember a viewer again."""
    who, viewer_id = request.target, _person(request)
    was_out = await context.rights.opt_in(viewer_id)
    if was_out:
        await context.refresh()
    elif not who.own and await viewers.get(context.db, viewer_id) is None:
        raise Refused("unknown_viewer", name=who.name)
    return OperationResult(ok=True, code="opted_in", data={"viewer": viewer_id}, target=who)


async def privacy(context: OperationContext, _request: Request) -> OperationResult:
    """What is kept, with the streamer's link."""
    settings = context.settings()
    data = {"hours": f"{settings.memory.raw_events_h:g}", "link": settings.privacy.privacy_url}
    return OperationResult(ok=True, code="privacy", data=data)


async def export(context: OperationContext, request: Request) -> OperationResult:
    """Everything that is kept about a viewer, as JSON."""
    who = request.target
    rows = await personal_data.export(context.db, who.id) if who.id is not None else {}
    if not rows or not rows["person"]:
        return OperationResult(ok=False, code="memory_empty", target=who)
    held = {"exported_at": iso(context.clock.now()), **rows, "person": rows["person"][0]}
    return OperationResult(ok=True, code="exported", data=held, target=who)
