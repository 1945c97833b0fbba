"""The handlers that correct what is written of a stream: a summary, or the recap.

Replies read both, and a model may have been wrong. Names that are typed are stored as ids.
"""

from forgetmenot.domain import NOTHING, OperationResult
from forgetmenot.memory.edits import with_mentions
from forgetmenot.memory.stream_recap import DIGEST, DIGEST_HASH
from forgetmenot.operations.entries import DOCK, ID
from forgetmenot.operations.types import (
    Operation,
    Parameter,
    ParameterKind,
    Refused,
    Request,
)
from forgetmenot.store import channel_state, episodes, streams
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import defang, ids_in

# A summary has 150 words at most, and so has a recap.
LONGEST_SUMMARY = 2_000
_TEXT = Parameter(
    "text", ParameterKind.TEXT, maximum=LONGEST_SUMMARY, default="", optional=True
)


async def edit_summary(request: Request) -> OperationResult:
    """Store the streamer's text in place of a summary; an empty one removes what it says."""
    text = await _typed_text(request)
    episode_id = request.number("id")
    async with request.db.write() as tx:
        is_stored = await episodes.set_summary(tx, episode_id, text or NOTHING)
        if not is_stored:
            raise Refused("no_summary")
        # so that an erasure of somebody who is named now finds it
        named = [(episode_id, viewer_id) for viewer_id in ids_in(text)]
        await episodes.add_people(tx, named)
    return OperationResult(ok=True, code="summary_edited")


async def edit_recap(request: Request) -> OperationResult:
    """Store the streamer's text in place of a stream's recap; an empty one removes the recap."""
    text = await _typed_text(request)
    async with request.db.write() as tx:
        is_stored = await streams.correct_recap(
            tx, request.number("id"), text, request.now
        )
        if not is_stored:
            raise Refused("no_summary")
        # The digest quotes the recaps of a week. It is made again in the next pass.
        without_digest = {DIGEST: "", DIGEST_HASH: ""}
        await channel_state.put(tx, without_digest, request.now)
    return OperationResult(ok=True, code="summary_edited")


async def _typed_text(request: Request) -> str:
    """Return the text that was typed, with ids in the place of names."""
    typed = clean(request.text("text"))
    return await with_mentions(request.db, defang(typed))


OPERATIONS = (
    Operation(
        "edit_summary", DOCK, edit_summary, params=(ID, _TEXT), edits_memory=True
    ),
    Operation("edit_recap", DOCK, edit_recap, params=(ID, _TEXT), edits_memory=True),
)
