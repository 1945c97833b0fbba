"""Where a note comes from: its fact, whose word it is, the episodes it rests on, what it replaced, where it was used.

Promises names as they are now, in every text. It only reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from forgetmenot.clock import iso
from forgetmenot.domain.memory import Note, Scope, SourceKind
from forgetmenot.store import bot_messages, evidence, notes, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.evidence import Word
from forgetmenot.store.notes import Change
from forgetmenot.text.mentions import ids_in, show

_WHOSE = {
    SourceKind.COMMAND: "somebody asked for it to be remembered",
    SourceKind.IMPORT: "it was imported",
    SourceKind.SELF_CLAIM: "they said it themselves",
    SourceKind.OBSERVED: "several people saw or said it",
    SourceKind.REPORTED: "somebody else said it about them",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that is known about a note. `replies`: the bot's messages that had it in their prompt, with time."""

    note: Note
    evidence: list[Word]
    history: list[Change]
    replaced: list[Note]
    replaced_by: Note | None
    replies: list[tuple[int, int]]
    streams: tuple[int, ...]
    names: dict[str, str]


async def explain(db: Database, note_id: int) -> Explanation | None:
    """The whole chain of one note; None if there is no such note."""
    note = await notes.get(db, note_id)
    if note is None:
        return None
    chain = await evidence.chain(db, note_id)
    replaced = await notes.superseded_by(db, note_id)
    successor = await notes.get(db, note.superseded_by) if note.superseded_by is not None else None
    everybody = [note, *replaced, *([successor] if successor is not None else [])]
    return Explanation(
        note=note,
        evidence=chain,
        history=await notes.changes(db, note_id),
        replaced=replaced,
        replaced_by=successor,
        replies=await bot_messages.with_note(db, note_id),
        streams=(await evidence.streams_of(db, [note_id])).get(note_id, ()),
        names=await names_for(db, everybody, chain),
    )


async def names_for(db: Database, about: Sequence[Note], chain: Sequence[Word] = ()) -> dict[str, str]:
    """The present names of everybody whom notes and their evidence speak of."""
    people = {note.subject_id for note in about if note.subject_id is not None}
    people.update(word.speaker_id for word in chain if word.speaker_id is not None)
    for text in (*(note.fact for note in about), *(word.episode.summary for word in chain)):
        people.update(ids_in(text))
    return await viewers.names(db, sorted(people))


def in_words(told: Explanation) -> str:
    """The chain for a person to read."""
    note = told.note
    lines = [f"#{note.id} {_about(note, told.names)}: {show(note.fact, told.names)}"]
    lines.append(f"  {note.status.value}, confidence {note.confidence:.2f}; {_WHOSE[note.source_kind]}")
    if note.persona:
        lines.append(f"  known to the persona {note.persona} alone, and to those that inherit from it")
    if note.scope is Scope.RUNNING_BIT and told.streams:
        lines.append(f"  came up in {len(told.streams)} stream{'s' if len(told.streams) > 1 else ''}")
    lines += [_evidence_line(word, told.names) for word in told.evidence]
    lines += [f"  replaced #{old.id}: {show(old.fact, told.names)}" for old in told.replaced]
    if told.replaced_by is not None:
        lines.append(f"  replaced by #{told.replaced_by.id}: {show(told.replaced_by.fact, told.names)}")
    lines += [f"  {iso(one.at)} {one.from_status or 'new'} → {one.to_status}: {one.cause}" for one in told.history]
    lines += [f"  {iso(at)} used in reply {reply}" for reply, at in told.replies]
    return "\n".join(lines)


def _about(note: Note, names: dict[str, str]) -> str:
    if note.scope is Scope.VIEWER:
        return names.get(note.subject_id or "", "somebody")
    return "the channel" if note.scope is Scope.CHANNEL else "a running bit"


def _evidence_line(word: Word, names: dict[str, str]) -> str:
    who = names.get(word.speaker_id, "somebody") if word.speaker_id is not None else "nobody in particular"
    how = "to the bot" if word.addressed else "in chat"
    stream = f"stream {word.episode.stream_id}" if word.episode.stream_id is not None else "outside a stream"
    text = show(word.episode.summary, names)
    return f"  {iso(word.at)} {word.stance} by {who} {how} (episode {word.episode.id}, {stream}): {text}"
