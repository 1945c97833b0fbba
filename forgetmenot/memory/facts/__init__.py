"""Tell facts apart: is a new fact the same as a known one, in conflict with it, or different? Rules, no model."""
