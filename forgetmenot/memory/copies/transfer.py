"""Notes into the memory as JSON lines, for moves and measurements; memory/copies/notes_out writes them.

Promises that a bad line is refused by its number and with its reason while the others go in, also one that would bring
back what was erased (memory/copies/admission); that imported notes have an episode as evidence, and are permanent
unless the line says otherwise; and that some thousand lines are one transaction, so that a stop half way leaves whole
batches. It does not merge or cap anything unless asked to (`merge`).
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, islice
from multiprocessing import get_context
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from forgetmenot.clock import parse_iso
from forgetmenot.domain.memory import EpisodeKind, Importance, NoteStatus, Scope, SourceKind
from forgetmenot.memory.copies.admission import Gate, erased_people
from forgetmenot.memory.notes import beliefs
from forgetmenot.memory.notes.beliefs import Said
from forgetmenot.memory.notes.proposals import Refused, checked_fact
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes, evidence, identities, notes, viewers
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.episodes import OwnEpisode
from forgetmenot.store.evidence import Stance
from forgetmenot.store.notes import NewNote
from forgetmenot.text.clean import clean

AT_ONCE = 4_000
BATCHES_ALONE = 3  # before helpers are worth their start
BATCHES_AHEAD = 6
Text = Annotated[str, Meta(min_length=1, max_length=4000)]


class EpisodeLine(msgspec.Struct, frozen=True):
    """The evidence that a line brings along."""

    key: Text
    summary: str = ""


class NoteLine(msgspec.Struct, frozen=True):
    """One line of an import."""

    fact: Text
    scope: Scope = Scope.VIEWER
    viewer: str | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] = 0.9
    observed_at: str | None = None
    topics: tuple[str, ...] = ()
    persona: Annotated[str, Meta(max_length=60)] = ""
    id: Annotated[int, Meta(ge=1, le=2**62)] | None = None
    episode: EpisodeLine | None = None
    status: NoteStatus = NoteStatus.ACTIVE
    source_kind: SourceKind = SourceKind.IMPORT
    importance: Importance = Importance.MEDIUM
    asked_with: tuple[str, ...] = ()
    expires_at: str | None = None
    superseded_by: int | None = None
    pinned: bool = False


class RefusedLine(NamedTuple):
    """A line that did not go in."""

    line: int
    reason: str


@dataclass(slots=True)
class ImportReport:
    """What an import did; `merged`: confirmed or superseded something known (only with `merge`)."""

    imported: int = 0
    merged: int = 0
    episodes: int = 0
    viewers: int = 0
    refused: list[RefusedLine] = field(default_factory=list)


class _Read(NamedTuple):
    """A line that can be used. `viewer`: an id, or a login in lower case."""

    number: int
    line: NoteLine
    fact: str
    at: int
    expires_at: int | None
    viewer: str | None


class _Terms(NamedTuple):
    """How lines are to be read; goes to the helpers of a large import."""

    now: int
    filtered: bool
    privacy: PrivacySettings


_Readable = tuple[list[_Read], list[RefusedLine]]


@dataclass(slots=True)
class _Import:
    """What stays the same from batch to batch."""

    now: int
    merge: bool
    report: ImportReport = field(default_factory=ImportReport)
    erased: Mapping[str, int] = field(default_factory=dict)
    successors: dict[int, int] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    keys: dict[str, int] = field(default_factory=dict)
    viewers: dict[str, str] = field(default_factory=dict)


async def import_notes(
    db: Database,
    lines: Iterable[str],
    *,
    now: int,
    merge: bool = False,
    filtered: bool = True,
    privacy: PrivacySettings | None = None,
) -> ImportReport:
    """Take in JSON lines. `merge`: run the guards on duplicates and conflicts; `filtered`: refuse sensitive facts."""
    state = _Import(now, merge, erased=await erased_people(db))
    async for readable, refused in _batches(lines, _Terms(now, filtered, privacy or PrivacySettings())):
        state.report.refused += refused
        async with db.write() as tx:
            await _write(tx, readable, state)
    pointers = {old: new for old, new in state.successors.items() if new in state.taken}
    if pointers:
        async with db.write() as tx:
            await notes.point(tx, pointers)
    state.report.refused.sort()
    return state.report


async def _batches(lines: Iterable[str], terms: _Terms) -> AsyncIterator[_Readable]:
    """The lines, read and screened; of a large import the later ones by helper processes, one per processor."""
    numbered = enumerate(lines, start=1)
    batches = iter(lambda: list(islice(numbered, AT_ONCE)), [])
    for batch in islice(batches, BATCHES_ALONE if terms.filtered else None):
        yield await asyncio.to_thread(_readable, batch, terms)
    following = next(batches, None)
    if following is None:
        return
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as helpers:
        waiting: deque[asyncio.Future[_Readable]] = deque()
        for batch in chain([following], batches):
            waiting.append(loop.run_in_executor(helpers, _readable, batch, terms))
            if len(waiting) > BATCHES_AHEAD:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()


def _readable(batch: list[tuple[int, str]], terms: _Terms) -> _Readable:
    found: list[_Read] = []
    refused: list[RefusedLine] = []
    decoder = msgspec.json.Decoder(NoteLine)
    for number, text in batch:
        if not text.strip():
            continue
        try:
            found.append(_read(number, decoder.decode(text), terms))
        except msgspec.MsgspecError as error:
            refused.append(RefusedLine(number, str(error)))
        except Refused as refusal:
            refused.append(RefusedLine(number, refusal.rule))
    return found, refused


def _read(number: int, line: NoteLine, terms: _Terms) -> _Read:
    fact = clean(line.fact)
    if not fact:
        raise Refused("the fact is empty")
    if (line.viewer is None) == (line.scope is Scope.VIEWER):
        raise Refused("scope viewer needs a viewer; channel and running_bit have none")
    if terms.filtered:
        _refuse_sensitive(fact, terms.privacy)
    at = terms.now if line.observed_at is None else _time("observed_at", line.observed_at)
    expires_at = None if line.expires_at is None else _time("expires_at", line.expires_at)
    return _Read(number, line, fact, at, expires_at, _login_or_id(line.viewer))


def _refuse_sensitive(fact: str, privacy: PrivacySettings) -> None:
    try:
        checked_fact(fact, allowed=frozenset(privacy.allow_categories), never=privacy.never_store, links=True)
    except Refused as refusal:
        if not refusal.rule.startswith("length"):  # imports are taken as long as they are
            raise


def _time(key: str, value: str) -> int:
    try:
        return parse_iso(value)
    except (ValueError, OverflowError) as error:
        raise Refused(f"{key} is no ISO 8601 time") from error


def _login_or_id(viewer: str | None) -> str | None:
    if viewer is None:
        return None
    name = viewer.strip().removeprefix("@").casefold().removeprefix("login:")
    if not name or len(name) > 50 or not all(char.isalnum() or char in "_.-" for char in name) or not name.isascii():
        raise Refused("viewer is neither a login nor a Twitch id")
    return name


async def _write(tx: Transaction, batch: list[_Read], state: _Import) -> None:
    batch = await _with_free_ids(tx, batch, state)
    batch = await _admitted(tx, batch, state)
    await _add_viewers(tx, batch, state)
    episodes = await _make_episodes(tx, batch, state)
    if state.merge:
        for read, episode in zip(batch, episodes, strict=True):
            await _merge(tx, read, episode, state)
        return
    await _insert(tx, batch, episodes, state)


async def _with_free_ids(tx: Transaction, batch: list[_Read], state: _Import) -> list[_Read]:
    seen = await notes.taken_ids(tx, [read.line.id for read in batch if read.line.id is not None])
    free: list[_Read] = []
    for read in batch:
        if read.line.id is not None and read.line.id in seen:
            state.report.refused.append(RefusedLine(read.number, f"id {read.line.id} is taken"))
            continue
        if read.line.id is not None:
            seen.add(read.line.id)
        free.append(read)
    return free


async def _admitted(tx: Transaction, batch: list[_Read], state: _Import) -> list[_Read]:
    """The lines that bring nobody and nothing back."""
    wanted = sorted({read.viewer for read in batch if read.viewer is not None} - state.viewers.keys())
    state.viewers.update(await viewers.find_many(tx, wanted))
    gate = await Gate.of(tx, state.erased)
    taken: list[_Read] = []
    for read in batch:
        reason = await _refusal(read, gate, state)
        if reason is None:
            taken.append(_without_erased(read, gate) if state.erased else read)
        else:
            state.report.refused.append(RefusedLine(read.number, reason))
    return taken


async def _refusal(read: _Read, gate: Gate, state: _Import) -> str | None:
    if state.merge and read.line.status is not NoteStatus.ACTIVE:
        return "only active notes can be merged"
    if read.viewer is None:
        return None
    known = state.viewers.get(read.viewer)
    viewer_id = known or _new_id(read.viewer)
    return await gate.refusal(viewer_id, read.fact, at=read.at, known=known is not None)


def _without_erased(read: _Read, gate: Gate) -> _Read:
    told = read.line.episode
    if told is not None:
        told = EpisodeLine(told.key, gate.without_erased(told.summary, cut=True))
    return read._replace(
        fact=gate.without_erased(read.fact, cut=False), line=msgspec.structs.replace(read.line, episode=told)
    )


def _new_id(name: str) -> str:
    """The id of somebody nobody has seen yet; for a login a provisional one."""
    return name if name.isdigit() else f"login:{name}"


async def _add_viewers(tx: Transaction, batch: list[_Read], state: _Import) -> None:
    """Add the people of a batch that nobody has seen yet."""
    new = sorted({read.viewer for read in batch if read.viewer is not None} - state.viewers.keys())
    await identities.add_provisional(tx, [name for name in new if not name.isdigit()], state.now)
    await identities.add_by_id(tx, [name for name in new if name.isdigit()], state.now)
    state.viewers.update({name: _new_id(name) for name in new})
    state.report.viewers += len(new)


async def _make_episodes(tx: Transaction, batch: list[_Read], state: _Import) -> list[int]:
    """The evidence episode of each line: one per key, and one for all lines of a batch that bring none."""
    keys = {read.line.episode.key for read in batch if read.line.episode is not None} - state.keys.keys()
    state.keys.update(await episodes.ids_by_key(tx, sorted(keys)))
    next_id = await episodes.highest_id(tx) + 1
    new: list[tuple[int, OwnEpisode]] = []
    found: list[int] = []
    for read in batch:
        key = read.line.episode.key if read.line.episode is not None else None
        if key is None or key not in state.keys:
            new.append((next_id, _episode(read, key)))
            if key is not None:
                state.keys[key] = next_id
            found.append(next_id)
            next_id += 1
        else:
            found.append(state.keys[key])
    await episodes.insert_imported(tx, new, state.now)
    pairs = [
        (episode, state.viewers[read.viewer])
        for read, episode in zip(batch, found, strict=True)
        if read.viewer is not None
    ]
    await episodes.add_people(tx, pairs)
    state.report.episodes += len(new)
    return found


def _episode(read: _Read, key: str | None) -> OwnEpisode:
    told = read.line.episode
    summary = clean(told.summary) if told is not None else "Imported."
    return OwnEpisode(EpisodeKind.IMPORT, summary or "Imported.", read.at, (), key)


async def _insert(tx: Transaction, batch: list[_Read], episodes: list[int], state: _Import) -> None:
    given = [read.line.id for read in batch if read.line.id is not None]
    free = _free_ids(max([await notes.highest_id(tx), *given]))
    new = [_new_note(read, state, read.line.id or next(free)) for read in batch]
    await notes.insert_many(tx, new, cause="import", now=state.now)
    await evidence.add_many(
        tx,
        (
            Stance(note.id or 0, episode, "stated", None, False, note.at)  # noqa: FBT003  # a row
            for note, episode in zip(new, episodes, strict=True)
        ),
    )
    state.report.imported += len(new)
    await _take_over_statuses(tx, batch, new, state)


async def _take_over_statuses(tx: Transaction, batch: list[_Read], new: list[NewNote], state: _Import) -> None:
    """A note that was replaced or taken back stays so; pointers are set once all lines are in."""
    pairs = [(read.line, note.id or 0) for read, note in zip(batch, new, strict=True)]
    past = [(note_id, line.status) for line, note_id in pairs if line.status is not NoteStatus.ACTIVE]
    await notes.take_over(tx, past, cause="import", now=state.now)
    state.taken.update(line.id for line, _ in pairs if line.id is not None)
    superseded = [one for one in pairs if one[0].status is NoteStatus.SUPERSEDED]
    state.successors.update({note_id: line.superseded_by for line, note_id in superseded if line.superseded_by})


def _free_ids(highest: int) -> Iterator[int]:
    while True:
        highest += 1
        yield highest


def _new_note(read: _Read, state: _Import, note_id: int | None) -> NewNote:
    return NewNote(
        id=note_id,
        scope=read.line.scope,
        subject_id=None if read.viewer is None else state.viewers[read.viewer],
        fact=read.fact,
        confidence=read.line.confidence,
        source_kind=read.line.source_kind,
        at=read.at,
        importance=read.line.importance,
        topics=_words(read.line.topics),
        asked_with=_words(read.line.asked_with),
        expires_at=read.expires_at,
        pinned=read.line.pinned,
        persona=read.line.persona,
    )


def _words(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in (clean(word).casefold() for word in given) if word)


async def _merge(tx: Transaction, read: _Read, episode: int, state: _Import) -> None:
    new = _new_note(read, state, read.line.id)
    said = Said(episode, speaker_id=None, addressed=False, at=read.at, stream_id=None)
    try:
        done = await beliefs.believe(tx, new, said, now=state.now)
    except Refused as refusal:
        state.report.refused.append(RefusedLine(read.number, refusal.rule))
        return
    state.report.imported += done.kind == "added"
    state.report.merged += done.kind != "added"
