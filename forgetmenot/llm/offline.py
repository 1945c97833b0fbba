"""A model of rules, without network or key: for the demo, the first minutes, and while a model is away.

It reads the same prompts and answers in the same shapes: it learns what people plainly say about themselves ("I play
drums"), quotes the note that shares a question's words, and else says nothing rather than something silly. The same
request always gets the same answer. It spends no tokens.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from forgetmenot.domain import NOTHING, ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.languages import in_language
from forgetmenot.text.chat_commands import expand_contractions, in_third_person, third_person
from forgetmenot.text.mentions import fenced_texts
from forgetmenot.text.words import STOPWORDS, stem, stems, words


class Offline:
    """A LanguageModel of rules. `name` is what the meter and the telemetry call it."""

    name = "offline"

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer by purpose; never an error."""
        text = await asyncio.to_thread(
            _text, request
        )  # a long window takes longer than the loop may be held
        return ModelAnswer(text, self.name, TokenUsage(0, 0, 0, 0))

    async def aclose(self) -> None:
        """Nothing to close."""


def _text(request: ModelRequest) -> str:
    if request.purpose is Purpose.REPLY:
        return json.dumps(
            answer(request.system, request.prompt, request.language), ensure_ascii=False
        )
    if request.purpose is Purpose.EXTRACT:
        return extract(request.prompt)
    if request.purpose is Purpose.BRIEF:
        return json.dumps({"briefs": []})
    data = "\n".join(fenced_texts(request.prompt).values()) or request.prompt
    text = summary(data) if request.purpose is Purpose.SUMMARY else recap(data)
    return json.dumps({"summary": text}, ensure_ascii=False)


# Memory: what people say about themselves becomes a summary's sentences, and these become notes.


MOST_WORDS, MOST_CLAIMS, MOST_NOTES = 150, 14, 20
BIT_TIMES, BIT_PEOPLE = 4, 3

_SAID = re.compile(r"\A(?P<who>P\d+)(?:\s*\([^)]*\))?:\s*(?P<text>.*)\Z")
_OFTEN = re.compile(
    r"\"?(?P<what>[\w']+(?: [\w'-]+){1,5})[ .!?~\"]*×(?P<times>\d+), (?P<people>\d+) people"
)
_COMMON = re.compile(
    r"(?:let'?s go+|good|gg|hello|hi|hey|welcome|thanks?|gz|congrat\w*|oh|no+|so|well|nice|rip|raid|hype)\b|.*\bp\d+",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"\A\s*(?:[-*•]|\[[^\]]*\]|\([^)]*\)|\d+[.:])\s*")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d\"“])")


def summary(transcript: str) -> str:
    """What people said about themselves, and what many repeated. Never empty."""
    about: list[str] = []
    bits: list[str] = []
    for line in transcript.splitlines():
        if spoken := _SAID.match(line.strip()):
            who = spoken["who"]
            about += (
                f"{who}{_OWN if fact.startswith('favo') else ''} {fact}."
                for fact in claims(spoken["text"])
            )
        elif (often := _OFTEN.match(line.strip())) and not _COMMON.match(often["what"]):
            many = int(often["times"]) >= BIT_TIMES and int(often["people"]) >= BIT_PEOPLE
            if many and set(words(often["what"])) - STOPWORDS:
                bits.append(f'Running bit: chat kept saying "{often["what"].lower()}".')
    return sentences_that_fit([*about[:MOST_CLAIMS], *bits[:2]], MOST_WORDS) or NOTHING


