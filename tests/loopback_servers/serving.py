"""A server on a free port of the loopback interface, while a block runs."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def served(
    app: web.Application,
    *,
    host: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[str]:
    """Serve it; its address, which begins with https:// if it has a certificate (`tls`)."""
    runner = web.AppRunner(
        app, handle_signals=False, access_log=None, shutdown_timeout=0.1
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, host, 0, ssl_context=tls).start()
        scheme = "http" if tls is None else "https"
        yield f"{scheme}://{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
        await asyncio.sleep(0)  # so that clients see their connections end
