"""Merges a claim into the notes: it confirms one, replaces one, or is new. In the caller's transaction.

- A fact is superseded, never overwritten, and every change can be undone in one step.
- What a model says of the notes that it was shown (repeats, replaces) decides; comparing words finds exact and near
  repeats, and values of which there is one at a time. A repeat that says more takes the place of the old words.
- Hearsay never replaces what a person said about themselves.

Raises FactRefused with the rule's name.
"""

import asyncio
import contextlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.domain import Note, NoteStatus, SourceKind
from forgetmenot.memory.compare_facts import Relation, relate
from forgetmenot.memory.own_words import is_foreign
from forgetmenot.memory.proposals import REPORTED_AT_MOST, WORDS_KEPT, FactRefused
from forgetmenot.store import notes, personal_data, streams
from forgetmenot.store.database import Transaction
from forgetmenot.store.notes import NewNote, Stance
from forgetmenot.text.dates import MONTHS
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.removal import fact_stems
from forgetmenot.text.words import (
    FOREIGN_STOPWORDS,
    STOPWORDS,
    foreign_stopwords_in,
    telling_stems,
    words,
)

LIVE = (NoteStatus.ACTIVE,)
# So many replaced notes of somebody are compared with a claim: it is done inside a transaction.
LOOKED_BACK = 500
HALF_A_DAY_MS = 43_200_000
# So many words that a note lacks are another thing that is told.
FEWEST_NEW_WORDS = 2
_EXACT = re.compile(rf"\d+|{MENTION.pattern}|\b(?:{'|'.join(MONTHS)})\b")
REPLACES, REWORDED, BROUGHT_BACK = "supersedes", "reworded", "reactivated"

# What each word may replace. Whoever speaks of themselves or for the channel, or gives an order, may replace anything.
_REPLACEABLE = {
    SourceKind.REPORTED: frozenset({SourceKind.REPORTED}),
    SourceKind.OBSERVED: frozenset({SourceKind.REPORTED, SourceKind.OBSERVED}),
}
# SourceKind lists the strongest first
_STRENGTH = {kind: rank for rank, kind in enumerate(reversed(SourceKind))}


class ClaimSource(NamedTuple):
    """Where a claim comes from.

    `amends`: its subject corrects the note that it stands instead of, however much the two are alike. `official`: who
    speaks for the channel says it of the channel.
    """

    episode_id: int
    speaker_id: str | None
    addressed: bool
    amends: bool = False
    official: bool = False


class MergeResult(NamedTuple):
    """What became of a claim: added, confirmed or superseded; and the note that stands now."""

    kind: str
    note_id: int


async def merge_claim(
    tx: Transaction, new: NewNote, origin: ClaimSource, *, now: int, instead_of: int | None = None
) -> MergeResult:
    """Take in a claim. `instead_of`: the note that a model says it replaces. Raises FactRefused."""
    held = await notes.of_subject(tx, new.subject_id, LIVE)
    done = await _believe(tx, known_to(new.persona, held), new, origin, now, instead_of)
    if new.source_kind is SourceKind.COMMAND:
        await correct_others(tx, held, new, origin, done.note_id, now)
    return done


async def confirm(
    tx: Transaction, note_id: int, new: NewNote, origin: ClaimSource, *, now: int
) -> MergeResult:
    """Take in what a model says repeats a note: a claim like any other if there is no such note. Raises FactRefused.

    Without a fact (it had no fit length) the note is confirmed alone. What a repeat adds without the known words is a
    note of its own.
    """
    note = _among(known_to(new.persona, await notes.of_subject(tx, new.subject_id, LIVE)), note_id)
    if note is None:
        if not new.fact:
            raise FactRefused("length")
        return await merge_claim(tx, new, origin, now=now)
    standing = await _confirm(tx, note, new, origin, now)
    if standing == note.id and is_more_than_other_words(new.fact, note.fact):
        with contextlib.suppress(FactRefused):
            await merge_claim(tx, new, origin, now=now)
    return MergeResult("confirmed", standing)


