"""Turns captions, as programs show them, into spoken lines: each once, and whole. Pure.

A caption grows while somebody speaks, is corrected as it grows, rolls (its first words leave while
new ones come) and is shown again. `CaptionReader` takes what is shown and when, and returns a line
when the next one begins, when nothing has changed for a moment, or when it has become long.

A caption is compared piece by piece. A piece is a word with the space or line break before it; in a
script that writes no spaces (Japanese, Chinese, Thai) it is a character.

What a recognizer writes where nobody speaks ("[BLANK_AUDIO]", "(upbeat music)", "you") is no word.
"""

import re
from collections.abc import Iterable, Sequence

from forgetmenot.text.clean import clean, plain
from forgetmenot.text.words import UNSPACED

# Milliseconds without a change after which a caption is taken for finished.
QUIET = 2_000
# Milliseconds in which the same line again is the caption that was shown again, not said again.
REPEATED_WITHIN = 30_000
# Milliseconds without a line after which thanks for watching are what a recognizer makes of
# silence.
SILENCE = 10_000
# Characters of what a source shows: more is no caption, and only its end is read.
MAX_CHARS = 2_000
MAX_LINE = 500
# Sizes of speech: a word counts two, a character of a script without spaces one.
_WORD_SIZE = 2
# What is said without a pause becomes a line when it is longer than this.
_MAX_SIZE = 60 * _WORD_SIZE
# The end of a long caption, as long as this, may still be corrected.
_OPEN_SIZE = 3 * _WORD_SIZE
# A shorter overlap of two captions may be chance.
_OVERLAP_SIZE = 2 * _WORD_SIZE

_LINE_END = re.compile(r"\r\n|\r|\n")
_TIMES = re.compile(r"\d\d:\d\d(?::\d\d)?[,.]\d{1,3} *-->.*|WEBVTT.*")
_TAG = re.compile(r"</?[a-z][^>]{0,40}>", re.IGNORECASE)
# Vowels and tones that sit on the letter before them, and the punctuation behind it.
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3"
    "\u0300-\u036f"
)
_PIECE = re.compile(
    rf"\s*(?:{UNSPACED.pattern}[{_MARKS}]*[。、！？…]*|(?:(?!{UNSPACED.pattern})\S)+)"
)
# A remark of the recognizer: in brackets, between stars, or notes with what is sung between them.
_REMARK = re.compile(
    r"[\[(（【［][^\[\](（）)【】［］\n]{0,80}[\])）】］]|\*[^*\n]{1,80}\*|[♪♫🎵🎶][^♪♫🎵🎶\n]*[♪♫🎵🎶]*"
)
_OPEN_REMARK = re.compile(r"[\[(（【［*][^\[\](（）)【】［］*\n]{0,80}\Z")
# What Whisper and its kin write of silence: sentences of the subtitles that they were trained on.
_ONLY_YOU = re.compile(r"you(?: you)*")
_FAREWELLS = frozenset(
    plain(sentence)
    for sentence in (
        "thank you for watching",
        "thanks for watching",
        "vielen dank fürs zuschauen",
        "untertitel der amara.org-community",
        "sous-titres réalisés par la communauté d'amara.org",
        "merci d'avoir regardé cette vidéo",
        "gracias por ver el video",
        "obrigado por assistir",
        "ご視聴ありがとうございました",
        "感谢观看",
        "시청해주셔서 감사합니다",
    )
)


def caption_lines(
    text: str,
    *,
    subtitles: bool = False,
    after_gap: bool = True,
) -> list[str]:
    """Return the lines of a caption file without the numbers, times and tags of subtitles.

    A number alone counts a subtitle behind a gap (an empty line) of a file of subtitles; elsewhere
    it is a word. `subtitles`: the file is known to be one. `after_gap`: an empty line stood before
    this text.
    """
    are_subtitles = subtitles or "-->" in text
    lines = []
    for row in _LINE_END.split(text):
        line = clean(_TAG.sub("", row))
        is_counter = are_subtitles and after_gap and line.isdecimal()
        after_gap = not line
        if not line:
            continue
        if is_counter:
            continue
        if _TIMES.fullmatch(line):
            continue
        lines.append(line)
    return lines


