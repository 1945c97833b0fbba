"""How the program was started, so that a command it names can be copied and typed."""

import os
import sys
from pathlib import Path


def as_typed() -> str:
    """How this program is started from where its user is: `forgetmenot`, unless it is not on the path."""
    if named := os.environ.get("FORGETMENOT_COMMAND"):  # set by scripts/run.py
        return named
    if getattr(sys, "frozen", False):
        return f'"{sys.executable}"' if " " in sys.executable else sys.executable
    module = getattr(sys.modules.get("__main__"), "__spec__", None)
    as_module = module is not None and module.name == "forgetmenot.__main__"
    return f"{Path(sys.executable).name} -m forgetmenot" if as_module else "forgetmenot"
