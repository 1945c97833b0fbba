"""A log-in by code that goes on while its user is elsewhere: on Twitch's page, or in another step of the set-up."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path

from forgetmenot.clock import SECOND, SystemClock
from forgetmenot.errors import TwitchError
from forgetmenot.languages import in_language
from forgetmenot.late_imports import load_off_the_loop
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.twitch.auth import Login
from forgetmenot.twitch.oauth import DeviceCode, begin_device_login, finish_device_login
from forgetmenot.twitch.token_store import Account, TokenStore

BORDER = 2  # modules around a QR code


@dataclass(slots=True)
class PendingLogin:
    """A log-in by code. `line`: what became of it, or empty while it waits; `until` in ms."""

    account: Account
    code: DeviceCode
    until: int
    line: str = ""
    ok: bool = False


class DeviceLogin:
    """At most one log-in at a time; the next one takes the place of the last."""

    def __init__(self, settings: LiveSettings, folder: Path, *, use_keyring: bool = True) -> None:
        self._settings = settings
        self._store = TokenStore(folder, use_keyring=use_keyring)
        self._login: PendingLogin | None = None
        self._waiting: asyncio.Task[None] | None = None

    async def begin(self, account: Account, scopes: tuple[str, ...]) -> None:
        """Ask Twitch for a code, and wait for it to be typed. Raises TwitchError."""
        code = await begin_device_login(self._settings(), scopes)
        await self.aclose()
        await load_off_the_loop("segno")
        self._login = PendingLogin(account, code, SystemClock().now() + code.expires_in * SECOND)
        self._waiting = asyncio.create_task(self._finish(self._login, scopes), name="log-in by code")

    async def aclose(self) -> None:
        """Wait no longer."""
        self._login, waiting = None, self._waiting
        if waiting is not None:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    async def _finish(self, pending: PendingLogin, scopes: tuple[str, ...]) -> None:
        say = in_language(self._settings().bot.language)
        try:
            token = await finish_device_login(self._settings(), pending.code, scopes)
            await asyncio.to_thread(self._store.save, pending.account, token)  # first: the code is spent
            session = Login(account=pending.account, store=self._store, settings=self._settings, clock=SystemClock())
            with contextlib.suppress(TwitchError):
                token = await session.validate()
        except TwitchError:
            pending.line = say("setup.code_expired")
        except OSError as error:
            pending.line = say("setup.not_saved", error=error.strerror)
        else:
            login, place = token.login or say("setup.your_account"), self._store.place(pending.account)
            pending.ok, pending.line = True, say("setup.signed_in", login=login, place=place)

    def pending(self) -> dict[str, object] | None:
        """The log-in that waits or is done: its code, and a QR code as a path to draw. None: there is none."""
        one = self._login
        if one is None:
            return None
        import segno

        rows = [list(row) for row in segno.make(one.code.address, micro=False).matrix_iter(border=BORDER)]
        cells = (f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark)
        return {
            "account": one.account, "code": one.code.user_code, "address": one.code.address, "until": one.until,
            "qr": "".join(cells), "size": len(rows), "line": one.line, "ok": one.ok,
        }  # fmt: skip
