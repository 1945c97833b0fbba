"""Logging in to Twitch, and one account's log-in while the bot runs.

It is validated at start and every hour. Guarantees:

- Of any number of callers with an expired token one renews it, and all get the new one.
- The new pair is saved before it is used; a cancelled caller does not interrupt that.
- A 5xx or a network failure never ends or loses a log-in.
- After a log-out, or when Twitch rejects the log-in, TwitchLoginNeeded is raised until somebody
  logs in again. Both also work from another process.

A pair is an access token and the refresh token that renews it. twitchio's own log-in is not used:
it renews without a lock, saves only at exit, and fails on some answers.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import aiohttp
from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import MissingRights
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
from forgetmenot.network import web_session
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.errors import translated

# A token that lasts no longer would expire before the next hourly validation.
RENEW_BELOW_S = 3_900
# How long a stop waits for a renewal.
RENEWAL_WITHIN_S = 2.0
_ANSWER_WITHIN = aiohttp.ClientTimeout(total=15)
_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


async def _ask(
    settings: Settings,
    path: str,
    access: str = "",
    **form: str,
) -> dict[str, Any]:
    """Return what Twitch's log-in server answers, to a form or without one.

    To be called inside of `translated`. Raises aiohttp's errors, and TwitchLoginNeeded for a form
    if `client_id` is not set.
    """
    method = "GET"
    if form:
        method = "POST"
        form = {"client_id": settings.twitch.client_id, **form}
        if not form["client_id"]:
            raise _no_app()
    url = f"{settings.twitch.id_url}oauth2/{path}"
    headers = {"Authorization": f"OAuth {access}"} if access else {}
    async with (
        web_session(_ANSWER_WITHIN) as session,
        session.request(method, url, data=form or None, headers=headers) as answer,
    ):
        if answer.status >= 500:
            answer.raise_for_status()
        # The answer to a revocation is empty.
        body = dict(json.loads(await answer.text() or "{}"))
        if answer.status >= 400:
            message = str(body.get("message", ""))
            raise aiohttp.ClientResponseError(
                answer.request_info, (), status=answer.status, message=message
            )
    return body


def _no_app() -> TwitchLoginNeeded:
    return TwitchLoginNeeded(reason("client_unset", make_app=reason("make_app")))


# ── the device code flow: a person types a code on Twitch's page ────────────────────────────


class DeviceCode(Struct, frozen=True):
    """A log-in that waits for a person: what to type where.

    Twitch is asked every `interval` seconds, for `expires_in` seconds.
    """

    device_code: str
    user_code: str
    address: str
    interval: int
    expires_in: int


async def begin_device_login(settings: Settings, scopes: tuple[str, ...]) -> DeviceCode:
    """Ask Twitch for a code. Raises TwitchError."""
    with translated("ask for a code"):
        body = await _ask(settings, "device", scopes=" ".join(scopes))
        return DeviceCode(
            device_code=body["device_code"],
            user_code=body["user_code"],
            address=body["verification_uri"],
            interval=int(body["interval"]),
            expires_in=int(body["expires_in"]),
        )


async def finish_device_login(
    settings: Settings,
    code: DeviceCode,
    scopes: tuple[str, ...],
) -> Token:
    """Wait until the person has typed the code, through outages too.

    Raises TwitchRefused when the code expires.
    """
    try:
        async with asyncio.timeout(code.expires_in):
            while True:
                # The code stays valid on Twitch's side, so an outage only costs the time.
                with contextlib.suppress(TwitchUnavailable, TwitchRateLimited):
                    token = await _token_for(settings, code, scopes)
                    if token is not None:
                        return token
                await asyncio.sleep(code.interval)
    except TimeoutError:
        raise TwitchRefused(
            "Nobody typed the code in time. Type `forgetmenot login` for a new one."
        ) from None
    except TwitchRefused:
        raise TwitchRefused(
            "The code has expired or was refused. Type `forgetmenot login` again."
        ) from None


async def _token_for(
    settings: Settings,
    code: DeviceCode,
    scopes: tuple[str, ...],
) -> Token | None:
    """Return the pair for a code; None if nobody has typed it yet. Raises TwitchError."""
    try:
        with translated("log in"):
            body = await _ask(
                settings,
                "token",
                grant_type=_DEVICE_GRANT,
                device_code=code.device_code,
                scopes=" ".join(scopes),
            )
            return Token(body["access_token"], body["refresh_token"])
    except TwitchRefused as error:
        is_pending = any(
            answer in str(error) for answer in ("authorization_pending", "slow_down")
        )
        if is_pending:
            return None
        raise


# ── the log-in of one account ───────────────────────────────────────────────────────────────


def _lacks_nothing(
    _account: Account,
    _settings: Settings,
    _scopes: Iterable[str],
) -> MissingRights:
    return MissingRights()


class _Validation(NamedTuple):
    """What Twitch says of a token: whose it is, its rights, and the seconds that it lasts."""

    client_id: str
    user_id: str
    login: str
    scopes: tuple[str, ...]
    expires_in_s: int


class Login:
    """One account's log-in. `trouble` is one sentence for console and health, or empty.

    `lacking` returns the rights that the settings need and the scopes of a log-in do not give.
    """

    def __init__(
        self,
        *,
        account: Account,
        store: TokenStore,
        settings: Callable[[], Settings],
        clock: Clock,
        lacking: Callable[
            [Account, Settings, Iterable[str]], MissingRights
        ] = _lacks_nothing,
    ) -> None:
        self.account = account
        self.trouble = ""
        # The trouble that only means that something was never set up, and how the dock words it.
        self._unset_trouble = ""
        self._unset_hint = ""
        self._store = store
        self._settings = settings
        self._clock = clock
        self._lacking = lacking
        self._token: Token | None = None
        # The access token in the store: an older one, if a pair could not be saved.
        self._stored_access = ""
        # The refresh token that Twitch no longer takes.
        self._dead_refresh = ""
        self._lock = asyncio.Lock()
        self._renewals: set[asyncio.Task[Token]] = set()

    async def token(self) -> Token:
        """Return the pair in use. Raises TwitchLoginNeeded if there is none."""
        if self._token is None:
            stored_token = await self._load()
            if stored_token is None:
                raise await self._missing()
            return self._take_up(stored_token)
        if self._token.refresh == self._dead_refresh:
            return await self.renew(self._token)
        return self._token

    async def exists(self) -> bool:
        """Return whether somebody is logged in as this account, also by another process."""
        return self._token is not None or await self._load() is not None

    @property
    def name(self) -> str:
        """Return the login of the account as far as known without a call; else an empty text."""
        return self._token.login if self._token is not None else ""

    @property
    def pair(self) -> Token | None:
        """Return the pair in use, as far as one was read or renewed."""
        return self._token

    @property
    def _is_unsaved(self) -> bool:
        """Return whether the pair in use is nowhere else: after a restart it would be lost."""
        return self._token is not None and self._token.access != self._stored_access

    async def aclose(self) -> None:
        """Wait for a renewal that is under way, and save a pair that no place has taken so far."""
        if self._renewals:
            # Twitch may have taken the old pair already.
            await asyncio.wait(self._renewals, timeout=RENEWAL_WITHIN_S)
        if self._token is not None and self._is_unsaved:
            await self._save(self._token)

    @property
    def hint(self) -> str:
        """Return what was never set up, in words for the dock; empty if that is not the trouble."""
        is_unset = bool(self.trouble) and self.trouble == self._unset_trouble
        return self._unset_hint if is_unset else ""

    async def irc(self, refused: str = "") -> Token | None:
        """Return the log-in for chat; None (listen anonymously) if nobody is logged in.

        A token that chat has `refused` is renewed first, if Twitch can be reached. Raises
        TwitchLoginNeeded.
        """
        if not await self.exists():
            return None
        token = await self.token()
        if token.access == refused:
            with contextlib.suppress(TwitchUnavailable, TwitchRateLimited):
                token = await self.renew(token)
        return token if token.login else None

    async def renew(self, stale: Token) -> Token:
        """Return a pair newer than `stale`: one renewal for all who ask. Raises TwitchError."""
        # A task of its own, which goes on when its caller is cancelled: a refresh token works once,
        # so the answer to it must not be dropped.
        renewal = asyncio.create_task(
            self._renew(stale), name=f"renew {self.account.value}"
        )
        self._renewals.add(renewal)
        renewal.add_done_callback(self._renewal_ended)
        return await asyncio.shield(renewal)

    def _renewal_ended(self, renewal: asyncio.Task[Token]) -> None:
        self._renewals.discard(renewal)
        # Looked at, so that asyncio logs none: whoever asked has it, unless they gave up.
        if not renewal.cancelled():
            renewal.exception()

    async def _renew(self, stale: Token) -> Token:
        async with self._lock:
            if self._token is not None and self._token.access != stale.access:
                return self._token
            newer = await self._newer_than(stale)
            if newer is not None:
                return self._take_up(newer)
            if await self._was_logged_out():
                raise self._nobody()
            if stale.refresh == self._dead_refresh:
                raise self._lapsed(stale)
            try:
                access, refresh = await self._refresh(stale)
            except (TwitchRefused, TwitchLoginNeeded) as error:
                if not self._settings().twitch.client_id:
                    raise
                # Another process may have been faster.
                newer = await self._newer_than(stale)
                if newer is not None:
                    return self._take_up(newer)
                log.warning(
                    "the log-in has lapsed",
                    account=self.account.value,
                    reason=str(error),
                )
                raise self._lapsed(stale) from None
            token = replace(stale, access=access, refresh=refresh)
            await self._save(token)
            log.info("the log-in was renewed", account=self.account.value)
            return token

    async def _refresh(self, token: Token) -> tuple[str, str]:
        """Return the access token and the refresh token of a new pair. Raises TwitchError."""
        with translated("renew the log-in"):
            body = await _ask(
                self._settings(),
                "token",
                grant_type="refresh_token",
                refresh_token=token.refresh,
            )
            return body["access_token"], body["refresh_token"]

    async def _load(self) -> Token | None:
        return await asyncio.to_thread(self._store.load, self.account)

    async def _newer_than(self, token: Token) -> Token | None:
        """Return the pair that somebody saved meanwhile by logging in again, or None."""
        stored_token = await self._load()
        if stored_token is None:
            return None
        if stored_token.access in {
            token.access,
            self._stored_access,
        }:
            return None
        return stored_token

    async def _is_store_empty(self) -> bool:
        return await asyncio.to_thread(self._store.is_empty, self.account)

    async def _was_logged_out(self) -> bool:
        """Return whether another process has logged out: then the pair is not to be renewed."""
        if not self._stored_access:
            return False
        if not await self._is_store_empty():
            return False
        self._token = None
        return True

    async def _save(self, token: Token) -> None:
        """Use a new pair and save it; `trouble` says it if that fails."""
        # In use even if it cannot be saved: the old pair is worth nothing now.
        self._token = token
        self._dead_refresh = ""
        try:
            await asyncio.to_thread(self._store.save, self.account, token)
            self._stored_access = token.access
        except OSError as error:
            # Nothing is stored, by this failure and not by a log-out: `_was_logged_out` must not take it
            # for one.
            if await self._is_store_empty():
                self._stored_access = ""
            self.trouble = (
                f"The renewed log-in could not be saved ({error.strerror}). "
                "If the bot restarts before that works, it is lost."
            )
            log.error(
                "the log-in could not be saved",
                account=self.account.value,
                error=type(error).__name__,
            )

    def _take_up(self, token: Token) -> Token:
        """Use a pair that another process saved; earlier problems are over."""
        self.trouble = self._trouble_of(token.scopes) if token.scopes else ""
        self._token = token
        self._stored_access = token.access
        self._dead_refresh = ""
        return token

    # ── sentences on trouble ────────────────────────────────────────────────────────────────

    def _trouble_of(self, scopes: tuple[str, ...]) -> str:
        """Return the sentence on rights that the log-in lacks; "" if it lacks none."""
        missing = self._lacking(self.account, self._settings(), scopes)
        self._unset_trouble = missing.trouble
        self._unset_hint = reason(
            "not_allowed_yet",
            account=reason(self.account.value),
            actions=", ".join(missing.users),
        )
        return missing.trouble

    async def _missing(self) -> TwitchLoginNeeded:
        if await self._is_store_empty():
            return self._nobody()
        return self._in_trouble(
            "login_unreadable", place=self._store.place(self.account)
        )

    def _nobody(self) -> TwitchLoginNeeded:
        error = self._in_trouble("nobody_in")
        self._unset_trouble = self.trouble
        is_bot = self.account is Account.BOT
        self._unset_hint = reason("bot_not_in" if is_bot else "streamer_not_in")
        return error

    def _lapsed(self, token: Token) -> TwitchLoginNeeded:
        self._dead_refresh = token.refresh
        return self._in_trouble("nobody_in")

    def _in_trouble(self, code: str, **values: object) -> TwitchLoginNeeded:
        command = "forgetmenot login"
        if self.account is Account.BROADCASTER:
            command += " --as broadcaster"
        account = reason(self.account.value)
        self.trouble = reason(code, account=account, command=command, **values)
        return TwitchLoginNeeded(self.trouble)

    # ── the hourly validation ───────────────────────────────────────────────────────────────

    async def validate(self) -> Token:
        """Ask Twitch whether the token is good, and renew it if it is not, or not for long.

        Returns the pair in use. Raises TwitchError.
        """
        if not self._settings().twitch.client_id:
            raise _no_app()
        token = await self.token()
        newer = await self._newer_than(token)
        if newer is not None:
            token = self._take_up(newer)
        if await self._was_logged_out():
            raise self._nobody()
        try:
            answer = await self._validation_of(token)
        except TwitchLoginNeeded:
            token = await self.renew(token)
            answer = await self._validation_of(token)
        if answer.expires_in_s <= RENEW_BELOW_S:
            token = await self.renew(token)
        named_token = replace(
            token, user_id=answer.user_id, login=answer.login, scopes=answer.scopes
        )
        self.trouble = self._trouble_of(named_token.scopes)
        if named_token == token and self._stored_access == token.access:
            return token
        async with self._lock:
            # Renewed while Twitch was asked about the old one: that pair must not be overwritten.
            if self._token is not None and self._token.access != token.access:
                return self._token
            await self._save(named_token)
        return named_token

    async def _validation_of(self, token: Token) -> _Validation:
        """Ask Twitch about a token. Raises TwitchError."""
        with translated("check the log-in"):
            body = await _ask(self._settings(), "validate", token.access)
            return _Validation(
                client_id=str(body.get("client_id") or ""),
                user_id=str(body.get("user_id") or ""),
                login=str(body.get("login") or ""),
                scopes=tuple(body.get("scopes") or ()),
                expires_in_s=int(body["expires_in"]),
            )

    async def keep_valid(self, needed: Callable[[], bool] = lambda: True) -> None:
        """Validate now and every hour, after a failure every minute; never returns.

        `trouble` is the last failure. While the log-in is not `needed` nothing is asked, and
        nothing is a trouble.
        """
        reported_trouble = ""
        while True:
            if not needed():
                self.trouble = ""
                reported_trouble = ""
                await self._clock.sleep(MINUTE)
                continue
            # Twitch requires a validation every hour of whoever has a token.
            pause = HOUR
            passing_trouble = ""
            try:
                await self.validate()
                if self._is_unsaved:
                    pause = MINUTE
            except TwitchLoginNeeded as error:
                pause = MINUTE
                self.trouble = str(error)
            except TwitchError as error:
                pause = MINUTE
                passing_trouble = str(error)
            trouble = passing_trouble or self.trouble
            # What was never set up is no trouble to log.
            if trouble not in {"", reported_trouble, self._unset_trouble}:
                log.warning(
                    "trouble with the log-in",
                    account=self.account.value,
                    reason=trouble,
                )
            reported_trouble = trouble
            await self._clock.sleep(pause)

    async def log_out(self) -> bool | None:
        """Forget the token. Return whether Twitch revoked it; None if nobody was logged in.

        Raises TwitchLoginNeeded if it cannot be read.
        """
        token = await self._load()
        if token is None:
            if await self._is_store_empty():
                return None
            raise await self._missing()
        is_revoked = True
        try:
            with translated("revoke the log-in"):
                await self._revoke(token)
        except TwitchError as error:
            # Twitch names the refresh token if that is dead as well: nothing is left to revoke.
            is_revoked = "refresh token" in str(error).lower()
        await asyncio.to_thread(self._store.delete, self.account)
        self._token = None
        return is_revoked

    async def _revoke(self, token: Token) -> None:
        # The settings may name another app by now than the one that the token was made for, or
        # none.
        access = token.access
        client_id = ""
        try:
            client_id = (await self._validation_of(token)).client_id
        except TwitchLoginNeeded:
            # Twitch revokes only a token that has not expired, so it is renewed for that.
            access, _ = await self._refresh(token)
        settings = self._settings()
        client_id = client_id or settings.twitch.client_id
        await _ask(settings, "revoke", client_id=client_id, token=access)
