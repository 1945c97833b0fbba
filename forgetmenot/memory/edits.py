"""What people change about notes: remember, find, pin, edit, retract, undo. The caller decides who may ask.

- A remembered note has evidence too: a one-line episode. What is never stored is refused here as well.
- An edit supersedes the old row, which stays; the note's number stays with the new one. Undo deletes nothing.
- Nobody claims a role by their own word: roles come from Twitch's badges (text/roles).
- Typed names become ids before a text is stored, so that it survives a rename: "bob's band" keeps `<@2>`. A viewer who
  is hidden or unknown becomes "somebody".
"""

import re
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.domain import (
    EpisodeKind,
    Importance,
    Note,
    NoteStatus,
    Participation,
    Scope,
    SourceKind,
)
from forgetmenot.errors import FactRefused
from forgetmenot.languages import reason
from forgetmenot.memory import merge, own_words
from forgetmenot.memory.compare_facts import Relation
from forgetmenot.memory.merge import BROUGHT_BACK, LIVE, REPLACES, ClaimSource
from forgetmenot.memory.proposals import checked_fact, states_of_another
from forgetmenot.memory.ranking import freshness
from forgetmenot.people.handles import Handles, names_typed
from forgetmenot.people.names import called
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import (
    episodes,
    events,
    notes,
    privacy_choices,
    streams,
    viewers,
)
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.store.notes import Change, NewNote, Stance
from forgetmenot.store.privacy_requests import PrivacyRequest, RequestKind
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import MENTION, SOMEBODY, defang, ids_in, mention
from forgetmenot.text.removal import fact_stems
from forgetmenot.text.roles import claims_role

_NUMBER = re.compile(r"#(\d{1,15})")
# Notes that a text by words may mean; of more whoever typed it is asked again.
FOUND_LIMIT = 3
# How certain a note is (0 to 1) that a person wrote, and what a person only said or was heard to say.
BY_HAND_CONFIDENCE = 0.95
_CONFIDENCE = {
    SourceKind.COMMAND: BY_HAND_CONFIDENCE,
    SourceKind.SELF_CLAIM: 0.75,
    SourceKind.OBSERVED: 0.5,
}
_UNCHANGED_BY_EDIT = (
    "scope",
    "subject_id",
    "importance",
    "topics",
    "asked_with",
    "expires_at",
    "pinned",
    "persona",
)
# The cause of an undone change in a note's history.
UNDONE = "undone"


class TellerTrust(NamedTuple):
    """How far the bot trusts whoever asks for a note.

    `source`: the kind of note that comes of it; OBSERVED: it was only heard. `notes_per_stream`: how many notes they
    may ask for in a stream; None for any number.
    """

    source: SourceKind = SourceKind.COMMAND
    notes_per_stream: int | None = None


# For moderators and whoever sits at the streamer's machine.
TRUSTED = TellerTrust()
VIEWER_TRUST = TellerTrust(notes_per_stream=10)


