"""Helpers on words.

They use no clock, randomness or network, and no disk but for the tables of words beside the code: `tables`,
`line_language` and `meaning` read each of them once.
"""
