"""Hours of a bad Twitch in less than a minute: `python scripts/soak.py [--json] [--quick]`.

Everything goes through what the bot really uses (its connection to chat, its queue, twitchio) against a Twitch on
loopback that drops, garbles, refuses and loses answers. Prints what was done to it and what came of it; the exit
code is 1 if anything was lost, doubled or over a limit. Nothing leaves this machine, and nothing stays on it.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

from forgetmenot.clock import Clock, ManualClock, SystemClock
from forgetmenot.domain import ChatEvent, Outcome
from forgetmenot.logs import set_up
from forgetmenot.reply.outbox import Outbox, Outgoing, Sent
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import Settings, TwitchSettings
from forgetmenot.store import bot_messages
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database, open_database
from forgetmenot.twitch.chat_lines import ChatItem
from forgetmenot.twitch.connection import Gap, IrcConnection
from forgetmenot.twitch.helix import Helix
from forgetmenot.twitch.login import Login
from tests.loopback_servers.twitch import TwitchSim

Figures = dict[str, int]
NOON = 1_784_894_400_000
RECAP_DEADLINE = 3_600_000
MUST_BE_ZERO = (
    "events lost",
    "events doubled",
    "renewals wasted",
    "messages doubled",
    "messages lost",
    "fates told wrongly",
    "rate breaches",
)


class Hasty(SystemClock):
    """The machine's clock without its pauses."""

    async def sleep(self, ms: int) -> None:  # noqa: ARG002  # that is the point
        """Let others run."""
        await asyncio.sleep(0)


def settings_for(sim: TwitchSim, server: str = "") -> Settings:
    """Settings that point at that Twitch."""
    return Settings(
        twitch=TwitchSettings(
            channel="demo",
            bot_login="keeper",
            client_id=sim.client_id,
            server=server or sim.url,
        )
    )


@contextlib.asynccontextmanager
async def logged_in_helix(sim: TwitchSim, folder: Path, clock: Clock, server: str = "") -> AsyncIterator[Helix]:
    """The bot's Helix client, logged in. `server`: of another Twitch than that one."""
    settings, granted = settings_for(sim, server), sim.grant("keeper")
    store = TokenStore(folder / "login", use_keyring=False)
    token = Token(granted.access, granted.refresh, granted.user_id, "keeper", tuple(granted.scopes))
    store.save(Account.BOT, token)
    login = Login(account=Account.BOT, store=store, settings=lambda: settings, clock=clock)
    helix = Helix(settings=lambda: settings, bot=login)
    try:
        yield helix
    finally:
        await helix.aclose()


# ── reading ─────────────────────────────────────────────────────────────────────────────────


async def read_through(drops: int) -> Figures:
    """One line of chat between any two troubles of the connection; at last so many failures in a row."""
    async with TwitchSim() as sim:
        settings = settings_for(sim)
        heard: list[ChatItem | Gap] = []
        reading = asyncio.create_task(_listen(IrcConnection(settings=lambda: settings, clock=Hasty()), heard))
        said = []
        for number in range(drops):
            await sim.joined()
            said.append(await sim.say("alice", f"line {number}"))
            await sim.until(lambda: said[-1] in _ids(heard))
            await _cut(sim, number)
            await sim.until(lambda: len(_gaps(heard)) > number, 10)  # noqa: B023  # awaited in this round
        in_a_row = sim.faults.add("irc", drop=True, times=drops)
        await sim.drop()
        await sim.until(lambda: in_a_row.used >= drops, 60)
        await sim.joined()
        said.append(await sim.say("alice", "at last"))
        await sim.until(lambda: said[-1] in _ids(heard))
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    counted = Counter(_ids(heard))
    return {
        "drops": drops + 1,
        "failed attempts in a row": drops,
        "events said": len(said),
        "events lost": len(set(said) - set(counted)),
        "events doubled": sum(counted.values()) - len(counted),
        "gaps told": len(_gaps(heard)),
    }


async def _listen(connection: IrcConnection, heard: list[ChatItem | Gap]) -> None:
    async with aclosing(connection.events()) as events:
        async for item in events:
            heard.append(item)  # noqa: PERF401  # the list is looked at meanwhile


async def _cut(sim: TwitchSim, number: int) -> None:
    """Hang up, ask to come again, send rubbish, be a captive portal, answer nobody."""
    match number % 5:
        case 1:
            await sim.reconnect()
            return
        case 2:
            await sim.garbage()
        case 3:
            sim.faults.add("irc", html=True, times=2)
        case 4:
            sim.faults.add("irc", status=503)
    await sim.drop()


