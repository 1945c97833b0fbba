"""Logging in to Twitch, and one account's log-in while the bot runs, validated at start and every hour.

Guarantees:
- Of any number of callers with an expired token one renews it, and all get the new one.
- The new pair is saved before it is used; a cancelled caller does not interrupt that.
- A 5xx or a network failure never ends or loses a log-in.
- After a log-out, or when Twitch rejects the log-in, TwitchLoginNeeded is raised until somebody logs in again. Both
  also work from another process.

twitchio's OAuth class makes the calls; its own token store is not used, because it renews without a lock and saves
only at exit.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp
from msgspec.structs import replace

from forgetmenot.clock import HOUR, MINUTE, Clock
from forgetmenot.errors import TwitchError, TwitchLoginNeeded, TwitchRateLimited, TwitchRefused, TwitchUnavailable
from forgetmenot.languages import reason
from forgetmenot.late_imports import load_off_the_loop
from forgetmenot.logs import log
from forgetmenot.network import by_proxy, trusted
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.errors import translated

if TYPE_CHECKING:
    from twitchio.authentication import OAuth

RENEW_BELOW_S = 3_900  # a token that would not last until the next hourly look
_ANSWER_WITHIN = aiohttp.ClientTimeout(total=15)
_ASKED_AGAIN = "Twitch asks to try again."


def point_twitchio_at(settings: Settings) -> None:
    """Let twitchio talk to the addresses in the settings. It knows only one place for all its clients."""
    from twitchio.eventsub import websockets
    from twitchio.http import Route

    twitch = settings.twitch
    if twitch.server:
        websockets.WSS = twitch.irc_url.removesuffix("irc") + "eventsub"
    Route.BASE, Route.ID_BASE = twitch.helix_url, twitch.id_url


@asynccontextmanager
async def _oauth(settings: Settings) -> AsyncIterator["OAuth"]:
    """A short-lived client of Twitch's log-in server. Raises TwitchLoginNeeded without a client id."""
    if not settings.twitch.client_id:
        raise TwitchLoginNeeded(reason("client_unset", make_app=reason("make_app")))
    await load_off_the_loop("twitchio")
    from twitchio.authentication import OAuth

    point_twitchio_at(settings)
    certain = aiohttp.TCPConnector(ssl=trusted())
    async with aiohttp.ClientSession(connector=certain, middlewares=(by_proxy,), timeout=_ANSWER_WITHIN) as session:
        yield OAuth(client_id=settings.twitch.client_id, session=session)


# ── the device code flow: ask for a code, then wait until a person has typed it on Twitch's page ─────────────────────


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """A log-in that waits for a person: what to type, where, how often to ask (s) and for how long (s)."""

    device_code: str
    user_code: str
    address: str
    interval: int
    expires_in: int


async def begin_device_login(settings: Settings, scopes: tuple[str, ...]) -> DeviceCode:
    """Ask Twitch for a code. Raises TwitchError."""
    with translated("ask for a code", again=False):
        async with _oauth(settings) as client:
            from twitchio.authentication import Scopes

            answer = await client.device_code_flow(scopes=Scopes(scopes))
    return DeviceCode(
        device_code=answer["device_code"],
        user_code=answer["user_code"],
        address=answer["verification_uri"],
        interval=int(answer["interval"]),
        expires_in=int(answer["expires_in"]),
    )


async def finish_device_login(settings: Settings, code: DeviceCode, scopes: tuple[str, ...]) -> Token:
    """Wait until the person has typed the code, through outages too. Raises TwitchRefused when the code runs out."""
    try:
        async with asyncio.timeout(code.expires_in):
            while True:
                # the code stays valid on Twitch's side, so an outage only costs the time
                with contextlib.suppress(TwitchUnavailable):
                    return await _poll(settings, code, scopes)
                await asyncio.sleep(code.interval)
    except TimeoutError:
        raise TwitchRefused("Nobody typed the code in time. Type `forgetmenot login` for a new one.") from None


