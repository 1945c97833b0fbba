"""The way out of this machine: whom to trust, and through which proxy.

aiohttp's `trust_env` finds proxies for https: but wants WSS_PROXY for wss:, which nobody sets; here HTTPS_PROXY counts
for both. Loopback never goes through a proxy.
"""

import ssl
from base64 import b64encode
from functools import cache
from ipaddress import ip_address
from typing import NamedTuple
from urllib.request import getproxies, proxy_bypass

import certifi
from yarl import URL

_AS = {"wss": "https", "ws": "http"}


@cache
def trusted() -> ssl.SSLContext:
    """Trusts what the system trusts, and Mozilla's list: some Pythons for macOS find none of the system's."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


class Proxy(NamedTuple):
    """Its address without the credentials, and the header that carries those."""

    url: URL | None = None
    headers: dict[str, str] | None = None


def proxy_for(url: str) -> Proxy:
    """The proxy to use for an address; none for loopback and for what NO_PROXY names."""
    target = URL(url)
    host = target.host or ""
    found = getproxies()
    address = found.get(target.scheme) or found.get(_AS.get(target.scheme, target.scheme))
    if not address or _is_loopback(host) or proxy_bypass(host):
        return Proxy()
    proxy = URL(address if "://" in address else f"http://{address}")
    return Proxy(proxy.with_user(None), _credentials(proxy))


def _credentials(proxy: URL) -> dict[str, str] | None:
    if not proxy.user:
        return None
    pair = f"{proxy.user}:{proxy.password or ''}".encode()
    return {"Proxy-Authorization": f"Basic {b64encode(pair).decode()}"}


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
