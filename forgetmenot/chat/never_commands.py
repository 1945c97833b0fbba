"""`!nevermention …` and `!maymention N`: what the bot must not bring up, by whoever it is about.

Viewers speak for themselves; moderators and the streamer also for the channel (`!nevermention channel …`) and for
others (`!nevermention @alice …`). Promises that the answer does not repeat what is to be left alone. Gives the line to
say, or None for what is no such command.
"""

import re
from collections.abc import Awaitable, Callable

from forgetmenot.chat.whom import CHANNEL_WORDS, NotTheirs, Unknown, Whom, moderates, whom
from forgetmenot.clock import Clock
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.memory import never
from forgetmenot.memory.notes.naming import with_mentions
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.store import never as rows
from forgetmenot.store.database import Database
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import defang
from forgetmenot.text.told_facts import first_word

_COMMAND = re.compile(r"[!！](nevermention|maymention)\b\s*(.*)", re.IGNORECASE)
_NUMBER = re.compile(r"#?(\d{1,9})\Z")
USAGE = "Tell me what: !nevermention and a topic, or #id of a note."
USAGE_AGAIN = "Give the number of the entry, for example !maymention 3."
SORRY = {
    "length": USAGE,
    "not_found": "There is no such note that is yours to silence.",
    "unknown": "I keep nothing about you, so there is nothing that I could bring up.",
    "enough": "My list of things to leave alone is full.",
}


async def handle(event: ChatEvent, db: Database, clock: Clock, flush: Callable[[], Awaitable[object]]) -> str | None:
    """The line to say, or None: no such command. `flush` makes who just came known. Raises StoreError."""
    found = _COMMAND.match(clean(event.text))
    if found is None:
        return None
    await flush()
    if found[1].casefold() == "maymention":
        return await _allow_again(event, db, found[2])
    try:
        about, what = await _about(event, db, found[2])
        left = await never.leave_alone(
            db, about.id, await with_mentions(db, defang(what)), by=event.user_id, at=clock.now()
        )
    except Unknown as unknown:
        return f"I don't know anybody called {unknown}."
    except (NotTheirs, Refused) as refused:
        return SORRY.get(str(refused), USAGE)
    whose = "" if about.own else f" ({about.name})"
    return f"I leave that alone from now on{whose}. !maymention {left.id} takes it back."


async def _about(event: ChatEvent, db: Database, rest: str) -> tuple[Whom, str]:
    """Whom it is about, and what."""
    name, what = first_word(rest)
    named = rest.startswith("@") or name.casefold() in CHANNEL_WORDS
    if moderates(event) and named and what.strip():
        return await whom(db, event, name), what.strip()
    return await whom(db, event, ""), rest


async def _allow_again(event: ChatEvent, db: Database, rest: str) -> str:
    number = _NUMBER.match(rest.strip())
    if number is None:
        return USAGE_AGAIN
    row = next((row for row in await rows.listed(db) if row.id == int(number[1])), None)
    if row is None or not (moderates(event) or row.viewer_id == event.user_id):
        return f"There is no entry {number[1]} that is yours."
    await never.allow_again(db, row.id)
    return "I may bring that up again."
