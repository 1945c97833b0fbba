"""Imports and exports notes as JSON lines. A whole memory moves to another computer as a backup.

- A bad line is refused with its number and the reason; the others are imported.
- Refused are lines that would bring back an erased person or a forgotten fact, and notes that are here already.
- Imported notes have an episode as evidence, and are permanent unless the line says otherwise.
"""

import asyncio
import functools
import re
from collections.abc import (
    AsyncIterator,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import count, islice
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct, field

from forgetmenot.clock import iso, parse_iso
from forgetmenot.domain import Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.errors import ODD_INPUT, FactRefused
from forgetmenot.memory.proposals import checked_fact, never_stored, without_ages
from forgetmenot.people.names import meant_at
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import (
    episodes,
    names,
    notes,
    privacy_choices,
    viewers,
)
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
from forgetmenot.text.words import (
    clear_text_caches,
    join_sentences,
    sentences_of,
)

# Lines that one transaction writes: another writer waits for about 25 ms, and not for the whole file.
LINES_AT_ONCE = 100
# Seconds between two such transactions, in which another process may write.
PAUSE_S = 0.01
# Notes that are exported together; each holds the event loop for some microseconds.
NOTES_AT_ONCE = 400
# The highest note id that is taken. A new note gets an id above all others, so an id near SQLite's maximum would leave
# none for later notes.
HIGHEST_ID = 2**40
# Why a line is refused.
OPTED_OUT = "this person opted out: nothing about them is stored"
ERASED = "this person was erased"
FORGOTTEN = "this was to be forgotten"
KNOWN = "this note is here already"
SEVERAL = "several people had this login: give the Twitch ID"
NO_NOTE = "this is no active note. A whole memory moves with `memory backup`"
PRIVACY = PrivacySettings()
_WORD = re.compile(rf"{MENTION.pattern}|@?\b\w{{3,25}}\b")
Text = Annotated[str, Meta(min_length=1, max_length=4000)]
Words = Annotated[
    tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=100)
]


class EpisodeLine(msgspec.Struct, frozen=True):
    """The episode of a line, as evidence. `key`: the same for all notes of one episode."""

    key: Text
    summary: Annotated[str, Meta(max_length=20_000)] = ""


class NoteLine(msgspec.Struct, frozen=True):
    """One line of an import. Other keys of an export are ignored."""

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
    """A line that was not imported. `line`: its number."""

    line: int
    reason: str


class ReadLine(NamedTuple):
    """A line that was read and checked.

    `subject`: the person it is about, as an id or a login in lower case; None for a fact about the channel. `said_at`,
    `expires_at`: in ms. `key`, `summary`: those of its episode.
    """

    number: int
    line: NoteLine
    fact: str
    said_at: int
    expires_at: int | None
    subject: str | None
    key: str | None
    summary: str


class ImportReport(Struct):
    """What an import did. `viewers`: how many people are new."""

    imported: int = 0
    episodes: int = 0
    viewers: int = 0
    refused: list[RefusedLine] = field(default_factory=list)


async def import_notes(
    db: Database,
    lines: Iterable[str],
    *,
    now: int,
    privacy: PrivacySettings | None = PRIVACY,
) -> ImportReport:
    """Import JSON lines, and return what was imported and what was refused. Raises StoreError.

    `now` in ms. `privacy`: decides what is never stored; None: everything may be stored.
    """
    report = ImportReport()
    numbered_lines = enumerate(lines, start=1)
    screening = _Screening(privacy)
    while True:
        batch = list(islice(numbered_lines, LINES_AT_ONCE))
        if not batch:
            break
        read_lines = await asyncio.to_thread(
            _read_batch, batch, now, screening, report.refused
        )
        async with db.write() as tx:
            await _store_batch(tx, read_lines, report, now)
        await asyncio.sleep(PAUSE_S)
    # A refused line may be about somebody who was erased, so its words must not stay in a cache.
    await asyncio.to_thread(clear_text_caches)
    report.refused.sort()
    return report


# ── reading: lines are screened in a thread, before anything is written ───────────────────────


