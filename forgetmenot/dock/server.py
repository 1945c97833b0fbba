"""The dock's web server: binds, guards and routes; ends with the bot.

    async with open_dock(control=…, db=…, settings=…, clock=…, folder=…, port=…) as address: …

It listens on 127.0.0.1 only, and no answer holds a secret or a traceback.
"""

import asyncio
import contextlib
import hashlib
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web
from msgspec import Struct

from forgetmenot.clock import Clock
from forgetmenot.dock import feed, obs_page, pages, security
from forgetmenot.dock.context import (
    CONTEXT,
    DockContext,
    PageRequest,
    answer,
    reads,
    refusal,
)
from forgetmenot.dock.pages.settings import SETUP, Setup
from forgetmenot.errors import ForgetMeNotError, InputError, SettingsError
from forgetmenot.languages import Language, reason
from forgetmenot.logs import log
from forgetmenot.operations.commands import buttons
from forgetmenot.operations.wording import sentence
from forgetmenot.ports import Control
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import as_typed
from forgetmenot.store.database import Database
from forgetmenot.text.clean import clean

if TYPE_CHECKING:
    from forgetmenot.local_api.server import LocalApi

# The content types of the page's files. A file with another ending is not served.
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
# Marks in the page that are replaced.
BUILD_MARK = "%BUILD%"
PRELOAD_MARK = "%PRELOAD%"


class Assets(Struct, frozen=True):
    """The page's files, by their paths below its folder.

    `build` changes with any of them, so that an open page of an older build reloads itself.
    """

    files: dict[str, bytes]
    build: str

    def page(self, language: Language, zone: str) -> web.Response:
        """Return the page itself, with its texts. `zone`: the time zone of its days."""
        tables = language.tables
        texts = {
            **tables["page"],
            "span": tables["span"],
            "ago": tables["ago"],
            "group": tables["group"],
            "action": tables["action"]["name"],
        }
        page_data = {
            "code": language.code,
            "texts": texts,
            "command": as_typed(),
            "zone": zone,
        }
        encoded_data = msgspec.json.encode(page_data).decode()
        # It stands in a script element, which a text with "</script>" would end.
        encoded_data = encoded_data.replace("<", r"\u003c")
        page = self.files["index.html"].decode()
        for name in ("skip", "noscript", "frame.connecting"):
            mark = f"%{name.upper()}%"
            words = language(f"page.{name}")
            page = page.replace(mark, words)
        page = page.replace("%LANGUAGE%", language.code)
        page = page.replace("%TEXTS%", encoded_data)
        # The browser keeps no copy: a page that is loaded again must be the present build.
        return web.Response(
            text=page,
            content_type="text/html",
            charset="utf-8",
            headers={"Cache-Control": "no-store"},
        )

    def file(self, path: str, build: str) -> web.Response:
        """Return one file. Raises 404."""
        # Only what was read at the start is served: no path of an address reaches the disk.
        if path not in self.files:
            raise web.HTTPNotFound
        caching = "no-store"
        # What is asked for by its build's name never changes: a year is the longest that browsers honour.
        if build == self.build:
            caching = "private, max-age=31536000, immutable"
        ending = PurePosixPath(path).suffix
        return web.Response(
            body=self.files[path],
            content_type=TYPES[ending],
            charset="utf-8",
            headers={"Cache-Control": caching},
        )


def load() -> Assets:
    """Read the page's files."""
    folder = Path(__file__).with_name("static")
    files = {}
    # Sorted, because the hash depends on the order, and a disk has an order of its own.
    for file in sorted(folder.rglob("*")):
        if file.suffix in TYPES:
            path = file.relative_to(folder).as_posix()
            files[path] = file.read_bytes()
    encoded_files = msgspec.json.encode(files)
    digest = hashlib.sha256(encoded_files).hexdigest()
    build = digest[:12]
    # All modules are asked for at once, instead of each when another names it.
    preloads = [
        f'<link rel="modulepreload" href="/static/{BUILD_MARK}/{path}">'
        for path in files
        if path.endswith(".js")
    ]
    page = files["index.html"].decode()
    page = page.replace(PRELOAD_MARK, "\n".join(preloads))
    page = page.replace(BUILD_MARK, build)
    files["index.html"] = page.encode()
    return Assets(files, build)


