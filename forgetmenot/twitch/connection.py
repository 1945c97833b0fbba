"""Reads one channel's chat: connects, logs in, joins, listens, and reconnects.

- Each time without chat is reported as a `Gap`.
- TwitchRefused is raised if the channel does not exist at the first join; later that is taken for a temporary problem.
- With a log-in that chat does not accept it listens anonymously until `login` gives another one.
- With an account that is banned it listens anonymously too, and joins with it again every UNBAN_LOOKED_FOR_EVERY.
- Twitch does not resend missed lines, so none comes twice.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from enum import StrEnum
from random import Random

import aiohttp
from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import ChatEvent, Redaction
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.errors import TwitchError, TwitchLoginNeeded, TwitchRefused, TwitchUnavailable
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.network import proxy_for, trusted
from forgetmenot.secret_store import Token
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.chat_lines import (
    ChatItem,
    IrcLine,
    OtherRoom,
    RoomState,
    Unparsed,
    badges,
    parse,
    understand,
)
from forgetmenot.twitch.errors import translated

Socket = aiohttp.ClientWebSocketResponse[bool]

# A connection can die without a sign (a pulled cable, a sleeping PC): a silent one is pinged, and has half of this.
HEARTBEAT_S = 30.0
_OPEN_WITHIN_S = 20.0
TICK_S = 5.0  # how often a silent connection is looked at
FIRST_PAUSE = 1 * SECOND
LONGEST_PAUSE = 60 * SECOND
STEADY = 30 * SECOND  # a connection that lived this long makes the next pause short again
JOIN_WITHIN_S = 15.0
# Chat does not report that a ban was lifted. Joining again costs a gap of a second.
UNBAN_LOOKED_FOR_EVERY = 10 * MINUTE

_LOGIN_REFUSED = (
    "login authentication failed",
    "login unsuccessful",
    "improperly formatted auth",
    "invalid nick",
)


class Phase(StrEnum):
    """Phase of the connection."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting"  # for the next attempt


class ConnectionState(Struct, frozen=True):
    """Phase, a sentence about the last problem, and the login ("" is anonymous)."""

    phase: Phase
    error: str = ""
    login: str = ""


class Gap(Struct, frozen=True):
    """Chat between these times (ms) was not heard, and why."""

    from_ms: int
    to_ms: int
    reason: str


class _Rejoin(Exception):
    """The connection is to be made anew, for the reason given."""


