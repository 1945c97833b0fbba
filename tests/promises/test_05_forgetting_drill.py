"""Promise 5, as an exercise: every copy that a person's facts can have is made, the person erased, and looked for.

What is hers has `quux` in it: her names, and the words of her facts; whatever it stands in afterwards is a leak.
"""

import asyncio
import contextlib
import gc
import itertools
import json
import re
import sys
import types
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from msgspec.structs import replace

from forgetmenot import logs
from forgetmenot.app.bot import Bot
from forgetmenot.app.control import ConnectionStatus
from forgetmenot.app.live import serve_dock
from forgetmenot.chat.command_rate_limit import CommandRateLimiter
from forgetmenot.clock import ManualClock
from forgetmenot.dock.security import TOKEN_HEADER
from forgetmenot.domain import ChannelState, ModelRequest, Purpose, Redaction
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.files import incoming_folder
from forgetmenot.memory import backups
from forgetmenot.memory.learning import Learner
from forgetmenot.memory.recap_markdown import write_file
from forgetmenot.memory.transfer import export_notes, import_notes
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import convert
from forgetmenot.settings.schema import RecapSettings
from forgetmenot.store import note_words
from forgetmenot.store.note_keys import key_of
from forgetmenot.text.words import stem
from tests.notes_world import Scripted
from tests.ports import unused_port
from tests.stage import RecordingAccount, answering, live_bot, said, until

ALICE = "771234501"
BOB = "771234502"
STREAMER = "771234503"
MODERATOR = "moderator"
MARKS = ("quux", ALICE)
NUMBERS = itertools.count(1)
# As numbers, which no search for bytes finds: those of her words in the index of all notes.
HER_WORDS = [
    key_of(stem(word))
    for word in ("zitherquux", "bagpipequux", "vanquux", "dragonquux")
]
_STATEMENT = re.compile(r"^(P\d+)(?: \(to the bot\))?: i (\w+) (.+)$", re.MULTILINE)


class Capable(Scripted):
    """Writes down whatever is said and says all it knows."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self.reply = self._answer
        self.target = target

    def _answer(self, request: ModelRequest) -> str:
        prompt = request.prompt
        if request.purpose is Purpose.REPLY:
            if "time me out" in prompt.rpartition("<message")[2]:
                return answering(
                    "Off you go!", "timeout", target=self.target, seconds="60"
                )
            known = sorted(set(re.findall(r"\w+quux", f"{request.system} {prompt}")))
            # the same words twice in a row would not be sent
            return answering(
                f"What I know, the {len(self.asked)}th time: {', '.join(known) or 'nothing'}."
            )
        if request.purpose is Purpose.EXTRACT:
            statements = re.findall(r"(P\d+) (\w+s [^.]+)\.", prompt)
            notes = [
                {"who": handle, "fact": fact, "lifetime": "permanent"}
                for handle, fact in statements
            ]
            return json.dumps({"notes": notes})
        if request.purpose is Purpose.BRIEF:
            fact = re.search(r"(\w+s (?:the )?\w+quux)", prompt)
            return json.dumps(
                {"briefs": [{"person": "P1", "text": f"P1 {fact[1]}."}] if fact else []}
            )
        if request.purpose is Purpose.SUMMARY:
            sentences = [
                f"{handle} {verb}s {thing}."
                for handle, verb, thing in _STATEMENT.findall(prompt)
            ]
            return json.dumps({"summary": " ".join(sentences) or "P1 was there."})
        return json.dumps(
            {
                "summary": " ".join(
                    dict.fromkeys(re.findall(r"P\d+ \w+s [^.]+\.", prompt))
                )
            }
        )


@dataclass
class Running:
    """A bot with its dock open."""

    bot: Bot
    clock: ManualClock
    model: Capable
    account: RecordingAccount
    address: str
    login: str
    former: str

    async def say(
        self, text: str, viewer_id: str = ALICE, login: str = "", *badges: str
    ) -> None:
        """Somebody says something (`login`: hers where it is left out); it is heard, not yet answered."""
        await self.clock.advance(20 * SECOND)
        line = said(
            self.clock,
            f"e{next(NUMBERS)}",
            viewer_id,
            login or self.login,
            text,
            *badges,
        )
        await self.bot.hear(line)

    async def ask(
        self, text: str, viewer_id: str = BOB, login: str = "bob", *badges: str
    ) -> str:
        """Somebody says something; what the bot answers to it, if anything."""
        before = len(self.account.said)
        await self.say(text, viewer_id, login, *badges)
        await self.bot.settle()
        return " ".join(self.account.said[before:])

    async def seen_in_the_dock(self) -> str:
        """Everything that the dock's page can be shown."""
        origin, _, token = self.address.partition("/?token=")
        lists = (
            "now",
            "approvals",
            "settings",
            "people",
            "notes",
            "streams",
            "left_alone",
            f"person/{ALICE}",
        )
        headers = {TOKEN_HEADER: token, "Origin": origin}
        texts = list[str]()
        async with aiohttp.ClientSession(headers=headers) as client:
            paths = [f"/api/{name}" for name in lists]
            for n in range(1, 12):
                paths += [f"/api/note/{n}", f"/api/why/{n}", f"/api/stream/{n}"]
                paths.append(f"/api/note/{n}?chain=1")
            paths += [f"/api/{kind}?q=quux" for kind in ("people", "notes")]
            for path in paths:
                async with client.get(origin + path) as answer:
                    texts.append(await answer.text())
            async with client.get(f"{origin}/api/events") as stream:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.3):
                        async for line in stream.content:
                            texts.append(line.decode())
        return "\n".join(texts)


