"""Reads a text source of OBS over its own WebSocket server (protocol 5), through simpleobsws.

The source is asked for its text four times a second: OBS reports a changed source only since version 30.1, and not what
a plugin changes by itself. Raises HearingError.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from forgetmenot.errors import HearingError
from forgetmenot.languages import reason
from forgetmenot.startup import load_off_the_loop

if TYPE_CHECKING:
    from simpleobsws import WebSocketClient

EVENTS = 64  # of outputs (1 << 6): the protocol's bit
ASK_EVERY_S = 0.25
ANSWER_WITHIN_S = 5.0
WRONG_PASSWORD = 4009  # the code with which OBS closes the connection then
NOT_FOUND = 600
Shown = Callable[[str], None]


@asynccontextmanager
async def _connected(url: str, password: str) -> AsyncIterator["WebSocketClient"]:
    await load_off_the_loop("simpleobsws")
    import simpleobsws
    import websockets

    # both log what they receive: captions must be in no log
    for name in ("simpleobsws", "websockets", "websockets.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    about = simpleobsws.IdentificationParameters(eventSubscriptions=EVENTS)
    client = simpleobsws.WebSocketClient(url, password, about)
    try:
        async with asyncio.timeout(ANSWER_WITHIN_S):
            await client.connect()
            while not client.is_identified():
                if not client.ws_open:
                    wrong = client.ws.close_code == WRONG_PASSWORD
                    raise HearingError(reason("obs_password" if wrong else "obs_away", url=url))
                await asyncio.sleep(0.05)
        yield client
    except (OSError, ValueError, TimeoutError, websockets.exceptions.WebSocketException) as error:
        raise HearingError(reason("obs_away", url=url, why=type(error).__name__)) from None
    except (simpleobsws.MessageTimeout, simpleobsws.NotIdentifiedError, AttributeError, KeyError, TypeError):
        # the last three: answers in another form than the protocol's, which simpleobsws hands on unread
        raise HearingError(reason("obs_away", url=url)) from None
    finally:
        if client.recv_task is not None:
            with contextlib.suppress(Exception):
                await client.disconnect()


async def text_sources(url: str, password: str) -> list[str]:
    """The names of OBS's text sources. Raises HearingError."""
    async with _connected(url, password) as client:
        return await _text_sources(client)


async def _text_sources(client: "WebSocketClient") -> list[str]:
    import simpleobsws

    answer = await client.call(simpleobsws.Request("GetInputList"))
    inputs = (answer.responseData or {}).get("inputs", [])
    return [str(one.get("inputName")) for one in inputs if "text" in str(one.get("inputKind", "")).casefold()]


async def follow(
    url: str, password: str, source: str, shown: Shown, live: Callable[[bool | None], Awaitable[None]]
) -> None:
    """Report what a text source shows, and when the stream begins or ends. Ends only by raising HearingError.

    `live` is told at once whether OBS streams: True, or None, because the stream may come from another computer.
    `shown` gets the whole text each time it is seen, changed or not.
    """
    async with _connected(url, password) as client:
        import simpleobsws

        async def state(event: object) -> None:
            now = event.get("outputState") if isinstance(event, dict) else None
            if now in ("OBS_WEBSOCKET_OUTPUT_STARTED", "OBS_WEBSOCKET_OUTPUT_STOPPED"):
                await live(now == "OBS_WEBSOCKET_OUTPUT_STARTED")

        client.register_event_callback(state, "StreamStateChanged")
        streams = await client.call(simpleobsws.Request("GetStreamStatus"), timeout=ANSWER_WITHIN_S)
        await live((streams.responseData or {}).get("outputActive") is True or None)
        asking = simpleobsws.Request("GetInputSettings", {"inputName": source})
        while client.ws_open:
            answer = await client.call(asking, timeout=ANSWER_WITHIN_S)
            if answer.requestStatus.code == NOT_FOUND:
                there = ", ".join(await _text_sources(client))
                raise HearingError(reason("obs_no_source", source=source, there=there))
            settings = (answer.responseData or {}).get("inputSettings")
            text = settings.get("text") if isinstance(settings, dict) else None
            shown(text if isinstance(text, str) else "")
            await asyncio.sleep(ASK_EVERY_S)
        raise HearingError(reason("obs_away", url=url))
