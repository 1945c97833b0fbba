"""Every example of the table does what its operation is for: in chat and in a terminal."""

import json
import shlex
from pathlib import Path

import pytest

from forgetmenot.chat.parser import CommandParser
from forgetmenot.cli import main
from forgetmenot.domain import Surface
from forgetmenot.operations.commands import OPERATIONS
from tests.chat.conftest import Chat, chat
from tests.program import environment

__all__ = ["chat"]
EXAMPLES: list[tuple[str, str]] = []
for _operation in OPERATIONS.values():
    EXAMPLES += [(_operation.name, line) for line in _operation.examples]
IN_CHAT = [(name, line) for name, line in EXAMPLES if line.startswith("!")]
TYPED = [(name, line) for name, line in EXAMPLES if not line.startswith("!")]


def test_each_operation_that_people_type_has_an_example() -> None:
    in_chat = {name for name, _ in IN_CHAT}
    typed = {name for name, _ in TYPED}
    assert in_chat == {
        operation.name
        for operation in OPERATIONS.values()
        if Surface.CHAT in operation.permissions
    }
    assert typed == {
        operation.name
        for operation in OPERATIONS.values()
        if Surface.CLI in operation.permissions
    } - {"export"}


@pytest.mark.parametrize(("name", "line"), IN_CHAT)
async def test_in_chat_it_is_that_operation_and_is_answered(
    name: str, line: str, chat: Chat
) -> None:
    command = CommandParser(OPERATIONS).parse(line)
    assert command is not None
    assert command.name == name
    answer = await chat.say("carol", line)
    assert answer is not None
    assert "Help:" not in answer or name == "help"


@pytest.mark.parametrize(("name", "line"), TYPED)
def test_in_a_terminal_it_gives_the_one_shape(
    name: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for variable, value in environment(tmp_path).items():
        monkeypatch.setenv(variable, value)
    (tmp_path / "notes.jsonl").write_text(
        '{"id": 1, "viewer": "alice", "fact": "plays drums"}\n', encoding="utf-8"
    )
    db = ["--db", str(tmp_path / "m.sqlite3")]
    assert main(["memory", "import", str(tmp_path / "notes.jsonl"), *db]) == 0
    if name == "restore":
        assert main(["memory", "retract", "1", *db]) == 0
    capsys.readouterr()
    code = main([*shlex.split(line)[1:], *db, "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert printed.keys() == {"ok", "code", "line", "data"}
    assert (code == 0) is printed["ok"]
    assert printed["ok"] or printed["code"] in {
        "not_waiting",
        "cannot_undo",
        "no_receipt",
        "refused:not_found",
    }, printed
    assert printed["line"].endswith((".", "!", "#1 plays drums"))
