"""Builds the models that the settings name, and refuses at once what could never work.

Nothing heavy is imported here: an adapter is imported at its model's first call.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from forgetmenot.domain import ModelRequest, Purpose
from forgetmenot.errors import SettingsError
from forgetmenot.languages import join_reasons, reason
from forgetmenot.llm.guarded import GuardedModel, Limits
from forgetmenot.ports import CallMeter, LanguageModel
from forgetmenot.secret_store import SecretStore
from forgetmenot.settings.schema import ModelSettings, Provider

GEMINI_KEY_ENV = "GEMINI_API_KEY"
_MAX_FIRST_WORDS = 200
SERVICE_KEY_ENV = "FORGETMENOT_MODEL_KEY"
KEY_PAGE = "https://aistudio.google.com/apikey"
LEVELS = ("minimal", "low", "medium", "high", "xhigh")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TERMS = reason("terms")


class Models(Struct, frozen=True):
    """The two models of a run. `trouble` is for the checks."""

    reply: GuardedModel
    memory: GuardedModel

    @property
    def trouble(self) -> str | None:
        """Return what is wrong with either, as one sentence; None if both answer."""
        troubles = [self.reply.trouble or "", self.memory.trouble or ""]
        # Both may have the same one: often they are one server.
        return join_reasons(*dict.fromkeys(troubles)) or None

    @property
    def prompt_cut(self) -> str | None:
        """Return a sentence, if a server cuts prompts without saying so; None otherwise."""
        return self.reply.prompt_cut or self.memory.prompt_cut

    async def aclose(self) -> None:
        """Close connections."""
        await self.reply.aclose()
        await self.memory.aclose()


def build_models(
    settings: ModelSettings,
    meter: CallMeter,
    *,
    environ: Mapping[str, str] | None = None,
) -> Models:
    """Return both models.

    Raises SettingsError for a missing key, no address or an unknown level of thinking.
    """
    return Models(
        reply=build_model(settings, settings.reply_model, meter, environ=environ),
        memory=build_model(settings, settings.memory_model, meter, environ=environ),
    )


def build_model(
    settings: ModelSettings,
    model: str,
    meter: CallMeter,
    *,
    environ: Mapping[str, str] | None = None,
) -> GuardedModel:
    """Return one model by its name, guarded. Raises SettingsError as `build_models` does."""
    make = _adapter(settings, model, os.environ if environ is None else environ)
    name = "offline" if settings.provider is Provider.OFFLINE else model
    limits = Limits(settings.reply_timeout_s, settings.memory_timeout_s)
    return GuardedModel(
        name,
        make,
        meter=meter,
        limits=limits,
        bills_schema=_bills_schema(settings),
    )


def _bills_schema(settings: ModelSettings) -> bool:
    """Return whether the tokens of a schema are billed: by services, while servers at home make a grammar of it."""
    if settings.provider is Provider.OPENAI_COMPATIBLE:
        return not is_loopback(settings.base_url)
    return settings.provider is Provider.GEMINI


def _adapter(
    settings: ModelSettings,
    model: str,
    environ: Mapping[str, str],
) -> Callable[[], LanguageModel]:
    """Return what makes the model. Raises SettingsError for what could never work."""
    if settings.provider is Provider.OFFLINE:
        return _offline
    if not model:
        raise SettingsError(
            "Table [model]: set the models in `reply_model` and `memory_model`."
        )
    variable = key_variable(settings)
    key = environ.get(variable, "").strip()
    # It goes into a header, where a client would raise an error with the key in its words.
    if key and not (key.isascii() and key.isprintable()):
        raise SettingsError(
            f"The key in {variable} contains invalid characters. Copy it again, without quotes."
        )
    if settings.provider is Provider.GEMINI:
        _check_gemini(settings, key)
        return lambda: _gemini(settings, model, key)
    _check_server(settings, key)
    return lambda: _openai_compatible(settings, model, key)


def _thinking(settings: ModelSettings) -> str:
    return settings.thinking.strip().lower()


def _gemini(
    settings: ModelSettings,
    model: str,
    key: str,
) -> LanguageModel:
    from forgetmenot.llm.gemini import Gemini

    longest_timeout_s = max(settings.reply_timeout_s, settings.memory_timeout_s)
    return Gemini(
        model,
        key=key,
        timeout_s=longest_timeout_s,
        base_url=settings.base_url,
        thinking=_thinking(settings),
    )


def _openai_compatible(
    settings: ModelSettings,
    model: str,
    key: str,
) -> LanguageModel:
    from forgetmenot.llm.openai_compatible import OpenAICompatible

    return OpenAICompatible(
        model, base_url=settings.base_url, key=key, thinking=_thinking(settings)
    )


def _offline() -> LanguageModel:
    from forgetmenot.llm.offline import Offline

    return Offline()


def _check_gemini(settings: ModelSettings, key: str) -> None:
    thinking = _thinking(settings)
    if not key:
        raise SettingsError(
            f"There is no Gemini key: paste one from {KEY_PAGE} into the dock's set-up, or put it"
            f" into the environment variable {settings.api_key_env}. {TERMS}"
            ' Or set `provider = "offline"` in [model], or an OpenAI-compatible server on your own'
            " machine."
        )
    if thinking and thinking not in LEVELS and not thinking.isdigit():
        raise SettingsError(
            f"Table [model], key `thinking`: {settings.thinking!r} is none of {', '.join(LEVELS)}, "
            "nor a number of tokens."
        )


def _check_server(settings: ModelSettings, key: str) -> None:
    address = urlsplit(settings.base_url)
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise SettingsError(
            "Table [model], key `base_url`: an OpenAI-compatible server needs its address, for"
            " example http://127.0.0.1:11434/v1 for Ollama."
        )
    # Whoever named a variable meant to have a key; a server at home needs none.
    has_own_variable = settings.api_key_env not in {"", GEMINI_KEY_ENV}
    if has_own_variable and not key and address.hostname not in LOOPBACK:
        raise SettingsError(
            f"The environment variable {settings.api_key_env} is empty: put the key for"
            f" {address.hostname} there."
        )


def is_loopback(base_url: str) -> bool:
    """Return whether an address is on this computer."""
    # ValueError: brackets that hold no IPv6 address.
    with contextlib.suppress(ValueError):
        return urlsplit(base_url).hostname in LOOPBACK
    return False


# ── keys that were pasted in the set-up ─────────────────────────────────────────────────────

# Each provider has one, and one that was pasted for a service goes to its host alone.


def key_variable(settings: ModelSettings) -> str:
    """Return the environment variable that the key is read from.

    The default names Gemini's key, which no other service may get.
    """
    variable = settings.api_key_env or GEMINI_KEY_ENV
    is_service = settings.provider is Provider.OPENAI_COMPATIBLE
    if is_service and variable == GEMINI_KEY_ENV:
        return SERVICE_KEY_ENV
    return variable


def kept_key_name(provider: Provider) -> str:
    """Return the name under which the set-up keeps a provider's key."""
    return f"model-key-{provider.value}"


