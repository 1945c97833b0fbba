"""How much a word tells of a note: by where it stands, how often, and in how long a text."""

import pytest

from forgetmenot.memory.note_index import Candidate, NoteIndex, without_stopwords
from forgetmenot.memory.query import query_of
from tests.notes_world import note


def scores_of(candidates: list[Candidate], text: str) -> list[float]:
    """The scores of notes by words, each as a part of what a word of a note's own fact counts."""
    facts = [without_stopwords(candidate.note.fact) for candidate in candidates]
    scores, _shares = NoteIndex(candidates, facts, None).scores(query_of(text).words)
    best = max(scores)
    return [score / best for score in scores]


def saturated(count: float) -> float:
    """What a word counts that stands somewhere this often: k1 is 1.6."""
    return count / (1.6 + count)


def fact(note_id: int, text: str, *episodes: tuple[int, str]) -> Candidate:
    return Candidate(note(note_id, text), episodes)


def test_a_repeated_word_counts_a_little_more() -> None:
    once, twice = scores_of([fact(1, "drums tea"), fact(2, "drums drums")], "drums")
    assert once / twice == pytest.approx(saturated(1) / saturated(2))


def test_a_word_counts_less_in_a_longer_fact() -> None:
    short, long = scores_of([fact(1, "drums tea"), fact(2, "drums a b c d e")], "drums")
    lengths = [
        len(without_stopwords(text)) for text in ("drums tea", "drums a b c d e")
    ]
    mean = sum(lengths) / 2
    weights = [1 / (0.7 + 0.3 * length / mean) for length in lengths]
    expected = saturated(weights[1]) / saturated(weights[0])
    assert long / short == pytest.approx(expected)
    assert long < short


def test_a_word_of_the_summary_of_its_episode_finds_a_note_but_counts_less() -> None:
    notes = [
        fact(1, "plays drums", (1, "Nothing.")),
        fact(2, "won finals", (2, "Drums.")),
    ]
    own, around = scores_of(notes, "drums")
    # a note stands among those of its own episodes, where a word counts .15
    assert around / own == pytest.approx(saturated(0.3) / saturated(1.15))


def test_words_of_notes_of_the_same_episode_count_least() -> None:
    drums, same_episode, other_episode = scores_of(
        [
            fact(1, "plays drums", (1, "")),
            fact(2, "won finals", (1, "")),
            fact(3, "drinks tea", (2, "")),
        ],
        "drums",
    )
    assert other_episode == 0
    # a note surrounds itself as well
    beside = 0.15 / (0.7 + 0.3 * 4 / (10 / 3))
    expected = saturated(beside) / saturated(1 + beside)
    assert same_episode / drums == pytest.approx(expected)


def test_a_note_with_two_words_of_an_episode_has_both() -> None:
    notes = [
        fact(1, "won finals", (1, "The drums and the guitar.")),
        fact(2, "drinks tea", (2, "The drums and the piano.")),
    ]
    drums_and_guitar, guitar_only = scores_of(notes, "drums and guitar")
    assert drums_and_guitar > guitar_only > 0


def test_words_beside_a_note_find_it_like_its_own() -> None:
    tagged = Candidate(note(1, "has a Fiesta", asked_with=("vehicle",)))
    topic = Candidate(note(2, "likes tea", topics=("drinks",)))
    assert scores_of([tagged, topic], "which vehicle?") == [1, 0]
    assert scores_of([tagged, topic], "which drinks?") == [0, 1]


def test_of_two_forms_of_a_word_one_counts() -> None:
    notes = [fact(1, "plays drums"), fact(2, "plays guitar")]
    assert scores_of(notes, "drum drums drumming guitar") == [1, 1]


def test_what_the_stream_is_about_counts_a_third() -> None:
    query = query_of("drums?", context="Chess")
    assert query.words["chess"] == pytest.approx(0.3)
    assert query.words["drums"] == 1
    notes = [fact(1, "plays drums"), fact(2, "plays chess")]
    facts = [without_stopwords(candidate.note.fact) for candidate in notes]
    (drums, chess), shares = NoteIndex(notes, facts, None).scores(query.words)
    assert chess / drums == pytest.approx(0.3)
    assert shares == {0: 1.0}
