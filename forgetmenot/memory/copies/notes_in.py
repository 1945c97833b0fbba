"""Notes into the memory out of JSON lines (memory/copies/import_lines), for moves and measurements.

Promises that a line which would bring back what was erased is refused (memory/copies/admission); that imported notes
have an episode as evidence, and are permanent unless the line says otherwise; and that some thousand lines are one
transaction, so that a stop half way leaves whole batches. It does not merge or cap anything unless asked to (`merge`).
memory/copies/notes_out writes such lines.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from forgetmenot.domain.memory import EpisodeKind, NoteStatus
from forgetmenot.memory.copies.admission import Gate, erased_people
from forgetmenot.memory.copies.import_lines import EpisodeLine, ReadLine, RefusedLine, Terms, batches
from forgetmenot.memory.notes import beliefs
from forgetmenot.memory.notes.beliefs import Said
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episode_search, episodes, evidence, identities, notes, viewers
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.episodes import OwnEpisode
from forgetmenot.store.evidence import Stance
from forgetmenot.store.notes import NewNote
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import provisional


@dataclass(slots=True)
class ImportReport:
    """What an import did; `merged`: confirmed or superseded something known (only with `merge`)."""

    imported: int = 0
    merged: int = 0
    episodes: int = 0
    viewers: int = 0
    refused: list[RefusedLine] = field(default_factory=list)


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
    async for readable, refused in batches(lines, Terms(now, filtered, privacy or PrivacySettings())):
        state.report.refused += refused
        async with db.write() as tx:
            await _write(tx, readable, state)
    pointers = {old: new for old, new in state.successors.items() if new in state.taken}
    if pointers:
        async with db.write() as tx:
            await notes.point(tx, pointers)
    if state.report.episodes:
        await episode_search.merge(db)
    state.report.refused.sort()
    return state.report


async def _write(tx: Transaction, batch: list[ReadLine], state: _Import) -> None:
    batch = await _with_free_ids(tx, batch, state)
    batch = await _admitted(tx, batch, state)
    await _add_viewers(tx, batch, state)
    rests_on = await _make_episodes(tx, batch, state)
    if state.merge:
        for read, episode in zip(batch, rests_on, strict=True):
            await _merge(tx, read, episode, state)
        return
    await _insert(tx, batch, rests_on, state)


async def _with_free_ids(tx: Transaction, batch: list[ReadLine], state: _Import) -> list[ReadLine]:
    seen = await notes.taken_ids(tx, [read.line.id for read in batch if read.line.id is not None])
    free: list[ReadLine] = []
    for read in batch:
        if read.line.id is not None and read.line.id in seen:
            state.report.refused.append(RefusedLine(read.number, f"id {read.line.id} is taken"))
            continue
        if read.line.id is not None:
            seen.add(read.line.id)
        free.append(read)
    return free


async def _admitted(tx: Transaction, batch: list[ReadLine], state: _Import) -> list[ReadLine]:
    """The lines that bring nobody and nothing back."""
    wanted = sorted({read.viewer for read in batch if read.viewer is not None} - state.viewers.keys())
    state.viewers.update(await viewers.find_many(tx, wanted))
    gate = await Gate.of(tx, state.erased)
    taken: list[ReadLine] = []
    for read in batch:
        reason = await _refusal(read, gate, state)
        if reason is None:
            taken.append(_without_erased(read, gate) if state.erased else read)
        else:
            state.report.refused.append(RefusedLine(read.number, reason))
    return taken


async def _refusal(read: ReadLine, gate: Gate, state: _Import) -> str | None:
    if state.merge and read.line.status is not NoteStatus.ACTIVE:
        return "only active notes can be merged"
    if read.viewer is None:
        return None
    known = state.viewers.get(read.viewer)
    viewer_id = known or _new_id(read.viewer)
    return await gate.refusal(viewer_id, read.fact, at=read.at, known=known is not None)


def _without_erased(read: ReadLine, gate: Gate) -> ReadLine:
    told = read.line.episode
    if told is not None:
        told = EpisodeLine(told.key, gate.without_erased(told.summary, cut=True))
    return read._replace(
        fact=gate.without_erased(read.fact, cut=False), line=msgspec.structs.replace(read.line, episode=told)
    )


def _new_id(name: str) -> str:
    """The id of somebody nobody has seen yet; for a login a provisional one."""
    return name if name.isdigit() else provisional(name)


async def _add_viewers(tx: Transaction, batch: list[ReadLine], state: _Import) -> None:
    """Add the people of a batch that nobody has seen yet."""
    new = sorted({read.viewer for read in batch if read.viewer is not None} - state.viewers.keys())
    await identities.add_provisional(tx, [name for name in new if not name.isdigit()], state.now)
    logins = {read.viewer: read.login for read in batch}
    await identities.add_by_id(tx, {name: logins[name] for name in new if name.isdigit()}, state.now)
    state.viewers.update({name: _new_id(name) for name in new})
    state.report.viewers += len(new)


async def _make_episodes(tx: Transaction, batch: list[ReadLine], state: _Import) -> list[int]:
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


def _episode(read: ReadLine, key: str | None) -> OwnEpisode:
    told = read.line.episode
    summary = clean(told.summary) if told is not None else "Imported."
    return OwnEpisode(EpisodeKind.IMPORT, summary or "Imported.", read.at, (), key)


async def _insert(tx: Transaction, batch: list[ReadLine], rests_on: list[int], state: _Import) -> None:
    given = [read.line.id for read in batch if read.line.id is not None]
    free = _free_ids(max([await notes.highest_id(tx), *given]))
    new = [_new_note(read, state, read.line.id or next(free)) for read in batch]
    await notes.insert_many(tx, new, cause="import", now=state.now)
    await evidence.add_many(
        tx,
        (
            Stance(note.id or 0, episode, "stated", None, False, note.at)  # noqa: FBT003  # a row
            for note, episode in zip(new, rests_on, strict=True)
        ),
    )
    state.report.imported += len(new)
    await _take_over_statuses(tx, batch, new, state)


async def _take_over_statuses(tx: Transaction, batch: list[ReadLine], new: list[NewNote], state: _Import) -> None:
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


def _new_note(read: ReadLine, state: _Import, note_id: int | None) -> NewNote:
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


async def _merge(tx: Transaction, read: ReadLine, episode: int, state: _Import) -> None:
    new = _new_note(read, state, read.line.id)
    said = Said(episode, speaker_id=None, addressed=False, at=read.at, stream_id=None)
    try:
        done = await beliefs.believe(tx, new, said, now=state.now)
    except Refused as refusal:
        state.report.refused.append(RefusedLine(read.number, refusal.rule))
        return
    state.report.imported += done.kind == "added"
    state.report.merged += done.kind != "added"