def spoken_words(text: str) -> str:
    """Return one line of captions without the recognizer's remarks; "" if it has nothing else."""
    return clean(_REMARK.sub(" ", text))


def is_made_of_silence(line: str, silent_for: int) -> bool:
    """Return whether a line is what a recognizer writes where nobody speaks.

    `silent_for` is the time without a line (ms).
    """
    bare_words = [_bare(word) for word in line.split()]
    bare = " ".join(bare_words)
    has_words = any(char.isalnum() for char in bare)
    if not has_words:
        return True
    if _ONLY_YOU.fullmatch(bare):
        return True
    # Streamers thank their viewers in earnest as well, but not out of a silence.
    return bare in _FAREWELLS and silent_for >= SILENCE


class CaptionReader:
    """Turns what one source shows into lines. Times are milliseconds of any clock."""

    def __init__(self) -> None:
        # The pieces of what is being said.
        self._pieces: list[str] = []
        # How many of them were returned as lines, and where among them the caption begins that is
        # shown now: one that rolls no longer shows the first.
        self._returned = 0
        self._window = 0
        # All of it was returned.
        self._finished = False
        self._changed_at = 0
        self._last_line = ""
        self._last_line_at = -REPEATED_WITHIN

    def stands(self, text: str) -> None:
        """Take what was shown before anybody listened: only what is added to it is heard."""
        self._pieces = _pieces(text)
        self._window = 0
        self._finished = True
        self._returned = len(self._pieces)

    def shows(self, text: str, now: int) -> list[str]:
        """Return the lines that are finished by a caption as it is now.

        A line break ends a line.
        """
        pieces = _pieces(text)
        shown_before = self._pieces[self._window :]
        # A caption that rolled begins without the space that stood before its first piece.
        if shown_before and pieces:
            space = _space_before(shown_before[0])
            pieces[0] = space + pieces[0]
        if pieces == shown_before:
            return self.quiet(now)
        self._changed_at = now
        is_continued = self._is_continued(shown_before, pieces)
        self._finished = False
        # It grows, or its last words were corrected.
        if is_continued:
            self._pieces[self._window :] = pieces
            # A correction may have fewer words than were returned.
            count = len(self._pieces)
            self._returned = min(self._returned, count)
            return self._long(now)
        # It rolls.
        overlap = _overlap(shown_before, pieces)
        if overlap:
            self._window = len(self._pieces) - overlap
            self._pieces += pieces[overlap:]
            return self._long(now)
        # It is another one.
        lines = self.finish(now)
        self._finished = False
        self._begin(pieces)
        lines += self._long(now)
        return lines

    def _begin(self, pieces: list[str]) -> None:
        """Take the pieces of another caption, of which nothing was returned."""
        self._pieces = pieces
        self._returned = 0
        self._window = 0

    def _is_continued(self, shown_before: Sequence[str], pieces: Sequence[str]) -> bool:
        """Return whether pieces are the caption that was shown before, longer or corrected."""
        same_count = _same_beginning(shown_before, pieces)
        shorter_count = min(len(shown_before), len(pieces))
        # Corrections concern the end. A caption of which half has changed is another one.
        if same_count == 0:
            return False
        if 2 * same_count < shorter_count:
            return False
        if not self._finished:
            return True
        # What was finished is not corrected any more: it is another sentence with the same
        # beginning.
        changes_finished = self._window + same_count < self._returned
        return not changes_finished or same_count == len(pieces)

    def ends(self, text: str, now: int) -> list[str]:
        """Return the lines that are finished by a caption to which nothing will be added."""
        lines = self.shows(text, now)
        lines += self.finish(now)
        self._begin([])
        return lines

    def quiet(self, now: int) -> list[str]:
        """Return the lines that are shown, if nothing has changed for a moment."""
        if now - self._changed_at < QUIET:
            return []
        return self.finish(now)

    def finish(self, now: int) -> list[str]:
        """Return the lines that are shown and were not returned yet."""
        self._finished = True
        return self._lines_to(len(self._pieces), now)

    def _long(self, now: int) -> list[str]:
        """Return what somebody said without a pause, except what may still be corrected."""
        unreturned = self._pieces[self._returned :]
        if _size(unreturned) <= _MAX_SIZE:
            return []
        end = len(self._pieces)
        while _size(self._pieces[end:]) < _OPEN_SIZE:
            end -= 1
        return self._lines_to(end, now)

    def _lines_to(self, end: int, now: int) -> list[str]:
        """Return the lines of the pieces before `end` that were not returned yet."""
        text = "".join(self._pieces[self._returned : end])
        # A correction may have left fewer pieces open than were returned: none is returned twice.
        self._returned = max(self._returned, end)
        self._drop_old_pieces()
        spoken_lines = []
        for row in text.split("\n"):
            line = row.strip()[:MAX_LINE]
            if self._is_spoken(line, now):
                spoken_lines.append(line)
        return spoken_lines

    def _drop_old_pieces(self) -> None:
        """Drop the first pieces, which were returned and are no longer shown."""
        count = min(self._returned, self._window)
        del self._pieces[:count]
        self._returned -= count
        self._window -= count

    def _is_spoken(self, line: str, now: int) -> bool:
        """Return whether a line has words, and is neither a repeat nor made of silence."""
        folded_line = plain(line)
        silent_for = now - self._last_line_at
        if is_made_of_silence(line, silent_for):
            return False
        if folded_line == self._last_line and silent_for < REPEATED_WITHIN:
            return False
        self._last_line = folded_line
        self._last_line_at = now
        return True


