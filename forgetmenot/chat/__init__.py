"""A chat line: to memory, to a command, to a reply."""
