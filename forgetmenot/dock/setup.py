"""The set-up, the settings and the first minutes as the page asks for them. app/setup decides what an answer does."""

from collections.abc import Mapping
from typing import Protocol

from aiohttp import web

from forgetmenot.dock.context import CONTEXT, answer
from forgetmenot.memory.heard_facts import heard_facts
from forgetmenot.settings.labels import LABELS, RESTARTING, Label
from forgetmenot.settings.live_settings import form_of
from forgetmenot.settings.schema import Settings


class Setup(Protocol):
    """The set-up, step by step."""

    async def state(self) -> Mapping[str, object]:
        """What is set up and what is not, without a secret."""
        ...

    async def run(self, step: str, body: bytes) -> Mapping[str, object]:
        """Do one step with its JSON; the result has `ok` and `line`. Raises errors of ours."""
        ...


SETUP = web.AppKey("setup", Setup)


async def _state(request: web.Request) -> web.Response:
    return answer(await request.app[SETUP].state())


async def _run(request: web.Request) -> web.Response:
    result = await request.app[SETUP].run(request.match_info["step"], await request.read())
    request.app[CONTEXT].touched()
    return answer(result)


async def _settings(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    state = context.control.state()
    rows = [_row(context.settings(), table, key, label) for (table, key), label in LABELS.items()]
    return answer({"file": state.settings_file, "rows": rows})


async def _heard(request: web.Request) -> web.Response:
    """What one viewer said about themselves and no summary covers yet."""
    context = request.app[CONTEXT]
    viewer = request.query.get("viewer", "")[:60]
    facts = await heard_facts(context.db, context.settings().privacy, viewer) if viewer else []
    return answer([one.fact for one in facts])


def _row(settings: Settings, table: str, key: str, label: Label) -> dict[str, object]:
    """One setting with its form, its default and its words."""
    return {
        "table": table,
        "key": key,
        **label._asdict(),
        "value": getattr(getattr(settings, table), key),
        "default": getattr(getattr(Settings(), table), key),
        "restarts": table in RESTARTING,
        "form": form_of(table, key),
    }


ROUTES = (
    web.get("/api/setup", _state),
    web.post("/api/setup/{step}", _run),
    web.get("/api/settings", _settings),
    web.get("/api/heard", _heard),
)
