"""The one gate, by hand and in CI: `python scripts/test.py [--quick] [TEST …]`.

Format, lint, types, import contracts, tests (warnings are errors), the built wheel installed into a clean environment
and started from another folder, and the program that needs no Python, built and started likewise. The tests run beside
the rest. `--quick` leaves out what is slow: the wheel, the program, the browser, long tests.
With tests (files, folders, or `FILE::NAME`) it runs these alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import browser
import build_app
import environment
from environment import ROOT, say

CONSTRAINTS = str(ROOT / "constraints.txt")


def main() -> int:
    """Run every gate; 0 if all of them pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what is slow")
    parser.add_argument(
        "tests", nargs="*", metavar="TEST", help="run these tests and nothing else"
    )
    options = parser.parse_args()
    quick: bool = options.quick
    with ThreadPoolExecutor(1) as beside:
        # the system's packages and Python's are fetched side by side
        all_gates = not quick and not options.tests
        found_browser = beside.submit(browser.ensure if all_gates else browser.find)
        python = str(environment.ensure("dev"))
    if options.tests:
        return (
            0
            if run([python, "-m", "pytest", "-q", *options.tests], visible=True)
            else 1
        )
    unmarked = ["-m", "not slow and not browser"] if quick else []
    # one more than there are processors: tests also wait, for a browser say
    workers = str((os.cpu_count() or 1) + 1)
    tests = [python, "-m", "pytest", "-q", *unmarked]
    shared = ["-n", workers, "--dist", "worksteal"]
    gates: dict[str, Callable[[], bool]] = {
        "format": lambda: run([python, "-m", "ruff", "format", "--check", "."]),
        "lint": lambda: run([python, "-m", "ruff", "check", "."]),
        "imports": lambda: run([str(Path(python).with_name("lint-imports"))]),
        "types": lambda: run([python, "-m", "mypy"]),
    }
    if not quick:
        no_browser = "no browser: there is none (FORGETMENOT_BROWSER names one)"
        say(f"The dock is tested in {found_browser.result() or no_browser}.")
        gates["wheel"] = lambda: wheel(python)
        gates["program"] = lambda: program(python)
    with ThreadPoolExecutor(1) as beside:
        pending = [
            (name, beside.submit(timed, name, gate)) for name, gate in gates.items()
        ]
        # each worker reads all tests: compiled once before, they cost a third of what each of them compiling them does
        if not any((ROOT / "tests").rglob("*-pytest-*.pyc")):
            run([*tests, "--collect-only"])
        failed = (
            []
            if timed("tests", lambda: run([*tests, *shared], visible=True))
            else ["tests"]
        )
        failed = [name for name, passed in pending if not passed.result()] + failed
    say(
        f"\nFailed: {', '.join(failed)}."
        if failed
        else f"\nAll {len(gates) + 1} gates passed."
    )
    return 1 if failed else 0


def timed(name: str, gate: Callable[[], bool]) -> bool:
    """Run one gate and say how it went."""
    started = time.monotonic()
    passed = gate()
    say(
        f"\n── {'passed' if passed else 'FAILED'}: {name}, {time.monotonic() - started:.1f} s"
    )
    return passed


def run(command: list[str], *, visible: bool = False, cwd: Path = ROOT) -> bool:
    """Run a command; whether it succeeded. What it says is shown if it fails, or from the start."""
    result = subprocess.run(
        command, cwd=cwd, capture_output=not visible, text=True, check=False
    )
    if result.returncode and not visible:
        say(f"\n{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.returncode == 0


def wheel(python: str) -> bool:
    """Build the wheel, install it as its users do, where nothing of the checkout can be seen, and run the demo."""
    with tempfile.TemporaryDirectory(prefix="forgetmenot-wheel-") as name:
        folder = Path(name)
        if not run(
            [
                python,
                "-m",
                "build",
                "--wheel",
                "--no-isolation",
                "--outdir",
                name,
                str(ROOT),
            ]
        ):
            return False
        built = str(next(folder.glob("*.whl")))
        command = installed_by_uv(python, built, folder) or installed_by_pip(
            built, folder
        )
        words = (["--version"], ["demo", "--fast", "--json"])
        return command is not None and all(
            run([command, *arguments], cwd=folder) for arguments in words
        )


def installed_by_uv(python: str, built: str, folder: Path) -> str | None:
    """The command that `uv tool install` made, in seconds; None where uv reaches no package index."""
    places = {
        "UV_TOOL_DIR": str(folder / "tools"),
        "UV_TOOL_BIN_DIR": str(folder / "bin"),
    }
    install = [
        python,
        "-m",
        "uv",
        "tool",
        "install",
        "--quiet",
        "--python",
        python,
        "-c",
        CONSTRAINTS,
        built,
    ]
    result = subprocess.run(
        install,
        cwd=folder,
        env={**os.environ, **places},
        capture_output=True,
        check=False,
    )
    return (
        shutil.which("forgetmenot", path=folder / "bin")
        if result.returncode == 0
        else None
    )


def installed_by_pip(built: str, folder: Path) -> str | None:
    """The command that pip made; None if it failed, which is said then."""
    venv.create(folder / "clean", with_pip=True)
    scripts = folder / "clean" / ("Scripts" if os.name == "nt" else "bin")
    python = shutil.which("python", path=scripts) or "python"
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        CONSTRAINTS,
        built,
    ]
    return shutil.which("forgetmenot", path=scripts) if run(install) else None


def program(python: str) -> bool:
    """Build the program that needs no Python, and let it do its main job."""
    with tempfile.TemporaryDirectory(prefix="forgetmenot-build-") as name:
        built = build_app.build(python, Path(name))
        return built is not None and build_app.works(built)


if __name__ == "__main__":
    sys.exit(main())
