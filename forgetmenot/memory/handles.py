"""Handles: what people are called in one call that writes memory (P1, P2, …), there and back. Pure.

Promises that no name of somebody known leaves in a text that went through `hide_chat`, that nobody gets a handle by
typing one, and that an answer with a handle that was not given out is not mapped. Handles mean nothing after the call.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from forgetmenot.memory.people import ORDINARY
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import MENTION, defang, mention

SOMEBODY = "someone"
BOT = "BOT"
_HANDLE = re.compile(r"(?<!\w)P(\d{1,4})(?!\w)")
_FORGED = re.compile(r"(?<!\w)(P)(?=\d+(?!\w))|(?<!\w)(BOT)(?!\w)")
_NAME = re.compile(r"[@＠]?\w+")
_SHORTEST_WORD = 3


@dataclass(frozen=True, slots=True)
class Handles:
    """The handles of one call. `names` (casefolded) → the id they stand for, or None for somebody not to be named."""

    people: Mapping[str, str]
    names: Mapping[str, str | None] = field(default_factory=dict)
    bot_names: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        people: Sequence[str],
        names: Mapping[str, str | None] | None = None,
        bot_names: Iterable[str] = (),
    ) -> "Handles":
        """Give out P1, P2, … to these ids, in this order."""
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
        return MENTION.sub(lambda found: self.handle(found[1]), unhandled(text))

    def hide_chat(self, text: str) -> str:
        """What somebody typed, on one line, with handles in the place of names; an unknown @name is "@someone"."""
        return _NAME.sub(self._hidden, unhandled(defang(clean(text))))

    def _hidden(self, found: re.Match[str]) -> str:
        typed = found[0]
        name = typed.lstrip("@＠").casefold()
        at = typed[0] in "@＠"
        if name in self.bot_names and (at or name not in ORDINARY):
            return BOT
        if name in self.names and (at or _may_be_a_word(name)):
            who = self.names[name]
            return SOMEBODY if who is None else self.handle(who)
        return f"@{SOMEBODY}" if at else typed

    def ids(self, text: str) -> str | None:
        """An answer with mentions in the place of handles; None if it has a handle that was not given out."""
        by_handle = {handle: viewer_id for viewer_id, handle in self.people.items()}
        safe = defang(text)
        if any(found[0] not in by_handle for found in _HANDLE.finditer(safe)):
            return None
        return _HANDLE.sub(lambda found: mention(by_handle[found[0]]), safe)


def unhandled(text: str) -> str:
    """Foreign text in which nothing reads as a handle: "P3" becomes "P-3", "BOT" "bot"."""
    return _FORGED.sub(lambda found: "P-" if found[1] else "bot", text)


def _may_be_a_word(name: str) -> bool:
    """Whether a name counts without an @: not "king" or "ok", which are words before they are names."""
    return len(name) >= _SHORTEST_WORD and name not in ORDINARY and not name.isdigit()


def names_typed(texts: Iterable[str]) -> set[str]:
    """Every word (casefolded) in these texts that could be somebody's name."""
    return {found.lstrip("@＠").casefold() for text in texts for found in _NAME.findall(clean(text))}
