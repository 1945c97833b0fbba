"""Foreign text made fit for a line, and what it looks like to the eye. Pure.

`clean` gives one line without control characters, zero-width and bidirectional marks, lone surrogates or stacks of
accents; visible letters, emoji and their joiners stay as they were typed. `skeleton` answers "do these two look the
same?": for comparing, never for showing. It folds the alphabets and ornaments people use to pass a filter or to pose as
somebody else. It leaves real Cyrillic and Greek words unreadable: `words` folds a word only where it is mixed.
"""

import re
import unicodedata

_SPACES = re.compile(r"\s+")
_PRINTABLE = re.compile(r"[ -~]*\Z")
_BLANKS = frozenset(
    "\u115f\u1160\u3164\uffa0\u2800\u034f\u180e"
)  # letters and marks that show nothing
_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_MOST_MARKS = 2  # accents on one letter; the writing systems that need more are not met in chat
_PICTURES = frozenset({"So", "Sk"})
_HIDDEN = re.compile("[\ufe00-\ufe0f\U000e0000-\U000e0fff]")
_DROPPED = frozenset({"Cf", "Cc", "Co", "Cs"})


def clean(text: str) -> str:
    """The text as one visible line; empty where nothing is left. Cleaning twice changes nothing."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    spaced = _SPACES.sub(" ", text).strip()
    if _PRINTABLE.match(spaced):
        return spaced
    visible = _visible(unicodedata.normalize("NFC", spaced))
    return _SPACES.sub(" ", unicodedata.normalize("NFC", visible)).strip()


def without_repeated_words(text: str) -> str:
    """The cleaned text, each word once where it was written several times in a row."""
    words: list[str] = []
    for word in clean(text).split():
        if not words or word.casefold() != words[-1].casefold():
            words.append(word)
    return " ".join(words)


def _visible(text: str) -> str:
    """The characters that may be seen, with at most two marks on each letter."""
    kept: list[str] = []
    marks = 0
    for char in text:
        before, kind = kept[-1] if kept else "", unicodedata.category(char)
        # a joiner or a style mark right behind a picture is part of the picture
        if (
            char in {_JOINER, _EMOJI_STYLE} and before and unicodedata.category(before) in _PICTURES
        ) or (char == _JOINER and before == _EMOJI_STYLE):
            kept.append(char)
            continue
        # shows nothing, moves its neighbours, or is a private letter that fonts disagree about
        if kind in _DROPPED or char in _BLANKS or _HIDDEN.match(char):
            continue
        if before == _JOINER and kind not in _PICTURES:
            kept.pop()  # a joiner that joins nothing
        marks = marks + 1 if kind in {"Mn", "Me"} else 0
        if marks <= _MOST_MARKS:
            kept.append(char)
    return "".join(kept).rstrip(_JOINER)


# Cutting stops before a word that would be halved: half of "@user12" would name another viewer.


_LAST_WORD = re.compile(r"[@＠]?\w*\Z")
LONGEST_NAME = 50


def cut(text: str, most: int) -> str:
    """The beginning of a text, at most `most` characters; only a word longer than any name is halved."""
    if len(text) <= most or not (text[most].isalnum() or text[most] == "_"):
        return text[:most]
    half = _LAST_WORD.search(text, max(0, most - LONGEST_NAME - 2), most)
    return (
        text[: half.start()]
        if half and half.end() - half.start() <= LONGEST_NAME + 1
        else text[:most]
    )


_CYRILLIC = dict(zip("авгеікмнорстухьјѕһԁԛԝґѵѡєӏ", "abreikmhopctyxbjshdqwrvwel", strict=True))
_GREEK = dict(zip("αβγδεζηικμνορστυχωϳ", "abydeznikuvopotuxwj", strict=True))
_GREEK_CAPITALS = dict(zip("ΗΥΝΜ", "hynm", strict=True))  # their small letters look like other ones
_ARMENIAN = dict(zip("աոսցօհնքյզղ", "wnugohuqjqn", strict=True))
_CHEROKEE = dict(zip("ᎠᎡᎢᎥᎪᎫᎬᎳᎷᎻᎾᏀᏃᏚᏟᏢᏦᏧᏙᏔᏏᏒᏞᏆ", "drtiajewmhogzscpkdvwbrli", strict=True))
_LISU = dict(zip("ꓲꓳꓮꓰꓢꓔꓟꓓꓣꓐꓚꓠꓬꓪꓦꓫꓜꓝꓖꓙꓗꓡꓧꓴꓑ", "ioaestmdrbcnywvxzfgjklhup", strict=True))
_SYLLABICS = dict(zip("ᗩᗅᗷᑲᖯᑕᗪᑯᗞᖴᕼᒍᒪᗰᑎᑭᑫᖇᔕᑌᐯᗯ᙭ᕽᘔ", "aabbbcdddfhjlmnpqrsuvwxxz", strict=True))
_COPTIC = dict(zip("ⲥⲏⲕⲓⲙⲛⲟⲣⲅⲧⲭⲩ", "chklmnoprtxy", strict=True))
_LATIN = dict(
    zip(
        "ıłøđħŧɑɡɩɪʏʀɴʟʙᴀᴄᴅᴇɢʜᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡᴢǀƒɛɔɐǝɹɯʌʎþðœæ|ƅꞵꬲꬵꞙẝᶃƍᴑꬽꭇꭈƽꞟꭎꭒʋꭓɣᶌỿꭚʝ",
        "ilodhtagiiyrnlbacdeghjkmopstuvwzlfeoaermvypdoalbbefffggoorrsuuuuxyyyyj",
        strict=True,
    )
)
_LOOKALIKES = _CYRILLIC | _GREEK | _ARMENIAN | _CHEROKEE | _LISU | _SYLLABICS | _COPTIC | _LATIN
_BOXED = {  # white letters on black, and the letters that flags are made of
    chr(start + index): chr(ord("a") + index)
    for start in (0x1F150, 0x1F170, 0x1F1E6)
    for index in range(26)
}
_FOLD = str.maketrans(_LOOKALIKES | _BOXED)
_CAPITALS = str.maketrans(_GREEK_CAPITALS)
_LEET = str.maketrans("0134579@$!", "oleastgasi")
_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]"
)


def plain(text: str) -> str:
    """Compatibility letters made ordinary, case folded, accents and invisible characters gone; alphabets kept."""
    if text.isascii() and text.isprintable():
        return text.casefold()
    # twice, because folding case may make new letters with marks ("İ")
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    bare = "".join(
        c for c in _MARKS.sub("", apart) if c.isspace() or unicodedata.category(c) not in _DROPPED
    )
    return unicodedata.normalize("NFC", bare)


def skeleton(text: str) -> str:
    """What the text looks like, in Latin letters: equal for texts that the eye takes for one another."""
    if text.isascii():
        return plain(text).translate(_FOLD)
    # capitals before the case is folded: "Н" looks like H, and its small letter like another one
    return plain(unicodedata.normalize("NFKC", text).translate(_CAPITALS)).translate(_FOLD)


def unleet(text: str) -> str:
    """The text with the digits and signs that stand for letters ("m0d", "@dm1n") made letters: for filters only."""
    return text.translate(_LEET)


# A word with such digits or signs in it: "d1abetes", "m0d".
LEET_WORD = re.compile(r"(?<!\w)(?=\S{0,30}[a-z])(?=\S{0,30}[0134579@$!])[\w@$!]+")


def fold_word(word: str) -> str:
    """One word of `plain` text in Latin letters if it pretends to be Latin, else as it is.

    It pretends when it mixes alphabets ("mоd" with a Cyrillic о) or when every one of its letters has a look-alike.
    """
    if word.isascii():
        return word
    folded = word.translate(_FOLD)
    mixed = any("a" <= char <= "z" for char in word)
    return folded if mixed or folded.isascii() else word
