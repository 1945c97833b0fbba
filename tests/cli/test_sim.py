"""`forgetmenot sim` serves a pretend Twitch and does what is typed."""

import argparse
import asyncio
import json
import socket
import sys
from asyncio.subprocess import PIPE, Process

import aiohttp
import pytest

from forgetmenot.cli import sim
from forgetmenot.errors import InputError
from forgetmenot.sim.reader import Reader
from forgetmenot.sim.twitch import TwitchSim

START = "import argparse, sys; from forgetmenot.cli import sim; p = argparse.ArgumentParser(); \
sim.add(p.add_subparsers()); a = p.parse_args(sys.argv[1:]); a.run(a)"


async def _start(*options: str) -> Process:
    words = (sys.executable, "-c", START, "sim", *options)
    return await asyncio.create_subprocess_exec(*words, stdin=PIPE, stdout=PIPE, stderr=PIPE)


async def test_it_prints_its_addresses_and_plays_what_is_typed() -> None:
    process = await _start("--channel", "#Tea", "--bot", "Keeper", "--json")
    assert process.stdin is not None
    assert process.stdout is not None
    facts = json.loads(await process.stdout.readline())
    assert (facts["channel"], facts["bot"]["login"]) == ("tea", "keeper"), "names as Twitch knows them"

    async with aiohttp.ClientSession() as session, session.ws_connect(facts["irc"]) as chat:
        reader = Reader(chat)
        await reader.send("CAP REQ :twitch.tv/tags twitch.tv/commands", "NICK justinfan1", "JOIN #tea")
        await reader.until("ROOMSTATE")
        for typed, heard in (
            ("alice: hello", "PRIVMSG #tea :hello"),
            ("3rd_alice: hello", "3rd_alice.tmi.twitch.tv PRIVMSG #tea :hello"),
            ("!delete alice", "CLEARMSG"),
            ("nonsense\n!nonsense\n!timeout eve 5", "ban-duration=5"),
            ("!ban eve", "CLEARCHAT #tea :eve"),
            ("!clear", "CLEARCHAT #tea"),
            ("!offline\n!live\n!expire\n!reconnect", "RECONNECT"),
        ):
            process.stdin.write(f"{typed}\n".encode())
            assert await reader.until(heard)
    process.terminate()
    _, errors = await process.communicate()
    assert b"not understood: nonsense" in errors
    assert b"Traceback" not in errors


async def test_troubles_are_typed_too() -> None:
    async with TwitchSim() as twitch, aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {twitch.grant('keeper').access}", "Client-Id": twitch.client_id}

        async def status() -> int:
            async with session.get(f"{twitch.helix_url}users?login=demo", headers=headers) as answer:
                return answer.status

        await sim._take(twitch, "!fault helix 429")
        await sim._take(twitch, "!fault helix 503 2")
        assert [await status() for _ in range(4)] == [429, 503, 503, 200]
        await sim._take(twitch, "!slow helix 1")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(status(), 0.2)
        assert await status() == 200
        async with session.ws_connect(twitch.irc_url) as chat:
            reader = Reader(chat)
            await reader.send("CAP REQ :twitch.tv/tags twitch.tv/commands", "NICK justinfan1", "JOIN #demo")
            await reader.until("ROOMSTATE")
            await sim._take(twitch, "!garbage")
            assert (await chat.receive(timeout=5)).type is aiohttp.WSMsgType.BINARY
            await sim._take(twitch, "!stall")
            assert twitch.irc.connections[0].stalled
            await sim._take(twitch, "!html 2")
            assert (await chat.receive(timeout=5)).type in {aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR}
        for _ in range(2):
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(twitch.irc_url)
        async with session.ws_connect(twitch.irc_url):
            pass
        for wrong in (
            "!fault",
            "!fault moon 429",
            "!fault helix 200",
            "!fault helix 429 0",
            "!html x",
            "!slow",
            "!slow helix 0",
        ):
            with pytest.raises(ValueError):  # noqa: PT011  # whatever it says: the help is shown
                await sim._take(twitch, wrong)


@pytest.mark.parametrize("words", [("--channel", "#"), ("--channel", "two words"), ("--bot", "")])
def test_a_name_that_nobody_can_have_is_refused(words: tuple[str, str]) -> None:
    parser = argparse.ArgumentParser()
    sim.add(parser.add_subparsers())
    with pytest.raises(InputError, match=f"{words[0]} .* letters, digits and _"):
        sim.run(parser.parse_args(["sim", *words]))


def test_a_port_that_is_taken_is_one_sentence() -> None:
    parser = argparse.ArgumentParser()
    sim.add(parser.add_subparsers())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = parser.parse_args(["sim", "--port", port])
        with pytest.raises(InputError, match=f"Port {port} cannot be used"):
            arguments.run(arguments)
