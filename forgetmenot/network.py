"""Network access: trusted certificates and proxies.

aiohttp's `trust_env` finds proxies for https: but wants WSS_PROXY for wss:, which nobody sets, and
asks them for loopback, too; here HTTPS_PROXY counts for both, and loopback never goes through a
proxy.
"""

import ssl
from base64 import b64encode
from collections.abc import Sequence
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

# The scheme whose proxy a websocket uses.
_HTTP_SCHEMES = {"wss": "https", "ws": "http"}


@cache
def trusted() -> ssl.SSLContext:
    """Return a context that trusts what the system trusts.

    It trusts Mozilla's list if Python finds no certificates of the system's, as on some macOS.
    """
    context = ssl.create_default_context()
    # Not as well: a list beside another costs 1 MB and 20 ms.
    if not context.cert_store_stats()["x509_ca"]:
        context.load_verify_locations(certifi.where())
    return context


class Proxy(NamedTuple):
    """A proxy's address without the credentials, and the header that carries those."""

    url: URL | None = None
    headers: dict[str, str] | None = None


class BadProxy(ValueError):
    """The environment or the system names a proxy that cannot be used. The text says the fix."""


def proxy_for(url: str) -> Proxy:
    """Return the proxy for an address; an empty one for loopback and for what NO_PROXY names.

    Raises BadProxy.
    """
    target = URL(url)
    host = target.host or ""
    # wss:// goes through HTTPS_PROXY, as in browsers: nobody has a proxy for websockets alone.
    scheme = _HTTP_SCHEMES.get(target.scheme, target.scheme)
    proxies = getproxies()
    address = proxies.get(target.scheme) or proxies.get(scheme)
    if not address or _is_loopback(host) or proxy_bypass(host):
        return Proxy()
    source = "The system's proxy setting"
    if getproxies_environment():
        source = f"{scheme.upper()}_PROXY"
    proxy = _parsed(address, source)
    if not proxy.user:
        return Proxy(proxy)
    credentials = b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
    return Proxy(proxy.with_user(None), {"Proxy-Authorization": f"Basic {credentials}"})


def _is_loopback(host: str) -> bool:
    if host.rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    # A name.
    except ValueError:
        return False


async def by_proxy(
    request: ClientRequest, handler: ClientHandlerType
) -> ClientResponse:
    """Return a middleware of aiohttp's client: a request goes through the proxy for its address.

    Raises BadProxy.
    """
    proxy, headers = proxy_for(str(request.url))
    request.update_proxy(proxy, None, headers)
    return await handler(request)


def web_session(
    timeout: ClientTimeout, middlewares: Sequence[ClientMiddlewareType] = ()
) -> ClientSession:
    """Return a session for calls over the internet.

    It trusts `trusted`, and goes through the proxy for each address. Its calls raise aiohttp's
    errors, TimeoutError, OSError and BadProxy, which its user translates.
    """
    return ClientSession(
        connector=TCPConnector(ssl=trusted()),
        timeout=timeout,
        middlewares=(*middlewares, by_proxy),
    )


async def body_of(response: ClientResponse, limit: int) -> bytes:
    """Return the whole body of an answer.

    Raises ValueError for one of more than `limit` bytes: it is not taken into memory.
    """
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > limit:
            raise ValueError("larger than any answer")
    return bytes(body)


def _parsed(address: str, source: str) -> URL:
    """Return a proxy's address; `source` says in errors where it was found. Raises BadProxy."""
    example = "Write it like http://proxy:3128, or remove it, and start the bot again."
    try:
        proxy = URL(address if "://" in address else f"http://{address}")
    # Its text may have a password in it.
    except ValueError:
        proxy = URL()
    if not proxy.host:
        raise BadProxy(f"{source} is not a proxy address. {example}")
    if proxy.scheme not in ("http", "https"):
        raise BadProxy(
            f"{source} uses the proxy type {proxy.scheme}, which cannot be used here. {example}"
        )
    return proxy
