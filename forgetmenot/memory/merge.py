"""Merges a claim into the stored notes: it confirms one, supersedes one, or is new.

Everything happens in the caller's transaction. FactRefused carries the name of the rule that refused a claim.

- A fact is superseded, never overwritten, and every change can be undone in one step.
- What a model says of the notes that it was shown (repeats, replaces) decides. Comparing words finds exact and near
  repeats, and contradictions where only one value can be true. A repeat that says more supersedes the old words.
- Hearsay never supersedes what a person said about themselves.
"""

import asyncio
import contextlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.domain import Note, NoteStatus, SourceKind
from forgetmenot.durations import HOUR
from forgetmenot.errors import FactRefused
from forgetmenot.memory.compare_facts import Relation, relate
from forgetmenot.memory.lifetimes import extended_end
from forgetmenot.memory.own_words import is_foreign
from forgetmenot.memory.proposals import REPORTED_AT_MOST, WORDS_KEPT
from forgetmenot.store import notes, privacy_choices, streams
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

# The notes of these statuses may be confirmed, superseded and edited.
LIVE = (NoteStatus.ACTIVE,)
# Comparing happens inside a transaction, so only this many superseded or withdrawn notes of a subject are looked at.
COMPARED_PAST_NOTES = 500
# Outside of streams a fact counts as confirmed again after this time.
HALF_A_DAY = 12 * HOUR
# Each confirmation removes this part of the doubt about a note (1 - confidence).
DOUBT_LESSENED = 0.1
# A repeat with this many new words states another fact as well.
MINIMUM_NEW_WORDS = 2
_EXACT_DETAIL = re.compile(rf"\d+|{MENTION.pattern}|\b(?:{'|'.join(MONTHS)})\b")

# Causes that stand in a note's history.
REPLACES = "supersedes"
REWORDED = "reworded"
BROUGHT_BACK = "reactivated"

# What a claim of each kind may supersede. The other kinds, a person's own words and commands, may supersede anything.
_REPLACEABLE = {
    SourceKind.REPORTED: frozenset({SourceKind.REPORTED}),
    SourceKind.OBSERVED: frozenset({SourceKind.REPORTED, SourceKind.OBSERVED}),
}
# SourceKind lists the strongest first.
_STRENGTH = {kind: rank for rank, kind in enumerate(reversed(SourceKind))}


class ClaimSource(NamedTuple):
    """Where a claim comes from.

    `speaker_id`: who said it, None for nobody in particular. `addressed`: they spoke to the bot. `amends`: it is a
    correction, so it supersedes the note even where both seem to say the same. `official`: a fact about the channel
    from somebody who speaks for it.
    """

    episode_id: int
    speaker_id: str | None
    addressed: bool
    amends: bool = False
    official: bool = False


class MergeResult(NamedTuple):
    """What became of a claim.

    `kind`: added, confirmed, or superseded (another note was replaced). `note_id`: the note that is active now.
    """

    kind: str
    note_id: int


async def merge_claim(
    tx: Transaction,
    claim: NewNote,
    source: ClaimSource,
    *,
    now: int,
    instead_of: int | None = None,
) -> MergeResult:
    """Merge a claim into the notes of its subject, and return what became of it. Raises FactRefused.

    `now` in ms. `instead_of`: the id of the note that the claim is said to replace.
    """
    active_notes = await notes.of_subject(tx, claim.subject_id, LIVE)
    candidates = comparable_notes(claim.persona, active_notes)
    result = await _merge(tx, candidates, claim, source, now, instead_of)
    # _merge supersedes one rival; a command supersedes every note that it contradicts
    if claim.source_kind is SourceKind.COMMAND:
        await supersede_contradicted(
            tx, active_notes, claim, source, result.note_id, now
        )
    return result


async def confirm(
    tx: Transaction,
    note_id: int,
    claim: NewNote,
    source: ClaimSource,
    *,
    now: int,
) -> MergeResult:
    """Merge a claim that a model calls a repeat of a note, and return what became of it. Raises FactRefused.

    Without such a note it is a claim like any other. A claim without a fact only confirms the note: its words were too
    few or too many. A repeat that also states something new is merged as a claim, too.
    """
    active_notes = await notes.of_subject(tx, claim.subject_id, LIVE)
    candidates = comparable_notes(claim.persona, active_notes)
    note = _with_id(candidates, note_id)
    if note is None:
        if not claim.fact:
            raise FactRefused("length")
        return await merge_claim(tx, claim, source, now=now)
    active_id = await _confirm(tx, note, claim, source, now)
    is_reworded = active_id != note.id
    if not is_reworded and tells_another_fact(claim.fact, note.fact):
        # the repeated note is confirmed by now, even if the new fact is refused
        with contextlib.suppress(FactRefused):
            await merge_claim(tx, claim, source, now=now)
    return MergeResult("confirmed", active_id)


