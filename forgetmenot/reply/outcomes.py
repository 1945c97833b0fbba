"""How chat took a reply, read from the few lines after it; and what of its prompt it used. Pure.

    corrected  somebody says that it is wrong
    liked      a laugh, thanks or praise for it
    went_on    the talk goes on from it
    ignored    nobody reacts to it

Guarantees: the same lines give the same outcome; a line to somebody else counts for nothing; of two the first in the
list above wins. Nothing of the lines is kept. What a person says outright (deleted, thumbs, `!good`, `!bad`) is
recorded elsewhere and outranks what is read here.

Of a reply's claims names, numbers and tales of a shared past ("last time") are looked at, and what is said about people
who were asked about: everything else is talk. A word that the prompt's data has in any form supports itself; the bot's
instructions support nothing. What is asked and admitted is read in English alone.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from forgetmenot.text.words import STOPWORDS, stem, words

LINES_READ = 4
"""So many lines after a reply may be about it; after that chat has gone on."""
SHORT = 5


class Outcome(StrEnum):
    """What became of a reply in chat; the code that its row keeps."""

    CORRECTED = "corrected"
    LIKED = "liked"
    WENT_ON = "went_on"
    IGNORED = "ignored"
    DELETED = "deleted"  # by a moderator
    GOOD = "good"  # thumbs in the dock, `!good`
    BAD = "bad"


SAID_OUTRIGHT = frozenset((Outcome.DELETED, Outcome.GOOD, Outcome.BAD))


class LineAfter(NamedTuple):
    """A line of chat after a reply: who said it (a name), and what."""

    who: str
    text: str


_NO = (
    r"nope|nah|naw|nein|non|não|neither|wrong|false|faux|falsch|falso|errado|mentira|incorrect|negative|cap|lies"
    r"|liar|нет|неа"
    r"|неправда|неверно|yanlış|nie|nee|sbagliato"
)
_WRONG = re.compile(
    rf"(?:\A\W*|^(?:\w+ ){{1,2}})(?:{_NO})\b"
    r"|(?:\A\W*(?:\w+ )?|[?!.,] )no(?=\W*\Z|[,.!?]|\s+(?:it|that|he|she|they|i|you|we|its|this|his|her|my|thats|not"
    r"|the)\b)"
    r"|\b(?:that['’]?s|thats|it['’]?s|its|you['’]?re|ur|u are|was|is|got (?:it|that|this|me)) "
    r"(?:so |all |totally |just |also |still )?(?:wrong|not (?:right|true|correct|it|what|how|me|my|mine)|incorrect"
    r"|a lie|cap|outdated|old|off)\b"
    r"|\b(?:i|we|he|she|they|it|that|you|there|mine|\w+) (?:never|didn['’]?t|don['’]?t|doesn['’]?t|do not|did not"
    r"|does not"
    r"|haven['’]?t|hasn['’]?t|wasn['’]?t|weren['’]?t|isn['’]?t|ain['’]?t|aren['’]?t|am not|is not|was not"
    r"|have never|no longer)\b"
    r"|\bi['’](?:m|ve) (?:not|never)\b|\bi do actually\b|\bi (?:said|meant|wish)\b|\bnever (?:said|happened|heard)\b"
    r"|\bsince when\b|\bmixed (?:\w+ )?up\b|\bmix(?:ing)? (?:\w+ )?up\b|\bconfus(?:ed|ing)\b|\bmade (?:that"
    r"|it) up\b|\bmaking (?:things|stuff) up\b"
    r"|\bhallucinat\w+|\bwrong \w+\b|\b(?:bad|broken|drunk|stupid|dumb) bot\b|\bbot (?:is )?(?:broken|drunk|wrong"
    r"|lying|tripping|lost it)\b"
    r"|\btry again\b|\bcheck again\b|\byou mean\b|\bmore like\b|\bget it right\b|\b(?:but|so) close\b|\balmost\W*\Z"
    r"|\bclose\W*\Z"
    r"|\banymore\b|\bnot any ?more\b|\bused to\b|\bsold it\b|\bcancel+ed\b|\bquit (?:that|it|last|in)\b"
    r"|\bthe opposite\b"
    r"|\bcorrection\b|\bsmh\b|\bfyi\b|\brude\b|\bhuh\?|\bwdym\b|\bwhat are you (?:on|talking)|\bwho told you\b"
    r"|\bsays who\b"
    r"|\bdon['’]?t rob me\b|\binstead\b"
    r"|\bnot (?!again|yet|sure|bad|really|now|today|much|long|far)(?:the |a |an |my )?[\w%]+\W*\Z|\?\?(?!\w)"
    r"|\bthough\Z|\w\*+\Z|\bdifferent \w+\b"
    r"|\A\W*(?:er|uh|um|hm+|ehm?|well|actually|akshually)\W+(?:it|that|i|he|she|its|he['’]s|she['’]s|i['’]m)\b"
    r"|\bactually\b"
    r"|\bstimmt (?:so )?nicht\b|\bnicht\b|\bgar kein|\bdoch\W*\Z|\bque no\b|\beso no\b|\bno es\b|\bjamais\b"
    r"|\bne \w+ pas\b|\bpas (?:vrai|du tout)\b"
    r"|\bc['’]est pas\b|\bnon è\b|\bnão (?:é|foi|sou)\b|\bне\b|\bникогда\b|違う|ちがう|じゃない|아니|不是|错",
    re.IGNORECASE,
)
_LAUGH = re.compile(
    r"\b(?:lo+l+|lul+|lulw|lmf?ao+|ro+fl|omegalul|omg|kekw?|kek|xd+|icant|pf{2,}|(?:ha){2,}h?|(?:he){2,}|(?:ah){2,}"
    r"|(?:hi){3,}"
    r"|a?(?:ja){2,}j?|(?:je){2,}|k{4,}|rs(?:rs)+|а?(?:ха){2,}х?|а(?:ха)+х*|mdr+|ptdr|wheezing|dead|crying|dying"
    r"|good one|got me"
    r"|funny|hilarious|called out|exposed|savage|brutal|roasted|ouch|burn|rekt|destroyed|comedy|im done|i can['’]?t)\b"
    r"|[😂🤣💀😭😆😹😅☠]|(?<!\w)w{3,}\b|草|笑|ㅋㅋ|55{2,}",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\b(?:t(?:h)?a?nks?|thank (?:you|u)|thx+|(?:ty)+y*|tysm|tyvm|cheers|appreciate\w*|merci|danke|gracias"
    r"|obrigad[oa]|valeu|спасибо|спс"
    r"|grazie|tack|arigato|teşekkür\w*|dzięki|(?:good|best|smart|great|nice|cute|sweet|clever) (?:bot|one|memory"
    r"|job|call|catch|tip)"
    r"|bless|big brain|life ?saver|the best|u rock|you rock|love (?:it|this|that|you|u)|legend|king|queen|wow"
    r"|impressive|well played"
    r"|it remembers|it remembered|remembered|pog(?:gers|champ|gies)?|genius|goat(?:ed)?|based|clutch|(?:that"
    r"|it) worked|helpful|perfect"
    r"|aw+|adorable|wholesome|so sweet)\b|<3|❤|🙏|👍|🫶|💜|ありがと|감사|谢谢",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"\A\W*(?:yes|yeah|yea|yep|yup|ya|ok|okay|sure|right|true|same|exactly|indeed|oh|ah|hm+|why|how|what|which|who"
    r"|when|where|really"
    r"|maybe|not yet|nobody|noone|still|already|i['’]?ll|will do|on it|sí|si|oui|ja|да|sim|also|and|but|or|too"
    r"|for how|is it|does it"
    r"|did|it|he|she|they|that|there['’]?s|il|elle|él)\b",
    re.IGNORECASE,
)
_OFF_TOPIC = re.compile(
    r"\b(?:brb|gm|gn|bathroom|doorbell|dono|follower|subs?\b|gifted|dinner|trailer|my mic|mic is|anyway|o7|afk|dm)\b"
    r"|\b(?:hi+|hello|hey) (?:all|chat|everyone)\b",
    re.IGNORECASE,
)
_SOMEBODY_ELSE = re.compile(r"\bthat(?:['’]?s| was) (?:not )?(\w+)", re.IGNORECASE)
_ASKS_ALL = re.compile(r"\b(?:anyone|anybody|everyone|everybody|chat|guys|y['’]?all)\b", re.IGNORECASE)
_KINDS = (
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE),
    re.compile(
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b", re.IGNORECASE
    ),
    re.compile(r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|third|fourth|fifth)\b", re.IGNORECASE),
)


def outcome_of(
    reply: str, lines: Sequence[LineAfter], *, people: Collection[str] = (), bot: Collection[str] = ()
) -> Outcome:
    """How chat took a reply. `people`: the names of those in chat; `bot`: the bot's own."""
    names = {name.casefold() for name in (*people, *(line.who for line in lines))}
    names |= {name.casefold() for line in lines for name in re.findall(r"@(\w+)", line.text)}
    own = {"bot", *(name.casefold() for name in bot)}
    read = lines[:LINES_READ]
    first = read[0].who if read else ""
    found = {
        _of_line(reply, line, names - own, own, first=place == 0, near=line.who == first)
        for place, line in enumerate(read)
    }
    ranked = (Outcome.CORRECTED, Outcome.LIKED, Outcome.WENT_ON)
    return next((outcome for outcome in ranked if outcome in found), Outcome.IGNORED)


