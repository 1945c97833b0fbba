"""Which words are words of the language, or of chat, before they are anybody's name."""

from forgetmenot.text.line_language import LineLanguage, is_word_of_another_language
from forgetmenot.text.meaning import is_common_word
from forgetmenot.text.names import WordKind
from forgetmenot.text.words import (
    FILLER,
    FOREIGN_STOPWORDS,
    STOPWORDS,
)

# Ordinary words of chat that are often a piece of a login, or one.
_ORDINARY = """game games gaming gamer play plays player playing live stream streams streamer streaming twitch channel
    boss level run runs speed song music team tank heal damage love hate good best real true big small little old new
    king queen lord lady mister miss girl boy kid mom dad cat dog bird fish wolf bear dragon ghost shadow dark light
    red blue green black white gold silver fire water ice sun moon star sky night day time life death dead will mark
    drive drives driving car cars food coffee pizza work school home house world people person friend friends clip
    mod mods raid sub subs gift gifts hype pog win wins lose lost fan fans news today tomorrow yesterday never ever
    always first last next back here there video test user official the_ tv ttv yt
    kappa sadge monkas pepega poggers pogchamp copium hopium lulw omegalul peepo catjam"""
ORDINARY = frozenset(_ORDINARY.split()) | STOPWORDS | FILLER


def kind_of(word: str, language: LineLanguage = LineLanguage.UNKNOWN) -> WordKind:
    """Return what a word (as text/names compares it) is in a line of this language before it is anybody's name."""
    if word in ORDINARY or word in FOREIGN_STOPWORDS:
        return WordKind.COMMON
    if language is not LineLanguage.ENGLISH and is_word_of_another_language(word):
        return WordKind.ORDINARY
    if not is_common_word(word):
        return WordKind.NO_WORD
    # the table of common words is English: in another language the word is borrowed
    if language is LineLanguage.OTHER:
        return WordKind.BORROWED
    return WordKind.ORDINARY


def is_ordinary(word: str, language: LineLanguage = LineLanguage.ENGLISH) -> bool:
    """Return whether a word is one of English, or of the line's language, before it is anybody's name."""
    return kind_of(word, language) is not WordKind.NO_WORD
