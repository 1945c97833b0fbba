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
    # Whoever is hidden has no name here.
    names, _hidden = await viewers.shown_and_hidden(db, [viewer_id])
    logins = await viewers.logins(db, [viewer_id])
    stored = await viewers.get(db, viewer_id)
    if viewer_id not in names or viewer_id not in logins or stored is None:
        return None
    login = logins[viewer_id]
    # They may have rows from before they were put on a list of ignored viewers.
    bot_id = await channel_state.read(db, "bot_id")
    exclusion = Exclusion(memory=settings.memory, own_id=bot_id)
    if exclusion.of_account(viewer_id, login) is not None:
        return None
    since = now - REGULAR_WITHIN
    attendances = await streams.attendance_of(db, [viewer_id], lately=since)
    attendance = attendances[viewer_id]
    standing = standing_of(attendance, settings.people, now)
    return Viewer(
        login=login,
        name=stored.called or names[viewer_id],
        say=stored.say_as,
        pronouns=stored.pronouns,
        streams=attendance.streams,
        streak=await streams.streak(db, viewer_id),
        last_seen=moment(stored.last_seen_at),
        regular=standing is Standing.REGULAR,
        card=await _card_text(db, settings, viewer_id, now),
    )


async def _card_text(
    db: Database,
    settings: Settings,
    viewer_id: str,
    now: int,
) -> str:
    """Return what the streamer's card says of somebody; empty where there is none."""
    # As of now, not of when they came: whoever asks may ask at any time.
    viewer_card = await card(db, viewer_id, now, now, settings)
    if viewer_card is None:
        return ""
    lines = [viewer_card.who, viewer_card.lately]
    return " · ".join(filter(None, lines))


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
    # A fact about the channel has no subject.
    subject_ids = [note.subject_id or "" for note in allowed]
    logins = await viewers.logins(db, subject_ids)
    names = await viewers.named_in(db, [note.fact for note in allowed])
    facts = []
    for note, subject_id in zip(allowed, subject_ids, strict=True):
        fact = Learned(
            note=note.id,
            login=logins.get(subject_id),
            fact=with_names(note.fact, names),
        )
        facts.append(fact)
    return facts


async def channel(db: Database) -> Channel:
    """Return how the channel stands."""
    state = await channel_state.read_all(db)
    is_live = state.get("live") == "1"
    live_since = None
    # The row keeps when the last stream began after that is over.
    if is_live:
        live_since = moment(int(state.get("started_at") or 0))
    return Channel(
        login=state.get("login", ""),
        title=state.get("title", ""),
        category=state.get("category", ""),
        live=is_live,
        live_since=live_since,
        running_bits=await _running_bits(db),
    )


async def _running_bits(db: Database) -> list[str]:
    """Return the running jokes that may be mentioned, the newest first."""
    suppressed = await load_filter(db)
    bits = await running_bits(db, suppressed)
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
    # One look-up for all entries, whose texts have people as ids until here.
    names = await viewers.named_in(db, [entry.text for entry in entries])
    named_entries = []
    for entry in entries:
        text = with_names(entry.text, names)
        named_entries.append(replace(entry, text=text))
    return Book(named_entries)


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
    # Nothing that may be told happened in it.
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
