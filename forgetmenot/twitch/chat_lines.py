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
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Struct, field

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

    def tag(self, name: str) -> str:
        """Return the value of a tag; "" if the line has none of that name."""
        return self.tags.get(name, "")


def parse(line: str) -> IrcLine:
    """Return the parts of one line, with or without its line end.

    A line without a command has an empty one.
    """
    text = line
    # Half a character is no text, and a database would refuse it.
    if not line.isascii():
        text = line.encode("utf-8", "replace").decode()
    # No line of IRC may have a NUL, at which a database would end a text.
    text = text.replace("\0", "")
    rest = text.rstrip("\r\n").lstrip(" ")
    tags, rest = _marked_word("@", rest)
    prefix, rest = _marked_word(":", rest)
    # The last parameter may have spaces: it begins with a colon, which may also be the first sign.
    before_last, colon, last = f" {rest}".partition(" :")
    words = before_last.split()
    command = words[0].upper() if words else ""
    params = words[1:]
    if colon:
        params.append(last)
    return IrcLine(command, tuple(params), _tags(tags), _nick(prefix))


def _marked_word(mark: str, rest: str) -> tuple[str, str]:
    """Return the first word without its mark, and what is behind it; "" if it has another mark."""
    if not rest.startswith(mark):
        return "", rest
    word, _, behind = rest[1:].partition(" ")
    return word, behind.lstrip(" ")


def _tags(text: str) -> dict[str, str]:
    tags = {}
    for part in text.split(";"):
        # At the first "=" only: a value may have more of them.
        key, _, value = part.partition("=")
        if key:
            tags[key] = _ESCAPED.sub(_unescaped, value)
    return tags


def _unescaped(match: re.Match[str]) -> str:
    sign = match[1]
    return _ESCAPES.get(sign, sign)


def _nick(prefix: str) -> str:
    name, _, user_at_host = prefix.partition("!")
    user, _, _ = user_at_host.partition("@")
    nick = name or user
    return nick.lower()


# Twitch lets nobody say more. What claims to be longer is cut, so that reading it ends.
MAX_TEXT = 500
_MAX_DIGITS = 15
# Characters of a name; Twitch's have 25.
_MAX_NAME = 100

