"""The settings of a running bot, and which of them may be changed meanwhile.

`LiveSettings` is the callable that long-lived objects ask; whoever handles an event asks once. A change is validated
as a whole, written to the file it came from (if it came from one), and seen by the next event.
"""

import enum
import threading
import types
import typing
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Meta

from forgetmenot.errors import SettingsError
from forgetmenot.settings.edit import change_file
from forgetmenot.settings.load import convert, refuse_contradictions
from forgetmenot.settings.schema import Settings

EDITABLE = frozenset(
    {
        *(("bot", key) for key in ("mode", "persona", "speaks_as", "language", "aliases")),
        *(("recall", key) for key in ("speaker_notes", "others", "notes_per_other", "channel_notes")),
        *(("reply", key) for key in ("max_chars", "spontaneous_gap_s", "viewer_gap_s", "stale_after_s")),
        *(("reply", key) for key in ("follow_up_s", "allow_links", "blocklist")),
        *(("actions", key) for key in ("class_a", "class_b", "class_c", "safe_mode", "disabled", "per_stream")),
        *(("actions", key) for key in ("allowed_targets", "denied_targets", "max_timeout_s", "newcomer_protection")),
        *(("actions", key) for key in ("viewer_cooldown_s", "channel_cooldown_s", "approval_expires_s")),
        *(("people", key) for key in ("regular_streams", "regular_within_d", "newcomer_streams", "returner_away_d")),
        ("memory", "ignored_viewers"),
        ("memory", "known_bots"),
        ("privacy", "never_store"),
        ("privacy", "privacy_url"),
    }
)
Form = dict[str, object]


class LiveSettings:
    """The settings of the moment. `path`: the file they were read from; None: a change lasts for this run only."""

    def __init__(self, settings: Settings, path: Path | None = None) -> None:
        self._now = settings
        self._changing = threading.Lock()
        self.path = path

    def __call__(self) -> Settings:
        """One snapshot."""
        return self._now

    def change(self, table: str, key: str, value: object, check: Callable[[Settings], None]) -> Settings:
        """Change one setting for good. `check` may refuse what the schema allows. Raises SettingsError."""
        if (table, key) not in EDITABLE:
            raise SettingsError(f"`{key}` in [{table}] cannot be changed while the bot runs. Change it in the file.")
        with self._changing:  # each change is one of the whole file, and comes in a thread of its own
            fresh = self._replaced(table, key, value)
            check(fresh)
            if self.path is not None:
                change_file(self.path, table, key, value)
            self._now = fresh
        return fresh

    def _replaced(self, table: str, key: str, value: object) -> Settings:
        """As they stand, with that one changed: also what an option of the command line changed stays."""
        content = getattr(convert({table: {key: value}}, "The new value"), table)
        replaced = msgspec.structs.replace(getattr(self._now, table), **{key: getattr(content, key)})
        fresh: Settings = msgspec.structs.replace(self._now, **{table: replaced})
        refuse_contradictions(fresh, "The new value")
        return fresh


def form_of(table: str, key: str) -> Form:
    """How a setting is asked for: `kind` is choice, switch, number, list or text; with its bounds."""
    tables = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    kind = next(field.type for field in msgspec.structs.fields(tables[table]) if field.name == key)
    meta = None
    if typing.get_origin(kind) is typing.Annotated:
        kind, meta = typing.get_args(kind)[:2]
    return _form(kind, meta)


def _form(kind: object, meta: Meta | None) -> Form:
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return {"kind": "choice", "choices": [one.value for one in kind]}
    if kind is bool:
        return {"kind": "switch"}
    if kind is int or kind is float:
        least = None if meta is None else meta.ge if meta.ge is not None else meta.gt
        return {"kind": "number", "least": least, "most": None if meta is None else meta.le, "whole": kind is int}
    if typing.get_origin(kind) in {tuple, types.GenericAlias}:
        return {"kind": "list"}
    return {"kind": "text", "long": meta is not None and (meta.max_length or 0) > 200}
