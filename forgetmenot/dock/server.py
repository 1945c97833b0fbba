"""The dock's web server: binds, guards and routes; ends with the bot.

    async with open_dock(control=…, db=…, settings=…, clock=…, folder=…, port=…) as address: …

It listens on 127.0.0.1 only, and no answer holds a secret or a traceback.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec
from aiohttp import web

from forgetmenot.clock import Clock
from forgetmenot.dock import event_feed, now, panels, security, waiting_page
from forgetmenot.dock.context import CONTEXT, DockContext, answer, refusal
from forgetmenot.dock.panels import SETUP, Setup
from forgetmenot.errors import ForgetMeNotError, InputError, ModelError, SettingsError
from forgetmenot.languages import Language, reason
from forgetmenot.logs import log
from forgetmenot.operations.table import buttons
from forgetmenot.operations.wording import sentence
from forgetmenot.ports import Control
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database

# The page's files, read once. `build` changes with any of them, so that an open page of an older build reloads itself.


TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
MARK, PRELOAD = "%BUILD%", "%PRELOAD%"


@dataclass(frozen=True, slots=True)
class Assets:
    """Paths below the page with their bytes."""

    files: dict[str, bytes]
    build: str

    def page(self, language: Language) -> web.Response:
        """The page itself, with its texts."""
        tables = language.tables
        texts = {**tables["page"], "span": tables["span"], "ago": tables["ago"], "action": tables["action"]["name"]}
        # it stands in a script element, which a text with "</script>" would end
        content = msgspec.json.encode({"code": language.code, "texts": texts}).decode().replace("<", r"\u003c")
        page = self.files["index.html"].decode()
        for mark in ("skip", "panels", "noscript"):
            page = page.replace(f"%{mark.upper()}%", language(f"page.{mark}"))
        page = page.replace("%CONNECTING%", language("page.frame.connecting")).replace("%LANGUAGE%", language.code)
        page = page.replace("%TEXTS%", content)
        return web.Response(text=page, content_type="text/html", charset="utf-8", headers={"Cache-Control": "no-store"})

    def file(self, path: str, build: str) -> web.Response:
        """One file. What is asked for by its build's name never changes. Raises 404."""
        lasts = "private, max-age=31536000, immutable" if build == self.build else "no-store"
        if path not in self.files:
            raise web.HTTPNotFound
        kind = TYPES[path[path.rindex(".") :]]
        return web.Response(body=self.files[path], content_type=kind, charset="utf-8", headers={"Cache-Control": lasts})


