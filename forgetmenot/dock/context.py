"""What every page of the dock needs: the running bot, its answers as JSON, the parts of a request, and names."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from forgetmenot.clock import Clock
from forgetmenot.errors import InputError
from forgetmenot.languages import ENGLISH, Language, in_language, reason
from forgetmenot.ports import Control
from forgetmenot.settings.schema import Settings
from forgetmenot.store import viewers
from forgetmenot.store.database import Database, Row
from forgetmenot.text.mentions import ids_in, with_names

Item = Mapping[str, object]

# Rows of one answer to a list that is turned in pages.
ROWS_LIMIT = 200


class DockContext(Struct, frozen=True):
    """The running bot as the dock sees it.

    `build`: a hash of the page's files. `touched` has every open page told that something was changed from here.
    """

    control: Control
    db: Database
    settings: Callable[[], Settings]
    clock: Clock
    build: str
    touched: Callable[[], None]

    @property
    def version(self) -> str:
        """Return what an open page was made from: with another one it loads itself again."""
        # The page has its texts in it, so another language makes another page.
        return f"{self.build}-{self.language.code}"

    @property
    def language(self) -> Language:
        """Return the texts in the language of the settings."""
        return in_language(self.settings().bot.language)

    @property
    def zone(self) -> str:
        """Return the time zone of the settings."""
        return self.settings().bot.timezone


CONTEXT = web.AppKey("context", DockContext)


# What a panel shows: a value that is sent as JSON.
Panel = Callable[[DockContext, web.Request], Awaitable[object]]


def answer(
    value: object,
    status: int = 200,
    language: Language = ENGLISH,
) -> web.Response:
    """Return a value as JSON, with the reasons in it in a language."""
    body = msgspec.json.encode(value, enc_hook=language.reason)
    return web.Response(body=body, status=status, content_type="application/json")


def refusal(status: int, sentence: str) -> web.Response:
    """Return a refusal with its sentence, in the same shape as an action's answer."""
    return answer({"ok": False, "line": sentence}, status)


def whole(text: str) -> int:
    """Return the whole number that stands in an address. Raises InputError."""
    # SQLite has no room for numbers that are much longer.
    if not text.isdecimal() or len(text) > 15:
        raise InputError(reason("request_odd"))
    return int(text)


def reads(path: str, panel: Panel) -> web.RouteDef:
    """Return a route that answers with what a panel shows."""

    async def answered(request: web.Request) -> web.Response:
        context = request.app[CONTEXT]
        value = await panel(context, request)
        return answer(value, language=context.language)

    return web.get(path, answered)


def id_of(request: web.Request) -> int:
    """Return the id in the path. Raises InputError."""
    return whole(request.match_info["id"])


def page_of(request: web.Request) -> tuple[int, int]:
    """Return offset and limit of the query. Raises InputError."""
    offset = whole(request.query.get("offset", "0"))
    limit = whole(request.query.get("limit", "50"))
    return offset, min(limit, ROWS_LIMIT)


async def names(
    db: Database,
    texts: Iterable[str],
    viewer_ids: Iterable[str | None] = (),
) -> dict[str, str]:
    """Return the present names of viewers mentioned in texts and of these ids, without hidden ones."""
    people = {viewer_id for viewer_id in viewer_ids if viewer_id}
    for text in texts:
        people.update(ids_in(text))
    # A text may still mention somebody who opted out or was banned.
    hidden_ids = await viewers.hidden(db, people)
    return await viewers.names_as_asked(db, sorted(people - hidden_ids))


async def named_rows(
    db: Database,
    rows: Iterable[Row | dict[str, object]],
    column: str,
) -> list[dict[str, Any]]:
    """Return rows with present names for the people whom the text of one column mentions."""
    items = [dict(row) for row in rows]
    texts = [item[column] for item in items]
    shown_names = await names(db, texts)
    for item in items:
        item[column] = with_names(item[column], shown_names)
    return items


def name_of(viewer_id: str | None, shown_names: Mapping[str, str]) -> str:
    """Return the name of a viewer among those that may be shown; empty for nobody, and for who is hidden."""
    return shown_names.get(viewer_id or "", "")
