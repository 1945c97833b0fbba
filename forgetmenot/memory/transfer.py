"""Imports and exports notes as JSON lines. A whole memory moves to another computer as a backup.

- A bad line is refused with its number and the reason; the others are taken.
- What would bring back somebody erased, or a fact that was to be forgotten, is refused; so is what is here already.
- Imported notes have an episode as evidence, and are permanent unless the line says otherwise.
- Lines are written a few at a time: whoever waits to write waits for 50 ms and not for the file.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from forgetmenot.clock import iso, parse_iso
from forgetmenot.domain import EpisodeKind, Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.errors import ODD_INPUT
from forgetmenot.memory.people import ORDINARY
from forgetmenot.memory.proposals import FactRefused, checked_fact, never_stored
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes, notes, personal_data, streams, viewers
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.episodes import OwnEpisode
from forgetmenot.store.notes import NewNote, Stance
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import MENTION, PROVISIONAL, SOMEBODY, ids_in, is_login, login_of, mention, provisional
from forgetmenot.text.removal import traces, without_person
from forgetmenot.text.words import joined, sentences_of

LINES_PER_BATCH = 1_000
WRITE_S = 0.025
"""How long a transaction should hold the file; the number of rows follows from what the last ones took."""
MOST_ROWS = 256
HIGHEST_ID = 2**40
"""Numbers are given once: an id near the end of what SQLite can count would leave none for later notes."""
OPTED_OUT = "this person opted out: nothing about them is stored"
ERASED = "this person was erased"
FORGOTTEN = "this was to be forgotten"
KNOWN = "this note is here already"
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
    login: object = None
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
    """A line that can be used, its texts clean.

    `who`: the subject as an id or a login in lower case; `login`: that of the id, if it is told; `summary`: of the
    episode of this key, if it brings one.
    """

    number: int
    line: NoteLine
    fact: str
    at: int
    expires_at: int | None
    who: str | None
    login: str | None
    key: str | None
    summary: str


@dataclass(slots=True)
class ImportReport:
    """What an import did."""

    imported: int = 0
    episodes: int = 0
    viewers: int = 0
    refused: list[RefusedLine] = field(default_factory=list)


async def import_notes(
    db: Database, lines: Iterable[str], *, now: int, privacy: PrivacySettings | None = PRIVACY
) -> ImportReport:
    """Take in JSON lines. `privacy`: what is never stored is refused; None: it is taken."""
    work, clock = _Import(now), asyncio.get_running_loop().time
    rest, most = enumerate(lines, start=1), 32
    while batch := list(islice(rest, LINES_PER_BATCH)):
        read, refused = await asyncio.to_thread(_readable, batch, now, privacy)
        work.report.refused += refused
        while read:
            async with db.write() as tx:
                began = clock()
                await work.write(tx, read[:most])
                took = clock() - began
            read = read[most:]
            most = max(1, min(MOST_ROWS, int(most * WRITE_S / max(took, 0.001))))
            await asyncio.sleep(took / 2)  # for whoever waits, also in another process
    work.report.refused.sort()
    return work.report


# Lines are read and screened in a thread, before anything is written.


def _readable(
    batch: list[tuple[int, str]], now: int, privacy: PrivacySettings | None
) -> tuple[list[ReadLine], list[RefusedLine]]:
    found: list[ReadLine] = []
    refused: list[RefusedLine] = []
    decoder = msgspec.json.Decoder(NoteLine)
    for number, text in batch:
        try:
            if re.match(r'\s*\{\s*"stream"', text):
                refused.append(RefusedLine(number, NO_NOTE))
            elif text.strip():
                found.append(_read(number, decoder.decode(text), now, privacy))
        except msgspec.MsgspecError as error:
            refused.append(RefusedLine(number, str(error)))
        except FactRefused as refusal:
            refused.append(RefusedLine(number, refusal.rule))
        except ODD_INPUT:
            refused.append(RefusedLine(number, "nested too deeply, or no text"))
    return found, refused


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
        try:
            checked_fact(fact, privacy, links=True)
        except FactRefused as refusal:
            if not refusal.rule.startswith("length"):  # imports are taken as long as they are
                raise

    def fitting(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if privacy is None or never_stored(text, privacy) is None)

    line = msgspec.structs.replace(
        line,
        topics=tuple(filter(None, (clean(word).casefold() for word in fitting(line.topics)))),
        asked_with=tuple(filter(None, (clean(word).casefold() for word in fitting(line.asked_with)))),
    )
    login = login_of(line.login.strip()) if isinstance(line.login, str) else ""  # an odd one holds up no note
    known_as = login if is_login(login) and not login.isdecimal() else None
    at, ends = _time("observed_at", line.observed_at), _time("expires_at", line.expires_at)
    key = line.episode.key if line.episode is not None else None
    summary = _people_only(line.episode.summary) if line.episode is not None else ""
    summary = joined(fitting(sentences_of(summary)))
    return ReadLine(number, line, fact, now if at is None else at, ends, who, known_as, key, summary)


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


# Writing.


@dataclass(slots=True)
class _Import:
    """One import. `facts`: what is known by subject."""

    now: int
    report: ImportReport = field(default_factory=ImportReport)
    facts: dict[str | None, set[tuple[str, str]]] = field(default_factory=dict)

    async def write(self, tx: Transaction, batch: Sequence[ReadLine]) -> None:
        """Take in some lines, in one transaction."""
        ids = await viewers.find_many(tx, sorted({read.who for read in batch if read.who is not None}))
        opted_out = await personal_data.opted_out(tx)
        held = await notes.facts_by_id(tx, [read.line.id for read in batch if read.line.id is not None])
        taken: list[tuple[ReadLine, str | None]] = []
        for read in batch:
            about = read.who and ids.get(read.who, read.who if read.who.isdigit() else provisional(read.who))
            reason = _wish_against(tx, read, about, opted_out, known=read.who in ids)
            reason = reason or await self._known(tx, read, about, held)
            if reason:
                self.report.refused.append(RefusedLine(read.number, reason))
                continue
            taken.append((_without_erased(tx, read), about))
            if read.line.id is not None:
                held.setdefault(read.line.id, (about, read.fact))
        new = {about: read.login if (read.who or "").isdigit() else read.who for read, about in taken if about}
        new = {about: login for about, login in new.items() if about not in ids.values()}
        await viewers.add_unseen(tx, new, self.now)
        self.report.viewers += len(new)
        named = {who for read, _ in taken for who in ids_in(f"{read.fact} {read.summary}")}
        logins = {who: who.removeprefix(PROVISIONAL) if who.startswith(PROVISIONAL) else None for who in named}
        await viewers.add_unseen(tx, logins, self.now)
        await self._insert(tx, taken, await self._evidence(tx, taken))

    async def _known(
        self, tx: Transaction, read: ReadLine, about: str | None, held: Mapping[int, tuple[str | None, str]]
    ) -> str | None:
        """Why a line is not taken a second time, or None: a number that is free here makes it another note."""
        if about not in self.facts:
            self.facts[about] = await notes.facts_of(tx, about)
        said, number = (read.fact, read.line.persona), read.line.id
        if (number is None or number in held) and said in self.facts[about]:
            return KNOWN
        self.facts[about].add(said)
        return None

    async def _evidence(self, tx: Transaction, taken: Sequence[tuple[ReadLine, str | None]]) -> list[int]:
        """The episode of each line: one for each key, one of its own for a line that brings none."""
        known = await episodes.ids_by_key(tx, sorted({read.key for read, _ in taken if read.key is not None}))
        free, new, found = count(await tx.highest_id("episodes") + 1), [], []
        for read, _ in taken:
            number = known.get(read.key) if read.key is not None else None
            if number is None:
                number = next(free)
                summary = read.summary or "Imported."
                new.append((number, OwnEpisode(EpisodeKind.IMPORT, summary, read.at, (), read.key)))
            if read.key is not None:
                known[read.key] = number
            found.append(number)
        await episodes.insert_imported(tx, new, self.now)
        pairs = zip(found, (about for _, about in taken), strict=True)
        await episodes.add_people(tx, [(number, about) for number, about in pairs if about is not None])
        self.report.episodes += len(new)
        return found

    async def _insert(
        self, tx: Transaction, taken: Sequence[tuple[ReadLine, str | None]], rests_on: Sequence[int]
    ) -> None:
        """Write the notes; one whose number is another note's gets a new one."""
        numbers = [read.line.id for read, _ in taken if read.line.id is not None]
        used = set(await notes.facts_by_id(tx, numbers))
        free = count(max([await tx.highest_id("semantic_notes"), *numbers]) + 1)
        new, stances = [], []
        for (read, about), episode in zip(taken, rests_on, strict=True):
            line = read.line
            number = next(free) if line.id is None or line.id in used else line.id
            used.add(number)
            new.append(
                NewNote(
                    line.scope, about, read.fact, line.confidence, line.source_kind, read.at, id=number,
                    importance=line.importance, topics=line.topics, asked_with=line.asked_with,
                    expires_at=read.expires_at, pinned=line.pinned, persona=line.persona,
                )
            )  # fmt: skip
            stances.append(Stance(number, episode, "stated", None, addressed=False, at=read.at))
        await notes.insert_many(tx, new, cause="import", now=self.now)
        await notes.add_evidence(tx, *stances)
        self.report.imported += len(new)


