"""Whether a line is a command to some bot ("!so alice"). Pure. A "!!!" or "! wow" is talk."""


def is_command(text: str) -> bool:
    """Whether it begins with an exclamation mark and a letter."""
    line = text.lstrip()
    return line[:1] in {"!", "！"} and line[1:2].isalpha()
