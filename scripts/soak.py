"""A bad Twitch for hours, in less than a minute, or in real time: `python scripts/soak.py [--quick] [--live]`.

Sends more messages than the limits let through, by the bot's own queue and Helix client, to a Twitch on loopback that
refuses and loses answers. With `--live [--minutes 60]` a bot in a process of its own hears 400 lines of chat a minute;
every button of its dock is pressed and every command run, it is stopped, killed and started again meanwhile, people opt
out and are erased, messages are deleted, and at the end every row and every byte of its folder is looked at. Prints
what was done and what came of it; the exit code is 1 if anything was lost, doubled, changed, sent twice, left or over a
limit, or if the bot's memory grew by more than a fifth after it had settled. Nothing leaves this machine, and nothing
stays on it.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import chaos
from chaos import NOON, Figures, broken_promises, locks_lost
from environment import say
from every_button import Presser
from speed.programs import Running, resident, started

from forgetmenot.clock import ManualClock, SystemClock
from forgetmenot.domain import Outcome
from forgetmenot.durations import HOUR
from forgetmenot.logs import set_up
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.reply.outbox import Outbox, Outgoing, Sent
from forgetmenot.secret_store import Account, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database, open_database
from forgetmenot.twitch.helix import Helix
from forgetmenot.twitch.login import Login
from tests.loopback_servers.fixtures import log_in, settings_for
from tests.loopback_servers.twitch import TwitchSim

MUST_BE_ZERO = (
    *chaos.MUST_BE_ZERO,
    "changed",
    "messages doubled",
    "messages lost",
    "fates told wrongly",
    "rate breaches",
)


# ── sending ─────────────────────────────────────────────────────────────────────────────────


def _fault(**changes: object) -> Callable[[TwitchSim], object]:
    """Return a trouble of Twitch's: the next message is answered like this."""
    return lambda sim: sim.faults.add("helix", path="chat/messages", **changes)


TROUBLES: tuple[Callable[[TwitchSim], object], ...] = (
    _fault(status=429, headers={"Retry-After": "4"}),
    _fault(status=503),
    TwitchSim.expire,
    _fault(lose=True),
    lambda sim: sim.drop_next("msg_ratelimit"),
    _fault(drop=True),
    _fault(status=429),
)


class Troubled:
    """A ports.ChatOut around the bot's hands: every fourth call meets some trouble of Twitch's."""

    def __init__(self, sim: TwitchSim, out: Helix) -> None:
        self.sim = sim
        self.out = out
        self.calls = 0
        self.troubles = 0

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        """Send it, into trouble or not."""
        self.calls += 1
        if self.calls % 4 == 0:
            TROUBLES[self.troubles % len(TROUBLES)](self.sim)
            self.troubles += 1
        return await self.out.say(text, reply_to)


async def flood(folder: Path, messages: int) -> Figures:
    """More messages than the limits let through, in three runs of the bot, on a clock that is turned fast."""
    clock = ManualClock(NOON)
    store = TokenStore(folder / "login", use_keyring=False)
    async with (
        TwitchSim(now=clock.now) as sim,
        open_database(folder / "memory.sqlite3") as db,
    ):
        settings = settings_for(sim)
        log_in(sim, store)
        login = Login(
            account=Account.BOT, store=store, settings=lambda: settings, clock=clock
        )
        helix = Helix(settings=lambda: settings, bot=login)
        out = Troubled(sim, helix)
        fates = dict[str, Sent]()
        turning = asyncio.create_task(_turn(clock))
        for run in range(3):
            fates |= await _one_run(
                db,
                clock,
                out,
                [f"message {number}" for number in range(run, messages, 3)],
            )
        turning.cancel()
        await asyncio.gather(turning, return_exceptions=True)
        await helix.aclose()
        return _fate(sim, out, fates)


