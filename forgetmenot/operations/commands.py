"""The one table of what can be asked of the bot: by viewers, moderators, the dock, the command line and the model.

A new command is one entry with its handler, and its words in forgetmenot/languages (`does`, `label` for a button of the
dock, its results); a new action of the model is one entry in operations/actions, with one method of Helix where
Twitch is asked. Parsing, permission, help, the dock's buttons and the README follow from it.
"""

from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace

from forgetmenot.domain import Permission, Surface
from forgetmenot.languages import ENGLISH, Language
from forgetmenot.operations import actions
from forgetmenot.operations.handlers import (
    approvals,
    notes,
    privacy,
    replies,
    switches,
    usage,
    viewers,
)
from forgetmenot.operations.handlers.usage import shown
from forgetmenot.operations.types import Operation, Parameter, ParameterKind

_ANYBODY = {Surface.CHAT: Permission.ANYONE}
_MODERATORS = {Surface.CHAT: Permission.MODERATOR}
_DOCK = {Surface.DOCK: Permission.OWNER}
_CLI = {Surface.CLI: Permission.OWNER}
_MODEL = {Surface.MODEL: Permission.POLICY}
_MOST = 10**15


def _text(name: str, *, optional: bool = False) -> Parameter:
    return Parameter(name, ParameterKind.TEXT, most=500, optional=optional)


def _number(name: str, *, optional: bool = False) -> Parameter:
    return Parameter(name, ParameterKind.NUMBER, most=_MOST, optional=optional)


_ID, _ID_OR_LAST = _number("id"), _number("id", optional=True)
_VIEWER = Parameter("viewer", ParameterKind.VIEWER, optional=True)
_SHOWN_VIEWER_NEEDED = Parameter("viewer", ParameterKind.VIEWER, may_be_short=True)
_SHOWN_VIEWER = Parameter("viewer", ParameterKind.VIEWER, optional=True, may_be_short=True)
_SOMEBODY = Parameter("viewer", ParameterKind.VIEWER, optional=True, unseen=True)
_TARGET = Parameter("target", ParameterKind.VIEWER, optional=True)

