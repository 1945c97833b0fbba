"""The fast demo from end to end, as a newcomer would start it."""

import re
from pathlib import Path

import pytest

from forgetmenot.demo.recorded_replies import RECORDED
from forgetmenot.demo.show import begin_anew, load
from forgetmenot.errors import StoreError
from forgetmenot.files import instance_lock
from tests.played_demo import PlayedDemo


@pytest.mark.slow
def test_it_answers_from_memory_obeys_no_chat_and_keeps_nothing_that_was_cleared(
    played_demo: PlayedDemo,
) -> None:
    """Of deleted and timed-out lines not one of their longer words stays that nobody else said."""
    counts = played_demo.counts
    sent_replies = played_demo.sent_replies()
    kept_out = ("duplicates", "excluded", "other_room", "unparsed", "other")
    stored_and_kept_out = counts["events"] + sum(counts[name] for name in kept_out)
    assert counts["lines"] == stored_and_kept_out >= 300
    assert counts["events"] == counts["covered"] + counts["redacted"]
    assert counts["redacted"] > 0
    assert (counts["pruned_unread"], counts["uncovered"]) == (0, 0)
    assert [
        word
        for word in ("Miso", "drum", "Hades")
        if not any(word in line for line in sent_replies)
    ] == []
    assert not any("orders" in line or "{" in line for line in sent_replies)
    assert played_demo.rows(
        "SELECT count(*) FROM action_logs AS a JOIN viewers AS v ON v.id = a.asked_by"
        " WHERE v.login = 'mallory' AND a.status = 'done'"
    ) == [(0,)]
    cues = [*load("first_stream"), *load("second_stream")]
    cleared = {cue.name for cue in cues if cue.verb in {"delete", "timeout"}}
    cleared_words = set[str]()
    words_of_others = set[str]()
    for cue in cues:
        if cue.name in cleared:
            cleared_words |= _words(cue.text)
        else:
            words_of_others |= _words(cue.text)
    stored = played_demo.rows(
        "SELECT summary FROM episodes UNION ALL SELECT fact FROM semantic_notes"
    )
    texts = sent_replies + [row[0] for row in stored]
    own_words = {"mallory", "channel", "timeout", "moderator"}  # of its own sentences
    secret_words = cleared_words - words_of_others - own_words - cleared
    assert _words(" ".join(texts)) & secret_words == set()


def _words(text: str) -> set[str]:
    return {
        word
        for word in "".join(c if c.isalnum() else " " for c in text.lower()).split()
        if len(word) > 6
    }


def test_a_second_demo_leaves_the_first_one_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    path.write_text("a demo")
    with instance_lock(path), pytest.raises(StoreError, match="in use by another"):
        begin_anew(path, ours=True)
    begin_anew(path, ours=True)
    assert not path.exists()


@pytest.mark.slow
def test_a_newcomer_follows_one_story_in_five_steps(played_demo: PlayedDemo) -> None:
    highlight = "\n".join(played_demo.highlight)
    captions = [
        line.split()[1] for line in highlight.splitlines() if re.match(r"[1-5] ", line)
    ]
    assert captions == ["Heard.", "Remembered.", "Corrected.", "Not", "Erased."]
    steps = [
        "heidi: thank you! my cat is called Miso",
        "Heidi: has a cat called Miso",
        "ForgetMeNot: Miso! One scratch behind the ears from all of us. (recorded)",
        "replaced: favourite game is Celeste",
        "ForgetMeNot: Hades, since a moment ago.",
        "stays silent and does nothing",
        "refused by code: timeout",
        "afterwards and found 0 traces",
    ]
    places = [highlight.index(words) for words in steps]
    assert places == sorted(places)
    assert len(highlight.splitlines()) < 60


@pytest.mark.slow
def test_its_recaps_name_people_and_say_that_they_are_recorded(
    played_demo: PlayedDemo,
) -> None:
    recaps = [
        row[0] for row in played_demo.rows("SELECT recap FROM streams ORDER BY id")
    ]
    assert len(recaps) == 2
    for recap in recaps:
        assert len(re.findall(r"<@\d+>", recap)) == 3
        assert recap.endswith(RECORDED)