# Bytes of a request. Nothing that the page sends is near it, but for files, which are taken piece by piece.
LARGEST_BODY = 64 * 1024
# Characters of what was said aloud.
LONGEST_LINE = 500
# A page's stream never ends by itself: a stop of the bot does not wait for it.
END_WITHIN_S = 0.5
# It logs a traceback of each request that is no HTTP; errors of ours are logged by `_sentences`.
SILENT_LOGGER = logging.getLogger("aiohttp.server")
SILENT_LOGGER.setLevel(logging.CRITICAL)


CONNECTIONS = web.AppKey("connections", security.Connections)


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
    """Serve the dock, and give its address. `folder` holds the token.

    Raises SettingsError if the port is taken, and StoreError.
    """
    token = security.token_in(folder)
    assets = load()
    stream = feed.EventFeed()
    context = DockContext(
        control=control,
        db=db,
        settings=settings,
        clock=clock,
        build=assets.build,
        touched=stream.touched,
    )
    guard = security.Guard(port, token)
    # The first is the outermost: also a request that the guard refuses uses a connection.
    checks = [
        _finish,
        security.guarding(guard, refusal),
        _sentences,
    ]
    app = web.Application(middlewares=checks, client_max_size=LARGEST_BODY)  # type: ignore[arg-type]
    app.on_response_prepare.append(_protect)
    app[CONTEXT] = context
    app[SETUP] = setup
    app[CONNECTIONS] = security.Connections()
    app[feed.STREAM] = stream

    async def page(_request: web.Request) -> web.StreamResponse:
        """It holds nothing that anybody might not see; what it shows is read with the token."""
        return assets.page(context.language, context.zone)

    async def static(request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        build = request.match_info["build"]
        return assets.file(path, build)

    local_api = _local_api(context, folder)
    app.add_routes(
        [
            web.get("/", page),
            # The same page, of which it shows the streamer's cards alone.
            web.get("/earpiece", page),
            web.get("/static/{build}/{path:.+}", static),
            # Without HEAD: one of the stream of events would hold a listener's place without end.
            web.get("/v1/{path:.+}", local_api, allow_head=False),
            web.get("/api/events", feed.events),
            *pages.ROUTES,
            *ROUTES,
        ]
    )
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=SILENT_LOGGER,
        shutdown_timeout=END_WITHIN_S,
        handle_signals=False,
        # A packed body is refused as it is (dock/security).
        auto_decompress=False,
        # Nobody keeps a place by a body that is refused.
        lingering_time=0,
    )
    await runner.setup()
    try:
        listening = await _bind(runner, port)
        obs_page.keep_current(folder, port, token, context.language)
        log.info("the dock is open", port=port)
        try:
            yield security.address(port, token)
        finally:
            listening.close()
    finally:
        await stream.aclose()
        await runner.cleanup()


def _local_api(context: DockContext, folder: Path) -> security.Handler:
    """Return the handler for other programs on this computer. While it is off, nothing of it is imported."""
    interface: LocalApi | None = None

    async def respond(request: web.Request) -> web.StreamResponse:
        nonlocal interface
        if not context.settings().local_api.enabled:
            raise web.HTTPNotFound
        if interface is None:
            from forgetmenot.local_api.server import TOKEN_FILE, LocalApi

            # Made at the first request, so that a bot that never offers the interface has no such file.
            token = await asyncio.to_thread(security.token_in, folder, file=TOKEN_FILE)
            interface = LocalApi(
                db=context.db,
                settings=context.settings,
                clock=context.clock,
                token=token,
            )
        return await interface.respond(request)

    return respond


async def _bind(runner: web.AppRunner, port: int) -> asyncio.Server:
    """Listen at the port, and return the server. Raises SettingsError if it is taken."""
    connections = runner.app[CONNECTIONS]
    connections.server = runner.server
    loop = asyncio.get_running_loop()
    try:
        # Not a TCPSite of aiohttp's, which has no place for a limit of connections.
        return await loop.create_server(connections, security.HOST, port, backlog=32)
    except OSError as error:
        raise SettingsError(
            f"The dock's port {port} is used by another program. Change `port` in the table [dock] of your settings."
        ) from error


