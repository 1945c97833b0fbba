"""Takes out of a text everything that smells of an action tag, whatever its shape, and leaves ordinary words.

Promises: the result holds nothing that `smells` would find; "urban memes", "[clip]", "action!" and the like stay;
time grows with the text's length. Pure. What is removed is not read: a proposal is the grammar's business.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from forgetmenot.actions.catalogue import NAMES
from forgetmenot.text.lookalikes import skeleton

_OPEN_SQUARE, _CLOSE_SQUARE = "［【〔〖〘〚「『⟦❲⁅", "］】〕〗〙〛」』⟧❳⁆"
_OPEN_ANGLE, _CLOSE_ANGLE = "＜《〈⟨‹«", "＞》〉⟩›»"
_BRACKETS = str.maketrans(
    _OPEN_SQUARE + _CLOSE_SQUARE + _OPEN_ANGLE + _CLOSE_ANGLE + "｛｝（）：＝＂“”„‟",
    "[" * 11 + "]" * 11 + "<" * 6 + ">" * 6 + "{}():=" + '"' * 5,
)
_OPENING = {"]": "[", "}": "{"}
_PASSES = 4
_REACH = 600

# Words that other frameworks use for the same things, besides our own names.
_VERBS = "|".join(sorted(NAMES | {"mute", "kick", "purge", "timeout_user", "ban_user", "unban_user", "delete_message"}))
_CALL = "tool|tool_calls?|function|function_calls?|tool_code|tool_use|invoke"
_GAP = r"[\s._*~`'\"/\\-]{0,3}"
_ACTION = _GAP.join(("[a4@]", "[ck]", "t", "[i1!|l]", "[o0]", "n")) + "s?" + _GAP

_BRACKETED = re.compile(
    rf"[\[{{(<][\s\[{{(<*_~`'\"/\\.!#:-]{{0,12}}(?:(?:{_ACTION}|{_CALL})[:=]"
    rf"|(?<![(\s]){_ACTION}(?:[|\]}}/>]|\s?[\w\"'@#]))"
)
_NAMED = re.compile(
    rf"[\[{{<][\s*_~`'\"/!#-]{{0,8}}(?:{_CALL}|{_VERBS})[\s*_~`'\"]{{0,4}}"
    r"(?:[:=(]|(?<=\s)(?:@|[0-9]|[a-z_]{1,32}\s?[=:]\s?\S)|(?<=\s)\S{1,40}\s{1,3}[0-9])"
)
_ELEMENT = re.compile(rf"<\s?/?\s?(?:{_ACTION}|{_CALL})[\s>/=_]")
_JSON = re.compile(
    rf"[\[{{][^\[\]{{}}]{{0,200}}?(?<!\w)(?:(?:action|{_CALL})[\"']?\s?[:=]\s?[\"'{{\[]"
    rf"|[a-z_]{{1,16}}[\"']?\s?:\s?[\"'](?:{_VERBS})[\"'])"
)
_FUNCTION = re.compile(
    rf"(?<![\w-])(?:[a-z_]{{1,20}}\.){{0,3}}(?:{_VERBS}|action|perform_action|execute_action)"
    r"\((?!(?:s|es|ed|ing|ned|ning|ting|er|able)\))"
)
_LABELLED = re.compile(rf"(?<![\w-])action\s?[:=]\s{{0,3}}(?:\S{{1,40}}\s{{1,3}})?(?:{_VERBS})(?!\w)")
_NAKED = re.compile(rf"(?<![\w-])(?:{_VERBS})(?=\s{{1,3}}[a-z_]{{1,32}}=\S)")
_PAIR = re.compile(r"""\s{0,3}[a-z_]{1,32}=(?:"[^"\n]{0,500}"?|'[^'\n]{0,500}'?|\S{1,200})""")
_CLOSING_ELEMENT = re.compile(rf"<\s?/\s?(?:{_ACTION}|{_CALL})s?[^<>]{{0,40}}>")

_EMPTY_FENCE = re.compile(r"`{3,}[a-z]{0,12}\s{0,8}`{3,}|(?<!`)``(?!`)")
_LEFTOVERS = re.compile(r"\(\s{0,8}\)|\[\s{0,8}\]|\{\s{0,8}\}|<\s{0,8}>")
_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"(?<=\S) ([.,!?;:])(?=\s|$)")


def without_tags(text: str, nonce: str = "") -> str:
    """The text that may be shown: without tags, and without the nonce wherever it stands."""
    if nonce:
        text = text.replace(nonce, " ")
    for _ in range(_PASSES):
        spans = list(_tag_spans(text))
        if not spans:
            return text.strip()
        text = tidy(_cut(text, spans))
    return ""  # no text that was ever tried needs more than two passes: this one wants to hide something


