"""What of a model's text may stand in the memory. Pure.

A model's words are kept as they are, and what they say is not judged: stored words are shown as data and can command
nothing. A sentence is cut, and counted under the name of the rule, where it

- names a handle that was not given out ("handle"),
- has more than twelve words of one message in a row, or 26 letters in a script without spaces ("copied"),
- holds what is never stored about people ("sensitive"),
- has a link, markup or a command in it ("link", "markup"),
- is too long, or stands where there are words enough ("length"). A fifth more than was asked for is not too long.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from forgetmenot.memory.people import Handles
from forgetmenot.text.clean import clean, cut
from forgetmenot.text.mentions import MENTION, defang, has_link
from forgetmenot.text.words import UNSPACED, sentences_of

QUOTE = 13
"""So many words of one message in a row are a quotation, or twice as many letters in a script without spaces."""
MARGIN = 1.2
"""A model counts its words roughly: only what is longer than that many times the limit is cut."""
MOST_READ = 4_000
"""Characters of a model's text that are looked at: more than it may have words for."""
LONGEST = 500
"""Characters of one sentence or fact: no pattern works long."""

_MARKUP = re.compile(
    r"</?[a-z][^<>]{0,60}>|\[/?[A-Z]{3,}|\{\s*[\"']|```|&lt;"
    r"|(?:^|:\s)\s*(?:[\[/!]\s*\w|(?:SYSTEM|ASSISTANT|USER)\s*:|@\w)"
)
_LINK = re.compile(r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
_WORD = re.compile(r"\w+(?:['’]\w+)*")


class KeptText(NamedTuple):
    """What may be stored, with mentions for handles; `cut` counts the other sentences by rule."""

    text: str
    cut: Counter[str]


def number_of_words(text: str) -> int:
    """What a summary's length is counted in."""
    return len(text.split())


def storable_summary(
    summary: str,
    messages: Sequence[str],
    handles: Handles,
    *,
    most: int,
    forbidden: Callable[[str], bool],
    size: Callable[[str], int] = number_of_words,
) -> KeptText:
    """A text as it may be stored, of `most` words or what else `size` counts.

    `messages` are those it tells of, as the model was shown them (with handles). `forbidden` judges one sentence.
    """
    written = list(dict.fromkeys(sentences_of(cut(defang(clean(summary)), MOST_READ))))
    quotes = _quotes(written, messages)
    refused: Counter[str] = Counter()
    allowed: list[str] = []
    for sentence in written:
        named = handles.ids(sentence)
        if named is None:
            refused["handle"] += 1
        elif sentence in quotes:
            refused["copied"] += 1
        elif fault := "sensitive" if forbidden(named) else text_fault(named):
            refused[fault] += 1
        else:
            allowed.append(named)
    text = within(allowed, int(MARGIN * most), size)
    refused["length"] += len(allowed) - len(sentences_of(text))
    return KeptText(text, +refused)


def text_fault(text: str, *, links: bool = False) -> str | None:
    """The rule that refuses a sentence or a fact ("length", "markup", "link"), or None. `links`: it may name one."""
    if len(text) > LONGEST:
        return "length"
    bare = MENTION.sub("somebody", text)
    if _MARKUP.search(bare) or not _LETTERS.search(bare):
        return "markup"
    return "link" if not links and (has_link(bare) or _LINK.search(bare)) else None


def within(sentences: Iterable[str], most: int, size: Callable[[str], int] = number_of_words) -> str:
    """The first sentences that fit into so many words (or what `size` counts); of a longer one, its beginning."""
    text = ""
    for sentence in sentences:
        longer = f"{text} {sentence}".strip()
        if size(longer) > most:
            if not text:
                pieces = sentence.split()
                while pieces and size(f"{' '.join(pieces)}…") > most:
                    pieces.pop()
                text = f"{' '.join(pieces)}…"
            return text
        text = longer
    return text


def _quotes(sentences: Iterable[str], messages: Iterable[str]) -> set[str]:
    """The sentences in which a quotation of one message ends."""
    quoted = {run for message in messages for run in _runs(message)}
    found: set[str] = set()
    before = ""
    for sentence in sentences:
        so_far = f"{before} {sentence}"
        if quoted.isdisjoint(_runs(so_far)):
            before = so_far[-LONGEST:]  # a quotation may go on over the end of a sentence
        else:
            found.add(sentence)
    return found


def _runs(text: str) -> set[str]:
    """All that would be a quotation of a text."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    said, letters = _WORD.findall(plain), "".join(UNSPACED.findall(plain))
    runs = {" ".join(said[i : i + QUOTE]) for i in range(len(said) - QUOTE + 1)}
    return runs | {letters[i : i + 2 * QUOTE] for i in range(len(letters) - 2 * QUOTE + 1)}
