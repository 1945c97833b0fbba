"""Told to remember, to find, to pin: what people ask for in so many words.

Promises that such a note has evidence as well: a one-line episode of its own kind, written first, in the same
transaction. Who may ask for what is the caller's to decide; what is never stored is refused here too.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from forgetmenot.domain.memory import EpisodeKind, Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.memory.notes import beliefs
from forgetmenot.memory.notes.beliefs import HALF_A_DAY_MS, Said
from forgetmenot.memory.notes.naming import with_mentions
from forgetmenot.memory.notes.proposals import Refused, checked_fact, tells_of_another
from forgetmenot.memory.ranking import Candidate, Postings, query_of
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes, events, notes, rights, streams
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import OwnEpisode
from forgetmenot.store.notes import NewNote
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import ids_in, mention
from forgetmenot.text.words import STOPWORDS, stem, words

_NUMBER = re.compile(r"#(\d{1,15})")
TOLD_CONFIDENCE = 0.95
HEARD_CONFIDENCE = 0.5


class Word(NamedTuple):
    """What somebody's word weighs. `source` OBSERVED: only heard, at a low confidence; `most`: so many in a stream."""

    source: SourceKind = SourceKind.COMMAND
    most: int | None = None


TOLD = Word()
VIEWERS_WORD = Word(most=10)


async def remember(  # noqa: PLR0913  # what, of whom, by whom, under which rules
    db: Database,
    subject_id: str | None,
    fact: str,
    *,
    by: str,
    at: int,
    scope: Scope | None = None,
    privacy: PrivacySettings | None = None,
    word: Word = TOLD,
    line: str = "",
) -> Note:
    """Write what somebody (`by`) asked to be remembered about a viewer, or (None) about the channel.

    `line`: the id of the line of chat in which they did: when that is cleared, so is this.
    `fact` names people as `<@id>`; names of people who are known become that. The note that stands afterwards: new,
    confirmed or replacing another. Raises Refused (length, sensitive:…, claim:…, opted_out, cleared, pinned …).
    """
    rules = privacy or PrivacySettings()
    trusted = subject_id is None and word.source is SourceKind.COMMAND  # moderators alone tell of the channel
    check = partial(checked_fact, allowed=frozenset(rules.allow_categories), never=rules.never_store, links=trusted)
    told = check(await with_mentions(db, check(clean(fact))))  # before too: naming takes addresses apart
    if word.most is not None and subject_id is not None and tells_of_another(told, subject_id):
        raise Refused("about_a_person")
    async with db.write() as tx:
        out = await rights.opted_out(tx)
        if subject_id in out or by in out:
            raise Refused("opted_out")
        if line and await events.was_deleted(tx, line):
            raise Refused("cleared")
        stream = await streams.open_id(tx)
        since = await streams.start_of(tx, stream) if stream is not None else at - HALF_A_DAY_MS
        if word.most is not None and await episodes.told_since(tx, by, since) >= word.most:
            raise Refused("enough_this_stream")
        key = episodes.key_of_line(line) if line else None
        episode = await episodes.insert_own(tx, _told_episode(subject_id, told, by, at, stream, key), at)
        new = NewNote(
            scope=scope or (Scope.VIEWER if subject_id is not None else Scope.CHANNEL),
            subject_id=subject_id,
            fact=told,
            confidence=TOLD_CONFIDENCE if word.source is SourceKind.COMMAND else HEARD_CONFIDENCE,
            source_kind=word.source,
            at=at,
            importance=Importance.HIGH if word.source is SourceKind.COMMAND else Importance.MEDIUM,
            stream_id=stream,
        )
        done = await beliefs.believe(tx, new, Said(episode, by, addressed=True, at=at, stream_id=stream), now=at)
        note = await notes.get(tx, done.note_id)
    if note is None:
        raise Refused("not_found")
    return note


def _told_episode(  # all that it holds
    subject_id: str | None, told: str, by: str, at: int, stream: int | None, key: str | None
) -> OwnEpisode:
    about = mention(subject_id) if subject_id is not None else "the channel"
    subjects = (subject_id,) if subject_id is not None else ()
    return OwnEpisode(
        kind=EpisodeKind.COMMAND,
        summary=f"{mention(by)} asked to remember about {about}: {told}",
        at=at,
        people=tuple(dict.fromkeys((by, *subjects, *ids_in(told)))),
        key=key,
        stream_id=stream,
        spoke=by,
    )


async def pin(db: Database, note_id: int, *, at: int, pinned: bool = True) -> None:
    """Let a note neither age nor fall to a cap nor be replaced by chat, or no longer. Raises Refused."""
    async with db.write() as tx:
        note = await notes.get(tx, note_id)
        if note is None:
            raise Refused("not_found")
        await notes.set_pinned(tx, note_id, pinned=pinned)
        cause = "pinned" if pinned else "unpinned"
        await notes.record(tx, notes.Change(note_id, at, note.status, note.status, cause))


async def find(
    db: Database, subject_id: str | None, text: str, *, now: int, limit: int = 3, past: bool = False
) -> list[Note]:
    """The live notes about a subject that a text means, by `#id` or by words: best first, none if no word fits.

    By words, a note fits when it has as many of the text's words as the best one has: two notes mean "ask which".
    `past`: where no live one fits, those that are no longer live too.
    """
    found = _fitting(await notes.of_subject(db, subject_id, beliefs.LIVE), text, now, limit)
    if found or not past:
        return found
    return _fitting(await notes.of_subject(db, subject_id, tuple(NoteStatus)), text, now, limit)


def _fitting(held: Sequence[Note], text: str, now: int, limit: int) -> list[Note]:
    numbers = {int(number) for number in _NUMBER.findall(text)}
    if numbers:
        return [note for note in held if note.id in numbers]
    asked = {stem(word) for word in words(text)} - STOPWORDS
    shared = {note.id: len(asked & {stem(word) for word in words(note.fact)}) for note in held}
    most = max(shared.values(), default=0)
    fitting = [note for note in held if most and shared[note.id] == most]
    ranked = Postings([Candidate(note) for note in fitting]).ranked(query_of(text), now=now, limit=limit)
    return [one.note for one in ranked]
