"""The lines of an import and an export: read, checked and screened before anything is written. No disk.

A bad line is refused with its number and the reason; the others are read.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from forgetmenot.clock import iso, parse_iso
from forgetmenot.domain.memory import Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.errors import ODD_INPUT
from forgetmenot.memory.notes.proposals import FactRefused, checked_fact, never_stored
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import MENTION, PROVISIONAL, SOMEBODY, is_login, login_of
from forgetmenot.text.sentences import joined, sentences_of

LINES_PER_BATCH = 1_000
HIGHEST_ID = 2**40
"""Numbers are given once: an id near the end of what SQLite can count would leave none for later notes."""
_STREAM = re.compile(r'\s*\{\s*"stream"')
Text = Annotated[str, Meta(min_length=1, max_length=4000)]
Words = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=100)]


class EpisodeLine(msgspec.Struct, frozen=True):
    """The evidence that a line brings along."""

    key: Text
    summary: Annotated[str, Meta(max_length=20_000)] = ""


class NoteLine(msgspec.Struct, frozen=True):
    """One line of an import."""

    fact: Text
    scope: Scope = Scope.VIEWER
    viewer: str | None = None
    login: object = None
    confidence: Annotated[float, Meta(ge=0, le=1)] = 0.9
    observed_at: str | None = None
    topics: Words = ()
    persona: Annotated[str, Meta(max_length=60)] = ""
    id: Annotated[int, Meta(ge=1, le=HIGHEST_ID)] | None = None
    episode: EpisodeLine | None = None
    status: NoteStatus = NoteStatus.ACTIVE
    source_kind: SourceKind = SourceKind.IMPORT
    importance: Importance = Importance.MEDIUM
    asked_with: Words = ()
    expires_at: str | None = None
    superseded_by: Annotated[int, Meta(ge=1, le=HIGHEST_ID)] | None = None
    pinned: bool = False


Ms = Annotated[int, Meta(ge=0, le=HIGHEST_ID * 8)]


class StreamLine(msgspec.Struct, frozen=True):
    """A line that is a stream. `stream`: when it began; a visit is id or login, login, first at, last at, lines."""

    stream: Ms
    ended_at: Ms
    twitch_id: Annotated[str, Meta(max_length=64)] | None = None
    title: Annotated[str, Meta(max_length=500)] = ""
    category: Annotated[str, Meta(max_length=200)] = ""
    visits: tuple[tuple[str, str | None, Ms, Ms, Ms], ...] = ()


class RefusedLine(NamedTuple):
    """A line that did not go in."""

    line: int
    reason: str


class ReadLine(NamedTuple):
    """A line that can be used. `viewer`: an id, or a login in lower case; `login`: whose id it is, if that is told.

    `external`: the line's number, where that is taken here.
    """

    number: int
    line: NoteLine
    fact: str
    at: int
    expires_at: int | None
    viewer: str | None
    login: str | None = None
    external: int | None = None


Batch: TypeAlias = tuple[list[ReadLine], list[StreamLine], list[RefusedLine]]
"""What can be used of some lines, notes and streams, and what cannot."""


async def batches(lines: Iterable[str], *, now: int, privacy: PrivacySettings | None) -> AsyncIterator[Batch]:
    """The lines, read and screened (`privacy`: for what is never stored; None: not), some at a time."""
    rest = enumerate(lines, start=1)
    while batch := list(islice(rest, LINES_PER_BATCH)):
        yield await asyncio.to_thread(_readable, batch, now, privacy=privacy)


def _readable(batch: list[tuple[int, str]], now: int, *, privacy: PrivacySettings | None) -> Batch:
    found: list[ReadLine] = []
    past: list[StreamLine] = []
    refused: list[RefusedLine] = []
    decoder, of_streams = msgspec.json.Decoder(NoteLine), msgspec.json.Decoder(StreamLine)
    for number, text in batch:
        if not text.strip():
            continue
        try:
            if _STREAM.match(text):
                line = of_streams.decode(text)
                visits = tuple((_login_or_id(who) or "", _login(login), *more) for who, login, *more in line.visits)
                title, category = clean(line.title), clean(line.category)
                past.append(msgspec.structs.replace(line, title=title, category=category, visits=visits))
            else:
                found.append(_read(number, decoder.decode(text), now, privacy=privacy))
        except msgspec.MsgspecError as error:
            refused.append(RefusedLine(number, str(error)))
        except FactRefused as refusal:
            refused.append(RefusedLine(number, refusal.rule))
        except ODD_INPUT:
            refused.append(RefusedLine(number, "nested too deeply, or no text"))
    return found, past, refused


def _read(number: int, line: NoteLine, now: int, *, privacy: PrivacySettings | None) -> ReadLine:
    fact = _people_only(clean(line.fact))
    if not fact:
        raise FactRefused("the fact is empty")
    if (line.viewer is None) == (line.scope is Scope.VIEWER):
        raise FactRefused("scope viewer needs a viewer; channel and running_bit have none")
    if privacy is not None:
        try:
            checked_fact(fact, privacy, links=True)
        except FactRefused as refusal:
            if not refusal.rule.startswith("length"):  # imports are taken as long as they are
                raise
    line = _screened(line, privacy)
    at, expires_at = _time("observed_at", line.observed_at), _time("expires_at", line.expires_at)
    who = _login_or_id(line.viewer)
    return ReadLine(number, line, fact, now if at is None else at, expires_at, who, _login(line.login))


def _screened(line: NoteLine, privacy: PrivacySettings | None) -> NoteLine:
    """The line with what may stand in the memory of its summary and words."""

    def fits(text: str) -> bool:
        return privacy is None or never_stored(text, privacy) is None

    def fitting(words: tuple[str, ...]) -> tuple[str, ...]:
        return words if not words or fits(", ".join(words)) else tuple(filter(fits, words))

    episode = line.episode
    if episode is not None:
        summary = joined(filter(fits, sentences_of(_people_only(clean(episode.summary)))))
        episode = EpisodeLine(episode.key, summary)
    topics, asked_with = fitting(line.topics), fitting(line.asked_with)
    return msgspec.structs.replace(line, episode=episode, topics=topics, asked_with=asked_with)


def _people_only(text: str) -> str:
    """The text with "somebody" for a mention that is nobody's id."""

    def checked(found: re.Match[str]) -> str:
        return found[0] if found[1].isdigit() or found[1].startswith(PROVISIONAL) else SOMEBODY

    return MENTION.sub(checked, text)


