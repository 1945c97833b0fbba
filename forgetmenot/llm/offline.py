"""A model of rules, without network or key: for the demo, and while no other model answers.

It reads the same prompts and answers in the same shapes: it learns what people plainly say about
themselves ("I play drums"), quotes the note that shares a question's words, and else says nothing
rather than something silly. The same request always gets the same answer. It spends no tokens.
"""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from forgetmenot.domain import NOTHING, ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.languages import in_language
from forgetmenot.text.chat_commands import (
    expand_contractions,
    in_third_person,
    third_person,
)
from forgetmenot.text.mentions import fenced_texts
from forgetmenot.text.words import STOPWORDS, stem, stems, words


class Offline:
    """A LanguageModel of rules. `name` is what the meter and the telemetry call it."""

    name = "offline"

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer by purpose; never an error."""
        # In a thread: a long window takes longer than the loop may be held.
        text = await asyncio.to_thread(_text, request)
        return ModelAnswer(text, self.name, TokenUsage(0, 0, 0, 0))

    async def aclose(self) -> None:
        """Nothing to close."""


def _text(request: ModelRequest) -> str:
    if request.purpose is Purpose.REPLY:
        reply = answer(request.system, request.prompt, request.language)
        return _json(reply)
    if request.purpose is Purpose.EXTRACT:
        return extract(request.prompt)
    # A brief takes more than rules: none is written.
    if request.purpose is Purpose.BRIEF:
        return _json({"briefs": []})
    blocks = fenced_texts(request.prompt)
    data = "\n".join(blocks.values()) or request.prompt
    if request.purpose is Purpose.SUMMARY:
        return _json({"summary": summary(data)})
    return _json({"summary": recap(data)})


def _json(answer_object: Mapping[str, Any]) -> str:
    return json.dumps(answer_object, ensure_ascii=False)


# ── summaries: what people say about themselves ─────────────────────────────────────────────

_MAX_SUMMARY_WORDS = 150
_MAX_CLAIMS = 14
_MAX_BITS = 2
_MAX_NOTES = 20
# From so many times, by so many people, a repeated line is a running bit.
_MIN_BIT_TIMES = 4
_MIN_BIT_PEOPLE = 3

_CHAT_LINE = re.compile(r"\A(?P<who>P\d+)(?:\s*\([^)]*\))?:\s*(?P<text>.*)\Z")
_REPEATED_LINE = re.compile(
    r"\"?(?P<text>[\w']+(?: [\w'-]+){1,5})[ .!?~\"]*×(?P<times>\d+), (?P<people>\d+) people"
)
# What every chat repeats, and what names somebody.
_COMMON = re.compile(
    r"(?:let'?s go+|good|gg|hello|hi|hey|welcome|thanks?|gz|congrat\w*|oh|no+|so|well|nice|rip|raid"
    r"|hype)\b|.*\bp\d+",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"\A\s*(?:[-*•]|\[[^\]]*\]|\([^)]*\)|\d+[.:])\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d\"“])")


def summary(transcript: str) -> str:
    """Return what people said about themselves, and what many repeated. Never empty."""
    claim_sentences: list[str] = []
    bit_sentences: list[str] = []
    for row in transcript.splitlines():
        line = row.strip()
        chat_line = _CHAT_LINE.match(line)
        if chat_line is not None:
            claim_sentences += _claim_sentences(chat_line["who"], chat_line["text"])
            continue
        repeated = _REPEATED_LINE.match(line)
        if repeated is not None and _is_bit(repeated):
            bit = repeated["text"].lower()
            bit_sentences.append(f'Running bit: chat kept saying "{bit}".')
    sentences = claim_sentences[:_MAX_CLAIMS] + bit_sentences[:_MAX_BITS]
    return _sentences_that_fit(sentences, _MAX_SUMMARY_WORDS) or NOTHING


def _claim_sentences(handle: str, text: str) -> list[str]:
    sentences = []
    for claim in claims(text):
        # "P1's favourite game is Celeste."
        subject = f"{handle}{_OWN}" if claim.startswith("favo") else handle
        sentences.append(f"{subject} {claim}.")
    return sentences


def _is_bit(repeated: re.Match[str]) -> bool:
    text = repeated["text"]
    if _COMMON.match(text):
        return False
    if STOPWORDS.issuperset(words(text)):
        return False
    times = int(repeated["times"])
    people = int(repeated["people"])
    return times >= _MIN_BIT_TIMES and people >= _MIN_BIT_PEOPLE


def recap(text: str) -> str:
    """Return a recap of several summaries, one a line."""
    sentences: list[str] = []
    for row in text.splitlines():
        line = _LIST_MARK.sub("", row)
        sentences += _SENTENCE_END.split(line)
    telling = [sentence for sentence in sentences if sentence not in {"", NOTHING}]
    max_words = _MAX_SUMMARY_WORDS // 2
    return _sentences_that_fit(telling, max_words) or "A quiet stream."


def _sentences_that_fit(sentences: Iterable[str], max_words: int) -> str:
    """Return different whole sentences as one text, as many as fit into that many words."""
    fitting: list[str] = []
    for sentence in dict.fromkeys(sentences):
        longer_text = " ".join([*fitting, sentence])
        if len(longer_text.split()) <= max_words:
            fitting.append(sentence)
    return " ".join(fitting)


# ── claims: what a line says of its speaker ─────────────────────────────────────────────────

# Deliberately narrow: what is not clearly so gives nothing. Never more than seven words of a line,
# because a summary does not quote.

_MAX_CLAIM_WORDS = 7
_OWN = "'s"
_PETS = "cat|dog|parrot|bird|rabbit|hamster|horse|fish|snake|turtle|kitten|puppy|pet"
_LASTING_VERBS = """
    live work play own like love hate enjoy prefer study studied speak collect started quit
    stopped finished graduated bought adopted married teach bake cook draw paint write sing
    stream drive main grew run swim climb ski hike knit sew brew garden dance mod speedrun
    practice train build lived worked played learned joined left became travel commute keep
    volunteer repair raise breed ride sail surf skate fish hunt design compose perform rent
    manage coach translate smoke drink eat read dislike
