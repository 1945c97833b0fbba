"""The set-up's steps for the AI model: which there are, which one is kept, and where its key goes."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from forgetmenot import network
from forgetmenot.app import setup
from forgetmenot.app.control import ConnectionStatus
from forgetmenot.app.setup import models_at
from forgetmenot.clock import ManualClock
from forgetmenot.errors import InputError
from forgetmenot.llm.build import SERVICE_KEY_ENV
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import ModelSettings, Provider
from tests.app.conftest import Steps, opened_steps
from tests.loopback_servers.certificate import certificate_for
from tests.loopback_servers.gemini import KEY, SimGemini
from tests.loopback_servers.openai import SimOpenAI
from tests.loopback_servers.serving import served
from tests.ports import unused_port

pytestmark = pytest.mark.slow

# Not this computer's own address for the set-up, so what listens there is a hosted service.
ELSEWHERE = "127.0.0.2"

hosted_services = pytest.mark.skipif(
    sys.platform == "darwin", reason="macOS has 127.0.0.1 alone"
)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key stands in the environment."""
    for name in ("GEMINI_API_KEY", SERVICE_KEY_ENV):
        monkeypatch.delenv(name, raising=False)


class Hosted(SimOpenAI):
    """A service that lists its models to whoever has the key. `listed_to`: what came with each such request."""

    def __init__(self) -> None:
        super().__init__(key=KEY)
        self.host = ELSEWHERE
        self.listed_to: list[str | None] = []

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        authorization = request.headers.get("Authorization")
        self.listed_to.append(authorization)
        if authorization != f"Bearer {KEY}":
            return web.json_response({"error": {"message": "no key"}}, status=401)
        return await super()._list_models(request)


