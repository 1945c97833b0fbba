"""Parses lines of Twitch chat and classifies them. Pure; takes any input.

No input raises and no input hangs. Every line is exactly one thing: an event, a redaction, a state
of the room, said in another room (`OtherRoom`), part of the protocol or of no interest
(`OtherLine`), or not to be understood (`Unparsed`).

What Twitch leaves out is filled in the same way each time: a line without an id gets one made from
its content, a person without an id is `login:<login>`, and a line without a time was said at `now`.
An id that could not be mentioned makes a line `Unparsed`. A text of more than 500 characters is cut
at a word. A `<@42>` that somebody typed is no mention: it leaves here as `(@42>`.
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
    """One line in its parts.

    `nick` is the name before the `!` of the prefix, or the one behind it if that is empty.
    """

    command: str
    params: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    nick: str = ""


def parse(line: str) -> IrcLine:
    """Return the parts of one line, with or without its line end.

    A line without a command has an empty one.
    """
    # Half a character is no text.
    text = line if line.isascii() else line.encode("utf-8", "replace").decode()
    rest = text.rstrip("\r\n").lstrip(" ")
    tags: dict[str, str] = {}
    nick = ""
    if rest.startswith("@"):
        tag_text, _, rest = rest[1:].partition(" ")
        tags = _tags(tag_text)
        rest = rest.lstrip(" ")
    if rest.startswith(":"):
        prefix, _, rest = rest[1:].partition(" ")
        nick = _nick(prefix)
    words, colon, trailing = (" " + rest).partition(" :")
    parts = words.split()
    command = parts[0].upper() if parts else ""
    params = (*parts[1:], trailing) if colon else tuple(parts[1:])
    return IrcLine(command, params, tags, nick)


def _tags(text: str) -> dict[str, str]:
    tags = {}
    for part in text.split(";"):
        # At the first "=" only: a value may have more of them.
        key, _, value = part.partition("=")
        if key:
            tags[key] = _ESCAPED.sub(_unescaped, value) if "\\" in value else value
    return tags


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[1], match[1])


def _nick(prefix: str) -> str:
    before, bang, behind = prefix.partition("!")
    nick = before if before or not bang else behind.partition("@")[0]
    return nick.lower()


# Twitch lets nobody say more. What claims to be longer is cut, so that reading it ends.
MAX_TEXT = 500
_MAX_DIGITS = 15
# Characters of a name; Twitch's have 25.
_MAX_NAME = 100

_ME = "\x01ACTION "
_COLOR = re.compile("#[0-9A-Fa-f]{6}")
_READ_COMMANDS = frozenset(
    ("PRIVMSG", "USERNOTICE", "CLEARCHAT", "CLEARMSG", "ROOMSTATE")
)
_NOTICE_KINDS = {
    "announcement": EventKind.ANNOUNCEMENT,
    "raid": EventKind.RAID,
    **dict.fromkeys(
        ("sub", "resub", "primepaidupgrade", "giftpaidupgrade", "anongiftpaidupgrade"),
        EventKind.SUB,
    ),
    **dict.fromkeys(
        ("subgift", "anonsubgift", "submysterygift", "anonsubmysterygift"),
        EventKind.GIFT,
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


ChatItem: TypeAlias = (
    ChatEvent | Redaction | RoomState | OtherRoom | Unparsed | OtherLine
)


def understand(
    line: IrcLine,
    room: str | None,
    now: int = 0,
) -> ChatItem:
    """Return what a line is.

    `room` is the channel's login; None takes lines of any channel. `now` (ms) dates undated lines.
    """
    if not _is_command(line.command):
        return Unparsed() if line.command or line.tags else OtherLine("")
    if line.command not in _READ_COMMANDS:
        return OtherLine(line.command)
    if not line.params or not line.params[0].startswith("#"):
        return Unparsed()
    line_room = line.params[0][1:].lower()
    if _is_shared_from_elsewhere(line) or (
        room is not None and line_room != room.lower()
    ):
        return OtherRoom()
    return _item(line, now)


def _item(line: IrcLine, now: int) -> ChatItem:
    match line.command:
        case "PRIVMSG":
            return _message(line, now)
        case "USERNOTICE":
            return _notice(line, now)
        case "CLEARCHAT":
            return _clearing(line, now)
        case "CLEARMSG":
            event_id = line.tags.get("target-msg-id")
            return (
                Redaction(_sent_at(line, now), event_id=event_id)
                if event_id
                else Unparsed()
            )
    return _room_state(line.tags)


def _is_command(command: str) -> bool:
    if not command.isascii():
        return False
    return command.isalpha() or (command.isdigit() and len(command) == 3)


def _is_shared_from_elsewhere(line: IrcLine) -> bool:
    """Return whether a line of a shared chat was said in another channel.

    Twitch sends it to all channels that share the chat, with the one it was said in.
    """
    source = line.tags.get("source-room-id", "")
    return source not in ("", line.tags.get("room-id", ""))


def _sent_at(line: IrcLine, now: int) -> int:
    return number(line.tags.get("tmi-sent-ts", "")) or now


def _second_param(line: IrcLine) -> str:
    return line.params[1] if len(line.params) > 1 else ""


def _clearing(line: IrcLine, now: int) -> Redaction:
    login = _second_param(line).lower()
    user_id = line.tags.get("target-user-id") or _provisional(login) or None
    duration = line.tags.get("ban-duration")
    # Without a person the whole chat is cleared.
    duration_s = number(duration) if duration and user_id else None
    return Redaction(_sent_at(line, now), user_id=user_id, duration_s=duration_s)


def _notice(line: IrcLine, now: int) -> ChatItem:
    kind = _NOTICE_KINDS.get(line.tags.get("msg-id", ""), EventKind.NOTICE)
    login = line.tags.get("login", "").lower()
    return _event(line, kind, login, _second_param(line), now)


def _room_state(tags: Mapping[str, str]) -> RoomState:
    state = RoomState(tags.get("room-id", ""))
    if "emote-only" in tags:
        state = replace(state, emote_only=tags["emote-only"] == "1")
    if "slow" in tags:
        state = replace(state, slow_s=number(tags["slow"]))
    if "followers-only" in tags:
        # Minutes that somebody must have followed for: 0 is any follower, and -1 is off.
        state = replace(
            state, followers_only=not tags["followers-only"].startswith("-")
        )
    if "subs-only" in tags:
        state = replace(state, subscribers_only=tags["subs-only"] == "1")
    return state


def _message(line: IrcLine, now: int) -> ChatItem:
    if len(line.params) < 2:
        return Unparsed()
    # A recording shows that the line was deleted later.
    if line.tags.get("rm-deleted") == "1":
        return OtherLine("DELETED")
    text = line.params[-1]
    kind = EventKind.MESSAGE
    if text.startswith(_ME):
        text = text[len(_ME) :].removesuffix("\x01")
        kind = EventKind.ME
    if number(line.tags.get("bits", "")):
        kind = EventKind.CHEER
    return _event(line, kind, line.nick, text, now)


def _event(
    line: IrcLine,
    kind: EventKind,
    login: str,
    text: str,
    now: int,
) -> ChatItem:
    tags = line.tags
    user_id = tags.get("user-id") or _provisional(login)
    if not is_viewer_id(user_id):
        return Unparsed()
    if is_anonymous(user_id, login):
        return OtherLine("ANONYMOUS")
    display_name = defang(tags.get("display-name", "").strip()) or login
    return ChatEvent(
        id=tags.get("id") or _made_id(line, now),
        kind=kind,
        user_id=user_id,
        login=login[:_MAX_NAME],
        display_name=display_name[:_MAX_NAME],
        text=safe_text(text),
        at=_sent_at(line, now),
        room_id=tags.get("room-id", ""),
        badges=badges(tags.get("badges", "")),
        reply_to=_reply_to(tags),
        system_text=safe_text(tags.get("system-msg", "").strip()),
        emote_only=tags.get("emote-only") == "1",
        color=name_color(tags.get("color", "")),
        sub_months=_sub_months(tags.get("badge-info", "")),
        watch_streak=_watch_streak(tags),
    )


def _sub_months(badge_info: str) -> int:
    """Return the months of `subscriber/14`; 0 if it has none."""
    for badge in badge_info.split(","):
        name, _, months = badge.partition("/")
        if name in {"subscriber", "founder"}:
            return number(months)
    return 0


def _watch_streak(tags: Mapping[str, str]) -> int:
    """Return the number of streams that Twitch announces as a watch streak; 0 if none."""
    if tags.get("msg-param-category") != "watch-streak":
        return 0
    return number(tags.get("msg-param-value", ""))


def _made_id(line: IrcLine, now: int) -> str:
    """Return an id for a line without one: the same line at the same time has the same."""
    content = (
        line.tags.get("tmi-sent-ts") or str(now),
        line.command,
        line.nick,
        line.tags.get("user-id", ""),
        line.tags.get("msg-id", ""),
        *line.params,
    )
    encoded = "\0".join(content).encode("utf-8", "surrogatepass")
    return f"made-{blake2b(encoded, digest_size=12).hexdigest()}"


def _reply_to(tags: Mapping[str, str]) -> ReplyTo | None:
    """Return the message that a line answers; None if it answers none."""
    parent_id = tags.get("reply-parent-msg-id")
    if not parent_id:
        return None
    login = tags.get("reply-parent-user-login", "").strip().lower()
    user_id = tags.get("reply-parent-user-id") or _provisional(login)
    text = safe_text(tags.get("reply-parent-msg-body", ""))
    return ReplyTo(parent_id, user_id if is_viewer_id(user_id) else "", login, text)


def name_color(value: str) -> str:
    """Return a colour that Twitch wrote as #rrggbb in small letters; "" for anything else."""
    return value.lower() if _COLOR.fullmatch(value) else ""


def safe_text(text: str) -> str:
    """Return typed text, cut to 500 characters and without mentions by id."""
    return cut(defang(text), MAX_TEXT)


def _provisional(login: str) -> str:
    return provisional_id(login) if login else ""


def badges(value: str) -> frozenset[str]:
    """Return the names of `moderator/1,subscriber/12`, without their versions."""
    names = set()
    for badge in value.split(","):
        name, _, _ = badge.partition("/")
        names.add(name.strip())
    return frozenset(names - {""})


def number(value: str) -> int:
    """Return a whole number that Twitch wrote; 0 for anything else."""
    # `int` takes long over thousands of digits, and `isdigit` alone takes "²".
    is_number = value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS
    return int(value) if is_number else 0