"""
_LASTING = frozenset(_LASTING_VERBS.split())
# What stands in a line that quotes, supposes, wishes or jokes.
_NOT_MEANT = re.compile(
    r"[\"“”«»♪🎵]|\b(?:imagine|suppose|pretend|what if|if (?:i|my|we)|maybe|might|someday|wish|would"
    r"|i['’]d|joking|kidding|kappa|jk|basically|practically|(?:said|says|told me|goes|be like))\b",
    re.IGNORECASE,
)
_NO_OBJECT = ("it", "that", "this", "how", "when", "him", "her", "them", "sure")
_CLAUSE = re.compile(r"(?P<text>[^.!?;:,()]+)(?P<mark>[.!?;:,()]+|\Z)")
_FILLERS = re.compile(
    r"\A(?:\s*\b(?:oh|ok|lol|hey|hi|well|yeah|also|and|but|btw|tbh|honestly|because)\b)*\s*",
    re.IGNORECASE,
)
# Where a claim ends.
_STOP = re.compile(
    r"\s(?:so|but|because|since(?! \d)|if|when|while|which|though|btw|by the way|lol|haha|unless"
    r"|until|[-–—]+)(?:\s|\Z)"
    r"|\sand\s(?=(?:I|my|our|he|she|it|we|you|they|the|that|there|this|can|could|will|would|am|have"
    r"|now|no\w+|every\w+)\b)"
    r"|\s(?:you|your|ur|u)\b|(?<! do)(?<! am)(?<! did)(?<! have)(?<! is)(?<! are)\snot\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"\A(?:just|really|actually|also|mostly|currently|recently|finally)\s+",
    re.IGNORECASE,
)
# Each word is tried in one way (?>…): else the ways of many words multiply.
_EMOTES = re.compile(
    r"(?:\s+(?>[a-z]{2,}[A-Z]\w*|[A-Z]{4,}\w*|LUL\w*|Pog\w*|Kappa\w*|Sadge|:\w+|<3|[^\w\s]+)(?!\S))+\Z"
)
_LINKS = "and|or|of|to|in|on|at|with|for|from|by|near|about|since|that|as"
_TRAILING = re.compile(
    rf"(?:\s+(?:(?:right )?now|too|(?:over )?here|an?|the|their|is|called|named|{_LINKS}))+\Z"
)
# Verbs that claim something only before these words.
_SPECIAL = {
    "am": re.compile(
        r"(?:an?\s(?!bit|little|lot|mess|fan of|mod|admin|vip)|from\s"
        r"|(?:learn|study|train|writ)ing\s|working\s(?:as|on|at|in)\s|allergic\s|afraid\sof\s"
        r"|vegan\b|vegetarian\b|left[- ]handed|married|engaged)"
    ),
    "have": re.compile(
        r"(?:an?|one|two|three|four|\d+)\s(?!bit|few|lot|question|idea|plan)"
        r"|(?:\w+ )?(?:kids|children|twins|daughters|sons|brothers|sisters"
        rf"|{_PETS.replace('|', 's|')}s)\b"
    ),
    "moved": re.compile(r"(?!on\b|past\b)"),
    "used": re.compile("to "),
}
# What is said of "my …", and how a note says it.
_MINE = (
    (
        re.compile(
            rf"my ((?:\w+ )?(?:{_PETS}|wife|husband|partner|brother|sister|band))"
            r" is (?:called|named) ",
            re.IGNORECASE,
        ),
        "has a {} called",
    ),
    (
        re.compile(r"my fav(?:ou?rite)? ([\w' -]{2,25}?) is ", re.IGNORECASE),
        "favourite {} is",
    ),
    (re.compile(r"my (main) is ", re.IGNORECASE), "mains"),
    (re.compile(r"my (car|van|bike) is (?=an? )", re.IGNORECASE), "drives"),
    (re.compile(r"my (job) is (?=an? )", re.IGNORECASE), "works as"),
)


def claims(text: str) -> list[str]:
    """Return what a line's speaker plainly says of themselves, as notes say it: "lives in Oslo"."""
    if _NOT_MEANT.search(text):
        return []
    line_claims: dict[str, None] = {}
    for clause in _CLAUSE.finditer(expand_contractions(text)):
        if "?" in clause["mark"]:
            continue
        clause_text = _FILLERS.sub("", clause["text"])
        beginning, *_ = _STOP.split(clause_text, maxsplit=1)
        claim = _claim(beginning.strip())
        if claim is not None:
            line_claims[claim] = None
    return list(line_claims)


