"""Letters that only look like other letters.

`skeleton` answers "do these two look the same?"; its result is for comparing, never for showing. It folds the
alphabets and ornaments people use to pass a filter or to pose as somebody else. It does not know every look-alike
of Unicode, and it leaves real Cyrillic and Greek words unreadable: `words` folds a word only where it is mixed.
"""

import re
import unicodedata

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
_LETTERS = _CYRILLIC | _GREEK | _ARMENIAN | _CHEROKEE | _LISU | _SYLLABICS | _COPTIC | _LATIN
_BOXED = {  # white letters on black, and the letters that flags are made of
    chr(start + index): chr(ord("a") + index) for start in (0x1F150, 0x1F170, 0x1F1E6) for index in range(26)
}
_FOLD = str.maketrans(_LETTERS | _BOXED)
_CAPITALS = str.maketrans(_GREEK_CAPITALS)
_LEET = str.maketrans("0134579@$!", "oleastgasi")
_HIDDEN = frozenset({"Cf", "Cc", "Co", "Cs"})
_MARKS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]")


def plain(text: str) -> str:
    """Compatibility letters made ordinary, case folded, accents and invisible characters gone; alphabets kept."""
    if text.isascii() and text.isprintable():
        return text.casefold()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    bare = "".join(c for c in _MARKS.sub("", apart) if c.isspace() or unicodedata.category(c) not in _HIDDEN)
    return unicodedata.normalize("NFC", bare)


def skeleton(text: str) -> str:
    """What the text looks like, in Latin letters: equal for texts that the eye takes for one another."""
    if text.isascii():
        return plain(text).translate(_FOLD)
    return plain(unicodedata.normalize("NFKC", text).translate(_CAPITALS)).translate(_FOLD)


def unleet(text: str) -> str:
    """The text with the digits and signs that stand for letters ("m0d", "@dm1n") made letters: for filters only."""
    return text.translate(_LEET)


def fold_word(word: str) -> str:
    """One word of `plain` text in Latin letters if it pretends to be Latin, else as it is.

    It pretends when it mixes alphabets ("mоd" with a Cyrillic о) or when every one of its letters has a look-alike.
    """
    if word.isascii():
        return word
    folded = word.translate(_FOLD)
    mixed = any("a" <= char <= "z" for char in word)
    return folded if mixed or folded.isascii() else word
