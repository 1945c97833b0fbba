"""Cuts from a line for chat what only a program would write or read: JSON, calls, tags, the prompt's own annotations.

Guarantees:
- None of it could do anything: an action comes from the reply object's own field alone. This keeps it out of chat.
- Ordinary brackets stay: "[clip]", "(finally!)", "<3", "x[0] = 3".
- Cutting twice changes nothing more, and time grows with the text's length.

Pure.
"""

import re

from forgetmenot.operations.catalogue import NAMES
from forgetmenot.text.clean import skeleton

LONGEST = 1_200
_PASSES = 6
_ACTION_NAMES = "|".join(sorted({name.replace("_", r"[_\s-]?") for name in NAMES} | {"mute", "kick", "purge"}))
_KEYS = "action|if_refused|target|user(?:name)?|seconds|duration|reason|fact|what|text|name|arguments|parameters|args"
_PARTS = (
    "instructions|channel|channel_notes|channel_notes_more|digest|episodes|now|speaker|brief|lore|others|past_episode"
    "|own_messages|chat|bot_replies|actions_done|message"
)
_WORD = rf"(?:{_PARTS}|{_ACTION_NAMES}|action|tool\w*|function\w*|invoke|parameter|command|think\w*)"
_ACTION = r"[\W_]*".join("action")
_CALLS = rf"{_ACTION}|tool[\s_]?(?:call|code|use)\w*|function[\s_]?call\w*"
_ANY = r"[^\n]{0,400}?"
_SOURCES = "said by (?:them|others)|asked to be remembered|imported|seen in chat"

# What stands in brackets of any kind; the end of the line closes what is left open.
_BRACKETED = re.compile(
    rf"[\[{{<][\[{{<(\W_]{{0,12}}(?:{_CALLS})(?:\W|_|\Z)(?:[^\[\]{{}}<>\n]{{0,400}}[\]}}>)]+|{_ANY}(?:\n|\Z))"
    rf"|</?\s?(?:\w{{1,20}}:)?{_WORD}\b[^<>\n]{{0,200}}(?:>|\n|\Z)"
    r"|<\|[^<>\n]{1,40}\|>|<!--[^\n]{0,400}?(?:-->|\n|\Z)"
    r"|\s?(?:\[|\b)(?:id|note|row)\s?[:#]\s?\d{1,12}(?:;[^\[\]\n]{0,200})?\]:?|(?<!\w)\[\d{5,12}\]:?|(?<!\w)\[(?=\w*\d)[0-9a-f]{6}\]:?"
    rf"|\s?\((?:{_SOURCES})(?:;[^()\n]*)?(?:\)|\n|\Z)|\s?\[(?:just now|{_SOURCES})(?:;[^\[\]\n]*)?\]"
    r"|\s?\((?:recap of [a-z ]{0,20})?\d{4}-\d\d-\d\d[^()\n]{0,80}(?:ago|today|stream)\)"
    rf"|[\[{{<][^\[\]{{}}<>\n]{{0,80}}?\b(?:{_KEYS})[\"']?\s?(?:=\s?|:\s?(?!\d))[^\s\[\]{{}}<>][^\[\]{{}}<>\n]{{0,400}}(?:[\]}}>]+|\n|\Z)"
)
# An object or a list of a program: cut to the bracket that closes it.
_JSON = re.compile(
    r"\[?\s?\{\s?(?:[\"'][^\"'\n]{0,60}[\"']\s?:|\w{1,32}\s?:\s?[\w\"'\[{]|\})|\[\s?[\"'{](?=[^\n]{0,80}[\"']\s?[:,\]])"
)
_LOOSE = re.compile(
    rf"[\"'](?:{_KEYS}|say|type|function|tool|cmd)[\"']\s?:\s?(?:[\"'][^\"'\n]{{0,500}}[\"']?|\{{|null|\w+)[,}}]{{0,3}}"
    rf"|(?<![\w-])(?:{_KEYS})=[^\s=]\S{{0,200}}"
    rf"|(?<![\w-])(?:{_CALLS})[\w\s]{{0,8}}[:=|]\s?(?:\w+\s){{0,2}}(?:{_ACTION_NAMES})\b[^\n]{{0,200}}"
    rf"|(?<![\w-])(?:\w{{1,20}}(?:\.|->|::)){{0,3}}(?:\w{{1,12}}_)?(?:{_ACTION_NAMES})\w{{0,8}}\s?"
    r"[(\[{](?:[^()\[\]{}\n]{0,80}[=\"']|\s?@?\w{1,32}\s?,\s?\d)[^()\n]{0,200}(?:[)\]}]|\Z)"
)
_SIGNS = str.maketrans("［【〔〚⟦〖｛❴＜‹⟨〈＞›⟩〉］】〕〛⟧〗｝❵：＝＂“”", '[[[[[[{{<<<<>>>>]]]]]]}}:="""')
_EMPTY = re.compile(r"`{1,4}\w{0,8}\s?`{1,4}|\(\s*\)|\[\s*\]|\{\s*\}|<\s*>|(?<=\s)[\]}>]+(?=\s|\Z)|\A[\]}>]+(?=\s|\Z)")
_SPACES = re.compile(r"[^\S\n]+")
_BEFORE_MARK = re.compile(r"(?<=\S) ([.,!?;])(?=\s|\Z)")


def without_machine_text(text: str) -> str:
    """The text as people may read it; empty where nothing else was in it."""
    for _ in range(_PASSES):
        spans = _spans(text)
        if not spans:
            return text
        text = _cut(text, spans)
    return ""  # whatever keeps coming back wants to get through


def _spans(text: str) -> list[tuple[int, int]]:
    folded = "".join(map(_folded, text.translate(_SIGNS)))
    spans: list[tuple[int, int]] = []
    at = 0
    while one := _JSON.search(folded, at):
        at = _closed(folded, one.start(), one.end())
        spans.append((one.start(), at))
    return spans or sorted(one.span() for pattern in (_BRACKETED, _LOOSE) for one in pattern.finditer(folded))


def _folded(char: str) -> str:
    """One character as the eye takes it, in small letters; always one, so that places stay the same."""
    if char.isascii():
        return char.lower()
    seen = skeleton(char)
    return seen if len(seen) == 1 else char


def _closed(text: str, start: int, end: int) -> int:
    """Where the bracket at `start` closes; the end of the text where it does not: an object that was cut off."""
    depth = 0
    for place in range(start, min(len(text), start + LONGEST)):
        depth += (text[place] in "[{") - (text[place] in "]}")
        if depth == 0 and place >= end - 1:
            return place + 1
    return len(text)


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at : max(at, start)])
        at = max(at, end)
    left = _EMPTY.sub(" ", " ".join([*parts, text[at:]]))
    return _BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", left)).strip()
