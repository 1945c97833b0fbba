"""The handlers of `!help` and `!commands`."""

from forgetmenot.domain import OperationResult
from forgetmenot.operations.entries import ANYBODY, text_parameter
from forgetmenot.operations.types import Operation, Request


async def show_help(request: Request) -> OperationResult:
    """Return the commands that most people need, or how one of them is typed."""
    # both marks: East Asian keyboards type the wide one
    word = request.text("command").lstrip("!！").casefold()
    if not word:
        return OperationResult(ok=True, code="help")
    matches = _commands_called(word, _typed_commands(request))
    if not matches:
        # Viewers get no answer: the word may be another bot's command.
        code = "help_unknown" if request.asker.moderates else "not_allowed"
        return OperationResult(ok=False, code=code, data={"command": f"!{word}"})
    forms = []
    for command in matches:
        form = form_as_shown(command.chat[0])
        forms.append((form, command.name, *command.examples[:1]))
    return OperationResult(ok=True, code="help_command", data={"forms": forms})


async def show_commands(request: Request) -> OperationResult:
    """Return the commands that the asker may type, without this one."""
    typed = []
    for command in _typed_commands(request):
        line = f"!{_word(command)}"
        if command.name != "commands" and line not in typed:
            typed.append(line)
    return OperationResult(ok=True, code="commands", data={"commands": typed})


def _commands_called(word: str, commands: list[Operation]) -> list[Operation]:
    """Return the commands that a word names: by its first form, else by any of its forms."""
    matches = []
    for command in commands:
        # "!forget" is the first form of one command, and begins a form of another.
        if word in {command.name, _word(command)}:
            matches.append(command)
    if matches:
        return matches
    return [command for command in commands if _has_form(command, word)]


def _typed_commands(request: Request) -> list[Operation]:
    """Return the operations that the asker may type in chat."""
    return [
        operation
        for operation in request.context.operations.values()
        if operation.chat and operation.permits(request.asker)
    ]


def _word(command: Operation) -> str:
    """Return the first word of a command as it is typed, without its mark."""
    return command.chat[0].split()[0].lstrip("!")


def _has_form(command: Operation, word: str) -> bool:
    """Return whether any form of a command begins with a word."""
    return any(form.split()[0] == f"!{word}" for form in command.chat)


def form_as_shown(form: str) -> str:
    """Return a form as people read it: with the first of its alternative words."""
    return " ".join(word.split("|")[0] for word in form.split())


OPERATIONS = (
    Operation(
        "help",
        ANYBODY,
        show_help,
        params=(text_parameter("command", optional=True),),
        chat=("!help [command]",),
        examples=("!help edit",),
    ),
    Operation(
        "commands",
        ANYBODY,
        show_commands,
        chat=("!commands",),
        examples=("!commands",),
    ),
)
