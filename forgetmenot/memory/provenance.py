"""Where a note comes from: who said it, its episodes, what it replaced, which prompts it was in. Reads only.

People are shown with their present names.
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
from forgetmenot.text.mentions import SOMEBODY, ids_in, with_names

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


async def chain(
    db: Database,
    note_id: int,
    now: int,
) -> dict[str, Any]:
    """Return where a note comes from, as the dock and the command line show it.

    Its keys: the note, `about`, `streams`, `evidence`, `history`, `replaced`, `replaced_by`, and the `replies` whose
    prompt had it. Raises InputError where there is no such note.
    """
    note = await notes.get(db, note_id)
    if note is None:
        raise InputError(reason("nothing_here"))
    evidence = await notes.evidence_of(db, note_id)
    history = await notes.changes(db, note_id)
    replaced = await notes.predecessors(db, note_id)
    successor = None
    if note.superseded_by is not None:
        successor = await notes.get(db, note.superseded_by)
    related = [note, *replaced]
    if successor is not None:
        related.append(successor)
    names = await names_for(db, related, evidence, [change.cause for change in history])
    stream_ids = {
        link.episode.stream_id
        for link in evidence
        if link.episode.stream_id is not None
    }
    streams_by_id = await streams.get_many(db, stream_ids)
    videos = await streams.videos(db, stream_ids)
    about = ""
    if note.scope is Scope.VIEWER:
        about = names.get(note.subject_id or "", SOMEBODY)
    replies = await bot_messages.prompted_with_note(db, note_id)
    return {
        **_shown_note(note, names),
        "about": about,
        "streams": [
            {"id": stream.id, "title": stream.title, "at": stream.started_at}
            for stream in streams_by_id.values()
        ],
        "evidence": [
            _shown_evidence(note, link, names, videos, now) for link in evidence
        ],
        "history": [
            {
                "at": change.at,
                "from": change.from_status,
                "to": change.to_status,
                "cause": because(change.cause, names),
            }
            for change in history
        ],
        "replaced": [_shown_note(old, names) for old in replaced],
        "replaced_by": None if successor is None else _shown_note(successor, names),
        "replies": [{"id": reply_id, "at": at} for reply_id, at in replies],
    }


def _shown_note(note: Note, names: Mapping[str, str]) -> dict[str, object]:
    return {"id": note.id, "fact": with_names(note.fact, names)}


def _shown_evidence(
    note: Note,
    link: EvidenceLink,
    names: Mapping[str, str],
    videos: Mapping[int, Video],
    now: int,
) -> dict[str, object]:
    """Return one row of evidence with its episode."""
    episode = link.episode
    is_seen = _is_seen(note, link)
    return {
        "episode": episode.id,
        "stream": episode.stream_id,
        "kind": episode.kind,
        "stance": SEEN if is_seen else link.stance,
        "speaker": "" if is_seen else names.get(link.speaker_id or "", ""),
        "addressed": link.addressed,
        "at": link.at,
        "video": _video_link(videos.get(episode.stream_id or 0), link.at, now),
        "topic": episode.topic,
        "summary": with_names(episode.summary, names),
    }


def _is_seen(note: Note, link: EvidenceLink) -> bool:
    """Return whether a note about somebody was seen in chat or reported by Twitch, and said by nobody."""
    is_observed = note.source_kind is SourceKind.OBSERVED and note.scope is Scope.VIEWER
    return is_observed and link.stance != "contradicted"


def _video_link(
    video: Video | None,
    at: int,
    now: int,
) -> tuple[str, int]:
    """Return the link to a moment (ms) of a stream's video, and until when it probably works; ("", 0) without one."""
    if video is None:
        return ("", 0)
    link = video.link(at, now)
    if not link:
        return ("", 0)
    return (link, video.until)