async def remember(  # noqa: PLR0913  # what, of whom, by whom, under which rules
    db: Database | Transaction,
    subject_id: str | None,
    fact: str,
    *,
    by: str,
    at: int,
    scope: Scope | None = None,
    privacy: PrivacySettings | None = None,
    trust: TellerTrust = TRUSTED,
    line_id: str = "",
    instead_of: int | None = None,
) -> Note:
    """Write what somebody (`by`) asked to be remembered about a viewer; `subject_id` None: about the channel.

    Returns the note that is active afterwards: a new one, a confirmed one, or one in place of another. `fact` names
    people as `<@id>`, or by names, which become ids. `line_id`: the id of their chat line; when it is cleared, so is
    the note. `instead_of`: the id of the note that they correct. Raises FactRefused (length, sensitive:…, link, role,
    not_yours, forgotten, cleared, enough_this_stream, pinned …).
    """
    stored_fact = await _checked_wording(db, subject_id, fact, by, privacy, trust)
    async with db.write() as tx:
        await _refuse_line(tx, subject_id, by, line_id)
        stream_id = await streams.current_id(tx)
        await _refuse_too_many(tx, stream_id, by, at, trust)
        episode_id = await _request_episode(
            tx, subject_id, stored_fact, by, at, line_id, trust
        )
        is_command = trust.source is SourceKind.COMMAND
        default_scope = Scope.CHANNEL if subject_id is None else Scope.VIEWER
        claim = NewNote(
            scope=scope or default_scope,
            subject_id=subject_id,
            fact=stored_fact,
            confidence=_CONFIDENCE[trust.source],
            source_kind=trust.source,
            at=at,
            importance=Importance.HIGH if is_command else Importance.MEDIUM,
            stream_id=stream_id,
        )
        note_id = await _merge_request(tx, claim, episode_id, by, at, instead_of)
        note = await notes.get(tx, note_id)
    if note is None:
        raise FactRefused("not_found")
    return note


async def _refuse_too_many(
    tx: Transaction,
    stream_id: int | None,
    by: str,
    at: int,
    trust: TellerTrust,
) -> None:
    """Raise FactRefused if somebody (`by`) has asked for as many notes in this stream as they may."""
    if trust.notes_per_stream is None:
        return
    since = await merge.began_at(tx, stream_id, at)
    request_count = await episodes.requests_since(tx, by, since)
    if request_count >= trust.notes_per_stream:
        raise FactRefused("enough_this_stream")


async def _checked_wording(
    db: Source,
    subject_id: str | None,
    fact: str,
    by: str,
    privacy: PrivacySettings | None,
    trust: TellerTrust,
) -> str:
    """Return a fact in the words in which it is stored. Raises FactRefused.

    `subject_id`: whom it is about; `by`: whoever said it.
    """
    rules = privacy or PrivacySettings()
    # only moderators can ask for a note about the channel, and they may include links
    may_link = subject_id is None and trust.source is SourceKind.COMMAND
    # checked here as well as below: a name inside an address becomes a mention, and hides the address
    plain_fact = checked_fact(clean(fact), rules, links=may_link)
    with_ids = await with_mentions(db, plain_fact)
    stored_fact = checked_fact(with_ids, rules, links=may_link)
    if by == subject_id and claims_role(stored_fact):
        raise FactRefused("role")
    # only moderators and the dock have no limit, and they may say anything of anybody
    is_trusted = trust.notes_per_stream is None
    if is_trusted or subject_id is None:
        return stored_fact
    if states_of_another(stored_fact, subject_id):
        raise FactRefused("not_yours")
    return stored_fact


async def _request_episode(
    tx: Transaction,
    subject_id: str | None,
    fact: str,
    by: str,
    at: int,
    line_id: str,
    trust: TellerTrust,
) -> int:
    """Write a one-line episode of the request to remember a fact. Return its id."""
    request = "asked to remember"
    if trust.source is SourceKind.SELF_CLAIM:
        request = "corrected what is known"
    about = "the channel" if subject_id is None else mention(subject_id)
    summary = f"{request} about {about}: {fact}"
    return await _write_episode(tx, summary, by, at, line_id)


async def _merge_request(
    tx: Transaction,
    claim: NewNote,
    episode_id: int,
    by: str,
    at: int,
    instead_of: int | None,
) -> int:
    """Merge the note that somebody asked for, and return the id of the note that is active then. Raises FactRefused."""
    source = ClaimSource(episode_id, by, addressed=True)
    corrected_id = instead_of
    if instead_of is None:
        active_notes = await notes.of_subject(tx, claim.subject_id, LIVE)
        repeated = own_words.repeated_note(claim.fact, active_notes)
        if repeated is not None:
            relation, note = repeated
            if relation is Relation.DUPLICATE:
                # the note keeps its English words: only those can be compared with other facts
                repeat = replace(claim, fact=note.fact)
                result = await merge.confirm(tx, note.id, repeat, source, now=at)
                return result.note_id
            corrected_id = note.id
    # whoever corrects a note replaces it, even if the new words look like a repeat of the old ones
    source = source._replace(amends=corrected_id is not None)
    result = await merge.merge_claim(tx, claim, source, now=at, instead_of=corrected_id)
    return result.note_id


