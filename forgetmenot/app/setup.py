"""The set-up, step by step: channel, character, AI model, log-in, mode. The same for the dock and the command line.

Guarantees:
- a step can be left and come back to; each answers with its result as a sentence;
- a key or a token is kept as a secret (secret_store) and never shown again;
- nothing is sent to Twitch chat from here, and a model is asked only for what somebody presses a button for.
"""

import asyncio
import contextlib
import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from forgetmenot.app import autostart
from forgetmenot.app.account import DeviceLogin
from forgetmenot.app.bot import Bot
from forgetmenot.app.control import BotControl, check_settings, try_out
from forgetmenot.app.model_choice import LOCAL_PROGRAMS, local_programs, model_values, models_at, said_by
from forgetmenot.clock import HOUR
from forgetmenot.errors import InputError, TwitchRefused
from forgetmenot.languages import Language, in_language, languages
from forgetmenot.llm.build import KEY_PAGE, TERMS, environment_with_key, kept_key_name
from forgetmenot.operations.catalogue import CHAT, scopes_for
from forgetmenot.secret_store import LOGIN_FOLDER, Account, SecretStore
from forgetmenot.settings.live_settings import RESTARTING, LiveSettings, presets
from forgetmenot.settings.schema import CLIENT_ID, Mode, ModelSettings, Provider, Settings
from forgetmenot.store import events, viewers
from forgetmenot.store.model_calls import Meter
from forgetmenot.text.mentions import channel_of, is_login, login_of
from forgetmenot.twitch.oauth import begin_device_login

EXAMPLE = f"http://127.0.0.1:{LOCAL_PROGRAMS['Ollama']}/v1"
REDIRECT = "http://localhost"
CONSOLE = "https://dev.twitch.tv/console/apps/create"
MOST_LINES = 3
Answer = Mapping[str, object]


