"""What the settings ask for is built, or refused in a sentence before anything runs."""

import subprocess
import sys
import time

import pytest
from msgspec.structs import replace

from forgetmenot.errors import SettingsError
from forgetmenot.llm import build
from forgetmenot.llm.build import build_model, first_words
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import ModelSettings, Provider
from tests.loopback_servers.openai import SimOpenAI
from tests.stage import NoMeter

GEMINI = ModelSettings(provider=Provider.GEMINI)
LOCAL = ModelSettings(
    provider=Provider.OPENAI_COMPATIBLE,
    base_url="http://127.0.0.1:9/v1",
    reply_model="m",
)


@pytest.mark.parametrize(
    ("chosen", "model", "key", "sentence"),
    [
        *(
            (GEMINI, "m", "  ", part)
            for part in ("GEMINI_API_KEY", "aistudio.google.com", "under 18", "EEA")
        ),
        (GEMINI, "m", "", "people at Google may read"),
        (GEMINI, "m", "schlüssel", "invalid characters"),
        (replace(GEMINI, thinking="hard"), "m", "k", "minimal, low"),
        *(
            (replace(LOCAL, base_url=url), "m", "", "base_url")
            for url in ("", "127.0.0.1:11434/v1", "ftp://x/v1")
        ),
        (
            replace(LOCAL, base_url="https://models.example/v1", api_key_env="MY_KEY"),
            "m",
            "",
            "MY_KEY",
        ),
        (LOCAL, "", "", "reply_model"),
    ],
)
def test_what_can_never_work_is_refused_with_the_way_out(
    chosen: ModelSettings, model: str, key: str, sentence: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        build_model(chosen, model, NoMeter(), environ={"GEMINI_API_KEY": key})
    assert sentence in str(caught.value)
    assert "schlüssel" not in str(caught.value)


def test_what_may_work_is_built() -> None:
    for level in ("", "low", "MINIMAL", "0"):
        build_model(
            replace(GEMINI, thinking=level),
            "m",
            NoMeter(),
            environ={"GEMINI_API_KEY": "k"},
        )
    build_model(
        replace(LOCAL, api_key_env="MY_KEY"), "m", NoMeter(), environ={}
    )  # a server on this computer needs none


def test_nothing_heavy_is_imported_before_the_first_call() -> None:
    code = (
        "import sys; from forgetmenot.llm import build; from forgetmenot.settings.schema import *;"
        "build.build_models(ModelSettings(provider=Provider.GEMINI), None, environ={'GEMINI_API_KEY': 'k'});"
        "print([m for m in ('google.genai', 'aiohttp') if m in sys.modules])"
    )
    output = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert output.stdout.strip() == "[]"


@pytest.mark.slow
async def test_a_first_call_has_its_whole_time_for_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An SDK takes seconds to import on a slow computer, and longer the first time: the server is not to blame."""
    adapter = build._openai_compatible

    def slow_import(settings: ModelSettings, model: str, key: str) -> LanguageModel:
        time.sleep(2.2)
        return adapter(settings, model, key)

    monkeypatch.setattr(build, "_openai_compatible", slow_import)
    async with SimOpenAI() as sim:
        settings = replace(LOCAL, base_url=sim.url, reply_timeout_s=2)
        assert await first_words(settings, NoMeter(), {}) == "Understood."
