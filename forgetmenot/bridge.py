"""Runs effects of the streamer's other bot: actions of Streamer.bot, effect lists of Firebot.

Both serve HTTP on this computer. Guarantees: only names that the settings list are run, and only on
loopback; nothing from chat is passed on but the choice of the name.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import msgspec

from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.errors import ODD_INPUT
from forgetmenot.network import body_of
from forgetmenot.settings.schema import Settings

# An id becomes a part of an address.
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
# Bytes: a list of thousands of actions is far below it.
MAX_ANSWER = 4_000_000


class Bridge:
    """Runs effects. Each call opens a connection of its own: effects are rare."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings

    async def run_effect(self, name: str) -> Outcome:
        """Run the action or the list of that name, if the settings list it."""
        bridge = self._settings().bridge
        try:
            async with aiohttp.ClientSession() as session:
                if name in bridge.streamerbot_actions:
                    return await _run_action(session, bridge.streamerbot_url, name)
                if name in bridge.firebot_lists:
                    return await _run_list(session, bridge.firebot_url, name)
                return Outcome(
                    OutcomeKind.REFUSED, f"`{name}` is not listed in [bridge]"
                )
        except aiohttp.ClientConnectorError as error:
            return Outcome(
                OutcomeKind.FAILED,
                f"nothing answers at {error.host}:{error.port}; start its HTTP server",
            )
        except (aiohttp.ClientError, *ODD_INPUT) as error:
            return Outcome(
                OutcomeKind.UNKNOWN,
                f"{type(error).__name__}: the answer was not understood",
            )


async def _run_action(
    session: aiohttp.ClientSession,
    url: str,
    name: str,
) -> Outcome:
    """Run an action of Streamer.bot."""
    # It answers 204 also for an action that it does not have, so its list is asked first.
    answer = await _json(session, f"{url}/GetActions")
    actions = answer.get("actions") if isinstance(answer, Mapping) else None
    action = _entry(name, actions)
    if action is None or action.get("enabled") is False:
        return Outcome(
            OutcomeKind.REFUSED,
            f"Streamer.bot has no action `{name}` that is switched on",
        )
    body = {"action": {"id": action["id"], "name": action["name"]}}
    return await _run(session, f"{url}/DoAction", body)


async def _run_list(
    session: aiohttp.ClientSession,
    url: str,
    name: str,
) -> Outcome:
    """Run a preset effect list of Firebot."""
    lists_url = f"{url}/api/v1/effects/preset"
    effect_list = _entry(name, await _json(session, lists_url))
    if effect_list is None:
        return Outcome(
            OutcomeKind.REFUSED, f"Firebot has no preset effect list `{name}`"
        )
    return await _run(session, f"{lists_url}/{effect_list['id']}/run", {})


async def _run(
    session: aiohttp.ClientSession,
    url: str,
    body: Mapping[str, object],
) -> Outcome:
    async with session.post(url, json=body, allow_redirects=False) as answer:
        if answer.status in {200, 204}:
            return Outcome(OutcomeKind.DONE, "")
        return Outcome(OutcomeKind.REFUSED, str(answer.status))


async def _json(session: aiohttp.ClientSession, url: str) -> Any:  # noqa: ANN401  # JSON
    # No redirect is followed: it could lead off this computer.
    async with session.get(url, allow_redirects=False, raise_for_status=True) as answer:
        return msgspec.json.decode(await body_of(answer, MAX_ANSWER))


def _entry(name: str, entries: object) -> Mapping[str, Any] | None:
    """Return the entry with that name or id; None if there is none with a usable id."""
    if not isinstance(entries, list):
        return None
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        entry_name = entry.get("name")
        entry_id = entry.get("id")
        if name not in [entry_name, entry_id]:
            continue
        if isinstance(entry_name, str) and _ID.fullmatch(str(entry_id)):
            return entry
    return None
