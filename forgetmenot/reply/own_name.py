"""Finds out whether and how a line calls the bot by its name. Pure.

A name calls it behind an @, at either end of a line, or beside a comma: in the middle of a sentence
it is talked about ("my fern died"). One slip in an @name or in a name beside a comma is forgiven,
and so are its parts written apart ("forget me not, …"), unless somebody here has that very name.
A name that stands in any sentence ("the", a letter) calls it behind an @ alone.
"""

import re
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

from forgetmenot.domain import ChatEvent
from forgetmenot.settings.schema import Settings
from forgetmenot.text.chat_commands import command_in_words
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import without_links
from forgetmenot.text.phrases import honorifics
from forgetmenot.text.words import STOPWORDS, UNSPACED, WORD_END, words

# Patterns of so many names of the bot are kept. An erasure leaves them: they have nobody else's name, and compiling one
# holds the event loop for up to 4 ms.
PATTERNS_KEPT = 64
# A shorter name is too near to other words.
SHORTEST_WITH_A_SLIP = 6
# Words before a name at the beginning of a line that still call it: "hey fern how are you".
_GREETINGS = """
    hey hi hello heya hiya yo ok okay oh so well sorry
    thanks thank you thx ty good morning evening night
    hallo moin danke hola gracias salut merci oi obrigado
"""
_BEFORE_A_NAME = frozenset(_GREETINGS.split())
_AT = re.compile(r"[@＠﹫]([^\W]+)")
_EDGES = re.compile(r"\A\W+|\W+\Z")
_AT_NAME_IN_FRONT = re.compile(r"\A\s*[@＠﹫]\w+")
# What parts a name from what follows; a mark with a letter behind it begins a command.
_BEHIND_A_NAME = r"(?:[\s,:、，：|]|[!！](?!\w))*"
# A few words before a comma at the beginning, or one behind a comma at the end. Their length is
# bounded, and not their number: each underscore of a line of underscores could part two words, which
# took minutes to try.
_BEFORE_COMMA = re.compile(r"\A\W*(\w(?:[\w -]{0,60}\w)?)\s*(?=[,:，：])")
_BEHIND_COMMA = re.compile(r"(?<=[,，])\s*(\w+)(?=\W*\Z)")
_NOT_A_LETTER = re.compile(r"[\W_]+")


class Identity(Struct, frozen=True):
    """Who the bot is."""

    user_id: str
    login: str
    name: str = ""
    aliases: tuple[str, ...] = ()


def identity_of(
    settings: Settings,
    user_id: str,
    login: str,
) -> Identity:
    """Return who the bot is under these settings, with its account (both empty if it only listens)."""
    return Identity(
        user_id,
        login or settings.twitch.bot_login,
        settings.bot.name,
        settings.bot.aliases,
    )


def with_right_name(
    text: str,
    identity: Identity,
    speakers: Collection[str] = (),
) -> str:
    """Return a line with the bot's name corrected where the line calls the bot by a misspelt one.

    `speakers`: casefolded names of who is here; somebody's own name is not corrected.
    """

    def corrected(match: re.Match[str]) -> str:
        typed_name = match[1]
        own_name = _meant_name(typed_name, identity, speakers)
        if own_name is None:
            return match[0]
        # What stands around the name, an @ or a sign, stays.
        return match[0].replace(typed_name, own_name)

    line = _AT.sub(corrected, text)
    line = _BEFORE_COMMA.sub(corrected, line)
    return _BEHIND_COMMA.sub(corrected, line)


def _meant_name(
    typed: str,
    identity: Identity,
    speakers: Collection[str],
) -> str | None:
    """Return the bot's name that somebody meant to type, without spaces; None if they meant another."""
    if typed.casefold() in speakers:
        return None
    typed_letters = _letters(typed)
    for name in _names(identity):
        own_letters = _letters(name)
        if len(own_letters) < SHORTEST_WITH_A_SLIP:
            continue
        if _differs_by_a_slip(typed_letters, own_letters):
            # As an @name is typed: what looks for it next knows no spaces.
            return name.replace(" ", "")
    return None


def _letters(name: str) -> str:
    """Return the letters and digits of a name, casefolded."""
    return _NOT_A_LETTER.sub("", name).casefold()


