"""What viewers ask for about their data: opt out, opt in, be erased, have a fact forgotten.

- A request is written down first (store/privacy_requests), then carried out: at once, every second
  while something keeps it from being done, at the start, and again in a copy that is restored.
- Where it cannot even be written down (a full disk), it waits in memory and counts all the same: the log says so, and
  that a stop would lose it. Whoever asked in chat is answered when it is done.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from forgetmenot.clock import Clock
from forgetmenot.domain import Note, NoteStatus
from forgetmenot.errors import ODD_INPUT, FactRefused, StoreError
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.privacy.erasure import Eraser, Step, leave_recaps
from forgetmenot.privacy.forgetting import delete_fact, replaced_by
from forgetmenot.privacy.recap_files import clean_files
from forgetmenot.privacy.suppression_list import list_again, topic_of
from forgetmenot.store import (
    notes,
    personal_data,
    privacy_choices,
    quotes,
    streams,
)
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.privacy_requests import CHANNEL, PrivacyRequest, RequestKind
from forgetmenot.text.removal import fact_stems, states_fact
from forgetmenot.text.words import join_sentences, sentences_of

TRY_AGAIN_S = 0.5


class PrivacyService:
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
        self._db = db
        self._clock = clock
        self._eraser = eraser
        self._flush = flush
        self._patient = patient
        self._working = asyncio.Lock()
        # the ids of those who asked in this run, by hash
        self._ids: dict[str, str] = {}

    async def open(self) -> None:
        """Carry out what an earlier run left, if that is possible now, and begin the file while there is a disk."""
        with contextlib.suppress(StoreError):
            await asyncio.to_thread(self._db.requests.mark)
            await self.work_off()

    async def opt_out(self, viewer_id: str) -> None:
        """Store nothing of somebody from now on."""
        now = self._clock.now()
        await self._ask(
            viewer_id, self._db.requests.of(RequestKind.OPT_OUT, viewer_id, now)
        )

    async def opt_in(self, viewer_id: str) -> bool:
        """Store what somebody says again; False if they had not opted out."""
        if viewer_id not in await privacy_choices.opted_out(self._db):
            return False
        now = self._clock.now()
        await self._ask(
            viewer_id, self._db.requests.of(RequestKind.OPT_IN, viewer_id, now)
        )
        return True

    async def erase(self, viewer_id: str, login: str = "") -> bool:
        """Hide somebody and begin to erase them; False if nobody has that id.

        The request is written before the line in which it was typed: after a kill that line would be known, and the
        command not run again.
        """
        now = self._clock.now()
        requests = await privacy_choices.erase_requests(self._db, viewer_id, now, login)
        await self._ask(viewer_id, *requests)
        if self._eraser.is_begun(viewer_id):
            return True
        return await personal_data.is_known(self._db, viewer_id)

    async def forget(self, note_id: int) -> Note:
        """Delete a note about a viewer permanently; the note as it was. Raises FactRefused("not_found")."""
        note = await notes.get(self._db, note_id)
        if note is None or note.subject_id is None:
            raise FactRefused("not_found")
        subject_id = note.subject_id
        now = self._clock.now()
        file = self._db.requests
        requests = []
        for forgotten in [note, *await replaced_by(self._db, note)]:
            words = file.hashed(subject_id, fact_stems(forgotten.fact))
            note_ids = (forgotten.id,)
            request = file.of(
                RequestKind.FORGET, subject_id, now, words=words, notes=note_ids
            )
            requests.append(request)
        await self._ask(subject_id, *requests)
        return note

    async def _ask(self, viewer_id: str, *requests: PrivacyRequest) -> None:
        """Write requests of one person down and wait until they are carried out."""
        kind = requests[0].kind
        subject = requests[0].subject
        self._ids[subject] = viewer_id
        number = await self._write_down(requests)
        is_done = await self._is_done(number)
        if not is_done:
            log.warning(
                "a privacy request waits until the memory can be written", kind=kind
            )
        while not is_done:
            await asyncio.sleep(TRY_AGAIN_S)
            is_done = await self._is_done(number)
        self._ids.pop(subject, None)

    async def _write_down(self, requests: Sequence[PrivacyRequest]) -> int:
        """Write requests into their file, or keep them in memory; the number of the last. Raises StoreError."""
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
            return len(file.lines) + len(file.waiting)

    async def _is_done(self, number: int) -> bool:
        """Whether so many requests are carried out, once what waits was tried."""
        try:
            # the line in which it was asked for may quote what is to be forgotten
            if self._flush is not None:
                await self._flush()
            await self.work_off()
        except StoreError:
            if not self._patient:
                raise
        if self._db.requests.waiting:
            return False
        return await privacy_choices.carried_out(self._db) >= number

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
    if not db.requests.lines:
        return changed
    carried_out = await privacy_choices.carried_out(db)
    open_requests = db.requests.lines[carried_out:]
    if not open_requests:
        return changed
    subjects = await _subjects(db, open_requests)
    subjects.update(ids or {})
    for number, request in enumerate(open_requests, carried_out + 1):
        subject = subjects.get(request.subject)
        facts = await _words_of_meant(db, request, subject)
        # before, or a stop would leave them; nobody waits for a slow drive to write
        await _clean_recaps(db, request, subject, facts)
        async with db.write() as tx:
            if subject is not None:
                asked_now = ids is not None and request.subject in ids
                changed[request.kind] += await _carry_out_apart(
                    tx, request, subject, asked_now=asked_now
                )
            await privacy_choices.count_carried_out(tx, number)
        # one may have been written meanwhile
        await _clean_recaps(db, request, subject, facts)
        if (
            request.kind is RequestKind.ERASE
            and subject is not None
            and erase is not None
        ):
            erase(subject)
    await db.wipe_deleted()
    return changed


async def _carry_out_apart(
    tx: Transaction,
    request: PrivacyRequest,
    subject: str,
    *,
    asked_now: bool,
) -> int:
    """Carry out a request in a savepoint: an odd one must not hold up the others."""
    try:
        async with tx.part():
            return await _carry_out(tx, request, subject, asked_now=asked_now)
    except ODD_INPUT as error:
        name = type(error).__name__
        log.error("a privacy request is set aside", kind=request.kind, error=name)
        return 0


async def _subjects(db: Database, requests: Iterable[PrivacyRequest]) -> dict[str, str]:
    """Whom and what requests are about, by its hash: ids of viewers, "" for the channel, the starts of streams."""
    subjects = {db.requests.digest("viewer", CHANNEL): CHANNEL}
    for viewer_id in await personal_data.first_seen_by_id(db):
        subjects[db.requests.digest("viewer", viewer_id)] = viewer_id
    if any(request.kind is RequestKind.POSTED for request in requests):
        for started_at in await streams.start_times(db):
            subjects[db.requests.stream_hash(started_at)] = str(started_at)
    return subjects


async def _carry_out(
    tx: Transaction,
    request: PrivacyRequest,
    subject: str,
    *,
    asked_now: bool,
) -> int:
    """How much it changed. `asked_now`: in this run, by somebody whom chat has shown.

    What was taken back since is not done again.
    """
    match request.kind:
        case RequestKind.ERASE:
            return await privacy_choices.hide_for_erasure(
                tx, subject, request.at, newer=asked_now
            )
        case RequestKind.FORGET:
            meant = await _meant(tx, request, subject)
            for note in meant:
                await delete_fact(tx, note, request.at)
            return len(meant)
        case RequestKind.OPT_OUT | RequestKind.OPT_IN:
            return await _choose_again(tx, request, subject)
        case RequestKind.NEVER_MENTION | RequestKind.MAY_MENTION:
            return await list_again(tx, request, subject)
        case RequestKind.REMOVE | RequestKind.UNQUOTE:
            return await _remove_again(tx, request, subject)
        case RequestKind.BAN | RequestKind.UNBAN:
            return await _ban_again(tx, request, subject)
        case RequestKind.POSTED:
            return await streams.mark_posted(tx, int(subject), request.at)
    return 0


async def _choose_again(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    if request.kind is not tx.requests.chose_last(request.subject):
        return 0
    if request.kind is RequestKind.OPT_OUT:
        await privacy_choices.mark_opted_out(tx, viewer_id, request.at)
    else:
        await privacy_choices.mark_opted_in(tx, viewer_id)
    return 1


async def _ban_again(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    is_banned = tx.requests.is_banned(request.subject)
    if is_banned and request.kind is RequestKind.BAN:
        return await privacy_choices.ban_again(tx, viewer_id, request.at)
    if not is_banned and request.kind is RequestKind.UNBAN:
        return await privacy_choices.unban_again(tx, viewer_id)
    return 0


async def _remove_again(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Remove from a copy what was removed since, quotes too; how many notes or quotes that were.

    Not what is newer than the request, or was said again after it.
    """
    if request.kind is RequestKind.UNQUOTE:
        return await quotes.remove_again(tx, request, viewer_id)
    if not tx.requests.is_removed(request):
        return 0
    removed = 0
    for note in await notes.of_subject(tx, viewer_id, (NoteStatus.ACTIVE,)):
        is_meant = note.id in request.notes or tx.requests.says(
            viewer_id, fact_stems(note.fact), request
        )
        if is_meant and (await notes.changes(tx, note.id))[-1].at <= request.at:
            await notes.set_status(
                tx, note, NoteStatus.RETRACTED, at=request.at, cause=reason("by_hand")
            )
            removed += 1
    return removed