async def supersede_contradicted(
    tx: Transaction,
    active_notes: Sequence[Note],
    claim: NewNote,
    source: ClaimSource,
    claim_note_id: int,
    now: int,
) -> None:
    """Supersede every note that a command contradicts.

    A command of one persona supersedes only notes of that persona. `claim_note_id`: the id of the command's own note.
    """
    candidates = active_notes
    if claim.persona:
        candidates = [note for note in active_notes if note.persona == claim.persona]
    for relation, note in await _compared(candidates, claim.fact):
        if relation is not Relation.CONFLICT or note.id == claim_note_id:
            continue
        if not may_replace(claim.source_kind, note):
            continue
        # merging the claim may have superseded this note already
        current = await notes.get(tx, note.id)
        if current is not None and current.status in LIVE:
            await _supersede(tx, note, claim_note_id, claim, source, now)


def comparable_notes(persona: str, active_notes: Sequence[Note]) -> list[Note]:
    """Return the notes that a claim of this persona is compared with.

    They are its own notes and those without a persona, which all personas share.
    """
    return [note for note in active_notes if note.persona in {"", persona}]


def may_replace(
    source_kind: SourceKind,
    note: Note,
    *,
    official: bool = False,
) -> bool:
    """Return whether a claim of this kind may supersede a note; a pinned one never.

    `official`: as in ClaimSource.
    """
    if note.pinned:
        return False
    if official or source_kind not in _REPLACEABLE:
        return True
    return note.source_kind in _REPLACEABLE[source_kind]


async def began_at(
    tx: Transaction,
    stream_id: int | None,
    now: int,
) -> int:
    """Return when a stream began (ms); without a stream, the time half a day before now.

    So a rule for one stream holds for half a day outside of streams.
    """
    if stream_id is None:
        return now - HALF_A_DAY
    return await streams.start_of(tx, stream_id)


async def _merge(
    tx: Transaction,
    candidates: Sequence[Note],
    claim: NewNote,
    source: ClaimSource,
    now: int,
    instead_of: int | None,
) -> MergeResult:
    """Merge a claim into the notes that it may repeat or contradict (`candidates`). Raises FactRefused.

    `instead_of`: the id of the note that the claim is said to replace.
    """
    # Several notes may repeat or contradict the claim, and dict() keeps the last of each. The notes of the claim's own
    # persona come last, so that they are changed and not the shared ones.
    own_last = sorted(candidates, key=lambda note: note.persona == claim.persona)
    by_relation = dict(await _compared(own_last, claim.fact))
    repeated_note = by_relation.get(Relation.DUPLICATE)
    contradicted_note = by_relation.get(Relation.CONFLICT)
    named_note = _with_id(candidates, instead_of)
    rival = _rival(claim, named_note, contradicted_note)
    # a command counts at once, so it is never outdated
    if claim.source_kind is not SourceKind.COMMAND:
        await _refuse_outdated(tx, claim, rival, repeated_note)

    # a correction supersedes the note that it names, even where both seem to say the same
    is_correction = source.amends and repeated_note is named_note
    if repeated_note is not None and not is_correction:
        return await _merge_repeat(tx, repeated_note, rival, claim, source, now)
    if rival is not None:
        return await _merge_contrary(tx, rival, claim, source, now)
    await _refuse_retracted(tx, claim)
    note_id = await _write(tx, claim, source, cause="said", now=now)
    return MergeResult("added", note_id)


async def _merge_repeat(
    tx: Transaction,
    repeated_note: Note,
    rival: Note | None,
    claim: NewNote,
    source: ClaimSource,
    now: int,
) -> MergeResult:
    """Confirm the note that a claim repeats, and supersede the claim's rival if it may. Raises FactRefused."""
    active_id = await _confirm(tx, repeated_note, claim, source, now)
    if rival is None or rival is repeated_note:
        return MergeResult("confirmed", active_id)
    if not may_replace(claim.source_kind, rival, official=source.official):
        return MergeResult("confirmed", active_id)
    await _supersede(tx, rival, active_id, claim, source, now)
    return MergeResult("superseded", active_id)


