"""The set-up, step by step: channel, AI model, character, log-in, mode; and what the dock does besides operations.

Guarantees:
- a step can be left and come back to; each answers with its result as a sentence;
- a key or a token is kept as a secret (secret_store) and never shown again;
- nothing is sent to Twitch chat from here, and a model is asked only for what somebody presses a button for.
"""

import asyncio
import contextlib
import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_type_hints

import aiohttp
import msgspec
from msgspec.structs import asdict

from forgetmenot.app import autostart
from forgetmenot.app.account import DeviceLogin, login_rights
from forgetmenot.app.control import LONGEST, BotControl, check_settings, try_out
from forgetmenot.app.past_chat_upload import PastChatUpload
from forgetmenot.app.recap_sharing import WEBHOOK, RecapSharing, webhook_address
from forgetmenot.app.stream_input import OBS_PASSWORD
from forgetmenot.dock import obs_page, security
from forgetmenot.errors import InputError, TwitchRefused
from forgetmenot.languages import Language, in_language, languages, reason
from forgetmenot.llm.build import (
    KEY_PAGE,
    TERMS,
    environment_with_key,
    first_words,
    is_loopback,
    keep_key,
    key_variable,
)
from forgetmenot.memory import backups
from forgetmenot.network import body_of, web_session
from forgetmenot.operations.actions import CHAT
from forgetmenot.secret_store import LOGIN_FOLDER, Account, SecretStore
from forgetmenot.settings.live_settings import LiveSettings, presets
from forgetmenot.settings.load import supplied_client_id
from forgetmenot.settings.schema import Mode, ModelSettings, Provider
from forgetmenot.store.counts import Meter
from forgetmenot.text.mentions import channel_in_address, is_login, login_of
from forgetmenot.twitch.login import begin_device_login

# Programs that serve a model on this computer, and their usual ports.
LOCAL_PROGRAMS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080}
LOOK_FOR_S = 1.5  # a program on this computer answers at once, or is not there
ASK_WITHIN_S = 8.0  # a hosted service is further away
MOST_MODELS = 200
LARGEST_LIST = 2 * 1024 * 1024
EXAMPLE = f"http://127.0.0.1:{LOCAL_PROGRAMS['Ollama']}/v1"
REDIRECT = "http://localhost"
CONSOLE = "https://dev.twitch.tv/console/apps/create"
STEP = "step_"
ANSWER_FIRST_S = 0.3  # the page gets its answer before the server that gives it is gone
Answer = Mapping[str, object]
DONE: Answer = {"ok": True, "line": ""}  # the page shows by itself what came of it