class _Screening:
    """Checks the texts of an import by the privacy settings. Without settings, everything may be stored."""

    def __init__(self, privacy: PrivacySettings | None) -> None:
        self._privacy = privacy
        # an export repeats the summary of an episode with each of its notes
        self.summary = functools.lru_cache(maxsize=1_000)(self._screened_summary)

    def fact(self, text: str) -> str:
        """Return a fact without the ages of minors. Raises FactRefused."""
        if self._privacy is None:
            return text
        # without a sentence left, the text itself is checked, and refused for the age
        fact = without_ages(text, self._privacy) or text
        try:
            checked_fact(fact, self._privacy, links=True)
        except FactRefused as refusal:
            # imported facts may have any length
            if not refusal.rule.startswith("length"):
                raise
        return fact

    def words(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the texts that may be stored, clean and in lower case."""
        folded_texts = (clean(text).casefold() for text in texts)
        return tuple(self._allowed(folded_texts))

    def _screened_summary(self, text: str) -> str:
        """Return a summary without the sentences that may not be stored."""
        sentences = sentences_of(_clean_mentions(text))
        return join_sentences(self._allowed(sentences))

    def _allowed(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the texts that may be stored."""
        for text in texts:
            if not text:
                continue
            if self._privacy is None or never_stored(text, self._privacy) is None:
                yield text


def _read_batch(
    batch: list[tuple[int, str]],
    now: int,
    screening: _Screening,
    refused: list[RefusedLine],
) -> list[ReadLine]:
    """Return the lines that can be used, and add the others to `refused`. `batch`: (line number, text)."""
    read_lines = []
    for number, text in batch:
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=NoteLine)
            read_lines.append(_checked_line(number, line, now, screening))
        except FactRefused as refusal:
            refused.append(RefusedLine(number, refusal.rule))
        except msgspec.MsgspecError as error:
            refused.append(RefusedLine(number, str(error)))
        except ODD_INPUT:
            refused.append(RefusedLine(number, "nested too deeply, or no text"))
    return read_lines


def _checked_line(
    number: int,
    line: NoteLine,
    now: int,
    screening: _Screening,
) -> ReadLine:
    """Return a line with its texts checked and its times in ms. Raises FactRefused."""
    fact = _clean_mentions(line.fact)
    if not fact:
        raise FactRefused("the fact is empty")
    if line.status is not NoteStatus.ACTIVE:
        raise FactRefused(NO_NOTE)
    subject = _subject_of(line)
    fact = screening.fact(fact)
    screened_line = msgspec.structs.replace(
        line,
        topics=screening.words(line.topics),
        asked_with=screening.words(line.asked_with),
    )
    said_at = _parsed_time("observed_at", line.observed_at)
    expires_at = _parsed_time("expires_at", line.expires_at)
    key = None
    summary = ""
    if line.episode is not None:
        key = line.episode.key
        summary = screening.summary(line.episode.summary)
    return ReadLine(
        number=number,
        line=screened_line,
        fact=fact,
        said_at=now if said_at is None else said_at,
        expires_at=expires_at,
        subject=subject,
        key=key,
        summary=summary,
    )


def _subject_of(line: NoteLine) -> str | None:
    """Return the id or login that a line is about; None for a fact about the channel. Raises FactRefused."""
    names_viewer = line.viewer is not None
    if names_viewer != (line.scope is Scope.VIEWER):
        raise FactRefused(
            "scope viewer needs a viewer; channel and running_bit have none"
        )
    if line.viewer is None:
        return None
    login = line.viewer.strip().removeprefix("@").casefold()
    subject = login.removeprefix(PROVISIONAL)
    if not re.fullmatch(r"[a-z0-9_.-]{1,50}", subject):
        raise FactRefused("viewer is neither a login nor a Twitch ID")
    return subject


def _clean_mentions(text: str) -> str:
    """Return a text, clean, in which only viewers are mentioned: any other mention becomes "somebody"."""

    def checked_mention(match: re.Match[str]) -> str:
        """Return a mention of a viewer's id as it is, and "somebody" for any other."""
        viewer_id = match[1]
        if viewer_id.isdigit() or viewer_id.startswith(PROVISIONAL):
            return match[0]
        return SOMEBODY

    return MENTION.sub(checked_mention, clean(text))


