"""What a model proposes to remember, read and checked: the rules that need nothing but the episode. Pure.

A model's words stand. Refused, with the name of the rule, is only what is no proposal about somebody who was there,
said by somebody who spoke, in a fit length and free of what is never stored. What is remembered already is not known
here; memory/merge knows it.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import (
    Importance,
    Lifetime,
    Participant,
    Role,
    Scope,
    SourceKind,
)
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
# Confidence, from 0 to 1: the least that a proposal needs, and the most that hearsay gets.
LEAST_CONFIDENCE = 0.4
REPORTED_AT_MOST = 0.5
# The confidence of a note whose model does not say how sure it is.
CONFIDENCE = 0.75
# The confidence of what Twitch itself has reported.
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
_STATES = re.compile(
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
    r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
_PLACES = {"channel": Scope.CHANNEL, "bit": Scope.RUNNING_BIT}
# Between the people of whom a note is true, and how many of them there may be.
_AND = re.compile(r",|&|\band\b")
MOST_SUBJECTS = 2


def _one_of(choices: type[StrEnum]) -> Mapping[str, Any]:
    return {"type": "string", "enum": [choice.value for choice in choices]}


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
    """What a proposal is checked against. `to_ids` turns handles in a text into mentions; None: one was not given out.

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


def answer_items(text: str, name: str = "notes") -> list[object] | None:
    """Return the items of the list of this name in a model's answer, unchecked; None if it has no such list.

    The list may have been cut off at the limit of the answer: its whole items count. They end at the first repeated
    item, because a small model that repeats itself repeats for ever.
    """
    opening = re.search(rf'"{name}"\s*:\s*\[\s*', text)
    if opening is None:
        return None
    if text.startswith("]", opening.end()):
        return []
    decoder = json.JSONDecoder()
    items: list[object] = []
    separator: re.Match[str] | None = opening
    while separator is not None:
        try:
            item, end = decoder.raw_decode(text, separator.end())
        except (ValueError, RecursionError):
            break
        if item in items:
            break
        items.append(item)
        separator = _NEXT.match(text, end)
    return items or None


def checked_changes(proposal: object, screen: Screen) -> list[ProposedChange]:
    """Check one proposal and return its change, or two where it is true of two people. Raises FactRefused."""
    fields: Mapping[str, Any] = proposal if isinstance(proposal, dict) else {}
    subject_handles = fields.get("who")
    fact = fields.get("fact")
    speaker_handle = fields.get("said_by") or ""
    if not isinstance(subject_handles, str) or not isinstance(fact, str):
        raise FactRefused("malformed")
    if not isinstance(speaker_handle, str):
        raise FactRefused("malformed")
    if subject_handles.strip() in _PLACES:
        return [_change(fields, screen, None)]
    subjects = [
        _present(handle.strip(), screen) for handle in _AND.split(subject_handles)
    ]
    if (
        None in subjects
        or len(set(subjects)) != len(subjects)
        or len(subjects) > MOST_SUBJECTS
    ):
        raise FactRefused("not_there")
    return [_change(fields, screen, subject, subjects) for subject in subjects]


