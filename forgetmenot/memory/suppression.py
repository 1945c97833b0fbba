"""What the bot never brings up: topics and notes on a list, and the names of people who are hidden.

- What is never mentioned stays stored, and is shown again when the entry is removed. The caller decides who may change
  the list.
- A text with all words of an entry, in any form and order, is suppressed; for an entry about one viewer only where it
  is about them.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from forgetmenot.domain import Note
from forgetmenot.memory.people import SOMEBODY, names_typed, without_names
from forgetmenot.memory.proposals import FactRefused
from forgetmenot.store import notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.store.notes import SuppressionRow
from forgetmenot.store.viewers import Known
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.removal import INSIDE_FROM
from forgetmenot.text.words import UNSPACED, joined, sentences_of, telling_stems

LONGEST = 200
MOST = 200
_NOTE = re.compile(r"#(\d{1,15})\s*\Z")


class SuppressionFilter:
    """Entries, ready to be asked. `removed`: (whom it was about, what it said) of notes that were taken back."""

    def __init__(
        self, entries: Iterable[SuppressionRow] = (), removed: Iterable[tuple[str, str]] = ()
    ) -> None:
        self.entries = tuple(entries)
        self._removed = _meanings(removed)
        self._topics = _meanings((entry.viewer_id, entry.words) for entry in self.entries)
        self._stems = self._topics + _meanings(
            (entry.viewer_id, entry.fact) for entry in self.entries
        )
        self._notes = frozenset(
            entry.note_id for entry in self.entries if entry.note_id is not None
        )

    def __bool__(self) -> bool:
        return bool(self.entries)

    @property
    def people(self) -> frozenset[str]:
        """Everybody of whom something is left alone."""
        return frozenset(who for who, _ in self._stems if who is not None)

    def allows(self, note: Note) -> bool:
        """Whether a note may be shown."""
        if note.id in self._notes:
            return False
        about = (note.subject_id, *ids_in(note.fact))
        return not _any_said(
            self._topics, " ".join((note.fact, *note.topics, *note.asked_with)), about
        )

    def has(self, text: str, about: Iterable[str | None] = ()) -> bool:
        """Whether a text about these people speaks of what is left alone."""
        return _any_said(self._stems, text, about)

    def about(self, people: Iterable[str | None]) -> tuple[str, ...]:
        """The words that are left alone of the channel and of these people."""
        wanted = {None, *people}
        entries = (entry for entry in self.entries if entry.viewer_id in wanted)
        return tuple(said for entry in entries if (said := entry.words or entry.fact))

    def without(self, text: str, also: Iterable[str | None] = ()) -> str:
        """A summary without the sentences that speak of it; who a sentence is about stands in it, or in the last.

        Nor those that say what a note said that was taken back: a summary would give it back. `also`: whom each may be
        about besides.
        """
        meanings = self._stems + self._removed
        if not meanings:
            return text
        people = tuple(also)
        told = with_subjects(text)
        return joined(one for one, about in told if not _any_said(meanings, one, (*about, *people)))


def with_subjects(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The sentences, each with whom it is about: one that names nobody goes on about whom the last one named."""
    about: Sequence[str] = ()
    for sentence in sentences_of(text):
        about = ids_in(sentence) or about
        yield sentence, about


_Meanings = tuple[tuple[str | None, frozenset[str]], ...]


def _meanings(entries: Iterable[tuple[str | None, str]]) -> _Meanings:
    return tuple((who, stems) for who, text in entries if (stems := telling_stems(text)))


def _any_said(meanings: _Meanings, text: str, about: Iterable[str | None]) -> bool:
    people = {who for who in about if who is not None}
    mentioned = telling_stems(text)
    return any(stems <= mentioned and (who is None or who in people) for who, stems in meanings)


def without_suppressed(text: str, left_alone: Iterable[str]) -> str:
    """A reply without the sentences that speak of what is left alone."""
    return SuppressionFilter(SuppressionRow(0, None, words_) for words_ in left_alone).without(text)


async def without_hidden_names(source: Source, text: str, reader: str) -> str:
    """Free text without the names of people who opted out or were banned, but for `reader`, who is spoken to."""
    return await _without_known(
        source, text, lambda one: one.hidden and one.id != reader, hidden_only=True
    )


async def only_naming(source: Source, text: str, may_be: Container[str]) -> str:
    """Free text without the names of all but these people."""
    return await _without_known(source, text, lambda one: one.id not in may_be, hidden_only=False)


async def _without_known(
    source: Source, text: str, goes: Callable[[Known], bool], *, hidden_only: bool
) -> str:
    known = await viewers.called(source, names_typed([text]))
    shown = without_names(text, {one.name for one in known if goes(one)})
    for one in (
        ()
        if shown.isascii()
        else await viewers.displayed_in(source, shown, hidden_only=hidden_only)
    ):
        # where no space parts words, a name stands inside of one
        if goes(one) and len(one.name) >= INSIDE_FROM and UNSPACED.search(one.name):
            shown = shown.replace(one.name, SOMEBODY)
    return shown


async def suppress(
    db: Database, viewer_id: str | None, what: str, *, by: str | None, at: int
) -> int:
    """Never bring something up again, of one viewer or (None) at all; the id of the entry.

    `#12` names a note, which must be about that viewer. Raises FactRefused (topic, not_found, unknown, enough).
    """
    text = clean(what)
    named = _NOTE.match(text)
    if len(text) > LONGEST or not (named or telling_stems(text)):
        raise FactRefused("topic")
    async with db.write() as tx:
        if len(await notes.suppressions(tx)) >= MOST:
            raise FactRefused("enough")
        if viewer_id is not None and await viewers.get(tx, viewer_id) is None:
            raise FactRefused("not_stored")
        note = await notes.get(tx, int(named[1])) if named else None
        if named and (note is None or viewer_id not in {None, note.subject_id}):
            raise FactRefused("not_found")
        if note is not None:
            return await notes.add_suppression(
                tx, note.subject_id, "", note_id=note.id, by_id=by, at=at
            )
        return await notes.add_suppression(tx, viewer_id, text, note_id=None, by_id=by, at=at)


def same_entry(
    entries: Iterable[SuppressionRow], viewer_id: str | None, what: str
) -> SuppressionRow | None:
    """The entry that already has a topic, in any form of its words, or a note; None if there is none."""
    named, stems = _NOTE.match(clean(what)), telling_stems(what)
    for one in entries:
        if named and one.note_id == int(named[1]) and viewer_id in {None, one.viewer_id}:
            return one
        if (
            not named
            and one.viewer_id == viewer_id
            and one.words
            and telling_stems(one.words) == stems
        ):
            return one
    return None


async def unsuppress(db: Database, row_id: int) -> bool:
    """Take one entry off the list; False if there is none."""
    async with db.write() as tx:
        return await notes.remove_suppression(tx, row_id)


async def load_filter(source: Source) -> SuppressionFilter:
    """The filter of what is suppressed now."""
    return SuppressionFilter(await notes.suppressions(source), await notes.removed(source))