async def _write_episode(
    tx: Transaction,
    summary: str,
    by: str,
    at: int,
    line_id: str,
) -> int:
    """Write a one-line episode as the evidence of what somebody (`by`) did. Return its id.

    `line_id`: the id of their chat line; empty if they did it in the dock.
    """
    participations = {by: Participation(lines=1, addressed=1)}
    for viewer_id in ids_in(summary):
        participations.setdefault(viewer_id, Participation(lines=0, addressed=0))
    # the key leads from a cleared line to this episode, which is then deleted with its note
    key = episodes.key_of_line(line_id) if line_id else None
    episode = NewEpisode(
        kind=EpisodeKind.COMMAND,
        stream_id=await streams.current_id(tx),
        started_at=at,
        ended_at=at,
        summary=f"{mention(by)} {summary}",
        people=participations,
        key=key,
    )
    return await episodes.insert(tx, episode, at)


async def _live(tx: Transaction, note_id: int) -> Note:
    """Return a note that is in use and so may be changed. Raises FactRefused (not_found, not_live)."""
    note = await notes.get(tx, note_id)
    if note is None:
        raise FactRefused("not_found")
    if note.status not in LIVE:
        raise FactRefused("not_live")
    return note


async def pin(
    db: Database,
    note_id: int,
    *,
    at: int,
    pinned: bool = True,
) -> None:
    """Pin a note, so that it stays whatever chat says and however many notes there are, or unpin it.

    Raises FactRefused.
    """
    async with db.write() as tx:
        note = await _live(tx, note_id)
        await notes.set_pinned(tx, note_id, pinned=pinned)
        cause = "pinned" if pinned else "unpinned"
        change = Change(note_id, at, note.status, note.status, cause)
        await notes.record(tx, change)


async def find(
    db: Database,
    subject_id: str | None,
    text: str,
    *,
    now: int,
    past: bool = False,
) -> list[Note]:
    """Return the notes about a subject that a text means, best first: by `#id`, else by words.

    A note fits by words if it has as many of them as any other note, in its fact or topics. Two or more results mean
    "ask which one". `past`: also search notes that are no longer live.
    """
    statuses = tuple(NoteStatus) if past else LIVE
    candidates = await notes.of_subject(db, subject_id, statuses)
    numbers = {int(number) for number in _NUMBER.findall(text)}
    if numbers:
        return [note for note in candidates if note.id in numbers]
    if text.strip().isdecimal():
        # without "#" it is a note's number if there is such a note, else a word like any other
        number = int(text)
        notes_with_number = [note for note in candidates if note.id == number]
        if notes_with_number:
            return notes_with_number
    matches = own_words.best_matches(text, candidates)

    def pinned_and_freshest_first(note: Note) -> tuple[bool, float]:
        """Return the sort key of a note."""
        return not note.pinned, -freshness(note, now)

    matches.sort(key=pinned_and_freshest_first)
    return matches[:FOUND_LIMIT]


