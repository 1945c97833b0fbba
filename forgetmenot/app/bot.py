"""The bot, wired: all parts that handle a chat line, over one database.

    async with open_bot(path, settings=…, clock=…, account=…) as bot:
        await bot.hear(item)      # whatever a source yields
        await bot.tasks.catch_up()

A live channel, the demo and a replay differ only in source, clock and account.
"""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.app.periodic_tasks import PeriodicTask, PeriodicTasks, keep_going
from forgetmenot.bridge import Bridge
from forgetmenot.chat.answers import ChatCommands
from forgetmenot.chat.notice import take_notice
from forgetmenot.chat.router import Router
from forgetmenot.clock import Clock
from forgetmenot.domain import (
    Asker,
    ChannelState,
    ChatEvent,
    OperationResult,
    Outcome,
    OutcomeKind,
    Redaction,
)
from forgetmenot.durations import DAY, MINUTE, SECOND
from forgetmenot.errors import TwitchError
from forgetmenot.files import incoming_folder, instance_lock
from forgetmenot.languages import in_language, reason
from forgetmenot.llm.build import Models, build_models, environment_with_key
from forgetmenot.llm.guarded import Saving, SpendLimit
from forgetmenot.memory import retention
from forgetmenot.memory.backups import MemoryFileWatch
from forgetmenot.memory.briefs import BriefWriter
from forgetmenot.memory.compaction import Compactor, PassReport
from forgetmenot.memory.extraction import Extractor
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.retention import sweep_notes
from forgetmenot.memory.rewording import reworded
from forgetmenot.memory.stream_recap import RecapWriter
from forgetmenot.memory.stream_tracker import StreamTracker, channel_changes
from forgetmenot.operations.commands import OPERATIONS
from forgetmenot.operations.executor import Executor
from forgetmenot.operations.run import run
from forgetmenot.operations.types import ActionPorts, OperationContext
from forgetmenot.ports import CallMeter, ChatOut, Moderation
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.hidden_names import without_erased_names
from forgetmenot.privacy.requests import PrivacyService
from forgetmenot.prompt.instructions import check_floor
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.engine import ReplyEngine
from forgetmenot.reply.explain import explain, one_line
from forgetmenot.reply.outbox import Outbox
from forgetmenot.reply.own_name import Identity, identity_of
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.reply_object import offered
from forgetmenot.reply.writer import ReplyWriter
from forgetmenot.secret_store import Account, login_folder
from forgetmenot.settings.prices import CountsByModel
from forgetmenot.settings.schema import ModelSettings, Settings
from forgetmenot.store import channel_state, counts, events, streams
from forgetmenot.store.backup import FileCheck, checked_start, leftovers
from forgetmenot.store.counts import Meter
from forgetmenot.store.database import Database, open_database
from forgetmenot.text.words import clear_text_caches
from forgetmenot.twitch.chat_lines import ChatItem
from forgetmenot.twitch.chat_permission import ChatPermission
from forgetmenot.twitch.room_modes import RoomModeTracker

SWEEP = "sweep"
SWEEP_EVERY = 10 * MINUTE
MEMORY_PASS_EVERY = 3 * MINUTE
EARLY_PASS_EVERY = MINUTE
# After this time (s) of one compaction pass, notes are extracted beside it.
EXTRACTS_MEANWHILE_S = 20.0
FLAGS = {True: "1", False: "0"}
# Makes the two models of a run; scenarios put words of their own into the mouth of the one that replies.
ModelBuilder = Callable[[ModelSettings, CallMeter], Models]
PIN_SCOPE = "moderator:manage:chat_messages"


class BotAccount(ChatOut, Moderation, Protocol):
    """Sends and acts for the bot: twitch/helix.Helix, or NoAccount."""


class BotIdentity(Struct, frozen=True):
    """The account that speaks. Without a log-in: no id, and the name from the settings."""

    user_id: str = ""
    login: str = ""


