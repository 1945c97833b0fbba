"""What a model proposes to remember, read and checked: the rules that need nothing but the episode. Pure.

A model's words stand. Refused, with the name of the rule, is only what is no proposal about somebody who was there,
said by somebody who spoke, in a fit length and free of what is never stored. What is remembered already is not known
here; memory/merge knows it.
"""

import json
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import WEEK_MS, Importance, Lifetime, Participant, Scope, SourceKind
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.text.ages import without_minor_age
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import MENTION, has_link, ids_in, mention
from forgetmenot.text.roles import claims_role
from forgetmenot.text.sensitive import sensitive_category
from forgetmenot.text.words import UNSPACED, stems

Choice = TypeVar("Choice", bound=StrEnum)
# Characters of a fact. Models (in memory/extraction) and people (chat.refused.length) are asked for at most 200; what
# comes may be a fifth longer.
SHORTEST, LONGEST = 5, 240
LEAST_CONFIDENCE = 0.4
REPORTED_AT_MOST = 0.5
# Of a note whose model does not say how sure it is.
CONFIDENCE = 0.75
# Characters of one sentence or fact: no pattern works long.
LONGEST_SENTENCE = 500
WORDS_KEPT = 6
WORDS_READ = 24
LONGEST_WORD = 32
DAY_MS = 86_400_000
LASTS: Mapping[Lifetime, int | None] = {
    Lifetime.DAY: DAY_MS,
    Lifetime.THREE_DAYS: 3 * DAY_MS,
    Lifetime.WEEK: WEEK_MS,
    Lifetime.MONTH: 30 * DAY_MS,
    Lifetime.PERMANENT: None,
}
_NOTE_ID = re.compile(r"\s*[\[#]?\s*(\d{1,15})\s*\]?\s*", re.ASCII)
_PERSON = re.compile(r"<@|(?<!\w)P\d+(?!\w)")
# How a prompt says where a note comes from: no fact says it of itself.
_LABEL = re.compile(
    r"\[\s*(?:id|note|row)\s*[:#]|\(\s*(?:said by (?:them|others)|asked to be remembered|imported|seen in chat)\b",
    re.IGNORECASE,
)
_IS = (
    r"(?:(?:is|are|was|were|has|had|does|did|will|can|could|would|should|must)(?:n['’]?t)?"
    r"|told|said|stole|hit|took)"
)
_NO_VERB = (
    r"(?:this|us|as|his|its|yes|plus|always|sometimes|perhaps|across|besides"
    r"|\w+(?:days|nights|times|weeks|ends|mornings|evenings|hours|years))"
)
# Somebody does or is something: "<@2> steals", "<@2>, who is ill", "<@2>'s dog was hit"; not "with <@2> at noon".
_TELLS = re.compile(
    rf"{MENTION.pattern}(?:,? (?:who|that(?: he| she| they)?))? (?:also |really |secretly |only )*"
    rf"(?:{_IS}|(?!{_NO_VERB}\b)\w+(?:s|ed))\b"
    rf"|{MENTION.pattern}['’]s (?:\w+ ){{1,2}}{_IS}\b",
    re.IGNORECASE,
)
_NEXT = re.compile(r"\s*,\s*")
_MARKUP = re.compile(
    r"</?[a-z][^<>]{0,60}>|\[/?[A-Z]{3,}|\{\s*[\"']|```|&lt;"
    r"|(?:^|:\s)\s*(?:[\[/!]\s*\w|(?:SYSTEM|ASSISTANT|USER)\s*:|@\w)"
)
_LINK = re.compile(
    r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
_PLACES = {"channel": Scope.CHANNEL, "bit": Scope.RUNNING_BIT}


def _one_of(choices: type[StrEnum]) -> Mapping[str, Any]:
    return {"type": "string", "enum": [one.value for one in choices]}


_TEXT = {"type": "string"}
_NOTE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "who": _TEXT,
        "fact": _TEXT,
        "lifetime": _one_of(Lifetime),
        "said_by": _TEXT,
        "repeats": {"type": "integer"},
        "replaces": {"type": "integer"},
        "importance": _one_of(Importance),
        "topics": {"type": "array", "items": _TEXT},
        "asked_with": {"type": "array", "items": _TEXT},
        "confidence": {"type": "number"},
    },
    "required": ["who", "fact", "lifetime"],
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"notes": {"type": "array", "items": _NOTE}},
    "required": ["notes"],
}


