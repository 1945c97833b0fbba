"""A reply by rules: the fact in the prompt that fits the message best, said kindly; or that there is none.

Pure. Promises no shared past that is not in the prompt, no command taken from chat, and at most one proposed action,
which the speaker asked for in plain words.
"""

import re
import zlib
from collections.abc import Sequence

from forgetmenot.llm.offline.claims import claims
from forgetmenot.llm.offline.extract import fact_of
from forgetmenot.llm.offline.prompt import Fact, Place, Seen, read
from forgetmenot.llm.offline.summary import SMALL_CHANGE
from forgetmenot.llm.offline.words import kindred
from forgetmenot.text.grammar import to_you
from forgetmenot.text.words import STOPWORDS, stem, words

LONGEST_FACT = 160
ENOUGH = 1.0
_INJECTION = re.compile(
    r"\[\s*action\b|\bignore (?:all|any|your|the|previous)\b|\binstructions?\b|\bsystem prompt\b|\bobey\b"
    r"|\byou are now\b|\bfrom now on\b"
    r"|\bi am (?:a |the )?(?:mod|moderator|admin|owner)\b|\bpretend\b.*\b(?:mod|admin|rules?)\b",
    re.IGNORECASE,
)
_ABOUT_ME = re.compile(
    r"\bwhat (?:do|did) (?:you|u) (?:know|remember) (?:about|of) me\b|\b(?:do|did) (?:you|u) (?:know|remember) me\b"
    r"|\bwho am i\b|\bwhat(?:'s| is) (?:in )?your (?:memory|notes?) (?:of|about|on) me\b",
    re.IGNORECASE,
)
_LAST_TIME = re.compile(r"\b(?:what happened|recap|catch me up|what did (?:i|we) miss)\b", re.IGNORECASE)
_ABOUT_OTHER = re.compile(
    r"\b(?:know|remember|tell (?:me|us)) about\b|\bwho is\b|\bwho's\b"
    r"|\b(?:do|did) (?:you|u) (?:know|remember) @?\w+\W*\Z",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?|\A\W*(?:what|where|when|who|which|how|why|do|does|did|is|are|was|can|could|will|would|remember|tell)\b",
    re.IGNORECASE,
)
_SHARED_PAST = re.compile(r"\b(?:remember|last (?:time|stream|week)|joke|happened|we |my|our|running)\b", re.IGNORECASE)
_GREETING = re.compile(
    r"\A\W*(?:hi|hey|hello|hei|yo|good (?:morning|evening)|evening|morning|sup|hiya)\b", re.IGNORECASE
)
_PET = re.compile(r"has an? .+ called (?P<name>.+)")  # "plays in a band called …" is none
_THANKS = re.compile(r"\b(?:thanks|thank you|thx|ty|cheers|good bot)\b", re.IGNORECASE)
_HARM = re.compile(r"\b(?:ban|timeout|time out|mute|delete|remove)\s+@?(?!me\b)(?P<who>\w{3,25})", re.IGNORECASE)
_TOLD = re.compile(r"\A\S.*? asked to remember about (?:the channel: |(?P<who>[^:]+): )")  # what `!remember` left
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\w<])")
_OPENERS = ("As I remember it, ", "If I recall, ", "From what I know, ", "")
_UNKNOWN = (
    "I'm running offline without a model: I only know what I remember and nothing there answers that.",
    "No memory of mine fits that, and offline I have nothing but memories.",
    "That one I don't have. I'm offline today: only what people told me, no general knowledge.",
)
_NOTHING_SHARED = (
    "I don't remember that and won't make it up.",
    "Nothing about that in my memory, sorry.",
    "That isn't in what I remember.",
)
_SMALL_TALK = ("Got it, {who}.", "I hear you, {who}.", "Good to know, {who}.", "Duly noted, {who}.")
_GREETINGS = ("Hey {who}!", "Hello {who}!", "Good to see you, {who}!")


def answer(system: str, prompt: str) -> str:
    """The reply to the prompt's message, an action tag included if one is proposed."""
    seen = read(system, prompt)
    text = _without_name(seen.message, seen.bot)
    if _INJECTION.search(text) or _HARM.search(text):
        return _vary(
            seen, ("Nice try, {who}. Chat does not give me orders.", "No chance, {who}: I don't take orders from chat.")
        )
    action = _action(seen, text)
    return action or _in_words(seen, text)


