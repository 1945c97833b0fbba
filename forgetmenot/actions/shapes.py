"""The shapes in which models write that something is to be done, as patterns on folded text (actions/scrub.py). Pure.

Each goes with a way to tell where it ends. They are cautious about ordinary words: "[clip]", "action!", "clip(s)",
"that timeout (the second one)" and "title: none" fit none of them.
"""

import re
from collections.abc import Callable

from forgetmenot.actions.catalogue import NAMES
from forgetmenot.text.lookalikes import skeleton

REACH = 600
Ends = Callable[[str, int, int], int]
"""Where a shape ends: from the folded text, where it starts, and where its pattern has matched to."""

# Our own names, and words that other frameworks use for the same things.
_OTHERS = {"mute", "kick", "purge", "timeout_user", "ban_user", "unban_user", "delete_message"}
_VERBS = "|".join(name.replace("_", r"[_\s-]?") for name in sorted(NAMES | _OTHERS))
# Those that hardly stand beside a name and a number but in an order.
_ORDERS = r"(?:long[_\s-]?|un)?timeout|(?:un)?ban|mute|kick|purge|delete|slow[_\s-]?mode|emote[_\s-]?only"
_CALL = r"tool(?:[_\s]calls?|_code|_use)?|function(?:[_\s]calls?)?|invoke"
_KEYS = "target|target_id|user|user_id|username|seconds|duration|reason|text|fact|what|else"
_MORE = rf"(?:arguments|args|parameters|params|input|action input|{_KEYS})"
_GAP = r"[\s._*~`'\"/\\-]{0,3}"
_ACTION = _GAP.join(("[a4@^λ]", "[ck]", "t", "[i1!|l]", "[o0]", "[nи]")) + "s?" + _GAP
_ABROAD = "|".join(
    skeleton(word)
    for word in ("acción", "ação", "azione", "aktion", "akcja", "eylem", "действие", "アクション", "动作", "액션")
)
_NOT_IN_A_WORD = r"(?<![\w-])"
_WORD = r"\S{1,40}\s{1,3}"
_NO_SUFFIX = r"(?!(?:s|es|ies|d|ed|ing|ned|ning|ting|er|able|ful|flip)[)\]}])"  # "clip(s)"