def smells(text: str) -> bool:
    """Whether anything in the text looks like an action tag."""
    return next(_tag_spans(text), None) is not None


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without the spans; a space stands in for each, so that no halves join."""
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    parts.append(text[at:])
    return " ".join(parts)


def tidy(text: str) -> str:
    """The text without the gaps and empty brackets that a removal leaves."""
    text = _LEFTOVERS.sub(" ", _EMPTY_FENCE.sub(" ", text))
    return _BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", text)).strip()


def _fold(text: str) -> tuple[str, list[int]]:
    """What the text looks like in plain small letters, and for each of its characters the place it came from."""
    if text.isascii():
        return text.lower(), list(range(len(text) + 1))
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text.translate(_BRACKETS)):
        seen = char.lower() if char.isascii() or char.isspace() else skeleton(char)
        letters.append(seen)
        places.extend([place] * len(seen))
    places.append(len(text))
    return "".join(letters), places


def _tag_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where tags stand in the text, from left to right, not overlapping."""
    folded, places = _fold(text)
    groups = _groups(folded)
    opens = [start for start, _ in groups]
    at = 0
    for start, matched, end_of in _starts(folded):
        if start < at:
            continue
        index = bisect_right(opens, start) - 1
        if index >= 0 and start < groups[index][1]:
            begin, end = groups[index][0], _beyond_quotes(folded, groups[index])
        else:
            begin, end = start, end_of(folded, start, matched)
        begin, at = max(begin, at), max(end, matched)
        yield places[begin], places[min(at, len(folded))]


def _starts(folded: str) -> list[tuple[int, int, "EndOf"]]:
    """Where something that smells of a tag begins, to where it matched, and how to find its end."""
    found = [(match.start(), match.end(), end_of) for pattern, end_of in _SHAPES for match in pattern.finditer(folded)]
    return sorted(found, key=lambda one: one[:2])


def _groups(folded: str) -> list[tuple[int, int]]:
    """The outermost matched brackets that are square or curly, as (start, end) from left to right."""
    stack: list[tuple[str, int]] = []
    found: list[tuple[int, int]] = []
    for place, char in enumerate(folded):
        if char in "[{":
            stack.append((char, place))
        elif char in "]}" and stack and stack[-1][0] == _OPENING[char]:
            _, start = stack.pop()
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, place + 1))
    return found


def _beyond_quotes(folded: str, group: tuple[int, int]) -> int:
    """The group's end, or a later one where its last bracket stood inside quotes."""
    start, end = group
    if folded.count('"', start, min(end, start + _REACH)) % 2 == 0:
        return end
    quote = folded.find('"', end, end + _REACH)
    if quote < 0:
        return end
    bracket = folded.find("]", quote, quote + _REACH)
    return end if bracket < 0 else bracket + 1


def _line_end(folded: str, start: int, _matched: int) -> int:
    end = folded.find("\n", start)
    return len(folded) if end < 0 else end


def _round_end(folded: str, start: int, matched: int) -> int:
    """Where the bracket closes that is the first in what matched."""
    depth = 0
    for place in range(start, min(len(folded), start + _REACH)):
        depth += (folded[place] in "([{") - (folded[place] in ")]}")
        if depth == 0 and place >= matched - 1:
            return place + 1
    return _line_end(folded, start, matched)


def _call_end(folded: str, _start: int, matched: int) -> int:
    return _round_end(folded, matched - 1, matched)


def _element_end(folded: str, start: int, matched: int) -> int:
    """Behind the closing element, else behind the `>`, else the end of the line."""
    closing = _CLOSING_ELEMENT.search(folded, matched, matched + _REACH)
    if closing is not None:
        return closing.end()
    end = folded.find(">", matched - 1, matched + _REACH)
    return _line_end(folded, start, matched) if end < 0 else end + 1


def _bracket_end(folded: str, start: int, matched: int) -> int:
    """The end of an unmatched bracket of any shape."""
    ends = {"<": _element_end, "(": _round_end}
    return ends.get(folded[start], _line_end)(folded, start, matched)


def _pairs_end(folded: str, _start: int, matched: int) -> int:
    while pair := _PAIR.match(folded, matched):
        matched = pair.end()
    return matched


EndOf = Callable[[str, int, int], int]
_SHAPES: tuple[tuple[re.Pattern[str], EndOf], ...] = (
    (_BRACKETED, _bracket_end),
    (_NAMED, _bracket_end),
    (_ELEMENT, _element_end),
    (_JSON, _line_end),
    (_FUNCTION, _call_end),
    (_LABELLED, _line_end),
    (_NAKED, _pairs_end),
)
