"""The handlers that change a note: forget, edit, retract, restore, pin.

operations/run has checked who may ask; whether the note is theirs to change is checked here. Raises FactRefused for
what the memory's rules refuse; `run` makes it a result.
"""

import re
from functools import partial

from msgspec.structs import replace

from forgetmenot.domain import Note, NoteStatus, OperationResult, SourceKind, Target
from forgetmenot.errors import FactRefused
from forgetmenot.memory import edits, own_words
from forgetmenot.memory.compare_facts import Relation, relate
from forgetmenot.memory.merge import LIVE
from forgetmenot.operations.entries import (
    ANYBODY,
    CLI,
    DOCK,
    ID,
    ID_OR_LAST,
    MODEL,
    TARGET,
    text_parameter,
)
from forgetmenot.operations.handlers.notes import refuse_not_stored, store_note
from forgetmenot.operations.handlers.text_subject import (
    subject_and_fact,
    subject_and_rest,
)
from forgetmenot.operations.handlers.which_note import (
    find_notes,
    may_change,
    note_result,
    notes_just_removed,
    notes_just_used,
    only_note,
    quoted,
    removal_cause,
)
from forgetmenot.operations.targets import own_target, owner
from forgetmenot.operations.types import Operation, Refused, Request
from forgetmenot.store import channel_state, notes
from forgetmenot.text.chat_commands import own_fact
from forgetmenot.text.corrections import (
    Amendment,
    amendment,
    changed_fact,
    is_about_object,
)
from forgetmenot.text.mentions import defang
from forgetmenot.text.words import topic_stems, words

_PERMANENTLY = re.compile(
    r"\s*\b(?:permanently|forever|for good|endgültig|für immer)\s*[.!]*\Z",
    re.IGNORECASE,
)
# Words that mean the note that the bot has just used.
_THAT = re.compile(
    r"(?:that|it|this|das|es|dies)(?: (?:one|note))?|die notiz", re.IGNORECASE
)
_NUMBER = re.compile(
    r"(?:(?:note|number|no|nr|notiz|nummer)\.? ?)?#?(\d{1,15})", re.IGNORECASE
)


# ── forget ────────────────────────────────────────────────────────────────────────────────────


async def forget(request: Request) -> OperationResult:
    """Remove the one note that the words, the number or "that" mean; permanently where its subject asks for that."""
    asker = request.asker
    about = request.target
    typed = request.text("what")
    if request.is_in_chat:
        about, typed = await subject_and_rest(request, typed)
    # "!forget drums!" means the drums.
    typed = typed.rstrip(" .!?")
    topic = _PERMANENTLY.sub("", typed)
    permanently = topic != typed
    typed_number = _NUMBER.fullmatch(topic)
    if typed_number is not None:
        topic = typed_number[1]
    if not topic_stems(topic) or _THAT.fullmatch(topic):
        matches = await notes_just_used(request)
    else:
        matches = await find_notes(request, about, topic, past=permanently)
        if not matches:
            raise _nothing_found(topic, about)
    note = await only_note(request, matches, "!forget {}")
    is_own = note.subject_id is not None and note.subject_id == asker.viewer_id
    # Only the subject of a note can have it deleted permanently. What anybody else removes can be restored.
    if not is_own or not permanently:
        return await _retract(request, note.id, own=is_own)
    # The result quotes the note, so it is made before the note is gone.
    result = await note_result(request, "forgotten", note)
    code = await request.context.privacy.forget(note.id)
    return replace(result, data={**result.data, "receipt_code": code.upper()})


def _nothing_found(topic: str, about: Target) -> Refused:
    number = topic.strip().removeprefix("#")
    if number.isdecimal():
        return Refused("no_note", id=number)
    return Refused("nothing_found", about)


# ── edit ──────────────────────────────────────────────────────────────────────────────────────


async def edit(request: Request) -> OperationResult:
    """Correct a note: its subject and moderators may; the old version stays in its history.

    Which note is meant, if no number is typed: "it" is the one that was just removed or used; else the one that the new
    fact contradicts ("lives in Oslo" for "lives in Bergen"); else those that have a word of what is typed. Where none
    fits, the text becomes a new note.
    """
    typed = defang(request.text("text"))
    if request.is_in_chat:
        await refuse_not_stored(request)
    if not request.asker.viewer_id:
        # A note needs somebody who said it. On the command line that is the streamer.
        login = await channel_state.read(request.db, "login") or ""
        streamer = await owner(request.db, request.asker.surface, login, request.now)
        request = replace(request, asker=streamer)
    if request.number("id"):
        return await _edit_numbered(request, typed)
    about = own_target(request.asker)
    rest = typed
    if typed.startswith("@") or request.asker.moderates:
        named, rest_behind_name = await subject_and_rest(request, typed)
        # A text about the channel is kept whole: "stream starts at 8".
        if named.id is not None:
            about = named
            rest = rest_behind_name
    change = amendment(rest)
    matches = await _notes_to_edit(request, about, change)
    # No note fits, and a single word is no fact that could become a new note.
    if not matches and len(words(change.right)) < 2:
        raise Refused("whole_note", command="!edit")
    # "change it to …" means a note that is there: without one, `only_note` refuses it.
    if not matches and not change.says_it:
        return await _added(request, about, rest)
    note = await only_note(request, matches, "!edit {} " + change.right)
    return await _edited(request, note, change)


