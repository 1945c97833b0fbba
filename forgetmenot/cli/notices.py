"""What a streamer is told before the bot starts: where the memory lies badly, and what the chosen model's terms are."""

from pathlib import Path

from forgetmenot.cli.common import say
from forgetmenot.llm.build import TERMS
from forgetmenot.settings.schema import Provider, Settings
from forgetmenot.store.file_safety import warning_about


def tell_first(settings: Settings, database: Path) -> None:
    """Say it, on standard error."""
    warning = warning_about(database)
    if warning is not None:
        say(f"Careful: {warning}")
    if settings.model.provider is Provider.GEMINI:
        say(TERMS)