def _time(key: str, value: str | None) -> int | None:
    try:
        return None if value is None else parse_iso(value)
    except (ValueError, OverflowError) as error:
        raise FactRefused(f"{key} is no ISO 8601 time") from error


def _login(value: object) -> str | None:
    """The login in lower case; None where it cannot be one, which holds up no note."""
    login = login_of(value.strip()) if isinstance(value, str) else ""
    return login if login and is_login(login) and not login.isdecimal() else None


def _login_or_id(viewer: str | None) -> str | None:
    if viewer is None:
        return None
    name = viewer.strip().removeprefix("@").casefold().removeprefix(PROVISIONAL)
    if not name or len(name) > 50 or not all(char.isalnum() or char in "_.-" for char in name) or not name.isascii():
        raise FactRefused("viewer is neither a login nor a Twitch ID")
    return name


def line_of(note: Note, logins: dict[str, str], episode: tuple[str, str] | None) -> dict[str, object]:
    """A note as a line that `batches` reads; `episode`: the key and summary of its evidence."""
    as_they_are = ("id", "scope", "fact", "topics", "status", "source_kind", "importance", "asked_with")
    line: dict[str, object] = {name: getattr(note, name) for name in (*as_they_are, "superseded_by", "pinned")}
    line |= {"viewer": note.subject_id, "login": logins.get(note.subject_id or "")}
    line |= {"confidence": round(note.confidence, 4), "observed_at": iso(note.last_confirmed_at)}
    line["expires_at"] = None if note.expires_at is None else iso(note.expires_at)
    if note.persona:
        line["persona"] = note.persona
    if episode is not None:
        line["episode"] = {"key": episode[0], "summary": episode[1]}
    return line
