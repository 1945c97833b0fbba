"""People inside stored texts: `<@42>` stands for a viewer's id, and a name is looked up last. Pure.

Only `mention` makes such a token: text from chat goes through `defang` before it is stored or shown
to a model, so that typed brackets mention nobody.

Untrusted text stands in a prompt between fences: `<chat>`, the text, `</chat>`, each on its own
line. No text inside can open or close one, whatever brackets it uses: every character that reads as
an angle bracket becomes a round one, except in a mention (`<@42>`) and in a heart (`<3`). The rules
of the prompt say that fenced text is data.
"""

import re
import unicodedata
from collections.abc import Mapping

from forgetmenot.text.clean import skeleton

# What is shown for an id that has no name (any more).
SOMEBODY = "somebody"

# A mention; group 1 is the viewer's id (Twitch's digits, or a provisional `login:alice`).
MENTION = re.compile(r"<@([A-Za-z0-9_:.-]{1,64})>")

# Words that stand for somebody, or for nobody, in what a model or a person reads.
_PRONOUNS = """
    you your yourself me i we he she they them bot system assistant streamer mod moderator nobody
    anybody everybody everyone someone somebody
"""
_NOBODYS_NAMES = frozenset(_PRONOUNS.split())

_FORGED = re.compile("[<\uff1c\ufe64]\\s*(?=[@\uff20\ufe6b])")


# How an id begins that stands for somebody who never spoke here: only their login is known.
PROVISIONAL = "login:"


# The accounts that Twitch names for all anonymous gifts and cheers.
ANONYMOUS_IDS = frozenset({"274598607", "407665396"})
ANONYMOUS_LOGINS = frozenset({"ananonymousgifter", "ananonymouscheerer"})


def is_anonymous(user_id: str, login: str) -> bool:
    """Return whether an account stands for everybody who gives without a name."""
    return user_id in ANONYMOUS_IDS or login.casefold() in ANONYMOUS_LOGINS


def provisional_id(login: str) -> str:
    """Return the id of the owner of a login until they speak and Twitch sends their own."""
    return PROVISIONAL + login.casefold()


def is_viewer_id(text: str) -> bool:
    """Return whether a text may be a viewer's id: only such a text can be mentioned."""
    return MENTION.fullmatch(f"<@{text}>") is not None


def mention(viewer_id: str) -> str:
    """Return `<@42>` for the id 42. Raises ValueError for a text that is no id."""
    if not is_viewer_id(viewer_id):
        raise ValueError("a viewer's id has 1 to 64 letters, digits or _ : . -")
    return f"<@{viewer_id}>"


def ids_in(text: str) -> tuple[str, ...]:
    """Return the ids that a stored text mentions, each once, in order."""
    return tuple(dict.fromkeys(MENTION.findall(text)))


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names (id → name) for its mentions; "somebody" for an id without one."""
    if "<@" not in text:
        return text

    def name_of(mentioned: re.Match[str]) -> str:
        name = names.get(mentioned[1])
        return SOMEBODY if name is None else shown_name(name)

    return MENTION.sub(name_of, text)


def shown_name(name: str) -> str:
    """Return a name as it is shown: behind an @ if it is a word such as "you" or "somebody"."""
    return f"@{name}" if skeleton(name).strip() in _NOBODYS_NAMES else name


def defang(text: str) -> str:
    """Return a foreign text that can mention nobody: `<@42>` becomes `(@42>`, also full-width."""
    return _FORGED.sub("(", text)


# ── Twitch logins and addresses ─────────────────────────────────────────────────────────────

_LOGIN = re.compile(r"(?:[#@]?[A-Za-z0-9_]{1,25})?")


def is_login(text: str) -> bool:
    """Return whether a text can be a login, with or without # or @ before it; an empty one can."""
    return _LOGIN.fullmatch(text) is not None


def login_of(text: str) -> str:
    """Return the login, as Twitch stores it, of a text that `is_login`."""
    return text.lower().lstrip("#@")


_CHANNEL = re.compile(
    r"(?:https?://)?(?:(?:www|m)\.)?twitch\.tv/(\w+)(?:[/?].*)?", re.IGNORECASE
)


def channel_in_address(text: str) -> str:
    """Return the channel in its pasted address ("twitch.tv/alice"); any other text as it is."""
    stripped = text.strip()
    address = _CHANNEL.fullmatch(stripped)
    return address[1] if address else stripped


