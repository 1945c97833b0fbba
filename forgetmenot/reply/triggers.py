"""Decides whether a chat line asks the bot for an answer, and how. Pure.

Never triggered by the bot itself, another bot, a command or a line of emotes or laughter; at most one
trigger per line. The engine decides whether there is time to answer; cooldowns are computed here.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import SECOND
from forgetmenot.people.exclusion import Exclusion
from forgetmenot.reply.own_name import (
    Identity,
    address_of,
    with_right_name,
    without_name,
)
from forgetmenot.settings.schema import Mode, Settings
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import clean, cut
from forgetmenot.text.words import words

_AT = re.compile(r"[@＠﹫]([^\W]+)")
_CALLED = re.compile(r"\s*([^\W]+)\s*[,:]")
_QUESTION = re.compile(r"[?？؟](?:\s|$|[!?])")
# Words that begin a question, and those that begin a line which goes on with a talk.
_ASKING = ("what", "why", "how", "when", "who", "where", "which", "whose")
_MORE = """
    and but really tell more thanks thank ty no nope nah wrong actually
    und aber echt mehr danke nein nee ne doch falsch
"""
_GOING_ON = frozenset((*_ASKING, *_MORE.split()))
_EVERYBODY = (
    r"(?:every ?(?:body|one)|all of (?:you|ya)|(?:you|y['’]?) ?all|chat|guys|folks)\b"
)
_GREETED = (
    r"(?:thanks|thank (?:you|u)|thx|ty|cheers|h[iey]+|hello|(?:good ?)?(?:night|morning|evening|bye)|gn|sorry"
    r"|see (?:you|ya))"
)
_TO_EVERYBODY = re.compile(
    rf"^\W*{_EVERYBODY}\s*[,:!]|,\s*{_EVERYBODY}\W*$|\b{_GREETED}(?: to| so much)?,?\s+{_EVERYBODY}",
    re.IGNORECASE,
)
_LAUGH = re.compile(
    r"lo+l+|lu+l+w?|lmf?ao+|ro+fl|(?:omega)?lul|kekw?|xd+|a?(?:h[aei]|j[ae]){2,}[hj]?|k{4,}|(?:rs)+|mdr+|ptdr|gg+|w{3,}"
)
# An end of a sentence; a picture is one too.
_ENDED = re.compile(r"(?:[.!?…。！？؟]|[^\w\s,;:])\W*\Z")
# Words of a line that may be only the beginning of a question, and how one begins.
SHORT_LINE = 4
_HELPING = """
    do does did can could will would should
    is are was were have has you remember tell
    weißt weisst kannst erinnerst du
