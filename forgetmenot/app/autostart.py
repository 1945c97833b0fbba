"""Starts the bot when the user logs in to the computer, through the system's own mechanism.

Windows: a task of the Task Scheduler. macOS: a launch agent. Linux: a systemd user unit. Each belongs to the
user and needs no administrator. Changes take effect at the next log-in and neither start nor stop a bot.
"""

import contextlib
import os
import plistlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from forgetmenot.errors import ForgetMeNotError

NAME = "forgetmenot"
ABOUT = "ForgetMeNot, a Twitch chat bot with a memory"
WAIT_S = 30
_TEMPORARY = ("archive-v", ".cache", "Caches")
"""Folders in which `uvx` and `pipx run` keep a program for a while."""


@dataclass(frozen=True, slots=True)
class Status:
    """Whether autostart is on, and where its entry is or would be."""

    on: bool
    entry: str


def enable(options: Sequence[str] = (), *, name: str = NAME) -> Status:
    """Start the bot at each log-in, with these options of `forgetmenot start`. Raises ForgetMeNotError."""
    refuse_temporary(Path(sys.prefix))
    command = [*program(), "start", "--no-browser", *options]
    try:
        if sys.platform == "win32":
            _register(name, windows_task(command, _windows_user()))
        elif sys.platform == "darwin":
            _write(_agent(name), launch_agent(command, name))
        else:
            unit = _unit(name)
            _write(unit, systemd_unit(command).encode())
            _wanted(unit).parent.mkdir(parents=True, exist_ok=True)
            _wanted(unit).unlink(missing_ok=True)
            _wanted(unit).symlink_to(unit)
            _reload_systemd()
    except OSError as error:
        raise _failed(error) from error
    return status(name=name)


def disable(*, name: str = NAME) -> Status:
    """Remove the entry. Raises ForgetMeNotError."""
    try:
        if sys.platform == "win32":
            if status(name=name).on:
                _schtasks("/Delete", "/TN", name, "/F")
        elif sys.platform == "darwin":
            _agent(name).unlink(missing_ok=True)
        else:
            _wanted(_unit(name)).unlink(missing_ok=True)
            _unit(name).unlink(missing_ok=True)
            _reload_systemd()
    except OSError as error:
        raise _failed(error) from error
    return status(name=name)


def status(*, name: str = NAME) -> Status:
    """Whether autostart is on."""
    if sys.platform == "win32":
        return Status(_run_schtasks("/Query", "/TN", name).returncode == 0, f"the task {name} in the Task Scheduler")
    if sys.platform == "darwin":
        return Status(_agent(name).is_file(), str(_agent(name)))
    return Status(_unit(name).is_file() and _wanted(_unit(name)).is_symlink(), str(_unit(name)))


def program() -> list[str]:
    """The command that starts this program: the built one, or this Python; on Windows the one without a window."""
    here = Path(sys.executable)
    silent = here.with_name(f"{here.stem}w.exe")
    start = str(silent if sys.platform == "win32" and silent.is_file() else here)
    return [start] if getattr(sys, "frozen", False) else [start, "-m", "forgetmenot"]


def how_to_remove(prefix: Path, root: Path) -> str:
    """How the program itself is removed: by what installed it. `root`: the folder that holds the package."""
    if getattr(sys, "frozen", False):
        return f"delete the folder {Path(sys.executable).parent}"
    if any(part.startswith(_TEMPORARY) for part in prefix.parts):
        return "nothing is installed: this is a temporary copy"
    if "pipx" in prefix.parts:
        return "type `pipx uninstall forgetmenot-bot`"
    if prefix.parent.name == "tools":  # uv's folder of tools
        return "type `uv tool uninstall forgetmenot-bot`"
    if (root / "pyproject.toml").is_file():
        return f"delete the folder {root}"
    return "type `pip uninstall forgetmenot-bot`"


def refuse_temporary(prefix: Path) -> None:
    """Raise ForgetMeNotError for a copy that `uvx` made: it is gone after a restart."""
    if any(part.startswith(_TEMPORARY) for part in prefix.parts):
        raise ForgetMeNotError(
            "This copy of ForgetMeNot is a temporary one. Install it first, for example with `uv tool install`."
        )


def windows_task(command: Sequence[str], user: str) -> str:
    """A Task Scheduler task: at this user's log-in, without a time limit, also on battery."""
    who, what = escape(user), escape(command[0])
    words = escape(subprocess.list2cmdline(command[1:]))
    return f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>{escape(ABOUT)}</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled><UserId>{who}</UserId></LogonTrigger></Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{who}</UserId><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
  </Settings>
  <Actions Context="Author"><Exec><Command>{what}</Command><Arguments>{words}</Arguments></Exec></Actions>
</Task>
"""


def launch_agent(command: Sequence[str], name: str = NAME) -> bytes:
    """A launchd property list: at log-in and after a crash, but not after a normal stop."""
    return plistlib.dumps(
        {
            "Label": name,
            "ProgramArguments": list(command),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": WAIT_S,
        }
    )


def systemd_unit(command: Sequence[str]) -> str:
    """A systemd user unit with the same behaviour."""
    return f"""[Unit]
Description={ABOUT}

[Service]
ExecStart={" ".join([_quoted(command[0]), *(_quoted(word).replace("$", "$$") for word in command[1:])])}
Restart=on-failure
RestartSec={WAIT_S}

[Install]
WantedBy=default.target
"""


def _quoted(word: str) -> str:
    """A word quoted for systemd. It replaces variables in all words but the first, so `$` is doubled there."""
    for sign, instead in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("\n", "\\n")):
        word = word.replace(sign, instead)
    return f'"{word}"'


def _agent(name: str) -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{name}.plist"


def _unit(name: str) -> Path:
    settings = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(settings) if settings else Path.home() / ".config") / "systemd" / "user" / f"{name}.service"


def _wanted(unit: Path) -> Path:
    """The link that `systemctl --user enable` makes; made here, it needs no running systemd session."""
    return unit.parent / "default.target.wants" / unit.name


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _reload_systemd() -> None:
    """Notify a running systemd; without one the unit is read at the next log-in."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(["systemctl", "--user", "daemon-reload"], capture_output=True, check=False, timeout=WAIT_S)  # noqa: S607  # wherever it is


def _register(name: str, task: str) -> None:
    with tempfile.TemporaryDirectory(prefix="forgetmenot-") as folder:
        file = Path(folder) / "task.xml"
        file.write_text(task, encoding="utf-16")  # what schtasks reads
        _schtasks("/Create", "/TN", name, "/XML", str(file), "/F")


def _windows_user() -> str:
    return "\\".join(part for part in (os.environ.get("USERDOMAIN"), os.environ.get("USERNAME")) if part)


def _schtasks(*words: str) -> None:
    done = _run_schtasks(*words)
    if done.returncode:
        raise ForgetMeNotError(f"Windows refused the entry: {done.stderr.strip() or done.stdout.strip()}")


def _run_schtasks(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["schtasks", *words]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=WAIT_S)  # noqa: S603  # our own words


def _failed(error: OSError) -> ForgetMeNotError:
    return ForgetMeNotError(f"{error.filename or 'The entry'} cannot be changed: {error.strerror}.")
