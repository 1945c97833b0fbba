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
from forgetmenot.store.file_safety import cannot_open, make_room


@contextlib.contextmanager
def held(database: Path, command: str) -> Iterator[None]:
    """Hold the database for this process. Raises StoreLocked, which names the other one, or StoreError."""
    holder = database.with_name(database.name + ".holder")
    lock = FileLock(database.with_name(database.name + ".lock"), mode=0o600)
    with contextlib.ExitStack() as stack:
        try:
            make_room(database)
            lock.acquire(timeout=0)
            stack.callback(lock.release)
            stack.callback(holder.unlink, missing_ok=True)
            holder.touch(mode=0o600)
            holder.write_text(f"forgetmenot {command} (process {os.getpid()})", encoding="utf-8")
        except Timeout:
            raise StoreLocked(_sentence(database, holder)) from None
        except OSError as error:
            raise cannot_open(database, error) from error
        yield


def is_held(database: Path) -> bool:
    """Whether a bot runs on this database now; nothing is left behind by asking."""
    file = database.with_name(database.name + ".lock")
    if not file.exists():
        return False
    lock = FileLock(file)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return True
    lock.release()
    return False


def _sentence(database: Path, holder: Path) -> str:
    try:
        name = holder.read_text(encoding="utf-8", errors="replace") if holder.is_file() else ""
    except OSError:
        name = ""
    name = name.partition("\n")[0][:80] or "another ForgetMeNot"  # in a shared folder somebody else may have written it
    return f"{database} is in use by {name}. Stop that one first, or choose another file with --db."
