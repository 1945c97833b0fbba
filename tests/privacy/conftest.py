"""The fixtures of tests/memory: what is erased was remembered there."""

from tests.memory.conftest import channel, settings
from tests.notes_world import recall, world

__all__ = ["channel", "recall", "settings", "world"]