def _of_line(
    reply: str, line: LineAfter, names: Collection[str], own: Collection[str], *, first: bool, near: bool
) -> Outcome:
    spoken, replied = ({word.casefold() for word in re.findall(r"\w+", text)} for text in (line.text, reply))
    to_bot = not spoken.isdisjoint(own)
    others = (spoken & set(names)) - replied - {line.who.casefold()}
    related = to_bot or bool(_telling(reply) & _telling(line.text))
    meant = _SOMEBODY_ELSE.search(line.text)
    if near and meant is not None and meant[1].casefold() in others:
        return Outcome.CORRECTED
    if others and not related:
        return Outcome.IGNORED
    if (near or related) and _is_correction(reply, line.text):
        return Outcome.CORRECTED
    if others and not to_bot:
        return Outcome.WENT_ON if first else Outcome.IGNORED
    if _OFF_TOPIC.search(line.text) and not related:
        return Outcome.IGNORED
    if (near or related) and (_LAUGH.search(line.text) or _THANKS.search(line.text)):
        return Outcome.LIKED
    asks = line.text.rstrip().endswith("?") and not _ASKS_ALL.search(line.text)
    answers = first and (asks or bool(_AGREES.search(line.text)) or reply.rstrip().endswith("?"))
    return Outcome.WENT_ON if related or answers else Outcome.IGNORED


