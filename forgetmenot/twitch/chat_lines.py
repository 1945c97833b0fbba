"""Parses lines of Twitch chat and classifies them. Pure; takes any input.

No input raises and no input hangs. Every line is exactly one thing: an event, a redaction, a state of the room, said
in another room (`OtherRoom`), part of the protocol or of no interest (`OtherLine`), or not to be understood
(`Unparsed`).

What Twitch leaves out is filled in the same way each time: a line without an id gets one made from its content, a
person without an id is `login:<login>`, and a line without a time was said at `now`. An id that is none (it could not
be mentioned) makes a line `Unparsed`; a text of more than 500 characters is cut at a word. A `<@42>` that somebody
typed is no mention: it leaves here as `(@42>`.
"""

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from forgetmenot.domain import ChatEvent, EventKind, Redaction, ReplyTo
from forgetmenot.text.clean import cut
from forgetmenot.text.mentions import defang, is_anonymous, is_viewer_id, provisional_id

# In a tag, what a backslash and a letter stand for; a lone backslash at the end is dropped.
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPES = {":": ";", "s": " ", "\\": "\\", "r": "\r", "n": "\n"}


class IrcLine(Struct, frozen=True):
    """One line in its parts. `nick` is the name before the `!` of the prefix, or the one after it if that is empty."""

    command: str
    params: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    nick: str = ""


def parse(line: str) -> IrcLine:
    """The parts of one line, with or without its line end. A line without a command has an empty one."""
    whole = (
        line if line.isascii() else line.encode("utf-8", "replace").decode()
    )  # half a character is no text
    rest = whole.rstrip("\r\n").lstrip(" ")
    tags: dict[str, str] = {}
    nick = ""
    if rest.startswith("@"):
        raw, _, rest = rest[1:].partition(" ")
        # at the first "=" only: a value may have more of them
        pairs = (part.partition("=") for part in raw.split(";"))
        tags = {
            key: _ESCAPED.sub(lambda it: _ESCAPES.get(it[1], it[1]), value)
            if "\\" in value
            else value
            for key, _, value in pairs
            if key
        }
        rest = rest.lstrip(" ")
    if rest.startswith(":"):
        prefix, _, rest = rest[1:].partition(" ")
        before, bang, after = prefix.partition("!")
        nick = (before if before or not bang else after.partition("@")[0]).lower()
    words, colon, trailing = (" " + rest).partition(" :")
    head = words.split()
    params = (*head[1:], trailing) if colon else tuple(head[1:])
    return IrcLine(head[0].upper() if head else "", params, tags, nick)


# Twitch lets nobody say more; what claims to be longer is cut, so that nothing after this reads without end.
MOST_CHARACTERS = 500
# Characters of a name; Twitch's have 25.
LONGEST_NAME = 100

_ME = "\x01ACTION "
_COLOR = re.compile("#[0-9A-Fa-f]{6}")
_READ = frozenset(("PRIVMSG", "USERNOTICE", "CLEARCHAT", "CLEARMSG", "ROOMSTATE"))
_NOTICE_KINDS = {
    "announcement": EventKind.ANNOUNCEMENT,
    "raid": EventKind.RAID,
    **dict.fromkeys(
        ("sub", "resub", "primepaidupgrade", "giftpaidupgrade", "anongiftpaidupgrade"),
        EventKind.SUB,
    ),
    **dict.fromkeys(
        ("subgift", "anonsubgift", "submysterygift", "anonsubmysterygift"), EventKind.GIFT
    ),
}


class RoomState(Struct, frozen=True):
    """The room's settings; a field that the line did not mention is None."""

    room_id: str
    emote_only: bool | None = None
    slow_s: int | None = None
    followers_only: bool | None = None
    subscribers_only: bool | None = None


class OtherRoom(Struct, frozen=True):
    """Said in another channel: a partner's in a shared chat, or one that we did not ask for."""


class Unparsed(Struct, frozen=True):
    """Not a line of chat as Twitch writes it."""


class OtherLine(Struct, frozen=True):
    """A valid line that is nothing for the memory."""

    command: str


ChatItem: TypeAlias = ChatEvent | Redaction | RoomState | OtherRoom | Unparsed | OtherLine


def understand(line: IrcLine, room: str | None, now: int = 0) -> ChatItem:
    """Classify a line. `room` is the channel's login; None takes lines of any channel. `now` dates undated lines."""
    command = line.command
    if not (command.isascii() and (command.isalpha() or (command.isdigit() and len(command) == 3))):
        return Unparsed() if line.command or line.tags else OtherLine("")
    if command not in _READ:
        return OtherLine(command)
    if not line.params or not line.params[0].startswith("#"):
        return Unparsed()
    source, here = line.tags.get("source-room-id", ""), line.tags.get("room-id", "")
    # in a shared chat Twitch sends each line to all channels that share it, with the one it was said in
    if (source and source != here) or (
        room is not None and line.params[0][1:].lower() != room.lower()
    ):
        return OtherRoom()
    return _meaning(line, now)


