"""The one table of what can be asked of the bot: by viewers, moderators, the dock, the command line and the model.

A new command is one entry with its service; a new action of the model is one entry in operations/catalogue, with one
method of Helix where Twitch is asked. Parsing, permission, help, the dock's buttons and the README follow from it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from forgetmenot.domain.operation import Permission, Surface
from forgetmenot.memory.privacy_queue import DeferredKind
from forgetmenot.operations import catalogue, services, services_memory
from forgetmenot.operations.entry import Operation, Parameter, ParameterKind
from forgetmenot.operations.services import shown

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
_SOMEBODY = Parameter("viewer", ParameterKind.VIEWER, optional=True, unseen=True)
_TARGET = Parameter("target", ParameterKind.VIEWER, optional=True)

_PEOPLE: tuple[Operation, ...] = (
    # Memory.
    Operation(
        "memory", "shows what I know about you", _ANYBODY, services_memory.memory, (_VIEWER,), ("!memory [viewer]",),
    ),
    Operation(
        "missed", "what happened since you were last here", _ANYBODY, services_memory.missed, (), ("!missed",),
    ),
    Operation(
        "remember_this", "keeps what somebody said just before", _ANYBODY, services_memory.remember_this,
        (Parameter("viewer", ParameterKind.VIEWER),), ("!remember this|that about|of|from <viewer>",),
    ),
    Operation(
        "remember", "keeps a fact about you", _ANYBODY | _DOCK | _MODEL, services_memory.remember,
        (Parameter("fact", ParameterKind.TEXT), _TARGET, Parameter("joke", ParameterKind.FLAG)),
        ("!remember <fact>", "!remember that <fact>"), label="Remember", edits_memory=True,
    ),
    Operation(
        "correct", "corrects a note about you by what you say", _MODEL, services_memory.correct,
        (_text("note"), _text("fact")),
    ),
    Operation(
        "bit", "notes that a running joke came up", _MODEL, services_memory.flag_joke, (_text("text"),),
    ),
    Operation(
        "forget", "permanently deletes a note about you, by its words or its number", _ANYBODY | _MODEL,
        services.queued(services_memory.forget, DeferredKind.FORGET), (_text("what"), _TARGET),
        ("!forget <what>", "!forget that|about <what>"), waits=True,
    ),
    Operation(
        "edit", "corrects a note; the old version stays in its history", _ANYBODY | _DOCK, services_memory.edit,
        (_ID, _text("text")), ("!edit <id> <text>",), label="Edit", edits_memory=True,
    ),
    Operation(
        "retract", "removes a note; it can be restored", _MODERATORS | _DOCK | _CLI, services_memory.retract, (_ID,),
        ("!wrong <id>",), label="Remove", edits_memory=True,
    ),
    Operation(
        "restore", "undoes the last change of a note", _MODERATORS | _DOCK | _CLI, services_memory.restore, (_ID,),
        ("!wrong <id> undo",), label="Undo", edits_memory=True,
    ),
    Operation("pin", "keeps a note permanently", _DOCK | _CLI, services_memory.pin, (_ID,), label="Pin"),
    Operation("unpin", "lets a pinned note age again", _DOCK | _CLI, services_memory.unpin, (_ID,), label="Unpin"),
    Operation(
        "never_mention", "I never bring that topic or note up again", _ANYBODY | _DOCK | _CLI,
        services.queued(services_memory.never_mention, DeferredKind.NEVER_MENTION), (_text("what"), _VIEWER),
        ("!nevermention <what>",), label="Never mention", edits_memory=True, waits=True,
    ),
    Operation(
        "may_mention", "takes an entry off that list", _ANYBODY | _DOCK | _CLI, services_memory.may_mention, (_ID,),
        ("!maymention <id>",), label="Allow again", edits_memory=True,
    ),
    # Rights.
    Operation(
        "erase", "permanently deletes everything about you", _ANYBODY | _DOCK | _CLI, services.erase,
        (_VIEWER, Parameter("confirm", ParameterKind.FLAG)),
        ("!forgetme [viewer] [confirm]", "!forget me [viewer] [confirm]"), label="Erase", waits=True,
    ),
    Operation(
        "opt_out", "nothing you say is stored from now on", _ANYBODY | _DOCK | _CLI, services.opt_out,
        (_SOMEBODY,), ("!optout [viewer]",), label="Opt out", waits=True,
    ),
    Operation(
        "opt_in", "I remember you again", _ANYBODY | _DOCK | _CLI, services.opt_in, (_SOMEBODY,),
        ("!optin [viewer]",), label="Opt in", waits=True,
    ),
    Operation(
        "privacy", "what is kept, and for how long", _ANYBODY, services.privacy,
        (_text("question", optional=True),), ("!privacy [question]",),
    ),
    Operation("export", "everything that is kept about a viewer", _DOCK | _CLI, services.export, (_VIEWER,)),
    Operation(
        "fun", "lets me time you out for a minute at most, as a joke", _ANYBODY, services.fun,
        (Parameter("on|off", ParameterKind.TEXT, optional=True, choices=("on", "off")),), ("!fun [on|off]",),
    ),
    Operation(
        "help", "lists the commands, or explains one", _ANYBODY, services.show_help,
        (_text("command", optional=True),), ("!help [command]", "!commands [command]"),
    ),
    # Moderators.
    Operation(
        "approve", "lets me do what waits for approval", _MODERATORS | _DOCK | _CLI, services.approve, (_ID_OR_LAST,),
        ("!approve [id]",), label="Approve",
    ),
    Operation(
        "deny", "refuses it", _MODERATORS | _DOCK | _CLI, services.deny, (_ID_OR_LAST,), ("!deny [id]",), label="Deny",
    ),
    Operation(
        "undo", "undoes my last action", _MODERATORS | _DOCK | _CLI, services.undo, (_ID_OR_LAST,), ("!undo [id]",),
        label="Undo",
    ),
    Operation(
        "enable", "switches an action on again that failed too often", _CLI, services.enable,
        (_text("name", optional=True),),
    ),
    Operation(
        "good", "says that my last reply was good", _ANYBODY | _DOCK, services.good, (_ID_OR_LAST,), ("!good",),
        label="Good",
    ),
    Operation(
        "bad", "says that my last reply was bad", _ANYBODY | _DOCK, services.bad, (_ID_OR_LAST,), ("!bad",),
        label="Bad",
    ),
    Operation("why", "why I said that", _MODERATORS, services.why, (_ID_OR_LAST,), ("!why [id]",)),
    Operation(
        "pause", "I stay silent until !bot resume", _MODERATORS | _DOCK, services.pause, (), ("!bot pause",),
        label="Pause",
    ),
    Operation(
        "resume", "I speak and act again", _MODERATORS | _DOCK, services.resume, (), ("!bot resume",), label="Resume",
    ),
    Operation(
        "quiet", "I stay silent for that many minutes", _MODERATORS | _DOCK, services.quiet,
        (_number("minutes", optional=True),), ("!bot quiet [minutes]",), label="Quiet",
    ),
    Operation(
        "safe", "I talk and do nothing else", _MODERATORS | _DOCK, services.safe, (), ("!bot safe",), label="Safe mode",
    ),
    Operation("unsafe", "ends safe mode", _DOCK, services.unsafe, label="End safe mode"),
    Operation("status", "how I am", _MODERATORS, services.status, (), ("!bot status",)),
    Operation(
        "set", "changes a setting", _DOCK, services.change_setting,
        (_text("table"), _text("key"), Parameter("value", ParameterKind.VALUE)), label="Save",
    ),
)  # fmt: skip


def _table(people: Iterable[Operation]) -> Mapping[str, Operation]:
    """People's operations, then the actions that only the model proposes; an operation of both is one entry."""
    found = {one.name: replace(one, action=catalogue.find(one.name)) for one in people}
    for action in catalogue.ACTIONS:
        found.setdefault(action.name, Operation(action.name, action.does, _MODEL, params=action.params, action=action))
    return found


OPERATIONS = _table(_PEOPLE)


def commands(table: Mapping[str, Operation] = OPERATIONS) -> list[tuple[str, str, Permission]]:
    """Chat commands for help and the README: form, description, permission."""
    return [(shown(one.chat[0]), one.does, one.who[Surface.CHAT]) for one in table.values() if one.chat]


def buttons(table: Mapping[str, Operation] = OPERATIONS) -> dict[str, dict[str, str]]:
    """The dock's buttons by operation: label and description."""
    found = {name: one for name, one in table.items() if Surface.DOCK in one.who and one.label}
    return {name: {"label": one.label, "does": one.does} for name, one in found.items()}
