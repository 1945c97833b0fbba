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
# Seconds before a bot that crashed is started again.
RESTART_S = 30
_WINDOWS_PROGRAM = re.compile(r'^start "" (?:"([^"]+)"|(\S+))', re.MULTILINE)
_UNIT_PROGRAM = re.compile(r'^ExecStart="((?:[^"\\]|\\.)*)"', re.MULTILINE)
_UNIT_SIGNS = {
    "\\\\": "\\",
    '\\"': '"',
    "%%": "%",
    "\\n": "\n",
}
_UNIT_ESCAPE = re.compile(r'\\\\|\\"|%%|\\n')
_UNIT = """\
[Unit]
Description=ForgetMeNot, a Twitch chat bot with a memory

[Service]
ExecStart={command}
Restart=on-failure
RestartSec={restart_s}

[Install]
WantedBy=default.target
"""
# Folders in which `uvx` and `pipx run` keep a program for a while.
_TEMPORARY = ("archive-v", ".cache", "Caches")


def enable(options: Sequence[str] = ()) -> None:
    """Start the bot at each log-in, with these options of `forgetmenot start`. Raises ForgetMeNotError."""
    parts = Path(sys.prefix).parts
    if any(part.startswith(_TEMPORARY) for part in parts):
        raise ForgetMeNotError(
            "This copy of ForgetMeNot is a temporary one. Install it first: `uv tool install`."
        )
    # Nobody has asked for a page when the computer starts.
    command = [*_program(), "start", "--no-browser", *options]
    content = content_of(sys.platform, command)
    try:
        for path in _files():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
        entry().write_bytes(content)
        # what `systemctl --user enable` makes; made here, no systemd has to run
        for link in _files()[1:]:
            link.symlink_to(entry())
    except OSError as error:
        raise _cannot_be_changed(error) from error


def _cannot_be_changed(error: OSError) -> ForgetMeNotError:
    name = error.filename or "The entry"
    return ForgetMeNotError(f"{name} cannot be changed: {error.strerror}.")


def _program() -> list[str]:
    """Return the command that runs this program: the built one, or this Python."""
    executable = Path(sys.executable)
    if sys.platform == "win32":
        without_window = executable.with_name(f"{executable.stem}w.exe")
        if without_window.is_file():
            executable = without_window
    if getattr(sys, "frozen", False):
        return [str(executable)]
    return [str(executable), "-m", "forgetmenot"]


def disable() -> None:
    """Remove the entry. Raises ForgetMeNotError."""
    try:
        for path in _files():
            path.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_be_changed(error) from error


def is_on() -> bool:
    """Return whether the bot starts at the next log-in: the entry is there, and so is the program that it starts."""
    if not all(path.exists() for path in _files()):
        return False
    try:
        content = entry().read_bytes()
    except OSError:
        return False
    program = program_in(sys.platform, content)
    return Path(program).is_file()


def is_there() -> bool:
    """Return whether there is an entry, also one that starts nothing any more."""
    # A link counts also where it leads to nothing.
    return any(os.path.lexists(path) for path in _files())


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
        arguments = agent.get("ProgramArguments")
        return str(arguments[0]) if arguments else ""
    text = content.decode("utf-8", "replace")
    if system == "win32":
        command = _WINDOWS_PROGRAM.search(text)
        if command is None:
            return ""
        program = command[1] or command[2]
        return str(program).replace("%%", "%")
    command = _UNIT_PROGRAM.search(text)
    if command is None:
        return ""
    quoted_program = command[1]
    return _UNIT_ESCAPE.sub(_unescaped, quoted_program)


def _unescaped(escape: re.Match[str]) -> str:
    """Return the sign that an escape in a systemd unit stands for."""
    return _UNIT_SIGNS[escape[0]]


def entry() -> Path:
    """Return the file that starts the bot."""
    home = Path.home()
    if sys.platform == "win32":
        roaming = home / "AppData" / "Roaming"
        data = Path(os.environ.get("APPDATA") or roaming)
        programs = data / "Microsoft" / "Windows" / "Start Menu" / "Programs"
        return programs / "Startup" / f"{NAME}.cmd"
    if sys.platform == "darwin":
        return home / "Library" / "LaunchAgents" / f"{NAME}.plist"
    config = home / ".config"
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or config)
    return settings / "systemd" / "user" / f"{NAME}.service"


def _files() -> list[Path]:
    """Return the entry, and for systemd the link that enables it."""
    unit = entry()
    if unit.suffix != ".service":
        return [unit]
    link = unit.parent / "default.target.wants" / unit.name
    return [unit, link]


def content_of(system: str, command: Sequence[str]) -> bytes:
    """Return what the entry holds on a system (as `sys.platform` calls it)."""
    if system == "win32":
        line = subprocess.list2cmdline(command).replace("%", "%%")
        # `start` returns at once, so that no empty window stays; the code page is for names with letters beyond ASCII
        return f'@echo off\r\nchcp 65001 >nul\r\nstart "" {line}\r\n'.encode()
    if system == "darwin":
        import plistlib

        agent = {
            "Label": NAME,
            "ProgramArguments": list(command),
            "RunAtLoad": True,
            "ThrottleInterval": RESTART_S,
            "KeepAlive": {"SuccessfulExit": False},
        }
        return plistlib.dumps(agent)
    words = [_quoted(word) for word in command]
    program = words[0]
    # systemd replaces variables in all words but the first, so `$` is doubled there
    options = [word.replace("$", "$$") for word in words[1:]]
    line = " ".join([program, *options])
    unit = _UNIT.format(command=line, restart_s=RESTART_S)
    return unit.encode()


def _quoted(word: str) -> str:
    # the backslash first: the others bring new ones
    word = word.replace("\\", "\\\\")
    word = word.replace('"', '\\"')
    word = word.replace("%", "%%")
    word = word.replace("\n", "\\n")
    return f'"{word}"'


def how_to_remove(prefix: Path, root: Path) -> str:
    """Return how the program itself is removed: by what installed it. `root`: the folder that holds the package."""
    if getattr(sys, "frozen", False):
        folder = Path(sys.executable).parent
        if folder == _DEBIAN_FOLDER:
            return "type `sudo apt remove forgetmenot`"
        return f"delete the folder {folder}"
    if (root / "pyproject.toml").is_file():
        return f"delete the folder {root}"
    installer = "pipx" if "pipx" in prefix.parts else "uv tool"
    return f"type `{installer} uninstall forgetmenot-bot`"
