"""People inside stored texts: `<@42>` stands for a viewer's id, and a name is looked up last.

Only `mention` makes such a token: text from chat goes through `defang` before it is stored or shown to a model, so that
typed brackets mention nobody.

Untrusted text stands in a prompt between fences: `<chat>`, the text, `</chat>`, each on its own line. No text inside
can open or close one, whatever brackets it uses: every character that reads as an angle bracket becomes a round one,
except in a mention (`<@42>`) and in a heart (`<3`). The rules of the prompt say that fenced text is data.
"""

import re
import unicodedata
from collections.abc import Mapping

from forgetmenot.text.clean import skeleton

# What is shown for an id that has no name (any more).
SOMEBODY = "somebody"

# A mention; group 1 is the viewer's id (Twitch's digits, or a provisional `login:alice`).
MENTION = re.compile(r"<@([A-Za-z0-9_:.-]{1,64})>")

_STAND_FOR = """you your yourself me i we he she they them bot system assistant streamer mod moderator nobody
anybody everybody everyone someone somebody"""
# Words that stand for somebody, or for nobody, in what a model or a person reads.
_NOBODYS = frozenset(_STAND_FOR.split())

_FORGED = re.compile("[<\uff1c\ufe64]\\s*(?=[@\uff20\ufe6b])")


# How an id begins that stands for somebody who never spoke here: all that is known of them is a login.
PROVISIONAL = "login:"


# The accounts that Twitch names for all anonymous gifts and cheers: nobody in particular.
ANONYMOUS_IDS = frozenset({"274598607", "407665396"})
ANONYMOUS_LOGINS = frozenset({"ananonymousgifter", "ananonymouscheerer"})


def is_anonymous(user_id: str, login: str) -> bool:
    """Return whether an account stands for everybody who gives without a name."""
    return user_id in ANONYMOUS_IDS or login.casefold() in ANONYMOUS_LOGINS


def provisional_id(login: str) -> str:
    """The id of whoever has a login, until they speak."""
    return PROVISIONAL + login.casefold()


def is_viewer_id(text: str) -> bool:
    """Whether a text may be a viewer's id: nothing else can be mentioned, and so nothing else may be somebody."""
    return MENTION.fullmatch(f"<@{text}>") is not None


def mention(viewer_id: str) -> str:
    """`<@42>` for the id 42. Raises ValueError for something that is no id."""
    token = f"<@{viewer_id}>"
    if not MENTION.fullmatch(token):
        raise ValueError("a viewer's id has 1 to 64 letters, digits or _ : . -")
    return token


def ids_in(text: str) -> tuple[str, ...]:
    """The ids mentioned in a stored text, each once, in the order in which they first stand there."""
    return tuple(dict.fromkeys(MENTION.findall(text)))


def with_names(text: str, names: Mapping[str, str]) -> str:
    """The text with names (id → name) in the place of mentions; an id without a name becomes "somebody"."""
    if "<@" not in text:
        return text
    return MENTION.sub(
        lambda found: shown_name(names[found[1]]) if found[1] in names else SOMEBODY, text
    )


def shown_name(name: str) -> str:
    """A name as it is shown: behind an @ where it is a word that stands for somebody else ("You", "somebody")."""
    return f"@{name}" if skeleton(name).strip() in _NOBODYS else name


def defang(text: str) -> str:
    """Foreign text without the power to mention anybody: `<@42>` becomes `(@42>`, full-width brackets too."""
    return _FORGED.sub("(", text)


# Twitch logins, as people type them and as Twitch stores them.


_LOGIN = re.compile(r"(?:[#@]?[A-Za-z0-9_]{1,25})?")


def is_login(text: str) -> bool:
    """Whether somebody can be called so; nothing is no mistake here, and # and @ are how people write it."""
    return _LOGIN.fullmatch(text) is not None


def login_of(text: str) -> str:
    """The login as Twitch has it, of what `is_login`."""
    return text.lower().lstrip("#@")


_CHANNEL = re.compile(r"(?:https?://)?(?:(?:www|m)\.)?twitch\.tv/(\w+)(?:[/?].*)?", re.IGNORECASE)


def channel_in_address(text: str) -> str:
    """What stands for the channel in its address, as people paste it; any other text as it is."""
    address = _CHANNEL.fullmatch(text.strip())
    return address[1] if address else text.strip()


