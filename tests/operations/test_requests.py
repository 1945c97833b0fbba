"""What a viewer's own words ask for."""

import pytest

from forgetmenot.operations.requests import asked_for, asks_nothing, names, typed
from forgetmenot.operations.types import PersonFacts

ALICE, BOB = PersonFacts("1", "alice", display_name="Alice"), PersonFacts("2", "bob", display_name="Bob")


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("@bot time me out please", {"timeout"}), ("TIMEOUT ME", {"timeout"}),
        ("could you give me a timeout?", {"timeout"}), ("mute me for a bit", {"timeout"}),
        ("delete my last message", {"delete"}), ("@bot announce that we start at nine", {"announce"}),
        ("slow the chat down please", {"slow_mode"}), ("slow mode", {"slow_mode"}),
        ("slow mode 30 seconds", {"slow_mode"}),
        ("@bot turn on emote-only", {"emote_only"}), ("give bob a shoutout", {"shoutout"}),
        ("tell me a joke", set()), ("what did bob say?", set()),
        ("@bot clip that!", {"clip"}), ("can you clip this for alice?", {"clip"}),
        ("lets clip the last fight", {"clip"}), ("somebody clip it", {"clip"}),
        ("can we get a clip of that please", {"clip"}), ("make a quick clip", {"clip"}), ("clip please", {"clip"}),
        ("Clip!", {"clip"}), ("clip das bitte", {"clip"}), ("Kannst du das mal clippen?", {"clip"}),
        ("bitte clippen", {"clip"}), ("mach bitte mal einen Clip davon", {"clip"}),
        ("kannst du einen Clip machen", {"clip"}), ("mark this moment", {"marker"}),
        ("can you set a marker here?", {"marker"}), ("marker please", {"marker"}), ("markier das", {"marker"}),
        ("setz bitte einen Marker", {"marker"}), ("kannst du die Stelle markieren?", {"marker"}),
        ("that clip was great", set()), ("clip of the day", set()), ("found you through a clip", set()),
        ("did you get a clip?", set()), ("who clipped that?", set()), ("I made a clip", set()),
        ("don't clip that", set()), ("der Clip war super", set()), ("hast du das geclippt?", set()),
        ("mach das nicht zum Clip", set()), ("clip das nicht", set()), ("mach keinen Clip", set()),
        ("mark is here", set()), ("what is a marker?", set()), ("was ist ein Marker?", set()),
        ("is slow mode on?", set()), ("why was emote only on", set()), ("should we turn on slow mode?", set()),
        ("if we turn on slow mode, will it help?", set()), ('bob said "turn on slow mode" lol', set()),
        ("bob said “mute me”, can you believe it", set()),
        ('turn on slow mode, they are "funny" again', {"slow_mode"}), ("don't announce anything", set()),
        ("how are you?", set()), ("do you remember me?", set()), ("don't time me out", set()),
        ("never mute me", set()), ("urban memes", set()), ("the timeout menace", set()), ("ban me", set()),
        ("time bob out", set()), ("what a timeout", set()), ("", set()),
    ],
)  # fmt: skip
def test_only_whole_words_about_oneself_count(message: str, names: set[str]) -> None:
    assert asked_for(message) == names


@pytest.mark.parametrize(
    ("question", "target", "found"),
    [
        ("remember that I play drums", ALICE, {"remember": "plays drums"}),
        ("remember that bob plays the violin", BOB, {"remember": "plays the violin"}),
        ("remember that Bob's cat is Miso", BOB, {"remember": "their cat is Miso"}),
        ("remember that I play drums", BOB, {}),
        ("remember that bob is mean", ALICE, {}),
        ("do you remember me?", ALICE, {}),
        ("do you remember bob?", BOB, {}),
        ("I always forget how to spell", ALICE, {}),
        ("I always forget what you do", BOB, {}),
        ("don't ever forget my drums", ALICE, {}),
        ("please forget my drums", ALICE, {"forget": "my drums"}),
        ("forget bob's drums", BOB, {"forget": "'s drums"}),
        ("forget everything about me", ALICE, {}),
        ("remember that boss?", ALICE, {}),
        ("running joke: the lamp fell again", None, {"bit": "the lamp fell again"}),
        ("lol nice one", None, {}),
        ("", None, {}),
    ],
)
def test_what_is_kept_or_forgotten_is_read_from_the_line(
    question: str, target: PersonFacts | None, found: dict[str, str]
) -> None:
    assert typed(f"@bot {question}", question, target, ALICE) == found


def test_a_line_names_somebody_as_a_whole_word() -> None:
    assert names("shoutout to @Bob!", BOB, ALICE)
    assert not names("shoutout to bobby", BOB, ALICE)
    assert names("shoutout for me", ALICE, ALICE)
    assert not names("shoutout for me", BOB, ALICE)


NAMES_ACTION = (
    *("wir müssen bob bannen", "ich hätte gern einen Timeout für bob", "we gotta ban bob", "im begging for a timeout"),
    "wer bannt bob mal",
)
WONDERS = ("I play the cello in a band", "who is bob?", "wie heißt meine Katze", "lol")


@pytest.mark.parametrize("line", NAMES_ACTION + WONDERS)
def test_who_is_small_talk_or_wonders_asks_for_nothing_unless_it_names_an_action(line: str) -> None:
    assert asks_nothing(line) is (line in WONDERS)
