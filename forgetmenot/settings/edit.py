"""Changes one setting in its file: validated first; comments and line ends stay; after a crash the old or the new."""

import contextlib
import os
import tempfile
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from forgetmenot.errors import SettingsError
from forgetmenot.settings.load import parse_settings
from forgetmenot.settings.schema import Settings


def changed(text: str, table: str, key: str, value: object, source: str) -> tuple[str, Settings]:
    """The file's text with that setting, and the settings it then holds. Raises SettingsError; pure."""
    try:
        document = tomlkit.parse(text)
        content = document.setdefault(table, tomlkit.table())
        if key in content and isinstance(content[key], tomlkit.items.Item):
            trivia = content[key].trivia  # the comment behind the value is the key's, not the value's
            content[key] = value
            content[key].trivia.comment_ws, content[key].trivia.comment = trivia.comment_ws, trivia.comment
        else:
            content[key] = value
        fresh = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, ValueError, AttributeError) as error:
        raise SettingsError(f"{source} cannot be changed: {error}.") from error
    return fresh, parse_settings(fresh, source)


def change_file(path: Path, table: str, key: str, value: object) -> Settings:
    """Change the file. Raises SettingsError, and leaves it alone then."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from error
    line_end = "\r\n" if "\r\n" in text else "\n"
    fresh, settings = changed(text.replace("\r\n", "\n"), table, key, value, str(path))
    _write(path, fresh.replace("\n", line_end))
    return settings


def _write(path: Path, text: str) -> None:
    """Put a whole new file in the place of the old one, with its rights."""
    real = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}-", suffix=".new")
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from error
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(real.stat().st_mode & 0o777)
        new.replace(real)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