class SetupService:
    """Lives as long as the program; `attached` tells it which bot runs at the moment.

    `folder` is the data folder. `restarts`: the program builds the bot anew when the channel or the model changes.
    `stop`: ends the program, where somebody started it for good.
    """

    def __init__(
        self,
        settings: LiveSettings,
        folder: Path,
        *,
        restarts: bool = False,
        use_keyring: bool = True,
        start_options: Sequence[str] = (),
        stop: Callable[[], None] | None = None,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._stop = stop
        self._start_options = start_options
        self._restarts = restarts
        self._use_keyring = use_keyring
        self._secrets = SecretStore(folder / LOGIN_FOLDER, use_keyring=use_keyring)
        self._control: BotControl | None = None
        self._past_chat: PastChatUpload | None = None
        self.login = DeviceLogin(settings, self._secrets.folder, use_keyring=use_keyring)

    @contextlib.asynccontextmanager
    async def attached(self, control: BotControl) -> AsyncIterator[None]:
        """For the time of the block this bot is the one that runs."""
        self._control, self._past_chat = control, PastChatUpload(control.bot, self._settings)
        try:
            yield
        finally:
            await self._past_chat.aclose()
            self._control = self._past_chat = None

    async def run(self, step: str, body: bytes) -> Answer:
        """Do one step with its JSON. Raises InputError and every other error of ours."""
        try:
            shape, do = _STEPS[step]
            given = msgspec.json.decode(body or b"{}", type=shape)
        except (KeyError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise InputError(self._say("reason.request_odd")) from None
        generation = self._settings.generation
        try:
            done = await do(self, **msgspec.structs.asdict(given))
        except OverflowError:  # a number that SQLite has no room for
            raise InputError(self._say("reason.request_odd")) from None
        return {**done, "restarting": self._restarts and self._settings.generation != generation}

    @property
    def _say(self) -> Language:
        return in_language(self._settings().bot.language)

    def _done(self, key: str = "saved", **values: object) -> Answer:
        return {"ok": True, "line": self._say(f"setup.{key}", **values)}

    def _running(self) -> BotControl:
        if self._control is None:
            raise InputError(self._say("setup.starting"))
        return self._control

    # ── how it stands ───────────────────────────────────────────────────────────────────────

    async def state(self) -> Answer:
        """What is set up and what is not. No secret stands in it."""
        settings, now = self._settings(), self._control.state() if self._control else None
        model, key_kept = settings.model, await asyncio.to_thread(self._has_key, settings.model)
        trouble = (now.phase == "none" and now.login_trouble) or now.phase_trouble if now else ""
        return {
            "channel": {
                "name": settings.twitch.channel, "phase": now.phase if now else "starting",
                "trouble": self._say.reason(trouble),
            },
            "character": {
                "name": settings.bot.name, "persona": settings.bot.persona, "presets": presets(self._say),
                "own": not any(settings.bot.persona in presets(in_language(one)).values() for one in languages()),
                "sample": self._say("setup.sample"),
            },
            "model": {
                "provider": model.provider, "base_url": model.base_url, "model": model.reply_model,
                "local": is_loopback(model.base_url),
                "trouble": self._say.reason(now.model_trouble) if now else "", "key_kept": key_kept,
                "terms": self._say.reason(TERMS),
                "key_page": KEY_PAGE, "example": EXAMPLE,
            },
            "login": {
                "client_id": settings.twitch.client_id, "supplied": bool(supplied_client_id()),
                "console": CONSOLE, "redirect": REDIRECT,
                "account": now.login if now else "", "pending": self.login.pending(),
                "trouble": self._say.reason(now.login_trouble) if now else "",
                "streamer": now is not None and now.login != settings.twitch.channel,
            },
            "hearing": {
                **asdict(settings.hearing),
                "now": asdict(now.hearing) if now and now.hearing else None,
            },
            "past_chat": self._past_chat.state if self._past_chat else None,
            "autostart": autostart.is_on(),
            "quit": self._stop is not None,
        }  # fmt: skip

    def _has_key(self, model: ModelSettings) -> bool:
        return model.provider is not Provider.OFFLINE and bool(
            self._environment(model).get(key_variable(model), "")
        )

    def _environment(self, model: ModelSettings) -> Mapping[str, str]:
        return environment_with_key(model, self._secrets.folder, use_keyring=self._use_keyring)

    # ── channel ─────────────────────────────────────────────────────────────────────────────

    async def step_channel(self, channel: str) -> Answer:
        """Listen there. `channel`: its name, or its whole address."""
        login = login_of(channel_in_address(channel))
        if not login or not is_login(login):
            raise InputError(reason("no_login", name=login))
        await self._change({("twitch", "channel"): login})
        return self._done()

    # ── character ───────────────────────────────────────────────────────────────────────────

    async def step_character(self, name: str, persona: str) -> Answer:
        """Keep name and character."""
        if not name.strip():
            raise InputError(self._say("setup.no_name"))
        await self._change({("bot", "name"): name.strip(), ("bot", "persona"): persona.strip()})
        return self._done()

    async def step_sample(self, name: str, persona: str, text: str = "") -> Answer:
        """What this character would say to a viewer's text, by the model that is set. Raises ModelError."""
        settings = self._settings()
        if settings.model.provider is Provider.OFFLINE:
            return {"ok": True, "text": self._say("setup.no_sample"), "model": ""}
        who = msgspec.structs.replace(
            settings.bot, name=name.strip() or settings.bot.name, persona=persona
        )
        changed = msgspec.structs.replace(settings, bot=who)
        check_settings(changed)
        # after a change of the model the old bot still runs for a moment; the page asks again when it has gone
        while (  # noqa: ASYNC110
            self._restarts and self._running().bot.models.reply.name != settings.model.reply_model
        ):
            await asyncio.sleep(ANSWER_FIRST_S)
        preview = await try_out(
            self._running().bot, "viewer", text.strip() or self._say("setup.sample"), changed
        )
        return {"ok": True, "text": preview["text"], "model": preview["model"]}

    # ── model ───────────────────────────────────────────────────────────────────────────────

    async def step_programs(self) -> Answer:
        """Programs on this computer that serve a model, with the models they list."""
        addresses = {name: f"http://127.0.0.1:{port}/v1" for name, port in LOCAL_PROGRAMS.items()}
        lists = await asyncio.gather(*(models_at(address) for address in addresses.values()))
        found = [
            {"name": name, "base_url": address, "models": models}
            for (name, address), models in zip(addresses.items(), lists, strict=True)
            if models is not None
        ]
        return {"ok": True, "programs": found}

    async def step_models(self, base_url: str, key: str = "") -> Answer:
        """The models that one address lists. `key`: for a service that wants one; else the one that is kept for it."""
        address = base_url.strip().rstrip("/")
        if not address:
            raise InputError(self._say("setup.no_address"))
        here = is_loopback(address if "://" in address else f"http://{address}")
        address = address if "://" in address else f"http{'' if here else 's'}://{address}"
        wanted = ModelSettings(provider=Provider.OPENAI_COMPATIBLE, base_url=address)
        key = (
            ""
            if here
            else key.strip()
            or (await asyncio.to_thread(self._environment, wanted))[key_variable(wanted)]
        )
        for place in (address, f"{address}/v1"):
            if (models := await models_at(place, key)) is not None:
                return {"ok": True, "base_url": place, "models": models}
        raise InputError(
            self._say("setup.no_program" if here else "setup.no_service", address=address)
        )

    async def step_model(
        self, provider: Provider, base_url: str = "", model: str = "", key: str = ""
    ) -> Answer:
        """Ask the model for one sentence, and keep the choice if it answers. Raises ModelError, SettingsError.

        An empty `key` keeps the one that is kept already.
        """
        if provider is Provider.OFFLINE:
            await self._change({("model", "provider"): provider.value})
            return self._done()
        wanted = _chosen(provider, base_url, model, self._settings().model, self._say)
        key = key.strip()
        needed = (
            provider is Provider.GEMINI
            and not key
            and not await asyncio.to_thread(self._has_key, wanted)
        )
        if needed or not (key.isascii() and key.isprintable()):
            raise InputError(self._say("setup.no_key"))
        if (
            key
            and not wanted.base_url.startswith("https://")
            and provider is Provider.OPENAI_COMPATIBLE
        ):
            raise InputError(self._say("setup.not_https"))
        bot, environ = self._running().bot, await asyncio.to_thread(self._environment, wanted)
        environ = {**environ, key_variable(wanted): key} if key else environ
        meter = Meter(bot.db, bot.clock, lambda: self._settings().bot.timezone)
        said = await first_words(wanted, meter, environ)
        if key:
            await asyncio.to_thread(keep_key, self._secrets, wanted, key)
            self._settings.restart()
        names = ("provider", "base_url", "reply_model", "memory_model")
        await self._change({("model", name): getattr(wanted, name) for name in names})
        return self._done("model_works", model=wanted.reply_model, said=said)

    # ── log-in ──────────────────────────────────────────────────────────────────────────────

    async def step_client(self, client_id: str) -> Answer:
        """Name the Twitch app. Twitch is asked for a code with it, which shows whether it is one."""
        client_id = client_id.strip()
        if not re.fullmatch(r"[A-Za-z0-9]{8,64}", client_id):
            raise InputError(self._say("setup.client_refused"))
        twitch = msgspec.structs.replace(self._settings().twitch, client_id=client_id)
        try:
            # Twitch has no other way to ask whether an app exists and may use the device flow
            await begin_device_login(msgspec.structs.replace(self._settings(), twitch=twitch), CHAT)
        except TwitchRefused:
            raise InputError(self._say("setup.client_refused")) from None
        await self._change({("twitch", "client_id"): client_id})
        return self._done()

    async def step_login(self, account: Account = Account.BOT) -> Answer:
        """Ask Twitch for a code with every right that the settings need, and wait for it to be typed."""
        await self.login.begin(account, login_rights(account, self._settings()))
        return {"ok": True, "pending": self.login.pending()}

    # ── captions ────────────────────────────────────────────────────────────────────────────

    async def step_sources(self, obs: str, password: str = "") -> Answer:
        """The text sources of an OBS. A password that works is kept. Raises HearingError."""
        from forgetmenot.hearing.sources import text_sources

        kept = await asyncio.to_thread(self._secrets.load, OBS_PASSWORD)
        sources = await text_sources(obs.strip(), password or kept or "")
        if password:
            await asyncio.to_thread(self._secrets.save, OBS_PASSWORD, password)
            self._settings.restart()
        return {
            "ok": True,
            "sources": sources,
            "line": "" if sources else self._say("setup.no_sources"),
        }

    async def step_hearing(self, obs: str, source: str, captions: str, *, programs: bool) -> Answer:
        """Keep where the streamer's captions come from; all empty: nothing is heard."""
        source = source.strip()
        given = {
            "obs": obs.strip() if source else "",
            "source": source,
            "captions": captions.strip(),
        }
        await self._change(
            {("hearing", key): value for key, value in {**given, "programs": programs}.items()}
        )
        return self._done()

    # ── chat of past streams ────────────────────────────────────────────────────────────────

    def _upload(self) -> PastChatUpload:
        self._running()
        assert self._past_chat is not None  # noqa: S101  # it comes and goes with the bot
        return self._past_chat

    async def take_file(self, name: str, size: int | None, pieces: AsyncIterator[bytes]) -> Answer:
        """Keep a file to learn from until it was learned from. Raises InputError, StoreError."""
        await self._upload().take(name, size, pieces)
        return DONE

    async def step_past(self, do: Literal["look", "learn", "stop", "drop"]) -> Answer:
        """Say what learning from the files takes; begin or go on; stop soon; or delete the files."""
        upload = self._upload()
        if do == "look":
            return await upload.look()
        {"learn": upload.learn, "stop": upload.stop, "drop": upload.drop}[do]()
        return self._done("past_stopping") if do == "stop" else DONE

    # ── recaps ──────────────────────────────────────────────────────────────────────────────

    def _recaps(self) -> RecapSharing:
        bot = self._running().bot
        return RecapSharing(
            db=bot.db, settings=self._settings, clock=bot.clock, secrets=self._secrets
        )

    async def step_recap(self, stream: int) -> Answer:
        """The recap of a stream that is over, and where it went."""
        return {"ok": True, "line": "", **await self._recaps().show(stream)}

    async def step_post_recap(
        self, stream: int, *, again: bool = False, picture: bytes = b""
    ) -> Answer:
        """Post it to Discord, or once more. `picture`: of the evening, as the dock drew it. Raises WebhookError."""
        await self._recaps().post(stream, again=again, picture=picture)
        return DONE

    async def step_webhook(self, address: str) -> Answer:
        """Keep the address of a Discord webhook as a secret; an empty one deletes it."""
        if not address.strip():
            await asyncio.to_thread(self._secrets.delete, WEBHOOK)
        else:
            await asyncio.to_thread(self._secrets.save, WEBHOOK, webhook_address(address))
        return self._done()

    # ── what it says ────────────────────────────────────────────────────────────────────────────

    async def step_try(self, viewer: str, text: str) -> Answer:
        """What it would say to that, without sending or doing anything. Raises ModelError."""
        if not text.strip() or len(text) > LONGEST:
            raise InputError(reason("text_needed", most=LONGEST))
        return {"ok": True, **await try_out(self._running().bot, viewer, text)}

    async def step_listen(self, *, on: bool) -> Answer:
        """Stop hearing the streamer at once, or go on. Raises StoreError."""
        await self._running().stream.listen(on=on)
        return DONE

    async def step_mode(self, mode: Mode, *, sure: bool = False) -> Answer:
        """Switch the mode. To speak without an AI model is asked about first. `sure`: that was answered with yes."""
        settings = self._settings()
        offline = settings.model.provider is Provider.OFFLINE
        if mode is not Mode.SHADOW and offline and not sure:
            return {
                "ok": False,
                "ask": self._say("setup.no_model_question"),
                "yes": self._say("setup.no_model_yes"),
            }
        await self._change({("bot", "mode"): mode.value})
        return self._done()

    # ── the other settings ──────────────────────────────────────────────────────────────────

    async def step_set(self, table: str, key: str, value: Any) -> Answer:  # noqa: ANN401  # as the setting has it
        """Change one setting."""
        if (table, key) == ("bot", "mode"):
            with contextlib.suppress(ValueError):
                return await self.step_mode(Mode(value))
        if (table, key) == ("bot", "name") and not str(value).strip():
            raise InputError(self._say("setup.no_name"))
        values: dict[tuple[str, str], object] = {(table, key): value}
        if (table, key) == ("bot", "language"):
            # a character to begin with stays the same one in the other language
            texts = zip(
                presets(self._say).values(), presets(in_language(str(value))).values(), strict=True
            )
            if there := dict(texts).get(self._settings().bot.persona):
                values["bot", "persona"] = there
        await self._change(values)
        return self._done()

    async def step_autostart(self, *, on: bool) -> Answer:
        """Start with the computer, or not."""
        await (
            asyncio.to_thread(autostart.enable, self._start_options)
            if on
            else asyncio.to_thread(autostart.disable)
        )
        return self._done()

    # ── backup, OBS, quit ───────────────────────────────────────────────────────────────────

    async def step_backup(self) -> Answer:
        """Make a copy of the memory now. Raises StoreError."""
        bot = self._running().bot
        made = await backups.make(
            bot.db, at=bot.clock.now(), keep=max(1, self._settings().privacy.keep_backups)
        )
        return self._done("backed_up", file=made.path)

    async def step_obs(self) -> Answer:
        """Write the page that OBS is pointed to; its address. Raises StoreError."""
        token = await asyncio.to_thread(security.token_in, self._folder)
        page = await asyncio.to_thread(
            obs_page.write, self._folder, self._settings().dock.port, token, self._say
        )
        return {"ok": True, "line": "", "address": page.absolute().as_uri()}

    async def step_quit(self) -> Answer:
        """Stop the program, after this answer has reached the page."""
        if self._stop is None:
            raise InputError(self._say("reason.request_odd"))
        asyncio.get_running_loop().call_later(ANSWER_FIRST_S, self._stop)
        return self._done("quitting")

    async def _change(self, values: Mapping[tuple[str, str], object]) -> None:
        await asyncio.to_thread(self._settings.change, values, check_settings)
        if self._control is not None:
            await self._control.bot.keeper.refresh()


_Do = Callable[..., Awaitable[Answer]]


def _shape(do: _Do) -> type[msgspec.Struct]:
    """The JSON that a step takes: what its function is given, by name."""
    hints, given = get_type_hints(do), list(inspect.signature(do).parameters.values())[1:]
    fields = [
        (one.name, hints[one.name], *(() if one.default is one.empty else (one.default,)))
        for one in given
    ]
    return msgspec.defstruct(do.__name__, fields, forbid_unknown_fields=True)


_STEPS = {
    name.removeprefix(STEP): (_shape(do), do)
    for name, do in vars(SetupService).items()
    if name.startswith(STEP)
}


# Choosing an AI model: which programs on this computer serve one, and what a service lists.


def _chosen(
    provider: Provider, base_url: str, model: str, now: ModelSettings, say: Language
) -> ModelSettings:
    """The table [model] that a choice means. Raises InputError."""
    if provider is Provider.GEMINI:
        now = now if now.provider is Provider.GEMINI else ModelSettings(provider=provider)
        return msgspec.structs.replace(now, **({"reply_model": model} if model else {}))
    model, base_url = model.strip(), base_url.strip().rstrip("/")
    if not (base_url and model):
        raise InputError(say("setup.no_address"))
    return msgspec.structs.replace(
        now, provider=provider, base_url=base_url, reply_model=model, memory_model=model
    )


async def models_at(base_url: str, key: str = "") -> list[str] | None:
    """The models that a server lists; None if nothing that does answers there."""
    here = is_loopback(base_url)
    timeout = aiohttp.ClientTimeout(total=LOOK_FOR_S if here else ASK_WITHIN_S)
    headers = {"Authorization": f"Bearer {key}"} if key and base_url.startswith("https://") else {}
    try:
        async with (
            web_session(timeout) as session,
            session.get(
                f"{base_url.rstrip('/')}/models", headers=headers, allow_redirects=False
            ) as answer,
        ):
            answered = msgspec.json.decode(await body_of(answer, LARGEST_LIST), type=dict[str, Any])
        return [str(one["id"]) for one in answered["data"][:MOST_MODELS]]
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, LookupError, TypeError):
        return None
