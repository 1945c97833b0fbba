"""What Linux says of a process: the locks that it holds on a memory, and the files that it has open."""

import os
from pathlib import Path

LINUX = Path("/proc/locks").exists()


def locks_on(path: Path, pid: int | None = None) -> int:
    """Return how many locks a process holds on a file (POSIX locks: those that any close takes away)."""
    inode = str(path.stat().st_ino)
    count = 0
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        fields = line.split()
        if "POSIX" in fields and str(pid or os.getpid()) in fields:
            count += any(field.endswith(f":{inode}") for field in fields)
    return count


def deleted_files(folder: Path, pid: int | None = None) -> list[str]:
    """Return the files below a folder that a process has open though they are deleted."""
    names = []
    for link in Path(f"/proc/{pid or os.getpid()}/fd").iterdir():
        try:
            target = str(link.readlink())
        except OSError:  # closed meanwhile
            continue
        if target.startswith(str(folder)) and target.endswith(" (deleted)"):
            names.append(target)
    return names
