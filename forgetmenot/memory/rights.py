"""What viewers ask for about their data: opt out, opt in, be erased, have a fact forgotten or never mentioned.

- A request is written down first (store/rights), then carried out: at once, every second while something keeps it from
  being done, at the start, and again in a copy that is restored.
- Where it cannot even be written down (a full disk), it waits in memory and counts all the same: the log says so, and
  that a stop would lose it. Whoever asked in chat is answered when it is done.
- Forgetting one fact deletes the note and those it had replaced; summaries and recaps no longer say it. What deleted
  rows leave in the file goes with the next thorough wipe (`Eraser.erase_due`).
- What is never mentioned stays stored, and is shown again when the entry is removed. The caller decides who may change
  the list. A text with all words of an entry, in any form and order, is suppressed; for an entry about one viewer only
  where it is about them.
"""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

from forgetmenot.clock import Clock
from forgetmenot.domain import Note
from forgetmenot.errors import ODD_INPUT, StoreError
from forgetmenot.logs import log
from forgetmenot.memory.erasure import Eraser, Step, clean_files
from forgetmenot.memory.people import SOMEBODY, names_typed, without_names
from forgetmenot.memory.proposals import FactRefused
from forgetmenot.store import channel_state, notes, personal_data, viewers
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.notes import SuppressionRow
from forgetmenot.store.rights import PrivacyRequest, RequestKind
from forgetmenot.store.viewers import Known
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.removal import INSIDE_FROM, says, traces, without_fact
from forgetmenot.text.words import UNSPACED, joined, sentences_of, telling_stems

TRY_AGAIN_S = 0.5
LONGEST = 200
MOST = 200
_NOTE = re.compile(r"#(\d{1,15})\s*\Z")


class Rights:
    """The requests of one memory. `open` it at the start; call `work_off` every second.

    `flush` makes lines readable that were just heard (Ingest.flush). `patient`: a request waits as long as the memory
    cannot be written; else that is raised as a StoreError, for whoever stands by and can try again.
    """

    def __init__(
        self,
        *,
        db: Database,
        clock: Clock,
        eraser: Eraser,
        flush: Step | None = None,
        patient: bool = True,
    ) -> None:
        self._db, self._clock, self._eraser, self._flush, self._patient = (
            db,
            clock,
            eraser,
            flush,
            patient,
        )
        self._working = asyncio.Lock()
        self._ids: dict[str, str] = {}  # of who asked in this run, by hash

    async def open(self) -> None:
        """Carry out what an earlier run left, if that is possible now, and begin the file while there is a disk."""
        with contextlib.suppress(StoreError):
            await asyncio.to_thread(self._db.requests.mark)
            await self.work_off()

    async def opt_out(self, viewer_id: str) -> None:
        """Store nothing of somebody from now on."""
        await self._ask(
            viewer_id, self._db.requests.of(RequestKind.OPT_OUT, viewer_id, self._clock.now())
        )

    async def opt_in(self, viewer_id: str) -> bool:
        """Store what somebody says again; False if they had not opted out."""
        if viewer_id not in await personal_data.opted_out(self._db):
            return False
        await self._ask(
            viewer_id, self._db.requests.of(RequestKind.OPT_IN, viewer_id, self._clock.now())
        )
        return True

    async def erase(self, viewer_id: str, login: str = "") -> bool:
        """Hide somebody and begin to erase them; False if nobody has that id.

        The request is written before the line in which it was typed: after a kill that line would be known, and the
        command not run again.
        """
        await self._ask(
            viewer_id,
            *await personal_data.erase_requests(self._db, viewer_id, self._clock.now(), login),
        )
        return self._eraser.is_begun(viewer_id) or await personal_data.is_known(self._db, viewer_id)

    async def forget(self, note_id: int) -> Note:
        """Delete a note about a viewer permanently; the note as it was. Raises FactRefused("not_found")."""
        note, requests, several = await notes.get(self._db, note_id), self._db.requests, []
        if note is None or note.subject_id is None:
            raise FactRefused("not_found")
        subject, now = note.subject_id, self._clock.now()
        for one in [note, *await replaced_by(self._db, note)]:
            words = requests.hashed(subject, traces(one.fact))
            several.append(
                requests.of(RequestKind.FORGET, subject, now, words=words, notes=(one.id,))
            )
        await self._ask(subject, *several)
        return note

    async def _ask(self, viewer_id: str, *several: PrivacyRequest) -> None:
        """Write requests of one person down and wait until they are carried out."""
        requests, kind, subject = self._db.requests, several[0].kind, several[0].subject
        self._ids[subject] = viewer_id
        try:
            number = await asyncio.to_thread(requests.add, *several)
        except StoreError as error:
            if not self._patient:
                raise
            for one in several:
                requests.keep_waiting(one)
            log.error(
                "a privacy request cannot be written, and a stop would lose it",
                kind=kind,
                reason=str(error),
            )
            number = len(requests.lines) + len(requests.waiting)
        if not (done := await self._is_done(number)):
            log.warning("a privacy request waits until the memory can be written", kind=kind)
        while not done:
            await asyncio.sleep(TRY_AGAIN_S)
            done = await self._is_done(number)
        self._ids.pop(subject, None)

    async def _is_done(self, number: int) -> bool:
        """Whether so many requests are carried out, once what waits was tried."""
        try:
            if (
                self._flush is not None
            ):  # the line in which it was asked for may quote what is to be forgotten
                await self._flush()
            await self.work_off()
        except StoreError:
            if not self._patient:
                raise
        return not self._db.requests.waiting and await personal_data.carried_out(self._db) >= number

    async def work_off(self) -> None:
        """Write down and carry out what waits, in the order in which it was asked for. Raises StoreError."""
        async with self._working:
            await asyncio.to_thread(self._db.requests.write_waiting)
            await carry_out(self._db, ids=self._ids, erase=self._eraser.start)


