"""What the pretend servers of models share: a free port of the loopback interface, queued answers, queued faults."""

import json
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, ClassVar, Generic, Self, TypeVar

from aiohttp import web

from tests.loopback_servers.serving import served

Asked = TypeVar("Asked")
Fault = Callable[[Any], Awaitable[web.StreamResponse]]
"""What a server does with a call instead of answering it."""


def raw(text: str, status: int = 200, headers: dict[str, str] | None = None) -> Fault:
    """Answers with these bytes."""

    async def answer(_asked: object) -> web.StreamResponse:
        return web.Response(
            text=text,
            status=status,
            headers={"Content-Type": "application/json", **(headers or {})},
        )

    return answer


def body(value: object, status: int = 200) -> Fault:
    """Answers with this JSON."""
    return raw(json.dumps(value), status)


class ModelServer(Generic[Asked]):
    """A server while it is open. `url` is its base address; `seen` is every request that reached a model.

    `host` and `tls` are set before it is opened: where it listens, and its certificate.
    """

    route: ClassVar[str]
    """What requests are posted to."""
    base: ClassVar[str] = ""
    """What of the route belongs to the address that clients are given."""

    def __init__(self) -> None:
        self.seen: list[Asked] = []
        self.url = ""
        self.host = "127.0.0.1"
        self.tls: ssl.SSLContext | None = None
        self._script: deque[str] = deque()
        self._faults: deque[Fault] = deque()
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Listen on a free port of the loopback interface."""
        app = web.Application()
        app.router.add_post(self.route, self._answer)
        app.router.add_get(f"{self.base}/models", self._list_models)
        address = await self._open.enter_async_context(
            served(app, host=self.host, tls=self.tls)
        )
        self.url = address + self.base
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Stop listening."""
        await self._open.aclose()

    def answers(self, *texts: str) -> None:
        """Queue answers; when they are used up, the server's own habit speaks again."""
        self._script.extend(texts)

    def fail(self, fault: Fault, times: int = 1) -> None:
        """Let the next calls fail like this."""
        self._faults.extend([fault] * times)

    async def _list_models(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": [{"id": "small-model"}]})

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError


def count(text: str) -> int:
    """Tokens of a text, roughly."""
    return -(-len(text.encode()) // 4)
