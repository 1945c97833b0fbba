"""Collects the facts for the policy: who is in chat, the switches, recent actions.

Facts come from badges, the store and the settings; from the model only the name that is looked up among people in
chat. Decides nothing.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import DAY, MINUTE, SECOND
from forgetmenot.domain import ChatEvent, Proposal, Role, Standing
from forgetmenot.memory.merge import LIVE
from forgetmenot.memory.people import is_bot, role_of
from forgetmenot.operations import requests
from forgetmenot.operations.catalogue import find
from forgetmenot.operations.services import switches_of
from forgetmenot.operations.types import (
    Action,
    ActionClass,
    ParameterKind,
    PersonFacts,
    PolicyFacts,
    RecentDecisions,
)
from forgetmenot.prompt.material import ActionDone
from forgetmenot.settings.schema import ActionSettings, Settings
from forgetmenot.store import action_logs, channel_state, notes, viewers
from forgetmenot.store.action_logs import ActionStatus, LoggedAction
from forgetmenot.store.database import Database, Source
from forgetmenot.store.viewers import Chatter
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import mention
from forgetmenot.text.words import telling_stems

HERE_FOR = 15 * MINUTE  # who said nothing for longer is not in chat now
REFUSALS_WITHIN = 10 * MINUTE
CORRECT = "correct"
_NOTE_ID = re.compile(r"[0-9]{1,12}", re.ASCII)
# Refusals by these rules say nothing about the asker, so they do not count against them.
_IMPERSONAL = (
    *("safe_mode", "paused", "silent_preview", "switched_off", "stream_live", "refused_often"),
    *("too_soon", "stream_limit", "queue_full", "asked_in_words"),
)


class ActionContext(Struct, frozen=True):
    """The origin of a proposal. `key` is unique to it, so that it is carried out at most once.

    `words` are sent after success, so they must not claim another action.
    """

    event: ChatEvent
    key: str
    bot_message_id: int | None = None
    words: str = ""
    question: str = ""  # what was said to the bot, without its name, if it was spoken to outright
    room_modes: frozenset[str] = frozenset()  # "slow", "emote_only": on already, by somebody else


class _People(NamedTuple):
    """Viewers as the policy sees them, under these settings and this state of the channel."""

    db: Database
    settings: Settings
    state: dict[str, str]

    async def by_id(self, viewer_id: str | None) -> PersonFacts | None:
        chatter = await viewers.chatter(self.db, viewer_id) if viewer_id else None
        return self.known(chatter) if chatter else None

    def known(self, chatter: Chatter) -> PersonFacts:
        newcomer = chatter.streams < self.settings.people.newcomer_streams
        bot_login = self.state.get("bot_login", "").casefold()
        return PersonFacts(
            id=chatter.id,
            login=chatter.login,
            display_name=chatter.display_name,
            # by the channel's id, because a stored role is only what the last message's badges said
            role=Role.BROADCASTER if chatter.id == self.state.get("id") else chatter.role,
            standing=Standing.NEWCOMER if newcomer else Standing.KNOWN,
            is_bot=is_bot(self.settings.memory, chatter.login, chatter.id),
            is_self=chatter.id == self.state.get("bot_id") or chatter.login.casefold() == bot_login != "",
            message_id=chatter.message_id,
        )

    def standing_facts(self, asker: PersonFacts, now: int) -> PolicyFacts:
        switched = switches_of(self.state)
        return PolicyFacts(
            asker=asker,
            live=self.state.get("live") == "1",
            paused=switched.silent(now),
            safe_mode=switched.safe_mode,
        )


class FactGatherer:
    """Reads the facts. `room_modes` returns the channel's modes that are on now."""

    def __init__(self, db: Database, room_modes: Callable[[], frozenset[str]] = frozenset) -> None:
        self._db = db
        self._room_modes = room_modes

    async def _people(self, settings: Settings) -> _People:
        return _People(self._db, settings, await channel_state.read_all(self._db))

    async def facts(self, proposal: Proposal, context: ActionContext, settings: Settings, now: int) -> PolicyFacts:
        """The facts for a new proposal."""
        people, event = await self._people(settings), context.event
        # what is stored of the speaker, and the badges of this message
        asker = replace(
            await people.by_id(event.user_id) or PersonFacts(event.user_id, "", standing=Standing.NEWCOMER),
            login=event.login,
            display_name=event.display_name,
            role=role_of(event.badges),
            is_bot=is_bot(settings.memory, event.login, event.user_id, event.badges),
        )
        target = await self._target(proposal, asker, event, people, now)
        asked = _facts_of_words(event.text, context.question, target, asker, settings)
        if proposal.name == CORRECT and (fact := await self._corrected(proposal, context, asker)):
            asked["typed"] |= {CORRECT: fact}
        return replace(
            people.standing_facts(asker, now),
            target=target,
            **asked,
            room_modes=context.room_modes,
        )

    async def facts_again(self, row: LoggedAction, by: str, settings: Settings, now: int) -> PolicyFacts:
        """The facts at an approval, with asker and target as they are now."""
        people = await self._people(settings)
        asker = await people.by_id(row.asked_by) or PersonFacts(row.asked_by or "", "")
        # by the id that was decided on, however that person is called now
        target = await people.by_id(row.target_id or row.params.get("target"))
        facts = people.standing_facts(asker, now)
        return replace(facts, target=target, approved_by=by, room_modes=self._room_modes())

    async def _corrected(self, proposal: Proposal, context: ActionContext, asker: PersonFacts) -> str:
        """The proposed text, if it corrects a live note of the asker's and has a word of their line; else nothing."""
        fact, number = clean(proposal.params.get("fact", "")), proposal.params.get("note", "")
        note = await notes.get(self._db, int(number)) if _NOTE_ID.fullmatch(number) else None
        if note is None or note.subject_id != asker.id or note.status not in LIVE:
            return ""
        said = context.question or context.event.text
        return "" if telling_stems(fact).isdisjoint(telling_stems(said)) else fact

    async def recent(
        self, action: Action | None, facts: PolicyFacts, settings: ActionSettings, now: int
    ) -> RecentDecisions:
        """Recent decisions and actions that bear on this one. A cooldown begins when an action is allowed."""
        target = facts.target.id if facts.target is not None else facts.asker.id
        waiting = await action_logs.waiting(self._db, now)
        started = int(await channel_state.read(self._db, "started_at") or now - DAY // 2)
        last, gaps = action_logs.last_allowed, []
        if action is not None:
            gaps.append((await last(self._db, name=action.name), action.cooldown_s))
        if action is not None and action.kind is ActionClass.GUARDED:
            gaps.append((await last(self._db, kind=ActionClass.GUARDED, about=target), settings.viewer_cooldown_s))
            gaps.append((await last(self._db, kind=ActionClass.GUARDED), settings.channel_cooldown_s))
        return RecentDecisions(
            cooldown_until=max((at + int(gap * SECOND) for at, gap in gaps if at), default=0),
            refusals=await action_logs.refusals_of(self._db, facts.asker.id, now - REFUSALS_WITHIN, _IMPERSONAL),
            done_this_stream=await action_logs.done_since(self._db, started),
            waiting=len(waiting),
            waiting_of_asker=sum(row.asked_by == facts.asker.id for row in waiting),
        )

    async def _target(
        self, proposal: Proposal, asker: PersonFacts, event: ChatEvent, people: _People, now: int
    ) -> PersonFacts | None:
        action = find(proposal.name)
        if action is None or not action.needs_target:
            return None
        name = _target_name(action, proposal)
        here = [people.known(one) for one in await viewers.chatters_present(self._db, now - HERE_FOR, event.id)]
        mine = next((person for person in here if person.id == asker.id), None)
        # their last line before this one: "delete" must not delete the request itself
        current = replace(asker, message_id=mine.message_id if mine else "")
        found = requests.resolve(name, [current, *(one for one in here if one.id != asker.id)], current)
        return found[0] if len(found) == 1 else None


def _facts_of_words(
    message: str, question: str, target: PersonFacts | None, asker: PersonFacts, settings: Settings
) -> dict[str, Any]:
    """The facts that are read from the words of a line."""
    typed = requests.typed(message, question, target, asker, settings.bridge.effects)
    return {
        "asked_for": requests.asked_for(question or message) | typed.keys(),
        "asks_nothing": requests.asks_nothing(question or message),
        "typed": typed,
        "named": target is not None and requests.names(question or message, target, asker),
    }


def _target_name(action: Action | None, proposal: Proposal) -> str:
    """The target's name in the proposal."""
    params = action.params if action is not None else ()
    return next((proposal.params.get(one.name, "") for one in params if one.kind is ParameterKind.VIEWER), "")


_STATES = {
    ActionStatus.DONE: "done",
    ActionStatus.UNDONE: "done, and undone since",
    ActionStatus.REFUSED: "not done: Twitch refused",
    ActionStatus.FAILED: "not done: it failed",
    ActionStatus.UNKNOWN: "tried; not known whether it worked",
    ActionStatus.WAITING: "not done: waits for a moderator",
}


async def lately(source: Source, *, since: int, limit: int = 3) -> tuple[ActionDone, ...]:
    """The last actions since then (ms), oldest first, people as `<@id>`; without times or words of the model."""
    rows = await action_logs.latest(source, limit, tuple(_STATES))
    return tuple(
        ActionDone(row.id, line(row), row.name if row.status is ActionStatus.DONE else "")
        for row in reversed(rows)
        if row.at >= since
    )


def line(row: LoggedAction) -> str:
    """An action and its result; people as `<@id>`."""
    parts = [row.name.replace("_", " ")]
    if row.target_id:
        parts.append(f"of {mention(row.target_id)}")
    action = find(row.name)
    if action is not None and any(one.kind is ParameterKind.SECONDS and one.name == "seconds" for one in action.params):
        parts.append(f"for {row.params.get('seconds', '?')} s")
    return f"{' '.join(parts)}: {_STATES.get(row.status, row.status.value)}"
