"""A window of chat as a short report by rules: what people said about themselves, what happened, what ran through it.

Pure. Promises at most 150 words, people by their handles, and never eight words of one message in a row.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from forgetmenot.llm.offline.claims import claims
from forgetmenot.llm.offline.transcript import Burst, Entry, Happened, Said, read
from forgetmenot.llm.offline.words import COMMON_PHRASES, NO_TOPIC
from forgetmenot.text.words import STOPWORDS, stem, words

MOST_WORDS = 150
MOST_CLAIMS = 14
BIT_TIMES, BIT_PEOPLE = 4, 3
EVENT_WORDS = 7
_HANDLE = re.compile(r"\bP\d+\b")
_ACTOR = re.compile(r"\AP\d+: ")
_EVENT_FORMS = (
    (re.compile(r"(P\d+) subscribed\b.*\bsubscribed for (\d{2,}|[2-9]) months"), r"\1 subscribed for \2 months"),
    (re.compile(r"(\d+) raiders from (P\d+)"), r"\2 raided with \1 people"),
    (re.compile(r"(P\d+) is gifting (\d+) \w* ?\w* ?[Ss]ubs?\b"), r"\1 gifted \2 subs"),
    (re.compile(r"(P\d+) gifted a .*\bsub to (P\d+)"), r"\1 gifted a sub to \2"),
)
_HAPPENED = re.compile(r"\AP\d+ (?:subscribed|raided|gifted|cheered|watched)\b")
_TALK = re.compile(r"\AMost of the talk was about (.+)\.\Z")
SMALL_CHANGE = ("In chat", "Loudest", "Most of the talk", "Nothing in particular")
"""How the sentences begin that are worth a line in an episode, and nothing beyond it."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")
_PHRASE = re.compile(r"[\w']+(?: [\w'-]+){1,5}")


def summary(transcript: str) -> str:
    """The report. Never empty."""
    entries = read(transcript)
    said = [entry for entry in entries if isinstance(entry, Said)]
    bursts = [entry for entry in entries if isinstance(entry, Burst)]
    bits = _bits(said, bursts)
    sentences = [
        *_about_people(said),
        *_events(entries),
        *(f'Running bit: chat kept saying "{bit}".' for bit in bits),
        *_topics(said, frozenset(word for bit in bits for word in words(bit))),
        *_reactions(bursts),
        *_presence(said),
    ]
    return within(sentences or ["Nothing in particular was said."], MOST_WORDS)


