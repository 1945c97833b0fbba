"""The whole bot, wired: everything that a line of chat goes through, over one database.

    async with open_bot(path, "run", settings=…, clock=…, hands=…) as bot:
        await bot.hear(item)      # whatever a source yields
        await bot.chores.catch_up()

The same wiring serves a live channel, the demo and a replay: only the source, the clock and the hands differ.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from forgetmenot.actions.approvals import Approvals
from forgetmenot.actions.entry import Hands
from forgetmenot.actions.executor import Executor
from forgetmenot.app.chores import Chore, Chores, keep_going
from forgetmenot.app.no_account import NoAccount
from forgetmenot.chat import fun_commands, never_commands, notice
from forgetmenot.chat.moderator_commands import ModeratorCommands
from forgetmenot.chat.room import Room
from forgetmenot.chat.router import Command, Heard, Router
from forgetmenot.chat.viewer_commands import ViewerCommands
from forgetmenot.clock import DAY, MINUTE, SECOND, Clock
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.llm.build import Models, build_models
from forgetmenot.memory import hygiene
from forgetmenot.memory.compaction import Compactor
from forgetmenot.memory.episodes.briefs import Briefs
from forgetmenot.memory.episodes.digest import Digests
from forgetmenot.memory.erasure import Eraser
from forgetmenot.memory.extraction import Extractor
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.lifecycle import sweep_notes
from forgetmenot.memory.notes.for_actions import NotesForActions
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.streams import Live, StreamBook
from forgetmenot.ports import ChatOut, Moderation
from forgetmenot.prompt.voice import check_floor
from forgetmenot.reply.engine import ReplyEngine
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.outbox import Outbox
from forgetmenot.reply.prefix import PrefixKeeper, offered
from forgetmenot.reply.thinking import Parts
from forgetmenot.reply.triggers import Identity, identity_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, episode_search, tally
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.lock import held
from forgetmenot.store.model_calls import Meter

SWEEP = "sweep"
SWEEP_EVERY = 10 * MINUTE
FLAGS = {True: "1", False: "0"}


class Account(ChatOut, Moderation, Protocol):
    """What speaks and acts for the bot: twitch/helix.Helix, or nothing at all (NoAccount)."""


@dataclass(frozen=True, slots=True)
class Myself:
    """The account that speaks. Without a log-in: no id, and the name from the settings."""

    user_id: str = ""
    login: str = ""


class Bot:
    """A running bot. Made by `open_bot`, which also runs its writer and its queue."""

    def __init__(
        self, *, db: Database, run_id: int, settings: Callable[[], Settings], clock: Clock, account: Account, me: Myself
    ) -> None:
        self.db, self.run_id, self.settings, self.clock, self.me = db, run_id, settings, clock, me
        self.models: Models = build_models(settings().model, Meter(db, clock))
        self.memory_trouble = ""
        self._build_memory()
        self._build_hands(account)
        self._build_replies()
        self.viewers = ViewerCommands(
            db=db,
            eraser=self.eraser,
            settings=settings,
            clock=clock,
            identity=self.identity,
            flush=self.ingest.flush,
        )
        self.router = Router(
            db=db,
            ingest=self.ingest,
            engine=self.engine,
            outbox=self.outbox,
            commands=self._commands(),
            settings=settings,
            room=self.room,
        )
        self.chores = Chores(clock, self._chores())

    def _build_memory(self) -> None:
        """Chat to episodes, episodes to notes, notes to the prompt, and all of it to be forgotten."""
        db, settings, clock, model = self.db, self.settings, self.clock, self.models.memory
        self.book = StreamBook(db, settings)
        self.room = Room()
        self.ingest = Ingest(db=db, book=self.book, settings=settings, clock=clock, run_id=self.run_id)
        self.ingest.own_id = self.me.user_id
        self.compactor = Compactor(db=db, model=model, settings=settings, clock=clock, book=self.book)
        self.extractor = Extractor(db=db, model=model, settings=settings, clock=clock)
        self.digests = Digests(db=db, model=model, settings=settings, clock=clock)
        self.briefs = Briefs(db=db, model=model, settings=settings, clock=clock)
        self.recall = Recall(db=db, settings=settings, clock=clock)
        name = self.models.reply.name
        self.keeper = PrefixKeeper(db=db, recall=self.recall, settings=settings, clock=clock, model=name)
        self.eraser = Eraser(
            db=db, clock=clock, before=[self.ingest.flush], after=[self._forget_kept, self.keeper.refresh]
        )

    def _build_hands(self, account: Account) -> None:
        """What it says and does goes through one queue and one executor."""
        db, settings, clock = self.db, self.settings, self.clock
        self.outbox = Outbox(db=db, out=account, clock=clock, settings=settings, overhear=self._overhear)
        hand = NotesForActions(db=db, settings=settings, clock=clock)
        hands = Hands(moderation=account, chat=self.outbox, memory=hand)
        self.executor = Executor(
            db=db,
            hands=hands,
            settings=settings,
            clock=clock,
            room_modes=lambda: self.room.modes,
        )
        self.approvals = Approvals(
            self.executor, db=db, settings=settings, clock=clock, mode_off=self.room.switched_off
        )

    def _build_replies(self) -> None:
        parts = Parts(
            model=self.models.reply,
            gatherer=Gatherer(db=self.db, recall=self.recall, clock=self.clock),
            keeper=self.keeper,
            outbox=self.outbox,
            executor=self.executor,
        )
        self.engine = ReplyEngine(
            parts,
            db=self.db,
            settings=self.settings,
            clock=self.clock,
            identity=self.identity,
            flush=self.ingest.flush,
            room_modes=lambda: self.room.modes,
        )

    async def _forget_kept(self) -> None:
        """After an erasure nothing of it may stand in a cache."""
        self.recall.forget()

    # ── what a source gives ─────────────────────────────────────────────────────────────────

    async def hear(self, item: Heard) -> None:
        """Take in one thing that was heard."""
        await self.router.hear(item)

    async def channel_is(self, state: Live) -> None:
        """Take what Twitch says about the channel: opens and closes streams."""
        now = self.clock.now()
        await self.ingest.flush()
        await self.book.live(state, now)
        values = {"title": state.title, "category": state.category, "live": FLAGS[state.live]}
        async with self.db.write() as tx:
            await channel_state.put(tx, {**values, "started_at": str(state.started_at or "")}, now)

    def become(self, me: Myself) -> None:
        """Speak as this account from now on."""
        self.me = me
        self.ingest.own_id = me.user_id

    def identity(self) -> Identity:
        """Who the bot is, by the settings of the moment."""
        return identity_of(self.settings(), self.me.user_id, self.me.login)

    # ── waiting and ending ──────────────────────────────────────────────────────────────────

    async def settle(self) -> None:
        """Wait until all that was heard is on disk and every reply and answer is out, but for waits of the clock."""
        await self.ingest.flush()
        await self.router.idle()
        await self.viewers.idle()
        await self.engine.idle()
        await self.ingest.flush()

    async def remember_all(self) -> None:
        """Summarise even the short remainder, and learn from it."""
        await self.ingest.flush()
        await self.compactor.run_pass(everything=True)
        await self.extractor.run_pass()
        await self.keeper.refresh()

    async def wind_down(self) -> None:
        """At a stop: no more replies; what is heard is on disk; the remainder is summarised if the model is quick."""
        await self.engine.aclose()
        await self.ingest.flush()
        await self.compactor.run_pass(closing=True)

    # ── chores ──────────────────────────────────────────────────────────────────────────────

    def _chores(self) -> list[Chore]:
        return [
            Chore(SWEEP, lambda: SWEEP_EVERY, self._sweep),
            Chore("notes", lambda: DAY, self._sweep_notes),
            Chore("memory", lambda: self.settings().memory.compaction_every_s * SECOND, self.memory_pass),
            Chore("erasures", lambda: MINUTE, self.eraser.erase_due),
            Chore("notice", lambda: MINUTE, self._notice),
            Chore("hands", lambda: SECOND, self.approvals.work_off),
        ]

    async def memory_pass(self) -> None:
        """Chat becomes episodes, episodes become notes, and the prompt's prefix is composed anew."""
        await self.ingest.flush()
        report = await self.compactor.run_pass()
        learned = await self.extractor.run_pass()
        self.memory_trouble = report.trouble or ("The model could not be reached." if learned.waiting else "")
        if not self.memory_trouble:
            await self.digests.run_pass()
            await self.briefs.run_pass()
        await self.keeper.refresh()

    def _overhear(self, text: str, twitch_id: str) -> None:
        self.ingest.note_own_line(text, event_id=twitch_id, at=self.clock.now())

    async def _sweep(self) -> None:
        await self.ingest.flush()
        await hygiene.sweep(
            db=self.db, compactor=self.compactor, settings=self.settings, clock=self.clock, ingest=self.ingest
        )

    async def _notice(self) -> None:
        line = await notice.take(self.db, self.settings(), self.clock.now())
        if line is not None:
            self.router.say(line)

    async def _sweep_notes(self) -> None:
        await sweep_notes(self.db, self.settings().memory, self.clock.now())
        await episode_search.merge(self.db)

    # ── commands ────────────────────────────────────────────────────────────────────────────

    def _commands(self) -> list[Command]:
        moderators = ModeratorCommands(db=self.db, approvals=self.approvals, settings=self.settings, clock=self.clock)

        async def fun(event: ChatEvent) -> str | None:
            return await fun_commands.handle(event, self.db, self.clock)

        async def never(event: ChatEvent) -> str | None:
            return await never_commands.handle(event, self.db, self.clock, self.ingest.flush)

        return [moderators.handle, self.viewers.handle, never, fun]


