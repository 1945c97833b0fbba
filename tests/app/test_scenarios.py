"""The scenario files hold; one that gets worse fails here with what was seen instead."""

import asyncio
import json
from pathlib import Path

import pytest

from forgetmenot.app.scenarios import Scenario, play, read_scenarios, worse
from forgetmenot.errors import InputError

FOLDER = Path(__file__).parents[1] / "scenarios"


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.toml")), ids=lambda file: file.stem)
async def test_no_scenario_got_worse(file: Path) -> None:
    baseline = json.loads((FOLDER / "baseline.json").read_text(encoding="utf-8"))
    gate = asyncio.Semaphore(2)

    async def one(scenario: Scenario) -> list[str]:
        async with gate:
            return worse([await play(scenario)], baseline)

    failed = [line for lines in await asyncio.gather(*map(one, read_scenarios(file))) for line in lines]
    assert not failed, "\n".join(failed)


def test_there_are_enough_of_them() -> None:
    assert len(read_scenarios(FOLDER)) >= 60


@pytest.mark.parametrize(
    ("script", "said"),
    [("= fly away", "no order `fly`"), ("> weather: fine", "no expectation"), ("what is this", "no line of a script")],
)
async def test_an_error_in_a_script_is_named(script: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        await play(Scenario("odd", (script,)))


async def test_a_note_that_no_memory_takes_is_named() -> None:
    with pytest.raises(InputError, match="length"):
        await play(Scenario("odd", (), ("alice: a",)))


@pytest.mark.parametrize("key", ["provider", "base_url", "api_key_env"])
def test_a_file_cannot_choose_who_gets_a_key_of_this_computer(tmp_path: Path, key: str) -> None:
    """`api_key_env` names any variable of the environment, and its value went to `base_url`."""
    head = '[[scenario]]\nname = "x"\nscript = "alice: hi"\n'
    (tmp_path / "x.toml").write_text(f'{head}settings = {{ model = {{ {key} = "x" }} }}\n', encoding="utf-8")
    with pytest.raises(InputError, match="--model"):
        read_scenarios(tmp_path)


async def test_an_expectation_that_fails_says_what_was_seen() -> None:
    result = await play(Scenario("wrong", ("alice: !remember I play drums", "> reply: violins")))
    [line] = worse([result], {})
    assert line.startswith("wrong: > reply: violins   seen: Remembered about you")
