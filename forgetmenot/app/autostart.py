"""Starts the bot when the user logs in to the computer: one file of the user's own, which needs no administrator.

Windows: a script in the Startup folder. macOS: a launch agent. Linux: a systemd user unit. It takes effect at the next
log-in, and neither starts nor stops a bot.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from forgetmenot.errors import ForgetMeNotError

NAME = "forgetmenot"
# Where the package for Debian puts the program: scripts/build_installer.py.
_DEBIAN_FOLDER = Path("/opt/forgetmenot")
WAIT_S = 30  # before a bot that crashed is started again
# Folders in which `uvx` and `pipx run` keep a program for a while.
_WINDOWS_PROGRAM = re.compile(r'^start "" (?:"([^"]+)"|(\S+))', re.MULTILINE)
_UNIT_PROGRAM = re.compile(r'^ExecStart="((?:[^"\\]|\\.)*)"', re.MULTILINE)
_UNIT_SIGNS = {"\\\\": "\\", '\\"': '"', "%%": "%", "\\n": "\n"}
_UNIT_ESCAPE = re.compile(r'\\\\|\\"|%%|\\n')
_TEMPORARY = ("archive-v", ".cache", "Caches")


def enable(options: Sequence[str] = ()) -> None:
    """Start the bot at each log-in, with these options of `forgetmenot start`. Raises ForgetMeNotError."""
    if any(part.startswith(_TEMPORARY) for part in Path(sys.prefix).parts):
        raise ForgetMeNotError(
            "This copy of ForgetMeNot is a temporary one. Install it first: `uv tool install`."
        )
    # the built program, or this Python; on Windows the one without a window
    here = Path(sys.executable)
    silent = here.with_name(f"{here.stem}w.exe")
    python = str(silent if sys.platform == "win32" and silent.is_file() else here)
    program = [python] if getattr(sys, "frozen", False) else [python, "-m", "forgetmenot"]
    content = content_of(sys.platform, [*program, "start", "--no-browser", *options])
    try:
        for path in _files():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
        entry().write_bytes(content)
        for link in _files()[
            1:
        ]:  # what `systemctl --user enable` makes; made here, no systemd has to run
            link.symlink_to(entry())
    except OSError as error:
        raise ForgetMeNotError(
            f"{error.filename or 'The entry'} cannot be changed: {error.strerror}."
        ) from error


def disable() -> None:
    """Remove the entry. Raises ForgetMeNotError."""
    try:
        for path in _files():
            path.unlink(missing_ok=True)
    except OSError as error:
        raise ForgetMeNotError(
            f"{error.filename or 'The entry'} cannot be changed: {error.strerror}."
        ) from error


def is_on() -> bool:
    """Whether the bot starts at the next log-in: the entry is there, and so is the program that it starts."""
    if not all(path.exists() for path in _files()):
        return False
    return Path(program_in(sys.platform, _content())).is_file()


def is_there() -> bool:
    """Return whether there is an entry, also one that starts nothing any more."""
    return any(path.is_symlink() or path.exists() for path in _files())


def renew(options: Sequence[str] = ()) -> bool:
    """Make an entry start this program if the one it names is gone, as after an update into a new folder.

    Returns whether it was changed. Raises ForgetMeNotError.
    """
    if not is_there() or is_on():
        return False
    enable(options)
    return True


def program_in(system: str, content: bytes) -> str:
    """Return the program that an entry of a system starts; empty if the content is not ours."""
    if system == "darwin":
        import plistlib
        from xml.parsers.expat import ExpatError

        try:
            agent = plistlib.loads(content)
        except (plistlib.InvalidFileException, ExpatError):
            return ""
        return str(agent["ProgramArguments"][0]) if agent.get("ProgramArguments") else ""
    text = content.decode("utf-8", "replace")
    if system == "win32":
        command = _WINDOWS_PROGRAM.search(text)
        return (command[1] or command[2]).replace("%%", "%") if command else ""
    command = _UNIT_PROGRAM.search(text)
    if command is None:
        return ""
    return _UNIT_ESCAPE.sub(lambda sign: _UNIT_SIGNS[sign[0]], command[1])


def _content() -> bytes:
    try:
        return entry().read_bytes()
    except OSError:
        return b""


def entry() -> Path:
    """The file that starts the bot."""
    home = Path.home()
    if sys.platform == "win32":
        data = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
        return (
            data / "Microsoft" / "Windows" / "Start Menu" / "Programs" / "Startup" / f"{NAME}.cmd"
        )
    if sys.platform == "darwin":
        return home / "Library" / "LaunchAgents" / f"{NAME}.plist"
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return settings / "systemd" / "user" / f"{NAME}.service"


def _files() -> list[Path]:
    unit = entry()
    return (
        [unit]
        if unit.suffix != ".service"
        else [unit, unit.parent / "default.target.wants" / unit.name]
    )


def content_of(system: str, command: Sequence[str]) -> bytes:
    """What the entry holds on a system (as `sys.platform` calls it)."""
    if system == "win32":
        words = subprocess.list2cmdline(command).replace("%", "%%")
        # `start` returns at once, so that no empty window stays; the code page is for names with letters beyond ASCII
        return f'@echo off\r\nchcp 65001 >nul\r\nstart "" {words}\r\n'.encode()
    if system == "darwin":
        import plistlib

        agent = {
            "Label": NAME,
            "ProgramArguments": list(command),
            "RunAtLoad": True,
            "ThrottleInterval": WAIT_S,
        }
        return plistlib.dumps({**agent, "KeepAlive": {"SuccessfulExit": False}})
    # systemd replaces variables in all words but the first, so `$` is doubled there
    words = " ".join(
        [_quoted(command[0]), *(_quoted(word).replace("$", "$$") for word in command[1:])]
    )
    unit = f"[Unit]\nDescription=ForgetMeNot, a Twitch chat bot with a memory\n\n[Service]\nExecStart={words}\n"
    return f"{unit}Restart=on-failure\nRestartSec={WAIT_S}\n\n[Install]\nWantedBy=default.target\n".encode()


def _quoted(word: str) -> str:
    for sign, instead in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("\n", "\\n")):
        word = word.replace(sign, instead)
    return f'"{word}"'


def how_to_remove(prefix: Path, root: Path) -> str:
    """How the program itself is removed: by what installed it. `root`: the folder that holds the package."""
    frozen = getattr(sys, "frozen", False)
    if frozen and Path(sys.executable).parent == _DEBIAN_FOLDER:
        return "type `sudo apt remove forgetmenot`"
    if frozen or (root / "pyproject.toml").is_file():
        return f"delete the folder {Path(sys.executable).parent if frozen else root}"
    return f"type `{'pipx' if 'pipx' in prefix.parts else 'uv tool'} uninstall forgetmenot-bot`"