"""
_BEGINS_A_QUESTION = frozenset((*_ASKING, *_HELPING.split()))
# The Unicode categories of emojis.
_PICTURES = frozenset({"So", "Sk"})
_SECOND_PERSON = frozenset({"you", "your", "youre", "u", "ur"})


class TriggerKind(StrEnum):
    """How the bot was asked."""

    MENTION = "mention"
    REPLY = "reply"  # a Twitch reply to one of its messages
    NAME = "name"
    ALIAS = "alias"
    BARE = "bare mention"  # nothing but its name: it answers the line before, if there is one
    REWARD = "reward"  # channel points
    FOLLOW_UP = "follow-up"
    RAID = "raid"  # live mode only, like the next
    RETURNER = "returner"


# Time (ms) after its last message before it speaks by itself again.
SPONTANEOUS_GAP = 2_000
DIRECT = frozenset(
    {
        TriggerKind.MENTION,
        TriggerKind.REPLY,
        TriggerKind.NAME,
        TriggerKind.ALIAS,
        TriggerKind.BARE,
        TriggerKind.REWARD,
    }
)
# Characters of a question over several lines; somebody may type on while an answer is waited for.
LONGEST_QUESTION = 1_000
UNASKED = frozenset({TriggerKind.RAID, TriggerKind.RETURNER})


class Trigger(Struct, frozen=True):
    """One request for an answer.

    `question`: the line without the bot's name.
    `earlier`: where a question was written over several lines, the ids of those before this one,
    oldest first.
    """

    kind: TriggerKind
    event: ChatEvent
    question: str
    earlier: tuple[str, ...] = ()

    @property
    def direct(self) -> bool:
        """Return whether the bot was asked outright; everything else is spontaneous."""
        return self.kind in DIRECT


class Conversations(Struct, frozen=True):
    """Who the bot still talks with."""

    # by viewer: when it last answered them (ms)
    answered_at: Mapping[str, int]
    # names (casefolded) of those who spoke lately
    speakers: Collection[str] = ()
    # ids of those whom it answered when they asked outright, while nobody has spoken since
    just_answered: Collection[str] = ()
    # ids of those to whom its last answer ended in a question
    asked: Collection[str] = ()


def trigger_of(
    event: ChatEvent,
    identity: Identity,
    conversations: Conversations,
    settings: Settings,
    now: int,
    *,
    returning: bool = False,
) -> Trigger | None:
    """Return the trigger in a line; None if it asks for no answer.

    `returning`: the speaker is back after a long time and has just said hello. `now`: in ms.
    """
    right_text = with_right_name(event.text, identity, conversations.speakers)
    question = without_name(right_text, identity)
    if event.kind is EventKind.REDEMPTION:
        # Also where it is not answered, so that the points can be given back.
        return Trigger(TriggerKind.REWARD, event, question)
    if is_ignored(event, identity, settings):
        return None
    if is_command(event.text):
        return None
    address = address_of(replace(event, text=right_text), identity)
    if address is not None:
        kind = TriggerKind(address.value)
        if event.emote_only or _is_no_talk(question):
            return None
        if kind is not TriggerKind.REPLY and not _has_letters(question):
            kind = TriggerKind.BARE
        return Trigger(kind, event, question)
    if _continues(event, identity, conversations, settings, now):
        return Trigger(TriggerKind.FOLLOW_UP, event, question)
    if settings.bot.mode is Mode.LIVE:
        return _spontaneous(event, question, returning=returning)
    return None


def _spontaneous(
    event: ChatEvent,
    question: str,
    *,
    returning: bool,
) -> Trigger | None:
    """Return the trigger in a line that does not speak to the bot: a raid, or somebody is back."""
    if event.kind is EventKind.RAID:
        return Trigger(TriggerKind.RAID, event, question or event.system_text)
    if returning and _has_letters(event.text):
        return Trigger(TriggerKind.RETURNER, event, question)
    return None


def is_ignored(
    event: ChatEvent,
    identity: Identity,
    settings: Settings,
) -> bool:
    """Return whether an account never gets a reply.

    That is the bot itself, other bots, and those that the settings ignore.
    """
    # An identity without an account matches nobody: ids and logins of events are never empty.
    if event.user_id == identity.user_id:
        return True
    if event.login.casefold() == identity.login.casefold():
        return True
    return Exclusion(settings.memory).why(event) is not None


def wait_ms(
    trigger: Trigger,
    answered_at: int | None,
    spoke_up_at: int | None,
    settings: Settings,
    now: int,
) -> int:
    """Return how long the cooldowns say to wait (ms).

    `answered_at`: when the bot last answered this viewer. `spoke_up_at`: when it last spoke by itself.
    """
    ready_at = now
    if answered_at is not None:
        viewer_gap = int(settings.reply.viewer_gap_s * SECOND)
        ready_at = max(ready_at, answered_at + viewer_gap)
    if spoke_up_at is not None and not trigger.direct:
        ready_at = max(ready_at, spoke_up_at + SPONTANEOUS_GAP)
    return ready_at - now


def _continues(
    event: ChatEvent,
    identity: Identity,
    talks: Conversations,
    settings: Settings,
    now: int,
) -> bool:
    """Return whether a line without the bot's name goes on with a talk.

    It must come soon after an answer to the same viewer, and show that it is for the bot.
    """
    answered_at = talks.answered_at.get(event.user_id)
    if answered_at is None:
        return False
    if not 0 <= now - answered_at <= settings.reply.follow_up_s * SECOND:
        return False
    if event.emote_only:
        return False
    if not _has_letters(event.text):
        return False
    if is_to_somebody_else(event, identity, talks.speakers):
        return False
    is_next_line = event.user_id in talks.just_answered
    if is_next_line and event.user_id in talks.asked:
        # It answers the bot's question.
        return not _is_no_talk(event.text)
    line_words = words(event.text)
    asks = _QUESTION.search(event.text) is not None
    says_you = not _SECOND_PERSON.isdisjoint(line_words[:3])
    if not is_next_line:
        # By now it may be for somebody else, so it takes both signs: "are you sure?".
        return asks and says_you
    goes_on = not _GOING_ON.isdisjoint(line_words[:1])
    return asks or says_you or goes_on


def is_unfinished(question: str, *, goes_on: bool) -> bool:
    """Return whether words may be only the beginning of a question, whose rest comes in the next line.

    They may be if they end in no mark or picture, begin like a question and are few ("do you
    remember"). If the question already `goes_on` over several lines, the end alone counts.
    """
    if _ENDED.search(question):
        return False
    line_words = words(question)
    begins_a_question = not _BEGINS_A_QUESTION.isdisjoint(line_words[:1])
    is_short = len(line_words) <= SHORT_LINE
    return goes_on or (begins_a_question and is_short)


def joined(
    earlier: Trigger,
    event: ChatEvent,
    more: str,
) -> Trigger:
    """Return one trigger for several lines of one person: the newest line is answered."""
    kind = TriggerKind.MENTION if earlier.kind is TriggerKind.BARE else earlier.kind
    earlier_ids = (*earlier.earlier, earlier.event.id)
    question = clean(f"{earlier.question} {more}")
    return Trigger(kind, event, cut(question, LONGEST_QUESTION), earlier_ids)


def is_to_somebody_else(
    event: ChatEvent,
    identity: Identity,
    speakers: Collection[str],
) -> bool:
    """Return whether a line addresses somebody else: a person, or the whole channel.

    Asked only of a line that does not call the bot, so every @name in it is somebody else's.
    """
    if event.reply_to is not None and event.reply_to.user_id != identity.user_id:
        return True
    if _AT.search(event.text):
        return True
    if _TO_EVERYBODY.search(event.text):
        return True
    # "alice, how are you" is for alice only if somebody of that name is here; "well, how" is not.
    called_name = _CALLED.match(event.text)
    return called_name is not None and called_name[1].casefold() in speakers


def _is_no_talk(text: str) -> bool:
    """Return whether a text is nothing but laughter or pictures, which ask for no answer."""
    if not _has_letters(text):
        # Marks alone are talk: "?" asks for an answer.
        categories = {unicodedata.category(char) for char in text}
        return not categories.isdisjoint(_PICTURES)
    line_words = words(text)
    return bool(line_words) and all(_LAUGH.fullmatch(word) for word in line_words)


def _has_letters(text: str) -> bool:
    """Return whether a text has a letter or a digit."""
    return any(char.isalnum() for char in text)
