"""A channel that chats in another language: notes are English, the words they are asked with are not."""

import itertools
import tomllib
from pathlib import Path

from forgetmenot.memory.note_index import Candidate
from forgetmenot.memory.query import query_of
from forgetmenot.memory.ranking import Postings
from forgetmenot.text.meaning import word_table
from tests.notes_world import NOW, note

DATA = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "other_languages.toml").read_text(
        encoding="utf-8"
    )
)
# What else is known of the same regular: 48 notes in English.
VERBS = ("talked about", "bought", "lost", "dreamt of", "laughed at", "broke")
THINGS = ("a kite", "the bus", "an umbrella", "old maps", "a cake", "a lamp", "the stairs", "a radio")  # fmt: skip
OTHERS = [f"{verb} {thing}" for verb, thing in itertools.product(VERBS, THINGS)]


def places(language: str) -> list[int]:
    """At which place of the ranking the right note of each question comes, from 1; 0 where it does not."""
    candidates = []
    for number, known in enumerate(DATA["notes"], start=1):
        asked_with = tuple(known[language].split())
        candidates.append(Candidate(note(number, known["fact"], asked_with=asked_with)))
    for number, fact in enumerate(OTHERS, start=100):
        candidates.append(Candidate(note(number, fact)))
    postings = Postings(candidates, word_table())
    assert len(candidates) == 64
    ranks = []
    for about, question in DATA["questions"][language]:
        ranked = postings.ranked(query_of(question), now=NOW, limit=20, padded_to=0)
        ids = [recalled.note.id for recalled in ranked]
        ranks.append(ids.index(about) + 1 if about in ids else 0)
    return ranks


def test_the_right_note_is_found_and_nearly_always_first() -> None:
    of_language = {language: places(language) for language in DATA["questions"]}
    every = list(itertools.chain.from_iterable(of_language.values()))
    assert len(every) == 48
    assert 0 not in every, of_language
    assert every.count(1) >= 47, of_language
