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

# Whoever has said nothing for longer (ms) does not count as in chat.
PRESENT_WITHIN = 15 * MINUTE
# How long a refusal counts against whoever asked.
REFUSALS_WITHIN = 10 * MINUTE
CORRECT = "correct"
# A model's words: "7", and not "note 7" or a number that SQLite cannot hold.
_NOTE_ID = re.compile(r"[0-9]{1,12}", re.ASCII)
# Refusals by these rules say nothing about the asker, so they do not count against them.
_IMPERSONAL_RULES = (
    "safe_mode",
    "paused",
    "silent_preview",
    "switched_off",
    "stream_live",
    "refused_often",
    "too_soon",
    "stream_limit",
    "queue_full",
    "asked_in_words",
    "possible",
)


class ActionContext(Struct, frozen=True):
    """The origin of a proposal. `key` is unique to it, so that it is carried out at most once.

    `words` are sent after success, so they must not claim another action. `question`: what was said to the bot, without
    its name, if it was spoken to outright.
    """

    event: ChatEvent
    key: str
    bot_message_id: int | None = None
    words: str = ""
    question: str = ""


class _People(NamedTuple):
    """Viewers as the policy sees them, under these settings and this state of the channel."""

    db: Database
    settings: Settings
    state: dict[str, str]

    async def by_id(self, viewer_id: str | None) -> PersonFacts | None:
        if not viewer_id:
            return None
        chatter = await viewers.chatter(self.db, viewer_id)
        return self.facts_of(chatter) if chatter else None

    def facts_of(self, chatter: Chatter) -> PersonFacts:
        """Return what the policy asks of somebody: their role, and whether they are new or a bot."""
        bot_login = self.state.get("bot_login", "").casefold()
        bot_id = self.state.get("bot_id")
        channel_id = self.state.get("id")
        is_itself = chatter.id == bot_id
        if bot_login and chatter.login.casefold() == bot_login:
            is_itself = True
        role = chatter.role
        if chatter.id == channel_id:
            # A stored role is only what the last message's badges said.
            role = Role.BROADCASTER
        return PersonFacts(
            id=chatter.id,
            login=chatter.login,
            display_name=chatter.display_name,
            role=role,
            newcomer=chatter.streams < self.settings.people.newcomer_streams,
            is_bot=is_itself or is_bot(self.settings.memory, chatter.login, chatter.id),
            message_id=chatter.message_id,
        )

    def general_facts(self, asker: PersonFacts, now: int) -> PolicyFacts:
        """Return the facts that do not depend on the proposal."""
        switches = switches_of(self.state)
        return PolicyFacts(
            asker=asker,
            live=self.state.get("live") == "1",
            paused=switches.silent(now),
            safe_mode=switches.safe_mode,
        )


async def gather(
    db: Database,
    proposal: Proposal,
    context: ActionContext,
    modes: frozenset[str],
    settings: Settings,
    now: int,
) -> PolicyFacts:
    """Return the facts for a new proposal. `modes`: the chat modes that are on."""
    people = _People(db, settings, await channel_state.read_all(db))
    event = context.event
    asker = await _asker(people, event)
    target = await _target(people, proposal, asker, event, now)
    line = context.question or event.text
    # By action: the asker's own words, which are used in place of the model's.
    typed_texts = request_words.typed_texts(
        event.text, context.question, target, asker, settings.bridge.effects
    )
    asked_for = request_words.asked_for(line) | typed_texts.keys()
    if proposal.name == CORRECT:
        corrected_fact = await _corrected_fact(db, proposal, line, asker)
        if corrected_fact:
            typed_texts[CORRECT] = corrected_fact
    names_target = target is not None and request_words.names(line, target, asker)
    return replace(
        people.general_facts(asker, now),
        target=target,
        asked_for=asked_for,
        asks_nothing=request_words.asks_nothing(line),
        typed=typed_texts,
        named=names_target,
        room_modes=modes,
    )


async def _asker(people: _People, event: ChatEvent) -> PersonFacts:
    """Return what is stored of the speaker, with the names and badges of this message."""
    stored = await people.by_id(event.user_id)
    if stored is None:
        # A first line is not stored yet, and nobody who opted out ever is.
        stored = PersonFacts(event.user_id, "", newcomer=True)
    return replace(
        stored,
        login=event.login,
        display_name=event.display_name,
        role=role_of(event.badges),
        is_bot=is_bot(people.settings.memory, event.login, event.user_id, event.badges),
    )


async def gather_again(
    db: Database,
    row: LoggedAction,
    by: str,
    modes: frozenset[str],
    settings: Settings,
    now: int,
) -> PolicyFacts:
    """Return the facts at an approval, with asker and target as they are now."""
    people = _People(db, settings, await channel_state.read_all(db))
    asker = await people.by_id(row.asked_by)
    if asker is None:
        asker = PersonFacts(row.asked_by or "", "")
    # by the id that was decided on, however that person is called now
    target = await people.by_id(row.target_id or row.params.get("target"))
    general_facts = people.general_facts(asker, now)
    return replace(general_facts, target=target, approved_by=by, room_modes=modes)


async def _corrected_fact(
    db: Database,
    proposal: Proposal,
    line: str,
    asker: PersonFacts,
) -> str:
    """Return the proposed text, if it corrects a live note of the asker's as their line says; else nothing.

    A word of it stands in the line; where that is in another language, it says the same kind of thing as the note.
    """
    fact = clean(proposal.params.get("fact", ""))
    note_id = proposal.params.get("note", "")
    if not _NOTE_ID.fullmatch(note_id):
        return ""
    note = await notes.get(db, int(note_id))
    if note is None:
        return ""
    if note.subject_id != asker.id:
        return ""
    if note.status not in LIVE:
        return ""
    if not telling_stems(fact).isdisjoint(telling_stems(line)):
        return fact
    return fact if may_correct(note.fact, fact, line) else ""


