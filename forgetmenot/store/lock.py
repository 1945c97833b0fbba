"""One bot per memory: a lock beside the database, with the name of who holds it.

The lock is the operating system's, so a killed process leaves none behind. The command line may write beside a running
bot (SQLite sees to that); a second bot may not.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from forgetmenot.errors import StoreLocked


@contextlib.contextmanager
def held(database: Path, command: str) -> Iterator[None]:
    """Hold the database for this process. Raises StoreLocked, which names the other one."""
    database.parent.mkdir(parents=True, exist_ok=True)
    holder = database.with_name(database.name + ".holder")
    lock = FileLock(database.with_name(database.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreLocked(_sentence(database, holder)) from None
    try:
        holder.write_text(f"forgetmenot {command} (process {os.getpid()})", encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _sentence(database: Path, holder: Path) -> str:
    try:
        name = holder.read_text(encoding="utf-8")
    except OSError:
        name = "another ForgetMeNot"
    return f"{database} is in use by {name}. Stop that one first, or choose another file with --db."
