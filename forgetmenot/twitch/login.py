"""Logging in to Twitch, and one account's log-in while the bot runs, validated at start and every hour.

Guarantees:
- Of any number of callers with an expired token one renews it, and all get the new one.
- The new pair is saved before it is used; a cancelled caller does not interrupt that.
- A 5xx or a network failure never ends or loses a log-in.
- After a log-out, or when Twitch rejects the log-in, TwitchLoginNeeded is raised until somebody logs in again. Both
  also work from another process.

twitchio's own log-in is not used: it renews without a lock, saves only at exit, and stumbles over some answers.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterable
from typing import Any

import aiohttp
from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import (
    TwitchError,
    TwitchLoginNeeded,
    TwitchRateLimited,
    TwitchRefused,
    TwitchUnavailable,
)
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.network import by_proxy, trusted
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.errors import translated

RENEW_BELOW_S = 3_900  # a token that would not last until the next hourly look
RENEWAL_WITHIN_S = 2.0  # that a stop waits for one
_ANSWER_WITHIN = aiohttp.ClientTimeout(total=15)
_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


async def _ask(settings: Settings, path: str, access: str = "", **form: str) -> dict[str, Any]:
    """What Twitch's log-in server answers, to a form or without one. To be called inside of `translated`."""
    form = {"client_id": settings.twitch.client_id, **form} if form else {}
    if form and not form["client_id"]:
        raise _no_app()
    headers = {"Authorization": f"OAuth {access}"} if access else {}
    certain, method = aiohttp.TCPConnector(ssl=trusted()), "POST" if form else "GET"
    async with (
        aiohttp.ClientSession(
            connector=certain, middlewares=(by_proxy,), timeout=_ANSWER_WITHIN
        ) as session,
        session.request(
            method, f"{settings.twitch.id_url}oauth2/{path}", data=form or None, headers=headers
        ) as answer,
    ):
        if answer.status >= 500:
            answer.raise_for_status()
        body = dict(json.loads(await answer.text() or "{}"))  # revoking answers nothing
        if answer.status >= 400:
            said = str(body.get("message", ""))
            raise aiohttp.ClientResponseError(
                answer.request_info, (), status=answer.status, message=said
            )
    return body


def _no_app() -> TwitchLoginNeeded:
    return TwitchLoginNeeded(reason("client_unset", make_app=reason("make_app")))


# ── the device code flow: ask for a code, then wait until a person has typed it on Twitch's page ─────────────────────


class DeviceCode(Struct, frozen=True):
    """A log-in that waits for a person: what to type, where, how often to ask (s) and for how long (s)."""

    device_code: str
    user_code: str
    address: str
    interval: int
    expires_in: int


async def begin_device_login(settings: Settings, scopes: tuple[str, ...]) -> DeviceCode:
    """Ask Twitch for a code. Raises TwitchError."""
    with translated("ask for a code"):
        got = await _ask(settings, "device", scopes=" ".join(scopes))
        times = int(got["interval"]), int(got["expires_in"])
        return DeviceCode(got["device_code"], got["user_code"], got["verification_uri"], *times)


