"""Sets ForgetMeNot up in this checkout and runs it: `python scripts/run.py [COMMAND …]`; without a command, the demo.

Needs a Python ≥ 3.11 and nothing else. The second start asks nothing of the network.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import environment


def main() -> int:
    """Install if need be, then hand over to the `forgetmenot` command."""
    interpreter = environment.ensure()
    # In full for what is typed in another folder or window: the dock shows it.
    os.environ.setdefault(
        "FORGETMENOT_COMMAND", as_typed(str(Path(__file__).resolve()))
    )
    os.environ.setdefault("FORGETMENOT_TYPED", as_typed(sys.argv[0]))
    command = [str(interpreter), "-m", "forgetmenot", *(sys.argv[1:] or ["demo"])]
    if os.name == "posix":
        os.execv(interpreter, command)  # noqa: S606  # no go-between: whoever ends this process ends the bot
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the terminal has told the bot as well; it needs a moment to stop cleanly


def as_typed(path: str) -> str:
    """Return how this script is started by its path, for messages that name a command."""
    typed_path = (
        subprocess.list2cmdline([path]) if os.name == "nt" else shlex.quote(path)
    )
    return f"{Path(sys.executable).name} {typed_path}"


if __name__ == "__main__":
    sys.exit(main())