class Screen(Struct, frozen=True):
    """What a proposal is held against. `to_ids` turns handles in a text into mentions; None: one was not given out."""

    people: Mapping[str, Participant]
    to_ids: Callable[[str], str | None]
    privacy: PrivacySettings


class ProposedChange(Struct, frozen=True):
    """A proposal that passed. `subject_id` None: about the channel; `lasts` None: permanent, else milliseconds."""

    repeats: int | None
    replaces: int | None
    scope: Scope
    subject_id: str | None
    fact: str
    confidence: float
    source_kind: SourceKind
    importance: Importance
    lasts: int | None
    topics: tuple[str, ...]
    asked_with: tuple[str, ...]
    speaker: Participant | None


class FactRefused(Exception):
    """A proposal did not pass; `rule` names why. Control flow of memory/: callers catch it, nobody is shown it."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


def listed(text: str, name: str = "notes") -> list[object] | None:
    """The list of this name in a model's answer, not yet looked at; None where it holds none.

    Of a list that was cut off at the limit, the whole items, and none from the first that was there before: a small
    model that repeats itself repeats for ever.
    """
    found, decoder = re.search(rf'"{name}"\s*:\s*\[\s*', text), json.JSONDecoder()
    at = found.end() if found else 0
    if found and text.startswith("]", at):
        return []
    items: list[object] = []
    while found:
        try:
            item, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if item in items:
            break
        items.append(item)
        found = _NEXT.match(text, at)
        at = found.end() if found else at
    return items or None


def screened(raw: object, screen: Screen) -> ProposedChange:
    """One proposal, checked. Raises FactRefused."""
    given: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    who, said, said_by = given.get("who"), given.get("fact"), given.get("said_by") or ""
    if not (isinstance(who, str) and isinstance(said, str) and isinstance(said_by, str)):
        raise FactRefused("malformed")
    # of the others any value is taken and then read: one odd field must not cost the whole note
    sure = given.get("confidence")
    odd = isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1
    confidence = CONFIDENCE if odd else float(sure)  # type: ignore[arg-type]  # a number
    if confidence < LEAST_CONFIDENCE:
        raise FactRefused("confidence")
    about, said_by = who.strip(), said_by.strip()
    scope, subject = _PLACES.get(about, Scope.VIEWER), _present(about, screen)
    if subject is None and about not in _PLACES:
        raise FactRefused("not_there")
    # who is named, else its subject; of the channel, nobody in particular
    speaker = _present(said_by, screen) if said_by else subject
    if speaker is None and subject is not None:
        raise FactRefused("no_speaker")
    if speaker is not None and not speaker.lines:
        raise FactRefused("speaker_silent" if said_by else "no_speaker")
    named = screen.to_ids(clean(said).removesuffix("."))
    if named is None:
        raise FactRefused("unknown_handle")
    if subject is not None:
        named = re.sub(rf"\A{re.escape(mention(subject.viewer_id))}[\s,:]+", "", named)
    fact = checked_fact(named, screen.privacy)
    source = _source(fact, subject, speaker)
    has = set(stems(fact))
    if source is SourceKind.SELF_CLAIM and claims_role(fact):
        raise FactRefused("role")
    confidence = min(confidence, REPORTED_AT_MOST) if source is SourceKind.REPORTED else confidence
    return ProposedChange(
        repeats=_number(given.get("repeats")),
        replaces=_number(given.get("replaces")),
        scope=scope,
        subject_id=subject.viewer_id if subject else None,
        fact=fact,
        confidence=confidence,
        source_kind=source,
        importance=_named(Importance, given.get("importance"), Importance.MEDIUM),
        lasts=LASTS[_named(Lifetime, given.get("lifetime"), Lifetime.WEEK)],
        topics=_words(given.get("topics"), screen),
        # those that the fact does not say itself: said twice they would push the note before its betters
        asked_with=tuple(
            word
            for word in _words(given.get("asked_with"), screen)
            if not has.issuperset(stems(word))
        ),
        speaker=speaker,
    )


def _present(handle: str, screen: Screen) -> Participant | None:
    """Who goes by a handle. Raises FactRefused for somebody who is hidden."""
    person = screen.people.get(handle)
    if person is not None and person.hidden:
        raise FactRefused("hidden_person")
    return person


def told_by(change: ProposedChange, speaker: Participant) -> ProposedChange:
    """The change as somebody else's word than the model says; its subject's own word it does not become by that."""
    if speaker == change.speaker or speaker.viewer_id == change.subject_id:
        return change
    source = (
        _source(change.fact, None, speaker) if change.subject_id is None else SourceKind.REPORTED
    )
    most = REPORTED_AT_MOST if source is SourceKind.REPORTED else 1.0
    return replace(
        change, speaker=speaker, source_kind=source, confidence=min(change.confidence, most)
    )


def tells_of_another(fact: str, viewer_id: str) -> bool:
    """Whether a fact about somebody says of another what that one does or is: gossip, whoever's note it is."""
    return any((found[1] or found[2]) != viewer_id for found in _TELLS.finditer(fact))


