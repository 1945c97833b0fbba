"""Imports and exports notes as JSON lines. A whole memory moves to another computer as a backup.

- A bad line is refused with its number and the reason; the others are taken.
- What would bring back somebody erased, or a fact that was to be forgotten, is refused; so is what is here already.
- Imported notes have an episode as evidence, and are permanent unless the line says otherwise.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Container, Iterable, Sequence
from itertools import count, islice
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct, field

from forgetmenot.clock import iso, parse_iso
from forgetmenot.domain import Importance, NoteStatus, Scope, SourceKind
from forgetmenot.errors import ODD_INPUT
from forgetmenot.memory.names import meant_at
from forgetmenot.memory.proposals import (
    FactRefused,
    checked_fact,
    never_stored,
    without_ages,
)
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes, names, notes, personal_data, viewers
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.notes import NewNote, Stance
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import (
    MENTION,
    PROVISIONAL,
    SOMEBODY,
    ids_in,
    is_login,
    mention,
    provisional_id,
)
from forgetmenot.text.removal import fact_stems, is_distinct, without_person
from forgetmenot.text.words import join_sentences, sentences_of

# Lines that one transaction writes: whoever waits to write waits for some 25 ms and not for the file.
LINES_AT_ONCE = 100
# Numbers are given once: an id near the end of what SQLite can count would leave none for later notes.
HIGHEST_ID = 2**40
OPTED_OUT = "this person opted out: nothing about them is stored"
ERASED = "this person was erased"
FORGOTTEN = "this was to be forgotten"
KNOWN = "this note is here already"
SEVERAL = "several people had this login: give the Twitch ID"
NO_NOTE = "this is no active note. A whole memory moves with `memory backup`"
PRIVACY = PrivacySettings()
_WORD = re.compile(rf"{MENTION.pattern}|@?\b\w{{3,25}}\b")
Text = Annotated[str, Meta(min_length=1, max_length=4000)]
Words = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=100)]


class EpisodeLine(msgspec.Struct, frozen=True):
    """The evidence that a line brings along."""

    key: Text
    summary: Annotated[str, Meta(max_length=20_000)] = ""


class NoteLine(msgspec.Struct, frozen=True):
    """One line of an import. What an export says beside these keys is passed over."""

    fact: Text
    scope: Scope = Scope.VIEWER
    viewer: str | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] = 0.9
    observed_at: str | None = None
    topics: Words = ()
    persona: Annotated[str, Meta(max_length=60)] = ""
    id: Annotated[int, Meta(ge=1, le=HIGHEST_ID)] | None = None
    episode: EpisodeLine | None = None
    status: NoteStatus = NoteStatus.ACTIVE
    source_kind: SourceKind = SourceKind.IMPORT
    importance: Importance = Importance.MEDIUM
    asked_with: Words = ()
    expires_at: str | None = None
    pinned: bool = False


class RefusedLine(NamedTuple):
    """A line that did not go in."""

    line: int
    reason: str


class ReadLine(NamedTuple):
    """A line that can be used. `who`: the subject as an id or a login in lower case; `key`: of its episode."""

    number: int
    line: NoteLine
    fact: str
    at: int
    expires_at: int | None
    who: str | None
    key: str | None
    summary: str


class ImportReport(Struct):
    """What an import did."""

    imported: int = 0
    episodes: int = 0
    viewers: int = 0
    refused: list[RefusedLine] = field(default_factory=list)


async def import_notes(
    db: Database, lines: Iterable[str], *, now: int, privacy: PrivacySettings | None = PRIVACY
) -> ImportReport:
    """Take in JSON lines. `privacy`: what is never stored is refused; None: it is taken."""
    report, rest = ImportReport(), enumerate(lines, start=1)
    while batch := list(islice(rest, LINES_AT_ONCE)):
        read = await asyncio.to_thread(_readable, batch, now, privacy, report.refused)
        async with db.write() as tx:
            await _write(tx, read, report, now)
        await asyncio.sleep(0.01)  # another process, too, may want to write
    report.refused.sort()
    return report


# Lines are read and screened in a thread, before anything is written.


def _readable(
    batch: list[tuple[int, str]],
    now: int,
    privacy: PrivacySettings | None,
    refused: list[RefusedLine],
) -> list[ReadLine]:
    found: list[ReadLine] = []
    for number, text in batch:
        try:
            if text.strip():
                found.append(_read(number, msgspec.json.decode(text, type=NoteLine), now, privacy))
        except (msgspec.MsgspecError, FactRefused) as error:
            refused.append(
                RefusedLine(number, error.rule if isinstance(error, FactRefused) else str(error))
            )
        except ODD_INPUT:
            refused.append(RefusedLine(number, "nested too deeply, or no text"))
    return found


def _read(number: int, line: NoteLine, now: int, privacy: PrivacySettings | None) -> ReadLine:
    """A line as it is kept. Raises FactRefused."""
    fact = _people_only(line.fact)
    if not fact:
        raise FactRefused("the fact is empty")
    if line.status is not NoteStatus.ACTIVE:
        raise FactRefused(NO_NOTE)
    if (line.viewer is None) == (line.scope is Scope.VIEWER):
        raise FactRefused("scope viewer needs a viewer; channel and running_bit have none")
    who = line.viewer and line.viewer.strip().removeprefix("@").casefold().removeprefix(PROVISIONAL)
    if who is not None and not re.fullmatch(r"[a-z0-9_.-]{1,50}", who):
        raise FactRefused("viewer is neither a login nor a Twitch ID")
    if privacy is not None:
        fact = without_ages(fact, privacy) or fact
        try:
            checked_fact(fact, privacy, links=True)
        except FactRefused as refusal:
            if not refusal.rule.startswith("length"):  # imports are taken as long as they are
                raise

    def fitting(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(
            text
            for text in texts
            if text and (privacy is None or never_stored(text, privacy) is None)
        )

    words = {
        name: fitting(clean(word).casefold() for word in getattr(line, name))
        for name in ("topics", "asked_with")
    }
    at, ends = _time("observed_at", line.observed_at), _time("expires_at", line.expires_at)
    told = line.episode
    summary = (
        join_sentences(fitting(sentences_of(_people_only(told.summary))))
        if told is not None
        else ""
    )
    return ReadLine(
        number, msgspec.structs.replace(line, **words), fact, now if at is None else at, ends, who,
        None if told is None else told.key, summary,
    )  # fmt: skip


def _people_only(text: str) -> str:
    """The text, clean, with "somebody" for a mention that is nobody's id."""

    def checked(found: re.Match[str]) -> str:
        return found[0] if found[1].isdigit() or found[1].startswith(PROVISIONAL) else SOMEBODY

    return MENTION.sub(checked, clean(text))


