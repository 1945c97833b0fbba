"""The personas that the docs offer fit the budget."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from forgetmenot.prompt.voice import check_floor
from forgetmenot.reply.prefix import offered
from forgetmenot.settings.schema import ActionSettings, BotSettings, Settings

DOCS = (Path(__file__).parents[2] / "docs" / "PROMPT.md").read_text(encoding="utf-8")
PERSONAS = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL)]


def test_there_are_personas_to_choose_from() -> None:
    assert len(PERSONAS) >= 4


@pytest.mark.parametrize("persona", PERSONAS)
def test_a_documented_persona_fits(persona: dict[str, object]) -> None:
    bot = msgspec.convert(persona, BotSettings)
    check_floor(Settings(bot=bot), "a_rather_long_channel_name", offered(ActionSettings()))
