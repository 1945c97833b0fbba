"""Which notes of its prompt a reply used, and which of its claims nothing supports. Pure.

Of a reply's claims names, numbers and tales of a shared past ("last time") are looked at, what it says that the asker
said, what it tells of a life of its own, and what is said about people who were asked about: everything else is talk. A
word that the prompt's data has in any form supports itself; the bot's instructions support nothing. What the bot admits
is known in ten languages, small words in eight; a shared past, what the asker said and a life in English and German.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.memory.grounding import alike
from forgetmenot.text.questions import taken_words
from forgetmenot.text.sentences import ENDS, sentences_of
from forgetmenot.text.words import FOREIGN_STOPWORDS, STOPWORDS, stem, telling_stems, words

_NUMBER = re.compile(r"(?<!\w)\d[\d.,:]*(?:%|\b)")
_NAME = re.compile(r"(?<![.!?…]\s)(?<!\A)(?<![\"“(])\b[A-Z][a-z]{2,}(?:\s[A-Z][a-z]{2,})*\b")
_PAST = re.compile(
    r"\b(?:last (?:time|week|stream|month|night|year|\w+day)|yesterday|the other (?:day|night)"
    r"|remember (?:when|that time)|(?P<asks>remember how|wei(?:ß|ss)t du noch)"
    r"|you (?:told|promised) (?:me|us)|you said|like (?:you|we) (?:always|did)"
    r"|as (?:always|usual)|back when|we (?:once|talked|met|played)"
    r"|letzte[nrs]? (?:woche|nacht|monat|jahr|mal|stream|\w+tag)|gestern|neulich"
    r"|du hast (?:mir|uns) (?:gesagt|erzählt|versprochen))\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[^,;–—]+(?:[,;–—]+\s*|\Z)?")
_SENTENCE = re.compile(rf"[^{ENDS}]+(?:[{ENDS}]+|\Z)\s*")
_ABOUT_NOTE = re.compile(r"\[id:[^\[\]\n]*\]")
_SHOWN = re.compile(r"\[id:(\d+)[^\[\]\n]*\]\s*(.*?)\s*$", re.MULTILINE)
_NUMBER_WORDS = {
    str(number): word
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_OF_ITSELF = re.compile(
    r"\b(?:[Mm]y(?! notes?\b| memory\b)|[Mm]ine"
    r"|I(?:['’](?:m|ve|d))?(?! (?:\w+ )?(?:remember|recall|know|think|heard|hear|believe|see|saw|guess|read))"
    r"|[Mm]ein\w*"
    r"|(?<!glaube )(?<!denke )(?<!meine )[Ii]ch(?! (?:\w+ ){0,2}(?:wei(?:ß|ss)|erinner|glaube|denke|meine)))\b"
)
_OF_YOU = re.compile(
    r"\b(?:you|your|yours|y['’]all|he|she|they|his|her|their|du|dich|dir|dein\w*|euch|er|sie)\b", re.IGNORECASE
)
_LIVED = re.compile(
    r"\bI(?:['’]ve| have) (?:(?:always|also|just|even|really) )?"
    r"(?:been (?:play|liv|work|watch|eat|stud|learn|train|driv)\w+|played|tried|enjoyed|loved|lived|visited|eaten)\b"
    r"|\bI (?:always|usually|often) (?:enjoy|love|like|play|eat|drink|watch)\b|\bI (?:used to|grew up)\b"
    r"|\bI(?:['’]m| am) (?:an? )?(?!not? )(?:\w+ )?(?:human|person|sentient|conscious)\b"
    r"|\bjust like (?:me|I do)\b|\bsame as me\b|\bgenau wie ich\b",
    re.IGNORECASE,
)
"""What only somebody with a life says of themselves: a bot has played, eaten and enjoyed nothing."""
_LIKES_AS_WELL = re.compile(
    r"\b(?:like|love|enjoy|hate|prefer|want|hope|mag|liebe|hoffe)\b.*\b(?:too|as well|auch)\b"
    r"|\b(?:also|auch)\b.*\b(?:like|love|enjoy|hate|prefer|want|hope|mag|liebe|hoffe)\b",
    re.IGNORECASE,
)
"""What a bot may say of itself as well: a taste, and no life."""
_LEFT_OVER = re.compile(r"\A(?:but|and|so|aber|und)\b,?\s+(\w)", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:you|he|she|they|du|er|sie)(?:['’](?P<be>re|s)|['’]ve)?\Z", re.IGNORECASE)
_YOU_SAID = re.compile(
    r"\byou (?:just |also |once |already )?(?:said|asked|mentioned|wrote|told (?:me|us))\b"
    r"|\bdu hast\b.*\b(?:gesagt|gefragt|erzählt|erwähnt|geschrieben)\b|\bdu (?:sagtest|fragtest|schriebst)\b",
    re.IGNORECASE,
)
_NOT = frozenset(("not", "never", "no", "wont", "dont", "cant", "isnt", "nicht", "nie", "kein", "keine"))
_ADMITS = re.compile(
    r"\b(?:(?:do|does|did|can|could)(?:n?['’]?t| ?not) (?:\w+ )?(?:know|remember|recall|have|say|tell|see|find|assist"
    r"|help)"
    r"|(?:not|never|n['’]t) (?:sure|told|mentioned|said|heard)|no (?:idea|clue|note|notes|memory|record|info\w*)"
    r"|(?:know|have|remember|recall) nothing|nothing (?:about|on|in|of|is|was|noted)|nobody|no one|unsure|unknown"
    r"|wei(?:ß|ss) (?:\w+ ){0,3}nicht|nicht sicher|keine? (?:ahnung|notiz\w*|erinnerung\w*)|erinner\w* .*nicht"
    r"|no (?:lo )?(?:s[eé]|recuerdo|tengo)|(?:sais|souviens|connais) (?:pas|plus)|aucune idée|não (?:sei|lembro)"
    r"|non (?:lo )?(?:so|ricordo)|weet (?:ik )?(?:het )?niet|geen idee|nie (?:wiem|pamiętam)|не (?:знаю|помню)"
    r"|bilmiyorum|hatırlamıyorum)\b",
    re.IGNORECASE,
)
_SMALL_TALK = frozenset(
    stem(word)
    for word in words(
        """remember recall know think glad ask asked sure hello help here fun nice great love cool sorry oh ah hi hey
        welcome happy tell told note notes let see guess maybe good thanks question yes no yeah chat talk bot
        klar natürlich genau stimmt claro pues supuesto bien sûr évidemment certo natuurlijk jasne oczywiście
        weiß glaube denke erinnere soweit wenn richtig creo recuerdo equivoco crois pense souviens rappelle acho lembro
        credo penso ricordo
        leid siento perdona perdón désolé desculpa desculpe scusa spiace przykro przepraszam"""
    )
) | frozenset(map(stem, FOREIGN_STOPWORDS))
_QUOTES = "'\"’”»"
_TOLD = frozenset(
    map(
        stem,
        words(
            """said asked mentioned wrote told earlier before yesterday today last time
            gesagt gefragt erzählt erwähnt geschrieben sagtest fragtest schriebst vorhin gestern heute"""
        ),
    )
)
SHORTEST_REPEATED, LONGEST_ADMISSION = 4, 8
"""Words of the shortest sentence that counts as repeated, and of the longest admission, which may be said again."""
SAME_WORD = 0.9
"""Least `alike` of two forms of one word."""
BEGINNING = 3
"""Letters that two forms of one word share at their beginning, if they have as many."""
LEAST_SHARE = 2 / 3
"""The share of a sentence's own words that one note or line about the people in question must have."""


