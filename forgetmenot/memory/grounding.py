"""Whether the chat that a model read supports what it wrote. Pure.

A statement is held against the lines of the person it names first: their own, and, for less, those they answered and
those that name them. It is refused, with the name of the rule, where

- a number in it was said by nobody, or not near that person ("number"),
- a name in it stands in no line ("name"),
- it denies what nobody there denied, or the line that supports it best denies it or only wishes for it ("sense"),
- too few of its words were said by them, or another person said clearly more of them ("words"),
- it names nobody, and one viewer alone said words of it ("alone"),
- most of it are words of our own instructions that stand in no line ("echo"),
- a note's speaker only asked for it ("asked"), or says it of a relative or friend ("about").

A fact about the channel has to be supported by the streamer, a moderator, an event or the title, or by three people
("channel").

Reads words, not meaning: a paraphrase that shares no word is refused, and an invention made of somebody's own words
passes. tests/memory/test_grounding.py has the rates.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forgetmenot.text.caches import text_cache
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.words import STOPWORDS, stem, words

SUPPORTED = 1 / 3
"""The share of a statement's words that has to be supported; chosen on the `dev` half of tests/data/grounding.jsonl."""
NEARBY = 0.3
"""What a word counts that only stands in a line next to the person's own."""
REACH = 6
"""So many words after a negation, in the same part of a sentence, are denied by it."""
WITNESSES = 3
"""So many people who say the same make it a fact about the channel."""
CLEARLY = 0.6
"""The share of a fact's words that a line must have for its writer to be taken for the speaker unasked."""
MOST_TRIED = 5
"""So many people are looked at as the speaker: each takes milliseconds where chat is fast."""

_NUMBER_NAMES = """\
    zero null cero zéro; eins; two twice zwei zweimal dos deux due dois iki два две; three third thrice drei dritte
    tres trois tre três üç три trzy; four fourth vier vierte cuatro quatre quattro quatro dört четыре cztery; five
    fifth fünf cinco cinq cinque beş пять pięć; six sixth sechs seis altı шесть sześć; seven seventh sieben siete
    sept sette sete yedi семь siedem; eight eighth acht ocho huit otto oito sekiz восемь osiem; nine ninth neun
    nueve neuf nove dokuz девять dziewięć; ten tenth zehn diez dix dieci dez десять dziesięć; eleven elf onze
    undici; twelve zwölf doce douze dodici doze; thirteen; fourteen; fifteen; sixteen; seventeen; eighteen;
    nineteen; twenty zwanzig veinte"""
_NUMBER_WORDS = {name: str(value) for value, names in enumerate(_NUMBER_NAMES.split(";")) for name in words(names)}
_PART = re.compile(r"[,.;:!?]|\b(?:but|only|aber|sondern|pero|mais|mas|ma)\b")
_NUMBER = re.compile(r"\d+(?:[:.,]\d+)*")
_NOT = frozenset(
    words(
        """not no never none nobody nothing without cannot cant dont doesnt didnt isnt wasnt arent werent wont wouldnt
        couldnt shouldnt hasnt havent hadnt aint neither nor hates hate dislikes failed fails refuses nope nicht nie
        kein keine keinen keiner niemand ohne nichts nunca
        sin ningún ninguna nadie pas jamais sans aucun personne não sem
        ninguém non mai senza niente nessuno nie bez nigdy nikt değil yok hiç не нет без никогда никто"""
    )
)
_WISH = frozenset(
    words(
        """want wants wanted wanna wish wishes hope hopes would might maybe could should gonna going will plan plans if
        möchte will würde vielleicht quiero quisiera ojalá quizás voudrais peut-être quero vorrei forse chcę может хочу
        belki istiyorum"""
    )
)
_FIRST_PERSON = frozenset(
    words(
        """I I'm I've I'd my me mine we our us ich mein meine meinen meiner mir mich wir unser yo mi mis soy tengo vivo
        nosotros je j'ai mon mes moi nous eu meu minha tenho nós io mio mia miei sono jestem mam mój moja benim bizim
        я мой моя моё меня мне мы наш"""
    )
)
_PLAIN = STOPWORDS | frozenset(
    words(
        """something anything everything others many several times say says said tell tells told mention mentions
        mentioned ask asks asked talk talks talked call calls called
        name named names still so own owns person people thing things use uses used using make makes made viewer viewers
        der die das und ist hat war ein eine einen im in am zu mit von auf für el la los las un una de del y es en que
        se lo le les des et est une au aux o os as um e ao da do na il gli di che è i bir ve bu"""
    )
)
_STREAMER = re.compile(r"\b(?:streamer|broadcaster|streamerin|yayıncı|стример)\b|配信者|스트리머", re.IGNORECASE)
_CLAUSE = re.compile(
    rf"(?:[,;]|\b(?:and|but|while|by|und|aber|y|et|e|i|и|ve)\b)\s+"
    rf"(?=(?:the |der |el |le |o |il )?(?:{MENTION.pattern}|streamer\b)(?!['’]))"
)
_EMPTY = re.compile(r"\b(?:is|are|was|were) (?:an? )?(?:\w+ )?(?:viewers?|participants?|chatters?)\W*$", re.IGNORECASE)
"""It says nothing that could be supported."""
_NAMES = re.compile(r"(?<=[^\W\d_] )[A-ZÄÖÜÉ][\w’'-]{2,}(?: [A-ZÄÖÜÉ][\w’'-]+)*")