class Bot:
    """A running bot. `open_bot` makes it and runs its writer and its outbox."""

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
        account: BotAccount,
        me: BotIdentity,
        models: ModelBuilder | None = None,
        file_check: FileCheck,
    ) -> None:
        self.db = db
        # of a large memory it is still to be done
        self.file_check = file_check
        self.settings = settings
        self.clock = clock
        self.me = me
        self.spending = SpendLimit(settings=settings, used=self._used)
        meter = Meter(db, clock, lambda: settings().bot.timezone)
        self.models = self._build_models(models, meter)
        self.models.reply.spending = self.spending
        self.models.memory.spending = self.spending
        self.memory_trouble = ""
        self._memory_pass_lock = asyncio.Lock()
        # events that somebody asked about before they were summarised
        self._asked_about: set[int] = set()
        self._build_memory()
        self._build_operations(account)
        self.commands = ChatCommands(self.operations, self.identity)
        self._build_replies()
        self.router = Router(
            db=db,
            ingest=self.ingest,
            engine=self.engine,
            outbox=self.outbox,
            commands=self.commands,
            settings=settings,
            room=self.room,
        )
        self.tasks = PeriodicTasks(clock, self._tasks())

    def _build_models(self, builder: ModelBuilder | None, meter: Meter) -> Models:
        """Build the model that replies and the one that remembers."""
        chosen = self.settings().model
        if builder is not None:
            return builder(chosen, meter)
        folder = login_folder(self.db.path)
        return build_models(
            chosen,
            meter,
            environ=environment_with_key(chosen, folder),
        )

    def _build_memory(self) -> None:
        """Build what turns chat into episodes, notes and prompts, and what deletes them."""
        db = self.db
        settings = self.settings
        clock = self.clock
        model = self.models.memory
        self.stream_tracker = StreamTracker(db)
        self.room = RoomModeTracker()
        self.ingest = Ingest(
            db=db,
            stream_tracker=self.stream_tracker,
            settings=settings,
            clock=clock,
        )
        self.ingest.own_id = self.me.user_id
        self.compactor = Compactor(
            db=db,
            model=model,
            settings=settings,
            clock=clock,
            stream_tracker=self.stream_tracker,
        )
        self.extractor = Extractor(
            db=db,
            model=model,
            settings=settings,
            clock=clock,
        )
        self.recaps = RecapWriter(
            db=db,
            model=model,
            settings=settings,
            clock=clock,
        )
        self.briefs = BriefWriter(
            db=db,
            model=model,
            settings=settings,
            clock=clock,
        )
        self.recall = Recall(
            db=db,
            settings=settings,
            clock=clock,
        )
        self.keeper = PrefixKeeper(
            db=db,
            recall=self.recall,
            settings=settings,
        )
        self.eraser = Eraser(
            db=db,
            clock=clock,
            before=[self.ingest.flush],
            after=[self._refresh, self._forget_who_spoke],
        )
        self.privacy = PrivacyService(
            db=db,
            clock=clock,
            eraser=self.eraser,
            flush=self.ingest.flush,
        )
        self.file_watch = MemoryFileWatch(
            db=db,
            settings=settings,
            clock=clock,
        )

    def _build_operations(self, account: BotAccount) -> None:
        """Build the outbox, the executor and the operations."""
        db = self.db
        settings = self.settings
        clock = self.clock
        # Who the bot is may be known only after its log-in: the account is asked each time.
        self.permission = ChatPermission(
            clock,
            own_id=lambda: self.me.user_id,
            name=lambda: self.me.login,
        )
        self.outbox = Outbox(
            db=db,
            out=account,
            clock=clock,
            settings=settings,
            overhear=self._overhear,
            permission=self.permission,
        )
        ports = ActionPorts(
            moderation=account,
            run=self._run_operation,
            run_effect=Bridge(settings).run_effect,
        )
        self.executor = Executor(
            db=db,
            ports=ports,
            settings=settings,
            clock=clock,
            room_modes=lambda: self.room.modes,
            mode_off=self.room.switched_off,
        )
        self.operations = OperationContext(
            db=db,
            settings=settings,
            clock=clock,
            operations=OPERATIONS,
            approvals=self.executor,
            eraser=self.eraser,
            privacy=self.privacy,
            flush=self.ingest.flush,
            refresh=self._refresh,
            explain_reply=self._explain_reply,
            reword=partial(reworded, self.models.reply),
            say_and_pin=partial(self._say_and_pin, account),
        )

    async def _run_operation(
        self,
        name: str,
        params: Mapping[str, object],
        asker: Asker,
    ) -> OperationResult:
        # The table of operations is made after the executor, which it has to know.
        return await run(self.operations, name, params, asker)

    async def _say_and_pin(self, account: BotAccount, text: str) -> Outcome:
        """Say a line in chat and pin it; nothing is said where it could not be pinned."""
        needed = {Account.BOT: (PIN_SCOPE,)}
        lacking = await account.lacks(needed)
        if lacking:
            return Outcome(OutcomeKind.REFUSED, lacking)
        sent = await self.outbox.say_line(text)
        if not sent.twitch_id:
            return Outcome(OutcomeKind.REFUSED, sent.detail)
        try:
            return await account.pin_message(sent.twitch_id)
        except TwitchError as error:
            return Outcome(OutcomeKind.REFUSED, str(error))

    async def _refresh(self) -> None:
        """Make changes by hand, and what may no longer be shown, take effect in the next prompt."""
        self.recall.forget()
        await asyncio.to_thread(clear_text_caches)
        await self.keeper.refresh()

    async def _forget_who_spoke(self) -> None:
        self.engine.forget()

    async def _explain_reply(self, reply_id: int) -> str:
        language = in_language(self.settings().bot.language)
        explanation = await explain(self.db, reply_id)
        return one_line(explanation, language)

    def _build_replies(self) -> None:
        gatherer = ContextGatherer(
            db=self.db,
            recall=self.recall,
            clock=self.clock,
        )
        writer = ReplyWriter(
            db=self.db,
            clock=self.clock,
            model=self.models.reply,
            gatherer=gatherer,
            keeper=self.keeper,
            outbox=self.outbox,
            executor=self.executor,
            identity=self.identity,
            flush=self.ingest.flush,
            ask_erasure=self.commands.ask_erasure,
            hasten_summary=self._asked_about.update,
        )
        self.engine = ReplyEngine(
            writer, settings=self.settings, speaks_up=self._speaks_up
        )

    async def _speaks_up(self) -> bool:
        saving = await self.spending.saving()
        return saving < Saving.SPEAKING_UP

    async def _used(self) -> tuple[CountsByModel, CountsByModel]:
        """Return what the last 24 hours and the current stream used, by model."""
        now = self.clock.now()
        began_at = now
        stream_id = await streams.current_id(self.db)
        if stream_id is not None:
            began_at = await streams.start_of(self.db, stream_id)
        of_day = await counts.tokens_by_model(self.db, since=now - DAY)
        of_stream = await counts.tokens_by_model(self.db, since=began_at)
        return of_day, of_stream

    async def hear(self, item: ChatItem) -> None:
        """Take in one thing that was heard."""
        self.permission.heard(item)
        if isinstance(item, ChatEvent):
            self.recall.heard(item.user_id)
        elif isinstance(item, Redaction):
            await self.outbox.deleted_in_chat(item.event_id)
        await self.router.hear(item)

    async def channel_is(self, state: ChannelState) -> None:
        """Update the channel's state from Twitch; opens and closes streams."""
        now = self.clock.now()
        await self.ingest.flush()
        before = await channel_state.read_all(self.db)
        # A title may name a guest who has asked to be forgotten.
        title = await without_erased_names(self.db, state.title)
        state = replace(state, title=title)
        await self.stream_tracker.live(state, now)
        started_at = state.started_at or ""
        values = {
            "title": title,
            "category": state.category,
            "live": FLAGS[state.live],
            "started_at": str(started_at),
        }
        async with self.db.write() as tx:
            await channel_state.put(tx, values, now)
        # Only a change during a stream is an event of it.
        was_live = before.get("live") == FLAGS[True]
        is_known = bool(before.get("id"))
        if state.live and was_live and is_known:
            for event in channel_changes(before, values, now):
                self.ingest.take(event)

    def become(self, me: BotIdentity) -> None:
        """Use this account from now on."""
        self.me = me
        self.ingest.own_id = me.user_id

    def identity(self) -> Identity:
        """Return the bot's identity under the current settings."""
        settings = self.settings()
        return identity_of(settings, self.me.user_id, self.me.login)

    async def settle(self) -> None:
        """Wait until all lines are on disk and all replies are sent, except those that wait for the clock."""
        # In the order in which one makes work for the next; replies are lines again.
        await self.ingest.flush()
        await self.router.idle()
        await self.eraser.idle()
        await self.engine.idle()
        await self.ingest.flush()

    async def remember_all(self) -> None:
        """Summarise all unread chat, however little, and extract notes."""
        await self.ingest.flush()
        await self.compactor.run_pass(everything=True)
        await self.extractor.run_pass()
        await self.keeper.refresh()

    async def wind_down(self, *, summarise: bool = True) -> None:
        """Stop: no more replies, all lines on disk, the rest summarised if the model answers in time."""
        # First, since whoever stops the bot may not wait for the rest.
        await self.engine.aclose()
        await self.ingest.flush()
        if summarise:
            await self.compactor.run_pass(closing=True)

    def _tasks(self) -> list[PeriodicTask]:
        # In this order where several are due: what has to go, goes first.
        return [
            PeriodicTask(SWEEP, SWEEP_EVERY, self._sweep),
            PeriodicTask("notes", DAY, self._sweep_notes),
            PeriodicTask("memory", MEMORY_PASS_EVERY, self.memory_pass),
            PeriodicTask("early memory", EARLY_PASS_EVERY, self._early_memory_pass),
            PeriodicTask("memory file", SECOND, self.file_watch.run_pass),
            PeriodicTask("privacy requests", SECOND, self.privacy.work_off),
            PeriodicTask("erasures", MINUTE, self.eraser.erase_due),
            PeriodicTask("notice", MINUTE, self._notice),
            PeriodicTask("approvals", SECOND, self.executor.work_off),
        ]

    async def _sweep_notes(self) -> None:
        settings = self.settings().memory
        now = self.clock.certain()
        await sweep_notes(self.db, settings, now)

    async def memory_pass(self, *, everything: bool = False) -> None:
        """Compact chat, extract notes, and recompose the prompt's prefix.

        `everything`: also windows that would wait for more lines.
        """
        async with self._memory_pass_lock:
            await self._memory_pass(everything=everything)

    async def _early_memory_pass(self) -> None:
        """Summarise now what somebody asked about, unless that was done meanwhile or few lines wait.

        A question finds those few as they were typed, and a summary of a few lines costs as much as one of many.
        """
        event_seqs = sorted(self._asked_about)
        self._asked_about.clear()
        if not event_seqs:
            return
        smallest_window = self.settings().memory.window_min_events
        if await events.count_unread(self.db) < smallest_window:
            return
        if await events.still_unread(self.db, event_seqs):
            await self.memory_pass(everything=True)

    async def _memory_pass(self, *, everything: bool) -> None:
        await self.ingest.flush()
        report = await self._compact(everything=everything)
        learned = await self.extractor.run_pass()
        self.memory_trouble = report.trouble
        if learned.model_failed and not report.trouble:
            model = self.settings().model.memory_model
            self.memory_trouble = reason("model_empty", model=model)
        # A model that fails at this would fail at those as well.
        if not self.memory_trouble:
            await self.recaps.write_digest()
            await self.briefs.run_pass()
        await self.keeper.refresh()

    def _overhear(self, text: str, twitch_id: str) -> None:
        now = self.clock.now()
        self.ingest.note_own_line(text, event_id=twitch_id, at=now)

    async def _compact(self, *, everything: bool) -> PassReport:
        """Summarise what is due. Where that takes long, notes are extracted meanwhile from what was summarised."""
        compaction = self.compactor.run_pass(everything=everything)
        compacting = asyncio.create_task(compaction)
        try:
            # A day behind, with a slow model, takes minutes: replies get the first notes meanwhile.
            while True:
                await asyncio.wait([compacting], timeout=EXTRACTS_MEANWHILE_S)
                if compacting.done():
                    return compacting.result()
                await self.extractor.run_pass()
        finally:
            compacting.cancel()
            await asyncio.gather(compacting, return_exceptions=True)

    async def _sweep(self) -> None:
        await self.ingest.flush()
        await retention.sweep_chat(
            db=self.db,
            compactor=self.compactor,
            settings=self.settings,
            clock=self.clock,
        )

    async def _notice(self) -> None:
        now = self.clock.now()
        line = await take_notice(self.db, self.settings(), now)
        if line is not None:
            self.router.say(line)