def _claim(clause: str) -> str | None:
    """Return what a clause claims; None if it is nothing clear."""
    for form, verb_phrase in _MINE:
        match = form.match(clause)
        if match is not None:
            thing = in_third_person(match[1])
            rest = clause[match.end() :]
            return _short_claim(verb_phrase.format(thing), rest)
    if not clause.startswith("I "):
        return None
    predicate = _ADVERB.sub("", clause[2:].strip())
    verb, _, rest = predicate.partition(" ")
    verb = verb.lower()
    rest = rest.strip()
    if not _is_claim(verb, rest):
        return None
    return _short_claim(third_person(verb), rest)


def _is_claim(verb: str, rest: str) -> bool:
    special_form = _SPECIAL.get(verb)
    if special_form is not None:
        return special_form.match(f"{rest} ") is not None
    if verb not in _LASTING or not rest:
        return False
    return not rest.lower().startswith(_NO_OBJECT)


def _short_claim(verb: str, rest: str) -> str | None:
    """Return the claim; None if it takes more than a few words."""
    # An emote at the end is no part of it, and neither is a word that waits for the next one.
    without_emotes = _EMOTES.sub("", f" {in_third_person(rest)}")
    without_links = _TRAILING.sub("", without_emotes)
    value = without_links.strip(" ,'-*~")
    claim = f"{verb} {value}"
    is_short = len(claim.split()) <= _MAX_CLAIM_WORDS
    return claim if value and is_short else None


# ── notes: from the sentences of a summary ──────────────────────────────────────────────────

