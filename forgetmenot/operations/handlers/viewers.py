"""The handlers about viewers and what happened: `!memory`, `!who`, `!missed`, `!streak`."""

from collections.abc import Sequence

from forgetmenot.domain import Note, OperationResult, OutcomeKind, SourceKind
from forgetmenot.durations import DAY
from forgetmenot.languages import in_language
from forgetmenot.memory.arrival_cards import by_weight, card
from forgetmenot.memory.edits import with_mentions
from forgetmenot.memory.merge import LIVE
from forgetmenot.memory.missed import missed as what_was_missed
from forgetmenot.memory.missed import stream_so_far
from forgetmenot.memory.time_together import together_with
from forgetmenot.operations.entries import (
    ANYBODY,
    DOCK,
    MODERATORS,
    NEEDED_VIEWER_BY_ANY_NAME,
    VIEWER_BY_ANY_NAME,
    text_parameter,
)
from forgetmenot.operations.handlers.which_note import texts_with_names
from forgetmenot.operations.types import Operation, Refused, Request
from forgetmenot.privacy import suppression
from forgetmenot.store import notes, privacy_choices, streams, viewers
from forgetmenot.text.clean import clean
from forgetmenot.text.days import days_since
from forgetmenot.text.mentions import defang, ids_in

# Characters of the answer to `!missed`, and those of its beginning ("Since you were here two days ago: ").
MISSED_CHARS = 450
MISSED_LEAD = 50
# Characters of what the streamer has said of a stream so far: it leaves room for what came before.
SO_FAR_CHARS = 250
# The facts of a viewer's time here that the number of their streams in a row says already.
_KINDS_OF_STREAK = frozenset({"streak", "first"})


async def memory(request: Request) -> OperationResult:
    """Return what is known about a viewer: the name and pronouns that they chose, then the most important notes first.

    Nothing if they opted out, nothing that is suppressed.
    """
    db = request.db
    target = request.target
    nothing = OperationResult(ok=True, code="memory_empty", target=target)
    known = await notes.of_subject(db, target.id, LIVE)
    viewer = None
    if target.id is not None:
        viewer = await viewers.get(db, target.id)
    chosen = {"chosen_name": "", "pronouns": ""}
    if viewer is not None:
        chosen = {"chosen_name": viewer.chosen_name, "pronouns": viewer.pronouns}
    if not known and not any(chosen.values()):
        return nothing
    if target.id is not None:
        opted_out = await privacy_choices.opted_out(db)
        if target.id in opted_out:
            if not known:
                return nothing
            count = {"n": len(known)}
            return OperationResult(
                ok=True, code="memory_opted_out", data=count, target=target
            )
        # Nothing about a banned viewer is read aloud; the dock and the command line show it.
        if request.is_in_chat and await viewers.hidden(db, [target.id]):
            return nothing
    known.sort(key=by_weight, reverse=True)
    shown_notes = await _shown_notes(request, known)
    data = {**chosen, **shown_notes}
    return OperationResult(ok=True, code="memory", data=data, target=target)


async def _shown_notes(request: Request, known: Sequence[Note]) -> dict[str, object]:
    """Return the notes that the asker may read, as the data of the result.

    "notes" has their ids, texts and ages (ms). Of the others there are only the ids: under "hearsay" what is not read
    aloud in chat, under "suppressed" what is never mentioned.
    """
    suppression_filter = await suppression.load_filter(request.db)
    shown: list[Note] = []
    hearsay: list[int] = []
    suppressed: list[int] = []
    for note in known:
        if not suppression_filter.allows(note):
            suppressed.append(note.id)
        elif request.is_in_chat and note.source_kind is SourceKind.REPORTED:
            # what others say of somebody is not read aloud: they see that there is something, and can remove it
            hearsay.append(note.id)
        else:
            shown.append(note)
    now = request.now
    facts = await texts_with_names(request, [note.fact for note in shown])
    rows = []
    for note, fact in zip(shown, facts, strict=True):
        age = now - note.first_said_at
        rows.append((note.id, fact, age))
    return {
        "notes": rows,
        "hearsay": hearsay,
        "suppressed": suppressed,
        "max_chars": request.settings.reply.max_chars,
    }


async def who(request: Request) -> OperationResult:
    """Return who a viewer is, in one line, as the dock's card says it."""
    target = request.target
    settings = request.settings
    now = request.now
    viewer_card = None
    if target.id is not None:
        viewer_card = await card(request.db, target.id, now, now, settings)
    if viewer_card is None:
        return OperationResult(ok=True, code="memory_empty", target=target)
    # The brief of a card is made of its notes.
    for note_id in viewer_card.notes:
        note = await notes.get(request.db, note_id)
        if note is not None:
            request.named_ids.update(ids_in(note.fact))
    language = in_language(settings.bot.language)
    parts = []
    if viewer_card.who:
        # The card sets facts apart by dots, which chat reads as one line of fragments.
        facts = viewer_card.who.replace(" · ", "; ")
        parts.append(language("chat.who_known", text=facts))
    if viewer_card.lately:
        key = "page.arrivals.over" if viewer_card.over else "page.arrivals.lately"
        parts.append(language(key, text=viewer_card.lately))
    # A note may end with a full stop or without one.
    sentences = [f"{part.rstrip('.')}." for part in parts]
    data = {"n": viewer_card.streams, "text": " ".join(sentences)}
    return OperationResult(ok=True, code="who", data=data, target=target)