class SetupService:
    """Lives as long as the program; `attached` tells it which bot runs at the moment.

    `folder` is the data folder. `restarts`: the program builds the bot anew when the channel or the model changes.
    """

    def __init__(
        self,
        settings: LiveSettings,
        folder: Path,
        *,
        restarts: bool = False,
        use_keyring: bool = True,
        start_options: Sequence[str] = (),
    ) -> None:
        self._settings = settings
        self._start_options = start_options
        self._restarts = restarts
        self._use_keyring = use_keyring
        self._secrets = SecretStore(folder / LOGIN_FOLDER, use_keyring=use_keyring)
        self._stage: tuple[Bot, BotControl] | None = None
        self.login = DeviceLogin(settings, self._secrets.folder, use_keyring=use_keyring)

    @contextlib.contextmanager
    def attached(self, bot: Bot, control: BotControl) -> Iterator[None]:
        """For the time of the block this bot is the one that runs."""
        self._stage = bot, control
        try:
            yield
        finally:
            self._stage = None

    async def run(self, step: str, body: bytes) -> Answer:
        """Do one step with its JSON. Raises InputError and every other error of ours."""
        if step not in _STEPS:
            raise InputError(self._say("setup.no_step"))
        shape, do = _STEPS[step]
        try:
            given = msgspec.json.decode(body or b"{}", type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise InputError(self._say("reason.request_odd")) from None
        generation = self._settings.generation
        done = await do(self, **msgspec.structs.asdict(given))
        return {**done, "restarting": self._restarts and self._settings.generation != generation}

    @property
    def _say(self) -> Language:
        return in_language(self._settings().bot.language)

    def _done(self, key: str, **values: object) -> Answer:
        return {"ok": True, "line": self._say(f"setup.{key}", **values)}

    def _bot(self) -> Bot:
        if self._stage is None:
            raise InputError(self._say("setup.starting"))
        return self._stage[0]

    # ── how it stands ───────────────────────────────────────────────────────────────────────

    async def state(self) -> Answer:
        """What is set up and what is not. No secret stands in it."""
        settings, now = self._settings(), self._stage[1].state() if self._stage else None
        model = settings.model
        heard = await self._heard()
        key_kept = await asyncio.to_thread(self._has_key) if model.provider is Provider.GEMINI else False
        return {
            "file": str(self._settings.path or ""),
            "channel": {
                "name": settings.twitch.channel,
                "phase": now.phase if now else "starting",
                "trouble": (self._say.reason(now.login_trouble) if now and now.phase == "none" else "")
                or (self._say.reason(now.phase_trouble) if now else ""),
                **heard,
            },
            "character": {
                "name": settings.bot.name, "persona": settings.bot.persona, "presets": presets(self._say),
                "own": not any(settings.bot.persona in presets(in_language(one)).values() for one in languages()),
                "sample": self._say("setup.sample"),
            },
            "model": {
                "provider": model.provider, "base_url": model.base_url, "model": model.reply_model,
                "trouble": self._say.reason(now.model_trouble) if now else "", "key_kept": key_kept,
                "terms": self._say.reason(TERMS),
                "key_page": KEY_PAGE, "example": EXAMPLE,
            },
            "login": {
                "client_id": settings.twitch.client_id, "supplied": bool(CLIENT_ID),
                "console": CONSOLE, "redirect": REDIRECT,
                "account": now.login if now else "", "hint": self._say.reason(now.login_hint) if now else "",
                "more": self._more_rights(settings), "pending": self.login.pending(),
            },
            "mode": {"mode": settings.bot.mode, "model": model.provider is not Provider.OFFLINE},
            "autostart": autostart.status().on,
        }  # fmt: skip

    async def _heard(self) -> dict[str, object]:
        """How much of chat waits for its first summary."""
        if self._stage is None:
            return {"waiting": 0, "window": 0, "silence_min": 0}
        db, memory = self._stage[0].db, self._settings().memory
        return {
            "waiting": await events.count_unread(db),
            "window": memory.window_min_events,
            "silence_min": memory.silence_min,
        }

    def _has_key(self) -> bool:
        model = self._settings().model
        return bool(self._environment(model).get(model.api_key_env, ""))

    def _environment(self, model: ModelSettings) -> Mapping[str, str]:
        return environment_with_key(model, self._secrets.folder, use_keyring=self._use_keyring)

    def _more_rights(self, settings: Settings) -> dict[str, bool]:
        """Which accounts could be allowed more than chatting."""
        return {
            "bot": bool(set(scopes_for(Account.BOT, settings)) - set(CHAT)),
            "broadcaster": bool(scopes_for(Account.BROADCASTER, settings)),
        }

    # ── channel ─────────────────────────────────────────────────────────────────────────────

    async def set_channel(self, channel: str) -> Answer:
        """From the next moment on it listens there. `channel`: its name, or its whole address."""
        login = login_of(channel_of(channel))
        if not login or not is_login(login):
            raise InputError(self._say("setup.no_channel"))
        if login == self._settings().twitch.channel:
            return self._done("same_channel", login=login)
        await self._change({("twitch", "channel"): login})
        return self._done("connecting" if self._restarts else "channel_saved", login=login)

    # ── character ───────────────────────────────────────────────────────────────────────────

    async def set_character(self, name: str, persona: str) -> Answer:
        """Keep name and character."""
        if not name.strip():
            raise InputError(self._say("setup.no_name"))
        await self._change({("bot", "name"): name.strip(), ("bot", "persona"): persona.strip()})
        return self._done("character_saved", name=name.strip())

    async def sample(self, name: str, persona: str, text: str = "") -> Answer:
        """What this character would say to a viewer's text, by the model that is set. Raises ModelError."""
        settings = self._settings()
        if settings.model.provider is Provider.OFFLINE:
            return {"ok": True, "text": self._say("setup.no_sample"), "model": ""}
        who = msgspec.structs.replace(settings.bot, name=name.strip() or settings.bot.name, persona=persona)
        changed = msgspec.structs.replace(settings, bot=who)
        check_settings(changed)
        preview = await try_out(self._bot(), "viewer", text.strip() or self._say("setup.sample"), changed)
        return {"ok": True, "text": preview["text"], "model": preview["model"]}

    # ── model ───────────────────────────────────────────────────────────────────────────────

    async def find_programs(self) -> Answer:
        """Programs on this computer that serve a model, with the models they list."""
        return {"ok": True, "programs": await local_programs()}

    async def list_models(self, base_url: str) -> Answer:
        """The models that one address lists."""
        address = base_url.strip().rstrip("/")
        if not address:
            raise InputError(self._say("setup.no_address"))
        address = address if "://" in address else f"http://{address}"
        for place in (address, f"{address}/v1"):
            if (models := await models_at(place)) is not None:
                return {"ok": True, "base_url": place, "models": models}
        raise InputError(self._say("setup.nothing_answers", address=address))

    async def set_model(self, provider: Provider, base_url: str = "", model: str = "", key: str = "") -> Answer:
        """Ask the model for one sentence, and keep the choice if it answers. Raises ModelError, SettingsError.

        An empty `key` keeps the one that is kept already.
        """
        if provider is Provider.OFFLINE:
            await self._change({("model", "provider"): provider.value})
            return self._done("no_model_saved")
        values = model_values(provider, base_url, model, self._settings().model, self._say)
        key = key.strip()
        if key and not (key.isascii() and key.isprintable()):
            raise InputError(self._say("setup.odd_key"))
        if provider is Provider.GEMINI and not key and not await asyncio.to_thread(self._has_key):
            raise InputError(self._say("setup.no_key"))
        bot = self._bot()
        said = await said_by(self._settings().model, values, key, Meter(bot.db, bot.clock), self._environment)
        if key:
            await asyncio.to_thread(self._secrets.save, kept_key_name(ModelSettings().api_key_env), key)
            self._settings.restart()
        fresh = await self._change({("model", name): value for name, value in values.items()})
        place = self._secrets.place(kept_key_name(ModelSettings().api_key_env)) if key else ""
        kept = self._say("setup.key_kept", place=self._say.reason(place)) if key else ""
        later = "" if self._restarts else self._say("setup.later")
        return self._done("model_works", model=fresh.model.reply_model, said=said, kept=kept, later=later)

    # ── log-in ──────────────────────────────────────────────────────────────────────────────

    async def set_client(self, client_id: str) -> Answer:
        """Name the Twitch app. Twitch is asked for a code with it, which shows whether it is one."""
        client_id = client_id.strip()
        if not re.fullmatch(r"[A-Za-z0-9]{8,64}", client_id):
            raise InputError(self._say("setup.odd_client"))
        twitch = msgspec.structs.replace(self._settings().twitch, client_id=client_id)
        try:
            await begin_device_login(msgspec.structs.replace(self._settings(), twitch=twitch), CHAT)
        except TwitchRefused:
            raise InputError(self._say("setup.client_refused")) from None
        await self._change({("twitch", "client_id"): client_id})
        return self._done("client_saved")

    async def begin_login(self, account: Account = Account.BOT, every_right: bool = False) -> Answer:  # noqa: FBT001, FBT002  # JSON
        """Ask Twitch for a code, and wait for it to be typed.

        With every right that the settings need, or with those for chatting alone.
        """
        every = every_right or account is Account.BROADCASTER
        scopes = scopes_for(account, self._settings()) if every else CHAT
        await self.login.begin(account, scopes)
        return {"ok": True, "pending": self.login.pending()}

    async def cancel_login(self) -> Answer:
        """Wait no longer for the code to be typed."""
        await self.login.aclose()
        return self._done("cancelled")

    # ── mode ────────────────────────────────────────────────────────────────────────────────

    async def preview(self) -> Answer:
        """What it would have said to real lines of the last hour. Raises ModelError."""
        bot = self._bot()
        await bot.ingest.flush()
        now = bot.clock.now()
        lines = await events.lines(bot.db, since=now - HOUR, until=now, limit=200)
        ranked = sorted(lines, key=lambda line: ("?" in line.text, line.at), reverse=True)
        names = await viewers.get_many(bot.db, {line.viewer_id for line in lines})
        shown: list[dict[str, object]] = []
        for line in islice(ranked, MOST_LINES):
            who = names[line.viewer_id]
            preview = await try_out(bot, who.login or line.viewer_id, line.text)
            shown.append({"who": who.display_name or who.login, "line": line.text, "text": preview["text"]})
        return {"ok": True, "lines": shown, "heard": len(lines)}

    async def set_mode(self, mode: Mode, *, sure: bool = False) -> Answer:
        """Switch the mode. To speak without an AI model is asked about first. `sure`: that was answered with yes."""
        settings = self._settings()
        offline = settings.model.provider is Provider.OFFLINE
        if mode is not Mode.SHADOW and offline and not sure:
            return {"ok": False, "ask": self._say("setup.no_model_question"), "yes": self._say("setup.no_model_yes")}
        await self._change({("bot", "mode"): mode.value})
        return self._done(mode.value)

    # ── the other settings ──────────────────────────────────────────────────────────────────

    async def set_value(self, table: str, key: str, value: Any) -> Answer:  # noqa: ANN401  # as the setting has it
        """Change one setting."""
        if (table, key) == ("bot", "mode"):
            with contextlib.suppress(ValueError):
                return await self.set_mode(Mode(value))
        if (table, key) == ("bot", "name") and not str(value).strip():
            raise InputError(self._say("setup.no_name"))
        values: dict[tuple[str, str], object] = {(table, key): value}
        if (table, key) == ("bot", "language"):
            values |= self._same_character(in_language(str(value)))
        await self._change(values)
        restarting = table in RESTARTING and not self._restarts
        return self._done("saved_later" if restarting else "saved")

    def _same_character(self, language: Language) -> dict[tuple[str, str], object]:
        """The character in another language, if it is one of those to begin with."""
        texts = zip(presets(self._say).values(), presets(language).values(), strict=True)
        there = dict(texts).get(self._settings().bot.persona)
        return {("bot", "persona"): there} if there else {}

    async def set_autostart(self, *, on: bool) -> Answer:
        """Start with the computer, or not."""
        if on:
            await asyncio.to_thread(autostart.enable, self._start_options)
        else:
            await asyncio.to_thread(autostart.disable)
        return self._done("autostart_on" if on else "autostart_off")

    async def _change(self, values: Mapping[tuple[str, str], object]) -> Settings:
        fresh = await asyncio.to_thread(self._settings.change_all, values, check_settings)
        if self._stage is not None:
            await self._stage[0].keeper.refresh()
        return fresh


_Do = Callable[..., Awaitable[Answer]]


def _shape(do: _Do) -> type[msgspec.Struct]:
    """The JSON that a step takes: what its function is given, by name."""
    hints, given = get_type_hints(do), list(inspect.signature(do).parameters.values())[1:]
    fields = [(one.name, hints[one.name], *(() if one.default is one.empty else (one.default,))) for one in given]
    return msgspec.defstruct(do.__name__, fields, forbid_unknown_fields=True)


_FUNCTIONS: dict[str, _Do] = {
    "channel": SetupService.set_channel,
    "character": SetupService.set_character,
    "sample": SetupService.sample,
    "programs": SetupService.find_programs,
    "models": SetupService.list_models,
    "model": SetupService.set_model,
    "client": SetupService.set_client,
    "login": SetupService.begin_login,
    "cancel": SetupService.cancel_login,
    "preview": SetupService.preview,
    "mode": SetupService.set_mode,
    "set": SetupService.set_value,
    "autostart": SetupService.set_autostart,
}
_STEPS = {name: (_shape(do), do) for name, do in _FUNCTIONS.items()}