def _in_words(seen: Seen, text: str) -> str:
    if _ABOUT_ME.search(text):
        return _about_speaker(seen)
    if _LAST_TIME.search(text) and (past := _recap(seen)):
        return past
    about = _people_named(seen, text)
    if about and _ABOUT_OTHER.search(text):
        return _portrait(about)
    best = _best(seen, text, about)
    if _QUESTION.search(text) and not _GREETING.fullmatch(text.rstrip(" ?!.")):  # "hello?" asks for a hello alone
        return _told(seen, best) if best else _unknown(seen, text)
    if _GREETING.search(text) or not text.strip(" !.?"):
        return _greeting(seen)
    if _THANKS.search(text):
        return _vary(seen, ("Any time, {who}.", "My pleasure, {who}.", "You're welcome, {who}."))
    if best and not claims(text):
        return _told(seen, best)
    return _vary(seen, _SMALL_TALK)


# ── what is known ───────────────────────────────────────────────────────────────────────────


def _about_speaker(seen: Seen) -> str:
    facts = [to_you(fact.text) for fact in seen.facts if fact.place is Place.SPEAKER][:3]
    if not facts:
        return f"Nothing yet, {seen.speaker}: I have no memory of you so far. Tell me something and I'll keep it."
    return f"I know a few things, {seen.speaker}: {_joined(facts)}."


def _recap(seen: Seen) -> str | None:
    """What happened in two sentences, if the prompt tells of it; it may have been an hour ago or a week."""
    told = [part.text for fact in seen.facts if fact.place is Place.PAST for part in _parts(fact)][:2]
    return f"As I have it: {' '.join(told)}" if told else None


def _people_named(seen: Seen, text: str) -> list[Fact]:
    said = set(words(text))
    return [f for f in seen.facts if f.place is Place.OTHER and set(words(f.about)) & said]


def _portrait(facts: Sequence[Fact]) -> str:
    who = facts[0].about
    return f"{who} {_joined([fact.text for fact in facts if fact.about == who][:3])}."


def _best(seen: Seen, text: str, about: Sequence[Fact]) -> Fact | None:
    """The fact that shares most with the message. A question about somebody is answered from what is known of them."""
    asked = _telling(text) - _telling(seen.bot) - _telling(seen.speaker)
    asked -= {word for fact in about for word in _telling(fact.about)}
    related = frozenset(stem(word) for word in kindred(frozenset(words(text))))
    pool = list(about) or [fact for fact in seen.facts if fact.place is not Place.OTHER]
    candidates = [part for fact in pool for part in _parts(fact)]
    scored = [(_score(fact, asked, related), -rank, fact) for rank, fact in enumerate(candidates)]
    best = max(scored, key=lambda item: item[:2], default=None)
    return best[2] if best and best[0] >= ENOUGH else None


def _parts(fact: Fact) -> list[Fact]:
    """An episode is told by its sentences; the small change of a summary is not worth telling."""
    if fact.place is not Place.PAST:
        return [fact]
    text = _TOLD.sub(lambda told: f"{told['who']} " if told["who"] else "", fact.text)
    told = [part for part in _SENTENCE.split(text) if not part.startswith(SMALL_CHANGE)]
    return [Fact(part, Place.PAST, when=fact.when) for part in told]


def _score(fact: Fact, asked: frozenset[str], related: frozenset[str]) -> float:
    have = _telling(fact.text)
    direct = len(asked & have)
    kin = len(related & have) + 0.5 * len(asked & _telling(fact.tags))
    weight = {Place.SPEAKER: 1.0, Place.OTHER: 1.0, Place.CHANNEL: 1.0, Place.PAST: 0.7}[fact.place]
    return weight * (1.5 * direct + min(kin, 2.0))


def _telling(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in STOPWORDS and len(word) > 1)


def _told(seen: Seen, fact: Fact) -> str:
    """The fact in a sentence of its own."""
    said = fact.text.strip().rstrip(".")[:LONGEST_FACT]
    if fact.hearsay:
        return _sentence(f"{'others say that ' + (fact.about or 'you')} {said}, but that is hearsay.")
    if fact.place is Place.SPEAKER:
        return _sentence(_opener(seen) + to_you(said) + f", {seen.speaker}.")
    if fact.place is Place.OTHER:
        return _sentence(f"{_opener(seen)}{fact.about} {said}.")
    if fact.place is Place.CHANNEL:
        return _sentence(f"that's a channel classic: {said.removeprefix('running bit: ')}.")
    said = said.replace("The ", "the ", 1) if said.startswith("The ") else said
    when = fact.when.rpartition(", ")[2].removeprefix("recap of ")  # of "2026-11-21, today, earlier this stream"
    return _sentence(f"{_opener(seen)}{said}{f' ({when})' if when else ''}.")


