"""Who of those that the memory knows just came in: a card about each, for the streamer. Reads only.

A card says what the dock's memory panel says as well. It needs neither a model nor an account, and nothing of it is
said in chat.
"""

from collections.abc import Sequence
from typing import NamedTuple

from forgetmenot.domain import Importance, Note, NoteStatus, SourceKind, Standing
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.people.standing import REGULAR_WITHIN, standing_of
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.prompt.plans import open_outcomes, plan_end
from forgetmenot.settings.schema import Earpiece, Settings
from forgetmenot.store import notes, streams, viewers
from forgetmenot.store.database import Source
from forgetmenot.store.episodes import usable_brief
from forgetmenot.text.mentions import ids_in, login_of, with_names
from forgetmenot.text.roles import claims_role
from forgetmenot.text.words import join_sentences, sentences_of

SHOWN_FOR = 10 * MINUTE
# Cards at once.
MOST = 3
CANDIDATES = 200
BEST_NOTES = 2
_FAMILIAR = frozenset((Standing.REGULAR, Standing.RETURNER))
# What ends, or is planned, within this time holds these days: "has a driving test on Friday".
PASSING = 8 * DAY


class Card(NamedTuple):
    """Somebody who came in. `at`: their first line of this stream; `before_at`: when they left the one before (ms).

    `who`: their brief, or their best notes; `lately`: what holds these days, or (`over`) a plan of which they were not
    asked yet how it went. `notes` are the numbers of those that it rests on.
    """

    id: str
    login: str
    name: str
    at: int
    streams: int
    before_at: int | None
    who: str
    lately: str
    notes: tuple[int, ...]
    over: bool = False


def by_weight(note: Note) -> tuple[bool, int, float, int]:
    """The order of notes by what they tell about a person, the least first."""
    return (
        note.pinned,
        list(Importance).index(note.importance),
        note.confidence,
        note.last_confirmed_at,
    )


async def arrivals(source: Source, settings: Settings, now: int) -> list[Card]:
    """The newest who wrote their first line of a stream within ten minutes and of whom something is known."""
    dock = settings.dock
    if dock.earpiece is Earpiece.OFF:
        return []
    without = [login_of(login.strip()) for login in dock.earpiece_without]
    came = await streams.arrived_since(source, now - SHOWN_FOR, without, CANDIDATES)
    attendance = await streams.attendance_of(source, came, lately=now - REGULAR_WITHIN)
    wanted = _FAMILIAR if dock.earpiece is Earpiece.REGULARS else frozenset(Standing)
    cards: list[Card] = []
    for viewer_id, at in came.items():
        if standing_of(attendance[viewer_id], settings.people, now) not in wanted:
            continue
        found = await card(source, viewer_id, at, now, settings.bot.timezone)
        cards += [found] if found is not None else []
        if len(cards) == MOST:
            break
    return cards


async def card(source: Source, viewer_id: str, at: int, now: int, zone: str) -> Card | None:
    """The card about one viewer; None where nothing may be told about them. `zone`: the channel's time zone."""
    came = (await streams.attendance_of(source, [viewer_id], lately=now - REGULAR_WITHIN))[
        viewer_id
    ]
    suppressed = await load_filter(source)
    held = await notes.of_subject(
        source, viewer_id, (NoteStatus.ACTIVE, NoteStatus.PAST, NoteStatus.EXPIRED)
    )
    own = [note for note in held if suppressed.allows(note) and _says_who_they_are(note)]
    own.sort(key=by_weight, reverse=True)
    told = [one for one in own if one.status is NoteStatus.ACTIVE and not one.is_quiet(now)]
    done = _done_since(own, came.before_at or 0, now, zone)
    passing = done or _these_days(told, now, zone)
    brief, made_of = await usable_brief(source, viewer_id, None)
    brief = join_sentences(
        sentence
        for sentence in sentences_of(suppressed.without(brief))
        if not claims_role(sentence)
    )
    best = [one for one in told if one is not passing][:BEST_NOTES]
    who = brief or " · ".join(one.fact for one in best)
    lately = passing.fact if passing else ""
    used = (*(made_of if brief else (one.id for one in best)), *((passing.id,) if passing else ()))
    names, hidden = await viewers.shown_and_hidden(
        source, {viewer_id, *ids_in(who), *ids_in(lately)}
    )
    if not used or viewer_id in hidden or viewer_id not in names:
        return None
    return Card(
        id=viewer_id,
        login=(await viewers.logins(source, [viewer_id])).get(viewer_id, ""),
        name=names[viewer_id],
        at=at,
        streams=came.streams,
        before_at=came.before_at,
        who=with_names(who, names),
        lately=with_names(lately, names),
        notes=used,
        over=done is not None,
    )


def _says_who_they_are(note: Note) -> bool:
    """Whether a note may stand on a card: nothing that others said, and no role, which Twitch's badges show."""
    return note.source_kind is not SourceKind.REPORTED and not claims_role(note.fact)


def _done_since(known: Sequence[Note], before_at: int, now: int, zone: str) -> Note | None:
    """Return the last plan that ended since they left the stream before (ms), unless it was asked or told already."""
    waiting = open_outcomes(known, (), before_at, now, zone)
    return max(waiting, key=lambda note: plan_end(note, zone) or 0, default=None)


def _these_days(held: Sequence[Note], now: int, zone: str) -> Note | None:
    """The next plan, or what else ends soon."""
    ends = {
        end: one
        for one in held
        if (end := plan_end(one, zone) or one.expires_at) and now < end <= now + PASSING
    }
    return ends[min(ends)] if ends else None