SETTINGS = convert(
    {
        "twitch": {"channel": "streamer"},
        "bot": {"mode": "mentions", "notice": ""},
        "actions": {"class_b": "ask", "newcomer_protection": False},
        "memory": {"window_min_events": 3, "window_max_events": 6},
        "people": {"newcomer_streams": 1, "regular_streams": 1},
        "dock": {"port": unused_port()},
    },
    "the drill",
)


@contextlib.asynccontextmanager
async def opened(
    path: Path,
    clock: ManualClock,
    login: str = "alicequux",
    former: str = "aliceoldquux",
) -> AsyncIterator[Running]:
    """A bot on that memory, with a model, an account, a log file and a dock."""
    model = Capable(login)
    settings = LiveSettings(SETTINGS)
    logs.set_up(level="debug", folder=logs.beside(path), console=False)
    async with (
        live_bot(path, clock, settings, model) as (bot, account),
        serve_dock(bot, settings, ConnectionStatus(), lambda _line: None) as address,
    ):
        yield Running(bot, clock, model, account, address, login, former)


def marked(*texts: str) -> list[str]:
    """Each mark with what stands around it."""
    mark = re.compile(f".{{0,60}}(?:{'|'.join(MARKS)}).{{0,30}}", re.IGNORECASE)
    hits = list[str]()
    for text in texts:
        hits += mark.findall(text)
    return hits


