"""The one way in which a model asks for something: `[ACTION:<nonce> name key=value key="…" else="…"]`.

Promises: what is not written exactly like that, with this prompt's nonce, is no proposal; only the first proposal
counts; whatever smells of a tag has left the visible text. Never raises, whatever the text; time grows with its
length. Does not know which actions exist or what they need: that is the policy's.
"""

import re
from dataclasses import dataclass

from forgetmenot.actions.scrub import tidy, without_tags
from forgetmenot.domain.action import Proposal

LONGEST_TAG = 1_200
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_PARAMETER = re.compile(
    r"""\s+([A-Za-z][A-Za-z0-9_-]{0,31})=(?:"((?:[^"\\]|\\.){0,500})"|([^\s"\[\]=]{1,100}))""", re.DOTALL
)
_END = re.compile(r"\s*\]")
_WRAPPERS = frozenset(("``", "**", "__", "~~", "||", '""', "''", "“”", "«»", "()", "[]", "{}", "<>"))
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What may be shown, and what is asked for."""

    visible: str
    proposal: Proposal | None


def parse(text: str, nonce: str) -> Parsed:
    """Split a model's text into visible words and at most one proposal; an empty nonce admits none."""
    proposal, rest = _take_proposal(text, nonce)
    return Parsed(without_tags(rest, nonce), proposal)


def _take_proposal(text: str, nonce: str) -> tuple[Proposal | None, str]:
    """The first well-formed proposal, and the text without it."""
    if not nonce:
        return None, text
    for opening in re.finditer(re.escape(f"[ACTION:{nonce}") + r"\s+", text):
        found = _read_tag(text, opening.end())
        if found is not None:
            proposal, end = found
            before, behind = _unwrapped(text[: opening.start()], text[end:])
            return proposal, tidy(f"{before} {behind}")
    return None, text


def _unwrapped(before: str, behind: str) -> tuple[str, str]:
    """What stood around the tag, without the marks that enclosed nothing else: "`[…]` nice"."""
    while before and behind and before[-1] + behind[0] in _WRAPPERS:
        before, behind = before[:-1], behind[1:]
    return before, behind if "[" in before else behind.lstrip("]")


def _read_tag(text: str, at: int) -> tuple[Proposal, int] | None:
    """The proposal whose name begins at `at`, and where its bracket ends; None if anything is out of place."""
    limit = at + LONGEST_TAG
    name = _NAME.match(text, at, limit)
    if name is None:
        return None
    params: dict[str, str] = {}
    at = name.end()
    while parameter := _PARAMETER.match(text, at, limit):
        key = _key(parameter[1])
        if key in params:
            return None  # two targets: which was checked, which is meant?
        params[key] = _value(parameter)
        at = parameter.end()
    end = _END.match(text, at, limit)
    if end is None:
        return None
    otherwise = params.pop("else", "")
    return Proposal(_key(name[0]), params, otherwise), end.end()


def _key(word: str) -> str:
    return word.lower().replace("-", "_")


def _value(parameter: re.Match[str]) -> str:
    quoted, bare = parameter[2], parameter[3]
    return bare if quoted is None else _ESCAPED.sub(r"\1", quoted)
