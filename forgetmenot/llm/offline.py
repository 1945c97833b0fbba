"""A model of rules, without network or key: for the demo, the first minutes, and while a model is away.

It reads the same prompts and answers in the same shapes: it learns what people plainly say about themselves ("I play
drums"), quotes the note that shares a question's words, and else says nothing rather than something silly. The same
request always gets the same answer. It spends no tokens.
"""

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from forgetmenot.domain import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.languages import in_language
from forgetmenot.text.mentions import fenced
from forgetmenot.text.statements import about_them, plain_first_person, third
from forgetmenot.text.words import STOPWORDS, stem, words

_EMPTY: Mapping[str, object] = {"array": [], "object": {}, "integer": 0, "number": 0.0, "boolean": False, "string": ""}


class Offline:
    """A LanguageModel of rules. `name` is what the meter and the telemetry call it."""

    name = "offline"

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer by purpose; never an error."""
        text = await asyncio.to_thread(_text, request)  # a long window takes longer than the loop may be held
        return ModelAnswer(text, self.name, TokenUsage(0, 0, 0, 0))

    async def aclose(self) -> None:
        """Nothing to close."""


def _text(request: ModelRequest) -> str:
    if request.purpose is Purpose.REPLY:
        return json.dumps(answer(request.system, request.prompt, request.language), ensure_ascii=False)
    if request.purpose is Purpose.EXTRACT:
        return extract(request.prompt)
    data = "\n".join(fenced(request.prompt).values()) or request.prompt
    return _shaped(summary(data) if request.purpose is Purpose.SUMMARY else recap(data), request.schema)


def recap(text: str) -> str:
    """A recap of several summaries, one a line: the first sentences of each in turn."""
    bare = [re.sub(r"\A\s*(?:[-*•]|\[[^\]]*\]|\([^)]*\)|\d+[.:])\s*", "", line) for line in text.splitlines()]
    sentences = [one for row in zip_longest(*map(SENTENCE_END.split, bare)) for one in row if one and one != NOTHING]
    return sentences_that_fit(dict.fromkeys(sentences), MOST_WORDS // 2) or "A quiet stream."


def _shaped(text: str, schema: Mapping[str, Any] | None) -> str:
    """The text as the schema wants it: in its first text field, with nothing in whatever else is required."""
    if not schema:
        return text
    kinds = {name: str(field.get("type")) for name, field in (schema.get("properties") or {}).items()}
    name = next((name for name, kind in kinds.items() if kind == "string"), "text")
    rest = {key: _EMPTY.get(kinds.get(key, "")) for key in schema.get("required", ()) if key != name}
    return json.dumps({name: text, **rest}, ensure_ascii=False)


# Memory: what people say about themselves becomes a summary's sentences, and these become notes.


MOST_WORDS, MOST_CLAIMS, MOST_NOTES = 150, 14, 20
BIT_TIMES, BIT_PEOPLE = 4, 3
NOTHING = "Nothing in particular was said."

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
        # a line that the transcript has put together: how many people said it is all that is known of them
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


# What a line claims of its speaker. Deliberately narrow: what is not clearly so gives nothing. Never more than seven
# words of a line in a row: a summary does not quote.


MOST_CLAIM_WORDS, MOST_CLAIMS_READ = 7, 8
PETS = "cat|dog|parrot|bird|rabbit|hamster|horse|fish|snake|turtle|kitten|puppy|pet"
_LASTING_WORDS = """
    live work play moved own like love hate enjoy prefer study studied speak collect started quit stopped finished
    graduated bought adopted married teach bake cook draw paint write sing stream drive main grew used run swim climb
    ski hike knit sew brew garden dance mod speedrun practice practise train build lived worked played learned learnt
    joined left became travel commute race keep volunteer make repair restore fix raise breed ride sail surf skate cycle
    jog fish hunt crochet weld carve design compose perform film foster rent manage coach translate smoke drink eat
    watch read follow dislike"""
LASTING = frozenset(_LASTING_WORDS.split())
_NOT_MEANT = re.compile(
    r"[\"“”«»♪🎵]|\b(?:imagine|suppose|pretend|what if|if (?:i|my|we)|maybe|might|someday|wish|would|i['’]d|joking"
    r"|kidding|kappa|jk|basically|practically|(?:said|says|told me|goes|be like))\b",
    re.IGNORECASE,
)
"""What stands in a line that quotes, supposes, wishes or jokes."""
_NO_OBJECT = ("it", "that", "this", "how", "when", "him", "her", "them", "sure")
_SENTENCE = re.compile(r"(?P<mark>[.!?;:]+)(?:\s+|\Z)|\s[-–—]+\s|[()\"“”]")
_START = re.compile(r"(?:(?<=\s)|(?<=,)|\A)(?=(?:I|my|My)\s)")
_STOP = re.compile(
    r",|\s(?:so|but|because|since(?! \d)|if|when|while|which|though|btw|by the way|lol|haha|xd|unless|until)\b"
    r"|\sand\s(?=(?:I|my|our|he|she|it|we|you|they|the|that|there|this|can|could|will|would|am|have|now|no\w+|every\w+)\b)"
    r"|\s(?:you|your|ur|u)\b|(?<! do)(?<! am)(?<! did)(?<! have)(?<! is)(?<! are)\snot\b",
    re.IGNORECASE,
)
_NOT_CLAIMED = re.compile(
    r"\b(?:if|when|wish|thinks?|says?|said|whether|imagine|how|why|then|may|can|do|did|should|could|would|must|have|was"
    r"|were|after|before|once)\s+\Z",
    re.IGNORECASE,
)
_LEADS = re.compile(r"(?:do not|no longer|still|always|never|only)\s+")
_ADVERB = re.compile(
    r"\A(?:just|really|actually|also|mostly|currently|recently|finally|do(?=\s(?!not\b)\w+\s\w))\s+", re.IGNORECASE
)
_EMOTES = re.compile(r"(?:\s+(?:[a-z]{2,}[A-Z]\w*|[A-Z]{4,}\w*|LUL\w*|Pog\w*|Kappa\w*|Sadge|:\w*|<3|[^\w\s]+))+\Z")
_TRAILING = re.compile(
    r"(?:\s+(?:(?:right )?now|too|(?:over )?here"
    r"|an?|the|and|or|of|to|in|on|at|with|for|from|by|their|is|called|named))+\Z"
)
_SPECIAL = {
    "am": re.compile(
        r"(?:an?\s(?!bit|little|lot|mess|fan of)|from\s|(?:learn|study|train|writ)ing\s|working\s(?:as|on|at|in)\s"
        r"|allergic\s|afraid\sof\s|vegan\b|vegetarian\b|left[- ]handed|married|engaged|not a fan\s)"
    ),
    "have": re.compile(
        r"(?:an?|one|two|three|four|\d+|(?:\w+\s)?practice on)\s(?!bit|few|lot|question|idea|plan)"
        r"|been (?:an?|\w+ing)\s.*\b(?:for .*(?:years|months)|since \d)"
        rf"|(?:\w+ )?(?:kids|children|twins|daughters|sons|brothers|sisters|{PETS.replace('|', 's|')}s)\b"
    ),
    "cannot": re.compile("stand "),
    "moved": re.compile(r"(?!on\b|past\b)"),
    "was": re.compile("born "),
    "come": re.compile("from "),
    "used": re.compile("to "),
}
_MY_OWN = re.compile(
    rf"\A[Mm]y\s(?P<what>fav(?:ou?rite)?\s[\w' -]{{2,25}}?|(?:\w+\s)?(?:{PETS}|wife|husband|partner|brother|sister"
    r"|mum|mom|dad|son|daughter|car|bike|van|job|main|band|birthday|hometown))\s(?P<verb>is|are|plays|works|lives)\s"
    r"(?P<rest>(?!so\b|very\b|too\b|not\b|here\b|(?<!job is )\w+ing\b).+)\Z"
)
_NAMED = re.compile(
    rf"\bI (?:[\w ]{{2,40}}? an? (?P<known>{PETS}|band)"
    r"|(?:\w+ )?(?:have|own|got|adopted|bought) [\w ,]{0,30}?\ban? (?P<any>\w+))"
    r" (?:called|named) (?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,3})"
).finditer
_NO_SUBJECT = re.compile(
    r"\A(?:(?:just|finally|recently|honestly|also|oh|ok|lol|hey|well|tbh|yeah),? )*"
    r"(?=(?P<been>been )|(?P<am>allergic to |vegan\b|vegetarian\b)"
    r"|moved to (?!the )|quit my |can['’]?t stand |hate (?!on )|prefer |grew up |(?:learned|started) \w+ing )",
    re.IGNORECASE,
)
_LINKS = frozenset(
    ["and", "or", "of", "to", "in", "on", "at", "with", "for", "from", "by", "near", "about", "since", "that", "as"]
)
_ROLE = re.compile(r"\b(?:mod|moderator|admin|owner|streamer|broadcaster|vip|your)\b|[\[{<]", re.IGNORECASE)


def claims(text: str) -> list[str]:
    """What a line's speaker plainly says of themselves, without subject: "lives in Oslo", "'s cat is called Miso"."""
    if _NOT_MEANT.search(text):
        return []
    plain = _NO_SUBJECT.sub(lambda it: "I have " if it["been"] else "I am " if it["am"] else "I ", text)
    plain = plain_first_person(plain)
    found = [
        *(_claim(clause) for clause in _clauses(plain)),
        *(f"'s {it['known'] or it['any']} is called {it['name']}" for it in _NAMED(plain)),
    ]
    return list(dict.fromkeys(claim for claim in found if claim and not _ROLE.search(claim)))