_DOT = r"(?:\.|(?<=[A-Za-z0-9])[。｡](?=[A-Za-z]))"
_ADDRESS = re.compile(
    rf"//|\bwww\.|[^\W_]_*{_DOT}[^\W\d_]{{2}}|(?<![\d.])(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?![\d.]*\w)"
)
_SPELT = re.compile(
    r"\b[a-z0-9-]{2,63}\s?[(\[{]?\s?dot\s?[)\]}]?\s?(?:com|net|org|tv|gg|xyz|info|shop|zip)\b|hxxps?\b",
    re.IGNORECASE,
)
_FORGOTTEN_SPACE = re.compile(r"(?<=[^\W_])\.(?=[A-Z][A-Za-z'’-]*[,;!?…)\"”]*\.?\Z)")
_FILE_ENDINGS = (
    "js ts jsx json exe dll bat cfg ini txt csv pdf png jpg jpeg gif mp3 mp4 wav ogg html css php cpp"
    " lua jar"
)
_FILE = re.compile(
    rf"[^\w-]*[\w-]+\.(?:{'|'.join(_FILE_ENDINGS.split())})(?:'s)?[^\w/:@.]*\.{{0,3}}",
    re.IGNORECASE,
)


def without_links(text: str) -> str:
    """The text without its addresses; twice changes nothing more. Words keep single spaces where one was taken out."""
    if not _may_hold_one(text):
        return text
    kept = (_without(word) for word in text.split(" "))
    return " ".join(word for word in kept if word is not None)


def has_link(text: str) -> bool:
    """Whether a text names an address, also one that is spelt out ("evil dot com")."""
    held = _may_hold_one(text) and any(_without(word) is None for word in text.split())
    return held or _SPELT.search(text) is not None


def _may_hold_one(text: str) -> bool:
    return _ADDRESS.search(unicodedata.normalize("NFKC", text)) is not None


def _without(word: str) -> str | None:
    """One word (no spaces in it): itself, or parted by a space, or None for an address."""
    plain = unicodedata.normalize("NFKC", word)
    if not _ADDRESS.search(plain) or _FILE.fullmatch(plain):
        return word
    # "nice.Thanks" looks like an address and only lacks a space
    parted = _FORGOTTEN_SPACE.sub(". ", plain)
    return None if _ADDRESS.search(parted) else parted


_FENCE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OPENING = "<＜﹤‹〈⟨〈《⟪«≪⋘⪡⧼⦑❮❰❬˂ᐸ≺⋖⩹⪦㸦𝈶"
_CLOSING = ">＞﹥›〉⟩〉》⟫»≫⋙⪢⧽⦒❯❱❭˃ᐳ≻⋗⩺⪧𝈷"
_ROUND = str.maketrans(dict.fromkeys(_OPENING, "(") | dict.fromkeys(_CLOSING, ")"))
_ENTITY = re.compile(r"&(lt|gt|laquo|raquo|lang|rang|#0*6[02]|#x0*3[ce])\b;?", re.IGNORECASE)
_KEPT = re.compile(rf"{MENTION.pattern}|<3(?![\w/>])")
_BLOCK = re.compile(r"^<([a-z][a-z0-9_]*)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)


def fence(name: str, body: str) -> str:
    """The body between its fence. Raises ValueError for a name that is not lower-case letters, digits and _."""
    if not _FENCE_NAME.fullmatch(name):
        raise ValueError("a fence's name is made of lower-case letters, digits and _")
    return f"<{name}>\n{unbracket(body)}\n</{name}>"


def unbracket(body: str) -> str:
    """The body without anything that reads as an angle bracket, except mentions and hearts. Twice changes nothing."""
    if body.isascii() and not any(map(body.__contains__, "<>&")):
        return body  # most are
    pieces: list[str] = []
    end = 0
    for kept in _KEPT.finditer(body):
        pieces += [_soften(body[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*pieces, _soften(body[end:])])


def _soften(text: str) -> str:
    return _ENTITY.sub("(", text.translate(_ROUND))


def fenced_texts(text: str) -> dict[str, str]:
    """What stands between the fences of a prompt, by name; fences of the same name are joined by a line break."""
    found: dict[str, str] = {}
    for block in _BLOCK.finditer(text):
        name, body = block[1], block[2]
        found[name] = f"{found[name]}\n{body}" if name in found else body
    return found
