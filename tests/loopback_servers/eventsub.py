"""EventSub on loopback: the WebSocket, and the Helix call that subscribes. It keeps what was subscribed and can fail.

`notify` sends one event to whoever subscribed to its type; `hang_up`, `move` and `revoke` are Twitch's faults.
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from aiohttp import web

from tests.loopback_servers.serving import served

NOW = "2026-11-23T20:00:00.123456789Z"
ROOM = {
    "broadcaster_user_id": "100",
    "broadcaster_user_login": "demo",
    "broadcaster_user_name": "Demo",
}
ALICE = {"user_id": "1", "user_login": "alice", "user_name": "Alice"}


@dataclass
class LoopbackEventSub:
    """One server. `refused`: the types that it answers with 403."""

    url: str = ""
    refused: set[str] = field(default_factory=set)
    subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    sockets: dict[str, web.WebSocketResponse] = field(default_factory=dict)
    connections: int = 0
    now: Callable[[], datetime] = lambda: datetime.now(UTC)  # when a message is sent
    _ids: "count[int]" = field(default_factory=lambda: count(1))

    @property
    def types(self) -> set[str]:
        """What is subscribed on connections that are open."""
        return {
            subscription["type"]
            for subscription in self.subscriptions.values()
            if subscription["transport"]["session_id"] in self.sockets
        }

    async def socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        self.connections = self.connections + 1
        await socket.prepare(request)
        session = request.query.get("session") or f"session-{next(self._ids)}"
        self.sockets[session] = socket
        about = {
            "id": session,
            "status": "connected",
            "connected_at": NOW,
            "keepalive_timeout_seconds": 10,
        }
        await self._send(
            socket,
            "session_welcome",
            {"session": {**about, "reconnect_url": None, "recovery_url": None}},
        )
        async for _ in socket:
            pass
        self.sockets.pop(session, None)
        return socket

    async def subscribe(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body["type"] in self.refused:
            return web.json_response(
                {"error": "Forbidden", "status": 403, "message": "missing scope"},
                status=403,
            )
        row = {
            **body,
            "id": f"sub-{next(self._ids)}",
            "status": "enabled",
            "cost": 0,
            "created_at": NOW,
        }
        self.subscriptions[row["id"]] = row
        return web.json_response(
            {"data": [row], "total": 1, "total_cost": 0, "max_total_cost": 10},
            status=202,
        )

    async def notify(self, kind: str, event: dict[str, Any]) -> None:
        row = next(
            subscription
            for subscription in reversed(self.subscriptions.values())
            if subscription["type"] == kind
        )
        socket = self.sockets[row["transport"]["session_id"]]
        await self._send(
            socket, "notification", {"subscription": row, "event": event}, kind=kind
        )

    async def hang_up(self) -> None:
        for socket in list(self.sockets.values()):
            await socket.close(code=4000)

    async def move(self) -> None:
        """Ask for a reconnection at an address of its own; the subscriptions go along."""
        for session, socket in list(self.sockets.items()):
            url = f"{self.url}/eventsub?session={session}".replace("http", "ws", 1)
            about = {
                "id": session,
                "status": "reconnecting",
                "connected_at": NOW,
                "keepalive_timeout_seconds": None,
            }
            await self._send(
                socket,
                "session_reconnect",
                {"session": {**about, "reconnect_url": url}},
            )

    async def revoke(self, kind: str) -> None:
        row = next(
            subscription
            for subscription in self.subscriptions.values()
            if subscription["type"] == kind
        )
        socket = self.sockets[row["transport"]["session_id"]]
        del self.subscriptions[row["id"]]
        await self._send(
            socket,
            "revocation",
            {"subscription": {**row, "status": "authorization_revoked"}},
            kind=kind,
        )

    async def _send(
        self,
        socket: web.WebSocketResponse,
        message: str,
        payload: dict[str, Any],
        kind: str = "",
    ) -> None:
        about = {
            "message_id": f"message-{next(self._ids)}",
            "message_type": message,
            "message_timestamp": self.now().isoformat().replace("+00:00", "Z"),
        }
        type_fields = (
            {"subscription_type": kind, "subscription_version": "1"} if kind else {}
        )
        await socket.send_str(
            json.dumps({"metadata": {**about, **type_fields}, "payload": payload})
        )


@asynccontextmanager
async def loopback_eventsub() -> AsyncIterator[LoopbackEventSub]:
    """Serve it while the block runs."""
    server = LoopbackEventSub()
    app = web.Application()
    app.router.add_get("/eventsub", server.socket)
    app.router.add_post("/helix/eventsub/subscriptions", server.subscribe)
    async with served(app) as server.url:
        try:
            yield server
        finally:
            await server.hang_up()