async def carry_out(
    db: Database,
    *,
    ids: Mapping[str, str] | None = None,
    erase: Callable[[str], None] | None = None,
) -> Counter[RequestKind]:
    """Carry out every request that this memory has not; how many of each kind changed something. Raises StoreError.

    `ids`: of people, by hash, whom the memory may not know. `erase` is called for whoever is hidden now.
    """
    changed: Counter[RequestKind] = Counter()
    await asyncio.to_thread(db.requests.refresh)
    done = await personal_data.carried_out(db) if db.requests.lines else 0
    left = db.requests.lines[done:]
    if not left:
        return changed
    everybody = await personal_data.everybody(db)
    people = {db.requests.digest("viewer", one): one for one in everybody} | dict(ids or {})
    for number, request in enumerate(left, done + 1):
        viewer_id = people.get(request.subject)
        facts = [
            words for note in await _meant(db, request, viewer_id) if (words := traces(note.fact))
        ]
        await _clean_recaps(
            db, facts
        )  # before, or a stop would leave them; nobody waits for a slow drive to write
        async with db.write() as tx:
            if viewer_id is not None:
                try:
                    async with tx.part():
                        asked_now = ids is not None and request.subject in ids
                        changed[request.kind] += await _carry_out(
                            tx, request, viewer_id, asked_now=asked_now
                        )
                except ODD_INPUT as error:  # it must not hold up the others
                    log.error(
                        "a privacy request is set aside",
                        kind=request.kind,
                        error=type(error).__name__,
                    )
            await personal_data.count_carried_out(tx, number)
        await _clean_recaps(db, facts)  # one may have been written meanwhile
        if request.kind is RequestKind.ERASE and viewer_id is not None and erase is not None:
            erase(viewer_id)
    await db.wipe_deleted()
    return changed


