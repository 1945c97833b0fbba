"""What viewers say about themselves: it counts at the next reply, long before a summary covers it.

A fact that no summary covers yet is known at once:
- It is read from today's chat each time it is asked for, and stored nowhere: what is cleared, erased or aged out of
  chat is gone from it too. Only what its speaker corrects or has forgotten becomes a note first.
- The rules of a note hold: nothing sensitive, nothing that its subject had forgotten, nothing that is never to be
  mentioned, nobody who opted out.

A correction in plain speech is written at once. A line changes only what is known of its speaker, and only where it
plainly corrects one live note (memory/facts). The streamer corrects the channel's notes as well. What is quoted,
supposed or joked changes nothing, and whatever is new but contradicts nothing waits until chat is summarised. The old
note is superseded as by any other claim; where the line does not say what is true instead, or not plainly, it is
retracted; so is the one note that the bot just used, if its subject only denies it. All can be undone.
"""

import asyncio
import contextlib
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import Note, SourceKind
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory import suppression
from forgetmenot.memory.facts.corrections import LONGEST_LINE, NOTHING_BEFORE, Before, Known, corrected, may_correct
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.memory.notes import edits
from forgetmenot.memory.notes.note_merge import LIVE
from forgetmenot.memory.notes.proposals import FactRefused, checked_fact
from forgetmenot.memory.suppression import SuppressionFilter
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.store import bot_messages, episodes, events, forgotten_facts, notes
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.denials import denied_of_oneself, denies, is_negated, says_it_ended
from forgetmenot.text.mentions import defang
from forgetmenot.text.questions import taken_words
from forgetmenot.text.removal import traces
from forgetmenot.text.statements import claims, fact_of, is_moping, lasting_claims, stated_part
from forgetmenot.text.words import telling_stems

