"""The little the offline model knows about words: what asks for what, how long things last, what is no topic. Pure."""

import re

ASKED_WITH: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = tuple(
    (frozenset(said.split()), tuple(asked.split()))
    for said, asked in (
        ("moved lives live living from born grew based hometown", "where live home city country from"),
        (
            "cat dog parrot bird rabbit hamster horse kitten puppy fish snake turtle pet cats dogs",
            "pet pets animal name called",
        ),
        ("works work job scheduler nurse teacher engineer company business", "job work profession living"),
        ("drums guitar piano bass violin band sings singer keyboard", "instrument music band play"),
        ("favourite loves likes prefers enjoys", "favourite like best love"),
        ("game games main mains speedruns", "game play favourite"),
        ("van car drives bike bicycle truck", "car drive vehicle driving"),
        (
            "speaks language languages learning norwegian german french spanish japanese english",
            "language speak learning",
        ),
        ("studies studied degree university graduated school finished", "study school university degree"),
        ("bakes bread sourdough cooks bake", "bake cook food kitchen bread"),
        ("birthday born turning", "birthday old age when"),
        ("brother sister wife husband partner son daughter mum dad kids kid", "family"),
        ("practice tuesdays mondays wednesdays thursdays fridays saturdays sundays", "when day week"),
        ("chess cards poker", "game hobby play"),
        (
            "runs climbs swims hikes skis surfs dances knits paints draws makes collects sews gardens pottery",
            "hobby sport craft",
        ),
        ("bit joke saying blame", "joke meme running bit funny"),
        ("allergic vegan vegetarian", "eat food"),
        ("dream wants", "dream plan want"),
    )
)
TOPICS = (
    ("home", "lives live moved from born grew based"),
    ("pets", "cat dog parrot bird rabbit hamster horse kitten puppy fish snake turtle pet cats dogs"),
    ("work", "works work job scheduler company business"),
    ("music", "drums guitar piano bass violin band sings singer"),
    ("games", "game games main mains speedruns chess"),
    ("travel", "drives car van bike bicycle train travel travels"),
    ("hobbies", "makes knits paints draws sews gardens climbs swims hikes skis surfs dances collects pottery"),
    ("languages", "speaks language languages learning norwegian german french spanish japanese"),
    ("food", "bakes bread cooks sourdough eats drinks"),
    ("family", "brother sister wife husband partner son daughter mum dad kids"),
    ("study", "studies degree university graduated"),
)
_LIFETIMES = (
    ("permanent", re.compile(r"\b(?:moved to|was born|adopted|married|graduated|finished)\b", re.IGNORECASE)),
    (
        "1d",
        re.compile(r"\b(?:today|tonight|this (?:morning|evening|afternoon)|right now|at the moment)\b", re.IGNORECASE),
    ),
    ("3d", re.compile(r"\b(?:tomorrow|yesterday|this weekend|weekend)\b", re.IGNORECASE)),
    (
        "7d",
        re.compile(
            r"\b(?:this|next|last) week\b|\bdays\b|\bon (?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE
        ),
    ),
    (
        "30d",
        re.compile(r"\b(?:this|next) month\b|\bis (?:saving|moving|getting|turning)\b|\bwants to\b", re.IGNORECASE),
    ),
)
_NO_TOPIC_TEXT = """
    hello hey hi hei evening morning night good bye thank thanks welcome wb gg lol lul lmao kekw omegalul pog
    pogchamp lets first second yes no nice true never always everybody everyone people chat stream streamer
    still think know come came want need make made thing things back day time today try tried look looks said
    take took give work new old next last way right left little big great love like guess wait hold here there
    brb afk haha hahaha bot oh ah uh um ok okay sure maybe anyone someone nothing something everything correct
    answer already again half almost done every behind before after hundred second third somebody please really blame
    congratulations happened"""
NO_TOPIC = frozenset(_NO_TOPIC_TEXT.split())
COMMON_PHRASES = re.compile(
    r"\A(?:let'?s go+|good (?:night|morning|evening|luck|game|one)|gg.*|(?:hello|hi|hey|welcome|thank|thanks|gz)\b.*"
    r"|congrat.*|oh (?:no|yes|my god)|no+ (?:no ?)+|so (?:good|close|sad)|well played|nice (?:one|try)|rip .*"
    r"|raid hype|hype .*|[\W_]+)\Z",
    re.IGNORECASE,
)


def asked_with(fact: str) -> list[str]:
    """Words that people would ask with for a fact, and that are not in it."""
    have = set(re.findall(r"\w+", fact.lower()))
    found = [word for said, asked in ASKED_WITH if said & have for word in asked]
    return [word for word in dict.fromkeys(found) if word not in have][:6]


def topics(fact: str) -> list[str]:
    """Up to three topics of a fact."""
    have = set(re.findall(r"\w+", fact.lower()))
    return [topic for topic, said in TOPICS if set(said.split()) & have][:3]


def lifetime(fact: str) -> str:
    """How long the fact is likely to hold."""
    return next((term for term, pattern in _LIFETIMES if pattern.search(fact)), "permanent")


def kindred(words: frozenset[str]) -> frozenset[str]:
    """Words that belong to a question's words: "pet" brings "cat", "where" brings "lives"."""
    return frozenset(said for group, asked in ASKED_WITH if words & set(asked) for said in group)
