"""The index of episodes: which of them have most words of a question, however many there are."""

import random
from collections.abc import Collection, Iterator

import pytest

from forgetmenot.memory.past_episodes import EpisodeIndex
from forgetmenot.store.database import Database
from tests.rows import put

# From a word that nearly all episodes have to one that few have.
SHARES = {"harbour": 0.9, "lantern": 0.5, "pumpkin": 0.2, "trumpet": 0.05, "walrus": 0}
WORDS = tuple(SHARES)


async def filled(db: Database, dice: random.Random) -> dict[int, set[str]]:
    """Store episodes with some of the words; the words by the episodes' ids."""
    words_of = {}
    async with db.write() as tx:
        for number in range(300):
            words = {word for word in WORDS if dice.random() < SHARES[word]}
            summary = " ".join(["Episode", *sorted(words)])
            # now and then an id is missing: commands have episodes, too
            kind = "command" if number % 7 == 0 else "chat"
            row_id = await put(tx, "episodes", summary=summary, kind=kind)
            if kind == "chat":
                words_of[row_id] = words
    return words_of


def expected(
    words_of: dict[int, set[str]],
    asked: Collection[str],
    *,
    enough: int,
    rarest_first: bool,
) -> Iterator[int]:
    """The ids of the episodes with enough of the words, the best first."""
    having = {word: sum(word in words for words in words_of.values()) for word in asked}

    def rank(episode_id: int) -> tuple[float, int]:
        shared = words_of[episode_id].intersection(asked)
        rarity = round(sum(1 / having[word] for word in shared), 9)
        return (rarity if rarest_first else len(shared), episode_id)

    for episode_id in sorted(words_of, key=rank, reverse=True):
        if len(words_of[episode_id].intersection(asked)) >= enough:
            yield episode_id


@pytest.mark.parametrize("rarest_first", [False, True])
@pytest.mark.parametrize("seed", range(4))
async def test_those_with_most_words_come_first_and_then_the_newest(
    db: Database, seed: int, *, rarest_first: bool
) -> None:
    dice = random.Random(seed)
    words_of = await filled(db, dice)
    index = EpisodeIndex()
    while await db.together(index.read_on):
        pass
    for _ in range(30):
        asked = dice.sample(WORDS, dice.randint(1, len(WORDS)))
        enough = dice.randint(1, len(asked))
        without = dice.sample(sorted(words_of), 20)
        best_ids = index.speaking_of(
            [index.forms(word) for word in asked],
            enough=enough,
            without=without,
            limit=6,
            rarest_first=rarest_first,
        )
        best = expected(words_of, asked, enough=enough, rarest_first=rarest_first)
        shown = [episode_id for episode_id in best if episode_id not in without]
        assert best_ids == shown[:6]


async def test_a_common_word_finds_the_episodes_that_came_since(db: Database) -> None:
    index = EpisodeIndex()
    for _ in range(3):
        async with db.write() as tx:
            ids = [await put(tx, "episodes", summary="A harbour.") for _ in range(60)]
        await db.together(index.read_on)
        terms = [index.forms("harbour")]
        assert index.speaking_of(terms, enough=1, without=(), limit=1) == ids[-1:]
