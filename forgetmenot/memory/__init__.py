"""Chat becomes episodes, episodes become notes, notes are recalled, all of it can be forgotten."""