async def recent_decisions(
    db: Database,
    action: Action | None,
    facts: PolicyFacts,
    settings: ActionSettings,
    now: int,
) -> RecentDecisions:
    """Return recent decisions and actions that bear on this one."""
    asker = facts.asker
    waiting = await action_logs.waiting(db, now)
    waiting_of_asker = 0
    for row in waiting:
        if row.asked_by == asker.id:
            waiting_of_asker += 1
    # Refusals count against viewers who try to talk the model into something. A moderator does not need to.
    refusals = 0
    if not asker.role.moderates:
        since = now - REFUSALS_WITHIN
        refusals = await action_logs.refusals_of(db, asker.id, since, _IMPERSONAL_RULES)
    # If Twitch reported no start, the stream counts as having begun half a day ago.
    stream_start = await channel_state.read(db, "started_at") or now - DAY // 2
    cooldown_until = 0
    if action is not None:
        cooldown_until = await _cooldown_until(db, action, facts, settings)
    return RecentDecisions(
        cooldown_until=cooldown_until,
        refusals=refusals,
        done_this_stream=await action_logs.done_since(db, int(stream_start)),
        waiting=len(waiting),
        waiting_of_asker=waiting_of_asker,
    )


async def _cooldown_until(
    db: Database,
    action: Action,
    facts: PolicyFacts,
    settings: ActionSettings,
) -> int:
    """Return when the last of an action's cooldowns ends (ms). A cooldown begins when an action is allowed."""
    last_allowed = action_logs.last_allowed
    # A failed action counts too, or it could be tried again and again.
    allowed_at = await last_allowed(db, name=action.name)
    ends = [_end_of_cooldown(allowed_at, action.cooldown_s)]
    if action.kind is ActionClass.GUARDED:
        # An action that has no target counts for the cooldown of whoever asks.
        target = facts.target if facts.target is not None else facts.asker
        allowed_at = await last_allowed(db, kind=ActionClass.GUARDED, about=target.id)
        ends.append(_end_of_cooldown(allowed_at, settings.viewer_cooldown_s))
        allowed_at = await last_allowed(db, kind=ActionClass.GUARDED)
        ends.append(_end_of_cooldown(allowed_at, settings.channel_cooldown_s))
    return max(ends)


def _end_of_cooldown(allowed_at: int | None, cooldown_s: float) -> int:
    """Return when a cooldown ends (ms); 0 if the action was never allowed."""
    return allowed_at + int(cooldown_s * SECOND) if allowed_at else 0


async def _target(
    people: _People,
    proposal: Proposal,
    asker: PersonFacts,
    event: ChatEvent,
    now: int,
) -> PersonFacts | None:
    """Return who in chat the proposal names; None where that is nobody, or two people."""
    action = find(proposal.name)
    name = _proposed_target(action, proposal)
    if name is None:
        return None
    chatters = await viewers.chatters_present(people.db, now - PRESENT_WITHIN, event.id)
    # The asker's own message is the one before this line: "delete that" must not delete the request itself.
    current = replace(asker, message_id="")
    others = []
    for person in map(people.facts_of, chatters):
        if person.id == asker.id:
            current = replace(asker, message_id=person.message_id)
        else:
            others.append(person)
    matches = request_words.resolve(name, [current, *others], current)
    # If two people have the name, the action must hit neither of them.
    return matches[0] if len(matches) == 1 else None


def _proposed_target(action: Action | None, proposal: Proposal) -> str | None:
    """Return the name of the viewer whom a proposal is about; None for an action that acts on nobody."""
    if action is None:
        return None
    for parameter in action.params:
        if parameter.kind is ParameterKind.VIEWER:
            return proposal.params.get(parameter.name, "")
    return None


# What a prompt says of an action. It does not mention those that were denied or expired.
_STATES = {
    ActionStatus.DONE: "done",
    ActionStatus.UNDONE: "done, and undone since",
    ActionStatus.REFUSED: "not done: Twitch refused",
    ActionStatus.FAILED: "not done: it failed",
    ActionStatus.UNKNOWN: "tried; not known whether it worked",
    ActionStatus.WAITING: "not done: waits for a moderator",
}


async def recent_actions(
    source: Source,
    *,
    since: int,
    limit: int = 3,
) -> tuple[ActionDone, ...]:
    """Return the last actions since then (ms), oldest first, people as `<@id>`; without times or words of the model."""
    actions = []
    for row in await action_logs.latest(source, limit, tuple(_STATES)):
        if row.at >= since:
            # A reply may claim an action only if it is certain that it was done.
            done_name = row.name if row.status is ActionStatus.DONE else ""
            actions.append(ActionDone(row.id, action_line(row), done_name))
    return tuple(reversed(actions))


def action_line(row: LoggedAction) -> str:
    """Return an action and its result; people as `<@id>`."""
    text = row.name.replace("_", " ")
    if row.target_id:
        text += f" of {mention(row.target_id)}"
    if _has_duration(find(row.name)):
        text += f" for {row.params.get('seconds', '?')} s"
    return f"{text}: {_STATES.get(row.status, row.status.value)}"


def _has_duration(action: Action | None) -> bool:
    if action is None:
        return False
    return any(parameter.name == "seconds" for parameter in action.params)