async def _edit_numbered(request: Request, typed: str) -> OperationResult:
    """Correct the note of the typed number."""
    note = await _note_to_edit(request)
    change = amendment(typed)
    if not request.is_in_chat:
        # The dock and the command line send the whole new text, not a part to replace.
        change = Amendment(typed, sentence=typed)
    return await _edited(request, note, change)


async def _note_to_edit(request: Request) -> Note:
    """Return the note of the typed number. Raises Refused where it is not theirs to change, and FactRefused."""
    note_id = request.number("id")
    note = await notes.get(request.db, note_id)
    if note is None and not request.is_in_chat:
        raise FactRefused("not_found")
    # The same answer in both cases, so that nobody learns whether somebody else has that note.
    if note is None or not may_change(request.asker, note):
        raise Refused("no_note", id=note_id)
    if request.is_in_chat:
        return await _present_version(request, note)
    return note


async def _present_version(request: Request, note: Note) -> Note:
    """Return the note that a replaced one became, which has another number; the note itself if it was removed.

    Chat still shows the number under which somebody's note was stored.
    """
    present = note
    seen_ids = {note.id}
    while present.status is NoteStatus.SUPERSEDED and present.superseded_by is not None:
        successor = await notes.get(request.db, present.superseded_by)
        if successor is None or successor.id in seen_ids:
            return note
        seen_ids.add(successor.id)
        present = successor
    if present.status in LIVE and may_change(request.asker, present):
        return present
    return note


async def _notes_to_edit(
    request: Request,
    about: Target,
    change: Amendment,
) -> list[Note]:
    """Return the notes that a correction without a number may mean."""
    if change.says_it:
        return await _notes_meant_by_it(request, about, change)
    new_fact = own_fact(change.sentence) or change.sentence
    known = await notes.of_subject(request.db, about.id, LIVE)
    # "lives in Oslo" corrects "lives in Bergen": both cannot be true.
    contradicted = [
        note for note in known if relate(note.fact, new_fact) is Relation.CONFLICT
    ]
    if contradicted:
        return contradicted
    if change.wrong:
        matches = await find_notes(request, about, change.wrong)
        if matches:
            return matches
    # Words around the new value may name the note too: "plays bass" means "plays drums".
    return await find_notes(request, about, f"{change.right} {change.wrong}")


async def _notes_meant_by_it(
    request: Request,
    about: Target,
    change: Amendment,
) -> list[Note]:
    """Return the notes that "it" may mean: of those just removed or used, the ones that have the wrong value."""
    recent = await notes_just_removed(request)
    if not recent:
        recent = await notes_just_used(request)
    if not recent and change.wrong:
        return await find_notes(request, about, change.wrong)
    if len(recent) < 2:
        return recent
    wrong_words = set(words(change.wrong))
    if not wrong_words:
        return recent
    matches = [note for note in recent if wrong_words <= set(words(note.fact))]
    return matches or recent


async def _edited(
    request: Request,
    old: Note,
    change: Amendment,
) -> OperationResult:
    """Replace a note by its corrected text; the result shows the new text and the old one."""
    asker = request.asker
    now = request.now
    text = await _corrected_text(request, old, change)
    fact = await edits.with_mentions(request.db, text)
    async with request.db.write() as tx:
        # "that's wrong" has removed it; to "change it to …", it has to be restored first.
        if old.status is NoteStatus.RETRACTED and change.says_it:
            await edits.undo(tx, old.id, at=now)
        note = await edits.edit(
            tx,
            old.id,
            fact,
            by=asker.viewer_id,
            at=now,
            privacy=request.settings.privacy,
            links=asker.moderates or not request.is_in_chat,
            line_id=asker.line_id,
        )
    before = await quoted(request, old)
    result = await note_result(request, "edited", note)
    return replace(result, data={**result.data, "was": before["fact"]})


