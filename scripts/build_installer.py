"""Packs the program in `dist/ForgetMeNot` as its system expects it: `python scripts/build_installer.py`.

Linux: a .deb; macOS: a .dmg with an app; Windows: an installer by Inno Setup, which needs no administrator. It runs
after scripts/build_app.py, on the same system.
"""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import release
from environment import ROOT, say

PROGRAM = ROOT / "dist" / "ForgetMeNot"
PACKAGING = ROOT / "packaging"
_DEB_MACHINES = {"x64": "amd64", "arm64": "arm64"}


def main() -> int:
    """Build the installer of this system; 0 if that worked."""
    if not PROGRAM.is_dir():
        say(f"{PROGRAM} is missing. Run scripts/build_app.py first.")
        return 1
    builders = {"linux": build_deb, "darwin": build_dmg, "win32": build_setup}
    installer = builders[sys.platform](PROGRAM, ROOT / "dist", release.version())
    say(f"Built {installer}")
    return 0


def build_deb(program: Path, output: Path, version: str) -> Path:
    """Build a Debian package with the program in /opt, a command and a menu entry; return its path."""
    name = release.name_here()
    with tempfile.TemporaryDirectory(prefix="forgetmenot-deb-") as folder:
        root = Path(folder) / "root"
        shutil.copytree(program, root / "opt" / "forgetmenot", symlinks=True)
        commands = root / "usr" / "bin"
        commands.mkdir(parents=True)
        (commands / "forgetmenot").symlink_to("/opt/forgetmenot/forgetmenot")
        _copy(
            PACKAGING / "forgetmenot.desktop", root / "usr" / "share" / "applications"
        )
        icons = root / "usr" / "share" / "icons" / "hicolor" / "256x256" / "apps"
        icons.mkdir(parents=True)
        shutil.copy(PACKAGING / "icon.png", icons / "forgetmenot.png")
        control = root / "DEBIAN" / "control"
        control.parent.mkdir()
        machine = _DEB_MACHINES[name.rpartition("-")[2]]
        control.write_text(
            control_text(version, machine, _size_kb(root)), encoding="utf-8"
        )
        _make_readable(root)
        package = output / f"{name}.deb"
        _run("dpkg-deb", "--build", "--root-owner-group", str(root), str(package))
    return package


def control_text(version: str, machine: str, size_kb: int) -> str:
    """Return what the package says about itself."""
    lines = (
        "Package: forgetmenot",
        f"Version: {version}",
        f"Architecture: {machine}",
        "Maintainer: The ForgetMeNot authors <noreply@localhost>",
        "Section: net",
        "Priority: optional",
        f"Installed-Size: {size_kb}",
        "Depends: libc6, zlib1g",
        "Description: Twitch chat bot with a memory",
        " Remembers the regulars of a channel and deletes raw chat after 24 hours.",
        "",
    )
    return "\n".join(lines)


def build_dmg(program: Path, output: Path, version: str) -> Path:
    """Build a disk image with an app; return its path."""
    image = output / f"{release.name_here()}.dmg"
    with tempfile.TemporaryDirectory(prefix="forgetmenot-dmg-") as folder:
        contents = Path(folder) / "ForgetMeNot.app" / "Contents"
        shutil.copytree(program, contents / "MacOS", symlinks=True)
        _copy(ROOT / "build" / "pyinstaller" / "icon.icns", contents / "Resources")
        (contents / "Info.plist").write_bytes(plistlib.dumps(app_info(version)))
        # An unsigned program does not start on Apple's processors; "-" signs it for nobody.
        _run("codesign", "--force", "--deep", "--sign", "-", str(contents.parent))
        (Path(folder) / "Applications").symlink_to("/Applications")
        _run(
            "hdiutil",
            "create",
            "-volname",
            "ForgetMeNot",
            "-srcfolder",
            folder,
            "-format",
            "UDZO",
            str(image),
        )
    return image


def app_info(version: str) -> dict[str, object]:
    """Return the properties of the app on macOS."""
    return {
        "CFBundleIdentifier": "forgetmenot.bot",
        "CFBundleName": "ForgetMeNot",
        "CFBundleExecutable": "forgetmenot",
        "CFBundleIconFile": "icon.icns",
        "CFBundlePackageType": "APPL",
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        # It shows itself in the browser and has no window of its own.
        "LSUIElement": True,
    }


def build_setup(program: Path, output: Path, version: str) -> Path:
    """Build the installer for Windows; return its path."""
    name = release.name_here()
    compiler = shutil.which("iscc") or r"C:\Program Files (x86)\Inno Setup 6\ISCC.exe"
    _run(
        compiler,
        f"/DVersion={version}",
        f"/DProgram={program}",
        f"/DIcon={ROOT / 'build' / 'pyinstaller' / 'icon.ico'}",
        f"/O{output}",
        f"/F{name}",
        str(PACKAGING / "forgetmenot.iss"),
    )
    return output / f"{name}.exe"


def _copy(file: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, folder)


def _size_kb(folder: Path) -> int:
    """Return the size of a folder in kilobytes, links as they are."""
    sizes = [path.lstat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(sizes) // 1024


def _make_readable(folder: Path) -> None:
    """Let everybody read an installed file, whatever the umask of who built it."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            is_program = path.is_dir() or os.access(path, os.X_OK)
            path.chmod(0o755 if is_program else 0o644)


def _run(*command: str) -> None:
    """Run a command. Raises CalledProcessError."""
    subprocess.run(command, check=True)


if __name__ == "__main__":
    sys.exit(main())
