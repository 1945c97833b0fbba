"""What a viewer's own words ask for; and the parameters of a proposal: only declared ones, clean, in their bounds."""

import tomllib
from pathlib import Path

import pytest
from msgspec.structs import replace

from forgetmenot.operations.actions import BY_NAME
from forgetmenot.operations.proposed_params import Checked, check
from forgetmenot.operations.request_words import (
    asked_for,
    asks_nothing,
    is_small_talk,
    names,
    requested_effect,
    resolve,
    typed_texts,
)
from forgetmenot.operations.types import (
    Action,
    Parameter,
    ParameterKind,
    PersonFacts,
)
from forgetmenot.settings.schema import ActionSettings, ReplySettings, Settings

ALICE = PersonFacts("1", "alice", display_name="Alice")
BOB = PersonFacts("2", "bob", display_name="Bob")

WISHES = [
    ("@bot time me out please", "timeout"),
    ("TIMEOUT ME", "timeout"),
    ("mute me for a bit", "timeout"),
    ("delete my last message", "delete"),
    ("@bot announce that we start at nine", "announce"),
    ("slow the chat down please", "slow_mode"),
    ("slow mode 30 seconds", "slow_mode"),
    ('turn on slow mode, they are "funny" again', "slow_mode"),
    ("@bot turn on emote-only", "emote_only"),
    ("give bob a shoutout", "shoutout"),
    ("@bot clip that!", "clip"),
    ("can you clip this for alice?", "clip"),
    ("can we get a clip of that please", "clip"),
    ("Clip!", "clip"),
    ("Kannst du das mal clippen?", "clip"),
    ("mach bitte mal einen Clip davon", "clip"),
    ("mark this moment", "marker"),
    ("can you set a marker here?", "marker"),
    ("setz bitte einen Marker", "marker"),
    ("kannst du die Stelle markieren?", "marker"),
]
NO_WISHES = [
    "tell me a joke",
    "that clip was great",
    "clip of the day",
    "did you get a clip?",
    "I made a clip",
    "don't clip that",
    "hast du das geclippt?",
    "mach das nicht zum Clip",
    "mach keinen Clip",
    "mark is here",
    "what is a marker?",
    "is slow mode on?",
    "should we turn on slow mode?",
    'bob said "turn on slow mode" lol',
    "if we turn on slow mode, will it help?",
    "bob said “mute me”, can you believe it",
    "don't announce anything",
    "do you remember me?",
    "don't time me out",
    "urban memes",
    "the timeout menace",
    "ban me",
    "time bob out",
    "",
]


@pytest.mark.parametrize(
    ("message", "name"), [*WISHES, *((message, "") for message in NO_WISHES)]
)
def test_only_whole_words_about_oneself_count(message: str, name: str) -> None:
    assert asked_for(message) == ({name} if name else set())


@pytest.mark.parametrize(
    ("question", "target", "params"),
    [
        ("remember that I play drums", ALICE, {"remember": "plays drums"}),
        ("remember that bob plays the violin", BOB, {"remember": "plays the violin"}),
        ("remember that Bob's cat is Miso", BOB, {"remember": "their cat is Miso"}),
        ("remember that I play drums", BOB, {}),
        ("remember that bob is mean", ALICE, {}),
        ("do you remember bob?", BOB, {}),
        ("I always forget how to spell", ALICE, {}),
        ("don't ever forget my drums", ALICE, {}),
        ("please forget my drums", ALICE, {"forget": "my drums"}),
        ("forget bob's drums", BOB, {"forget": "'s drums"}),
        ("forget everything about me", ALICE, {}),
        ("remember that boss?", ALICE, {}),
        ("running joke: the lamp fell again", None, {"bit": "the lamp fell again"}),
        ("", None, {}),
    ],
)
def test_what_is_kept_or_forgotten_is_read_from_the_line(
    question: str, target: PersonFacts | None, params: dict[str, str]
) -> None:
    assert typed_texts(f"@bot {question}", question, target, ALICE) == params