def _time(key: str, value: str | None) -> int | None:
    try:
        return None if value is None else parse_iso(value)
    except (ValueError, OverflowError) as error:
        raise FactRefused(f"{key} is no ISO 8601 time") from error


# Writing: some lines, in one transaction.


async def _write(
    tx: Transaction, batch: Sequence[ReadLine], report: ImportReport, now: int
) -> None:
    subjects = await _subjects(tx, batch)
    known = set(await viewers.existing(tx, set(subjects.values())))
    opted_out = await personal_data.opted_out(tx)
    used = await notes.ids_in_use(tx, [read.line.id for read in batch if read.line.id is not None])
    said: dict[str | None, set[tuple[str, str]]] = {}
    taken: list[ReadLine] = []  # with ids of people alone
    for read in batch:
        about = subjects.get(read.number)
        if read.who is not None and about is None:
            report.refused.append(RefusedLine(read.number, SEVERAL))
            continue
        if about not in said:
            said[about] = await notes.facts_of(tx, about)
        number, fact = read.line.id, (read.fact, read.line.persona)
        reason = _wish_against(tx, read, about, opted_out, known=about in known)
        if not reason and fact in said[about] and (number is None or number in used):
            reason = KNOWN  # a number that is free here makes it another note
        if reason:
            report.refused.append(RefusedLine(read.number, reason))
            continue
        said[about].add(fact)
        if number is not None and number in used:
            read = read._replace(line=msgspec.structs.replace(read.line, id=None))  # noqa: PLW2901
        elif number is not None:
            used.add(number)
        taken.append(_without_erased(tx, read)._replace(who=about))
    report.viewers += await _add_people(tx, taken, known, now)
    rests_on, new = await _evidence(tx, taken, now)
    report.episodes += new
    free = count(max([await tx.highest_id("semantic_notes"), *used]) + 1)
    numbered = [read.line.id or next(free) for read in taken]
    written = [
        NewNote(
            line.scope, read.who, read.fact, line.confidence, line.source_kind, read.at, id=number,
            importance=line.importance, topics=line.topics, asked_with=line.asked_with,
            expires_at=read.expires_at, pinned=line.pinned, persona=line.persona,
        )
        for number, read in zip(numbered, taken, strict=True) for line in [read.line]
    ]  # fmt: skip
    await notes.insert_many(tx, written, cause="import", now=now)
    evidence = zip(numbered, rests_on, taken, strict=True)
    stated = (
        Stance(note, one, "stated", None, addressed=False, at=read.at)
        for note, one, read in evidence
    )
    await notes.add_evidence(tx, *stated)
    report.imported += len(written)