async def _corrected_text(
    request: Request,
    old: Note,
    change: Amendment,
) -> str:
    """Return how a note reads after a correction.

    That is its own text with the new value, else the sentence that was typed, else a model's wording of both. Raises
    Refused if that takes a model and there is no wording: then the whole note must be typed.
    """
    sentence = change.sentence
    if not request.is_in_chat:
        return sentence
    # The answer shows the note. A rumour with one word changed would read aloud what others say of somebody.
    is_rumour = old.source_kind is SourceKind.REPORTED
    changed = None if is_rumour else changed_fact(old.fact, change)
    if changed is not None:
        return changed
    is_sentence = len(words(sentence)) > 1
    # What is typed about the channel has no "I" that would have to be reworded.
    if is_sentence and old.subject_id is None:
        return sentence
    if is_sentence and not is_about_object(old.fact, sentence):
        fact = own_fact(sentence)
        if fact is not None:
            return fact
        if old.subject_id != request.asker.viewer_id:
            return sentence
        if own_words.is_foreign(sentence):
            return sentence
    # What is left needs a model: a single word ("blue"), or a sentence about a thing of the note ("it is Max").
    typed = await edits.with_mentions(request.db, sentence)
    written = None if is_rumour else await request.context.reword(old.fact, typed)
    if written is None:
        raise Refused("whole_note", command=f"!edit {old.id}")
    return written


async def _added(
    request: Request,
    about: Target,
    fact: str,
) -> OperationResult:
    """Store a correction as a new note, because no note fits it."""
    if about.own and request.asker.moderates:
        # A moderator's text may be about the channel or another viewer: it is read as `!remember` reads it.
        about, fact = await subject_and_fact(request, fact)
    elif about.own:
        # "I live in Oslo" is stored as "lives in Oslo"; any other text as it is.
        fact = own_fact(fact) or fact
    stored = await store_note(request, about, fact)
    return replace(stored, code="edit_added")


# ── retract, restore, pin ─────────────────────────────────────────────────────────────────────


async def retract(request: Request) -> OperationResult:
    """Remove a note from use; it keeps its text and can be restored."""
    return await _retract(request, request.number("id"))


async def _retract(
    request: Request,
    note_id: int,
    *,
    own: bool = False,
) -> OperationResult:
    """Remove a note from use; it can be brought back. `own`: its subject asks. Raises FactRefused."""
    cause = removal_cause(request.asker)
    note = await edits.retract(
        request.db, note_id, at=request.now, cause=cause, own=own
    )
    code = "retracted_own" if own else "retracted"
    return await note_result(request, code, note)


async def restore(request: Request) -> OperationResult:
    """Undo the last change of a note: a removal, or a replacement (named by the old or the new note)."""
    note_id = request.number("id")
    if request.is_in_chat and not request.asker.moderates:
        await refuse_not_stored(request)
        await _refuse_foreign_note(request, note_id)
    note = await edits.undo(request.db, note_id, at=request.now)
    return await note_result(request, "restored", note)


async def _refuse_foreign_note(request: Request, note_id: int) -> None:
    """Raise Refused if a viewer may not restore a note: it is not theirs, or somebody else removed it."""
    asker = request.asker
    note = await notes.get(request.db, note_id)
    if note is None or not may_change(asker, note):
        raise Refused("no_note", id=note_id)
    if note.status is not NoteStatus.RETRACTED:
        return
    # A moderator may have removed it with a reason: that is not for its subject to undo. The last change of a
    # removed note is its removal.
    history = await notes.changes(request.db, note_id)
    removal = history[-1]
    if removal.cause != removal_cause(asker):
        raise Refused("not_yours")


async def pin(request: Request, *, pinned: bool) -> OperationResult:
    """Keep a note permanently, or let it age again."""
    note_id = request.number("id")
    await edits.pin(request.db, note_id, at=request.now, pinned=pinned)
    code = "pinned" if pinned else "unpinned"
    return OperationResult(ok=True, code=code, data={"id": note_id})


OPERATIONS = (
    Operation(
        "forget",
        ANYBODY | MODEL,
        forget,
        params=(text_parameter("what", optional=True), TARGET),
        chat=("!forget [what]", "!forget that|about <what>", "!wrong [what]"),
        examples=("!forget my drums",),
        waits=True,
    ),
    Operation(
        "edit",
        ANYBODY | DOCK | CLI,
        edit,
        params=(ID_OR_LAST, text_parameter("text")),
        chat=("!edit [id] <text>",),
        examples=("!edit 1 lives in Oslo", "forgetmenot memory edit 1 lives in Oslo"),
        edits_memory=True,
    ),
    Operation(
        "retract",
        DOCK | CLI,
        retract,
        params=(ID,),
        examples=("forgetmenot memory retract 1",),
        edits_memory=True,
    ),
    Operation(
        "restore",
        ANYBODY | DOCK | CLI,
        restore,
        params=(ID,),
        chat=("!restore <id>",),
        examples=("!restore 1", "forgetmenot memory undo 1"),
        edits_memory=True,
    ),
    Operation(
        "pin",
        DOCK | CLI,
        partial(pin, pinned=True),
        params=(ID,),
        examples=("forgetmenot memory pin 1",),
    ),
    Operation(
        "unpin",
        DOCK | CLI,
        partial(pin, pinned=False),
        params=(ID,),
        examples=("forgetmenot memory unpin 1",),
    ),
)
