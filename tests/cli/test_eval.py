"""`forgetmenot eval`: scenarios from the command line, and the report of what live chat showed."""

import json
from pathlib import Path

import pytest

from forgetmenot.app.evaluation import figures_since, in_words, page
from forgetmenot.app.scenarios import playing, with_settings
from forgetmenot.cli import main
from forgetmenot.settings.load import convert
from forgetmenot.store.database import open_database

WRONG = '[[scenario]]\nname = "wrong"\nscript = """\nalice: !remember I play drums\n> reply: violins\n"""\n'


def test_a_scenario_that_fails_ends_with_1_unless_it_is_known_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.toml").write_text(WRONG, encoding="utf-8")
    assert main(["eval", "run", str(tmp_path)]) == 1
    assert "> reply: violins   seen: Remembered about you" in capsys.readouterr().out
    (tmp_path / "baseline.json").write_text('{"wrong": ["> reply: violins"]}', encoding="utf-8")
    assert main(["eval", "run", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"scenarios": 1, "failed": [], "known": 1}


def test_two_settings_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = (
        '[[scenario]]\nname = "greeting"\nscript = """\n= says Hello there.\nalice: @ForgetMeNot hi\n> reply: *\n"""\n'
    )
    (tmp_path / "one.toml").write_text(script, encoding="utf-8")
    before, after = tmp_path / "a.cfg", tmp_path / "b.cfg"
    before.write_text('[bot]\nmode = "mentions"\n', encoding="utf-8")
    after.write_text('[bot]\nmode = "shadow"\n', encoding="utf-8")
    assert main(["eval", "compare", str(before), str(after), str(tmp_path / "one.toml"), "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert [(one["what"], one["before"], one["after"]) for one in changes] == [
        ("> reply: *", "holds", "fails"),
        ("replies", "Hello there.", ""),
    ]


async def _some_chat(folder: Path) -> Path:
    async with playing(with_settings(), folder) as player:
        await player.know("alice: plays the cello")
        await player.order("says You play the cello, and 12 drums.")
        await player.hear("alice", "@ForgetMeNot say something nice")
        await player.hear("bob", "lol good one")
        await player.pass_time(180_000)
        return player.path


async def test_what_chat_showed_is_summed_up(tmp_path: Path) -> None:
    async with open_database(await _some_chat(tmp_path)) as db:
        figures = await figures_since(db, 0, convert({}, "the test"))
    assert figures["replies"] == {"liked": 1}
    assert figures["unsupported"] == {"number": 1}
    assert figures["notes"]["most_used"] == [
        {"id": 1, "offered": 1, "used": 1, "corrected": 0, "fact": "Alice: plays the cello"}
    ]
    assert any(section["name"] == "lore" and section["used"] == 1 for section in figures["sections"])
    words = [" ".join(line.split()) for line in in_words(figures, "7d")]
    assert any(line.startswith("liked") for line in words)
    assert "#1 Alice: plays the cello 1 1 0" in words
    assert any(line.startswith("Notes about them ") for line in words)
    shown = page(figures, "7d")
    assert "<svg" in shown
    assert "http" not in shown  # no outside assets
    json.dumps(figures)