async def start_new_requests(db: Database, now: int) -> int:
    """Go on without the file that was lost (open the memory with `requests_lost`). Raises StoreError.

    What the memory knows goes into the new file: who opted out or was banned, what is never mentioned, where recaps
    went. How many people opted out.
    """
    async with db.write() as tx:
        await asyncio.to_thread(tx.requests.start_anew)
        await privacy_choices.count_carried_out(tx, 0)
        requests = await _known_requests(tx, now)
        await privacy_choices.write_request(tx, *requests)
    opted_out = sum(request.kind is RequestKind.OPT_OUT for request in requests)
    log.warning("a new file of privacy requests was begun", opted_out=opted_out)
    return opted_out


async def _known_requests(tx: Transaction, now: int) -> list[PrivacyRequest]:
    """The requests that the rows of a memory show."""
    requests = tx.requests
    out = sorted((await privacy_choices.opted_out(tx)).ids)
    banned = await privacy_choices.banned(tx)
    rows = await notes.suppressions(tx)
    posted = await streams.start_times(tx, posted=True)
    folders = sorted(await streams.recap_folders(tx))
    return [
        *(requests.of(RequestKind.OPT_OUT, viewer_id, now) for viewer_id in out),
        *(
            requests.of(RequestKind.BAN, viewer_id, at)
            for viewer_id, at in banned.items()
        ),
        *(topic_of(requests, RequestKind.NEVER_MENTION, row, now) for row in rows),
        *(requests.posted(started_at, now) for started_at in posted),
        *(
            PrivacyRequest(RequestKind.RECAP_FOLDER, "", now, folder=folder)
            for folder in folders
        ),
    ]


