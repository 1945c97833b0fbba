"""Searches again for what a receipt says is gone.

Guarantees:
- What is searched for comes from whoever asks: their id and login, as Twitch shows them with their line, or what the
  streamer types. A receipt does not say who it is about (`store/receipts`).
- Of a forgotten fact the words are not stored either: it is known again by the keyed hashes with which it is kept from
  being learned (`store/privacy_requests`).
- A viewer may type a few codes in an hour. A right one shows numbers of nobody.
"""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from msgspec import Struct, field

from forgetmenot.durations import DAY
from forgetmenot.errors import StoreError
from forgetmenot.privacy import recap_files
from forgetmenot.privacy.erasure import (
    doubtful_places,
    files_of,
    name_forms,
    searched_files,
)
from forgetmenot.store import backup, leftovers, note_words
from forgetmenot.store.database import Database
from forgetmenot.store.note_keys import key_of
from forgetmenot.store.personal_data import Moment
from forgetmenot.store.receipts import Receipt, ReceiptKind
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.removal import (
    NameForms,
    clauses_about,
    fact_stems,
    is_distinct,
)
from forgetmenot.text.words import stem

# Codes that one viewer may type. There are 47 million.
CODES_AN_HOUR = 5
# Places that a message in chat names: all of them would not fit.
MOST_PLACES_IN_CHAT = 5
# Texts that name people as mentions, a sentence at a time.
_BY_SENTENCE = frozenset({"episodes", "streams", "channel_state", "briefs"})
_NO_LETTER = re.compile("[^a-z]")

# Whether a text states a fact.
StatesFact = Callable[[str], bool]


class SearchResult(Struct):
    """What a search read and found."""

    tables: int = 0
    files: int = 0
    bytes: int = 0
    # by table or file, how often the person or the fact was there
    traces: Counter[str] = field(default_factory=Counter)
    # what was written after the day of the receipt, or since they came back
    newer: Counter[str] = field(default_factory=Counter)
    is_back: bool = False
    # texts with a word that may be their name
    doubtful: int = 0
    # texts that mention somebody of whom nothing else is stored
    unknown: int = 0


def code_typed(text: str) -> str:
    """Return a code as it is stored, of one that was typed "BCD-FGH."."""
    return _NO_LETTER.sub("", text.casefold())


def places_for_chat(places: Counter[str]) -> Counter[str]:
    """Return the places with the most, and the number of the others as "elsewhere".

    All files are one place, "files": a message in chat loses names of files.
    """
    named: Counter[str] = Counter()
    for place, count in places.items():
        named["files" if "." in place else place] += count
    shown = Counter(dict(named.most_common(MOST_PLACES_IN_CHAT)))
    others = named.total() - shown.total()
    if others:
        shown["elsewhere"] = others
    return shown


async def search_again(
    db: Database,
    receipt: Receipt,
    viewer_id: str,
    names: Sequence[str],
) -> SearchResult:
    """Search for what a receipt says is gone, of whoever asks. Raises StoreError."""
    if receipt.kind is ReceiptKind.FACT:
        return await search_for_facts(db, viewer_id, forgotten_facts(db, viewer_id))
    return await search_for_person(db, viewer_id, names, receipt)


async def search_for_person(
    db: Database,
    viewer_id: str,
    names: Sequence[str],
    receipt: Receipt,
) -> SearchResult:
    """Search every table and file for somebody. Raises StoreError."""
    recaps = await recap_files.all_files(db)
    result = await asyncio.to_thread(
        _search,
        db.path,
        viewer_id,
        names,
        recaps,
        receipt.day,
    )
    # The index of notes keeps words as numbers, which no search of texts finds.
    # A name that may be a word proves nothing: notes about others have that word.
    distinct_names = [name for name in names if is_distinct(name)]
    keys = [key_of(stem(name)) for name in distinct_names]
    indexed = await note_words.notes_by_word(db, keys)
    if indexed:
        places = result.newer if result.is_back else result.traces
        places["note_words"] = len(indexed)
    return result