def _source(fact: str, subject: Participant | None, speaker: Participant | None) -> SourceKind:
    if subject is not None:
        return SourceKind.SELF_CLAIM if speaker == subject else SourceKind.REPORTED
    others = set(ids_in(fact)) - {speaker.viewer_id if speaker is not None else ""}
    # else what is said of somebody would be less than hearsay only by calling it a fact about the channel
    of_others = others and not (speaker is not None and speaker.role.moderates)
    return SourceKind.REPORTED if of_others else SourceKind.OBSERVED


def checked_fact(fact: str, privacy: PrivacySettings, *, links: bool = False) -> str:
    """A fact of fit length, free of what is never stored; `links`: it may name an address. Raises FactRefused.

    The age of a minor is left out of it, where the rest is a sentence.
    """
    fact = without_ages(fact, privacy)
    if not fact:
        raise FactRefused("sensitive:minor_age")
    bare = MENTION.sub("somebody", fact)
    # a character of a script without spaces says as much as two letters: "我住东京"
    length = len(bare) + len(UNSPACED.findall(bare))
    if length < SHORTEST or len(bare) > LONGEST:
        raise FactRefused("length")
    if _LABEL.search(bare):
        raise FactRefused("forged_label")
    category = never_stored(bare, privacy)
    if category is not None:
        raise FactRefused(f"sensitive:{category}")
    fault = text_fault(fact, links=links)
    if fault is not None:
        raise FactRefused(fault)
    return fact


def without_ages(text: str, privacy: PrivacySettings) -> str:
    """A text without the ages of minors, unless the settings allow them; empty where no sentence is left."""
    if "minor_age" in privacy.allow_categories:
        return text
    return without_minor_age(text)


def text_fault(text: str, *, links: bool = False) -> str | None:
    """The rule that refuses a sentence or a fact ("length", "markup", "link"), or None. `links`: it may name one."""
    if len(text) > LONGEST_SENTENCE:
        return "length"
    bare = MENTION.sub("somebody", text)
    if _MARKUP.search(bare) or not _LETTERS.search(bare):
        return "markup"
    return "link" if not links and (has_link(bare) or _LINK.search(bare)) else None


def never_stored(text: str, privacy: PrivacySettings) -> str | None:
    """The category that keeps a text out of the memory, or None."""
    return sensitive_category(
        text, allow=frozenset(privacy.allow_categories), extra=privacy.never_store
    )


def _number(value: object) -> int | None:
    """The number of a note: 12, "12" or "[12]"."""
    found = _NOTE_ID.fullmatch(str(value))
    return int(found[1]) if found else None


def _named(choices: type[Choice], value: object, otherwise: Choice) -> Choice:
    return next((one for one in choices if one.value == value), otherwise)


def _words(value: object, screen: Screen) -> tuple[str, ...]:
    """The words a note is found with: few and short, so that no note can be stuffed with them, and nobody's handle."""
    if not isinstance(value, list):
        return ()
    found = (clean(word) for word in value[:WORDS_READ] if isinstance(word, str))
    fit = dict.fromkeys(
        word.casefold()
        for word in found
        if 2 <= len(word) <= LONGEST_WORD and not _PERSON.search(word)
    )
    kept = (word for word in fit if never_stored(word, screen.privacy) is None)
    return tuple(islice(kept, WORDS_KEPT))
