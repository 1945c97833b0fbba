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

from forgetmenot.domain import EpisodeKind, Importance, Note, NoteStatus, Part, Scope, SourceKind
from forgetmenot.errors import FactRefused
from forgetmenot.languages import reason
from forgetmenot.memory import merge, own_words
from forgetmenot.memory.compare_facts import Relation
from forgetmenot.memory.merge import BROUGHT_BACK, LIVE, REPLACES, ClaimSource
from forgetmenot.memory.proposals import checked_fact, tells_of_another
from forgetmenot.memory.ranking import freshness
from forgetmenot.people.handles import Handles, names_typed
from forgetmenot.people.names import called
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes, events, notes, personal_data, streams
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.store.notes import NewNote, Stance
from forgetmenot.store.rights import PrivacyRequest, RequestKind
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import MENTION, SOMEBODY, defang, ids_in, mention
from forgetmenot.text.removal import fact_stems
from forgetmenot.text.roles import claims_role

_NUMBER = re.compile(r"#(\d{1,15})")
MOST_FOUND = 3
TOLD_CONFIDENCE = 0.95
_CONFIDENCE = {
    SourceKind.COMMAND: TOLD_CONFIDENCE,
    SourceKind.SELF_CLAIM: 0.75,
    SourceKind.OBSERVED: 0.5,
}
_KEPT_IN_AN_EDIT = (
    "scope",
    "subject_id",
    "importance",
    "topics",
    "asked_with",
    "expires_at",
    "pinned",
    "persona",
)


class TellerTrust(NamedTuple):
    """What somebody's word weighs. `source` OBSERVED: only heard; `most`: so many in a stream."""

    source: SourceKind = SourceKind.COMMAND
    most: int | None = None


TRUSTED = TellerTrust()
VIEWER_TRUST = TellerTrust(most=10)


async def remember(  # noqa: PLR0913  # what, of whom, by whom, under which rules
    db: Database | Transaction,
    subject_id: str | None,
    fact: str,
    *,
    by: str,
    at: int,
    scope: Scope | None = None,
    privacy: PrivacySettings | None = None,
    word: TellerTrust = TRUSTED,
    line: str = "",
    instead_of: int | None = None,
) -> Note:
    """Write what somebody (`by`) asked to be remembered about a viewer, or (None) about the channel.

    `line`: the id of the line of chat in which they did: when that is cleared, so is this. `instead_of`: the note that
    it corrects.
    `fact` names people as `<@id>`; names of people who are known become that. The note that stands afterwards: new,
    confirmed or replacing another. Raises FactRefused (length, sensitive:…, link, opted_out, cleared, pinned …).
    """
    rules = privacy or PrivacySettings()
    trusted = (
        subject_id is None and word.source is SourceKind.COMMAND
    )  # moderators alone tell of the channel
    bare = checked_fact(
        clean(fact), rules, links=trusted
    )  # before too: naming takes addresses apart
    stored = checked_fact(await with_mentions(db, bare), rules, links=trusted)
    if by == subject_id and claims_role(stored):
        raise FactRefused("role")
    # who may write without end (moderators, the dock) is trusted to know whom a note is about
    if word.most is not None and subject_id is not None and tells_of_another(stored, subject_id):
        raise FactRefused("not_yours")
    async with db.write() as tx:
        await _refuse_line(tx, subject_id, by, line)
        stream = await streams.current_id(tx)
        since = await merge.began_at(tx, stream, at)
        if word.most is not None and await episodes.requests_since(tx, by, since) >= word.most:
            raise FactRefused("enough_this_stream")
        verb = (
            "corrected what is known"
            if word.source is SourceKind.SELF_CLAIM
            else "asked to remember"
        )
        about = mention(subject_id) if subject_id is not None else "the channel"
        episode = await _own_episode(tx, f"{verb} about {about}: {stored}", by, at, line)
        new = NewNote(
            scope=scope or (Scope.VIEWER if subject_id is not None else Scope.CHANNEL),
            subject_id=subject_id,
            fact=stored,
            confidence=_CONFIDENCE[word.source],
            source_kind=word.source,
            at=at,
            importance=Importance.HIGH if word.source is SourceKind.COMMAND else Importance.MEDIUM,
            stream_id=stream,
        )
        known = await notes.of_subject(tx, subject_id, LIVE)
        repeated = own_words.said_before(stored, known) if instead_of is None else None
        if repeated is not None and repeated[0] is Relation.DUPLICATE:
            # the English words stay, so that facts can be compared
            same = replace(new, fact=repeated[1].fact)
            source = ClaimSource(episode, by, addressed=True)
            done = await merge.confirm(tx, repeated[1].id, same, source, now=at)
        else:
            corrected = repeated[1].id if repeated is not None else instead_of
            source = ClaimSource(episode, by, addressed=True, amends=corrected is not None)
            done = await merge.merge_claim(tx, new, source, now=at, instead_of=corrected)
        note = await notes.get(tx, done.note_id)
    if note is None:
        raise FactRefused("not_found")
    return note


