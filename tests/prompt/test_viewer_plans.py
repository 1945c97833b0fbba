"""A plan is over when its day is over where the channel is, and its outcome is asked for once."""

import pytest
from msgspec.structs import replace

from forgetmenot.clock import parse_iso
from forgetmenot.domain import Note, PromptLine, Recalled, Role, Viewer
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.prompt.assemble import assemble
from forgetmenot.prompt.material import Prefix, TailMaterial
from forgetmenot.prompt.viewer_plans import open_outcomes, plan_end
from forgetmenot.settings.schema import BotSettings, Settings
from tests.notes_world import note

ZONE = "America/Los_Angeles"
SETTINGS = Settings(bot=BotSettings(timezone=ZONE))
CONCERT = "has a concert on 26 November"
ASKING = "its day has passed: ask how it went"
TONIGHT = parse_iso("2026-11-26T17:30-08:00")
STREAM_BEFORE = parse_iso("2026-11-25T22:00-08:00")


def concert(said_at: str = "2026-11-25T21:00-08:00") -> Note:
    at = parse_iso(said_at)
    return note(1, CONCERT, first_said_at=at, last_confirmed_at=at)


def prompt_tail(
    now: int, *notes: Note, left_at: int = STREAM_BEFORE, text: str = "@bot hello"
) -> str:
    speaker = Viewer("1", "alice", "Alice", Role.VIEWER, STREAM_BEFORE, now)
    material = TailMaterial(
        now=now,
        speaker=speaker,
        message=PromptLine(9, "e9", "1", text, now),
        left_at=left_at,
        notes=tuple(Recalled(recalled_note, 1.0) for recalled_note in notes),
    )
    return assemble(Prefix("", ()), material, SETTINGS).tail


def test_tonights_plan_is_not_over() -> None:
    prompt = prompt_tail(TONIGHT, concert())
    assert "Today is Thursday, 2026-11-26, 17:30.\n" in prompt
    assert f"[id:1; yesterday] {CONCERT}" in prompt
    assert ASKING not in prompt
    for place in ("UTC", "Angeles", "America", "PST", "-08"):
        assert place not in prompt


def test_the_outcome_is_asked_for_from_the_next_day_on() -> None:
    midnight = parse_iso("2026-11-27T00:00-08:00")
    assert plan_end(concert(), ZONE) == midnight
    assert ASKING not in prompt_tail(midnight - 10 * MINUTE, concert())
    assert ASKING in prompt_tail(midnight + 10 * MINUTE, concert())
    assert ASKING in prompt_tail(midnight + 24 * HOUR, concert())
    # who was there on the day after has been asked then
    assert ASKING not in prompt_tail(
        midnight + 48 * HOUR, concert(), left_at=midnight + 24 * HOUR
    )


def test_what_was_said_of_the_same_evening_is_a_plan() -> None:
    said_today = concert("2026-11-26T16:00-08:00")
    assert plan_end(said_today, ZONE) == parse_iso("2026-11-27T00:00-08:00")
    left_at = parse_iso("2026-11-26T18:00-08:00")
    assert ASKING not in prompt_tail(TONIGHT, said_today)
    assert ASKING in prompt_tail(TONIGHT + 24 * HOUR, said_today, left_at=left_at)
    past = replace(said_today, fact="played a concert on 26 November")
    assert plan_end(past, ZONE) is None


def test_the_outcome_is_asked_for_until_it_was_asked_or_told() -> None:
    now = TONIGHT + 24 * HOUR
    assert ASKING in prompt_tail(now, concert())
    assert ASKING in prompt_tail(now, replace(concert(), used_at=TONIGHT))
    assert ASKING not in prompt_tail(now, replace(concert(), used_at=now - HOUR))
    times = {"first_said_at": now - HOUR, "last_confirmed_at": now - HOUR}
    assert ASKING not in prompt_tail(
        now, concert(), note(2, "loved the concert in Portland", **times)
    )
    assert ASKING in prompt_tail(
        now, concert(), note(2, "likes tea since November", **times)
    )
    assert ASKING not in prompt_tail(now, concert(), text="@bot the concert was great!")


def test_a_plan_without_a_day_is_over_when_its_note_expires() -> None:
    plan = note(1, "plans to learn the harp", expires_at=TONIGHT)
    assert plan_end(plan, ZONE) == TONIGHT


MIDNIGHT = parse_iso("2026-11-27T00:00-08:00")


def asked_about(*notes: Note, lines: tuple[PromptLine, ...] = ()) -> list[int]:
    """The notes whose outcome is asked for a day after the concert."""
    now = TONIGHT + 24 * HOUR
    return [plan.id for plan in open_outcomes(notes, lines, STREAM_BEFORE, now, ZONE)]


def test_other_notes_hide_no_plan() -> None:
    no_plan = note(2, "plays drums", first_said_at=STREAM_BEFORE)
    used = replace(concert(), id=3, used_at=MIDNIGHT)
    assert asked_about(no_plan, used, concert()) == [1]


@pytest.mark.parametrize(("after_ms", "open_plans"), [(-1, [1]), (0, [])])
def test_what_happens_from_the_end_of_the_day_on_settles_a_plan(
    after_ms: int, open_plans: list[int]
) -> None:
    at = MIDNIGHT + after_ms
    outcome = note(2, "loved the concert", first_said_at=at, last_confirmed_at=at)
    assert asked_about(concert(), outcome) == open_plans
    line = PromptLine(9, "e9", "1", "the concert was great", at)
    assert asked_about(concert(), lines=(line,)) == open_plans
    assert asked_about(replace(concert(), used_at=at)) == open_plans
    assert asked_about(replace(concert(), last_confirmed_at=at)) == open_plans


def test_a_short_word_does_not_tell_that_a_line_is_about_a_plan() -> None:
    plan = replace(concert(), fact="has a gig in the zoo on 26 November")
    line = PromptLine(9, "e9", "1", "what a zoo", MIDNIGHT)
    assert asked_about(plan, lines=(line,)) == [1]


@pytest.mark.parametrize(
    ("fact", "last_day"),
    [
        ("has exams in the week of 30 November 2026", "2026-12-06"),
        ("is away from 28 November to 3 December 2026", "2026-12-03"),
        ("plays in Oslo on 28 November and in Rome on 3 December", "2026-11-28"),
    ],
)
def test_a_plan_of_several_days_is_over_after_the_last_one(
    fact: str, last_day: str
) -> None:
    plan = replace(concert(), fact=fact)
    end = plan_end(plan, ZONE)
    assert end == parse_iso(f"{last_day}T00:00-08:00") + 24 * HOUR
