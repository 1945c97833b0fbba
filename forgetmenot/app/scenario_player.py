"""The bot of a scenario: a memory of its own, people who talk to it, a clock that the script moves.

Only Twitch is played; what a script puts into the model's mouth takes the model's place for one reply. An order
(`= NAME`) is the method `order_NAME`; what an expectation (`> NAME`) looks at is `seen_NAME`, or notes as FACTS has it.
"""

import asyncio
import shlex
import tomllib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from forgetmenot.app.bot import SWEEP, Bot, BotIdentity, NoAccount, open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.clock import DAY, HOUR, MINUTE, SECOND, ManualClock
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.domain.chat import ChannelState, ChatEvent, EventKind, Redaction, Role
from forgetmenot.domain.memory import EpisodeKind, Note, NoteStatus
from forgetmenot.domain.model import ModelAnswer, ModelRequest, TokenUsage
from forgetmenot.errors import InputError, ModelUnavailable
from forgetmenot.llm.build import Models, build_models
from forgetmenot.llm.guarded import CallQueue, GuardedModel, Limits
from forgetmenot.memory import backups
from forgetmenot.memory.notes import edits, note_merge
from forgetmenot.memory.notes.proposals import FactRefused
from forgetmenot.operations.wording import sentence
from forgetmenot.ports import CallMeter, LanguageModel
from forgetmenot.reply.explanation import ReplyExplanation, explain
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import convert
from forgetmenot.settings.schema import ModelSettings, Settings
from forgetmenot.store import action_logs, bot_messages, episodes, notes, run_stats, viewers
from forgetmenot.store.viewers import SeenViewer
from forgetmenot.text.mentions import show

BEGAN = 1_790_000_000_000
BETWEEN_LINES = 12 * SECOND
"""More than the cooldown of one viewer, so that a script need not wait for it."""
BADGES = {"streamer": frozenset({"broadcaster"}), "moderator": frozenset({"moderator"}), "vip": frozenset({"vip"})}
BOT_ID, BOT_LOGIN = "99", "forgetmenot_bot"
GAME = "Ladders of Ash"


# ── in the place of Twitch and of the model ─────────────────────────────────────────────────


def _recorder(name: str, shown: int = 0) -> Callable[..., Coroutine[Any, Any, Outcome]]:
    async def act(self: "RecordingAccount", *given: object) -> Outcome:
        self.done.append(" ".join([name, *(str(one).removeprefix("id-") for one in given[:shown])]))
        return self.answer

    return act


@dataclass
class RecordingAccount(NoAccount):
    """An account that remembers what it was asked to say and do. `answer`: what Twitch answers to an action."""

    said: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    answer: Outcome = field(default_factory=lambda: Outcome(OutcomeKind.DONE))
    immune: set[str] = field(default_factory=set)

    timeout, ban, shoutout = _recorder("timeout", 2), _recorder("ban", 1), _recorder("shoutout", 1)
    announce, delete_message = _recorder("announce", 1), _recorder("delete")
    create_marker, create_clip = _recorder("marker"), _recorder("clip")

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:  # noqa: ARG002  # the port's name
        """Said."""
        self.said.append(text)
        return Outcome(OutcomeKind.DONE, twitch_id=f"sent-{len(self.said)}")

    async def is_immune(self, user_id: str) -> bool:
        """The streamer, moderators and VIPs are."""
        return user_id in self.immune


@dataclass
class ScriptedModel:
    """A LanguageModel that says what a script tells it to, and else asks the model of the settings."""

    inner: LanguageModel
    answers: list[str] = field(default_factory=list)
    asked: list[ModelRequest] = field(default_factory=list)
    away: bool = False

    @property
    def name(self) -> str:
        """The inner model's."""
        return self.inner.name

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """The next of the script's answers, in the form a model answers in."""
        self.asked.append(request)
        if self.away:
            raise ModelUnavailable("The model is away.")
        if not self.answers:
            return await self.inner.generate(request)
        return ModelAnswer(_model_form(self.answers.pop(0)), self.name, TokenUsage())

    async def aclose(self) -> None:
        """Nothing but the inner model's."""
        await self.inner.aclose()


def _model_form(said: str) -> str:
    """`words [[timeout target=bob | other words]]` as a model answers it; what begins with `{` or `raw ` as it is."""
    if said.startswith(("{", "raw ")):
        return said.removeprefix("raw ")
    say, _, rest = said.partition("[[")
    call, _, otherwise = rest.removesuffix("]]").partition(" | ")
    name, *given = shlex.split(call)[:12] or [""]
    action = {"name": name, **dict(one.split("=", 1) for one in given)} if name else None
    return msgspec.json.encode({"action": action, "say": say.strip(), "if_refused": otherwise}).decode()


