"""What may stay of a model's summary."""

from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.memory.episodes.prompts import read_summary
from forgetmenot.memory.episodes.summaries import QUOTE, kept, unquoted, within
from forgetmenot.memory.handles import Handles

HANDLES = Handles.of(["1", "2"])
MESSAGE = "one two three four five six seven eight nine ten"


def stay(summary: str, *messages: str, words: int = 150, never: str = "\0") -> str:
    return kept(summary, messages, HANDLES, most_words=words, forbidden=lambda text: never in text)


def test_seven_words_may_stay_and_the_eighth_is_cut() -> None:
    assert unquoted("P1 said one two three four five six seven.", [MESSAGE]).endswith("six seven.")
    assert unquoted(f"P1 said: {MESSAGE}!", [MESSAGE]) == "P1 said: one two three four five six seven …!"


def test_case_and_punctuation_do_not_hide_a_quotation() -> None:
    assert "EIGHT" not in unquoted("One, TWO three - four five six “seven” EIGHT", [MESSAGE])


@settings(max_examples=150)
@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
def test_no_quotation_ever_stays(summary: list[str], message: list[str]) -> None:
    left = unquoted(" ".join(summary), [" ".join(message)]).replace("…", " ").split()
    runs = {tuple(message[i : i + QUOTE]) for i in range(len(message) - QUOTE + 1)}
    assert not runs & {tuple(left[i : i + QUOTE]) for i in range(len(left) - QUOTE + 1)}


def test_a_sentence_with_a_handle_that_was_not_given_out_goes() -> None:
    assert stay("P1 sang. P7 danced. P2 left.") == "<@1> sang. <@2> left."


def test_a_forged_mention_is_no_mention() -> None:
    assert stay("<@7> danced.") == "(@7> danced."


def test_forbidden_sentences_go() -> None:
    assert stay("P1 sang. P1 is ill.", never="ill") == "<@1> sang."


def test_it_ends_at_a_sentence_or_at_a_word() -> None:
    assert within(["a b c.", "d e f."], 5) == "a b c."
    assert within(["a b c d e f."], 3) == "a b c"
    assert stay("") == ""


def test_an_answer_nested_without_end_is_no_summary() -> None:
    assert read_summary('{"x":' * 50_000) is None
    assert read_summary('{"summary": "s", "x": ' + "[" * 50_000 + "]" * 50_000 + "}") is None
