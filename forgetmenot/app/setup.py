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
from msgspec.structs import asdict, replace

from forgetmenot.app import autostart
from forgetmenot.app.account import DeviceLogin, login_rights
from forgetmenot.app.control import LONGEST_MESSAGE, BotControl, check_settings, try_out
from forgetmenot.app.past_chat_upload import PastChatUpload
from forgetmenot.app.recap_sharing import WEBHOOK, RecapSharing, webhook_address
from forgetmenot.app.stream_input import OBS_PASSWORD
from forgetmenot.dock import obs_page, security
from forgetmenot.errors import ODD_INPUT, InputError, TwitchRefused
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
from forgetmenot.ports import BotState
from forgetmenot.secret_store import LOGIN_FOLDER, Account, SecretStore
from forgetmenot.settings.live_settings import LiveSettings, NewValues, presets
from forgetmenot.settings.load import supplied_client_id
from forgetmenot.settings.schema import Mode, ModelSettings, Provider
from forgetmenot.store.counts import Meter
from forgetmenot.text.mentions import channel_in_address, is_login, login_of
from forgetmenot.twitch.login import begin_device_login

# Programs that serve a model on this computer, and their usual ports.
LOCAL_PROGRAMS = {
    "Ollama": 11434,
    "LM Studio": 1234,
    "llama.cpp": 8080,
}
# A program on this computer answers at once, or is not there.
LOOK_FOR_S = 1.5
# A hosted service is further away.
ASK_WITHIN_S = 8.0
MOST_MODELS = 200
LARGEST_LIST = 2 * 1024 * 1024
EXAMPLE = f"http://127.0.0.1:{LOCAL_PROGRAMS['Ollama']}/v1"
REDIRECT = "http://localhost"
CONSOLE = "https://dev.twitch.tv/console/apps/create"
# The page gets its answer before the server that gives it is gone.
ANSWER_FIRST_S = 0.3
Answer = Mapping[str, object]
# The page shows by itself what came of it.
DONE: Answer = {"ok": True, "line": ""}


