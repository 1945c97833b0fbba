"""An episode without a model: who was there, how much was said, what about. Pure and deterministic.

Promises that it quotes nothing: single words only, each used by at least two people.
"""

from collections import Counter, defaultdict
from collections.abc import Callable

from forgetmenot.domain.chat import EventKind
from forgetmenot.memory.episodes.transcript import parts
from forgetmenot.memory.episodes.windows import Window
from forgetmenot.memory.handles import Handles
from forgetmenot.text.commands import is_command
from forgetmenot.text.mentions import mention
from forgetmenot.text.words import STOPWORDS, words

NAMED = 5
TOPICS = 5
_HANDLES = frozenset({"someone", "bot"})


def counted(window: Window, handles: Handles, forbidden: Callable[[str], bool] = lambda _: False) -> str:
    """The summary, with mentions. `forbidden` judges one word."""
    people = sorted(parts(window).items(), key=lambda item: -item[1].lines)
    if not people:
        return "Only the bot spoke."
    lines = sum(part.lines for _, part in people)
    most = ", ".join(f"{mention(who)} ({part.lines})" for who, part in people[:NAMED])
    rest = f" and {len(people) - NAMED} more" if len(people) > NAMED else ""
    first = f"Chat in numbers: {_n(lines, 'line')} by {most}{rest}."
    return " ".join([first, *_happened(window), *_about(window, handles, forbidden)])


def _n(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _happened(window: Window) -> list[str]:
    kinds = Counter(line.kind for line in window if line.kind not in {EventKind.MESSAGE, EventKind.ME})
    return [f"Also: {', '.join(f'{kind.value} ×{number}' for kind, number in kinds.items())}."] if kinds else []


def _about(window: Window, handles: Handles, forbidden: Callable[[str], bool]) -> list[str]:
    users: dict[str, set[str]] = defaultdict(set)
    for line in window:
        if not line.from_bot and not is_command(line.text):
            for word in set(words(handles.hide_chat(line.text))):
                users[word].add(line.viewer_id)
    fit = [word for word in users if len(users[word]) > 1 and _is_topic(word) and not forbidden(word)]
    topics = sorted(fit, key=lambda word: (-len(users[word]), word))[:TOPICS]
    return [f"Words that came up: {', '.join(topics)}."] if topics else []


def _is_topic(word: str) -> bool:
    return len(word) > 3 and word.isalpha() and word not in STOPWORDS and word not in _HANDLES
