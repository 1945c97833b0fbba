"""What becomes of a viewer's plan: when it is over, and whether to ask how it went. Pure."""

from collections.abc import Iterable, Sequence

from forgetmenot.domain import Note, PromptLine
from forgetmenot.text.dates import ended_since, stated_plan_end, without_times
from forgetmenot.text.words import telling_stems

# A word of fewer letters says too little to tell that two texts are about the same.
_SHORTEST_WORD = 4


def plan_end(note: Note, zone: str) -> int | None:
    """Return when a note's plan is over (ms); None if the note is no plan."""
    return stated_plan_end(note.fact, note.first_said_at, note.expires_at, zone)


def open_outcomes(
    notes: Sequence[Note],
    lines: Iterable[PromptLine],
    left_at: int,
    now: int,
    zone: str,
) -> list[Note]:
    """Return the plans that ended since somebody left the stream before (`left_at`) and of which nothing is known yet.

    `notes` are all that are known of that person, `lines` what they said lately. A plan is left out once a reply has
    used its note since, or once its person has spoken of it.
    """
    spoken_lines = list(lines)
    open_plans = []
    for note in notes:
        end = plan_end(note, zone)
        if end is None:
            continue
        if not ended_since(end, left_at, now):
            continue
        if _was_asked(note, end):
            continue
        later_texts = [other.fact for other in notes if other.first_said_at >= end]
        later_texts += [line.text for line in spoken_lines if line.at >= end]
        if not _is_spoken_of(note, later_texts):
            open_plans.append(note)
    return open_plans


def _was_asked(note: Note, end: int) -> bool:
    """Return whether a reply used a plan's note after its end, or its person confirmed it."""
    used_at = note.used_at or 0
    return max(used_at, note.last_confirmed_at) >= end


def _is_spoken_of(note: Note, texts: Iterable[str]) -> bool:
    """Return whether one of the texts shares a telling word with a plan, besides its day."""
    # the day stands in every plan for that day
    plan_stems = telling_stems(without_times(note.fact), _SHORTEST_WORD)
    return any(plan_stems & telling_stems(text) for text in texts)
