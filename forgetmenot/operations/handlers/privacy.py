"""The handlers of a viewer's privacy requests: erase, opt out, opt in, export, what is kept.

They work in every mode and without a model. Nothing is erased unless it was confirmed, and an erasure that was promised
in chat is finished even if the program stops (privacy/erasure.Eraser.erase_due).
"""

from msgspec.structs import asdict

from forgetmenot.clock import iso
from forgetmenot.domain import OperationResult
from forgetmenot.operations.entries import (
    ANYBODY,
    CLI,
    DOCK,
    VIEWER,
    VIEWER_OR_UNSEEN,
    flag_parameter,
    text_parameter,
)
from forgetmenot.operations.types import Operation, Refused, Request
from forgetmenot.people.exclusion import Exclusion
from forgetmenot.privacy.erasure import ErasureReport
from forgetmenot.privacy.receipt_search import (
    code_typed,
    places_for_chat,
    search_again,
)
from forgetmenot.store import data_export, personal_data, viewers

# Seconds after which the answer in chat is that the erasure is under way.
LONGEST_ERASURE_S = 10.0


async def erase(request: Request) -> OperationResult:
    """Erase everything about a viewer, once that is confirmed."""
    viewer_id = _viewer_id(request)
    # Chat gets an answer in seconds, also where a large data folder is searched. The dock and the command line wait for
    # the report.
    if request.is_in_chat and request.flag("confirm"):
        return await _erase_from_chat(request, viewer_id)
    target = request.target
    await request.context.flush()
    if not await personal_data.is_known(request.db, viewer_id):
        return OperationResult(ok=False, code="memory_empty", target=target)
    if not request.flag("confirm"):
        typed = "" if target.own else f"{target.name} "
        return OperationResult(
            ok=False,
            code="erase_unconfirmed",
            data={"typed": typed},
            target=target,
        )
    report = await request.context.eraser.erase(viewer_id)
    return _erased(request, report)


async def _erase_from_chat(request: Request, viewer_id: str) -> OperationResult:
    """Begin an erasure and wait some seconds; one that takes longer runs on beside the answer."""
    target = request.target
    # Their present name may not be stored yet: the line that asks is the first with it.
    own_login = request.asker.login if target.own else ""
    is_known = await request.context.privacy.erase(viewer_id, own_login)
    if not is_known:
        return OperationResult(ok=False, code="memory_empty", target=target)
    eraser = request.context.eraser
    report = None
    if eraser.is_begun(viewer_id):
        report = await eraser.report_of(viewer_id, LONGEST_ERASURE_S)
    # No report: it takes longer, or waits for the erasure of somebody else. Not wiped: deleted bytes are still in the
    # database's file, because another program is reading it.
    if report is None or not report.wiped:
        code = eraser.receipt_of(viewer_id) if report is None else report.receipt
        return OperationResult(
            ok=True,
            code="erasing",
            data={"receipt_code": code.upper()},
            target=target,
        )
    return _erased(request, report)


def _erased(request: Request, report: ErasureReport) -> OperationResult:
    """Return the result of an erasure that is done, with the figures of its report."""
    megabytes = round(report.bytes / 1e6, 1)
    code = report.receipt.upper()
    data = {**asdict(report), "mb": megabytes, "receipt_code": code}
    return OperationResult(
        ok=True,
        code="erased",
        data=data,
        target=request.target,
    )


def _viewer_id(request: Request) -> str:
    """Return the id of the viewer whom the request is about. Raises Refused if it is about the channel."""
    if request.target.id is None:
        raise Refused("unknown_viewer", name="channel")
    return request.target.id


async def opt_out(request: Request) -> OperationResult:
    """Store nothing of a viewer from now on; what is known of them is neither shown nor used."""
    viewer_id = _viewer_id(request)
    await request.context.privacy.opt_out(viewer_id)
    await request.context.refresh()
    data = {"viewer": viewer_id}
    return OperationResult(
        ok=True,
        code="opted_out",
        data=data,
        target=request.target,
    )


async def opt_in(request: Request) -> OperationResult:
    """Remember a viewer again. A bot or an ignored viewer stays ignored, and the result says so."""
    target = request.target
    viewer_id = _viewer_id(request)
    had_opted_out = await request.context.privacy.opt_in(viewer_id)
    if had_opted_out:
        await request.context.refresh()
    viewer = await viewers.get(request.db, viewer_id)
    login = target.name if viewer is None else viewer.login
    exclusion = Exclusion(memory=request.settings.memory)
    if exclusion.of_account(viewer_id, login) is not None:
        code = "account_ignored"
    elif had_opted_out:
        code = "opted_in"
    elif viewer is None and not target.own:
        raise Refused("unknown_viewer", name=target.name)
    else:
        code = "was_not_opted_out"
    data = {"viewer": viewer_id}
    return OperationResult(ok=True, code=code, data=data, target=target)