def _differs_by_a_slip(typed: str, right: str) -> bool:
    """Return whether one letter at most is missing, too many, another one, or two are swapped."""
    if abs(len(typed) - len(right)) > 1:
        return False
    # Behind the first difference: if only one letter is wrong, what follows is the same.
    same_start = _common_start(typed, right)
    typed_rest = typed[same_start:]
    right_rest = right[same_start:]
    is_one_other = typed_rest[1:] == right_rest[1:]
    is_one_too_many = typed_rest[1:] == right_rest
    is_one_missing = typed_rest == right_rest[1:]
    swapped_rest = right_rest[:2][::-1] + right_rest[2:]
    are_two_swapped = typed_rest == swapped_rest
    return is_one_other or is_one_too_many or is_one_missing or are_two_swapped


def _common_start(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    count = 0
    for first_character, second_character in zip(first, second, strict=False):
        if first_character != second_character:
            break
        count += 1
    return count


def without_name(text: str, identity: Identity) -> str:
    """Return a line without the bot's name where the line calls it.

    That is every @name, and a name at either end.
    """
    rest = _cut_at_names(clean(text), identity)
    for name in filter(_calls_without_at, _names(identity)):
        rest = _name_in_front(name).sub("", rest, count=1)
        rest = _without_name_behind(rest, name)
    return clean(rest)


def is_request_in_words(text: str, identity: Identity) -> bool:
    """Return whether a line calls the bot by name and means a command: "@bot remember that …"."""
    unnamed = without_name(text, identity)
    if unnamed == clean(text):
        return False
    return bool(command_in_words(unnamed))


def without_name_in_front(event: ChatEvent, identity: Identity) -> str:
    """Return a line without the bot's name at its beginning: there a command may follow."""
    line = clean(event.text)
    if _is_reply_to_bot(event, identity):
        # Twitch puts an @name in front of a reply. It is the name that the bot had when it wrote the
        # message, which may be another one today.
        line = _AT_NAME_IN_FRONT.sub("", line)
    for name in _names(identity):
        line = _name_in_front(name).sub("", line, count=1)
    return line.strip()


def without_at_name(text: str, identity: Identity) -> str:
    """Return a line without the bot's @name, wherever it stands."""
    return clean(_cut_at_names(clean(text), identity))


def _cut_at_names(text: str, identity: Identity) -> str:
    """Return a clean text without the bot's @names: of "@ForgetMeNot, hi" it is "hi"."""

    def cut_own(match: re.Match[str]) -> str:
        at_name = match[0]
        rest = _rest_behind_own_name(match[1], identity)
        if rest is None:
            return at_name
        return f" {rest}"

    # A comma behind a name in front goes with it.
    return _AT.sub(cut_own, text).lstrip(" ,、，")


@lru_cache(maxsize=PATTERNS_KEPT)
def _name_in_front(name: str) -> re.Pattern[str]:
    """Return the pattern of a name at the beginning of a line, with the signs around it."""
    before = r"\W*" if _calls_without_at(name) else r"\W*[@＠﹫]"
    # A polite ending may stand directly behind a name: さん, 님.
    honorific = "|".join(map(re.escape, honorifics()))
    # A letter behind a name in a script without spaces may be part of another name.
    name_end = r"(?!\w)" if UNSPACED.match(name[-1]) else WORD_END
    return re.compile(
        rf"\A{before}{re.escape(name)}(?:{honorific}|{name_end}){_BEHIND_A_NAME}",
        re.IGNORECASE,
    )


def _without_name_behind(text: str, name: str) -> str:
    """Return a text without a name at its end; what follows the name (", ok?!") stays."""
    last = _name_at_end(name).search(text)
    if last is None:
        return text
    before = text[: last.start()].rstrip(" ,")
    return before + text[last.end() :]


@lru_cache(maxsize=PATTERNS_KEPT)
def _name_at_end(name: str) -> re.Pattern[str]:
    """Return the pattern of a name behind which no word stands."""
    return re.compile(
        rf"(?<!\w){re.escape(name)}(?!\w)(?=\W*\Z)",
        re.IGNORECASE,
    )


def _is_reply_to_bot(event: ChatEvent, identity: Identity) -> bool:
    """Return whether a line answers one of the bot's messages by Twitch's reply."""
    if event.reply_to is None:
        return False
    if not identity.user_id:
        return False
    return event.reply_to.user_id == identity.user_id


class Address(StrEnum):
    """How a line calls the bot."""

    MENTION = "mention"
    REPLY = "reply"
    NAME = "name"
    ALIAS = "alias"


def address_of(event: ChatEvent, identity: Identity) -> Address | None:
    """Return how a line calls the bot; None if it does not."""
    names_behind_at = _AT.findall(event.text)
    if any(_is_own(name, identity) for name in names_behind_at):
        return Address.MENTION
    if _is_reply_to_bot(event, identity):
        return Address.REPLY
    # Other people's @names go, so that the name of the bot in them does not call it.
    unmarked = _AT.sub(" ", event.text)
    line = without_links(unmarked)
    own_names = (identity.login, identity.name)
    if any(_is_called(line, name) for name in own_names if name):
        return Address.NAME
    if any(_is_called(line, alias) for alias in identity.aliases):
        return Address.ALIAS
    return None


@lru_cache(maxsize=PATTERNS_KEPT)
def _calls_without_at(name: str) -> bool:
    """Return whether a line may call somebody by this name without an @.

    "the" and "A" stand in any sentence.
    """
    letters = _letters(name)
    is_one_letter = len(letters) < 2 and not UNSPACED.match(letters)
    return not is_one_letter and letters not in STOPWORDS


def _is_called(line: str, name: str) -> bool:
    """Return whether a line calls somebody by this name: at either end, or beside a comma."""
    if not _calls_without_at(name):
        return False
    line_words = words(line)
    name_words = words(name)
    for start in _places(line_words, name_words):
        before = line_words[:start]
        after = line_words[start + len(name_words) :]
        if not after:
            return True
        if all(word in _BEFORE_A_NAME for word in before):
            return True
    return _name_beside_comma(name).search(line) is not None


@lru_cache(maxsize=PATTERNS_KEPT)
def _name_beside_comma(name: str) -> re.Pattern[str]:
    """Return the pattern of a name with a comma before or behind it."""
    bare = re.escape(_EDGES.sub("", name))
    return re.compile(
        rf"[,，、]\s*{bare}{WORD_END}|(?<!\w){bare}\s*[,:，、：]",
        re.IGNORECASE,
    )


def _places(line_words: list[str], name_words: list[str]) -> list[int]:
    """Return where the words of a name stand in a line, in order and side by side."""
    if not name_words:
        return []
    length = len(name_words)
    places = []
    for start in range(len(line_words) - length + 1):
        if line_words[start : start + length] == name_words:
            places.append(start)
    return places


def _is_own(at_word: str, identity: Identity) -> bool:
    """Return whether the word behind an @ is the bot's name."""
    return _rest_behind_own_name(at_word, identity) is not None


def _rest_behind_own_name(at_word: str, identity: Identity) -> str | None:
    """Return what is left of the word behind an @ without the bot's name; None if it is another name.

    Usually that is "". In a script without spaces the sentence follows at once: of "@ForgetMeNot你好"
    it is "你好". An honorific belongs to the name: of "@ForgetMeNotさん" it is "".
    """
    own_names = {name.replace(" ", "") for name in _names(identity)}
    # The longest first, since one name of the bot may begin with another.
    for own_name in sorted(own_names, key=len, reverse=True):
        beginning = at_word[: len(own_name)]
        if beginning.casefold() != own_name.casefold():
            continue
        rest = at_word[len(own_name) :]
        if not rest:
            return ""
        for honorific in honorifics():
            if rest.startswith(honorific):
                return rest.removeprefix(honorific)
        # Letters of the name's own script would make it a longer name.
        last_letter = own_name[-1]
        if UNSPACED.match(rest) and not UNSPACED.match(last_letter):
            return rest
    return None


@lru_cache(maxsize=PATTERNS_KEPT)
def _names(identity: Identity) -> tuple[str, ...]:
    """Return what the bot is called, without pictures around it: nobody types "@Fern 🌿"."""
    names = (identity.login, identity.name, *identity.aliases)
    bare_names = [_EDGES.sub("", name) for name in names]
    return tuple(name for name in bare_names if name)
