"""The origin of a note: its fact, who said it, its episodes, what it replaced, which prompts had it.

Texts show present names. Reads only.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from forgetmenot.clock import iso
from forgetmenot.domain import Note, Scope, Video
from forgetmenot.languages import ENGLISH, Reason, reason
from forgetmenot.memory import edits, merge
from forgetmenot.store import bot_messages, notes, streams, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import REDACTED
from forgetmenot.store.notes import Change, EvidenceLink
from forgetmenot.text.mentions import ids_in, show

_CAUSES = {
    "said": "written",
    merge.REPLACES: "written",
    "import": "imported",
    "conflict": "conflict",
    merge.BROUGHT_BACK: "said_again",
    merge.REWORDED: "said_again",
    edits.UNDONE: "undone",
    REDACTED: "cleared",
}


class NoteExplanation(Struct, frozen=True):
    """The origin and uses of a note. `replies`: the bot's messages that had it in their prompt, with time."""

    note: Note
    evidence: list[EvidenceLink]
    history: list[Change]
    replaced: list[Note]
    replaced_by: Note | None
    replies: list[tuple[int, int]]
    streams: tuple[int, ...]
    videos: dict[int, Video]
    names: dict[str, str]


async def explain(db: Database, note_id: int) -> NoteExplanation | None:
    """The whole chain of one note; None if there is no such note."""
    note = await notes.get(db, note_id)
    if note is None:
        return None
    chain, history = await notes.evidence_of(db, note_id), await notes.changes(db, note_id)
    replaced = await notes.predecessors(db, note_id)
    successor = await notes.get(db, note.superseded_by) if note.superseded_by is not None else None
    everybody = [note, *replaced, *([successor] if successor is not None else [])]
    names = await names_for(db, everybody, chain, [change.cause for change in history])
    return NoteExplanation(
        note=note,
        evidence=chain,
        history=history,
        replaced=replaced,
        replaced_by=successor,
        replies=await bot_messages.with_note(db, note_id),
        streams=tuple((await notes.streams_of(db, [note_id])).get(note_id, ())),
        videos=await streams.videos(db, {word.episode.stream_id for word in chain}),
        names=names,
    )


def video_of(explanation: NoteExplanation, word: EvidenceLink, now: int) -> tuple[str, int]:
    """The link to the second of the stream's video in which a word was said, and until when it probably works."""
    video = explanation.videos.get(word.episode.stream_id or 0)
    link = video.link(word.at, now) if video is not None else ""
    return (link, video.until) if video is not None and link else ("", 0)


async def names_for(
    db: Database, about: Sequence[Note], chain: Sequence[EvidenceLink] = (), texts: Sequence[str] = ()
) -> dict[str, str]:
    """The present names of everybody mentioned in notes, their evidence and these texts."""
    people = {note.subject_id for note in about if note.subject_id is not None}
    people.update(word.speaker_id for word in chain if word.speaker_id is not None)
    for text in (*(note.fact for note in about), *(word.episode.summary for word in chain), *texts):
        people.update(ids_in(text))
    return await viewers.names(db, sorted(people))


def in_words(explanation: NoteExplanation, now: int) -> list[str]:
    """The chain for a person to read."""
    note, names = explanation.note, explanation.names
    about = names.get(note.subject_id or "", "somebody") if note.scope is Scope.VIEWER else note.scope.replace("_", " ")
    traits = [
        ENGLISH(f"page.status.{'stale' if note.stale else note.status}"),
        ENGLISH(f"page.source.{note.source_kind}"),
        "kept permanently" if note.expires_at is None else f"kept until {moment(note.expires_at)}",
        f"{note.importance} importance",
        f"confidence {note.confidence:.2f}",
        *(["pinned"] if note.pinned else []),
    ]
    lines = [f"#{note.id} {about}: {show(note.fact, names)}", f"  {'; '.join(traits)}"]
    for word in explanation.evidence:
        where = f"stream {word.episode.stream_id}" if word.episode.stream_id is not None else "outside a stream"
        who = names.get(word.speaker_id, "somebody") if word.speaker_id is not None else "chat"
        how = f"{ENGLISH(f'page.stance.{word.stance}')}{' to the bot' if word.addressed else ''}"
        lines.append(f"  {moment(word.at)}, {where}: {who} {how} (summary {word.episode.id})")
        lines.append(f"    {show(word.episode.summary, names)}")
        link, until = video_of(explanation, word, now)
        lines += [f"    {link} (Twitch probably keeps it until {moment(until)[:10]})"] if link else []
    for old in explanation.replaced:
        undo = f"`forgetmenot memory undo {note.id}` undoes that"
        lines.append(f"  it replaced #{old.id}: {show(old.fact, names)} ({undo})")
    if explanation.replaced_by is not None:
        lines.append(f"  replaced by #{explanation.replaced_by.id}: {show(explanation.replaced_by.fact, names)}")
    for change in explanation.history:
        moved = f"{change.from_status} → {change.to_status}: " if change.from_status is not None else ""
        lines.append(f"  {moment(change.at)}: {moved}{because(change.cause, names)}")
    if explanation.replies:
        numbers = ", ".join(str(reply) for reply, _ in explanation.replies)
        lines.append(f"  in the prompts of the replies {numbers} (`forgetmenot why NUMBER` shows more)")
    return lines


def moment(ms: int) -> str:
    """`2026-11-20 18:30 UTC`."""
    return f"{iso(ms)[:16].replace('T', ' ')} UTC"


def because(cause: str, names: Mapping[str, str]) -> str:
    """Why a note changed, with present names."""
    why = reason(_CAUSES[cause]) if cause in _CAUSES else cause
    if isinstance(why, Reason):
        return reason(why.code, **{name: show(str(value), names) for name, value in why.values.items()})
    return show(why, names)
