"""Starting with the computer: what each system is given, and switching it on and off on this one."""

import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from forgetmenot.app import autostart
from forgetmenot.cli import main
from forgetmenot.errors import ForgetMeNotError

ODD = [
    "/opt/a b/100%/$HOME & <co>/python",
    "-m",
    "forgetmenot",
    "start",
    "--db",
    'C:\\it\'s "here"\\m.sqlite3',
]


def test_each_system_starts_the_program_with_every_word() -> None:
    script = autostart.content_of("win32", ODD).decode().split("\r\n")
    assert script[2] == 'start "" ' + subprocess.list2cmdline(ODD).replace("%", "%%")
    assert (
        plistlib.loads(autostart.content_of("darwin", ODD))["ProgramArguments"] == ODD
    )


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="there is no systemd here"
)
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    place = tmp_path / "a b %h $HOME & c"
    place.mkdir()
    (place / "python").symlink_to(sys.executable)
    unit = tmp_path / "forgetmenot.service"
    unit.write_bytes(autostart.content_of("linux", [str(place / "python"), *ODD[1:]]))
    home = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "XDG_RUNTIME_DIR": str(tmp_path),
    }
    words = ["systemd-analyze", "--user", "--man=no", "verify", str(unit)]
    result = subprocess.run(
        words, capture_output=True, text=True, check=False, env=home
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("system", ["win32", "darwin", "linux"])
@pytest.mark.parametrize(
    "program", [ODD[0], "/usr/bin/python3", "C:\\Program Files\\a b\\x.exe"]
)
def test_the_program_of_an_entry_is_read_back(system: str, program: str) -> None:
    content = autostart.content_of(system, [program, *ODD[1:]])
    assert autostart.program_in(system, content) == program
    assert autostart.program_in(system, b"something else") == ""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own."""
    for name, value in {
        "HOME": tmp_path,
        "XDG_CONFIG_HOME": tmp_path / "settings",
        "APPDATA": tmp_path,
    }.items():
        monkeypatch.setenv(name, str(value))
    return tmp_path


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="looks into a systemd unit"
)
def test_the_command_keeps_the_files_that_it_was_given(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = home / "m.sqlite3"
    assert main(["autostart", "on", "--db", str(database)]) == 0
    assert "starts with this computer" in capsys.readouterr().out
    unit = home / "settings" / "systemd" / "user" / "forgetmenot.service"
    command = f'ExecStart="{sys.executable}" "-m" "forgetmenot" "start" "--no-browser" "--db" "{database}"'
    assert command in unit.read_text().splitlines()
    assert (unit.parent / "default.target.wants" / unit.name).resolve() == unit
    assert main(["autostart", "off"]) == 0
    assert "does not start with this computer" in capsys.readouterr().out


@pytest.mark.parametrize(
    "prefix", ["/home/alice/.local/pipx/.cache/x2", "/data/uv/archive-v0/x3"]
)
def test_a_temporary_copy_is_refused(
    prefix: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    with pytest.raises(ForgetMeNotError, match="temporary"):
        autostart.enable()
    assert not autostart.is_on()


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="makes a link as a program"
)
def test_an_entry_for_a_folder_that_is_gone_is_off_until_the_next_start(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update is a new folder: the entry of the old one starts nothing."""
    old = home / "old" / "python"
    old.parent.mkdir()
    old.symlink_to(sys.executable)
    with monkeypatch.context() as moved:
        moved.setattr(sys, "executable", str(old))
        autostart.enable()
    assert autostart.is_on()
    assert not autostart.renew()
    old.unlink()
    assert not autostart.is_on()
    assert autostart.is_there()
    assert autostart.renew(["--db", "m.sqlite3"])
    assert autostart.is_on()
    assert not autostart.renew()
    autostart.disable()
    assert not autostart.renew()
