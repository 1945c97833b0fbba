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

# What a page is sent of one thing that it shows, as JSON.
Item = dict[str, Any]

# Rows of one answer to a list that is turned in pages.
ROWS_LIMIT = 200
# Characters that are read of a text in an address: names and searches. It costs time to look for longer ones.
LONGEST_TEXT = 80
# Digits of a number in an address. SQLite has no room for numbers that are much longer.
LONGEST_NUMBER = 15


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
    value = {"ok": False, "line": sentence}
    return answer(value, status)


def whole(text: str) -> int:
    """Return the whole number that stands in an address. Raises InputError."""
    if not text.isdecimal() or len(text) > LONGEST_NUMBER:
        raise InputError(reason("request_odd"))
    return int(text)


class PageRequest(Struct, frozen=True):
    """What a page asks for: one request, with the running bot that answers it."""

    context: DockContext
    request: web.Request

    @property
    def db(self) -> Database:
        """Return the memory."""
        return self.context.db

    @property
    def now(self) -> int:
        """Return the time of the bot's clock (ms)."""
        return self.context.clock.now()

    @property
    def settings(self) -> Settings:
        """Return the settings of the moment."""
        return self.context.settings()

    @property
    def zone(self) -> str:
        """Return the time zone of the settings."""
        return self.context.zone

    @property
    def language(self) -> Language:
        """Return the texts in the language of the settings."""
        return self.context.language

    @property
    def row_id(self) -> int:
        """Return the number in the path. Raises InputError."""
        return whole(self.request.match_info["id"])

    @property
    def viewer_id(self) -> str:
        """Return the id of a person in the path. It may be nobody's."""
        return self.request.match_info["id"]

    def text(self, name: str, default: str = "") -> str:
        """Return a text of the query, its first characters."""
        text = self.request.query.get(name, default)
        return text.strip()[:LONGEST_TEXT]

    def number(self, name: str, default: int) -> int:
        """Return a whole number of the query. Raises InputError."""
        text = self.request.query.get(name)
        return default if text is None else whole(text)

    def part(self) -> tuple[int, int]:
        """Return which part of a long list is asked for: its offset and its limit. Raises InputError."""
        offset = self.number("offset", 0)
        limit = self.number("limit", 50)
        return offset, min(limit, ROWS_LIMIT)


# Reads what one part of a page shows. Raises InputError for an odd request.
Panel = Callable[[PageRequest], Awaitable[object]]


def reads(path: str, panel: Panel) -> web.RouteDef:
    """Return a route that answers with what a panel shows."""

    async def answered(request: web.Request) -> web.Response:
        context = request.app[CONTEXT]
        page = PageRequest(context, request)
        value = await panel(page)
        return answer(value, language=page.language)

    return web.get(path, answered)


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
    shown_ids = sorted(people - hidden_ids)
    return await viewers.names_as_asked(db, shown_ids)


async def named_rows(
    db: Database,
    rows: Iterable[Row | dict[str, object]],
    column: str,
) -> list[Item]:
    """Return rows with present names for the people whom the text of one column mentions."""
    items = [dict(row) for row in rows]
    texts = [item[column] for item in items]
    shown_names = await names(db, texts)
    for item in items:
        item[column] = with_names(item[column], shown_names)
    return items


def name_of(viewer_id: str | None, shown_names: Mapping[str, str]) -> str:
    """Return the name of a viewer among those that may be shown; empty for nobody, and for who is hidden."""
    if viewer_id is None:
        return ""
    return shown_names.get(viewer_id, "")