class IrcConnection:
    """A channel's chat as a source. `random` spreads pauses.

    `login` is asked at each connecting, with the token that chat refused last, if any. Without one, or where it gives
    none, chat is read anonymously.
    """

    def __init__(
        self,
        *,
        settings: Callable[[], Settings],
        clock: Clock,
        login: Callable[[str], Awaitable[Token | None]] | None = None,
        random: Random | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._login = login
        self._random = random or Random()  # noqa: S311  # spreads reconnections; guards nothing
        self._channel = settings().twitch.channel.lower().lstrip("#")
        self.refused_token = ""  # the access token that chat refused last
        self._refusals = 0  # in a row
        self._login_trouble = ""
        self._reported = ""
        self._attempts = 0
        self._ever_joined = False
        self._sign_in = False
        self._badges_wanted = False
        self._joins_again = False
        self._banned_at: int | None = None
        self._heard_at: int | None = None
        self._joined_at: int | None = None
        self.joined = asyncio.Event()
        self.state = ConnectionState(Phase.CONNECTING)
        self.room_id = ""
        self.own_badges: frozenset[str] | None = None

    async def events(self) -> AsyncGenerator[ChatItem | Gap]:
        """Yield what is heard, in order, and the gaps. Raises TwitchRefused if the channel cannot be joined at all."""
        reason = ""
        async with aiohttp.ClientSession() as session:
            while True:
                self._set(Phase.CONNECTING, reason)
                try:
                    with translated("read the chat"):
                        async with aclosing(self._one_connection(session, reason)) as heard:
                            async for item in heard:
                                yield item
                except _Rejoin as rejoin:
                    reason = str(rejoin)
                except TwitchRefused:
                    raise
                except TwitchError as error:
                    reason = str(error)
                await self._pause(reason)

    @property
    def is_banned(self) -> bool:
        """Whether chat did not let the account in because it is banned, as far as is known."""
        return self._banned_at is not None

    def sign_in(self) -> None:
        """Connect again with a log-in, if chat is read without one: somebody has logged in meanwhile."""
        if self._waits_for_unban():
            return
        self._sign_in = self.state.phase is Phase.CONNECTED and not self.state.login

    def look_at_badges(self) -> None:
        """Join the channel again on the open connection: only then does chat show the account's badges.

        Nothing reports that the account became a moderator.
        """
        self._badges_wanted = self.state.phase is Phase.CONNECTED and bool(self.state.login)

    def _waits_for_unban(self) -> bool:
        if self._banned_at is None:
            return False
        return self._clock.now() - self._banned_at < UNBAN_LOOKED_FOR_EVERY

    async def _one_connection(
        self, session: aiohttp.ClientSession, gap: str
    ) -> AsyncGenerator[ChatItem | Gap]:
        url = self._settings().twitch.irc_url
        self._joined_at = self.own_badges = None
        self._sign_in = False
        self._badges_wanted = False
        self._joins_again = False
        account = await self._account()
        # Twitch lets anybody read chat as "justinfan" with a number, whatever the password
        nick = account.login if account else f"justinfan{self._random.randrange(10_000, 100_000)}"
        password = f"oauth:{account.access}" if account else "SCHMOOPIIE"
        goodbye = aiohttp.ClientWSTimeout(ws_close=1.0)
        proxy, headers = proxy_for(url)
        async with asyncio.timeout(_OPEN_WITHIN_S):
            socket = await session.ws_connect(
                url, timeout=goodbye, heartbeat=HEARTBEAT_S, max_msg_size=1 << 20, proxy=proxy, proxy_headers=headers,
                ssl=trusted(),
            )  # fmt: skip
        try:
            # tags bring ids, badges and times; commands bring clears, timeouts, subs and raids
            await _send(
                socket,
                "CAP REQ :twitch.tv/tags twitch.tv/commands",
                f"PASS {password}",
                f"NICK {nick}",
            )
            loop = asyncio.get_running_loop()
            deadline = loop.time() + JOIN_WITHIN_S
            while True:
                for text in await _lines(socket):
                    line = parse(text)
                    found = self._of_this_room(understand(line, self._channel, self._clock.now()))
                    if unheard := await self._take(socket, line, found, account, gap):
                        yield unheard
                    yield found
                    if self._in_channel():
                        self._heard_at = self._clock.now()
                    self._look_at_own(found, account)
                if not self._in_channel() and loop.time() > deadline:
                    if self._attempts < 2:  # chat may be slow for once
                        raise TwitchUnavailable(reason("chat_closed"))
                    self._cannot_join("chat_no_channel")
                if self._sign_in:
                    self._attempts = 0
                    self._heard_at = self._clock.now()  # nothing was missed so far
                    raise _Rejoin(reason("chat_closed"))
                if self._joins_again and loop.time() > deadline:
                    raise _Rejoin(reason("chat_closed"))
                if self._badges_wanted:
                    self._badges_wanted = False
                    self._joins_again = True
                    deadline = loop.time() + JOIN_WITHIN_S
                    await _send(socket, f"PART #{self._channel}", f"JOIN #{self._channel}")
        finally:
            await socket.close()

    def _in_channel(self) -> bool:
        return self._joined_at is not None

    def _look_at_own(self, item: ChatItem, account: Token | None) -> None:
        """Notice the account's badges and its ban. Raises _Rejoin after a ban, to read on without the account."""
        if isinstance(item, RoomState):
            self._joins_again = False
        if account is None:
            return
        if isinstance(item, ChatEvent) and item.user_id == account.user_id:
            self.own_badges = item.badges
        if isinstance(item, Redaction) and item.user_id == account.user_id:
            is_ban = not item.event_id and item.duration_s is None
            if is_ban:
                self._is_banned_now()

    def _is_banned_now(self) -> None:
        self._banned_at = self._clock.now()
        self._attempts = 0  # chat is there and answers
        raise _Rejoin(reason("chat_closed"))

    async def _account(self) -> Token | None:
        if self._waits_for_unban():
            return None
        if (
            self._refusals > 1
        ):  # a renewed token as well: it is the account; renewed again at the next connecting only
            self._refusals = 1
            return None
        try:
            account = await self._login(self.refused_token) if self._login else None
        except TwitchLoginNeeded as error:
            if self._login_trouble != str(error):
                log.warning("listening anonymously", reason=str(error))
            self._login_trouble = str(error)
            return None
        if account and account.access == self.refused_token:
            return None
        self._login_trouble = ""
        return account

    async def _take(
        self, socket: Socket, line: IrcLine, found: ChatItem, account: Token | None, gap: str
    ) -> Gap | None:
        """Answer the server; the gap that ends with this line, if one does."""
        match line.command:
            case "PING":
                await _send(socket, f"PONG :{line.params[-1] if line.params else ''}")
            case "001":
                await _send(socket, f"JOIN #{self._channel}")
            case "RECONNECT":
                raise _Rejoin(reason("chat_closed"))
            case "NOTICE":
                self._notice(line, account)
            case "USERSTATE":
                self.own_badges = badges(line.tags.get("badges", ""))
        return self._joined(found.room_id, account, gap) if isinstance(found, RoomState) else None

    def _of_this_room(self, item: ChatItem) -> ChatItem:
        """What a line says, where a state of the room is that of the room that was joined.

        Raises TwitchUnavailable if somebody else has the channel's name by now: their chat is none for this memory.
        """
        if not isinstance(item, RoomState):
            return item
        if item.room_id == "":
            return replace(item, room_id=self.room_id) if self._in_channel() else Unparsed()
        if self.room_id in {"", item.room_id}:
            return item
        if not self._in_channel():
            self._cannot_join("chat_no_channel")
        return OtherRoom()

    def _joined(self, room_id: str, account: Token | None, gap: str) -> Gap | None:
        if self._joined_at is not None:
            return None
        now = self._clock.now()
        if account is not None:
            self._refusals = 0
            self._banned_at = None
        self.room_id, self._joined_at, self._ever_joined, self._reported = room_id, now, True, ""
        self.joined.set()
        self._set(Phase.CONNECTED, self._login_trouble, account.login if account else "")
        log.info("joined the channel", signed_in=account is not None, after_attempts=self._attempts)
        last, self._heard_at = self._heard_at, now
        return None if last is None else Gap(last, max(now, last), gap)

    def _notice(self, line: IrcLine, account: Token | None) -> None:
        said, notice = line.params[-1].lower() if line.params else "", line.tags.get("msg-id", "")
        if account is not None and any(said.startswith(words) for words in _LOGIN_REFUSED):
            self.refused_token, self._login_trouble = account.access, reason("chat_without")
            if self._refusals == 0:
                self._attempts = 0  # chat is there and answers: only the token is to be renewed
            self._refusals += 1
            raise TwitchLoginNeeded(reason("chat_without"))
        if self._joined_at is None and notice in (
            "msg_channel_suspended",
            "tos_ban",
            "msg_room_not_found",
        ):
            self._cannot_join("chat_no_channel")
        if account is not None and notice in ("msg_banned", "msg_timedout"):
            self._is_banned_now()

    def _cannot_join(self, code: str) -> None:
        # a channel that was joined before exists, so its notice is taken for a trouble that passes
        kind = TwitchUnavailable if self._ever_joined else TwitchRefused
        raise kind(reason(code, channel=self._channel))

    async def _pause(self, reason: str) -> None:
        if self._joined_at is not None and self._clock.now() - self._joined_at >= STEADY:
            self._attempts = 0
        longest = min(LONGEST_PAUSE, FIRST_PAUSE << min(self._attempts, 10))
        self._attempts += 1
        # spread, so that many bots do not all come back in the same second after an outage
        pause = round(longest * (0.5 + self._random.random() / 2))
        self._set(Phase.WAITING, reason)
        if reason != self._reported:  # once per trouble: an evening without a network is one line
            log.warning(
                "chat is disconnected",
                reason=reason,
                next_attempt_in_ms=pause,
                attempts=self._attempts,
            )
        self._reported = reason
        await self._clock.sleep(pause)

    def _set(self, phase: Phase, error: str, login: str = "") -> None:
        self.state = ConnectionState(phase, error, login)


async def _send(socket: Socket, *lines: str) -> None:
    """Send lines in one frame. Raises aiohttp's errors."""
    await socket.send_str("".join(f"{line}\r\n" for line in lines))


async def _lines(socket: Socket) -> list[str]:
    """The lines of the next frame, or none after a quiet moment. Raises TwitchUnavailable when it is dead."""
    try:
        message = await socket.receive(timeout=TICK_S)
    except TimeoutError:
        return []
    if message.type is aiohttp.WSMsgType.BINARY:
        return []  # no chat, and no reason to hang up
    if message.type is not aiohttp.WSMsgType.TEXT:
        raise TwitchUnavailable(reason("chat_closed"))
    # A lone \r ends nothing: in somebody's message it must not begin a line of its own, with badges of its own.
    return [line for line in str(message.data).replace("\r\n", "\n").split("\n") if line]
