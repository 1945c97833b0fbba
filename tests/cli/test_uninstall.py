"""`forgetmenot uninstall`: what it takes back, and what it says of the rest."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from forgetmenot.cli import main
from forgetmenot.files import instance_lock
from forgetmenot.secret_store import Account, SecretStore, TokenStore
from tests.loopback_servers.fixtures import log_in, sim
from tests.loopback_servers.twitch import TwitchSim
from tests.program import environment

__all__ = ["sim"]
pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the folders of this test are Linux's"
)


def prepared(home: Path, sim: TwitchSim) -> tuple[Path, Path]:
    """A data folder with settings that name no app, two log-ins and a key; the entry that starts the bot."""
    folder = home / "forgetmenot"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(
        f'[twitch]\nchannel = "demo"\nserver = "{sim.url}"\n', encoding="utf-8"
    )
    store = TokenStore(folder / "login", use_keyring=False)
    for account, login in ((Account.BOT, "keeper"), (Account.BROADCASTER, "demo")):
        log_in(sim, store, login, account=account)
    SecretStore(folder / "login", use_keyring=False).save("model-key-gemini", "pasted")
    SecretStore(folder / "login", use_keyring=False).save("obs-password", "typed")
    return folder, home / ".config" / "systemd" / "user" / "forgetmenot.service"


Uninstall = Callable[..., Awaitable[tuple[int, str]]]


@pytest.fixture
def uninstall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Uninstall:
    """Run it as somebody whose home is empty; its exit code, and what it said."""
    for name, value in environment(
        tmp_path, XDG_CONFIG_HOME=str(tmp_path / ".config")
    ).items():
        monkeypatch.setenv(name, value)

    async def run(*words: str) -> tuple[int, str]:
        code = await asyncio.to_thread(main, ["uninstall", *words])
        return code, capsys.readouterr().err

    return run


async def test_it_revokes_both_log_ins_without_settings_that_name_the_app_and_claims_no_more(
    tmp_path: Path, sim: TwitchSim, uninstall: Uninstall
) -> None:
    folder, entry = prepared(tmp_path, sim)
    assert main(["autostart", "on"]) == 0
    assert entry.is_file()
    code, output = await uninstall()
    assert code == 0, output
    assert [token.expired and token.used for token in sim.tokens.issued] == [True, True]
    assert list((folder / "login").iterdir()) == []
    assert not entry.exists()
    for words in (
        "is revoked and deleted here.",
        "no longer starts",
        f"stay in {folder}",
        "To remove the program: ",
    ):
        assert words in output
    assert "Nobody was logged in as bot." in (await uninstall())[1]
    prepared(tmp_path, sim)  # what Twitch did not confirm is not called revoked
    sim.faults.add("oauth", drop=True, times=None)
    _, output = await uninstall()
    assert "is revoked and deleted" not in output
    assert "https://www.twitch.tv/settings/connections" in output


async def test_the_data_folder_goes_only_when_that_is_asked_for_and_no_bot_runs_there(
    tmp_path: Path, sim: TwitchSim, uninstall: Uninstall
) -> None:
    folder, _ = prepared(tmp_path, sim)
    disk = tmp_path / "other disk"
    folder.rename(disk)
    folder.symlink_to(disk)
    elsewhere = tmp_path / "elsewhere" / "memory.sqlite3"
    elsewhere.parent.mkdir()
    for words, expected in (
        ((), "permanently deletes"),  # nobody can type here
        (("--yes", "--db", str(elsewhere)), f"Delete {elsewhere.parent} yourself."),
    ):
        assert expected in (await uninstall("--data", *words))[1]
    with instance_lock(folder / "memory-other.sqlite3"):
        assert "The bot is running" in (await uninstall("--data", "--yes"))[1]
    assert folder.is_dir()
    assert elsewhere.parent.is_dir()
    assert not any(token.expired for token in sim.tokens.issued), (
        "nothing was done before the question"
    )
    code, output = await uninstall("--data", "--yes")
    assert (code, folder.is_symlink(), disk.exists()) == (0, False, False)
    assert f"{folder} is deleted." in output
