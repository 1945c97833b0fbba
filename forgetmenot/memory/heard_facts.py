"""What viewers said about themselves and no summary covers yet: known at once, long before it can become a note.

Read from today's chat each time it is asked for; nothing is stored here, so what is cleared, erased or aged out of chat
is gone from it too. Promises the rules of a note: nothing sensitive, nothing that its subject had forgotten, nothing
that is never to be mentioned, nobody who opted out.
"""

import re
from typing import NamedTuple

from forgetmenot.llm.offline.memory import claims, fact_of
from forgetmenot.memory import suppression
from forgetmenot.memory.notes.note_merge import LIVE
from forgetmenot.memory.notes.proposals import FactRefused, checked_fact
from forgetmenot.memory.suppression import SuppressionFilter
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import events, forgotten_facts, notes
from forgetmenot.store.database import Database
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.mentions import defang
from forgetmenot.text.removal import traces

_TAKES_BACK = re.compile(r"\b(?:forget|wrong|not true)\b", re.IGNORECASE)


class HeardFact(NamedTuple):
    """A fact without its subject, from the line `seq`."""

    seq: int
    viewer_id: str
    fact: str
    at: int


async def heard_facts(
    db: Database, privacy: PrivacySettings, viewer_id: str = "", *, limit: int = 20
) -> list[HeardFact]:
    """The newest, oldest first; of one viewer or of all."""
    found: dict[tuple[str, str], HeardFact] = {}
    for line in await events.unsummarised(db, viewer_id):
        for fact in said_in(line.text, privacy):
            found.pop((line.viewer_id, fact), None)
            found[line.viewer_id, fact] = HeardFact(line.seq, line.viewer_id, fact, line.at)
    quiet = await suppression.load_filter(db)
    return [one for one in list(found.values())[-limit:] if await _may_be_shown(db, one, quiet)]


def said_in(text: str, privacy: PrivacySettings) -> list[str]:
    """The facts about its speaker in one line of chat that may be kept. Pure."""
    if is_command(text) or _TAKES_BACK.search(text):
        return []
    kept: list[str] = []
    for claim in claims(text):
        try:
            allowed = frozenset(privacy.allow_categories)
            kept.append(checked_fact(defang(fact_of(claim)), allowed=allowed, never=privacy.never_store))
        except FactRefused:
            continue
    return kept


async def _may_be_shown(db: Database, one: HeardFact, quiet: SuppressionFilter) -> bool:
    """Whether it is neither a note already, nor forgotten, nor never to be mentioned."""
    known = {note.fact.casefold() for note in await notes.of_subject(db, one.viewer_id, LIVE)}
    if one.fact.casefold() in known or quiet.has(one.fact, [one.viewer_id]):
        return False
    return not await forgotten_facts.is_forgotten(db, one.viewer_id, traces(one.fact), own_since=one.at)