def _clauses(text: str) -> Iterator[str]:
    """From each "I" or "my" to where the claim ends; questions and suppositions give none."""
    at = 0
    for stop in [*_SENTENCE.finditer(text), None]:
        sentence = text[at : stop.start() if stop else len(text)]
        at = stop.end() if stop else at
        if stop and "?" in (stop["mark"] or ""):
            continue
        for start in islice(_START.finditer(sentence), MOST_CLAIMS_READ):
            if not _NOT_CLAIMED.search(sentence[max(0, start.start() - 20) : start.start()]):
                yield _STOP.split(sentence[start.start() :], maxsplit=1)[0]


def _claim(clause: str) -> str | None:
    if mine := _MY_OWN.match(clause):
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
    lasting = verb in LASTING and rest and not rest.lower().startswith(_NO_OBJECT)
    if _SPECIAL[verb].match(rest + " ") if verb in _SPECIAL else lasting:
        return _short(lead + (verb if lead == "does not " else third(verb)), rest)
    return None


def _short(verb: str, rest: str) -> str | None:
    """The claim cut to a few words, at a phrase where there is one."""
    room = MOST_CLAIM_WORDS - len(verb.removeprefix("'s ").split())
    # an emote at the end is no part of what is claimed, and neither is a word that waits for the next one
    words = _EMOTES.sub("", f" {about_them(rest)}").split()
    if len(words) > room and words[room].lower() not in _LINKS:  # in the middle of a phrase: none of it
        room = max((at for at in range(1, room) if words[at].lower() in _LINKS), default=room)
    kept = " ".join(words[:room])
    kept = _TRAILING.sub("", f" {kept}").strip(" ,'-*~")
    return f"{verb} {kept}" if kept else None


