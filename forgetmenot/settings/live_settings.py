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
from typing import Any, NamedTuple

import msgspec

from forgetmenot.errors import SettingsError
from forgetmenot.files import replace_file
from forgetmenot.languages import Language, Reason, in_language, languages, reason
from forgetmenot.settings.load import (
    convert,
    normalised,
    parse_settings,
    refuse_contradictions,
)
from forgetmenot.settings.schema import Settings

# How a setting is asked for.
Form = dict[str, object]
# Values to be set, by table and key.
NewValues = Mapping[tuple[str, str], object]

# What stands in the place of the file's name in an error of a value that somebody typed in the dock.
_NEW_VALUE = "The new value"
_PLACE = re.compile(rf"{_NEW_VALUE}: table \[(\w+)\], key `(\w+)`:? ?")
# Letters from which a text is typed into a large field.
_LONG_TEXT = 200


class LiveSettings:
    """The settings of the moment.

    `path` is the file they were read from; None: a change lasts for this run only. `generation`
    grows with all that makes the bot's connection or model be built anew. `taken_port`: the dock's
    port in the file, if another program has it and the dock uses another one for this run; else 0.
    """

    def __init__(self, settings: Settings, path: Path | None = None) -> None:
        self._current = settings
        # Each change is one of the whole file, and comes in a thread of its own.
        self._change_lock = threading.Lock()
        self.path = path
        self.generation = 0
        self.taken_port = 0

    def __call__(self) -> Settings:
        """Return one snapshot."""
        return self._current

    def change(
        self,
        values: NewValues,
        check: Callable[[Settings], None],
    ) -> Settings:
        """Change several settings permanently, all or none, and return all settings.

        `values` are by table and key. `check` may refuse the new settings. Raises SettingsError.
        """
        for table, key in values:
            if (table, key) not in LABELS:
                raise SettingsError(
                    f"`{key}` in [{table}] cannot be changed while the bot runs. Change it in the"
                    " file."
                )
        with self._change_lock:
            try:
                settings = self._with_values(values)
                check(settings)
            except SettingsError as error:
                language = in_language(self._current.bot.language)
                raise SettingsError(_with_label(str(error), language)) from error
            # Before the change counts: a full disk refuses it, and the bot does not do what its file denies.
            if self.path is not None:
                change_file(self.path, values)
            if _must_restart(self._current, settings):
                self.generation += 1
            self._current = settings
        return settings

    def _with_values(self, values: NewValues) -> Settings:
        """Return the settings with some changed. Raises SettingsError."""
        # From the current settings, not the file: an option of the command line stays.
        tables = msgspec.to_builtins(self._current)
        for (table, key), value in values.items():
            tables[table][key] = value
        settings = convert(tables, _NEW_VALUE)
        refuse_contradictions(settings, _NEW_VALUE)
        return normalised(settings)

    def port_trouble(self) -> str:
        """Return why the dock is not where it usually is, as a reason; empty if it is."""
        if not self.taken_port:
            return ""
        port = str(self._current.dock.port)
        return reason("port_moved", taken=str(self.taken_port), port=port)

    def restart(self) -> None:
        """Have the connection and the model built anew: a secret that they use has changed."""
        self.generation += 1


def _must_restart(old: Settings, new: Settings) -> bool:
    """Return whether the connection or the model has to be built anew."""
    return any(getattr(old, table) != getattr(new, table) for table in RESTARTING)


def _with_label(error: str, language: Language) -> str:
    """Return what is wrong with a value, with the setting's label for its table and key."""
    place = _PLACE.match(error)
    if place is None or (place[1], place[2]) not in LABELS:
        return error
    label, _explanation = language.pair(f"settings.{place[1]}.{place[2]}")
    # Errors of `load` are reasons with two parts; those of msgspec are plain sentences.
    if isinstance(error, Reason):
        return reason("wrong_setting", where=label, why=error.values["why"])
    problem = error[place.end() :]
    sentence = problem[:1].upper() + problem[1:]
    return reason("wrong_setting", where=label, why=sentence)


def form_of(table: str, key: str) -> Form:
    """Return how a setting is asked for: its `kind`, with its choices or bounds.

    The kinds are choice, switch, number, list and text.
    """
    # A text in the schema, because which languages there are is known by their files.
    if (table, key) == ("bot", "language"):
        return {"kind": "choice", "choices": list(languages())}
    value_type = _field_type(_field_type(Settings, table), key)
    bounds = msgspec.Meta()
    if typing.get_origin(value_type) is typing.Annotated:
        value_type, bounds, *_ = typing.get_args(value_type)
    if isinstance(value_type, type) and issubclass(value_type, enum.StrEnum):
        return {"kind": "choice", "choices": [choice.value for choice in value_type]}
    if value_type is bool:
        return {"kind": "switch"}
    if value_type is int or value_type is float:
        least = bounds.ge if bounds.ge is not None else bounds.gt
        is_whole = value_type is int
        return {"kind": "number", "least": least, "most": bounds.le, "whole": is_whole}
    if typing.get_origin(value_type) in {tuple, types.GenericAlias}:
        return {"kind": "list"}
    is_long = (bounds.max_length or 0) > _LONG_TEXT
    return {"kind": "text", "long": is_long, "most": bounds.max_length}


