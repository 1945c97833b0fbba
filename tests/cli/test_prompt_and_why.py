"""`forgetmenot prompt` and `forgetmenot why`, as their users start them."""

import argparse
import hashlib
from pathlib import Path

import msgspec
import pytest

from forgetmenot.cli import explain
from forgetmenot.errors import InputError, SettingsError
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, model_calls
from tests.stage import Stage, chat, stage

__all__ = ["chat", "stage"]


def run(module: object, *words: str) -> int:
    parser = argparse.ArgumentParser()
    module.add(parser.add_subparsers())  # type: ignore[attr-defined]
    arguments = parser.parse_args(list(words))
    return int(arguments.run(arguments))


@pytest.fixture
async def memory(stage: Stage, tmp_path: Path) -> str:
    """A memory with a note, chat and two replies in it."""
    await stage.know("plays drums with <@2>")
    await stage.hear("the sea is loud", "2")
    await stage.ask("@forgetmenot_bot hi")
    await stage.ask("@forgetmenot_bot hi", "2")
    return str(tmp_path / "memory.sqlite3")


def test_the_prompt_is_shown_as_one_object(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    now = ("--now", "2026-07-24T12:00:00")
    assert (
        run(explain, "prompt", "--viewer", "alice", "--message", "what do I play?", "--db", memory, *now, "--json") == 0
    )
    out, err = capsys.readouterr()
    shown = msgspec.json.decode(out)
    assert err == ""
    assert shown["tail"].endswith("Alice: what do I play?\n</message>")
    assert "[id:1; said by them; today] plays drums with Bob" in shown["tail"]
    assert "Bob: the sea is loud" in shown["tail"]
    assert shown["prefix_sha256"] == hashlib.sha256(shown["prefix"].encode()).hexdigest()
    assert shown["estimated_tokens"] == sum(section["tokens"] for section in shown["sections"])
    assert list(shown) == ["prefix", "tail", "prefix_sha256", "estimated_tokens", "sections"]
    assert all(list(section) == ["name", "tokens", "rows", "dropped"] for section in shown["sections"])
    assert next(section["rows"] for section in shown["sections"] if section["name"] == "message") == []
    assert 0 not in [row for section in shown["sections"] for row in section["rows"]]


def test_somebody_unknown_can_be_tried_too(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(explain, "prompt", "--viewer", "@Zoe", "--message", "hi", "--db", memory, "--json") == 0
    assert "You remember nothing about them" in msgspec.json.decode(capsys.readouterr().out)["tail"]


def test_what_cannot_be_shown_is_told(memory: str, tmp_path: Path) -> None:
    words = ("prompt", "--viewer", "alice", "--message", "hi")
    with pytest.raises(InputError, match="There is no memory at"):
        run(explain, *words, "--db", str(tmp_path / "none.sqlite3"))
    with pytest.raises(InputError, match="is not a time"):
        run(explain, *words, "--db", memory, "--now", "yesterday")
    config = tmp_path / "config.toml"
    config.write_text("[prompt]\nbudget_tokens = 500\n")
    with pytest.raises(SettingsError, match="budget_tokens"):
        run(explain, *words, "--db", memory, "--config", str(config))


def test_why_tells_the_cost_where_the_settings_name_a_price(
    memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[model]\ncurrency = "EUR"\n[prices.scripted]\ninput = 1000\ncached = 500\noutput = 2000\n')
    assert run(explain, "why", "1", "--db", memory, "--json") == 0
    told = msgspec.json.decode(capsys.readouterr().out)
    assert told["cost"] is None
    bill = told["tokens"]
    cost = (bill["billed"] - 600) * 0.001 + 600 * 0.0005 + (bill["output"] + (bill["thoughts"] or 0)) * 0.002
    words = ("why", "1", "--db", memory, "--config", str(config))
    assert run(explain, *words, "--json") == 0
    assert msgspec.json.decode(capsys.readouterr().out)["cost"] == pytest.approx(cost)
    assert run(explain, *words) == 0
    assert f"cost: {cost:.{2 if cost >= 1 else 4}f} EUR." in capsys.readouterr().out


def test_why_without_an_id_lists_the_last_replies(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(explain, "why", "--db", memory) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["2", "1"]
    assert run(explain, "why", "--db", memory, "--json") == 0
    assert [reply["id"] for reply in msgspec.json.decode(capsys.readouterr().out)["replies"]] == [2, 1]


async def test_it_is_the_prompt_that_the_bot_makes(stage: Stage, tmp_path: Path) -> None:
    """The same name for the bot, the same calibration, the same people left out: but for the code of actions."""
    async with stage.db.write() as tx:
        await channel_state.put(tx, {"bot_id": "99", "bot_login": "forgetmenot_bot"}, stage.clock.now())
    for model in ("scripted", "offline"):
        await model_calls.learn_factor(stage.db, model, 1_000, 1_500, stage.clock.now())
    await stage.know("plays drums")
    await stage.hear("do I know the sea?")
    said = "@forgetmenot_bot"
    path, now = tmp_path / "memory.sqlite3", stage.clock.now()
    dry = await explain.build_prompt(
        path, Settings(bot=stage.settings.bot, actions=stage.settings.actions), "alice", said, now
    )
    reply = await stage.reply(said)
    asked = stage.model.asked[-1]
    assert asked.prompt == dry.prefix.removeprefix(dry.sections[0].text) + dry.tail
    assert dry.estimated_tokens == (await stage.row(reply.id)).prompt["estimated"]
    assert "do I know the sea?" in dry.tail.rpartition("<message>")[2]
