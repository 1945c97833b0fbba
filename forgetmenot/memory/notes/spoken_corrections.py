"""Corrections in plain speech count at the next reply, not when chat is summarised.

Guarantees:
- A line changes only what is known of its speaker, and only where it plainly contradicts one live note: "I live in
  Bergen now", "cello, not viola", "the exam moved to Friday", "scratch that, Dark Souls 3". The streamer corrects the
  channel's notes as well.
- What is quoted, supposed or joked changes nothing, and whatever is new but contradicts nothing waits for the memory's
  own reading of chat.
- The old note is superseded as by any other claim.

A line that names no subject ("no wait, two cats") is about what its speaker has just said, and about nothing else.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence

from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import Note, SourceKind
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.memory.notes import edits, note_merge
from forgetmenot.memory.notes.proposals import FactRefused
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events, notes
from forgetmenot.store.database import Database
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.statement_rules import claims, fact_of
from forgetmenot.text.statements import is_moping, meant_part, own_fact
from forgetmenot.text.words import STOPWORDS, stem, words

LONGEST_LINE = 200
OWN_WORD = edits.TellerTrust(SourceKind.SELF_CLAIM, most=10)
LATELY = 10 * MINUTE
OWN_LINES = 4
COUNT_WORDS = 3
"""Lines of the speaker that a correction without a subject may be about, and how old they may be."""
JUST_SAID = 0.6
"""So large a share of a note's telling words in one of these lines makes it the note that they were about."""
_CUE = re.compile(
    r"\b(?:now|moved|move|changed|pushed|switched|upgraded|correction|since|finally|new|again|instead|actually"
    r"|from now on|jetzt|verschoben|ahora|maintenant|agora|теперь)\b",
    re.IGNORECASE,
)
_MEANT = r"(?:correction|(?:scratch|scrap|strike) that|i (?:meant|misspoke|mistyped))"
_OTHERWISE = r"(?:changed my mind|i was wrong)"
_MAY_CORRECT = re.compile(
    rf"\b(?:i|i['’]?m|i['’]?ve|my|not|from|{_MEANT}|{_OTHERWISE})\b|{_CUE.pattern}"
    r"|\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b|\w\*\s*\Z|\A\*\w",
    re.IGNORECASE,
)
_EMPHATIC = re.compile(r"\b(i) do (?!not\b)(?=[a-z]+ [a-z]+)", re.IGNORECASE)
_KINDS = (
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE),
    re.compile(
        r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b", re.IGNORECASE
    ),
    re.compile(r"\b\d{1,3}:\d{2}(?::\d{2})?\b"),
    re.compile(
        r"(?<![\d:.,%/-])\b\d{1,4}\b(?![\d:.,%/-])|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b",
        re.IGNORECASE,
    ),
)
"""Values of one kind: a line that has another one about the same thing replaces it."""
_THING = r"[\w'’:.+-]+(?: [\w'’:.+-]+){0,2}?"
_LEAD = (
    r"(?:(?:no|nah|nope|actually|sorry|correction|wait|oops|well|it['’]?s|its|i meant|i mean|that['’]?s|@\w+)[\s,:!]+)*"
)
_TAIL = r"(?:[\s,]+(?:btw|bot|now|actually|sorry|lol|please|pls|by the way))*[\s.!]*"
_INSTEAD = (
    re.compile(rf"{_LEAD}(?P<new>{_THING}){_TAIL},? not (?:the |an? )?(?P<old>{_THING}){_TAIL}", re.IGNORECASE),
    re.compile(
        rf"{_LEAD}not (?:the |an? )?(?P<old>{_THING})[,;] (?:but |it['’]?s |its |the |an? )*(?P<new>{_THING}){_TAIL}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_LEAD}(?:i (?:have )?|i['’]ve )?(?:just )?(?:switched|moved|changed|upgraded|went) from (?:the |an? )?"
        rf"(?P<old>{_THING}) to (?:the |an? )?(?P<new>{_THING}){_TAIL}",
        re.IGNORECASE,
    ),
)
_ITS = r"(?:it['’]?s |its |it is |that['’]?s )"
_ANEW = re.compile(
    rf"(?:.*\b{_MEANT}\b[\s,:;.!-]*{_ITS}?|.*\b{_OTHERWISE}\b[\s,:;.!-]*{_ITS})(?:an? |the |my )?"
    rf"(?P<new>{_THING}){_TAIL}",
    re.IGNORECASE,
)
_STARRED = re.compile(r"\*(?P<new>[\w'’ -]{2,30})|(?P<new_>[\w'’ -]{2,30})\*")
_CLAUSE = re.compile(r"[,;.!]+\s*|\s[-–—]+\s|\b(?:and|but|so)\b\s*", re.IGNORECASE)
_DENIES = frozenset(
    ["not", "never", "dont", "doesnt", "didnt", "isnt", "arent", "aint", "wasnt", "werent", "wont", "cannot", "cant"]
)
_SOMEBODY = re.compile(
    r"\b(?:he|she|they|his|her|their|him|them|sis|bro|(?:my|our) (?:\w+ )?(?:brother|sister|mum|mom|dad|mother"
    r"|father|son|daughter|wife|husband|partner|girlfriend|boyfriend|friend|mate|boss|neighbou?r|roommate|cousin|uncle"
    r"|aunt|kid)s?)\b",
    re.IGNORECASE,
)
_TURNED = re.compile(r"(?P<value>[\w'’:+ -]{2,40}?) is my (?P<what>(?:favou?rite|main)(?: \w+)?)", re.IGNORECASE)
_AROUND = re.compile(
    r"\A(?:(?:ok|okay|well|actually|no|nah|nope|wait|sorry|yeah|btw|@\w+)[\s,:!]+)+"
    r"|(?:\s+(?:now|again|these days|nowadays|lately|instead|anymore|btw|lol|bot))+\W*\Z",
    re.IGNORECASE,
)
_COMPLEMENT = re.compile(r"(?P<head>.*\b(?:is|are|called|named)) (?:an? |the )?(?P<old>.+)")
_OBJECT = re.compile(r"(?P<head>\w+s(?: (?:an?|the|in|at|on|as|to|for|from|with))*) (?P<old>\w+(?: \w+)?)")


