"""Answers to a webhook's posts as Discord's documentation says."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.loopback_servers.serving import served

TOKEN = "tok-" + "a1B2" * 16


@dataclass
class Discord:
    """Answers as Discord's documentation says. `got`: the JSON of what was posted; `pictures`: its files, by name."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    got: list[dict[str, Any]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    hangs: bool = False

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request.path_qs)
        form = await request.post()
        message = form["payload_json"]
        assert not isinstance(message, web.FileField)
        self.got.append(json.loads(message))
        picture = form.get("files[0]")
        if isinstance(picture, web.FileField):
            self.pictures[picture.filename] = picture.file.read()
        if self.hangs:
            await asyncio.sleep(60)
        return web.json_response({"id": "1"}, status=self.status, headers=self.headers)

    @asynccontextmanager
    async def at(self) -> AsyncIterator[str]:
        app = web.Application(client_max_size=100_000)
        app.router.add_post("/{path:.*}", self.answer)
        async with served(app) as url:
            yield f"{url}/api/webhooks/1/{TOKEN}"
