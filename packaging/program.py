"""What the built program runs: the `forgetmenot` command, with what differs when there is no Python around it."""

import os
import sys

from forgetmenot.cli import main


def run() -> int:
    """Run the command; the exit code."""
    # The program finds its own libraries by this variable; a browser that it opens must find the system's instead.
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        before = os.environ.pop(f"{name}_ORIG", None)
        if before is not None:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)
    code = main()
    if (
        code and os.name == "nt" and len(sys.argv) == 1
    ):  # a double-click: the window would close before it is read
        input("Press Enter to close this window.")
    return code


if __name__ == "__main__":
    sys.exit(run())
