"""Fences around untrusted text in a prompt: `<chat>`, the text, `</chat>`, each on its own line.

No text inside can open or close a fence, whatever brackets it uses: every character that reads as an
angle bracket becomes a round one, except in a mention (`<@42>`) and in a heart (`<3`). Costs about two tokens a
side. Does not judge what the text says: the rules of the prompt say that fenced text is data.
"""

import re

from forgetmenot.text.mentions import MENTION

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OPENING = "<＜﹤‹〈⟨〈《⟪«≪⋘⪡⧼⦑❮❰❬˂ᐸ≺⋖⩹⪦㸦𝈶"
_CLOSING = ">＞﹥›〉⟩〉》⟫»≫⋙⪢⧽⦒❯❱❭˃ᐳ≻⋗⩺⪧𝈷"
_ROUND = str.maketrans(dict.fromkeys(_OPENING, "(") | dict.fromkeys(_CLOSING, ")"))
_ENTITY = re.compile(r"&(lt|gt|laquo|raquo|lang|rang|#0*6[02]|#x0*3[ce])\b;?", re.IGNORECASE)
_KEPT = re.compile(rf"{MENTION.pattern}|<3(?![\w/>])")
_BLOCK = re.compile(r"^<([a-z][a-z0-9_]*)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)


def fence(name: str, body: str) -> str:
    """The body between its fence. Raises ValueError for a name that is not lower-case letters, digits and _."""
    if not _NAME.fullmatch(name):
        raise ValueError("a fence's name is made of lower-case letters, digits and _")
    return f"<{name}>\n{unbracket(body)}\n</{name}>"


def unbracket(body: str) -> str:
    """The body without anything that reads as an angle bracket, except mentions and hearts. Twice changes nothing."""
    pieces: list[str] = []
    end = 0
    for kept in _KEPT.finditer(body):
        pieces += [_soften(body[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*pieces, _soften(body[end:])])


def _soften(text: str) -> str:
    return _ENTITY.sub("(", text.translate(_ROUND))


def fenced(text: str) -> dict[str, str]:
    """What stands between the fences of a prompt, by name; fences of the same name are joined by a line break."""
    found: dict[str, str] = {}
    for block in _BLOCK.finditer(text):
        name, body = block[1], block[2]
        found[name] = f"{found[name]}\n{body}" if name in found else body
    return found