_DOT = r"(?:\.|(?<=[A-Za-z0-9])[。｡](?=[A-Za-z]))"
_ADDRESS = re.compile(
    rf"//|\bwww\.|[^\W_]_*{_DOT}[^\W\d_]{{2}}"
    r"|(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]*\w)"
)
_SPELT_ADDRESS = re.compile(
    r"\b[a-z0-9-]{2,63}\s?[(\[{]?\s?dot\s?[)\]}]?\s?"
    r"(?:com|net|org|tv|gg|xyz|info|shop|zip)\b|hxxps?\b",
    re.IGNORECASE,
)
# "nice.Thanks" looks like an address and only lacks a space.
_FORGOTTEN_SPACE = re.compile(r"(?<=[^\W_])\.(?=[A-Z][A-Za-z'’-]*[,;!?…)\"”]*\.?\Z)")
_FILE_ENDINGS = (
    "js ts jsx json exe dll bat cfg ini txt csv pdf png jpg jpeg gif mp3 mp4 wav ogg html css"
    " php cpp lua jar"
)
_FILE = re.compile(
    rf"[^\w-]*[\w-]+\.(?:{'|'.join(_FILE_ENDINGS.split())})(?:'s)?[^\w/:@.]*\.{{0,3}}",
    re.IGNORECASE,
)


def without_links(text: str) -> str:
    """Return a text without its addresses, with single spaces between words where one is cut.

    Running it twice changes nothing more.
    """
    if not _may_have_link(text):
        return text
    words = []
    for word in text.split(" "):
        safe_word = _word_without_link(word)
        if safe_word is not None:
            words.append(safe_word)
    return " ".join(words)


def has_link(text: str) -> bool:
    """Return whether a text names an address, also one that is spelt out ("evil dot com")."""
    if _SPELT_ADDRESS.search(text):
        return True
    if not _may_have_link(text):
        return False
    safe_words = map(_word_without_link, text.split())
    return any(word is None for word in safe_words)


def _may_have_link(text: str) -> bool:
    normal = unicodedata.normalize("NFKC", text)
    return _ADDRESS.search(normal) is not None


def _word_without_link(word: str) -> str | None:
    """Return a word, with a space where one was forgotten; None if it is an address."""
    normal = unicodedata.normalize("NFKC", word)
    if not _ADDRESS.search(normal):
        return word
    if _FILE.fullmatch(normal):
        return word
    parted = _FORGOTTEN_SPACE.sub(". ", normal)
    return None if _ADDRESS.search(parted) else parted


# ── fences ──────────────────────────────────────────────────────────────────────────────────

_FENCE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OPENING = "<＜﹤‹〈⟨〈《⟪«≪⋘⪡⧼⦑❮❰❬˂ᐸ≺⋖⩹⪦㸦𝈶"
_CLOSING = ">＞﹥›〉⟩〉》⟫»≫⋙⪢⧽⦒❯❱❭˃ᐳ≻⋗⩺⪧𝈷"
_ROUND_OPENING = dict.fromkeys(_OPENING, "(")
_ROUND_CLOSING = dict.fromkeys(_CLOSING, ")")
_ROUND = str.maketrans(_ROUND_OPENING | _ROUND_CLOSING)
_ENTITY = re.compile(
    r"&(lt|gt|laquo|raquo|lang|rang|#0*6[02]|#x0*3[ce])\b;?", re.IGNORECASE
)
_MENTION_OR_HEART = re.compile(rf"{MENTION.pattern}|<3(?![\w/>])")
_BLOCK = re.compile(r"^<([a-z][a-z0-9_]*)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)


def fence(name: str, body: str) -> str:
    """Return a text between fences of a name.

    Raises ValueError for a name that is not lower-case letters, digits and _.
    """
    if not _FENCE_NAME.fullmatch(name):
        raise ValueError("a fence's name is made of lower-case letters, digits and _")
    return f"<{name}>\n{unbracket(body)}\n</{name}>"


def unbracket(body: str) -> str:
    """Return a text with round brackets for all that read as angle brackets.

    Mentions and hearts stay. Running it twice changes nothing more.
    """
    # Most texts have none.
    has_sign = any(sign in body for sign in "<>&")
    if body.isascii() and not has_sign:
        return body
    rounded = ""
    end = 0
    for match in _MENTION_OR_HEART.finditer(body):
        between = body[end : match.start()]
        rounded += _rounded(between) + match[0]
        end = match.end()
    return rounded + _rounded(body[end:])


def _rounded(text: str) -> str:
    """Return a text with round brackets for all others that read as angle ones."""
    without_signs = text.translate(_ROUND)
    # A model reads "&lt;" as the bracket that it stands for.
    return _ENTITY.sub("(", without_signs)


def fenced_texts(prompt: str) -> dict[str, str]:
    """Return the texts between the fences of a prompt by name; a line break joins two of a name."""
    texts: dict[str, str] = {}
    for block in _BLOCK.finditer(prompt):
        name = block[1]
        body = block[2]
        texts[name] = f"{texts[name]}\n{body}" if name in texts else body
    return texts
