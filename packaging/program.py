"""What the built program runs: the `forgetmenot` command, with what differs when there is no Python around it."""

import os
import sys

from forgetmenot.cli import main
from forgetmenot.tray import TRAY
from forgetmenot.tray.__main__ import main as tray


def run() -> int:
    """Run the command; the exit code."""
    # The program finds its own libraries by this variable; a browser that it opens must find the system's instead.
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        before = os.environ.pop(f"{name}_ORIG", None)
        if before is not None:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)
    if sys.argv[1:] == [TRAY]:
        tray()
        return 0
    code = main()
    # A double-click: the window would close before it is read. Without a console there is no window.
    is_double_click = os.name == "nt" and len(sys.argv) == 1
    if code and is_double_click and sys.stdin is not None:
        input("Press Enter to close this window.")
    return code


if __name__ == "__main__":
    sys.exit(run())
