"""Logging in by a code that a person types on Twitch's page: ask for the code, wait until it was typed."""

import asyncio
import contextlib
from dataclasses import dataclass

from forgetmenot.errors import TwitchRefused, TwitchUnavailable
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.oauth import oauth
from forgetmenot.twitch.tokens import Token
from forgetmenot.twitch.translate import translated

_ASKED_AGAIN = "Twitch asks to be asked again."


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
    try:
        with translated("ask for a code", again=False):
            async with oauth(settings) as client:
                from twitchio.authentication import Scopes

                answer = await client.device_code_flow(scopes=Scopes(scopes))
    except TwitchUnavailable as error:
        raise TwitchUnavailable(f"{error} Check the network, then type `forgetmenot login` again.") from error
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
                        "The code has run out or was refused. Type `forgetmenot login` again."
                    ) from None
                raise
            except ValueError as error:  # twitchio knows only two reasons and stumbles over any other
                if "DeviceCodeRejection" not in str(error) or "slow_down" in str(error):
                    raise TwitchUnavailable(_ASKED_AGAIN) from None
                raise TwitchRefused("Twitch did not accept the code. Type `forgetmenot login` again.") from None
    return Token(answer["access_token"], answer["refresh_token"])