async def missed(request: Request) -> OperationResult:
    """Return what happened since the asker was last here, in stored sentences."""
    viewer_id = request.asker.viewer_id
    if viewer_id in await privacy_choices.opted_out(request.db):
        return OperationResult(ok=False, code="you_opted_out")
    now = request.now
    max_chars = min(request.settings.reply.max_chars, MISSED_CHARS) - MISSED_LEAD
    away = await request.db.together(
        lambda source: what_was_missed(source, viewer_id, now, max_chars)
    )
    if not away.sentences:
        return OperationResult(ok=True, code="missed_nothing")
    request.named_ids.update(away.people)
    # The answer has two parts: what happened before this stream, and this stream so far.
    before = [text for text in away.sentences if text not in away.so_far]
    data: dict[str, object] = {
        "text": " ".join(before),
        "so_far": " ".join(away.so_far),
        "evidence": away.evidence,
    }
    # Whoever was never here before missed nothing but the stream so far.
    if away.since is None:
        return OperationResult(ok=True, code="missed_newcomer", data=data)
    time_away = now - away.since
    if time_away >= 2 * DAY:
        # Days are counted by the calendar: from Friday evening to Monday morning it is three.
        time_away = DAY * days_since(away.since, now, request.settings.bot.timezone)
    data["ago"] = time_away
    return OperationResult(ok=True, code="missed", data=data)


async def so_far(request: Request) -> OperationResult:
    """Store the streamer's text on the stream so far, for `!missed`; an empty one gives it back to the summaries."""
    stream_id = await _stream_on_now(request)
    typed = clean(request.text("text"))
    text = await with_mentions(request.db, defang(typed))
    if len(text) > SO_FAR_CHARS:
        raise Refused("so_far_long", n=SO_FAR_CHARS)
    async with request.db.write() as tx:
        await streams.set_so_far(tx, stream_id, text)
    return OperationResult(ok=True, code="so_far_set")


async def pin_so_far(request: Request) -> OperationResult:
    """Say in chat what happened in the stream that is on, and pin that line."""
    await _stream_on_now(request)
    text = await stream_so_far(request.db, request.now, MISSED_CHARS - MISSED_LEAD)
    if not text:
        raise Refused("so_far_nothing")
    language = in_language(request.settings.bot.language)
    outcome = await request.context.say_and_pin(
        language("chat.missed_newcomer", text=text)
    )
    if outcome.kind is not OutcomeKind.DONE:
        raise Refused("so_far_not_pinned", reason=outcome.detail)
    return OperationResult(ok=True, code="so_far_pinned")


async def _stream_on_now(request: Request) -> int:
    """Return the id of the stream that is on. Raises Refused if none is."""
    stream_id = await streams.current_id(request.db)
    if stream_id is None:
        raise Refused("so_far_no_stream")
    return stream_id


async def streak(request: Request) -> OperationResult:
    """Return how many streams in a row a viewer came to."""
    target = request.target
    if request.asker.viewer_id in await privacy_choices.opted_out(request.db):
        return OperationResult(ok=False, code="you_opted_out")
    if target.id is None:
        raise Refused("unknown_viewer", name="channel")
    count = 0
    facts: list[str] = []
    language = in_language(request.settings.bot.language)
    # Only a hidden viewer themselves gets an answer about them.
    is_shown = target.own or not await viewers.hidden(request.db, [target.id])
    if is_shown:
        count = await streams.streak(request.db, target.id)
        together = await together_with(
            request.db, target.id, request.settings, request.now
        )
        for fact in together.facts:
            if fact.kind not in _KINDS_OF_STREAK:
                facts.append(fact.words(language))
    code = "streak_none"
    if count:
        code = "streak" if target.own else "streak_of"
    data = {"n": count, "facts": facts}
    return OperationResult(ok=True, code=code, data=data, target=target)


OPERATIONS = (
    Operation(
        "memory",
        ANYBODY,
        memory,
        params=(VIEWER_BY_ANY_NAME,),
        chat=("!memory [viewer]",),
        examples=("!memory",),
    ),
    Operation(
        "who",
        MODERATORS,
        who,
        params=(NEEDED_VIEWER_BY_ANY_NAME,),
        chat=("!who <viewer>",),
        examples=("!who alice",),
    ),
    Operation(
        "missed",
        ANYBODY,
        missed,
        chat=("!missed",),
        examples=("!missed",),
    ),
    Operation("so_far", DOCK, so_far, params=(text_parameter("text", optional=True),)),
    Operation("pin_so_far", DOCK, pin_so_far),
    Operation(
        "streak",
        ANYBODY,
        streak,
        params=(VIEWER_BY_ANY_NAME,),
        chat=("!streak [viewer]",),
        examples=("!streak",),
    ),
)
