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
from forgetmenot.store import channel_state, episodes, streams, viewers
from forgetmenot.store.database import Source
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import defang, ids_in, with_names
from forgetmenot.text.words import sentences_of

# Characters, more than any has: a summary has 200 words at most, a recap 150.
LONGEST_SUMMARY = 2_000
_TEXT = Parameter(
    "text", ParameterKind.TEXT, maximum=LONGEST_SUMMARY, default="", optional=True
)
# the text that the form was opened with
_SHOWN = Parameter(
    "shown", ParameterKind.TEXT, maximum=LONGEST_SUMMARY, default="", optional=True
)


async def edit_summary(request: Request) -> OperationResult:
    """Store the streamer's text in place of a summary; an empty one removes what it says."""
    episode_id = request.number("id")
    async with request.db.write() as tx:
        stored_text = await episodes.summary_of(tx, episode_id)
        text = await _corrected(request, tx, stored_text)
        is_stored = await episodes.set_summary(tx, episode_id, text or NOTHING)
        if not is_stored:
            raise Refused("no_summary")
        # so that an erasure of somebody who is named now finds it
        named_ids = await viewers.may_be_stored(tx, ids_in(text))
        named = [(episode_id, viewer_id) for viewer_id in named_ids]
        await episodes.add_people(tx, named)
    return OperationResult(ok=True, code="summary_edited")


async def edit_recap(request: Request) -> OperationResult:
    """Store the streamer's text in place of a stream's recap; an empty one removes the recap."""
    stream_id = request.number("id")
    async with request.db.write() as tx:
        stored_text = await streams.recap_of(tx, stream_id)
        text = await _corrected(request, tx, stored_text)
        is_stored = await streams.correct_recap(tx, stream_id, text, request.now)
        if not is_stored:
            raise Refused("no_summary")
        # The digest quotes the recaps of a week. It is made again in the next pass.
        without_digest = {DIGEST: "", DIGEST_HASH: ""}
        await channel_state.put(tx, without_digest, request.now)
    return OperationResult(ok=True, code="summary_edited")


async def _corrected(request: Request, source: Source, stored_text: str) -> str:
    """Return the text that was typed, with ids in the place of names.

    A sentence that was left as it was shown is the stored one: in the place of somebody hidden it shows "somebody".
    Raises Refused if there is no stored text, or if it is not what was shown: somebody who was named in it may have
    been erased since.
    """
    if not stored_text:
        raise Refused("no_summary")
    people = frozenset(ids_in(stored_text))
    hidden_people = await viewers.hidden(source, people)
    shown_names = await viewers.names_as_asked(source, people - hidden_people)
    shown_text = clean(request.text("shown"))
    present_text = clean(with_names(stored_text, shown_names))
    if shown_text and shown_text != present_text:
        raise Refused("summary_changed")
    text = defang(clean(request.text("text")))
    for sentence in sentences_of(stored_text):
        shown_sentence = with_names(sentence, shown_names)
        text = text.replace(shown_sentence, sentence)
    return await with_mentions(source, text)


_PARAMS = (ID, _TEXT, _SHOWN)
OPERATIONS = (
    Operation("edit_summary", DOCK, edit_summary, params=_PARAMS, edits_memory=True),
    Operation("edit_recap", DOCK, edit_recap, params=_PARAMS, edits_memory=True),
)
