"""`forgetmenot sim`: a pretend Twitch on this machine, for whoever builds on the bot."""

import argparse
import asyncio
import sys
import threading
from typing import TYPE_CHECKING

from forgetmenot.cli.common import Commands, add_json_option, emit, run_async, say

if TYPE_CHECKING:
    from forgetmenot.sim.twitch import TwitchSim

HELP = """\
Type `alice: hello` to let alice say hello; `!delete alice`, `!timeout alice 60`, `!ban alice`, `!clear`,
`!live`, `!offline`. What goes wrong: `!drop`, `!reconnect`, `!stall`, `!garbage`, `!html [TIMES]` (a captive portal
where chat was), `!expire`, `!fault helix 429 [TIMES]` (or `oauth`, `irc`; any status from 400), `!slow helix SECONDS
[TIMES]`. Ctrl-C ends it."""
PLACES = ("helix", "oauth", "irc")


def add(subparsers: Commands) -> None:
    """The command's options."""
    parser = subparsers.add_parser(
        "sim",
        help="start a pretend Twitch on this machine and print its addresses",
        description="A pretend Twitch (chat, log-in, Helix) on the loopback interface, to build and to try things on. "
        + HELP,
    )
    parser.add_argument("--channel", default="demo", metavar="NAME", help="the channel's name (default: demo)")
    parser.add_argument("--bot", default="forgetmenot", metavar="NAME", help="the bot's account (default: forgetmenot)")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: any free one)")
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C. Raises InputError for a name or a port that cannot be."""
    arguments.channel = _name("channel", arguments.channel)
    arguments.bot = _name("bot", arguments.bot)
    return run_async(_serve(arguments))


def _name(option: str, given: str) -> str:
    """A name as Twitch keeps it. Raises InputError for what is none."""
    from forgetmenot.errors import InputError

    name = _login(given)
    if not name:
        raise InputError(f"--{option} {given!r} is no name on Twitch: up to 25 letters, digits and _.")
    return name


def _login(given: str) -> str:
    from forgetmenot.text.logins import is_login, login_of

    name = login_of(given.strip())
    return name if is_login(name) else ""


async def _serve(arguments: argparse.Namespace) -> int:
    from forgetmenot.errors import InputError
    from forgetmenot.sim.twitch import TwitchSim

    try:
        async with TwitchSim(channel=arguments.channel, port=arguments.port) as sim:
            _show(sim, arguments)
            await _take_lines(sim)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "ports go from 0 to 65535"
        raise InputError(f"Port {arguments.port} cannot be used: {why}. Leave --port out.") from error
    return 0


def _show(sim: "TwitchSim", arguments: argparse.Namespace) -> None:
    bot, owner = sim.grant(arguments.bot), sim.grant(arguments.channel)
    sim.world.moderator(arguments.bot)
    sim.go_live()
    facts = {
        "channel": arguments.channel,
        "irc": sim.irc_url,
        "helix": sim.helix_url,
        "id": sim.id_url,
        "client_id": sim.client_id,
        "bot": {"login": bot.login, "id": bot.user_id, "token": bot.access, "refresh": bot.refresh},
        "broadcaster": {"login": owner.login, "id": owner.user_id, "token": owner.access, "refresh": owner.refresh},
    }
    if arguments.json:
        emit(facts)
        return
    for name in ("channel", "irc", "helix", "id", "client_id"):
        say(f"{name:12}{facts[name]}")
    say(f"{'bot':12}{bot.login}, a moderator; token {bot.access}, refresh token {bot.refresh}")
    say(f"{'broadcaster':12}{owner.login}; token {owner.access}, refresh token {owner.refresh}\n")
    say(HELP)


async def _take_lines(sim: "TwitchSim") -> None:
    sim.chat.on_said = lambda said: say(f"<{said.user.login}> {said.text}")
    typed: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_listen, args=(loop, typed), daemon=True).start()
    while True:
        line = (await typed.get()).strip()
        try:
            await _take(sim, line)
        except (KeyError, ValueError):
            say(f"That was not understood: {line}\n{HELP}")


def _listen(loop: asyncio.AbstractEventLoop, typed: "asyncio.Queue[str]") -> None:
    for line in sys.stdin:  # a thread of its own, as a console cannot be awaited on every system
        loop.call_soon_threadsafe(typed.put_nowait, line)


async def _take(sim: "TwitchSim", line: str) -> None:
    if line.startswith("!"):
        verb, *words = line[1:].split()
        if not await _trouble(sim, verb, words):
            await _command(sim, verb, words[0].lower() if words else "", int(words[1]) if len(words) > 1 else 60)
    elif line:
        name, _, text = line.partition(":")
        login = _login(name)
        if not text.strip() or not login:
            raise ValueError(line)
        await sim.say(login, text.strip())


async def _command(sim: "TwitchSim", verb: str, login: str, seconds: int) -> None:
    match verb:
        case "delete":
            await sim.clear_message(_last_of(sim, login))
        case "timeout" if login:
            await sim.timeout(login, seconds)
        case "ban" if login:
            await sim.ban(login)
        case "clear":
            await sim.clear_chat()
        case "live":
            sim.go_live()
        case "offline":
            sim.go_offline()
        case _:
            raise ValueError(verb)


async def _trouble(sim: "TwitchSim", verb: str, words: list[str]) -> bool:
    """Let something go wrong; False if that is no trouble. Raises ValueError."""
    match verb:
        case "drop":
            await sim.drop()
        case "reconnect":
            await sim.reconnect()
        case "stall":
            sim.stall()
        case "garbage":
            await sim.garbage()
        case "expire":
            sim.expire()
        case "html":
            sim.faults.add("irc", html=True, times=_times(words))
            await sim.drop()
        case "fault":
            _fault(sim, words)
        case "slow":
            _slow(sim, words)
        case _:
            return False
    return True


def _fault(sim: "TwitchSim", words: list[str]) -> None:
    where, status = words[0].lower() if words else "", int(words[1]) if len(words) > 1 else 0
    if where not in PLACES or not 400 <= status <= 599:
        raise ValueError(where)
    headers = {"Retry-After": "2"} if status == 429 else {}
    sim.faults.add(where, status=status, times=_times(words[2:]), headers=headers)


def _slow(sim: "TwitchSim", words: list[str]) -> None:
    where, seconds = words[0].lower() if words else "", float(words[1]) if len(words) > 1 else 0.0
    if where not in PLACES or not 0 < seconds < float("inf"):
        raise ValueError(where)
    sim.faults.add(where, delay=seconds, times=_times(words[2:]))


def _times(words: list[str]) -> int:
    times = int(words[0]) if words else 1
    if times < 1:
        raise ValueError(times)
    return times


def _last_of(sim: "TwitchSim", login: str) -> str:
    return next((said.id for said in reversed(sim.log) if said.user.login == login), "")
