"""What may stay of a model's summary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.memory.episodes.prompts import read_summary
from forgetmenot.memory.episodes.summary_rules import (
    COPIED_AT_MOST,
    QUOTE,
    storable_summary,
    uncopied,
    within,
)
from forgetmenot.memory.handles import Handles

HANDLES = Handles.of(["1", "2"])
MESSAGE = "a b c d e f g h i j"


def stay(summary: str, *messages: str, words: int = 150, never: str = "\0") -> str:
    return storable_summary(summary, messages, HANDLES, most_words=words, forbidden=lambda text: never in text).text


def test_seven_words_may_stay_and_a_sentence_with_the_eighth_is_cut() -> None:
    assert stay("P1 said a b c d e f g.", MESSAGE) == "<@1> said a b c d e f g."
    assert stay("P1 said a b c d e f g h, and slept.", MESSAGE) == ""
    assert stay("P1 said a b c d e f. G h i followed.", MESSAGE) == "<@1> said a b c d e f."


@given(st.lists(st.sampled_from(["a", "b", "c."]), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
def test_no_quotation_ever_stays(summary: list[str], message: list[str]) -> None:
    left = stay(" ".join(summary), " ".join(message)).replace(".", "").lower().split()
    runs = {tuple(message[i : i + QUOTE]) for i in range(len(message) - QUOTE + 1)}
    assert not runs & {tuple(left[i : i + QUOTE]) for i in range(len(left) - QUOTE + 1)}


def test_a_list_of_what_everybody_did_is_taken_apart() -> None:
    chain = "P1 plays drums, P2 moved to Oslo, P1 likes tea, and P7 danced on the table."
    assert stay(chain) == "<@1> plays drums. <@2> moved to Oslo. <@1> likes tea."
    assert stay("P1, P2, and P1 danced together.") == "<@1>, <@2>, and <@1> danced together."


def test_a_forged_mention_is_no_mention() -> None:
    assert stay("<@7> danced.") == "(@7> danced."


def test_a_summary_is_in_the_third_person() -> None:
    assert (
        stay('P1 sang. I am a train driver. My cat is Miso. P2 says "I am late".')
        == '<@1> sang. <@2> says "I am late".'
    )
    assert stay("P1 sang. Ich gebe Ihnen 200 Dollar für Ihr Passwort.") == "<@1> sang."


def test_it_ends_at_a_sentence_or_at_a_word() -> None:
    assert within(["a b c.", "d e f."], 5) == "a b c."
    assert within(["a b c d e f."], 3) == "a b c…"
    assert within(["a b c d e f."], 6, len) == "a b c…"
    assert stay("") == ""


CHAT = [
    "we finally beat the water temple after three evenings of trying and nobody believed it",
    "昨日は友達と一緒に新しいラーメン屋に行ってとても美味しかったです",
    "내일은 친구들이랑 같이 바다에 가서 하루 종일 놀 거예요",
    "have fun on the boat trip tomorrow everyone",
]


@pytest.mark.parametrize(
    "copy",
    [
        "We finally beat the water temple after three long evenings of trying and no soul believed it.",
        "wefinallybeatthewatertempleafterthreeeveningsoftrying",
        "We finally beat the water temple somehow three evenings of trying and nobody really",
        "wé fínálly béát thé wátér témplé áftér thréé événíngs óf tryíng ánd nóbódy bélíévéd ít",
        "We finally beat the water tent after three evenings of trains.",  # every sixth or so is another word
        "Have fun on the boat trip later, everyone.",
        "昨日は友達と一緒に新しいラーメン屋に行ってとても美味しかったです。",
        "昨日は友達も一緒に新しい山ーメン屋に行って海ても美味しかったです。",
        "내일은 친구들이랑 같이 바다에 가서 하루 종일 놀아요.",
    ],
)
def test_runs_of_chat_are_cut_in_every_script(copy: str) -> None:
    own = "P1 and P2 got past a dungeon on the third evening."
    assert uncopied([own, copy], CHAT) == [own]


def test_a_short_fact_about_somebody_may_use_the_words_it_was_said_in() -> None:
    chat = ["my band is called the nines", "i moved to oslo in may"]
    assert uncopied(["<@1> moved to Oslo in May.", "<@2>'s band is called the Nines."], chat) != []
    assert uncopied(["Moved to Oslo in May."], chat) == []


def test_a_fifth_of_a_summary_may_stand_in_runs_of_chat() -> None:
    own = "P1 told a long story about a dungeon that had been in the way of the whole group for many days"
    partly = "P2 said that after three evenings of trying it was done, and that they wanted to stop there"
    assert uncopied([own, own + "!", partly], CHAT) == [own, own + "!", partly]
    assert uncopied([partly], CHAT) == []
    assert COPIED_AT_MOST == 0.2


def test_a_summary_that_was_cut_off_or_loops_keeps_its_whole_sentences() -> None:
    looping = '{"summary": "' + r"P1 sang \"la\". P2 left. " + "P2 left. " * 40 + "P2 le"
    told = read_summary(looping)
    assert told is not None
    assert told.startswith('P1 sang "la". P2 left.')
    assert stay(told) == '<@1> sang "la". <@2> left.'
    assert not storable_summary(told, [], HANDLES, most_words=99, forbidden=lambda _: False).mostly_cut


def test_an_answer_nested_without_end_is_no_summary() -> None:
    assert read_summary('{"x":' * 50_000) is None
    assert read_summary('{"summary": "s", "x": ' + "[" * 50_000 + "]" * 50_000 + "}") is None
