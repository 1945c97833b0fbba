"""The handlers of `!help` and `!commands`."""

from forgetmenot.domain import OperationResult
from forgetmenot.operations.run import may_ask
from forgetmenot.operations.types import (
    Operation,
    OperationContext,
    Request,
)


def _allowed(context: OperationContext, request: Request) -> list[Operation]:
    return [one for one in context.table.values() if one.chat and may_ask(one, request.asker)]


async def show_commands(context: OperationContext, request: Request) -> OperationResult:
    """The commands that the asker may type, without this one."""
    words = dict.fromkeys(
        f"!{_word(one)}" for one in _allowed(context, request) if one.name != "commands"
    )
    return OperationResult(ok=True, code="commands", data={"commands": list(words)})


async def show_help(context: OperationContext, request: Request) -> OperationResult:
    """The commands that most people need, or how one of them is typed."""
    allowed = _allowed(context, request)
    # both marks: East Asian keyboards type the wide one
    word = request.text("command").lstrip("!！").casefold()
    if not word:
        return OperationResult(ok=True, code="help")
    fitting = [one for one in allowed if word in {one.name, _word(one)}]
    fitting = fitting or [
        one for one in allowed if any(form.split()[0] == f"!{word}" for form in one.chat)
    ]
    if not fitting:
        code = "help_unknown" if request.asker.moderates else "not_allowed"
        return OperationResult(ok=False, code=code, data={"command": f"!{word}"})
    forms = [(shown(one.chat[0]), one.name, *one.examples[:1]) for one in fitting]
    return OperationResult(ok=True, code="help_command", data={"forms": forms})


def _word(operation: Operation) -> str:
    return operation.chat[0].split()[0].lstrip("!")


def shown(form: str) -> str:
    """A form as people read it: the first of its alternative words."""
    return " ".join(word if word[0] in "<[" else word.split("|")[0] for word in form.split())
