"""A made-up channel: people, words, facts and lines, the same in every run.

Words are few where people's words are few and many where they are many (a Zipf-like choice from some thousand
invented ones beside everyday ones), since full-text search and recall depend on it.
"""

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from forgetmenot.clock import iso
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import DAY, HOUR

NOW = 1_784_894_400_000  # noon of a day in July 2026
FIRST_ID = 500_000_000
WORDS = 6_000
NOTES_EACH = 19
NOTES_AT_MOST = (
    250  # what the settings let one viewer have: 200 permanent and 50 with an end
)
NOTES_PER_EPISODE = 6
_MADE_OF = "ka lo mi ren tos vu bel dra fen go hai nur pol sith wen zar"
_SHAPES = (
    "plays {} on the {} every weekend",
    "has a {} called {}",
    "wants to learn {} before the {}",
    "works at a {} near the {}",
    "finished the {} level without any {}",
    "collects {} and old {}",
    "prefers {} to {} on stream",
    "is building a {} out of {}",
)


class Invented:
    """Makes things up. `seed`: the same seed, the same things."""

    def __init__(self, seed: int = 7) -> None:
        self._dice = random.Random(seed)  # noqa: S311  # the same in every run
        made = itertools.product(_MADE_OF.split(), repeat=4)
        self._words = [
            "".join(parts) for parts in itertools.islice(made, 3, WORDS * 9, 9)
        ]
        self._dice.shuffle(self._words)
        self._weights = list(
            itertools.accumulate(1 / rank for rank in range(30, len(self._words) + 30))
        )

    def words(self, count: int) -> list[str]:
        """Some words, common ones often."""
        return self._dice.choices(self._words, cum_weights=self._weights, k=count)

    def fact(self) -> str:
        """A fact about somebody."""
        return self._dice.choice(_SHAPES).format(*self.words(2))

    def question_for_a_person(self) -> str:
        """A question about whoever it is that something is known of."""
        return f"who {self.fact()}?"

    def line(self) -> str:
        """A line of chat."""
        return " ".join(self.words(self._dice.randint(2, 12)))

    def notes(
        self, people: Iterable[int], each: int = NOTES_EACH
    ) -> Iterator[dict[str, Any]]:
        """Notes as `memory import` takes them: so many about each of these people."""
        for number in people:
            facts = [self.fact() for _ in range(each)]
            for first in range(0, each, NOTES_PER_EPISODE):
                together = facts[first : first + NOTES_PER_EPISODE]
                summary = f"<@{viewer_id(number)}> {'; '.join(together)}. Others spoke of {' '.join(self.words(25))}."
                same: dict[str, Any] = {
                    "viewer": viewer_id(number),
                    "observed_at": iso(NOW - (first + number % 97 + 1) * DAY),
                }
                same["episode"] = {"key": f"{number}-{first}", "summary": summary}
                yield from (
                    {**same, "fact": fact, "confidence": 0.8} for fact in together
                )

    def event(self, number: int, at: int, text: str | None = None) -> ChatEvent:
        """A line of somebody's."""
        name = f"viewer_{number}"
        words = self.line() if text is None else text
        event_id = str(
            UUID(int=self._dice.getrandbits(128), version=4)
        )  # Twitch's are such too
        return ChatEvent(
            event_id,
            EventKind.MESSAGE,
            viewer_id(number),
            name,
            name.title(),
            words,
            at,
            "1",
        )

    def chat(self, lines: int, people: int) -> Iterator[ChatEvent]:
        """Chat of 20 hours: everybody says something, and few say most of it."""
        weights = list(itertools.accumulate(1 / rank for rank in range(5, people + 5)))
        speakers = [
            *range(people),
            *self._dice.choices(
                range(people), cum_weights=weights, k=max(0, lines - people)
            ),
        ]
        self._dice.shuffle(speakers)
        for number, number_of_speaker in enumerate(speakers[:lines]):
            yield self.event(
                number_of_speaker, NOW - (lines - number) * 20 * HOUR // lines
            )


def viewer_id(number: int) -> str:
    """A Twitch id."""
    return str(FIRST_ID + number)