async def edit(
    db: Database | Transaction,
    note_id: int,
    fact: str,
    *,
    by: str,
    at: int,
    privacy: PrivacySettings,
    links: bool = False,
    line_id: str = "",
) -> Note:
    """Replace a note's fact on the word of somebody (`by`), and return the note that is active now.

    `fact` names people as `<@id>`. `links`: whether it may have links. `line_id`: the id of their chat line. Everything
    but the fact stays, such as the subject, the end and the pin. Raises FactRefused.
    """
    stored_fact = checked_fact(clean(fact), privacy, links=links)
    async with db.write() as tx:
        old = await _live(tx, note_id)
        await _refuse_line(tx, old.subject_id, by, line_id)
        if by == old.subject_id and claims_role(stored_fact):
            raise FactRefused("role")
        if old.fact == stored_fact:
            return old
        about = ""
        if old.subject_id is not None:
            if tx.requests.is_forgotten(old.subject_id, fact_stems(stored_fact)):
                raise FactRefused("forgotten")
            about = f" about {mention(old.subject_id)}"
        summary = f"corrected a note{about}: {stored_fact}"
        episode_id = await _write_episode(tx, summary, by, at, line_id)
        await _replace_by_hand(tx, old, stored_fact, by, at, episode_id)
        # the new version has the old one's number now
        return await _live(tx, old.id)


async def _replace_by_hand(
    tx: Transaction,
    old: Note,
    fact: str,
    by: str,
    at: int,
    episode_id: int,
) -> None:
    """Supersede a note by a new version with this fact. The new version takes over its number."""
    active_notes = await notes.of_subject(tx, old.subject_id, LIVE)
    unchanged_fields = {name: getattr(old, name) for name in _UNCHANGED_BY_EDIT}
    edited_note = NewNote(
        **unchanged_fields,
        fact=fact,
        confidence=max(old.confidence, BY_HAND_CONFIDENCE),
        source_kind=SourceKind.COMMAND,
        at=at,
        stream_id=await streams.current_id(tx),
    )
    edited_id = await notes.insert(tx, edited_note, cause=REPLACES, now=at)
    evidence = Stance(
        note_id=edited_id,
        episode_id=episode_id,
        stance="stated",
        speaker_id=by,
        addressed=True,
        at=at,
    )
    await notes.add_evidence(tx, evidence)
    await notes.set_status(
        tx,
        old,
        NoteStatus.SUPERSEDED,
        at=at,
        cause=reason("by_hand"),
        superseded_by=edited_id,
    )
    source = ClaimSource(episode_id, by, addressed=True)
    other_notes = [note for note in active_notes if note.id != old.id]
    await merge.supersede_contradicted(
        tx, other_notes, edited_note, source, edited_id, at
    )
    # people know a note by its number: the new version takes it over, and the old version gets the other one
    await notes.swap_numbers(tx, old.id, edited_id)


async def retract(
    db: Database,
    note_id: int,
    *,
    at: int,
    cause: str,
    own: bool = False,
) -> Note:
    """Retract a note, and return it as it was. It keeps its text, and `undo` brings it back.

    `own`: its subject asks for that. Then it stays retracted when an older copy of the memory is restored; a note that
    the streamer retracts comes back with the copy. Raises FactRefused.
    """
    async with db.write() as tx:
        note = await _live(tx, note_id)
        if own:
            removal = _request_about(tx, RequestKind.REMOVE, note, at)
            await privacy_choices.write_request(tx, removal)
        await notes.set_status(tx, note, NoteStatus.RETRACTED, at=at, cause=cause)
        return note


def _request_about(
    source: Source,
    kind: RequestKind,
    note: Note,
    at: int,
) -> PrivacyRequest:
    """Return a privacy request of the subject of a note. `kind`: REMOVE or BRING_BACK."""
    stems = fact_stems(note.fact)
    return source.requests.of_words(
        kind, note.subject_id, stems, note_id=note.id, at=at
    )


async def _refuse_line(
    tx: Transaction,
    subject_id: str | None,
    by: str,
    line_id: str,
) -> None:
    """Raise FactRefused if the subject or the speaker (`by`) opted out, or if their chat line was cleared."""
    opted_out = await privacy_choices.opted_out(tx)
    if subject_id in opted_out or by in opted_out:
        raise FactRefused("forgotten")
    if line_id and await events.was_deleted(tx, line_id):
        raise FactRefused("cleared")