_LEAD = r"^(?:\W*(?:and|but|so|wait|ok|oh|hey|no|yes|yeah|well|lol|<@\S+>)(?=\W))*\W*"
_ASKS = re.compile(
    rf"\?|{_LEAD}(?:(?:what|when|where|who|why|how|which)(?:['’]?[sd])?\b(?! (?:an?|i|we|my)\b)"
    r"|(?:is|are|do|does|did|can|could|will|would|should|was|were|have|has|any) (?:you|u|ya|i|we|they|he|she|it|this"
    r"|that|there|the|your|my|any\w+|some\w+|one|body|<@\S+>)\b)",
    re.IGNORECASE,
)
_KIN = re.compile(
    rf"{_LEAD}(?:my|our|meine?|mi|mon|ma|meu|minha|mi[oa]|mój|moja|мо[йя]|benim)? ?(?:\w+ )?"
    r"(brother|sister|mom|mum|mother|dad|father|parents|wife|husband|partner|girlfriend|boyfriend|gf|bf|fiancee?|friends?"
    r"|son|daughter|kids?|uncle|aunt|cousin|nephew|niece|gran|grand(?:ma|pa|mother|father)|roommate|flatmate|neighbou?r"
    r"|boss|coworker|colleague|teacher|buddy|bruder|schwester|mutter|vater|opa|oma|freund(?:in)?|herman[oa]|madre|padre"
    r"|abuel[oa]|amig[oa]|frère|sœur|soeur|mère|père|ami|irmão|irmã|mãe|pai|avô|fratello|sorella|nonn[oa]|brat|siostra"
    r"|mama|tata|брат|сестра|мама|папа|отец|дед|бабушка|друг|abim|ablam|babam|annem|dedem|kardeşim)\b",
    re.IGNORECASE,
)
"""A line whose subject is somebody of the speaker's family or friends."""


class Said(NamedTuple):
    """One line of chat with mentions in the place of names. `official`: it speaks for the channel (streamer, event)."""

    speaker: str
    text: str
    official: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    speaker: str
    words: frozenset[str]
    numbers: frozenset[str]
    named: frozenset[str]
    denied: frozenset[str]
    wished: frozenset[str]
    kin: str
    asks: bool
    official: bool