def recap(text: str) -> str:
    """A recap of several summaries, one a line."""
    bare = (SENTENCE_END.split(_LIST_MARK.sub("", line)) for line in text.splitlines())
    sentences = [one for line in bare for one in line if one and one != NOTHING]
    return sentences_that_fit(sentences, MOST_WORDS // 2) or "A quiet stream."


def sentences_that_fit(sentences: Iterable[str], most: int) -> str:
    """As many different whole sentences as fit into that many words."""
    kept: list[str] = []
    for sentence in dict.fromkeys(sentences):
        if len(" ".join([*kept, sentence]).split()) <= most:
            kept.append(sentence)
    return " ".join(kept)


# What a line claims of its speaker. Deliberately narrow: what is not clearly so gives nothing. Never more than seven
# words of a line: a summary does not quote.


MOST_CLAIM_WORDS = 7
_OWN = "'s"
_PETS = "cat|dog|parrot|bird|rabbit|hamster|horse|fish|snake|turtle|kitten|puppy|pet"
_LASTING_WORDS = """
    live work play own like love hate enjoy prefer study studied speak collect started quit stopped finished graduated
    bought adopted married teach bake cook draw paint write sing stream drive main grew run swim climb ski hike knit sew
    brew garden dance mod speedrun practice train build lived worked played learned joined left became travel commute
    keep volunteer repair raise breed ride sail surf skate fish hunt design compose perform rent manage coach translate
    smoke drink eat read dislike"""
LASTING = frozenset(_LASTING_WORDS.split())
# What stands in a line that quotes, supposes, wishes or jokes.
_NOT_MEANT = re.compile(
    r"[\"“”«»♪🎵]|\b(?:imagine|suppose|pretend|what if|if (?:i|my|we)|maybe|might|someday|wish|would|i['’]d|joking"
    r"|kidding|kappa|jk|basically|practically|(?:said|says|told me|goes|be like))\b",
    re.IGNORECASE,
)
_NO_OBJECT = ("it", "that", "this", "how", "when", "him", "her", "them", "sure")
_CLAUSE = re.compile(r"(?P<text>[^.!?;:,()]+)(?P<mark>[.!?;:,()]+|\Z)")
_FILLERS = re.compile(
    r"\A(?:\s*\b(?:oh|ok|lol|hey|hi|well|yeah|also|and|but|btw|tbh|honestly|because)\b)*\s*",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\s(?:so|but|because|since(?! \d)|if|when|while|which|though|btw|by the way|lol|haha|unless|until|[-–—]+)(?:\s|\Z)"
    r"|\sand\s(?=(?:I|my|our|he|she|it|we|you|they|the|that|there|this|can|could|will|would|am|have|now|no\w+|every\w+)\b)"
    r"|\s(?:you|your|ur|u)\b|(?<! do)(?<! am)(?<! did)(?<! have)(?<! is)(?<! are)\snot\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"\A(?:just|really|actually|also|mostly|currently|recently|finally)\s+", re.IGNORECASE
)
_EMOTES = re.compile(
    r"(?:\s+(?:[a-z]{2,}[A-Z]\w*|[A-Z]{4,}\w*|LUL\w*|Pog\w*|Kappa\w*|Sadge|:\w*|<3|[^\w\s]+))+\Z"
)
_LINKS = "and|or|of|to|in|on|at|with|for|from|by|near|about|since|that|as"
_TRAILING = re.compile(
    rf"(?:\s+(?:(?:right )?now|too|(?:over )?here|an?|the|their|is|called|named|{_LINKS}))+\Z"
)
_SPECIAL = {
    "am": re.compile(
        r"(?:an?\s(?!bit|little|lot|mess|fan of|mod|admin|vip)|from\s|(?:learn|study|train|writ)ing\s"
        r"|working\s(?:as|on|at|in)\s|allergic\s|afraid\sof\s|vegan\b|vegetarian\b|left[- ]handed|married|engaged)"
    ),
    "have": re.compile(
        r"(?:an?|one|two|three|four|\d+)\s(?!bit|few|lot|question|idea|plan)"
        rf"|(?:\w+ )?(?:kids|children|twins|daughters|sons|brothers|sisters|{_PETS.replace('|', 's|')}s)\b"
    ),
    "moved": re.compile(r"(?!on\b|past\b)"),
    "used": re.compile("to "),
}
_MINE = tuple(  # what is said of "my …", as a note says it
    (re.compile(rf"my {said}", re.IGNORECASE), fact)
    for said, fact in (
        (
            rf"((?:\w+ )?(?:{_PETS}|wife|husband|partner|brother|sister|band)) is (?:called|named) ",
            "has a {} called",
        ),
        (r"fav(?:ou?rite)? ([\w' -]{2,25}?) is ", "favourite {} is"),
        (r"(main) is ", "mains"),
        (r"(car|van|bike) is (?=an? )", "drives"),
        (r"(job) is (?=an? )", "works as"),
    )
)


def claims(text: str) -> list[str]:
    """What a line's speaker plainly says of themselves, as notes say it: "lives in Oslo", "has a cat called Miso"."""
    if _NOT_MEANT.search(text):
        return []
    found = [
        _claim(_STOP.split(_FILLERS.sub("", clause["text"]), maxsplit=1)[0].strip())
        for clause in _CLAUSE.finditer(expand_contractions(text))
        if "?" not in clause["mark"]
    ]
    return list(dict.fromkeys(claim for claim in found if claim))


def _claim(clause: str) -> str | None:
    for form, fact in _MINE:
        if found := form.match(clause):
            return _short(fact.format(in_third_person(found[1])), clause[found.end() :])
    if not clause.startswith("I "):
        return None
    rest = _ADVERB.sub("", clause[2:].strip())
    verb, _, rest = rest.partition(" ")
    verb, rest = verb.lower(), rest.strip()
    lasting = verb in LASTING and rest and not rest.lower().startswith(_NO_OBJECT)
    if _SPECIAL[verb].match(rest + " ") if verb in _SPECIAL else lasting:
        return _short(third_person(verb), rest)
    return None


def _short(verb: str, rest: str) -> str | None:
    """The claim, if it takes no more than a few words."""
    # an emote at the end is no part of what is claimed, and neither is a word that waits for the next one
    kept = _TRAILING.sub("", _EMOTES.sub("", f" {in_third_person(rest)}")).strip(" ,'-*~")
    fits = kept and len(f"{verb} {kept}".split()) <= MOST_CLAIM_WORDS
    return f"{verb} {kept}" if fits else None


# Notes from the sentences of a summary.


_ABOUT = re.compile(rf"\A(?P<who>P\d+)(?:{_OWN})?\s+(?P<fact>.{{3,180}}?)\.?\Z")
_UNOWNED = re.compile(r"\A(?P<what>Channel|Running bit): (?P<fact>.{3,160}?)\.?\Z")
_VERBS = {third_person(verb) for verb in (*LASTING, *_SPECIAL)} | {"favourite", "works"}
# What is soon over, and kept for a week.
_PASSING = re.compile(
    r"\b(?:to(?:day|night|morrow)|yesterday|right now|(?:this|next) (?:week|month)|wants to\b)"
)
_KINDS = tuple(  # what people ask with, and what facts of that kind say: "pet" is answered by "cat"
    (asked.split(), said.split())
    for asked, _, said in (
        kind.partition(":")
        for kind in (
            "home where live city country from: moved lives from born grew",
            f"pets pet animal: {_PETS.replace('|', ' ')}",
            "work job profession: works work job nurse teacher engineer",
            "music instrument band play: drums guitar piano bass violin band sings",
            "games game play favourite main: game games mains speedruns chess",
            "travel drive car vehicle driving: drives car van bike train",
            "languages language speak: speaks language languages",
            "jokes joke meme running bit: bit saying",
            "likes like love favourite: favourite loves likes prefers enjoys",
        )
    )
)


def extract(prompt: str) -> str:
    """The facts of one episode as JSON text: what they change of what is known, the memory finds out itself."""
    blocks = fenced_texts(prompt)
    episode = blocks.get("episode", "" if blocks else prompt)
    sentences = dict.fromkeys(SENTENCE_END.split(" ".join(episode.split())))
    notes = [note for sentence in sentences if (note := _note(sentence.strip()))]
    return json.dumps({"notes": notes[:MOST_NOTES]}, ensure_ascii=False)


def _note(sentence: str) -> dict[str, Any] | None:
    about = _ABOUT.match(sentence)
    found = about or _UNOWNED.match(sentence)
    if not found or (about and about["fact"].split()[0] not in _VERBS):
        return None
    fact = found["fact"]
    who = about["who"] if about else {"Channel": "channel"}.get(found["what"], "bit")
    kinds = [asked for asked, said in _KINDS if set(said) & set(words(fact))]
    return {
        "who": who,
        "fact": fact,
        "lifetime": "7d" if _PASSING.search(fact) else "permanent",
        "topics": [kind[0] for kind in kinds][:3],
        "asked_with": [word for kind in kinds for word in kind if word not in words(fact)][:6],
        "said_by": who if about else "",
    }


# A reply: a note's own words, an action that is asked for in plain words, or silence.


_NOTE = re.compile(
    r"\A\s*(?:(?P<about>[^\[\]:]{1,60}):\s*)?\[id:(?P<id>\d+)(?P<known>[^\[\]]*)\]\s*(?P<fact>.*?)\s*\Z"
)
_LINE = re.compile(r"\A\s*(?P<who>[^:]{1,60}):\s*(?P<text>.*)\Z")
_BOT = re.compile(r"\AYou are (?P<name>[^,\n]{1,60}),")
_QUESTION = re.compile(
    r"\?\W*\Z|\A\W*(?:what|where|when|who|which|how|do|does|did|is|are|was)\b", re.IGNORECASE
)
_MYSELF = re.compile(r"\b(?:i|me|my|mine|am)\b", re.IGNORECASE)
_ASKING = frozenset(
    ("know", "knows", "remember", "tell", "again", "please", "exactly", "name", "named", "called")
)
_ACTIONS = (
    (re.compile(r"\bclip (?:that|this|it)\b", re.IGNORECASE), "clip"),
    (re.compile(r"\bmark (?:that|this|it)\b", re.IGNORECASE), "marker"),
    (re.compile(r"\btime ?(?:me out|out me)\b", re.IGNORECASE), "timeout"),
)


def answer(system: str, prompt: str, language: str) -> Mapping[str, Any]:
    """The reply object to a prompt's message. `language`: the interface's."""
    blocks = fenced_texts(prompt)
    lines = [
        found for line in blocks.get("message", "").splitlines() if (found := _LINE.match(line))
    ]
    who = lines[-1]["who"].strip() if lines else ""
    text = " ".join(line["text"] for line in lines if line["who"].strip() == who)
    bot = _BOT.match(system)
    name = re.escape(bot["name"]) if bot else "bot"
    text = re.sub(rf"\A\W*@\w+[,:]?|@?\b{name}\b[,:]?", " ", text, flags=re.IGNORECASE).strip()
    if wanted := next((name for pattern, name in _ACTIONS if pattern.search(text)), ""):
        return {
            "action": {"name": wanted, **({"target": who} if wanted == "timeout" else {})},
            "notes": [],
            "say": "",
        }
    about, note = _answering(who, text, blocks)
    if note is None:
        return {"action": None, "notes": [], "say": ""}
    say, fact = in_language(language), note["fact"].strip().rstrip(".")
    key = (
        "quote.others" if about is not None and "said by others" in note["known"] else "quote.notes"
    )
    whom = say("chat.channel") if about is None else about or say("chat.own")
    return {"action": None, "notes": [int(note["id"])], "say": say(key, who=whom, fact=fact)}


def _answering(
    who: str, text: str, blocks: Mapping[str, str]
) -> tuple[str | None, re.Match[str] | None]:
    """The note with most of a question's words, and whom it is about: "" the speaker, None the channel."""
    spoken = set(words(text))
    named = spoken | {word[:-1] for word in spoken if word.endswith("s")}  # "bobs cat"
    others = [(note["about"].strip(), note) for note in _notes(blocks, "others") if note["about"]]
    about = [(name, note) for name, note in others if set(words(name)) & named]
    asked = {stem(word) for word in spoken - STOPWORDS - _ASKING} - set(stems(who))
    asked -= {one for name, _ in about for one in stems(name)}
    pool: list[tuple[str | None, re.Match[str]]] = [*about]
    if not about and _MYSELF.search(text):
        pool = [("", note) for note in _notes(blocks, "lore")]
    elif not about:
        pool = [
            (None, note)
            for key in blocks
            if key.startswith("channel_notes")
            for note in _notes(blocks, key)
        ]
    if not (asked and pool and _QUESTION.search(text)):
        return None, None
    kinds = [(set(map(stem, asks)), set(map(stem, said))) for asks, said in _KINDS]

    def shared(told: tuple[str | None, re.Match[str]]) -> int:
        have = set(stems(told[1]["fact"]))
        # or a word of its kind: "joke" is answered by "blame the ladder"
        return sum(
            word in have or any(word in asks and have & said for asks, said in kinds)
            for word in asked
        )

    best = max(pool, key=shared)
    return best if 2 * shared(best) > len(asked) else (None, None)


def _notes(blocks: Mapping[str, str], name: str) -> Iterator[re.Match[str]]:
    return (found for line in blocks.get(name, "").splitlines() if (found := _NOTE.match(line)))
