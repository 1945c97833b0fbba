"""A model made of rules, for the demo and a first run without a key."""
