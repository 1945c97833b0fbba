"""What a release must fulfil, and what its files are called: `python scripts/release.py COMMAND`.

`check TAG` refuses a tag that is not the version, or whose version has no section in CHANGELOG.md. `notes` prints that
section. `sums FOLDER` writes SHA256SUMS beside the files of a folder.
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUMS = "SHA256SUMS"
_SYSTEMS = {"win32": "windows", "darwin": "macos", "linux": "linux"}
_MACHINES = {"amd64": "x64", "x86_64": "x64", "arm64": "arm64", "aarch64": "arm64"}


def main() -> int:
    """Run one command; 0 if it succeeded."""
    command, *arguments = sys.argv[1:] or ["help"]
    if command == "check" and arguments:
        problem = tag_problem(arguments[0], version(), changelog())
        print(problem or f"{arguments[0]} can be released.", file=sys.stderr)
        return 1 if problem else 0
    if command == "notes":
        print(section(changelog(), version()))
        return 0
    if command == "sums" and arguments:
        write_sums(Path(arguments[0]))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


def version() -> str:
    """Return the version of this checkout. Raises ValueError if there is none."""
    text = (ROOT / "forgetmenot" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "(.+)"', text, re.MULTILINE)
    if match is None:
        raise ValueError(text)
    return match[1]


def changelog() -> str:
    """Return the text of CHANGELOG.md."""
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def tag_problem(tag: str, program_version: str, changes: str) -> str:
    """Return why a tag must not be released; "" if it may be."""
    if tag != f"v{program_version}":
        return f"The tag is {tag}, but the version in forgetmenot/__init__.py is {program_version}."
    if not section(changes, program_version):
        return f"CHANGELOG.md has no section [{program_version}] with text in it."
    return ""


def section(changes: str, program_version: str) -> str:
    """Return what a changelog says about a version, without the heading; "" if that is nothing."""
    heading = rf"^## \[{re.escape(program_version)}\].*\n"
    match = re.search(rf"{heading}((?:(?!## ).*\n?)*)", changes, re.MULTILINE)
    return match[1].strip() if match else ""


def program_name(program_version: str, system: str, machine: str) -> str:
    """Return the name of a built program, without its ending: `ForgetMeNot-0.1.0-linux-x64`.

    `system` as in `sys.platform`, `machine` as in `platform.machine()`. Raises KeyError for others than those that are
    built.
    """
    return (
        f"ForgetMeNot-{program_version}-{_SYSTEMS[system]}-{_MACHINES[machine.lower()]}"
    )


def name_here() -> str:
    """Return the name of a program that is built on this computer."""
    return program_name(version(), sys.platform, platform.machine())


def write_sums(folder: Path) -> None:
    """Write the checksums of a folder's files as `sha256sum --check` reads them."""
    lines = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != SUMS:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f"{digest}  {path.name}\n")
    (folder / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
