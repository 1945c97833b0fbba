"""The stage (tests/stage.py) for the promises about replies."""

from tests.stage import chat, stage

__all__ = ["chat", "stage"]
