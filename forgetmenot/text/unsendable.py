"""Removes what no text of a model may send: blocked words, a leading command, machine text. Pure.

Running a filter twice changes nothing more. Used for replies and for what actions post (an
announcement, a title). Links are text/mentions.py's.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby, product

from forgetmenot.text.clean import skeleton, unleet
from forgetmenot.text.tables import word_lists
from forgetmenot.text.words import text_cache

_MARKS = r"/!.\\／！．。⁄∕⧸＼﹗ǃꜝ‼⁉❗❕~"
_COMMAND_MARKS = re.compile(
    rf"\s*(?:[{_MARKS}]\ufe0f?|[?$#+&%^>-](?=[^\W\d])"
    rf"|[…?$#+&%^>¡-](?=[\s…?$#+&%^>¡-]*[{_MARKS}]))"
)


def without_command(text: str) -> str:
    """Return a text without signs in front that Twitch or another bot reads as a command."""
    start = 0
    while True:
        marks = _COMMAND_MARKS.match(text, start)
        if marks is None:
            return text[start:].lstrip()
        start = marks.end()


# ── blocked phrases ─────────────────────────────────────────────────────────────────────────

# They are found behind look-alike letters ("b4d", "b@d"), signs or spaces between letters ("b-a-d")
# and repeated letters ("baaad"). A phrase of four letters or more is also found inside longer
# words. A shorter one, or one spelt out over several words, is found only at word boundaries, so
# that "ad" leaves "bread" alone.
_MIN_INSIDE = 4
OMISSION = "…"
# Which of @ $ ! are no letters: those at a word's end ("b@d!"), none ("a$$"), or all ("@bad!").
_NO_LETTERS = (
    re.compile(r"[@$!](?!\w)"),
    re.compile(r"(?!)"),
    re.compile(r"[@$!]"),
)


def without_blocked(text: str, blocklist: Iterable[str]) -> str:
    """Return a text that may be sent: without the worst slurs, and without what the streamer blocks."""
    return without_phrases(text, (*_never_said(), *blocklist))


@cache
def _never_said() -> tuple[str, ...]:
    """Return the slurs that no channel wants to be known for."""
    return tuple(word_lists("slurs.toml")["never_said"].split())


def without_phrases(text: str, blocklist: Iterable[str]) -> str:
    """Return a text with an ellipsis for each word that holds a blocked phrase."""
    for phrase in blocklist:
        looks = "".join(map(_looks, phrase))
        letters = looks.replace(" ", "")
        # A phrase without a letter ("420") is found in words without one.
        needs_letter = any(char.isalpha() for char in phrase)
        if letters:
            pattern = _phrase_pattern(letters)
            text = _without_phrase(text, pattern, needs_letter=needs_letter)
    return text


def _without_phrase(
    text: str,
    pattern: re.Pattern[str],
    *,
    needs_letter: bool,
) -> str:
    """Return a text with an ellipsis for each word in which a phrase is found."""
    # Again and again, because what was cut may bring together what another reading finds.
    while True:
        spans = _find(text, pattern, needs_letter=needs_letter)
        if not spans:
            return text
        for start, end in reversed(spans):
            text = text[:start] + OMISSION + text[end:]


@text_cache(256)
def _phrase_pattern(letters: str) -> re.Pattern[str]:
    """Return a pattern of letters in a folded text: spelt out over whole words, or inside one."""
    runs = ["".join(same_letters) for _letter, same_letters in groupby(letters)]
    spelt_out = [_drawn_out(run) for run in runs]
    over_words = rf"(?<!\S){' *'.join(spelt_out)}(?!\S)"
    if len(letters) < _MIN_INSIDE:
        return re.compile(over_words)
    # The whole word goes, so what repeats its first letter is not looked for.
    rest_spelt_out = "".join(spelt_out[1:])
    rest = rest_spelt_out.replace(" *", "")
    inside_word = runs[0] + rest
    return re.compile(f"{over_words}|{inside_word}")


def _drawn_out(run: str) -> str:
    """Return a pattern of a letter as often as a run has it; for one or two, also three and more."""
    letter = run[0]
    count = len(run)
    pattern = f"{letter}(?: *{letter}){{{count - 1}}}"
    if count < 3:
        # Three times is drawn out, twice is another word: "good" is not "god".
        pattern += f"(?:(?: *{letter}){{{3 - count},}})?"
    return pattern


def _find(
    text: str,
    pattern: re.Pattern[str],
    *,
    needs_letter: bool,
) -> list[tuple[int, int]]:
    """Return where words that hold the phrase begin and end, by the first reading that has any."""
    # 1 stands for l, and for i
    spellings = (text, text.replace("1", "i")) if "1" in text else (text,)
    for no_letters, spelling in product(_NO_LETTERS, spellings):
        reading, places = _read_as_letters(spelling, no_letters)
        spans: list[tuple[int, int]] = []
        for match in pattern.finditer(reading):
            # The whole word: from the space before it to the one behind it.
            first = reading.rfind(" ", 0, match.start()) + 1
            last = f"{reading} ".index(" ", match.end()) - 1
            start = places[first]
            end = places[last] + 1
            has_letter = any(map(str.isalpha, text[start:end]))
            # Two matches in one word follow each other.
            is_new = spans[-1:] != [(start, end)]
            if is_new and (has_letter or not needs_letter):
                spans.append((start, end))
        if spans:
            return spans
    return []


def _read_as_letters(text: str, no_letters: re.Pattern[str]) -> tuple[str, list[int]]:
    """Return a text as it looks, and for each of its characters the place in the text."""
    parting_places = {sign.start() for sign in no_letters.finditer(text)}
    pieces: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        piece = " " if place in parting_places else _looks(char)
        pieces.append(piece)
        # One character may look like several letters ("㎏").
        places += [place] * len(piece)
    return "".join(pieces), places


@text_cache(4_096)
def _looks(char: str) -> str:
    """Return the letters that a character reads as.

    A space for what parts words, nothing for what only sits on its neighbour.
    """
    looks = skeleton(char)
    if not looks:
        return ""
    letters = filter(str.isalnum, unleet(looks))
    return "".join(letters) or " "


# ── machine text ────────────────────────────────────────────────────────────────────────────

# What only a program would write or read (JSON, calls, the prompt's tags and annotations) is cut
# from a line for chat. None of it could do anything: an action comes from the reply object's own
# field alone. Ordinary brackets stay: "[clip]", "(finally!)", "<3", "x[0] = 3". The time that it
# takes grows with the length of the text.

# Characters of one JSON object that are read.
_MAX_JSON = 1_200
_ACTIONS = (
    "announce|ban|bit|category|clip|correct|delete|effect|emote_only|forget|long_timeout|marker"
    "|remember|shoutout|slow_mode|timeout|title"
)
_KEYS = (
    "action|if_refused|target|user(?:name)?|seconds|duration|reason|fact|what|text|name|arguments"
    "|parameters|args"
)
_TAGS = (
    r"instructions|channel\w*|digest|episodes|now|speaker|brief|lore|others|past_episode"
    r"|own_messages|happened|moderation|chat|bot_replies|actions_done|message|action|tool\w*"
    r"|function\w*|invoke|parameter|command|think\w*"
)
_SOURCES = (
    "said by (?:them|others)|asked to be remembered|imported|seen in chat|just now"
)
# <lore> and </think>, <|im_end|>, <!-- … -->
_TAG = (
    rf"</?\s?(?:\w{{1,20}}:)?(?:{_TAGS}|{_ACTIONS})\b[^<>\n]{{0,200}}(?:>|\n|\Z)"
    r"|<\|[^<>\n]{1,40}\|>|<!--[^\n]{0,400}?(?:-->|\n|\Z)"
)
# [note #12; …], [123456]
_NOTE_NUMBER = (
    r"\s?(?:\[|\b)(?:id|note|row)\s?[:#]\s?\d{1,12}(?:;[^\[\]\n]{0,200})?\]:?"
    r"|(?<!\w)\[\d{5,12}\]:?"
)
# (said by others; …), (2026-11-20, 3 days ago)
_ANNOTATION = (
    rf"\s?[(\[](?:{_SOURCES})(?:;[^()\[\]\n]*)?(?:[)\]]|\n|\Z)"
    r"|\s?\((?:recap of [a-z ]{0,20})?\d{4}-\d\d-\d\d[^()\n]{0,80}(?:ago|today|stream)\)"
)
# {target: alice, seconds: 600}, in brackets of any kind; the end of the line closes what is open.
_OBJECT = (
    rf"[\[{{<][^\[\]{{}}<>\n]{{0,80}}?\b(?:{_KEYS})[\"']?\s?(?:=\s?|:\s?(?!\d))"
    r"[^\s\[\]{}<>][^\[\]{}<>\n]{0,400}(?:[\]}>]+|\n|\Z)"
)
# "say": "…", target=alice
_FIELD = (
    rf"[\"'](?:{_KEYS}|say)[\"']\s?:\s?(?:[\"'][^\"'\n]{{0,500}}[\"']?|\{{|null|\w+)[,}}]{{0,3}}"
    rf"|(?<![\w-])(?:{_KEYS})=[^\s=]\S{{0,200}}"
)
# A call: bot.timeout("alice", 600).
_CALL = (
    rf"(?<![\w-])(?:\w{{1,20}}(?:\.|->|::)){{0,3}}(?:\w{{1,12}}_)?(?:{_ACTIONS})\w{{0,8}}\s?"
    r"\((?:[^()\n]{0,80}[=\"']|\s?@?\w{1,32}\s?,\s?\d)[^()\n]{0,200}(?:\)|\Z)"
)
_MACHINE_TEXT = re.compile(
    f"{_TAG}|{_NOTE_NUMBER}|{_ANNOTATION}|{_OBJECT}|{_FIELD}|{_CALL}", re.IGNORECASE
)
_JSON = re.compile(
    r"\[?\s?\{\s?(?:[\"'][^\"'\n]{0,60}[\"']\s?:|\w{1,32}\s?:\s?[\w\"'\[{]|\})"
    r"|\[\s?[\"'{](?=[^\n]{0,80}[\"']\s?[:,\]])"
)
_EMPTY_BRACKETS = re.compile(
    r"`{1,4}\w{0,8}\s?`{1,4}|\(\s*\)|\[\s*\]|\{\s*\}|<\s*>|(?<!\S)[\]}>]+(?!\S)"
)
_SPACES = re.compile(r"[^\S\n]+")
_BEFORE_MARK = re.compile(r"(?<=\S) ([.,!?;])(?=\s|\Z)")


def without_machine_text(text: str) -> str:
    """Return a text as people may read it; empty if nothing else was in it."""
    while True:
        # Whole objects first: the other pattern would cut pieces out of the middle of one.
        json = _JSON.search(text)
        if json is None:
            rest = _MACHINE_TEXT.sub(" ", text)
        else:
            json_end = _closing_end(text, json.start(), json.end())
            rest = f"{text[: json.start()]} {text[json_end:]}"
        if rest == text:
            return text
        rest = _EMPTY_BRACKETS.sub(" ", rest)
        rest = _SPACES.sub(" ", rest)
        text = _BEFORE_MARK.sub(r"\1", rest).strip()


def _closing_end(
    text: str,
    start: int,
    min_end: int,
) -> int:
    """Return the place behind the bracket that closes the one at `start`.

    The end of the text if none does: the object was cut off.
    """
    depth = 0
    max_end = min(len(text), start + _MAX_JSON)
    for place in range(start, max_end):
        if text[place] in "[{":
            depth += 1
        elif text[place] in "]}":
            depth -= 1
        if depth == 0 and place + 1 >= min_end:
            return place + 1
    return len(text)