def _is_correction(reply: str, text: str) -> bool:
    if reply.rstrip().endswith("?"):
        return False  # "no" is then an answer
    if _WRONG.search(text):
        return True
    return len(text.split()) <= SHORT and any(_other_value(kind, reply, text) for kind in _KINDS)


def _other_value(kind: re.Pattern[str], reply: str, text: str) -> bool:
    """Whether a short line names another weekday, month or number than the reply."""
    spoken, replied = ({value.casefold() for value in kind.findall(side)} for side in (text, reply))
    return bool(spoken and replied) and spoken.isdisjoint(replied)


def _telling(text: str, shortest: int = 3) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOPWORDS and len(word) >= shortest}


# ── use and support ─────────────────────────────────────────────────────────────────────────

ONE_IN = 3
"""So large a share of a note's telling words makes it used: one word is enough for a note that has three."""
_NUMBER = re.compile(r"(?<!\w)\d[\d.,:]*(?:%|\b)")
_NAME = re.compile(r"(?<![.!?…]\s)(?<!\A)(?<![\"“(])\b[A-Z][a-z]{2,}(?:\s[A-Z][a-z]{2,})*\b")
_PAST = re.compile(
    r"\b(?:last (?:time|week|stream|month|night|year)|yesterday|the other (?:day|night)|remember (?:when|that time"
    r"|how)|you (?:told|promised)"
    r" (?:me|us)|you said|like (?:you|we) (?:always|did)|as (?:always|usual)|back when|we (?:once|talked|met"
    r"|played))\b",
    re.IGNORECASE,
)
_PART = re.compile(r"[^,;–—]+(?:[,;–—]+\s*|\Z)?")
_SENTENCE = re.compile(r"[^.!?…]+(?:[.!?…]+|\Z)\s*")
_SHOWN = re.compile(r"\[id:(\d+)[^\[\]\n]*\]\s*(.*?)\s*$", re.MULTILINE)
_NUMBER_WORDS = {
    str(number): word
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}


