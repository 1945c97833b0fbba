"""What the page Book asks for, as JSON: quotes, jokes, clips, a search in what happened, and files of them.

Nobody who opted out or was banned has a name here.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from forgetmenot.dock.context import Item, PageRequest, name_of, names, reads
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.store import streams
from forgetmenot.text.days import iso_day
from forgetmenot.text.markdown import escape_markdown
from forgetmenot.text.mentions import with_names

if TYPE_CHECKING:
    # Imported when the page is first opened: a start does not need them.
    from forgetmenot.memory.book import Clip, Entry, Joke

FOUND_LIMIT = 20


async def _book(page: PageRequest) -> object:
    """Return what the book holds, or what fits the words of a search."""
    find = page.text("find")
    if not find:
        return await _pages(page)
    items = await _search(page, find)
    return {"found": items}


async def _search(page: PageRequest, find: str) -> list[Item]:
    """Return what happened, was noted or was quoted that fits some words, best first."""
    from forgetmenot.memory import book

    search = partial(
        book.search,
        text=find,
        now=page.now,
        zone=page.zone,
        limit=FOUND_LIMIT,
    )
    entries = await page.db.together(search)
    return await _items(page, entries)


async def _pages(page: PageRequest) -> dict[str, list[Item]]:
    """Return all that the book holds, by its parts."""
    from forgetmenot.memory import book

    read = partial(book.pages, now=page.now)
    pages = await page.db.together(read)
    quotes = await _items(page, pages.quotes)
    jokes = await _jokes(page, pages.jokes)
    clips = await _clips(page, pages.clips)
    return {
        "quotes": quotes,
        "jokes": jokes,
        "clips": clips,
    }


async def _items(page: PageRequest, entries: Sequence["Entry"]) -> list[Item]:
    """Return entries of the book as the page shows them."""
    texts = [entry.text for entry in entries]
    shown_names = await names(page.db, texts)
    items = []
    for entry in entries:
        item = asdict(entry)
        item["text"] = with_names(entry.text, shown_names)
        items.append(item)
    return items


async def _jokes(page: PageRequest, jokes: Sequence["Joke"]) -> list[Item]:
    """Return running jokes, each with its times and with who told it."""
    entries = [joke.entry for joke in jokes]
    items = await _items(page, entries)
    teller_ids: set[str] = set()
    for joke in jokes:
        teller_ids.update(joke.people)
    shown_names = await names(page.db, (), teller_ids)
    for joke, item in zip(jokes, items, strict=True):
        tellers = [name_of(viewer_id, shown_names) for viewer_id in joke.people]
        item["times"] = joke.times
        # Whoever is hidden has no name here, and is left out.
        item["people"] = _filled(tellers)
    return items


async def _clips(page: PageRequest, clips: Sequence["Clip"]) -> list[Item]:
    """Return clips and markers with their addresses."""
    entries = [clip.entry for clip in clips]
    items = await _items(page, entries)
    for clip, item in zip(clips, items, strict=True):
        item["kind"] = clip.kind
        item["address"] = clip.address
    return items


async def _markdown(page: PageRequest) -> object:
    """Return the book as a text in Markdown."""
    say = page.language
    pages = await _pages(page)
    title = say("page.memory.book")
    parts = [f"# {title}"]
    for name, rows in pages.items():
        if not rows:
            continue
        heading = say(f"page.book.{name}")
        parts.append(f"## {heading}")
        lines = [_line(row, page.zone) for row in rows]
        parts.append("\n".join(lines))
    # An empty last part: a text file ends with a line end.
    parts.append("")
    return {"text": "\n\n".join(parts)}


def _line(row: Item, zone: str) -> str:
    """Return a line of a list: what it is, and in brackets when, and who."""
    # Only jokes have people, and only clips an address.
    people = row.get("people", [])
    address = row.get("address", "")
    day = iso_day(row["at"], zone)
    details = [day, row["minutes"], *people]
    details_text = ", ".join(_filled(details))
    # Both hold what chat wrote, which must not become markup. Addresses are ours.
    safe_text = escape_markdown(row["text"])
    safe_details = escape_markdown(details_text)
    words = [
        safe_text,
        f"({safe_details})",
        address,
        row["link"],
    ]
    line = " ".join(_filled(words))
    return f"- {line}"


def _filled(texts: Iterable[str]) -> list[str]:
    """Return the texts that are not empty."""
    return [text for text in texts if text]


async def _chapters(page: PageRequest) -> object:
    """Return the chapters of a stream as a file: its name and its text."""
    from forgetmenot.memory import chapters

    form = page.text("form")
    if form not in chapters.FORMATS:
        raise InputError(reason("request_odd"))
    stream_id = page.row_id
    # Raises InputError for a stream that there is not, so that it is there below.
    rows = await chapters.chapters_of(page.db, stream_id, page.settings)
    stream_by_id = await streams.get_many(page.db, [stream_id])
    stream = stream_by_id[stream_id]
    day = iso_day(stream.started_at, page.zone)
    # YouTube's chapters are text that is pasted into a description.
    ending = "txt" if form == "youtube" else form
    text = chapters.as_text(rows, form, stream.title)
    return {"name": f"chapters-{day}.{ending}", "text": text}


ROUTES = (
    reads("/api/book", _book),
    reads("/api/book/markdown", _markdown),
    reads("/api/chapters/{id}", _chapters),
)