@contextlib.asynccontextmanager
async def open_bot(
    path: Path,
    *,
    settings: Callable[[], Settings],
    clock: Clock,
    account: BotAccount | None = None,
    me: BotIdentity | None = None,
    models: ModelBuilder | None = None,
) -> AsyncIterator[Bot]:
    """Open the memory, wire the bot, clean up, and run its writer and its outbox."""
    chosen = settings()
    # a persona too long for the budget is an error now, and not at the first reply
    offered_actions = offered(chosen.actions, chosen.bridge.effects)
    check_floor(chosen, chosen.twitch.channel, offered_actions)
    # before the file is opened: two bots on one memory would answer everything twice
    with instance_lock(path):
        async with (
            # if somebody removes the file while the bot runs, it is put back (`puts_back`)
            open_database(path, puts_back=True) as db,
            checked_start(db) as file_check,
        ):
            # What a crash left: copies that were not finished, and chat that was dropped on the dock.
            for file in leftovers(path):
                file.unlink(missing_ok=True)
            shutil.rmtree(incoming_folder(path), ignore_errors=True)
            bot = Bot(
                db=db,
                settings=settings,
                clock=clock,
                account=account or NoAccount(),
                me=me or BotIdentity(),
                models=models,
                file_check=file_check,
            )
            await _start(bot)
            writing = keep_going("writer", bot.ingest.run)
            sending = keep_going("queue", bot.outbox.run)
            tasks = [
                asyncio.create_task(writing),
                asyncio.create_task(sending),
            ]
            try:
                yield bot
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                # after the writer: what chat still brings would have nowhere to go
                await bot.router.aclose()
                bot.ingest.close()
                await bot.models.aclose()