class SpokenCorrections:
    """Reads lines of chat for them. `flush` makes lines that were just heard readable."""

    def __init__(
        self, *, db: Database, settings: Callable[[], Settings], clock: Clock, flush: Callable[[], Awaitable[None]]
    ) -> None:
        self._db, self._settings, self._clock, self._flush = db, settings, clock, flush

    async def take(self, event: ChatEvent) -> None:
        """Take up what a line corrects, if it does."""
        text = event.text
        if event.kind is not EventKind.MESSAGE or len(text) > LONGEST_LINE or not _MAY_CORRECT.search(text):
            return
        meant = "" if is_command(text) or text.rstrip().endswith("?") else meant_part(text)
        if not meant:
            return
        about = [event.user_id, *([None] if "broadcaster" in event.badges else [])]
        try:
            for subject in about:
                held = await notes.of_subject(self._db, subject, note_merge.LIVE)
                lately = await self._said_lately(event) if held and any(_amendment(meant)) else ()
                found = corrected(meant, held, lately) if held else None
                if found is not None:
                    await self._write(event, *found)
                    return
        except FactRefused as refused:
            log.debug("a correction in chat is not taken", rule=refused.rule)
        except StoreError as error:
            log.warning("a correction in chat could not be written", error=type(error).__name__)

    async def _said_lately(self, event: ChatEvent) -> Sequence[str]:
        """What the speaker said just before, the newest first."""
        await self._flush()
        since = event.at - LATELY
        lines = await events.lines_of(self._db, event.user_id, since=since, until=event.at, limit=OWN_LINES + 1)
        return [line.text for line in reversed(lines) if line.event_id != event.id]

    async def _write(self, event: ChatEvent, note: Note, fact: str) -> None:
        await self._flush()
        if await events.by_id(self._db, event.id) is not None:
            return  # Twitch delivered it twice, or an earlier run has heard it
        await edits.remember(
            self._db,
            note.subject_id,
            fact,
            by=event.user_id,
            at=self._clock.now(),
            privacy=self._settings().privacy,
            scope=note.scope,
            word=OWN_WORD if note.subject_id is not None else edits.TRUSTED,
            line=event.id,
            instead_of=note.id,
        )