class Evidence:
    """The lines that a model read, ready to be asked about. `streamer`: who is meant by that word."""

    def __init__(self, lines: Iterable[Said | _Line], streamer: str | None = None) -> None:
        self._lines = [_line(line) if isinstance(line, Said) else line for line in lines]
        self._streamer = streamer
        self._known: dict[str, dict[str, float]] = {}
        self._vocabulary = frozenset[str]().union(*(line.words for line in self._lines))

    def sentence_fault(self, sentence: str, instructions: frozenset[str] = frozenset()) -> str | None:
        """The rule that refuses a sentence of a summary, or None. `instructions`: the stems of our own prompt."""
        unheard = [word for word in _content(sentence) if not self._matches(word)]
        if len(unheard) > 1 and 2 * sum(stem(word) in instructions for word in unheard) > len(_content(sentence)):
            return "echo"
        if _EMPTY.search(sentence):
            return "words"
        clauses: list[tuple[str, frozenset[str]]] = []
        also: frozenset[str] = frozenset()
        for clause in _CLAUSE.sub("\n", sentence).split("\n"):
            who = also | self._named_first(clause)
            also = frozenset() if _content(clause) else who  # "P1 and P2 moved": both said it
            clauses.append((clause, who))
        alone = self._said_by_one(sentence) if not any(who for _, who in clauses) else False
        return self._fault(clauses, sentence) or ("alone" if alone else None)

    def _said_by_one(self, sentence: str) -> bool:
        """Whether one viewer alone said words of a sentence: what names nobody is to be about the channel or a game."""
        content = _content(sentence)
        said_by = {line for line in self._lines if any(self._match_words(word, line.words) for word in content)}
        return len({line.speaker for line in said_by}) == 1 and not any(line.official for line in said_by)

    def note_fault(self, fact: str, speaker: str | None) -> str | None:
        """The rule that refuses a fact about somebody that `speaker` stated (None: that anybody did), or None."""
        if not _content(fact) and not numbers(fact):
            return "words"  # "is a viewer": it says nothing that could be supported
        fault = self._fault([(fact, frozenset() if speaker is None else frozenset({speaker}))], fact)
        return self._own_fault(fact, speaker) if fault is None and speaker is not None else fault

    def speaker_of(self, fact: str, subject: str) -> str | None:
        """Who said a fact about `subject`: they, in a line of their own in the first person, or who names them.

        Nobody whose line has less than CLEARLY of its words, or names anybody else, and nobody who said its numbers in
        no line of theirs: what others said next to it is not theirs.
        """
        content, named = _content(fact), frozenset(MENTION.findall(fact))
        found: dict[str, None] = {}
        # their own lines first: who names somebody else only reports
        for own in (True, False) if content else ():
            for line in self._lines:
                told = line.words & _FIRST_PERSON if own else subject in line.named
                if (
                    (line.speaker == subject) is own
                    and told
                    and line.speaker not in found
                    and line.named <= named | {subject}
                    and sum(self._match_words(word, line.words) for word in content) >= CLEARLY * len(content)
                ):
                    found[line.speaker] = None
        tried = list(found)[:MOST_TRIED]
        return next((who for who in tried if self._counted(fact, who) and self.note_fault(fact, who) is None), None)

    def _counted(self, fact: str, speaker: str) -> bool:
        """Whether they themselves said every number in a fact."""
        own = (line.numbers for line in self._lines if line.speaker == speaker)
        return numbers(fact) <= frozenset[str]().union(*own)

    def channel_fault(self, fact: str) -> str | None:
        """The rule that refuses a fact about the channel: "channel" where nobody who may said it."""
        if self.is_official(fact):
            return None
        speakers = dict.fromkeys(line.speaker for line in self._lines)
        witnesses = sum(self.note_fault(fact, speaker) is None for speaker in speakers)
        return None if witnesses >= WITNESSES else "channel"

    def is_official(self, fact: str) -> bool:
        """Whether the streamer, a moderator, an event or the title says a fact about the channel.

        In one line: of the words of many anything can be made.
        """
        lines, content = [line for line in self._lines if line.official], _content(fact)
        best = max((sum(self._match_words(word, line.words) for word in content) for line in lines), default=0.0)
        return best >= CLEARLY * len(content) and Evidence(lines, self._streamer).note_fault(fact, None) is None

    def _named_first(self, text: str) -> frozenset[str]:
        mention, streamer = MENTION.search(text), _STREAMER.search(text)
        if mention and (not streamer or mention.start() < streamer.start()):
            return frozenset({mention[1]})
        return frozenset({self._streamer}) if streamer and self._streamer is not None else frozenset()

    def _fault(self, clauses: Sequence[tuple[str, frozenset[str]]], whole: str) -> str | None:
        if not self._lines:
            return "words"
        support = total = 0.0
        for text, who in clauses:
            content = _content(text)
            own = [at for at, line in enumerate(self._lines) if not who or line.speaker in who]
            near = self._context(who, own) if who else []
            if numbers(text) - frozenset[str]().union(*(self._lines[at].numbers for at in (*own, *near))):
                return "number"
            if fault := self._sense_fault(text, content, own, near):
                return fault
            support += self._support(content, own, near, who)
            total += len(content)
        if self._has_unknown_name(whole):
            return "name"
        return "words" if total and support < SUPPORTED * total else None

    def _context(self, who: frozenset[str], own: Sequence[int]) -> list[int]:
        """The lines of others that somebody's lines follow, and those that name them."""
        theirs = set(own)
        return [
            at
            for at, line in enumerate(self._lines)
            if at not in theirs and (at + 1 in theirs or not who.isdisjoint(line.named))
        ]

    def _support(self, content: Sequence[str], own: Sequence[int], near: Sequence[int], who: frozenset[str]) -> float:
        support = sum(max(self._match(word, own), NEARBY * self._match(word, near)) for word in content)
        if not who:
            return support
        others: dict[str, list[int]] = {}
        for at, line in enumerate(self._lines):
            if line.speaker not in who:
                others.setdefault(line.speaker, []).append(at)
        most = max((sum(self._match(word, theirs) for word in content) for theirs in others.values()), default=0.0)
        # what another person said clearly more of is likely theirs
        return support - max(0.0, most - sum(max(self._match(word, own), self._match(word, near)) for word in content))

    def _match(self, word: str, lines: Iterable[int]) -> float:
        known = self._matches(word)
        return max((known[other] for at in lines for other in known if other in self._lines[at].words), default=0.0)

    def _match_words(self, word: str, others: frozenset[str]) -> float:
        known = self._matches(word)
        return max((known[other] for other in others if other in known), default=0.0)

    def _matches(self, word: str) -> dict[str, float]:
        found = self._known.get(word)
        if found is None:
            # `alike` is costly, and words that begin differently are none
            scores = ((other, alike(word, other)) for other in self._vocabulary if other[:2] == word[:2])
            found = self._known[word] = {other: score for other, score in scores if score}
        return found

    def _sense_fault(self, text: str, content: Sequence[str], own: Sequence[int], near: Sequence[int]) -> str | None:
        if not content or not own:
            return None
        best = max(own, key=lambda at: sum(self._match(word, [at]) for word in content))
        line, stated = self._lines[best], frozenset(words(text))
        if stated & _NOT and not any(self._lines[at].words & _NOT for at in (*own, *near)):
            return "sense"
        # a line with less than half of the words is about something else, and so are its "not" and "want"
        if sum(self._match(word, [best]) for word in content) < len(content) / 2:
            return None
        heard = [word for word in content if self._match(word, [best])]
        if not stated & _NOT and heard and all(self._match_words(word, line.denied) for word in heard):
            return "sense"
        if not stated & _WISH and heard and all(self._match_words(word, line.wished) for word in heard):
            return "sense"
        return None

    def _own_fault(self, fact: str, speaker: str) -> str | None:
        """What refuses a fact about its speaker whose lines only ask for it or say it of their family and friends."""
        content = _content(fact)
        shares = [(sum(self._match_words(word, line.words) for word in content), line) for line in self._lines]
        shares = [(share, line) for share, line in shares if share and line.speaker == speaker]
        best = [line for share, line in shares if share == max(share for share, _ in shares)]
        if best and all(line.asks for line in best):
            return "asked"
        return "about" if best and all(line.kin and line.kin not in fact.lower() for line in best) else None

    def _has_unknown_name(self, text: str) -> bool:
        every = range(len(self._lines))
        return any(
            not any(self._match(word, every) for word in words(names) if word not in _PLAIN)
            for names in _NAMES.findall(text)
        )