def marks_in(folder: Path) -> list[tuple[str, str]]:
    """Which marks are in which files."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    hits = list[tuple[str, str]]()
    for file in files:
        content = file.read_bytes().lower()
        hits += [(mark, file.name) for mark in MARKS if mark.encode() in content]
    return hits


# Code, what plays Twitch and the model, and who typed a command lately: an id and times, and no flood by erasing.
CODE = (type, types.ModuleType, types.FunctionType, types.FrameType)
NOT_LOOKED_AT = (*CODE, Capable, RecordingAccount, CommandRateLimiter)


def marks_held(*roots: object) -> list[str]:
    """Texts with a mark that are reachable in this process from those objects, and how."""
    seen_ids = set[int]()
    pending = [(root, "") for root in roots]
    texts = list[str]()
    while pending:
        value, way = pending.pop()
        if id(value) in seen_ids or isinstance(value, NOT_LOOKED_AT):
            continue
        seen_ids.add(id(value))
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, str):
            if marked(value):
                texts.append(f"{way}: {value[:200]}")
        else:
            way_on = f"{way} {type(value).__name__}"
            pending += [(referent, way_on) for referent in gc.get_referents(value)]
    return texts


def caches() -> Iterator[object]:
    """What the modules of the program keep for themselves."""
    for name, module in list(sys.modules.items()):
        if name.startswith("forgetmenot"):
            yield from (
                value for key, value in vars(module).items() if not key.startswith("__")
            )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("login", "former"), [("alicequux", "aliceoldquux"), ("drums", "friday")]
)
async def test_forgetting_drill(
    tmp_path: Path, clock: ManualClock, login: str, former: str
) -> None:
    """A name that is a word leaves as well, and nobody else's words do."""
    path = tmp_path / "memory" / "memory.sqlite3"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path.parent.mkdir()
    past = elsewhere / "chat.log"
    async with opened(path, clock, login, former) as running:
        bot = running.bot
        model = running.model
        await _leave_traces(running, past)
        others_notes = await _others_notes(bot)
        assert len(others_notes) > 2
        # what lies elsewhere by then: an export and a copy of the memory
        exported = [json.dumps(line) async for line in export_notes(bot.db)]
        await backups.make(bot.db, at=clock.now(), keep=5)
        await backups.copy_to(bot.db, elsewhere / "copy.sqlite3")

        dock_text = await running.seen_in_the_dock()
        assert await _tables_with_marks(bot) >= TABLES
        assert await note_words.notes_by_word(bot.db, HER_WORDS)
        assert "quux" in dock_text
        assert "quux" in await running.ask(f"@ForgetMeNot what does {login} play?")
        assert marks_held(bot, *caches())

        # a reply and a summary are under way when she asks, and lines wait for the model
        model.gate = asyncio.Event()
        calls_before = len(model.asked)
        await running.say("i mend the oboequux")
        await running.say("@ForgetMeNot what do i play?")
        passing = asyncio.create_task(bot.remember_all())
        await until(lambda: len(model.asked) == calls_before + 2)
        await running.say("!forgetme confirm")
        await asyncio.sleep(0.05)
        model.gate.set()
        await passing
        await bot.settle()
        await clock.advance(3 * MINUTE)
        await bot.tasks.catch_up()
        await bot.settle()

        await _is_gone(running, path)
        assert await _others_notes(bot) == others_notes
        # the file that was half read is read to its end, and the export comes back
        await Learner(
            db=bot.db, model=bot.models.memory, settings=bot.settings, clock=clock
        ).learn([past])
        await import_notes(bot.db, exported, now=clock.now())
        await bot.tasks.catch_up()
        await _is_gone(running, path)
    async with opened(path, clock, login, former) as again:
        await _is_gone(again, path)
    await backups.restore(elsewhere / "copy.sqlite3", path, now=clock.now(), keep=5)
    async with opened(path, clock, login, former) as restored:
        await restored.bot.tasks.catch_up()
        await _is_gone(restored, path)
        assert others_notes <= await _others_notes(restored.bot)


async def _others_notes(bot: Bot) -> set[str]:
    """What is known of bob, but for what names her."""
    facts = await bot.db.column(
        "SELECT fact FROM semantic_notes WHERE subject_id = ?", (BOB,)
    )
    return {fact for fact in facts if not marked(fact) and "somebody" not in fact}


async def test_a_restore_takes_back_nothing_that_was_decided(
    tmp_path: Path, clock: ManualClock
) -> None:
    """The copy is from before: a topic of hers and one of the channel, an opt-out, a ban."""
    path = tmp_path / "memory" / "memory.sqlite3"
    copy = tmp_path / "elsewhere" / "copy.sqlite3"
    path.parent.mkdir()
    carol = ("771234504", "carolquux")
    dave = ("771234505", "davequux")
    async with opened(path, clock) as running:
        bot = running.bot
        await bot.channel_is(ChannelState(True, "Racing", "Racing", clock.now()))
        for text in ("i play the zitherquux", "i paint the dragonquux", "hello"):
            await running.say(text)
        for person, thing in ((carol, "celloquux"), (dave, "drumquux")):
            await running.say(f"i play the {thing}", *person)
            await running.say("hello", *person)
        await bot.remember_all()
        await running.ask(
            "!remember channel has won the cupquux", STREAMER, "streamer", MODERATOR
        )
        known = await running.ask(
            "@ForgetMeNot what do alicequux, carolquux and davequux play?"
        )
        assert "zitherquux" in known
        await backups.copy_to(bot.db, copy)
        await running.ask("!nevermention my zitherquux", ALICE, "alicequux")
        await running.ask(
            "!nevermention channel the cupquux", STREAMER, "streamer", MODERATOR
        )
        await running.ask("!optout", *carol)
        await bot.hear(Redaction(clock.now(), user_id=dave[0]))
        await bot.settle()
    await backups.restore(copy, path, now=clock.now(), keep=5)
    async with opened(path, clock) as restored:
        await restored.bot.tasks.catch_up()
        for name in ("alicequux", "carolquux", "davequux", "the channel"):
            answer = await restored.ask(
                f"@ForgetMeNot what do you know of {name}, the cup and music?"
            )
            hidden = ("zitherquux", "celloquux", "drumquux", "cupquux")
            assert [word for word in hidden if word in answer] == []
        answer = await restored.ask("@ForgetMeNot what does alicequux paint?")
        assert "dragonquux" in answer, "all else is there again"


