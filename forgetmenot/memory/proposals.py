"""Reads and checks the notes that a model proposes, by rules that need nothing but the episode. Pure.

A proposal must be about somebody who was there and said by somebody who spoke, have a fit length, and be free of what
is never stored. Any other is refused with the name of the rule. Stored notes are not known here: memory/merge compares
with them.
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
from forgetmenot.errors import FactRefused
from forgetmenot.memory.lifetimes import UNNAMED
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.text.ages_of_minors import without_minor_age
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
DEFAULT_CONFIDENCE = 0.75
# The confidence of what Twitch itself has reported.
CERTAIN = 0.95
# Characters of one sentence or fact, so that no regular expression takes long. A repeat may be as long as this, because
# it has the words of the stored note, too.
LONGEST_SENTENCE = 500
# A note has at most this many topics and as many words to ask with; twice as many of these if chat is not in English.
WORDS_KEPT = 6
# Words of a model's list that are looked at.
WORDS_READ = 24
# Characters of such a word.
SHORTEST_WORD = 2
LONGEST_WORD = 32
_NOTE_ID = re.compile(r"\s*[\[#]?\s*(\d{1,15})\s*\]?\s*", re.ASCII)
_PERSON = re.compile(r"<@|(?<!\w)P\d+(?!\w)")
# How a prompt marks where a note comes from. A fact with such a mark is a forgery.
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
# Between two items of a JSON list.
_BETWEEN_ITEMS = re.compile(r"\s*,\s*")
_MARKUP = re.compile(
    r"</?[a-z][^<>]{0,60}>|\[/?[A-Z]{3,}|\{\s*[\"']|```|&lt;"
    r"|(?:^|:\s)\s*(?:[\[/!]\s*\w|(?:SYSTEM|ASSISTANT|USER)\s*:|@\w)"
)
_LINK = re.compile(
    r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg",
    re.IGNORECASE,
)
# Two letters, or one that is not Latin: in some scripts one is a word.
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
# What a model writes in "who" for a fact that is about no person.
_SCOPE_WITHOUT_PERSON = {"channel": Scope.CHANNEL, "bit": Scope.RUNNING_BIT}
# What separates the handles in "who", and how many people one note may be about.
_BETWEEN_HANDLES = re.compile(r",|&|\band\b")
MOST_SUBJECTS = 2


def _choice_schema(choices: type[StrEnum]) -> Mapping[str, Any]:
    """Return the JSON schema of a text with one of these values."""
    return {"type": "string", "enum": [choice.value for choice in choices]}


_TEXT = {"type": "string"}
_NOTE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "who": _TEXT,
        "fact": _TEXT,
        "lifetime": _choice_schema(Lifetime),
        "said_by": _TEXT,
        "observed": {"type": "boolean"},
        "repeats": {"type": "integer"},
        "replaces": {"type": "integer"},
        "importance": _choice_schema(Importance),
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
    """What a proposal is checked against.

    `people`: by handle. `to_ids`: replaces the handles of a text by mentions; returns None if nobody has one of the
    handles. `language`: the language of chat, "" for English; a note also gets search words in it. `streamer`: the
    streamer's id.
    """

    people: Mapping[str, Participant]
    to_ids: Callable[[str], str | None]
    privacy: PrivacySettings
    language: str = ""
    streamer: str = ""


class ProposedChange(Struct, frozen=True):
    """A proposal that passed.

    `repeats`, `replaces`: the ids of notes. `subject_id`: None for a fact about the channel. `fact`: "" for a repeat of
    no fit length, which still confirms its note. `speaker`: None if nobody in particular said it.
    """

    repeats: int | None
    replaces: int | None
    scope: Scope
    subject_id: str | None
    fact: str
    confidence: float
    source_kind: SourceKind
    importance: Importance
    lifetime: Lifetime
    topics: tuple[str, ...]
    asked_with: tuple[str, ...]
    speaker: Participant | None


def answer_items(text: str, name: str = "notes") -> list[object] | None:
    """Return the items of the list `name` in a model's answer, unchecked; None if it has no such list or no whole item.

    Items after a cut at the answer's limit are missing. The list ends at the first repeated item, because a small model
    may repeat itself for ever.
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
        separator = _BETWEEN_ITEMS.match(text, end)
    return items or None


