"""The running bot as the dock may ask and steer it: fills ports.Control, over a Bot and its settings.

A wish from the dock is the streamer's own: where the memory wants to know who asked, it is the channel's account.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from forgetmenot.actions import catalogue, switches
from forgetmenot.app import explanations
from forgetmenot.app.bot import Bot
from forgetmenot.app.try_out import try_out
from forgetmenot.chat.memory_commands import refusal
from forgetmenot.clock import iso
from forgetmenot.domain.memory import Note, Scope
from forgetmenot.errors import ForgetMeNotError, InputError
from forgetmenot.memory import never
from forgetmenot.memory.erasure import Progress
from forgetmenot.memory.notes import beliefs, editing, remember, undoing
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.ports import BotState, ChoreState, Told
from forgetmenot.prompt.voice import check_floor
from forgetmenot.reply.prefix import offered
from forgetmenot.settings.live import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.store import dossier, identities, notes, rights, viewers
from forgetmenot.text.mentions import provisional
from forgetmenot.twitch.connection import ConnectionState

BY = "the dock"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a bot does not know about itself: how its connection stands, and what is wrong with its log-in."""

    command: str
    connection: Callable[[], ConnectionState | None] = lambda: None
    login_trouble: Callable[[], str] = lambda: ""


class BotControl:
    """A ports.Control."""

    def __init__(self, bot: Bot, settings: LiveSettings, around: Surroundings) -> None:
        self._bot = bot
        self._settings = settings
        self._around = around

    # ── how it is ───────────────────────────────────────────────────────────────────────────

    def state(self) -> BotState:
        """How it stands now."""
        bot, connection = self._bot, self._around.connection()
        return BotState(
            command=self._around.command,
            login=bot.me.login,
            phase=connection.phase.value if connection else "none",
            phase_since=connection.since if connection else 0,
            phase_trouble=connection.error if connection else "",
            login_trouble=self._around.login_trouble(),
            reply_model=bot.models.reply.name,
            memory_model=bot.models.memory.name,
            model_trouble=bot.models.trouble or "",
            memory_trouble=bot.memory_trouble,
            queued=bot.outbox.waiting,
            thinking=bot.engine.busy,
            chores=tuple(ChoreState(one.name, one.trouble, one.due_at) for one in bot.chores.all),
            recall_ms=tuple(bot.recall.took_ms),
            settings_file=str(self._settings.path or ""),
        )

    async def why(self, reply_id: int) -> Mapping[str, object]:
        """Everything that led to one reply."""
        return await explanations.why(self._bot.db, reply_id, self._settings())

    async def chain(self, note_id: int) -> Mapping[str, object]:
        """Where one note comes from and where it was used."""
        return await explanations.chain(self._bot.db, note_id)

    async def try_out(self, login: str, text: str) -> Mapping[str, object]:
        """What it would say to that, without saying or doing anything."""
        return await try_out(self._bot, login, text)

    # ── switches and approvals ──────────────────────────────────────────────────────────────

    async def switch(self, what: str, minutes: int = 0) -> Told:
        """Turn a switch."""
        db, now = self._bot.db, self._bot.clock.now()
        if what == "pause":
            await switches.pause(db, now)
        elif what == "resume":
            await switches.resume(db, now)
        elif what == "quiet":
            await switches.quiet(db, max(1, min(minutes, switches.LONGEST_QUIET_MIN)), now)
        elif what in {"safe", "unsafe"}:
            await switches.safe(db, now, on=what == "safe")
        else:
            return Told(ok=False, line="There is no such switch.")
        return Told(ok=True, line=await switches.status_line(db, self._settings(), now))

    async def approve(self, action_id: int) -> Told:
        """Carry out what waits for a person."""
        answer = await self._bot.approvals.approve(action_id, await self._streamer())
        return Told(answer.ok, answer.line)

    async def deny(self, action_id: int) -> Told:
        """Refuse it."""
        answer = await self._bot.approvals.deny(action_id, await self._streamer())
        return Told(answer.ok, answer.line)

    async def undo(self, action_id: int) -> Told:
        """Take back what was done."""
        answer = await self._bot.approvals.undo(await self._streamer(), action_id)
        return Told(answer.ok, answer.line)

    # ── notes ───────────────────────────────────────────────────────────────────────────────

    async def remember(self, viewer_id: str | None, fact: str, *, bit: bool = False) -> Told:
        """Write a note."""
        scope = Scope.VIEWER if viewer_id is not None else Scope.RUNNING_BIT if bit else Scope.CHANNEL

        async def write() -> str:
            if viewer_id is not None:
                await self._known(viewer_id)
            note = await remember.remember(
                self._bot.db,
                viewer_id,
                await self._with_ids(fact),
                by=await self._streamer(),
                at=self._bot.clock.now(),
                scope=scope,
                privacy=self._settings().privacy,
            )
            return f"Remembered as #{note.id}."

        return await self._tried(write)

    async def edit(self, note_id: int, fact: str) -> Told:
        """Write a fact anew."""

        async def write() -> str:
            note = await editing.edit(
                self._bot.db,
                note_id,
                await self._with_ids(fact),
                by=await self._streamer(),
                at=self._bot.clock.now(),
                privacy=self._settings().privacy,
            )
            return f"#{note.id} stands now; #{note_id} is kept in its history."

        return await self._tried(write)

    async def pin(self, note_id: int, *, on: bool) -> Told:
        """Pin a note, or let it go."""
        note = await notes.get(self._bot.db, note_id)
        if note is None or note.status not in beliefs.LIVE:
            return Told(ok=False, line=refusal("not_found"))
        async with self._bot.db.write() as tx:
            await notes.set_pinned(tx, note_id, pinned=on)
        return Told(
            ok=True, line=f"#{note_id} is {'pinned: it neither ages nor gives way' if on else 'not pinned now'}."
        )

    async def retract(self, note_id: int) -> Told:
        """Take a note back."""

        async def write() -> str:
            await undoing.retract(self._bot.db, note_id, at=self._bot.clock.now(), cause=f"taken back from {BY}")
            return f"#{note_id} is taken back. Undo brings it back."

        return await self._tried(write)

    async def restore(self, note_id: int) -> Told:
        """Undo the last change of a note."""

        async def write() -> str:
            note: Note = await undoing.undo(self._bot.db, note_id, at=self._bot.clock.now())
            return f"#{note.id} stands again."

        return await self._tried(write)

    async def leave_alone(self, viewer_id: str | None, what: str) -> Told:
        """Never bring something up again."""

        async def write() -> str:
            by = await self._streamer()
            await never.leave_alone(self._bot.db, viewer_id, what, by=by, at=self._bot.clock.now())
            return "It is not brought up again."

        return await self._tried(write)

    async def allow_again(self, row_id: int) -> Told:
        """Take one entry off that list."""
        if not await never.allow_again(self._bot.db, row_id):
            return Told(ok=False, line="That is not on the list any more.")
        await self._bot.keeper.refresh()
        return Told(ok=True, line="It may be brought up again.")

    # ── rights ──────────────────────────────────────────────────────────────────────────────

    async def erase(self, viewer_id: str, progress: Progress) -> Told:
        """Erase a viewer for good."""
        try:
            report = await self._bot.eraser.erase(viewer_id, progress)
        except InputError as error:
            return Told(ok=False, line=str(error))
        left = "" if report.wiped else " Another program holds the file open; the last step is done when it closes."
        return Told(ok=True, line=f"Erased: {report.notes} notes, {report.events} lines.{left}")

    async def export(self, viewer_id: str) -> Mapping[str, object]:
        """Everything that is kept about a viewer."""
        person = await dossier.person(self._bot.db, viewer_id)
        if not person:
            raise InputError("Nobody with that id is known, so there is nothing to export.")
        now = self._bot.clock.now()
        return {"person": person, "exported_at": iso(now), **await dossier.everything(self._bot.db, viewer_id)}

    async def opt_out(self, viewer_id: str, *, on: bool) -> Told:
        """Store nothing of a viewer from now on, or let them in again."""
        if await viewers.get(self._bot.db, viewer_id) is None:
            return Told(ok=False, line="Nobody with that id is known.")
        await self._bot.ingest.flush()
        async with self._bot.db.write() as tx:
            await (rights.opt_out(tx, viewer_id, self._bot.clock.now()) if on else rights.opt_in(tx, viewer_id))
        await self._bot.db.wipe_deleted()
        self._bot.recall.forget()
        await self._bot.keeper.refresh()
        return Told(ok=True, line="Nothing they say is stored from now on." if on else "They are remembered again.")

    # ── settings ────────────────────────────────────────────────────────────────────────────

    async def change_setting(self, table: str, key: str, value: object) -> Told:
        """Change one setting that may be changed while the bot runs, for good."""
        try:
            await asyncio.to_thread(self._settings.change, table, key, value, _check)
        except ForgetMeNotError as error:
            return Told(ok=False, line=str(error))
        await self._bot.keeper.refresh()
        kept = f"written to {self._settings.path}" if self._settings.path else "for this run: no settings file is named"
        return Told(ok=True, line=f"`{key}` is changed, {kept}.")

    # ── helpers ─────────────────────────────────────────────────────────────────────────────

    async def _tried(self, write: Callable[[], Awaitable[str]]) -> Told:
        try:
            line = await write()
        except Refused as refused:
            return Told(ok=False, line=refusal(refused.rule))
        except InputError as error:
            return Told(ok=False, line=str(error))
        await self._bot.keeper.refresh()
        return Told(ok=True, line=line)

    async def _known(self, viewer_id: str) -> None:
        found = await viewers.get(self._bot.db, viewer_id)
        if found is None or found.opted_out:
            raise InputError("They are not known, or do not want to be remembered.")

    async def _streamer(self) -> str:
        """The id of the channel's account; until it is known, a provisional one."""
        login = self._settings().twitch.channel.casefold() or "streamer"
        if (found := await viewers.find(self._bot.db, login)) is not None:
            return found
        async with self._bot.db.write() as tx:
            await identities.add_provisional(tx, [login], self._bot.clock.now())
        return provisional(login)

    async def _with_ids(self, text: str) -> str:
        """`@name` of somebody who is known becomes their id."""
        return await explanations.with_ids(self._bot.db, text)


def _check(settings: Settings) -> None:
    catalogue.refuse_unknown(settings.actions, "The new value")
    check_floor(settings, settings.twitch.channel, offered(settings.actions))
