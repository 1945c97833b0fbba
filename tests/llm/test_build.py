"""What the settings ask for is built, or refused in a sentence before anything runs."""

import asyncio
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.domain import ModelRequest, Purpose
from forgetmenot.errors import ModelUnavailable, SettingsError
from forgetmenot.languages import in_language
from forgetmenot.llm.build import build_model, build_models
from forgetmenot.llm.guarded import RetryClock
from forgetmenot.llm.json_text import json_object, unwrapped, without_loop, without_thought
from forgetmenot.settings.schema import ModelSettings, Provider
from tests.stage import NoMeter


@pytest.fixture
def meter() -> NoMeter:
    """A meter nobody reads."""
    return NoMeter()


GEMINI = ModelSettings(provider=Provider.GEMINI)
LOCAL = ModelSettings(provider=Provider.OPENAI_COMPATIBLE, base_url="http://127.0.0.1:9/v1", reply_model="m")


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


async def test_what_is_wrong_with_a_model_is_said_in_each_language(meter: NoMeter) -> None:
    local = msgspec.structs.replace(LOCAL, memory_model="m")
    models = build_models(local, meter, environ={}, pace=RetryClock(sleep=_at_once))
    with pytest.raises(ModelUnavailable):
        await models.reply.generate(ModelRequest(Purpose.REPLY, "", "hello", 50))
    german = in_language("de").reason(models.trouble or "")
    assert german.startswith(
        "Mit dem Modell m ging es 3-mal hintereinander schief: http://127.0.0.1:9/v1/chat/completions ist nicht"
    )
    await models.aclose()


def test_a_missing_key_says_where_to_get_one_and_what_the_terms_are(meter: NoMeter) -> None:
    with pytest.raises(SettingsError) as caught:
        build_model(GEMINI, "gemini-3.8-flash", meter, environ={"GEMINI_API_KEY": "  "})
    words = str(caught.value)
    assert "GEMINI_API_KEY" in words
    assert "aistudio.google.com" in words
    assert "under 18" in words
    assert "EEA" in words
    assert "people at Google may read" in words


def test_a_key_that_cannot_be_one_is_refused_without_being_shown(meter: NoMeter) -> None:
    with pytest.raises(SettingsError) as caught:
        build_model(GEMINI, "m", meter, environ={"GEMINI_API_KEY": "schlüssel"})
    assert "schlüssel" not in str(caught.value)


def test_an_unknown_level_of_thinking_is_refused(meter: NoMeter) -> None:
    settings = ModelSettings(provider=Provider.GEMINI, thinking="hard")
    with pytest.raises(SettingsError, match="minimal, low"):
        build_model(settings, "m", meter, environ={"GEMINI_API_KEY": "k"})


@pytest.mark.parametrize("thinking", ["", "low", "MINIMAL", "0"])
def test_known_levels_of_thinking_pass(meter: NoMeter, thinking: str) -> None:
    settings = ModelSettings(provider=Provider.GEMINI, thinking=thinking)
    assert build_model(settings, "m", meter, environ={"GEMINI_API_KEY": "k"}).name == "m"


@pytest.mark.parametrize("base_url", ["", "127.0.0.1:11434/v1", "ftp://x/v1"])
def test_an_openai_compatible_server_needs_an_address(meter: NoMeter, base_url: str) -> None:
    settings = ModelSettings(provider=Provider.OPENAI_COMPATIBLE, base_url=base_url)
    with pytest.raises(SettingsError, match="base_url"):
        build_model(settings, "m", meter, environ={})


def test_a_named_key_may_be_missing_for_a_local_server_only(meter: NoMeter) -> None:
    local = ModelSettings(provider=Provider.OPENAI_COMPATIBLE, base_url="http://localhost:1/v1", api_key_env="MY_KEY")
    assert build_model(local, "m", meter, environ={}).name == "m"
    hosted = ModelSettings(
        provider=Provider.OPENAI_COMPATIBLE, base_url="https://models.example/v1", api_key_env="MY_KEY"
    )
    with pytest.raises(SettingsError, match="MY_KEY"):
        build_model(hosted, "m", meter, environ={})


def test_a_model_without_a_name_is_refused(meter: NoMeter) -> None:
    with pytest.raises(SettingsError, match="reply_model"):
        build_model(LOCAL, "", meter, environ={})


def test_nothing_heavy_is_imported_before_the_first_call() -> None:
    code = (
        "import sys; from forgetmenot.llm import build; from forgetmenot.settings.schema import *;"
        "build.build_models(ModelSettings(provider=Provider.GEMINI), None, environ={'GEMINI_API_KEY': 'k'});"
        "print([m for m in ('google.genai', 'aiohttp') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('Sure! Here is the JSON:\n```json\n{"a": 1}\n```\nAnything else?', '{"a": 1}'),
        ('{"a": 1} {"b": 2}', '{"a": 1}'),
        ('```json\n{"summary": "P1 pl', '{"summary": "P1 pl'),
        ("before ```x``` after", "before ```x``` after"),
    ],
)
def test_what_stands_around_an_object_is_taken_off(text: str, left: str) -> None:
    assert unwrapped(text) == left


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("one and two. one and two. one and two. one", "one and two. one and two. "),
        ("again again and again", "again again and again"),
        ("KEKW KEKW KEKW KEKW KEKW KEKW KEKW", "KEKW KEKW KEKW KEKW "),
    ],
)
def test_a_loop_is_cut(text: str, kept: str) -> None:
    assert without_loop(text) == kept


def test_a_leading_thought_is_taken_off_and_an_open_one_stays() -> None:
    assert without_thought("<think>hm\nhm</think>\nhello") == "hello"
    assert without_thought("hm\nhm\n</think>\n\nhello") == "hello"
    assert without_thought("<think>hm") == "<think>hm"


@given(st.text())
def test_nothing_raises(text: str) -> None:
    unwrapped(without_thought(text))
    json_object(text)