_ME = "\x01ACTION "
_COLOR = re.compile("#[0-9A-Fa-f]{6}")
# Of any other notice Twitch's own sentence says what it is.
_NOTICE_KINDS = {
    "announcement": EventKind.ANNOUNCEMENT,
    "raid": EventKind.RAID,
    "sub": EventKind.SUB,
    "resub": EventKind.SUB,
    "primepaidupgrade": EventKind.SUB,
    "giftpaidupgrade": EventKind.SUB,
    "anongiftpaidupgrade": EventKind.SUB,
    "subgift": EventKind.GIFT,
    "anonsubgift": EventKind.GIFT,
    "submysterygift": EventKind.GIFT,
    "anonsubmysterygift": EventKind.GIFT,
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
    # An empty line is nothing; a line of tags alone is half of one.
    if not line.command and not line.tags:
        return OtherLine("")
    if not _is_command(line.command):
        return Unparsed()
    read = _READERS.get(line.command)
    if read is None:
        return OtherLine(line.command)
    line_room = line.params[0] if line.params else ""
    if not line_room.startswith("#"):
        return Unparsed()
    is_of_room = room is None or line_room.lower() == f"#{room.lower()}"
    if not is_of_room or _is_shared_from_elsewhere(line):
        return OtherRoom()
    return read(line, now)


def _is_command(command: str) -> bool:
    if not command.isascii():
        return False
    return command.isalpha() or (command.isdigit() and len(command) == 3)


def _is_shared_from_elsewhere(line: IrcLine) -> bool:
    """Return whether a line of a shared chat was said in another channel.

    Twitch sends it to all channels that share the chat, with the one it was said in.
    """
    source = line.tag("source-room-id")
    own = line.tag("room-id")
    return source not in {"", own}


def _sent_at(line: IrcLine, now: int) -> int:
    sent_at = number(line.tag("tmi-sent-ts"))
    return sent_at or now


def _second_param(line: IrcLine) -> str:
    return line.params[1] if len(line.params) > 1 else ""


def _message(line: IrcLine, now: int) -> ChatItem:
    if len(line.params) < 2:
        return Unparsed()
    # A recording shows that the line was deleted later.
    if line.tag("rm-deleted") == "1":
        return OtherLine("DELETED")
    text = line.params[-1]
    kind = EventKind.MESSAGE
    if text.startswith(_ME):
        text = text.removeprefix(_ME).removesuffix("\x01")
        kind = EventKind.ME
    # Whoever cheers in a /me has cheered.
    bits = number(line.tag("bits"))
    if bits:
        kind = EventKind.CHEER
    return _event(line, kind, line.nick, text, now)


def _notice(line: IrcLine, now: int) -> ChatItem:
    notice = line.tag("msg-id")
    kind = _NOTICE_KINDS.get(notice, EventKind.NOTICE)
    # Its prefix is Twitch's own server: the person stands in a tag.
    login = line.tag("login").lower()
    text = _second_param(line)
    return _event(line, kind, login, text, now)


def _clearing(line: IrcLine, now: int) -> Redaction:
    sent_at = _sent_at(line, now)
    login = _second_param(line).lower()
    user_id = line.tag("target-user-id") or _provisional(login)
    # Without a person the whole chat is cleared.
    if not user_id:
        return Redaction(sent_at)
    # A timeout has a duration, a ban has none.
    duration = line.tag("ban-duration")
    duration_s = number(duration) if duration else None
    return Redaction(sent_at, user_id=user_id, duration_s=duration_s)


def _deletion(line: IrcLine, now: int) -> ChatItem:
    event_id = line.tag("target-msg-id")
    if not event_id:
        return Unparsed()
    return Redaction(_sent_at(line, now), event_id=event_id)


def _room_state(line: IrcLine, _now: int) -> RoomState:
    slow_s = None
    if "slow" in line.tags:
        slow_s = number(line.tag("slow"))
    followers_only = None
    if "followers-only" in line.tags:
        # Minutes that somebody must have followed for: 0 is any follower, and -1 is off.
        minutes = line.tag("followers-only")
        followers_only = not minutes.startswith("-")
    return RoomState(
        room_id=line.tag("room-id"),
        emote_only=_is_on(line, "emote-only"),
        slow_s=slow_s,
        followers_only=followers_only,
        subscribers_only=_is_on(line, "subs-only"),
    )


def _is_on(line: IrcLine, mode: str) -> bool | None:
    """Return whether a mode is on; None if the line does not mention it."""
    if mode not in line.tags:
        return None
    return line.tag(mode) == "1"


# The commands that are read; any other line is part of the protocol.
_READERS: Mapping[str, Callable[[IrcLine, int], ChatItem]] = {
    "PRIVMSG": _message,
    "USERNOTICE": _notice,
    "CLEARCHAT": _clearing,
    "CLEARMSG": _deletion,
    "ROOMSTATE": _room_state,
}


def _event(
    line: IrcLine,
    kind: EventKind,
    login: str,
    text: str,
    now: int,
) -> ChatItem:
    user_id = line.tag("user-id") or _provisional(login)
    if not is_viewer_id(user_id):
        return Unparsed()
    # The accounts that Twitch names for everybody who gives or cheers anonymously: as viewers they
    # would be one person made of many.
    if is_anonymous(user_id, login):
        return OtherLine("ANONYMOUS")
    display_name = defang(line.tag("display-name").strip()) or login
    system_text = line.tag("system-msg").strip()
    return ChatEvent(
        id=line.tag("id") or _made_id(line, now),
        kind=kind,
        user_id=user_id,
        login=login[:_MAX_NAME],
        display_name=display_name[:_MAX_NAME],
        text=safe_text(text),
        at=_sent_at(line, now),
        room_id=line.tag("room-id"),
        badges=badges(line.tag("badges")),
        reply_to=_reply_to(line),
        system_text=safe_text(system_text),
        emote_only=line.tag("emote-only") == "1",
        color=name_color(line.tag("color")),
        sub_months=_sub_months(line.tag("badge-info")),
        watch_streak=_watch_streak(line),
    )


def _sub_months(badge_info: str) -> int:
    """Return the months of `subscriber/14`; 0 if it has none."""
    for badge in badge_info.split(","):
        name, _, months = badge.partition("/")
        if name in {"subscriber", "founder"}:
            return number(months)
    return 0


def _watch_streak(line: IrcLine) -> int:
    """Return the number of streams that Twitch announces as a watch streak; 0 if none."""
    if line.tag("msg-param-category") != "watch-streak":
        return 0
    return number(line.tag("msg-param-value"))


def _made_id(line: IrcLine, now: int) -> str:
    """Return an id for a line without one: the same line at the same time has the same."""
    sent_at = line.tag("tmi-sent-ts") or str(now)
    content = (
        sent_at,
        line.command,
        line.nick,
        line.tag("user-id"),
        line.tag("msg-id"),
        *line.params,
    )
    encoded = "\0".join(content).encode("utf-8", "surrogatepass")
    return f"made-{blake2b(encoded, digest_size=12).hexdigest()}"


def _reply_to(line: IrcLine) -> ReplyTo | None:
    """Return the message that a line answers; None if it answers none."""
    parent_id = line.tag("reply-parent-msg-id")
    if not parent_id:
        return None
    login = line.tag("reply-parent-user-login").strip().lower()
    user_id = line.tag("reply-parent-user-id") or _provisional(login)
    if not is_viewer_id(user_id):
        user_id = ""
    text = line.tag("reply-parent-msg-body")
    return ReplyTo(parent_id, user_id, login, safe_text(text))


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
    # `int` takes long over thousands of digits.
    if len(value) > _MAX_DIGITS:
        return 0
    # `isdigit` alone takes "²".
    is_number = value.isascii() and value.isdigit()
    return int(value) if is_number else 0
