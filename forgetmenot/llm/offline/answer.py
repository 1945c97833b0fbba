"""A reply by rules: the note in the prompt that plainly answers the question, quoted; else silence. Pure.

Guarantees:
- It says nothing but a note's own words, and only where the note holds every word that the question asks about, where
  text/questions takes it for an answer, or where a model's answer (`quotation`) was made of it.
- It proposes an action only where the speaker asks for it in plain words, and leaves what is said of it to
  operations/wording.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from forgetmenot.languages import in_language
from forgetmenot.text.mentions import fenced
from forgetmenot.text.questions import ANSWERS, answers, asked_about, taken_words, without_names
from forgetmenot.text.statement_rules import stems_of_topic
from forgetmenot.text.statements import claims, fact_of
from forgetmenot.text.words import STOPWORDS, stem, telling_stems, words

MOST_QUOTED = 3
CHANNEL = "#"
_NOTE = re.compile(
    r"\A\s*(?:(?P<about>[^\[\]:]{1,60}):\s*)?\[(?:id:\d+|just now)(?P<known>[^\[\]]*)\]\s*(?P<fact>.*?)\s*\Z"
)
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
    return {"action": action, "say": "" if action else _quoted(message, language)}


def quotation(system: str, prompt: str, language: str, said: str) -> str:
    """The note that answers, quoted; else the one that a model took what it `said` from; else nothing."""
    message = _message(system, prompt)
    return "" if _asked_for(message) else _quoted(message, language, said)


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


def _quoted(message: _Message, language: str, said: str = "") -> str:
    """The notes that plainly answer, quoted in one sentence; nothing where there is none."""
    who, text, blocks = message
    spoken = set(words(text))
    named = spoken | {word[:-1] for word in spoken if word.endswith("s")}  # "bobs cat"
    mine = [("", note) for note in _notes(blocks.get("lore", ""))]
    others = [(note["about"].strip(), note) for note in _notes(blocks.get("others", "")) if note["about"]]
    about = [(name, note) for name, note in others if set(words(name)) & named]
    channel = [
        (CHANNEL, note) for key, body in blocks.items() if key.startswith("channel_notes") for note in _notes(body)
    ]
    if _ALL_ABOUT_ME.search(text):
        return _sentence(mine[:MOST_QUOTED], language)
    # first a note with every word of the question; the trained table below is asked where there is none
    asked = {stem(word) for word in spoken - STOPWORDS - _ASKING} - _stems(who)
    asked -= {one for name, _ in about for one in _stems(name)}
    if asked and _QUESTION.search(text):
        pool = about or (mine if _MINE.search(text) else channel)
        for name, note in pool:
            have = _stems(note["fact"])
            # or a word of its kind: "joke" is answered by "blame the ladder"
            if all(word in have or have & stems_of_topic(word) for word in asked):
                return _sentence([(name, note)], language)
    names = {name.casefold() for name, _ in about}
    line = without_names(text, lambda word: word.strip("@").casefold() in names)
    pool = {"me": mine, "person": about, "channel": channel}.get(asked_about(line), [])
    facts = [note["fact"] for _, note in pool]
    asked_stems, said_stems = telling_stems(text, 2), telling_stems(said, 2)
    likely: list[float] = [answers(line, fact) for fact in facts]
    taken: list[float] = [taken_words(telling_stems(fact, 2), said_stems, asked_stems) for fact in facts]
    for worth, least in ((likely, ANSWERS), (taken, 1)):
        if max(worth, default=0.0) >= least:
            return _sentence([pool[worth.index(max(worth))]], language)
    return ""


def _sentence(notes: list[tuple[str, re.Match[str]]], language: str) -> str:
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
