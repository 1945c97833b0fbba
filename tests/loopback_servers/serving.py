"""A server on a free port of the loopback interface, while a block runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    """Serve it; its address."""
    runner = web.AppRunner(
        app, handle_signals=False, access_log=None, shutdown_timeout=0.1
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
        await asyncio.sleep(0)  # so that clients see their connections end