def _change(
    fields: Mapping[str, Any],
    screen: Screen,
    subject: Participant | None,
    subjects: Sequence[Participant | None] = (),
) -> ProposedChange:
    """Return the change to the notes of one subject; `subjects`: all of whom it is true. Raises FactRefused."""
    # The other fields may have any value: one odd field must not cost the whole note.
    confidence = _confidence(fields.get("confidence"))
    if confidence < LEAST_CONFIDENCE:
        raise FactRefused("confidence")
    repeats = _note_id(fields.get("repeats"))
    # "observed" counts for people alone: what the channel is like everybody sees anyway
    is_observed = subject is not None and fields.get("observed") is True
    speaker = None if is_observed else _speaker(fields, screen, subject)
    fact = _fact(
        fields["fact"], screen, subject, subjects, is_repeat=repeats is not None
    )
    source = _source(fact, subject, speaker)
    if is_observed and subject is not None:
        source = _observed(subject, screen)
    if source is not SourceKind.REPORTED and subject is not None and claims_role(fact):
        raise FactRefused("role")
    if source is SourceKind.REPORTED:
        confidence = min(confidence, REPORTED_AT_MOST)
    # Words that the fact does not have itself: twice they would push the note before better ones.
    fact_stems = set(stems(fact))
    asked_with = []
    for word in _words(fields.get("asked_with"), screen, 2 if screen.language else 1):
        if not fact_stems.issuperset(stems(word)):
            asked_with.append(word)
    if subject is None:
        scope = _PLACES[fields["who"].strip()]
        subject_id = None
    else:
        scope = Scope.VIEWER
        subject_id = subject.viewer_id
    lifetime = _choice(Lifetime, fields.get("lifetime"), Lifetime.WEEK)
    return ProposedChange(
        repeats=repeats,
        replaces=_note_id(fields.get("replaces")),
        scope=scope,
        subject_id=subject_id,
        fact=fact,
        confidence=confidence,
        source_kind=source,
        importance=_choice(Importance, fields.get("importance"), Importance.MEDIUM),
        lasts=LASTS[lifetime],
        topics=_words(fields.get("topics"), screen),
        asked_with=tuple(asked_with),
        speaker=speaker,
    )


def _confidence(value: object) -> float:
    """Return a confidence as a model gives it; CONFIDENCE if it is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return CONFIDENCE
    if not 0 <= value <= 1:
        return CONFIDENCE
    return float(value)


def _observed(subject: Participant, screen: Screen) -> SourceKind:
    """Return the source of what is observed of somebody.

    Of somebody silent it is what others said, unless it is the streamer, whom everybody watches.
    """
    is_streamer = (
        subject.role is Role.BROADCASTER or subject.viewer_id == screen.streamer
    )
    return SourceKind.OBSERVED if subject.lines or is_streamer else SourceKind.REPORTED


def _speaker(
    fields: Mapping[str, Any],
    screen: Screen,
    subject: Participant | None,
) -> Participant | None:
    """Return who said it: the person named as speaker, else the subject; None for nobody in particular.

    Only about the channel nobody in particular may have said something. Raises FactRefused.
    """
    handle = (fields.get("said_by") or "").strip()
    speaker = _present(handle, screen) if handle else subject
    if speaker is None and subject is not None:
        raise FactRefused("no_speaker")
    if speaker is not None and not speaker.lines:
        raise FactRefused("speaker_silent" if handle else "no_speaker")
    return speaker


def _fact(
    written: str,
    screen: Screen,
    subject: Participant | None,
    subjects: Sequence[Participant | None],
    *,
    is_repeat: bool,
) -> str:
    """Return a fact as it is stored about its subject; empty for a repeat of no fit length. Raises FactRefused."""
    fact = screen.to_ids(clean(written).removesuffix("."))
    if fact is None:
        raise FactRefused("unknown_handle")
    mentions = [mention(person.viewer_id) for person in subjects if person is not None]
    if mentions:
        anyone = "|".join(map(re.escape, mentions))
        fact = re.sub(
            rf"\A(?:{anyone})(?:(?:,| and| &)+ (?:{anyone}))*[\s,:]+", "", fact
        )
    if subject is not None:
        # a note is about one person: of two people each has the other in it
        others = [other for other in mentions if other != mention(subject.viewer_id)]
        if others and not any(other in fact for other in others):
            fact = f"{fact} (with {', '.join(others)})"
    longest = LONGEST_SENTENCE if is_repeat else LONGEST
    try:
        return checked_fact(fact, screen.privacy, longest=longest)
    except FactRefused as refusal:
        if is_repeat and refusal.rule == "length":
            return ""
        raise


def _present(handle: str, screen: Screen) -> Participant | None:
    """Return the person of a handle; None if nobody has it. Raises FactRefused for somebody who is hidden."""
    person = screen.people.get(handle)
    if person is not None and person.hidden:
        raise FactRefused("hidden_person")
    return person


def with_speaker(change: ProposedChange, speaker: Participant) -> ProposedChange:
    """Return the change as said by another person than the model says.

    It never becomes its subject's own word by that.
    """
    if speaker == change.speaker or speaker.viewer_id == change.subject_id:
        return change
    source = SourceKind.REPORTED
    if change.subject_id is None:
        source = _source(change.fact, None, speaker)
    confidence = change.confidence
    if source is SourceKind.REPORTED:
        confidence = min(confidence, REPORTED_AT_MOST)
    return replace(change, speaker=speaker, source_kind=source, confidence=confidence)


def reported_by_twitch(
    change: ProposedChange, person: Participant | None
) -> ProposedChange:
    """Return the change as Twitch's report: seen by everybody, and certain. `person`: who did it."""
    return replace(
        change,
        speaker=person,
        source_kind=SourceKind.OBSERVED,
        confidence=max(change.confidence, CERTAIN),
    )


