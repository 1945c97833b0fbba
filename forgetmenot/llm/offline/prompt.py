"""What a reply's prompt holds, read back from its fences: the message, its speaker, and every fact.

Pure. Knows the form that prompt/ writes, and copes with any block missing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from forgetmenot.text.fences import fenced

_NOTE = re.compile(
    r"\A\s*(?:(?P<about>[^\[\]:]{1,60}):\s*)?\[(?:id:)?(?P<id>\d+)\]\s*(?P<fact>.*?)(?:\s\((?P<why>[^()]*\bago|[^()]*\btoday)\))?\s*\Z"
)
_PAST = re.compile(r"\A\s*\((?P<when>[^)]*)\)\s*(?P<text>.+)\Z")
_LINE = re.compile(r"\A\s*(?P<who>[^:]{1,60}):\s*(?P<text>.*)\Z")
_CODE = re.compile(r"CODE for an action:\s*(?P<nonce>[A-Za-z0-9_-]{4,64})|\[ACTION:(?P<shown>[A-Za-z0-9_-]{4,64})\s")
_NAME = re.compile(r"\AYou are (?P<name>[^,\n]{1,60}),")
_POSSIBLE = re.compile(r"^- Possible: (?P<actions>.+)$", re.MULTILINE)


class Place(Enum):
    """Where a fact stands in the prompt."""

    SPEAKER = "speaker"
    OTHER = "other"
    CHANNEL = "channel"
    PAST = "past"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing the prompt says. `about`: a name (empty for the speaker and the channel); `when`: its date."""

    text: str
    place: Place
    about: str = ""
    tags: str = ""
    when: str = ""
    hearsay: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """The prompt of one reply. `message` is without the speaker's name; `said_before` are the bot's own last lines."""

    bot: str
    speaker: str
    message: str
    facts: tuple[Fact, ...]
    said_before: tuple[str, ...]
    nonce: str
    actions: str


def read(system: str, prompt: str) -> Seen:
    """Read a prompt. The message is the last line of its block, or of the whole."""
    blocks = fenced(prompt)
    speaker, message = _message(blocks.get("message") or prompt.strip())
    named = _NAME.match(system)
    possible = _POSSIBLE.search(system)
    code = _CODE.search(_outside(prompt)) or _CODE.search(_outside(system))
    return Seen(
        bot=named["name"] if named else "ForgetMeNot",
        speaker=speaker,
        message=message,
        facts=tuple(_facts(blocks)),
        said_before=tuple(blocks.get("bot_replies", "").splitlines()),
        nonce=(code["nonce"] or code["shown"]) if code else "",
        actions=possible["actions"] if possible else "",
    )


def _outside(text: str) -> str:
    """What stands outside the fences: only there a code is ours."""
    return re.sub(r"^<([a-z][a-z0-9_]*)>\n.*?\n</\1>$", "", text, flags=re.DOTALL | re.MULTILINE)


def _message(block: str) -> tuple[str, str]:
    """The speaker, and what they said; lines that the message continues are part of it."""
    lines = [line for line in block.splitlines() if line.strip()]
    last = _LINE.match(lines[-1]) if lines else None
    if not last:
        return "", lines[-1].strip() if lines else ""
    said = [found["text"] for line in lines if (found := _LINE.match(line)) and found["who"] == last["who"]]
    return last["who"].strip(), " ".join(said)


def _facts(blocks: Mapping[str, str]) -> Iterator[Fact]:
    for name, body in blocks.items():
        for line in body.splitlines():
            fact = _fact(name, line)
            if fact:
                yield fact


def _fact(block: str, line: str) -> Fact | None:
    if block in {"episodes", "past_episode"}:
        past = _PAST.match(line)
        return Fact(past["text"], Place.PAST, when=past["when"]) if past else None
    if block == "digest":
        return Fact(line, Place.PAST)
    place = {"lore": Place.SPEAKER, "brief": Place.SPEAKER, "others": Place.OTHER}.get(block, Place.CHANNEL)
    note = _NOTE.match(line) if block in {"lore", "others", "channel_notes", "channel_notes_more"} else None
    if not note:
        return None
    why = note["why"] or ""
    tags = next((part for part in why.split(";") if "tags:" in part), "")
    return Fact(
        note["fact"], place, (note["about"] or "").strip(), tags.partition(":")[2], hearsay="said by others" in why
    )
