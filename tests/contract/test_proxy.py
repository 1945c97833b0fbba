"""The log-in server and Helix behind a proxy."""

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
