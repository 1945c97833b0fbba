"""What of a model's text may stand in the memory. Pure.

A model's words are kept as they are, and what they say is not judged: stored words are shown as data and can command
nothing. A sentence is cut, and counted under the name of the rule, where it

- names a handle that was not given out ("handle"),
- has more than twelve words of one message in a row ("copied"),
- holds what is never stored about people ("sensitive"),
- has a link, markup or a command in it ("link", "markup"),
- copies most, while more than half of all letters stand in runs of chat, unless the text is short ("copied"),
- is too long, or stands where there are words enough ("length"). A fifth more than was asked for is not too long.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from forgetmenot.memory.people import Handles
from forgetmenot.text.clean import clean, cut, skeleton
from forgetmenot.text.mentions import MENTION, defang, has_link
from forgetmenot.text.words import UNSPACED, sentences_of

# So many words of one message in a row are a quotation; names and titles are shorter.
QUOTE = 13
# The share of a summary's letters that may stand in runs of chat.
COPIED_AT_MOST = 0.5
# Letters of a summary that may all stand in chat: "types with two fingers and wins" can hardly be said otherwise.
SHORT = 160
# So many letters in a row that one message has too are a run of chat, wherever its spaces are: four or five words.
RUN, RUN_UNSPACED = 22, 10
# A message of so many letters or more, all of which a sentence has, is a run as well.
SHORT_LINE = 8
# A model counts its words roughly: only what is longer than that many times the limit is cut.
MARGIN = 1.2
# Characters of a model's text that are looked at: more than it may have words for.
MOST_READ = 4_000
# Characters of one sentence or fact: no pattern works long.
LONGEST = 500

_MARKUP = re.compile(
    r"</?[a-z][^<>]{0,60}>|\[/?[A-Z]{3,}|\{\s*[\"']|```|&lt;"
    r"|(?:^|:\s)\s*(?:[\[/!]\s*\w|(?:SYSTEM|ASSISTANT|USER)\s*:|@\w)"
)
# What one says of another can hardly be said otherwise than it was: it is no copy.
_HEARSAY = re.compile(r"P\d+ \w+ (?:that )?(?=P\d+\b)")
_LINK = re.compile(r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
_WORD = re.compile(r"\w+(?:'\w+)*")


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
    allowed: dict[str, str] = {}
    for sentence in written:
        named = handles.ids(sentence)
        if named is None:
            fault: str | None = "handle"
        elif sentence in quotes:
            fault = "copied"
        else:
            fault = "sensitive" if forbidden(named) else text_fault(named)
        if named is None or fault is not None:
            refused[fault or "handle"] += 1
        else:
            allowed[sentence] = named
    own = uncopied(list(allowed), messages)
    text = within((allowed[sentence] for sentence in own), int(MARGIN * most), size)
    refused["copied"] += len(allowed) - len(own)
    refused["length"] += len(own) - len(sentences_of(text))
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
    said = _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    return {" ".join(said[i : i + QUOTE]) for i in range(len(said) - QUOTE + 1)}


def uncopied(sentences: Sequence[str], messages: Iterable[str]) -> list[str]:
    """The sentences without those that copy most, until half of the letters at most stands in runs of chat."""
    letters = {sentence: _letters(sentence) for sentence in sentences}
    size = sum(map(len, letters.values()))
    if size * (RUN / RUN_UNSPACED if UNSPACED.search("".join(sentences)) else 1) <= SHORT:
        return list(sentences)
    runs: set[str] = set()
    chat = [_letters(message) for message in messages]
    for message in chat:
        unspaced = UNSPACED.search(message)
        if len(message) >= (SHORT_LINE // 2 if unspaced else SHORT_LINE):
            run = min(len(message), RUN_UNSPACED if unspaced else RUN)
            runs.update(message[at : at + run] for at in range(len(message) - run + 1))
    copied: dict[str, int] = {}
    for sentence, text in letters.items():
        ends = [(at, at + run) for run in set(map(len, runs)) for at in range(len(text)) if text[at : at + run] in runs]
        hearsay = _HEARSAY.match(sentence)
        # only where chat names that other in the same words: any line could be put behind "P1 says that P2"
        told = _letters(sentence[hearsay.end() :])[:RUN] if hearsay else ""
        said_so = hearsay and any(told in message for message in chat)
        copied[sentence] = 0 if said_so else len({at for one in ends for at in range(*one)})
    left = list(sentences)
    while sum(copied[one] for one in left) > COPIED_AT_MOST * sum(len(letters[one]) for one in left):
        left.remove(max(left, key=copied.__getitem__))
    return left


def _letters(text: str) -> str:
    return "".join(char for char in skeleton(text) if char.isalnum())