async def correct_others(
    tx: Transaction, held: Sequence[Note], new: NewNote, origin: ClaimSource, new_id: int, now: int
) -> None:
    """What somebody tells the bot supersedes all that contradicts it; of all personas, unless it is of one."""
    others = held if not new.persona else [note for note in held if note.persona == new.persona]
    for relation, note in await _compared(others, new.fact):
        if (
            relation is Relation.CONFLICT
            and note.id != new_id
            and may_replace(new.source_kind, note)
        ):
            current = await notes.get(tx, note.id)
            if current is not None and current.status in LIVE:
                await _replace(tx, note, new_id, new, origin, now)


def known_to(persona: str, held: Sequence[Note]) -> list[Note]:
    """The notes that a new one of this persona is held against: those of all, and its own."""
    return [note for note in held if note.persona in {"", persona}]


def may_replace(source: SourceKind, old: Note, *, official: bool = False) -> bool:
    """Whether a word of this kind may replace a note."""
    return not old.pinned and (
        official or old.source_kind in _REPLACEABLE.get(source, frozenset(SourceKind))
    )


async def began_at(tx: Transaction, stream_id: int | None, now: int) -> int:
    """When a stream began (ms); outside of streams half a day ago, for rules that hold for a stream."""
    return await streams.start_of(tx, stream_id) if stream_id is not None else now - HALF_A_DAY_MS


async def _believe(
    tx: Transaction,
    known: Sequence[Note],
    new: NewNote,
    origin: ClaimSource,
    now: int,
    instead_of: int | None,
) -> MergeResult:
    # its own last, for of two the last counts: a note of one persona takes nothing from the others
    related = dict(
        await _compared(sorted(known, key=lambda note: note.persona == new.persona), new.fact)
    )
    same, old = related.get(Relation.DUPLICATE), _among(known, instead_of)
    rivals = (note for note in (old, related.get(Relation.CONFLICT)) if note is not None)
    rival = next((note for note in rivals if note.persona == new.persona), None)
    if new.source_kind is not SourceKind.COMMAND:
        await _refuse_said_before(tx, new, rival, same)
    if same is not None and not (origin.amends and same is old):
        standing = await _confirm(tx, same, new, origin, now)
        if (
            rival is None
            or rival is same
            or not may_replace(new.source_kind, rival, official=origin.official)
        ):
            return MergeResult("confirmed", standing)
    elif rival is not None:
        if not may_replace(new.source_kind, rival, official=origin.official):
            raise FactRefused("pinned" if rival.pinned else "weaker_word")
        standing = await _brought_back(tx, new, origin, now) or await _write(
            tx, new, origin, cause=REPLACES, now=now
        )
    else:
        # what a person took back does not come back by hearsay; what went with a cleared line may be said again
        if new.source_kind not in {SourceKind.SELF_CLAIM, SourceKind.COMMAND}:
            gone = await notes.of_subject(tx, new.subject_id, (NoteStatus.RETRACTED,))
            if Relation.DUPLICATE in dict(await _compared(gone, new.fact)):
                raise FactRefused("retracted")
        return MergeResult("added", await _write(tx, new, origin, cause="said", now=now))
    await _replace(tx, rival, standing, new, origin, now)
    return MergeResult("superseded", standing)


async def _brought_back(tx: Transaction, new: NewNote, origin: ClaimSource, now: int) -> int | None:
    """The superseded note that said the same once, active again: there and back is two rows."""
    held = await notes.of_subject(tx, new.subject_id, (NoteStatus.SUPERSEDED,))
    gone = [note for note in held if note.persona == new.persona][-LOOKED_BACK:]
    former = dict(await _compared(gone, new.fact)).get(Relation.DUPLICATE)
    if former is None:
        return None
    await notes.set_status(tx, former, NoteStatus.ACTIVE, at=now, cause=BROUGHT_BACK)
    return await _confirm(
        tx, replace(former, status=NoteStatus.ACTIVE, superseded_by=None), new, origin, now
    )


