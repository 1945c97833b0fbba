"""Twitch's log-in server, through twitchio's client for it: one short-lived client for each thing that is asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp

from forgetmenot.errors import TwitchLoginNeeded
from forgetmenot.late_imports import load_off_the_loop
from forgetmenot.network import by_proxy, trusted
from forgetmenot.settings.schema import Settings

if TYPE_CHECKING:
    from twitchio.authentication import OAuth

_ANSWER_WITHIN = aiohttp.ClientTimeout(total=15)


def point_twitchio_at(settings: Settings) -> None:
    """Let twitchio talk to the addresses in the settings. It knows only one place for all its clients."""
    from twitchio.http import Route

    Route.BASE = settings.twitch.helix_url.rstrip("/") + "/"
    Route.ID_BASE = settings.twitch.id_url.rstrip("/") + "/"


@asynccontextmanager
async def oauth(settings: Settings) -> AsyncIterator["OAuth"]:
    """A short-lived client of Twitch's log-in. Raises TwitchLoginNeeded without a client id."""
    if not settings.twitch.client_id:
        raise TwitchLoginNeeded(
            "No app is named: `client_id` in the table [twitch] is empty. docs/TWITCH_APP.md shows how to make one."
            " If it is in your settings file, name that file with --config."
        )
    await load_off_the_loop("twitchio")
    from twitchio.authentication import OAuth

    point_twitchio_at(settings)
    certain = aiohttp.TCPConnector(ssl=trusted())
    async with aiohttp.ClientSession(connector=certain, middlewares=(by_proxy,), timeout=_ANSWER_WITHIN) as session:
        yield OAuth(client_id=settings.twitch.client_id, session=session)
