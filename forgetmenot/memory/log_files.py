"""Log files hold facts and ids, never chat; an erasure takes a person's id and names out of them as well.

Promises that a file keeps its length and its lines, so that a program that is writing to it can go on. Each trace is
overwritten in place.
"""

from pathlib import Path

from forgetmenot import logs
from forgetmenot.text.removal import Names


def clean(database: Path, who: Names) -> int:
    """Overwrite every trace of a person in the log files of a memory's bot; how many lines had one."""
    return sum(_clean_file(file, who) for file in sorted(logs.beside(database).glob(f"{logs.FILE}*")))


def _clean_file(path: Path, who: Names) -> int:
    changed = 0
    with path.open("r+b") as file:
        while line := file.readline():
            cleaned = _blanked(line, who)
            if cleaned != line:
                end = file.tell()
                file.seek(end - len(line))
                file.write(cleaned)
                file.seek(end)
                changed += 1
    return changed


def _blanked(line: bytes, who: Names) -> bytes:
    text = line.decode("utf-8", "surrogateescape")
    return who.blanked(text).encode("utf-8", "surrogateescape") if who.blanked(text) != text else line