async def _start(bot: Bot) -> None:
    # until Twitch has sent a time, this one decides what is old enough to be deleted (`Clock.certain`)
    last_heard = await streams.last_heard(bot.db)
    bot.clock.at_least(last_heard)
    now = bot.clock.now()
    # Without a log-in what an earlier start knew of the account stays.
    known = {}
    if bot.me.user_id:
        known["bot_id"] = bot.me.user_id
    if bot.me.login:
        known["bot_login"] = bot.me.login
    async with bot.db.write() as tx:
        await channel_state.put(tx, known, now)
    off = FLAGS[False]
    off_since = await channel_state.value_since(bot.db, "live", off)
    if off_since is not None:
        await bot.stream_tracker.end_stopped(off_since, now)
    # before anything is stored: who opted out while the disk was full is not, and who is to be erased is known by then
    await bot.privacy.open()
    # before anything is sent, because what the last run sent counts towards Twitch's limits
    await bot.outbox.recover()
    await bot.executor.recover()
    # the rest can wait until chat is heard: a memory pass may take a slow model minutes
    await bot.tasks.do(SWEEP)


NO_ACCOUNT = Outcome(OutcomeKind.REFUSED, "there is no log-in; type: forgetmenot login")


class NoAccount:
    """A ports.ChatOut and ports.Moderation without an account: refuses every action with the reason."""

    async def _refused(self, *_given: Any, **_named: Any) -> Outcome:  # noqa: ANN401  # stands for all of them
        return NO_ACCOUNT

    say = _refused
    announce = _refused
    timeout = _refused
    untimeout = _refused
    ban = _refused
    delete_message = _refused
    shoutout = _refused
    pin_message = _refused
    set_slow_mode = _refused
    set_emote_only = _refused
    create_marker = _refused
    create_clip = _refused
    set_channel = _refused

    async def lacks(self, _scopes: Mapping[Account, Collection[str]]) -> str:
        """Return what is missing for everything."""
        return reason("bot_not_in")

    async def is_immune(self, _user_id: str) -> bool:
        """True: a target that cannot be checked is not acted on."""
        return True
