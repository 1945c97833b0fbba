"""A card for the streamer about each known person who just came in. Reads only.

A card says what the dock's memory panel says as well. It needs neither a model nor an account, and nothing of it is
said in chat.
"""

from collections.abc import Sequence
from typing import NamedTuple

from forgetmenot.domain import Importance, Note, NoteStatus, SourceKind, Standing
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.languages import in_language
from forgetmenot.memory.time_together import together_with
from forgetmenot.people.standing import REGULAR_WITHIN, standing_of
from forgetmenot.privacy.suppression import SuppressionFilter, load_filter
from forgetmenot.prompt.viewer_plans import open_outcomes, plan_end
from forgetmenot.settings.schema import Earpiece, Settings
from forgetmenot.store import notes, streams, viewers
from forgetmenot.store.database import Source
from forgetmenot.store.episodes import usable_brief
from forgetmenot.text.mentions import ids_in, login_of, with_names
from forgetmenot.text.roles import claims_role
from forgetmenot.text.words import join_sentences, sentences_of

# A card is about somebody whose first line of a stream is no older.
SHOWN_FOR = 10 * MINUTE
MAXIMUM_CARDS = 3
# How many of those who came in are looked at, the newest: a raid brings hundreds at once.
CANDIDATES = 200
# How many notes stand for a brief where there is none.
BEST_NOTES = 2
_FAMILIAR = frozenset((Standing.REGULAR, Standing.RETURNER))
# A note that ends, or is planned, within this time is news on a card: "has a driving test on Friday".
ENDS_WITHIN = 8 * DAY


class Card(NamedTuple):
    """What the dock shows about somebody who just came in.

    `at`: the time of their first line in this stream; `before_at`: when they left the last one (both in ms). `streams`:
    how many they were in. `who`: their brief, or their best notes. `lately`: a note that ends soon, or (`over`) a plan
    that ended while they were away. `notes`: the ids of the notes on the card. `wishes`: how they ask to be called.
    `together`: streaks and anniversaries, in words.
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
    """Return a sort key: the notes that say most about a person come last."""
    importance = list(Importance).index(note.importance)
    return (note.pinned, importance, note.confidence, note.last_confirmed_at)


async def arrivals(
    source: Source,
    settings: Settings,
    now: int,
) -> list[Card]:
    """Return at most MAXIMUM_CARDS cards about viewers whose first line of this stream is at most SHOWN_FOR old.

    The setting `earpiece` chooses between all viewers and regulars. `earpiece_without` lists logins to leave out.
    """
    dock = settings.dock
    if dock.earpiece is Earpiece.OFF:
        return []
    left_out_logins = [login_of(login.strip()) for login in dock.earpiece_without]
    since = now - SHOWN_FOR
    first_lines = await streams.arrived_since(
        source, since, left_out_logins, CANDIDATES
    )
    attendances = await streams.attendance_of(
        source, first_lines, lately=now - REGULAR_WITHIN
    )
    shown_standings = frozenset(Standing)
    if dock.earpiece is Earpiece.REGULARS:
        shown_standings = _FAMILIAR
    # whoever came in last is the first
    cards: list[Card] = []
    for viewer_id, first_line_at in first_lines.items():
        standing = standing_of(attendances[viewer_id], settings.people, now)
        if standing not in shown_standings:
            continue
        viewer_card = await card(source, viewer_id, first_line_at, now, settings)
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
    """Return the card about one viewer. None if they are hidden, or if no note about them may be shown.

    `at`: the time of their first line in this stream; `now`: both in ms.
    """
    zone = settings.bot.timezone
    recently = now - REGULAR_WITHIN
    attendances = await streams.attendance_of(source, [viewer_id], lately=recently)
    attendance = attendances[viewer_id]
    suppressed = await load_filter(source)
    usable_notes = await _usable_notes(source, viewer_id, suppressed)
    active_notes = []
    for note in usable_notes:
        if note.status is NoteStatus.ACTIVE and not note.is_inactive(now):
            active_notes.append(note)

    # A plan that is over says more than one to come: the streamer can ask how it went.
    ended_plan = _ended_plan(usable_notes, attendance.before_at or 0, now, zone)
    lately_note = ended_plan or _soonest_ending(active_notes, now, zone)
    # no persona: the newest brief of any
    stored_brief, brief_note_ids = await usable_brief(source, viewer_id, persona=None)
    description = _without_roles(suppressed.without(stored_brief))
    note_ids = list(brief_note_ids)
    if not description:
        other_notes = [note for note in active_notes if note is not lately_note]
        best_notes = other_notes[:BEST_NOTES]
        description = " · ".join(note.fact for note in best_notes)
        note_ids = [note.id for note in best_notes]
    lately = ""
    if lately_note is not None:
        lately = lately_note.fact
        note_ids.append(lately_note.id)

    named_ids = {viewer_id, *ids_in(description), *ids_in(lately)}
    names, _hidden = await viewers.shown_and_hidden(source, named_ids)
    # without notes the card would be empty; a viewer who is not in `names` is hidden
    if not note_ids or viewer_id not in names:
        return None
    viewers_by_id = await viewers.get_many(source, [viewer_id])
    viewer = viewers_by_id[viewer_id]
    language = in_language(settings.bot.language)
    together = await together_with(source, viewer_id, settings, now)
    return Card(
        id=viewer_id,
        login=viewer.login,
        name=names[viewer_id],
        at=at,
        streams=attendance.streams,
        before_at=attendance.before_at,
        who=with_names(description, names),
        lately=with_names(lately, names),
        notes=tuple(note_ids),
        over=ended_plan is not None,
        wishes=viewer.wishes,
        together=" · ".join(together.words(now, language)),
    )


async def _usable_notes(
    source: Source,
    viewer_id: str,
    suppressed: SuppressionFilter,
) -> list[Note]:
    """Return the active, past and expired notes that may be on a viewer's card, those that say most first."""
    # past and expired as well: a plan that is over is on the card
    statuses = (NoteStatus.ACTIVE, NoteStatus.PAST, NoteStatus.EXPIRED)
    usable_notes = []
    for note in await notes.of_subject(source, viewer_id, statuses):
        if suppressed.allows(note) and _may_be_on_card(note):
            usable_notes.append(note)
    usable_notes.sort(key=by_weight, reverse=True)
    return usable_notes