_OWN_FORMS = (
    (re.compile(r"((?:\w+ )?\w+) is (?:called|named) (.+)\Z"), r"has a \1 called \2"),
    (re.compile(r"main is (.+)\Z"), r"mains \1"),
    (re.compile(r"(?:car|van|bike) is (an? .+)\Z"), r"drives \1"),
    (re.compile(r"job is (an? .+)\Z"), r"works as \1"),
)


def fact_of(claim: str) -> str:
    """A claim as a note says it: "'s cat is called Miso" is "has a cat called Miso"."""
    if not claim.startswith("'s "):
        return claim
    what = claim.removeprefix("'s ")
    form = next((one for one in _OWN_FORMS if one[0].match(what)), None)
    return form[0].sub(form[1], what) if form else what if what.startswith("favo") else f"their {what}"


# Notes from the sentences of a summary.


_ABOUT = re.compile(r"\A(?P<who>P\d+)(?P<own>'s)?\s+(?P<what>.{3,180}?)\.?\Z")
_CHANNEL = re.compile(r"\AChannel: (?P<fact>.{3,160}?)\.?\Z")
_BIT = re.compile(r"\ARunning bit: (?P<bit>.{3,160}?)\.?\Z")
_VERBS = {third(verb) for verb in LASTING} | frozenset(
    ("is", "has", "was", "comes", "no", "never", "always", "still", "only", "does", "cannot")
)
_PASSING = re.compile(r"(?:is|was) (?:here|back|new here|away|happy|sad|tired)\b")
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
        ("pets", PETS.replace("|", " "), "pet pets animal"),
        ("work", "works work job nurse teacher engineer", "job work profession"),
        ("music", "drums guitar piano bass violin band sings", "instrument music band play"),
        ("games", "game games mains speedruns chess", "game games play favourite main"),
        ("travel", "drives car van bike train", "car drive vehicle driving"),
        (
            "languages",
            "speaks language languages norwegian german french spanish english italian polish portuguese japanese",
            "language languages speak",
        ),
        ("jokes", "bit saying", "joke meme running bit"),
        ("likes", "favourite loves likes prefers enjoys", "favourite like likes love"),
    )
)


