"""Shows where a note comes from: who said it, its episodes, what it replaced, which prompts it was in.

It only reads. People are shown with their present names.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from forgetmenot.clock import iso
from forgetmenot.domain import Note, Scope, SourceKind, Stream, Video
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import InputError
from forgetmenot.languages import ENGLISH, Reason, reason
from forgetmenot.memory import edits, merge
from forgetmenot.store import bot_messages, notes, streams, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import REDACTED
from forgetmenot.store.notes import Change, EvidenceLink
from forgetmenot.text.mentions import SOMEBODY, ids_in, with_names

# The causes that are stored with a change of a note, each with its key in languages/.
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

# The stance that is shown for evidence that was seen in chat or reported by Twitch, and not said.
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
    # the page shows everybody in these notes by their present name
    shown_notes = [note, *replaced]
    if successor is not None:
        shown_notes.append(successor)
    causes = [change.cause for change in history]
    names = await names_for(db, shown_notes, evidence, causes)
    stream_ids = set()
    for link in evidence:
        if link.episode.stream_id is not None:
            stream_ids.add(link.episode.stream_id)
    streams_by_id = await streams.get_many(db, stream_ids)
    videos = await streams.videos(db, stream_ids)
    # "" for a note about the channel
    about = ""
    if note.scope is Scope.VIEWER:
        about = names.get(note.subject_id or "", SOMEBODY)
    replies = await bot_messages.prompted_with_note(db, note_id)
    shown_replies = [{"id": reply_id, "at": at} for reply_id, at in replies]
    shown_evidence = []
    for link in evidence:
        shown_evidence.append(_shown_evidence(note, link, names, videos, now))
    shown_successor = None
    if successor is not None:
        shown_successor = _shown_note(successor, names)
    return {
        **_shown_note(note, names),
        "about": about,
        "streams": [_shown_stream(stream) for stream in streams_by_id.values()],
        "evidence": shown_evidence,
        "history": [_shown_change(change, names) for change in history],
        "replaced": [_shown_note(predecessor, names) for predecessor in replaced],
        "replaced_by": shown_successor,
        "replies": shown_replies,
    }


def _shown_note(note: Note, names: Mapping[str, str]) -> dict[str, object]:
    """Return a note as the page shows it."""
    return {"id": note.id, "fact": with_names(note.fact, names)}


def _shown_stream(stream: Stream) -> dict[str, object]:
    """Return a stream as the page shows it."""
    return {"id": stream.id, "title": stream.title, "at": stream.started_at}


def _shown_change(change: Change, names: Mapping[str, str]) -> dict[str, object]:
    """Return a change in a note's history as the page shows it."""
    return {
        "at": change.at,
        "from": change.from_status,
        "to": change.to_status,
        "cause": because(change.cause, names),
    }


def _shown_evidence(
    note: Note,
    link: EvidenceLink,
    names: Mapping[str, str],
    videos: Mapping[int, Video],
    now: int,
) -> dict[str, object]:
    """Return a piece of evidence with its episode, as the page shows it."""
    episode = link.episode
    stance = link.stance
    speaker = names.get(link.speaker_id or "", "")
    if _is_seen(note, link):
        # nobody said it: the speaker of the link is the person who did it
        stance = SEEN
        speaker = ""
    # 0 is the id of no stream: there is no video of what was said outside of streams
    video = videos.get(episode.stream_id or 0)
    return {
        "episode": episode.id,
        "stream": episode.stream_id,
        "kind": episode.kind,
        "stance": stance,
        "speaker": speaker,
        "addressed": link.addressed,
        "at": link.at,
        "video": _video_link(video, link.at, now),
        "topic": episode.topic,
        "summary": with_names(episode.summary, names),
    }


def _is_seen(note: Note, link: EvidenceLink) -> bool:
    """Return whether evidence was seen in chat or reported by Twitch, so that nobody said it.

    Evidence for a fact about the channel, and evidence against a fact, always counts as said.
    """
    is_observed = note.source_kind is SourceKind.OBSERVED and note.scope is Scope.VIEWER
    return is_observed and link.stance != "contradicted"


def _video_link(
    video: Video | None,
    at: int,
    now: int,
) -> tuple[str, int]:
    """Return the link to a moment of a stream's video, and until when it probably works; ("", 0) without one.

    Both times are in ms.
    """
    if video is None:
        return ("", 0)
    link = video.link(at, now)
    if not link:
        return ("", 0)
    return (link, video.until)


