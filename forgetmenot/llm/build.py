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
LONGEST_SENTENCE = 200
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
        """What is wrong with either, as one sentence; None where both answer."""
        said = [model.trouble for model in (self.reply, self.memory) if model.trouble]
        return join_reasons(*dict.fromkeys(said)) or None

    @property
    def prompt_cut(self) -> str | None:
        """A sentence, if a server cuts prompts without saying so; None otherwise."""
        return self.reply.prompt_cut or self.memory.prompt_cut

    async def aclose(self) -> None:
        """Close connections."""
        await self.reply.aclose()
        await self.memory.aclose()


def build_models(
    settings: ModelSettings, meter: CallMeter, *, environ: Mapping[str, str] | None = None
) -> Models:
    """Both models. Raises SettingsError: a missing key, no address, an unknown level of thinking."""
    reply, memory = (
        build_model(settings, name, meter, environ=environ)
        for name in (settings.reply_model, settings.memory_model)
    )
    return Models(reply, memory)


def build_model(
    settings: ModelSettings,
    model: str,
    meter: CallMeter,
    *,
    environ: Mapping[str, str] | None = None,
) -> GuardedModel:
    """One model by its name, guarded. Raises SettingsError as `build_models` does."""
    make = _adapter(settings, model, os.environ if environ is None else environ)
    name = "offline" if settings.provider is Provider.OFFLINE else model
    limits = Limits(settings.reply_timeout_s, settings.memory_timeout_s)
    return GuardedModel(name, make, meter=meter, limits=limits)


def _adapter(
    settings: ModelSettings, model: str, environ: Mapping[str, str]
) -> Callable[[], LanguageModel]:
    """What makes the model; what could never work is refused before."""
    if settings.provider is Provider.OFFLINE:
        return _offline
    if not model:
        raise SettingsError("Table [model]: set the models in `reply_model` and `memory_model`.")
    variable, thinking = key_variable(settings), settings.thinking.strip().lower()
    key = environ.get(variable, "").strip()
    if key and not (key.isascii() and key.isprintable()):
        raise SettingsError(
            f"The key in {variable} contains invalid characters. Copy it again, without quotes."
        )
    (_check_gemini if settings.provider is Provider.GEMINI else _check_server)(
        settings, key, thinking
    )

    def make() -> LanguageModel:
        if settings.provider is Provider.GEMINI:
            from forgetmenot.llm.gemini import Gemini

            longest = max(settings.reply_timeout_s, settings.memory_timeout_s)
            more = {"base_url": settings.base_url, "thinking": thinking}
            return Gemini(model, key=key, timeout_s=longest, **more)
        from forgetmenot.llm.openai_compatible import OpenAICompatible

        return OpenAICompatible(model, base_url=settings.base_url, key=key, thinking=thinking)

    return make


def _offline() -> LanguageModel:
    from forgetmenot.llm.offline import Offline

    return Offline()


def _check_gemini(settings: ModelSettings, key: str, thinking: str) -> None:
    if not key:
        raise SettingsError(
            f"There is no Gemini key: paste one from {KEY_PAGE} into the dock's set-up, or put it into the environment "
            f"variable {settings.api_key_env}. "
            f"{TERMS} "
            'Or set `provider = "offline"` in [model], or an OpenAI-compatible server on your own machine.'
        )
    if thinking and thinking not in LEVELS and not thinking.isdigit():
        raise SettingsError(
            f"Table [model], key `thinking`: {settings.thinking!r} is none of {', '.join(LEVELS)}, "
            "nor a number of tokens."
        )


def _check_server(settings: ModelSettings, key: str, _thinking: str) -> None:
    address = urlsplit(settings.base_url)
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise SettingsError(
            "Table [model], key `base_url`: an OpenAI-compatible server needs its address, for example "
            "http://127.0.0.1:11434/v1 for Ollama."
        )
    named = settings.api_key_env not in {"", GEMINI_KEY_ENV}
    if named and not key and address.hostname not in LOOPBACK:
        raise SettingsError(
            f"The environment variable {settings.api_key_env} is empty: put the key for {address.hostname} there."
        )


def is_loopback(base_url: str) -> bool:
    """Whether an address is on this computer."""
    with contextlib.suppress(ValueError):
        return urlsplit(base_url).hostname in LOOPBACK
    return False


# A key that was pasted in the set-up. Each provider has one, and one that was pasted for a service goes to its host
# alone: a key of one company must not reach another because an address was changed.


def key_variable(settings: ModelSettings) -> str:
    """The variable that the key is read from. The default names Gemini's, which is nobody else's business."""
    named = settings.api_key_env or GEMINI_KEY_ENV
    other = settings.provider is Provider.OPENAI_COMPATIBLE and named == GEMINI_KEY_ENV
    return SERVICE_KEY_ENV if other else named


def kept_key_name(provider: Provider) -> str:
    """The name under which the set-up keeps a provider's key."""
    return f"model-key-{provider.value}"


def keep_key(secrets: SecretStore, settings: ModelSettings, key: str) -> None:
    """Keep a pasted key for the provider of these settings. Raises OSError."""
    secrets.save(kept_key_name(settings.provider), f"{_host(settings)} {key}")


def environment_with_key(
    settings: ModelSettings, folder: Path, *, use_keyring: bool = True
) -> Mapping[str, str]:
    """The environment; a key that the set-up keeps stands in for a variable that is not set."""
    variable = key_variable(settings)
    if settings.provider is Provider.OFFLINE or os.environ.get(variable, "").strip():
        return os.environ
    kept = SecretStore(folder, use_keyring=use_keyring).load(kept_key_name(settings.provider)) or ""
    host, _, key = kept.partition(" ")
    return {**os.environ, variable: key if host == _host(settings) else ""}


def _host(settings: ModelSettings) -> str:
    return (
        settings.provider.value
        if settings.provider is Provider.GEMINI
        else urlsplit(settings.base_url).netloc
    )


async def first_words(settings: ModelSettings, meter: CallMeter, environ: Mapping[str, str]) -> str:
    """One sentence of a model, to see whether it answers. Raises ModelError, SettingsError."""
    model = build_model(settings, settings.reply_model, meter, environ=environ)
    request = ModelRequest(
        Purpose.REPLY,
        "You test a connection. Answer with one short, friendly sentence.",
        "Say hello to a streamer whose chat bot you will be.",
        max_output_tokens=settings.reply_output_tokens,
    )
    try:
        return " ".join((await model.generate(request)).text.split())[:LONGEST_SENTENCE]
    finally:
        await model.aclose()
