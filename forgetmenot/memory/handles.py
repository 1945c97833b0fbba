"""Handles (P1, P2, …) that stand for people in a call that writes memory. Pure.

- `hide_chat` leaves no name of a known viewer in a text.
- Typing a handle gives nobody one.
- An answer with an unknown handle is not mapped.

Handles are valid for one call.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from forgetmenot.memory.active_viewers import ORDINARY
from forgetmenot.text.clean import clean, skeleton, unleet
from forgetmenot.text.mentions import MENTION, defang, mention

SOMEBODY = "someone"
BOT = "BOT"
_HANDLE = re.compile(r"(?<!\w)P(\d{1,4})(?!\w)")
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"  # they sit on a letter and end no word
_WORD = re.compile(rf"\w[\w{_MARKS}]*")
_NAME = re.compile(r"[@＠]?\w+")
_TYPED = re.compile(rf"[@＠]?\w[\w{_MARKS}]*")
_LIKE_A_HANDLE = re.compile(r"p\d+")
_SHORTEST_WORD = 3


@dataclass(frozen=True, slots=True)
class Handles:
    """The handles of one call. `names` (casefolded) → the id they stand for, or None for somebody not to be named."""

    people: Mapping[str, str]
    names: Mapping[str, str | None] = field(default_factory=dict)
    bot_names: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, people: Sequence[str], names: Mapping[str, str | None] | None = None, bot_names: Iterable[str] = ()
    ) -> "Handles":
        """Assign P1, P2, … to these ids, in this order."""
        unique = dict.fromkeys(people)
        return cls(
            {viewer_id: f"P{number}" for number, viewer_id in enumerate(unique, 1)},
            {name.casefold(): who for name, who in (names or {}).items()},
            frozenset(name.casefold() for name in bot_names),
        )

    def handle(self, viewer_id: str) -> str:
        """Somebody's handle; "someone" for who has none."""
        return self.people.get(viewer_id, SOMEBODY)

    def hide(self, text: str) -> str:
        """A stored text with handles in the place of mentions."""
        pieces = enumerate(MENTION.split(text))  # every second one is the id of a mention
        return "".join(self.handle(piece) if at % 2 else unhandled(piece) for at, piece in pieces)

    def hide_chat(self, text: str) -> str:
        """What somebody typed, on one line, with handles in the place of names; an unknown @name is "@someone"."""
        return _TYPED.sub(self._hidden, defang(clean(text)))

    def _hidden(self, found: re.Match[str]) -> str:
        typed = found[0]
        name = typed.lstrip("@＠").casefold()
        at = typed[0] in "@＠"
        if name in self.bot_names and (at or name not in ORDINARY):
            return BOT
        if name in self.names and (at or _may_be_a_word(name)):
            who = self.names[name]
            return SOMEBODY if who is None else self.handle(who)
        return f"@{SOMEBODY}" if at else _unforged(typed)

    def ids(self, text: str) -> str | None:
        """An answer with mentions in the place of handles; None if it has a handle that was not given out."""
        by_handle = {handle: viewer_id for viewer_id, handle in self.people.items()}
        # a model may write a mention by itself; only a handle that was given out becomes one
        safe = defang(text)
        if any(found[0] not in by_handle for found in _HANDLE.finditer(safe)):
            return None
        return _HANDLE.sub(lambda found: mention(by_handle[found[0]]), safe)


def unhandled(text: str) -> str:
    """Foreign text in which nothing reads as a handle: "P3" and "p3" become "P-3" and "p-3", "BOT" and "B0T" "bot"."""
    return _WORD.sub(lambda found: _unforged(found[0]), text)


def _unforged(word: str) -> str:
    """A word as it is, unless it looks like a handle, in whatever letters."""
    looks = skeleton(word)
    if _LIKE_A_HANDLE.fullmatch(looks):
        # isnumeric, because a full-width or circled digit looks like a handle's too
        digits = next(at for at, char in enumerate(word) if char.isnumeric())
        return f"{word[:digits]}-{word[digits:]}"
    return "bot" if unleet(looks) == "bot" else word


def _may_be_a_word(name: str) -> bool:
    """Whether a name counts without an @: not "king" or "ok", which are words before they are names."""
    return len(name) >= _SHORTEST_WORD and name not in ORDINARY and not name.isdigit()


def without_names(text: str, names: Collection[str]) -> str:
    """The text with "someone" in the place of these names (casefolded); one that is a word first counts behind an @."""

    def shown(found: re.Match[str]) -> str:
        name = found[0].lstrip("@＠").casefold()
        return SOMEBODY if name in names and (found[0][0] in "@＠" or _may_be_a_word(name)) else found[0]

    return _TYPED.sub(shown, text) if names else text


def names_typed(texts: Iterable[str]) -> set[str]:
    """Every word (casefolded) in these texts that could be somebody's name."""
    return {found.lstrip("@＠").casefold() for text in texts for found in _NAME.findall(clean(text))}
