"""Imports and exports notes and streams as JSON lines (memory/transfer_format).

- A line that would bring back something erased is refused.
- Imported notes have an episode as evidence, and are permanent unless the line says otherwise.
- Lines are written in slices of a fraction of a second, and between two of them others may write.
- The same line is imported once; it is recognised by its id and fact, or its evidence and fact; a stream by its start.
- A line whose id is another note's gets a new id and keeps its own as `external_id`.
- Nothing is merged or limited without `merge`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

import msgspec

from forgetmenot.domain.memory import EpisodeKind, NoteStatus
from forgetmenot.memory.notes import note_merge
from forgetmenot.memory.notes.note_merge import ClaimSource
from forgetmenot.memory.notes.proposals import FactRefused
from forgetmenot.memory.transfer_format import EpisodeLine, ReadLine, RefusedLine, StreamLine, batches, line_of
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes, forgotten_facts, notes, opt_outs, privacy_log, streams, viewers
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.episodes import OwnEpisode
from forgetmenot.store.notes import NewNote, Stance
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import PROVISIONAL, SOMEBODY, ids_in, mention, provisional
from forgetmenot.text.removal import traces, without_person

T = TypeVar("T")

PRIVACY = PrivacySettings()

# What an import must not bring back: viewers who were erased or opted out, and facts that were forgotten. Such a line
# is refused with a reason; other lines lose their mentions of erased viewers. They are known by keyed hashes, so a
# machine without the old one's key and list knows of none of its erasures.
OPTED_OUT = "this person opted out: nothing about them is stored"
ERASED = "this person was erased"
FORGOTTEN = "this was to be forgotten"
KNOWN = "this line was imported before"
ROWS_AT_ONCE = 64
SLICE_S = 0.025
"""How long a slice of rows that are merged should hold the database."""


@dataclass(frozen=True, slots=True)
class ImportGate:
    """What holds for one batch of lines. `erased`: the time of each erasure, by hash."""

    tx: Transaction
    opted_out: Collection[str]
    forgotten: Collection[str]
    erased: Mapping[str, int]

    @classmethod
    async def of(cls, tx: Transaction, erased: Mapping[str, int]) -> "ImportGate":
        """Read what holds now. `erased`: the time (ms) of each erasure, by hash."""
        return cls(tx, await opt_outs.opted_out(tx), await forgotten_facts.subjects(tx), erased)

    def refuses(self, viewer_id: str, *, at: int, known: bool) -> str | None:
        """Why nothing of that time is taken about somebody, or None. `known`: there is such a person."""
        if viewer_id in self.opted_out:
            return OPTED_OUT
        digest = self.tx.key.digest("viewer", viewer_id) if self.erased else ""
        return ERASED if digest in self.erased and (not known or at <= self.erased[digest]) else None

    def without_erased(self, text: str, *, cut: bool) -> str:
        """The text without people who were erased. `cut`: sentences about them go, else only their mention does."""
        for one in ids_in(text) if self.erased else ():
            if self.tx.key.digest("viewer", one) in self.erased:
                text = without_person(text, one) if cut else text.replace(mention(one), SOMEBODY)
        return text


@dataclass(slots=True)
class ImportReport:
    """What an import did; `merged`: confirmed or superseded something known (only with `merge`)."""

    imported: int = 0
    merged: int = 0
    episodes: int = 0
    viewers: int = 0
    streams: int = 0
    refused: list[RefusedLine] = field(default_factory=list)


@dataclass(slots=True)
class _Import:
    """What stays the same from batch to batch."""

    now: int
    merge: bool
    dry_run: bool
    report: ImportReport = field(default_factory=ImportReport)
    erased: Mapping[str, int] = field(default_factory=dict)
    successors: dict[int, int] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)  # of the lines that are in: here by their own
    keys: dict[str, int] = field(default_factory=dict)
    viewers: dict[str, str] = field(default_factory=dict)
    new_viewers: set[str] = field(default_factory=set)
    new_keys: set[str] = field(default_factory=set)
    facts: dict[str, set[tuple[str | None, str]]] = field(default_factory=dict)
    """What was imported, as subjects and facts, by the key of the evidence."""


class _Undone(Exception):
    """Rolls a dry run's batch back."""