class NoMeter:
    """What the outer guard counts with: the inner one has counted the call."""

    async def record(self, *_call: object) -> None:
        """Nothing."""


# ── playing ─────────────────────────────────────────────────────────────────────────────────


class ScenarioPlayer:
    """One bot over one memory in `folder`, and the people who talk to it."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.path = folder / "memory.sqlite3"
        self.settings = settings
        self.account, self.clock = RecordingAccount(), ManualClock(BEGAN)
        self.model: ScriptedModel | None = None
        self.since = 0
        self.dock_said = ""
        self._last: dict[str, ChatEvent] = {}
        self._lines = 0
        self._stack = AsyncExitStack()
        self._bot: Bot | None = None

    @property
    def bot(self) -> Bot:
        """The running bot."""
        if self._bot is None:
            raise InputError("The bot of this scenario is not running.")
        return self._bot

    async def start(self, *, live: bool = True) -> None:
        """Open the memory and go live."""
        opened = open_bot(
            self.path,
            "eval",
            settings=lambda: self.settings,
            clock=self.clock,
            account=self.account,
            me=BotIdentity(BOT_ID, BOT_LOGIN),
            models=self._models,
        )
        self._bot = await self._stack.enter_async_context(opened)
        if live:
            await self._live(on=True)

    def _models(self, settings: ModelSettings, meter: CallMeter) -> Models:
        built = build_models(settings, meter)
        self.model = ScriptedModel(built.reply)
        limits = Limits(settings.reply_timeout_s, settings.memory_timeout_s, 0)
        guarded = GuardedModel(self.model, gate=CallQueue(1), meter=NoMeter(), limits=limits)
        return Models(guarded, built.memory)

    async def stop(self) -> None:
        """Close it."""
        await self._stack.aclose()
        self._stack, self._bot = AsyncExitStack(), None

    async def know(self, line: str) -> Note:
        """Write a note: `alice: lives in Oslo`, `channel: …`."""
        about, _, fact = line.partition(": ")
        at = self.clock.now() - DAY
        people = sorted({about, "streamer"} - {"channel"})
        async with self.bot.db.write() as tx:
            await viewers.record_seen(
                tx, [SeenViewer(f"id-{one}", one, one.title(), Role.VIEWER, at, at) for one in people]
            )
        subject = None if about == "channel" else f"id-{about}"
        try:
            return await edits.remember(self.bot.db, subject, fact, by="id-streamer", at=at)
        except FactRefused as refused:
            raise InputError(f"The note `{line}` is refused: {refused.rule}.") from refused

    async def hear(self, login: str, text: str) -> None:
        """Somebody says something; the bot answers, if it does, before this returns."""
        await self.clock.advance(BETWEEN_LINES)
        self._lines += 1
        badges = BADGES.get(login, frozenset())
        if badges:
            self.account.immune.add(f"id-{login}")
        self._last[login] = self._line(f"id-{login}", login, text, badges)
        await self.give(self._last[login])

    def _line(self, who: str, login: str, text: str, badges: frozenset[str] = frozenset()) -> ChatEvent:
        made = (f"line-{self._lines}", EventKind.MESSAGE, who, login, login.title(), text, self.clock.now())
        return ChatEvent(*made, badges=badges)

    async def give(self, item: ChatEvent | Redaction) -> None:
        """Give the bot one thing that Twitch tells of."""
        self.since = len(self.account.said)
        await self.bot.hear(item)
        await self.bot.settle()
        await self.bot.tasks.catch_up()

    async def pass_time(self, ms: int) -> None:
        """Let time pass in the steps in which a live bot would have worked."""
        until = self.clock.now() + ms
        for step in (35 * MINUTE, 35 * MINUTE, 12 * HOUR):
            if self.clock.now() + step < until:
                await self.clock.advance(step)
                await self.bot.tasks.catch_up()
        await self.clock.move_to(until)
        await self.bot.settle()
        await self.bot.tasks.catch_up()

    async def _live(self, *, on: bool) -> None:
        now = self.clock.now()
        await self.bot.channel_is(ChannelState(on, GAME, GAME, now if on else None, f"s{now}" if on else ""))

    # ── orders ──────────────────────────────────────────────────────────────────────────────

    async def order(self, line: str) -> None:
        """Do what a line beginning with `= ` says. Raises InputError."""
        name, _, rest = line.partition(" ")
        if name not in ORDERS:
            raise InputError(f"`= {line}`: there is no order `{name}`; there are {', '.join(ORDERS)}.")
        await getattr(self, f"order_{name}")(rest)

    async def seen(self, name: str, who: str) -> list[str]:
        """The texts that an expectation of this name (one of SEEN) looks at."""
        if name in FACTS:
            return await self._facts(who, *FACTS[name])
        texts: list[str] = await getattr(self, f"seen_{name}")(who)
        return texts

    async def order_says(self, text: str) -> None:
        """The model's next answer to a reply."""
        if self.model is not None:
            self.model.answers.append(text)

    async def order_model(self, on: str) -> None:
        """`model away`, `model back`."""
        if self.model is not None:
            self.model.away = on == "away"

    async def order_twitch(self, answer: str) -> None:
        """What Twitch answers to deeds from now on: done, refused, failed, unknown."""
        self.account.answer = Outcome(OutcomeKind(answer))

    async def order_maintenance(self, _rest: str = "") -> None:
        """Everything that memory does with what was said so far: summaries, notes, aging, briefs."""
        await self.bot.remember_all()
        for chore in (SWEEP, "notes", "memory"):
            await self.bot.tasks.do(chore)
        await self.bot.keeper.refresh()
        await self.bot.recall.prepare()

    async def order_clear(self, login: str) -> None:
        """A moderator deletes somebody's last line. What was read of its window is read again."""
        await self.give(Redaction(self.clock.now(), event_id=self._last[login].id))
        await self.order_maintenance()

    async def order_ban(self, login: str) -> None:
        """Twitch bans somebody."""
        await self.give(Redaction(self.clock.now(), user_id=f"id-{login}"))

    async def order_repeat(self, login: str) -> None:
        """Twitch delivers somebody's last line once more."""
        await self.give(self._last[login])

    async def order_rename(self, who: str) -> None:
        """`rename alice alicia`: the same person says something under another name."""
        old, new = who.split()
        await self.clock.advance(BETWEEN_LINES)
        self._lines += 1
        await self.give(self._line(f"id-{old}", new, "hello"))

    async def order_restart(self, _rest: str = "") -> None:
        """The program is stopped and started again."""
        await self.stop()
        await self.start(live=False)

    async def order_backup(self, _rest: str = "") -> None:
        """Make a copy of the memory."""
        await backups.copy_to(self.bot.db, self.path.with_name("copy.sqlite3"))

    async def order_restore(self, _rest: str = "") -> None:
        """Put the copy in the memory's place."""
        await self.stop()
        await backups.restore(self.path.with_name("copy.sqlite3"), self.path, now=self.clock.now(), keep=0)
        await self.start(live=False)

    async def order_stream(self, which: str) -> None:
        """`stream ends`, `stream begins`."""
        await self._live(on=which == "begins")
        await self.pass_time(15 * MINUTE)

    async def order_set(self, line: str) -> None:
        """`set TABLE KEY VALUE` from now on."""
        table, key, value = line.split(" ", 2)
        changed = msgspec.to_builtins(self.settings)
        changed[table][key] = tomllib.loads(f"value = {value}")["value"]
        self.settings = convert(changed, "the scenario")
        await self.bot.keeper.refresh()

    async def order_dock(self, line: str) -> None:
        """`dock edit alice: old words -> new fact`, `dock retract|restore|pin alice: words`, `dock pause`."""
        what, _, rest = line.partition(" ")
        if " " not in line:
            await self._ask_dock(line, {})
            return
        about, _, words = rest.partition(": ")
        old, _, new = words.partition(" -> ")
        subject = None if about == "channel" else f"id-{about}"
        statuses = (NoteStatus.RETRACTED, NoteStatus.SUPERSEDED) if what == "restore" else note_merge.LIVE
        fitting = [note for note in await notes.of_subject(self.bot.db, subject, statuses) if old in note.fact]
        if not fitting:
            raise InputError(f"`= dock {line}`: there is no such note.")
        values = {"text": new} if what == "edit" else {}
        await self._ask_dock(what, {"id": fitting[-1].id, **values})

    async def _ask_dock(self, name: str, params: Mapping[str, object]) -> None:
        control = BotControl(self.bot, LiveSettings(self.settings), ConnectionStatus("eval"))
        self.dock_said = sentence(await control.run(name, params, lambda _share, _step: None))

    # ── what is seen ────────────────────────────────────────────────────────────────────────

    async def seen_reply(self, _who: str = "") -> list[str]:
        """What was said since the last line of chat."""
        return self.account.said[self.since :]

    async def seen_prompt(self, _who: str = "") -> list[str]:
        """The last prompt of a reply."""
        asked = self.model.asked[-1:] if self.model is not None else []
        return [f"{one.system}\n{one.prompt}" for one in asked]

    async def seen_prefix(self, _who: str = "") -> list[str]:
        """The different stable parts that prompts of replies began with, as hashes."""
        rows = [row.prompt for row in await bot_messages.listing(self.bot.db, 100) if row.prompt.get("prefix_whole")]
        return list(dict.fromkeys(row["prefix_sha256"] for row in rows))

    async def seen_oversized(self, _who: str = "") -> list[str]:
        """The prompts of replies that were larger than the budget, in tokens."""
        sizes = [row.prompt.get("estimated", 0) for row in await bot_messages.listing(self.bot.db, 100)]
        return [str(size) for size in sizes if size > self.settings.prompt.budget_tokens]

    async def seen_rows(self, section: str = "") -> list[str]:
        """The texts of one section of the last reply's prompt, by its row."""
        trail = await self._newest()
        sections = trail.sections if trail is not None else ()
        return [row.text for one in sections if one.name == section for row in one.rows]

    async def _facts(self, about: str, *statuses: NoteStatus) -> list[str]:
        subject = None if about == "channel" else f"id-{about}"
        return await self._named([note.fact for note in await notes.of_subject(self.bot.db, subject, statuses)])

    async def _named(self, texts: Sequence[str]) -> list[str]:
        known = {f"id-{login}" for login in (*self._last, "streamer")}
        names = await viewers.names(self.bot.db, known)
        return [show(text, names) for text in texts]

    async def seen_episode(self, _who: str = "") -> list[str]:
        """All summaries of chat."""
        last = await self.bot.db.highest_id("episodes")
        every = [await episodes.get(self.bot.db, number) for number in range(1, last + 1)]
        chat = [one.summary for one in every if one is not None and one.kind is not EpisodeKind.COMMAND]
        return await self._named(chat)

    async def seen_action(self, name: str = "") -> list[str]:
        """What was decided about proposals of one name: verdict, rule, reason, status."""
        latest = await action_logs.latest(self.bot.db, 20)
        return [f"{one.verdict} {one.rule} {one.reason} {one.status}" for one in latest if name in {"any", one.name}]

    async def seen_deed(self, _who: str = "") -> list[str]:
        """What Twitch was asked to do."""
        return self.account.done

    async def seen_trail(self, what: str = "") -> list[str]:
        """Of the newest row of a reply: its status, detail, filters, model or trigger."""
        rows = await bot_messages.listing(self.bot.db, 1)
        return [f"{getattr(row, what)}" for row in rows]

    async def _newest(self) -> ReplyExplanation | None:
        rows = [row for row in await bot_messages.listing(self.bot.db, 20) if row.trigger not in {"command", "notice"}]
        return await explain(self.bot.db, rows[0].id) if rows else None

    async def seen_outcome(self, _who: str = "") -> list[str]:
        """How chat took the last reply that had words."""
        said = await bot_messages.latest(self.bot.db)
        taken = (await bot_messages.of_reply(self.bot.db, said.id))[0] if said is not None else ""
        return [taken] if taken else []

    async def seen_unsupported(self, _who: str = "") -> list[str]:
        """What of the last reply no row supports."""
        trail = await self._newest()
        return list(trail.unsupported) if trail is not None else []

    async def seen_used(self, _who: str = "") -> list[str]:
        """The notes that the last reply used."""
        trail = await self._newest()
        used = [await notes.get(self.bot.db, note_id) for note_id in (trail.used if trail is not None else ())]
        return [note.fact for note in used if note is not None]

    async def seen_files(self, _who: str = "") -> list[str]:
        """Every byte in the memory's folder, with the log of changes emptied as after an erasure."""
        await self.bot.ingest.flush()
        await self.bot.db.wipe_deleted()
        folder = self.path.parent
        return await asyncio.to_thread(
            lambda: [p.read_bytes().decode("latin-1") for p in folder.rglob("*") if p.is_file()]
        )

    async def seen_unread(self, _who: str = "") -> list[str]:
        """How many lines aged out unread."""
        return [str(await run_stats.pruned_unread(self.bot.db))]


ORDERS = [name.removeprefix("order_") for name in vars(ScenarioPlayer) if name.startswith("order_")]
FACTS = {
    "note": (NoteStatus.ACTIVE, NoteStatus.STALE),
    "superseded": (NoteStatus.SUPERSEDED,),
    "retracted": (NoteStatus.RETRACTED,),
}
"""What is known, was replaced, was taken back of somebody or the channel."""
SEEN = [*FACTS, *(name.removeprefix("seen_") for name in vars(ScenarioPlayer) if name.startswith("seen_"))]