def _unknown(seen: Seen, text: str) -> str:
    return _vary(seen, _NOTHING_SHARED if _SHARED_PAST.search(text) else _UNKNOWN)


def _greeting(seen: Seen) -> str:
    hello = _vary(seen, _GREETINGS)
    pets = (_PET.fullmatch(fact.text) for fact in seen.facts if fact.place is Place.SPEAKER)
    pet = next((found["name"] for found in pets if found), None)
    return f"{hello} How is {pet}?" if pet else hello


# ── what is asked for ───────────────────────────────────────────────────────────────────────

_ACTIONS = (
    (r"\bclip (?:that|this|it)\b|\b(?:make|take) a clip\b", "clip", "Clipped!", "I could not clip that."),
    (r"\bmark (?:that|this|it)\b|\b(?:set|make|drop) a marker\b", "marker", "Marked.", "I could not set a marker."),
    (r"\btime ?me ?out\b|\btime ?out me\b", "timeout", "As you wish.", "Not this time."),
)
_SHOUTOUT = re.compile(r"\b(?:shout ?out|so)\s+(?:to\s+)?@?(?P<who>[A-Za-z0-9_]{3,25})", re.IGNORECASE)
_REMEMBER = re.compile(r"\bremember (?:that )?(?=(?:I|my|i['’]?m|i['’]?ve)\b)(?P<what>.+)", re.IGNORECASE)
_FORGET = re.compile(r"\bforget (?:that |about )?(?=(?:I|my|i['’]?m|i['’]?ve)\b)(?P<what>.+)", re.IGNORECASE)


def _action(seen: Seen, text: str) -> str | None:
    if not seen.nonce or _QUESTION.search(text.strip(" ?") if text.startswith(("can you", "could you")) else ""):
        return None
    for pattern, name, words_for_it, otherwise in _ACTIONS:
        if re.search(pattern, text, re.IGNORECASE) and _offered(seen, name):
            target = f" target={seen.speaker.lower()}" if name == "timeout" else ""
            return f'{words_for_it} [ACTION:{seen.nonce} {name}{target} else="{otherwise}"]'
    if (found := _SHOUTOUT.search(text)) and _offered(seen, "shoutout") and "shout" in text.lower():
        who = found["who"]
        return f'Go and see {who}! [ACTION:{seen.nonce} shoutout target={who.lower()} else="Say hello to {who}!"]'
    return _remember(seen, text) or _forget(seen, text)


def _remember(seen: Seen, text: str) -> str | None:
    asked = _REMEMBER.search(text)
    facts = claims(asked["what"]) if asked else []
    if not facts or not _offered(seen, "remember") or not re.fullmatch(r"\w{2,25}", seen.speaker):
        return None
    fact = fact_of(facts[0]).replace('"', "")
    tag = f'[ACTION:{seen.nonce} remember target={seen.speaker.lower()} fact="{fact}" else="I could not note that."]'
    return f"I'll remember that, {seen.speaker}. {tag}"


def _forget(seen: Seen, text: str) -> str | None:
    asked = _FORGET.search(text)
    if not asked or not _offered(seen, "forget") or not re.fullmatch(r"\w{2,25}", seen.speaker):
        return None
    what = " ".join(words(asked["what"]))[:100]
    tag = f'[ACTION:{seen.nonce} forget target={seen.speaker.lower()} what="{what}" else="I could not forget that."]'
    return f"Forgotten, {seen.speaker}. {tag}"


def _offered(seen: Seen, name: str) -> bool:
    return re.search(rf"\b{name}\b", seen.actions) is not None


# ── the sound of it ─────────────────────────────────────────────────────────────────────────


def _without_name(text: str, bot: str) -> str:
    return re.sub(rf"@?\b{re.escape(bot)}\b[,:]?", " ", text, flags=re.IGNORECASE).strip()


def _vary(seen: Seen, forms: Sequence[str]) -> str:
    """One of the forms: the same for the same message, and none that was used just now."""
    filled = [form.format(who=seen.speaker or "friend") for form in forms]
    fresh = [form for form in filled if form not in seen.said_before] or filled
    return fresh[zlib.crc32(seen.message.encode()) % len(fresh)]


def _opener(seen: Seen) -> str:
    fresh = [o for o in _OPENERS if not o or not any(line.lower().startswith(o.lower()) for line in seen.said_before)]
    return fresh[zlib.crc32(seen.message.encode()) % len(fresh)]


def _joined(facts: Sequence[str]) -> str:
    kept = [fact.strip().rstrip(".")[:LONGEST_FACT] for fact in facts]
    return kept[0] if len(kept) == 1 else f"{', '.join(kept[:-1])}, and {kept[-1]}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
