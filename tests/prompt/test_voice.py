"""The instructions: short, and a persona that is too long is an error at start."""

import pytest

from forgetmenot.errors import SettingsError
from forgetmenot.prompt.budget import estimate
from forgetmenot.prompt.voice import check_floor, instructions
from forgetmenot.reply.prefix import offered
from forgetmenot.settings.schema import ActionSettings, BotSettings, ClassMode, GuardedMode, PromptSettings, Settings


def test_the_default_voice_is_short_with_every_action_offered() -> None:
    actions = offered(ActionSettings())
    assert estimate(instructions(Settings(), "a_channel_with_a_long_name", actions)) <= 900
    check_floor(Settings(), "a_channel_with_a_long_name", actions)


def test_what_is_switched_off_is_not_offered() -> None:
    assert offered(ActionSettings(safe_mode=True)) == ()
    some = offered(ActionSettings(class_b=ClassMode.OFF, class_c=GuardedMode.OFF, disabled=("clip",)))
    assert any(action.startswith("marker") for action in some)
    assert not any(action.split()[0] in {"timeout", "ban", "clip"} for action in some)
    assert "[ACTION" not in instructions(Settings())


def test_a_persona_in_braces_is_a_persona() -> None:
    assert "{chars} {0}" in instructions(Settings(bot=BotSettings(persona="{chars} {0}")))


def test_a_floor_that_cannot_fit_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="Shorten `persona`"):
        check_floor(Settings(bot=BotSettings(persona="loud " * 500)))
    with pytest.raises(SettingsError, match="Raise `budget_tokens` to"):
        check_floor(Settings(prompt=PromptSettings(budget_tokens=700)))
