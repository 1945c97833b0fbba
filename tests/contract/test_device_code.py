"""A log-in by a code, against a loopback Twitch: through outages, until it runs out."""

import asyncio

import pytest

from forgetmenot.errors import TwitchRefused
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.login import begin_device_login, finish_device_login
from tests.loopback_servers.twitch import TwitchSim

SCOPES = ("chat:read", "user:write:chat")


async def test_a_code_is_typed_slowly_through_outages(sim: TwitchSim, settings: Settings) -> None:
    sim.oauth.interval = 0
    code = await begin_device_login(settings, SCOPES)
    sim.faults.add("oauth", path="oauth2/token", status=500)
    sim.faults.add("oauth", path="oauth2/token", drop=True)
    sim.faults.add("oauth", path="oauth2/token", html=True)
    sim.faults.add("oauth", path="oauth2/token", status=429)
    waiting = asyncio.create_task(finish_device_login(settings, code, SCOPES))
    await sim.until(lambda: sim.oauth.codes[0].polls > 3)
    sim.approve(code.user_code, "keeper")
    token = await waiting
    granted = sim.tokens.valid(token.access)
    assert granted is not None
    assert (granted.login, set(granted.scopes)) == ("keeper", set(SCOPES))
    assert code.user_code in code.address


async def test_a_code_that_runs_out_is_one_sentence(sim: TwitchSim, settings: Settings) -> None:
    sim.oauth.interval = 0
    code = await begin_device_login(settings, SCOPES)
    sim.faults.add("oauth", path="oauth2/token", status=400, body={"status": 400, "message": "slow_down"})
    sim.oauth.let_expire(code.user_code)
    with pytest.raises(TwitchRefused, match="expired"):
        await finish_device_login(settings, code, SCOPES)
