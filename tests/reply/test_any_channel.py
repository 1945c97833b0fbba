"""Whatever a channel's tables hold: what may not be shown is not shown, nothing stands in a prompt twice, it fits."""

import asyncio
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from forgetmenot.clock import ManualClock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import Scope, SourceKind
from forgetmenot.memory import never
from forgetmenot.memory.recall import Recall
from forgetmenot.reply.compose import Composed, compose
from forgetmenot.reply.dry_run import asked
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.triggers import Identity
from forgetmenot.settings.schema import PromptSettings, Settings
from forgetmenot.store import notes
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.notes import NewNote
from tests.conftest import NOON

PEOPLE = ("1", "2", "3", "4", "5")  # the first one asks
WORD = re.compile(r"zz[a-z]\d+zz")


class Said(NamedTuple):
    """One row of some table: whose, and what became of it. Each has a word of its own."""

    who: str
    gone: bool


class Channel(NamedTuple):
    """What the tables hold; `hidden` opted out, `banned` were banned, `silenced` has a list of what to leave alone."""

    lines: list[Said]
    facts: list[Said]
    told: list[Said]
    hidden: set[str]
    banned: set[str]
    silenced: list[int]
    budget: int


rows = st.builds(Said, st.sampled_from(PEOPLE), st.booleans())
some = st.sets(st.sampled_from(PEOPLE[1:]), max_size=2)
channels = st.builds(
    Channel,
    st.lists(rows, max_size=30),
    st.lists(rows, max_size=15),
    st.lists(rows, max_size=6),
    some,
    some,
    st.lists(st.integers(0, 29), max_size=3),
    st.integers(1_300, 4_000),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("channels")


@given(channels)
@hypothesis_settings(max_examples=20)
def test_what_may_not_be_shown_is_not_and_nothing_is_shown_twice(
    folder: Path, empty_database: Path, channel: Channel
) -> None:
    path = folder / "memory.sqlite3"
    for file in folder.iterdir():
        file.unlink()
    shutil.copyfile(empty_database, path)
    made = asyncio.run(_composed(path, channel))
    shown = Counter(WORD.findall(made.prompt.prefix + made.prompt.tail))
    assert not set(shown) & _secret(channel)
    assert max(shown.values(), default=0) <= 1
    assert made.prompt.estimated_tokens <= channel.budget
    assert made.prefix.text.startswith(made.prompt.prefix)
    assert "the current question" in made.prompt.tail.splitlines()[-2]


def _secret(channel: Channel) -> set[str]:
    """The words that must not be shown."""
    away = channel.hidden | channel.banned
    tables = {"c": channel.lines, "f": channel.facts, "t": channel.told}
    secret = {_word(kind, i) for kind, table in tables.items() for i, row in enumerate(table) if row.who in away}
    secret |= {_word(kind, i) for kind in "cf" for i, row in enumerate(tables[kind]) if row.gone}
    return secret | {_word("c", i) for i in channel.silenced}


def _word(kind: str, number: int) -> str:
    return f"zz{kind}{number}zz"


async def _composed(path: Path, channel: Channel) -> Composed:
    clock, settings = ManualClock(NOON), Settings(prompt=PromptSettings(budget_tokens=channel.budget))
    async with open_database(path) as db:
        await _fill(db, channel)
        recall = Recall(db=db, settings=lambda: settings, clock=clock)
        keeper = PrefixKeeper(db=db, recall=recall, settings=lambda: settings, clock=clock, model="scripted")
        event = ChatEvent("now", EventKind.MESSAGE, "1", "user1", "User1", "@bot the current question, user2?", NOON)
        trigger = asked(event, Identity("99", "bot"), settings)
        gatherer = Gatherer(db=db, recall=recall, clock=clock)
        return await compose(keeper, gatherer, trigger, settings, nonce="n0n53", bot_id="99")


async def _fill(db: Database, channel: Channel) -> None:
    async with db.write() as tx:
        await tx.execute("INSERT INTO runs (started_at, command) VALUES (0, 'test')")
        await tx.execute("INSERT INTO streams (id, started_at, last_event_at) VALUES (1, ?, ?)", (NOON, NOON))
        await tx.many(
            "INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at, opted_out_at, banned_at)"
            " VALUES (?, ?, ?, 0, ?, ?, ?)",
            [
                (who, f"user{who}", f"User{who}", NOON, 1 if who in channel.hidden else None, _banned(who, channel))
                for who in PEOPLE
            ],
        )
        for i, line in enumerate(channel.lines):
            await tx.execute(
                "INSERT INTO events (id, run_id, viewer_id, kind, text, role, at, redacted_at)"
                " VALUES (?, 1, ?, 'message', ?, 'viewer', ?, ?)",
                (f"e{i}", line.who, f"{_word('c', i)} said number {i}", NOON - 60_000 + i, NOON if line.gone else None),
            )
        for i, told in enumerate(channel.told):
            await tx.execute(
                "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, created_at)"
                " VALUES ('chat', 1, ?, ?, ?, 25, ?)",
                (NOON, NOON, f"<@{told.who}> spoke of {_word('t', i)}.", NOON),
            )
        for i, fact in enumerate(channel.facts):
            new = NewNote(Scope.VIEWER, fact.who, f"collects {_word('f', i)}", 0.9, SourceKind.SELF_CLAIM, NOON)
            note_id = await notes.insert(tx, new, cause="said", now=NOON)
            if fact.gone:
                await tx.execute("UPDATE semantic_notes SET status = 'retracted' WHERE id = ?", (note_id,))
    for number in channel.silenced:
        await never.leave_alone(db, None, _word("c", number), by=None, at=0)


def _banned(who: str, channel: Channel) -> int | None:
    return 1 if who in channel.banned else None
