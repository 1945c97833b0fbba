"""The settings of a running bot, and which of them can be changed while it runs.

Long-lived objects call `LiveSettings`; the handler of an event calls it once. A change is validated
as a whole, written to the file it came from (if it came from one), and seen by the next event.
"""

import enum
import errno
import re
import threading
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from forgetmenot.errors import SettingsError
from forgetmenot.files import replace_file
from forgetmenot.languages import Language, Reason, in_language, languages, reason
from forgetmenot.settings.load import convert, normalised, parse_settings, refuse_contradictions
from forgetmenot.settings.schema import Settings

Form = dict[str, object]


_WHERE = re.compile(r"The new value: table \[(\w+)\], key `(\w+)`:? ?")


class LiveSettings:
    """The settings of the moment. `path`: the file they were read from; None: a change lasts for this run only.

    `generation` grows with whatever makes the bot's connection or model be built anew.
    """

    def __init__(self, settings: Settings, path: Path | None = None) -> None:
        self._now = settings
        self._changing = threading.Lock()
        self.path = path
        self.generation = 0

    def __call__(self) -> Settings:
        """One snapshot."""
        return self._now

    def change(
        self, values: Mapping[tuple[str, str], object], check: Callable[[Settings], None]
    ) -> Settings:
        """Change several at once, permanently: all or none. Raises SettingsError."""
        for table, key in values:
            if (table, key) not in LABELS:
                raise SettingsError(
                    f"`{key}` in [{table}] cannot be changed while the bot runs. Change it in the file."
                )
        with (
            self._changing
        ):  # each change is one of the whole file, and comes in a thread of its own
            try:
                tables = msgspec.to_builtins(
                    self._now
                )  # as they stand: what an option of the command line set stays
                for (table, key), value in values.items():
                    tables[table][key] = value
                fresh = convert(tables, "The new value")
                refuse_contradictions(fresh, "The new value")
                fresh = normalised(fresh)
                check(fresh)
            except SettingsError as error:
                raise SettingsError(
                    _with_label(str(error), in_language(self._now.bot.language))
                ) from error
            if self.path is not None:
                change_file(self.path, values)
            if any(getattr(fresh, table) != getattr(self._now, table) for table in RESTARTING):
                self.generation += 1
            self._now = fresh
        return fresh

    def restart(self) -> None:
        """Have the connection and the model built anew: a secret that they use has changed."""
        self.generation += 1


def _with_label(error: str, language: Language) -> str:
    """What is wrong with a value, with the setting's label in place of its table and key."""
    where = _WHERE.match(error)
    if not where or (where[1], where[2]) not in LABELS:
        return error
    rest = error[where.end() :]
    why = error.values["why"] if isinstance(error, Reason) else f"{rest[:1].upper()}{rest[1:]}"
    return reason(
        "wrong_setting", where=language.pair(f"settings.{where[1]}.{where[2]}")[0], why=why
    )


def form_of(table: str, key: str) -> Form:
    """How a setting is asked for: `kind` is choice, switch, number, list or text; with its bounds."""
    if (table, key) == ("bot", "language"):
        return {"kind": "choice", "choices": list(languages())}
    tables = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    kind = next(field.type for field in msgspec.structs.fields(tables[table]) if field.name == key)
    meta = None
    if typing.get_origin(kind) is typing.Annotated:
        kind, meta = typing.get_args(kind)[:2]
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return {"kind": "choice", "choices": [choice.value for choice in kind]}
    if kind is bool:
        return {"kind": "switch"}
    if kind is int or kind is float:
        least = None if meta is None else meta.ge if meta.ge is not None else meta.gt
        return {
            "kind": "number",
            "least": least,
            "most": None if meta is None else meta.le,
            "whole": kind is int,
        }
    if typing.get_origin(kind) in {tuple, types.GenericAlias}:
        return {"kind": "list"}
    longest = meta.max_length if meta is not None else None
    return {"kind": "text", "long": (longest or 0) > 200, "most": longest}


# A changed setting is validated first; comments and line ends stay, and a crash leaves the old file or the new one.


def change_file(path: Path, values: Mapping[tuple[str, str], object]) -> Settings:
    """Change the file; the settings it then holds. Raises SettingsError, and leaves it alone then."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        text = path.read_bytes().decode("utf-8-sig")
        line_end = "\r\n" if "\r\n" in text else "\n"
        document = tomlkit.parse(text.replace("\r\n", "\n"))
        for (table, key), value in values.items():
            content = document.setdefault(table, tomlkit.table())
            before, content[key] = content.get(key), value
            if isinstance(
                before, tomlkit.items.Item
            ):  # the comment behind the value is the key's, not the value's
                trivia = before.trivia
                content[key].trivia.comment_ws, content[key].trivia.comment = (
                    trivia.comment_ws,
                    trivia.comment,
                )
        fresh = tomlkit.dumps(document)
    except (OSError, TOMLKitError, TypeError, ValueError, AttributeError) as error:
        raise SettingsError(f"{path} cannot be changed: {error}.") from error
    settings = parse_settings(fresh, str(path))
    real = path.resolve()  # a link stays one
    try:
        replace_file(real, fresh.replace("\n", line_end), mode=real.stat().st_mode & 0o777)
    except OSError as error:
        code = "disk_full" if error.errno == errno.ENOSPC else "not_written"
        raise SettingsError(reason(code, path=str(path), error=error.strerror)) from error
    return settings


# The settings that a streamer changes, in the order in which the dock shows them. What does not stand here is for the
# settings file alone. Label and sentence of each are in forgetmenot/languages, table [settings].


class Label(NamedTuple):
    """How a setting is shown. `basic`: shown at once; the others stand under "Advanced"."""

    group: str
    basic: bool


_SHOWN = (
    # group, table, its keys that are shown at once, and those under "Advanced"
    ("channel", "twitch", "channel", "bot_login client_id"),
    (
        "who",
        "bot",
        "mode name aliases persona language notice",
        "reply_language speaks_as answers_help answers_commands",
    ),
    ("model", "model", "", "provider reply_model memory_model base_url"),
    (
        "cost",
        "limits",
        "money_per_day money_per_stream",
        "tokens_per_day tokens_per_stream replies_per_viewer_hour",
    ),
    ("talk", "reply", "max_chars viewer_gap_s blocklist", "allow_links"),
    ("talk", "rewards", "ask remember", ""),
    (
        "act",
        "actions",
        "safe_mode class_a class_b class_c",
        "disabled denied_targets newcomer_protection",
    ),
    ("memory", "memory", "ignored_viewers", ""),
    ("memory", "privacy", "never_store", "privacy_url"),
    ("hearing", "hearing", "obs source captions", "programs offline answer_aloud"),
    ("people", "dock", "earpiece", "earpiece_without"),
    ("recap", "recap", "folder post_at_once", ""),
)
LABELS = {
    (table, key): Label(group, basic)
    for group, table, *keys in _SHOWN
    for basic, names in zip((True, False), keys, strict=True)
    for key in names.split()
}

# Tables whose changes count when the connection or the model is built anew.
RESTARTING = frozenset({"twitch", "model", "hearing"})


def presets(language: Language) -> dict[str, str]:
    """Characters to begin with, by their titles."""
    return dict(language.pair(f"preset.{name}") for name in ("warm", "dry", "fan"))