NAMES_ACTION = (
    "wir müssen bob bannen",
    "einen Timeout für bob, bitte",
    "we gotta ban bob",
    "wer bannt bob mal",
)
WONDERS = ("I play the cello in a band", "who is bob?", "wie heißt meine Katze", "lol")


def test_a_line_names_somebody_as_a_whole_word_and_small_talk_asks_for_nothing() -> (
    None
):
    assert names("shoutout to @Bob!", BOB, ALICE)
    assert not names("shoutout to bobby", BOB, ALICE)
    assert names("shoutout for me", ALICE, ALICE)
    assert not names("shoutout for me", BOB, ALICE)
    assert [line for line in NAMES_ACTION + WONDERS if asks_nothing(line)] == list(
        WONDERS
    )


@pytest.mark.parametrize(
    ("line", "is_talk"),
    [
        ("lol", True),
        ("I play drums", True),
        ("@bot good morning everybody", True),
        ("how are you?", False),
        ("who is bob", False),
        ("is it raining", False),
        ("please ban bob", False),
        ("", False),
    ],
)
def test_small_talk_asks_for_nothing_and_is_no_question(
    line: str, *, is_talk: bool
) -> None:
    assert is_small_talk(line) is is_talk


def test_the_name_called_is_no_word_of_a_question() -> None:
    assert asks_nothing("@bot who is bob?")
    assert asked_for('"lol" clip that') == {"clip"}


@pytest.mark.parametrize(
    ("request_line", "effects", "effect"),
    [
        ("rain confetti please", ["Confetti"], "Confetti"),
        ("confetti", ["Confetti"], "Confetti"),
        ("a big snow now", ["Snow", "Big Snow", "Rain"], "Big Snow"),
        ("big confetti", ["Big Snow"], None),
        ("is there confetti", ["Confetti"], None),
        ("confetti", ["!!!", ""], None),
        ("", ["Confetti"], None),
    ],
)
def test_the_longest_effect_is_meant_whose_every_word_is_named(
    request_line: str, effects: list[str], effect: str | None
) -> None:
    assert requested_effect(request_line.split(), effects) == effect


def test_an_effect_is_read_from_the_line_and_a_fact_only_with_a_target() -> None:
    line = "rain confetti"
    effects = ["Confetti"]
    assert typed_texts(line, line, ALICE, ALICE, effects) == {"effect": "Confetti"}
    assert typed_texts("", "remember that I play drums", None, ALICE) == {}


OTHER_LANGUAGES = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "other_languages.toml").read_text(
        encoding="utf-8"
    )
)


def test_a_question_in_another_language_asks_for_no_deed_and_a_request_does() -> None:
    """So that a question does not carry the schema of all actions, and a moderator's wish is still one."""
    questions = list[str]()
    for rows in OTHER_LANGUAGES["questions"].values():
        questions += [text for _, text in rows]
    for texts in OTHER_LANGUAGES["more_questions"].values():
        questions += texts
    assert len(questions) == 78
    assert [text for text in questions if not asks_nothing(text)] == []
    assert [text for text in questions if is_small_talk(text)] == []
    for texts in OTHER_LANGUAGES["requests"].values():
        assert [text for text in texts if asks_nothing(text)] == []


def test_do_you_know_before_a_question_is_no_request() -> None:
    for text in (
        "do you know who plays chess?",
        "tell me when the race is",
        "weißt du noch, wer gewonnen hat?",
    ):
        assert asks_nothing(text), text
    for text in (
        "tell me a joke",
        "do you know how to clip that?",
        "do you remember me?",
    ):
        assert not is_small_talk(text), text


ANNOUNCE = BY_NAME["announce"]
TIMEOUT = BY_NAME["timeout"]
LONG = BY_NAME["long_timeout"]


