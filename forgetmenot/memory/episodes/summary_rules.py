"""What may stay of a model's summary. Pure.

Guarantees about the text that is kept:
- No eight words of one message in a row, and at most a fifth of it in runs of chat, in any script.
- No handle that was not given out, and no name.
- Nothing that memory/text_gate refuses or that is never stored, and no sentence twice.
- With evidence, only sentences that memory/grounding finds supported by the chat they are of.
- At most a given number of words, cut at a sentence.

What is cut is counted under its rule.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from forgetmenot.domain.chat import EventKind
from forgetmenot.memory.episodes.transcript import Window, parts
from forgetmenot.memory.grounding import Evidence
from forgetmenot.memory.handles import Handles
from forgetmenot.memory.text_gate import text_fault
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import clean, cut, skeleton
from forgetmenot.text.mentions import MENTION, defang, mention
from forgetmenot.text.sentences import sentences_of
from forgetmenot.text.words import STOPWORDS, UNSPACED, stem, stems, words

QUOTE = 8
"""So many words of one message in a row are a quotation."""
COPIED_AT_MOST = 0.2
"""The share of a summary's letters that may stand in runs of chat."""
RUN = 22
"""So many letters in a row that one message has too are a run of chat, wherever its spaces are: four or five words."""
SHORT_RUN = 8
"""So many are one where a sentence names nobody and has little else: a short line, or one with a few words changed."""
LITTLE_ELSE = 0.7
"""The share of a sentence's letters in short runs from which it has: of the true ones in tests/data 1 in 170."""
UNSPACED_WEIGHT = 2.2
"""What a letter counts in a script without spaces: ten of them are a run."""
MOST_READ = 4_000
"""Characters of a model's summary that are looked at: more than it may have words for."""
_WORD = re.compile(r"\w+(?:['’]\w+)*")

_NEXT_PERSON = re.compile(r",\s+(?:and |while |but )?(?=P\d+ (?!and\b)[a-z])")
_FIRST_PERSON = re.compile(
    r"(?<![\w'’])(?:I(?:['’](?:m|ve|ll|d))?|[Mm]y|[Mm]e|[Ww]e|[Oo]ur|[Ii]ch|[Ww]ir|[Yy]o|[Nn]ous|[Яя]|[Мм]ы)(?![\w'’-])"
)
"""A model that speaks for itself or copies a line: a summary is in the third person."""
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")

Forbidden = Callable[[str], bool]


class KeptText(NamedTuple):
    """What may be stored, with mentions for handles; `cut` counts the other sentences by rule."""

    text: str
    cut: Counter[str]
    sentences: int = 0

    @property
    def mostly_cut(self) -> bool:
        """Whether less than half of what was written stays, each sentence counted once."""
        again = self.cut["repeated"]
        return 2 * (self.cut.total() - again) > self.sentences - again


def storable_summary(
    summary: str,
    messages: Sequence[str],
    handles: Handles,
    *,
    most_words: int,
    forbidden: Forbidden,
    evidence: Evidence | None = None,
    instructions: frozenset[str] = frozenset(),
) -> KeptText:
    """A summary as it may be stored.

    `messages` are the window's, as the model was shown them (with handles). `forbidden` judges one sentence.
    """
    bare = cut(defang(clean(summary)), MOST_READ)
    written = [part for sentence in sentences_of(bare) if sentence.strip(" …") for part in _clauses(sentence)]
    quotes = _quotes(written, messages)
    refused: Counter[str] = Counter()
    allowed: dict[str, str] = {}
    for sentence in written:
        named = handles.ids(sentence)
        fault: str | None
        if named is None:
            fault = "handle"
        elif _key(sentence) in allowed:
            fault = "repeated"
        elif sentence in quotes:
            fault = "copied"
        elif _FIRST_PERSON.search(_QUOTED.sub("", named)):
            fault = "first_person"
        elif forbidden(named):
            fault = "sensitive"
        else:
            unsupported = evidence.sentence_fault(named, instructions) if evidence is not None else None
            fault = text_fault(named) or unsupported
        if named is None or fault is not None:
            refused[fault or "handle"] += 1
        else:
            allowed[_key(sentence)] = named
    own = uncopied(list(allowed.values()), [handles.ids(message) or message for message in messages])
    refused["copied"] += len(allowed) - len(own)
    return KeptText(within(own, most_words), +refused, len(written))


def _clauses(sentence: str) -> list[str]:
    """A sentence that lists what three people or more did, as sentences: small models string a window together."""
    parts = _NEXT_PERSON.split(sentence.strip().rstrip("."))
    return (
        [f"{part}." for part in parts]
        if len(parts) > 2 and all(len(part.split()) > 2 for part in parts)
        else [sentence]
    )


def _key(sentence: str) -> str:
    return " ".join(_words(sentence))