async def _one_run(
    db: Database, clock: ManualClock, out: Troubled, texts: list[str]
) -> dict[str, Sent]:
    """Send messages in one run of the bot; return what became of each, by its text."""
    box = Outbox(db=db, out=out, clock=clock, settings=Settings)
    await box.recover()
    worker = asyncio.create_task(box.run())

    async def send(text: str) -> Sent:
        async with db.write() as tx:
            row = await bot_messages.begin(
                tx,
                at=clock.now(),
                event_id=f"asked {text}",
                viewer_id=None,
                trigger="mention",
                mode="live",
            )
        return await box.send(Outgoing(row, text, clock.now() + HOUR))

    sent = await asyncio.gather(*map(send, texts))
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    return dict(zip(texts, sent, strict=True))


async def _turn(clock: ManualClock) -> None:
    """Move the clock on by a quarter of a second, again and again."""
    while True:
        await clock.advance(250)
        await asyncio.sleep(0.001)


def _fate(sim: TwitchSim, out: Troubled, fates: dict[str, Sent]) -> Figures:
    """Compare what the outbox reports of its messages with what Twitch got."""
    sent_texts = Counter(message.text for message in sim.sent)
    sent = [text for text, fate in fates.items() if fate.status is ReplyStatus.SENT]
    unsure = [
        text for text, fate in fates.items() if fate.status is ReplyStatus.UNKNOWN
    ]
    unsent = {
        text: fate.detail
        for text, fate in fates.items()
        if text not in [*sent, *unsure]
    }
    return {
        "faults while sending": out.troubles,
        "messages": len(fates),
        "messages shown": len(sent_texts),
        "refused, with a reason": sum(bool(detail) for detail in unsent.values()),
        "of unknown fate": len(unsure),
        "messages doubled": sum(sent_texts.values()) - len(sent_texts),
        "messages lost": sum(not detail for detail in unsent.values()),
        "fates told wrongly": sum(text not in sent_texts for text in sent)
        + sum(text in sent_texts for text in unsent),
        "rate breaches": sim.helix.breaches,
    }


# ── in real time ────────────────────────────────────────────────────────────────────────────

PER_MINUTE = 400
PEOPLE = 300
WISHING = 5
OUT_MARK = "quillfrost"
ERASED_MARK = "emberling"
DELETED_MARK = "saltwhistle"
MARKS = (OUT_MARK, ERASED_MARK, DELETED_MARK)
PRESS_AGAIN_S = 60
QUIET_S = 3.0  # before a kill or a cut, so that nothing is under way
SETTLED = 0.25  # of the time: from then on memory is compared, and no process is ended any more
MAY_GROW = 1.2