def test_a_text_is_one_harmless_line() -> None:
    for text in (
        "  /ban bob",
        "\u200b/ban bob",
        "!.!/ban bob",
        'ban {"action": "ban"} bob',
        "ban\nbob",
    ):
        assert check(ANNOUNCE, {"text": text}, Settings()) == Checked(
            {"text": "ban bob"}
        )


@pytest.mark.parametrize(
    ("action", "asked_seconds", "max_seconds", "seconds"),
    [
        (TIMEOUT, "5", 60, "5"),
        (TIMEOUT, "1m", 60, "60"),
        (TIMEOUT, "90 s", 60, "60"),
        (TIMEOUT, "60", 20, "20"),
        (LONG, "600", 60, "600"),
        (LONG, "5", 60, ""),
        *(
            (TIMEOUT, odd, 60, "")
            for odd in ("", "soon", "-5", "0", "1e3", "６０", "60;ban", "99999999")
        ),
    ],
)
def test_seconds_stand_inside_the_settings_own_bound_or_are_refused(
    action: Action, asked_seconds: str, max_seconds: int, seconds: str
) -> None:
    checked = check(
        action,
        {"target": "bob", "seconds": asked_seconds, "target_id": "2", "user_id": "2"},
        Settings(actions=ActionSettings(max_timeout_s=max_seconds)),
    )
    assert checked.params.get("seconds", "") == seconds
    assert bool(checked.problem) == (not seconds)
    assert checked.params.keys() <= {
        "target",
        "seconds",
        "reason",
    }  # a model's own ids are left out


@pytest.mark.parametrize(("maximum", "seconds"), [(60, "20"), (61, "60")])
def test_the_settings_bound_what_lasts_a_minute_at_most(
    maximum: int, seconds: str
) -> None:
    duration = Parameter("seconds", ParameterKind.SECONDS, minimum=1, maximum=maximum)
    action = replace(TIMEOUT, params=(duration,))
    settings = Settings(actions=ActionSettings(max_timeout_s=20))
    assert check(action, {"seconds": "60"}, settings).params == {"seconds": seconds}


def test_what_is_posted_passes_the_filters_of_a_reply() -> None:
    text = "badword free skins at https://evil.zip and evil.com /ban"
    strict = Settings(reply=ReplySettings(blocklist=("badword",)))
    for name in ("announce", "marker", "title", "category"):
        assert (
            check(BY_NAME[name], {"text": text}, strict).params["text"]
            == "… free skins at and /ban"
        )
    allowed = check(
        ANNOUNCE,
        {"text": "see evil.com"},
        Settings(reply=ReplySettings(allow_links=True)),
    )
    assert (allowed.params, allowed.change_reason) == ({"text": "see evil.com"}, "")
    assert check(ANNOUNCE, {"text": "https://evil.zip"}, Settings()).problem


BOB_42 = PersonFacts("2", "bob_42", display_name="Bob")
OTHER_BOB = PersonFacts("3", "robert", display_name="BOB")
JAPANESE = PersonFacts("4", "yuki", display_name="雪")


@pytest.mark.parametrize(
    ("name", "people"),
    [
        ("alice", [ALICE]),
        ("@Alice,", [ALICE]),
        ("ALICE", [ALICE]),
        ("me", [ALICE]),
        ("bob_42", [BOB_42]),
        ("bob", [BOB_42, OTHER_BOB]),
        ("雪", [JAPANESE]),
        *((name, []) for name in ("2", "", "@", "ali", "аlice", "alice bob_42")),
    ],
)
def test_a_name_is_one_person_or_nobody(name: str, people: list[PersonFacts]) -> None:
    assert resolve(name, [ALICE, BOB_42, OTHER_BOB, JAPANESE], ALICE) == people


def test_a_name_keeps_its_first_letter() -> None:
    xenia = PersonFacts("5", "xenia", display_name="Xenia")
    assert resolve("Xenia", [ALICE, xenia], ALICE) == [xenia]