def _stems_of_topic(word: str) -> frozenset[str]:
    """The stems that facts hold which a word asks for: "pet" brings "cat", "where" brings "live"."""
    return frozenset(stem(one) for _, said, asked in _TOPICS if word in map(stem, asked) for one in said)


def extract(prompt: str) -> str:
    """The facts of one episode as JSON text: what they change of what is known, the memory finds out itself."""
    blocks = fenced(prompt)
    episode = blocks.get("episode", "" if blocks else prompt)
    sentences = dict.fromkeys(SENTENCE_END.split(" ".join(episode.split())))
    notes = [note for sentence in sentences if (note := _note(sentence.strip()))]
    return json.dumps({"notes": notes[:MOST_NOTES]}, ensure_ascii=False)


def _note(sentence: str) -> dict[str, Any] | None:
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
    topics = [(topic, asked) for topic, said, asked in _TOPICS if said & set(words(fact))]
    return {
        "who": about,
        "fact": fact,
        "lifetime": next((term for term, see in _LIFETIMES if re.search(see, fact)), "permanent"),
        "topics": [topic for topic, _ in topics][:3],
        "asked_with": [word for _, asked in topics for word in asked if word not in words(fact)][:6],
        "said_by": "" if about in {"bit", "channel"} else about,
    }


# A reply: a note's own words, an action that is asked for in plain words, or silence.


MOST_QUOTED = 3
CHANNEL = "#"
_NOTE = re.compile(r"\A\s*(?:(?P<about>[^\[\]:]{1,60}):\s*)?\[id:(?P<id>\d+)(?P<known>[^\[\]]*)\]\s*(?P<fact>.*?)\s*\Z")
_LINE = re.compile(r"\A\s*(?P<who>[^:]{1,60}):\s*(?P<text>.*)\Z")
_BOT = re.compile(r"\AYou are (?P<name>[^,\n]{1,60}),")
_QUESTION = re.compile(r"\?\W*\Z|\A\W*(?:what|where|when|who|which|how|do|does|did|is|are|was)\b", re.IGNORECASE)
_ALL_ABOUT_ME = re.compile(r"\bwhat (?:do|did) (?:you|u) (?:know|remember) (?:about|of) me\b", re.IGNORECASE)
_MINE = re.compile(r"\b(?:i|me|my|mine|am)\b", re.IGNORECASE)
_ASKING = frozenset(("know", "knows", "remember", "tell", "again", "please", "exactly", "name", "named", "called"))
_ACTIONS = (
    (r"\bclip (?:that|this|it)\b", "clip"),
    (r"\bmark (?:that|this|it)\b", "marker"),
    (r"\btime ?(?:me out|out me)\b", "timeout"),
)
_Told = tuple[str, re.Match[str]]
"""Of whom a note is ("" for the speaker), and its line."""
_REMEMBER = re.compile(r"\b(?P<verb>remember|forget) (?:that )?(?P<what>(?:I|my|i['’]?m|i['’]?ve)\b.+)", re.IGNORECASE)


