"""Carries out what viewers ask for about their data: opt out, opt in, be erased, forget a fact.

- A request is written down first (store/privacy_requests), then carried out: at once, every second
  while something keeps it from being done, at the start, and again in a copy that is restored.
- Where it cannot even be written down (a full disk), it waits in memory and counts all the same: the
  log says so, and that a stop would lose it. Whoever asked in chat is answered when it is done.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from forgetmenot.clock import Clock
from forgetmenot.domain import Note, NoteStatus
from forgetmenot.durations import DAY
from forgetmenot.errors import ODD_INPUT, FactRefused, StoreError
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.privacy.erasure import AsyncAction, Eraser, remove_from_recap_files
from forgetmenot.privacy.forgetting import delete_fact, replaced_by
from forgetmenot.privacy.hourly_limiter import HourlyLimiter
from forgetmenot.privacy.recap_files import clean_files
from forgetmenot.privacy.receipt_search import (
    CODES_AN_HOUR,
    SearchResult,
    forgotten_facts,
    search_for_facts,
)
from forgetmenot.privacy.suppression_list import carry_out_topic_request, known_topics
from forgetmenot.store import (
    notes,
    personal_data,
    privacy_choices,
    quotes,
    streams,
)
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.privacy_requests import CHANNEL, PrivacyRequest, RequestKind
from forgetmenot.store.receipts import Receipt, ReceiptFile, ReceiptKind
from forgetmenot.text.removal import fact_stems, states_fact
from forgetmenot.text.words import join_sentences, sentences_of

# Time (s) between two tries of a request that waits for the memory.
TRY_AGAIN_S = 0.5
# Names and pronouns that one viewer may choose.
NAMES_AN_HOUR = 10


class PrivacyService:
    """The requests of one memory. `open` it at the start; call `work_off` every second."""

    def __init__(
        self,
        *,
        db: Database,
        clock: Clock,
        eraser: Eraser,
        flush: AsyncAction | None = None,
        patient: bool = True,
    ) -> None:
        """Take what requests are carried out with.

        `flush` stores the lines that were just heard (Ingest.flush).
        `patient`: a request waits as long as the memory cannot be written. Without it a StoreError
        is raised, for a person at a command line who can try again.
        """
        self._db = db
        self._clock = clock
        self._eraser = eraser
        self._flush = flush
        self._patient = patient
        self._working = asyncio.Lock()
        # The ids of those who asked in this run, by the hash of their id.
        self._asking_ids: dict[str, str] = {}
        self._receipts = ReceiptFile(db.path)
        # Codes are not to be guessed, and a search reads every file.
        self.code_limiter = HourlyLimiter(CODES_AN_HOUR)
        # Each name in the place of another is a line of the file of requests, which is never cut.
        self.name_limiter = HourlyLimiter(NAMES_AN_HOUR)
        # Searches read every file: one at a time.
        self.searching = asyncio.Lock()

    async def open(self) -> None:
        """Carry out what an earlier run left, if that is possible now.

        It also makes the file of requests while there is room on the disk.
        """
        with contextlib.suppress(StoreError):
            await asyncio.to_thread(self._db.requests.mark)
            await self.work_off()

    async def opt_out(self, viewer_id: str) -> None:
        """Store nothing of a viewer from now on."""
        now = self._clock.now()
        request = self._db.requests.of(RequestKind.OPT_OUT, viewer_id, now)
        await self._ask(viewer_id, [request])

    async def opt_in(self, viewer_id: str) -> bool:
        """Store what a viewer says again; return False if they had not opted out."""
        if viewer_id not in await privacy_choices.opted_out(self._db):
            return False
        now = self._clock.now()
        request = self._db.requests.of(RequestKind.OPT_IN, viewer_id, now)
        await self._ask(viewer_id, [request])
        return True

    async def erase(self, viewer_id: str, login: str = "") -> bool:
        """Hide a viewer and begin to erase them; return False if nobody has that id.

        The request is written before the line in which it was typed: after a kill that line would
        be known, and the command not run again.
        """
        now = self._clock.now()
        requests = await privacy_choices.erase_requests(self._db, viewer_id, now, login)
        await self._ask(viewer_id, requests)
        self.code_limiter.forget(viewer_id)
        self.name_limiter.forget(viewer_id)
        # The erasure may have deleted their row by now.
        if self._eraser.is_begun(viewer_id):
            return True
        return await personal_data.is_known(self._db, viewer_id)

    async def receipt(self, code: str) -> Receipt | None:
        """Return the receipt with a code; None if there is none. Raises StoreError."""
        receipts = await asyncio.to_thread(self._receipts.all, self._clock.now())
        for receipt in receipts:
            if receipt.code == code:
                return receipt
        return None

    async def forget(self, note_id: int) -> str:
        """Delete a note about a viewer permanently, with those that it replaced.

        Returns the code of its receipt; "" if that could not be written. Raises
        FactRefused("not_found").
        """
        note = await notes.get(self._db, note_id)
        if note is None or note.subject_id is None:
            raise FactRefused("not_found")
        now = self._clock.now()
        requests = []
        facts = []
        for forgotten_note in [note, *await replaced_by(self._db, note)]:
            requests.append(self._forget_request(note.subject_id, forgotten_note, now))
            facts.append(fact_stems(forgotten_note.fact))

        def states_one(text: str) -> bool:
            return any(states_fact(text, stems) for stems in facts)

        before = SearchResult()
        # It counts for the receipt, which must not hold up what was asked for.
        with contextlib.suppress(StoreError):
            before = await search_for_facts(self._db, note.subject_id, states_one)
        await self._ask(note.subject_id, requests)
        try:
            return await self._fact_receipt(note.subject_id, before)
        except StoreError as error:
            log.warning("a receipt cannot be written", reason=str(error))
            return ""

    async def _fact_receipt(self, subject_id: str, before: SearchResult) -> str:
        """Write the receipt of a forgotten fact; return its code. Raises StoreError."""
        now = self._clock.now()
        is_forgotten = forgotten_facts(self._db, subject_id)
        after = await search_for_facts(self._db, subject_id, is_forgotten)
        code = await asyncio.to_thread(self._receipts.begin, ReceiptKind.FACT, now)
        receipt = Receipt(
            code,
            ReceiptKind.FACT,
            now - now % DAY,
            removed=dict(before.traces - after.traces),
            tables=after.tables,
            files=after.files,
            bytes=after.bytes,
            remaining=after.traces.total(),
            is_finished=True,
        )
        await asyncio.to_thread(self._receipts.put, receipt, now)
        return code

    def _forget_request(
        self,
        subject_id: str,
        note: Note,
        now: int,
    ) -> PrivacyRequest:
        """Return the request to forget a fact: hashes of its words, and its number."""
        file = self._db.requests
        return file.of(
            RequestKind.FORGET,
            subject_id,
            now,
            words=file.hashed(subject_id, fact_stems(note.fact)),
            notes=(note.id,),
        )

    async def _ask(self, viewer_id: str, requests: Sequence[PrivacyRequest]) -> None:
        """Write the requests of one person down and wait until they are carried out."""
        kind = requests[0].kind
        subject = requests[0].subject
        self._asking_ids[subject] = viewer_id
        line_number = await self._write_down(requests)
        is_done = await self._is_carried_out(line_number)
        if not is_done:
            log.warning(
                "a privacy request waits until the memory can be written", kind=kind
            )
        while not is_done:
            await asyncio.sleep(TRY_AGAIN_S)
            is_done = await self._is_carried_out(line_number)
        self._asking_ids.pop(subject, None)

    async def _write_down(self, requests: Sequence[PrivacyRequest]) -> int:
        """Write requests into their file, or keep them in memory; return the number of the last.

        Raises StoreError, unless patient.
        """
        file = self._db.requests
        try:
            return await asyncio.to_thread(file.add, *requests)
        except StoreError as error:
            if not self._patient:
                raise
            for request in requests:
                file.keep_waiting(request)
            log.error(
                "a privacy request cannot be written, and a stop would lose it",
                kind=requests[0].kind,
                reason=str(error),
            )
            return file.count

    async def _is_carried_out(self, line_number: int) -> bool:
        """Work off what waits; return whether all requests up to this line are carried out."""
        try:
            # The line in which it was asked for may quote what is to be forgotten.
            if self._flush is not None:
                await self._flush()
            await self.work_off()
        except StoreError:
            if not self._patient:
                raise
        if self._db.requests.waiting:
            return False
        return await privacy_choices.carried_out(self._db) >= line_number

    async def work_off(self) -> None:
        """Write down and carry out what waits, in the order in which it was asked for.

        Raises StoreError.
        """
        async with self._working:
            await asyncio.to_thread(self._db.requests.write_waiting)
            await carry_out(
                self._db,
                asking_ids=self._asking_ids,
                erase=self._eraser.start,
            )


# ── carrying out what a memory has not carried out yet ────────────────────────────────────────


async def carry_out(
    db: Database,
    *,
    asking_ids: Mapping[str, str] | None = None,
    erase: Callable[[str], None] | None = None,
) -> Counter[RequestKind]:
    """Carry out every request that this memory has not.

    Returns how many requests of each kind changed something; for some kinds, how many notes.
    `asking_ids`: of people who ask in this run, by hash; the memory may not know them yet.
    `erase` is called with the id of each viewer who is hidden now. Raises StoreError.
    """
    changed: Counter[RequestKind] = Counter()
    # Not a copy, also where it is empty: somebody may ask while this waits for the disk.
    if asking_ids is None:
        asking_ids = {}
    await asyncio.to_thread(db.requests.refresh)
    if not db.requests.lines:
        return changed
    carried_out = await privacy_choices.carried_out(db)
    open_requests = db.requests.lines[carried_out:]
    if not open_requests:
        return changed
    subjects = await _subjects(db, open_requests)
    subjects.update(asking_ids)
    for line_number, request in enumerate(open_requests, carried_out + 1):
        subject = subjects.get(request.subject)
        is_asked_now = request.subject in asking_ids
        facts = await _facts_to_forget(db, request, subject)
        # Before the rows change: a stop between the two would leave the files as they are. It is
        # outside of the transaction, so that nobody waits for a slow drive to write.
        await _clean_recap_files(db, request, subject, facts)
        async with db.write() as tx:
            if subject is not None:
                changed[request.kind] += await _carry_out_apart(
                    tx, request, subject, is_asked_now=is_asked_now
                )
            await privacy_choices.count_carried_out(tx, line_number)
        # A recap may have been written in the meantime.
        await _clean_recap_files(db, request, subject, facts)
        if erase is None or subject is None:
            continue
        if request.kind is RequestKind.ERASE:
            erase(subject)
    await db.wipe_deleted()
    return changed


async def _subjects(db: Database, requests: Iterable[PrivacyRequest]) -> dict[str, str]:
    """Return what requests may be about, by its hash.

    Ids of viewers, "" for the channel, and the starts of streams (ms, as text).
    """
    # A hash cannot be read, so everything that a request may be about is hashed to find it.
    subjects = {db.requests.digest("viewer", CHANNEL): CHANNEL}
    for viewer_id in await personal_data.first_seen_by_id(db):
        subjects[db.requests.digest("viewer", viewer_id)] = viewer_id
    is_any_posted = any(request.kind is RequestKind.POSTED for request in requests)
    if is_any_posted:
        for started_at in await streams.start_times(db):
            subjects[db.requests.stream_hash(started_at)] = str(started_at)
    return subjects


async def _carry_out_apart(
    tx: Transaction,
    request: PrivacyRequest,
    subject: str,
    *,
    is_asked_now: bool,
) -> int:
    """Carry out a request in a savepoint, so that an odd one does not hold up the others."""
    try:
        async with tx.part():
            return await _carry_out(tx, request, subject, is_asked_now=is_asked_now)
    except ODD_INPUT as error:
        error_name = type(error).__name__
        log.error("a privacy request is set aside", kind=request.kind, error=error_name)
        return 0


async def _carry_out(
    tx: Transaction,
    request: PrivacyRequest,
    subject: str,
    *,
    is_asked_now: bool,
) -> int:
    """Carry out a request, unless it was reversed since; return how much it changed.

    `is_asked_now`: in this run, by somebody whom chat has shown.
    """
    changed = 0
    match request.kind:
        case RequestKind.ERASE:
            changed = await privacy_choices.hide_for_erasure(
                tx, subject, request.at, newer=is_asked_now
            )
        case RequestKind.FORGET:
            notes_to_forget = await _notes_to_forget(tx, request, subject)
            for note in notes_to_forget:
                await delete_fact(tx, note, request.at)
            changed = len(notes_to_forget)
        case RequestKind.OPT_OUT | RequestKind.OPT_IN:
            changed = await _carry_out_choice(tx, request, subject)
        case RequestKind.NEVER_MENTION | RequestKind.MAY_MENTION:
            changed = await carry_out_topic_request(tx, request, subject)
        case RequestKind.REMOVE:
            changed = await _carry_out_removal(tx, request, subject)
        case RequestKind.UNQUOTE | RequestKind.UNCALL:
            changed = await _carry_out_taking_off(tx, request, subject)
        case RequestKind.BAN | RequestKind.UNBAN:
            changed = await _carry_out_ban(tx, request, subject)
        case RequestKind.POSTED:
            changed = await streams.mark_posted(tx, int(subject), request.at)
    return changed


async def _carry_out_choice(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Opt a viewer out or in, if that was their last choice; return 1 if so."""
    if request.kind is not tx.requests.chose_last(request.subject):
        return 0
    if request.kind is RequestKind.OPT_OUT:
        await privacy_choices.mark_opted_out(tx, viewer_id, request.at)
    else:
        await privacy_choices.mark_opted_in(tx, viewer_id)
    return 1


