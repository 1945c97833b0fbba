"""What viewers say about themselves: it counts at the next reply, long before a summary covers it.

A fact that no summary covers yet is known at once:
- It is read from today's chat each time it is asked for, and stored nowhere: what is cleared, erased or aged out of
  chat is gone from it too.
- The rules of a note hold: nothing sensitive, nothing that its subject had forgotten, nothing that is never to be
  mentioned, nobody who opted out.

A correction in plain speech is written at once. A line changes only what is known of its speaker, and only where it
plainly corrects one live note (memory/facts). The streamer corrects the channel's notes as well. What is quoted,
supposed or joked changes nothing, and whatever is new but contradicts nothing waits until chat is summarised. The old
note is superseded as by any other claim; where the line does not say what is true instead, or not plainly, it is
retracted. Both can be undone.
"""

import asyncio
import contextlib
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import Note, SourceKind
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory import suppression
from forgetmenot.memory.facts.corrections import LONGEST_LINE, NOTHING_BEFORE, Before, corrected, revised
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.memory.notes import edits
from forgetmenot.memory.notes.note_merge import LIVE
from forgetmenot.memory.notes.proposals import FactRefused, checked_fact
from forgetmenot.memory.suppression import SuppressionFilter
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.store import bot_messages, events, forgotten_facts, notes
from forgetmenot.store.database import Database, Source
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.mentions import defang
from forgetmenot.text.removal import traces
from forgetmenot.text.statements import fact_of, lasting_claims, stated_part

_TAKES_BACK = re.compile(r"\b(?:forget|wrong|not true)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|my)\b", re.IGNORECASE)  # of a claim; most lines have none
LINES_READ, ALL_LINES_READ = 60, 500
MOST_SAID = 40
"""Facts of one viewer that are compared with each other, the newest: each with every later one."""
CORRECTIONS_READ = 5
"""Lines of a viewer after a fact that may correct it: the next ones."""
OWN_WORD = edits.TellerTrust(SourceKind.SELF_CLAIM, most=10)
LATELY = 5 * MINUTE
"""How old the line or the reply may be that a correction without a subject is about."""


class HeardFact(NamedTuple):
    """A fact without its subject, from the line `seq`."""

    seq: int
    viewer_id: str
    fact: str
    at: int


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
    later_lines: dict[str, list[str]] = {}
    held: list[HeardFact] = []
    # from the newest back, so that reading can end early: comparing all facts of one talkative viewer took half a
    # minute
    for line in reversed(lines):
        if len(held) >= limit:
            break
        facts_since = later_facts.setdefault(line.viewer_id, [])
        lines_since = later_lines.setdefault(line.viewer_id, [])
        for fact in reversed(said_in(line.text, privacy) if len(facts_since) < MOST_SAID else ()):
            if all(relate(fact, later) is Relation.DISTINCT for later in facts_since):
                heard = _corrected(HeardFact(line.seq, line.viewer_id, fact, line.at), lines_since, privacy)
                if heard is not None:
                    held.append(heard)
            facts_since.append(fact)
        lines_since.append(line.text)
    quiet = await suppression.load_filter(source) if quiet is None else quiet
    newest = sorted(held)[-limit:]
    known = {who: await notes.of_subject(source, who, LIVE) for who in {one.viewer_id for one in newest}}
    return [
        one._replace(fact=await suppression.without_hidden_names(source, one.fact, one.viewer_id))
        for one in newest
        if await _may_be_shown(source, one, quiet, known[one.viewer_id])
    ]


def _corrected(one: HeardFact, since: Sequence[str], privacy: PrivacySettings) -> HeardFact | None:
    """The fact as its speaker's later lines (the newest first) leave it; None if it no longer holds or may be kept."""
    fact = before = one.fact
    stated = filter(None, (stated_part(line) for line in reversed(since) if not is_command(line)))
    for line in islice(stated, CORRECTIONS_READ):
        found = revised(line, [one._replace(fact=fact)], Before("own", before))
        if found is not None:
            _, corrected_fact = found
            if corrected_fact is None:
                return None
            fact = corrected_fact
        before = line
    kept = [fact] if fact == one.fact else _storable([fact], privacy)
    return one._replace(fact=kept[0]) if kept else None