@dataclass
class Chat:
    """What was said, and what must have become of it. `expected`: lines that must be stored as they were said."""

    sim: TwitchSim
    dice: random.Random
    expected: dict[str, str] = field(default_factory=dict)
    after_opt_out: list[str] = field(default_factory=list)
    number: int = 0
    wished: bool = False
    paused: asyncio.Event = field(default_factory=asyncio.Event)

    def heard(self) -> bool:
        """Whether the bot reads chat now."""
        return any(connection.channels for connection in self.sim.irc.connections)

    async def talk(self) -> None:
        """Chat; some of it speaks to the bot, some is deleted."""
        began = time.monotonic()
        while True:
            await asyncio.sleep(
                max(0.0, began + self.number * 60 / PER_MINUTE - time.monotonic())
            )
            self.number += 1
            if self.paused.is_set() or not self.heard():
                continue
            login = f"viewer_{self.dice.randrange(PEOPLE)}"
            # of sixty lines three speak to the bot, one is deleted, and one is by somebody who opted out
            kind = self.number % 60
            words = (
                f"the {self.number} run of level {self.dice.randrange(99)} went well"
            )
            if kind % 20 == 7:
                question = f"@keeper what about level {self.dice.randrange(99)}?"
                await self.sim.say(
                    login,
                    self.dice.choice(
                        (question, "!memory", "!privacy", "!remember I like maps")
                    ),
                )
            elif kind == 23:
                await self.sim.clear_message(
                    await self.sim.say(login, f"{DELETED_MARK} {words}")
                )
            elif kind == 31 and self.wished:
                out = f"leaver_{self.number % WISHING}"
                self.after_opt_out.append(
                    await self.sim.say(out, f"{OUT_MARK} {words}")
                )
            else:
                self.expected[await self.sim.say(login, words)] = words

    async def wish(self) -> None:
        """Some opt out, and some have everything erased; each after having said something."""
        for number in range(WISHING):
            leaver = f"leaver_{number}"
            erased = f"{ERASED_MARK}_{number}"
            await self.typed(leaver, "hello from the tuba club")
            for piece in range(3):
                await self.typed(erased, f"i play the {ERASED_MARK}{number} {piece}")
            await self.typed(leaver, "!optout")
            await self.typed(erased, "!forgetme")
            # the command rate limit grants one more answer after ten seconds
            await asyncio.sleep(12)
            await self.typed(erased, "!forgetme confirm")
        self.wished = True

    async def typed(self, login: str, text: str) -> None:
        """Somebody says something once the bot hears it."""
        while self.paused.is_set() or not self.heard():  # noqa: ASYNC110  # two conditions of two sides
            await asyncio.sleep(0.1)
        await self.sim.say(login, text)
        await asyncio.sleep(0.5)

    async def quiet(self) -> None:
        """Nobody says anything for a moment."""
        self.paused.set()
        await asyncio.sleep(QUIET_S)

    async def trouble(self) -> None:
        """Twitch hangs up, sends rubbish, is broken, loses an answer, ends a log-in or is away, in turn."""
        await self.quiet()
        match self.dice.randrange(4):
            case 0:
                await self.sim.garbage()
            case 1:
                self.dice.choice(TROUBLES)(self.sim)
            case 2:
                self.sim.faults.add("irc", status=503, times=2)
                await self.sim.drop()
            case _:
                await self.sim.reconnect()
        await asyncio.sleep(1)
        with contextlib.suppress(TimeoutError):
            await self.sim.until(self.heard, 60)
        self.paused.clear()


class Pressing:
    """Somebody who presses every button and runs every command of a bot, again and again, a minute apart."""

    def __init__(self, sim: TwitchSim, folder: Path, bot: Running) -> None:
        self.presser = Presser(sim, folder, bot)
        self.locks_lost = 0
        self._memory = folder / "m.sqlite3"
        self._pid = bot.pid
        self._over = asyncio.Event()
        self._task = asyncio.create_task(self._press())

    async def stop(self) -> None:
        """Press no more, after what is being pressed. What went wrong is printed."""
        self._over.set()
        await self._task
        for crash in self.presser.crashes:
            say(f"   {crash}")

    async def _press(self) -> None:
        """Press everything at every place once, then again after a pause."""
        places = (self.presser.dock, self.presser.chat, self.presser.terminal)
        while not self._over.is_set():
            for press in places:
                if not self._over.is_set():
                    await press()
                    self.locks_lost += locks_lost(
                        self._memory, self._pid, press.__name__
                    )
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), PRESS_AGAIN_S)