def checked_changes(proposal: object, screen: Screen) -> list[ProposedChange]:
    """Check one proposal and return its changes: one for each person that it is about. Raises FactRefused."""
    fields: Mapping[str, Any] = proposal if isinstance(proposal, dict) else {}
    subject_handles = fields.get("who")
    if not isinstance(subject_handles, str):
        raise FactRefused("malformed")
    if not isinstance(fields.get("fact"), str):
        raise FactRefused("malformed")
    speaker_handle = fields.get("said_by") or ""
    if not isinstance(speaker_handle, str):
        raise FactRefused("malformed")
    if subject_handles.strip() in _SCOPE_WITHOUT_PERSON:
        return [_checked_change(fields, screen, None)]
    subjects = _subjects(subject_handles, screen)
    return [_checked_change(fields, screen, subject, subjects) for subject in subjects]


def _subjects(subject_handles: str, screen: Screen) -> list[Participant]:
    """Return the people with these handles ("P1 and P2"), at most MOST_SUBJECTS. Raises FactRefused."""
    handles = _BETWEEN_HANDLES.split(subject_handles)
    people_or_none = [_person_of(handle.strip(), screen) for handle in handles]
    subjects = [person for person in people_or_none if person is not None]
    somebody_is_unknown = len(subjects) < len(handles)
    somebody_is_named_twice = len(set(subjects)) < len(subjects)
    if somebody_is_unknown or somebody_is_named_twice or len(subjects) > MOST_SUBJECTS:
        raise FactRefused("not_there")
    return subjects


def _checked_change(
    fields: Mapping[str, Any],
    screen: Screen,
    subject: Participant | None,
    subjects: Sequence[Participant] = (),
) -> ProposedChange:
    """Return the change to the notes of one subject. Raises FactRefused.

    `fields`: the proposal, in which "who", "said_by" and "fact" are known to be texts. `subject`: None for a fact about
    no person. `subjects`: all the people that the fact is about.
    """
    # Only those three fields were checked. Each of the others may have any value, which must not cost the whole note.
    confidence = _confidence(fields.get("confidence"))
    if confidence < LEAST_CONFIDENCE:
        raise FactRefused("confidence")
    repeats = _note_id(fields.get("repeats"))
    # only facts about people need "observed": everybody sees what the channel is like
    is_observed = subject is not None and fields.get("observed") is True
    speaker = None if is_observed else _speaker(fields, screen, subject)
    fact = _storable_fact(
        fields["fact"], screen, subject, subjects, is_repeat=repeats is not None
    )
    source_kind = _source_kind(fact, subject, speaker)
    if is_observed and subject is not None:
        source_kind = _source_of_observation(subject, screen)
    is_hearsay = source_kind is SourceKind.REPORTED
    # roles come from Twitch's badges, and from nobody's word (text/roles)
    if subject is not None and not is_hearsay and claims_role(fact):
        raise FactRefused("role")
    if is_hearsay:
        confidence = min(confidence, REPORTED_AT_MOST)
    scope = Scope.VIEWER
    if subject is None:
        scope = _SCOPE_WITHOUT_PERSON[fields["who"].strip()]
    return ProposedChange(
        repeats=repeats,
        replaces=_note_id(fields.get("replaces")),
        scope=scope,
        subject_id=subject.viewer_id if subject is not None else None,
        fact=fact,
        confidence=confidence,
        source_kind=source_kind,
        importance=_choice(Importance, fields.get("importance"), Importance.MEDIUM),
        lifetime=_choice(Lifetime, fields.get("lifetime"), UNNAMED),
        topics=_search_words(fields.get("topics"), screen, WORDS_KEPT),
        asked_with=_words_to_ask_with(fields.get("asked_with"), screen, fact),
        speaker=speaker,
    )


