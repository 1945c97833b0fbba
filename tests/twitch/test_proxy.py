"""Which proxy a WebSocket goes through."""

import pytest
from yarl import URL

from forgetmenot.twitch.proxy import Proxy, proxy_for

CHAT = "wss://irc-ws.chat.twitch.tv:443"


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "wss_proxy", "ws_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_without_one_there_is_none() -> None:
    assert proxy_for(CHAT) == Proxy()


def test_https_proxy_counts_for_chat_and_its_credentials_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:secret@proxy.lan:3128")
    assert proxy_for(CHAT) == Proxy(URL("http://proxy.lan:3128"), {"Proxy-Authorization": "Basic bWU6c2VjcmV0"})


def test_a_proxy_without_a_scheme_is_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "proxy.lan:3128")
    assert proxy_for(CHAT).url == URL("http://proxy.lan:3128")


def test_no_proxy_and_loopback_go_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.lan:3128")
    monkeypatch.setenv("http_proxy", "http://proxy.lan:3128")
    monkeypatch.setenv("no_proxy", ".twitch.tv")
    assert proxy_for(CHAT) == Proxy()
    assert proxy_for("ws://127.0.0.1:80/irc") == Proxy()
    assert proxy_for("ws://localhost:80/irc") == Proxy()
    assert proxy_for("ws://elsewhere/irc").url == URL("http://proxy.lan:3128")