TABLES = {
    "viewers",
    "viewer_names",
    "events",
    "episodes",
    "streams",
    "semantic_notes",
    "never_mention",
    "briefs",
}
TABLES |= {"bot_messages", "action_logs", "channel_state"}


async def _tables_with_marks(bot: Bot) -> set[str]:
    tables = set[str]()
    for table in await bot.db.column(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
    ):
        rows = await bot.db.rows(f"SELECT * FROM {table}")  # noqa: S608  # the schema's
        tables |= {table for row in rows if marked(str(tuple(row)))}
    return tables


async def _leave_traces(running: Running, past: Path) -> None:
    """Everything that may hold what is hers."""
    bot = running.bot
    clock = running.clock
    await bot.channel_is(
        ChannelState(
            live=True, title="Racing", category="Racing", started_at=clock.now()
        )
    )
    for text in ("i play the zitherquux", "i fix the bagpipequux", "hello"):
        await running.say(text, login=running.former)
    for text in ("i drive the vanquux", "i paint the dragonquux", "hello again"):
        await running.say(text)
    await running.say(
        f"i like @{running.login} and {running.former.title()}", BOB, "bob"
    )
    for text in ("i play the drums", "i sing on friday"):
        await running.say(text, BOB, "bob")
    await running.ask("!remember I like drums on friday", BOB, "bob")
    for typed in (
        "!remember I collect stampquux",
        "!nevermention my exquux",
        "!alias add Quuxie",
        "!callme Robinquux (say: rob-in-quux)",
        "!pronouns quux/them",
    ):
        await running.ask(typed, ALICE, running.login)
    await running.ask("@ForgetMeNot what do i play?", ALICE, running.login)
    await running.ask("@ForgetMeNot please time me out", ALICE, running.login)
    await running.ask(f"@ForgetMeNot what does {running.login} play?")
    await bot.remember_all()
    await running.ask("!forget stampquux", ALICE, running.login)
    await running.ask("!remember I no longer drive the vanquux", ALICE, running.login)
    await bot.channel_is(ChannelState(live=False, title="", category=""))
    await clock.advance(12 * HOUR)
    await bot.channel_is(ChannelState(live=False, title="", category=""))
    await running.say("i play the zitherquux still")
    await bot.memory_pass()
    await bot.memory_pass()
    logs.log.info("a viewer with a name", viewer=ALICE)
    assert marks_in(logs.beside(bot.db.path))
    # a recap lies in a folder of the streamer's, here beside the memory
    recaps = bot.db.path.parent / "recaps"
    recaps.mkdir()
    await write_file(
        bot.db, 1, replace(SETTINGS, recap=RecapSettings(folder=str(recaps)))
    )
    assert marks_in(recaps)
    # the chat of a past stream is half read
    began = clock.now() - 20 * DAY
    rows = list[str]()
    for number in range(24):
        login, key = ((running.login, ALICE), ("bob", BOB))[number % 2]
        tags = f"id=p{number};user-id={key};tmi-sent-ts={began + number * MINUTE}"
        thing = "drumquux" if number % 2 == 0 else "drum"
        rows.append(
            f"@{tags} :{login}!{login}@{login} PRIVMSG #streamer :i play the {thing} {number}\n"
        )
    past.write_text("".join(rows), encoding="utf-8")
    # and waits on the dock
    waiting = incoming_folder(bot.db.path) / "0"
    waiting.mkdir(parents=True)
    (waiting / "chat.log").write_text("".join(rows), encoding="utf-8")
    learner = Learner(
        db=bot.db, model=bot.models.memory, settings=bot.settings, clock=clock
    )
    await learner.learn([past], lambda _share: learner.stop())


async def _is_gone(running: Running, path: Path) -> None:
    """No byte of the folder, nothing that the program holds, no prompt and no page of the dock has her."""
    calls_before = len(running.model.asked)
    answer = await running.ask(
        "@ForgetMeNot what does alice play, and who is somebody?"
    )
    assert answer
    prompts = [
        f"{request.system} {request.prompt}"
        for request in running.model.asked[calls_before:]
    ]
    assert prompts
    assert marked(answer, *prompts) == []
    assert marks_in(path.parent) == []
    assert await note_words.notes_by_word(running.bot.db, HER_WORDS) == {}
    await running.bot.recall.prepare()  # as each second
    texts = marks_held(running.bot, *caches())
    assert texts == [], "\n".join(sorted(texts))
    assert marked(await running.seen_in_the_dock()) == []