def corrected(meant: str, held: Sequence[Note], lately: Sequence[str] = ()) -> tuple[Note, str] | None:
    """The live note that a line contradicts, and what it says instead. `lately`: what its speaker said before. Pure."""
    found = _claimed(meant, held) or _substituted(meant, held) or _revalued(meant, held)
    if found is None and not _SOMEBODY.search(meant):
        found = _amended(meant, held, lately)
    return None if found is None or is_moping(found[0].fact, found[1]) else found


def may_replace(line: str, old: str, new: str) -> bool:
    """Whether a line of its subject carries a model's correction of a note: every new word is theirs. Pure."""
    meant = "" if line.rstrip().endswith("?") else meant_part(line)
    said, before, after = ({stem(word) for word in words(text) if word not in STOPWORDS} for text in (meant, old, new))
    fresh, gone = after - before, before - after
    own = fresh <= said and bool(fresh or gone & said) and not (fresh and _denied(meant, fresh, gone))
    return own and not (_SOMEBODY.search(meant) and not _SOMEBODY.search(old)) and not is_moping(old, new)


def _denied(meant: str, fresh: Collection[str], gone: Collection[str]) -> bool:
    """Whether a clause denies a new word: "I don't live in Bergen". What is behind an old word is told, not denied."""
    for clause in _CLAUSE.split(meant):
        denies = False
        for word in words(clause):
            if word in _DENIES:
                denies = True
            elif stem(word) in gone:
                denies = False
            elif denies and stem(word) in fresh:
                return True
    return False


def _claimed(meant: str, held: Sequence[Note]) -> tuple[Note, str] | None:
    """The one note that something said about the speaker contradicts: "I live in Bergen now"."""
    for forms in _readings(_EMPHATIC.sub(r"\1 ", meant)):
        for fact in forms:
            related = [(relate(note.fact, fact), note) for note in held]
            if any(relation is Relation.DUPLICATE for relation, _ in related):
                break
            conflicts = [note for relation, note in related if relation is Relation.CONFLICT]
            if len(conflicts) == 1:
                return conflicts[0], fact
    return None


def _readings(meant: str) -> Iterator[tuple[str, ...]]:
    """What a line may state of its speaker, each in the forms that a note may have.

    "My cat is called Soot" is also what it says of the one cat there is; "Hades is my favourite game again" stands on
    its head.
    """
    for claim in claims(meant):
        definite = ("their " + claim.removeprefix("'s "),) if claim.startswith("'s ") else ()
        yield fact_of(claim), *definite
    for clause in _CLAUSE.split(meant):
        if turned := _TURNED.fullmatch(_AROUND.sub("", clause)):
            yield (own_fact(f"my {turned['what']} is {turned['value']}") or "",)


def _substituted(meant: str, held: Sequence[Note]) -> tuple[Note, str] | None:
    """What "cello, not viola" makes of a note, where just one note has the old word and not the new one."""
    for form in _INSTEAD:
        found = form.fullmatch(meant)
        if found is None or not set(words(found["new"])) - STOPWORDS or not set(words(found["old"])) - STOPWORDS:
            continue
        old = re.compile(rf"(?<!\w){re.escape(found['old'])}(?!\w)", re.IGNORECASE)
        fitting = [note for note in held if old.search(note.fact)]
        if len(fitting) == 1 and found["new"].casefold() not in fitting[0].fact.casefold():
            before, _, after = fitting[0].fact.partition(old.findall(fitting[0].fact)[0])
            return fitting[0], f"{before}{found['new']}{after}"
    return None