_PEOPLE: tuple[Operation, ...] = (
    # Memory.
    Operation("memory", _ANYBODY, notes.memory, (_SHOWN_VIEWER,), ("!memory [viewer]",), ("!memory",)),
    Operation("who", _MODERATORS, viewers.who, (_SHOWN_VIEWER_NEEDED,), ("!who <viewer>",),
        ("!who alice",)),
    Operation("missed", _ANYBODY, viewers.missed, (), ("!missed",), ("!missed",)),
    Operation("remember", _ANYBODY | _DOCK | _MODEL, notes.remember,
        (Parameter("fact", ParameterKind.TEXT), _TARGET, Parameter("joke", ParameterKind.FLAG)),
        ("!remember <fact>", "!remember that <fact>"), ("!remember I play drums",), edits_memory=True),
    Operation("correct", _MODEL, notes.correct, (_number("note"), _text("fact"))),
    Operation("bit", _MODEL, notes.flag_joke, (_text("text"),)),
    Operation("forget", _ANYBODY | _MODEL, notes.forget,
        (_text("what", optional=True), _TARGET), ("!forget [what]", "!forget that|about <what>", "!wrong [what]"),
        ("!forget my drums",), waits=True),
    Operation("edit", _ANYBODY | _DOCK | _CLI, notes.edit, (_ID_OR_LAST, _text("text")),
        ("!edit [id] <text>",), ("!edit 1 lives in Oslo", "forgetmenot memory edit 1 lives in Oslo"),
        edits_memory=True),
    Operation("retract", _DOCK | _CLI, notes.retract, (_ID,),
        examples=("forgetmenot memory retract 1",), edits_memory=True),
    Operation("restore", _ANYBODY | _DOCK | _CLI, notes.restore, (_ID,),
        ("!restore <id>",), ("!restore 1", "forgetmenot memory undo 1"), edits_memory=True),
    Operation("pin", _DOCK | _CLI, partial(notes.pin, pinned=True), (_ID,),
        examples=("forgetmenot memory pin 1",)),
    Operation("unpin", _DOCK | _CLI, partial(notes.pin, pinned=False), (_ID,),
        examples=("forgetmenot memory unpin 1",)),
    Operation("never_mention", _ANYBODY | _DOCK | _CLI,
        notes.never_mention, (_text("what"), _VIEWER),
        ("!nevermention <what>",), ("!nevermention my exams", "forgetmenot memory nevermention exams --viewer alice"),
        edits_memory=True),
    Operation("may_mention", _DOCK | _CLI, notes.may_mention, (_ID,),
        examples=("forgetmenot memory maymention 1",), edits_memory=True),
    # Rights.
    Operation("erase", _ANYBODY | _DOCK | _CLI, privacy.erase, (_VIEWER, Parameter("confirm", ParameterKind.FLAG)),
        ("!forgetme [viewer] [confirm]", "!forget me [viewer] [confirm]"),
        ("!forgetme yes", "forgetmenot viewer erase alice --yes"), waits=True),
    Operation("opt_out", _ANYBODY | _DOCK | _CLI, privacy.opt_out, (_SOMEBODY,), ("!optout [viewer]",),
        ("!optout", "forgetmenot viewer optout alice"), waits=True),
    Operation("opt_in", _ANYBODY | _DOCK | _CLI, privacy.opt_in, (_SOMEBODY,), ("!optin [viewer]",),
        ("!optin", "forgetmenot viewer optin alice"), waits=True),
    Operation("privacy", _ANYBODY, privacy.privacy, (_text("question", optional=True),), ("!privacy [question]",),
        ("!privacy",)),
    Operation("export", _DOCK | _CLI, privacy.export, (_VIEWER,)),
    Operation("help", _ANYBODY, usage.show_help, (_text("command", optional=True),),
        ("!help [command]",), ("!help edit",)),
    Operation("commands", _ANYBODY, usage.show_commands, (), ("!commands",), ("!commands",)),
    # Moderators.
    Operation("approve", _MODERATORS | _DOCK, partial(approvals.decide, approved=True), (_ID_OR_LAST,),
        ("!approve [id]",), ("!approve 1",)),
    Operation("deny", _MODERATORS | _DOCK, partial(approvals.decide, approved=False), (_ID_OR_LAST,), ("!deny [id]",),
        ("!deny 1",)),
    Operation("undo", _MODERATORS | _DOCK, approvals.undo, (_ID_OR_LAST,), ("!undo [id]",), ("!undo 1",)),
    Operation("good", _ANYBODY | _DOCK, partial(replies.rate, good=True), (_ID_OR_LAST,), ("!good",), ("!good",)),
    Operation("bad", _ANYBODY | _DOCK, partial(replies.rate, good=False), (_ID_OR_LAST,), ("!bad",), ("!bad",)),
    Operation("why", _MODERATORS, replies.why, (_ID_OR_LAST,), ("!why [id]",), ("!why",)),
    Operation("pause", _MODERATORS | _DOCK, switches.switched(paused="1"), (), ("!bot pause",),
        ("!bot pause",)),
    Operation("resume", _MODERATORS | _DOCK, switches.switched(paused="", quiet_until="", safe_mode=""), (),
        ("!bot resume",), ("!bot resume",)),
    Operation("quiet", _MODERATORS | _DOCK, switches.quiet, (_number("minutes", optional=True),),
        ("!bot quiet [minutes]",), ("!bot quiet 20",)),
    Operation("safe", _MODERATORS | _DOCK, switches.switched(safe_mode="1"), (), ("!bot safe",),
        ("!bot safe",)),
    Operation("unsafe", _DOCK, switches.switched(safe_mode="")),  # a pause beside it goes on
    Operation("status", _MODERATORS, switches.status, (), ("!bot status",), ("!bot status",)),
)  # fmt: skip


def _table(people: Iterable[Operation]) -> Mapping[str, Operation]:
    """People's operations, then the actions that only the model proposes; an operation of both is one entry."""
    by_name = {one.name: replace(one, action=actions.find(one.name)) for one in people}
    for action in actions.ACTIONS:
        by_name.setdefault(
            action.name, Operation(action.name, _MODEL, params=action.params, action=action)
        )
    return by_name


OPERATIONS = _table(_PEOPLE)


def commands() -> list[tuple[str, str, str, Permission]]:
    """Chat commands for docs/COMMANDS.md: form, description, example, permission."""
    return [
        (shown(one.chat[0]), ENGLISH(f"does.{one.name}"), one.examples[0], one.who[Surface.CHAT])
        for one in OPERATIONS.values()
        if one.chat
    ]


def buttons(language: Language = ENGLISH) -> dict[str, dict[str, str]]:
    """The dock's buttons by operation: label and description."""
    names = [
        name
        for name, one in OPERATIONS.items()
        if Surface.DOCK in one.who and f"label.{name}" in language
    ]
    return {
        name: {"label": language(f"label.{name}"), "does": language(f"does.{name}")}
        for name in names
    }