async def _carry_out(
    tx: Transaction, request: PrivacyRequest, viewer_id: str, *, asked_now: bool
) -> int:
    """How much it changed. `asked_now`: in this run, by somebody whom chat has shown."""
    if request.kind is RequestKind.ERASE:
        return await personal_data.hide(tx, viewer_id, request.at, newer=asked_now)
    if request.kind is RequestKind.FORGET:
        meant = await _meant(tx, request, viewer_id)
        for note in meant:
            await delete_fact(tx, note, request.at)
        return len(meant)
    if request.kind is tx.requests.chose_last(
        request.subject
    ):  # what somebody took back is not done again
        if request.kind is RequestKind.OPT_OUT:
            await personal_data.store_nothing(tx, viewer_id, request.at)
        else:
            await personal_data.store_again(tx, viewer_id)
        return 1
    return 0


async def start_new_requests(db: Database, now: int) -> int:
    """Go on without the file that was lost (open the memory with `requests_lost`). Raises StoreError.

    The people in the memory who opted out stay so; how many.
    """
    async with db.write() as tx:
        await asyncio.to_thread(tx.requests.start_anew)
        await personal_data.count_carried_out(tx, 0)
        out = sorted((await personal_data.opted_out(tx)).ids)
        await personal_data.write_request(
            tx, *(tx.requests.of(RequestKind.OPT_OUT, one, now) for one in out)
        )
    log.warning("a new file of privacy requests was begun", opted_out=len(out))
    return len(out)


# ── one fact ──────────────────────────────────────────────────────────────────────────────────


async def replaced_by(source: Source, note: Note) -> list[Note]:
    """The notes that this one replaced, and those that they had replaced."""
    found: dict[int, Note] = {}
    waiting = [note]
    while waiting:
        for old in await notes.predecessors(source, waiting.pop().id):
            if old.id not in found and old.id != note.id:
                found[old.id] = old
                waiting.append(old)
    return list(found.values())


async def delete_fact(tx: Transaction, note: Note, at: int) -> None:
    """Delete a note about a viewer with its history, and what says the same in other texts."""
    subject_id, words = note.subject_id or "", traces(note.fact)
    for one in await personal_data.may_say(tx, note.id, subject_id, words):
        if one.column != "text":
            rest = without_fact(one.text, subject_id, note.fact)
        elif one.own:
            rest = (
                "" if says(one.text, words) or one.text.startswith("!") else one.text
            )  # "!forget drums" names it
        else:  # of what others said lately only what has all of it
            rest = "" if words <= traces(one.text) else one.text
        if rest != one.text:
            await personal_data.rewrite_traced(tx, one, rest)
    await personal_data.delete_traced_note(tx, note.id, subject_id, at)
    await channel_state.put(tx, {WIPE_DUE: "1"}, at)


async def _meant(source: Source, request: PrivacyRequest, viewer_id: str | None) -> list[Note]:
    """The notes that a request to forget a fact means."""
    if viewer_id is None or request.kind is not RequestKind.FORGET:
        return []
    facts = await personal_data.facts_of(source, viewer_id)
    said = {
        one for one, fact in facts.items() if source.requests.says(viewer_id, traces(fact), request)
    }
    found = [await notes.get(source, one) for one in said | (facts.keys() & request.notes)]
    return [note for note in found if note is not None and note.created_at <= request.at]


async def _clean_recaps(db: Database, facts: Sequence[frozenset[str]]) -> None:
    """Take the sentences that say one of these facts (its words) out of the files of recaps."""

    def cleaned(text: str, _quoted: bool) -> str:  # noqa: FBT001  # as `clean_files` calls it
        told = sentences_of(text)
        left = [one for one in told if not any(says(one, words) for words in facts)]
        return text if len(left) == len(told) else joined(left)

    if facts:
        await clean_files(db, cleaned)


# ── what is never mentioned ───────────────────────────────────────────────────────────────────


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
