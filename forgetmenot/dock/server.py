"""The server of the dock: binds, guards, routes, and ends with the bot.

    async with open_dock(control=…, db=…, settings=…, clock=…, folder=…, port=…) as address: …

Promises to listen on 127.0.0.1 alone, and that no answer tells a secret or a traceback.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from aiohttp import web

from forgetmenot.clock import Clock
from forgetmenot.dock import approvals, assets, deeds, figures, health, memory, now, settings_page, stream
from forgetmenot.dock.desk import DESK, Desk, refusal
from forgetmenot.dock.security import ADDRESS_AGAIN, HEADERS, HOST, Guard, Handler, address, guarding, token_in
from forgetmenot.errors import ForgetMeNotError, InputError, SettingsError
from forgetmenot.logs import log
from forgetmenot.ports import Control
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database

LARGEST_BODY = 64 * 1024
END_WITHIN_S = 0.5

_DATA = (now.ROUTES, memory.ROUTES, approvals.ROUTES, figures.ROUTES, health.ROUTES, settings_page.ROUTES)


@contextlib.asynccontextmanager
async def open_dock(
    *, control: Control, db: Database, settings: Callable[[], Settings], clock: Clock, folder: Path, port: int
) -> AsyncIterator[str]:
    """Serve the dock; its address. `folder` holds the token. Raises SettingsError (the port is taken), StoreError."""
    token = token_in(folder)
    files, told = assets.load(), stream.Stream()
    desk = Desk(control, db, settings, clock, files.build, told.touched, told.tell)
    app = build_app(desk, told, files, Guard(port, token))
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=END_WITHIN_S, handle_signals=False)
    await runner.setup()
    try:
        await _bind(runner, port)
        log.info("the dock is open", port=port)
        yield address(port, token)
    finally:
        await told.aclose()
        await runner.cleanup()


async def _bind(runner: web.AppRunner, port: int) -> None:
    try:
        await web.TCPSite(runner, HOST, port).start()
    except OSError as error:
        raise SettingsError(
            f"The dock's port {port} is taken by another program. Change `port` in the table [dock] of your settings."
        ) from error


def build_app(desk: Desk, told: stream.Stream, files: assets.Assets, guard: Guard) -> web.Application:
    """The whole application, for the server and for tests."""
    app = web.Application(middlewares=[_finish, guarding(guard, refusal), _sentences], client_max_size=LARGEST_BODY)  # type: ignore[list-item]
    app.on_response_prepare.append(_protect)
    app[DESK] = desk
    app[stream.STREAM] = told
    app.add_routes([web.get("/", _page(files, guard)), web.get("/static/{build}/{path:.+}", _static(files))])
    app.add_routes([route for routes in _DATA for route in routes])
    app.add_routes([web.get("/events", stream.events), *deeds.ROUTES])
    return app


def _page(files: assets.Assets, guard: Guard) -> Handler:
    async def page(request: web.Request) -> web.StreamResponse:
        if guard.knows_token(request.query.get("token", "")):
            response = files.page()
            guard.let_in(response)
            return response
        if guard.may_read(request):
            return files.page()
        return web.Response(status=401, text=f"ForgetMeNot's dock.\n\n{ADDRESS_AGAIN}\n")

    return page


def _static(files: assets.Assets) -> Handler:
    async def static(request: web.Request) -> web.StreamResponse:
        return files.file(request.match_info["path"], request.match_info["build"])

    return static


@web.middleware
async def _finish(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What aiohttp itself refuses, in our shape."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        return refusal(error.status, "There is nothing here." if error.status == 404 else error.reason)


async def _protect(_request: web.Request, response: web.StreamResponse) -> None:
    """Headers for every answer, streams and errors included."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = "ForgetMeNot"


@web.middleware
async def _sentences(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Our errors as sentences; what is unexpected without its details."""
    try:
        return await handler(request)
    except InputError as error:
        return refusal(404, str(error))
    except ForgetMeNotError as error:
        return refusal(409, str(error))
    except web.HTTPException:
        raise
    except ConnectionError:
        raise
    except Exception:  # noqa: BLE001  # the supervisor of requests: a bug in a panel must not tell its insides
        resource = request.match_info.route.resource
        log.exception("the dock failed to answer", route=resource.canonical if resource else "")
        return refusal(500, "That went wrong inside. The log has the details.")
