"""Foreign text in Markdown, for Discord too: none of it is markup, a link or a mention. Pure."""

import re

from forgetmenot.text.clean import clean

_MARKUP = re.compile(r"[\\`*_~|<>\[\]#]|:(?=//)|\A[-+]|(?<=\A\d)[.)]|(?<=\bwww)\.")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# Behind an @, so that "@everyone" calls nobody, wherever it is pasted.
_PARTED = "\u200b"


def escaped(text: str) -> str:
    """Text on one line that Markdown shows as it stands."""
    return _MARKUP.sub(lambda found: f"\\{found[0]}", clean(text)).replace("@", f"@{_PARTED}")


def unescaped(text: str) -> str:
    """The text again."""
    return _ESCAPED.sub(r"\1", text).replace(_PARTED, "")
