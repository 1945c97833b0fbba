"""Collects the facts for the policy: who is in chat, the switches, recent actions.

Facts come from badges, the store and the settings; from the model only the name that is looked up among people in
chat. Decides nothing.
"""

import re
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import ChatEvent, Proposal, Role
from forgetmenot.durations import DAY, MINUTE, SECOND
from forgetmenot.memory.merge import LIVE
from forgetmenot.memory.own_words import may_correct
from forgetmenot.operations import request_words
from forgetmenot.operations.actions import find
from forgetmenot.operations.handlers.switches import switches_of
from forgetmenot.operations.types import (
    Action,
    ActionClass,
    ParameterKind,
    PersonFacts,
    PolicyFacts,
    RecentDecisions,
)
from forgetmenot.people.exclusion import is_bot
from forgetmenot.people.standing import role_of
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
    *("too_soon", "stream_limit", "queue_full", "asked_in_words", "possible"),
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


class _People(NamedTuple):
    """Viewers as the policy sees them, under these settings and this state of the channel."""

    db: Database
    settings: Settings
    state: dict[str, str]

    async def by_id(self, viewer_id: str | None) -> PersonFacts | None:
        chatter = await viewers.chatter(self.db, viewer_id) if viewer_id else None
        return self.known(chatter) if chatter else None

    def known(self, chatter: Chatter) -> PersonFacts:
        bot_login = self.state.get("bot_login", "").casefold()
        is_self = (
            chatter.id == self.state.get("bot_id") or chatter.login.casefold() == bot_login != ""
        )
        return PersonFacts(
            id=chatter.id,
            login=chatter.login,
            display_name=chatter.display_name,
            # by the channel's id, because a stored role is only what the last message's badges said
            role=Role.BROADCASTER if chatter.id == self.state.get("id") else chatter.role,
            newcomer=chatter.streams < self.settings.people.newcomer_streams,
            is_bot=is_self or is_bot(self.settings.memory, chatter.login, chatter.id),
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


async def gather(
    db: Database,
    proposal: Proposal,
    context: ActionContext,
    modes: frozenset[str],
    settings: Settings,
    now: int,
) -> PolicyFacts:
    """The facts for a new proposal. `modes`: the chat modes that are on."""
    people, event = _People(db, settings, await channel_state.read_all(db)), context.event
    # what is stored of the speaker, and the badges of this message
    asker = replace(
        await people.by_id(event.user_id) or PersonFacts(event.user_id, "", newcomer=True),
        login=event.login,
        display_name=event.display_name,
        role=role_of(event.badges),
        is_bot=is_bot(settings.memory, event.login, event.user_id, event.badges),
    )
    target = await _target(people, proposal, asker, event, now)
    said = context.question or event.text
    typed = request_words.typed(
        event.text, context.question, target, asker, settings.bridge.effects
    )
    asked_for = request_words.asked_for(said) | typed.keys()
    if proposal.name == CORRECT and (fact := await _corrected(db, proposal, said, asker)):
        typed |= {CORRECT: fact}
    return replace(
        people.standing_facts(asker, now),
        target=target,
        asked_for=asked_for,
        asks_nothing=request_words.asks_nothing(said),
        typed=typed,
        named=target is not None and request_words.names(said, target, asker),
        room_modes=modes,
    )


async def gather_again(
    db: Database, row: LoggedAction, by: str, modes: frozenset[str], settings: Settings, now: int
) -> PolicyFacts:
    """The facts at an approval, with asker and target as they are now."""
    people = _People(db, settings, await channel_state.read_all(db))
    asker = await people.by_id(row.asked_by) or PersonFacts(row.asked_by or "", "")
    # by the id that was decided on, however that person is called now
    target = await people.by_id(row.target_id or row.params.get("target"))
    return replace(
        people.standing_facts(asker, now), target=target, approved_by=by, room_modes=modes
    )


async def _corrected(db: Database, proposal: Proposal, said: str, asker: PersonFacts) -> str:
    """The proposed text, if it corrects a live note of the asker's as their line says; else nothing.

    A word of it stands in the line; where that is in another language, it says the same kind of thing as the note.
    """
    fact = clean(proposal.params.get("fact", ""))
    number = proposal.params.get("note", "")
    note = await notes.get(db, int(number)) if _NOTE_ID.fullmatch(number) else None
    if note is None or note.subject_id != asker.id or note.status not in LIVE:
        return ""
    if not telling_stems(fact).isdisjoint(telling_stems(said)):
        return fact
    return fact if may_correct(note.fact, fact, said) else ""


async def recent_decisions(
    db: Database, action: Action | None, facts: PolicyFacts, settings: ActionSettings, now: int
) -> RecentDecisions:
    """Recent decisions and actions that bear on this one. A cooldown begins when an action is allowed."""
    target = facts.target.id if facts.target is not None else facts.asker.id
    waiting = await action_logs.waiting(db, now)
    # what a moderator asks for is no attempt of anybody's to talk the model into something
    refusals = 0
    if not facts.asker.role.moderates:
        since = now - REFUSALS_WITHIN
        refusals = await action_logs.refusals_of(db, facts.asker.id, since, _IMPERSONAL)
    started = int(await channel_state.read(db, "started_at") or now - DAY // 2)
    last, gaps = action_logs.last_allowed, []
    if action is not None:
        gaps.append((await last(db, name=action.name), action.cooldown_s))
    if action is not None and action.kind is ActionClass.GUARDED:
        gaps.append(
            (await last(db, kind=ActionClass.GUARDED, about=target), settings.viewer_cooldown_s)
        )
        gaps.append((await last(db, kind=ActionClass.GUARDED), settings.channel_cooldown_s))
    return RecentDecisions(
        cooldown_until=max((at + int(gap * SECOND) for at, gap in gaps if at), default=0),
        refusals=refusals,
        done_this_stream=await action_logs.done_since(db, started),
        waiting=len(waiting),
        waiting_of_asker=sum(row.asked_by == facts.asker.id for row in waiting),
    )


async def _target(
    people: _People, proposal: Proposal, asker: PersonFacts, event: ChatEvent, now: int
) -> PersonFacts | None:
    """Who in chat the proposal names; None where that is nobody, or two people."""
    action = find(proposal.name)
    if action is None or not action.needs_target:
        return None
    name = next(
        proposal.params.get(one.name, "")
        for one in action.params
        if one.kind is ParameterKind.VIEWER
    )
    here = [
        people.known(one)
        for one in await viewers.chatters_present(people.db, now - HERE_FOR, event.id)
    ]
    mine = next((person for person in here if person.id == asker.id), None)
    # their last line before this one: "delete" must not delete the request itself
    current = replace(asker, message_id=mine.message_id if mine else "")
    found = request_words.resolve(
        name, [current, *(one for one in here if one.id != asker.id)], current
    )
    return found[0] if len(found) == 1 else None


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
    if action is not None and any(
        one.kind is ParameterKind.SECONDS and one.name == "seconds" for one in action.params
    ):
        parts.append(f"for {row.params.get('seconds', '?')} s")
    return f"{' '.join(parts)}: {_STATES.get(row.status, row.status.value)}"
