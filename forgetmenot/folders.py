"""Folders that are their owner's alone."""

from pathlib import Path


def make_own(folder: Path) -> None:
    """Make a folder and what is missing above it, each 0700; one that is there already stays as it is. Raises OSError.

    `mkdir(parents=True)` gives its mode to the last folder alone, and leaves the data folder above it open.
    """
    for missing in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # a file in its place is an error