class Claim(NamedTuple):
    """Words of a reply that no row supports: what kind, and where they stand in its text."""

    kind: str
    start: int
    end: int


def facts_in(section: str) -> dict[int, str]:
    """The notes that a section of a prompt shows, by their ids."""
    return {int(found[1]): found[2] for found in _SHOWN.finditer(section)}


def used_notes(reply: str, facts: Mapping[int, str], asked: str = "") -> list[int]:
    """The ids of the notes that the reply uses, beyond the words that the question had already."""
    said, known = telling_stems(reply, 2), telling_stems(asked, 2)
    return [note_id for note_id, fact in facts.items() if taken_words(telling_stems(fact, 2), said, known)]


def unfounded(reply: str, asked: str, known: Iterable[str], *, fits: bool) -> list[Claim]:
    """Where sentences that answer a question about somebody begin to say what is not `known` about them.

    `fits`: recall says that something known answers it. Then a reply is left alone where half a part of it says that;
    else only what one row says is believed, and of a past that the question names ("yesterday") nothing. Words of
    the question, in any form, need no row.
    """
    rows = _Rows(row for text in known for row in text.splitlines())
    given = _Rows([asked])

    def own_words(part: re.Match[str]) -> list[str]:
        return [word for word in telling_stems(part[0], 2) - _SMALL_TALK if not given.most([word])]

    said = map(own_words, _PART.finditer(reply))
    if fits and any(own and rows.most(own) * 2 >= len(own) for own in said):
        return []
    # notes have no "yesterday": whatever a model says of such a moment is made up
    if any(not past["asks"] for past in _PAST.finditer(asked)):
        rows = _Rows(())
    found = []
    for sentence in _SENTENCE.finditer(reply):
        for part in _PART.finditer(reply, *sentence.span()):
            own = [] if _ADMITS.search(part[0]) else own_words(part)
            if own and rows.most(own) < LEAST_SHARE * len(own):
                found.append(Claim("fact", part.start(), sentence.end()))
                break
    return found