def _parsed_time(key: str, value: str | None) -> int | None:
    """Return a time in milliseconds since 1970; None if `value` is None. Raises FactRefused."""
    if value is None:
        return None
    try:
        return parse_iso(value)
    except (ValueError, OverflowError) as error:
        raise FactRefused(f"{key} is no ISO 8601 time") from error


# ── writing: some lines, in one transaction ───────────────────────────────────────────────────


async def _store_batch(
    tx: Transaction,
    batch: Sequence[ReadLine],
    report: ImportReport,
    now: int,
) -> None:
    """Store the lines of a batch that may be stored, with their people and evidence. Add to the report."""
    subjects = await _subjects(tx, batch)
    subject_ids = set(subjects.values())
    known_viewers = set(await viewers.existing(tx, subject_ids))
    accepted, ids_in_use = await _accepted(
        tx, batch, subjects, known_viewers, report.refused
    )
    report.viewers += await _add_people(tx, accepted, known_viewers, now)
    episode_ids, new_episodes = await _add_episodes(tx, accepted, now)
    report.episodes += new_episodes
    # a line without a note id gets one above those of the memory and of the batch
    highest_id = max([await tx.highest_id("semantic_notes"), *ids_in_use])
    free_ids = count(highest_id + 1)
    new_notes = []
    stances = []
    for read_line, episode_id in zip(accepted, episode_ids, strict=True):
        note_id = read_line.line.id or next(free_ids)
        new_notes.append(_new_note(read_line, note_id))
        stance = Stance(
            note_id=note_id,
            episode_id=episode_id,
            stance="stated",
            # it was not said in chat
            speaker_id=None,
            addressed=False,
            at=read_line.said_at,
        )
        stances.append(stance)
    await notes.insert_many(tx, new_notes, cause="import", now=now)
    await notes.add_evidence(tx, *stances)
    report.imported += len(new_notes)


async def _accepted(
    tx: Transaction,
    batch: Sequence[ReadLine],
    subjects: Mapping[int, str],
    known_viewers: Container[str],
    refused: list[RefusedLine],
) -> tuple[list[ReadLine], set[int]]:
    """Return the lines that may be stored, with the ids of their people, and all note ids in use.

    The others are added to `refused`. A line loses its note id if that is in use. `subjects`: the id of the person that
    each line is about, by line number.
    """
    opted_out = await privacy_choices.opted_out(tx)
    wanted_ids = [
        read_line.line.id for read_line in batch if read_line.line.id is not None
    ]
    ids_in_use = await notes.ids_in_use(tx, wanted_ids)
    stored_facts: dict[str | None, set[tuple[str, str]]] = {}
    accepted = []
    for read_line in batch:
        viewer_id = subjects.get(read_line.number)
        if read_line.subject is not None and viewer_id is None:
            refused.append(RefusedLine(read_line.number, SEVERAL))
            continue
        if viewer_id not in stored_facts:
            stored_facts[viewer_id] = await notes.facts_of(tx, viewer_id)
        note_id = read_line.line.id
        id_is_free = note_id is not None and note_id not in ids_in_use
        fact = (read_line.fact, read_line.line.persona)
        is_stored = fact in stored_facts[viewer_id]
        is_known = viewer_id in known_viewers
        reason = _request_against(tx, read_line, viewer_id, opted_out, known=is_known)
        # a line with a free note id is a note of its own, even if the same fact is stored
        if reason is None and is_stored and not id_is_free:
            reason = KNOWN
        if reason is not None:
            refused.append(RefusedLine(read_line.number, reason))
            continue
        stored_facts[viewer_id].add(fact)
        line = read_line.line
        if note_id is not None and id_is_free:
            ids_in_use.add(note_id)
        else:
            line = msgspec.structs.replace(line, id=None)
        storable_line = _without_erased(tx, read_line)
        accepted.append(storable_line._replace(subject=viewer_id, line=line))
    return accepted, ids_in_use


def _new_note(read_line: ReadLine, note_id: int) -> NewNote:
    """Return the note that a line becomes."""
    line = read_line.line
    return NewNote(
        scope=line.scope,
        subject_id=read_line.subject,
        fact=read_line.fact,
        confidence=line.confidence,
        source_kind=line.source_kind,
        at=read_line.said_at,
        id=note_id,
        importance=line.importance,
        topics=line.topics,
        asked_with=line.asked_with,
        expires_at=read_line.expires_at,
        pinned=line.pinned,
        persona=line.persona,
    )


