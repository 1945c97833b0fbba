"""Whether a line denies what was just said, or a fact about its speaker, and says nothing else. Pure.

A closed list of small words, with the words of what is denied: any other word makes it another line, for example one
with a new value. English, and the plainest forms of five more languages.
"""

import re
from collections.abc import Sequence

from forgetmenot.text.words import STOPWORDS, stem, telling_stems, words

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
_NEGATED = re.compile(r"\b(?:not|dont|doesnt|no longer|isnt|arent|aint|anymore)\b")
_ENDED = re.compile(r"\b(?:no (?:more|longer)|any ?more|nicht mehr|keine?n? mehr)\b")
"""Not "over" or "stop": of the evening that is over, the same words are said."""
_WORDS_BESIDE = """aint anymore bad bot bro c cierto confused confusing correct das date dude e errado es eso est
    ever fact falsch false falso faux haha inaccurate incorrect info information ist ja lmao longer
    man mehr mentira mine mistake mistaken mixed mixing nah nao never nicht no nonsense nope note
    notes old outdated pas person quit right said sorry still stimmt stopped told totally true u um
    untrue used verdad verdade vrai wahr wrong ya yo"""
_BESIDE_DENIALS = STOPWORDS | frozenset(_WORDS_BESIDE.split())
_OTHER_WORDS = """ok okay now again only just once yet if when while until most so too some very
    like likes get go goes going can cant could want will would should"""
_NOT_A_DENIAL = frozenset(_OTHER_WORDS.split())
"""What makes words of a fact with a "not" another statement: "I don't like Oslo" of somebody who lives there."""
_NOT_ABOUT_IT = frozenset(["what", "whats", "why", "how"])
_OF_ONESELF = re.compile(r"\bi ?(?:m|am|aint) not an? |\bi (?:dont|do not|no longer) (?!like|want)")
_SOMEBODY_MEANT = re.compile(r"\b(with|not me (?:thats|its|(?:that|it) (?:is|was)|but)) (?!me\b)\w+\Z")


def denies(text: str, of: str = "") -> bool:
    """Whether a line only says that what was just said does not hold: "that's wrong", "not anymore".

    `of`: what was said, whose words may be repeated: "I don't play that anymore". A "no" alone is none, because it may
    be an answer.
    """
    said = _SOMEBODY_MEANT.sub(r"\1", " ".join(words(text))).split()
    plain, more = " ".join(said), [word for word in said if word not in _BESIDE_DENIALS]
    if not _NOT_ABOUT_IT.isdisjoint(said):
        return False
    if not more:
        return _DENIED.search(plain) is not None
    known = {stem(word) for word in words(of)}
    repeats = all(stem(word) in known for word in more) and _NOT_A_DENIAL.isdisjoint(set(said) - set(words(of)))
    return repeats and _NEGATED.search(plain) is not None


def says_it_ended(text: str, fact: str) -> bool:
    """Whether a line only says that something regular is no more: "no more movie nights"; not "no movie this week"."""
    plain = " ".join(words(text))
    said = {stem(word) for word in words(_ENDED.sub(" ", plain)) if word not in _BESIDE_DENIALS}
    known = telling_stems(fact)
    return _ENDED.search(plain) is not None and said <= known and 2 * len(said) > len(known)


def is_negated(text: str) -> bool:
    """Whether a line may deny something."""
    said = " ".join(words(text))
    return _NEGATED.search(said) is not None or _DENIED.search(said) is not None


def denied_of_oneself(text: str, facts: Sequence[str]) -> list[int]:
    """Which facts of its speaker a line only denies, whatever came before: "I'm not a nurse", "I don't have a cat"."""
    said = words(text)
    if not _OF_ONESELF.search(" ".join(said)):
        return []
    stems = {stem(word) for word in said} - STOPWORDS
    named = [not stems.isdisjoint(map(stem, words(fact)[1:])) for fact in facts]
    return [at for at, fact in enumerate(facts) if named[at] and denies(text, fact)]
