"""Prints the licences of what the built program contains besides our own code: `python packaging/third_party.py`.

Runs in the environment that the program is built from.
"""

import sys
import sysconfig
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    PackagePath,
    distribution,
)
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

OURS = "forgetmenot-bot"
# what PyInstaller puts into each program that it builds
ALWAYS = ("pyinstaller",)
# the icon beside the clock: the extra `tray`
TRAY = () if sys.platform == "linux" else ("pystray", "pillow")
_LICENCE_FILES = ("licen", "copying", "notice", "authors")
_RULE = "=" * 100


def text() -> str:
    """Return the name, version and licence of each package, and its licence files."""
    parts = [
        "ForgetMeNot contains the following works of others. Each is used unchanged.",
        "python-stdnum (LGPL) lies in _internal/stdnum as plain files, which may be replaced.",
        "So does pystray (LGPL) in _internal/pystray, where it is part of the program.",
        _python(),
    ]
    packages = contained(OURS)
    for name in TRAY:
        packages.update(contained(name))
    for name in ALWAYS:
        packages.setdefault(name, distribution(name))
    names = sorted(name for name in packages if name != OURS)
    parts += [_section(packages[name]) for name in names]
    return "\n\n".join(parts) + "\n"


def contained(root: str) -> dict[str, Distribution]:
    """Return a package and all that it needs on this computer, by name."""
    found: dict[str, Distribution] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        found[name] = package
        waiting += _required(package)
    return found


def _required(package: Distribution) -> list[str]:
    names = []
    for line in package.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            names.append(requirement.name.lower().replace("_", "-"))
    return names


def _section(package: Distribution) -> str:
    about: Any = package.metadata  # a message, whose methods its type leaves out
    licence = about.get("License-Expression") or about.get("License") or ""
    if not licence.strip():
        classifiers = about.get_all("Classifier") or []
        named = [line for line in classifiers if line.startswith("License ::")]
        licence = ", ".join(line.rpartition(" :: ")[2] for line in named)
    title = f"{about['Name']} {package.version}: {licence.strip().splitlines()[0] if licence else ''}"
    files = [file for file in package.files or () if _is_licence(file)]
    paths = [Path(str(file.locate())) for file in files]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    return "\n\n".join([_RULE, title, *texts])


def _is_licence(file: PackagePath) -> bool:
    return file.name.lower().startswith(_LICENCE_FILES) and file.suffix != ".py"


def _python() -> str:
    version = sys.version.split()[0]
    folder = Path(sysconfig.get_path("stdlib"))
    files = [folder / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE.txt"]
    for file in files:
        if file.is_file():
            return f"{_RULE}\n\nPython {version}: PSF-2.0\n\n{file.read_text(encoding='utf-8')}"
    return (
        f"{_RULE}\n\nPython {version}: PSF-2.0, https://docs.python.org/3/license.html"
    )


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(text())