@pytest.fixture
async def hosted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Hosted]:
    """A hosted service over https, whose certificate this computer trusts."""
    file, tls = certificate_for(ELSEWHERE, tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    service = Hosted()
    service.tls = tls
    network.trusted.cache_clear()
    async with service:
        yield service
    network.trusted.cache_clear()


@asynccontextmanager
async def answers_models(body: str, status: int = 200) -> AsyncIterator[str]:
    """A server that answers this where models are listed; its address."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text=body, status=status)

    app = web.Application()
    app.router.add_get("/models", answer)
    async with served(app) as address:
        yield address


def use(steps: Steps, sim: SimOpenAI, name: str) -> None:
    """Have the settings name this model; the bot that runs keeps its own."""
    model = ModelSettings(
        provider=Provider.OPENAI_COMPATIBLE,
        base_url=sim.url,
        reply_model=name,
        memory_model=name,
    )
    steps.settings._current = msgspec.structs.replace(steps.settings(), model=model)


@pytest.fixture
async def speaking(
    tmp_path: Path, clock: ManualClock
) -> AsyncIterator[tuple[Steps, SimOpenAI]]:
    """A bot that replies by a model on this computer."""
    async with SimOpenAI() as sim:
        config = (
            f'[model]\nprovider = "openai_compatible"\nbase_url = "{sim.url}"\n'
            'reply_model = "small-model"\nmemory_model = "small-model"\n'
        )
        async with opened_steps(tmp_path, clock, config, ConnectionStatus()) as steps:
            yield steps, sim


# ── which models there are ──────────────────────────────────────────────────────────────────


async def test_programs_that_run_on_this_computer_are_found_with_their_models(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SimOpenAI() as sim:
        port = int(sim.url.removesuffix("/v1").rpartition(":")[2])
        ports = {"Ollama": unused_port(), "LM Studio": port}
        monkeypatch.setattr(setup, "LOCAL_PROGRAMS", ports)
        answer = await steps.do("programs")
    assert answer["ok"] is True
    assert answer["programs"] == [
        {"name": "LM Studio", "base_url": sim.url, "models": ["small-model"]}
    ]


async def test_a_step_that_takes_nothing_needs_no_body(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "LOCAL_PROGRAMS", {})
    assert (await steps.service.run("programs", b""))["programs"] == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("<html>welcome</html>", 200),
        ("[]", 200),
        ("{}", 200),
        ('{"data": {"id": "x"}}', 200),
        ('{"data": [{"name": "x"}]}', 200),
        ('{"data": ["x"]}', 200),
        ("", 204),
        ('{"error": {"message": "no key"}}', 401),
        (json.dumps({"data": [], "more": "x" * 2 * 1024 * 1024}), 200),
    ],
)
async def test_what_lists_no_models_is_no_program(body: str, status: int) -> None:
    async with answers_models(body, status) as address:
        assert await models_at(address) is None


async def test_of_a_long_list_the_first_models_are_shown() -> None:
    listed = [{"id": f"model-{number}"} for number in range(300)]
    async with answers_models(json.dumps({"data": listed})) as address:
        models = await models_at(f"{address}/")
    assert models == [f"model-{number}" for number in range(200)]


async def test_a_program_that_never_answers_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(setup, "LOOK_FOR_S", 0.2)

    async def stall(_request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    app = web.Application()
    app.router.add_get("/models", stall)
    async with served(app) as address, asyncio.timeout(30):
        assert await models_at(address) is None


@hosted_services
async def test_a_hosted_service_has_longer_to_answer_than_a_program_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(setup, "LOOK_FOR_S", 0.05)

    async def answers_slowly(_request: web.Request) -> web.Response:
        await asyncio.sleep(0.3)
        return web.json_response({"data": [{"id": "far-model"}]})

    app = web.Application()
    app.router.add_get("/models", answers_slowly)
    async with served(app, host=ELSEWHERE) as address:
        assert await models_at(address) == ["far-model"]
    async with served(web.Application()) as address:
        assert await models_at(address) is None


async def test_an_address_is_completed_as_a_program_needs_it(steps: Steps) -> None:
    async with SimOpenAI() as sim:
        for typed in (sim.url, f"{sim.url}/", sim.url.removesuffix("/v1")):
            answer = await steps.do("models", base_url=typed)
            assert answer["ok"] is True
            assert (answer["base_url"], answer["models"]) == (sim.url, ["small-model"])


# ── where a key goes ────────────────────────────────────────────────────────────────────────


@hosted_services
async def test_a_key_goes_over_https_to_the_service_it_was_typed_for(
    steps: Steps, hosted: Hosted
) -> None:
    typed = hosted.url.removeprefix("https://")
    answer = await steps.do("models", base_url=typed, key=f" {KEY} ")
    assert answer["base_url"] == hosted.url
    assert answer["models"] == ["small-model"]
    assert hosted.listed_to == [f"Bearer {KEY}"]
    with pytest.raises(InputError, match="gave no list of models"):
        await steps.do("models", base_url=hosted.url)
    assert set(hosted.listed_to[1:]) == {None}, "nothing was kept by a look"


@hosted_services
async def test_a_key_that_works_is_kept_for_its_service_and_used_again(
    steps: Steps, hosted: Hosted
) -> None:
    steps.service.restarts = True
    answer = await steps.do(
        "model",
        provider="openai_compatible",
        base_url=f" {hosted.url}/ ",
        model=" small-model ",
        key=f" {KEY} ",
    )
    assert answer["restarting"] is True
    assert str(answer["line"]).startswith("It works. small-model says: ")
    saved = load_settings(steps.file).model
    assert (saved.base_url, saved.reply_model) == (hosted.url, "small-model")
    assert (await steps.shown("model"))["key_kept"] is True
    listed = await steps.do("models", base_url=hosted.url)
    assert listed["models"] == ["small-model"]
    again = await steps.do(
        "model",
        provider="openai_compatible",
        base_url=hosted.url,
        model="small-model",
    )
    assert again["ok"] is True
    assert set(hosted.authorizations) == {f"Bearer {KEY}"}
    # Another key of the same model changes no setting, and still has to be used.
    anew = await steps.do(
        "model",
        provider="openai_compatible",
        base_url=hosted.url,
        model="small-model",
        key=KEY,
    )
    assert anew["restarting"] is True


@hosted_services
async def test_a_key_is_not_sent_in_the_clear() -> None:
    service = Hosted()
    async with service:
        assert await models_at(service.url, KEY) is None
    assert service.listed_to == [None]


@hosted_services
async def test_a_redirect_takes_a_key_nowhere() -> None:
    elsewhere = Hosted()
    async with elsewhere:

        async def redirect(_request: web.Request) -> web.Response:
            raise web.HTTPTemporaryRedirect(f"{elsewhere.url}/models")

        app = web.Application()
        app.router.add_get("/models", redirect)
        async with served(app, host=ELSEWHERE) as address:
            assert await models_at(address, KEY) is None
    assert elsewhere.listed_to == []


async def test_a_program_on_this_computer_gets_no_key(steps: Steps) -> None:
    asked_with: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        asked_with.append(request.headers.get("Authorization"))
        return web.json_response({"data": []})

    app = web.Application()
    app.router.add_get("/models", answer)
    async with served(app) as address:
        listed = await steps.do("models", base_url=address, key=KEY)
    assert listed["models"] == []
    assert asked_with == [None]


async def test_gemini_needs_a_key(steps: Steps) -> None:
    with pytest.raises(InputError, match="Paste the whole key first"):
        await steps.do("model", provider="gemini")
    assert steps.settings().model.provider is Provider.OFFLINE


# ── which model is kept ─────────────────────────────────────────────────────────────────────


async def test_without_a_model_again_no_provider_is_kept(
    speaking: tuple[Steps, SimOpenAI],
) -> None:
    steps, _sim = speaking
    assert (await steps.do("model", provider="offline"))["line"] == "Saved."
    assert load_settings(steps.file).model.provider is Provider.OFFLINE


async def test_gemini_gets_neither_the_address_nor_the_model_of_another_provider(
    speaking: tuple[Steps, SimOpenAI],
) -> None:
    steps, _sim = speaking
    current = steps.settings().model
    table = setup._chosen(Provider.GEMINI, "", "", current, steps.service.say)
    assert table == ModelSettings(provider=Provider.GEMINI)


async def test_another_model_of_gemini_replies_and_the_address_stays(
    steps: Steps,
) -> None:
    async with SimGemini() as sim:
        model = ModelSettings(provider=Provider.GEMINI, base_url=sim.url)
        steps.settings._current = msgspec.structs.replace(steps.settings(), model=model)
        chosen = "gemini-3.8-flash"
        await steps.do("model", provider="gemini", model=chosen, key=KEY)
        assert {request.model for request in sim.seen} == {chosen}
    saved = load_settings(steps.file).model
    assert (saved.reply_model, saved.memory_model) == (chosen, model.memory_model)
    assert saved.base_url == sim.url


# ── what it would say ───────────────────────────────────────────────────────────────────────


async def test_without_a_model_there_is_no_sample(steps: Steps) -> None:
    answer = await steps.do("sample", name="Pat", persona="kind")
    assert answer["ok"] is True
    assert str(answer["text"]).startswith("Without an AI model")
    assert answer["model"] == ""


async def test_a_sample_is_by_the_character_that_is_typed_and_keeps_nothing(
    speaking: tuple[Steps, SimOpenAI],
) -> None:
    steps, sim = speaking
    before = steps.file.read_text()
    sim.answers(json.dumps({"say": "Ahoy there!"}))
    fields = {"name": " Pat ", "persona": "a pirate of the old kind"}
    answer = await steps.do("sample", text=" who are you? ", **fields)
    assert (answer["ok"], answer["text"]) == (True, "Ahoy there!")
    assert answer["model"] == "small-model"
    asked = json.dumps(sim.seen[-1])
    for words in ("a pirate of the old kind", "Pat", "who are you?"):
        assert words in asked
    assert steps.file.read_text() == before


async def test_a_sample_without_a_text_answers_a_viewers_usual_one(
    speaking: tuple[Steps, SimOpenAI],
) -> None:
    steps, sim = speaking
    await steps.do("sample", name="", persona="kind")
    asked = json.dumps(sim.seen[-1])
    assert "hi! how do you like the stream so far?" in asked
    assert "ForgetMeNot" in asked, "the name that is set, where none is typed"


@pytest.fixture
async def changing(
    speaking: tuple[Steps, SimOpenAI], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Steps, asyncio.Task[dict[str, object]]]]:
    """A sample that is asked for while a bot with the former model still runs."""
    steps, sim = speaking
    monkeypatch.setattr(setup, "ANSWER_FIRST_S", 0.01)
    steps.service.restarts = True
    use(steps, sim, "next-model")
    sample = asyncio.create_task(steps.do("sample", name="Pat", persona="kind"))
    await asyncio.sleep(0.1)
    assert not sample.done()
    yield steps, sample
    assert sim.seen == [], "the former model is not asked"


async def test_a_sample_waits_until_the_bot_with_the_former_model_has_gone(
    changing: tuple[Steps, asyncio.Task[dict[str, object]]],
) -> None:
    steps, sample = changing
    # the bot of the former model ends, and the next one is not there yet
    steps.service.control = None
    with pytest.raises(InputError, match="The bot is starting"):
        await asyncio.wait_for(sample, 30)


async def test_a_sample_does_not_wait_for_a_model_that_is_not_wanted_any_more(
    changing: tuple[Steps, asyncio.Task[dict[str, object]]],
) -> None:
    """Whoever chooses a third model before the second one is there gets no bot with the second."""
    steps, sample = changing
    await steps.do("model", provider="offline")
    with pytest.raises(InputError, match="The bot is starting"):
        await asyncio.wait_for(sample, 30)
