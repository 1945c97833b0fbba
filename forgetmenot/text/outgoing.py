"""Removes what no text of a model may send: blocked words, a leading command, what only programs read. Pure.

Running a filter twice changes nothing more. Used for replies and for what actions post (an announcement,
a title). Links are text/mentions.py's.
"""

import re
from collections.abc import Iterable
from itertools import groupby

from forgetmenot.text.clean import clean, skeleton, unleet
from forgetmenot.text.words import text_cache

_MARKS = r"/!.\\／！．。⁄∕⧸＼﹗ǃꜝ‼⁉❗❕~"
_COMMAND_MARKS = re.compile(
    rf"\s*(?:[{_MARKS}]\ufe0f?|[?$#+&%^>-](?=[^\W\d])|[…?$#+&%^>¡-](?=[\s…?$#+&%^>¡-]*[{_MARKS}]))"
)


def without_command(text: str) -> str:
    """Nothing in front that a chat server or another bot takes for a command, nor behind an ellipsis there."""
    at = 0
    while mark := _COMMAND_MARKS.match(text, at):
        at = mark.end()
    return text[at:].lstrip()


# Blocked phrases are found behind look-alike letters ("b4d", "b@d"), signs or spaces between letters ("b-a-d") and
# repeated letters ("baaad"). A phrase of four letters or more is also found inside longer words; a shorter one, or one
# spelt out over several words, only at word boundaries, so that "ad" leaves "bread" alone.


INSIDE_WORDS_FROM = 4
OMISSION = "…"
_SIGNS = re.compile(r"[@$!]")
# Which of @ $ ! are no letters: those at a word's end ("b@d!"), none ("a$$"), or all ("@bad!").
_READINGS = (re.compile(r"[@$!](?!\w)"), re.compile(r"(?!)"), _SIGNS)


def without_phrases(text: str, blocklist: Iterable[str]) -> str:
    """The text with an ellipsis for each word that holds one of the phrases; twice changes nothing more."""
    for phrase in blocklist:
        wanted = "".join(_looks(char) for char in phrase).replace(" ", "")
        bare = not any(char.isalpha() for char in phrase)
        # again, because what was cut may bring together what another reading finds
        while wanted and (found := _find(text, _pattern(wanted), bare=bare)):
            for start, end in reversed(found):
                text = text[:start] + OMISSION + text[end:]
    return text


@text_cache(256)
def _pattern(wanted: str) -> re.Pattern[str]:
    """Finds letters in a folded text: spelt out from one word's beginning to a word's end, or inside one word."""
    runs = [(letter, len(list(same))) for letter, same in groupby(wanted)]
    # a letter that stands three times and more in a row may be drawn out of one or two
    spelt = [
        f"{letter}(?: *{letter}){{{count - 1}}}"
        + (f"(?:(?: *{letter}){{{3 - count},}})?" if count < 3 else "")
        for letter, count in runs
    ]
    whole = f"(?<!\\S){' *'.join(spelt)}(?!\\S)"
    # inside a word its first letter need not be followed back: the whole word goes, and a long row is read once
    within = runs[0][0] * runs[0][1] + "".join(spelt[1:]).replace(" *", "")
    inside = f"|{within}" if len(wanted) >= INSIDE_WORDS_FROM else ""
    return re.compile(whole + inside)


def _find(text: str, pattern: re.Pattern[str], *, bare: bool) -> list[tuple[int, int]]:
    """Where words that hold the phrase stand, in order; `bare`: the phrase has no letter ("420"), so they need none."""
    # a sign may stand for a letter or for nothing: each reading is tried
    for no_letters in _READINGS:
        parts = {sign.start() for sign in no_letters.finditer(text)}
        shown = [" " if at in parts else _looks(char) for at, char in enumerate(text)]
        places, read = [at for at, letters in enumerate(shown) for _ in letters], "".join(shown)
        # whole words: from the space before it to the one behind it
        words = (
            (read.rfind(" ", 0, hit.start()) + 1, f"{read} ".index(" ", hit.end()))
            for hit in pattern.finditer(read)
        )
        spans = dict.fromkeys((places[first], places[end - 1] + 1) for first, end in words)
        if found := [
            span for span in spans if bare or any(char.isalpha() for char in text[slice(*span)])
        ]:
            return found
    return []


@text_cache(4_096)
def _looks(char: str) -> str:
    """What a character reads as: letters; a space for what parts words; nothing for what only sits on its neighbour."""
    looks = skeleton(char)
    return "".join(letter for letter in unleet(looks) if letter.isalnum()) or " " if looks else ""


# What only a program would write or read (JSON, calls, the prompt's tags and annotations) is cut from a line for chat.
# None of it could do anything: an action comes from the reply object's own field alone. Ordinary brackets stay:
# "[clip]", "(finally!)", "<3", "x[0] = 3". Cutting twice changes nothing more; time grows with the text's length.