def _line(said: Said) -> _Line:
    found = words(said.text)
    named = frozenset(MENTION.findall(said.text))
    parts = [words(part) for part in _PART.split(said.text)]
    denied = frozenset(
        word
        for part in parts
        for at, other in enumerate(part)
        if other in _NOT
        for word in part[at + 1 : at + 1 + REACH]
    )
    return _Line(
        speaker=said.speaker,
        words=frozenset(found),
        numbers=numbers(said.text),
        named=named,
        denied=denied,
        wished=frozenset(word for part in parts if not _WISH.isdisjoint(part) for word in part),
        kin=kin[1].lower() if (kin := _KIN.search(said.text)) else "",
        asks=_ASKS.search(said.text) is not None,
        official=said.official,
    )


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, as digits; of number words those up to twenty."""
    bare = MENTION.sub(" ", text)
    named = {_NUMBER_WORDS[word] for word in words(bare) if word in _NUMBER_WORDS}
    return frozenset(_NUMBER.findall(bare)) | named


def _content(text: str) -> list[str]:
    return [
        word
        for word in words(_STREAMER.sub(" ", text))
        if word not in _PLAIN and word not in _NUMBER_WORDS and not word.isdigit() and word[0] != "<"
        if len(word) > 2 or not word.isascii()
    ]


@text_cache(65_536)
def alike(one: str, other: str) -> float:
    """How sure it is that two words are forms of one: 1 for the same stem, 0 for different words."""
    if one == other or stem(one) == stem(other):
        return 1.0
    if one.isdigit() or other.isdigit():
        return 0.0
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return 0.9 if same >= 4 and same >= 0.6 * max(len(one), len(other)) else 0.0