async def finish_device_login(
    settings: Settings, code: DeviceCode, scopes: tuple[str, ...]
) -> Token:
    """Wait until the person has typed the code, through outages too. Raises TwitchRefused when the code runs out."""
    form = {
        "grant_type": _DEVICE_GRANT,
        "device_code": code.device_code,
        "scopes": " ".join(scopes),
    }
    try:
        async with asyncio.timeout(code.expires_in):
            while True:
                # the code stays valid on Twitch's side, so an outage only costs the time
                with contextlib.suppress(TwitchUnavailable, TwitchRateLimited):
                    try:
                        with translated("log in"):
                            got = await _ask(settings, "token", **form)
                            return Token(got["access_token"], got["refresh_token"])
                    except TwitchRefused as error:
                        if not any(
                            word in str(error) for word in ("authorization_pending", "slow_down")
                        ):
                            raise
                await asyncio.sleep(code.interval)
    except TimeoutError:
        raise TwitchRefused(
            "Nobody typed the code in time. Type `forgetmenot login` for a new one."
        ) from None
    except TwitchRefused:
        raise TwitchRefused(
            "The code has expired or was refused. Type `forgetmenot login` again."
        ) from None


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
        lacking: Callable[
            [Account, Settings, Iterable[str]], str
        ] = lambda _account, _settings, _held: "",
    ) -> None:
        self.account = account
        self.trouble = ""
        self._unset = (
            "",
            "",
        )  # the trouble that is only something that was never set up, and how the dock words it
        self._store = store
        self._settings = settings
        self._clock = clock
        self._lacking = lacking
        self._token: Token | None = None
        self._stored = ""  # the access token that lies in the store: an older one, where a pair could not be saved
        self._dead = ""  # the refresh token that Twitch no longer takes
        self._lock = asyncio.Lock()
        self._renewals: set[asyncio.Task[Token]] = set()

    async def token(self) -> Token:
        """The pair in use. Raises TwitchLoginNeeded if there is none."""
        if self._token is None:
            kept = await self._kept()
            if kept is None:
                raise await self._missing()
            return self._take_up(kept)
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
    def pair(self) -> Token | None:
        """The pair in use, as far as one was read or renewed."""
        return self._token

    @property
    def _is_unsaved(self) -> bool:
        """Whether the pair in use lies nowhere: after a restart it would be lost."""
        return self._token is not None and self._token.access != self._stored

    async def aclose(self) -> None:
        """Wait for a renewal that is under way, and save a pair that no place has taken so far."""
        if self._renewals:
            # Twitch may have taken the old pair already
            await asyncio.wait(self._renewals, timeout=RENEWAL_WITHIN_S)
        if self._token is not None and self._is_unsaved:
            await self._save(self._token)

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
        # A task of its own, which goes on when its caller is cancelled: a refresh token works once, so the answer to
        # it must not be dropped.
        renewal = asyncio.create_task(self._renew(stale), name=f"renew {self.account.value}")
        self._renewals.add(renewal)

        def done(renewal: asyncio.Task[Token]) -> None:
            self._renewals.discard(renewal)
            if not renewal.cancelled():
                renewal.exception()  # whoever asked has it, unless they gave up

        renewal.add_done_callback(done)
        return await asyncio.shield(renewal)

    async def _renew(self, stale: Token) -> Token:
        async with self._lock:
            if self._token is not None and self._token.access != stale.access:
                return self._token
            if newer := await self._newer_than(stale):
                return self._take_up(newer)
            if await self._was_logged_out():
                raise self._nobody()
            if stale.refresh == self._dead:
                raise self._lapsed(stale)
            try:
                with translated("renew the log-in"):
                    form = {"grant_type": "refresh_token", "refresh_token": stale.refresh}
                    got = await _ask(self._settings(), "token", **form)
                    fresh = replace(stale, access=got["access_token"], refresh=got["refresh_token"])
            except (TwitchRefused, TwitchLoginNeeded) as error:
                if not self._settings().twitch.client_id:
                    raise
                if newer := await self._newer_than(stale):  # another process was faster
                    return self._take_up(newer)
                log.warning("the log-in has lapsed", account=self.account.value, reason=str(error))
                raise self._lapsed(stale) from None
            await self._save(fresh)
            log.info("the log-in was renewed", account=self.account.value)
            return fresh

    async def _kept(self) -> Token | None:
        return await asyncio.to_thread(self._store.load, self.account)

    async def _newer_than(self, token: Token) -> Token | None:
        """The pair that somebody saved meanwhile, by logging in again."""
        kept = await self._kept()
        return (
            kept if kept is not None and kept.access not in {token.access, self._stored} else None
        )

    async def _was_logged_out(self) -> bool:
        """Whether somebody has logged out, in another process: then the pair in use is not to be renewed."""
        if not self._stored or not await asyncio.to_thread(self._store.is_empty, self.account):
            return False
        self._token = None
        return True

    async def _save(self, token: Token) -> None:
        self._token, self._dead = (
            token,
            "",
        )  # in use even if no place takes it: the old one is worth nothing now
        try:
            await asyncio.to_thread(self._store.save, self.account, token)
            self._stored = token.access
        except OSError as error:
            if await asyncio.to_thread(self._store.is_empty, self.account):
                self._stored = ""
            self.trouble = (
                f"The renewed log-in could not be saved ({error.strerror}). "
                "If the bot restarts before that works, it is lost."
            )
            log.error(
                "the log-in could not be saved",
                account=self.account.value,
                error=type(error).__name__,
            )

    def _take_up(self, kept: Token) -> Token:
        """Use a pair that another process saved; earlier problems are over."""
        self.trouble = self._without(kept.scopes) if kept.scopes else ""
        self._token, self._stored, self._dead = kept, kept.access, ""
        return kept

    # ── what is said of trouble ──────────────────────────────────────────────────────────────────────────────────────

    def _without(self, scopes: tuple[str, ...]) -> str:
        """What is said of rights that the log-in does not give; an empty text if it gives all."""
        trouble = self._lacking(self.account, self._settings(), scopes)
        actions = trouble.partition("(for: ")[2].partition(")")[0]
        self._unset = (
            trouble,
            reason("not_allowed_yet", account=reason(self.account.value), actions=actions),
        )
        return trouble

    async def _missing(self) -> TwitchLoginNeeded:
        if await asyncio.to_thread(self._store.is_empty, self.account):
            return self._nobody()
        return self._in_trouble("login_unreadable", place=self._store.place(self.account))

    def _nobody(self) -> TwitchLoginNeeded:
        error = self._in_trouble("nobody_in")
        self._unset = (
            self.trouble,
            reason("bot_not_in" if self.account is Account.BOT else "streamer_not_in"),
        )
        return error

    def _lapsed(self, token: Token) -> TwitchLoginNeeded:
        self._dead = token.refresh
        return self._in_trouble("nobody_in")

    def _in_trouble(self, code: str, **values: object) -> TwitchLoginNeeded:
        command = "forgetmenot login" + (
            " --as broadcaster" if self.account is Account.BROADCASTER else ""
        )
        self.trouble = reason(code, account=reason(self.account.value), command=command, **values)
        return TwitchLoginNeeded(self.trouble)

    # ── the hourly look ──────────────────────────────────────────────────────────────────────────────────────────────

    async def validate(self) -> Token:
        """Ask Twitch whether the token is good, and renew it if it is not, or not for long. Raises TwitchError."""
        if not self._settings().twitch.client_id:
            raise _no_app()
        token = await self.token()
        if newer := await self._newer_than(token):
            token = self._take_up(newer)
        if await self._was_logged_out():
            raise self._nobody()
        try:
            about = await self._about(token)
        except TwitchLoginNeeded:
            token = await self.renew(token)
            about = await self._about(token)
        if about["expires_in"] <= RENEW_BELOW_S:
            token = await self.renew(token)
        named = replace(
            token, user_id=about["user_id"], login=about["login"], scopes=tuple(about["scopes"])
        )
        self.trouble = self._without(named.scopes)
        if named == token and self._stored == token.access:
            return token
        async with self._lock:
            # renewed while Twitch was asked about the old one: that pair must not be overwritten
            if self._token is not None and self._token.access != token.access:
                return self._token
            await self._save(named)
        return named

    async def _about(self, token: Token) -> dict[str, Any]:
        """Whose token it is, its rights, and the seconds that it lasts. Raises TwitchError."""
        with translated("check the log-in"):
            got = await _ask(self._settings(), "validate", token.access)
            names = {name: str(got.get(name) or "") for name in ("client_id", "user_id", "login")}
            return {
                **names,
                "scopes": list(got.get("scopes") or ()),
                "expires_in": int(got["expires_in"]),
            }

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
                if self._is_unsaved:
                    pause = MINUTE
            except TwitchLoginNeeded as error:
                pause, self.trouble = MINUTE, str(error)
            except TwitchError as error:
                pause, trouble = MINUTE, str(error)
            trouble = trouble or self.trouble
            if trouble not in {
                "",
                reported,
                self._unset[0],
            }:  # what was never set up is no trouble to log
                log.warning("trouble with the log-in", account=self.account.value, reason=trouble)
            reported = trouble
            await self._clock.sleep(pause)

    async def log_out(self) -> bool | None:
        """Forget the token; whether Twitch took it back, or None if nobody was logged in.

        Raises TwitchLoginNeeded where it cannot be read.
        """
        token = await self._kept()
        if token is None:
            if await asyncio.to_thread(self._store.is_empty, self.account):
                return None
            raise await self._missing()
        revoked, settings, access = True, self._settings(), token.access
        try:
            with translated("revoke the log-in"):
                try:
                    about = await self._about(token)
                except (
                    TwitchLoginNeeded
                ):  # Twitch takes back only a living one, so an expired one is renewed for it
                    got = await _ask(
                        settings, "token", grant_type="refresh_token", refresh_token=token.refresh
                    )
                    access, about = got["access_token"], {}
                # the settings may name another app by now than the one that the token was made for, or none
                app = about.get("client_id") or settings.twitch.client_id
                await _ask(settings, "revoke", client_id=app, token=access)
        except TwitchError as error:
            revoked = (
                "refresh token" in str(error).lower()
            )  # that one is dead as well: nothing is left to revoke
        await asyncio.to_thread(self._store.delete, self.account)
        self._token = None
        return revoked