async def _subjects(tx: Transaction, batch: Sequence[ReadLine]) -> dict[int, str]:
    """Return by line number the id of the person that each line is about.

    A file names people by id or by login. A line is left out if its login had several owners, and its time does not
    tell which of them is meant.
    """
    ids_or_logins = {
        read_line.subject for read_line in batch if read_line.subject is not None
    }
    provisional_ids = {provisional_id(login) for login in ids_or_logins}
    known_ids = set(await viewers.existing(tx, ids_or_logins | provisional_ids))
    # by login: who had it, and from when until when
    spans_by_login = await names.spans_by_login(tx, ids_or_logins)
    subjects: dict[int, str] = {}
    for read_line in batch:
        id_or_login = read_line.subject
        if id_or_login is None:
            continue
        spans = spans_by_login.get(id_or_login)
        # digits are an id, unless they are a known login
        is_new_id = id_or_login.isdigit() and spans is None
        if id_or_login in known_ids or is_new_id:
            subjects[read_line.number] = id_or_login
        elif spans is None:
            # nobody is known to have had this login: the login stands for them until they are seen
            subjects[read_line.number] = provisional_id(id_or_login)
        else:
            viewer_id = meant_at(spans, read_line.said_at)
            if viewer_id is not None:
                subjects[read_line.number] = viewer_id
    return subjects


async def _add_people(
    tx: Transaction,
    accepted: Sequence[ReadLine],
    known_viewers: Collection[str],
    now: int,
) -> int:
    """Store the new subjects and everybody who is mentioned; return the number of new subjects."""
    subjects = {
        read_line.subject for read_line in accepted if read_line.subject is not None
    }
    new_subjects = subjects.difference(known_viewers)
    everybody = set(new_subjects)
    for read_line in accepted:
        everybody.update(ids_in(f"{read_line.fact} {read_line.summary}"))
    logins: dict[str, str | None] = {}
    for viewer_id in sorted(everybody):
        login = viewer_id.removeprefix(PROVISIONAL)
        # the id of a person who is only known by login contains that login
        is_provisional = login != viewer_id
        logins[viewer_id] = login if is_provisional and is_login(login) else None
    await viewers.add_unseen(tx, logins, now)
    return len(new_subjects)


async def _add_episodes(
    tx: Transaction,
    accepted: Sequence[ReadLine],
    now: int,
) -> tuple[list[int], int]:
    """Store the episodes of the lines that are new; return the episode id of each line and the number of new ones.

    Lines with the same key share an episode, and a line without a key gets its own. The subjects are stored as its
    people.
    """
    # an earlier import may have brought an episode with the same key
    keys = {read_line.key for read_line in accepted if read_line.key is not None}
    known_episodes = await episodes.ids_by_key(tx, sorted(keys))
    free_ids = count(await tx.highest_id("episodes") + 1)
    new_episodes = []
    episode_ids = []
    people = []
    for read_line in accepted:
        episode_id = None
        if read_line.key is not None:
            episode_id = known_episodes.get(read_line.key)
        if episode_id is None:
            episode_id = next(free_ids)
            summary = read_line.summary or "Imported."
            new_episodes.append((episode_id, read_line.key, read_line.said_at, summary))
        # the next line with this key has the same episode
        if read_line.key is not None:
            known_episodes[read_line.key] = episode_id
        episode_ids.append(episode_id)
        if read_line.subject is not None:
            people.append((episode_id, read_line.subject))
    await episodes.insert_imported(tx, new_episodes, now)
    await episodes.add_people(tx, people)
    return episode_ids, len(new_episodes)