_TAKES_BACK = re.compile(r"\b(?:forget|wrong|not true)\b", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:no|not|over|gone|done|(?:cancel|stop|scrap|drop|quit|end)\w*|\w+n['’]?t)\b", re.IGNORECASE)
"""What a line of the streamer must have to end a fact about the channel: most of their lines are not about it."""
_FIRST_PERSON = re.compile(r"\b(?:i|my)\b", re.IGNORECASE)  # of a claim; most lines have none
LINES_READ, ALL_LINES_READ = 60, 500
MOST_SAID = 40
"""Facts of one viewer that are compared with each other, the newest: each with every later one."""
MOST_STATED = 2_000
"""People of whom it is kept that they said something of themselves."""
OWN_WORD = edits.TellerTrust(SourceKind.SELF_CLAIM, most=10)
LATELY = 5 * MINUTE
"""How old the line or the reply may be that a correction without a subject is about."""


class HeardFact(NamedTuple):
    """A fact without its subject, from the line `seq` with Twitch's id `line`."""

    seq: int
    viewer_id: str
    fact: str
    at: int
    line: str


async def heard_facts(
    source: Source,
    privacy: PrivacySettings,
    viewer_id: str = "",
    *,
    limit: int = 20,
    quiet: SuppressionFilter | None = None,
) -> list[HeardFact]:
    """The newest, oldest first; of one viewer or of all. A later line replaces what it repeats or contradicts."""
    lines = await events.unsummarised(source, viewer_id, LINES_READ if viewer_id else ALL_LINES_READ)
    later_facts: dict[str, list[str]] = {}
    held: list[HeardFact] = []
    # from the newest back, so that reading can end early: comparing all facts of one talkative viewer took half a
    # minute
    for line in reversed(lines):
        if len(held) >= limit:
            break
        facts_since = later_facts.setdefault(line.viewer_id, [])
        for fact in reversed(said_in(line.text, privacy) if len(facts_since) < MOST_SAID else ()):
            if all(relate(fact, later) is Relation.DISTINCT for later in facts_since):
                held.append(HeardFact(line.seq, line.viewer_id, fact, line.at, line.event_id))
            facts_since.append(fact)
    quiet = await suppression.load_filter(source) if quiet is None else quiet
    known: dict[str, tuple[list[Note], bool]] = {}
    shown: list[HeardFact] = []
    for one in sorted(held)[-limit:]:
        who = one.viewer_id
        if who not in known:
            withdrew = await notes.withdrawn_since(source, who, one.at)
            known[who] = await notes.of_subject(source, who, LIVE), bool(withdrew)
        live, any_withdrawn = known[who]
        withdrawn = await notes.withdrawn_since(source, who, one.at) if any_withdrawn else []
        if await _may_be_shown(source, one, quiet, live, withdrawn):
            shown.append(one._replace(fact=await suppression.without_hidden_names(source, one.fact, who)))
    return shown


def said_in(text: str, privacy: PrivacySettings) -> list[str]:
    """The facts about its speaker in one line of chat that may be kept. Pure."""
    if not _FIRST_PERSON.search(text) or is_command(text) or _TAKES_BACK.search(text):
        return []
    kept: list[str] = []
    for fact in map(fact_of, lasting_claims(text)):
        with contextlib.suppress(FactRefused):
            kept.append(checked_fact(defang(fact), privacy))
    return kept


async def _may_be_shown(
    source: Source, one: HeardFact, quiet: SuppressionFilter, live: Sequence[Note], withdrawn: Sequence[Note]
) -> bool:
    """Whether it is no note, not outdone by one or withdrawn since, nor forgotten, nor never to be mentioned."""
    for note in (*live, *withdrawn):  # one that says the same, or something else that was said later
        relation = relate(note.fact, one.fact)
        outdone = relation is Relation.CONFLICT and note in live and note.last_confirmed_at >= one.at
        if relation is Relation.DUPLICATE or outdone:
            return False
    if quiet.has(one.fact, [one.viewer_id]):
        return False
    return not await forgotten_facts.is_forgotten(source, one.viewer_id, traces(one.fact), own_since=one.at)


# Corrections in plain speech.


class MadeChange(NamedTuple):
    """What a line changed: the code of what it says to that, and the note that stands, or was taken back."""

    code: str
    note: Note


async def changed_by(source: Source, line_id: str) -> MadeChange | None:
    """What a line of chat changed when it was heard."""
    for note in await notes.resting_on(source, episodes.key_of_line(line_id)):
        return MadeChange("edited" if note.status in LIVE else "taken_back", note)
    return None


class JustSaid(NamedTuple):
    """What the bot last said to a viewer, and the notes that it used."""

    text: str
    notes: list[Note]


async def just_said(source: Source, viewer_id: str, now: int, *, to_anybody: bool = False) -> JustSaid | None:
    """What the bot last said to a viewer (or to anybody) these minutes; None if nothing.

    Where it is not kept which notes it used (a command's answer, a quotation): the notes about whoever was answered
    whose words it has.
    """
    for reply in await bot_messages.said_lately(source, 1, now - LATELY, None if to_anybody else viewer_id):
        used = reply.used
        found = [note for note_id in used if (note := await notes.get(source, note_id)) and note.status in LIVE]
        if not used:
            told = await notes.of_subject(source, reply.viewer_id or viewer_id, LIVE)
            found = [note for note in told if _uses(reply.text, note.fact)]
        return JustSaid(reply.text, found)
    return None


def _uses(reply: str, fact: str) -> bool:
    return taken_words(telling_stems(fact, 2), telling_stems(reply, 2), frozenset()) > 0


async def heard_in(source: Source, reply: str, viewer_id: str, privacy: PrivacySettings) -> list[HeardFact]:
    """What a viewer said of themselves today and a reply used."""
    return [one for one in await heard_facts(source, privacy, viewer_id) if _uses(reply, one.fact)]


async def as_note(db: Database | Transaction, heard: HeardFact, privacy: PrivacySettings) -> Note:
    """Write a heard fact as the note that a summary would make of it, so that it can be changed like one.

    In the transaction of the change: one that is refused leaves no note behind. Raises FactRefused.
    """
    # no limit for each stream: this is also how it is forgotten
    who, line = heard.viewer_id, heard.line
    return await edits.remember(
        db,
        who,
        heard.fact,
        by=who,
        at=heard.at,
        privacy=privacy,
        word=edits.TellerTrust(SourceKind.SELF_CLAIM),
        line=line,
    )


def _changed(
    line: str, held: Sequence[Known], used: Sequence[Known], before: Before
) -> tuple[Known, str | None] | None:
    """What of the known facts a line denies or corrects, and how it then reads. `used`: those of the last reply."""
    if len(used) == 1 and denies(line, used[0].fact):
        return used[0], None
    if (found := corrected(line, held, before)) is not None:
        return None if is_moping(found[0].fact, found[1] or "") else found
    denied = denied_of_oneself(line, [known.fact for known in held])
    return (held[denied[0]], None) if len(denied) == 1 else None


class SpokenCorrections:
    """Looks for corrections in lines of chat. `flush` makes lines that were just heard readable."""

    def __init__(
        self, *, db: Database, settings: Callable[[], Settings], clock: Clock, flush: Callable[[], Awaitable[None]]
    ) -> None:
        self._db, self._settings, self._clock, self._flush = db, settings, clock, flush
        self._last: OrderedDict[str, tuple[int, str]] = OrderedDict()
        self._stated: OrderedDict[str, None] = OrderedDict()  # who said something of themselves in this run

    async def take(self, event: ChatEvent, text: str) -> None:
        """Write what a line corrects, if anything. A correction that is refused or cannot be written is only logged.

        `text`: the line without the bot's name.
        """
        if event.kind is not EventKind.MESSAGE or len(text) > LONGEST_LINE:
            return
        lately = self._last.pop(event.user_id, (0, ""))
        self._last[event.user_id] = event.at, text
        while next(iter(self._last.values()))[0] < event.at - LATELY:  # no line is kept longer than it is of use
            self._last.popitem(last=False)
        meant = "" if is_command(text) else stated_part(defang(text))
        if not meant:
            return
        own = Before("own", lately[1]) if lately[0] >= event.at - LATELY else NOTHING_BEFORE
        try:
            found = await self._found(event, meant, own)
            if found is not None:
                await self._write(event, *found)
        except FactRefused as refused:
            log.debug("a correction in chat is not taken", rule=refused.rule)
        except StoreError as error:
            log.warning("a correction in chat could not be written", error=type(error).__name__)
        if _FIRST_PERSON.search(text) and lasting_claims(text):
            self._stated[event.user_id] = None
            while len(self._stated) > MOST_STATED:
                self._stated.popitem(last=False)

    async def _found(self, event: ChatEvent, meant: str, own: Before) -> tuple[Note | HeardFact, str | None] | None:
        """What a line corrects, and what it then says. What came before: the bot's reply, else their line."""
        said = await just_said(self._db, event.user_id, event.at)
        before = own if said is None else Before("bot", said.text)
        used = said.notes if said is not None else []
        for subject in (event.user_id, None) if "broadcaster" in event.badges else (event.user_id,):
            held = await notes.of_subject(self._db, subject, LIVE)
            ended = [note for note in held if subject is None and says_it_ended(meant, note.fact)]
            ended = ended or [note for note in held if used == [note] and denies(meant, note.fact)]
            if len(ended) == 1:
                return ended[0], None
            found = await asyncio.to_thread(_changed, meant, held, [], before)
            if found is not None and (subject is not None or found[1] is not None or _ENDS.search(meant)):
                return found
        likely = may_correct(meant) and not claims(meant)
        if event.user_id not in self._stated or not (likely or is_negated(meant)):
            return None  # nearly every line: to look at what was heard today takes a write and a read
        await self._flush()
        heard = await heard_facts(self._db, self._settings().privacy, event.user_id)
        told = [one for one in heard if said is not None and not said.notes and _uses(said.text, one.fact)]
        return await asyncio.to_thread(_changed, meant, heard, told, own)

    def forget(self) -> None:
        """Drop the last lines of everybody: after an erasure."""
        self._last.clear()
        self._stated.clear()

    async def _write(self, event: ChatEvent, known: Note | HeardFact, fact: str | None) -> None:
        # the line is the evidence of the correction, so it has to be on disk first
        await self._flush()
        if await events.by_id(self._db, event.id) is not None:
            return  # Twitch delivered it twice, or an earlier run has heard it
        privacy = self._settings().privacy
        async with self._db.write() as tx:
            # what was only heard becomes a note, or the summary of the day would tell it again
            note = await as_note(tx, known, privacy) if isinstance(known, HeardFact) else known
            if fact is None:
                await edits.retract_by_word(tx, note.id, by=event.user_id, at=event.at, line=event.id)
                return
            await edits.remember(
                tx,
                note.subject_id,
                fact,
                by=event.user_id,
                at=self._clock.now(),
                privacy=privacy,
                scope=note.scope,
                word=OWN_WORD if note.subject_id is not None else edits.TRUSTED,
                line=event.id,
                instead_of=note.id,
            )
