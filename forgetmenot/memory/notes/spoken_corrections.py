"""Corrections in plain speech count at the next reply, not when chat is summarised.

Promises that a line changes only what is known of its speaker, and only where it plainly contradicts one live note:
"I live in Bergen now", "cello, not viola", "the exam moved to Friday". The streamer corrects the channel's notes as
well. What is quoted, supposed or joked changes nothing, and whatever is new but contradicts nothing waits for the
memory's own reading of chat. The old note is superseded as by any other claim.
"""

import re
from collections.abc import Awaitable, Callable, Sequence

from forgetmenot.clock import Clock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import Note, SourceKind
from forgetmenot.errors import StoreError
from forgetmenot.llm.offline.memory import claims, fact_of
from forgetmenot.logs import log
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.memory.notes import edits, note_merge
from forgetmenot.memory.notes.proposals import FactRefused
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events, notes
from forgetmenot.store.database import Database
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.statements import meant_part
from forgetmenot.text.words import STOPWORDS, stem, words

LONGEST_LINE = 200
OWN_WORD = edits.TellerTrust(SourceKind.SELF_CLAIM, most=10)
_CUE = re.compile(
    r"\b(?:now|moved|move|changed|pushed|switched|correction|since|finally|new|again|instead|actually|from now on|jetzt"
    r"|verschoben|ahora|maintenant|agora|теперь)\b",
    re.IGNORECASE,
)
_MAY_CORRECT = re.compile(rf"\b(?:i|i['’]?m|i['’]?ve|my|not|from)\b|{_CUE.pattern}", re.IGNORECASE)
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
                found = corrected(meant, held) if held else None
                if found is not None:
                    await self._write(event, *found)
                    return
        except FactRefused as refused:
            log.debug("a correction in chat is not taken", rule=refused.rule)
        except StoreError as error:
            log.warning("a correction in chat could not be written", error=type(error).__name__)

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


def corrected(meant: str, held: Sequence[Note]) -> tuple[Note, str] | None:
    """The live note that a line contradicts, and what it says instead. Pure."""
    for claim in claims(_EMPHATIC.sub(r"\1 ", meant)):
        for fact in _forms(claim):
            related = [(relate(note.fact, fact), note) for note in held]
            if any(relation is Relation.DUPLICATE for relation, _ in related):
                break
            conflicts = [note for relation, note in related if relation is Relation.CONFLICT]
            if len(conflicts) == 1:
                return conflicts[0], fact
    return _substituted(meant, held) or _revalued(meant, held)


def _forms(claim: str) -> tuple[str, ...]:
    """A claim as a note says it; "my cat is called Soot" also as what it says of the one cat there is."""
    definite = ("their " + claim.removeprefix("'s "),) if claim.startswith("'s ") else ()
    return (fact_of(claim), *definite)


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
            return (
                note,
                f"{note.fact[: old.start()]}{value.title() if old[0][0].isupper() else value}{note.fact[old.end() :]}",
            )
    return None
