"""An OBS on loopback: obs-websocket 5 as far as captions need it, through the real websockets and msgpack."""

import asyncio
import base64
import contextlib
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgpack
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

SALT = "salt"
CHALLENGE = "challenge"


@dataclass
class LoopbackObs:
    """One OBS. `lie`: in answers."""

    sources: dict[str, str]
    password: str = ""
    streaming: bool = False
    url: str = ""
    requests: list[str] = field(default_factory=list)
    clients: set[ServerConnection] = field(default_factory=set)
    lie: dict[str, Any] = field(default_factory=dict)

    async def write(self, source: str, text: str) -> None:
        """Change what a text source shows."""
        self.sources[source] = text

    async def stream(self, *, on: bool) -> None:
        """Begin or end the stream."""
        self.streaming = on
        for word in ("STARTING", "STARTED") if on else ("STOPPING", "STOPPED"):
            state = {
                "outputActive": on and word == "STARTED",
                "outputState": f"OBS_WEBSOCKET_OUTPUT_{word}",
            }
            await self.event("StreamStateChanged", state)

    async def event(self, name: str, data: object) -> None:
        for client in self.clients:
            await client.send(
                msgpack.packb(
                    {
                        "op": 5,
                        "d": {"eventType": name, "eventIntent": 8, "eventData": data},
                    }
                )
            )

    async def close(self) -> None:
        """What happens when OBS is closed."""
        for client in list(self.clients):
            await client.close(1001)

    async def serve(self, client: ServerConnection) -> None:
        hello: dict[str, Any] = {"obsWebSocketVersion": "5.5.0", "rpcVersion": 1}
        if self.password:
            hello["authentication"] = {"challenge": CHALLENGE, "salt": SALT}
        await client.send(msgpack.packb({"op": 0, "d": hello}))
        identify = msgpack.unpackb(await client.recv())["d"]
        if self.password and identify.get("authentication") != _answer(self.password):
            await client.close(4009, "Authentication failed.")
            return
        await client.send(msgpack.packb({"op": 2, "d": {"negotiatedRpcVersion": 1}}))
        self.clients.add(client)
        with contextlib.suppress(Exception):
            async for message in client:
                request = msgpack.unpackb(message)["d"]
                self.requests.append(request["requestType"])
                await client.send(
                    msgpack.packb({"op": 7, "d": self._response(request)})
                )
        self.clients.discard(client)

    def _response(self, request: dict[str, Any]) -> dict[str, Any]:
        kind = request["requestType"]
        data = dict[str, Any]()
        status: dict[str, Any] = {"result": True, "code": 100}
        source = request.get("requestData", {}).get("inputName")
        if kind == "GetInputList":
            listed = [
                {"inputName": name, "inputKind": "text_gdiplus_v3"}
                for name in self.sources
            ]
            data = {
                "inputs": [*listed, {"inputName": "Webcam", "inputKind": "dshow_input"}]
            }
        elif kind == "GetStreamStatus":
            data = {"outputActive": self.streaming, "outputReconnecting": False}
        elif source in self.sources:
            data = {
                "inputSettings": {"text": self.sources[source], "font": {}},
                "inputKind": "text_gdiplus_v3",
            }
        else:
            status = {"result": False, "code": 600, "comment": "No source was found."}
        return {
            "requestType": kind,
            "requestId": request["requestId"],
            "requestStatus": status,
            "responseData": data,
        } | self.lie


def _answer(password: str) -> str:
    secret = base64.b64encode(hashlib.sha256((password + SALT).encode()).digest())
    return base64.b64encode(
        hashlib.sha256(secret + CHALLENGE.encode()).digest()
    ).decode()


@asynccontextmanager
async def loopback_obs(obs: LoopbackObs, port: int = 0) -> AsyncIterator[LoopbackObs]:
    """Serve it while the block runs."""
    async with serve(
        obs.serve, "127.0.0.1", port, subprotocols=[Subprotocol("obswebsocket.msgpack")]
    ) as server:
        obs.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield obs
        await obs.close()
        await asyncio.sleep(0)