# Export: notes and streams as JSON lines; no chat.


async def export_notes(
    db: Database, *, subject_id: str | None = None, status: str | None = None
) -> AsyncIterator[dict[str, object]]:
    """Every note with all that is known of it, in order of ids; then the streams with who came to them.

    Without people who opted out or were banned, unless one is asked for: where it goes, nobody knows that of them.
    """
    after = 0
    while batch := await notes.page(db, subject_id=subject_id, status=status, limit=LINES_PER_BATCH, after=after):
        after = batch[-1].id
        first = {note.id: note.episode_ids[0] for note in batch if note.episode_ids}
        keys, summaries = await episodes.keys(db, first.values()), await episodes.summaries(db, first.values())
        people = sorted({note.subject_id for note in batch if note.subject_id is not None})
        logins = await viewers.logins(db, people)
        hidden = await viewers.hidden(db, people) if subject_id is None else frozenset[str]()
        for note in batch:
            if note.subject_id in hidden:
                continue
            episode = first.get(note.id, 0)
            there = episode in keys and episode in summaries  # some may go meanwhile
            yield _line_of(note, logins, (keys[episode], summaries[episode]) if there else None)
    for stream, line in (await streams.with_visitors(db)).items():
        if visits := await streams.visitors(db, stream, subject_id):
            yield {**line, "visits": visits}