async def _own_episode(tx: Transaction, summary: str, by: str, at: int, line: str) -> int:
    """Write the one-line episode that is the evidence of what `by` did; its id."""
    people = dict.fromkeys((by, *ids_in(summary)))
    # by this key the episode goes when the line is cleared, and its note with it
    key, stream = episodes.key_of_line(line) if line else None, await streams.current_id(tx)
    parts = {who: Part(int(who == by), int(who == by)) for who in people}
    told = NewEpisode(
        EpisodeKind.COMMAND, stream, at, at, f"{mention(by)} {summary}", parts, key=key
    )
    return await episodes.insert(tx, told, at)


async def _live(tx: Transaction, note_id: int) -> Note:
    """The note, if it may be changed. Raises FactRefused (not_found, not_live)."""
    note = await notes.get(tx, note_id)
    if note is None:
        raise FactRefused("not_found")
    if note.status not in LIVE:
        raise FactRefused("not_live")
    return note


async def pin(db: Database, note_id: int, *, at: int, pinned: bool = True) -> None:
    """Keep a note permanently, whatever chat says and however many there are; or stop that. Raises FactRefused."""
    async with db.write() as tx:
        note = await _live(tx, note_id)
        await notes.set_pinned(tx, note_id, pinned=pinned)
        cause = "pinned" if pinned else "unpinned"
        await notes.record(tx, notes.Change(note_id, at, note.status, note.status, cause))


async def find(
    db: Database, subject_id: str | None, text: str, *, now: int, past: bool = False
) -> list[Note]:
    """The live notes about a subject that a text means, by `#id` or by words: best first, none if no word fits.

    By words, a note fits when it has as many of the text's words as the best one has, in its fact or beside it: two
    notes mean "ask which". `past`: also those that are no longer live.
    """
    known = await notes.of_subject(db, subject_id, tuple(NoteStatus) if past else LIVE)
    is_number = text.strip().isdecimal()
    numbers = {int(number) for number in _NUMBER.findall(text)}
    if is_number:
        numbers.add(int(text))
    numbered = [note for note in known if note.id in numbers]
    if numbered or (numbers and not is_number):
        return numbered
    fitting = own_words.best_matches(text, known)
    return sorted(fitting, key=lambda note: (not note.pinned, -freshness(note, now)))[:MOST_FOUND]


async def edit(
    db: Database | Transaction,
    note_id: int,
    fact: str,
    *,
    by: str,
    at: int,
    privacy: PrivacySettings,
    links: bool = False,
    line: str = "",
) -> Note:
    """Write a note's fact anew on the word of the viewer `by`; the note that stands now. Raises FactRefused.

    `fact` names people as `<@id>`. `links`: whether it may hold some. `line`: as in `remember`. Scope, subject, end,
    pin and persona stay.
    """
    stored = checked_fact(clean(fact), privacy, links=links)
    async with db.write() as tx:
        old = await _live(tx, note_id)
        await _refuse_line(tx, old.subject_id, by, line)
        if by == old.subject_id and claims_role(stored):
            raise FactRefused("role")
        if old.fact == stored:
            return old
        about = old.subject_id
        if about is not None and tx.requests.is_forgotten(about, fact_stems(stored)):
            raise FactRefused("forgotten")
        held = [note for note in await notes.of_subject(tx, about, LIVE) if note.id != old.id]
        stream = await streams.current_id(tx)
        of_whom = "" if about is None else f" about {mention(about)}"
        episode_id = await _own_episode(tx, f"corrected a note{of_whom}: {stored}", by, at, line)
        kept = {name: getattr(old, name) for name in _KEPT_IN_AN_EDIT}
        confidence = max(old.confidence, TOLD_CONFIDENCE)
        new = NewNote(
            **kept,
            fact=stored,
            confidence=confidence,
            source_kind=SourceKind.COMMAND,
            at=at,
            stream_id=stream,
        )
        new_id = await notes.insert(tx, new, cause=REPLACES, now=at)
        await notes.add_evidence(
            tx, Stance(new_id, episode_id, "stated", by, addressed=True, at=at)
        )
        await notes.set_status(
            tx, old, NoteStatus.SUPERSEDED, at=at, cause=reason("by_hand"), superseded_by=new_id
        )
        origin = ClaimSource(episode_id, by, addressed=True)
        await merge.supersede_contradicted(tx, held, new, origin, new_id, at)
        await notes.swap_numbers(
            tx, old.id, new_id
        )  # a note's number is its own: the old version gets a new one
        return await _live(tx, old.id)


UNDONE = "undone"


async def retract(db: Database, note_id: int, *, at: int, cause: str, own: bool = False) -> Note:
    """Take a note back; it keeps its text and can be brought back with `undo`. Returns the note as it was.

    `own`: its subject asks for that, and it stays so in an older copy too. Of what the streamer removes, a backup is
    the way back. Raises FactRefused.
    """
    async with db.write() as tx:
        note = await _live(tx, note_id)
        if own:
            removal = _removal(tx, RequestKind.REMOVE, note, at)
            await personal_data.write_request(tx, removal)
        await notes.set_status(tx, note, NoteStatus.RETRACTED, at=at, cause=cause)
        return note