def said_in(text: str, privacy: PrivacySettings) -> list[str]:
    """The facts about its speaker in one line of chat that may be kept. Pure."""
    if not _FIRST_PERSON.search(text) or is_command(text) or _TAKES_BACK.search(text):
        return []
    return _storable(map(fact_of, lasting_claims(text)), privacy)


def _storable(facts: Iterable[str], privacy: PrivacySettings) -> list[str]:
    kept: list[str] = []
    for fact in facts:
        with contextlib.suppress(FactRefused):
            allowed = frozenset(privacy.allow_categories)
            kept.append(checked_fact(defang(fact), allowed=allowed, never=privacy.never_store))
    return kept


async def _may_be_shown(source: Source, one: HeardFact, quiet: SuppressionFilter, known: Sequence[Note]) -> bool:
    """Whether it is neither a note already, nor outdone by one, nor forgotten, nor never to be mentioned."""
    for note in known:  # one that says the same, or something else that was said later
        relation = relate(note.fact, one.fact)
        if relation is Relation.DUPLICATE or (relation is Relation.CONFLICT and note.last_confirmed_at >= one.at):
            return False
    if quiet.has(one.fact, [one.viewer_id]):
        return False
    return not await forgotten_facts.is_forgotten(source, one.viewer_id, traces(one.fact), own_since=one.at)


# Corrections in plain speech.


class SpokenCorrections:
    """Looks for corrections in lines of chat. `flush` makes lines that were just heard readable."""

    def __init__(
        self, *, db: Database, settings: Callable[[], Settings], clock: Clock, flush: Callable[[], Awaitable[None]]
    ) -> None:
        self._db, self._settings, self._clock, self._flush = db, settings, clock, flush
        self._last: OrderedDict[str, tuple[int, str]] = OrderedDict()

    async def take(self, event: ChatEvent) -> None:
        """Write what a line corrects, if anything. A correction that is refused or cannot be written is only logged."""
        text = event.text
        if event.kind is not EventKind.MESSAGE or len(text) > LONGEST_LINE:
            return
        lately = self._last.pop(event.user_id, (0, ""))
        self._last[event.user_id] = event.at, text
        while next(iter(self._last.values()))[0] < event.at - LATELY:  # no line is kept longer than it is of use
            self._last.popitem(last=False)
        meant = "" if is_command(text) else stated_part(defang(text))
        if not meant:
            return
        try:
            for subject in (event.user_id, None) if "broadcaster" in event.badges else (event.user_id,):
                held = await notes.of_subject(self._db, subject, LIVE)
                if not held:
                    continue
                found = await asyncio.to_thread(corrected, meant, held, await self._before(event, lately))
                if found is not None:
                    note, fact = found
                    await self._write(event, note, fact)
                    return
        except FactRefused as refused:
            log.debug("a correction in chat is not taken", rule=refused.rule)
        except StoreError as error:
            log.warning("a correction in chat could not be written", error=type(error).__name__)

    def forget(self) -> None:
        """Drop the last lines of everybody: after an erasure."""
        self._last.clear()

    async def _before(self, event: ChatEvent, lately: tuple[int, str]) -> Before:
        """The bot's last reply to the speaker, else their own last line."""
        since = event.at - LATELY
        for reply in await bot_messages.said_lately(self._db, 1, since, event.user_id):
            return Before("bot", reply.text)
        return Before("own", lately[1]) if lately[0] >= since else NOTHING_BEFORE

    async def _write(self, event: ChatEvent, note: Note, fact: str | None) -> None:
        # the line is the evidence of the correction, so it has to be on disk first
        await self._flush()
        if await events.by_id(self._db, event.id) is not None:
            return  # Twitch delivered it twice, or an earlier run has heard it
        if fact is None:
            await edits.retract_by_word(self._db, note.id, by=event.user_id, at=event.at, line=event.id)
            return
        await edits.remember(
            self._db,
            note.subject_id,
            fact,
            by=event.user_id,
            at=self._clock.now(),
            privacy=self._settings().privacy,
            scope=note.scope,
            word=OWN_WORD if note.subject_id is not None else edits.TRUSTED,
            line=event.id,
            instead_of=note.id,
        )
