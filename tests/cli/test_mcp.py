"""`forgetmenot mcp` as an assistant uses it: a process of its own, asked by the protocol's own client."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forgetmenot.cli import main
from forgetmenot.cli.mcp import _why, _without_hidden
from forgetmenot.domain.memory import Scope, SourceKind
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages, notes, opt_outs
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.notes import NewNote
from tests.notes_world import World, world
from tests.program import command, environment, run

if TYPE_CHECKING:
    from mcp import Client

__all__ = ["world"]

NOTES = [
    {"scope": "viewer", "viewer": "alice", "fact": "plays the cello", "episode": {"key": "a", "summary": "music"}},
    {"scope": "viewer", "viewer": "bob", "fact": "plays the drums"},
    {"scope": "viewer", "viewer": "carol", "fact": "collects old cello strings"},
    {"scope": "channel", "fact": "the channel streams on Fridays"},
]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "m.sqlite3"
    (tmp_path / "notes.jsonl").write_text("\n".join(map(json.dumps, NOTES)))
    assert main(["memory", "import", str(tmp_path / "notes.jsonl"), "--db", str(path)]) == 0
    assert main(["viewer", "optout", "carol", "--db", str(path)]) == 0
    return path


@asynccontextmanager
async def assistant(path: Path) -> "AsyncIterator[Client]":
    from mcp import Client, StdioServerParameters  # a second to import, which each worker that reads tests would spend

    words = command("mcp", "--db", path)
    async with Client(StdioServerParameters(command=words[0], args=words[1:], env=environment(path.parent))) as client:
        yield client


async def ask(client: "Client", tool: str, **arguments: object) -> Any:  # noqa: ANN401  # JSON
    answer = await client.call_tool(tool, arguments)
    text = "".join(getattr(part, "text", "") for part in answer.content)
    return text if answer.is_error else json.loads(text)


@pytest.mark.slow
async def test_an_assistant_reads_the_memory_and_can_change_nothing(memory: Path) -> None:
    async with asyncio.timeout(60), assistant(memory) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {"search", "profile", "why"}
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
        found = await ask(client, "search", text="cello")
        assert ([note["fact"] for note in found["notes"]], found["notes_found"]) == (["plays the cello"], 1)
        assert [one["summary"] for one in (await ask(client, "search", text="music"))["episodes"]] == ["music"]
        assert [note["fact"] for note in (await ask(client, "profile", viewer="bob"))["notes"]] == ["plays the drums"]
        assert (await ask(client, "why", note_id=1))["evidence"][0]["summary"] == "music"
        assert await ask(client, "why") == {"replies": []}
        for tool, arguments, sentence in (
            ("profile", {"viewer": "carol"}, "Nothing is shown about carol"),
            ("profile", {"viewer": "dave"}, "dave"),
            ("why", {"note_id": 3}, "no note 3"),
            ("why", {"reply_id": 7}, "7"),
        ):
            assert sentence in await ask(client, tool, **arguments)


async def test_why_leaves_out_replies_to_whoever_is_hidden(world: World) -> None:
    async with world.db.write() as tx:
        shown, hidden = [
            await bot_messages.begin(tx, at=1, event_id=None, viewer_id=who, trigger="mention", mode="live")
            for who in ("1", "2")
        ]
        from_a_note, naming = [
            await bot_messages.begin(tx, at=1, event_id=None, viewer_id="1", trigger="mention", mode="live")
            for _ in range(2)
        ]
        rows = [
            await notes.insert(tx, NewNote(Scope.VIEWER, "2", "sings", 0.9, SourceKind.COMMAND, 1), cause="", now=1)
        ]
        await bot_messages.record_prompt(tx, from_a_note, {"sections": [{"of": "notes", "rows": rows}]})
        await bot_messages.settle(tx, naming, ReplyStatus.SENT, text="Bob is here.")
        await opt_outs.opt_out(tx, "2", world.clock.now())
    answer = await _without_hidden(world.db, await _why(world.db, Settings(), None, None))
    assert {one["id"]: one["text"] for one in answer["replies"]} == {shown: "", naming: "someone is here."}
    for reply in (hidden, from_a_note):
        with pytest.raises(InputError, match="hidden"):
            await _why(world.db, Settings(), reply, None)


def test_without_the_extra_it_says_what_to_install(memory: Path) -> None:
    (memory.parent / "mcp.py").write_text("raise ModuleNotFoundError('mcp')")
    done = run(memory.parent, "mcp", "--db", memory, env={"PYTHONPATH": f"{memory.parent}:{':'.join(sys.path)}"})
    assert done.returncode == 2
    assert ".[mcp]" in done.stderr
