"""The whole way out, and the soak: the real queue, twitchio and a Twitch that misbehaves. Nothing doubled, no limit."""

from pathlib import Path

import pytest
import soak

pytestmark = pytest.mark.slow


async def test_a_flood_through_every_trouble_doubles_nothing_and_breaks_no_limit(tmp_path: Path) -> None:
    """Sixty messages, three runs of the bot, 429s, 503s, expired tokens, lost answers."""
    figures = await soak.flood(tmp_path, 60)
    assert figures["messages"] == 60
    assert figures["faults while sending"] >= 14, "each kind twice"
    for name in ("messages doubled", "messages lost", "fates told wrongly", "rate breaches"):
        assert figures[name] == 0, name
    assert figures["messages shown"] + figures["refused, with a reason"] + figures["of unknown fate"] >= 60


async def test_the_soak_runs_and_finds_nothing(tmp_path: Path) -> None:
    figures = await soak.soak(tmp_path, quick=True)
    assert {name: figures[name] for name in soak.MUST_BE_ZERO} == dict.fromkeys(soak.MUST_BE_ZERO, 0)
    assert figures["drops"] == figures["gaps told"] == figures["events said"]
