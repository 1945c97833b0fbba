"""A card for the streamer about each known person who just came in. Reads only.

A card says what the dock's memory panel says as well. It needs neither a model nor an account, and nothing of it is
said in chat.
"""

from collections.abc import Sequence
from typing import NamedTuple

from forgetmenot.domain import Importance, Note, NoteStatus, SourceKind, Standing
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.languages import in_language
from forgetmenot.memory.together import together_with
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
MAXIMUM_CARDS = 3
CANDIDATES = 200
BEST_NOTES = 2
_FAMILIAR = frozenset((Standing.REGULAR, Standing.RETURNER))
# What ends or is planned within this time holds these days: "has a driving test on Friday".
PASSING = 8 * DAY


class Card(NamedTuple):
    """Somebody who came in. `at`: their first line of this stream; `before_at`: when they left the one before (ms).

    `who`: their brief, or their best notes; `lately`: what holds these days, or (`over`) a plan of which they were not
    asked yet how it went. `notes`: the ids of the notes that it rests on. `wishes`: how they ask to be called.
    `together`: what is worth saying of their time here.
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
    wishes: str = ""
    together: str = ""


def by_weight(note: Note) -> tuple[bool, int, float, int]:
    """Return the sort key of notes by what they tell about a person, the least first."""
    importance = list(Importance).index(note.importance)
    return (note.pinned, importance, note.confidence, note.last_confirmed_at)


async def arrivals(
    source: Source,
    settings: Settings,
    now: int,
) -> list[Card]:
    """Return cards about the newest who wrote their first line of a stream within ten minutes."""
    dock = settings.dock
    if dock.earpiece is Earpiece.OFF:
        return []
    without = [login_of(login.strip()) for login in dock.earpiece_without]
    arrived = await streams.arrived_since(source, now - SHOWN_FOR, without, CANDIDATES)
    attendance = await streams.attendance_of(
        source, arrived, lately=now - REGULAR_WITHIN
    )
    wanted = _FAMILIAR if dock.earpiece is Earpiece.REGULARS else frozenset(Standing)
    cards: list[Card] = []
    for viewer_id, at in arrived.items():
        if standing_of(attendance[viewer_id], settings.people, now) not in wanted:
            continue
        viewer_card = await card(source, viewer_id, at, now, settings)
        if viewer_card is not None:
            cards.append(viewer_card)
        if len(cards) == MAXIMUM_CARDS:
            break
    return cards


async def card(
    source: Source,
    viewer_id: str,
    at: int,
    now: int,
    settings: Settings,
) -> Card | None:
    """Return the card about one viewer; None where nothing may be told about them.

    `at`: their first line of this stream, `now`: both milliseconds since 1970.
    """
    zone = settings.bot.timezone
    recently = now - REGULAR_WITHIN
    attendance = (await streams.attendance_of(source, [viewer_id], lately=recently))[
        viewer_id
    ]
    suppressed = await load_filter(source)
    statuses = (NoteStatus.ACTIVE, NoteStatus.PAST, NoteStatus.EXPIRED)
    stored_notes = await notes.of_subject(source, viewer_id, statuses)
    usable = [
        note
        for note in stored_notes
        if suppressed.allows(note) and _may_be_on_card(note)
    ]
    usable.sort(key=by_weight, reverse=True)
    mentionable = [
        note
        for note in usable
        if note.status is NoteStatus.ACTIVE and not note.is_inactive(now)
    ]

    ended_plan = _ended_plan(usable, attendance.before_at or 0, now, zone)
    passing = ended_plan or _these_days(mentionable, now, zone)
    brief, brief_note_ids = await usable_brief(source, viewer_id, None)
    brief = _without_roles(suppressed.without(brief))
    best_notes = [note for note in mentionable if note is not passing][:BEST_NOTES]
    if brief:
        who = brief
        note_ids = list(brief_note_ids)
    else:
        who = " · ".join(note.fact for note in best_notes)
        note_ids = [note.id for note in best_notes]
    lately = ""
    if passing is not None:
        lately = passing.fact
        note_ids.append(passing.id)

    people = {viewer_id, *ids_in(who), *ids_in(lately)}
    names, _hidden = await viewers.shown_and_hidden(source, people)
    # a hidden viewer has no name here
    if not note_ids or viewer_id not in names:
        return None
    viewer = (await viewers.get_many(source, [viewer_id]))[viewer_id]
    language = in_language(settings.bot.language)
    together = await together_with(source, viewer_id, settings, now)
    return Card(
        id=viewer_id,
        login=viewer.login,
        name=names[viewer_id],
        at=at,
        streams=attendance.streams,
        before_at=attendance.before_at,
        who=with_names(who, names),
        lately=with_names(lately, names),
        notes=tuple(note_ids),
        over=ended_plan is not None,
        wishes=viewer.wishes,
        together=" · ".join(together.words(now, language)),
    )


def _may_be_on_card(note: Note) -> bool:
    """Return whether a note is neither what others said nor a role, which Twitch's badges show."""
    return note.source_kind is not SourceKind.REPORTED and not claims_role(note.fact)


def _without_roles(brief: str) -> str:
    sentences = [
        sentence for sentence in sentences_of(brief) if not claims_role(sentence)
    ]
    return join_sentences(sentences)


def _ended_plan(
    known: Sequence[Note],
    before_at: int,
    now: int,
    zone: str,
) -> Note | None:
    """Return the last plan that ended since they left the stream before (ms), unless it was asked or told already."""
    waiting = open_outcomes(known, (), before_at, now, zone)
    return max(waiting, key=lambda note: plan_end(note, zone) or 0, default=None)


def _these_days(
    candidates: Sequence[Note],
    now: int,
    zone: str,
) -> Note | None:
    """Return the next plan, or what else ends soon; None if nothing does."""
    soonest = None
    soonest_end = now + PASSING
    for note in candidates:
        end = plan_end(note, zone) or note.expires_at
        if end is not None and now < end <= soonest_end:
            soonest = note
            soonest_end = end
    return soonest
