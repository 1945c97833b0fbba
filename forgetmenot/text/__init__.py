"""Pure helpers on words."""
