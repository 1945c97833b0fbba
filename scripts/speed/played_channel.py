"""What a channel's memory is worth in a group: five evenings of forty people are played, then it is asked.

Everything is the bot's own but Twitch and the model, whose part is read from the script: a capable one that writes
down every true fact of a window, names the note that a new fact replaces, and answers from the notes of its prompt, the
newest word of the person first. What is wrong in an answer is therefore the memory's fault. docs/EVALUATION.md says
what the figures mean.
"""

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.durations import DAY, SECOND
from forgetmenot.settings.load import convert
from forgetmenot.store import personal_data
from speed.figures import Figure
from tests.stage import RecordingAccount, live_bot, said

SEED = 5
BEGAN = 1_790_000_000_000
PEOPLE = 40
STREAMS = 5
LINES = 360
NICKNAME = "max"
# Types !forgetme after the third evening, and does not come back.
ERASED = "viewerff"
_SLOTS = """
home | i live in {} | lives in {} | where does {} live? | Oslo Bergen Utrecht Porto Lima Kyoto Gent
pet | i have a {} at home | has a {} at home | which pet does {} have? | ferret parrot tortoise gecko hamster
music | i play the {} | plays the {} | what instrument does {} play? | cello banjo oboe tuba harp flute viola
work | i work as a {} | works as a {} | what does {} work as? | baker welder tailor pilot gardener
drink | i drink {} every day | drinks {} every day | what does {} drink? | mate cocoa espresso matcha cider
sport | i do {} twice a week | does {} twice a week | which sport does {} do? | judo fencing rowing archery karate
"""
# By name: what is said, the fact, the question, and the values.
SLOTS: dict[str, list[str]] = {}
for _row in _SLOTS.strip().splitlines():
    _slot, *_texts = (part.strip() for part in _row.split("|"))
    SLOTS[_slot] = _texts
CHATTER = (
    "lol", "gg", "that jump was so close", "one more try", "KEKW", "i am literally a toaster", "chat is this real",
)  # fmt: skip
_ROW = re.compile(
    r"^(?:(?P<who>\w+): )?\[id:(?P<id>\d+)(?P<known>[^\]]*)\] (?P<fact>.+)$",
    re.MULTILINE,
)
_AGE = re.compile(r"(\d+) days? ago")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_VALUE = r"(\w+)"
_SPOKEN = re.compile(r"^(P\d+)(?: \(to the bot\))?: (.+)$", re.MULTILINE)


def _said_last(known: str) -> tuple[int, str]:
    """When a note was said, as its label has it, to be compared: its age in the last two weeks, else its date."""
    age = _AGE.search(known)
    if age:
        return -int(age[1]), ""
    dates = _DATE.findall(known)
    return (-1_000, dates[-1]) if dates else (0, "")


def names() -> list[str]:
    """Forty people; the first two go by NICKNAME."""
    return [
        "maxine",
        "maxwell",
        *(f"viewer{chr(97 + n // 6)}{chr(97 + n % 6)}" for n in range(PEOPLE - 2)),
    ]


@dataclass(frozen=True, slots=True)
class Statement:
    """A line with a fact. `about`: whom it is about, where that is not the speaker."""

    speaker: str
    slot: str
    value: str
    about: str = ""

    @property
    def line(self) -> str:
        """The line of chat."""
        spoken, fact, _, _ = SLOTS[self.slot]
        return (
            f"@{self.about} {fact.format(self.value)}"
            if self.about
            else spoken.format(self.value)
        )


@dataclass
class Script:
    """What is said when (`evenings`), and what is true of whom in the end."""

    evenings: list[list[Statement]] = field(
        default_factory=lambda: [[] for _ in range(STREAMS)]
    )
    true: dict[tuple[str, str], str] = field(default_factory=dict)
    changed: set[tuple[str, str]] = field(default_factory=set)
    hearsay: dict[tuple[str, str], str] = field(default_factory=dict)
    lied: dict[tuple[str, str], str] = field(default_factory=dict)