def _among(known: Sequence[Note], note_id: int | None) -> Note | None:
    return next((note for note in known if note.id == note_id), None)


async def _compared(known: Sequence[Note], fact: str) -> list[tuple[Relation, Note]]:
    """What a fact is to each note. In a thread: the loop is not held by many notes."""
    return await asyncio.to_thread(lambda: [(relate(note.fact, fact), note) for note in known])


async def _refuse_said_before(
    tx: Transaction, new: NewNote, rival: Note | None, same: Note | None
) -> None:
    """Only what was said later changes what is known: chat is read long after it was said, corrections count at once.

    A claim is refused if what contradicts it was said or confirmed later, or if a note that said the same was replaced,
    retracted or undone later (what went with a cleared line has no text any more). A command is said when it is typed.
    """
    # a command also stands against what its subject said in the same millisecond
    outranks = rival is not None and (rival.source_kind, new.source_kind) == (
        SourceKind.COMMAND,
        SourceKind.SELF_CLAIM,
    )
    if rival is not None and new.at < rival.last_confirmed_at + outranks:
        raise FactRefused("said_before")
    if same is not None:
        return
    gone = await notes.withdrawn_since(tx, new.subject_id, new.at)
    gone = [note for note in gone if note.persona == new.persona][-LOOKED_BACK:]
    for relation, note in await _compared(gone, new.fact):
        if relation is Relation.DUPLICATE:
            changed = (await notes.changes(tx, note.id))[-1].at
            successor = (
                await notes.get(tx, note.superseded_by) if note.superseded_by is not None else None
            )
            # the summary of what it was replaced for may have come later than that was said
            if (min(changed, successor.last_confirmed_at) if successor else changed) > new.at:
                raise FactRefused("said_before")


async def _refuse_forgotten(tx: Transaction, new: NewNote, origin: ClaimSource) -> None:
    """What its subject asked to be forgotten comes back by nobody's word but a command of their own."""
    if new.subject_id is None:
        return
    own = origin.speaker_id == new.subject_id
    if own and new.source_kind is SourceKind.COMMAND:
        await personal_data.allow_again(tx, new.subject_id, fact_stems(new.fact))
    elif new.at <= tx.requests.erased_at(new.subject_id) or tx.requests.is_forgotten(
        new.subject_id, fact_stems(new.fact)
    ):
        raise FactRefused("forgotten")


async def _write(
    tx: Transaction, new: NewNote, origin: ClaimSource, *, cause: str, now: int
) -> int:
    await _refuse_forgotten(tx, new, origin)
    note_id = await notes.insert(tx, new, cause=cause, now=now)
    await _rests_on(tx, note_id, new, origin, "stated")
    return note_id


async def _replace(
    tx: Transaction, old: Note, note_id: int, new: NewNote, origin: ClaimSource, now: int
) -> None:
    """Let a note take the place of one that it contradicts."""
    await notes.set_status(
        tx, old, NoteStatus.SUPERSEDED, at=now, cause="conflict", superseded_by=note_id
    )
    await _rests_on(tx, old.id, new, origin, "contradicted")


async def _rests_on(
    tx: Transaction, note_id: int, new: NewNote, origin: ClaimSource, stance: str
) -> None:
    said = Stance(note_id, origin.episode_id, stance, origin.speaker_id, origin.addressed, new.at)
    await notes.add_evidence(tx, said)


