"""How the speed of the chat shapes the working set."""

from itertools import pairwise

from forgetmenot.prompt.depth import NORMAL, depth_for
from forgetmenot.settings.schema import Settings

SETTINGS = Settings()


def test_a_dead_chat_gets_more_of_the_past() -> None:
    quiet = depth_for(0.5, SETTINGS)
    assert quiet.past_episodes > NORMAL.past_episodes


def test_the_settings_say_how_many_facts_about_one_person_there_are_at_most() -> None:
    for rate in (0.5, 10, 100, 400):
        depth = depth_for(rate, SETTINGS)
        assert (depth.lore, depth.lore_per_other) == (SETTINGS.recall.speaker_notes, SETTINGS.recall.notes_per_other)


def test_a_flood_gets_less_of_each_person_and_more_of_who_is_who() -> None:
    flood = depth_for(400, SETTINGS)
    assert flood.lines_per_viewer == 1
    assert flood.own_lines < NORMAL.own_lines
    assert flood.others > NORMAL.others


def test_it_never_turns_the_other_way_as_the_chat_gets_faster() -> None:
    depths = [depth_for(rate / 2, SETTINGS) for rate in range(1_000)]
    for slow, fast in pairwise(depths):
        assert fast.lines_per_viewer <= slow.lines_per_viewer
        assert fast.own_lines <= slow.own_lines
        assert fast.past_episodes <= slow.past_episodes
    assert [d.band for d in (depths[0], depths[50], depths[200], depths[900])] == ["quiet", "normal", "busy", "flood"]