def _may_be_on_card(note: Note) -> bool:
    """Return False for hearsay, and for a note that claims a role: Twitch's badges show roles."""
    return note.source_kind is not SourceKind.REPORTED and not claims_role(note.fact)


def _without_roles(brief: str) -> str:
    """Return a brief without the sentences that claim a role: Twitch's badges show roles."""
    sentences = [
        sentence for sentence in sentences_of(brief) if not claims_role(sentence)
    ]
    return join_sentences(sentences)


def _ended_plan(
    viewer_notes: Sequence[Note],
    left_at: int,
    now: int,
    zone: str,
) -> Note | None:
    """Return the plan that ended last, if the viewer was away then and its outcome is not known; else None.

    `viewer_notes`: the notes that may be on their card. `left_at`: when they left the stream before (ms).
    """

    def end_of_plan(note: Note) -> int:
        """Return when a plan is over (ms)."""
        return plan_end(note, zone) or 0

    open_plans = open_outcomes(
        viewer_notes,
        lines=(),
        left_at=left_at,
        now=now,
        zone=zone,
    )
    return max(open_plans, key=end_of_plan, default=None)


def _soonest_ending(
    candidates: Sequence[Note],
    now: int,
    zone: str,
) -> Note | None:
    """Return the note that ends soonest; None if none ends within ENDS_WITHIN.

    A plan ends when its time is over, any other note when it expires.
    """
    soonest_note = None
    soonest_end = now + ENDS_WITHIN
    for note in candidates:
        end = plan_end(note, zone) or note.expires_at
        if end is not None and now < end <= soonest_end:
            soonest_note = note
            soonest_end = end
    return soonest_note