def written() -> Script:
    """The script, the same in every run."""
    dice = random.Random(SEED)  # noqa: S311  # no secret
    script = Script()
    people = names()

    def otherwise(login: str, slot: str) -> str:
        """Return a value that is not what is true of somebody."""
        values = SLOTS[slot][3].split()
        true_value = script.true.get((login, slot))
        return dice.choice([value for value in values if value != true_value])

    for login in people:
        for slot in dice.sample(list(SLOTS), 4):
            value = script.true[login, slot] = otherwise(login, slot)
            script.evenings[dice.randrange(STREAMS - 2)].append(
                Statement(login, slot, value)
            )
    known_keys = sorted(key for key in script.true if key[0] != ERASED)
    people.remove(ERASED)
    for login, slot in dice.sample(known_keys, 24):  # later it is otherwise
        value = script.true[login, slot] = otherwise(login, slot)
        script.changed.add((login, slot))
        script.evenings[STREAMS - 2].append(Statement(login, slot, value))
    all_keys = itertools.product(people, SLOTS)
    untold = [key for key in all_keys if key not in script.true]
    # another says it of them: what nobody else said, and what is not true
    for heard, keys in ((script.hearsay, untold), (script.lied, known_keys)):
        for login, slot in dice.sample(keys, 12):
            value = heard[login, slot] = otherwise(login, slot)
            by = dice.choice([speaker for speaker in people if speaker != login])
            script.evenings[STREAMS - 1].append(Statement(by, slot, value, login))
    return script


class ScriptedModel:
    """A LanguageModel: the capable one of the module's words."""

    name = "scripted"

    def __init__(self) -> None:
        self.calls = Counter[Purpose]()
        # tokens of all prompts by purpose: four characters each
        self.read = Counter[Purpose]()
        # the prompt of each reply
        self.replies = list[str]()

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer a call of any purpose."""
        self.calls[request.purpose] += 1
        self.read[request.purpose] += len(request.system + request.prompt) // 4
        if request.purpose is Purpose.REPLY:
            self.replies.append(request.system + request.prompt)
        answers = {
            Purpose.SUMMARY: _summary,
            Purpose.EXTRACT: _notes,
            Purpose.REPLY: _reply,
            Purpose.BRIEF: _briefs,
        }
        no_news = {"summary": "Chat cheered."}
        answer = (
            answers[request.purpose](request.prompt)
            if request.purpose in answers
            else no_news
        )
        return ModelAnswer(
            json.dumps(answer), self.name, TokenUsage(1_000, 0, 50, 0), latency_ms=1
        )

    async def aclose(self) -> None:
        """Nothing to close."""


def _summary(prompt: str) -> object:
    """Summarise a window: each line with a fact becomes a sentence, as hearsay if it is about another."""
    sentences = list[str]()
    for handle, text in _SPOKEN.findall(prompt):
        for spoken, fact, _, _ in SLOTS.values():
            own = re.fullmatch(spoken.format(_VALUE), text)
            other = re.fullmatch(rf"@?(P\d+) {fact.format(_VALUE)}", text)
            if own:
                sentences.append(f"{handle} {fact.format(own[1])}.")
            elif other:
                sentences.append(
                    f"{handle} says that {other[1]} {fact.format(other[2])}."
                )
    return {"summary": " ".join(dict.fromkeys(sentences)) or "Chat cheered."}


def _notes(prompt: str) -> object:
    """Write a note of each sentence with a fact; one of the speaker's own replaces what is known of it."""
    episode = prompt.partition("<episode>")[2].partition("</episode>")[0]
    known = re.findall(r"^\[(\d+)\] (P\d+): (.+)$", prompt, re.MULTILINE)
    notes = list[dict[str, object]]()
    for sentence in re.findall(r"[^.]+", episode):
        match = re.fullmatch(r"\s*(P\d+) (?:says that (P\d+) )?(.+?)\s*", sentence)
        if not match:
            continue
        slot = _slot_of(match[3])
        if slot is None:
            continue
        speaker = match[1]
        about = match[2] or match[1]
        fact = match[3]
        same = [
            int(note_id)
            for note_id, handle, stored_fact in known
            if handle == about
            and re.fullmatch(SLOTS[slot][1].format(r"\w+"), stored_fact)
        ]
        note: dict[str, object] = {"who": about, "fact": fact, "lifetime": "permanent"}
        if about != speaker:
            note["said_by"] = speaker
        elif same:
            note["replaces"] = same[0]
        notes.append(note)
    return {"notes": notes}


def _slot_of(fact: str) -> str | None:
    """Return the slot that a fact fills; None for any other fact."""
    for slot, (_, pattern, _, _) in SLOTS.items():
        if re.fullmatch(pattern.format(r"\w+"), fact):
            return slot
    return None


def _briefs(prompt: str) -> object:
    """Whatever stands in a person's part of the prompt, in one sentence."""
    texts = dict[str, str]()
    for handle, fact in re.findall(r"(P\d+) (.+?)\.$", prompt, re.MULTILINE):
        texts.setdefault(handle, f"{handle} {fact}.")
    return {
        "briefs": [{"person": handle, "text": text} for handle, text in texts.items()]
    }


