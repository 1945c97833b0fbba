"""The handlers that make notes: remember, correct, and a running joke that came up.

operations/run has checked who may ask; whom the note is about is decided here. Raises FactRefused for what the memory's
rules refuse; `run` makes it a result.
"""

from msgspec.structs import replace

from forgetmenot.domain import OperationResult, Scope, SourceKind, Surface, Target
from forgetmenot.errors import FactRefused
from forgetmenot.memory import edits
from forgetmenot.memory.merge import LIVE
from forgetmenot.operations.entries import (
    ANYBODY,
    DOCK,
    MODEL,
    TARGET,
    flag_parameter,
    number_parameter,
    text_parameter,
)
from forgetmenot.operations.handlers.text_subject import subject_and_fact
from forgetmenot.operations.handlers.which_note import note_result
from forgetmenot.operations.types import (
    Operation,
    Parameter,
    ParameterKind,
    Refused,
    Request,
)
from forgetmenot.store import notes, privacy_choices, viewers
from forgetmenot.text.mentions import defang

# A correction through the model counts like what a viewer says: ten in a stream.
OWN_WORD = edits.TellerTrust(SourceKind.SELF_CLAIM, notes_per_stream=10)


async def remember(request: Request) -> OperationResult:
    """Store a fact. In chat the text says who it is about, elsewhere the request."""
    fact = request.text("fact")
    about = request.target
    if request.is_in_chat:
        await refuse_not_stored(request)
        about, fact = await subject_and_fact(request, fact)
    elif request.asker.surface is Surface.DOCK and about.id is not None:
        # The page may have been open since before they were erased or opted out.
        viewer = await viewers.get(request.db, about.id)
        if viewer is None or viewer.opted_out:
            raise FactRefused("forgotten")
    return await store_note(request, about, fact, joke=request.flag("joke"))


async def correct(request: Request) -> OperationResult:
    """Replace a note about the asker by a new text. Both the note's number and the text are the model's."""
    asker = request.asker
    old = await notes.get(request.db, request.number("note"))
    # The number comes from a model, so it may be any note's.
    if old is None or old.status not in LIVE or old.subject_id != asker.viewer_id:
        return OperationResult(ok=False, code="nothing_found")
    note = await edits.remember(
        request.db,
        old.subject_id,
        defang(request.text("fact")),
        by=asker.viewer_id,
        at=request.now,
        scope=old.scope,
        privacy=request.settings.privacy,
        trust=OWN_WORD,
        line_id=asker.line_id,
        instead_of=old.id,
    )
    return await note_result(request, "remembered", note)


async def flag_joke(request: Request) -> OperationResult:
    """Record that a running joke came up; this weighs less than what a viewer states."""
    return await store_note(request, Target(), request.text("text"), joke=True)


async def refuse_not_stored(request: Request) -> None:
    """Raise Refused where nothing from this asker is stored: they opted out, or are unknown."""
    if request.asker.viewer_id in await privacy_choices.opted_out(request.db):
        raise Refused("you_opted_out")
    if await viewers.get(request.db, request.asker.viewer_id) is None:
        raise Refused("not_stored")


async def store_note(
    request: Request,
    about: Target,
    fact: str,
    *,
    joke: bool = False,
) -> OperationResult:
    """Store a fact about a viewer or the channel, by the asker's word. Raises FactRefused."""
    asker = request.asker
    is_by_model = asker.surface is Surface.MODEL
    trust = edits.VIEWER_TRUST
    # Through the model a moderator's word weighs like a viewer's: it may have been talked into it.
    if asker.moderates and not is_by_model:
        trust = edits.TRUSTED
    # Nobody stated it: the model saw a joke come up.
    if joke and is_by_model:
        trust = trust._replace(source=SourceKind.OBSERVED)
    note = await edits.remember(
        request.db,
        about.id,
        defang(fact),
        by=asker.viewer_id,
        at=request.now,
        scope=_scope_of(about, joke=joke),
        privacy=request.settings.privacy,
        trust=trust,
        line_id=asker.line_id,
    )
    result = await note_result(request, "remembered", note)
    return replace(result, target=about)


def _scope_of(about: Target, *, joke: bool) -> Scope:
    """Return the kind of a note by whom it is about."""
    if about.id is not None:
        return Scope.VIEWER
    return Scope.RUNNING_BIT if joke else Scope.CHANNEL


OPERATIONS = (
    Operation(
        "remember",
        ANYBODY | DOCK | MODEL,
        remember,
        params=(Parameter("fact", ParameterKind.TEXT), TARGET, flag_parameter("joke")),
        chat=("!remember <fact>", "!remember that <fact>"),
        examples=("!remember I play drums",),
        edits_memory=True,
    ),
    Operation(
        "correct",
        MODEL,
        correct,
        params=(number_parameter("note"), text_parameter("fact")),
    ),
    Operation("bit", MODEL, flag_joke, params=(text_parameter("text"),)),
)
