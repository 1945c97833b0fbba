"""Memory by rules: what people say about themselves becomes a summary's sentences, and these become notes. Pure.

They run beside every model, and are the whole of the offline one (llm/offline).

Deliberately narrow: what is not clearly a lasting claim of the speaker about themselves gives nothing. Never more than
seven words of a line in a row: a summary does not quote.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from forgetmenot.text.mentions import fenced
from forgetmenot.text.statements import about_them, meant_part, plain_first_person, third
from forgetmenot.text.words import STOPWORDS, stem, stems, words

MOST_WORDS, MOST_CLAIM_WORDS, MOST_CLAIMS, MOST_NOTES = 150, 7, 14, 8
BIT_TIMES, BIT_PEOPLE = 4, 3
NOTHING = "Nothing in particular was said."


_PETS = "cat|dog|parrot|bird|rabbit|hamster|horse|fish|snake|turtle|kitten|puppy|pet"
_LASTING_TEXT = """
    live work play moved own like love hate enjoy prefer study studied speak collect started quit stopped finished
    graduated bought adopted married teach bake cook draw paint write sing stream drive main grew used run swim climb
    ski hike knit sew brew garden dance mod speedrun practice practise train build lived worked played learned learnt
    joined left became travel commute race keep volunteer make"""
_LASTING = frozenset(_LASTING_TEXT.split())
_NO_OBJECT = ("it", "that", "this", "how", "when", "him", "her", "them", "sure")
_SENTENCE = re.compile(r"(?P<mark>[.!?;:]+)(?:\s+|\Z)|\s[-–—]+\s|[()\"“”]")
_START = re.compile(r"(?:(?<=\s)|(?<=,)|\A)(?=(?:I|my|My)\s)")
_STOP = re.compile(
    r",|\s(?:so|but|because|since|if|when|while|which|though|btw|lol|haha|xd|unless|until)\b"
    r"|\sand\s(?=(?:I|my|our|he|she|it|we|you|they|the|that|there|this|can|could|will|would|am|have|now)\b)"
    r"|\s(?:you|your|ur|u)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|when|wish|thinks?|says?|said|whether|imagine|how|why|then|may|can|do|did|should|could|would|must|have|was"
    r"|were|after|before|once)\s+\Z",
    re.IGNORECASE,
)
_LEADS = re.compile(r"(?:do not|no longer|still|always|never)\s+")
_ADVERB = re.compile(r"\A(?:just|really|actually|also|mostly|currently|recently|finally)\s+", re.IGNORECASE)
_EMOTES = re.compile(r"(?:\s+(?:[a-z]{2,}[A-Z]\w*|[A-Z]{4,}\w*|LUL\w*|Pog\w*|Kappa\w*|Sadge|:\w*|<3|[^\w\s]+))+\Z")
_TRAILING = re.compile(
    r"(?:\s+(?:now|too|right now|here|a|an|the|and|or|of|to|in|on|at|with|for|from|by|their|is|called|named))+\Z"
)
_SPECIAL = {
    "am": re.compile(
        r"(?:an?\s(?!bit|little|lot|mess|fan of)|from\s|(?:learn|study|train|writ)ing\s|working\s(?:as|on|at|in)\s"
        r"|allergic\s|afraid\sof\s|vegan\b|vegetarian\b|left-handed|married|engaged)"
    ),
    "have": re.compile(r"(?:an?|one|two|three|four|\d+|(?:\w+\s)?practice on)\s(?!bit|few|lot|question|idea|plan)"),
    "was": re.compile("born "),
    "come": re.compile("from "),
    "used": re.compile("to "),
}
_MINE = re.compile(
    rf"\A[Mm]y\s(?P<what>fav(?:ou?rite)?\s[\w' -]{{2,25}}?|(?:\w+\s)?(?:{_PETS}|wife|husband|partner|brother|sister"
    r"|mum|mom|dad|son|daughter|car|bike|van|job|main|band|birthday|hometown))\s(?P<verb>is|are|plays|works|lives)\s"
    r"(?P<rest>(?!so\b|very\b|too\b|not\b|here\b|\w+ing\b).+)\Z"
)
_NAMED = re.compile(
    rf"\bI [\w ]{{2,40}}? an? ({_PETS}|band) (?:called|named) ([A-Z][\w'’-]*(?: [A-Z][\w'’-]*){{0,3}})"
).finditer
_WHEN = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|every|each|daily|weekly|monthly|\d{1,2}(?::\d\d)?(?: ?[ap]m)"
_ANNOUNCED = re.compile(
    r"\A(?P<fact>(?:the )?(?!(?:i|we|my|you|it|this|that|there|he|she|they|what|next|who)\b)"
    r"[a-z][a-z' -]{2,30}? (?:is|are|happens|starts?)"
    rf" (?:on|at|every|each)\b[\w:' ]*?\b(?:{_WHEN})\b[\w:' ]*?)(?:,? (?:by the way|btw|everyone|guys|chat))?[.! ]*\Z",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\b(?:mod|moderator|admin|owner|streamer|broadcaster|vip|your)\b|[\[{<]", re.IGNORECASE)


def claims(text: str) -> list[str]:
    """What the speaker says about themselves, without subject: "lives in Oslo", "'s cat is called Miso"."""
    meant = plain_first_person(meant_part(text))
    found = [
        *(_claim(clause) for clause in _clauses(meant)),
        *(f"'s {it[1]} is called {it[2]}" for it in _NAMED(meant)),
    ]
    return list(dict.fromkeys(claim for claim in found if claim and not _ROLE.search(claim)))


def announcement(text: str) -> str | None:
    """What a line of the streamer or a moderator says of when something happens on the channel again and again."""
    found = _ANNOUNCED.match(meant_part(text))
    return found["fact"].strip() if found else None


def _clauses(text: str) -> Iterator[str]:
    """From each "I" or "my" to where the claim ends; questions and suppositions give none."""
    at = 0
    for stop in [*_SENTENCE.finditer(text), None]:
        sentence = text[at : stop.start() if stop else len(text)]
        at = stop.end() if stop else at
        if stop and "?" in (stop["mark"] or ""):
            continue
        for start in islice(_START.finditer(sentence), MOST_NOTES):
            if not _SUPPOSED.search(sentence[max(0, start.start() - 20) : start.start()]):
                yield _STOP.split(sentence[start.start() :], maxsplit=1)[0]


def _claim(clause: str) -> str | None:
    if mine := _MINE.match(clause):
        what = re.sub(r"\Afav\b|\Afavorite\b", "favourite", about_them(mine["what"]))
        return _short(f"'s {what} {mine['verb']}", mine["rest"])
    if not clause.startswith("I "):
        return None
    rest = _ADVERB.sub("", clause[2:].strip())
    denied = _LEADS.match(rest)
    lead = denied[0].replace("do not", "does not") if denied else ""
    rest = rest[denied.end() :] if denied else rest
    verb, _, rest = rest.partition(" ")
    verb, rest = verb.lower(), rest.strip()
    lasting = verb in _LASTING and rest and not rest.lower().startswith(_NO_OBJECT)
    if _SPECIAL[verb].match(rest + " ") if verb in _SPECIAL else lasting:
        return _short(lead + (verb if lead == "does not " else third(verb)), rest)
    return None


def _short(verb: str, rest: str) -> str | None:
    """The claim cut to a few words that end well."""
    room = MOST_CLAIM_WORDS - len(verb.removeprefix("'s ").split())
    kept = " ".join(_EMOTES.sub("", f" {about_them(rest)}").split()[:room])
    kept = _TRAILING.sub("", f" {kept}").strip(" ,'-*~")
    return f"{verb} {kept}" if kept else None


_SAID = re.compile(r"\A(?P<who>P\d+)(?:\s*\([^)]*\))?:\s*(?P<text>.*)\Z")
_BURST = re.compile(r"\A(?P<what>.+?)\s*[×x](?P<times>\d+)(?:\s*[,(]\s*(?P<people>\d+)\s+(?:people|person)\)?)?\Z")
_EVENTS = (
    (re.compile(r"(P\d+) subscribed\b.*\bsubscribed for (\d{2,}|[2-9]) months"), r"\1 subscribed for \2 months."),
    (re.compile(r"(\d+) raiders from (P\d+)"), r"\2 raided with \1 people."),
    (re.compile(r"(P\d+) is gifting (\d+) \w* ?\w* ?[Ss]ubs?\b"), r"\1 gifted \2 subs."),
    (re.compile(r"(P\d+) gifted a .*\bsub to (P\d+)"), r"\1 gifted a sub to \2."),
    (re.compile(r"(P\d+) (subscribed|cheered \d+)\b.*"), r"\1 \2."),
)
_PHRASE = re.compile(r"[\w']+(?: [\w'-]+){1,5}")
_COMMON = re.compile(
    r"(?:let'?s go+|good|gg|hello|hi|hey|welcome|thanks?|gz|congrat\w*|oh|no+|so|well|nice|rip|raid|hype)\b|.*\bp\d+",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")


def summary(transcript: str) -> str:
    """What people said about themselves, what happened, and repeated words. Never empty."""
    said: list[tuple[str, str]] = []
    happened: dict[str, None] = {}
    times: Counter[str] = Counter()
    people: dict[str, set[str]] = defaultdict(set)
    for line in transcript.splitlines():
        rest = line.strip()
        if spoken := _SAID.match(rest):
            said.append((spoken["who"], spoken["text"]))
            if phrase := _phrase(spoken["text"]):
                times[phrase] += 1
                people[phrase].add(spoken["who"])
        elif rest.startswith("* "):
            happened |= dict.fromkeys(
                islice((hit.expand(form) for see, form in _EVENTS if (hit := see.search(rest))), 1)
            )
        elif (burst := _BURST.match(rest)) and (phrase := _phrase(burst["what"].strip(' "'))):
            times[phrase] += int(burst["times"])
            people[phrase] |= {f"burst {number}" for number in range(min(int(burst["people"] or 1), BIT_PEOPLE))}
    about = [f"{who}{'' if one.startswith(chr(39)) else ' '}{one}." for who, text in said for one in claims(text)]
    bits = [phrase for phrase, n in times.most_common(8) if n >= BIT_TIMES and len(people[phrase]) >= BIT_PEOPLE][:2]
    running = [f'Running bit: chat kept saying "{one}".' for one in bits]
    return sentences_that_fit([*list(dict.fromkeys(about))[:MOST_CLAIMS], *happened, *running], MOST_WORDS) or NOTHING


def _phrase(text: str) -> str | None:
    plain = text.strip(" .!?~*").lower()
    return plain if _PHRASE.fullmatch(plain) and not _COMMON.match(plain) and set(words(plain)) - STOPWORDS else None


def sentences_that_fit(sentences: Iterable[str], most: int) -> str:
    """As many whole sentences as fit into that many words."""
    kept: list[str] = []
    for sentence in sentences:
        if len(" ".join([*kept, sentence]).split()) <= most:
            kept.append(sentence)
    return " ".join(kept)


_ABOUT = re.compile(r"\A(?P<who>P\d+)(?P<own>'s)?\s+(?P<what>.{3,180}?)\.?\Z")
_CHANNEL = re.compile(r"\AChannel: (?P<fact>.{3,160}?)\.?\Z")
_BIT = re.compile(r"\ARunning bit: (?P<bit>.{3,160}?)\.?\Z")
_KNOWN = re.compile(r"\A\s*\[(?:id:)?(?P<id>\d+)\]\s*(?P<about>P\d+|channel|bit):\s*(?P<fact>.+?)\s*\Z")
_VERBS = {third(verb) for verb in _LASTING} | frozenset(("is", "has", "was", "comes", "no", "never", "always", "still"))
_PASSING = re.compile(r"(?:is|was) (?:here|back|new here|away|happy|sad|tired)\b")
_OWN_FORMS = (
    (re.compile(rf"((?:\w+ )?(?:{_PETS}|band)) is (?:called|named) (.+)\Z"), r"has a \1 called \2"),
    (re.compile(r"main is (.+)\Z"), r"mains \1"),
    (re.compile(r"(?:car|van|bike) is (an? .+)\Z"), r"drives \1"),
    (re.compile(r"job is (.+)\Z"), r"works as \1"),
)
_SLOTS = (r"\b(?:lives in|moved to|is from)\b", r"\bworks (?:as|at|in)\b", r"\Amains\b", r"\Adrives an?\b")
_FAVOURITE = re.compile(r"\A(?:favourite )([\w ]+?) (?:is|are)\b")
_ENDED = re.compile(r"\A(?:no longer|does not|did not|quit|stopped|used to|left)\b")
_LIFETIMES = (
    ("1d", r"\b(?:today|tonight|right now)\b"),
    ("3d", r"\b(?:tomorrow|yesterday|this weekend)\b"),
    ("7d", r"\b(?:this|next) week\b"),
    ("30d", r"\b(?:this|next) month\b|\bwants to\b"),
)
# A topic, what facts of it say, and what people ask for it with.
_TOPICS = tuple(
    (topic, frozenset(said.split()), tuple(asked.split()))
    for topic, said, asked in (
        ("home", "moved lives from born grew", "where live home city country from"),
        ("pets", _PETS.replace("|", " "), "pet pets animal"),
        ("work", "works work job nurse teacher engineer", "job work profession"),
        ("music", "drums guitar piano bass violin band sings", "instrument music band play"),
        ("games", "game games mains speedruns chess", "game games play favourite main"),
        ("travel", "drives car van bike train", "car drive vehicle driving"),
        ("languages", "speaks language languages learning norwegian german french spanish", "language languages speak"),
        ("jokes", "bit saying", "joke meme running bit"),
        ("likes", "favourite loves likes prefers enjoys", "favourite like likes love"),
    )
)


def stems_of_topic(word: str) -> frozenset[str]:
    """The stems that facts hold which a word asks for: "pet" brings "cat", "where" brings "live"."""
    return frozenset(stem(one) for _, said, asked in _TOPICS if word in map(stem, asked) for one in said)


def fact_of(claim: str) -> str:
    """A claim as a note says it: "'s cat is called Miso" is "has a cat called Miso"."""
    if not claim.startswith("'s "):
        return claim
    what = claim.removeprefix("'s ")
    form = next((one for one in _OWN_FORMS if one[0].match(what)), None)
    return form[0].sub(form[1], what) if form else what if what.startswith("favo") else f"their {what}"


def extract(prompt: str) -> str:
    """The proposed changes of one episode, as JSON text."""
    blocks = fenced(prompt)
    lines = (line for body in blocks.values() for line in body.splitlines())
    known = [found for line in lines if (found := _KNOWN.match(line))]
    episode = blocks.get("episode", "" if blocks else prompt)
    sentences = dict.fromkeys(SENTENCE_END.split(" ".join(episode.split())))
    changes = [change for sentence in sentences if (change := _change(sentence.strip(), known))]
    return json.dumps({"notes": changes[:MOST_NOTES]}, ensure_ascii=False)


def _change(sentence: str, known: list[re.Match[str]]) -> dict[str, Any] | None:
    about, fact = "bit", ""
    if bit := _BIT.match(sentence):
        fact = bit["bit"]
    elif announced := _CHANNEL.match(sentence):
        about, fact = "channel", announced["fact"]
    elif found := _ABOUT.match(sentence):
        about, fact = found["who"], fact_of(f"'s {found['what']}") if found["own"] else found["what"]
        if not found["own"] and (fact.split()[0] not in _VERBS or _PASSING.match(fact)):
            return None
    if not fact:
        return None
    theirs = [note for note in known if note["about"] == about]
    same = next((note for note in theirs if _telling(note["fact"]) == _telling(fact)), None)
    old = None if same else next((note for note in theirs if _replaces(fact, note["fact"])), None)
    topics = [(topic, asked) for topic, said, asked in _TOPICS if said & set(words(fact))]
    return {
        "who": about,
        "fact": fact,
        "lifetime": next((term for term, see in _LIFETIMES if re.search(see, fact)), "permanent"),
        "topics": [topic for topic, _ in topics][:3],
        "asked_with": [word for _, asked in topics for word in asked if word not in words(fact)][:6],
        "said_by": "" if about in {"bit", "channel"} else about,
    } | ({"repeats": int(same["id"])} if same else {"replaces": int(old["id"])} if old else {})


def _telling(fact: str) -> tuple[frozenset[str], bool]:
    return frozenset(one for one in stems(fact) if one not in STOPWORDS), bool(_ENDED.search(fact))


def _replaces(new: str, old: str) -> bool:
    """The same single-valued thing with another value, or the end of it."""
    if favourite := _FAVOURITE.match(new):
        return old.startswith(favourite[0])
    if _ENDED.search(new) and not _ENDED.search(old):
        rest = _telling(_ENDED.sub("", new))[0]
        return bool(rest) and rest <= {stem(third(one)) for one in words(old)} | _telling(old)[0]
    return any(re.search(slot, new) and re.search(slot, old) for slot in _SLOTS)