def recap(text: str) -> str:
    """A stream's recap out of its episodes' summaries, one a line: what it was about, what happened, who told what."""
    episodes = [_sentences(line) for line in text.splitlines()]
    told = [sentence for row in itertools.zip_longest(*episodes) for sentence in row if sentence]  # of each in turn
    happened = [s for s in told if s.startswith("Running bit") or _HAPPENED.match(s)]
    people = [s for s in told if s not in happened and not s.startswith(SMALL_CHANGE)]
    kept = dict.fromkeys([*_about(told), *happened, *people])
    return within(list(kept) or told or ["A quiet stream."], MOST_WORDS // 2)


def _about(sentences: Iterable[str]) -> list[str]:
    """One sentence about the topics of all episodes, the first two of each."""
    found = (_TALK.match(sentence) for sentence in sentences)
    topics = [topic for talk in found if talk for topic in re.split(r", | and ", talk[1])[:2]]
    chosen = list(dict.fromkeys(topics))[:5]
    return [f"The stream was about {_listed(chosen)}."] if chosen else []


def within(sentences: Iterable[str], most: int) -> str:
    """As many whole sentences as fit into so many words, at least a part of the first."""
    kept: list[str] = []
    room = most
    for sentence in sentences:
        size = len(sentence.split())
        if size <= room:
            kept.append(sentence)
            room -= size
    return " ".join(kept)


def _sentences(line: str) -> list[str]:
    bare = re.sub(r"\A\s*(?:[-*•]|\[[^\]]*\]|\([^)]*\)|\d+[.:])\s*", "", line)
    return [found.strip() for found in _SENTENCE_END.split(bare) if len(found.split()) > 2]


def _about_people(said: Sequence[Said]) -> list[str]:
    found: dict[str, None] = {}
    for line in said:
        for claim in claims(line.text):
            found[f"{line.who}{'' if claim.startswith(chr(39)) else ' '}{claim}."] = None
    return list(found)[:MOST_CLAIMS]


def _events(entries: Iterable[Entry]) -> list[str]:
    """Twitch's own sentences, without its small print and without what somebody wrote along with them."""
    told = (_event(entry.text) for entry in entries if isinstance(entry, Happened))
    return list(dict.fromkeys(sentence for sentence in told if sentence))[:6]


def _event(text: str) -> str | None:
    who = _ACTOR.match(text)
    said = text[who.end() :] if who else text
    for pattern, form in _EVENT_FORMS:
        if found := pattern.search(said):
            return f"{found.expand(form)}."
    first = " ".join(re.split(r"[:.!]| and ", said)[0].split()[:EVENT_WORDS])
    return f"{first}." if _HANDLE.match(first) else None


def _bits(said: Sequence[Said], bursts: Sequence[Burst]) -> list[str]:
    """Phrases of some words that several people repeat: what a channel's running jokes look like."""
    times: Counter[str] = Counter()
    people: dict[str, set[str]] = defaultdict(set)
    crowd: Counter[str] = Counter()
    for line in said:
        phrase = _phrase(line.text)
        if phrase:
            times[phrase] += 1
            people[phrase].add(line.who)
    for burst in bursts:
        if phrase := _phrase(burst.what):
            times[phrase] += burst.times
            crowd[phrase] += burst.people
    fit = [p for p, n in times.most_common(8) if n >= BIT_TIMES and max(len(people[p]), crowd[p]) >= BIT_PEOPLE]
    return fit[:2]


def _phrase(text: str) -> str | None:
    plain = text.strip(" .!?~*").lower()
    if not _PHRASE.fullmatch(plain) or COMMON_PHRASES.match(plain) or _HANDLE.search(text):
        return None
    telling = [word for word in words(plain) if word not in STOPWORDS and word not in NO_TOPIC]
    return plain if telling else None


def _topics(said: Sequence[Said], without: frozenset[str]) -> list[str]:
    """What several people spoke of among themselves, pairs of words before single ones."""
    by_word: dict[str, set[str]] = defaultdict(set)
    pairs: Counter[str] = Counter()
    for line in said:
        if line.to_bot or "[" in line.text:
            continue
        telling = [word for word in words(_HANDLE.sub(" ", line.text)) if _is_topic(word) and word not in without]
        for word in telling:
            by_word[word].add(line.who)
        pairs.update({f"{a} {b}" for a, b in _neighbours(words(line.text)) if _is_topic(a) and _is_topic(b)})
    chosen = _best_topics(by_word, pairs)
    return [f"Most of the talk was about {_listed(chosen)}."] if chosen else []


def _best_topics(by_word: Mapping[str, set[str]], pairs: Counter[str]) -> list[str]:
    ranked = sorted((word for word, who in by_word.items() if len(who) >= 2), key=lambda w: (-len(by_word[w]), w))
    chosen: list[str] = []
    for word in ranked:
        pair = next((p for p, n in pairs.most_common() if n >= 2 and word in p.split()), None)
        if not any(stem(word) in map(stem, known.split()) for known in chosen):
            chosen.append(pair or word)
    return chosen[:4]


def _is_topic(word: str) -> bool:
    return len(word) > 3 and word.isalpha() and word not in STOPWORDS and word not in NO_TOPIC


def _neighbours(found: Sequence[str]) -> Iterable[tuple[str, str]]:
    return itertools.pairwise(found)


def _reactions(bursts: Sequence[Burst]) -> list[str]:
    loudest = sorted(bursts, key=lambda burst: -burst.people)[:2]
    told = [f"{' '.join(b.what.split()[:4])} ({b.people} people)" for b in loudest if b.people >= BIT_PEOPLE]
    return [f"Loudest reactions: {_listed(told)}."] if told else []


def _presence(said: Sequence[Said]) -> list[str]:
    lines = Counter(line.who for line in said)
    if not lines:
        return []
    most = [who for who, _ in lines.most_common(3)]
    return [f"In chat: {len(lines)} {'person' if len(lines) == 1 else 'people'}, above all {_listed(most)}."]


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
