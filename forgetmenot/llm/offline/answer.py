"""A reply by rules: the note in the prompt that plainly answers the question, quoted; else silence. Pure.

Guarantees:
- It says nothing but a note's own words, and only where the note holds every word that the question asks about, or
  where text/questions takes it for an answer.
- It proposes an action only where the speaker asks for it in plain words.
"""

import re
from collections.abc import Mapping
from typing import Any

from forgetmenot.text.mentions import fenced
from forgetmenot.text.questions import ANSWERS, answers, asked_about, without_names
from forgetmenot.text.statement_rules import stems_of_topic
from forgetmenot.text.statements import claims, fact_of
from forgetmenot.text.words import STOPWORDS, stem, words

MOST_QUOTED = 3
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
    (r"\bclip (?:that|this|it)\b", "clip", "Clipped.", "I could not clip that."),
    (r"\bmark (?:that|this|it)\b", "marker", "Marked.", "I could not set a marker."),
    (r"\btime ?(?:me out|out me)\b", "timeout", "As you wish.", "I may not do that."),
)
_REMEMBER = re.compile(r"\b(?P<verb>remember|forget) (?:that )?(?P<what>(?:I|my|i['’]?m|i['’]?ve)\b.+)", re.IGNORECASE)


def answer(system: str, prompt: str) -> Mapping[str, Any]:
    """The reply object to a prompt's message."""
    blocks = fenced(prompt)
    lines = [found for line in blocks.get("message", "").splitlines() if (found := _LINE.match(line))]
    if not lines:
        return {"action": None, "say": ""}
    who = lines[-1]["who"].strip()
    text = " ".join(line["text"] for line in lines if line["who"].strip() == who)
    bot = _BOT.match(system)
    name = re.escape(bot["name"]) if bot else "bot"
    text = re.sub(rf"\A\W*@\w+[,:]?|@?\b{name}\b[,:]?", " ", text, flags=re.IGNORECASE).strip()
    if asked := _asked_for(text, who):
        return asked
    return {"action": None, "say": _quoted(text, who, blocks)}


def _asked_for(text: str, who: str) -> Mapping[str, Any] | None:
    """The action that the speaker asks for in plain words."""
    for pattern, name, say, if_refused in _ACTIONS:
        if re.search(pattern, text, re.IGNORECASE):
            target = {"target": who} if name == "timeout" else {}
            return {"action": {"name": name, **target}, "say": say, "if_refused": if_refused}
    asked = None if text.rstrip().endswith("?") else _REMEMBER.search(text)
    if asked is None:
        return None
    if asked["verb"].lower() == "forget":
        forget = {"name": "forget", "target": who, "what": " ".join(words(asked["what"]))[:100]}
        return {"action": forget, "say": "Forgotten.", "if_refused": "I could not forget that."}
    facts = claims(asked["what"])
    if not facts:
        return None
    remember = {"name": "remember", "target": who, "fact": fact_of(facts[0])}
    return {"action": remember, "say": "I'll remember that.", "if_refused": "I could not note that."}


def _quoted(text: str, who: str, blocks: Mapping[str, str]) -> str:
    """The notes that plainly answer, quoted in one sentence; nothing where there is none."""
    said = set(words(text))
    mine = [("you", note) for note in _notes(blocks.get("lore", ""))]
    others = [(note["about"].strip(), note) for note in _notes(blocks.get("others", "")) if note["about"]]
    about = [(name, note) for name, note in others if set(words(name)) & said]
    channel = [
        ("the channel", note)
        for key, body in blocks.items()
        if key.startswith("channel_notes")
        for note in _notes(body)
    ]
    if _ALL_ABOUT_ME.search(text):
        return _sentence(mine[:MOST_QUOTED])
    asked = {stem(word) for word in said - STOPWORDS - _ASKING} - _stems(who)
    asked -= {one for name, _ in about for one in _stems(name)}
    if asked and _QUESTION.search(text):
        pool = about or (mine if _MINE.search(text) else channel)
        if plain := [one for one in pool if _holds_all(one[1]["fact"], asked)][:1]:
            return _sentence(plain)
    names = {name.casefold() for name, _ in about}
    line = without_names(text, lambda word: word.strip("@").casefold() in names)
    pool = {"me": mine, "person": about, "channel": channel}.get(asked_about(line), [])
    likely = max(((answers(line, note["fact"]), at) for at, (_, note) in enumerate(pool)), default=(0.0, 0))
    return _sentence([pool[likely[1]]]) if likely[0] >= ANSWERS else ""


def _holds_all(fact: str, asked: set[str]) -> bool:
    """Whether the fact holds each word, or one of its kind: "joke" is answered by "blame the ladder"."""
    have = _stems(fact)
    return all(word in have or have & stems_of_topic(word) for word in asked)


def _sentence(notes: list[tuple[str, re.Match[str]]]) -> str:
    if not notes:
        return ""
    name, first = notes[0]
    facts = "; ".join(f"“{note['fact'].strip().rstrip('.')}”" for _, note in notes)
    hearsay = "said by others" in first["known"]
    return f"Others say about {name}: {facts}." if hearsay else f"My notes about {name} say: {facts}."


def _notes(body: str) -> list[re.Match[str]]:
    return [found for line in body.splitlines() if (found := _NOTE.match(line))]


def _stems(text: str) -> set[str]:
    return {stem(word) for word in words(text)}
