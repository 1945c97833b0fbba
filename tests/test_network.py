"""Whom the bot trusts, and which proxy it goes through."""

import ssl
from pathlib import Path

import pytest
from yarl import URL

import forgetmenot
from forgetmenot.network import BadProxy, Proxy, proxy_for, trusted

CHAT = "wss://irc-ws.chat.twitch.tv:443"


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "http_proxy",
        "https_proxy",
        "wss_proxy",
        "ws_proxy",
        "all_proxy",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_https_proxy_counts_for_chat_and_its_credentials_are_taken_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert proxy_for(CHAT) == Proxy()
    monkeypatch.setenv("https_proxy", "http://me:secret@proxy.lan:3128")
    assert proxy_for(CHAT) == Proxy(
        URL("http://proxy.lan:3128"), {"Proxy-Authorization": "Basic bWU6c2VjcmV0"}
    )
    monkeypatch.setenv("https_proxy", "proxy.lan:3128")
    assert proxy_for(CHAT).url == URL("http://proxy.lan:3128")


LOOPBACK = ("localhost", "localhost.", "LOCALHOST", "[::1]", "127.0.0.1", "127.0.0.2")


def test_no_proxy_and_loopback_go_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.lan:3128")
    monkeypatch.setenv("http_proxy", "http://proxy.lan:3128")
    monkeypatch.setenv("no_proxy", ".twitch.tv")
    for straight in (CHAT, *(f"ws://{host}:80/irc" for host in LOOPBACK)):
        assert proxy_for(straight) == Proxy(), straight
    assert proxy_for("ws://elsewhere/irc").url == URL("http://proxy.lan:3128")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://me:secret@proxy.lan:99999", "HTTPS_PROXY .* http://proxy:3128"),
        ("http://", "HTTPS_PROXY is not"),
        ("me:secret@:80", "HTTPS_PROXY is not"),
        ("socks5://me:secret@proxy.lan:1080", "HTTPS_PROXY .* type socks5"),
    ],
)
def test_an_address_that_will_not_do_is_said_without_its_password(
    monkeypatch: pytest.MonkeyPatch, address: str, message: str
) -> None:
    monkeypatch.setenv("https_proxy", address)
    with pytest.raises(BadProxy, match=message) as raised:
        proxy_for(CHAT)
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_without_certificates_of_the_system_there_are_mozillas(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As with a Python for macOS whose certificates nobody installed; a stranger's are refused all the same."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    context = trusted.__wrapped__()
    assert context.cert_store_stats()["x509_ca"] > 50
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_no_connection_goes_unchecked() -> None:
    for path in Path(forgetmenot.__file__).parent.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for unchecked in ("ssl=False", "CERT_NONE", "_create_unverified_context"):
            assert unchecked not in source, path