def _field_type(struct: type[msgspec.Struct], name: str) -> Any:  # noqa: ANN401  # any type
    """Return the type of a field, with its bounds. Raises LookupError for an unknown one."""
    for field in msgspec.structs.fields(struct):
        if field.name == name:
            return field.type
    raise LookupError(name)


def change_file(path: Path, values: NewValues) -> Settings:
    """Change the settings file, and return the settings it then has.

    Comments and line ends stay. The new text is validated first, and a crash leaves the old file
    or the new one. Raises SettingsError, and leaves the file as it was then.
    """
    from tomlkit.exceptions import TOMLKitError

    try:
        # Windows' editors put a byte order mark first, and end lines in their own way.
        text = path.read_bytes().decode("utf-8-sig")
        line_end = "\r\n" if "\r\n" in text else "\n"
        new_text = _changed_toml(text.replace("\r\n", "\n"), values)
    except (OSError, TOMLKitError, TypeError, ValueError, AttributeError) as error:
        raise SettingsError(f"{path} cannot be changed: {error}.") from error
    settings = parse_settings(new_text, str(path))
    new_text = new_text.replace("\n", line_end)
    # A link stays one: the file it points to is replaced.
    file = path.resolve()
    try:
        # With the rights that the old one has: somebody may have closed it to others.
        mode = file.stat().st_mode & 0o777
        replace_file(file, new_text, mode=mode)
    except OSError as error:
        code = "disk_full" if error.errno == errno.ENOSPC else "not_written"
        raise SettingsError(
            reason(code, path=str(path), error=error.strerror)
        ) from error
    return settings


def _changed_toml(text: str, values: NewValues) -> str:
    """Return TOML with some values changed, and all else as it was. Raises TOMLKitError and others of tomlkit's."""
    # Imported late: only a change needs it.
    import tomlkit

    document = tomlkit.parse(text)
    for (table, key), value in values.items():
        content = document.setdefault(table, tomlkit.table())
        old_item = content.get(key)
        content[key] = value
        # The comment behind the value is the key's, not the value's.
        if isinstance(old_item, tomlkit.items.Item):
            content[key].trivia.comment_ws = old_item.trivia.comment_ws
            content[key].trivia.comment = old_item.trivia.comment
    return tomlkit.dumps(document)


class Label(NamedTuple):
    """How a setting is shown. `basic`: at once; the others stand under "Advanced"."""

    group: str
    basic: bool


# The settings that a streamer changes, in the order in which the dock shows them: group, table, the
# keys that are shown at once, and those under "Advanced". What does not stand here is for the
# settings file alone. Label and sentence of each are in forgetmenot/languages, table [settings].
_SHOWN = (
    ("channel", "twitch", "channel", "bot_login client_id"),
    (
        "who",
        "bot",
        "mode name persona language notice",
        "aliases reply_language speaks_as answers_help answers_commands",
    ),
    ("model", "model", "", "provider reply_model memory_model base_url"),
    (
        "cost",
        "limits",
        "money_per_day money_per_stream",
        "tokens_per_day tokens_per_stream replies_per_viewer_hour",
    ),
    ("talk", "reply", "viewer_gap_s blocklist", "max_chars allow_links"),
    ("talk", "rewards", "", "ask remember"),
    (
        "act",
        "actions",
        "safe_mode class_a class_b class_c",
        "disabled denied_targets newcomer_protection",
    ),
    ("memory", "memory", "ignored_viewers", ""),
    ("memory", "privacy", "never_store", "privacy_url"),
    ("hearing", "hearing", "", "obs source captions programs offline answer_aloud"),
    ("memory", "dock", "earpiece", "earpiece_without"),
    ("recap", "recap", "", "folder post_at_once"),
    ("tools", "local_api", "", "enabled"),
)


def _labels() -> dict[tuple[str, str], Label]:
    """Return the settings of _SHOWN, by table and key, in their order."""
    labels = {}
    for group, table, basic_keys, advanced_keys in _SHOWN:
        for key in basic_keys.split():
            labels[table, key] = Label(group, basic=True)
        for key in advanced_keys.split():
            labels[table, key] = Label(group, basic=False)
    return labels


LABELS = _labels()

# Tables whose changes count when the connection or the model is built anew.
RESTARTING = frozenset({"twitch", "model", "hearing"})


def presets(language: Language) -> dict[str, str]:
    """Return characters to begin with, by their titles."""
    pairs = [language.pair(f"preset.{name}") for name in ("warm", "dry", "fan")]
    return dict(pairs)