def _meaning(line: IrcLine, now: int) -> ChatItem:
    tags, params = line.tags, line.params
    at = number(tags.get("tmi-sent-ts", "")) or now
    match line.command:
        case "PRIVMSG":
            return _said(line, now)
        case "USERNOTICE":
            kind = _NOTICE_KINDS.get(tags.get("msg-id", ""), EventKind.NOTICE)
            return _event(
                line, kind, tags.get("login", "").lower(), params[1] if len(params) > 1 else "", now
            )
        case "CLEARCHAT":
            login = params[1].lower() if len(params) > 1 else ""
            user_id = tags.get("target-user-id") or _provisional(login) or None
            duration = tags.get("ban-duration")
            return Redaction(
                at, user_id=user_id, duration_s=number(duration) if duration and user_id else None
            )
        case "CLEARMSG":
            target = tags.get("target-msg-id")
            return Redaction(at, event_id=target) if target else Unparsed()
    return _room_state(tags)


def _room_state(tags: Mapping[str, str]) -> RoomState:
    state = RoomState(tags.get("room-id", ""))
    if "emote-only" in tags:
        state = replace(state, emote_only=tags["emote-only"] == "1")
    if "slow" in tags:
        state = replace(state, slow_s=number(tags["slow"]))
    if "followers-only" in tags:
        # minutes that somebody must have followed for: 0 is any follower, and -1 is off
        state = replace(state, followers_only=not tags["followers-only"].startswith("-"))
    if "subs-only" in tags:
        state = replace(state, subscribers_only=tags["subs-only"] == "1")
    return state


def _said(line: IrcLine, now: int) -> ChatItem:
    if len(line.params) < 2:
        return Unparsed()
    if line.tags.get("rm-deleted") == "1":  # a recording knows that it was deleted later
        return OtherLine("DELETED")
    text, kind = line.params[-1], EventKind.MESSAGE
    if text.startswith(_ME):
        text, kind = text[len(_ME) :].removesuffix("\x01"), EventKind.ME
    if number(line.tags.get("bits", "")):
        kind = EventKind.CHEER
    return _event(line, kind, line.nick, text, now)


def _event(line: IrcLine, kind: EventKind, login: str, text: str, now: int) -> ChatItem:
    tags = line.tags
    user_id = tags.get("user-id") or _provisional(login)
    if not is_viewer_id(user_id):
        return Unparsed()
    if is_anonymous(user_id, login):
        return OtherLine("ANONYMOUS")
    event_id, reply_to = tags.get("id"), None
    if not event_id:  # the same line at the same time gets the same one
        sent, person = tags.get("tmi-sent-ts") or str(now), tags.get("user-id", "")
        content = "\0".join(
            (sent, line.command, line.nick, person, tags.get("msg-id", ""), *line.params)
        )
        event_id = (
            f"made-{blake2b(content.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"
        )
    if parent := tags.get("reply-parent-msg-id"):
        author = tags.get("reply-parent-user-login", "").strip().lower()
        author_id = tags.get("reply-parent-user-id") or _provisional(author)
        before = safe_text(tags.get("reply-parent-msg-body", ""))
        reply_to = ReplyTo(parent, author_id if is_viewer_id(author_id) else "", author, before)
    return ChatEvent(
        id=event_id,
        kind=kind,
        user_id=user_id,
        login=login[:LONGEST_NAME],
        display_name=(defang(tags.get("display-name", "").strip()) or login)[:LONGEST_NAME],
        text=safe_text(text),
        at=number(tags.get("tmi-sent-ts", "")) or now,
        room_id=tags.get("room-id", ""),
        badges=badges(tags.get("badges", "")),
        reply_to=reply_to,
        system_text=safe_text(tags.get("system-msg", "").strip()),
        emote_only=tags.get("emote-only") == "1",
        color=name_color(tags.get("color", "")),
    )


def name_color(value: str) -> str:
    """A colour that Twitch wrote, as #rrggbb in small letters, or "" for anything else."""
    return value.lower() if _COLOR.fullmatch(value) else ""


def safe_text(text: str) -> str:
    """Typed text, cut to 500 characters and without mentions by id."""
    return cut(defang(text), MOST_CHARACTERS)


def _provisional(login: str) -> str:
    return provisional_id(login) if login else ""


def badges(value: str) -> frozenset[str]:
    """The names of `moderator/1,subscriber/12`, without their versions."""
    return frozenset(name for part in value.split(",") if (name := part.partition("/")[0].strip()))


def number(value: str) -> int:
    """A whole number that Twitch wrote, or 0 for anything else."""
    # 15 digits: `int` takes long over thousands of them, and `isdigit` alone takes "²"
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 15 else 0
