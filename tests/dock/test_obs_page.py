"""The page on disk that waits for the bot: it goes over to the dock, and gives the token to nobody else."""

import hashlib
import hmac
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from aiohttp import web
from playwright.async_api import Browser, expect

from forgetmenot.clock import ManualClock
from forgetmenot.dock import obs_page
from forgetmenot.dock.security import token_in
from forgetmenot.store.database import Database
from tests.dock.conftest import BROWSER, SOON, Served, chromium, fake_dock
from tests.loopback_servers.serving import served
from tests.ports import unused_port
from tests.stage import until

CHALLENGE = "0123456789abcdef" * 2
in_chromium = pytest.mark.skipif(
    BROWSER is None, reason="there is no Chromium on this machine"
)


def keyed(token: str, side: str, port: int, challenge: str = CHALLENGE) -> str:
    return hmac.new(
        token.encode(),
        f"forgetmenot {side} {port} {challenge}".encode(),
        hashlib.sha256,
    ).hexdigest()


def asking(dock: Served, **other: str) -> str:
    query = {
        "challenge": CHALLENGE,
        "proof": keyed(dock.token, "page", dock.port),
        **other,
    }
    return f"{dock.origin}/waiting?{urlencode(query)}"


@pytest.mark.parametrize("origin", ["null", "file://"])
async def test_the_page_that_has_the_token_gets_the_docks_proof(
    dock: Served, origin: str
) -> None:
    async with dock.client.get(asking(dock), headers={"Origin": origin}) as answer:
        assert answer.status == 200
        assert answer.headers["Access-Control-Allow-Origin"] == origin
        assert await answer.text() == keyed(dock.token, "dock", dock.port)


async def test_nobody_else_gets_an_answer(dock: Served) -> None:
    wrong: list[tuple[dict[str, str], dict[str, str]]] = [
        ({"Origin": "null"}, {"proof": ""}),
        ({"Origin": "null"}, {"proof": keyed("another token", "page", dock.port)}),
        (
            {"Origin": "null"},
            {"proof": keyed(dock.token, "page", dock.port + 1)},
        ),  # passed on from another port
        ({"Origin": "null"}, {"proof": keyed(dock.token, "dock", dock.port)}),
        (
            {"Origin": "null"},
            {"challenge": "x", "proof": keyed(dock.token, "page", dock.port, "x")},
        ),
        ({"Origin": "http://evil.example"}, {}),
        ({"Origin": "null", "Host": f"localhost:{dock.port}"}, {}),
    ]
    for headers, query in wrong:
        async with dock.client.get(asking(dock, **query), headers=headers) as answer:
            assert answer.status == 403, (headers, query)
            assert "Access-Control-Allow-Origin" not in answer.headers
            assert keyed(dock.token, "dock", dock.port) not in await answer.text()


async def test_the_file_is_its_owners_alone_and_follows_the_token(
    dock: Served, tmp_path: Path, db: Database, clock: ManualClock
) -> None:
    page = obs_page.write(tmp_path, dock.port, dock.token)
    assert page == tmp_path / obs_page.FILE
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert dock.token in page.read_text()
    fresh = token_in(tmp_path, fresh=True)
    port = unused_port()
    async with fake_dock(db, clock, port):
        assert page.read_text() == obs_page.page(port, fresh)


@pytest.fixture
async def running() -> AsyncIterator[Browser]:
    """In the loop of the dock's fixture."""
    async with chromium() as browser:
        yield browser


@in_chromium
@pytest.mark.browser
async def test_it_waits_and_then_goes_over_to_the_dock(
    running: Browser, db: Database, clock: ManualClock, tmp_path: Path
) -> None:
    port = unused_port()
    file = obs_page.write(tmp_path, port, token_in(tmp_path))
    page = await running.new_page()
    failed = list[object]()
    page.on("requestfailed", lambda request: failed.append(request))  # noqa: PLW0108  # it takes no built-in
    await page.add_init_script(SOON)
    await page.goto(file.as_uri())
    await until(lambda: len(failed) >= 2)
    await expect(page.locator("#line")).to_have_text("Waiting for the bot to start …")
    async with fake_dock(db, clock, port):
        for behind, selector in (
            ("", "#top .switches"),
            ("#earpiece", "main.earpiece .empty"),
        ):
            if behind:
                await page.goto(file.as_uri() + behind)
            await page.wait_for_selector(selector)
            assert page.url.startswith(f"http://127.0.0.1:{port}/")
            assert "token" not in page.url
            await page.reload()
            await page.wait_for_selector(selector)
        await page.close()


@in_chromium
@pytest.mark.browser
async def test_a_program_that_took_the_port_never_sees_the_token(
    running: Browser, dock: Served, tmp_path: Path
) -> None:
    """It answers whatever it likes, and passes each challenge on to the dock, which is at another port."""
    requests = list[str]()
    app = web.Application()

    async def answer(request: web.Request) -> web.Response:
        requests.append(f"{request.url} {dict(request.headers)} {await request.text()}")
        async with dock.client.get(
            f"{dock.origin}{request.path_qs}", headers={"Origin": "null"}
        ) as passed_on:
            greeting = await passed_on.text()
        return web.Response(
            text=greeting, headers={"Access-Control-Allow-Origin": "null"}
        )

    app.router.add_route("*", "/{path:.*}", answer)
    async with served(app) as url:
        page = await running.new_page()
        await page.add_init_script(SOON)
        await page.goto(
            obs_page.write(tmp_path, int(url.rpartition(":")[2]), dock.token).as_uri()
        )
        await expect(page.locator("#line")).to_contain_text("Something else answers")
        await until(lambda: len(requests) >= 3)
        assert page.url.startswith("file://")
        await page.close()
    assert not any(dock.token in request for request in requests)