def states_of_another(fact: str, viewer_id: str) -> bool:
    """Return whether a fact about somebody states what another person does or is: gossip, whoever's note it is."""
    return any((match[1] or match[2]) != viewer_id for match in _STATES.finditer(fact))


def _source(
    fact: str,
    subject: Participant | None,
    speaker: Participant | None,
) -> SourceKind:
    """Return the source of what a speaker says of a subject, or (None) of the channel."""
    if subject is not None:
        return SourceKind.SELF_CLAIM if speaker == subject else SourceKind.REPORTED
    others = set(ids_in(fact))
    if speaker is not None:
        if speaker.role.moderates:
            return SourceKind.OBSERVED
        others.discard(speaker.viewer_id)
    # Else gossip would count for more than hearsay if only it is called a fact about the channel.
    return SourceKind.REPORTED if others else SourceKind.OBSERVED


def checked_fact(
    fact: str,
    privacy: PrivacySettings,
    *,
    links: bool = False,
    longest: int = LONGEST,
) -> str:
    """Return a fact of fit length, free of what is never stored; `links`: it may have a link. Raises FactRefused.

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
    """Return a text without the ages of minors, unless the settings allow them; empty where no sentence is left."""
    if "minor_age" in privacy.allow_categories:
        return text
    return without_minor_age(text)


def text_fault(text: str, *, links: bool = False) -> str | None:
    """Return the rule that refuses a sentence or a fact ("length", "markup", "link"); None if none does.

    `links`: it may have a link.
    """
    if len(text) > LONGEST_SENTENCE:
        return "length"
    bare = MENTION.sub("somebody", text)
    if _MARKUP.search(bare) or not _LETTERS.search(bare):
        return "markup"
    if not links and (has_link(bare) or _LINK.search(bare)):
        return "link"
    return None


def never_stored(text: str, privacy: PrivacySettings) -> str | None:
    """Return the category that keeps a text out of the memory; None if there is none."""
    return sensitive_category(
        text, allow=frozenset(privacy.allow_categories), extra=privacy.never_store
    )


def _note_id(value: object) -> int | None:
    """Return a note's id, as a model writes it: 12, "12" or "[12]"; None if it is none."""
    match = _NOTE_ID.fullmatch(str(value))
    return int(match[1]) if match else None


def _choice(
    choices: type[Choice],
    value: object,
    default: Choice,
) -> Choice:
    return next((choice for choice in choices if choice.value == value), default)


def _words(
    value: object,
    screen: Screen,
    times: int = 1,
) -> tuple[str, ...]:
    """Return the words a note is found with, at most `times` WORDS_KEPT.

    They are few and short, so that no note can be stuffed with them, and nobody's handle.
    """
    if not isinstance(value, list):
        return ()
    stored_words: dict[str, None] = {}
    for written in value[:WORDS_READ]:
        if len(stored_words) == times * WORDS_KEPT:
            break
        if not isinstance(written, str):
            continue
        word = clean(written)
        if not 2 <= len(word) <= LONGEST_WORD or _PERSON.search(word):
            continue
        word = word.casefold()
        if never_stored(word, screen.privacy) is None:
            stored_words[word] = None
    return tuple(stored_words)