# How the bot is while it is built.
STARTING = BotState(
    login="",
    phase="starting",
    phase_trouble="",
    login_trouble="",
    reply_model="",
    memory_model="",
    model_trouble="",
    memory_trouble="",
    task_troubles=(),
    settings_file="",
)


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
        self.settings = settings
        self.folder = folder
        self.stop = stop
        self.start_options = start_options
        self.restarts = restarts
        self.use_keyring = use_keyring
        self.secrets = SecretStore(folder / LOGIN_FOLDER, use_keyring=use_keyring)
        self.control: BotControl | None = None
        self.past_chat: PastChatUpload | None = None
        self.login = DeviceLogin(settings, self.secrets.folder, use_keyring=use_keyring)

    @contextlib.asynccontextmanager
    async def attached(self, control: BotControl) -> AsyncIterator[None]:
        """For the time of the block this bot is the one that runs."""
        self.control = control
        self.past_chat = PastChatUpload(control.bot, self.settings)
        try:
            yield
        finally:
            await self.past_chat.aclose()
            self.control = None
            self.past_chat = None

    async def run(self, step: str, body: bytes) -> Answer:
        """Do one step with its JSON. Raises InputError and every other error of ours."""
        try:
            shape, step_function = STEPS[step]
            values = msgspec.json.decode(body or b"{}", type=shape)
        except (KeyError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise InputError(self.say("reason.request_odd")) from None
        generation = self.settings.generation
        answer = await step_function(self, **asdict(values))
        is_restarting = self.restarts and self.settings.generation != generation
        return {**answer, "restarting": is_restarting}

    @property
    def say(self) -> Language:
        """Return the language that is set now."""
        return in_language(self.settings().bot.language)

    def done(self, key: str = "saved", **values: object) -> Answer:
        """Return the answer of a step that worked, with a text of the table [setup]."""
        line = self.say(f"setup.{key}", **values)
        return {"ok": True, "line": line}

    def running(self) -> BotControl:
        """Return the bot that runs. Raises InputError while it starts."""
        if self.control is None:
            raise InputError(self.say("setup.starting"))
        return self.control

    # ── how it stands ───────────────────────────────────────────────────────────────────────

    async def state(self) -> Answer:
        """Return what is set up and what is not. No secret stands in it."""
        settings = self.settings()
        say = self.say
        model = settings.model
        bot = STARTING
        if self.control is not None:
            bot = self.control.state()
        # Without a connection the log-in is what keeps the bot from its channel.
        phase_trouble = bot.phase_trouble
        if bot.phase == "none" and bot.login_trouble:
            phase_trouble = bot.login_trouble
        is_streamer_missing = (
            bot is not STARTING and bot.login != settings.twitch.channel
        )
        hearing_now = None
        if bot.hearing is not None:
            hearing_now = asdict(bot.hearing)
        past_chat = None
        if self.past_chat is not None:
            past_chat = self.past_chat.state
        has_key = await asyncio.to_thread(self.has_key, model)
        persona = settings.bot.persona
        return {
            "channel": {
                "name": settings.twitch.channel,
                "phase": bot.phase,
                "trouble": say.reason(phase_trouble),
            },
            "character": {
                "name": settings.bot.name,
                "persona": persona,
                "presets": presets(say),
                "own": not _is_preset(persona),
                "sample": say("setup.sample"),
            },
            "model": {
                "provider": model.provider,
                "base_url": model.base_url,
                "model": model.reply_model,
                "local": is_loopback(model.base_url),
                "trouble": say.reason(bot.model_trouble),
                "key_kept": has_key,
                "terms": say.reason(TERMS),
                "key_page": KEY_PAGE,
                "example": EXAMPLE,
            },
            "login": {
                "client_id": settings.twitch.client_id,
                "supplied": bool(supplied_client_id()),
                "console": CONSOLE,
                "redirect": REDIRECT,
                "account": bot.login,
                "pending": self.login.pending(),
                "trouble": say.reason(bot.login_trouble),
                "streamer": is_streamer_missing,
            },
            "hearing": {
                **asdict(settings.hearing),
                "now": hearing_now,
            },
            "past_chat": past_chat,
            "autostart": autostart.is_on(),
            "quit": self.stop is not None,
        }

    def has_key(self, model: ModelSettings) -> bool:
        """Return whether there is a key for a model, in the environment or as a secret."""
        if model.provider is Provider.OFFLINE:
            return False
        environment = self.environment(model)
        key = environment.get(key_variable(model))
        return bool(key)

    def environment(self, model: ModelSettings) -> Mapping[str, str]:
        """Return the environment with the key that is kept for a model."""
        return environment_with_key(
            model, self.secrets.folder, use_keyring=self.use_keyring
        )

    def upload(self) -> PastChatUpload:
        """Return the chat of past streams that was dropped on the dock. Raises InputError while the bot starts."""
        self.running()
        assert self.past_chat is not None  # noqa: S101  # it comes and goes with the bot
        return self.past_chat

    async def take_file(
        self,
        name: str,
        size: int | None,
        pieces: AsyncIterator[bytes],
    ) -> Answer:
        """Keep a file to learn from until it was learned from. Raises InputError, StoreError."""
        await self.upload().take(name, size, pieces)
        return DONE

    def recaps(self) -> RecapSharing:
        """Return what the dock does with recaps. Raises InputError while the bot starts."""
        bot = self.running().bot
        return RecapSharing(
            db=bot.db,
            settings=self.settings,
            clock=bot.clock,
            secrets=self.secrets,
        )

    async def change(self, values: NewValues) -> None:
        """Change settings, by table and key. Raises SettingsError."""
        await asyncio.to_thread(self.settings.change, values, check_settings)
        if self.control is not None:
            await self.control.bot.keeper.refresh()


# ── channel ─────────────────────────────────────────────────────────────────────────────────────


async def step_channel(setup: SetupService, channel: str) -> Answer:
    """Listen there. `channel`: its name, or its whole address."""
    login = login_of(channel_in_address(channel))
    if not login or not is_login(login):
        raise InputError(reason("no_login", name=login))
    await setup.change({("twitch", "channel"): login})
    return setup.done()


# ── character ───────────────────────────────────────────────────────────────────────────────────


async def step_character(
    setup: SetupService,
    name: str,
    persona: str,
) -> Answer:
    """Keep name and character."""
    name = name.strip()
    if not name:
        raise InputError(setup.say("setup.no_name"))
    values = {
        ("bot", "name"): name,
        ("bot", "persona"): persona.strip(),
    }
    await setup.change(values)
    return setup.done()


async def step_sample(
    setup: SetupService,
    name: str,
    persona: str,
    text: str = "",
) -> Answer:
    """Return what this character would say to a viewer's text, by the model that is set. Raises ModelError."""
    settings = setup.settings()
    if settings.model.provider is Provider.OFFLINE:
        no_sample = setup.say("setup.no_sample")
        return {"ok": True, "text": no_sample, "model": ""}
    bot_name = name.strip() or settings.bot.name
    character = replace(settings.bot, name=bot_name, persona=persona)
    changed = replace(settings, bot=character)
    check_settings(changed)
    # after a change of the model the old bot still runs for a moment; the page asks again when it has gone
    while setup.restarts and not _has_model(setup, settings.model):
        await asyncio.sleep(ANSWER_FIRST_S)
        # Yet another model was chosen meanwhile: no bot with this one will come.
        if setup.settings().model != settings.model:
            raise InputError(setup.say("setup.starting"))
    bot = setup.running().bot
    viewers_text = text.strip() or setup.say("setup.sample")
    preview = await try_out(bot, "viewer", viewers_text, changed)
    return {
        "ok": True,
        "text": preview["text"],
        "model": preview["model"],
    }


def _has_model(setup: SetupService, model: ModelSettings) -> bool:
    """Return whether the bot that runs replies by this model. Raises InputError while it starts."""
    models = setup.running().bot.models
    return models.reply.name == model.reply_model


# ── model ───────────────────────────────────────────────────────────────────────────────────────


async def step_programs(_setup: SetupService) -> Answer:
    """Programs on this computer that serve a model, with the models they list."""
    addresses = []
    for port in LOCAL_PROGRAMS.values():
        addresses.append(f"http://127.0.0.1:{port}/v1")
    # Together: each that is not there takes the whole time limit.
    lists = await asyncio.gather(*map(models_at, addresses))
    programs = []
    for name, address, models in zip(LOCAL_PROGRAMS, addresses, lists, strict=True):
        if models is None:
            continue
        program = {"name": name, "base_url": address, "models": models}
        programs.append(program)
    return {"ok": True, "programs": programs}


async def step_models(
    setup: SetupService,
    base_url: str,
    key: str = "",
) -> Answer:
    """Return the models that one address lists.

    `key`: for a service that wants one; else the one that is kept for it.
    """
    address = base_url.strip().rstrip("/")
    if not address:
        raise InputError(setup.say("setup.no_address"))
    if "://" in address:
        is_local = is_loopback(address)
    else:
        is_local = is_loopback(f"http://{address}")
        scheme = "http" if is_local else "https"
        address = f"{scheme}://{address}"
    # A program on this computer asks for none.
    key = "" if is_local else key.strip()
    if not key and not is_local:
        key = await _kept_key(setup, address)
    for base in (address, f"{address}/v1"):
        models = await models_at(base, key)
        if models is not None:
            return {"ok": True, "base_url": base, "models": models}
    trouble = "setup.no_program" if is_local else "setup.no_service"
    raise InputError(setup.say(trouble, address=address))


async def _kept_key(setup: SetupService, address: str) -> str:
    """Return the key that is kept for a service; empty if there is none."""
    service = ModelSettings(
        provider=Provider.OPENAI_COMPATIBLE,
        base_url=address,
    )
    environment = await asyncio.to_thread(setup.environment, service)
    return environment[key_variable(service)]


async def step_model(
    setup: SetupService,
    provider: Provider,
    base_url: str = "",
    model: str = "",
    key: str = "",
) -> Answer:
    """Ask the model for one sentence, and keep the choice if it answers. Raises ModelError, SettingsError.

    An empty `key` keeps the one that is kept already.
    """
    if provider is Provider.OFFLINE:
        await setup.change({("model", "provider"): provider.value})
        return setup.done()
    current = setup.settings().model
    chosen = _chosen(provider, base_url, model, current, setup.say)
    key = key.strip()
    await _refuse_key(setup, chosen, key)
    bot = setup.running().bot
    environment = await asyncio.to_thread(setup.environment, chosen)
    if key:
        environment = {**environment, key_variable(chosen): key}
    timezone = setup.settings().bot.timezone
    meter = Meter(bot.db, bot.clock, lambda: timezone)
    # An answer proves key, address and name of the model before anything is kept.
    words = await first_words(chosen, meter, environment)
    if key:
        await asyncio.to_thread(keep_key, setup.secrets, chosen, key)
        # Another key alone changes no setting that the bot is built from.
        setup.settings.restart()
    values = {
        ("model", "provider"): chosen.provider,
        ("model", "base_url"): chosen.base_url,
        ("model", "reply_model"): chosen.reply_model,
        ("model", "memory_model"): chosen.memory_model,
    }
    await setup.change(values)
    return setup.done("model_works", model=chosen.reply_model, said=words)


async def _refuse_key(
    setup: SetupService,
    chosen: ModelSettings,
    key: str,
) -> None:
    """Raise InputError for a key that cannot be one, that is missing, or that would be sent in the clear."""
    # It is sent in a header, which has room for nothing else.
    if not key.isascii() or not key.isprintable():
        raise InputError(setup.say("setup.no_key"))
    if chosen.provider is Provider.GEMINI:
        has_key = bool(key) or await asyncio.to_thread(setup.has_key, chosen)
        if not has_key:
            raise InputError(setup.say("setup.no_key"))
        return
    if key and not chosen.base_url.startswith("https://"):
        raise InputError(setup.say("setup.not_https"))


# ── log-in ──────────────────────────────────────────────────────────────────────────────────────


async def step_client(setup: SetupService, client_id: str) -> Answer:
    """Name the Twitch app. Twitch is asked for a code with it, which shows whether it is one."""
    client_id = client_id.strip()
    if not re.fullmatch(r"[A-Za-z0-9]{8,64}", client_id):
        raise InputError(setup.say("setup.client_refused"))
    settings = setup.settings()
    twitch = replace(settings.twitch, client_id=client_id)
    try:
        # Twitch has no other way to ask whether an app exists and may use the device flow
        await begin_device_login(replace(settings, twitch=twitch), CHAT)
    except TwitchRefused:
        raise InputError(setup.say("setup.client_refused")) from None
    await setup.change({("twitch", "client_id"): client_id})
    return setup.done()


async def step_login(setup: SetupService, account: Account = Account.BOT) -> Answer:
    """Ask Twitch for a code with every right that the settings need, and wait for it to be typed."""
    scopes = login_rights(account, setup.settings())
    await setup.login.begin(account, scopes)
    return {"ok": True, "pending": setup.login.pending()}


# ── captions ────────────────────────────────────────────────────────────────────────────────────


async def step_sources(
    setup: SetupService,
    obs: str,
    password: str = "",
) -> Answer:
    """Return the text sources of an OBS. A password that works is kept. Raises HearingError."""
    from forgetmenot.hearing.sources import text_sources

    stored_password = await asyncio.to_thread(setup.secrets.load, OBS_PASSWORD)
    tried_password = password or stored_password or ""
    sources = await text_sources(obs.strip(), tried_password)
    if password:
        await asyncio.to_thread(setup.secrets.save, OBS_PASSWORD, password)
        setup.settings.restart()
    line = "" if sources else setup.say("setup.no_sources")
    return {"ok": True, "sources": sources, "line": line}


async def step_hearing(
    setup: SetupService,
    obs: str,
    source: str,
    captions: str,
    *,
    programs: bool,
) -> Answer:
    """Keep where the streamer's captions come from; all empty: nothing is heard."""
    source = source.strip()
    # Without a source of its texts OBS is of no use.
    address = obs.strip() if source else ""
    values = {
        ("hearing", "obs"): address,
        ("hearing", "source"): source,
        ("hearing", "captions"): captions.strip(),
        ("hearing", "programs"): programs,
    }
    await setup.change(values)
    return setup.done()


# ── chat of past streams ────────────────────────────────────────────────────────────────────────


async def step_past(
    setup: SetupService, do: Literal["look", "learn", "stop", "drop"]
) -> Answer:
    """Say what learning from the files takes; begin or go on; stop soon; or delete the files."""
    upload = setup.upload()
    match do:
        case "look":
            return await upload.look()
        case "learn":
            upload.learn()
        case "drop":
            upload.drop()
        case "stop":
            upload.stop()
            return setup.done("past_stopping")
    return DONE


# ── recaps ──────────────────────────────────────────────────────────────────────────────────────


async def step_recap(setup: SetupService, stream: int) -> Answer:
    """Return the recap of a stream that is over, and where it went."""
    recap = await setup.recaps().show(stream)
    return {**DONE, **recap}


async def step_post_recap(
    setup: SetupService,
    stream: int,
    *,
    again: bool = False,
    picture: bytes = b"",
) -> Answer:
    """Post it to Discord, or once more. `picture`: of the evening, as the dock drew it. Raises WebhookError."""
    recaps = setup.recaps()
    await recaps.post(stream, again=again, picture=picture)
    return DONE


async def step_webhook(setup: SetupService, address: str) -> Answer:
    """Keep the address of a Discord webhook as a secret; an empty one deletes it."""
    if address.strip():
        webhook = webhook_address(address)
        await asyncio.to_thread(setup.secrets.save, WEBHOOK, webhook)
    else:
        await asyncio.to_thread(setup.secrets.delete, WEBHOOK)
    return setup.done()


# ── what it says ────────────────────────────────────────────────────────────────────────────────


async def step_try(
    setup: SetupService,
    viewer: str,
    text: str,
) -> Answer:
    """Return what it would say to that, without sending or doing anything. Raises ModelError."""
    if not text.strip() or len(text) > LONGEST_MESSAGE:
        raise InputError(reason("text_needed", most=LONGEST_MESSAGE))
    bot = setup.running().bot
    preview = await try_out(bot, viewer, text)
    return {"ok": True, **preview}


async def step_listen(setup: SetupService, *, on: bool) -> Answer:
    """Stop hearing the streamer at once, or go on. Raises StoreError."""
    stream = setup.running().stream
    await stream.listen(on=on)
    return DONE


async def step_mode(
    setup: SetupService,
    mode: Mode,
    *,
    sure: bool = False,
) -> Answer:
    """Switch the mode. To speak without an AI model is asked about first. `sure`: that was answered with yes."""
    has_no_model = setup.settings().model.provider is Provider.OFFLINE
    speaks = mode is not Mode.SHADOW
    if speaks and has_no_model and not sure:
        return {
            "ok": False,
            "ask": setup.say("setup.no_model_question"),
            "yes": setup.say("setup.no_model_yes"),
        }
    await setup.change({("bot", "mode"): mode.value})
    return setup.done()


# ── the other settings ──────────────────────────────────────────────────────────────────────────


async def step_set(
    setup: SetupService,
    table: str,
    key: str,
    value: Any,  # noqa: ANN401  # as the setting has it
) -> Answer:
    """Change one setting."""
    setting = (table, key)
    if setting == ("bot", "mode"):
        # Any other value is refused with the settings' own sentence.
        with contextlib.suppress(ValueError):
            return await step_mode(setup, Mode(value))
    is_empty = not str(value).strip()
    if setting == ("bot", "name") and is_empty:
        raise InputError(setup.say("setup.no_name"))
    values: dict[tuple[str, str], object] = {setting: value}
    if setting == ("bot", "language"):
        new_language = in_language(str(value))
        persona = _translated_preset(setup, new_language)
        if persona is not None:
            values["bot", "persona"] = persona
    await setup.change(values)
    return setup.done()


def _translated_preset(setup: SetupService, language: Language) -> str | None:
    """Return the bot's character in another language; None if it is not one of those to begin with."""
    persona = setup.settings().bot.persona
    old_presets = list(presets(setup.say).values())
    new_presets = list(presets(language).values())
    if persona not in old_presets:
        return None
    # Their titles are in the language as well, so only the order shows which is which.
    position = old_presets.index(persona)
    return new_presets[position]


async def step_autostart(setup: SetupService, *, on: bool) -> Answer:
    """Start with the computer, or not."""
    if on:
        await asyncio.to_thread(autostart.enable, setup.start_options)
    else:
        await asyncio.to_thread(autostart.disable)
    return setup.done()


# ── backup, OBS, quit ───────────────────────────────────────────────────────────────────────────


async def step_backup(setup: SetupService) -> Answer:
    """Make a copy of the memory now. Raises StoreError."""
    bot = setup.running().bot
    # a copy of a damaged memory must not push out a good one
    await bot.file_check.passed()
    # Also where the settings want no copies made by themselves.
    copies = max(1, setup.settings().privacy.keep_backups)
    now = bot.clock.now()
    backup = await backups.make(bot.db, at=now, keep=copies)
    return setup.done("backed_up", file=backup.path)


async def step_obs(setup: SetupService) -> Answer:
    """Write the page that OBS is pointed to; its address. Raises StoreError."""
    folder = setup.folder
    token = await asyncio.to_thread(security.token_in, folder)
    port = setup.settings().dock.port
    page = await asyncio.to_thread(obs_page.write, folder, port, token, setup.say)
    address = page.absolute().as_uri()
    return {**DONE, "address": address}


async def step_connect(setup: SetupService) -> Answer:
    """Return the address and the token for other programs on this computer. Raises StoreError."""
    # imported here: while the interface is off, nothing of it is
    from forgetmenot.local_api.server import PREFIX, TOKEN_FILE

    folder = setup.folder
    token = await asyncio.to_thread(security.token_in, folder, file=TOKEN_FILE)
    port = setup.settings().dock.port
    address = f"http://{security.HOST}:{port}{PREFIX}"
    return {**DONE, "address": address, "token": token}


async def step_quit(setup: SetupService) -> Answer:
    """Stop the program, after this answer has reached the page."""
    if setup.stop is None:
        raise InputError(setup.say("reason.request_odd"))
    asyncio.get_running_loop().call_later(ANSWER_FIRST_S, setup.stop)
    return setup.done("quitting")


# Choosing an AI model: which programs on this computer serve one, and what a service lists.


def _is_preset(persona: str) -> bool:
    """Return whether a character is one of those to begin with, in any language."""
    for code in languages():
        language = in_language(code)
        if persona in presets(language).values():
            return True
    return False


def _chosen(
    provider: Provider,
    base_url: str,
    model: str,
    current: ModelSettings,
    say: Language,
) -> ModelSettings:
    """Return the table [model] that a choice means. Raises InputError."""
    if provider is Provider.GEMINI:
        # Another provider's models and address mean nothing to Gemini.
        if current.provider is not Provider.GEMINI:
            current = ModelSettings(provider=provider)
        if model:
            current = replace(current, reply_model=model)
        return current
    model = model.strip()
    base_url = base_url.strip().rstrip("/")
    if not (base_url and model):
        raise InputError(say("setup.no_address"))
    return replace(
        current,
        provider=provider,
        base_url=base_url,
        reply_model=model,
        memory_model=model,
    )


async def models_at(base_url: str, key: str = "") -> list[str] | None:
    """Return the models that a server lists; None if nothing that does answers there."""
    within_s = LOOK_FOR_S if is_loopback(base_url) else ASK_WITHIN_S
    timeout = aiohttp.ClientTimeout(total=within_s)
    address = base_url.rstrip("/")
    url = f"{address}/models"
    headers = {}
    # A key is sent nowhere in the clear.
    if key and base_url.startswith("https://"):
        headers["Authorization"] = f"Bearer {key}"
    try:
        async with (
            web_session(timeout) as session,
            # Nor does a redirect take it elsewhere.
            session.get(url, headers=headers, allow_redirects=False) as answer,
        ):
            body = await body_of(answer, LARGEST_LIST)
        listing = msgspec.json.decode(body, type=dict[str, Any])
        models = listing["data"][:MOST_MODELS]
        return [str(model["id"]) for model in models]
    # Whatever else listens there may answer anything.
    except (aiohttp.ClientError, OSError, TimeoutError, *ODD_INPUT):
        return None


# ── the table of steps ───────────────────────────────────────────────────────────────────────────


_Step = Callable[..., Awaitable[Answer]]


def _shape(step: _Step) -> type[msgspec.Struct]:
    """Return the JSON that a step takes: what its function is given beside the set-up, by name."""
    hints = get_type_hints(step)
    _setup, *parameters = inspect.signature(step).parameters.values()
    fields: list[tuple[Any, ...]] = []
    for parameter in parameters:
        field = (parameter.name, hints[parameter.name])
        if parameter.default is parameter.empty:
            fields.append(field)
        else:
            fields.append((*field, parameter.default))
    return msgspec.defstruct(step.__name__, fields, forbid_unknown_fields=True)


_STEPS = (
    step_channel,
    step_character,
    step_sample,
    step_programs,
    step_models,
    step_model,
    step_client,
    step_login,
    step_sources,
    step_hearing,
    step_past,
    step_recap,
    step_post_recap,
    step_webhook,
    step_try,
    step_listen,
    step_mode,
    step_set,
    step_autostart,
    step_backup,
    step_obs,
    step_connect,
    step_quit,
)
# The JSON that a step takes, and its function.
_ShapedStep = tuple[type[msgspec.Struct], _Step]
# By the step's name.
STEPS: dict[str, _ShapedStep] = {}
for _function in _STEPS:
    _name = _function.__name__.removeprefix("step_")
    STEPS[_name] = (_shape(_function), _function)