async def import_notes(
    db: Database,
    lines: Iterable[str],
    *,
    now: int,
    merge: bool = False,
    privacy: PrivacySettings | None = PRIVACY,
    dry_run: bool = False,
) -> ImportReport:
    """Take in JSON lines. `merge`: run the guards on duplicates and conflicts.

    `privacy`: what is never stored is refused; None: it is taken. `dry_run`: only report; every batch is written and
    rolled back.
    """
    erased = await asyncio.to_thread(privacy_log.erased, privacy_log.path_of(db.key))
    state = _Import(now, merge, dry_run, erased=erased)
    async for read, past, refused in batches(lines, now=now, privacy=privacy):
        state.report.refused += refused
        await _in_slices(db, state, read, _write)
        await _in_slices(db, state, past, _write_streams)
    if not dry_run:
        pointers = [(note, state.numbers[by]) for note, by in state.successors.items() if by in state.numbers]
        await _in_slices(db, state, pointers, lambda tx, part, _: notes.set_successors(tx, dict(part)))
        if state.new_keys:
            await db.merge_search_index()
    state.report.episodes, state.report.viewers = len(state.new_keys), len(state.new_viewers)
    state.report.refused.sort()
    return state.report


async def _in_slices(
    db: Database,
    state: _Import,
    rows: Sequence[T],
    write: Callable[[Transaction, Sequence[T], _Import], Awaitable[None]],
) -> None:
    """Write rows in order, in transactions that leave the database free again soon; rolled back in a dry run.

    Where rows are merged the clock decides after each: one may take a hundred times as long as another.
    """
    clock, step, done = asyncio.get_running_loop().time, 1 if state.merge else ROWS_AT_ONCE, 0
    while done < len(rows):
        before = dict(state.viewers), dict(state.keys)
        began = clock()
        with contextlib.suppress(_Undone):
            async with db.write() as tx:
                began = clock()
                in_time = True
                while done < len(rows) and in_time:
                    await write(tx, rows[done : done + step], state)
                    done += step
                    in_time = state.merge and clock() - began < SLICE_S
                if state.dry_run:
                    state.viewers, state.keys = before  # what was added is not there
                    raise _Undone
        await asyncio.sleep((clock() - began) / 2)  # for whoever waits, also in another process


async def _write(tx: Transaction, batch: Sequence[ReadLine], state: _Import) -> None:
    wanted = sorted({read.viewer for read in batch if read.viewer is not None} - state.viewers.keys())
    state.viewers.update(await viewers.find_many(tx, wanted))
    batch = await _admitted(tx, batch, state)
    await _add_viewers(tx, {read.viewer: read.login for read in batch if read.viewer is not None}, state)
    await viewers.add_unseen(tx, _mentioned(batch), state.now)
    rests_on = await _make_episodes(tx, batch, state)
    if state.merge:
        for read, episode in zip(batch, rests_on, strict=True):
            await _merge(tx, read, episode, state)
        return
    await _insert(tx, batch, rests_on, state)


def _subject(read: ReadLine, state: _Import) -> str | None:
    return None if read.viewer is None else state.viewers.get(read.viewer, _new_id(read.viewer))


async def _admitted(tx: Transaction, batch: Sequence[ReadLine], state: _Import) -> list[ReadLine]:
    """The lines that are not here yet and bring nobody and nothing back.

    One whose number is taken gets a new one and keeps its own as `external`.
    """
    gate = await ImportGate.of(tx, state.erased)
    keys = {_key(tx, read) for read in batch} - state.facts.keys()
    state.facts.update(await episodes.imported_facts(tx, sorted(keys)))
    held = await notes.facts_by_id(tx, [read.line.id for read in batch if read.line.id is not None])
    taken: list[ReadLine] = []
    for read in batch:
        if reason := _known(tx, read, held, state) or await _refusal(read, gate, state):
            state.report.refused.append(RefusedLine(read.number, reason))
            continue
        number, new = read.line.id, _without_erased(read, gate) if state.erased else read
        if number in held:
            new = new._replace(line=msgspec.structs.replace(new.line, id=None), external=number)
        elif number is not None:
            held[number] = (_subject(read, state), read.fact)
        taken.append(new)
    return taken


def _key(tx: Transaction, read: ReadLine) -> str:
    """The key of a line's evidence; of one that brings none a keyed hash of what it says."""
    line = read.line
    if line.episode is not None:
        return line.episode.key
    parts = (line.scope.value, read.viewer or "", read.fact, line.observed_at or "", line.persona)
    return f"import:{tx.key.digest('import', *parts)}"