_BRACKETED = (
    rf"[\[{{(<][\s\[{{(<*_~`'\"/\\.!#:-]{{0,12}}(?:(?:{_ACTION}|{_CALL}|{_ABROAD})[:=]"
    rf"|(?<![(\s]){_ACTION}(?:[|;\]}}/>]|\s?[\w\"'@#]|\Z)|(?:tool|function)[_\s](?:calls?|code|use)\s?\])"
)
_NAMED = (
    rf"[\[{{<][\s*_~`'\"/!#-]{{0,8}}(?:{_CALL}|{_VERBS})[\s*_~`'\"]{{0,4}}"
    r"(?:[:=(]|(?<=\s)(?:@|[a-z_]{1,32}\s?[=:]\s?\S))"
)
_ORDERED = rf"[\[{{<][^\w\n]{{0,8}}(?:{_ORDERS})[*_~`'\"]{{0,4}}\s{{1,3}}(?:{_WORD})?[0-9]"
_NO_NAME = "hammer|list|wave|phase|incoming|pending|over|noises|appeal|evasion|speedrun|corner|called"
_NAMED_ORDER = (
    rf"[\[{{<][^\w\n]{{0,8}}(?:"
    rf"(?:un)?(?:timeout|ban)\s(?!(?:{_NO_NAME})\W)\w{{1,32}}\s?[\]}}>]"  # "[ban bob]"
    rf"|(?:cmd|command|system|mod|exec(?:ute)?|run|do|order|task)\s?[:=|>]\s?(?:{_ORDERS})\s)"
)
_BEFORE_A_TIME = "in|for|at|after|until|till|of|was|is|took|left"  # "timeout in 10 seconds" hits nobody
_LONE_ORDER = (
    r"(?:^|\()[^\w\n]{0,4}(?:(?:long[_\s-]?|un)?timeout|(?<=[/!.])(?:un)?ban)\s"
    rf"(?!(?:{_BEFORE_A_TIME})\s)@?\w{{1,32}}"
    r"\s[0-9]{1,7}\s?[a-z]{0,7}(?:\)|[^\w\n]{0,3}$)"
)
_CUT_OFF = r"\[ac(?:t(?:io?)?)?\Z"  # an answer that ended in the middle of a tag
_STARRED = rf"(?:\*|_|::)(?:{_ORDERS})\s@?\w{{1,32}}\s[0-9]{{1,7}}\s?[a-z]{{0,7}}(?:\*|_|::)"
_MARKER = r"<\|[^|<>\n]{1,40}\|>"
_ELEMENT = rf"<\s?/?\s?(?:[a-z]{{1,12}}[:_])?(?:{_ACTION}|{_CALL})[\s>/=_]"
_ORDER_ELEMENT = rf"<\s?(?:{_ORDERS})\s?>[^<>]{{0,80}}<\s?/\s?(?:{_ORDERS})\s?>"
_JSON = (
    rf"[\[{{][^\[\]{{}}]{{0,200}}?(?<!\w)(?:(?:action|{_CALL})[\"']?\s?[:=]\s?[\"'{{\[]"
    rf"|[a-z_]{{1,16}}[\"']?\s?:\s?[\"'][/!.]?(?:(?:{_VERBS})[\"']|(?:{_ORDERS})\s))"
)
_ARGUMENTS = r"\{[^{}\n]{0,120}?[\"'](?:target|target_id|user|user_id|username|seconds|duration)[\"']\s?:"
_FIELD = rf"[\"'](?:action|name|type|command|cmd|{_CALL})[\"']\s?:\s?[\"'](?:{_VERBS})[\"']"
_SPOKEN_CALL = rf"(?:print\(\s?)?(?:(?:await|calling|call|{_CALL})\s?:?\s{{1,3}})?(?:[a-z_]{{1,20}}(?:\.|->|::)){{0,3}}"
_FUNCTION = (
    rf"{_NOT_IN_A_WORD}{_SPOKEN_CALL}"
    rf"(?:(?:[a-z]{{1,12}}_)?(?:{_VERBS}|action)(?:_[a-z]{{1,12}})?(?:\.(?:call|run|invoke))?\({_NO_SUFFIX}"
    rf"|(?:{_ORDERS}|action)[\[{{](?=[@\"'\w]){_NO_SUFFIX})"
)
_SPACED_CALL = (
    rf"{_NOT_IN_A_WORD}(?:{_ORDERS})\s\((?=[@\"']?\w{{1,32}}[\"']?\s?,\s?[0-9]{{1,7}}\s?s?\)|(?:{_KEYS})\s?=)"
)
_LABELLED = (
    rf"{_NOT_IN_A_WORD}(?:(?:action|{_CALL})\s?(?:[:=→]{{1,2}}|[=-]>)\s{{0,3}}(?:{_WORD})?(?:{_VERBS})(?!\w)"
    rf"|(?:name|command|cmd)\s?[:=]\s?(?:{_VERBS})\s{{1,3}}{_MORE}\s?[:=])"
)
_CALLED = rf"(?<!\w)[#/!@]{{1,2}}action\s(?:{_ORDERS})(?!\w)"
_PAIRS = rf"{_NOT_IN_A_WORD}(?=(?:target|user|user_id|seconds|duration)=\S{{1,60}}\s{{1,3}}(?:{_KEYS})=\S)"
_NAKED = (
    rf"{_NOT_IN_A_WORD}(?:action\s(?:{_WORD})?)?(?:{_VERBS})(?=\s?[:,]?\s{{1,3}}(?:[a-z_]{{1,32}}=\S|--[a-z]{{2,16}}[=\s]"
    rf"|(?:{_KEYS})\s?:\s?{_WORD}(?:{_KEYS})\s?:))"
)
_WORDY = rf"{_NOT_IN_A_WORD}(?:{_VERBS})\s[a-z ]{{1,30}}\s(?=(?:{_KEYS})=\S)"

