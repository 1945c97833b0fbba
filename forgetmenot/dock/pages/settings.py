"""Settings and the set-up: how each part is, every setting, and steps of which app/setup decides what they do."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Protocol

from aiohttp import web
from msgspec.structs import asdict

from forgetmenot.dock.context import CONTEXT, Item, PageRequest, answer, reads
from forgetmenot.dock.security import UPLOAD
from forgetmenot.durations import SECOND
from forgetmenot.languages import Language, languages
from forgetmenot.settings.live_settings import LABELS, form_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import backup

# Bytes of a dropped file that are taken at once.
PIECE = 1 << 18


class Setup(Protocol):
    """The set-up, step by step."""

    async def state(self) -> Mapping[str, object]:
        """What is set up and what is not, without a secret."""
        ...

    async def run(self, step: str, body: bytes) -> Mapping[str, object]:
        """Do one step with its JSON; the result has `ok` and `line`. Raises errors of ours."""
        ...

    async def take_file(
        self,
        name: str,
        size: int | None,
        pieces: AsyncIterator[bytes],
    ) -> Mapping[str, object]:
        """Keep a file with chat of past streams. `size`: as it was announced. Raises errors of ours."""
        ...


SETUP = web.AppKey("setup", Setup)


async def _checks(page: PageRequest) -> object:
    """Return how each part of the bot is; with `all` also this computer, files and the network (seconds)."""
    everything = page.text("all") == "1"
    control = page.context.control
    checks = await control.checks(everything=everything)
    # A folder may be on a slow or sleeping disk: it is read off the event loop.
    backed_up_at = await asyncio.to_thread(_newest_backup_at, page.db.path)
    return {
        "checks": [asdict(check) for check in checks],
        "backed_up_at": backed_up_at,
    }


def _newest_backup_at(database: Path) -> int:
    """Return when the newest backup was made (ms); 0 if there is none."""
    copies = backup.copies_of(database)
    if not copies:
        return 0
    made_at_s = copies[0].stat().st_mtime
    return int(made_at_s * SECOND)


async def _setup_state(page: PageRequest) -> object:
    """Return what is set up and what is not."""
    setup = page.request.app[SETUP]
    return await setup.state()


async def _setup_step(request: web.Request) -> web.Response:
    """Do one step of the set-up."""
    context = request.app[CONTEXT]
    setup = request.app[SETUP]
    step = request.match_info["step"]
    # Read as bytes: each step has a form of its own, and says what is wrong in it.
    body = await request.read()
    result = await setup.run(step, body)
    # Other pages may show what was changed.
    context.touched()
    return answer(result, language=context.language)


async def _past_chat(request: web.Request) -> web.Response:
    """Take a dropped file piece by piece: it may be larger than what fits into memory."""
    setup = request.app[SETUP]
    name = request.query.get("name", "")
    size = request.content_length
    pieces = request.content.iter_chunked(PIECE)
    result = await setup.take_file(name, size, pieces)
    return answer(result)


async def _settings(page: PageRequest) -> object:
    """Return every setting that the dock changes, in the order of `LABELS`."""
    settings = page.settings
    language = page.language
    state = page.context.control.state()
    rows = []
    for table, key in LABELS:
        row = _setting(settings, table, key, language)
        rows.append(row)
    return {
        "file": state.settings_file,
        "rows": rows,
        "languages": languages(),
    }


def _setting(
    settings: Settings,
    table: str,
    key: str,
    language: Language,
) -> Item:
    """Return one setting with its form, its default and its words."""
    label = LABELS[table, key]
    title, explanation = language.pair(f"settings.{table}.{key}")
    defaults = Settings()
    value = getattr(getattr(settings, table), key)
    default = getattr(getattr(defaults, table), key)
    if (table, key) == ("bot", "notice"):
        # The default is said in the channel's language, until somebody writes their own.
        translated = language("chat.notice")
        if value == default:
            value = translated
        default = translated
    return {
        "table": table,
        "key": key,
        "group": language(f"group.{label.group}"),
        "label": title,
        "sentence": explanation,
        "basic": label.basic,
        "value": value,
        "default": default,
        "form": form_of(table, key),
    }


ROUTES = (
    reads("/api/checks", _checks),
    reads("/api/settings", _settings),
    reads("/api/setup", _setup_state),
    web.post("/api/setup/{step}", _setup_step),
    web.post(UPLOAD, _past_chat),
)
