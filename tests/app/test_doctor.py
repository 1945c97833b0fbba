"""What `forgetmenot doctor` finds, and what it says about it."""

from pathlib import Path

import msgspec
import pytest

from forgetmenot.app.doctor import BAD, OK, WARN, Examined, examine, report
from forgetmenot.cli import main
from forgetmenot.ports import Check
from forgetmenot.secret_store import TokenStore
from forgetmenot.settings.schema import DockSettings, ModelSettings, Provider, Settings
from forgetmenot.store.database import open_database
from tests.loopback_servers.fixtures import log_in
from tests.loopback_servers.openai import SimOpenAI
from tests.loopback_servers.twitch import TwitchSim


async def looked(
    database: Path, settings: Settings, trouble: str = ""
) -> dict[str, Check]:
    checks = await examine(
        Examined(
            database,
            settings,
            database.parent / "config.toml",
            trouble,
            use_keyring=False,
        )
    )
    assert all(check.fix or check.state == OK for check in checks), (
        "what is wrong comes with a way out"
    )
    return {check.name: check for check in checks}


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    async with open_database(folder / "memory.sqlite3"):
        return folder / "memory.sqlite3"


async def test_where_all_is_well_it_says_so(
    database: Path, sim: TwitchSim, settings: Settings
) -> None:
    log_in(sim, TokenStore(database.parent / "login", use_keyring=False))
    async with SimOpenAI() as model:
        words = ModelSettings(
            provider=Provider.OPENAI_COMPATIBLE,
            base_url=model.url,
            reply_model="m",
            memory_model="m",
        )
        whole = msgspec.structs.replace(
            settings, model=words, dock=DockSettings(port=1)
        )
        checks = await looked(database, whole)
    states = {name: check.state for name, check in checks.items()}
    assert states.pop("Backups") == WARN, "none was made yet"
    assert [check for check in checks.values() if check.state == BAD] == []
    assert set(states.values()) == {OK}
    assert "keeper" in checks["Log-in"].line


async def test_each_trouble_is_named_with_its_mend(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    dead = msgspec.structs.replace(
        settings.twitch, server="http://127.0.0.1:9/", client_id="", channel=""
    )
    whole = msgspec.structs.replace(
        settings, twitch=dead, model=ModelSettings(provider=Provider.GEMINI)
    )
    checks = await looked(tmp_path / "OneDrive" / "memory.sqlite3", whole)
    assert checks["Network and clock"].state == BAD
    assert checks["Model"].state == BAD
    assert "GEMINI_API_KEY" in checks["Model"].fix
    assert checks["Log-in"].state == WARN
    assert "channel" in checks["Settings"].fix
    assert checks["Memory"].state == WARN
    assert not (tmp_path / "OneDrive").exists(), "looking makes nothing"
    (tmp_path / "OneDrive").mkdir(mode=0o700)
    checks = await looked(
        tmp_path / "OneDrive" / "memory.sqlite3",
        Settings(),
        trouble="Line 3 is not TOML.",
    )
    assert "OneDrive" in checks["Data folder"].line
    assert checks["Settings"].line == "Line 3 is not TOML."


async def test_a_damaged_memory_is_seen_and_verify_names_the_promises_that_do_not_hold(
    database: Path, settings: Settings
) -> None:
    async def memory() -> Check:
        checks = await examine(
            Examined(database, settings, None, use_keyring=False, verify=True)
        )
        return next(check for check in checks if check.name == "Memory")

    assert (await memory()).state == OK
    async with open_database(database) as db, db.write() as tx:
        await tx.execute(
            "INSERT INTO bot_messages (at, trigger, mode, text, status) VALUES (-9e6, '', '', '', 'sending')"
        )
        many = [(str(n), "x" * 500) for n in range(500)]
        await tx.many(
            "INSERT INTO channel_state (name, value, updated_at) VALUES (?, ?, 0)", many
        )
    memory_check = await memory()
    assert (
        memory_check.state,
        "a message that is sent for ever: 1" in memory_check.line,
    ) == (
        BAD,
        True,
    )
    blob = bytearray(database.read_bytes())
    blob[20_000:24_000] = b"\xff" * 4_000
    database.write_bytes(blob)
    checks = await looked(database, settings)
    assert checks["Memory"].state == BAD
    assert "restore" in checks["Memory"].fix


def test_the_command_prints_json_and_ends_with_1_where_something_is_bad(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.toml").write_text(
        '[twitch]\nserver = "http://127.0.0.1:9/"\n[dock]\nport = 0\n'
    )
    words = [
        "doctor",
        "--config",
        str(tmp_path / "config.toml"),
        "--db",
        str(tmp_path / "memory.sqlite3"),
    ]
    assert main([*words, "--json"]) == 1
    assert msgspec.json.decode(capsys.readouterr().out)["ok"] is False
    assert main(words) == 1
    assert "→" in capsys.readouterr().out
    assert report([])["ok"] is True
