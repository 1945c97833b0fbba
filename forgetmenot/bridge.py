"""Runs effects of the streamer's other bot: an action of Streamer.bot, or a preset effect list of Firebot.

Both serve HTTP on this computer. Guarantees: only names that the settings list are run, and only on loopback; nothing
from chat is passed on but the choice of the name.
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

_ID = re.compile(r"[\w-]{1,64}", re.ASCII)  # it becomes a part of an address
ANSWER_MOST = 4_000_000  # bytes: a list of thousands of actions is far below it


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
                    # it answers 204 also for an action that it does not have, so its list is asked first
                    known = await _json(session, f"{bridge.streamerbot_url}/GetActions")
                    found = _called(
                        name, known.get("actions") if isinstance(known, Mapping) else None
                    )
                    if found is None or found.get("enabled") is False:
                        return Outcome(
                            OutcomeKind.REFUSED,
                            f"Streamer.bot has no action `{name}` that is switched on",
                        )
                    url = f"{bridge.streamerbot_url}/DoAction"
                    body: object = {"action": {"id": found["id"], "name": found["name"]}}
                elif name in bridge.firebot_lists:
                    lists = f"{bridge.firebot_url}/api/v1/effects/preset"
                    found = _called(name, await _json(session, lists))
                    if found is None:
                        return Outcome(
                            OutcomeKind.REFUSED, f"Firebot has no preset effect list `{name}`"
                        )
                    url, body = f"{lists}/{found['id']}/run", {}
                else:
                    return Outcome(OutcomeKind.REFUSED, f"`{name}` is not listed in [bridge]")
                async with session.post(url, json=body, allow_redirects=False) as answer:
                    done = answer.status in {200, 204}
                    return Outcome(
                        OutcomeKind.DONE if done else OutcomeKind.REFUSED,
                        "" if done else str(answer.status),
                    )
        except aiohttp.ClientConnectorError as error:
            return Outcome(
                OutcomeKind.FAILED,
                f"nothing answers at {error.host}:{error.port}; start its HTTP server",
            )
        except (aiohttp.ClientError, *ODD_INPUT) as error:
            return Outcome(
                OutcomeKind.UNKNOWN, f"{type(error).__name__}: the answer was not understood"
            )


async def _json(session: aiohttp.ClientSession, url: str) -> Any:  # noqa: ANN401  # JSON
    async with session.get(url, allow_redirects=False, raise_for_status=True) as answer:
        return msgspec.json.decode(await body_of(answer, ANSWER_MOST))


def _called(name: str, known: object) -> Mapping[str, Any] | None:
    """The entry of that name, or of that id; None if there is none, or if it is not as it should be."""
    if not isinstance(known, list):
        return None
    for entry in known:
        if not isinstance(entry, Mapping) or name not in [entry.get("name"), entry.get("id")]:
            continue
        if isinstance(entry.get("name"), str) and _ID.fullmatch(str(entry.get("id"))):
            return entry
    return None
