"""`forgetmenot prompt` and `forgetmenot why`, as their users start them."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.cli import inspect
from forgetmenot.clock import SystemClock
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state
from forgetmenot.store.database import open_database
from tests.rows import put
from tests.stage import Stage, chat, stage

__all__ = ["chat", "stage"]

Run = Callable[..., Any]


@pytest.fixture
async def filled(run: Run, stage: Stage) -> Run:
    """Run one command on a memory with a note, chat and two replies in it."""
    await stage.know("plays drums with <@2>")
    await stage.hear("the sea is loud", "2")
    await stage.ask("@forgetmenot_bot hi")
    await stage.ask("@forgetmenot_bot hi", "2")
    await (
        stage.db.close()
    )  # a command is a program of its own; one program opens a memory once
    return run


def test_why_lists_the_last_replies_and_tells_the_cost_where_the_settings_name_a_price(
    filled: Run, tmp_path: Path
) -> None:
    assert filled("why", "1", "--json")["cost"] == ""
    config = tmp_path / "config.toml"
    config.write_text(
        '[model]\ncurrency = "EUR"\n[prices.scripted]\ninput = 1000\ncached = 500\noutput = 2000\n'
    )
    assert "for 0.7400 EUR." in filled(
        "why", "1", "--config", config
    )  # 400 tokens, 600 cached ones and 20 written
    lines = filled("why").splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["#2", "#1"]
    assert "mentioned (Bob): said" in lines[0]
    assert [reply["id"] for reply in filled("why", "--json")["replies"]] == [2, 1]


def test_why_explains_a_reply_in_sentences_with_the_channels_own_time(
    filled: Run, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[bot]\ntimezone = "Asia/Tokyo"\n')
    lines = filled("why", "1", "--config", config).splitlines()
    assert lines[0] == "Reply 1, 24 July 2026, 21:00."
    assert lines[1] == "Alice wrote: “@forgetmenot_bot hi”"
    assert "    chat line 1: Bob: the sea is loud" in lines


async def test_cost_says_what_was_read_and_written(run: Run, database: Path) -> None:
    now = SystemClock().now()
    tokens = {"input": 1_200, "cached": 400, "output": 30, "thoughts": 5}
    async with open_database(database) as db, db.write() as tx:
        await put(
            tx,
            "model_calls",
            at=now,
            purpose="reply",
            model="small",
            latency_ms=9,
            **tokens,
        )
    assert (await asyncio.to_thread(run, "cost")).splitlines() == [
        "Calls to models in the last 30d, by purpose:",
        "reply: 1 call to small, 1,200 tokens read (400 of them cached), 35 written",
        "No prices are set, so there is no sum in money: see [prices] in the settings.",
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("why", "The bot has not replied to anything yet."),
        ("actions", "Nothing has been proposed yet."),
        ("cost", "No model was called in the last 30d."),
        ("memory list", "There are no notes yet."),
        ("memory list --status past", "No note fits these options."),
        ("memory never", "Nothing is on the list."),
    ],
)
async def test_an_empty_list_says_so(
    run: Run, database: Path, words: str, sentence: str
) -> None:
    async with open_database(database):
        pass
    assert sentence in await asyncio.to_thread(run, *words.split())


async def test_it_is_the_prompt_that_the_bot_makes(
    stage: Stage, tmp_path: Path
) -> None:
    """The same name for the bot, the same people left out: but for the code of actions."""
    async with stage.db.write() as tx:
        await channel_state.put(
            tx, {"bot_id": "99", "bot_login": "forgetmenot_bot"}, stage.clock.now()
        )
    await stage.know("plays drums")
    await stage.hear("do I know the sea?")
    message = "@forgetmenot_bot"
    path = tmp_path / "copy.sqlite3"
    now = stage.clock.now()
    with contextlib.closing(sqlite3.connect(stage.db.path)) as other:
        other.execute("VACUUM INTO ?", (str(path),))
    dry = await inspect.build_prompt(
        path,
        Settings(bot=stage.settings.bot, actions=stage.settings.actions),
        "alice",
        message,
        now,
    )
    reply = await stage.reply(message)
    request = stage.model.asked[-1]
    assert request.prompt == dry.prefix.removeprefix(dry.sections[0].text) + dry.tail
    assert dry.estimated_tokens == (await stage.row(reply.id)).prompt["estimated"]
    assert "do I know the sea?" in dry.tail.rpartition("<message>")[2]


def test_evaluate_shows_how_the_replies_were_taken(filled: Run) -> None:
    figures = filled("evaluate", "--json")
    assert figures["replies"] == sum(figures["outcomes"].values()) == 2
    assert sum(sum(week["outcomes"].values()) for week in figures["weeks"]) == 2
    lines = filled("evaluate").splitlines()
    assert lines[0] == "2 replies, by how they were taken:"
    assert lines[1].split()[:4] == ["week", "of", "replies", "good"]
    assert lines[2].split()[1] == "2"


def test_evaluate_says_so_where_there_are_no_replies(run: Run, database: Path) -> None:
    run("memory", "import", "--json", _one_note(database))
    assert run("evaluate") == "The bot has sent no replies yet.\n"


def _one_note(database: Path) -> Path:
    file = database.with_name("notes.jsonl")
    file.write_text('{"scope": "channel", "fact": "plays chess"}')
    return file