async def _subjects(tx: Transaction, batch: Sequence[ReadLine]) -> dict[int, str]:
    """The id of whom each line is about, by its number; none where nobody can say who had a login when it was said."""
    typed = {read.who for read in batch if read.who is not None}
    by_id = set(await viewers.existing(tx, typed | set(map(provisional_id, typed))))
    spans = await names.spans(tx, typed)
    subjects: dict[int, str] = {}
    for read in batch:
        who = read.who
        if who is None:
            continue
        if who in by_id or (who.isdigit() and who not in spans):
            subjects[read.number] = who
        elif who in spans:
            meant = meant_at(spans[who], read.at)
            if meant is not None:
                subjects[read.number] = meant
        else:
            subjects[read.number] = provisional_id(who)
    return subjects


async def _add_people(
    tx: Transaction, taken: Sequence[ReadLine], known: Collection[str], now: int
) -> int:
    """Store the subjects who are new, how many, and whoever is only mentioned."""
    new = {read.who for read in taken if read.who is not None}.difference(known)
    everybody = new.union(*(ids_in(f"{read.fact} {read.summary}") for read in taken))
    logins: dict[str, str | None] = {}
    for who in sorted(everybody):
        login = who.removeprefix(PROVISIONAL)
        logins[who] = login if who != login and is_login(login) else None
    await viewers.add_unseen(tx, logins, now)
    return len(new)


async def _evidence(tx: Transaction, taken: Sequence[ReadLine], now: int) -> tuple[list[int], int]:
    """The episode of each line, one for each key or one of its own, and how many of them are new."""
    known = await episodes.ids_by_key(
        tx, sorted({read.key for read in taken if read.key is not None})
    )
    free, new, found = count(await tx.highest_id("episodes") + 1), [], []
    for read in taken:
        number = known.get(read.key) if read.key is not None else None
        if number is None:
            number = next(free)
            new.append((number, read.key, read.at, read.summary or "Imported."))
        if read.key is not None:
            known[read.key] = number
        found.append(number)
    await episodes.insert_imported(tx, new, now)
    subjects = [
        (number, read.who)
        for number, read in zip(found, taken, strict=True)
        if read.who is not None
    ]
    await episodes.add_people(tx, subjects)
    return found, len(new)


def _wish_against(
    tx: Transaction, read: ReadLine, about: str | None, opted_out: Container[str], *, known: bool
) -> str | None:
    """Why its subject would not want a line, or None."""
    if about is None:
        return None
    if about in opted_out:
        return OPTED_OUT
    erased_at = tx.requests.erased_at(about)
    if erased_at >= 0 and (not known or read.at <= erased_at):
        return ERASED
    return FORGOTTEN if tx.requests.is_forgotten(about, fact_stems(read.fact)) else None


def _without_erased(tx: Transaction, read: ReadLine) -> ReadLine:
    """The line without mentions of people who were erased, and its summary without sentences about them.

    As in an erasure, a name without an @ counts only if no word looks like it.
    """

    def marked(match: re.Match[str]) -> str:
        name = match[0].removeprefix("@").casefold()
        is_name = match[0].startswith("@") or is_distinct(name)
        if not is_name or not is_login(name) or tx.requests.erased_at(provisional_id(name)) < 0:
            return match[0]
        return mention(provisional_id(name))

    fact = _WORD.sub(marked, read.fact)
    summary = _WORD.sub(marked, read.summary)
    for viewer_id in ids_in(f"{fact} {summary}"):
        if tx.requests.erased_at(viewer_id) >= 0:
            fact = fact.replace(mention(viewer_id), SOMEBODY)
            summary = without_person(summary, viewer_id)
    return read._replace(fact=fact, summary=summary)


# Export: notes as JSON lines.

_AS_THEY_ARE = (
    "id", "scope", "fact", "topics", "status", "source_kind", "importance", "asked_with", "superseded_by", "pinned",
    "persona",
)  # fmt: skip


async def export_notes(
    db: Database, *, subject_id: str | None = None, status: str | None = None
) -> AsyncIterator[dict[str, object]]:
    """Every note with all that is known of it, in order of ids.

    Without people who opted out or were banned, unless one is asked for: where it goes, nobody knows that of them.
    """
    after = 0
    while batch := await notes.page(db, subject_id=subject_id, status=status, after=after):
        after = batch[-1].id
        first = {note.id: note.episode_ids[0] for note in batch if note.episode_ids}
        told = await episodes.keys_and_summaries(db, first.values())
        people = sorted({note.subject_id for note in batch if note.subject_id is not None})
        logins = await viewers.logins(db, people)
        hidden = await viewers.hidden(db, people) if subject_id is None else frozenset[str]()
        for note in batch:
            if note.subject_id in hidden:
                continue
            line: dict[str, object] = {name: getattr(note, name) for name in _AS_THEY_ARE}
            line |= {"viewer": note.subject_id, "login": logins.get(note.subject_id or "")}
            line |= {
                "confidence": round(note.confidence, 4),
                "observed_at": iso(note.last_confirmed_at),
            }
            line["expires_at"] = None if note.expires_at is None else iso(note.expires_at)
            if (episode := first.get(note.id, 0)) in told:  # some may go meanwhile
                line["episode"] = told[episode]
            yield line
