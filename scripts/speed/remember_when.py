"""Whether "remember when …?" gets the right day and minute: two evenings are played, and asked about a month later.

The evenings are the demo's, the questions those of remember_when.toml: in other words, by somebody else, typed in chat
when no line of that evening is left and twelve other streams came between. Everything is the bot's own but Twitch and
the model, whose summary of a window says what the file lists for its minutes. An answer counts where the prompt has the
event with its day and a span of minutes that it fell into, or that begins in the minute after it.
"""

import itertools
import json
import random
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forgetmenot.clock import ManualClock
from forgetmenot.demo import show
from forgetmenot.domain import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.settings.load import convert
from forgetmenot.text.days import iso_day
from speed.figures import Figure
from tests.stage import live_bot, said

BEGAN = 1_790_000_000_000
EVENINGS = ("first_stream", "second_stream")
LATER = 12
LATER_LINES = 60
# minutes; a wider span counts for nothing
WIDEST = 15
CHATTER = ("nice one", "gg", "so close", "again!", "what a view", "hydrate", "lol")
_LINE = re.compile(r"^(P\d+)(?: \([^)]*\))?: (.+)$", re.MULTILINE)
_ROW = re.compile(
    r"^\((?P<day>\d{4}-\d\d-\d\d)[^)]*? (?P<first>\d+:\d\d)(?:–(?P<last>\d+:\d\d))?"
    r" (?:of|into)[^)]*\) (?P<text>.+)$",
    re.MULTILINE,
)
_DAY_ROW = re.compile(r"^\((\d{4}-\d\d-\d\d)[^)]*\) (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Happened:
    """An event. `at`: when it was (ms since its stream began)."""

    stream: int
    at: int
    says: str
    asks: str
    by: str


@dataclass(frozen=True, slots=True)
class Typed:
    """A line of a stream. `at`: ms since it began."""

    at: int
    name: str
    text: str


def events() -> tuple[list[Happened], list[str]]:
    """The events of the played evenings, and the sentences of later ones."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    listed = []
    for row in table["event"]:
        minutes, seconds = map(int, row["at"].split(":"))
        at = minutes * MINUTE + seconds * SECOND
        listed.append(
            Happened(row["evening"] - 1, at, row["says"], row["asks"], row["by"])
        )
    return listed, table["later"]


def speakers(played: Sequence[Sequence[Typed]]) -> list[str]:
    """Return the names of everybody who typed a line, in order."""
    return sorted({typed.name for typed in itertools.chain.from_iterable(played)})


def evenings(later: Sequence[str]) -> tuple[list[list[Typed]], list[Happened]]:
    """The lines of every stream, and what happened on the later ones."""
    played = [
        [Typed(cue.at, cue.name, cue.text) for cue in show.load(name) if cue.text]
        for name in EVENINGS
    ]
    people = speakers(played)
    dice = random.Random(39)  # noqa: S311  # no secret
    happened = []
    for number in range(LATER):
        lines = []
        for count in range(LATER_LINES):
            name = people[count] if count < len(people) else dice.choice(people)
            text = f"{dice.choice(CHATTER)} {number}.{count}"
            lines.append(Typed(count * 20 * SECOND, name, text))
        for sentence in later[number::LATER]:
            at = dice.randrange(LATER_LINES) * 20 * SECOND
            happened.append(Happened(len(played), at, sentence, "", ""))
        played.append(lines)
    return played, happened


class Writer:
    """A LanguageModel that summarises a window by what happened in its minutes, and keeps the prompts of replies."""

    name = "scripted"

    def __init__(
        self, played: Sequence[Sequence[Typed]], happened: Sequence[Happened]
    ) -> None:
        self.prompts: list[str] = []
        self._happened = happened
        people = speakers(played)
        # a model reads handles in the place of names
        self._person = re.compile(rf"\b(?:P\d+|{'|'.join(people)})\b", re.IGNORECASE)
        every_line = itertools.chain.from_iterable(played)
        counts = Counter(self._nameless(typed.text) for typed in every_line)
        self._only: dict[str, tuple[int, Typed]] = {}
        for stream, lines in enumerate(played):
            for typed in lines:
                text = self._nameless(typed.text)
                if counts[text] == 1:
                    self._only[text] = stream, typed

    def _nameless(self, text: str) -> str:
        """Return a text with the same letter for each person in it."""
        return self._person.sub("P", text)

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer a call of any purpose."""
        answer: Mapping[str, Any] = {"notes": [], "briefs": [], "summary": ""}
        if request.purpose is Purpose.SUMMARY:
            answer = {"summary": self._summary(request.prompt), "language": "English"}
        elif request.purpose is Purpose.REPLY:
            self.prompts.append(request.prompt)
            answer = {"action": None, "notes": [], "look_up": "", "say": "Good times."}
        usage = TokenUsage(1_000, 0, 50, 0)
        return ModelAnswer(json.dumps(answer), self.name, usage, latency_ms=1)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _summary(self, prompt: str) -> str:
        """Write what happened between the first and the last line of a window."""
        handles: dict[str, str] = {}
        times: list[int] = []
        stream = -1
        for handle, text in _LINE.findall(prompt):
            if self._nameless(text) in self._only:
                stream, typed = self._only[self._nameless(text)]
                handles[typed.name] = handle
                times.append(typed.at)
        sentences = ["Chat cheered."]
        for event in self._happened:
            if event.stream == stream and min(times) <= event.at <= max(times):
                sentences.append(with_names(event.says, handles))
        return " ".join(sentences)


def with_names(sentence: str, names: Mapping[str, str]) -> str:
    """A sentence with these names for the people in it."""
    return re.sub(
        r"\{(\w+)\}", lambda person: names.get(person[1], "somebody"), sentence
    )


async def measure(folder: Path) -> list[Figure]:
    """Play the evenings, let a month pass, and ask."""
    happened, later = events()
    played, happened_later = evenings(later)
    model = Writer(played, [*happened, *happened_later])
    clock = ManualClock(BEGAN)
    settings = convert(
        {"bot": {"mode": "mentions", "notice": ""}, "twitch": {"channel": "streamer"}},
        "the bench",
    )
    days = []
    path = folder / "remembered.sqlite3"
    async with live_bot(path, clock, lambda: settings, model) as (bot, _ears):
        people = speakers(played)
        ids = {name: f"10{number}" for number, name in enumerate(people)}
        count = 0

        async def say(name: str, text: str) -> None:
            nonlocal count
            count += 1
            badges = ("broadcaster",) if name == "streamer" else ()
            line = said(clock, f"line{count}", ids[name], name, text, *badges)
            await bot.hear(line)

        for lines in played:
            began_at = clock.now()
            days.append(iso_day(began_at, settings.bot.timezone))
            for typed in lines:
                await clock.advance(began_at + typed.at - clock.now())
                await say(typed.name, typed.text)
                if count % 40 == 0:
                    await bot.settle()
                    await bot.tasks.catch_up()
            await bot.settle()
            await bot.remember_all()
            await clock.advance(2 * DAY + 2 * HOUR)
            await bot.tasks.catch_up()
        await clock.advance(6 * DAY)
        await bot.tasks.catch_up()
        raw = await bot.db.value("SELECT count(*) FROM events WHERE text <> ''")
        model.prompts.clear()
        prompts = []
        for event in happened:
            await clock.advance(5 * MINUTE)
            await say(event.by, f"@ForgetMeNot {event.asks}")
            await bot.settle()
            # a name that is a word as well has an @ in front
            prompts.append("".join(model.prompts[:1]).replace("@", ""))
            model.prompts.clear()
    return [
        Figure("remember when: raw lines left when it is asked", raw, "", 0),
        *figures(happened, prompts, days),
    ]


def figures(
    happened: Sequence[Happened],
    prompts: Sequence[str],
    days: Sequence[str],
) -> list[Figure]:
    """How many of the prompts have the event that was asked for. `days`: of the streams."""
    right_days = 0
    widths = []
    for event, prompt in zip(happened, prompts, strict=True):
        people = re.findall(r"\{(\w+)\}", event.says)
        sentence = with_names(event.says, {name: name.title() for name in people})
        day = days[event.stream]
        right_days += (day, sentence) in _DAY_ROW.findall(prompt)
        width = _width(prompt, sentence, day, event.at)
        if width is None:
            print(f"not in the prompt: {event.asks}", file=sys.stderr)
        else:
            widths.append(width)
    widths.sort()
    return [
        Figure(f"remember when: right day of {len(happened)}", right_days, ""),
        Figure(
            f"remember when: right day and minute of {len(happened)}",
            len(widths),
            "",
            20,
            at_least=True,
        ),
        Figure(
            "remember when: span of minutes, median",
            widths[len(widths) // 2] if widths else 0,
            "min",
        ),
    ]


def _width(
    prompt: str,
    sentence: str,
    day: str,
    at: int,
) -> int | None:
    """How many minutes the span has that the prompt gives for an event; None if it has none, or a wrong one."""
    for row in _ROW.finditer(prompt):
        first = _minutes(row["first"])
        last = _minutes(row["last"] or row["first"])
        # what is said of something in chat comes a little after it
        is_right = row["day"] == day and first - 1 <= at // MINUTE <= last
        if is_right and sentence in row["text"] and last - first <= WIDEST:
            return last - first
    return None


def _minutes(clock: str) -> int:
    """Return the minutes of "1:05", hours and minutes since a stream began."""
    hours, minutes = map(int, clock.split(":"))
    return 60 * hours + minutes