_ASKS = re.compile(
    r"\A\W*(?:so |and |but |hey |yo )*"
    r"(?:what|where|when|who|whose|which|why|how|is|are|was|were|do|does|did|has|have|had)(?:['’]?s)?\b",
    re.IGNORECASE,
)
_OPINION = re.compile(r"\b(?:would|should|could|think|guess|better|rate|opinion)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_ADMITS = re.compile(
    r"\b(?:(?:do|does|did|can|could)(?:n['’]?t| ?not) (?:\w+ )?(?:know|remember|recall|have|say|tell|see|find)"
    r"|(?:not|never|n['’]t) (?:sure|told|mentioned|said|heard)|no (?:idea|clue|note|notes|memory|record|info\w*)"
    r"|nothing (?:about|on|of)|unsure|unknown)\b",
    re.IGNORECASE,
)
_SMALL_TALK = frozenset(
    stem(word)
    for word in words(
        """remember recall know think glad ask asked sure hello help here fun nice great love cool sorry oh ah hi hey
        welcome happy tell told note notes let see guess maybe good thanks question yes no yeah"""
    )
)
HALF = 0.5
"""So large a share of a sentence's own words must stand in what is known about the people whom it was asked about."""


class Claim(NamedTuple):
    """Words of a reply that no row supports: what kind, and where they stand in its text."""

    kind: str
    start: int
    end: int


def facts_in(section: str) -> dict[int, str]:
    """The notes that a section of a prompt shows, by their ids."""
    return {int(found[1]): found[2] for found in _SHOWN.finditer(section)}


def used_notes(reply: str, facts: Mapping[int, str], asked: str = "") -> list[int]:
    """The ids of the notes that the reply tells of, beyond the words that the question had already."""
    said = _telling(reply, 2)
    fresh = said - _telling(asked, 2)
    used = []
    for note_id, fact in facts.items():
        telling = _telling(fact, 2)
        shared = telling & said
        if shared & fresh and ONE_IN * len(shared) >= len(telling):
            used.append(note_id)
    return used


def asks_memory(question: str, *, names_somebody: bool) -> bool:
    """Whether a question asks for what is remembered: of a person it names, of its speaker, of a shared past."""
    about = names_somebody or _OWN.search(question) or _PAST.search(question)
    return bool(about and _ASKS.search(question) and not _OPINION.search(question))


def unfounded(reply: str, asked: str, known: Iterable[str]) -> list[Claim]:
    """Where sentences that answer a question about somebody begin to say what is not `known` about them."""
    have = _telling("\n".join(known), 2)
    given = _telling(asked, 2) | _SMALL_TALK
    found = []
    for sentence in _SENTENCE.finditer(reply):
        if not _ADMITS.search(sentence[0]):
            for part in _PART.finditer(reply, *sentence.span()):
                own = _telling(part[0], 2) - given
                if own and len(own & have) < HALF * len(own):
                    found.append(Claim("fact", part.start(), sentence.end()))
                    break
    return found


def says_nothing(reply: str, asked: str) -> bool:
    """Whether a reply only asks back or makes small talk."""
    stated = [sentence[0] for sentence in _SENTENCE.finditer(reply) if "?" not in sentence[0]]
    return not any(_ADMITS.search(text) or _telling(text, 2) - _telling(asked, 2) - _SMALL_TALK for text in stated)


def unsupported(reply: str, sources: Iterable[str], known: Iterable[str] = ()) -> list[Claim]:
    """What of the reply nothing supports. `sources`: the data of its prompt; `known`: names that need no row."""
    text = "\n".join(sources).casefold()
    have = {stem(word) for word in words(text)} | {stem(word) for name in known for word in words(name)}
    found = [Claim("name", *one.span()) for one in _NAME.finditer(reply) if not _is_known(one[0], have)]
    found += [Claim("number", *one.span()) for one in _NUMBER.finditer(reply) if not _is_told(one[0], text, have)]
    for sentence in _SENTENCE.finditer(reply):
        if (past := _PAST.search(sentence[0])) is not None:
            rest = _telling(sentence[0], 2) - _telling(past[0], 2)
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
    at, kept = [one.start for one in claims], []
    for sentence in _SENTENCE.finditer(reply):
        parts = _PART.finditer(reply, *sentence.span())
        cut = next((part.start() for part in parts if any(part.start() <= one < part.end() for one in at)), None)
        before = sentence[0] if cut is None else reply[sentence.start() : cut].rstrip(" ,;–—")
        kept.append(before if cut is None or not before else f"{before}. ")
    return "".join(kept).strip()
