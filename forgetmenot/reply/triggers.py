"""Decides whether a chat line asks the bot for an answer, and how. Pure.

Never triggered by the bot itself, another bot, a command or a line of emotes or laughter; at most one trigger per line.
The engine decides whether there is time to answer; cooldowns are computed here.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from enum import StrEnum

from msgspec import Struct

from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.memory.people import Exclusion
from forgetmenot.settings.schema import Mode, Settings
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import without_addresses
from forgetmenot.text.phrases import honorifics
from forgetmenot.text.words import UNSPACED, WORD_ENDS, words

_AT = re.compile(r"[@＠﹫]([^\W]+)")
_EDGES = re.compile(r"\A\W+|\W+\Z")
_SOMEBODY_IN_FRONT = re.compile(r"\A\s*[@＠﹫]\w+")
# What parts a name from what follows; a mark with a letter behind it begins a command.
_BEHIND_A_NAME = r"(?:[\s,:、，：]|[!！](?!\w))*"
_CALLED = re.compile(r"\s*([^\W]+)\s*[,:]")
_QUESTION = re.compile(r"[?？؟](?:\s|$|[!?])")
_ASKING = ("what", "why", "how", "when", "who", "where", "which", "whose")
_GOING_ON = frozenset({*_ASKING, "and", "but", "really", "tell", "more", "thanks", "thank", "ty"})
_EVERYBODY = r"(?:every ?(?:body|one)|all of (?:you|ya)|(?:you|y['’]?) ?all|chat|guys|folks)\b"
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


# Milliseconds after its last message before it speaks by itself again.
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


class Identity(Struct, frozen=True):
    """Who the bot is."""

    user_id: str
    login: str
    name: str = ""
    aliases: tuple[str, ...] = ()


def identity_of(settings: Settings, user_id: str, login: str) -> Identity:
    """The bot under these settings, with the account it is signed in with (both empty if it only listens)."""
    return Identity(
        user_id, login or settings.twitch.bot_login, settings.bot.name, settings.bot.aliases
    )


class Trigger(Struct, frozen=True):
    """One request for an answer. `question` is the line without the bot's name."""

    kind: TriggerKind
    event: ChatEvent
    question: str

    @property
    def direct(self) -> bool:
        """Whether it was asked outright; everything else is spontaneous."""
        return self.kind in DIRECT


class Conversations(Struct, frozen=True):
    """Who the bot still talks with: viewer id → when it last answered them; and the names of those who spoke lately.

    `fresh`: ids of those whom it answered when they asked outright, and after whose answer nobody has spoken.
    """

    answered_at: Mapping[str, int]
    speakers: Collection[str] = ()
    fresh: Collection[str] = ()


def trigger_of(
    event: ChatEvent,
    identity: Identity,
    conversations: Conversations,
    settings: Settings,
    now: int,
    *,
    returning: bool = False,
) -> Trigger | None:
    """The trigger in a line, or None. `returning`: the speaker is back after a long time and has just said hello."""
    question = without_name(event.text, identity)
    if (
        event.kind is EventKind.REDEMPTION
    ):  # also where it is not answered, so that the points can be given back
        return Trigger(TriggerKind.REWARD, event, question)
    if is_ignored(event, identity, settings) or is_command(event.text):
        return None
    kind = _address_kind(event, identity)
    if kind is not None:
        if event.emote_only or _is_no_talk(question):
            return None
        bare = kind is not TriggerKind.REPLY and not any(char.isalnum() for char in question)
        return Trigger(TriggerKind.BARE if bare else kind, event, question)
    if _continues(event, identity, conversations, settings, now):
        return Trigger(TriggerKind.FOLLOW_UP, event, question)
    if settings.bot.mode is Mode.LIVE and event.kind is EventKind.RAID:
        return Trigger(TriggerKind.RAID, event, question or event.system_text)
    if settings.bot.mode is Mode.LIVE and returning and any(char.isalnum() for char in event.text):
        return Trigger(TriggerKind.RETURNER, event, question)
    return None


def is_ignored(event: ChatEvent, identity: Identity, settings: Settings) -> bool:
    """Whether this account never gets a reply: the bot itself, other bots, and accounts that the settings ignore."""
    if event.user_id == identity.user_id or event.login.casefold() == identity.login.casefold():
        return True  # an identity without an account matches nobody: ids and logins are never empty
    return Exclusion(settings.memory).why(event) is not None


def wait_ms(
    trigger: Trigger,
    answered_viewer: int | None,
    spoke_up: int | None,
    settings: Settings,
    now: int,
) -> int:
    """How long the cooldowns say to wait: after its last answer to them, and after it last spoke up by itself."""
    ready = now
    if answered_viewer is not None:
        ready = max(ready, answered_viewer + int(settings.reply.viewer_gap_s * 1_000))
    if spoke_up is not None and not trigger.direct:
        ready = max(ready, spoke_up + SPONTANEOUS_GAP)
    return ready - now


def without_name(text: str, identity: Identity) -> str:
    """A line without the bot's name where it is called by it: every @name, and a name at either end."""
    rest = _without_at_name(clean(text), identity)
    for name in _names(identity):
        rest = _name_in_front(name).sub("", rest, count=1)
        rest = _without_name_behind(rest, name)
    return clean(rest)


