"""What a viewer asked in their own language not to be mentioned stands in no prompt, whatever it is called there."""

import shutil
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import Scope, SourceKind
from forgetmenot.durations import SECOND
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import notes
from forgetmenot.store.notes import NewNote
from tests.rows import put
from tests.stage import ScriptedModel, live_bot, said

SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS, notice=""))


@pytest.mark.parametrize(
    ("fact", "asked_with", "topic", "question"),
    [
        (
            "has two guinea pigs",
            ("Meerschweinchen",),
            "meine Meerschweinchen",
            "welche Haustiere habe ich?",
        ),
        ("has a dog named Luna", ("perra",), "mi perra", "¿qué mascota tengo?"),
        ("has two cats", ("gatas",), "minhas gatas", "que bichos eu tenho?"),
        ("has a rabbit", ("lapin",), "mon lapin", "quel animal j'ai ?"),
        ("has a dog", ("犬",), "犬", "私のペットは？"),
    ],
)
async def test_no_prompt_holds_it(  # a note, a topic, a question
    tmp_path: Path,
    empty_database: Path,
    clock: ManualClock,
    fact: str,
    asked_with: tuple[str, ...],
    topic: str,
    question: str,
) -> None:
    path = shutil.copyfile(empty_database, tmp_path / "memory.sqlite3")
    model = ScriptedModel()
    async with live_bot(path, clock, lambda: SETTINGS, model) as (bot, account):
        lines = iter(range(100))

        async def says(text: str) -> None:
            await clock.advance(20 * SECOND)
            await bot.hear(said(clock, f"e{next(lines)}", "1", "alice", text))
            await bot.settle()

        await says("hello")
        async with bot.db.write() as tx:
            new = NewNote(
                Scope.VIEWER,
                "1",
                fact,
                0.9,
                SourceKind.SELF_CLAIM,
                clock.now(),
                asked_with=asked_with,
            )
            await notes.insert(tx, new, cause="test", now=clock.now())
            times = dict.fromkeys(("started_at", "ended_at", "created_at"), clock.now())
            await put(
                tx, "episodes", summary=f"<@1> {fact}. <@1> likes chess.", **times
            )
        await says(f"@ForgetMeNot {question}")
        assert fact in model.asked[-1].prompt
        await says(f"!nevermention {topic}")
        assert account.said[-1].startswith("I won't mention that again")
        await says(f"@ForgetMeNot {question}")
        assert fact not in model.asked[-1].prompt
        assert fact not in model.asked[-1].system
