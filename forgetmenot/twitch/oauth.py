"""Twitch's log-in server, through twitchio's client for it: one short-lived client for each thing that is asked."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp

from forgetmenot.errors import TwitchLoginNeeded, TwitchRefused, TwitchUnavailable
from forgetmenot.languages import reason
from forgetmenot.late_imports import load_off_the_loop
from forgetmenot.network import by_proxy, trusted
from forgetmenot.secret_store import Token
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.error_translation import translated

if TYPE_CHECKING:
    from twitchio.authentication import OAuth

_ANSWER_WITHIN = aiohttp.ClientTimeout(total=15)


def point_twitchio_at(settings: Settings) -> None:
    """Let twitchio talk to the addresses in the settings. It knows only one place for all its clients."""
    from twitchio.eventsub import websockets
    from twitchio.http import Route

    twitch = settings.twitch
    if twitch.server:
        websockets.WSS = twitch.irc_url.removesuffix("irc") + "eventsub"
    Route.BASE, Route.ID_BASE = twitch.helix_url, twitch.id_url


@asynccontextmanager
async def oauth(settings: Settings) -> AsyncIterator["OAuth"]:
    """A short-lived client of Twitch's log-in. Raises TwitchLoginNeeded without a client id."""
    if not settings.twitch.client_id:
        raise TwitchLoginNeeded(reason("client_unset", make_app=reason("make_app")))
    await load_off_the_loop("twitchio")
    from twitchio.authentication import OAuth

    point_twitchio_at(settings)
    certain = aiohttp.TCPConnector(ssl=trusted())
    async with aiohttp.ClientSession(connector=certain, middlewares=(by_proxy,), timeout=_ANSWER_WITHIN) as session:
        yield OAuth(client_id=settings.twitch.client_id, session=session)


# Device code flow: ask for a code, then wait until a person has typed it on Twitch's page.


_ASKED_AGAIN = "Twitch asks to try again."


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """A log-in that waits for a person: what to type, where, how often to ask (s) and for how long (s)."""

    device_code: str
    user_code: str
    address: str
    interval: int
    expires_in: int


async def begin_device_login(settings: Settings, scopes: tuple[str, ...]) -> DeviceCode:
    """Ask Twitch for a code. Raises TwitchError."""
    with translated("ask for a code", again=False):
        async with oauth(settings) as client:
            from twitchio.authentication import Scopes

            answer = await client.device_code_flow(scopes=Scopes(scopes))
    return DeviceCode(
        device_code=answer["device_code"],
        user_code=answer["user_code"],
        address=answer["verification_uri"],
        interval=int(answer["interval"]),
        expires_in=int(answer["expires_in"]),
    )


async def finish_device_login(settings: Settings, code: DeviceCode, scopes: tuple[str, ...]) -> Token:
    """Wait until the person has typed the code, through outages too. Raises TwitchRefused when the code runs out."""
    try:
        async with asyncio.timeout(code.expires_in):
            while True:
                # the code stays valid on Twitch's side, so an outage only costs the time
                with contextlib.suppress(TwitchUnavailable):
                    return await _poll(settings, code, scopes)
                await asyncio.sleep(code.interval)
    except TimeoutError:
        raise TwitchRefused("Nobody typed the code in time. Type `forgetmenot login` for a new one.") from None


async def _poll(settings: Settings, code: DeviceCode, scopes: tuple[str, ...]) -> Token:
    with translated("log in"):
        async with oauth(settings) as client:
            from twitchio.authentication import Scopes
            from twitchio.exceptions import DeviceCodeFlowException

            try:
                answer = await client.device_code_authorization(
                    device_code=code.device_code, interval=code.interval, scopes=Scopes(scopes)
                )
            except DeviceCodeFlowException as error:
                if error.status == 429:
                    raise TwitchUnavailable(_ASKED_AGAIN) from None
                if error.status < 500:
                    raise TwitchRefused(
                        "The code has expired or was refused. Type `forgetmenot login` again."
                    ) from None
                raise
            except ValueError as error:  # twitchio knows only two reasons and stumbles over any other
                if "DeviceCodeRejection" not in str(error) or "slow_down" in str(error):
                    raise TwitchUnavailable(_ASKED_AGAIN) from None
                raise TwitchRefused("Twitch did not accept the code. Type `forgetmenot login` again.") from None
    return Token(answer["access_token"], answer["refresh_token"])
