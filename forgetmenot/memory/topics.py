"""The topic gate: a note with topics is only shown when the conversation touches one of them. Pure.

Notes without topics always pass. What touches: a word of the conversation with the same stem, anywhere in it.
"""

from forgetmenot.domain.memory import Note
from forgetmenot.text.words import stems


def conversation(*texts: str) -> frozenset[str]:
    """What is being talked about, ready to be asked."""
    return frozenset(stem for text in texts for stem in stems(text))


def touched(note: Note, talk: frozenset[str]) -> bool:
    """Whether a note may be shown in a conversation."""
    return not note.topics or any(stem in talk for topic in note.topics for stem in stems(topic))
