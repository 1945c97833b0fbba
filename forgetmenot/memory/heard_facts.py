"""What viewers said about themselves and no summary covers yet: known at once, long before it can become a note.

Guarantees:
- It is read from today's chat each time it is asked for, and stored nowhere: what is cleared, erased or aged out of
  chat is gone from it too.
- The rules of a note hold: nothing sensitive, nothing that its subject had forgotten, nothing that is never to be
  mentioned, nobody who opted out.
"""

import contextlib
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from forgetmenot.domain.memory import Note
from forgetmenot.memory import suppression
from forgetmenot.memory.facts.corrections import Before, revised
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.memory.notes.note_merge import LIVE
from forgetmenot.memory.notes.proposals import FactRefused, checked_fact
from forgetmenot.memory.suppression import SuppressionFilter
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import events, forgotten_facts, notes
from forgetmenot.store.database import Source
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.mentions import defang
from forgetmenot.text.removal import traces
from forgetmenot.text.statements import claims, fact_of, stated_part

_TAKES_BACK = re.compile(r"\b(?:forget|wrong|not true)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|my)\b", re.IGNORECASE)  # of a claim; most lines have none
LINES_READ, ALL_LINES_READ = 60, 500
MOST_SAID = 40
"""Facts of one viewer that are compared with each other, the newest: each with every later one."""
CORRECTIONS_READ = 5
"""Lines of a viewer after a fact that may correct it: the next ones."""


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
    said: dict[str, list[str]] = {}
    newer: dict[str, list[str]] = {}
    held: list[HeardFact] = []
    for line in reversed(lines):
        later, since = said.setdefault(line.viewer_id, []), newer.setdefault(line.viewer_id, [])
        if len(held) >= limit:
            break
        for fact in reversed(said_in(line.text, privacy) if len(later) < MOST_SAID else ()):
            if all(relate(fact, one) is Relation.DISTINCT for one in later):
                one = _corrected(HeardFact(line.seq, line.viewer_id, fact, line.at), since, privacy)
                held += [one] if one is not None else []
            later.append(fact)
        since.append(line.text)
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
        if (found := revised(line, [one._replace(fact=fact)], Before("own", before))) is not None:
            if found[1] is None:
                return None
            fact = found[1]
        before = line
    kept = [fact] if fact == one.fact else _storable([fact], privacy)
    return one._replace(fact=kept[0]) if kept else None


def said_in(text: str, privacy: PrivacySettings) -> list[str]:
    """The facts about its speaker in one line of chat that may be kept. Pure."""
    if not _FIRST_PERSON.search(text) or is_command(text) or _TAKES_BACK.search(text):
        return []
    return _storable(map(fact_of, claims(text)), privacy)


def _storable(facts: Iterable[str], privacy: PrivacySettings) -> list[str]:
    kept: list[str] = []
    for fact in facts:
        with contextlib.suppress(FactRefused):
            allowed = frozenset(privacy.allow_categories)
            kept.append(checked_fact(defang(fact), allowed=allowed, never=privacy.never_store))
    return kept


async def _may_be_shown(source: Source, one: HeardFact, quiet: SuppressionFilter, known: Sequence[Note]) -> bool:
    """Whether it is neither a note already, nor outdone by one, nor forgotten, nor never to be mentioned."""
    if any(_outdoes(note, one) for note in known) or quiet.has(one.fact, [one.viewer_id]):
        return False
    return not await forgotten_facts.is_forgotten(source, one.viewer_id, traces(one.fact), own_since=one.at)


def _outdoes(note: Note, one: HeardFact) -> bool:
    """Whether a note says the same, or something else that was said later."""
    relation = relate(note.fact, one.fact)
    return relation is Relation.DUPLICATE or (relation is Relation.CONFLICT and note.last_confirmed_at >= one.at)
