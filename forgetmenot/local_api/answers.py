"""What other programs may read, as typed answers: a viewer, the channel, the last recap.

- Nobody who opted out, was banned or is being erased has an answer here, nor a bot or an ignored viewer; in texts of
  others they have no name.
- What is never mentioned in chat is not told here either.
"""

from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import Standing
from forgetmenot.memory.arrival_cards import card
from forgetmenot.memory.book import Entry, running_bits
from forgetmenot.memory.book import pages as book_pages
from forgetmenot.memory.recap_markdown import markdown_of
from forgetmenot.people.exclusion import Exclusion
from forgetmenot.people.standing import REGULAR_WITHIN, standing_of
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, notes, streams, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.names import by_login
from forgetmenot.text.mentions import with_names

# Running jokes of the channel's answer; the book has all of them.
BITS_LIMIT = 20


class Viewer(Struct, frozen=True):
    """A viewer. `name`: as they ask to be called; `say`: how that is said aloud; `pronouns`: in their own words.

    `streak`: streams in a row; `card`: what the streamer's card says of them. A text is "" where there is none.
    """

    login: str
    name: str
    say: str
    pronouns: str
    streams: int
    streak: int
    last_seen: datetime | None
    regular: bool
    card: str


class Channel(Struct, frozen=True):
    """The channel. `running_bits`: its running jokes, the newest first."""

    login: str
    title: str
    category: str
    live: bool
    live_since: datetime | None
    running_bits: list[str]


class Recap(Struct, frozen=True):
    """The newest recap. `markdown` names regulars alone."""

    stream: int
    started: datetime
    ended: datetime
    title: str
    category: str
    markdown: str


class BookEntry(Struct, frozen=True):
    """A page of the book. `kind`: quote, joke, clip or marker; `minutes`: of its stream; `link`: a video or a clip.

    `times`: how often a joke came up; 1 of the others.
    """

    kind: str
    text: str
    at: datetime
    minutes: str
    link: str
    times: int = 1


class Book(Struct, frozen=True):
    """The channel's book: kept quotes, running jokes, clips and markers, each oldest first."""

    entries: list[BookEntry]


class Learned(Struct, frozen=True):
    """A fact that was noted: about a viewer, or (`login` null) about the channel."""

    note: int
    login: str | None
    fact: str


def moment(at: int | None) -> datetime | None:
    """Return a time of ours (ms since 1970) as UTC; None where there is none."""
    return datetime.fromtimestamp(at / 1000, UTC) if at else None


async def viewer(
    db: Database,
    settings: Settings,
    login: str,
    now: int,
) -> Viewer | None:
    """Return what is known of a viewer by their present login; None where nothing may be told."""
    viewer_id = await by_login(db, login.strip().casefold())
    if viewer_id is None:
        return None
    return await viewer_by_id(db, settings, viewer_id, now)


async def viewer_by_id(
    db: Database,
    settings: Settings,
    viewer_id: str,
    now: int,
) -> Viewer | None:
    """Return what is known of a viewer; None where nothing may be told."""
    names, _hidden = await viewers.shown_and_hidden(db, [viewer_id])
    logins = await viewers.logins(db, [viewer_id])
    if viewer_id not in names or viewer_id not in logins:
        return None
    # They may have rows from before they were put on a list of ignored viewers.
    bot_id = await channel_state.read(db, "bot_id")
    exclusion = Exclusion(memory=settings.memory, own_id=bot_id)
    if exclusion.of_account(viewer_id, logins[viewer_id]) is not None:
        return None
    attendance = (
        await streams.attendance_of(db, [viewer_id], lately=now - REGULAR_WITHIN)
    )[viewer_id]
    stored = await viewers.get(db, viewer_id)
    if stored is None:
        return None
    # As of now, not of when they came: whoever asks may ask at any time.
    viewer_card = await card(db, viewer_id, now, now, settings)
    lines = [viewer_card.who, viewer_card.lately] if viewer_card else []
    return Viewer(
        login=logins[viewer_id],
        name=stored.called or names[viewer_id],
        say=stored.say_as,
        pronouns=stored.pronouns,
        streams=attendance.streams,
        streak=await streams.streak(db, viewer_id),
        last_seen=moment(stored.last_seen_at),
        regular=standing_of(attendance, settings.people, now) is Standing.REGULAR,
        card=" · ".join(filter(None, lines)),
    )


async def learned(
    db: Database,
    after: int,
    until: int,
    limit: int,
) -> list[Learned]:
    """Return what was noted after the note `after` up to `until`, oldest first, as far as it may be mentioned."""
    suppressed = await load_filter(db)
    new_notes = await notes.learned_after(db, after, until, limit)
    allowed = [note for note in new_notes if suppressed.allows(note)]
    subjects = [note.subject_id for note in allowed if note.subject_id is not None]
    logins = await viewers.logins(db, subjects)
    names = await viewers.named_in(db, [note.fact for note in allowed])
    return [
        Learned(
            note=note.id,
            login=logins.get(note.subject_id or ""),
            fact=with_names(note.fact, names),
        )
        for note in allowed
    ]


async def channel(db: Database) -> Channel:
    """Return how the channel stands."""
    state = await channel_state.read_all(db)
    is_live = state.get("live") == "1"
    return Channel(
        login=state.get("login", ""),
        title=state.get("title", ""),
        category=state.get("category", ""),
        live=is_live,
        live_since=moment(int(state.get("started_at") or 0)) if is_live else None,
        running_bits=await _running_bits(db),
    )


async def _running_bits(db: Database) -> list[str]:
    """Return the running jokes that may be mentioned, the newest first."""
    bits = await running_bits(db, await load_filter(db))
    bits.sort(key=lambda note: (note.last_confirmed_at, note.id), reverse=True)
    facts = [note.fact for note in bits[:BITS_LIMIT]]
    names = await viewers.named_in(db, facts)
    return [with_names(fact, names) for fact in facts]


async def book(db: Database, now: int) -> Book:
    """Return what the channel's book holds, with people as they are called now."""
    pages = await db.together(lambda source: book_pages(source, now))
    entries = [_entry("quote", quote) for quote in pages.quotes]
    for joke in pages.jokes:
        entries.append(_entry("joke", joke.entry, times=len(joke.times)))
    for clip in pages.clips:
        entries.append(_entry(clip.kind, clip.entry, link=clip.address))
    names = await viewers.named_in(db, [entry.text for entry in entries])
    return Book(
        [replace(entry, text=with_names(entry.text, names)) for entry in entries]
    )


def _entry(
    kind: str,
    stored: Entry,
    *,
    link: str = "",
    times: int = 1,
) -> BookEntry:
    """Return a page of the book, people still as ids."""
    return BookEntry(
        kind=kind,
        text=stored.text,
        at=datetime.fromtimestamp(stored.at / 1000, UTC),
        minutes=stored.minutes,
        link=link or stored.link,
        times=times,
    )


async def recap(db: Database, settings: Settings) -> Recap | None:
    """Return the newest recap; None while there is none."""
    stream = await streams.last_recapped(db)
    if stream is None or stream.ended_at is None:
        return None
    markdown = await markdown_of(db, stream.id, settings)
    if markdown is None:
        return None
    return Recap(
        stream=stream.id,
        started=datetime.fromtimestamp(stream.started_at / 1000, UTC),
        ended=datetime.fromtimestamp(stream.ended_at / 1000, UTC),
        title=stream.title,
        category=stream.category,
        markdown=markdown,
    )