async def _merge_contrary(
    tx: Transaction,
    rival: Note,
    claim: NewNote,
    source: ClaimSource,
    now: int,
) -> MergeResult:
    """Supersede the rival of a claim. Raises FactRefused if the rival is pinned or has a stronger source."""
    if rival.pinned:
        raise FactRefused("pinned")
    if not may_replace(claim.source_kind, rival, official=source.official):
        raise FactRefused("weaker_word")
    active_id = await _brought_back(tx, claim, source, now)
    if active_id is None:
        active_id = await _write(tx, claim, source, cause=REPLACES, now=now)
    await _supersede(tx, rival, active_id, claim, source, now)
    return MergeResult("superseded", active_id)


def _rival(
    claim: NewNote,
    named_note: Note | None,
    contradicted_note: Note | None,
) -> Note | None:
    """Return the note that a claim would supersede: the one it is said to replace, else the one it contradicts.

    None if there is none. Only a note of the claim's own persona can be superseded: the shared ones stay.
    """
    for note in (named_note, contradicted_note):
        if note is not None and note.persona == claim.persona:
            return note
    return None


async def _refuse_retracted(tx: Transaction, claim: NewNote) -> None:
    """Refuse a claim that repeats a retracted note, unless its subject or a command states it. Raises FactRefused.

    A note that was removed with a cleared line has no text any more, so its fact may be said again.
    """
    if claim.source_kind in {SourceKind.SELF_CLAIM, SourceKind.COMMAND}:
        return
    statuses = (NoteStatus.RETRACTED,)
    retracted_notes = await notes.of_subject(tx, claim.subject_id, statuses)
    for relation, _note in await _compared(retracted_notes, claim.fact):
        if relation is Relation.DUPLICATE:
            raise FactRefused("retracted")


async def _brought_back(
    tx: Transaction,
    claim: NewNote,
    source: ClaimSource,
    now: int,
) -> int | None:
    """Reactivate the superseded note with the fact of a claim, and return its id; None if there is none.

    A fact that changes back and forth then needs two notes, not one for each change.
    """
    statuses = (NoteStatus.SUPERSEDED,)
    superseded_notes = await notes.of_subject(tx, claim.subject_id, statuses)
    of_persona = [note for note in superseded_notes if note.persona == claim.persona]
    newest = of_persona[-COMPARED_PAST_NOTES:]
    # if several say the same, dict() keeps the newest
    by_relation = dict(await _compared(newest, claim.fact))
    former_note = by_relation.get(Relation.DUPLICATE)
    if former_note is None:
        return None
    await notes.set_status(
        tx, former_note, NoteStatus.ACTIVE, at=now, cause=BROUGHT_BACK
    )
    reactivated = replace(former_note, status=NoteStatus.ACTIVE, superseded_by=None)
    return await _confirm(tx, reactivated, claim, source, now)


def _with_id(candidates: Sequence[Note], note_id: int | None) -> Note | None:
    """Return the note with this id; None if it is not among the candidates."""
    for note in candidates:
        if note.id == note_id:
            return note
    return None


async def _compared(
    candidates: Sequence[Note], fact: str
) -> list[tuple[Relation, Note]]:
    """Return each note with its relation to a fact, in the order of the notes."""

    def compare_all() -> list[tuple[Relation, Note]]:
        """Compare the fact with every candidate."""
        return [(relate(note.fact, fact), note) for note in candidates]

    # in a thread, so that many notes do not hold up the event loop
    return await asyncio.to_thread(compare_all)


async def _refuse_outdated(
    tx: Transaction,
    claim: NewNote,
    rival: Note | None,
    repeated_note: Note | None,
) -> None:
    """Refuse a claim that is older than the present notes. Raises FactRefused.

    Chat is read long after it was said, but corrections count at once. A claim is outdated in two cases: its rival was
    said or confirmed later, or a note with the same fact was superseded, retracted or undone later.
    """
    if rival is not None and _was_said_before(claim, rival):
        raise FactRefused("said_before")
    # an active note says the same, so the claim is still true
    if repeated_note is not None:
        return
    # notes that went with a cleared line are not among them: they have no text any more
    withdrawn_notes = await notes.withdrawn_since(tx, claim.subject_id, claim.at)
    of_persona = [note for note in withdrawn_notes if note.persona == claim.persona]
    newest = of_persona[-COMPARED_PAST_NOTES:]
    for relation, note in await _compared(newest, claim.fact):
        if relation is not Relation.DUPLICATE:
            continue
        if claim.at < await _outdated_at(tx, note):
            raise FactRefused("said_before")