def _request_against(
    tx: Transaction,
    read_line: ReadLine,
    viewer_id: str | None,
    opted_out: Container[str],
    *,
    known: bool,
) -> str | None:
    """Return why the subject's privacy requests refuse a line; None if they do not.

    `known`: the subject is stored here. `opted_out`: the ids of those who opted out.
    """
    if viewer_id is None:
        return None
    if viewer_id in opted_out:
        return OPTED_OUT
    # -1 if they were not erased; somebody who came back after an erasure is known again
    erased_at = tx.requests.erased_at(viewer_id)
    if erased_at >= 0 and (not known or read_line.said_at <= erased_at):
        return ERASED
    if tx.requests.is_forgotten(viewer_id, fact_stems(read_line.fact)):
        return FORGOTTEN
    return None


def _without_erased(tx: Transaction, read_line: ReadLine) -> ReadLine:
    """Return a line without people who were erased: "somebody" in the fact, no sentences about them in the summary.

    As in an erasure, a login without an @ counts as a name only if it is unlike any ordinary word.
    """
    if not tx.requests.has_erasures():
        return read_line

    def with_mention(match: re.Match[str]) -> str:
        """Return the login of an erased person as a mention, and any other word as it is."""
        word = match[0]
        login = word.removeprefix("@").casefold()
        is_name = word.startswith("@") or is_distinct(login)
        if not is_name or not is_login(login):
            return word
        viewer_id = provisional_id(login)
        is_erased = tx.requests.erased_at(viewer_id) >= 0
        return mention(viewer_id) if is_erased else word

    fact = _WORD.sub(with_mention, read_line.fact)
    summary = _WORD.sub(with_mention, read_line.summary)
    for viewer_id in ids_in(f"{fact} {summary}"):
        if tx.requests.erased_at(viewer_id) >= 0:
            fact = fact.replace(mention(viewer_id), SOMEBODY)
            summary = without_person(summary, viewer_id)
    return read_line._replace(fact=fact, summary=summary)


# ── export: notes as JSON lines ───────────────────────────────────────────────────────────────

_UNCHANGED_KEYS = (
    "id",
    "scope",
    "fact",
    "topics",
    "status",
    "source_kind",
    "importance",
    "asked_with",
    "superseded_by",
    "pinned",
    "persona",
)


async def export_notes(
    db: Database,
    *,
    subject_id: str | None = None,
    status: str | None = None,
) -> AsyncIterator[dict[str, object]]:
    """Yield the notes as lines of an export, in order of their ids.

    People who opted out or were banned are left out: a reader of the file does not know about that. `subject_id`: only
    this person's notes, even if they are hidden. `status`: only notes of this status.
    """
    last_id = 0
    while True:
        # in the reader's thread, because making a page of notes would hold up the event loop for 10 to 15 ms
        read_page = functools.partial(
            notes.page,
            subject_id=subject_id,
            status=status,
            limit=NOTES_AT_ONCE,
            after=last_id,
        )
        batch = await db.together(read_page)
        if not batch:
            return
        last_id = batch[-1].id
        first_episodes = {}
        subject_ids = set()
        for note in batch:
            # an import takes one episode for each note
            if note.episode_ids:
                first_episodes[note.id] = note.episode_ids[0]
            if note.subject_id is not None:
                subject_ids.add(note.subject_id)
        evidence = await episodes.keys_and_summaries(db, first_episodes.values())
        people = sorted(subject_ids)
        logins = await viewers.logins(db, people)
        # where one person is asked for, they are exported, hidden or not
        hidden: Collection[str] = ()
        if subject_id is None:
            hidden = await viewers.hidden(db, people)
        for note in batch:
            if note.subject_id in hidden:
                continue
            line = _exported(note, logins)
            episode_id = first_episodes.get(note.id)
            # the episode may have been deleted meanwhile
            if episode_id in evidence:
                line["episode"] = evidence[episode_id]
            yield line


def _exported(note: Note, logins: Mapping[str, str]) -> dict[str, object]:
    """Return a note as a line of an export, still without its episode."""
    expires_at = None
    if note.expires_at is not None:
        expires_at = iso(note.expires_at)
    unchanged = {key: getattr(note, key) for key in _UNCHANGED_KEYS}
    return {
        **unchanged,
        "viewer": note.subject_id,
        # None for the channel
        "login": logins.get(note.subject_id or ""),
        "confidence": round(note.confidence, 4),
        "observed_at": iso(note.last_confirmed_at),
        "expires_at": expires_at,
    }
