"""The log-in server and Helix behind a proxy."""

import asyncio

import pytest
from msgspec.structs import replace

from forgetmenot.errors import TwitchUnavailable
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.login import begin_device_login
from tests.contract.conftest import MakeHelix, MakeLogin
from tests.loopback_servers.twitch import TwitchSim

SCOPES = ("chat:read", "user:write:chat")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names no proxy."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


async def test_log_in_and_helix_go_through_the_proxy(
    sim: TwitchSim, settings: Settings, make_helix: MakeHelix, make_login: MakeLogin, environment: pytest.MonkeyPatch
) -> None:
    """Also one that is named without http://."""
    twitch = replace(settings.twitch, server="http://twitch.invalid")
    far = Settings(twitch=twitch)
    environment.setenv("http_proxy", sim.url.removeprefix("http://").rstrip("/"))
    login = make_login(settings=far)
    sim.expire()
    assert (await login.validate()).login == "keeper"
    await make_helix(login, settings=lambda: far).channel_state()
    assert sim.requests[-1].headers["Host"] == "twitch.invalid"


async def test_a_proxy_is_given_its_password_and_nothing_else(
    settings: Settings, environment: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    far = Settings(twitch=replace(settings.twitch, server="https://twitch.invalid"))
    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        environment.setenv("https_proxy", f"http://me:käse@127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        with pytest.raises(TwitchUnavailable, match="the proxy refused"):
            await begin_device_login(far, SCOPES)
    assert asked[0].startswith("CONNECT twitch.invalid:443 ")
    assert "Proxy-Authorization: Basic bWU6a8Okc2U=" in asked[0]


@pytest.mark.parametrize("proxy", ["http://me:secret@proxy.lan:99999", "socks5://me:secret@proxy.lan:1080"])
async def test_a_proxy_that_cannot_be_used_is_one_sentence(
    settings: Settings,
    make_helix: MakeHelix,
    make_login: MakeLogin,
    environment: pytest.MonkeyPatch,
    proxy: str,
) -> None:
    far = Settings(twitch=replace(settings.twitch, server="https://twitch.invalid"))
    environment.setenv("https_proxy", proxy)
    with pytest.raises(TwitchUnavailable, match="ask for a code: HTTPS_PROXY") as raised:
        await begin_device_login(far, SCOPES)
    assert "secret" not in str(raised.value)
    with pytest.raises(TwitchUnavailable, match="HTTPS_PROXY"):
        await make_helix(make_login(), settings=lambda: far).room_id()
