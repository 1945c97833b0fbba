"""Lists everything that can be asked of the bot: by viewers, moderators, the dock, the command line and the model.

An entry stands beside its handler in operations/handlers. A new command is one entry with its handler there, and its
words in forgetmenot/languages (`does`, `label` for a button of the dock, its results). Parsing, permission, help, the
dock's buttons and docs/COMMANDS.md follow from it. A new action of the model is one entry in operations/actions, with
one method of Helix where Twitch is asked.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from forgetmenot.domain import Permission, Surface
from forgetmenot.languages import ENGLISH, Language
from forgetmenot.operations import actions
from forgetmenot.operations.entries import MODEL
from forgetmenot.operations.handlers import (
    approvals,
    chosen_names,
    mentions,
    note_changes,
    notes,
    privacy,
    quotes,
    replies,
    summaries,
    switches,
    usage,
    viewers,
)
from forgetmenot.operations.types import Operation

# In the order in which `!commands` and docs/COMMANDS.md list them.
_OF_PEOPLE: tuple[Operation, ...] = (
    *viewers.OPERATIONS,
    *chosen_names.OPERATIONS,
    *notes.OPERATIONS,
    *note_changes.OPERATIONS,
    *mentions.OPERATIONS,
    *quotes.OPERATIONS,
    *privacy.OPERATIONS,
    *usage.OPERATIONS,
    *approvals.OPERATIONS,
    *replies.OPERATIONS,
    *summaries.OPERATIONS,
    *switches.OPERATIONS,
)


def _by_name() -> Mapping[str, Operation]:
    """Return every operation by its name: first those that people ask for, then those of the model alone.

    Where the model may propose what people also ask for, the two share one entry.
    """
    operations = {}
    for operation in _OF_PEOPLE:
        # None for most: the model may not propose them
        action = actions.find(operation.name)
        operations[operation.name] = replace(operation, action=action)
    for action in actions.ACTIONS:
        if action.name not in operations:
            operations[action.name] = Operation(
                action.name, MODEL, params=action.params, action=action
            )
    return operations


OPERATIONS = _by_name()


def commands() -> list[tuple[str, str, str, Permission]]:
    """Chat commands for docs/COMMANDS.md: form, description, example, permission."""
    rows = []
    for operation in OPERATIONS.values():
        if operation.chat:
            form = usage.form_as_shown(operation.chat[0])
            description = ENGLISH(f"does.{operation.name}")
            permission = operation.permissions[Surface.CHAT]
            rows.append((form, description, operation.examples[0], permission))
    return rows


def buttons(language: Language = ENGLISH) -> dict[str, dict[str, str]]:
    """Return the dock's buttons by operation: label and description."""
    labels = {}
    for name, operation in OPERATIONS.items():
        if Surface.DOCK in operation.permissions and f"label.{name}" in language:
            labels[name] = {
                "label": language(f"label.{name}"),
                "does": language(f"does.{name}"),
            }
    return labels
