"""The lines of a transcript as the memory shows them to a model, read back. Pure.

`[20:14] P3: text`, `[20:14] P3 (to the bot): text`, `[20:15] * P4: P4 subscribed …`, `[20:15] KEKW ×37, 30 people`.
"""

import re
from dataclasses import dataclass

_LINE = re.compile(r"\A\s*\[[^\]]{1,20}\]\s*(?P<rest>.+?)\s*\Z")
_SAID = re.compile(r"\A(?P<who>P\d+|BOT)(?P<role>\s*\([^)]*\))?:\s*(?P<text>.*)\Z")
_BURST = re.compile(r"\A(?P<what>.+?)\s*[×x](?P<times>\d+)(?:\s*[,(]\s*(?P<people>\d+)\s+(?:people|person)\)?)?\Z")


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody said something. `who` is a handle."""

    who: str
    text: str
    to_bot: bool = False


@dataclass(frozen=True, slots=True)
class Happened:
    """Twitch's own sentence about a sub, a raid, a gift."""

    text: str


@dataclass(frozen=True, slots=True)
class Burst:
    """The same few words from many."""

    what: str
    times: int
    people: int


Entry = Said | Happened | Burst


def read(text: str) -> list[Entry]:
    """All lines of a transcript in the text, in order; the bot's own and whatever else is there are left out."""
    found = (_LINE.match(line) for line in text.splitlines())
    return [entry for line in found if line and (entry := _entry(line["rest"]))]


def _entry(rest: str) -> Entry | None:
    if rest.startswith("* "):
        return Happened(rest[2:].strip())
    if said := _SAID.match(rest):
        if said["who"] == "BOT":
            return None
        return Said(said["who"], said["text"], "to the bot" in (said["role"] or ""))
    if burst := _BURST.match(rest):
        times = int(burst["times"])
        return Burst(burst["what"].strip(' "'), times, int(burst["people"] or times))
    return None