def usable_port(port: int) -> int:
    """Return this port, or a free one if it is taken; 0 for 0."""
    # 0 is no port but the setting for no dock at all.
    if port == 0:
        return 0
    with socket.socket() as probe:
        # A port that was just left is free; on Windows the option would also take one that somebody listens at.
        if sys.platform != "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((security.HOST, port))
        except OSError:
            probe.bind((security.HOST, 0))
        _host, usable = probe.getsockname()
        return int(usable)


@web.middleware
async def _finish(
    request: web.Request, handler: security.Handler
) -> web.StreamResponse:
    """Answer what aiohttp itself refuses in our shape. Meanwhile the connection is in use."""
    busy = request.app[CONNECTIONS].busy
    connection = request.protocol
    busy.add(connection)
    try:
        return await handler(request)
    except web.HTTPException as error:
        sentence = error.reason
        if error.status == 404:
            sentence = _in_words(request, reason("nothing_here"))
        return refusal(error.status, sentence)
    finally:
        busy.discard(connection)


async def _protect(_request: web.Request, response: web.StreamResponse) -> None:
    """Set the headers of every answer, streams and errors included."""
    for name, value in security.HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = "ForgetMeNot"
    # One request a connection: nobody waits half way through a second one.
    response.force_close()
    response.headers["Connection"] = "close"


@web.middleware
async def _sentences(
    request: web.Request, handler: security.Handler
) -> web.StreamResponse:
    """Answer with our errors as sentences, and with what is unexpected without its details."""
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
        # The route and not the path, in which somebody's id may stand.
        route = resource.canonical if resource else ""
        log.exception("the dock failed to answer", route=route)
        return refusal(500, _in_words(request, reason("internal_error")))


def _in_words(request: web.Request, sentence: object) -> str:
    """Return a reason or an error in the page's language."""
    language = request.app[CONTEXT].language
    return language.reason(str(sentence))


async def _operations(page: PageRequest) -> object:
    """Return the operations that have a button, with their words."""
    return buttons(page.language)


async def _do(request: web.Request) -> web.Response:
    """Run an operation, and answer with what came of it."""
    context = request.app[CONTEXT]
    name = request.match_info["name"]
    # Other operations are for chat or a terminal, whose checks are not made here.
    if name not in buttons():
        raise web.HTTPNotFound
    params = await _body(request)
    if params is None:
        odd = _in_words(request, reason("request_odd"))
        return refusal(400, odd)
    result = await context.control.run(name, params)
    context.touched()
    value = {
        "ok": result.ok,
        "line": sentence(result, context.language),
        "id": result.data.get("id"),
    }
    return answer(value)


async def _hear(request: web.Request) -> web.Response:
    """Take a line that the streamer said, from a program on this computer."""
    body = await _body(request) or {}
    text = _spoken_text(body)
    if text is None:
        text_needed = reason("text_needed", most=LONGEST_LINE)
        return refusal(400, _in_words(request, text_needed))
    control = request.app[CONTEXT].control
    # At most 60 a minute: a program that repeats itself would fill the memory with the streamer's voice.
    if not control.hear(text):
        too_many = _in_words(request, reason("too_many_lines"))
        return refusal(429, too_many)
    return answer({"ok": True})


def _spoken_text(body: dict[str, object]) -> str | None:
    """Return the text of what was said; None if there is none, or too much."""
    text = body.get("text")
    if not isinstance(text, str):
        return None
    if len(text) > LONGEST_LINE:
        return None
    return text if clean(text) else None


async def _body(request: web.Request) -> dict[str, object] | None:
    """Return the parameters; None for what is no JSON object."""
    try:
        body = await request.read()
        return msgspec.json.decode(body, type=dict[str, object])
    # The last two: JSON that is nested too deeply, and a connection that ended half way.
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
        RecursionError,
        web.RequestPayloadError,
    ):
        return None


ROUTES = (
    reads("/api/operations", _operations),
    web.post("/api/do/{name}", _do),
    web.post("/api/hear", _hear),
)