async def receipt(request: Request) -> OperationResult:
    """Show a receipt, and search again for what it says is gone.

    In chat it searches for the asker, in the dock and on the command line for the viewer whom the streamer names.
    Raises Refused if no receipt has this code, or if the asker tried too many codes.
    """
    service = request.context.privacy
    asker = request.asker
    limiter = service.code_limiter
    if request.is_in_chat and not limiter.allows(asker.viewer_id, request.now):
        raise Refused("too_many_codes")
    stored_receipt = await service.receipt(code_typed(request.text("code")))
    if stored_receipt is None:
        raise Refused("no_receipt")
    target = request.target
    viewer_id = target.id or ""
    names = await _names_to_search_for(request, viewer_id)
    # One search at a time, because each reads every file.
    async with service.searching:
        search = await search_again(request.db, stored_receipt, viewer_id, names)
    if request.is_in_chat:
        # A message has no room for paths, and viewers need not see the streamer's.
        search.traces = places_for_chat(search.traces)
        search.newer = places_for_chat(search.newer)
    data = {
        "receipt": stored_receipt.kind,
        "receipt_code": stored_receipt.code.upper(),
        "day": iso(stored_receipt.day)[:10],
        "finished": stored_receipt.is_finished,
        "removed": sum(stored_receipt.removed.values()),
        "named": bool(viewer_id),
        **asdict(search),
        "mb": round(search.bytes / 1e6, 1),
    }
    if request.is_in_chat:
        data["max_chars"] = request.settings.reply.max_chars
    return OperationResult(
        ok=True,
        code="receipt",
        data=data,
        target=target,
    )


async def _names_to_search_for(request: Request, viewer_id: str) -> list[str]:
    """Return the names of the viewer whom a receipt is searched again for; none where no viewer is named."""
    target = request.target
    names = await personal_data.names_of(request.db, viewer_id)
    if target.own:
        # Nothing is stored of a person who was erased, so their names are those that Twitch sends with the line.
        names += [request.asker.login, request.asker.display_name]
    elif viewer_id:
        names.append(target.name)
    return names


async def privacy(request: Request) -> OperationResult:
    """Return what is kept, with the streamer's link."""
    settings = request.settings
    data = {
        "hours": f"{settings.memory.raw_events_h:g}",
        "link": settings.privacy.privacy_url,
    }
    return OperationResult(ok=True, code="privacy", data=data)


async def export(request: Request) -> OperationResult:
    """Return everything that is kept about a viewer, as JSON."""
    target = request.target
    rows = {}
    if target.id is not None:
        rows = await data_export.export(request.db, target.id)
    if not rows or not rows["person"]:
        return OperationResult(ok=False, code="memory_empty", target=target)
    data = {"exported_at": iso(request.now), **rows, "person": rows["person"][0]}
    return OperationResult(
        ok=True,
        code="exported",
        data=data,
        target=target,
    )


OPERATIONS = (
    Operation(
        "erase",
        ANYBODY | DOCK | CLI,
        erase,
        params=(VIEWER, flag_parameter("confirm")),
        chat=("!forgetme [viewer] [confirm]", "!forget me [viewer] [confirm]"),
        examples=("!forgetme yes", "forgetmenot viewer erase alice --yes"),
        waits=True,
    ),
    Operation(
        "opt_out",
        ANYBODY | DOCK | CLI,
        opt_out,
        params=(VIEWER_OR_UNSEEN,),
        chat=("!optout [viewer]",),
        examples=("!optout", "forgetmenot viewer optout alice"),
        waits=True,
    ),
    Operation(
        "opt_in",
        ANYBODY | DOCK | CLI,
        opt_in,
        params=(VIEWER_OR_UNSEEN,),
        chat=("!optin [viewer]",),
        examples=("!optin", "forgetmenot viewer optin alice"),
        waits=True,
    ),
    Operation(
        "receipt",
        ANYBODY | DOCK | CLI,
        receipt,
        params=(text_parameter("code"), VIEWER_OR_UNSEEN),
        chat=("!receipt <code>",),
        examples=("!receipt bcdfgh", "forgetmenot viewer receipt bcdfgh"),
        leaves_nothing=True,
    ),
    Operation(
        "privacy",
        ANYBODY,
        privacy,
        params=(text_parameter("question", optional=True),),
        chat=("!privacy [question]",),
        examples=("!privacy",),
    ),
    Operation("export", DOCK | CLI, export, params=(VIEWER,)),
)
