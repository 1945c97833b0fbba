"""The Settings panel: what may be changed while the bot runs, with its form; the rest with where to change it."""

from collections.abc import Mapping

import msgspec
from aiohttp import web

from forgetmenot.dock.desk import DESK, answer
from forgetmenot.settings.live import EDITABLE, form_of
from forgetmenot.settings.load import explanations
from forgetmenot.settings.schema import Settings


def tables(settings: Settings) -> list[dict[str, object]]:
    """Every setting of every table: `form` is None where it cannot be changed from here. No secret is a setting."""
    told = explanations()
    found: list[dict[str, object]] = []
    for table in msgspec.structs.fields(Settings):
        content = getattr(settings, table.name)
        if isinstance(content, msgspec.Struct):
            rows = [_row(table.name, key, getattr(content, key), told) for key in content.__struct_fields__]
            found.append({"name": table.name, "rows": rows})
        else:
            for name, one in content.items():
                rows = [_row(f"{table.name}.{name}", key, getattr(one, key), told) for key in one.__struct_fields__]
                found.append({"name": f'{table.name}."{name}"', "rows": rows})
    return found


def _row(table: str, key: str, value: object, told: Mapping[tuple[str, str], str]) -> dict[str, object]:
    form = form_of(table, key) if (table, key) in EDITABLE else None
    return {"key": key, "value": value, "form": form, "told": told.get((table, key), "")}


async def _settings(request: web.Request) -> web.Response:
    desk = request.app[DESK]
    return answer({"file": desk.control.state().settings_file, "tables": tables(desk.settings())})


ROUTES = (web.get("/api/settings", _settings),)