def _known(tx: Transaction, read: ReadLine, held: Mapping[int, tuple[str | None, str]], state: _Import) -> str | None:
    """Why a line is not taken a second time, or None: by its number, else by its evidence."""
    number, said = read.line.id, (_subject(read, state), read.fact)
    if number is not None and number not in held:
        return None
    if number is not None and held[number] == said:
        state.numbers[number] = number
        if read.line.superseded_by:  # an import that was stopped has not set it
            state.successors[number] = read.line.superseded_by
        return KNOWN
    found = state.facts.setdefault(_key(tx, read), set())
    if said in found or (found and read.line.episode is None):
        return KNOWN
    found.add(said)
    return None


async def _refusal(read: ReadLine, gate: ImportGate, state: _Import) -> str | None:
    if state.merge and read.line.status is not NoteStatus.ACTIVE:
        return "only active notes can be merged"
    if read.viewer is None:
        return None
    viewer_id = state.viewers.get(read.viewer, _new_id(read.viewer))
    if reason := gate.refuses(viewer_id, at=read.at, known=read.viewer in state.viewers):
        return reason
    if not gate.forgotten or gate.tx.key.digest("viewer", viewer_id) not in gate.forgotten:
        return None
    forgotten = await forgotten_facts.is_forgotten(gate.tx, viewer_id, traces(read.fact), own_since=None)
    return FORGOTTEN if forgotten else None


def _without_erased(read: ReadLine, gate: ImportGate) -> ReadLine:
    episode = read.line.episode
    if episode is not None:
        episode = EpisodeLine(episode.key, gate.without_erased(episode.summary, cut=True))
    return read._replace(
        fact=gate.without_erased(read.fact, cut=False), line=msgspec.structs.replace(read.line, episode=episode)
    )


def _new_id(name: str) -> str:
    """The id of somebody nobody has seen yet; for a login a provisional one."""
    return name if name.isdigit() else provisional(name)


def _mentioned(batch: Iterable[ReadLine]) -> dict[str, str | None]:
    """The ids that stand in the texts of these lines, each with the login that a provisional one has."""
    texts = (text for read in batch for text in (read.fact, read.line.episode.summary if read.line.episode else ""))
    ids = {who for text in texts for who in ids_in(text)}
    return {who: who.removeprefix(PROVISIONAL) if who.startswith(PROVISIONAL) else None for who in ids}


async def _add_viewers(tx: Transaction, logins: Mapping[str, str | None], state: _Import) -> None:
    """Add those of these people (with the login that is named for them) whom nobody has seen yet."""
    new = sorted(logins.keys() - state.viewers.keys())
    await viewers.add_unseen(tx, {_new_id(name): logins[name] if name.isdigit() else name for name in new}, state.now)
    state.viewers.update({name: _new_id(name) for name in new})
    state.new_viewers.update(new)


async def _make_episodes(tx: Transaction, batch: Sequence[ReadLine], state: _Import) -> list[int]:
    """The evidence episode of each line: one per key."""
    keys = {_key(tx, read) for read in batch} - state.keys.keys()
    state.keys.update(await episodes.ids_by_key(tx, sorted(keys)))
    free = count(await tx.highest_id("episodes") + 1)
    new: list[tuple[int, OwnEpisode]] = []
    for read in batch:
        key, episode = _key(tx, read), read.line.episode
        if key not in state.keys:
            summary = episode.summary if episode is not None else ""
            state.keys[key] = next(free)
            new.append((state.keys[key], OwnEpisode(EpisodeKind.IMPORT, summary or "Imported.", read.at, (), key)))
            state.new_keys.add(key)
    await episodes.insert_imported(tx, new, state.now)
    found = [state.keys[_key(tx, read)] for read in batch]
    people = [None if read.viewer is None else state.viewers[read.viewer] for read in batch]
    pairs = zip(found, people, strict=True)
    await episodes.add_people(tx, [(episode, viewer) for episode, viewer in pairs if viewer is not None])
    return found


