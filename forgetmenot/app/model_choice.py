"""Choosing an AI model: which programs on this computer serve one, and whether the chosen one answers."""

import asyncio
from collections.abc import Callable, Mapping

import aiohttp
import msgspec
from msgspec import Struct

from forgetmenot.domain.model import ModelRequest, Purpose
from forgetmenot.errors import InputError, ModelRefused
from forgetmenot.languages import Language, Reason, reason
from forgetmenot.llm.build import build_model
from forgetmenot.network import body_of, trusted
from forgetmenot.ports import CallMeter
from forgetmenot.settings.schema import ModelSettings, Provider

LOCAL_PROGRAMS = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080}
"""Programs that serve a model on this computer, and their usual ports."""
LOOK_FOR_S = 1.5
MOST_MODELS = 200
LARGEST_LIST = 512 * 1024
LONGEST_SENTENCE = 200


async def said_by(
    now: ModelSettings,
    values: Mapping[str, str],
    key: str,
    meter: CallMeter,
    environment: Callable[[ModelSettings], Mapping[str, str]],
) -> str:
    """One sentence of the model that these values choose. Raises ModelError, SettingsError."""
    wanted = msgspec.structs.replace(now, **{**values, "provider": Provider(values["provider"])})
    environ = await asyncio.to_thread(environment, wanted)
    if key:
        environ = {**environ, wanted.api_key_env: key}
    model = build_model(wanted, wanted.reply_model, meter, environ=environ)
    request = ModelRequest(
        Purpose.REPLY,
        "You test a connection. Answer with one short, friendly sentence.",
        "Say hello to a streamer whose chat bot you will be.",
        max_output_tokens=wanted.reply_output_tokens,
    )
    try:
        return " ".join((await model.generate(request)).text.split())[:LONGEST_SENTENCE]
    except ModelRefused as error:  # a pasted key stands in no variable
        said = str(error)
        if not (key and isinstance(said, Reason) and "where" in said.values):
            raise
        raise ModelRefused(reason(said.code, **{**said.values, "where": ""})) from None
    finally:
        await model.aclose()


async def local_programs() -> list[dict[str, object]]:
    """The programs that answer at their usual ports on this computer, with their models."""
    addresses = {name: f"http://127.0.0.1:{port}/v1" for name, port in LOCAL_PROGRAMS.items()}
    lists = await asyncio.gather(*(models_at(address) for address in addresses.values()))
    return [
        {"name": name, "base_url": address, "models": models}
        for (name, address), models in zip(addresses.items(), lists, strict=True)
        if models is not None
    ]


def model_values(provider: Provider, base_url: str, model: str, now: ModelSettings, say: Language) -> dict[str, str]:
    """The settings of the table [model] that a choice means. Raises InputError."""
    if provider is Provider.GEMINI:
        named = now if now.provider is Provider.GEMINI else ModelSettings()
        models = {"reply_model": model or named.reply_model, "memory_model": named.memory_model}
        base_url = now.base_url if now.provider is Provider.GEMINI else ""
        return {"provider": provider.value, "base_url": base_url, **models}
    model, base_url = model.strip(), base_url.strip().rstrip("/")
    if not model:
        raise InputError(say("setup.choose_model"))
    if not base_url:
        raise InputError(say("setup.no_address"))
    return {"provider": provider.value, "base_url": base_url, "reply_model": model, "memory_model": model}


async def models_at(base_url: str) -> list[str] | None:
    """The models that a server lists; None if nothing that does answers there."""
    timeout = aiohttp.ClientTimeout(total=LOOK_FOR_S)
    connector = aiohttp.TCPConnector(ssl=trusted())
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, connector=connector) as session,
            session.get(f"{base_url.rstrip('/')}/models", allow_redirects=False) as answer,
        ):
            answered = msgspec.json.decode(await body_of(answer, LARGEST_LIST), type=_ModelList)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, msgspec.DecodeError):
        return None
    return [one.id for one in answered.data[:MOST_MODELS]]


class _Model(Struct):
    id: str


class _ModelList(Struct):
    data: list[_Model]