def _line_of(note: Note, logins: Mapping[str, str], episode: tuple[str, str] | None) -> dict[str, object]:
    """A note as a line that an import reads; `episode`: the key and summary of its evidence."""
    as_they_are = ("id", "scope", "fact", "topics", "status", "source_kind", "importance", "asked_with")
    line: dict[str, object] = {name: getattr(note, name) for name in (*as_they_are, "superseded_by", "pinned")}
    line |= {"viewer": note.subject_id, "login": logins.get(note.subject_id or "")}
    line |= {"confidence": round(note.confidence, 4), "observed_at": iso(note.last_confirmed_at)}
    line["expires_at"] = None if note.expires_at is None else iso(note.expires_at)
    if note.persona:
        line["persona"] = note.persona
    if episode is not None:
        line["episode"] = {"key": episode[0], "summary": episode[1]}
    return line


def _wish_against(
    tx: Transaction, read: ReadLine, about: str | None, opted_out: Collection[str], *, known: bool
) -> str | None:
    """Why its subject would not want a line, or None."""
    if about is None:
        return None
    if about in opted_out:
        return OPTED_OUT
    erased_at = tx.requests.erased_at(about)
    if erased_at >= 0 and (not known or read.at <= erased_at):
        return ERASED
    return FORGOTTEN if tx.requests.is_forgotten(about, traces(read.fact)) else None


def _without_erased(tx: Transaction, read: ReadLine) -> ReadLine:
    """The line without mentions of people who were erased, and its summary without sentences about them."""
    fact, summary = (_WORD.sub(lambda found: _erased_name(tx, found[0]), text) for text in (read.fact, read.summary))
    for one in ids_in(f"{fact} {summary}"):
        if tx.requests.erased_at(one) >= 0:
            fact, summary = fact.replace(mention(one), SOMEBODY), without_person(summary, one)
    return read._replace(fact=fact, summary=summary)


def _erased_name(tx: Transaction, word: str) -> str:
    """A mention for the name of somebody who was erased; any other word as it is."""
    name = word.removeprefix("@").casefold()
    if word.startswith("<") or not is_login(name) or (name in ORDINARY and name == word.casefold()):
        return word
    return mention(provisional(name)) if tx.requests.erased_at(provisional(name)) >= 0 else word
