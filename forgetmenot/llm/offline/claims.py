"""What people say about themselves, picked out of a chat line and put into the third person. Pure.

Deliberately narrow: a sentence that is not clearly a lasting claim about the speaker gives nothing. Never more than
seven words of the line in a row: a summary does not quote.
"""

import re
from collections.abc import Iterator
from itertools import islice

from forgetmenot.text.grammar import about_them, plain_first_person, third

MOST_WORDS = 7
MOST_CLAUSES = 8
LONGEST_LEAD = 20  # characters before a clause that can make it a supposition
_SENTENCE = re.compile(r"[.!?;:]+(?:\s+|\Z)|\s+[-–—]+\s+|[()\"“”]")
_START = re.compile(r"(?:(?<=\s)|(?<=,)|\A)(?=(?:I|my|My)\s)")
_STOP = re.compile(
    r",|\s(?:so|but|because|since|if|when|while|which|though|although|cause|cuz|btw|lol|lmao|tho|haha|xd|unless|until)\b"
    r"|\sand\s(?=(?:I|my|our|he|she|it|we|you|they|the|that|there|this|can|could|will|would|am|have|now)\b)"
    r"|\s(?:you|your|y'all|ur|u)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|when|wish|thinks?|says?|said|whether|like|imagine|until|how|why|then|may|can|do|did|should|could|would|shall"
    r"|must|am|have|was|were|after|before|once)\s+\Z",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"\A(?:just|really|actually|also|literally|usually|mostly|currently|recently|finally|kinda|totally|even|basically|now)\s+",
    re.IGNORECASE,
)
_EMOTES = re.compile(
    r"(?:\s+(?:[a-z]{2,}[A-Z]\w*|KEK\w*|[A-Z]*LUL\w*|LMAO+|POG\w*|Pog\w*|Kappa\w*|Sadge|Pepe\w*|EZ|Clap|XD|BibleThump"
    r"|:\w*|<3|[^\w\s]+))+\Z"
)
_TRAILING = re.compile(
    r"(?:\s+(?:now|too|as well|btw|lol|haha|right now|actually|anyway|today i think|by the way|rn|here"
    r"|a|an|the|and|or|of|to|in|on|at|with|for|from|by|as|my|their|is|are|than|very|that))+\Z",
    re.IGNORECASE,
)
_LASTING_TEXT = """
    live work play moved own like love hate enjoy prefer adore dislike study studied speak collect started quit
    stopped finished graduated bought adopted married teach bake cook draw paint write sing stream drive main
    grew use drink eat run swim climb ski surf hike knit sew brew garden dance mod speedrun practice practise
    train build raised lived worked played learned learnt joined left broke became won travel commute race fly
    breed keep volunteer attend used make start"""
_LASTING = frozenset(_LASTING_TEXT.split())
_IS = re.compile(
    r"(?:an?\s(?!bit|little|lot|mess|moment|sec|fan of (?:this|that))|from\s|learning\s|studying\s"
    r"|working\s(?:as|on|at|in)\s|training\s|building\s|writing\s|saving\s|moving\s|married|engaged|allergic\s|left-handed|right-handed|vegan\b"
    r"|vegetarian\b|into\s|afraid\sof\s|terrified\sof\s|scared\sof\s|colou?rblind|bilingual"
    r"|called\s|based\sin\s|in\slove\s|\d{2}\b|getting\s(?:an?|my|our|married)\b|turning\s\d|half\s|originally\s|the\s(?:oldest|youngest)\s|not\sfrom\s|not\sa\s)"
)
_HAS = re.compile(
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|some|many)\s"
    r"(?!to\b|ideas?\b|questions?\b|feelings?\b|points?\b|good\b|great\b|nice\b|bad\b|lot\b|bit\b|few\b|clue\b|plan\b|problem)"
    r"|been\s(?:\w+ing|to|a|an)\b|\w+\s(?:practice|lessons|training|class|classes)?\s?(?:on|every)\s"
    r"|(?:moved|adopted|bought|quit|started|finished)\s"
)
_WANTS = re.compile(r"to\s(?:visit|learn|go|travel|move|become|be\sa|buy|get|try|play|start|build|make|study|see)\s")
_GOT = re.compile(r"(?:an?|my|the|two|three|\d+|married|engaged|promoted|accepted|into)\b")
_CAN = re.compile(r"(?:play|speak|sing|cook|drive|juggle|ride|read|draw|solve|do)\s")
_NOT = re.compile(r"\Anot\s+(?P<verb>\w+)\s?(?P<rest>.*)\Z")
_MINE = re.compile(
    r"\A[Mm]y\s(?P<what>(?:fav(?:ou?rite)?s?\s[\w' -]{2,25}?|(?:\w+\s){0,2}?(?:cat|dog|parrot|bird|rabbit"
    r"|hamster|horse|fish|snake|turtle|kitten|puppy|pet|wife|husband|partner|boyfriend|girlfriend|brother|sister|mum|mom|mother|dad|father|son"
    r"|daughter|kid|kids|twins?|grandma|grandpa|car|bike|van|truck|boat|job|main|band|team"
    r"|birthday|hometown|degree|cats|dogs|keyboard|setup|pc|guitar|business|company|shop|channel|dream)))\s(?P<verb>is|are|was|has|plays|works|lives)\s(?P<rest>.+)\Z"
)
_NO_OBJECT = ("it", "that", "this", "how", "when", "him", "her", "them", "me ", "sure", "sense", "fun", "a mistake")
_EPHEMERAL = re.compile(
    r"\A(?:\w+ing\b|so\b|very\b(?! old)|too\b|not\b|here\b|there\b|back\b|gonna\b|being\b|in\b|on\b|at\b|just\b)"
)
_ROLE = re.compile(
    r"\b(?:mod|moderator|admin|administrator|owner|streamer|broadcaster|vip|god|developer of you|your)\b", re.IGNORECASE
)