class _Rows:
    """Where words stand in rows in some form ("wohnst" is "wohnt"): each is compared with those that begin as it does.

    A reply has a hundred words and a prompt thousands; to compare all of them takes seconds.
    """

    def __init__(self, rows: Iterable[str]) -> None:
        self._begin: dict[str, dict[str, set[int]]] = {}
        for at, row in enumerate(rows):
            for word in telling_stems(_ABOUT_NOTE.sub("", row), 2):
                self._begin.setdefault(word[:BEGINNING], {}).setdefault(word, set()).add(at)
        self._found: dict[str, set[int]] = {}

    def most(self, own: Iterable[str]) -> int:
        """How many of the words the one row has that has most of them."""
        return max(Counter(at for word in own for at in self._with(word)).values(), default=0)

    def _with(self, word: str) -> set[int]:
        if word not in self._found:
            near = self._begin.get(word[:BEGINNING], {}).items()
            self._found[word] = {at for other, rows in near if alike(word, other) >= SAME_WORD for at in rows}
        return self._found[word]


def borrowed(
    reply: str, known: Iterable[str], said: str = "", about: Iterable[str] = (), *, least: int = 2
) -> list[Claim]:
    """Where the bot begins to tell of a life, or of itself what a row, or the line `said`, says of somebody.

    "my cat is Miso"; and "I just got promoted!" to who was. `about`: names of others who were asked about; a sentence
    with one of them is about them ("Bob is a nurse, if I'm not mistaken"). `least`: words that it shares with a row.
    """
    rows = [telling_stems(_ABOUT_NOTE.sub("", row), 2) - _SMALL_TALK for text in known for row in text.splitlines()]
    asked, others = telling_stems(said, 2), {word for name in about for word in words(name)}
    # their line tells of themselves alone: only then can the bot have taken it for its own life
    line = asked if _OF_ITSELF.search(said) and not _OF_YOU.search(said) else frozenset()

    def is_theirs(part: str) -> bool:
        own = telling_stems(part, 2)
        told = bool(own) and len(own & line) >= LEAST_SHARE * len(own) and not _LIKES_AS_WELL.search(part)
        return told or any(len(own & row) >= least and (own & row) - asked for row in rows)

    found = []
    for sentence in _SENTENCE.finditer(reply):
        of_others = not others.isdisjoint(words(sentence[0]))
        for part in _PART.finditer(reply, *sentence.span()):
            of_itself = _OF_ITSELF.search(part[0]) and not (of_others or _OF_YOU.search(part[0]))
            if _LIVED.search(part[0]) or (of_itself and is_theirs(part[0])):
                found.append(Claim("borrowed", part.start(), sentence.end()))
                break
    return found


def contradicted(reply: str, facts: Iterable[str], names: Iterable[str]) -> list[Claim]:
    """Where sentences begin to say something of a person that conflicts with one of the `facts` about them."""
    own, facts = {name.casefold() for name in names}, list(facts)
    found = []
    for part in (part for one in _SENTENCE.finditer(reply) for part in _PART.finditer(reply, *one.span())):
        first, _, rest = part[0].strip().rstrip(ENDS + ",;").partition(" ")
        subject = _SUBJECT.match(first)
        claim = rest if subject or first.casefold() in own else f"{first} {rest}"
        said = {relate(fact, f"is {claim}" if subject and subject["be"] else claim) for fact in facts}
        if Relation.CONFLICT in said and Relation.DUPLICATE not in said and "?" not in part[0]:
            found.append(Claim("contradicted", *part.span()))
    return found


