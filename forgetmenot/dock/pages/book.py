"""What the page Book asks for, as JSON: quotes, jokes, clips, a search in what happened, and files of them.

Nobody who opted out or was banned has a name here.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from aiohttp import web
from msgspec.structs import asdict

from forgetmenot.dock.context import DockContext, id_of, names, reads
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.store import streams
from forgetmenot.text.days import iso_day
from forgetmenot.text.markdown import escape_markdown
from forgetmenot.text.mentions import with_names

if TYPE_CHECKING:
    # the parts that the page shows are imported when it is first opened
    from forgetmenot.memory.book import Clip, Entry, Joke

FOUND_LIMIT = 20
LONGEST_SEARCH = 80

Item = dict[str, object]


async def _book(context: DockContext, request: web.Request) -> object:
    """Return what the book holds, or what fits the words of a search."""
    find = request.query.get("find", "").strip()[:LONGEST_SEARCH]
    now = context.clock.now()
    if not find:
        return await _pages(context, now)
    from forgetmenot.memory import book

    zone = context.settings().bot.timezone
    entries = await context.db.together(
        lambda source: book.search(source, find, now=now, zone=zone, limit=FOUND_LIMIT)
    )
    shown_names = await names(context.db, [entry.text for entry in entries])
    return {"found": _items(entries, shown_names)}


async def _pages(context: DockContext, now: int) -> dict[str, list[Item]]:
    """Return all that the book holds, by its parts."""
    from forgetmenot.memory import book

    pages = await context.db.together(lambda source: book.pages(source, now))
    texts = [quote.text for quote in pages.quotes]
    texts += [joke.entry.text for joke in pages.jokes]
    texts += [clip.entry.text for clip in pages.clips]
    teller_ids: list[str] = []
    for joke in pages.jokes:
        teller_ids += joke.people
    # One read of all names: the page has up to hundreds of texts.
    shown_names = await names(context.db, texts, teller_ids)
    return {
        "quotes": _items(pages.quotes, shown_names),
        "jokes": [_joke_item(joke, shown_names) for joke in pages.jokes],
        "clips": [_clip_item(clip, shown_names) for clip in pages.clips],
    }


def _joke_item(joke: "Joke", shown_names: Mapping[str, str]) -> Item:
    """Return a running joke with its times, and with who told it."""
    item = _item(joke.entry, shown_names)
    item["times"] = joke.times
    # Whoever is hidden has no name here, and is left out.
    item["people"] = [
        shown_names[viewer_id] for viewer_id in joke.people if viewer_id in shown_names
    ]
    return item


def _clip_item(clip: "Clip", shown_names: Mapping[str, str]) -> Item:
    """Return a clip or a marker with its address."""
    item = _item(clip.entry, shown_names)
    item["kind"] = clip.kind
    item["address"] = clip.address
    return item


def _items(entries: Sequence["Entry"], shown_names: Mapping[str, str]) -> list[Item]:
    return [_item(entry, shown_names) for entry in entries]


def _item(entry: "Entry", shown_names: Mapping[str, str]) -> Item:
    item = asdict(entry)
    item["text"] = with_names(entry.text, shown_names)
    return item


async def _markdown(context: DockContext, _request: web.Request) -> object:
    """Return the book as a text in Markdown."""
    say = context.language
    zone = context.settings().bot.timezone
    pages = await _pages(context, context.clock.now())
    title = say("page.memory.book")
    parts = [f"# {title}"]
    for name, rows in pages.items():
        if not rows:
            continue
        heading = say(f"page.book.{name}")
        parts.append(f"## {heading}")
        lines = [_line(row, zone) for row in rows]
        parts.append("\n".join(lines))
    parts.append("")
    return {"text": "\n\n".join(parts)}


def _line(row: Mapping[str, object], zone: str) -> str:
    """Return a line of a list: what it is, and in brackets when, and who."""
    at = int(str(row["at"]))
    details = [iso_day(at, zone), str(row["minutes"])]
    people = row.get("people")
    if isinstance(people, list):
        details += people
    details_text = ", ".join(_filled(details))
    # Both hold what chat wrote, which must not become markup. Addresses are ours.
    words = [
        escape_markdown(str(row["text"])),
        f"({escape_markdown(details_text)})",
        str(row.get("address", "")),
        str(row["link"]),
    ]
    line = " ".join(_filled(words))
    return f"- {line}"


def _filled(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if text]


async def _chapters(context: DockContext, request: web.Request) -> object:
    """Return the chapters of a stream as a file: its name and its text."""
    from forgetmenot.memory import chapters

    form = request.query.get("form", "")
    if form not in chapters.FORMATS:
        raise InputError(reason("request_odd"))
    stream_id = id_of(request)
    settings = context.settings()
    rows = await chapters.chapters_of(context.db, stream_id, settings)
    stream = (await streams.get_many(context.db, [stream_id]))[stream_id]
    day = iso_day(stream.started_at, settings.bot.timezone)
    ending = "txt" if form == "youtube" else form
    return {
        "name": f"chapters-{day}.{ending}",
        "text": chapters.as_text(rows, form, stream.title),
    }


ROUTES = (
    reads("/api/book", _book),
    reads("/api/book/markdown", _markdown),
    reads("/api/chapters/{id}", _chapters),
)
