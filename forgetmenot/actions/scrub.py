"""Takes out of a text everything that smells of an action tag, whatever its shape, and leaves ordinary words.

Promises: the result holds nothing that `smells` would find; "urban memes", "[clip]", "action!" and the like stay;
time grows with the text's length. Pure. What is removed is not read: a proposal is the grammar's business. Text is
looked at as the eye sees it: look-alike letters and brackets folded, `&#91;` and `%5B` read. The shapes: shapes.py.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator

from forgetmenot.actions.shapes import REACH, SHAPES, Ends, closing_tag_end
from forgetmenot.text.lookalikes import skeleton

_LOOKS = (
    ("[", "［【〔〖〘〚「『⟦❲⁅﹝⦋⎡⎣"), ("]", "］】〕〗〙〛」』⟧❳⁆﹞⦌⎤⎦"),
    ("<", "＜《〈⟨‹«⟪❬❮❰﹤≪"), (">", "＞》〉⟩›»⟫❭❯❱﹥≫"),
    ("{", "｛❴﹛⦃"), ("}", "｝❵﹜⦄"), ("(", "（⸨﴾❨❪⦅﹙"), (")", "）⸩﴿❩❫⦆﹚"),
    (":", "：﹕꞉∶"), ("=", "＝﹦"), ('"', "＂“”„‟"), ("|", "｜￨"),
)  # fmt: skip
_SIGNS = str.maketrans({look: sign for sign, looks in _LOOKS for look in looks})
# A sign as a page, an address or a program writes it: `&#91;`, `%5B`, `\u005b`.
_WRITTEN = re.compile(
    r"&(?:#[0-9]{1,6}|#x[0-9a-f]{1,5}|[a-z]{2,8});|%(?:5b|5d|7b|7d|3c|3e|3a|3d|28|29|22)|\\(?:u00|x)[2-7][0-9a-f]",
    re.IGNORECASE,
)
_TERMINAL = re.compile(r"\x1b\[[0-9;?]{1,16}[A-Za-z]|\x1b\[[mKJH]|\x1b")  # what colours a terminal
_OPENING = {"]": "[", "}": "{"}
_PASSES = 4
_BEFORE, _BEHIND = re.compile(r"[\[<{\\*_`~|#%@$]*\Z"), re.compile(r"[\]>}\\*_`~|#%@$]*")
_LONGEST_EDGE = 8

_EMPTY_FENCE = re.compile(r"`{3,}[a-z]{0,12}\s{0,8}`{3,}|~{3,}[a-z]{0,12}\s{0,8}~{3,}|(?<!`)``(?!`)")
_LEFTOVERS = re.compile(r"\(\s{0,8}\)|\[\s{0,8}\]|\{\s{0,8}\}|<\s{0,8}>|<([a-z]{1,12})>\s{0,8}</\1>")
_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"(?<=\S) ([.,!?;:])(?=\s|$)")


def without_tags(text: str, nonce: str = "") -> str:
    """The text that may be shown: without tags, and without the nonce wherever it stands."""
    text = _TERMINAL.sub("", text)
    if nonce:
        text = text.replace(nonce, " ")
    text = text.strip()
    for _ in range(_PASSES):
        spans = list(_tag_spans(text))
        if not spans:
            return text
        text = tidy(_cut(text, spans))
    return ""  # no text that was ever tried needs more than two passes: this one wants to hide something


def smells(text: str) -> bool:
    """Whether anything in the text looks like an action tag."""
    return next(_tag_spans(text), None) is not None


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without the spans and the marks glued to them; a space stands in for each, so that no halves join."""
    parts, at = [], 0
    for start, end in spans:
        edge = _BEFORE.search(text, max(at, start - _LONGEST_EDGE), start)
        parts.append(text[at : max(at, edge.start() if edge is not None else start)])
        behind = _BEHIND.match(text, end, end + _LONGEST_EDGE)
        at = behind.end() if behind is not None else end
    parts.append(text[at:])
    return " ".join(parts)


def tidy(text: str) -> str:
    """The text without the gaps and empty brackets that a removal leaves."""
    text = _LEFTOVERS.sub(" ", _EMPTY_FENCE.sub(" ", text))
    return _BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", text)).strip()


def _fold(text: str) -> tuple[str, list[int]]:
    """What the text looks like in plain small letters, and for each of its characters the place it came from."""
    written = {found.start(): found for found in _WRITTEN.finditer(text)} if _may_be_written(text) else {}
    if text.isascii() and not written:
        return text.lower(), list(range(len(text) + 1))
    letters: list[str] = []
    places: list[int] = []
    place = 0
    while place < len(text):
        found = written.get(place)
        seen = _seen(text[place] if found is None else _meant(found[0]))
        letters.append(seen)
        places.extend([place] * len(seen))
        place = place + 1 if found is None else found.end()
    places.append(len(text))
    return "".join(letters), places


def _may_be_written(text: str) -> bool:
    return "&" in text or "%" in text or "\\" in text


def _meant(written: str) -> str:
    """The sign that was written out; itself, where it is none."""
    if written[0] == "&":
        return html.unescape(written)
    return chr(int(written[-2:], 16))


def _seen(sign: str) -> str:
    plain = sign.translate(_SIGNS)
    return plain.lower() if plain.isascii() or plain.isspace() else skeleton(plain)


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
            begin, end = groups[index][0], closing_tag_end(folded, _beyond_quotes(folded, groups[index]))
        else:
            begin, end = start, end_of(folded, start, matched)
        begin, at = max(begin, at), max(end, matched)
        yield places[begin], places[min(at, len(folded))]


def _starts(folded: str) -> list[tuple[int, int, Ends]]:
    """Where something that smells of a tag begins, to where it matched, and how to find its end."""
    found = [(match.start(), match.end(), end_of) for pattern, end_of in SHAPES for match in pattern.finditer(folded)]
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
    mark = _open_quote(folded[start : min(end, start + REACH)])
    quote = folded.find(mark, end, end + REACH) if mark else -1
    if quote < 0:
        return end
    bracket = folded.find("]", quote, quote + REACH)
    return end if bracket < 0 else bracket + 1


def _open_quote(inside: str) -> str:
    """The quotation mark that is still open at the end; a single one counts only as a value's ("it's")."""
    if inside.count('"') % 2:
        return '"'
    _, opening, value = inside.rpartition("='")
    return "'" if opening and "'" not in value else ""
