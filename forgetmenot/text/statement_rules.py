"""Memory by rules: what people say about themselves becomes a summary's sentences, and these become notes. Pure.

They run beside every model, and are the whole of the offline one (llm/offline). What is a claim: text/statements.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import islice
from typing import Any

from forgetmenot.text.mentions import fenced
from forgetmenot.text.statements import LASTING, PETS, fact_of, lasting_claims, third
from forgetmenot.text.words import STOPWORDS, stem, words

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
    about = [
        f"{who}{'' if one.startswith(chr(39)) else ' '}{one}." for who, text in said for one in lasting_claims(text)
    ]
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


def stems_of_topic(word: str) -> frozenset[str]:
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
