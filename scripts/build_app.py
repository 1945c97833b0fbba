"""Builds a folder with ForgetMeNot that needs no Python, and tries what came out: `python scripts/build_app.py`.

PyInstaller builds for the system it runs on only, so the workflow in .github runs this on each. The archive in `dist`
is what a streamer unpacks; the program in it does with a double-click what `forgetmenot start` does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import environment
import release
from environment import ROOT, say

NAME = "ForgetMeNot"


def main() -> int:
    """Build, try and pack; 0 if all of it worked."""
    dist = ROOT / "dist"
    program = build(str(environment.ensure("dev,tray")), dist)
    if program is None or not works(program):
        return 1
    packed = shutil.make_archive(
        str(dist / release.name_here()),
        "zip" if os.name == "nt" else "gztar",
        dist,
        NAME,
    )
    say(f"Built and tried: {packed}")
    return 0


def build(python: str, dist: Path) -> Path | None:
    """Build into `dist`; the program, or None if that failed, which is said then."""
    work = ROOT / "build" / "pyinstaller"
    recipe = ROOT / "packaging" / "forgetmenot.spec"
    command = [
        python,
        "-m",
        "PyInstaller",
        "--noconfirm",
        "--distpath",
        str(dist),
        "--workpath",
        str(work),
    ]
    result = subprocess.run(
        [*command, str(recipe)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if result.returncode:
        say(result.stdout + result.stderr)
        return None
    if not _adds_licences(python, dist / NAME):
        return None
    return dist / NAME / ("forgetmenot.exe" if os.name == "nt" else "forgetmenot")


def _adds_licences(python: str, folder: Path) -> bool:
    """Put our licence and those of what is inside beside the program; whether that worked."""
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    command = [python, str(ROOT / "packaging" / "third_party.py")]
    result = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if result.returncode:
        say(result.stderr)
        return False
    (folder / "THIRD-PARTY.txt").write_text(result.stdout, encoding="utf-8")
    return True


def works(program: Path) -> bool:
    """Whether it plays the demo, examines the computer and serves the dock, from a folder without a checkout."""
    with tempfile.TemporaryDirectory(prefix="forgetmenot-program-") as name:
        for words in (["demo", "--fast", "--json"], ["doctor", "--json"]):
            words += ["--db", str(Path(name) / "demo.sqlite3")]
            result = subprocess.run(
                [program, *words], cwd=name, capture_output=True, text=True, check=False
            )
            # not by its exit code: the doctor ends with 1 where it finds no network
            if not result.stdout.startswith("{"):
                say(
                    f"{' '.join(words)} ended with {result.returncode}:\n{result.stderr}"
                )
                return False
        return _serves(program, Path(name)) and _signs_in(program)


def _signs_in(program: Path) -> bool:
    """Whether it signs in at a Twitch on loopback, starts with a client ID and uninstalls itself."""
    command = [
        str(environment.python()),
        str(ROOT / "scripts" / "try_program.py"),
        str(program),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        say(f"{result.stdout}{result.stderr}")
    return result.returncode == 0


def _serves(program: Path, folder: Path) -> bool:
    """Return whether the built program starts and serves the files of its dock."""
    command = [
        str(program),
        "start",
        "--no-browser",
        "--db",
        str(folder / "memory.sqlite3"),
    ]
    output = ""
    with subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        try:
            for line in process.stderr or ():
                output += line
                origin = re.search(r"The dock: (http://[^/]+)", line)
                if origin:
                    shown_by = [str(program), "dock", "--print", *command[3:]]
                    result = subprocess.run(
                        shown_by, cwd=folder, capture_output=True, text=True, check=True
                    )
                    return _has_its_files(result.stdout.strip(), origin[1])
        finally:
            process.terminate()
    say(f"It did not open its dock:\n{output}")
    return False


def _has_its_files(address: str, origin: str) -> bool:
    """Return whether each file that the dock's first page names is served and not empty."""
    with urllib.request.urlopen(address, timeout=10) as page:  # noqa: S310  # loopback
        paths = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.read().decode())
    for path in paths:
        with urllib.request.urlopen(origin + path, timeout=10) as file:  # noqa: S310  # loopback
            if not file.read():
                say(f"{path} is empty.")
                return False
    return len(paths) > 5


if __name__ == "__main__":
    sys.exit(main())
