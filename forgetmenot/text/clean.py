"""Foreign text made fit for a line, and what it looks like to the eye. Pure.

- `clean` gives one line without control characters, zero-width and bidirectional marks, lone
  surrogates or stacks of accents. Visible letters, emoji and their joiners stay as typed.
- `plain` folds case, accents and compatibility letters, and keeps alphabets apart.
- `skeleton` answers "do these two look the same?", for comparing and never for showing. It folds
  the alphabets and ornaments that people use to pass a filter or to pose as somebody else, and so
  makes real Cyrillic and Greek words unreadable: `fold_word` folds a word only where it is mixed.
"""

import re
import unicodedata
from itertools import groupby
from operator import eq
from string import ascii_lowercase

_SPACES = re.compile(r"\s+")
_PRINTABLE = re.compile(r"[ -~]*\Z")
# Letters and marks that show nothing.
_BLANKS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u180e")
_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_PICTURE_MARKS = frozenset({_JOINER, _EMOJI_STYLE})
# Accents on one letter. The writing systems that need more are not met in chat.
_MAX_MARKS = 2
_MARK_CATEGORIES = frozenset({"Mn", "Me"})
_PICTURE_CATEGORIES = frozenset({"So", "Sk"})
# Format and control characters, private letters that fonts disagree about, and surrogates.
_INVISIBLE_CATEGORIES = frozenset({"Cf", "Cc", "Co", "Cs"})
_HIDDEN = re.compile("[\ufe00-\ufe0f\U000e0000-\U000e0fff]")


def clean(text: str) -> str:
    """Return the text as one visible line; empty if nothing is left. Twice changes nothing more."""
    is_simple = text.isascii() and text.isprintable()
    if is_simple and "  " not in text:
        return text.strip()
    spaced = _SPACES.sub(" ", text).strip()
    if _PRINTABLE.match(spaced):
        return spaced
    composed = unicodedata.normalize("NFC", spaced)
    visible = _visible(composed)
    # Again: letters that an invisible character parted now stand side by side.
    visible = unicodedata.normalize("NFC", visible)
    return _SPACES.sub(" ", visible).strip()


def without_repeated_words(text: str) -> str:
    """Return the cleaned text with each word once where it stands several times in a row."""
    words: list[str] = []
    for word in clean(text).split():
        if not words or word.casefold() != words[-1].casefold():
            words.append(word)
    return " ".join(words)


def words_key(text: str) -> str:
    """Return by what two texts have the same words: `without_repeated_words` without its capitals."""
    return key_of_folded(folded(text))


def folded(text: str) -> str:
    """Return the cleaned text in small letters."""
    return clean(text).casefold()


def key_of_folded(folded_text: str) -> str:
    """Return the `words_key` of a text that is `folded` already."""
    words = folded_text.split()
    has_repeats = any(map(eq, words, words[1:]))
    if has_repeats:
        words = [word for word, _repeats in groupby(words)]
    return " ".join(words)


def _visible(text: str) -> str:
    """Return the characters of a text that may be seen, with at most two marks on each letter."""
    visible: list[str] = []
    marks = 0
    for char in text:
        previous = visible[-1] if visible else ""
        if char in _PICTURE_MARKS and _continues_picture(char, previous):
            visible.append(char)
            continue
        category = unicodedata.category(char)
        if category in _INVISIBLE_CATEGORIES:
            continue
        if char in _BLANKS:
            continue
        if _HIDDEN.match(char):
            continue
        # A joiner that joins no picture shows nothing.
        if previous == _JOINER and category not in _PICTURE_CATEGORIES:
            visible.pop()
        marks = marks + 1 if category in _MARK_CATEGORIES else 0
        if marks <= _MAX_MARKS:
            visible.append(char)
    return "".join(visible).rstrip(_JOINER)


def _continues_picture(mark: str, previous: str) -> bool:
    """Return whether a joiner or a style mark stands right behind an emoji."""
    if mark == _JOINER and previous == _EMOJI_STYLE:
        return True
    return bool(previous) and unicodedata.category(previous) in _PICTURE_CATEGORIES


_LAST_WORD = re.compile(r"[@＠]?\w*\Z")
_MAX_NAME = 50


def cut(text: str, limit: int) -> str:
    """Return the beginning of a text, at most `limit` characters.

    A word is not halved, because half of "@user12" would name another viewer. Only a word that is
    longer than any name is.
    """
    beginning = text[:limit]
    next_char = text[limit : limit + 1]
    if not next_char.isalnum() and next_char != "_":
        return beginning
    # From where the longest name, with an @ before it, would begin.
    search_start = max(0, limit - _MAX_NAME - 2)
    last_word = _LAST_WORD.search(text, search_start, limit)
    if last_word is None:
        return beginning
    word_length = last_word.end() - last_word.start()
    if word_length > _MAX_NAME + 1:
        return beginning
    return text[: last_word.start()]


