"""The loopback Gemini by itself, as any HTTP client sees it."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.sim.gemini import KEY, SimGemini
from forgetmenot.sim.tokens import count


@pytest.fixture
async def sim() -> AsyncIterator[SimGemini]:
    """A server that caches from 20 tokens on."""
    async with SimGemini(cache_from=20) as server:
        yield server


async def _ask(sim: SimGemini, text: str, *, key: str = KEY, model: str = "gemini-3.8-flash") -> tuple[int, Any]:
    url = f"{sim.url}/v1beta/models/{model}:generateContent"
    sent = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    async with aiohttp.ClientSession() as http, http.post(url, json=sent, headers={"x-goog-api-key": key}) as answer:
        return answer.status, await answer.json()


async def test_a_script_is_followed_and_then_the_answerer_speaks(sim: SimGemini) -> None:
    sim.answers("one")
    sim.answer_with(lambda seen: seen.prompt.upper())
    said = [(await _ask(sim, "two"))[1]["candidates"][0]["content"]["parts"][0]["text"] for _ in range(2)]
    assert said == ["one", "TWO"]
    assert [seen.prompt for seen in sim.seen] == ["two", "two"]


async def test_a_wrong_key_and_an_unknown_model_are_refused_as_google_does(sim: SimGemini) -> None:
    status, said = await _ask(sim, "hi", key="wrong")
    assert (status, said["error"]["details"][0]["reason"]) == (400, "API_KEY_INVALID")
    assert (await _ask(sim, "hi", model="gemini-9"))[0] == 404


async def test_only_a_prefix_that_recurs_and_is_long_enough_is_cached(sim: SimGemini) -> None:
    story = "the quick brown fox jumps over the lazy dog and runs " * 5
    first, short, again = [(await _ask(sim, text))[1]["usageMetadata"] for text in (story + "a", "b", story + "c")]
    assert "cachedContentTokenCount" not in first
    assert "cachedContentTokenCount" not in short
    assert 20 <= again["cachedContentTokenCount"] < again["promptTokenCount"]


def test_its_tokenizer_is_not_a_third_of_the_bytes() -> None:
    def ratio(text: str) -> float:
        return count(text) / (len(text.encode()) / 3)

    assert ratio("what a lovely evening for climbing ladders together") < 0.75
    assert ratio("KEKW OMEGALUL PogChamp") > 0.8
    assert ratio("привет всем, как дела") < 0.8
    assert 0.5 < ratio("こんばんは、今日もよろしく") < 1.1


@settings(max_examples=100)
@given(st.text(max_size=80), st.text(max_size=80))
def test_more_text_is_never_fewer_tokens(one: str, other: str) -> None:
    assert count(f"{one}\n{other}") >= max(count(one), count(other))
