"""The settings a command runs under: the file that --config names, or the defaults, with what its options change."""

from pathlib import Path

import msgspec

from forgetmenot.errors import InputError
from forgetmenot.settings.load import load_settings, no_login
from forgetmenot.settings.schema import Provider, Settings
from forgetmenot.text.logins import is_login, login_of


def chosen_settings(path: Path | None, *, model: str | None = None, channel: str | None = None) -> Settings:
    """Read them. Raises SettingsError."""
    settings = _from_file(path) if path is not None else Settings()
    if model is not None:
        changed = msgspec.structs.replace(settings.model, provider=Provider(model))
        settings = msgspec.structs.replace(settings, model=changed)
    if channel is not None:
        if not is_login(channel):
            raise InputError(no_login(channel))
        changed_twitch = msgspec.structs.replace(settings.twitch, channel=login_of(channel))
        settings = msgspec.structs.replace(settings, twitch=changed_twitch)
    return settings


def _from_file(path: Path) -> Settings:
    from forgetmenot.actions import catalogue

    settings = load_settings(path)
    catalogue.refuse_unknown(settings.actions, str(path))
    return settings
