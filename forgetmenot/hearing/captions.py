"""Turns captions, as programs show them, into spoken lines: each once, and whole. Pure.

A caption grows while somebody speaks, is corrected as it grows, rolls (its first words leave while new ones come) and
is shown again. `CaptionReader` is told what stands there and when, and gives a line when the next one begins, when
nothing has changed for a moment, or when it has become long.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from forgetmenot.text.clean import clean, plain

# Milliseconds without a change after which a caption is taken for finished.
QUIET = 2_000
# Milliseconds in which the same line again is the caption that was shown again, not said again.
REPEATED_WITHIN = 30_000
LONGEST_WORDS = 60
# Of what stands in a source: more is no caption, and only its end is read.
MOST_CHARS = 2_000
LONGEST_LINE = 500
_KEPT_WORDS = 120
_OVERLAP = 2
_CUE = re.compile(r"\d+|\d\d:\d\d(?::\d\d)?[,.]\d{1,3} *-->.*|WEBVTT.*")
_TAG = re.compile(r"</?[a-z][^>]{0,40}>", re.IGNORECASE)


def caption_lines(text: str) -> list[str]:
    """The lines of a caption file without the numbers, times and tags of subtitles."""
    lines = (clean(_TAG.sub("", line)) for line in text.replace("\r", "\n").split("\n"))
    return [line for line in lines if line and not _CUE.fullmatch(line)]


class CaptionReader:
    """What one source shows, as lines. Times are milliseconds of any clock."""

    def __init__(self) -> None:
        self._words: list[str] = []  # of what is being said
        self._given = 0  # how many of them were given out
        self._window = 0  # where in them the caption begins that is shown now
        self._finished = False  # all of it was given out
        self._changed_at = 0
        self._last = ""
        self._last_at = -REPEATED_WITHIN

    def stands(self, text: str) -> None:
        """What stood there before anybody listened: only what is added to it is heard."""
        self._words, self._window, self._finished = clean(text[-MOST_CHARS:]).split(), 0, True
        self._given = len(self._words)

    def shows(self, text: str, now: int) -> list[str]:
        """A caption as it stands there now; the lines that are finished by it."""
        words = clean(text[-MOST_CHARS:]).split()
        window = self._words[self._window :]
        if words == window:
            return self.quiet(now)
        self._changed_at = now
        kept = _same_beginning(window, words)
        # what was finished is not corrected any more: it is a sentence that begins alike
        anew = self._finished and self._window + kept < self._given and kept < len(words)
        self._finished = False
        if (
            not anew and kept and 2 * kept >= min(len(window), len(words))
        ):  # it grows, or its last words were corrected
            self._words[self._window :] = words
            self._given = min(self._given, len(self._words))
        elif overlap := _overlap(window, words):  # it rolls
            self._window = len(self._words) - overlap
            self._words += words[overlap:]
        else:
            finished = self.finish(now)
            self._words, self._given, self._window = words, 0, 0
            return [*finished, *self._long(now)]
        return self._long(now)

    def ends(self, text: str, now: int) -> list[str]:
        """A caption to which nothing will be added; the lines that are finished by it."""
        lines = [*self.shows(text, now), *self.finish(now)]
        self._words, self._given, self._window = [], 0, 0
        return lines

    def quiet(self, now: int) -> list[str]:
        """The line that stands there, if it has not changed for a moment."""
        return self.finish(now) if now - self._changed_at >= QUIET else []

    def finish(self, now: int) -> list[str]:
        """The line that stands there, as far as it was not given out."""
        self._finished = True
        return self._give(len(self._words), now)

    def _long(self, now: int) -> list[str]:
        """The beginning of somebody who speaks without a pause, but for the words that may still be corrected."""
        waiting = len(self._words) - self._given
        return self._give(len(self._words) - 3, now) if waiting > LONGEST_WORDS else []

    def _give(self, end: int, now: int) -> list[str]:
        line = " ".join(self._words[self._given : end])[:LONGEST_LINE]
        self._given = max(self._given, end)
        gone = max(0, min(len(self._words) - _KEPT_WORDS, self._given, self._window))
        del self._words[:gone]
        self._given, self._window = self._given - gone, self._window - gone
        repeated = plain(line) == self._last and now - self._last_at < REPEATED_WITHIN
        if not any(char.isalnum() for char in line) or repeated:
            return []
        self._last, self._last_at = plain(line), now
        return [line]


def _same_beginning(before: Sequence[str], now: Sequence[str]) -> int:
    """How many words both begin with."""
    return len(
        list(
            takewhile(lambda pair: _bare(pair[0]) == _bare(pair[1]), zip(before, now, strict=False))
        )
    )


def _overlap(before: Sequence[str], now: Sequence[str]) -> int:
    """How many words end the one and begin the other; fewer than two may be chance."""
    old, new = [_bare(word) for word in before], [_bare(word) for word in now]
    return next(
        (n for n in range(min(len(old), len(new)), _OVERLAP - 1, -1) if old[-n:] == new[:n]), 0
    )


def _bare(word: str) -> str:
    """A word as it compares: recognition adds capitals and commas when it has heard more."""
    return plain(word).strip(".,;:!?…\"'")
