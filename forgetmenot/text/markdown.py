"""Chat in Markdown files and in Discord: shown as it stands, without markup, link or mention. Pure."""

import re

from forgetmenot.text.clean import clean

_MARKUP = re.compile(r"[\\`*_~|<>\[\]#]|:(?=//)|\A[-+]|(?<=\A\d)[.)]|(?<=\bwww)\.")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# Behind an @, so that "@everyone" calls nobody, wherever it is pasted.
_PARTED = "\u200b"


def escape_markdown(text: str) -> str:
    """Return a text on one line that Markdown shows as it stands: no markup, link or mention."""
    escaped = _MARKUP.sub(lambda match: f"\\{match[0]}", clean(text))
    return escaped.replace("@", f"@{_PARTED}")


def unescape_markdown(text: str) -> str:
    """Return the text that was escaped."""
    return _ESCAPED.sub(r"\1", text).replace(_PARTED, "")