LONGEST = 1_200
_ACTION_NAMES = (
    "announce|ban|bit|category|clip|correct|delete|effect|emote_only|forget|long_timeout|marker|remember|shoutout|slow_mode"
    "|timeout|title"
)
_KEYS = "action|if_refused|target|user(?:name)?|seconds|duration|reason|fact|what|text|name|arguments|parameters|args"
_TAGS = (
    r"instructions|channel\w*|digest|episodes|now|speaker|brief|lore|others|past_episode|own_messages|happened|moderation|chat|bot_replies"
    r"|actions_done|message|action|tool\w*|function\w*|invoke|parameter|command|think\w*"
)
_SOURCES = "said by (?:them|others)|asked to be remembered|imported|seen in chat|just now"
_MACHINE_TEXT = re.compile(
    rf"</?\s?(?:\w{{1,20}}:)?(?:{_TAGS}|{_ACTION_NAMES})\b[^<>\n]{{0,200}}(?:>|\n|\Z)"
    r"|<\|[^<>\n]{1,40}\|>|<!--[^\n]{0,400}?(?:-->|\n|\Z)"
    r"|\s?(?:\[|\b)(?:id|note|row)\s?[:#]\s?\d{1,12}(?:;[^\[\]\n]{0,200})?\]:?|(?<!\w)\[\d{5,12}\]:?"
    rf"|\s?[(\[](?:{_SOURCES})(?:;[^()\[\]\n]*)?(?:[)\]]|\n|\Z)"
    r"|\s?\((?:recap of [a-z ]{0,20})?\d{4}-\d\d-\d\d[^()\n]{0,80}(?:ago|today|stream)\)"
    # in brackets of any kind; the end of the line closes what is left open
    rf"|[\[{{<][^\[\]{{}}<>\n]{{0,80}}?\b(?:{_KEYS})[\"']?\s?(?:=\s?|:\s?(?!\d))[^\s\[\]{{}}<>][^\[\]{{}}<>\n]{{0,400}}(?:[\]}}>]+|\n|\Z)"
    rf"|[\"'](?:{_KEYS}|say)[\"']\s?:\s?(?:[\"'][^\"'\n]{{0,500}}[\"']?|\{{|null|\w+)[,}}]{{0,3}}"
    rf"|(?<![\w-])(?:{_KEYS})=[^\s=]\S{{0,200}}"
    rf"|(?<![\w-])(?:\w{{1,20}}(?:\.|->|::)){{0,3}}(?:\w{{1,12}}_)?(?:{_ACTION_NAMES})\w{{0,8}}\s?"
    r"\((?:[^()\n]{0,80}[=\"']|\s?@?\w{1,32}\s?,\s?\d)[^()\n]{0,200}(?:\)|\Z)",
    re.IGNORECASE,
)
_JSON = re.compile(
    r"\[?\s?\{\s?(?:[\"'][^\"'\n]{0,60}[\"']\s?:|\w{1,32}\s?:\s?[\w\"'\[{]|\})|\[\s?[\"'{](?=[^\n]{0,80}[\"']\s?[:,\]])"
)
_LEFT_OVER = re.compile(
    r"`{1,4}\w{0,8}\s?`{1,4}|\(\s*\)|\[\s*\]|\{\s*\}|<\s*>|(?<!\S)[\]}>]+(?!\S)"
)
_SPACES = re.compile(r"[^\S\n]+")
_BEFORE_MARK = re.compile(r"(?<=\S) ([.,!?;])(?=\s|\Z)")


def without_machine_text(text: str) -> str:
    """The text as people may read it; empty where nothing else was in it."""
    while True:
        # whole objects first; the other pattern would cut pieces out of the middle of one
        if found := _JSON.search(text):
            left = f"{text[: found.start()]} {text[_closed(text, *found.span()) :]}"
        else:
            left = _MACHINE_TEXT.sub(" ", text)
        if left == text:
            return text
        text = _BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", _LEFT_OVER.sub(" ", left))).strip()


def _closed(text: str, start: int, end: int) -> int:
    """Where the bracket at `start` closes; the end of the text where it does not: an object that was cut off."""
    depth = 0
    for place in range(start, min(len(text), start + LONGEST)):
        depth += (text[place] in "[{") - (text[place] in "]}")
        if depth == 0 and place >= end - 1:
            return place + 1
    return len(text)


# Foreign text in Markdown, for Discord too: none of it is markup, a link or a mention.


_MARKUP = re.compile(r"[\\`*_~|<>\[\]#]|:(?=//)|\A[-+]|(?<=\A\d)[.)]|(?<=\bwww)\.")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# Behind an @, so that "@everyone" calls nobody, wherever it is pasted.
_PARTED = "\u200b"


def escape_markdown(text: str) -> str:
    """Text on one line that Markdown shows as it stands."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", clean(text)).replace("@", f"@{_PARTED}")


def unescape_markdown(text: str) -> str:
    """The text again."""
    return _ESCAPED.sub(r"\1", text).replace(_PARTED, "")