_PAIR = re.compile(
    rf"[\s,;:]{{0,3}}(?:[a-z_]{{1,32}}=|--[a-z]{{2,16}}[=\s]|(?:{_KEYS})\s?:\s?)"
    r"""(?:"[^"\n]{0,500}"?|'[^'\n]{0,500}'?|\S{1,200})"""
)
_NEXT_LINE = re.compile(rf"\s*\n\s{{0,8}}{_MORE}\s?[:=][^\n]*")
_CLOSING_ELEMENT = re.compile(rf"<\s?/\s?(?:[a-z]{{1,12}}[:_])?(?:{_ACTION}|{_CALL})s?[^<>]{{0,40}}>")
_CLOSING_TAG = re.compile(rf"[^\[\]\n]{{0,80}}\[\s?/\s?(?:{_ACTION}|{_CALL})[^\[\]\n]{{0,40}}\]")
_CLOSING_MARKER = re.compile(r"[^\n]{0,300}?<\|[^|<>\n]{1,40}\|>")


def _line_end(folded: str, start: int, _matched: int) -> int:
    end = folded.find("\n", start)
    return len(folded) if end < 0 else end


def _lines_end(folded: str, start: int, matched: int) -> int:
    """The end of the line, or of the lines below it that go on with parameters."""
    end = _line_end(folded, max(start, matched), matched)
    while more := _NEXT_LINE.match(folded, end):
        end = more.end()
    return end


def _round_end(folded: str, start: int, matched: int) -> int:
    """Where the bracket closes that is the first in what matched."""
    depth = 0
    for place in range(start, min(len(folded), start + REACH)):
        depth += (folded[place] in "([{") - (folded[place] in ")]}")
        if depth == 0 and place >= matched - 1:
            return place + 1
    return _line_end(folded, start, matched)


def _element_end(folded: str, start: int, matched: int) -> int:
    """Behind the closing element, else behind the `>`, else the end of the line."""
    closing = _CLOSING_ELEMENT.search(folded, matched, matched + REACH)
    if closing is not None:
        return closing.end()
    end = folded.find(">", matched - 1, matched + REACH)
    return _line_end(folded, start, matched) if end < 0 else end + 1


def _bracket_end(folded: str, start: int, matched: int) -> int:
    """The end of an unmatched bracket of any shape."""
    ends = {"<": _element_end, "(": _round_end}
    return ends.get(folded[start], _line_end)(folded, start, matched)


def closing_tag_end(folded: str, end: int) -> int:
    """Where `[/action]` ends, if what a bracket that ends there has opened is closed by one in the same line."""
    closing = _CLOSING_TAG.match(folded, end)
    return end if closing is None else closing.end()


def _marker_end(folded: str, _start: int, matched: int) -> int:
    """With all that stands before another such marker in the same line."""
    closing = _CLOSING_MARKER.match(folded, matched)
    return matched if closing is None else closing.end()


def _pairs_end(folded: str, _start: int, matched: int) -> int:
    while pair := _PAIR.match(folded, matched):
        matched = pair.end()
    return matched


def _its_end(_folded: str, _start: int, matched: int) -> int:
    return matched


SHAPES: tuple[tuple[re.Pattern[str], Ends], ...] = tuple(
    (re.compile(pattern, re.MULTILINE), ends)
    for pattern, ends in (
        (_BRACKETED, _bracket_end),
        (_NAMED, _bracket_end),
        (_ORDERED, _bracket_end),
        (_NAMED_ORDER, _bracket_end),
        (_LONE_ORDER, _its_end),
        (_CUT_OFF, _its_end),
        (_STARRED, _its_end),
        (_MARKER, _marker_end),
        (_ELEMENT, _element_end),
        (_ORDER_ELEMENT, _its_end),
        (_JSON, _line_end),
        (_ARGUMENTS, _line_end),
        (_FIELD, _line_end),
        (_FUNCTION, _round_end),
        (_SPACED_CALL, _round_end),
        (_LABELLED, _lines_end),
        (_CALLED, _line_end),
        (_PAIRS, _pairs_end),
        (_NAKED, _pairs_end),
        (_WORDY, _pairs_end),
    )
)
