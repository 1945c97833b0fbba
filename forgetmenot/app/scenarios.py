"""Scenarios: short scripts of chat with what must come of them, played through the same pipeline as live chat.

A file of scenarios is TOML:

    [[scenario]]
    name = "a correction counts at the next reply"
    settings = { actions = { class_b = "live" } }     # over those of the run
    notes = ["alice: lives in Oslo", "channel: the stream starts at 8"]
    script = '''
    alice: I moved to Bergen
    bob: @ForgetMeNot where does alice live?
    > reply: bergen
    > note alice not: oslo
    '''

Each line of the script is a line of chat (`NAME: text`), an order to the player (`= ORDER`), time that passes (`+10m`)
or an expectation (`> WHAT [WHO] [not]: text`). Orders and expectations are methods of app/scenario_player.
"""

import re
import tempfile
import tomllib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from forgetmenot.app.scenario_player import SEEN, ScenarioPlayer
from forgetmenot.clock import DAY, HOUR, MINUTE, SECOND
from forgetmenot.errors import InputError
from forgetmenot.settings.load import convert
from forgetmenot.settings.schema import ModelSettings, Settings
from forgetmenot.store import bot_messages

UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
WHERE_TO = frozenset({"provider", "base_url", "api_key_env"})
"""Settings that say who is asked, and with whose key: a file of scenarios, which may be anybody's, does not choose."""
_SAID = re.compile(r"(\w{2,25}): (.*)", re.DOTALL)
_TIME = re.compile(r"\+(\d+)([smhd])")
_EXPECTED = re.compile(r"> ([a-z]+)(?: (?!not\b)([^:]+?))?( not)?: (.*)")
_DEFAULTS: Mapping[str, Any] = {"bot": {"mode": "mentions", "notice": ""}, "twitch": {"channel": "streamer"}}


# ── files ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Scenario:
    """One script. `settings`: tables that lie over those of the run; `notes`: what is known when it begins."""

    name: str
    script: tuple[str, ...]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ScenarioResult:
    """What came of one: the expectations that failed, each with what was seen; and what it cost."""

    name: str
    expectations: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)
    prompt_tokens: list[int] = field(default_factory=list)


def read_scenarios(folder: Path) -> list[Scenario]:
    """All scenarios of a file or a folder, by file and place. Raises InputError."""
    files = sorted(folder.glob("*.toml")) if folder.is_dir() else [folder]
    scenarios = [one for file in files for one in _of_file(file)]
    if not scenarios:
        raise InputError(f"{folder} holds no scenarios. A file of them is TOML with [[scenario]] tables.")
    names = [one.name for one in scenarios]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{folder}: two scenarios are named {twice[0]!r}.")
    return scenarios


def _of_file(file: Path) -> Iterable[Scenario]:
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', error)}.") from error
    for table in raw.get("scenario", []):
        if not isinstance(table, dict) or not {"name", "script"} <= table.keys():
            raise InputError(f"{file}: a [[scenario]] needs `name` and `script`.")
        if odd := sorted(table.keys() - {"name", "script", "notes", "settings"}):
            raise InputError(f"{file}: scenario {table['name']!r} has a key `{odd[0]}` that nothing reads.")
        settings = table.get("settings", {})
        model = settings.get("model", {}) if isinstance(settings, dict) else {}
        if isinstance(model, dict) and (odd := sorted(WHERE_TO & model.keys())):
            raise InputError(f"{file}: scenario {table['name']!r} sets `{odd[0]}`. Choose the model with --model.")
        lines = tuple(line.strip() for line in table["script"].splitlines() if line.strip())
        yield Scenario(table["name"], lines, tuple(table.get("notes", ())), settings)


def with_settings(*layers: Mapping[str, Any], model: ModelSettings | None = None) -> Settings:
    """Settings from tables, the later over the earlier. Raises SettingsError."""
    merged: dict[str, dict[str, Any]] = {}
    for layer in (_DEFAULTS, *layers):
        for table, content in layer.items():
            merged.setdefault(table, {}).update(content)
    settings = convert(merged, "the scenario")
    return settings if model is None else msgspec.structs.replace(settings, model=model)


# ── playing ─────────────────────────────────────────────────────────────────────────────────


async def check(player: ScenarioPlayer, line: str) -> str | None:
    """What was seen instead, where an expectation fails; None where it holds. Raises InputError.

    `*` stands for anything at all, `N times` for a count of what was seen; else the text must occur, in any case of
    letters. With `not` it must not.
    """
    asked = _EXPECTED.fullmatch(line)
    if asked is None or asked[1] not in SEEN:
        raise InputError(f"`{line}` is no expectation; there are {', '.join(SEEN)}.")
    seen = await player.seen(asked[1], asked[2] or "")
    wanted = asked[4].casefold()
    if counted := re.fullmatch(r"(\d+) times?", wanted):
        holds = len(seen) == int(counted[1])
    else:
        holds = any(wanted == "*" or wanted in text.casefold() for text in seen)
    if holds != bool(asked[3]):
        return None
    return " | ".join(text[:120] for text in seen[:6]) or "nothing"


@asynccontextmanager
async def playing(settings: Settings, folder: Path | None = None) -> AsyncIterator[ScenarioPlayer]:
    """A player over a new memory in a folder, else in a temporary one."""
    with tempfile.TemporaryDirectory(prefix="forgetmenot-eval-") as made:
        player = ScenarioPlayer(folder or Path(made), settings)
        try:
            await player.start()
            yield player
        finally:
            await player.stop()


async def play(
    scenario: Scenario, tables: Mapping[str, Any] | None = None, model: ModelSettings | None = None
) -> ScenarioResult:
    """Play one scenario. `tables`: settings under the scenario's own. Raises InputError for a script with an error."""
    result = ScenarioResult(scenario.name)
    async with playing(with_settings(tables or {}, scenario.settings, model=model)) as player:
        for note in scenario.notes:
            await player.know(note)
        await player.bot.keeper.refresh()
        for line in scenario.script:
            if line.startswith("> "):
                result.expectations += 1
                seen = await check(player, line)
                if seen is not None:
                    result.failures[line] = seen
            elif line.startswith("= "):
                await player.order(line[2:])
            elif passed := _TIME.fullmatch(line):
                await player.pass_time(int(passed[1]) * UNITS[passed[2]])
            elif said := _SAID.fullmatch(line):
                await player.hear(said[1], said[2])
            elif not line.startswith("#"):
                raise InputError(f"Scenario {scenario.name!r}: `{line}` is no line of a script.")
        result.replies = list(player.account.said)
        rows = await bot_messages.listing(player.bot.db, 100)
        result.prompt_tokens = [row.prompt["estimated"] for row in rows if "estimated" in row.prompt]
    return result


def worse(results: Iterable[ScenarioResult], baseline: Mapping[str, Sequence[str]]) -> list[str]:
    """The expectations that fail and are not known to: one line each, with what was seen instead."""
    return [
        f"{one.name}: {line}   seen: {seen}"
        for one in results
        for line, seen in one.failures.items()
        if line not in baseline.get(one.name, ())
    ]