def without_name_in_front(event: ChatEvent, identity: Identity) -> str:
    """A line without the bot's name at its beginning: there a command may follow.

    Twitch puts the name in front of a reply by itself, as it was when the bot wrote the message.
    """
    line = clean(event.text)
    if _is_reply_to_it(event, identity):
        line = _SOMEBODY_IN_FRONT.sub("", line)
    for name in _names(identity):
        line = _name_in_front(name).sub("", line, count=1)
    return line.strip()


def without_at_name(text: str, identity: Identity) -> str:
    """A line without the bot's @name, wherever it stands."""
    return clean(_without_at_name(clean(text), identity))


def _without_at_name(text: str, identity: Identity) -> str:
    def replaced(called: re.Match[str]) -> str:
        rest = _behind_own_name(called[1], identity)
        return called[0] if rest is None else f" {rest}"

    return _AT.sub(replaced, text).lstrip(" 、，")


def _name_in_front(name: str) -> re.Pattern[str]:
    """A name at the beginning of a line, with an @ or without, and what parts it from the rest."""
    polite = "|".join(map(re.escape, honorifics()))
    # behind a name in such a script itself a letter may be part of another name
    ends = r"(?!\w)" if UNSPACED.match(name[-1]) else WORD_ENDS
    return re.compile(rf"\A\W*{re.escape(name)}(?:{polite}|{ends}){_BEHIND_A_NAME}", re.IGNORECASE)


def _without_name_behind(text: str, name: str) -> str:
    """A text without a name at its end; what follows the name (", ok?!") stays."""
    last = re.search(rf"(?<!\w){re.escape(name)}(?!\w)(?=\W*\Z)", text, re.IGNORECASE)
    if last is None:
        return text
    return text[: last.start()].rstrip(" ,") + text[last.end() :]


def _is_reply_to_it(event: ChatEvent, identity: Identity) -> bool:
    """Whether a line answers one of the bot's messages by Twitch's reply."""
    if event.reply_to is None or not identity.user_id:
        return False
    return event.reply_to.user_id == identity.user_id


def _address_kind(event: ChatEvent, identity: Identity) -> TriggerKind | None:
    if any(_is_own(name, identity) for name in _AT.findall(event.text)):
        return TriggerKind.MENTION
    if _is_reply_to_it(event, identity):
        return TriggerKind.REPLY
    said = words(without_addresses(_AT.sub(" ", event.text)))
    if any(_holds(said, words(name)) for name in (identity.login, identity.name) if name):
        return TriggerKind.NAME
    if any(_holds(said, words(alias)) for alias in identity.aliases):
        return TriggerKind.ALIAS
    return None


def _continues(
    event: ChatEvent, identity: Identity, talks: Conversations, settings: Settings, now: int
) -> bool:
    """Whether it goes on with a talk: soon after an answer to the same viewer, and not spoken to somebody else."""
    answered = talks.answered_at.get(event.user_id)
    if answered is None or not 0 <= now - answered <= settings.reply.follow_up_s * 1_000:
        return False
    if event.emote_only or not any(char.isalnum() for char in event.text):
        return False
    if _to_somebody_else(event, identity, talks.speakers):
        return False
    said = words(event.text)
    if event.user_id in talks.fresh and len(said) > 1:  # "LUL" is for the channel
        return True
    # a later line in a talk still has to sound like one to the bot: a question, or how people go on
    return bool(
        _QUESTION.search(event.text) or _GOING_ON & set(said[:1]) or _SECOND_PERSON & set(said[:3])
    )


def _to_somebody_else(event: ChatEvent, identity: Identity, speakers: Collection[str]) -> bool:
    """Whether it addresses somebody else: a person, or the whole channel."""
    if event.reply_to is not None and event.reply_to.user_id != identity.user_id:
        return True
    if _AT.search(event.text) or _TO_EVERYBODY.search(event.text):
        return True
    # "alice, how are you" is for alice only if somebody of that name is here; "well, how" is not
    called = _CALLED.match(event.text)
    return called is not None and called[1].casefold() in speakers


def _is_own(name: str, identity: Identity) -> bool:
    return _behind_own_name(name, identity) is not None


def _behind_own_name(called: str, identity: Identity) -> str | None:
    """What follows the bot's name in what stands behind an @; None if that is another name.

    Where no space parts words, the sentence goes on: "@ForgetMeNotさん", "@ForgetMeNot你好".
    """
    owns = {own.replace(" ", "") for own in _names(identity)}
    for own in sorted(owns, key=len, reverse=True):
        if called[: len(own)].casefold() != own.casefold():
            continue
        rest = called[len(own) :]
        polite = next((end for end in honorifics() if rest.startswith(end)), "")
        goes_on = UNSPACED.match(rest) and not UNSPACED.match(own[-1])
        if not rest or polite or goes_on:
            return rest.removeprefix(polite)
    return None


def _names(identity: Identity) -> tuple[str, ...]:
    """What it is called, without pictures around it: nobody types "@Fern 🌿"."""
    names = (identity.login, identity.name, *identity.aliases)
    return tuple(bare for name in names if (bare := _EDGES.sub("", name)))


def _holds(said: list[str], name: list[str]) -> bool:
    """Whether the words of a name stand in a line, in order and side by side."""
    return bool(name) and any(
        said[i : i + len(name)] == name for i in range(len(said) - len(name) + 1)
    )


def _is_no_talk(text: str) -> bool:
    """Whether it is nothing but laughter or pictures, which ask for no answer."""
    said = words(text)
    if any(char.isalnum() for char in text):
        return bool(said) and all(map(_LAUGH.fullmatch, said))
    return any(unicodedata.category(char) in {"So", "Sk"} for char in text)
