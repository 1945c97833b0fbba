"""What a model proposes to remember, read and checked: the rules that need nothing but the episode. Pure.

A model's words stand. Refused, with the name of the rule, is only what is no proposal about somebody who was there,
said by somebody who spoke, in a fit length and free of what is never stored. What is remembered already is not known
here; memory/merge knows it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import Importance, Lifetime, Participant, Role, Scope, SourceKind
from forgetmenot.durations import DAY, WEEK
from forgetmenot.errors import FactRefused
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.text.ages import without_minor_age
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import MENTION, has_link, ids_in, mention
from forgetmenot.text.roles import claims_role
from forgetmenot.text.sensitive import sensitive_category
from forgetmenot.text.words import UNSPACED, stems

Choice = TypeVar("Choice", bound=StrEnum)
# Characters of a fact. Models (in memory/extraction) and people (chat.refused.length) are asked for at most 240; what
# comes may be a fifth longer.
SHORTEST = 5
LONGEST = 288
LEAST_CONFIDENCE = 0.4
REPORTED_AT_MOST = 0.5
# Of a note whose model does not say how sure it is.
CONFIDENCE = 0.75
# Of what Twitch itself has told.
CERTAIN = 0.95
# Characters of one sentence or fact: no pattern works long. A repeat, which has the known words too, may be as long.
LONGEST_SENTENCE = 500
# Words of each kind that a note is found with; twice as many to ask with, where chat is in another language.
WORDS_KEPT = 6
WORDS_READ = 24
LONGEST_WORD = 32
LASTS: Mapping[Lifetime, int | None] = {
    Lifetime.DAY: DAY,
    Lifetime.THREE_DAYS: 3 * DAY,
    Lifetime.WEEK: WEEK,
    Lifetime.MONTH: 30 * DAY,
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
# Between the people of whom a note is true, and how many of them there may be.
_AND = re.compile(r",|&|\band\b")
MOST_SUBJECTS = 2


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
        "observed": {"type": "boolean"},
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
    """What a proposal is held against. `to_ids` turns handles in a text into mentions; None: one was not given out.

    `language`: what chat was in, where that is not English; then a note has words of it as well. `streamer`: their id.
    """

    people: Mapping[str, Participant]
    to_ids: Callable[[str], str | None]
    privacy: PrivacySettings
    language: str = ""
    streamer: str = ""


class ProposedChange(Struct, frozen=True):
    """A proposal that passed. `subject_id` None: about the channel; `lasts` None: permanent, else milliseconds.

    `fact` is empty where a repeat has no fit length: the note that it repeats is confirmed all the same. `speaker`
    None: nobody said it.
    """

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


def screened(raw: object, screen: Screen) -> list[ProposedChange]:
    """One proposal, checked: a change, or two where it is true of two people. Raises FactRefused."""
    given: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
    who = given.get("who")
    fact = given.get("fact")
    said_by = given.get("said_by") or ""
    if not (isinstance(who, str) and isinstance(fact, str) and isinstance(said_by, str)):
        raise FactRefused("malformed")
    if who.strip() in _PLACES:
        return [_change(given, screen, None)]
    subjects = [_present(handle.strip(), screen) for handle in _AND.split(who)]
    if None in subjects or len(set(subjects)) != len(subjects) or len(subjects) > MOST_SUBJECTS:
        raise FactRefused("not_there")
    return [_change(given, screen, subject, subjects) for subject in subjects]


def _change(
    given: Mapping[str, Any],
    screen: Screen,
    subject: Participant | None,
    subjects: Sequence[Participant | None] = (),
) -> ProposedChange:
    """The change to the notes of one subject; `subjects`: all of whom it is true. Raises FactRefused."""
    # of the other fields any value is taken and then read: one odd field must not cost the whole note
    sure = given.get("confidence")
    is_odd = isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1
    confidence = CONFIDENCE if is_odd else float(sure)  # type: ignore[arg-type]  # a number
    if confidence < LEAST_CONFIDENCE:
        raise FactRefused("confidence")
    # about the channel everything is seen by everybody, but for what is told of others
    is_observed = subject is not None and given.get("observed") is True
    speaker = None if is_observed else _speaker(given, screen, subject)
    repeats = _number(given.get("repeats"))
    fact = _fact(given["fact"], screen, subject, subjects, is_repeat=repeats is not None)
    source = _source(fact, subject, speaker)
    if is_observed and subject is not None:
        source = _observed(subject, screen)
    if source is not SourceKind.REPORTED and subject is not None and claims_role(fact):
        raise FactRefused("role")
    if source is SourceKind.REPORTED:
        confidence = min(confidence, REPORTED_AT_MOST)
    known_stems = set(stems(fact))
    asked_with = _words(given.get("asked_with"), screen, 2 if screen.language else 1)
    return ProposedChange(
        repeats=repeats,
        replaces=_number(given.get("replaces")),
        scope=Scope.VIEWER if subject is not None else _PLACES[given["who"].strip()],
        subject_id=subject.viewer_id if subject is not None else None,
        fact=fact,
        confidence=confidence,
        source_kind=source,
        importance=_named(Importance, given.get("importance"), Importance.MEDIUM),
        lasts=LASTS[_named(Lifetime, given.get("lifetime"), Lifetime.WEEK)],
        topics=_words(given.get("topics"), screen),
        # those that the fact does not say itself: said twice they would push the note before its betters
        asked_with=tuple(word for word in asked_with if not known_stems.issuperset(stems(word))),
        speaker=speaker,
    )


def _observed(subject: Participant, screen: Screen) -> SourceKind:
    """What is observed of somebody silent is what others said, unless it is the streamer, whom everybody watches."""
    is_streamer = subject.role is Role.BROADCASTER or subject.viewer_id == screen.streamer
    return SourceKind.OBSERVED if subject.lines or is_streamer else SourceKind.REPORTED


def _speaker(
    given: Mapping[str, Any], screen: Screen, subject: Participant | None
) -> Participant | None:
    """Who said it: who is named, else its subject; of the channel, nobody in particular. Raises FactRefused."""
    said_by = (given.get("said_by") or "").strip()
    speaker = _present(said_by, screen) if said_by else subject
    if speaker is None and subject is not None:
        raise FactRefused("no_speaker")
    if speaker is not None and not speaker.lines:
        raise FactRefused("speaker_silent" if said_by else "no_speaker")
    return speaker


def _fact(
    written: str,
    screen: Screen,
    subject: Participant | None,
    subjects: Sequence[Participant | None],
    *,
    is_repeat: bool,
) -> str:
    """A fact as it is stored about its subject; empty for a repeat of no fit length. Raises FactRefused."""
    named = screen.to_ids(clean(written).removesuffix("."))
    if named is None:
        raise FactRefused("unknown_handle")
    about = [mention(person.viewer_id) for person in subjects if person is not None]
    if about:
        anyone = "|".join(map(re.escape, about))
        named = re.sub(rf"\A(?:{anyone})(?:(?:,| and| &)+ (?:{anyone}))*[\s,:]+", "", named)
    if subject is not None:
        # a note is of one person: of two each has the other in it
        others = [other for other in about if other != mention(subject.viewer_id)]
        if others and not any(other in named for other in others):
            named = f"{named} (with {', '.join(others)})"
    try:
        return checked_fact(
            named, screen.privacy, longest=LONGEST_SENTENCE if is_repeat else LONGEST
        )
    except FactRefused as refusal:
        if is_repeat and refusal.rule == "length":
            return ""
        raise


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
    source = SourceKind.REPORTED
    if change.subject_id is None:
        source = _source(change.fact, None, speaker)
    most = REPORTED_AT_MOST if source is SourceKind.REPORTED else 1.0
    return replace(
        change, speaker=speaker, source_kind=source, confidence=min(change.confidence, most)
    )


def told_by_twitch(change: ProposedChange, whose: Participant | None) -> ProposedChange:
    """The change as what Twitch told: seen by everybody, and certain. `whose`: who did it."""
    return replace(
        change,
        speaker=whose,
        source_kind=SourceKind.OBSERVED,
        confidence=max(change.confidence, CERTAIN),
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


def checked_fact(
    fact: str, privacy: PrivacySettings, *, links: bool = False, longest: int = LONGEST
) -> str:
    """A fact of fit length, free of what is never stored; `links`: it may name an address. Raises FactRefused.

    The age of a minor is left out of it, where the rest is a sentence.
    """
    fact = without_ages(fact, privacy)
    if not fact:
        raise FactRefused("sensitive:minor_age")
    bare = MENTION.sub("somebody", fact)
    # a character of a script without spaces says as much as two letters: "我住东京"
    length = len(bare) + len(UNSPACED.findall(bare))
    if length < SHORTEST or len(bare) > longest:
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


def _words(value: object, screen: Screen, times: int = 1) -> tuple[str, ...]:
    """The words a note is found with: few and short, so that no note can be stuffed with them, and nobody's handle."""
    if not isinstance(value, list):
        return ()
    read = (clean(word) for word in value[:WORDS_READ] if isinstance(word, str))
    fit = dict.fromkeys(
        word.casefold()
        for word in read
        if 2 <= len(word) <= LONGEST_WORD and not _PERSON.search(word)
    )
    kept = (word for word in fit if never_stored(word, screen.privacy) is None)
    return tuple(islice(kept, times * WORDS_KEPT))