async def names_for(
    db: Database,
    shown_notes: Sequence[Note],
    evidence: Sequence[EvidenceLink] = (),
    texts: Sequence[str] = (),
) -> dict[str, str]:
    """Return by id the present names of everybody in these notes, evidence and texts, without hidden people."""
    people: set[str | None] = set()
    all_texts = list(texts)
    for note in shown_notes:
        people.add(note.subject_id)
        all_texts.append(note.fact)
    for link in evidence:
        people.add(link.speaker_id)
        all_texts.append(link.episode.summary)
    for text in all_texts:
        people.update(ids_in(text))
    # a note about the channel has no subject, and evidence that was seen has no speaker
    people.discard(None)
    viewer_ids = sorted(viewer_id for viewer_id in people if viewer_id is not None)
    names, _hidden = await viewers.shown_and_hidden(db, viewer_ids)
    return names


def in_words(note: Note, origin: dict[str, Any]) -> list[str]:
    """Return lines of text that explain where a note comes from. `origin`: what `chain` returned."""
    about = origin["about"] or note.scope.replace("_", " ")
    traits = "; ".join(_traits(note))
    lines = [f"#{note.id} {about}: {origin['fact']}", f"  {traits}"]
    started_at = {stream["id"]: stream["at"] for stream in origin["streams"]}
    for link in origin["evidence"]:
        lines += _evidence_lines(link, started_at)
    undo_hint = f"`forgetmenot memory undo {note.id}` undoes that"
    for predecessor in origin["replaced"]:
        replaced = f"#{predecessor['id']}: {predecessor['fact']}"
        lines.append(f"  it replaced {replaced} ({undo_hint})")
    successor = origin["replaced_by"]
    if successor is not None:
        lines.append(f"  replaced by #{successor['id']}: {successor['fact']}")
    for change in origin["history"]:
        # the first change has no status before it: the note was written
        statuses = ""
        if change["from"] is not None:
            statuses = f"{change['from']} → {change['to']}: "
        lines.append(f"  {moment(change['at'])}: {statuses}{change['cause']}")
    if origin["replies"]:
        reply_ids = [str(reply["id"]) for reply in origin["replies"]]
        numbers = ", ".join(reply_ids)
        why_hint = "`forgetmenot why NUMBER` shows more"
        lines.append(f"  in the prompts of the replies {numbers} ({why_hint})")
    return lines


def _traits(note: Note) -> list[str]:
    """Return the properties of a note in words: status, source, end, importance, confidence and pin."""
    # a stale note still has the status "active", but is shown as stale
    status = "stale" if note.stale else note.status
    end = "kept permanently"
    if note.expires_at is not None:
        end = f"kept until {moment(note.expires_at)}"
    traits = [
        ENGLISH(f"page.status.{status}"),
        ENGLISH(f"page.source.{note.source_kind}"),
        end,
        f"{note.importance} importance",
        f"confidence {note.confidence:.2f}",
    ]
    if note.pinned:
        traits.append("pinned")
    return traits


def _evidence_lines(
    link: Mapping[str, Any], started_at: Mapping[int, int]
) -> list[str]:
    """Return the lines of text about a piece of evidence. `started_at`: when each stream began (ms), by id."""
    stance = ENGLISH(f"page.stance.{link['stance']}")
    if link["stance"] != SEEN:
        stance = f"{link['speaker'] or 'chat'} {stance}"
    if link["addressed"]:
        stance += " to the bot"
    place = _place_in_stream(link, started_at)
    lines = [
        f"  {moment(link['at'])}, {place}: {stance} (summary {link['episode']})",
        f"    {link['summary']}",
    ]
    address, until = link["video"]
    if address:
        # "probably", because it is an estimate when Twitch deletes a video
        day = moment(until)[:10]
        lines.append(f"    {address} (Twitch probably keeps it until {day})")
    return lines


def _place_in_stream(link: Mapping[str, Any], started_at: Mapping[int, int]) -> str:
    """Return in words in which stream a piece of evidence is, and how far into it."""
    stream_id = link["stream"]
    if stream_id is None:
        return "outside a stream"
    since = link["at"] - started_at.get(stream_id, link["at"])
    if since <= 0:
        return f"stream {stream_id}"
    hours = since // HOUR
    minutes = since // MINUTE % 60
    return f"stream {stream_id}, {hours} h {minutes} min into it"


def moment(ms: int) -> str:
    """Return a time as `2026-11-20 18:30 UTC`."""
    return f"{iso(ms)[:16].replace('T', ' ')} UTC"


def because(cause: str, names: Mapping[str, str]) -> str:
    """Return in words why a note changed, with present names. `cause`: a key of _CAUSES, a `Reason` or a text."""
    if cause in _CAUSES:
        cause = reason(_CAUSES[cause])
    if not isinstance(cause, Reason):
        return with_names(cause, names)
    # The values of a reason name people by id, so they get their names before the sentence is made.
    values = {}
    for key, value in cause.values.items():
        values[key] = with_names(str(value), names)
    return reason(cause.code, **values)
