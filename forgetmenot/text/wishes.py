"""What a line asks of the memory, in so many words: `!forgetme`, `!remember …`, `@bot forget that …`.

Pure. Promises to recognise a wish by its form alone, before any model is asked, and to leave everything else alone:
"remember that boss?" is talk. Does not know who may wish what.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from forgetmenot.text.clean import clean


class Kind(StrEnum):
    """What is asked for."""

    MEMORY = "memory"
    FORGET_ME = "forgetme"
    OPT_OUT = "optout"
    OPT_IN = "optin"
    PRIVACY = "privacy"
    REMEMBER = "remember"
    REMEMBER_THIS = "remember this"
    FORGET = "forget"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Wish:
    """One wish. `who` is a name as it was typed, or empty: the speaker. `spoken`: said to the bot, not as a command."""

    kind: Kind
    who: str = ""
    text: str = ""
    confirmed: bool = False
    spoken: bool = False


_BARE = re.compile(r"!(memory|optout|optin|privacy)(?:\s+@?(\w{2,50}))?", re.IGNORECASE)
_PRIVACY = re.compile(r"!privacy\b", re.IGNORECASE)
_FORGET_ME = re.compile(r"!forget\s?me(?:\s+@?(?!confirm\b)(\w{2,50}))?(\s+confirm)?", re.IGNORECASE)
_REMEMBER = re.compile(r"!remember(?:\s+(?:that\s+)?(.+))?", re.IGNORECASE)
_FORGET = re.compile(r"!forget(?:\s+(?:that\s+|about\s+)?(.+))?", re.IGNORECASE)
_WRONG = re.compile(r"!wrong\s+#?(\d{1,12})(\s+undo)?", re.IGNORECASE)
_THIS = re.compile(r"(?:remember\s+)?(?:this|that)\s+(?:about|of|from)\s+@?(\w{2,50})[.!]*", re.IGNORECASE)

_PLEASE = re.compile(
    r"\A(?:(?:hey|hi|ok|okay|please|pls|plz|can you|could you|would you)[,\s]+)+"
    r"|(?<![,\s])[,\s]+(?:please|pls|plz|thanks|thx)\s*[.!?]*\Z",
    re.IGNORECASE,
)
_SPOKEN_REMEMBER = re.compile(r"remember\s*(?:that\s+|:\s*|,\s*)(.+)|remember\s+((?:i|i['’]\w+|my)\s.+)", re.IGNORECASE)
_SPOKEN_FORGET = re.compile(
    r"forget\s+(?:that\s+|about\s+|what\s+you\s+know\s+about\s+)?(.+)|(?:delete|erase)\s+((?:me|everything).*)",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"(?:everything|all|anything)?\s*(?:you\s+(?:know|have|remember)\s*)?(?:about|of|on)?\s*(?:me|myself)[.!]*",
    re.IGNORECASE,
)
_FORGET_ALL = re.compile(rf"!forget\s+(?:about\s+)?(?:everything|all|{_EVERYTHING.pattern})", re.IGNORECASE)
_KNOWS = re.compile(
    r"what\s+do\s+(?:you|u)\s+(?:know|remember|have)\s+(?:about|of|on)\s+@?(\w{2,50})\s*[?.!]*", re.IGNORECASE
)
_TALK = re.compile(
    r"(?:time|times|one|day|night|moment|guy|girl|game|boss|clip|stream|when|it|this|that|him|her|them)\b.{0,3}\Z"
    r"|(?:time|one|day|night|moment)\b",
    re.IGNORECASE,
)


def wish_of(text: str, question: str | None = None) -> Wish | None:
    """The wish in a line, or None. `question`: the line without the bot's name, if it was spoken to."""
    line = clean(text)
    if line.startswith(("!", "！")):
        return _command("!" + line[1:])
    return _spoken(_PLEASE.sub("", clean(question))) if question else None


def _command(line: str) -> Wish | None:
    bare = _PLEASE.sub("", line).rstrip(" .!?")
    if found := _BARE.fullmatch(bare):
        return Wish(Kind(found[1].lower()), who=found[2] or "")
    if _PRIVACY.match(bare):
        return Wish(Kind.PRIVACY)
    if found := _FORGET_ME.fullmatch(bare):
        return Wish(Kind.FORGET_ME, who=found[1] or "", confirmed=bool(found[2]))
    if found := _WRONG.fullmatch(bare):
        return Wish(Kind.WRONG, text=found[1], confirmed=bool(found[2]))
    if found := _REMEMBER.fullmatch(line):
        told = found[1] or ""
        this = _THIS.fullmatch(told) or _THIS.fullmatch(f"that {told}")
        return _remember_this(this) if this else Wish(Kind.REMEMBER, text=told)
    if _FORGET_ALL.fullmatch(bare):
        return Wish(Kind.FORGET_ME)
    found = _FORGET.fullmatch(line)
    return Wish(Kind.FORGET, text=found[1] or "") if found else None


def _remember_this(found: re.Match[str], *, spoken: bool = False) -> Wish:
    return Wish(Kind.REMEMBER_THIS, who=_who(found[1]), spoken=spoken)


def _who(name: str) -> str:
    return "" if name.lower() in {"me", "myself"} else name


def _spoken(said: str) -> Wish | None:
    if found := _KNOWS.fullmatch(said):
        return Wish(Kind.MEMORY, who=_who(found[1]), spoken=True)
    if said.lower().startswith("remember ") and (this := _THIS.fullmatch(said)):
        return _remember_this(this, spoken=True)
    if said.endswith("?"):
        return None
    if found := _SPOKEN_REMEMBER.fullmatch(said):
        told = found[1] or found[2]
        return None if _TALK.match(told) else Wish(Kind.REMEMBER, text=told, spoken=True)
    if found := _SPOKEN_FORGET.fullmatch(said):
        return _spoken_forget(found[1] or found[2])
    return None


def _spoken_forget(what: str) -> Wish | None:
    if _EVERYTHING.fullmatch(what):
        return Wish(Kind.FORGET_ME, spoken=True)
    return None if _TALK.match(what) else Wish(Kind.FORGET, text=what, spoken=True)