async def undo(
    db: Database | Transaction,
    note_id: int,
    *,
    at: int,
) -> Note:
    """Undo the retraction or the replacement of a note, and return the note that is active again.

    A replacement is undone by the number of either note. If one note replaced several at once, all come back. Raises
    FactRefused (not_found, nothing_to_undo).
    """
    async with db.write() as tx:
        note = await notes.get(tx, note_id)
        # the text of a note is deleted with its line in chat
        if note is None or not note.fact:
            raise FactRefused("not_found")
        if note.status is NoteStatus.RETRACTED:
            return await _reactivate(tx, note, at)
        # either of the two notes may be named
        superseded = [note]
        if note.status is not NoteStatus.SUPERSEDED:
            superseded = await _superseded_last(tx, note)
        if not superseded:
            raise FactRefused("nothing_to_undo")
        active_id = superseded[-1].id
        for old in superseded:
            active_id = await _undo_supersede(tx, old, at)
        return await _live(tx, active_id)


async def _superseded_last(tx: Transaction, note: Note) -> list[Note]:
    """Return the notes that a note superseded with its last change: the latest ones, all of the same time."""
    predecessors = await notes.predecessors(tx, note.id)
    superseded_at: dict[int, int] = {}
    for predecessor in predecessors:
        last_change = await _last_change(tx, predecessor.id)
        superseded_at[predecessor.id] = last_change.at
    last_at = max(superseded_at.values(), default=0)
    superseded_last = []
    for predecessor in predecessors:
        if superseded_at[predecessor.id] == last_at:
            superseded_last.append(predecessor)
    return superseded_last


async def _last_change(tx: Transaction, note_id: int) -> Change:
    """Return the last change of a note. There is always one: a note is written with its first."""
    history = await notes.changes(tx, note_id)
    return history[-1]


async def _reactivate(
    tx: Transaction,
    note: Note,
    now: int,
) -> Note:
    """Reactivate a retracted note, and return it.

    If an undo had retracted it, that undo reactivated the notes that it had superseded. They are superseded again.
    """
    bring_back = _request_about(tx, RequestKind.BRING_BACK, note, now)
    # its subject had it removed: without a newer request, restoring a copy would remove it again
    if tx.requests.is_removed(bring_back):
        await privacy_choices.write_request(tx, bring_back)
    last_change = await _last_change(tx, note.id)
    predecessors: list[Note] = []
    if last_change.cause == UNDONE:
        predecessors = await _reactivated_at(tx, note.subject_id, last_change.at)
    await notes.set_status(tx, note, NoteStatus.ACTIVE, at=now, cause=UNDONE)
    for predecessor in predecessors:
        await _supersede_again(tx, predecessor, note.id, now)
    return replace(note, status=NoteStatus.ACTIVE)


async def _reactivated_at(
    tx: Transaction,
    subject_id: str | None,
    at: int,
) -> list[Note]:
    """Return the notes about a subject that an undo at this time (ms) reactivated, if they are still active."""
    active_notes = await notes.of_subject(tx, subject_id, LIVE)
    active_ids = [active.id for active in active_notes]
    undone_ids = await notes.changed_last(tx, active_ids, UNDONE, at)
    return [active for active in active_notes if active.id in undone_ids]


async def _supersede_again(
    tx: Transaction,
    note: Note,
    successor_id: int,
    now: int,
) -> None:
    """Supersede a note that an undo, or a claim that repeats it, had reactivated."""
    await notes.set_status(
        tx,
        note,
        NoteStatus.SUPERSEDED,
        at=now,
        cause=UNDONE,
        superseded_by=successor_id,
    )


