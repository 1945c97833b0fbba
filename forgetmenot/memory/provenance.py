"""The origin of a note: its fact, who said it, its episodes, what it replaced, which prompts had it.

Texts show present names. Reads only.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from forgetmenot.clock import iso
from forgetmenot.domain import Note, Scope, SourceKind, Video
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import InputError
from forgetmenot.languages import ENGLISH, Reason, reason
from forgetmenot.memory import edits, merge
from forgetmenot.store import bot_messages, notes, streams, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import REDACTED
from forgetmenot.store.notes import EvidenceLink
from forgetmenot.text.mentions import ids_in, with_names

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

# How the evidence of what nobody said is shown.
SEEN = "seen"


async def chain(db: Database, note_id: int, now: int) -> dict[str, Any]:
    """Where a note comes from.

    Whom it is about, what it rests on and in which streams, its history, what it replaced and what replaced it, the
    replies whose prompt had it.

    Raises InputError where there is no such note.
    """
    note = await notes.get(db, note_id)
    if note is None:
        raise InputError(reason("nothing_here"))
    words, history = await notes.evidence_of(db, note_id), await notes.changes(db, note_id)
    replaced = await notes.predecessors(db, note_id)
    successor = await notes.get(db, note.superseded_by) if note.superseded_by is not None else None
    everybody = [note, *replaced, *([successor] if successor is not None else [])]
    names = await names_for(db, everybody, words, [change.cause for change in history])
    came_up = {word.episode.stream_id for word in words if word.episode.stream_id is not None}
    on, videos = await streams.get_many(db, came_up), await streams.videos(db, came_up)

    def shown(one: Note) -> dict[str, object]:
        return {"id": one.id, "fact": with_names(one.fact, names)}

    return {
        **shown(note),
        "about": names.get(note.subject_id or "", "somebody") if note.scope is Scope.VIEWER else "",
        "streams": [
            {"id": one.id, "title": one.title, "at": one.started_at} for one in on.values()
        ],
        "evidence": [
            {
                "episode": word.episode.id,
                "stream": word.episode.stream_id,
                "kind": word.episode.kind,
                "stance": SEEN if _is_seen(note, word) else word.stance,
                "speaker": "" if _is_seen(note, word) else names.get(word.speaker_id or "", ""),
                "addressed": word.addressed,
                "at": word.at,
                "video": _video(videos.get(word.episode.stream_id or 0), word.at, now),
                "topic": word.episode.topic,
                "summary": with_names(word.episode.summary, names),
            }
            for word in words
        ],
        "history": [
            {
                "at": one.at,
                "from": one.from_status,
                "to": one.to_status,
                "cause": because(one.cause, names),
            }
            for one in history
        ],
        "replaced": [shown(old) for old in replaced],
        "replaced_by": shown(successor) if successor is not None else None,
        "replies": [
            {"id": reply, "at": at}
            for reply, at in await bot_messages.prompted_with_note(db, note_id)
        ],
    }


def _is_seen(note: Note, word: EvidenceLink) -> bool:
    """Whether a note about somebody was seen in chat or told by Twitch, and said by nobody."""
    is_observed = note.source_kind is SourceKind.OBSERVED and note.scope is Scope.VIEWER
    return is_observed and word.stance != "contradicted"


def _video(video: Video | None, at: int, now: int) -> tuple[str, int]:
    """The link to the second of a stream's video in which a word was said, and until when it probably works."""
    link = video.link(at, now) if video is not None else ""
    return (link, video.until) if video is not None and link else ("", 0)


async def names_for(
    db: Database,
    about: Sequence[Note],
    chain: Sequence[EvidenceLink] = (),
    texts: Sequence[str] = (),
) -> dict[str, str]:
    """The present names of everybody mentioned in notes, their evidence and these texts, without hidden people."""
    people = {note.subject_id for note in about if note.subject_id is not None}
    people.update(word.speaker_id for word in chain if word.speaker_id is not None)
    for text in (*(note.fact for note in about), *(word.episode.summary for word in chain), *texts):
        people.update(ids_in(text))
    names, _hidden = await viewers.shown_and_hidden(db, sorted(people))
    return names


def in_words(note: Note, told: dict[str, Any]) -> list[str]:
    """A note's chain for a person to read."""
    traits = [
        ENGLISH(f"page.status.{'stale' if note.stale else note.status}"),
        ENGLISH(f"page.source.{note.source_kind}"),
        "kept permanently" if note.expires_at is None else f"kept until {moment(note.expires_at)}",
        f"{note.importance} importance",
        f"confidence {note.confidence:.2f}",
        *(["pinned"] if note.pinned else []),
    ]
    about = told["about"] or note.scope.replace("_", " ")
    lines = [f"#{note.id} {about}: {told['fact']}", f"  {'; '.join(traits)}"]
    began = {stream["id"]: stream["at"] for stream in told["streams"]}
    for word in told["evidence"]:
        where = f"stream {word['stream']}" if word["stream"] is not None else "outside a stream"
        if (since := word["at"] - began.get(word["stream"], word["at"])) > 0:
            where += f", {since // HOUR} h {since // MINUTE % 60} min into it"
        how = ENGLISH(f"page.stance.{word['stance']}")
        if word["stance"] != SEEN:
            how = f"{word['speaker'] or 'chat'} {how}"
        if word["addressed"]:
            how += " to the bot"
        lines.append(f"  {moment(word['at'])}, {where}: {how} (summary {word['episode']})")
        lines.append(f"    {word['summary']}")
        link, until = word["video"]
        lines += (
            [f"    {link} (Twitch probably keeps it until {moment(until)[:10]})"] if link else []
        )
    undo = f"`forgetmenot memory undo {note.id}` undoes that"
    lines += [f"  it replaced #{old['id']}: {old['fact']} ({undo})" for old in told["replaced"]]
    if new := told["replaced_by"]:
        lines.append(f"  replaced by #{new['id']}: {new['fact']}")
    for change in told["history"]:
        moved = f"{change['from']} → {change['to']}: " if change["from"] is not None else ""
        lines.append(f"  {moment(change['at'])}: {moved}{change['cause']}")
    if told["replies"]:
        numbers = ", ".join(str(reply["id"]) for reply in told["replies"])
        lines.append(
            f"  in the prompts of the replies {numbers} (`forgetmenot why NUMBER` shows more)"
        )
    return lines


def moment(ms: int) -> str:
    """`2026-11-20 18:30 UTC`."""
    return f"{iso(ms)[:16].replace('T', ' ')} UTC"


def because(cause: str, names: Mapping[str, str]) -> str:
    """Why a note changed, with present names."""
    why = reason(_CAUSES[cause]) if cause in _CAUSES else cause
    if isinstance(why, Reason):
        return reason(
            why.code, **{name: with_names(str(value), names) for name, value in why.values.items()}
        )
    return with_names(why, names)