def _reply(prompt: str) -> object:
    """Answer a question about a slot from the rows of the prompt; what is hearsay is called so."""
    message = prompt.rpartition("<message>")[2]
    speaker = re.match(r"\s*(\w+):", message)
    others_block = _block(prompt, "others")
    for _, fact, question, _ in SLOTS.values():
        asked_about = re.search(
            question.replace("?", r"\?").replace("does", "do(?:es)?").format(_VALUE),
            message,
        )
        if not asked_about or not speaker:
            continue
        name = asked_about[1]
        if name == NICKNAME:
            return _answer(
                f"{_people_called(name, others_block)} people are called so."
            )
        rows = list(_ROW.finditer(_block(prompt, "lore")))
        if name != "i":
            rows = [
                row
                for row in _ROW.finditer(others_block)
                if (row["who"] or "").casefold() == name
            ]
        answers = _possible_answers(rows, fact)
        if answers:
            is_sure, _, value, note_id = max(answers)
            return _answer(value if is_sure else f"So I hear: {value}", note_id)
    return _answer("Nobody told me that.")


def _block(prompt: str, tag: str) -> str:
    """Return what stands between the tags of a prompt's section."""
    return prompt.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def _answer(text: str, *note_ids: int) -> object:
    """Return a reply that does nothing but speak."""
    return {"action": None, "notes": list(note_ids), "say": text}


def _people_called(nickname: str, block: str) -> int:
    """Return how many people of a section have a name that begins so."""
    people = {row["who"] or "" for row in _ROW.finditer(block)}
    return sum(name.lower().startswith(nickname) for name in people)


def _possible_answers(
    rows: list[re.Match[str]], fact: str
) -> list[tuple[bool, tuple[int, str], str, int]]:
    """Return what the rows of a slot answer, with their note's number: the best is the greatest.

    First-hand is better than hearsay, and of two the later.
    """
    answers = []
    for row in rows:
        value = re.fullmatch(fact.format(_VALUE), row["fact"])
        if value:
            is_sure = "others" not in row["known"]
            answers.append(
                (is_sure, _said_last(row["known"]), value[1], int(row["id"]))
            )
    return answers


@dataclass
class Channel:
    """The bot, and who talks to it."""

    bot: Bot
    clock: ManualClock
    ears: RecordingAccount
    lines: int = 0

    async def say(self, login: str, text: str, seconds: int = 20) -> None:
        """Somebody says something."""
        await self.clock.advance(seconds * SECOND)
        self.lines += 1
        await self.bot.hear(
            said(
                self.clock,
                f"line{self.lines}",
                f"10{names().index(login)}",
                login,
                text,
            )
        )

    async def answer(self, login: str, text: str) -> str:
        """What the bot answers to a question."""
        before = len(self.ears.said)
        await self.say(login, f"@ForgetMeNot {text}", 60)
        await self.bot.settle()
        return " ".join(self.ears.said[before:])


async def measure(folder: Path) -> list[Figure]:
    """Play the evenings, let the raw chat go, and ask."""
    script = written()
    clock = ManualClock(BEGAN)
    model = ScriptedModel()
    settings = convert(
        {"bot": {"mode": "mentions", "notice": ""}, "twitch": {"channel": "streamer"}},
        "the bench",
    )

    async with live_bot(folder / "played.sqlite3", clock, lambda: settings, model) as (
        bot,
        ears,
    ):
        channel = Channel(bot, clock, ears)
        for number, evening in enumerate(script.evenings):
            await _evening(channel, evening, number)
            if number == STREAMS - 3:
                await channel.answer(ERASED, "hello")
                await channel.say(ERASED, "!forgetme confirm")
                await bot.settle()
            await clock.advance(3 * DAY)
            await bot.tasks.catch_up()
        await bot.remember_all()
        await clock.advance(2 * DAY)
        await bot.tasks.catch_up()
        raw = await bot.db.value("SELECT count(*) FROM events WHERE text <> ''")
        calls = sum(model.calls.values())
        figures = await _right_answers(channel, script)
        is_erased = not await personal_data.is_known(
            bot.db, f"10{names().index(ERASED)}"
        )
    return [
        *figures,
        Figure("memory: raw lines left when it is asked", raw, "", 0),
        Figure(
            "memory: the erased person is unknown",
            float(is_erased),
            "",
            1,
            at_least=True,
        ),
        Figure("memory: calls of the model for five evenings", calls, "calls"),
        Figure("memory: tokens read to write it", _read_to_write(model), "a line", 18),
        Figure("memory: tokens of a question about it", _of_reply(model), "", 1_100),
        Figure(
            "memory: of them as in the reply before",
            _reused(model),
            "",
            0.5,
            at_least=True,
        ),
    ]


