"""Whether what somebody said stands in the prompt when another asks in chat, minutes, days and months later.

Everything is the bot's own but Twitch and the model. The model's part is scripted: it writes down every true fact of a
window, and leaves the answer to whoever reads the prompt. Nothing hands in the person: who is meant is the bot's to
find. Right is a question whose prompt has the fact in a row with the name of whom it is about.

- Absent people: eight of two evenings, one fact each; a third viewer asks for them by @login, by login, by a short
  form of the name, and by "who plays the cello?".
- The raid: sixty raiders say one line each while twelve viewers say one fact each.
- Minutes ago: a fact, thirty lines of others, and then the question.
"""

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import (
    ChatEvent,
    EventKind,
    ModelAnswer,
    ModelRequest,
    Purpose,
    TokenUsage,
)
from forgetmenot.durations import DAY, HOUR, SECOND
from forgetmenot.settings.load import convert
from forgetmenot.store import notes
from speed.figures import Figure
from tests.stage import live_bot

BEGAN = 1_790_000_000_000
SEED = 5
LINES_AN_EVENING = 160
RAIDERS = 60
ASKED_AFTER_DAYS = (1, 7, 90)
# Least numbers of the eight that are found.
LEAST_FOUND = {"by @login": 8, "by login": 8, "by a short form": 6, "by who": 7}
CHATTERS = ("mirrin", "oskar_v", "tallulah", "zedrik", "pavlina", "corvin")
CHATTER = (
    "lol", "gg", "that jump was so close", "one more try", "KEKW", "is this the hard route", "chat is this real",
    "wait what was that", "nice save", "i would have died there", "music is great today",
)  # fmt: skip
_PEOPLE = """
Annika_VT | annika | i play the cello in a quartet | plays the cello in a quartet | who plays the cello?
Theodor77 | theo | i keep bees on my roof | keeps bees on the roof | who keeps bees?
xX_Sevrin_Xx | sevrin | i speak Finnish with my grandmother | speaks Finnish with a grandmother | who speaks Finnish?
Marlowe_GG | marlowe | i drive a tram for a living | drives a tram for a living | who drives a tram?
Joschka2001 | joschka | i have an iguana called Pickle | has an iguana called Pickle | who has an iguana?
itsFreya | freya | i won the pumpkin race last October | won a pumpkin race in October | who won a pumpkin race?
Quillon | quill | i paint miniature dragons | paints miniature dragons | who paints miniatures?
Benedikta_live | bene | i bake sourdough at four in the morning | bakes sourdough at night | who bakes sourdough?
"""
_RAIDED = """
my job is keeping a lighthouse | works as a lighthouse keeper
my typewriters from the fifties fill two rooms | collects old typewriters
fixing church organs pays my rent | restores organs of churches
got thirty bonsai now, all grown from seed | grows bonsai trees
people bring me broken accordions | repairs accordions
my sheepdogs passed their exam | trains sheepdogs
i go up frozen waterfalls in winter | climbs on ice
built my third wooden canoe this spring | builds canoes of wood
they asked me to judge at the cheese fair | judges cheese
old Icelandic is what i translate all day | translates sagas from Iceland
the theatre pays me for sewing | sews costumes for a theatre
vintage mopeds, that is what i race | races old mopeds
"""
HAMSTER = ("Alice", "my hamster is called Pixel", "has a hamster called Pixel")
_SPOKEN = re.compile(r"^(P\d+)(?: \(to the bot\))?: (.+)$", re.MULTILINE)
_SENTENCE = re.compile(r"(P\d+) ([^.]+)\.")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who says one thing of themselves, and how they are asked for."""

    name: str
    short_form: str
    line: str
    fact: str
    who_question: str

    @property
    def questions(self) -> dict[str, str]:
        """The questions of somebody else, by how they ask."""
        login = self.name.casefold()
        return {
            "by @login": f"what do you know about @{login}?",
            "by login": f"what do you know about {login}?",
            "by a short form": f"what do you know about {self.short_form}?",
            "by who": self.who_question,
        }


def people() -> list[Person]:
    """The eight of two evenings."""
    return [
        Person(*map(str.strip, row.split("|"))) for row in _PEOPLE.strip().splitlines()
    ]


def raided() -> list[Person]:
    """Those who say something of themselves while the raid comes."""
    spoken = []
    for number, row in enumerate(_RAIDED.strip().splitlines()):
        line, _, fact = row.partition(" | ")
        spoken.append(Person(f"Steady{chr(65 + number)}", "", line, fact, ""))
    return spoken


class TrueNotesModel:
    """A LanguageModel that writes down every fact of a window, and keeps the prompt of the last reply."""

    name = "true notes"

    def __init__(self, facts: dict[str, str]) -> None:
        self._facts = facts  # by the line that tells it
        self.reply_prompt = ""

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer a call of any purpose."""
        answer: dict[str, object] = {"summary": "Chat cheered."}
        if request.purpose is Purpose.SUMMARY:
            answer = {"summary": self._summary(request.prompt)}
        elif request.purpose is Purpose.EXTRACT:
            answer = {"notes": self._notes(request.prompt)}
        elif request.purpose is Purpose.BRIEF:
            answer = {"briefs": []}
        elif request.purpose is Purpose.REPLY:
            self.reply_prompt = request.prompt
            answer = {"action": None, "notes": [], "say": "Good question."}
        return ModelAnswer(
            json.dumps(answer), self.name, TokenUsage(1_000, 0, 50, 0), latency_ms=1
        )

    async def aclose(self) -> None:
        """Nothing to close."""

    def _summary(self, prompt: str) -> str:
        """Write the fact of each line that states one."""
        sentences = []
        for handle, text in _SPOKEN.findall(prompt):
            if text in self._facts:
                sentences.append(f"{handle} {self._facts[text]}.")
        return " ".join(sentences) or "Chat cheered."

    def _notes(self, prompt: str) -> list[dict[str, str]]:
        """Write a note of each fact in a summary."""
        episode = prompt.partition("<episode>")[2].partition("</episode>")[0]
        written = []
        for handle, fact in _SENTENCE.findall(episode):
            if fact in self._facts.values():
                by_them = {"who": handle, "said_by": handle}
                written.append({**by_them, "fact": fact, "lifetime": "permanent"})
        return written