async def _confirm(tx: Transaction, note: Note, new: NewNote, origin: ClaimSource, now: int) -> int:
    """Write that a note was said again; the id of the note that stands: one in new words, if these say more.

    Its confidence grows at most once a stream, a stronger word always counts. An episode that is read again, because a
    line of it was cleared, is no second witness of what it said before.
    """
    stronger = _STRENGTH[new.source_kind] > _STRENGTH[note.source_kind]
    confirmed = note
    if stronger or not await notes.is_evidence(tx, note.id, origin.episode_id, origin.speaker_id):
        confirmed = await _said_again(tx, note, new, origin)
    if not stands_for(new.fact, note.fact) or not may_replace(new.source_kind, note):
        return note.id
    asked_with = new.asked_with or note.asked_with
    if is_translation(new.fact, note.fact):
        # what they called it finds it as before
        own_words = [word for word in words(note.fact) if word not in STOPWORDS | FOREIGN_STOPWORDS]
        asked_with = (*asked_with, *own_words)[: 2 * WORDS_KEPT]
    in_new_words = replace(
        new,
        confidence=confirmed.confidence,
        source_kind=confirmed.source_kind,
        first_said_at=note.first_said_at,
        at=confirmed.last_confirmed_at,
        expires_at=confirmed.expires_at,
        importance=note.importance,
        topics=new.topics or note.topics,
        asked_with=asked_with,
        persona=note.persona,
    )
    await _refuse_forgotten(tx, replace(in_new_words, at=new.at), origin)
    note_id = await notes.insert(tx, in_new_words, cause=REPLACES, now=now)
    # when the line behind the old words is cleared, the new ones go too
    await notes.copy_evidence(tx, note.id, note_id)
    await _rests_on(tx, note_id, new, origin, "confirmed")
    await notes.set_status(
        tx, note, NoteStatus.SUPERSEDED, at=now, cause=REWORDED, superseded_by=note_id
    )
    return note_id


def stands_for(new_fact: str, stored_fact: str) -> bool:
    """Return whether a repeat may stand in the place of the stored fact.

    It may if it keeps half of the stored words, and brings more words than it leaves out or another number, month or
    person; and where the stored words are in another language, which no fact can be compared with.
    """
    if is_translation(new_fact, stored_fact):
        return True
    new_stems = telling_stems(new_fact)
    stored_stems = telling_stems(stored_fact)
    left_out = stored_stems - new_stems
    if 2 * len(left_out) > len(stored_stems):
        return False
    brought = new_stems - stored_stems
    return len(brought) > len(left_out) or not exact_details(new_fact) <= exact_details(stored_fact)


def is_translation(new_fact: str, stored_fact: str) -> bool:
    """Return whether what a model calls a repeat puts a fact of another language into English."""
    if not new_fact or is_foreign(new_fact):
        return False
    return is_foreign(stored_fact) or bool(foreign_stopwords_in(words(stored_fact)))


def is_more_than_other_words(new_fact: str, stored_fact: str) -> bool:
    """Return whether a repeat that does not stand for the stored fact tells something besides it.

    One other word is only another way to say it; a number, a month or a person is not.
    """
    brought = telling_stems(new_fact) - telling_stems(stored_fact)
    has_exact = not exact_details(new_fact) <= exact_details(stored_fact)
    return has_exact or len(brought) >= FEWEST_NEW_WORDS


def exact_details(fact: str) -> set[str]:
    """Return the numbers, months and people that a fact names."""
    return {match[0] for match in _EXACT.finditer(fact.casefold())}


async def _said_again(tx: Transaction, note: Note, new: NewNote, origin: ClaimSource) -> Note:
    if new.stream_id is None:
        again = new.at - note.last_confirmed_at >= HALF_A_DAY_MS
    else:
        again = await notes.confirmed_stream(tx, note.id) != new.stream_id
    source = max(note.source_kind, new.source_kind, key=_STRENGTH.__getitem__)
    grown = note.confidence + 0.1 * (1 - note.confidence) if again else note.confidence
    await _rests_on(tx, note.id, new, origin, "confirmed")
    ends = None
    if (
        note.expires_at is not None and new.expires_at is not None
    ):  # its own span again, or what is proposed now
        ends = max(
            note.expires_at, new.at + note.expires_at - note.last_confirmed_at, new.expires_at
        )
    confirmed = replace(
        note,
        confidence=min(grown, REPORTED_AT_MOST)
        if source is SourceKind.REPORTED
        else max(grown, note.confidence),
        source_kind=source,
        last_confirmed_at=max(note.last_confirmed_at, new.at),
        expires_at=ends,
    )
    await notes.set_confirmed(tx, confirmed, stream_id=new.stream_id)
    return confirmed