def _confidence(value: object) -> float:
    """Return the confidence that a model wrote; DEFAULT_CONFIDENCE if it is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return DEFAULT_CONFIDENCE
    if not 0 <= value <= 1:
        return DEFAULT_CONFIDENCE
    return float(value)


def _source_of_observation(subject: Participant, screen: Screen) -> SourceKind:
    """Return the source kind of an observation about somebody.

    It is hearsay if they wrote no line. The streamer need not write any, because everybody watches them.
    """
    if subject.lines:
        return SourceKind.OBSERVED
    if subject.role is Role.BROADCASTER or subject.viewer_id == screen.streamer:
        return SourceKind.OBSERVED
    return SourceKind.REPORTED


def _speaker(
    fields: Mapping[str, Any],
    screen: Screen,
    subject: Participant | None,
) -> Participant | None:
    """Return who said it: the person in "said_by", else the subject; None for nobody in particular.

    Raises FactRefused if the speaker wrote no line, or if a fact about a person has no speaker.
    """
    handle = (fields.get("said_by") or "").strip()
    speaker = _person_of(handle, screen) if handle else subject
    if speaker is None and subject is not None:
        raise FactRefused("no_speaker")
    if speaker is None or speaker.lines:
        return speaker
    raise FactRefused("speaker_silent" if handle else "no_speaker")


def _storable_fact(
    written: str,
    screen: Screen,
    subject: Participant | None,
    subjects: Sequence[Participant],
    *,
    is_repeat: bool,
) -> str:
    """Return a fact as it is stored; "" for a repeat of no fit length. Raises FactRefused.

    `written`: the fact as the model wrote it, with handles.
    """
    fact = screen.to_ids(clean(written).removesuffix("."))
    if fact is None:
        raise FactRefused("unknown_handle")
    if subject is not None:
        fact = _with_others(_without_subjects(fact, subjects), subject, subjects)
    longest = LONGEST_SENTENCE if is_repeat else LONGEST
    try:
        return checked_fact(fact, screen.privacy, longest=longest)
    except FactRefused as refusal:
        if is_repeat and refusal.rule == "length":
            return ""
        raise


def _without_subjects(fact: str, subjects: Sequence[Participant]) -> str:
    """Return a fact without the subjects that it begins with: "<@1> and <@2> play chess" becomes "play chess"."""
    mentions = [re.escape(mention(person.viewer_id)) for person in subjects]
    any_subject = f"(?:{'|'.join(mentions)})"
    conjunction = r"(?:,| and| &)+ "
    beginning = rf"\A{any_subject}(?:{conjunction}{any_subject})*[\s,:]+"
    return re.sub(beginning, "", fact)


def _with_others(
    fact: str,
    subject: Participant,
    subjects: Sequence[Participant],
) -> str:
    """Return a fact of several people with the others in it: "play chess" becomes "play chess (with <@2>)"."""
    others = [mention(person.viewer_id) for person in subjects if person != subject]
    if not others or any(other in fact for other in others):
        return fact
    return f"{fact} (with {', '.join(others)})"


def _person_of(handle: str, screen: Screen) -> Participant | None:
    """Return the person with a handle; None if nobody has it. Raises FactRefused for somebody who is hidden."""
    person = screen.people.get(handle)
    if person is not None and person.hidden:
        raise FactRefused("hidden_person")
    return person


def with_speaker(change: ProposedChange, speaker: Participant) -> ProposedChange:
    """Return a change with another speaker than the model named.

    A change by its own subject is returned as it is: hearsay must not become their own words.
    """
    if speaker == change.speaker or speaker.viewer_id == change.subject_id:
        return change
    source_kind = SourceKind.REPORTED
    if change.subject_id is None:
        source_kind = _source_kind(change.fact, None, speaker)
    confidence = change.confidence
    if source_kind is SourceKind.REPORTED:
        confidence = min(confidence, REPORTED_AT_MOST)
    return replace(
        change, speaker=speaker, source_kind=source_kind, confidence=confidence
    )


def reported_by_twitch(
    change: ProposedChange, person: Participant | None
) -> ProposedChange:
    """Return a change as Twitch's report: observed, and nearly certain. `person`: who did it, None for nobody."""
    return replace(
        change,
        speaker=person,
        source_kind=SourceKind.OBSERVED,
        confidence=max(change.confidence, CERTAIN),
    )


def states_of_another(fact: str, viewer_id: str) -> bool:
    """Return whether a fact in somebody's note states what another person does or is. That would be gossip."""
    for match in _STATES.finditer(fact):
        # _STATES has two forms, and each has its own group for the id
        stated_of = match[1] or match[2]
        if stated_of != viewer_id:
            return True
    return False