def load() -> Assets:
    """Read them all."""
    files = dict(_below(resources.files("forgetmenot.dock") / "static", ""))
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.encode() + b"\0" + files[path])
    build = digest.hexdigest()[:12]
    modules = "\n".join(
        f'<link rel="modulepreload" href="/static/{MARK}/{path}">' for path in sorted(files) if path.endswith(".js")
    )  # all are asked for at once, instead of each when another names it
    page = files["index.html"].decode().replace(PRELOAD, modules).replace(MARK, build)
    files["index.html"] = page.encode()
    return Assets(files, build)


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    files: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            files += _below(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(tuple(TYPES)):
            files.append((prefix + entry.name, entry.read_bytes()))
    return files


LARGEST_BODY = 64 * 1024
END_WITHIN_S = 0.5
BODY_WITHIN_S = 5.0
NOT_UNDERSTOOD = reason("request_odd")
NOTHING_HERE = reason("nothing_here")


@contextlib.asynccontextmanager
async def open_dock(
    *,
    control: Control,
    setup: Setup,
    db: Database,
    settings: Callable[[], Settings],
    clock: Clock,
    folder: Path,
    port: int,
) -> AsyncIterator[str]:
    """Serve the dock; its address. `folder` holds the token. Raises SettingsError (the port is taken), StoreError."""
    token = security.token_in(folder)
    files, feed = load(), event_feed.EventFeed()
    context = DockContext(control, db, settings, clock, files.build, feed.touched, feed.send)
    app = build_app(context, feed, files, security.Guard(port, token))
    app[SETUP] = setup
    runner = web.AppRunner(
        app, access_log=None, shutdown_timeout=END_WITHIN_S, handle_signals=False, lingering_time=0
    )  # nobody keeps a place by a body that is refused
    await runner.setup()
    try:
        listening = await _bind(runner, port)
        waiting_page.keep_current(folder, port, token, context.language)
        log.info("the dock is open", port=port)
        try:
            yield security.address(port, token)
        finally:
            listening.close()
    finally:
        await feed.aclose()
        await runner.cleanup()


async def _bind(runner: web.AppRunner, port: int) -> asyncio.Server:
    make = runner.server
    assert make is not None  # noqa: S101  # it was set up
    try:
        return await asyncio.get_running_loop().create_server(
            partial(security.HeaderWait, make, {}, set()), security.HOST, port, backlog=32
        )
    except OSError as error:
        raise SettingsError(
            f"The dock's port {port} is used by another program. Change `port` in the table [dock] of your settings."
        ) from error


def build_app(
    context: DockContext, feed: event_feed.EventFeed, files: Assets, guard: security.Guard
) -> web.Application:
    """The whole application, for the server and for tests."""
    checks = [_finish, security.guarding(guard, refusal), _whole_body, _sentences]
    app = web.Application(middlewares=checks, client_max_size=LARGEST_BODY)  # type: ignore[arg-type]
    app.on_response_prepare.append(_protect)
    app[CONTEXT] = context
    app[event_feed.STREAM] = feed

    async def page(_request: web.Request) -> web.StreamResponse:
        """It holds nothing that anybody might not see; what it shows is read with the token."""
        return files.page(context.language)

    async def static(request: web.Request) -> web.StreamResponse:
        return files.file(request.match_info["path"], request.match_info["build"])

    async def ticket(_request: web.Request) -> web.StreamResponse:
        return answer({"ticket": guard.new_ticket()})

    app.add_routes([web.get("/", page), web.get("/static/{build}/{path:.+}", static), web.post("/api/ticket", ticket)])
    app.add_routes([web.get(security.EVENTS, event_feed.events), *now.ROUTES, *panels.ROUTES, *ROUTES])
    return app


@web.middleware
async def _finish(request: web.Request, handler: security.Handler) -> web.StreamResponse:
    """What aiohttp itself refuses, in our shape."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        return refusal(error.status, _in_words(request, NOTHING_HERE) if error.status == 404 else error.reason)


@web.middleware
async def _whole_body(request: web.Request, handler: security.Handler) -> web.StreamResponse:
    """The body of what may be done; that of another request is not waited for."""
    if request.method == "POST":
        try:
            async with asyncio.timeout(BODY_WITHIN_S):
                await request.read()
        except TimeoutError:
            return refusal(408, _in_words(request, reason("request_slow")))
        except web.RequestPayloadError:
            return refusal(400, _in_words(request, NOT_UNDERSTOOD))
    return await handler(request)


async def _protect(_request: web.Request, response: web.StreamResponse) -> None:
    """Headers for every answer, streams and errors included."""
    for name, value in security.HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = "ForgetMeNot"
    response.force_close()  # one request a connection: nobody waits half way through a second one
    response.headers["Connection"] = "close"


@web.middleware
async def _sentences(request: web.Request, handler: security.Handler) -> web.StreamResponse:
    """Our errors as sentences; what is unexpected without its details."""
    try:
        return await handler(request)
    except InputError as error:
        return refusal(404, _in_words(request, error))
    except ForgetMeNotError as error:
        return refusal(409, _in_words(request, error))
    except (web.HTTPException, ConnectionError):
        raise
    except Exception:  # noqa: BLE001  # the supervisor of requests: a bug in a panel must not tell its insides
        resource = request.match_info.route.resource
        log.exception("the dock failed to answer", route=resource.canonical if resource else "")
        return refusal(500, _in_words(request, reason("internal_error")))


def _in_words(request: web.Request, sentence: object) -> str:
    """A reason or an error in the page's language."""
    return request.app[CONTEXT].language.reason(str(sentence))


LONGEST_TEXT = 4_000


async def _operations(request: web.Request) -> web.Response:
    return answer(buttons(language=request.app[CONTEXT].language))


async def _do(request: web.Request) -> web.Response:
    context, name = request.app[CONTEXT], request.match_info["name"]
    if name not in buttons():
        raise web.HTTPNotFound
    params = await _body(request)
    if params is None:
        return refusal(400, _in_words(request, NOT_UNDERSTOOD))

    def progress(share: float, step: str) -> None:
        """An erasure takes some seconds in a memory of years: every open page shows how far it is."""
        context.send("erasing", {"viewer": params.get("viewer", ""), "share": share, "what": step})

    result = await context.control.run(name, params, progress)
    context.touched()
    receipt = result.data.get("receipt", "")
    return answer({"ok": result.ok, "line": sentence(result, context.language), "receipt": receipt})


async def _preview(request: web.Request) -> web.Response:
    context: DockContext = request.app[CONTEXT]
    params = await _body(request) or {}
    login, text = (str(params.get(name, "")) for name in ("viewer", "text"))
    if not text.strip() or len(text) > LONGEST_TEXT:
        return refusal(400, _in_words(request, reason("no_message")))
    try:
        return answer({"ok": True, **await context.control.preview(login, text)}, language=context.language)
    except ModelError as error:
        return refusal(409, _in_words(request, error))


async def _body(request: web.Request) -> dict[str, object] | None:
    """The parameters, or None for what is no JSON object."""
    try:
        return msgspec.json.decode(await request.read(), type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, web.RequestPayloadError):
        return None


ROUTES = (web.get("/api/operations", _operations), web.post("/api/do/{name}", _do), web.post("/api/try", _preview))
