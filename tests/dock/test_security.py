"""Who may look and who may act."""

import asyncio
import contextlib
import stat
from pathlib import Path

import aiohttp
import pytest

from forgetmenot.dock.security import (
    CONNECTIONS_LIMIT,
    TOKEN_FILE,
    TOKEN_HEADER,
    token_in,
)
from tests.dock.conftest import Served

ACT = {"id": 3}


async def test_nothing_is_read_without_the_token_in_its_header(
    stranger: Served,
) -> None:
    async with stranger.client.get(
        f"{stranger.origin}/?token={stranger.token}"
    ) as answer:
        assert answer.status == 200
        assert "Set-Cookie" not in answer.headers, (
            "programs on other ports would get it"
        )
        assert stranger.token not in await answer.text()
    for path in (
        "/api/settings",
        f"/api/settings?token={stranger.token}",
        "/api/events",
    ):
        assert (await stranger.get(path))[0] == 401
    for wrong in ("", "wrong", stranger.token[:-1]):
        assert (await stranger.get("/api/settings", **{TOKEN_HEADER: wrong}))[0] == 401
    assert (await stranger.get("/api/settings", **{TOKEN_HEADER: stranger.token}))[
        0
    ] == 200


async def test_half_open_connections_neither_stop_the_page_nor_take_the_file_handles(
    dock: Served,
) -> None:
    connections = [
        await asyncio.open_connection("127.0.0.1", dock.port)
        for _ in range(2 * CONNECTIONS_LIMIT)
    ]
    for number, (_, writer) in enumerate(connections):
        if number % 2:
            writer.write(b"GET /api/settings HTTP/1.1\r\nHost:")
    assert (await dock.get("/api/settings"))[0] == 200
    cut = await asyncio.gather(
        *(
            asyncio.wait_for(reader.read(), 60)
            for reader, _ in connections[:CONNECTIONS_LIMIT]
        )
    )
    assert cut == [b""] * CONNECTIONS_LIMIT
    for _, writer in connections:
        writer.close()


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\r\nContent-Length: 9",
        "POST /api/do/approve HTTP/1.1\r\nTransfer-Encoding: chunked",
    ],
)
async def test_bodies_that_never_come_do_not_take_the_pages_place(
    dock: Served, head: str
) -> None:
    """Without the token no body is waited for, and no connection is kept for the rest of one."""
    connections = [
        await asyncio.open_connection("127.0.0.1", dock.port)
        for _ in range(CONNECTIONS_LIMIT)
    ]
    for _, writer in connections:
        writer.write(f"{head}\r\nHost: 127.0.0.1:{dock.port}\r\n\r\n".encode())
    async with asyncio.timeout(9):  # aiohttp would keep them for 10 s
        answers = [
            await reader.read() for reader, _ in connections
        ]  # to the end, and no body is sent
    assert all(answer.startswith(b"HTTP/1.1 ") for answer in answers)
    assert (await dock.get("/api/settings"))[0] == 200
    for _, writer in connections:
        writer.close()