def _revalued(meant: str, held: Sequence[Note]) -> tuple[Note, str] | None:
    """What "the exam moved to Friday" makes of the one note with one other value of that kind, and a word in common."""
    said = {stem(word) for word in words(meant)} - STOPWORDS
    for kind in _KINDS if _CUE.search(meant) else ():
        values = {found.casefold() for found in kind.findall(meant)}
        if len(values) != 1:
            continue
        value = values.pop()
        about = said - {stem(value)}
        fitting = [
            (note, found[0])
            for note in held
            if len(found := list(kind.finditer(note.fact))) == 1 and about & {stem(word) for word in words(note.fact)}
        ]
        if len(fitting) == 1 and fitting[0][1][0].casefold() != value:
            note, old = fitting[0]
            return note, _instead(note.fact, old, value)
    return None


def _instead(fact: str, old: re.Match[str], value: str) -> str:
    return f"{fact[: old.start()]}{value.title() if old[0][0].isupper() else value}{fact[old.end() :]}"


def _just_said(held: Sequence[Note], lately: Sequence[str]) -> list[Note]:
    """The notes that the speaker's newest line about any of them was about."""
    for line in lately:
        said = {stem(word) for word in words(line)}
        telling = [({stem(word) for word in words(note.fact)} - STOPWORDS, note) for note in held]
        about = [note for own, note in telling if own and len(own & said) >= JUST_SAID * len(own)]
        if about:
            return about
    return []


def _amendment(meant: str) -> tuple[str, str]:
    """The new value that a line without a subject names, if it says that it is one; and what may be a count."""
    found = _ANEW.fullmatch(meant) or _STARRED.fullmatch(meant)
    new = next(filter(None, found.groupdict().values()), "") if found else ""
    value = "" if STOPWORDS & set(words(new)) else new
    count = new or _CLAUSE.split(meant, maxsplit=1)[0]
    return value, count if len(words(count)) <= COUNT_WORDS and any(kind.search(count) for kind in _KINDS) else ""


def _amended(meant: str, held: Sequence[Note], lately: Sequence[str]) -> tuple[Note, str] | None:
    """What "scratch that, Dark Souls 3", "two cats" or "*Bergen" makes of the note that they have just said."""
    value, count = _amendment(meant)
    about = _just_said(held, lately)
    if len(about) != 1 or not (value or count):
        return None
    at_once = bool(_just_said(held, lately[:1]))  # what only stands in the old one's place is about the line before
    fact = _recounted(about[0].fact, count) or (_placed(about[0].fact, value, at_once=at_once) if value else None)
    return (about[0], fact) if fact and fact.casefold() != about[0].fact.casefold() else None


def _recounted(fact: str, fragment: str) -> str | None:
    """A count in the place of another: "two cats" makes "has 3 cats" say two."""
    said = words(fragment)
    for kind in _KINDS:
        value, old = kind.findall(fragment), list(kind.finditer(fact))
        others = {stem(word) for word in said if not kind.fullmatch(word)}
        fits = len(value) == len(old) == 1 and others <= {stem(word) for word in words(fact)}
        if fits and others:
            return _instead(fact, old[0], value[0])
    return None


def _placed(fact: str, new: str, *, at_once: bool) -> str | None:
    """The fact with a new value: beside a word that both have ("dark souls 3"), else at its end."""
    parts, size = fact.split(), len(new.split())
    shared = {stem(word) for word in words(new)} & {stem(word) for word in words(fact)} - STOPWORDS
    if shared:
        spans = [range(at, at + size) for at in range(len(parts) - size + 1)]
        span = max(spans, key=lambda span: len(shared & {stem(word) for at in span for word in words(parts[at])}))
        return " ".join([*parts[: span.start], new, *parts[span.stop :]])
    if any(kind.search(new) for kind in _KINDS):
        found = next(((kind, old) for kind in _KINDS if kind.search(new) and (old := kind.search(fact))), None)
        return _instead(fact, found[1], found[0].findall(new)[0]) if found else None
    end = (_COMPLEMENT.fullmatch(fact) or _OBJECT.fullmatch(fact)) if at_once else None
    return f"{end['head']} {new}" if end else None