def _removal(source: Source, kind: RequestKind, note: Note, at: int) -> PrivacyRequest:
    """That its subject had a note removed, or that it was brought back."""
    words = fact_stems(note.fact)
    return source.requests.of_words(kind, note.subject_id, words, note_id=note.id, at=at)


async def _refuse_line(tx: Transaction, subject_id: str | None, by: str, line: str) -> None:
    """Nobody who opted out, and no line that was cleared, changes what is known."""
    out = await personal_data.opted_out(tx)
    if subject_id in out or by in out:
        raise FactRefused("forgotten")
    if line and await events.was_deleted(tx, line):
        raise FactRefused("cleared")


async def undo(db: Database | Transaction, note_id: int, *, at: int) -> Note:
    """Take back the last thing that was done to a note: a supersede (by either of the two), a retraction.

    What one word replaced at once comes back at once. The note that is active again.

    Raises FactRefused("nothing_to_undo").
    """
    async with db.write() as tx:
        note = await notes.get(tx, note_id)
        if note is None or not note.fact:  # its text went with a line that was deleted in chat
            raise FactRefused("not_found")
        if note.status is NoteStatus.RETRACTED:
            return await _stand_again(tx, note, at)
        replaced = [note]
        if note.status is not NoteStatus.SUPERSEDED:
            last = {
                old: (await notes.changes(tx, old.id))[-1].at
                for old in await notes.predecessors(tx, note.id)
            }
            replaced = [old for old, when in last.items() if when == max(last.values())]
        if not replaced:
            raise FactRefused("nothing_to_undo")
        back = replaced[-1]
        for old in replaced:
            # an edit by hand wrote the note anew under its own number, which the old version gets back
            edited = old.superseded_by or old.id
            by_hand = edited < old.id and (await notes.changes(tx, old.id))[-1].cause == reason(
                "by_hand"
            )
            await _undo_supersede(tx, old, at)
            if by_hand:
                await notes.swap_numbers(tx, old.id, edited)
                back = replace(old, id=edited)
        return await _live(tx, back.id)


async def _stand_again(tx: Transaction, note: Note, now: int) -> Note:
    """Reactivate a retracted note; a note that an undo had reactivated in its place is superseded again."""
    brought_back = _removal(tx, RequestKind.BRING_BACK, note, now)
    if tx.requests.is_removed(brought_back):
        await personal_data.write_request(tx, brought_back)
    last = (await notes.changes(tx, note.id))[-1]
    held = await notes.of_subject(tx, note.subject_id, LIVE) if last.cause == UNDONE else []
    await notes.set_status(tx, note, NoteStatus.ACTIVE, at=now, cause=UNDONE)
    if held:
        came_back = await notes.changed_last(tx, [one.id for one in held], UNDONE, last.at)
        for old in [one for one in held if one.id in came_back]:
            await notes.set_status(
                tx, old, NoteStatus.SUPERSEDED, at=now, cause=UNDONE, superseded_by=note.id
            )
    return replace(note, status=NoteStatus.ACTIVE)


async def _undo_supersede(tx: Transaction, old: Note, now: int) -> None:
    successor = await notes.get(tx, old.superseded_by) if old.superseded_by is not None else None
    by_undo = (await notes.changes(tx, old.id))[-1].cause == UNDONE
    await notes.set_status(tx, old, NoteStatus.ACTIVE, at=now, cause=UNDONE)
    if successor is not None and successor.status in LIVE:
        history = [change.cause for change in await notes.changes(tx, successor.id)]
        # the successor was there before this change, so it goes back to being replaced; one that the change made goes
        if by_undo or history[-1] == BROUGHT_BACK:
            await notes.set_status(
                tx, successor, NoteStatus.SUPERSEDED, at=now, cause=UNDONE, superseded_by=old.id
            )
        elif history[0] == REPLACES:
            await notes.set_status(tx, successor, NoteStatus.RETRACTED, at=now, cause=UNDONE)


async def with_mentions(db: Source, text: str) -> str:
    """A text with mentions in the place of names. Mentions that it has stay: `defang` foreign text before."""
    known = await called(db, names_typed([MENTION.sub(" ", text)]))
    names = {one.name: None if one.hidden else one.id for one in known}
    handles = Handles.of([one.id for one in known if not one.hidden], names)
    pieces = enumerate(MENTION.split(text))  # every second one is the id of a mention
    return "".join(mention(piece) if at % 2 else _named(piece, handles) for at, piece in pieces)


def _named(piece: str, handles: Handles) -> str:
    """A piece without mentions; the spaces around it stay, for it stands between others."""
    text = piece.strip()
    named = handles.ids(handles.hide_chat(text))
    stored = defang(clean(text)) if named is None else named.replace(f"@{SOMEBODY}", SOMEBODY)
    return piece.replace(text, stored, 1) if text else piece
