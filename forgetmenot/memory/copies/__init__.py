"""The memory leaves and comes back: JSON lines without chat, and backups."""