async def _poll(settings: Settings, code: DeviceCode, scopes: tuple[str, ...]) -> Token:
    """The tokens, once the code was typed. Raises TwitchUnavailable where asking again may help."""
    with translated("log in"):
        async with _oauth(settings) as client:
            from twitchio.authentication import Scopes
            from twitchio.exceptions import DeviceCodeFlowException

            try:
                answer = await client.device_code_authorization(
                    device_code=code.device_code, interval=code.interval, scopes=Scopes(scopes)
                )
            except DeviceCodeFlowException as error:
                if error.status == 429:
                    raise TwitchUnavailable(_ASKED_AGAIN) from None
                if error.status < 500:
                    raise TwitchRefused(
                        "The code has expired or was refused. Type `forgetmenot login` again."
                    ) from None
                raise
            except ValueError as error:  # twitchio knows only two reasons and stumbles over any other
                if "DeviceCodeRejection" not in str(error) or "slow_down" in str(error):
                    raise TwitchUnavailable(_ASKED_AGAIN) from None
                raise TwitchRefused("Twitch did not accept the code. Type `forgetmenot login` again.") from None
    return Token(answer["access_token"], answer["refresh_token"])


# ── the log-in of one account ────────────────────────────────────────────────────────────────────────────────────────


class Login:
    """One account's log-in. `trouble` is one sentence for console and health, or empty.

    `lacking` makes a sentence on the rights that the settings need and a log-in does not give, or nothing.
    """

    def __init__(
        self,
        *,
        account: Account,
        store: TokenStore,
        settings: Callable[[], Settings],
        clock: Clock,
        lacking: Callable[[Account, Settings, Iterable[str]], str] = lambda _account, _settings, _held: "",
    ) -> None:
        self.account = account
        self.trouble = ""
        self._unset = ("", "")  # the trouble that is only something that was never set up, and how the dock words it
        self._store = store
        self._settings = settings
        self._clock = clock
        self._lacking = lacking
        self._token: Token | None = None
        self._outlived: set[str] = set()  # access tokens that may lie where the pair after them could not be saved
        self._nowhere = False  # nor did anything lie there: that it is empty says nothing of a log-out
        self._dead = ""  # the refresh token that Twitch no longer takes
        self._lock = asyncio.Lock()
        self._renewals: set[asyncio.Task[Token]] = set()

    async def token(self) -> Token:
        """The pair in use. Raises TwitchLoginNeeded if there is none."""
        if self._token is None:
            kept = await self._kept()
            if kept is None:
                raise await self._missing()
            self._token = self._taken_up(kept)
        if self._token.refresh == self._dead:
            return await self.renew(self._token)
        return self._token

    async def exists(self) -> bool:
        """Whether somebody is logged in as this account, also by another process."""
        return (self._token or await self._kept()) is not None

    @property
    def name(self) -> str:
        """The login of the account as far as known without a call; else an empty text."""
        return self._token.login if self._token is not None else ""

    @property
    def hint(self) -> str:
        """What was never set up, in words for the dock; empty where that is not the trouble."""
        trouble, hint = self._unset
        return hint if self.trouble and self.trouble == trouble else ""

    async def irc(self, refused: str = "") -> Token | None:
        """The log-in for chat; None (listen anonymously) where nobody is logged in. Raises TwitchLoginNeeded.

        A token that chat has `refused` is renewed first, if Twitch can be reached.
        """
        if not await self.exists():
            return None
        token = await self.token()
        if token.access == refused:
            with contextlib.suppress(TwitchUnavailable, TwitchRateLimited):
                token = await self.renew(token)
        return token if token.login else None

    async def renew(self, stale: Token) -> Token:
        """A pair newer than `stale`: one renewal for all who ask. Raises TwitchError."""
        # a task of its own, which goes on when its caller is cancelled
        renewal = asyncio.create_task(self._renew(stale), name=f"renew {self.account.value}")
        self._renewals.add(renewal)
        renewal.add_done_callback(self._renewed)
        return await asyncio.shield(renewal)  # a refresh token works once: its answer must not be dropped

    def _renewed(self, renewal: asyncio.Task[Token]) -> None:
        self._renewals.discard(renewal)
        if not renewal.cancelled():
            renewal.exception()  # whoever asked has it, unless they gave up

    async def _renew(self, stale: Token) -> Token:
        async with self._lock:
            if self._token is not None and self._token.access != stale.access:
                return self._token
            kept = await self._newer_than(stale)
            if kept is not None:
                return self._use(self._taken_up(kept))
            if await self._was_logged_out():
                raise self._nobody()
            if stale.refresh == self._dead:
                raise self._lapsed(stale)
            fresh = await self._exchange(stale)
            if fresh is self._token:
                return fresh
            await self._save(fresh)
            log.info("the log-in was renewed", account=self.account.value)
            return self._use(fresh)

    async def _kept(self) -> Token | None:
        return await asyncio.to_thread(self._store.load, self.account)

    async def _newer_than(self, token: Token) -> Token | None:
        """The pair that somebody saved meanwhile, by logging in again."""
        kept = await self._kept()
        return kept if kept is not None and kept.access not in {token.access, *self._outlived} else None

    async def _was_logged_out(self) -> bool:
        """Whether somebody has logged out, in another process: then the pair in use is not to be renewed."""
        if self._nowhere or not await asyncio.to_thread(self._store.is_empty, self.account):
            return False
        self._token = None
        return True

    async def _exchange(self, stale: Token) -> Token:
        """A new pair for an old one; the one already in use where another process was faster. Raises TwitchError."""
        try:
            with translated("renew the log-in"):
                async with _oauth(self._settings()) as client:
                    answer = await client.refresh_token(stale.refresh)
        except (TwitchRefused, TwitchLoginNeeded) as error:
            if not self._settings().twitch.client_id:
                raise
            kept = await self._newer_than(stale)
            if kept is not None:
                return self._use(self._taken_up(kept))
            log.warning("the log-in has lapsed", account=self.account.value, reason=str(error))
            raise self._lapsed(stale) from None
        return replace(stale, access=answer.access_token, refresh=answer.refresh_token)

    async def _save(self, token: Token) -> None:
        before, self._token = self._token, token  # in use even if no place takes it: the old one is worth nothing now
        try:
            await asyncio.to_thread(self._store.save, self.account, token)
            self._outlived, self._nowhere = set(), False
        except OSError as error:
            self._outlived.add(before.access if before is not None else "")
            self._nowhere = await asyncio.to_thread(self._store.is_empty, self.account)
            self.trouble = (
                f"The renewed log-in could not be saved ({error.strerror}). "
                "If the bot restarts before that works, it is lost."
            )
            log.error("the log-in could not be saved", account=self.account.value, error=type(error).__name__)

    def _taken_up(self, kept: Token) -> Token:
        """Use a pair that another process saved; earlier problems are over."""
        self.trouble = self._without(kept.scopes) if kept.scopes else ""
        return kept

    def _use(self, token: Token) -> Token:
        self._token, self._dead = token, ""
        return token

    # ── what is said of trouble ──────────────────────────────────────────────────────────────────────────────────────

    def _without(self, scopes: tuple[str, ...]) -> str:
        """What is said of rights that the log-in does not give; an empty text if it gives all."""
        trouble = self._lacking(self.account, self._settings(), scopes)
        actions = trouble.partition("(for: ")[2].partition(")")[0]
        self._unset = (trouble, reason("not_allowed_yet", account=reason(self.account.value), actions=actions))
        return trouble

    async def _missing(self) -> TwitchLoginNeeded:
        if await asyncio.to_thread(self._store.is_empty, self.account):
            return self._nobody()
        return self._in_trouble("login_unreadable", place=self._store.place(self.account))

    def _nobody(self) -> TwitchLoginNeeded:
        error = self._in_trouble("nobody_in")
        self._unset = (self.trouble, reason("bot_not_in" if self.account is Account.BOT else "streamer_not_in"))
        return error

    def _lapsed(self, token: Token) -> TwitchLoginNeeded:
        self._dead = token.refresh
        return self._in_trouble("login_expired")

    def _in_trouble(self, code: str, **values: object) -> TwitchLoginNeeded:
        command = "forgetmenot login" + (" --as broadcaster" if self.account is Account.BROADCASTER else "")
        self.trouble = reason(code, account=reason(self.account.value), command=command, **values)
        return TwitchLoginNeeded(self.trouble)

    # ── the hourly look ──────────────────────────────────────────────────────────────────────────────────────────────

    async def validate(self) -> Token:
        """Ask Twitch whether the token is good, and renew it if it is not, or not for long. Raises TwitchError."""
        token = await self.token()
        newer = await self._newer_than(token)
        token = self._use(self._taken_up(newer)) if newer is not None else token
        if await self._was_logged_out():
            raise self._nobody()
        try:
            named, expires_in = await self._named(token)
        except TwitchLoginNeeded:
            if not self._settings().twitch.client_id:
                raise
            token = await self.renew(token)
            return await self._keep_named(token, token if token.login else (await self._named(token))[0])
        if expires_in <= RENEW_BELOW_S:
            token = await self.renew(token)
        return await self._keep_named(token, replace(named, access=token.access, refresh=token.refresh))

    async def _named(self, token: Token) -> tuple[Token, int]:
        """Whose token it is and its rights, as Twitch says, and the seconds that it lasts. Raises TwitchError."""
        with translated("check the log-in"):
            async with _oauth(self._settings()) as client:
                answer = await client.validate_token(token.access)
                known = {"user_id": answer.user_id or "", "login": answer.login or ""}
                return replace(token, **known, scopes=tuple(answer.scopes or ())), answer.expires_in

    async def _keep_named(self, token: Token, named: Token) -> Token:
        self.trouble = self._without(named.scopes)
        if named == token and not self._outlived:
            return token
        async with self._lock:
            # renewed while Twitch was asked about the old one: that pair must not be overwritten
            if self._token is not None and self._token.access != token.access:
                return self._token
            await self._save(named)
        return named

    async def keep_valid(self, needed: Callable[[], bool] = lambda: True) -> None:
        """Validate now and every hour, after a failure every minute; never returns. `trouble`: the last failure.

        While it is not `needed` nothing is asked, and nothing is a trouble.
        """
        reported = ""
        while True:
            if not needed():
                self.trouble = reported = ""
                await self._clock.sleep(MINUTE)
                continue
            # Twitch requires a validation every hour of whoever holds a token
            pause, trouble = HOUR, ""
            try:
                await self.validate()
            except TwitchLoginNeeded as error:
                pause, self.trouble = MINUTE, str(error)
            except TwitchError as error:
                pause, trouble = MINUTE, str(error)
            trouble = trouble or self.trouble
            if trouble and trouble != reported:
                log.warning("trouble with the log-in", account=self.account.value, reason=trouble)
            reported = trouble
            await self._clock.sleep(pause)

    # ── logging out ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def log_out(self) -> bool | None:
        """Forget the token; whether Twitch took it back, or None if nobody was logged in.

        Raises TwitchLoginNeeded where it cannot be read.
        """
        token = await self._kept()
        if token is None:
            if await asyncio.to_thread(self._store.is_empty, self.account):
                return None
            raise await self._missing()
        try:
            revoked = await self._revoke(token)
            if not revoked:  # Twitch takes back only a living one, so an expired one is renewed for it
                try:
                    revoked = await self._revoke(await self._exchange(token))
                except TwitchLoginNeeded:
                    revoked = True  # the one to renew it with is dead as well
        except TwitchError:
            revoked = False
        await asyncio.to_thread(self._store.delete, self.account)
        self._token = None
        return revoked

    async def _revoke(self, token: Token) -> bool:
        """Whether Twitch took it back; False for one that is dead already. Raises TwitchError."""
        await load_off_the_loop("twitchio")
        from twitchio.exceptions import HTTPException

        settings = self._settings()
        # the app that issued the token is asked for first: the settings may name another by now, or none
        app = replace(settings.twitch, client_id=settings.twitch.client_id or "unknown")
        with translated("revoke the log-in"):
            async with _oauth(replace(settings, twitch=app)) as client:
                try:
                    app = replace(app, client_id=(await client.validate_token(token.access)).client_id)
                except HTTPException as error:
                    if error.status != 401:  # expired: only the settings can say
                        raise
                    app = settings.twitch
            async with _oauth(replace(settings, twitch=app)) as client:
                try:
                    await client.revoke_token(token.access)
                except HTTPException as error:
                    if error.status == 400:  # an app that Twitch does not know is a 404
                        return False
                    if error.route is not None or error.extra.get("message"):
                        raise  # anything else is twitchio's surprise at an empty answer
        return True
