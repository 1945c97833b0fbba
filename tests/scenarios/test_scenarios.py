"""What the scenario files promise; an expectation that fails is shown with what was seen instead."""

import asyncio
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.scenario import failures

FILES = sorted(Path(__file__).parent.glob("*.toml"))


def scenarios(file: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["scenario"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_every_expectation_holds(file: Path, tmp_path: Path) -> None:
    gate = asyncio.Semaphore(2)  # much of one's time is the disk's

    async def one(number: int, scenario: Mapping[str, Any]) -> list[str]:
        async with gate:
            return await failures(scenario, tmp_path / str(number))

    played = await asyncio.gather(*(one(number, scenario) for number, scenario in enumerate(scenarios(file))))
    assert [line for lines in played for line in lines] == []


async def test_an_expectation_that_fails_says_what_was_seen(tmp_path: Path) -> None:
    wrong = {"name": "wrong", "script": "alice: !remember I play drums\n> reply: violins"}
    [line] = await failures(wrong, tmp_path)
    assert line.startswith("wrong: > reply: violins   seen: Remembered about you")