@contextlib.asynccontextmanager
async def open_bot(
    path: Path,
    command: str,
    *,
    settings: Callable[[], Settings],
    clock: Clock,
    account: Account | None = None,
    me: Myself | None = None,
) -> AsyncIterator[Bot]:
    """Open the memory, wire the bot over it, clean up first thing, and run its writer and its queue meanwhile."""
    chosen = settings()
    check_floor(chosen, chosen.twitch.channel, offered(chosen.actions))
    with held(path, command):
        async with open_database(path) as db:
            run_id = await tally.begin_run(db, command, clock.now())
            bot = Bot(
                db=db, run_id=run_id, settings=settings, clock=clock, account=account or NoAccount(), me=me or Myself()
            )
            await _start(bot)
            tasks = [
                asyncio.create_task(keep_going("writer", bot.ingest.run)),
                asyncio.create_task(keep_going("queue", bot.outbox.run)),
            ]
            try:
                yield bot
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await bot.models.aclose()


async def _start(bot: Bot) -> None:
    now = bot.clock.now()
    known = {"bot_id": bot.me.user_id, "bot_login": bot.me.login, "login": bot.settings().twitch.channel}
    async with bot.db.write() as tx:
        await channel_state.put(tx, {name: value for name, value in known.items() if value}, now)
    await bot.ingest.open()
    await bot.outbox.recover()
    await bot.approvals.start()
    await bot.chores.do(SWEEP)  # the rest can wait until chat is heard: a memory pass may take a slow model minutes