async def live(folder: Path, minutes: float) -> Figures:
    """Chat in real time to a bot in a process of its own, which is stopped, killed and started again."""
    async with TwitchSim() as sim:
        chat = Chat(sim, random.Random(1))  # noqa: S311  # the same again, not secrets
        talking = [asyncio.create_task(chat.talk()), asyncio.create_task(chat.wish())]
        began = time.monotonic()
        sizes = list[int]()
        pressed: list[Pressing] = []
        ends = [began + minutes * 60 * SETTLED * part for part in (0.4, 0.7, 1.0)] + [
            began + minutes * 60
        ]
        for number, end in enumerate(ends):
            chat.paused.clear()
            async with started(sim, folder, bot='mode = "mentions"') as bot:
                pressing = Pressing(sim, folder, bot)
                sizes = await _talked_until(chat, bot.pid, end)
                await pressing.stop()
                pressed.append(pressing)
                await chat.quiet()
                if end is not ends[-1] and number % 2 == 0:
                    os.kill(bot.pid, signal.SIGKILL)
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)
        sent = Counter(
            message.reply_to.id for message in sim.sent if message.reply_to is not None
        )
        figures = await _account(folder, chat)
    # compared with a quarter of the time, by when everything that is used is loaded
    settled_size = sizes[len(sizes) // 4] if len(sizes) > 4 else 0
    growth = sizes[-1] / settled_size if settled_size else 0.0
    return {
        "lines": chat.number,
        "answers": len(sim.sent),
        "processes": len(ends),
        "pressed": sum(pressing.presser.presses for pressing in pressed),
        "crashes": sum(len(pressing.presser.crashes) for pressing in pressed),
        "locks lost": sum(pressing.locks_lost for pressing in pressed),
        **figures,
        "sent twice": sum(count - 1 for count in sent.values()),
        "megabytes at the end": round(sizes[-1] / 1e6, 1) if sizes else 0,
        "growth": round(growth, 3),
    }


async def _talked_until(chat: Chat, pid: int, end: float) -> list[int]:
    """A trouble every few minutes until then; how much memory the process held, every ten seconds."""
    sizes = list[int]()
    next_trouble = time.monotonic() + 150
    while time.monotonic() < end:
        await asyncio.sleep(min(10.0, max(0.0, end - time.monotonic())))
        sizes.append(resident(pid))
        if time.monotonic() > next_trouble and end - time.monotonic() > 60:
            await chat.trouble()
            next_trouble = time.monotonic() + 240
            say(
                f"{chat.number:,} lines, {len(chat.sim.sent):,} answers, {sizes[-1] / 1e6:.1f} MB"
            )
    return sizes


async def _account(folder: Path, chat: Chat) -> Figures:
    """What the memory and its folder say at the end."""
    clock = SystemClock()
    async with open_database(folder / "m.sqlite3") as db:
        await Eraser(db=db, clock=clock).erase_due()
        rows = await db.rows("SELECT id, text FROM events")
        known = {
            row[0]: row[1]
            for row in await db.rows("SELECT login, opted_out_at FROM viewers")
        }
        stored = Counter(row["id"] for row in rows)
        not_heeded = sum(stored[line_id] for line_id in chat.after_opt_out)
        for number in range(WISHING):
            not_heeded += known.get(f"leaver_{number}") is None
            not_heeded += f"{ERASED_MARK}_{number}" in known
        broken = await broken_promises(db, clock.now())
    traces = 0
    for file in folder.rglob("*"):
        if not file.is_file():
            continue
        content = file.read_bytes()
        for mark in MARKS:
            count = content.count(mark.encode())
            if count:
                say(f"{mark} stands {count} times in {file.name}")
                traces += count
    return {
        "lost": len(chat.expected.keys() - stored.keys()),
        "changed": sum(
            row["text"] != chat.expected.get(row["id"], row["text"]) for row in rows
        ),
        "doubled": sum(count - 1 for count in stored.values()),
        "rights lost": not_heeded,
        "bytes left": traces,
        "promises broken": broken,
    }


def main() -> int:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    parser.add_argument(
        "--live", action="store_true", help="an hour of chat in real time instead"
    )
    parser.add_argument("--minutes", type=float, default=60)
    options = parser.parse_args()
    set_up(console=False)
    # the log of all those troubles would bury the figures
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="forgetmenot-soak-") as name:
        folder = Path(name) / "bot"
        folder.mkdir()
        if options.live:
            figures = asyncio.run(live(folder, options.minutes))
        else:
            figures = asyncio.run(flood(folder, 60 if options.quick else 400))
    for label, figure in figures.items():
        mark = "  must be 0" if label in MUST_BE_ZERO else ""
        print(f"{label:26}{figure:>10,g}{mark}")
    broken = any(figures.get(label) for label in MUST_BE_ZERO)
    return int(broken or figures.get("growth", 0) > MAY_GROW)


if __name__ == "__main__":
    sys.exit(main())