async def names_for(
    db: Database,
    related: Sequence[Note],
    evidence: Sequence[EvidenceLink] = (),
    texts: Sequence[str] = (),
) -> dict[str, str]:
    """Return the present names of everybody in notes, their evidence and these texts, by id, without hidden people."""
    people = {note.subject_id for note in related if note.subject_id is not None}
    people.update(link.speaker_id for link in evidence if link.speaker_id is not None)
    facts = [note.fact for note in related]
    summaries = [link.episode.summary for link in evidence]
    for text in (*facts, *summaries, *texts):
        people.update(ids_in(text))
    names, _hidden = await viewers.shown_and_hidden(db, sorted(people))
    return names


def in_words(note: Note, origin: dict[str, Any]) -> list[str]:
    """Return the lines that show a person where a note comes from. `origin`: what `chain` returned."""
    about = origin["about"] or note.scope.replace("_", " ")
    lines = [f"#{note.id} {about}: {origin['fact']}", f"  {'; '.join(_traits(note))}"]
    started_at = {stream["id"]: stream["at"] for stream in origin["streams"]}
    for link in origin["evidence"]:
        lines += _evidence_lines(link, started_at)
    for old in origin["replaced"]:
        undo = f"`forgetmenot memory undo {note.id}` undoes that"
        lines.append(f"  it replaced #{old['id']}: {old['fact']} ({undo})")
    successor = origin["replaced_by"]
    if successor is not None:
        lines.append(f"  replaced by #{successor['id']}: {successor['fact']}")
    for change in origin["history"]:
        statuses = ""
        if change["from"] is not None:
            statuses = f"{change['from']} → {change['to']}: "
        lines.append(f"  {moment(change['at'])}: {statuses}{change['cause']}")
    if origin["replies"]:
        numbers = ", ".join(str(reply["id"]) for reply in origin["replies"])
        why = "`forgetmenot why NUMBER` shows more"
        lines.append(f"  in the prompts of the replies {numbers} ({why})")
    return lines


def _traits(note: Note) -> list[str]:
    status = "stale" if note.stale else note.status
    kept = "kept permanently"
    if note.expires_at is not None:
        kept = f"kept until {moment(note.expires_at)}"
    traits = [
        ENGLISH(f"page.status.{status}"),
        ENGLISH(f"page.source.{note.source_kind}"),
        kept,
        f"{note.importance} importance",
        f"confidence {note.confidence:.2f}",
    ]
    if note.pinned:
        traits.append("pinned")
    return traits


def _evidence_lines(
    link: Mapping[str, Any], started_at: Mapping[int, int]
) -> list[str]:
    """Return the lines about one row of evidence. `started_at`: when each stream began (ms)."""
    where = "outside a stream"
    if link["stream"] is not None:
        where = f"stream {link['stream']}"
        since = link["at"] - started_at.get(link["stream"], link["at"])
        if since > 0:
            where += f", {since // HOUR} h {since // MINUTE % 60} min into it"
    how = ENGLISH(f"page.stance.{link['stance']}")
    if link["stance"] != SEEN:
        how = f"{link['speaker'] or 'chat'} {how}"
    if link["addressed"]:
        how += " to the bot"
    lines = [
        f"  {moment(link['at'])}, {where}: {how} (summary {link['episode']})",
        f"    {link['summary']}",
    ]
    address, until = link["video"]
    if address:
        lines.append(
            f"    {address} (Twitch probably keeps it until {moment(until)[:10]})"
        )
    return lines


def moment(ms: int) -> str:
    """Return a time as `2026-11-20 18:30 UTC`."""
    return f"{iso(ms)[:16].replace('T', ' ')} UTC"


def because(cause: str, names: Mapping[str, str]) -> str:
    """Return why a note changed, with present names."""
    why = cause
    if cause in _CAUSES:
        why = reason(_CAUSES[cause])
    # a cause that was stored as a reason is one again, with names among its values
    if not isinstance(why, Reason):
        return with_names(why, names)
    values = {key: with_names(str(value), names) for key, value in why.values.items()}
    return reason(why.code, **values)