def _source_kind(
    fact: str,
    subject: Participant | None,
    speaker: Participant | None,
) -> SourceKind:
    """Return the source kind of a fact: it depends on its speaker and its subject.

    `subject`: None for a fact about the channel. `speaker`: None if nobody in particular said it.
    """
    if subject is not None:
        return SourceKind.SELF_CLAIM if speaker == subject else SourceKind.REPORTED
    if speaker is not None and speaker.role.moderates:
        return SourceKind.OBSERVED
    others = set(ids_in(fact))
    if speaker is not None:
        others.discard(speaker.viewer_id)
    # A viewer's words about other people are hearsay, even if the model calls them a fact about the channel.
    return SourceKind.REPORTED if others else SourceKind.OBSERVED


def checked_fact(
    fact: str,
    privacy: PrivacySettings,
    *,
    links: bool = False,
    longest: int = LONGEST,
) -> str:
    """Check a fact, and return it without the ages of minors. Raises FactRefused.

    `links`: a link is allowed. `longest`: in characters, with each person counted as "somebody".
    """
    fact = without_ages(fact, privacy)
    if not fact:
        raise FactRefused("sensitive:minor_age")
    without_ids = MENTION.sub("somebody", fact)
    # a character of a script without spaces counts as two letters, because it says as much: "我住东京"
    length = len(without_ids) + len(UNSPACED.findall(without_ids))
    if length < SHORTEST or len(without_ids) > longest:
        raise FactRefused("length")
    if _LABEL.search(without_ids):
        raise FactRefused("forged_label")
    category = never_stored(without_ids, privacy)
    if category is not None:
        raise FactRefused(f"sensitive:{category}")
    fault = text_fault(fact, links=links)
    if fault is not None:
        raise FactRefused(fault)
    return fact


def without_ages(text: str, privacy: PrivacySettings) -> str:
    """Return a text without the ages of minors, unless the settings allow them; "" if no sentence is left."""
    if "minor_age" in privacy.allow_categories:
        return text
    return without_minor_age(text)


def text_fault(text: str, *, links: bool = False) -> str | None:
    """Return the rule that refuses a sentence or fact ("length", "markup", "link"); None if none does.

    `links`: a link is allowed.
    """
    if len(text) > LONGEST_SENTENCE:
        return "length"
    without_ids = MENTION.sub("somebody", text)
    if _MARKUP.search(without_ids) or not _LETTERS.search(without_ids):
        return "markup"
    if not links and (has_link(without_ids) or _LINK.search(without_ids)):
        return "link"
    return None


def never_stored(text: str, privacy: PrivacySettings) -> str | None:
    """Return the sensitive category that keeps a text out of the memory; None if it may be stored."""
    return sensitive_category(
        text, allow=frozenset(privacy.allow_categories), extra=privacy.never_store
    )


def _note_id(value: object) -> int | None:
    """Return the id of a note that a model wrote (12, "12" or "[12]"); None if it wrote none."""
    match = _NOTE_ID.fullmatch(str(value))
    return int(match[1]) if match else None


def _choice(
    choices: type[Choice],
    value: object,
    default: Choice,
) -> Choice:
    """Return the choice that a model wrote; `default` if it wrote none of them."""
    return next((choice for choice in choices if choice.value == value), default)


def _words_to_ask_with(
    value: object,
    screen: Screen,
    fact: str,
) -> tuple[str, ...]:
    """Return the search words of a note that its fact does not have.

    A word that is also in the fact would count twice, and rank the note above better ones.
    """
    limit = 2 * WORDS_KEPT if screen.language else WORDS_KEPT
    fact_stems = set(stems(fact))
    other_words = []
    for word in _search_words(value, screen, limit):
        if not fact_stems.issuperset(stems(word)):
            other_words.append(word)
    return tuple(other_words)


def _search_words(
    value: object,
    screen: Screen,
    limit: int,
) -> tuple[str, ...]:
    """Return at most `limit` search words of a model's list; () if the value is no list.

    They are few and short, so that no note can be stuffed with them. Handles are left out.
    """
    if not isinstance(value, list):
        return ()
    # a dict is a set that keeps its order
    search_words: dict[str, None] = {}
    for item in value[:WORDS_READ]:
        if len(search_words) == limit:
            break
        if not isinstance(item, str):
            continue
        word = clean(item)
        has_fit_length = SHORTEST_WORD <= len(word) <= LONGEST_WORD
        if not has_fit_length or _PERSON.search(word):
            continue
        word = word.casefold()
        if never_stored(word, screen.privacy) is None:
            search_words[word] = None
    return tuple(search_words)