def _letters_from(first_letter: int) -> str:
    """Return the 26 characters from a code point on."""
    return "".join(map(chr, range(first_letter, first_letter + 26)))


# Letters of other alphabets, and what each looks like.
_ALPHABETS = {
    # Cyrillic
    "авгеікмнорстухьјѕһԁԛԝґѵѡєӏ": "abreikmhopctyxbjshdqwrvwel",
    # Greek
    "αβγδεζηικμνορστυχωϳ": "abydeznikuvopotuxwj",
    # Armenian
    "աոսցօհնքյզղ": "wnugohuqjqn",
    # Cherokee
    "ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᎾᏀᏃᏚᏟᏢᏦᏧᏙᏔᏏᏒᏞᏆ": "drtiajewmhogzscpkdvwbrli",
    # Lisu
    "ꓲꓳꓮꓰꓢꓔꓟꓓꓣꓐꓚꓠꓬꓪꓦꓫꓜꓝꓖꓙꓗꓡꓧꓴꓑ": "ioaestmdrbcnywvxzfgjklhup",
    # Canadian syllabics
    "ᗩᗅᗷᑲᖯᑕᗪᑯᗞᖴᕼᒍᒪᗰᑎᑭᑫᖇᔕᑌᐯᗯ᙭ᕽᘔ": "aabbbcdddfhjlmnpqrsuvwxxz",
    # Coptic
    "ⲥⲏⲕⲓⲙⲛⲟⲣⲅⲧⲭⲩ": "chklmnoprtxy",
    # Latin letters with strokes, turned ones, small capitals
    "ıłøđħŧɑɡɩɪʏʀɴʟʙᴀᴄᴅᴇɢʜᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡᴢǀƒɛɔɐǝɹɯʌʎþðœæ|ƅꞵꬲꬵꞙẝᶃƍᴑꬽꭇꭈƽꞟꭎꭒʋꭓɣᶌỿꭚʝ": (
        "ilodhtagiiyrnlbacdeghjkmopstuvwzlfeoaermvypdoalbbefffggoorrsuuuuxyyyyj"
    ),
    # White letters on black, round and square, and those that flags are made of
    _letters_from(0x1F150): ascii_lowercase,
    _letters_from(0x1F170): ascii_lowercase,
    _letters_from(0x1F1E6): ascii_lowercase,
}
_FOLD: dict[int, int] = {}
for _letters, _looks in _ALPHABETS.items():
    _FOLD |= str.maketrans(_letters, _looks)
# Greek capitals whose small letters look like other Latin letters.
_CAPITALS = str.maketrans("ΗΥΝΜ", "hynm")
_LEET = str.maketrans("0134579@$!", "oleastgasi")
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]"
)


def plain(text: str) -> str:
    """Return a text with ordinary letters, case folded, without accents and invisible characters.

    Alphabets stay: Cyrillic letters are not made Latin.
    """
    if text.isascii() and text.isprintable():
        return text.casefold()
    # Decomposed twice, because folding case may make new letters with marks ("İ").
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    decomposed = unicodedata.normalize("NFKD", decomposed)
    unmarked = _MARKS.sub("", decomposed)
    visible = "".join(
        char
        for char in unmarked
        if char.isspace() or unicodedata.category(char) not in _INVISIBLE_CATEGORIES
    )
    return unicodedata.normalize("NFC", visible)


def skeleton(text: str) -> str:
    """Return what a text looks like, in Latin letters: equal for texts that the eye confuses."""
    if text.isascii():
        return plain(text).translate(_FOLD)
    # Capitals before the case is folded: "Н" looks like H, and its small letter like another one.
    capitals_folded = unicodedata.normalize("NFKC", text).translate(_CAPITALS)
    return plain(capitals_folded).translate(_FOLD)


def unleet(text: str) -> str:
    """Return a text with letters for the digits and signs that pose as such ("m0d", "@dm1n")."""
    return text.translate(_LEET)


# A word with such digits or signs in it: "d1abetes", "m0d".
LEET_WORD = re.compile(r"(?<!\w)(?=\S{0,30}[a-z])(?=\S{0,30}[0134579@$!])[\w@$!]+")


def fold_word(word: str) -> str:
    """Return a word of `plain` text in Latin letters if it pretends to be Latin, else as it is.

    It pretends if it mixes alphabets ("mоd" with a Cyrillic о) or if each of its letters has a
    look-alike.
    """
    if word.isascii():
        return word
    folded = word.translate(_FOLD)
    is_mixed = any("a" <= char <= "z" for char in word)
    if is_mixed or folded.isascii():
        return folded
    return word