def uncopied(sentences: Sequence[str], messages: Iterable[str]) -> list[str]:
    """The sentences without those that copy most, until a fifth of the letters at most stands in runs of chat."""
    chat = [_letters(message) for message in messages]
    long, short = ({run for text in chat for run, _ in _letter_runs(text, size)} for size in (RUN, SHORT_RUN))
    lengths: dict[str, int] = {}
    copied: dict[str, int] = {}
    for sentence in sentences:
        letters = _letters(sentence)
        lengths[sentence], copied[sentence] = len(letters), _covered(letters, long, RUN)
        in_short = _covered(letters, short, SHORT_RUN)
        # a short fact about somebody has hardly other words than theirs: "P1 moved to Oslo last month"
        if in_short >= LITTLE_ELSE * len(letters) and not MENTION.search(sentence):
            copied[sentence] = in_short
    left = list(sentences)
    while sum(copied[one] for one in left) > COPIED_AT_MOST * sum(lengths[one] for one in left):
        left.remove(max(left, key=copied.__getitem__))
    return left


def _letters(text: str) -> str:
    return "".join(char for char in skeleton(text) if char.isalnum())


def _letter_runs(letters: str, size: int) -> list[tuple[str, int]]:
    """Every shortest run that weighs `size`, with where it begins."""
    weights = [UNSPACED_WEIGHT if UNSPACED.match(char) else 1.0 for char in letters]
    runs: list[tuple[str, int]] = []
    end, weight = 0, 0.0
    for start in range(len(letters)):
        while weight < size and end < len(letters):
            weight += weights[end]
            end += 1
        if weight < size:
            break
        runs.append((letters[start:end], start))
        weight -= weights[start]
    return runs


def _covered(letters: str, runs: Collection[str], size: int) -> int:
    """How many of the letters stand in a run."""
    covered = end = 0
    for run, start in _letter_runs(letters, size):
        if run in runs:
            covered += start + len(run) - max(start, end)
            end = start + len(run)
    return covered


def within(sentences: Iterable[str], most: int, size: Callable[[str], int] = lambda text: len(text.split())) -> str:
    """The first sentences that have so many words (or what `size` counts) together; of a longer one, its beginning."""
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
    """The sentences in which eight words of one message in a row end."""
    quoted = {run for message in messages for run in _runs(_words(message))}
    found: set[str] = set()
    before: list[str] = []
    for sentence in sentences:
        so_far = [*before, *_words(sentence)]
        if quoted.isdisjoint(_runs(so_far)):
            before = so_far[1 - QUOTE :]  # a quotation may go on over the end of a sentence
        else:
            found.add(sentence)
    return found


def _words(text: str) -> list[str]:
    return [unicodedata.normalize("NFKC", word).casefold().replace("’", "'") for word in _WORD.findall(text)]


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + QUOTE]) for i in range(len(words) - QUOTE + 1)]


# ── counted ───────────────────────────────────────────────────────────────────────────────────
# An episode without a model: who was there, how much was said, what about. Pure and deterministic.
#
# It quotes nothing: single words only, each used by at least two people.


NAMED = 5
TOPICS = 5
_NO_TOPICS = STOPWORDS | {"someone", "bot"}


def summary_in_numbers(window: Window, handles: Handles, forbidden: Callable[[str], bool] = lambda _: False) -> str:
    """The summary, with mentions. `forbidden` judges one word."""
    people = sorted(parts(window).items(), key=lambda item: -item[1].lines)
    people = [(who, part) for who, part in people if part.lines]
    if not people:
        return " ".join(["Only the bot spoke.", *_happened(window)])
    lines = sum(part.lines for _, part in people)
    most = ", ".join(f"{mention(who)} ({part.lines})" for who, part in people[:NAMED])
    rest = f" and {len(people) - NAMED} more" if len(people) > NAMED else ""
    first = f"Chat in numbers: {lines} {'line' if lines == 1 else 'lines'} by {most}{rest}."
    topics = topic_words(window, handles, forbidden)[:TOPICS]
    about = [f"Words that came up: {', '.join(topics)}."] if topics else []
    return " ".join([first, *_happened(window), *about])


def _happened(window: Window) -> list[str]:
    kinds = Counter(line.kind for line in window if line.kind not in {EventKind.MESSAGE, EventKind.ME})
    return [f"Also: {', '.join(f'{kind.value} ×{number}' for kind, number in kinds.items())}."] if kinds else []


def topic_words(window: Window, handles: Handles, forbidden: Callable[[str], bool]) -> list[str]:
    """The words that at least two people used, those of most people first, then the longer ones."""
    users: dict[str, set[str]] = defaultdict(set)
    for line in window:
        if not line.from_bot and not is_command(line.text):
            for word in set(words(handles.hide_chat(line.text))):
                users[word].add(line.viewer_id)
    topics = (word for word in users if len(word) > 3 and word.isalpha() and word not in _NO_TOPICS)
    fit = [word for word in topics if len(users[word]) > 1 and not forbidden(word)]
    return sorted(fit, key=lambda word: (-len(users[word]), -len(word), word))


def topic_of(window: Window, handles: Handles, summary: str) -> str:
    """What an episode is about: the two words of most people among those that its summary has; often none."""
    written = set(stems(MENTION.sub(" ", summary)))
    topics: dict[str, str] = {}
    for word in topic_words(window, handles, lambda word: stem(word) not in written):
        topics.setdefault(stem(word), word)
    return " ".join(list(topics.values())[:2])
