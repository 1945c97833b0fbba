"""Whether a sentence says that something was done to somebody or to the channel. Pure.

One grammar, made of what the catalogue says about each action, with two strictnesses. `claims` is for the words of a
refusal and hears any clause that tells of a deed, a promise ("I'll time you out") too. `claims_own` is for a reply that
proposed nothing and hears what the bot says it did itself, so that ordinary talk of past and present stays whole.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from forgetmenot.actions.catalogue import ACTIONS
from forgetmenot.actions.entry import Action
from forgetmenot.text.lookalikes import skeleton

_TOLD = "|".join(action.tells for action in ACTIONS if action.tells)
_CLAIM = re.compile(rf"\b(?:{_TOLD}|purg(?:ed|ing)|executed|approved)\b")
_DONE = re.compile(r"\b(?:done|all set|it is so|consider it)\b")
_DENIAL = re.compile(
    r"\b(?:can(?:'|no)?t|cannot|can not|won'?t|will not|not|no|never|nope|unable|nobody|nothing"
    r"|(?:was|is|did|have|has|had|do|does|would|could)n'?t|refused?)\b"
    r"(?!(?<=\bno) (?:problem|worries|doubt|question|kidding)\b|(?<=not) only\b|(?<=t) (?:believe|wait|help)\b)"
)
_ABROAD = "|".join(
    skeleton(word)
    for word in (
        *("gebannt", "verbannt", "banni", "bannie", "baneado", "baneada", "baneé", "banido", "banida"),
        *("bannato", "bannata", "zbanowany", "zbanowałem", "забанил", "забанила", "забанен", "замутил"),
    )
)
_ABROAD_CLAIM = re.compile(rf"\b(?:{_ABROAD})\b")
_ABROAD_OWN = re.compile(rf"\b(?:ich hab\w*|j'ai|he|ho|eu|я|ja)(?:\s+\S+){{0,4}}?\s+(?:{_ABROAD})\b")
_ABROAD_DENIAL = re.compile(
    rf"\b(?:nicht|kein\w*|niemals|nie|pas|jamais|non|nao|nunca|mai|nadie)\b|\b{skeleton('не')}\s+\S*[а-я]"
)
_SUPPOSED = re.compile(r"\b(?:if|would|could|should|might|nearly|almost|wish|imagine)\b")
_RECALLED = re.compile(
    r"\bremembered (?:that )?(?:you|he|she|they|we|how|when|who|what)\b|\b(?:i|we)(?: \w+)? forgot\b"
)  # a memory speaks so without having done anything
_LONG_AGO = re.compile(
    r"\b(?:last|past|previous) (?:night|week|month|year|time|season|stream)\b|\byesterday\b|\bthe whole time\b"
    r"|\b(?:year|month|week|day)s? ago\b|\bin (?:19|20)\d\d\b"
    r"|\bonce\b(?! (?:again|more|and for all))|\bback (?:in|then)\b"
)
_MARKUP = re.compile(r"[*_~`]")
_FIRST = re.compile(r"\b(?:i|we)\b")
_CLAUSE = re.compile(r"([.!?;,…\n]+)|\b(?:but|and(?! for all\b)|so|then|because)\b")


def claims(text: str) -> bool:
    """Whether any clause of the text tells of a deed without denying it."""
    return any(
        ((_CLAIM.search(one) or _DONE.search(one)) and not _DENIAL.search(one)) or _is_claim_abroad(one, _ABROAD_CLAIM)
        for one in _clauses(text)
    )


def claims_more(text: str, done: Collection[str]) -> bool:
    """Whether any clause tells of another deed than the actions of those names, which were done."""
    known = _words_of(frozenset(done))
    return any(_CLAIM.search(known.sub(" ", one)) and not _DENIAL.search(one) for one in _clauses(text))


def claims_own(text: str, done: Collection[str] = ()) -> bool:
    """Whether any clause says that the bot did something, by "I", in the passive or bare; but for what was done."""
    known = _words_of(frozenset(done))
    return any(
        (_OWN.search(_NO_DEED.sub(" ", known.sub(" ", one))) and not _is_harmless(one))
        or _is_claim_abroad(one, _ABROAD_OWN)
        for one in (*_statements(text), *_statements(_MARKUP.sub("", text)))
    )


def _is_claim_abroad(clause: str, claim: re.Pattern[str]) -> bool:
    return bool(claim.search(clause)) and not (_ABROAD_DENIAL.search(clause) or _DENIAL.search(clause))


def _is_harmless(clause: str) -> bool:
    if any(pattern.search(clause) for pattern in (_DENIAL, _SUPPOSED, _RECALLED)):
        return True
    return bool(_LONG_AGO.search(clause)) and not _FIRST.search(clause)


def _clauses(text: str) -> list[str]:
    return [clause for clause, _ in _marked(text)]


def _statements(text: str) -> list[str]:
    """The clauses but for questions, which tell nothing where they do not speak of "I"."""
    return [clause for clause, mark in _marked(text) if "?" not in mark or _FIRST.search(clause)]


def _marked(text: str) -> list[tuple[str, str]]:
    """Each clause with the marks that end it."""
    parts = _CLAUSE.split(skeleton(text).replace("’", "'"))
    return [(clause.strip(), mark or "") for clause, mark in zip(parts[::2], [*parts[1::2], ""], strict=True)]


@lru_cache(maxsize=64)
def _words_of(names: frozenset[str]) -> re.Pattern[str]:
    """The words that tell of these actions."""
    tells = [action.tells for action in ACTIONS if action.name in names and action.tells]
    return re.compile(rf"\b(?:{'|'.join(tells)})\b" if tells else r"(?!)")


# ── how one says that one did it ────────────────────────────────────────────────────────────

_I = r"\b(?:i|we)(?:'ve|'m)?(?:\s+(?:have|am|just|already|now|also|even|quickly|gladly))*\s+"
_BARE = (
    r"^\W*+(?:(?:done|ok|okay|sure|there|now|just|already|alright|all|also|then|successfully|consider it)\b\W*+)*"
    r"(?=\S*(?:ed|one|ten)\b)"  # a participle: "clips are fun" is no deed
)
_IS = r"(?:\s+(?:is|are|was|were|has|have|gets?|got|been)|'s|'re|'ve)(?:\s+(?:been|now|just|already))*\s+"
_MADE = (
    r"(?:made|created|set|put|started|enabled|activated|turned|switched|posted|placed|dropped|added|gave|given|sent"
    r"|issued|saved|captured|grabbed|handed|executed|performed|applied|enforced)"
)
_THERE = (
    r"(?:(?:active|enabled|activated|turned\s+on|created|made|placed|posted|ready|saved|sent|executed|issued|applied"
    r"|enforced|in\s+(?:effect|place|force))\b"
    r"|(?:on|up|live|set|done)(?:\s+(?:now|for)\b|$))"
)
_TICK = "[✅✔☑🔨]"
_NEAR = r"\W{0,4}(?:\w{1,32}\W{1,4}){0,2}?"  # bounded: time grows with the length only
_STAGED = (  # "*bans bob*", "banning bob now"
    r"\*\s?(?:\w+\s+){0,2}?(?:bans|unbans|mutes|kicks|silences|timeouts|times(?:\s+\w+)?\s+out)\b"
    r"|^\W*(?:(?:okay|ok|sure|alright|now)\b\W*)?"
    r"(?:banning|unbanning|muting|kicking|silencing|timing(?:\s+\w+)?\s+out)\s+@?\w+(?:\s+(?:now|for\s+.*))?$"
)
_PEOPLE = "viewers?|chatters?|friends?|mods?|users?|subs?|followers?|people|folks|chat|guests?|trolls?|spammers?"
_THING = (
    "mic|mics|microphone|phone|tv|music|soundtrack|song|sound|audio|volume|game|vod|video|alarm|keyboard"
    "|discord|notifications|headset|balls?|doors?|bucket|habit|feet|foot|legs?|heels"
    "|tyres?|tires?|wall|rocks?|dust|butt|ass|chair|table"
)
_HERE = r"(?:the |this |our |your |my )?(?:chat\w*|channel|stream|room|here)\b"
_NO_DEED = re.compile(  # the same words, where nobody in chat can have been hit
    rf"\b(?:mut|kick|silenc)(?:e[ds]?|ing|s)\s+(?:(?:my|our|its)\s+(?!(?:\w+\s)?(?:{_PEOPLE})\b)\w+"
    rf"|(?:(?:the|a|his|her|their|your)\s+)?(?:{_THING})\b)"
    rf"|\b(?:{_THING})(?:{_IS})mut(?:ed|ing)\b"
    rf"|\bkick(?:s|ed|ing)?\s+(?:off|back|in|it|around|up|out of (?!{_HERE}))\b"
    r"|\b(?:i|we)(?:'m|'ve been| am| was| were| got| have been)(?:\s\w+)?"
    r"\s(?:banned|muted|timed out|kicked|silenced)\b"
    rf"|\bbanned from (?!{_HERE}|now\b|today\b)"
    r"|\b\w{1,32} by (?:an? |the )?(?:mods?|moderators?|streamer|twitch|automod|discord)\b"
    r"|\bwarned y(?:ou|a|all)\b|\bmuted (?:colou?rs?|tones|palette)\b"
    r"|\byou(?:'ve been| have been| were|'re) warned\b|\bshout(?:ed|ing)? out loud\b"
    r"|^(?=.*\s)(?!.*\b(?:time[\s-]?outs?|bans?|mutes?|modes?|emote\S*|silence|restrictions?|you|him|her|them|it|that)\b)"
    r".*?\blifted\b"
    rf"|\bslow(?:ed|ing) down\b(?!\s+{_HERE})|\bclip(?:ped|ping)? (?:through|into|out of)\b"
    r"|\bgone (?:wild|mad|crazy|quiet|silent|missing|viral)\b|\byou(?:'ve| have) forgotten\b"
)
_FEW = r"(?:\s+\S+){0,3}?\s+"
_THAT = "that|this|it|everything|them|those"


def _forms(action: Action) -> Iterator[str]:
    """How somebody says that they did this; an everyday verb counts only with what it was done to (`of`)."""
    deed = rf"(?:{action.tells})\b"
    yield rf"{_I}{_MADE}{_FEW}{deed}"
    yield rf"\b{deed}(?:\s+\S+)?{_IS}{_THERE}"
    yield rf"{_TICK}{_NEAR}{deed}"
    yield rf"\b{deed}{_NEAR}{_TICK}"
    if action.of:
        yield rf"(?:{_I}|{_BARE}){deed}{_FEW}(?:{_THAT}|{action.of})\b"
        yield rf"\b(?:{action.of})(?:\s+\S+){{0,2}}?{_IS}{deed}"
        yield rf"{_BARE}(?!noted){deed}$"  # "noted!" only says that it was heard
        return
    yield rf"(?:{_I}|{_BARE}){deed}"
    if action.needs_target:
        yield rf"{_IS}{deed}"


_OWN = re.compile(
    "|".join(f"(?:{form})" for action in ACTIONS if action.tells for form in _forms(action)) + f"|{_STAGED}"
)
