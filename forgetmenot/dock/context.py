"""Shared by the dock's panels: context, JSON answers, errors as sentences, names."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec
from aiohttp import web

from forgetmenot.clock import Clock
from forgetmenot.errors import InputError
from forgetmenot.languages import ENGLISH, Language, in_language, reason
from forgetmenot.ports import Control
from forgetmenot.settings.schema import Settings
from forgetmenot.store import viewers
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in

LONGEST_PAGE = 200


@dataclass(frozen=True, slots=True)
class DockContext:
    """The running bot as the dock sees it.

    `touched` tells every open page that something was changed from here; `tell` sends them an event of that name now.
    """

    control: Control
    db: Database
    settings: Callable[[], Settings]
    clock: Clock
    build: str
    touched: Callable[[], None]
    send: Callable[[str, object], None]

    @property
    def version(self) -> str:
        """What an open page was made from: with another one it loads itself again."""
        return f"{self.build}-{self.language.code}"

    @property
    def language(self) -> Language:
        """The texts in the language of the settings."""
        return in_language(self.settings().bot.language)


CONTEXT = web.AppKey("context", DockContext)


def answer(value: object, status: int = 200, language: Language = ENGLISH) -> web.Response:
    """A value as JSON, with the reasons in it in a language."""
    body = msgspec.json.encode(value, enc_hook=language.reason)
    return web.Response(body=body, status=status, content_type="application/json")


def refusal(status: int, sentence: str) -> web.Response:
    """A refusal with its sentence, in the same shape as an action's answer."""
    return answer({"ok": False, "line": sentence}, status)


def number(request: web.Request, name: str, default: int, most: int = 1_000_000_000) -> int:
    """A whole number of the query, from 0 to `most`. Raises InputError."""
    text = request.query.get(name, str(default))
    if not text.isdecimal() or len(text) > 12:
        raise InputError(reason("query_number", name=name))
    return min(int(text), most)


def id_of(request: web.Request) -> int:
    """The id in the path. Raises InputError."""
    text = request.match_info["id"]
    if not text.isdecimal() or len(text) > 15:
        raise InputError(reason("no_number"))
    return int(text)


def page_of(request: web.Request) -> tuple[int, int]:
    """Offset and limit of the query."""
    return number(request, "offset", 0), number(request, "limit", 50, LONGEST_PAGE)


async def names(db: Database, texts: Iterable[str], also: Iterable[str | None] = ()) -> dict[str, str]:
    """The present names of viewers mentioned in texts and of these ids, without hidden ones."""
    people = {who for text in texts for who in ids_in(text)} | {who for who in also if who}
    return await viewers.names(db, sorted(people - await viewers.hidden(db, people)))