def _ids(heard: list[ChatItem | Gap]) -> list[str]:
    return [item.id for item in heard if isinstance(item, ChatEvent)]


def _gaps(heard: list[ChatItem | Gap]) -> list[Gap]:
    return [item for item in heard if isinstance(item, Gap)]


# ── renewing ────────────────────────────────────────────────────────────────────────────────


async def race(folder: Path, races: int) -> Figures:
    """Twenty calls at once on a token that has just expired, again and again."""
    async with TwitchSim() as sim, logged_in_helix(sim, folder, SystemClock()) as helix:
        answered = 0
        for _ in range(races):
            sim.expire()
            answered += sum(map(bool, await asyncio.gather(*(helix.id_of("demo") for _ in range(20)))))
        wasted = sim.oauth.refreshes - races + sim.oauth.refused_refreshes + races * 20 - answered
    return {"refresh races": races, "calls in them": answered, "renewals wasted": wasted}


# ── sending ─────────────────────────────────────────────────────────────────────────────────


def _fault(**what: object) -> Callable[[TwitchSim], object]:
    return lambda sim: sim.faults.add("helix", path="chat/messages", **what)


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
        self.sim, self.out, self.calls, self.troubles = sim, out, 0, 0

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
    async with TwitchSim(now=clock.now) as sim, logged_in_helix(sim, folder, clock) as helix:
        out = Troubled(sim, helix)
        async with open_database(folder / "memory.sqlite3") as db:
            turning = asyncio.create_task(_turn(clock))
            fates: dict[str, Sent] = {}
            for run in range(3):
                texts = [f"message {number}" for number in range(messages) if number % 3 == run]
                fates |= await _one_run(db, clock, out, texts)
            turning.cancel()
            await asyncio.gather(turning, return_exceptions=True)
        return _fate(sim, out, fates)


async def _one_run(db: Database, clock: ManualClock, out: Troubled, texts: list[str]) -> dict[str, Sent]:
    box = Outbox(db=db, out=out, clock=clock, settings=Settings)
    await box.recover()
    worker = asyncio.create_task(box.run())
    sent = await asyncio.gather(*(_send(db, clock, box, text) for text in texts))
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    return dict(zip(texts, sent, strict=True))


async def _send(db: Database, clock: ManualClock, box: Outbox, text: str) -> Sent:
    async with db.write() as tx:
        row = await bot_messages.begin(
            tx, at=clock.now(), event_id=f"asked {text}", viewer_id=None, trigger="mention", mode="live"
        )
    return await box.send(Outgoing(row, text, clock.now() + RECAP_DEADLINE, text))


async def _turn(clock: ManualClock) -> None:
    while True:
        await clock.advance(250)
        await asyncio.sleep(0.001)


def _fate(sim: TwitchSim, out: Troubled, fates: dict[str, Sent]) -> Figures:
    shown = Counter(said.text for said in sim.sent)
    sent = [text for text, fate in fates.items() if fate.status is ReplyStatus.SENT]
    unsure = [text for text, fate in fates.items() if fate.status is ReplyStatus.UNKNOWN]
    unsent = {text: fate.detail for text, fate in fates.items() if text not in sent and text not in unsure}
    return {
        "faults while sending": out.troubles,
        "messages": len(fates),
        "messages shown": len(shown),
        "refused, with a reason": sum(bool(detail) for detail in unsent.values()),
        "of unknown fate": len(unsure),
        "messages doubled": sum(shown.values()) - len(shown),
        "messages lost": sum(not detail for detail in unsent.values()),
        "fates told wrongly": sum(text not in shown for text in sent) + sum(text in shown for text in unsent),
        "rate breaches": sim.drops.breaches,
    }


async def soak(folder: Path, *, quick: bool = False) -> Figures:
    """All of it."""
    figures = await read_through(25 if quick else 1_000)
    figures |= await race(folder, 5 if quick else 100)
    return figures | await flood(folder, 60 if quick else 400)


def main() -> int:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    wanted = parser.parse_args()
    set_up(console=False)
    logging.disable(logging.CRITICAL)  # the log of all those troubles would bury the figures
    with tempfile.TemporaryDirectory(prefix="forgetmenot-soak-") as folder:
        figures = asyncio.run(soak(Path(folder), quick=wanted.quick))
    lines = (f"{name:26}{figure:>7,}{'  must be 0' * (name in MUST_BE_ZERO)}" for name, figure in figures.items())
    print(json.dumps(figures) if wanted.json else "\n".join(lines))
    return 1 if any(figures[name] for name in MUST_BE_ZERO) else 0


if __name__ == "__main__":
    sys.exit(main())