def _was_said_before(claim: NewNote, rival: Note) -> bool:
    """Return whether a claim was said before its rival was said or confirmed."""
    if claim.at != rival.last_confirmed_at:
        return claim.at < rival.last_confirmed_at
    # a command wins over the subject's own words of the same millisecond
    is_by_command = rival.source_kind is SourceKind.COMMAND
    return is_by_command and claim.source_kind is SourceKind.SELF_CLAIM


async def _outdated_at(tx: Transaction, note: Note) -> int:
    """Return when a superseded or retracted note became outdated (ms)."""
    changes = await notes.changes(tx, note.id)
    changed_at = changes[-1].at
    if note.superseded_by is None:
        return changed_at
    successor = await notes.get(tx, note.superseded_by)
    if successor is None:
        return changed_at
    # the change is written with a summary, often long after the line of the successor was said
    return min(changed_at, successor.last_confirmed_at)


async def _refuse_forgotten(
    tx: Transaction,
    claim: NewNote,
    source: ClaimSource,
) -> None:
    """Refuse a fact that its subject had forgotten, or that was said before their erasure. Raises FactRefused.

    Only the subject's own command brings such a fact back. Then it is allowed again for the future, too.
    """
    subject_id = claim.subject_id
    if subject_id is None:
        return
    stems = fact_stems(claim.fact)
    if source.speaker_id == subject_id and claim.source_kind is SourceKind.COMMAND:
        await privacy_choices.allow_fact(tx, subject_id, stems)
        return
    was_erased_later = claim.at <= tx.requests.erased_at(subject_id)
    if was_erased_later or tx.requests.is_forgotten(subject_id, stems):
        raise FactRefused("forgotten")


async def _write(
    tx: Transaction,
    claim: NewNote,
    source: ClaimSource,
    *,
    cause: str,
    now: int,
) -> int:
    """Store a claim as a new note with its evidence; return the note's id. Raises FactRefused."""
    await _refuse_forgotten(tx, claim, source)
    note_id = await notes.insert(tx, claim, cause=cause, now=now)
    await _add_evidence(tx, note_id, claim, source, "stated")
    return note_id


async def _supersede(
    tx: Transaction,
    note: Note,
    successor_id: int,
    claim: NewNote,
    source: ClaimSource,
    now: int,
) -> None:
    """Mark a note as superseded by the note of a claim. The claim's source becomes evidence against it."""
    await notes.set_status(
        tx,
        note,
        NoteStatus.SUPERSEDED,
        at=now,
        cause="conflict",
        superseded_by=successor_id,
    )
    await _add_evidence(tx, note.id, claim, source, "contradicted")


async def _add_evidence(
    tx: Transaction,
    note_id: int,
    claim: NewNote,
    source: ClaimSource,
    stance: str,
) -> None:
    """Store that the source of a claim stated, confirmed or contradicted a note (`stance`)."""
    evidence = Stance(
        note_id=note_id,
        episode_id=source.episode_id,
        stance=stance,
        speaker_id=source.speaker_id,
        addressed=source.addressed,
        at=claim.at,
    )
    await notes.add_evidence(tx, evidence)


async def _confirm(
    tx: Transaction,
    note: Note,
    claim: NewNote,
    source: ClaimSource,
    now: int,
) -> int:
    """Confirm a note, and return the id of the note that is active now. Raises FactRefused.

    It is a new note if the claim words the fact better.
    """
    # An episode is read again when one of its lines was cleared. The same speaker in the same episode is no second
    # witness, unless the source is stronger now.
    is_stronger = _STRENGTH[claim.source_kind] > _STRENGTH[note.source_kind]
    is_known_evidence = await notes.is_evidence(
        tx, note.id, source.episode_id, source.speaker_id
    )
    confirmed = note
    if is_stronger or not is_known_evidence:
        confirmed = await _strengthened(tx, note, claim, source)
    if not is_better_wording(claim.fact, note.fact):
        return note.id
    if not may_replace(claim.source_kind, note):
        return note.id
    return await _reword(tx, note, confirmed, claim, source, now)


async def _reword(
    tx: Transaction,
    note: Note,
    confirmed: Note,
    claim: NewNote,
    source: ClaimSource,
    now: int,
) -> int:
    """Supersede a note by one in the words of a claim, and return the new id. Raises FactRefused.

    `confirmed`: the note with its confidence and dates after the confirmation.
    """
    reworded = replace(
        claim,
        confidence=confirmed.confidence,
        source_kind=confirmed.source_kind,
        first_said_at=note.first_said_at,
        at=confirmed.last_confirmed_at,
        expires_at=confirmed.expires_at,
        importance=note.importance,
        topics=claim.topics or note.topics,
        asked_with=_words_to_ask_with(claim, note),
        persona=note.persona,
    )
    # with the claim's own time: what was said before an erasure stays out
    await _refuse_forgotten(tx, replace(reworded, at=claim.at), source)
    note_id = await notes.insert(tx, reworded, cause=REPLACES, now=now)
    # when the line behind the old words is cleared, the new ones go too
    await notes.copy_evidence(tx, note.id, note_id)
    await _add_evidence(tx, note_id, claim, source, "confirmed")
    await notes.set_status(
        tx, note, NoteStatus.SUPERSEDED, at=now, cause=REWORDED, superseded_by=note_id
    )
    return note_id