def _pieces(text: str) -> list[str]:
    """Return the pieces of what a source shows, without remarks and without the start of one."""
    shown_end = text[-MAX_CHARS:]
    without_remarks = _REMARK.sub(" ", shown_end)
    spoken_text = _OPEN_REMARK.sub("", without_remarks)
    lines = []
    for row in spoken_text.split("\n"):
        line = clean(row)
        if line:
            lines.append(line)
    one_text = "\n".join(lines)
    return _PIECE.findall(one_text)


def _space_before(piece: str) -> str:
    """Return the space or line break with which a piece begins."""
    word = piece.lstrip()
    return piece.removesuffix(word)


def _size(pieces: Iterable[str]) -> int:
    """Return how much speech pieces are."""
    size = 0
    for piece in pieces:
        if UNSPACED.match(piece.lstrip()):
            size += 1
        else:
            size += _WORD_SIZE
    return size


def _same_beginning(before: Sequence[str], now: Sequence[str]) -> int:
    """Return how many pieces both have in common at their beginning."""
    count = 0
    for old_piece, new_piece in zip(before, now, strict=False):
        if _bare(old_piece) != _bare(new_piece):
            break
        count += 1
    return count


def _overlap(before: Sequence[str], now: Sequence[str]) -> int:
    """Return how many pieces end the one and begin the other; 0 if they are too few to be sure."""
    old_pieces = [_bare(piece) for piece in before]
    new_pieces = [_bare(piece) for piece in now]
    # The longest first: a word that is said twice also makes a shorter one.
    longest = min(len(old_pieces), len(new_pieces))
    for length in range(longest, 0, -1):
        beginning = now[:length]
        if _size(beginning) < _OVERLAP_SIZE:
            break
        if old_pieces[-length:] == new_pieces[:length]:
            return length
    return 0


def _bare(piece: str) -> str:
    """Return a piece as it is compared: recognizers add capitals and commas when they hear more."""
    return plain(piece).strip(" \n.,;:!?…\"'。、！？")
