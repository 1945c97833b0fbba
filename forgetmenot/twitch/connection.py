"""Reads one channel's chat: connects, logs in, joins, listens, and reconnects.

- Each time without chat is reported as a `Gap`.
- TwitchRefused is raised if the channel does not exist at the first join. Later that is taken for a
  temporary problem.
- With a log-in that chat does not accept it listens anonymously until `login` returns another one.
- With an account that is banned it listens anonymously too, and joins with it again every
  UNBAN_CHECK_INTERVAL.
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
from forgetmenot.errors import (
    TwitchError,
    TwitchLoginNeeded,
    TwitchRefused,
    TwitchUnavailable,
)
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.network import proxy_for, trusted
from forgetmenot.secret_store import Token
from forgetmenot.settings.schema import Settings
from forgetmenot.text.mentions import login_of
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

# A connection can die without a sign (a pulled cable, a sleeping PC). A silent one is pinged, and
# has half of this to answer.
HEARTBEAT_S = 30.0
_OPEN_WITHIN_S = 20.0
# How often a silent connection is looked at.
TICK_S = 5.0
FIRST_PAUSE = 1 * SECOND
LONGEST_PAUSE = 60 * SECOND
# A connection that lived this long makes the next pause short again.
STEADY = 30 * SECOND
JOIN_WITHIN_S = 15.0
# Chat does not report that a ban was lifted. Joining again costs a gap of a second.
UNBAN_CHECK_INTERVAL = 10 * MINUTE

_MAX_FRAME_BYTES = 1 << 20
# How the notices begin that refuse a log-in.
_LOGIN_REFUSED = (
    "login authentication failed",
    "login unsuccessful",
    "improperly formatted auth",
    "invalid nick",
)


_NO_CHANNEL_NOTICES = ("msg_channel_suspended", "tos_ban", "msg_room_not_found")
_BAN_NOTICES = ("msg_banned", "msg_timedout")


class Phase(StrEnum):
    """Phase of the connection. `WAITING` is for the next attempt."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting"


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

    `login` is called at each connecting, with the token that chat refused last, if any. Without it,
    or if it returns None, chat is read anonymously.
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
        self._channel = login_of(settings().twitch.channel)
        # The access token that chat refused last, and how many in a row it refused.
        self.refused_token = ""
        self._refusals = 0
        self._login_trouble = ""
        self._reported_trouble = ""
        self._attempts = 0
        self._ever_joined = False
        # What is to be done on the open connection: sign in, look at the badges, await the join.
        self._sign_in_wanted = False
        self._badges_wanted = False
        self._joins_again = False
        self._banned_at: int | None = None
        # When the channel was last heard, also over an earlier connection, and when it was joined.
        self._heard_at: int | None = None
        self._joined_at: int | None = None
        self.joined = asyncio.Event()
        self.state = ConnectionState(Phase.CONNECTING)
        self.room_id = ""
        self.own_badges: frozenset[str] | None = None

    async def events(self) -> AsyncGenerator[ChatItem | Gap]:
        """Yield what is heard and the gaps, in order.

        Raises TwitchRefused if the channel cannot be joined at all.
        """
        reason = ""
        async with aiohttp.ClientSession() as session:
            while True:
                self._set(Phase.CONNECTING, reason)
                try:
                    with translated("read the chat"):
                        async with aclosing(
                            self._one_connection(session, reason)
                        ) as items:
                            async for item in items:
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
        """Return whether chat did not let the account in because it is banned, as far as is known."""
        return self._banned_at is not None

    def sign_in(self) -> None:
        """Connect again if chat is read without a log-in: somebody has logged in meanwhile."""
        if self._waits_for_unban():
            return
        self._sign_in_wanted = (
            self.state.phase is Phase.CONNECTED and not self.state.login
        )

    def look_at_badges(self) -> None:
        """Join the channel again on the open connection, so that chat shows the account's badges.

        Nothing reports that the account became a moderator.
        """
        self._badges_wanted = self.state.phase is Phase.CONNECTED and bool(
            self.state.login
        )

    def _waits_for_unban(self) -> bool:
        if self._banned_at is None:
            return False
        return self._clock.now() - self._banned_at < UNBAN_CHECK_INTERVAL

    async def _one_connection(
        self, session: aiohttp.ClientSession, gap_reason: str
    ) -> AsyncGenerator[ChatItem | Gap]:
        """Yield what one connection hears, with the gap before it. Raises when it ends."""
        self._joined_at = None
        self.own_badges = None
        self._sign_in_wanted = False
        self._badges_wanted = False
        self._joins_again = False
        account = await self._account()
        socket = await self._open(session)
        try:
            await self._introduce(socket, account)
            loop = asyncio.get_running_loop()
            join_deadline = loop.time() + JOIN_WITHIN_S
            while True:
                for text in await _lines(socket):
                    line = parse(text)
                    item = self._of_this_room(
                        understand(line, self._channel, self._clock.now())
                    )
                    gap = await self._obey(socket, line, item, account, gap_reason)
                    if gap is not None:
                        yield gap
                    yield item
                    if self._in_channel():
                        self._heard_at = self._clock.now()
                    self._look_at_own(item, account)
                self._check(is_late=loop.time() > join_deadline)
                if self._badges_wanted:
                    self._badges_wanted = False
                    self._joins_again = True
                    join_deadline = loop.time() + JOIN_WITHIN_S
                    await _send(
                        socket, f"PART #{self._channel}", f"JOIN #{self._channel}"
                    )
        finally:
            await socket.close()

    async def _open(self, session: aiohttp.ClientSession) -> Socket:
        url = self._settings().twitch.irc_url
        proxy, proxy_headers = proxy_for(url)
        async with asyncio.timeout(_OPEN_WITHIN_S):
            return await session.ws_connect(
                url,
                timeout=aiohttp.ClientWSTimeout(ws_close=1.0),
                heartbeat=HEARTBEAT_S,
                max_msg_size=_MAX_FRAME_BYTES,
                proxy=proxy,
                proxy_headers=proxy_headers,
                ssl=trusted(),
            )

    async def _introduce(self, socket: Socket, account: Token | None) -> None:
        # Twitch lets anybody read chat as "justinfan" with a number, whatever the password.
        if account is None:
            nick = f"justinfan{self._random.randrange(10_000, 100_000)}"
            password = "SCHMOOPIIE"  # noqa: S105  # any text
        else:
            nick = account.login
            password = f"oauth:{account.access}"
        # Tags bring ids, badges and times; commands bring clears, timeouts, subs and raids.
        await _send(
            socket,
            "CAP REQ :twitch.tv/tags twitch.tv/commands",
            f"PASS {password}",
            f"NICK {nick}",
        )

    def _check(self, *, is_late: bool) -> None:
        """End the connection if it is to be made anew; `is_late`: the join should have been done.

        Raises TwitchError or _Rejoin.
        """
        if is_late and not self._in_channel():
            # Chat may be slow for once.
            if self._attempts < 2:
                raise TwitchUnavailable(reason("chat_closed"))
            self._cannot_join("chat_no_channel")
        if self._sign_in_wanted:
            self._attempts = 0
            # Nothing was missed so far.
            self._heard_at = self._clock.now()
            raise _Rejoin(reason("chat_closed"))
        if is_late and self._joins_again:
            raise _Rejoin(reason("chat_closed"))

    def _in_channel(self) -> bool:
        return self._joined_at is not None

    def _look_at_own(self, item: ChatItem, account: Token | None) -> None:
        """Notice the account's badges and its ban.

        Raises _Rejoin after a ban, to read on without the account.
        """
        if isinstance(item, RoomState):
            self._joins_again = False
        if account is None:
            return
        if isinstance(item, ChatEvent) and item.user_id == account.user_id:
            self.own_badges = item.badges
        if isinstance(item, Redaction) and item.user_id == account.user_id:
            is_ban = not item.event_id and item.duration_s is None
            if is_ban:
                self._rejoin_without_account()

    def _rejoin_without_account(self) -> None:
        self._banned_at = self._clock.now()
        # Chat is there and answers.
        self._attempts = 0
        raise _Rejoin(reason("chat_closed"))

    async def _account(self) -> Token | None:
        if self._waits_for_unban():
            return None
        # A renewed token was refused as well, so it is the account. It is renewed again only at the
        # next connecting.
        if self._refusals > 1:
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

    async def _obey(
        self,
        socket: Socket,
        line: IrcLine,
        item: ChatItem,
        account: Token | None,
        gap_reason: str,
    ) -> Gap | None:
        """Do what a line of the server asks for. Return the gap that ends with this line, if one does.

        Raises _Rejoin if the server wants a new connection.
        """
        match line.command:
            case "PING":
                ping_text = line.params[-1] if line.params else ""
                await _send(socket, f"PONG :{ping_text}")
            # The server's welcome: the log-in is accepted, so a channel can be joined.
            case "001":
                await _send(socket, f"JOIN #{self._channel}")
            case "RECONNECT":
                raise _Rejoin(reason("chat_closed"))
            case "NOTICE":
                self._notice(line, account)
            case "USERSTATE":
                self.own_badges = badges(line.tag("badges"))
        # The first state of the room confirms the join. Later ones report its changed modes.
        if not isinstance(item, RoomState):
            return None
        if self._in_channel():
            return None
        return self._joined(item.room_id, account, gap_reason)

    def _of_this_room(self, item: ChatItem) -> ChatItem:
        """Return an item; OtherRoom for a state of another room than the one that was joined.

        Raises TwitchUnavailable if somebody else has the channel's name by now: their chat is not
        for this memory.
        """
        if not isinstance(item, RoomState):
            return item
        if item.room_id == "":
            return (
                replace(item, room_id=self.room_id)
                if self._in_channel()
                else Unparsed()
            )
        if self.room_id in {"", item.room_id}:
            return item
        if not self._in_channel():
            self._cannot_join("chat_no_channel")
        return OtherRoom()

    def _joined(
        self,
        room_id: str,
        account: Token | None,
        gap_reason: str,
    ) -> Gap | None:
        """Note that the channel is joined. Return the gap before that, if it was heard before."""
        now = self._clock.now()
        if account is not None:
            self._refusals = 0
            self._banned_at = None
        self.room_id = room_id
        self._joined_at = now
        self._ever_joined = True
        self._reported_trouble = ""
        self.joined.set()
        self._set(
            Phase.CONNECTED, self._login_trouble, account.login if account else ""
        )
        log.info(
            "joined the channel",
            signed_in=account is not None,
            after_attempts=self._attempts,
        )
        last_heard_at = self._heard_at
        self._heard_at = now
        if last_heard_at is None:
            return None
        return Gap(last_heard_at, max(now, last_heard_at), gap_reason)

    def _notice(self, line: IrcLine, account: Token | None) -> None:
        """Read why chat does not let the bot in. Raises TwitchError or _Rejoin."""
        text = line.params[-1].lower() if line.params else ""
        notice = line.tag("msg-id")
        if account is not None and text.startswith(_LOGIN_REFUSED):
            self.refused_token = account.access
            self._login_trouble = reason("chat_without")
            # Chat is there and answers: only the token is to be renewed.
            if self._refusals == 0:
                self._attempts = 0
            self._refusals += 1
            raise TwitchLoginNeeded(reason("chat_without"))
        if notice in _NO_CHANNEL_NOTICES and not self._in_channel():
            self._cannot_join("chat_no_channel")
        if notice in _BAN_NOTICES and account is not None:
            self._rejoin_without_account()

    def _cannot_join(self, code: str) -> None:
        # A channel that was joined before exists, so its notice is taken for a trouble that passes.
        kind = TwitchUnavailable if self._ever_joined else TwitchRefused
        raise kind(reason(code, channel=self._channel))

    async def _pause(self, reason: str) -> None:
        if (
            self._joined_at is not None
            and self._clock.now() - self._joined_at >= STEADY
        ):
            self._attempts = 0
        longest_pause = min(LONGEST_PAUSE, FIRST_PAUSE << min(self._attempts, 10))
        self._attempts += 1
        # Spread, so that many bots do not all come back in the same second after an outage.
        pause = round(longest_pause * (0.5 + self._random.random() / 2))
        self._set(Phase.WAITING, reason)
        # Once per trouble: an evening without a network is one line.
        if reason != self._reported_trouble:
            log.warning(
                "chat is disconnected",
                reason=reason,
                next_attempt_in_ms=pause,
                attempts=self._attempts,
            )
        self._reported_trouble = reason
        await self._clock.sleep(pause)

    def _set(
        self,
        phase: Phase,
        error: str,
        login: str = "",
    ) -> None:
        self.state = ConnectionState(phase, error, login)


async def _send(socket: Socket, *lines: str) -> None:
    """Send lines in one frame. Raises aiohttp's errors."""
    await socket.send_str("".join(f"{line}\r\n" for line in lines))


async def _lines(socket: Socket) -> list[str]:
    """Return the lines of the next frame, or none after a quiet moment.

    Raises TwitchUnavailable if the connection is dead.
    """
    try:
        message = await socket.receive(timeout=TICK_S)
    except TimeoutError:
        return []
    # No chat, and no reason to hang up.
    if message.type is aiohttp.WSMsgType.BINARY:
        return []
    if message.type is not aiohttp.WSMsgType.TEXT:
        raise TwitchUnavailable(reason("chat_closed"))
    # A lone \r ends nothing: in somebody's message it must not begin a line with badges of its own.
    lines = str(message.data).replace("\r\n", "\n").split("\n")
    return [line for line in lines if line]
