"""The virtual environment that run.py and test.py share. Nothing but the standard library.

`.venv` in the checkout is made on the first start and brought up to date when pyproject.toml or constraints.txt have
changed since; otherwise nothing is asked of the network.
"""

import hashlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
MINIMUM = (3, 11)
NO_NETWORK = (
    "NewConnectionError",
    "NameResolution",
    "Temporary failure",
    "ProxyError",
    "ConnectTimeout",
    "No route",
)


def fail(sentence: str) -> None:
    """End with one clear sentence."""
    raise SystemExit(f"ForgetMeNot: {sentence}")


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


def python() -> Path:
    """The environment's interpreter."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure(extra: str = "") -> Path:
    """Make the environment, or bring it up to date, if need be; its interpreter. `extra`: an optional group."""
    try:
        return _ensure(extra)
    except KeyboardInterrupt:
        fail("stopped. Start again to go on where it was.")
    except OSError as error:
        fail(
            f"{error.filename or VENV} cannot be written: {error.strerror}. "
            "Move this folder to a place where you may write, your home say, and start again."
        )
    return python()


def enter(extra: str = "") -> None:
    """Go on in the environment if another Python runs this script, which is started anew then."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    command = [str(ensure(extra)), *sys.argv]
    if os.name == "posix":
        os.execv(command[0], command)  # noqa: S606  # whoever ends this process ends the script
    raise SystemExit(subprocess.call(command))


def _ensure(extra: str) -> Path:
    """Make the virtual environment or bring it up to date; return its Python."""
    # packages are installed uncompiled: without this, each start of each program would compile them all anew
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if sys.version_info < MINIMUM:
        fail(
            f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}. Get a newer one from python.org."
        )
    stamp = VENV / f"installed{'-' + extra if extra else ''}"
    fingerprint = _fingerprint()
    if python().exists() and stamp.exists() and stamp.read_text() == fingerprint:
        return python()
    started = time.monotonic()
    if not python().exists() or not _works():
        say("First start: making a virtual environment in .venv …")
        _make()
    say("Installing what ForgetMeNot needs into .venv (about 20 MB, once) …")
    _install(f".[{extra}]" if extra else ".")
    stamp.write_text(fingerprint)
    say(f"Installed in {time.monotonic() - started:.0f} s.")
    return python()


def _fingerprint() -> str:
    """Return a hash of everything after whose change the packages are installed anew."""
    parts = [
        (ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt")
    ]
    return hashlib.sha256(
        b"\0".join([*parts, sys.version.encode(), str(ROOT).encode()])
    ).hexdigest()


def _works() -> bool:
    """Return whether the virtual environment has a working pip."""
    return (
        subprocess.run(
            [python(), "-c", "import pip"], capture_output=True, check=False
        ).returncode
        == 0
    )


def _make() -> None:
    """Make the virtual environment anew. Exits if this Python cannot."""
    try:
        import ensurepip  # noqa: F401  # Debian splits it off; without it the environment would lack pip
        import venv
    except ImportError:
        fail(
            "this Python has no venv module. On Debian or Ubuntu: apt install python3-venv. Then start again."
        )
    else:
        venv.create(VENV, with_pip=True, clear=VENV.exists())


def megabytes_in(line: str) -> float:
    """The size of a file that pip fetches, from its line about it; 0 for any other line."""
    size = re.match(r"\s+(?:Downloading|Using cached) .*\(([\d.]+) (kB|MB)\)", line)
    if size is None:
        return 0.0
    return float(size[1]) / (1000 if size[2] == "kB" else 1)


def _install(requirement: str) -> None:
    """Install the program and its packages with pip, and show progress. Exits if that fails."""
    # --no-compile: what is used is compiled when it is first imported, and most never is
    plain = [
        "--no-compile",
        "--disable-pip-version-check",
        "--no-input",
        "--no-color",
        "--progress-bar=off",
    ]
    command = [
        str(python()),
        "-m",
        "pip",
        "install",
        *plain,
        "-c",
        "constraints.txt",
        "-e",
        requirement,
    ]
    words = ""
    packages = 0
    megabytes = 0.0
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        for line in pip.stdout or ():
            words += line
            megabytes += megabytes_in(line)
            package = re.match(r"Collecting ([\w.-]+)", line)
            if package:
                packages += 1
                say(f"  {packages}: {package[1]} ({megabytes:.1f} MB so far)")
            elif line.startswith("Installing collected"):
                say(
                    f"  … all {packages} packages, {megabytes:.1f} MB, are here and are being unpacked"
                )
    if pip.returncode == 0:
        return
    if any(sign in words for sign in NO_NETWORK):
        fail(
            "the packages could not be fetched: no network, or a proxy is in the way. Connect, then start again."
        )
    say(words.strip())
    fail("the packages could not be installed; pip's own words stand above.")