class _Message(NamedTuple):
    """What `who` asks of the bot, and the blocks of data beside it."""

    who: str
    text: str
    blocks: Mapping[str, str]


def answer(system: str, prompt: str, language: str) -> Mapping[str, Any]:
    """The reply object to a prompt's message. `language`: the interface's."""
    message = _message(system, prompt)
    action = _asked_for(message)
    told = [] if action else _quoted(message)
    return {"action": action, "notes": [int(note["id"]) for _, note in told], "say": _sentence(told, language)}


def quotation(system: str, prompt: str, language: str) -> str:
    """The note that shares most of the question's words, quoted; nothing where something is to be done."""
    return str(answer(system, prompt, language)["say"])


def _message(system: str, prompt: str) -> _Message:
    blocks = fenced(prompt)
    lines = [found for line in blocks.get("message", "").splitlines() if (found := _LINE.match(line))]
    who = lines[-1]["who"].strip() if lines else ""
    text = " ".join(line["text"] for line in lines if line["who"].strip() == who)
    bot = _BOT.match(system)
    name = re.escape(bot["name"]) if bot else "bot"
    text = re.sub(rf"\A\W*@\w+[,:]?|@?\b{name}\b[,:]?", " ", text, flags=re.IGNORECASE).strip()
    return _Message(who, text, blocks)


def _asked_for(message: _Message) -> Mapping[str, Any] | None:
    """The action that the speaker asks for in plain words."""
    who, text, _ = message
    for pattern, name in _ACTIONS:
        if re.search(pattern, text, re.IGNORECASE):
            return {"name": name, "target": who} if name == "timeout" else {"name": name}
    asked = None if text.rstrip().endswith("?") else _REMEMBER.search(text)
    if asked is None:
        return None
    if asked["verb"].lower() == "forget":
        return {"name": "forget", "target": who, "what": " ".join(words(asked["what"]))[:100]}
    facts = claims(asked["what"])
    return {"name": "remember", "target": who, "fact": fact_of(facts[0])} if facts else None


def _quoted(message: _Message) -> list[_Told]:
    """The notes that are quoted: what is known of the speaker, or the note with most of the question's words."""
    who, text, blocks = message
    spoken = set(words(text))
    named = spoken | {word[:-1] for word in spoken if word.endswith("s")}  # "bobs cat"
    mine = [("", note) for note in _notes(blocks.get("lore", ""))]
    others = [(note["about"].strip(), note) for note in _notes(blocks.get("others", "")) if note["about"]]
    about = [(name, note) for name, note in others if set(words(name)) & named]
    if _ALL_ABOUT_ME.search(text):
        return mine[:MOST_QUOTED]
    channel = [(CHANNEL, note) for key in blocks if key.startswith("channel_notes") for note in _notes(blocks[key])]
    asked = {stem(word) for word in spoken - STOPWORDS - _ASKING} - _stems(who)
    asked -= {one for name, _ in about for one in _stems(name)}
    pool = about or (mine if _MINE.search(text) else channel)
    if not (asked and pool and _QUESTION.search(text)):
        return []

    def shared(told: _Told) -> int:
        have = _stems(told[1]["fact"])
        # or a word of its kind: "joke" is answered by "blame the ladder"
        return sum(word in have or bool(have & _stems_of_topic(word)) for word in asked)

    best = max(pool, key=shared)
    return [best] if 2 * shared(best) > len(asked) else []


def _sentence(notes: list[_Told], language: str) -> str:
    if not notes:
        return ""
    say = in_language(language)
    name, first = notes[0]
    key = "others" if "said by others" in first["known"] else "notes"
    about = {"": "you", CHANNEL: "channel"}.get(name, "person")
    facts = "; ".join(say("quote.fact", fact=note["fact"].strip().rstrip(".")) for _, note in notes)
    return say(f"quote.{key}_about_{about}", name=name, facts=facts)


def _notes(body: str) -> list[re.Match[str]]:
    return [found for line in body.splitlines() if (found := _NOTE.match(line))]


def _stems(text: str) -> set[str]:
    return {stem(word) for word in words(text)}