async def _insert(tx: Transaction, batch: Sequence[ReadLine], rests_on: list[int], state: _Import) -> None:
    given = [read.line.id for read in batch if read.line.id is not None]
    free = count(max([await tx.highest_id("semantic_notes"), *given]) + 1)
    new = [_new_note(read, state, read.line.id or next(free)) for read in batch]
    await notes.insert_many(tx, new, cause="import", now=state.now)
    stated = [
        Stance(note.id or 0, episode, "stated", None, addressed=False, at=note.at)
        for note, episode in zip(new, rests_on, strict=True)
    ]
    await notes.add_evidence(tx, *stated)
    for read, note in zip(batch, new, strict=True):
        number = note.id or 0
        if old := read.line.id or read.external:
            state.numbers[old] = number
        if note.status is NoteStatus.SUPERSEDED and read.line.superseded_by:  # set once all lines are in
            state.successors[number] = read.line.superseded_by
    state.report.imported += len(new)


def _new_note(read: ReadLine, state: _Import, note_id: int | None) -> NewNote:
    return NewNote(
        id=note_id,
        scope=read.line.scope,
        subject_id=None if read.viewer is None else state.viewers[read.viewer],
        fact=read.fact,
        confidence=read.line.confidence,
        source_kind=read.line.source_kind,
        at=read.at,
        status=read.line.status,
        importance=read.line.importance,
        topics=_words(read.line.topics),
        asked_with=_words(read.line.asked_with),
        expires_at=read.expires_at,
        pinned=read.line.pinned,
        persona=read.line.persona,
        external_id=read.external,
    )


def _words(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in (clean(word).casefold() for word in given) if word)


async def _merge(tx: Transaction, read: ReadLine, episode: int, state: _Import) -> None:
    new = _new_note(read, state, read.line.id)
    origin = ClaimSource(episode, speaker_id=None, addressed=False, at=read.at, stream_id=None)
    try:
        done = await note_merge.merge_claim(tx, new, origin, now=state.now)
    except FactRefused as refusal:
        state.report.refused.append(RefusedLine(read.number, refusal.rule))
        return
    state.report.imported += done.kind == "added"
    state.report.merged += done.kind != "added"


async def _write_streams(tx: Transaction, batch: Sequence[StreamLine], state: _Import) -> None:
    """Add past streams with who came to them; of a stream that is here, who is missing."""
    gate = await ImportGate.of(tx, state.erased)
    wanted = sorted({visit[0] for read in batch for visit in read.visits} - state.viewers.keys())
    state.viewers.update(await viewers.find_many(tx, wanted))
    for read in batch:
        stream, new = await streams.past(tx, read.stream, read.ended_at, read.twitch_id, read.title, read.category)
        came = []
        for name, login, first_at, last_at, lines in read.visits:
            known = name in state.viewers
            viewer_id = state.viewers.get(name, _new_id(name))
            if gate.refuses(viewer_id, at=last_at, known=known) is None:
                await _add_viewers(tx, {name: login}, state)
                came.append((viewer_id, stream, first_at, last_at, lines))
        await streams.attended(tx, came)
        state.report.streams += new


# Export: notes and streams as JSON lines that the import reads again; no chat.


async def export_notes(
    db: Database, *, subject_id: str | None = None, status: str | None = None
) -> AsyncIterator[dict[str, object]]:
    """Every note as a line that `import_notes` takes again, with all that it takes over, in order of ids; then streams.

    Without people who opted out or were banned, unless one is asked for: where it goes, nobody knows that of them.
    """
    after = 0
    while batch := await notes.page(db, subject_id=subject_id, status=status, limit=1_000, after=after):
        after = batch[-1].id
        first = {note.id: note.episode_ids[0] for note in batch if note.episode_ids}
        keys, summaries = await episodes.keys(db, first.values()), await episodes.summaries(db, first.values())
        found = {
            one: (keys[one], summary) for one, summary in summaries.items() if one in keys
        }  # some may go meanwhile
        people = sorted({note.subject_id for note in batch if note.subject_id is not None})
        logins = await viewers.logins(db, people)
        hidden = await viewers.hidden(db, people) if subject_id is None else frozenset[str]()
        for note in batch:
            if note.subject_id in hidden:
                continue
            yield line_of(note, logins, found.get(first.get(note.id, 0)))
    for stream, line in (await streams.with_visitors(db)).items():
        if visits := await streams.visitors(db, stream, subject_id):
            yield {**line, "visits": visits}