class Channel:
    """A bot, and who talks in its chat."""

    def __init__(self, bot: Bot, clock: ManualClock, model: TrueNotesModel) -> None:
        self.bot = bot
        self.clock = clock
        self.model = model
        self._ids: dict[str, str] = {}
        self._lines = 0

    def id_of(self, name: str) -> str:
        """The Twitch id of somebody; a new one at their first line."""
        return self._ids.setdefault(name, str(1_000 + len(self._ids)))

    async def say(self, name: str, text: str, seconds: int = 8) -> None:
        """Somebody says something, some seconds after the line before."""
        await self.clock.advance(seconds * SECOND)
        self._lines += 1
        now = self.clock.now()
        viewer_id = self.id_of(name)
        await self.bot.hear(
            ChatEvent(
                f"line{self._lines}",
                EventKind.MESSAGE,
                viewer_id,
                name.casefold(),
                name,
                text,
                now,
            )
        )
        if self._lines % 50 == 0:
            await self.bot.settle()
            await self.bot.tasks.catch_up()

    async def chatter(self, lines: int, dice: random.Random) -> None:
        """The others talk."""
        for _ in range(lines):
            await self.say(
                dice.choice(CHATTERS), dice.choice(CHATTER), dice.randrange(3, 12)
            )

    async def prompt_for(self, name: str, question: str) -> str:
        """What the model is shown when somebody asks the bot."""
        self.model.reply_prompt = ""
        await self.say(name, f"@ForgetMeNot {question}", 60)
        await self.bot.settle()
        return self.model.reply_prompt

    async def shows(self, asker: str, question: str, name: str, fact: str) -> bool:
        """Whether the prompt of a question has a fact in a row with the name of whom it is about."""
        prompt = await self.prompt_for(asker, question)
        lore = prompt.partition("<lore>")[2].partition("</lore>")[0]
        if asker == name and fact in lore:
            return True
        return any(f"{name}: " in row and fact in row for row in prompt.splitlines())

    async def over(self, days: int) -> None:
        """The stream ends, and days go by."""
        await self.bot.settle()
        await self.bot.remember_all()
        for _ in range(days):
            await self.clock.advance(DAY)
            await self.bot.tasks.catch_up()