def keep_key(
    secrets: SecretStore,
    settings: ModelSettings,
    key: str,
) -> None:
    """Keep a pasted key for the provider of these settings. Raises OSError."""
    name = kept_key_name(settings.provider)
    host = _host(settings)
    secrets.save(name, f"{host} {key}")


def environment_with_key(
    settings: ModelSettings,
    folder: Path,
    *,
    use_keyring: bool = True,
) -> Mapping[str, str]:
    """Return the environment, with the key that the set-up keeps if its variable is not set."""
    variable = key_variable(settings)
    if settings.provider is Provider.OFFLINE or os.environ.get(variable, "").strip():
        return os.environ
    secrets = SecretStore(folder, use_keyring=use_keyring)
    name = kept_key_name(settings.provider)
    host_and_key = secrets.load(name) or ""
    host, _, key = host_and_key.partition(" ")
    # Pasted for another service: a key must not reach it because an address was changed.
    if host != _host(settings):
        key = ""
    return {**os.environ, variable: key}


def _host(settings: ModelSettings) -> str:
    if settings.provider is Provider.GEMINI:
        return settings.provider.value
    return urlsplit(settings.base_url).netloc


async def first_words(
    settings: ModelSettings,
    meter: CallMeter,
    environ: Mapping[str, str],
) -> str:
    """Return one sentence of a model, which shows that it answers.

    Raises ModelError and SettingsError.
    """
    model = build_model(settings, settings.reply_model, meter, environ=environ)
    request = ModelRequest(
        Purpose.REPLY,
        "You test a connection. Answer with one short, friendly sentence.",
        "Say hello to a streamer whose chat bot you will be.",
        max_output_tokens=settings.reply_output_tokens,
    )
    try:
        # A slow computer takes as long to import an SDK as a reply may take.
        await model.prepare()
        answer = await model.generate(request)
        sentence = " ".join(answer.text.split())
        return sentence[:_MAX_FIRST_WORDS]
    finally:
        await model.aclose()