async def test_what_is_no_request_logs_no_traceback(
    dock: Served, caplog: pytest.LogCaptureFixture
) -> None:
    for sent in (
        b"\x16\x03\x01 not http",
        b"GET / HTTP/9",
        b"GET / HTTP/1.1\r\na b: c",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", dock.port)
        writer.write(sent + b"\r\n\r\n")
        assert b" 400 " in (await reader.read()).split(b"\r\n")[0]
        writer.close()
    assert caplog.records == []


async def test_another_host_and_another_origin_are_refused(dock: Served) -> None:
    port = str(dock.port)
    for host in (
        f"localhost:{port}",
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:80",
        f"127.0.0.1.nip.io:{port}",
        "",
    ):
        for path in ("/", f"/?token={dock.token}", "/api/settings", "/api/events"):
            async with dock.client.get(
                dock.origin + path, headers={"Host": host}
            ) as answer:
                assert answer.status in {400, 403}, (host, path)
    origins = (
        "null",
        "http://evil.example",
        f"http://localhost:{port}",
        f"https://127.0.0.1:{port}",
    )
    for origin in (*origins, "http://127.0.0.1:1"):
        assert (await dock.get("/api/settings", Origin=origin))[0] == 403
        assert (await dock.post("/api/do/approve", ACT, Origin=origin))[0] == 403
    assert (await dock.get("/api/settings", **{"Sec-Fetch-Site": "same-site"}))[
        0
    ] == 403
    assert dock.control.calls == []


async def test_a_browser_that_sends_no_origin_may_say_in_its_own_header_that_it_is_the_page(
    stranger: Served,
) -> None:
    """Chromium 103, which OBS 28 to 30 bring, where the page gives no referrer."""
    for site, status in (
        ("same-origin", 200),
        ("same-site", 403),
        ("cross-site", 403),
        ("none", 401),
    ):
        headers = {TOKEN_HEADER: stranger.token, "Sec-Fetch-Site": site}
        async with stranger.client.post(
            f"{stranger.origin}/api/do/approve", json=ACT, headers=headers
        ) as answer:
            assert answer.status == status, site


async def test_acting_needs_the_origin_and_the_token_in_its_header(
    stranger: Served,
) -> None:
    assert (await stranger.post("/api/do/approve", ACT, X_Dock_Token=""))[0] == 401
    assert (
        await stranger.post("/api/do/approve", ACT, X_Dock_Token=stranger.token + "x")
    )[0] == 401
    async with stranger.client.post(
        f"{stranger.origin}/api/do/approve",
        json=ACT,
        headers={"X-Dock-Token": stranger.token},
    ) as answer:
        assert answer.status == 401  # no origin
    headers = {"X-Dock-Token": stranger.token, "Origin": stranger.origin}
    async with stranger.client.post(
        f"{stranger.origin}/api/do/approve", data={"id": "3"}, headers=headers
    ) as answer:
        assert answer.status == 401  # a form
    assert stranger.control.calls == []
    assert await stranger.post("/api/do/approve", ACT) == (
        200,
        {"ok": True, "line": "Done.", "id": None},
    )
    assert stranger.control.calls == [("approve", ACT)]


async def test_a_body_that_is_none_is_refused_in_a_sentence(dock: Served) -> None:
    headers = {
        "Origin": dock.origin,
        TOKEN_HEADER: dock.token,
        "Content-Type": "application/json",
    }
    nested = '{"value":' + "[" * 20_000 + "]" * 20_000 + "}"
    address = f"{dock.origin}/api/do/edit"
    for body in ('{"id":1e400}', "[]", "", '{"text":"\\ud800"}', nested):
        async with dock.client.post(
            address, data=body.encode(), headers=headers
        ) as answer:
            assert answer.status == 400, body
    packed = {**headers, "Content-Encoding": "gzip"}
    async with dock.client.post(address, data=b"no gzip", headers=packed) as answer:
        assert answer.status == 415
    assert dock.control.calls == []


async def test_nothing_is_changed_by_asking(dock: Served) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"):
        async with dock.client.request(
            method, f"{dock.origin}/api/do/approve", json=ACT
        ) as answer:
            assert answer.status in {404, 405}
    assert dock.control.calls == []


async def test_every_answer_forbids_foreign_and_inline_script_and_none_holds_the_token(
    dock: Served,
) -> None:
    data = [
        f"/api/{name}"
        for name in ("nothing", "settings", "checks", "approvals", "people")
    ]
    for path in ("/", *data, "/static/x/main.js", "/static/x/../../secrets"):
        async with dock.client.get(dock.origin + path) as answer:
            assert dock.token not in await answer.text()
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert "require-trusted-types-for 'script'" in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_the_token_is_made_once_and_only_its_user_can_read_it(tmp_path: Path) -> None:
    token = token_in(tmp_path)
    assert len(token) >= 43
    assert token_in(tmp_path) == token
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600
    assert token_in(tmp_path, fresh=True) != token


async def drop_file(dock: Served, **headers: str) -> tuple[int, str]:
    """Send a file of a million bytes as the page does, but for these headers; the status and line of the answer."""
    sent = {
        "Origin": dock.origin,
        TOKEN_HEADER: dock.token,
        "Content-Type": "application/octet-stream",
    }
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    changed = {name: value for name, value in (sent | more).items() if value}
    address = f"{dock.origin}/api/past_chat?name=a%2Fb.log"
    async with (
        aiohttp.ClientSession(skip_auto_headers=["Content-Type"]) as client,
        client.post(address, data=b"x" * 1_000_000, headers=changed) as answer,
    ):
        return answer.status, (await answer.json())["line"]


@pytest.mark.parametrize("headers", [{}, {"Content_Encoding": "identity"}], ids=str)
async def test_a_dropped_file_is_taken_as_bytes_of_any_size(
    dock: Served, headers: dict[str, str]
) -> None:
    assert await drop_file(dock, **headers) == (200, "1000000")


@pytest.mark.parametrize(
    "headers",
    [
        {TOKEN_HEADER: ""},
        {TOKEN_HEADER: "wrong"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1:1"},
        {"Content-Type": ""},
        {"Content-Type": "text/plain"},
        {"Content-Type": "multipart/form-data; boundary=x"},
    ],
    ids=str,
)
async def test_a_dropped_file_is_taken_from_the_page_alone(
    dock: Served, headers: dict[str, str]
) -> None:
    # refused before the whole body was sent
    with contextlib.suppress(aiohttp.ClientConnectionError):
        status, _ = await drop_file(dock, **headers)
        assert status in {401, 403}


async def test_a_packed_file_is_refused(dock: Served) -> None:
    lines = set()
    for encoding in ("gzip", "deflate", "br", "zstd", "x", "identity, gzip"):
        with contextlib.suppress(aiohttp.ClientConnectionError):
            status, line = await drop_file(dock, Content_Encoding=encoding)
            assert status == 415
            lines.add(line)
    assert lines == {"The dock takes no packed body."}


async def test_only_a_dropped_file_is_taken_as_bytes(dock: Served) -> None:
    as_bytes = {"Content_Type": "application/octet-stream"}
    status, _ = await dock.post("/api/setup/past", {}, **as_bytes)
    assert status == 401


async def test_a_packed_request_is_refused(dock: Served) -> None:
    packed = {"Content_Encoding": "gzip"}
    status, _ = await dock.post("/api/hear", {"text": "hello"}, **packed)
    assert status == 415
