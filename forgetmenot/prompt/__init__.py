"""Builds prompts: pure functions from rows and settings to a bounded, ordered, explainable prompt.

`compose_prefix` makes the part that stays the same between replies, `assemble` adds what belongs to one message.
Importing this package loads nothing heavy; the functions live in `forgetmenot.prompt.assemble`.
"""