_ABOUT = re.compile(rf"\A(?P<who>P\d+)(?:{_OWN})?\s+(?P<fact>.{{3,180}}?)\.?\Z")
_ABOUT_CHANNEL = re.compile(r"\A(?P<who>Channel|Running bit): (?P<fact>.{3,160}?)\.?\Z")
# "P1's favourite game is Celeste."
_VERBS = {third_person(verb) for verb in (*_LASTING, *_SPECIAL)} | {"favourite"}
# What is soon over, and remembered for a week.
_PASSING = re.compile(
    r"\b(?:to(?:day|night|morrow)|yesterday|right now|(?:this|next) (?:week|month)|wants to\b)"
)
# What people ask with, and what facts of that kind say: "pet" is answered by "cat".
_KIND_WORDS = (
    ("home where live city country from", "moved lives from born grew"),
    ("pets pet animal", _PETS.replace("|", " ")),
    ("work job profession", "works work job nurse teacher engineer"),
    ("music instrument band play", "drums guitar piano bass violin band sings"),
    ("games game play favourite main", "game games mains speedruns chess"),
    ("travel drive car vehicle driving", "drives car van bike train"),
    ("languages language speak", "speaks language languages"),
    ("jokes joke meme running bit", "bit saying"),
    ("likes like love favourite", "favourite loves likes prefers enjoys"),
)
_SUBJECTS = {"Channel": "channel", "Running bit": "bit"}
_KINDS = tuple((asked.split(), answering.split()) for asked, answering in _KIND_WORDS)


def extract(prompt: str) -> str:
    """Return the facts of one episode as JSON text.

    The memory finds out by itself what they change of what is known.
    """
    # A prompt without any block is an episode by itself.
    blocks = fenced_texts(prompt) or {"episode": prompt}
    episode = " ".join(blocks.get("episode", "").split())
    notes = []
    for sentence in dict.fromkeys(_SENTENCE_END.split(episode)):
        note = _note(sentence.strip())
        if note is not None:
            notes.append(note)
    return _json({"notes": notes[:_MAX_NOTES]})


def _note(sentence: str) -> dict[str, Any] | None:
    """Return the note that a sentence makes; None if it makes none."""
    about_viewer = _ABOUT.match(sentence)
    statement = about_viewer or _ABOUT_CHANNEL.match(sentence)
    if statement is None:
        return None
    fact = statement["fact"]
    # A model's summary says more of people than that: only what a claim says is a fact for rules.
    if about_viewer is not None and fact.split()[0] not in _VERBS:
        return None
    written_subject = statement["who"]
    subject = _SUBJECTS.get(written_subject, written_subject)
    fact_words = words(fact)
    topics: list[str] = []
    asked_with: list[str] = []
    for asking, answering in _KINDS:
        if not set(answering).isdisjoint(fact_words):
            topics.append(asking[0])
            asked_with += [word for word in asking if word not in fact_words]
    return {
        "who": subject,
        "fact": fact,
        "lifetime": "7d" if _PASSING.search(fact) else "permanent",
        "topics": topics[:3],
        "asked_with": asked_with[:6],
        "said_by": subject if about_viewer is not None else "",
    }


# ── replies: a note's own words, an action in plain words, or silence ───────────────────────

_NOTE = re.compile(
    r"\A\s*(?:(?P<about>[^\[\]:]{1,60}):\s*)?\[id:(?P<id>\d+)(?P<known>[^\[\]]*)\]"
    r"\s*(?P<fact>.*?)\s*\Z"
)
_LINE = re.compile(r"\A\s*(?P<who>[^:]{1,60}):\s*(?P<text>.*)\Z")
_BOT = re.compile(r"\AYou are (?P<name>[^,\n]{1,60}),")
_QUESTION = re.compile(
    r"\?\W*\Z|\A\W*(?:what|where|when|who|which|how|do|does|did|is|are|was)\b",
    re.IGNORECASE,
)
_MYSELF = re.compile(r"\b(?:i|me|my|mine|am)\b", re.IGNORECASE)
# Words of a question that say nothing about its topic.
_ASKING_WORDS = "know knows remember tell again please exactly name named called"
_ASKING = frozenset(_ASKING_WORDS.split())
_ACTIONS = (
    (re.compile(r"\bclip (?:that|this|it)\b", re.IGNORECASE), "clip"),
    (re.compile(r"\bmark (?:that|this|it)\b", re.IGNORECASE), "marker"),
    (re.compile(r"\btime ?(?:me out|out me)\b", re.IGNORECASE), "timeout"),
)


class _Candidate(NamedTuple):
    """A note that may answer. `about`: a name, "" for the speaker, None for the channel."""

    about: str | None
    note: re.Match[str]


