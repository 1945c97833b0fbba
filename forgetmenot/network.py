"""Network access: trusted certificates and proxies.

aiohttp's `trust_env` finds proxies for https: but wants WSS_PROXY for wss:, which nobody sets, and asks them for
loopback, too; here HTTPS_PROXY counts for both, and loopback never goes through a proxy.
"""

import ssl
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from ipaddress import ip_address
from typing import NamedTuple
from urllib.request import getproxies, getproxies_environment, proxy_bypass

import certifi
from aiohttp import (
    ClientHandlerType,
    ClientMiddlewareType,
    ClientRequest,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    TCPConnector,
)
from yarl import URL

_AS = {"wss": "https", "ws": "http"}


@cache
def trusted() -> ssl.SSLContext:
    """Trusts what the system trusts; Mozilla's list where Python finds none of that, as on some macOS."""
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"]:  # a list beside another costs 1 MB and 20 ms
        context.load_verify_locations(certifi.where())
    return context


class Proxy(NamedTuple):
    """Its address without the credentials, and the header that carries those."""

    url: URL | None = None
    headers: dict[str, str] | None = None


class BadProxy(ValueError):
    """The environment or the system names a proxy that cannot be used: a sentence that says which, and the way out."""


def proxy_for(url: str) -> Proxy:
    """The proxy to use for an address; none for loopback and for what NO_PROXY names. Raises BadProxy."""
    # wss:// goes through HTTPS_PROXY, as in browsers: a proxy for websockets alone is not a thing people have
    target = URL(url)
    host = target.host or ""
    proxies = getproxies()
    address = proxies.get(target.scheme) or proxies.get(_AS.get(target.scheme, target.scheme))
    here = host.rstrip(".") == "localhost"
    with suppress(ValueError):  # a name
        here = here or ip_address(host).is_loopback
    if not address or here or proxy_bypass(host):
        return Proxy()
    variable = f"{_AS.get(target.scheme, target.scheme).upper()}_PROXY"
    proxy = _parsed(address, variable if getproxies_environment() else "The system's proxy setting")
    if not proxy.user:
        return Proxy(proxy)
    pair = b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
    return Proxy(proxy.with_user(None), {"Proxy-Authorization": f"Basic {pair}"})


async def by_proxy(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
    """A middleware of aiohttp's client: a request goes through the proxy for its address. Raises BadProxy."""
    proxy, headers = proxy_for(str(request.url))
    request.update_proxy(proxy, None, headers)
    return await handler(request)


def web_session(
    timeout: ClientTimeout, middlewares: Sequence[ClientMiddlewareType] = ()
) -> ClientSession:
    """A session for calls over the internet: it trusts `trusted`, and goes through the proxy for each address.

    Its calls raise aiohttp's errors, TimeoutError, OSError, and BadProxy; who opens it makes them errors of ours.
    """
    return ClientSession(
        connector=TCPConnector(ssl=trusted()),
        timeout=timeout,
        middlewares=(*middlewares, by_proxy),
    )


async def body_of(response: ClientResponse, most: int) -> bytes:
    """The whole body. Raises ValueError for one of more than `most` bytes: it is not taken into memory."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > most:
            raise ValueError("larger than any answer")
    return bytes(body)


def _parsed(address: str, source: str) -> URL:
    example = "Write it like http://proxy:3128, or remove it, and start the bot again."
    try:
        proxy = URL(address if "://" in address else f"http://{address}")
    except ValueError:  # it may hold a password
        proxy = URL()
    if not proxy.host:
        raise BadProxy(f"{source} is not a proxy address. {example}")
    if proxy.scheme not in ("http", "https"):
        raise BadProxy(
            f"{source} uses the proxy type {proxy.scheme}, which cannot be used here. {example}"
        )
    return proxy
