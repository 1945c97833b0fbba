"""Log-in on loopback, through the real twitchio."""

import asyncio

import aiohttp
import pytest
import twitchio
from twitchio.authentication import Scopes

from tests.loopback_servers.twitch import TwitchSim

SCOPES = Scopes(["chat:read", "user:write:chat"])


async def test_a_device_code_is_approved_and_gives_tokens(sim: TwitchSim, client: twitchio.Client) -> None:
    flow = await client.login_dcf(load_token=False, save_token=False, scopes=SCOPES)
    assert flow is not None
    assert flow["verification_uri"].startswith(sim.url)
    waiting = asyncio.create_task(
        client.start_dcf(device_code=flow["device_code"], interval=0, scopes=SCOPES, block=False)
    )
    await sim.until(lambda: sim.oauth.codes[0].polls > 0)
    sim.approve(flow["user_code"], "bot")
    await waiting

    token = sim.tokens.issued[0]
    assert client.user is not None
    assert client.user.name == "bot"
    assert sorted(token.scopes) == ["chat:read", "user:write:chat"]
    assert client.tokens[token.user_id]["token"] == token.access


async def test_a_code_that_nobody_typed_ends_the_log_in(sim: TwitchSim, client: twitchio.Client) -> None:
    flow = await client.login_dcf(load_token=False, save_token=False, scopes=SCOPES)
    assert flow is not None
    sim.oauth.let_expire(flow["user_code"])
    with pytest.raises(twitchio.DeviceCodeFlowException) as raised:
        await client.start_dcf(device_code=flow["device_code"], scopes=SCOPES, block=False)
    assert raised.value.reason is twitchio.DeviceCodeRejection.INVALID_DEVICE_CODE
    with pytest.raises(KeyError):
        sim.approve(flow["user_code"], "bot")


async def test_the_page_of_the_code_approves_it(sim: TwitchSim, client: twitchio.Client) -> None:
    flow = await client.login_dcf(load_token=False, save_token=False, scopes=SCOPES)
    assert flow is not None
    async with aiohttp.ClientSession() as session:
        async with session.get(flow["verification_uri"]) as page:
            assert flow["user_code"] in await page.text()
        for status in (200, 200):
            async with session.get(f"{flow['verification_uri']}&login=bot") as page:
                assert page.status == status
    assert sim.oauth.codes[0].approved_by == "bot"


async def test_a_refresh_token_is_good_once(
    sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser, bot_id: str
) -> None:
    assert sim.tokens.refresh(client.tokens[bot_id]["refresh"]) is not None
    sim.expire()
    with pytest.raises(twitchio.HTTPException) as raised:
        await client.fetch_users(ids=[bot_id], token_for=bot_id)
    assert raised.value.status == 400
    assert sim.tokens.refused_refreshes == 1


async def test_revoke_is_200_without_a_body(sim: TwitchSim) -> None:
    token = sim.grant("bot")
    asked = {"client_id": sim.client_id, "token": token.access}
    async with aiohttp.ClientSession() as session:
        for status in (200, 400):
            async with session.post(f"{sim.id_url}oauth2/revoke", data=asked) as answer:
                assert answer.status == status
    assert sim.tokens.refresh(token.refresh) is None
    assert sim.tokens.valid(token.access) is None


@pytest.mark.parametrize(
    ("path", "asked", "status"),
    [
        ("oauth2/device", {"client_id": "wrong"}, 400),
        ("oauth2/token", {"client_id": "wrong"}, 400),
        ("oauth2/token", {"client_id": "simclientid", "grant_type": "password"}, 400),
        ("oauth2/revoke", {"client_id": "wrong", "token": "x"}, 404),
    ],
)
async def test_what_is_not_right_is_refused(sim: TwitchSim, path: str, asked: dict[str, str], status: int) -> None:
    async with aiohttp.ClientSession() as session, session.post(sim.id_url + path, params=asked) as answer:
        assert answer.status == status
        assert (await answer.json())["status"] == status
