"""The memory: chat becomes episodes, episodes become notes, notes are recalled; all of it can be deleted."""
