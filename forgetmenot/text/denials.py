"""Whether a line denies what was just said and says nothing else. Pure.

A closed list of small words: any other word makes it another line, for example one with a new value. English, and the
plainest forms of five more languages.
"""

import re

from forgetmenot.text.words import STOPWORDS, words

_DENIED = re.compile(
    r"(?<!not )(?<!isnt )(?<!never )(?<!i was )(?<!im )(?<!i am )(?<!my )\b(?:wrong|false|incorrect|untrue|inaccurate"
    r"|outdated|nonsense|mistake|mistaken|out of date|falsch|falso|faux|errado|mentira)\b(?! with)"
    r"|\b(?:not|never|isnt|wasnt) (?:\w+ )?(?:true|right(?! now)|correct|me|mine|any more)\b"
    r"|\b(?:never|didnt|did not) (?:\w+ )?(?:said|say|told|had|did|was|were|have|been)\b|\bno longer\b"
    r"|\b(?:used to|stopped|quit)\Z"
    r"|\b(?:not|dont|doesnt|isnt|arent|aint) (?:\w+ ){0,2}anymore\b"
    r"|\b(?:mixed|mixing) (?:\w+ )?up\b|\bconfus(?:ed|ing)\b|\bstimmt nicht\b|\bnicht (?:wahr|mehr)\b"
    r"|\b(?:no es|nao e|pas|ce nest pas) (?:cierto|verdad|verdade|vrai)\b|\b(?:ya no|ja nao)\b"
)
_WORDS_BESIDE = """aint anymore bad bot bro c cierto confused confusing correct das date dude e errado es eso est
    ever fact falsch false falso faux haha inaccurate incorrect info information ist ja lmao longer
    man mehr mentira mine mistake mistaken mixed mixing nah nao never nicht no nonsense nope note
    notes old outdated pas person quit right said sorry still stimmt stopped told totally true u um
    untrue used verdad verdade vrai wahr wrong ya yo"""
_BESIDE_DENIALS = STOPWORDS | frozenset(_WORDS_BESIDE.split())
_NOT_ABOUT_IT = frozenset(["what", "whats", "why", "how"])
_SOMEBODY_MEANT = re.compile(r"\b(with|not me (?:thats|its|(?:that|it) (?:is|was)|but)) (?!me\b)\w+\Z")


def denies(text: str) -> bool:
    """Whether a line only says that what was just said does not hold: "that's wrong", "not anymore".

    A "no" alone is none, because it may be an answer.
    """
    said = _SOMEBODY_MEANT.sub(r"\1", " ".join(words(text))).split()
    if not _NOT_ABOUT_IT.isdisjoint(said) or not _BESIDE_DENIALS.issuperset(said):
        return False
    return _DENIED.search(" ".join(said)) is not None
