"""A model made of rules, for a demo and a first try without a key: from the prompt's fences to words."""
