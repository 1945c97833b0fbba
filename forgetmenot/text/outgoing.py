"""Removes what no text of a model may send: blocked words and a leading command. Pure.

Running a filter twice changes nothing more. Used for replies and for what actions post (an announcement,
a title). Links are text/mentions.py's.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from forgetmenot.text.caches import text_cache
from forgetmenot.text.clean import skeleton, unleet

_MARKS = r"/!.\\／！．。⁄∕⧸＼﹗ǃꜝ‼⁉❗❕¡~"
_COMMAND_MARKS = re.compile(
    rf"\s*(?:[{_MARKS}]\ufe0f?|[?$#+&%^>-](?=[^\W\d])|[…?$#+&%^>-](?=[\s…?$#+&%^>-]*[{_MARKS}]))"
)


def without_command(text: str) -> str:
    """Nothing in front that a chat server or another bot takes for a command, nor behind an ellipsis there."""
    at = 0
    while mark := _COMMAND_MARKS.match(text, at):
        at = mark.end()
    return text[at:].lstrip()


def without_phrases(text: str, blocklist: Iterable[str]) -> str:
    """Each word or phrase that must not leave the bot becomes an ellipsis, however it is spelt."""
    for entry in blocklist:
        text = without_phrase(text, entry)
    return text


# Blocked phrases are found behind look-alike letters ("b4d", "b@d"), signs or spaces between letters ("b-a-d") and
# repeated letters ("baaad"). A phrase of four letters or more is also found inside longer words; a shorter one, or one
# spelt out over several words, only at word boundaries, so that "ad" leaves "bread" alone.


INSIDE_WORDS_FROM = 4
GONE = "…"
_SIGNS = frozenset("@$!")
_DRAWN = 3


class _Signs(Enum):
    """Which of @ $ ! stand for letters: "b@d", "a$$", or none ("@bad!")."""

    INSIDE = 1
    ALL = 2
    NONE = 3


@dataclass(frozen=True, slots=True)
class _Letter:
    """One letter of a folded text: which part of the text it came from, and whether a word begins or ends with it."""

    letter: str
    start: int
    end: int
    begins: bool
    ends: bool


def without_phrase(text: str, phrase: str) -> str:
    """The text with an ellipsis for each word that holds the phrase; twice changes nothing more."""
    wanted = "".join(letter.letter for letter in _folded(phrase, _Signs.ALL))
    bare = not any(char.isalpha() for char in phrase)
    # again, because what was cut may bring together what another reading finds
    while wanted and (found := _find(text, wanted, bare=bare)):
        for start, end in reversed(found):
            text = text[:start] + GONE + text[end:]
    return text


def _find(text: str, wanted: str, *, bare: bool) -> list[tuple[int, int]]:
    """Where words that hold the phrase stand, in order; `bare`: the phrase has no letter ("420"), so they need none."""
    # a sign may stand for a letter or for nothing, and a drawn-out letter for one or two: each reading is tried
    for signs in _Signs:
        letters = _folded(text, signs)
        for read in (letters, _undrawn(letters, 2), _undrawn(letters, 1)):
            spans = dict.fromkeys(_held(read, wanted))
            found = [span for span in spans if bare or any(char.isalpha() for char in text[slice(*span)])]
            if found:
                return [span for span, before in zip(found, [(0, 0), *found], strict=False) if span[0] >= before[1]]
    return []


def _held(letters: tuple[_Letter, ...], wanted: str) -> Iterator[tuple[int, int]]:
    said = "".join(letter.letter for letter in letters)
    at = said.find(wanted)
    while at >= 0:
        last = at + len(wanted) - 1
        whole = letters[at].begins and letters[last].ends
        if whole or (len(wanted) >= INSIDE_WORDS_FROM and not any(letter.ends for letter in letters[at:last])):
            first = at
            while not letters[first].begins:
                first -= 1
            while not letters[last].ends:
                last += 1
            yield letters[first].start, letters[last].end
        at = said.find(wanted, at + 1)


@text_cache(16)
def _folded(text: str, signs: _Signs) -> tuple[_Letter, ...]:
    """The letters that a text shows."""
    read = [_read(char, sign=_is_letter(signs, text[at + 1 : at + 2])) for at, char in enumerate(text)]
    shown = [(at, letters) for at, letters in enumerate(read) if letters is not None]
    folded: list[_Letter] = []
    for number, (at, letters) in enumerate(shown):
        before = shown[number - 1][1] if number else ""
        after = shown[number + 1][1] if number + 1 < len(shown) else ""
        last = len(letters) - 1
        folded += [
            _Letter(letter, at, at + 1, not before and not place, not after and place == last)
            for place, letter in enumerate(letters)
        ]
    return tuple(folded)


def _is_letter(signs: _Signs, after: str) -> bool:
    return signs is _Signs.ALL or (signs is _Signs.INSIDE and after.isalnum())


@text_cache(4_096)
def _read(char: str, *, sign: bool) -> str | None:
    """What a character reads as: letters; nothing for what parts words; None for what only sits on its neighbour."""
    if char in _SIGNS and not sign:
        return ""
    looks = skeleton(char)
    if not looks:
        return None
    return "".join(letter for letter in unleet(looks) if letter.isalnum())


def _undrawn(letters: tuple[_Letter, ...], most: int) -> tuple[_Letter, ...]:
    """The same with every letter that stands three times and more in a row standing `most` times (1 or 2)."""
    short: list[_Letter] = []
    for _, same in groupby(letters, key=lambda letter: letter.letter):
        run = list(same)
        if len(run) < _DRAWN:
            short += run
        elif most == 1:
            short.append(_Letter(run[0].letter, run[0].start, run[-1].end, run[0].begins, run[-1].ends))
        else:
            short += [run[0], run[-1]]
    return tuple(short)
