"""A pretend Twitch on this machine to build and try things on: `python scripts/twitch_sim.py [--channel NAME]`.

Prints its addresses and tokens, then takes lines from standard input: what people say, and what goes wrong.
"""

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from forgetmenot.text.mentions import is_login, login_of
from tests.loopback_servers.twitch import TwitchSim

HELP = """\
Type `alice: hello` to let alice say hello; `!delete alice`, `!timeout alice 60`, `!ban alice`, `!clear`,
`!live`, `!offline`, `!approve CODE NAME` (a log-in by code). What goes wrong: `!drop`, `!reconnect`, `!stall`,
`!garbage`, `!expire`, `!html [TIMES]` (a captive portal where chat was), `!fault helix 429 [TIMES]` (or `oauth`,
`irc`; any status from 400), `!slow helix SECONDS [TIMES]`. Ctrl-C ends it."""
PLACES = ("helix", "oauth", "irc")


def main() -> int:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, epilog=HELP)
    parser.add_argument("--channel", default="demo", type=_login, metavar="NAME", help="the channel (default: demo)")
    parser.add_argument("--bot", default="forgetmenot", type=_login, metavar="NAME", help="the bot's account")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: any free one)")
    try:
        asyncio.run(serve(parser.parse_args()))
    except KeyboardInterrupt:
        return 130
    except (OSError, OverflowError) as error:
        print(f"The port cannot be used: {error}. Leave --port out.", file=sys.stderr)
        return 2
    return 0


def _login(given: str) -> str:
    name = login_of(given.strip())
    if not is_login(name):
        raise argparse.ArgumentTypeError(f"{given!r} is no name on Twitch: up to 25 letters, digits and _.")
    return name


async def serve(arguments: argparse.Namespace) -> None:
    """Print the addresses as JSON, then do what is typed."""
    async with TwitchSim(channel=arguments.channel, port=arguments.port) as sim:
        bot, owner = sim.grant(arguments.bot), sim.grant(arguments.channel)
        sim.world.moderator(arguments.bot)
        sim.go_live()
        facts = {"channel": arguments.channel, "irc": sim.irc_url, "helix": sim.helix_url, "id": sim.id_url}
        facts |= {"client_id": sim.client_id}
        accounts = {
            name: {"login": token.login, "id": token.user_id, "token": token.access, "refresh": token.refresh}
            for name, token in (("bot", bot), ("broadcaster", owner))
        }
        print(json.dumps(facts | accounts), flush=True)
        sim.irc.on_said = lambda said: print(f"<{said.user.login}> {said.text}", file=sys.stderr)
        typed: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        threading.Thread(target=_listen, args=(loop, typed), daemon=True).start()
        while True:
            line = (await typed.get()).strip()
            try:
                await take(sim, line)
            except (KeyError, ValueError, IndexError):
                print(f"That was not understood: {line}\n{HELP}", file=sys.stderr)


def _listen(loop: asyncio.AbstractEventLoop, typed: "asyncio.Queue[str]") -> None:
    for line in sys.stdin:  # a thread of its own, as a console cannot be awaited on every system
        loop.call_soon_threadsafe(typed.put_nowait, line)


async def take(sim: TwitchSim, line: str) -> None:
    """Do one line. Raises KeyError, ValueError or IndexError for what is not understood."""
    if not line:
        return
    if not line.startswith("!"):
        name, _, text = line.partition(":")
        if not text.strip() or not is_login(login_of(name)):
            raise ValueError(line)
        await sim.say(login_of(name), text.strip())
        return
    verb, *words = line[1:].split()
    done = _verbs(sim, words)[verb]()
    if done is not None:
        await done


def _verbs(sim: TwitchSim, words: list[str]) -> dict[str, Callable[[], Awaitable[object] | None]]:
    login = words[0].lower() if words else ""
    return {
        "delete": lambda: sim.clear_message(next(said.id for said in reversed(sim.log) if said.user.login == login)),
        "timeout": lambda: sim.timeout(words[0].lower(), int(words[1]) if len(words) > 1 else 60),
        "ban": lambda: sim.ban(login),
        "clear": sim.clear_chat,
        "live": lambda: _none(sim.go_live()),
        "approve": lambda: sim.approve(words[0], words[1].lower()),
        "offline": sim.go_offline,
        "drop": sim.drop,
        "reconnect": sim.reconnect,
        "stall": sim.stall,
        "garbage": sim.garbage,
        "expire": sim.expire,
        "html": lambda: _portal(sim, words),
        "fault": lambda: _fault(sim, words, status=int(words[1])),
        "slow": lambda: _fault(sim, words, delay=float(words[1])),
    }


def _none(_value: object) -> None:
    """For verbs whose result nobody needs."""


async def _portal(sim: TwitchSim, words: list[str]) -> None:
    sim.faults.add("irc", html=True, times=_times(words))
    await sim.drop()


def _fault(sim: TwitchSim, words: list[str], *, status: int = 0, delay: float = 0.0) -> None:
    if words[0] not in PLACES or not (400 <= status <= 599 or 0 < delay < float("inf")):
        raise ValueError(words)
    headers = {"Retry-After": "2"} if status == 429 else {}
    sim.faults.add(words[0], status=status, delay=delay, times=_times(words[2:]), headers=headers)


def _times(words: list[str]) -> int:
    times = int(words[0]) if words else 1
    if times < 1:
        raise ValueError(times)
    return times


if __name__ == "__main__":
    sys.exit(main())