async def _undo_supersede(
    tx: Transaction,
    old: Note,
    now: int,
) -> int:
    """Reactivate a superseded note in place of its successor, and return the number that it has then."""
    last_change = await _last_change(tx, old.id)
    cause = last_change.cause
    successor = None
    if old.superseded_by is not None:
        successor = await notes.get(tx, old.superseded_by)
    await notes.set_status(tx, old, NoteStatus.ACTIVE, at=now, cause=UNDONE)
    if successor is not None and successor.status in LIVE:
        await _withdraw_successor(tx, successor, old.id, last_change, now)
    # An edit by hand gave the note's number to the new version, and a larger one to the old version. The two are
    # exchanged again.
    successor_id = old.superseded_by
    was_by_hand = cause == reason("by_hand")
    if was_by_hand and successor_id is not None and successor_id < old.id:
        await notes.swap_numbers(tx, old.id, successor_id)
        return successor_id
    return old.id


async def _withdraw_successor(
    tx: Transaction,
    successor: Note,
    old_id: int,
    undone_change: Change,
    now: int,
) -> None:
    """Take the successor of a note out of use, because the note (`old_id`) is active again.

    `undone_change`: the change that had superseded the note. If it reactivated the successor, that is superseded again.
    If it wrote the successor, that is retracted. Else the successor was a note of its own before, and stays active.
    """
    history = await notes.changes(tx, successor.id)
    # memory/merge reactivates a note that a claim repeats
    was_brought_back = history[-1].cause == BROUGHT_BACK
    if undone_change.cause == UNDONE or was_brought_back:
        await _supersede_again(tx, successor, old_id, now)
        return
    first_change = history[0]
    # The times are compared because the successor may have replaced another note before, and this one later.
    was_written_by_change = (
        first_change.cause == REPLACES and first_change.at == undone_change.at
    )
    if was_written_by_change:
        await notes.set_status(
            tx, successor, NoteStatus.RETRACTED, at=now, cause=UNDONE
        )


async def with_mentions(db: Source, text: str) -> str:
    """Return a text in which mentions replace the names of viewers. Mentions in it stay.

    Call `defang` first for a text that somebody typed, so that they cannot write mentions of their own.
    """
    # First, because somebody else may have a chosen name as their login: then `Deb (alice)` would name both.
    chosen_names = await viewers.shown_by_chosen_name(db, text)
    for viewer_id, shown_name in chosen_names.items():
        typed_name = re.escape(shown_name)
        text = re.sub(typed_name, mention(viewer_id), text, flags=re.IGNORECASE)
    handles = await _handles_of_names(db, MENTION.sub(" ", text))
    pieces = []
    # the text between two mentions and the ids of the mentions take turns; names are looked for in the text alone
    for index, piece in enumerate(MENTION.split(text)):
        is_id = index % 2 == 1
        if is_id:
            pieces.append(mention(piece))
        else:
            pieces.append(_with_ids(piece, handles))
    return "".join(pieces)


async def _handles_of_names(db: Source, text: str) -> Handles:
    """Return handles for the viewers that a text names. A hidden viewer's name leads to nobody."""
    known_people = await called(db, names_typed([text]))
    ids_by_name: dict[str, str | None] = {}
    shown_ids = []
    for person in known_people:
        if person.hidden:
            ids_by_name[person.name] = None
        else:
            ids_by_name[person.name] = person.id
            shown_ids.append(person.id)
    return Handles.of(shown_ids, ids_by_name)


def _with_ids(piece: str, handles: Handles) -> str:
    """Return a piece of text with mentions in place of names. The spaces around it stay."""
    text = piece.strip()
    if not text:
        return piece
    # Names become handles first, which are put in for every form of a name, then handles become ids.
    with_ids = handles.ids(handles.hide_chat(text))
    if with_ids is None:
        stored_text = defang(clean(text))
    else:
        # "@alice" has become "@somebody" if alice is hidden, which would ping a viewer of that name.
        stored_text = with_ids.replace(f"@{SOMEBODY}", SOMEBODY)
    return piece.replace(text, stored_text, 1)