async def _carry_out_taking_off(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Remove a quote, or what somebody asked to be called; return how many were there."""
    if request.kind is RequestKind.UNQUOTE:
        return await quotes.remove_again(tx, request, viewer_id)
    return await privacy_choices.take_off_wishes(tx, request, viewer_id)


async def _carry_out_ban(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Mark a viewer as banned or not, if that still holds; return how many rows changed."""
    is_banned = tx.requests.is_banned(request.subject)
    if is_banned and request.kind is RequestKind.BAN:
        return await privacy_choices.ban_again(tx, viewer_id, request.at)
    if not is_banned and request.kind is RequestKind.UNBAN:
        return await privacy_choices.unban_again(tx, viewer_id)
    return 0


async def _carry_out_removal(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Remove from a copy what its subject had removed after the copy was made.

    It is found by its number or its words. What is newer than the request stays, also if it says
    the same again. Returns how many notes were removed.
    """
    if not tx.requests.is_removed(request):
        return 0
    removed = 0
    for note in await notes.of_subject(tx, viewer_id, (NoteStatus.ACTIVE,)):
        is_removed_note = note.id in request.notes or tx.requests.says(
            viewer_id, fact_stems(note.fact), request
        )
        if not is_removed_note:
            continue
        changes = await notes.changes(tx, note.id)
        if changes[-1].at > request.at:
            continue
        await notes.set_status(
            tx,
            note,
            NoteStatus.RETRACTED,
            at=request.at,
            cause=reason("by_hand"),
        )
        removed += 1
    return removed


async def _notes_to_forget(
    source: Source,
    request: PrivacyRequest,
    viewer_id: str | None,
) -> list[Note]:
    """Return the notes of a viewer that a request to forget names, by number or by words."""
    if viewer_id is None:
        return []
    if request.kind is not RequestKind.FORGET:
        return []
    facts = await personal_data.facts_of(source, viewer_id)
    note_ids = facts.keys() & request.notes
    for note_id, fact in facts.items():
        if source.requests.says(viewer_id, fact_stems(fact), request):
            note_ids.add(note_id)
    notes_to_forget = []
    for note_id in note_ids:
        note = await notes.get(source, note_id)
        if note is not None and note.created_at <= request.at:
            notes_to_forget.append(note)
    return notes_to_forget


async def _facts_to_forget(
    source: Source,
    request: PrivacyRequest,
    viewer_id: str | None,
) -> list[frozenset[str]]:
    """Return the stems of each fact that a request to forget names."""
    facts = []
    for note in await _notes_to_forget(source, request, viewer_id):
        stems = fact_stems(note.fact)
        if stems:
            facts.append(stems)
    return facts


async def _clean_recap_files(
    db: Database,
    request: PrivacyRequest,
    viewer_id: str | None,
    facts: Sequence[frozenset[str]],
) -> None:
    """Take out of the files of recaps what a request is about.

    That is one of these facts (their stems), or a viewer who opted out.
    """

    def without_facts(text: str, _is_quote: bool) -> str:  # noqa: FBT001  # a TextCleaner
        sentences = sentences_of(text)
        allowed_sentences = []
        for sentence in sentences:
            if not any(states_fact(sentence, stems) for stems in facts):
                allowed_sentences.append(sentence)
        if len(allowed_sentences) == len(sentences):
            return text
        return join_sentences(allowed_sentences)

    if facts:
        await clean_files(db, without_facts)
    if viewer_id is None:
        return
    if request.kind is not RequestKind.OPT_OUT:
        return
    if db.requests.chose_last(request.subject) is RequestKind.OPT_OUT:
        await remove_from_recap_files(db, viewer_id)


# ── after the file of requests was lost ───────────────────────────────────────────────────────


async def start_new_requests(db: Database, now: int) -> int:
    """Begin a new file of requests with what the memory knows of them.

    Those are opt-outs, bans, what is never mentioned, posted recaps and their folders. The memory
    is to be opened with `requests_lost`. Returns how many people opted out. Raises StoreError.
    """
    async with db.write() as tx:
        await asyncio.to_thread(tx.requests.start_anew)
        await privacy_choices.count_carried_out(tx, 0)
        requests = await _known_requests(tx, now)
        await privacy_choices.write_request(tx, *requests)
    opted_out = 0
    for request in requests:
        if request.kind is RequestKind.OPT_OUT:
            opted_out += 1
    log.warning("a new file of privacy requests was begun", opted_out=opted_out)
    return opted_out


async def _known_requests(tx: Transaction, now: int) -> list[PrivacyRequest]:
    """Return the requests that the rows of a memory show."""
    # What was erased or forgotten is not among them: nothing of it stands in a row.
    file = tx.requests
    requests = []
    opted_out = await privacy_choices.opted_out(tx)
    for viewer_id in sorted(opted_out.ids):
        requests.append(file.of(RequestKind.OPT_OUT, viewer_id, now))
    banned = await privacy_choices.banned(tx)
    for viewer_id, banned_at in banned.items():
        requests.append(file.of(RequestKind.BAN, viewer_id, banned_at))
    requests += known_topics(file, await notes.suppressions(tx), now)
    for started_at in await streams.start_times(tx, posted=True):
        requests.append(file.posted(started_at, now))
    for folder in sorted(await streams.recap_folders(tx)):
        requests.append(
            PrivacyRequest(RequestKind.RECAP_FOLDER, "", now, folder=folder)
        )
    return requests
