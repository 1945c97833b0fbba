"""A twitchio client for one account, whose requests always carry a valid token.

The token is added, and renewed after a 401, in the aiohttp session below twitchio, so that one renewal serves all
calls. There a 429 also keeps the wait that Twitch asks for, and a 5xx is raised at once, where twitchio would wait
three seconds and repeat the call.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import aiohttp

from forgetmenot.errors import TwitchLoginNeeded, TwitchUnavailable
from forgetmenot.late_imports import load_off_the_loop
from forgetmenot.network import by_proxy, trusted
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.auth import Login
from forgetmenot.twitch.error_translation import AnswerLost, from_status
from forgetmenot.twitch.oauth import point_twitchio_at
from forgetmenot.twitch.token_store import Token

if TYPE_CHECKING:
    import twitchio

_ANSWER_WITHIN = aiohttp.ClientTimeout(total=10, sock_connect=5)
_LONGEST_WAIT_S = 120.0


class Api:
    """A twitchio client for one log-in, built when it is first needed. Close it with `aclose`."""

    def __init__(self, login: Login, settings: Callable[[], Settings]) -> None:
        self.login = login
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        self._client: twitchio.Client | None = None
        self._building = asyncio.Lock()

    async def client(self) -> "twitchio.Client":
        """The client. Raises TwitchLoginNeeded if `client_id` is not set."""
        async with self._building:
            if self._client is None:
                self._client = await self._build()
        return self._client

    async def _build(self) -> "twitchio.Client":
        settings = self._settings()
        if not settings.twitch.client_id:
            raise TwitchLoginNeeded("`client_id` in the table [twitch] is not set.")
        await load_off_the_loop("twitchio")
        import twitchio

        logging.getLogger("twitchio.client").setLevel(logging.ERROR)  # it advertises an extra that is not needed
        point_twitchio_at(settings)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trusted()),
            timeout=_ANSWER_WITHIN,
            middlewares=(self._authorised, by_proxy),
        )
        return twitchio.Client(client_id=settings.twitch.client_id, session=self._session, fetch_client_user=False)

    async def user_id(self) -> str:
        """The id of who is logged in. Raises TwitchError."""
        token = await self.login.token()
        return token.user_id or (await self.login.validate()).user_id

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _authorised(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        with _nothing_done():
            token = await self.login.token()
        answer = await self._send(request, handler, token)
        if answer.status == 401 and _is_about_the_token(await answer.text()):
            answer.release()
            with _nothing_done():
                token = await self.login.renew(token)
            answer = await self._send(request, handler, token)
        if answer.status == 429 or answer.status >= 500:
            status, wait = answer.status, _asked_wait(answer)
            answer.close()
            raise from_status(status, "", "do that now", wait)
        return answer

    @staticmethod
    async def _send(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType, token: Token
    ) -> aiohttp.ClientResponse:
        request.headers["Authorization"] = f"Bearer {token.access}"
        return await handler(request)


@contextlib.contextmanager
def _nothing_done() -> Iterator[None]:
    """The answer to a renewal was lost, not the one to the request: what was asked for was certainly not done."""
    try:
        yield
    except AnswerLost as error:
        raise TwitchUnavailable(str(error)) from None


def _is_about_the_token(body: str) -> bool:
    try:
        message = str(json.loads(body).get("message", "")).lower()
    except (ValueError, AttributeError):
        return False
    return "invalid" in message and "token" in message


def _asked_wait(answer: aiohttp.ClientResponse) -> float:
    """Seconds until Twitch's limit is lifted, by Twitch's own clock where it tells the time."""
    headers = answer.headers
    try:
        if "Retry-After" in headers:
            return _bounded(float(headers["Retry-After"]))
        server_time = parsedate_to_datetime(headers["Date"]).timestamp()
        return _bounded(float(headers["Ratelimit-Reset"]) - server_time)
    except (KeyError, ValueError, TypeError):
        return 1.0


def _bounded(seconds: float) -> float:
    return min(max(seconds, 1.0), _LONGEST_WAIT_S)