def _words_to_ask_with(claim: NewNote, note: Note) -> tuple[str, ...]:
    """Return the words to ask with of a note that gets the fact of a claim: the claim's, or the note's if it has none.

    If the note's fact was in another language, its words are added.
    """
    search_words = claim.asked_with or note.asked_with
    if not is_translation(claim.fact, note.fact):
        return search_words
    # the old fact was in another language: its words must find the English one as before
    stopwords = STOPWORDS | FOREIGN_STOPWORDS
    own_words = [word for word in words(note.fact) if word not in stopwords]
    all_words = (*search_words, *own_words)
    # twice as many as a note usually has, because they are of two languages
    return all_words[: 2 * WORDS_KEPT]


def is_better_wording(new_fact: str, stored_fact: str) -> bool:
    """Return whether a repeat may take the place of the stored fact.

    It must keep half of the stored words. It must also bring more words than it leaves out, or a new number, month or
    person. An English repeat of a fact in another language is always better: English facts can be compared.
    """
    if is_translation(new_fact, stored_fact):
        return True
    new_stems = telling_stems(new_fact)
    stored_stems = telling_stems(stored_fact)
    missing_stems = stored_stems - new_stems
    if 2 * len(missing_stems) > len(stored_stems):
        return False
    added_stems = new_stems - stored_stems
    if len(added_stems) > len(missing_stems):
        return True
    return _has_new_details(new_fact, stored_fact)


def is_translation(new_fact: str, stored_fact: str) -> bool:
    """Return whether a repeat is in English and the stored fact in another language."""
    if not new_fact or is_foreign(new_fact):
        return False
    return is_foreign(stored_fact) or bool(foreign_stopwords_in(words(stored_fact)))


def tells_another_fact(new_fact: str, stored_fact: str) -> bool:
    """Return whether a repeat states something that the stored fact lacks.

    A new number, month or person is enough. A single other new word is not: it may only say the same in another way.
    """
    if _has_new_details(new_fact, stored_fact):
        return True
    added_stems = telling_stems(new_fact) - telling_stems(stored_fact)
    return len(added_stems) >= MINIMUM_NEW_WORDS


def _has_new_details(new_fact: str, stored_fact: str) -> bool:
    """Return whether a fact names a number, a month or a person that the stored one lacks."""
    return not exact_details(new_fact) <= exact_details(stored_fact)


def exact_details(fact: str) -> set[str]:
    """Return the numbers, months and people that a fact names."""
    return {match[0] for match in _EXACT_DETAIL.finditer(fact.casefold())}


async def _strengthened(
    tx: Transaction,
    note: Note,
    claim: NewNote,
    source: ClaimSource,
) -> Note:
    """Store that a claim confirms a note, and return the note as it is now.

    Its confidence grows at most once a stream.
    """
    source_kind = max(note.source_kind, claim.source_kind, key=_STRENGTH.__getitem__)
    confidence = note.confidence
    if await _is_first_time_this_stream(tx, note, claim):
        confidence += DOUBT_LESSENED * (1 - confidence)
    if source_kind is SourceKind.REPORTED:
        confidence = min(confidence, REPORTED_AT_MOST)
    await _add_evidence(tx, note.id, claim, source, "confirmed")
    confirmed = replace(
        note,
        confidence=confidence,
        source_kind=source_kind,
        last_confirmed_at=max(note.last_confirmed_at, claim.at),
        expires_at=extended_end(note, claim.at, claim.expires_at),
    )
    await notes.set_confirmed(tx, confirmed, stream_id=claim.stream_id)
    return confirmed


async def _is_first_time_this_stream(
    tx: Transaction,
    note: Note,
    claim: NewNote,
) -> bool:
    """Return whether a note was not confirmed in the claim's stream before.

    Outside of streams: whether its last confirmation is half a day old.
    """
    if claim.stream_id is None:
        return claim.at - note.last_confirmed_at >= HALF_A_DAY
    return await notes.confirmed_stream(tx, note.id) != claim.stream_id