def never_said(reply: str, own: Iterable[str]) -> list[Claim]:
    """The sentences that tell the asker what they said, of which none of their own lines and notes has half."""
    rows = _Rows(row for text in own for row in text.splitlines())
    found: list[Claim] = []
    for sentence in _SENTENCE.finditer(reply):
        if found and found[-1].end == sentence.start() and sentence[0][0] in _QUOTES:
            found.append(Claim("past", *sentence.span()))  # the end of a question that is quoted
            continue
        told = telling_stems(sentence[0], 2) - _SMALL_TALK - _TOLD if _YOU_SAID.search(sentence[0]) else frozenset()
        if told and rows.most(told) * 2 < len(told):
            found.append(Claim("past", *sentence.span()))
    return found


def repeated(reply: str, before: Iterable[str], facts: Mapping[int, str], asked: str) -> list[Claim]:
    """The sentences said `before` word for word that use no note and answer nothing that was `asked`."""
    said = [words(sentence) for text in before for sentence in sentences_of(text)]
    return [
        Claim("repeated", *sentence.span())
        for sentence in _SENTENCE.finditer(reply)
        if len(spoken := words(sentence[0])) >= SHORTEST_REPEATED
        and any(spoken == one[-len(spoken) :] for one in said)
        and not used_notes(sentence[0], facts)
        and not telling_stems(sentence[0]) & telling_stems(asked)
        and not (_ADMITS.search(sentence[0]) and len(spoken) <= LONGEST_ADMISSION)
    ]


def asks_back(reply: str) -> bool:
    """Whether a reply is nothing but questions."""
    return not _stated(reply)


def _stated(reply: str) -> list[str]:
    return [sentence[0] for sentence in _SENTENCE.finditer(reply) if "?" not in sentence[0]]


def says_nothing(reply: str, asked: str) -> bool:
    """Whether a reply only asks back or makes small talk. "I don't know" says something."""
    stated = _stated(reply)
    return not any(
        _ADMITS.search(text) or telling_stems(text, 2) - telling_stems(asked, 2) - _SMALL_TALK for text in stated
    )


def unsupported(reply: str, sources: Iterable[str], known: Iterable[str] = ()) -> list[Claim]:
    """What of the reply nothing supports. `sources`: the data of its prompt; `known`: names that need no row."""
    text = "\n".join(sources).casefold()
    have = {stem(word) for word in words(text)} | {stem(word) for name in known for word in words(name)}
    found = [Claim("name", *one.span()) for one in _NAME.finditer(reply) if not _is_known(one[0], have)]
    found += [Claim("number", *one.span()) for one in _NUMBER.finditer(reply) if not _is_told(one[0], text, have)]
    for sentence in _SENTENCE.finditer(reply):
        if (past := _PAST.search(sentence[0])) is not None:
            rest = telling_stems(sentence[0], 2) - telling_stems(past[0], 2)
            # a past is believed where half of what is said of it stands in a row
            if not rest or len(rest & have) * 2 < len(rest):
                found.append(Claim("past", sentence.start() + past.start(), sentence.start() + past.end()))
    return sorted(found, key=lambda one: one.start)


def _is_known(name: str, have: set[str]) -> bool:
    return all(stem(word) in have or word in STOPWORDS for word in words(name))


def _is_told(number: str, text: str, have: set[str]) -> bool:
    bare = number.rstrip(".,:%")
    return re.search(rf"(?<!\d){re.escape(bare)}(?!\d)", text) is not None or _NUMBER_WORDS.get(bare) in have


def without_unsupported(reply: str, claims: Iterable[Claim]) -> str:
    """The reply with each sentence that holds such a claim cut before the part that does; empty if none is left."""
    at = [one.start for one in claims]
    kept: list[str] = []
    for sentence in _SENTENCE.finditer(reply):
        parts = _PART.finditer(reply, *sentence.span())
        cut = next((part.start() for part in parts if any(part.start() <= one < part.end() for one in at)), None)
        before = sentence[0] if cut is None else reply[sentence.start() : cut].rstrip(" ,;–—")
        if not kept and sentence.start():
            before = _LEFT_OVER.sub(lambda first: first[1].upper(), before)
        if before:
            kept.append(before if cut is None else f"{before}. ")
    return "".join(kept).strip()