def _search(
    path: Path,
    viewer_id: str,
    names: Sequence[str],
    recaps: Sequence[Path],
    day: int,
) -> SearchResult:
    """Search the tables first, then the files, each byte of them. Runs in a thread."""
    # Somebody who wrote again since the erasure has rows, which are not left of it.
    first_seen = leftovers.first_seen(path)
    seen_at = first_seen.get(viewer_id, -1)
    is_back = seen_at >= day
    # A receipt has its day alone: what was written on that day counts as left.
    newer_from = day + DAY
    if is_back:
        newer_from = min(newer_from, seen_at)
    person = name_forms(path, viewer_id, names)
    result = SearchResult(tables=len(leftovers.tables_of(path)), is_back=is_back)
    result.unknown = _count_unknown(path, first_seen.keys())
    result.doubtful = len(doubtful_places(path, person, Moment(viewer_id, newer_from)))
    # An empty needle would stand in every row.
    needles = [piece for piece in (*person.needles, viewer_id.lower()) if piece]
    for row in leftovers.rows_with(path, needles):
        if not any(_is_theirs(text, person) for text in row.texts):
            continue
        # A row without a time is new if they are back at all.
        is_newer = is_back if row.at is None else row.at >= newer_from
        places = result.newer if is_newer else result.traces
        places[row.table] += 1
    is_stored = bool(result.traces or result.newer)
    memory_files = (path, path.with_name(f"{path.name}-wal"))
    for file in searched_files([*files_of(path), *recaps], person):
        result.files += 1
        result.bytes += file.size
        # what was just found in rows is in the file of the memory as well
        is_counted = is_stored and file.path in memory_files
        if file.count and not is_counted:
            is_newer = is_back and file.written_at >= newer_from
            places = result.newer if is_newer else result.traces
            places[_shown_name(file.path, path.parent)] += file.count
    return result


def _shown_name(file: Path, folder: Path) -> str:
    """Return the name of a file with its folder, if that is in the data folder."""
    if file.is_relative_to(folder):
        return str(file.relative_to(folder))
    return file.name


def _is_theirs(text: str, person: NameForms) -> bool:
    """Return whether a column is their id or has one of their names."""
    is_id = bool(text) and text == person.viewer_id
    if is_id:
        return True
    return person.anonymized(text) != text


def _count_unknown(path: Path, known_ids: AbstractSet[str]) -> int:
    """Return how many texts mention somebody of whom no row is stored."""
    count = 0
    for text in leftovers.texts_with_mentions(path):
        if not known_ids >= set(ids_in(text)):
            count += 1
    return count


async def search_for_facts(
    db: Database,
    viewer_id: str,
    states_fact: StatesFact,
) -> SearchResult:
    """Search all texts about somebody for a fact, also in the backups. Raises StoreError."""
    return await asyncio.to_thread(_search_facts, db.path, viewer_id, states_fact)


def forgotten_facts(db: Database, viewer_id: str) -> StatesFact:
    """Return a test for the facts that a viewer had forgotten: only their hashes are stored."""
    return lambda text: db.requests.is_forgotten(viewer_id, fact_stems(text))


def _search_facts(
    path: Path,
    viewer_id: str,
    states_fact: StatesFact,
) -> SearchResult:
    """Search the memory and its copies; a copy that cannot be read counts as a trace."""
    result = SearchResult(tables=len(leftovers.tables_of(path)))
    result.traces = _count_facts(path, viewer_id, states_fact)
    copies = backup.copies_of(path)
    for copy in copies:
        try:
            copy_traces = _count_facts(copy, viewer_id, states_fact).total()
        except StoreError:
            # Unreadable is not the same as empty: nobody may be told that it is gone.
            copy_traces = 1
        if copy_traces:
            result.traces[f"{backup.FOLDER}/{copy.name}"] = copy_traces
    for file in (path, *copies):
        # A copy may be deleted meanwhile: there is always a newer one.
        with contextlib.suppress(FileNotFoundError):
            size = file.stat().st_size
            result.bytes += size
            result.files += 1
    return result


def _count_facts(
    file: Path,
    viewer_id: str,
    states_fact: StatesFact,
) -> Counter[str]:
    """Return how many texts of a memory or a copy state a fact, by table. Raises StoreError."""
    counts: Counter[str] = Counter()
    for table, text in leftovers.texts_about(file, viewer_id):
        # A fact's hash is of one statement, so long texts are taken apart.
        parts = [text]
        if table in _BY_SENTENCE:
            parts = clauses_about(text, viewer_id)
        if any(states_fact(part) for part in parts):
            counts[table] += 1
    return counts