def claims(text: str) -> list[str]:
    """What the speaker says about themselves, without subject: "lives in Oslo", "'s cat is called Miso"."""
    found: list[str] = []
    if "[ACTION" in text.upper():
        return found
    plain = plain_first_person(text)
    for end, sentence in _sentences(plain):
        if end == "?":
            continue
        for clause in _clauses(sentence):
            claim = _claim(clause)
            if claim and not _ROLE.search(claim) and claim not in found:
                found.append(claim)
    return found


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    for stop in _SENTENCE.finditer(text):
        yield "?" if "?" in stop[0] else ".", text[at : stop.start()]
        at = stop.end()
    yield ".", text[at:]


def _clauses(sentence: str) -> Iterator[str]:
    """From each "I" or "my" to where the claim ends."""
    for start in islice(_START.finditer(sentence), MOST_CLAUSES):
        if _SUPPOSED.search(sentence[max(0, start.start() - LONGEST_LEAD) : start.start()]):
            continue
        clause = sentence[start.start() :]
        stop = _STOP.search(clause)
        yield clause[: stop.start()] if stop else clause


def _claim(clause: str) -> str | None:
    mine = _MINE.match(clause)
    if mine:
        return _about_mine(mine)
    if not clause.startswith("I "):
        return None
    rest = clause[2:].strip()
    while (shorter := _ADVERB.sub("", rest)) != rest:
        rest = shorter
    verb, _, rest = rest.partition(" ")
    return _predicate(verb.lower(), rest.strip())


def _about_mine(found: re.Match[str]) -> str | None:
    if _EPHEMERAL.match(found["rest"]):
        return None
    what = re.sub(r"\Afavs?\b|\Afavorite\b", "favourite", about_them(found["what"]))
    return _tidy(f"'s {what} {found['verb']}", found["rest"])


def _predicate(verb: str, rest: str) -> str | None:
    if verb in {"still", "always", "never", "often"}:
        inner = _predicate(*_head(rest))
        return f"{verb} {inner}" if inner else None
    if verb == "no" and rest.startswith("longer "):
        inner = _predicate(*_head(rest.removeprefix("longer ")))
        return f"no longer {inner}" if inner else None
    if verb in {"do", "did"}:
        denied = _NOT.match(rest)
        if denied and denied["verb"] in _LASTING | {"have"}:
            return _tidy(f"{'does' if verb == 'do' else 'did'} not {denied['verb']}", denied["rest"])
        return None
    return _tidy(third(verb), rest) if _lasting(verb, rest) else None


def _lasting(verb: str, rest: str) -> bool:
    special = {"am": _IS, "have": _HAS, "want": _WANTS, "got": _GOT, "can": _CAN}
    if verb in special:
        return special[verb].match(rest + " ") is not None
    if verb == "was":
        return rest.startswith(("born ", "a ", "an ", "raised "))
    if verb == "come":
        return rest.startswith("from ")
    if verb == "used":
        return rest.startswith("to ")
    return verb in _LASTING and bool(rest) and not rest.lower().startswith(_NO_OBJECT)


def _head(text: str) -> tuple[str, str]:
    verb, _, rest = text.partition(" ")
    return verb.lower(), rest


def _tidy(verb: str, rest: str) -> str | None:
    """The claim cut to a few words that end well."""
    room = MOST_WORDS - len(verb.removeprefix("'s ").split())
    kept = " ".join(_EMOTES.sub("", f" {about_them(rest)}").split()[:room])
    kept = _TRAILING.sub("", f" {kept}").strip(" ,'-*~")
    return f"{verb} {kept}" if kept else None
