"""What may stay of a model's summary. Pure.

Promises about the text that is kept: no eight words of one message in a row; no handle that was not given out, no name;
at most so many words, cut at a sentence; none of what is never stored. Does not check whether it is true.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence

from forgetmenot.memory.handles import Handles
from forgetmenot.text.clean import clean
from forgetmenot.text.cut import cut
from forgetmenot.text.mentions import defang

QUOTE = 8
"""So many words of one message in a row are a quotation."""
MOST_READ = 4_000
"""Characters of a model's summary that are looked at: more than it may have words for."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")

Forbidden = Callable[[str], bool]


def kept(summary: str, messages: Iterable[str], handles: Handles, *, most_words: int, forbidden: Forbidden) -> str:
    """A summary as it may be stored, with mentions for handles; empty if nothing of it may.

    `messages` are the window's, as the model was shown them (with handles). `forbidden` judges one sentence.
    """
    bare = unquoted(cut(defang(clean(summary)), MOST_READ), messages)
    sentences = [handles.ids(sentence) for sentence in _SENTENCE.split(bare) if sentence.strip(" …")]
    allowed = [sentence for sentence in sentences if sentence is not None and not forbidden(sentence)]
    return within(allowed, most_words)


def within(sentences: Sequence[str], most_words: int) -> str:
    """The first sentences that have so many words together; of a first one that is too long, its beginning."""
    taken: list[str] = []
    room = most_words
    for sentence in sentences:
        words = sentence.split()
        if len(words) > room:
            break
        taken.append(sentence)
        room -= len(words)
    if not taken and sentences:
        return " ".join(sentences[0].split()[:most_words])
    return " ".join(taken)


def within_characters(sentences: Sequence[str], most: int) -> str:
    """The first sentences that have so many characters together; of a first one that is too long, its beginning."""
    text = ""
    for sentence in sentences:
        longer = f"{text} {sentence}".strip()
        if len(longer) > most:
            return text or f"{sentence[: most - 1].rsplit(' ', 1)[0]}…"
        text = longer
    return text


def sentences_of(text: str) -> list[str]:
    """A text's sentences."""
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def unquoted(summary: str, messages: Iterable[str]) -> str:
    """The summary without quotations: from the eighth word of one on, it is cut."""
    quoted = {run for message in messages for run in _runs(_words(message))}
    while quoted and (cut := _quoted_words(summary, quoted)):
        summary = _without(summary, cut)
    return summary


def _words(text: str) -> list[str]:
    return [_folded(word) for word in _WORD.findall(text)]


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold().replace("’", "'")


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + QUOTE]) for i in range(len(words) - QUOTE + 1)]


def _quoted_words(summary: str, quoted: Collection[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Where the words stand that make a run of eight, as (start, end)."""
    found = list(_WORD.finditer(summary))
    runs = _runs([_folded(word[0]) for word in found])
    return [found[i + QUOTE - 1].span() for i, run in enumerate(runs) if run in quoted]


def _without(summary: str, cut: Sequence[tuple[int, int]]) -> str:
    merged: list[tuple[int, int]] = []
    for start, stop in cut:
        if merged and not _WORD.search(summary[merged[-1][1] : start]):
            start = merged.pop()[0]  # noqa: PLW2901  # one gap for neighbours
        merged.append((start, stop))
    ends = [0, *(stop for _, stop in merged)]
    starts = [*(start for start, _ in merged), len(summary)]
    return "…".join(summary[end:start] for end, start in zip(ends, starts, strict=True))
