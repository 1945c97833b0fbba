"""What docs/CONNECT.md shows: the command, the tools for agents, and the script for Firebot."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright._impl._driver import compute_driver_executable

from forgetmenot.cli import main
from forgetmenot.clock import ManualClock
from forgetmenot.store.database import Database
from tests.local_api.test_local_api import SECRET, Interface, served
from tests.notes_world import World, world

__all__ = ["world"]

PAGE = Path(__file__).parents[2] / "docs" / "CONNECT.md"


@pytest.fixture
async def interface(
    world: World,
    db: Database,
    clock: ManualClock,
) -> AsyncIterator[Interface]:
    await world.regulars("1")
    await world.note(SECRET)
    async with served(db, clock) as made:
        yield made


def options(interface: Interface, *, enabled: bool = True) -> list[str]:
    config = interface.folder / "config.toml"
    config.write_text(
        f"[dock]\nport = {interface.port}\n[local_api]\nenabled = {str(enabled).lower()}\n"
    )
    memory = str(interface.folder / "memory.sqlite3")
    return ["--config", str(config), "--db", memory]


async def test_connect_prints_what_a_program_needs(
    interface: Interface, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["connect", *options(interface)]
    assert await asyncio.to_thread(main, command) in {0, None}
    printed = capsys.readouterr().out
    assert f"Address: {interface.address}" in printed
    assert f"Token: {interface.token}" in printed
    old_token = interface.token
    await asyncio.to_thread(main, [*command, "--new-token", "--json"])
    made = json.loads(capsys.readouterr().out)
    assert made["token"] == interface.token != old_token
    await asyncio.to_thread(main, ["connect", *options(interface, enabled=False)])
    assert "switched off" in capsys.readouterr().err


@pytest.mark.slow
async def test_an_agent_reads_the_memory_by_tools(interface: Interface) -> None:
    from mcp import Client, StdioServerParameters

    command = ["-m", "forgetmenot", "mcp", *options(interface)]
    server = StdioServerParameters(
        command=sys.executable,
        args=command,
        env=dict(os.environ),
    )
    async with Client(server) as client:
        tools = {listed.name for listed in (await client.list_tools()).tools}
        assert tools == {"viewer", "channel", "book", "recap"}
        result = await client.call_tool("viewer", {"login": "alice"})
        assert not result.is_error
        assert json.loads(text_of(result))["card"] == SECRET
        outside = {"login": "../../api/settings"}
        result = await client.call_tool("viewer", outside)
        assert result.is_error
        assert "Nothing is known" in text_of(result)


def text_of(result: Any) -> str:  # noqa: ANN401  # the SDK's own type, imported late
    [content] = result.content
    return str(content.text)


@pytest.mark.slow
async def test_the_script_for_firebot_fills_its_variable(interface: Interface) -> None:
    [script] = re.findall(
        r"```js\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    file = interface.folder / "forgetmenot.js"
    file.write_text(script)
    # as Firebot runs it: with its parameters and its manager of variables
    firebot = f"""
    const script = require({json.dumps(str(file))});
    const variables = {{}};
    const replaceVariableManager = {{
      registerReplaceVariable: (variable) => (variables[variable.definition.handle] = variable),
    }};
    const defaults = script.getDefaultParameters();
    const parameters = {{ token: {json.dumps(interface.token)}, port: {interface.port} }};
    if (Object.keys(defaults).join() !== Object.keys(parameters).join()) throw new Error("parameters");
    if (!script.getScriptManifest().startupOnly) throw new Error("manifest");
    script.run({{ modules: {{ replaceVariableManager }}, parameters }});
    const ask = (...words) => variables.memory.evaluator({{}}, ...words);
    Promise.all([ask("alice"), ask("Alice", "streak"), ask("nobody"), ask("a/../b")]).then((values) =>
      console.log(JSON.stringify(values)));
    """
    node, _driver = compute_driver_executable()
    process = await asyncio.create_subprocess_exec(
        str(node),
        "-e",
        firebot,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert json.loads(output) == [SECRET, 5, "", ""]