async def _meant(
    source: Source,
    request: PrivacyRequest,
    viewer_id: str | None,
) -> list[Note]:
    """The notes that a request to forget a fact means."""
    if viewer_id is None or request.kind is not RequestKind.FORGET:
        return []
    facts = await personal_data.facts_of(source, viewer_id)
    note_ids = facts.keys() & request.notes
    for note_id, fact in facts.items():
        if source.requests.says(viewer_id, fact_stems(fact), request):
            note_ids.add(note_id)
    meant = []
    for note_id in note_ids:
        note = await notes.get(source, note_id)
        if note is not None and note.created_at <= request.at:
            meant.append(note)
    return meant


async def _words_of_meant(
    source: Source,
    request: PrivacyRequest,
    viewer_id: str | None,
) -> list[frozenset[str]]:
    """The words of each fact that a request wants forgotten."""
    facts = [fact_stems(note.fact) for note in await _meant(source, request, viewer_id)]
    return [words for words in facts if words]


async def _clean_recaps(
    db: Database,
    request: PrivacyRequest,
    viewer_id: str | None,
    facts: Sequence[frozenset[str]],
) -> None:
    """Take out of the files of recaps what a request is about: one of these facts (its words), or who opted out."""

    def cleaned(text: str, _quoted: bool) -> str:  # noqa: FBT001  # as `clean_files` calls it
        sentences = sentences_of(text)
        allowed = []
        for sentence in sentences:
            if not any(states_fact(sentence, words) for words in facts):
                allowed.append(sentence)
        return text if len(allowed) == len(sentences) else join_sentences(allowed)

    if facts:
        await clean_files(db, cleaned)
    chose_now = request.kind is db.requests.chose_last(request.subject)
    if request.kind is RequestKind.OPT_OUT and chose_now and viewer_id is not None:
        await leave_recaps(db, viewer_id)