async def measure(folder: Path) -> list[Figure]:
    """Play each part in a channel of its own, and ask."""
    absent = {person.line: person.fact for person in people()}
    raid = {person.line: person.fact for person in raided()}
    hamster = {HAMSTER[1]: HAMSTER[2]}
    figures = []
    for name, facts, play in (
        ("absent", absent, _absent_people),
        ("raid", raid, _raid),
        ("hamster", hamster, _minutes_ago),
    ):
        settings = convert(
            {
                "bot": {"mode": "mentions", "notice": ""},
                "twitch": {"channel": "streamer"},
                "reply": {"gather_s": 0},
            },
            "the bench",
        )
        clock = ManualClock(BEGAN)
        model = TrueNotesModel(facts)
        async with live_bot(
            folder / f"{name}.sqlite3",
            clock,
            lambda: settings,  # noqa: B023
            model,
        ) as (bot, _):
            figures += await play(Channel(bot, clock, model))
    return figures


async def _absent_people(channel: Channel) -> list[Figure]:
    """Ask about people of two earlier evenings, in several ways and ever later."""
    dice = random.Random(SEED)  # noqa: S311  # no secret
    everybody = people()
    half = len(everybody) // 2
    for evening in (everybody[:half], everybody[half:]):
        for person in evening:
            await channel.chatter(LINES_AN_EVENING // half, dice)
            await channel.say(person.name, person.line)
        await channel.chatter(20, dice)
        await channel.over(days=1)
    figures = []
    days_gone = 1
    for days in ASKED_AFTER_DAYS:
        await channel.over(days=days - days_gone)
        days_gone = days
        for way, least in LEAST_FOUND.items():
            answered = 0
            for person in everybody:
                question = person.questions[way]
                answered += await channel.shows(
                    "Kimberlin", question, person.name, person.fact
                )
            figures.append(
                _of(f"absent people, {way}, after {_days(days)}", answered, 8, least)
            )
    return figures


async def _raid(channel: Channel) -> list[Figure]:
    """Count the facts of regulars that are kept although a raid talks all over them."""
    dice = random.Random(SEED)  # noqa: S311  # no secret
    lines = [
        (f"Raider{number}", f"{number} of us came from the raid")
        for number in range(RAIDERS)
    ]
    for person in raided():
        lines.insert(dice.randrange(len(lines)), (person.name, person.line))
    for name, text in lines:
        await channel.say(name, text, 1)
    await channel.over(days=1)
    stored = 0
    for person in raided():
        known = await notes.of_subject(channel.bot.db, channel.id_of(person.name))
        stored += person.fact in [note.fact for note in known]
    return [_of("facts kept that were said during a raid", stored, 12, 12)]


async def _minutes_ago(channel: Channel) -> list[Figure]:
    """Ask about what was said minutes ago, before it is summarised; then again, ever later."""
    dice = random.Random(SEED)  # noqa: S311  # no secret
    name, line, fact = HAMSTER
    await channel.chatter(60, dice)
    await channel.bot.remember_all()
    await channel.clock.advance(HOUR)
    await channel.say(name, line)
    await channel.chatter(30, dice)
    questions = {
        name: "what is my hamster called?",
        "Kimberlin": "what is alice's hamster called?",
    }
    shown_count = 0
    for asker, question in questions.items():
        shown_count += await channel.shows(asker, question, name, line)
    figures = [_of("said minutes ago: found at once", shown_count, 2, 2)]
    days_gone = 0
    for days in ASKED_AFTER_DAYS:
        await channel.over(days=days - days_gone)
        days_gone = days
        shown_count = 0
        for asker, question in questions.items():
            shown_count += await channel.shows(asker, question, name, fact)
        figures.append(
            _of(
                f"said minutes before a question: found after {_days(days)}",
                shown_count,
                2,
                2,
            )
        )
    return figures


def _days(days: int) -> str:
    return "a day" if days == 1 else f"{days} days"


def _of(name: str, value: int, whole: int, least: int) -> Figure:
    """Return a count out of so many, and the least that is good."""
    return Figure(f"memory: {name}", value, f"of {whole}", least, at_least=True)
