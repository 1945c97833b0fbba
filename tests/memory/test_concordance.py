"""Where words stand, and which of them have a stem or a trigram."""

from hypothesis import example, given
from hypothesis import strategies as st

from forgetmenot.memory.concordance import Concordance
from forgetmenot.text.words import stem, trigrams, words

SUFFIXES = """s es ies ied ing ed y ly li al ational tional ation ator ize izer ization ive iviti ativ ative ousness
    ousli fulness fulli lessli biliti bli alism aliti alli entli enci anci abli logi ology ement ment ent ance ence able
    ible icate iciti ical ness ful ism ate iti ous ion sion tion e ll"""
ENGLISH = st.builds(str.__add__, st.text("aeioubcdfglrstvy", min_size=1, max_size=6), st.sampled_from(SUFFIXES.split()))
WORD = ENGLISH | st.text(min_size=1, max_size=8).map(words).filter(len).map(lambda read: read[0])
TEXTS = st.lists(st.lists(WORD, max_size=6), max_size=6)


@given(TEXTS)
def test_a_word_stands_where_it_was_read(texts: list[list[str]]) -> None:
    book = Concordance(texts)
    assert book.words == sorted({word for told in texts for word in told})
    for number, word in enumerate(book.words):
        assert list(book.places(number)) == [place for place, told in enumerate(texts) for one in told if one == word]


@given(TEXTS, WORD)
@example([["dying", "dies", "skies", "gently"]], "die")
@example([["ability", "abilities"]], "able")
@example([["cries", "cry", "crying"]], "cried")
def test_words_are_found_by_their_stem_wherever_it_differs_from_them(texts: list[list[str]], asked: str) -> None:
    book = Concordance(texts)
    for wanted in {stem(asked), *map(stem, book.words)}:
        assert book.with_stem(wanted) == [i for i, word in enumerate(book.words) if stem(word) == wanted]


@given(TEXTS, WORD)
@example([["banana", "ana", "a"]], "banana")
def test_words_are_found_by_their_trigrams_at_once_and_again(texts: list[list[str]], asked: str) -> None:
    book = Concordance(texts)
    for gram in trigrams(asked).union(*map(trigrams, book.words)):
        having = [i for i, word in enumerate(book.words) if gram in trigrams(word)]
        assert list(book.with_trigram(gram)) == having
        assert list(book.with_trigram(gram)) == having


def test_it_grows_with_what_is_asked() -> None:
    assert Concordance([]).size == 0
    book = Concordance([["drum", "drummer"]])
    before = book.size
    book.with_trigram("xyz")
    assert book.size == before
    book.with_trigram("dru")
    assert book.size > before
