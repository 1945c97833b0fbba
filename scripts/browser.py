"""The browser that tests and screenshots drive: the Chromium that is on the machine; Debian's is installed if need be.

Nothing but the standard library. No browser is ever downloaded from anywhere but the system's own packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

# The first is Chromium without a window: the same pages for two thirds of the processor's time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    """Its path; `FORGETMENOT_BROWSER` names another one."""
    path = os.environ.get("FORGETMENOT_BROWSER")
    places = [path, *map(shutil.which, NAMES), *PLACES]
    return next((place for place in places if place and Path(place).exists()), None)


def ensure() -> str | None:
    """The same; on Debian as root it is installed first if there is none."""
    apt = shutil.which("apt-get")
    if find() is None and apt and hasattr(os, "geteuid") and os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = [apt, "install", "-y", "-qq", "--no-install-recommends"]
        commands = [
            [apt, "update", "-qq"],
            [*install, "chromium-headless-shell"],
        ]
        for command in commands:
            subprocess.run(command, check=False, capture_output=True, env=quiet)
        if find() is None:
            # an older Debian has no package of the first
            command = [*install, "chromium"]
            subprocess.run(command, check=False, capture_output=True, env=quiet)
    return find()
