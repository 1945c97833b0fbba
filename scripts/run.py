"""Sets ForgetMeNot up in this checkout and runs it: `python scripts/run.py [COMMAND …]`; without a command, the demo.

Needs a Python ≥ 3.11 and nothing else. The second start asks nothing of the network.
"""

import os
import subprocess
import sys

import environment


def main() -> int:
    """Install if need be, then hand over to the `forgetmenot` command."""
    interpreter = environment.ensure()
    command = [str(interpreter), "-m", "forgetmenot", *(sys.argv[1:] or ["demo"])]
    if os.name == "posix":
        os.execv(interpreter, command)  # noqa: S606  # no go-between: whoever ends this process ends the bot
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the terminal has told the bot as well; it needs a moment to stop cleanly


if __name__ == "__main__":
    sys.exit(main())