def _of_reply(model: ScriptedModel) -> float:
    """Tokens that a reply reads, without the schema of its answer."""
    return sum(map(len, model.replies)) / 4 / len(model.replies)


def _is_pair(letters: tuple[str, str]) -> bool:
    return letters[0] == letters[1]


def _reused(model: ScriptedModel) -> float:
    """The share of a reply's text that the reply before began with: a server has read that already."""
    shared = 0
    for before, now in itertools.pairwise(model.replies):
        same = itertools.takewhile(_is_pair, zip(before, now, strict=False))
        shared += sum(1 for _ in same)
    return shared / sum(map(len, model.replies[1:]))


def _read_to_write(model: ScriptedModel) -> float:
    """Tokens that the calls which write memory read for one line of chat."""
    tokens = sum(model.read.values()) - model.read[Purpose.REPLY]
    return tokens / (STREAMS * LINES)


async def _evening(channel: Channel, evening: list[Statement], number: int) -> None:
    """Play one stream: its statements among other chat, then what the bot does after it."""
    dice = random.Random(f"{SEED}:{number}")  # noqa: S311  # no secret
    present = [login for login in names() if login != ERASED or number < STREAMS - 2]
    lines = [(dice.choice(present), dice.choice(CHATTER)) for _ in range(LINES)]
    for statement in evening:
        lines.insert(dice.randrange(len(lines)), (statement.speaker, statement.line))
    for login, text in lines:
        await channel.say(login, text, dice.randrange(5, 20))
        if channel.lines % 100 == 0:
            await channel.bot.settle()
            await channel.bot.tasks.catch_up()
    await channel.bot.settle()
    await channel.bot.remember_all()


def _questions(script: Script) -> Iterator[tuple[str, str, str, str]]:
    """The kind of question, whom it is about, the slot, and what is right; empty for what nobody knows."""
    for login, slot in itertools.product(names(), SLOTS):
        key = login, slot
        if login == ERASED:
            yield ("erased" if key in script.true else "never said"), login, slot, ""
        elif key in script.true:
            yield (
                ("changed" if key in script.changed else "told"),
                login,
                slot,
                script.true[key],
            )
        else:
            yield (
                ("hearsay" if key in script.hearsay else "never said"),
                login,
                slot,
                script.hearsay.get(key, ""),
            )


async def _right_answers(channel: Channel, script: Script) -> list[Figure]:
    """Ask the bot about everybody and everything; return the share of right answers by kind of question."""
    right = Counter[str]()
    questions_by_kind = Counter[str]()
    dice = random.Random(SEED)  # noqa: S311  # no secret
    for kind, login, slot, value in _questions(script):
        askers = [asker for asker in names() if asker not in {login, ERASED}]
        answer = await channel.answer(dice.choice(askers), SLOTS[slot][2].format(login))
        good = (
            value in answer.split() or f"{value}." in answer
            if value
            else "Nobody told me" in answer
        )
        good = good and ("hear" in answer) == (kind == "hearsay")
        kinds = [kind, *(["lied about"] if (login, slot) in script.lied else [])]
        questions_by_kind.update(kinds)
        right.update(kinds if good else [])
        if kind == "told" and dice.random() < 0.3:
            own = await channel.answer(
                login, SLOTS[slot][2].format("i").replace("does i", "do i")
            )
            questions_by_kind["of oneself"] += 1
            right["of oneself"] += value in own
    least = {
        "told": 0.9,
        "changed": 0.9,
        "of oneself": 0.9,
        "lied about": 0.9,
        "hearsay": 0.8,
    }
    for slot in SLOTS:
        questions_by_kind["one nickname, two people"] += 1
        answer = await channel.answer("viewerab", SLOTS[slot][2].format(NICKNAME))
        right["one nickname, two people"] += not answer.startswith("1 ")
    return [
        Figure(
            f"memory: right of {of} questions, {kind}",
            right[kind] / of,
            "",
            least.get(kind, 1.0),
            at_least=True,
        )
        for kind, of in questions_by_kind.items()
    ]