def answer(
    system: str,
    prompt: str,
    language: str,
) -> Mapping[str, Any]:
    """Return the reply object to a prompt's message, in the interface's language."""
    blocks = fenced_texts(prompt)
    speaker, message = _message(blocks)
    text = _without_bot_name(message, system)
    for pattern, name in _ACTIONS:
        if pattern.search(text):
            action = {"name": name}
            if name == "timeout":
                action["target"] = speaker
            return {"action": action, "notes": [], "say": ""}
    candidate = _best_candidate(speaker, text, blocks)
    if candidate is None:
        return {"action": None, "notes": [], "say": ""}
    note_id = int(candidate.note["id"])
    quote = _quote(candidate, language)
    return {"action": None, "notes": [note_id], "say": quote}


def _without_bot_name(message: str, system: str) -> str:
    """Return a message without the words that call the bot, which are no part of its question."""
    bot = _BOT.match(system)
    bot_name = re.escape(bot["name"]) if bot else "bot"
    called_bot = rf"\A\W*@\w+[,:]?|@?\b{bot_name}\b[,:]?"
    text = re.sub(called_bot, " ", message, flags=re.IGNORECASE)
    return text.strip()


def _quote(candidate: _Candidate, language: str) -> str:
    """Return a sentence with the words of a note."""
    say = in_language(language)
    note = candidate.note
    fact = note["fact"].strip().rstrip(".")
    if candidate.about is None:
        return say("quote.notes", who=say("chat.channel"), fact=fact)
    subject = candidate.about or say("chat.own")
    # What others said of somebody is quoted as that, not as a fact.
    if "said by others" in note["known"]:
        return say("quote.others", who=subject, fact=fact)
    return say("quote.notes", who=subject, fact=fact)


def _message(blocks: Mapping[str, str]) -> tuple[str, str]:
    """Return who speaks last in the prompt's message, and all that they say in it."""
    speaker = ""
    texts_by_speaker = defaultdict[str, list[str]](list)
    for row in blocks.get("message", "").splitlines():
        line = _LINE.match(row)
        if line is not None:
            speaker = line["who"].strip()
            texts_by_speaker[speaker].append(line["text"])
    return speaker, " ".join(texts_by_speaker[speaker])


def _best_candidate(
    speaker: str,
    text: str,
    blocks: Mapping[str, str],
) -> _Candidate | None:
    """Return the note with most of a question's words; None if none has half of them."""
    if not _QUESTION.search(text):
        return None
    candidates = _candidates(text, blocks)
    asked_words = set(words(text)) - STOPWORDS - _ASKING
    asked_stems = {stem(word) for word in asked_words}
    # Names say whom a question is about, not what it asks.
    asked_stems -= set(stems(speaker))
    for candidate in candidates:
        asked_stems -= set(stems(candidate.about or ""))
    best = None
    # More than half of the stems: fewer are shared by chance.
    best_count = len(asked_stems) // 2
    for candidate in candidates:
        shared_count = _shared_count(candidate, asked_stems)
        if shared_count > best_count:
            best = candidate
            best_count = shared_count
    return best


def _candidates(text: str, blocks: Mapping[str, str]) -> list[_Candidate]:
    """Return the notes of those whom a text names; else the speaker's own, or the channel's."""
    text_words = set(words(text))
    # "bobs cat" names bob.
    may_be_names = text_words | {word.removesuffix("s") for word in text_words}
    candidates = []
    for note in _notes(blocks.get("others", "")):
        name = (note["about"] or "").strip()
        if not may_be_names.isdisjoint(words(name)):
            candidates.append(_Candidate(name, note))
    if candidates:
        return candidates
    if _MYSELF.search(text):
        return [_Candidate("", note) for note in _notes(blocks.get("lore", ""))]
    for block, block_text in blocks.items():
        if block.startswith("channel_notes"):
            candidates += [_Candidate(None, note) for note in _notes(block_text)]
    return candidates


def _shared_count(candidate: _Candidate, asked_stems: AbstractSet[str]) -> int:
    """Return how many of the asked stems a note has, or words of their kind.

    "joke" is answered by "blame the ladder".
    """
    note_stems = set(stems(candidate.note["fact"]))
    answered_stems = set(note_stems)
    for asking, answering in _KINDS:
        if not note_stems.isdisjoint(map(stem, answering)):
            answered_stems.update(map(stem, asking))
    return len(asked_stems & answered_stems)


def _notes(block_text: str) -> list[re.Match[str]]:
    """Return the notes in a block of the prompt."""
    notes = []
    for line in block_text.splitlines():
        note = _NOTE.match(line)
        if note is not None:
            notes.append(note)
    return notes
