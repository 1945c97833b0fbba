"""What a viewer's own words ask for: actions, the texts that go with them, and whom they name. Pure.

Guarantees:
- Only whole words count ("urban memes" asks for no ban).
- A message with "not" or "nicht", a question ("is slow mode on?") and quoted text ask for nothing.
- What is to be remembered or forgotten is read from the line itself, never from the model.

Some German is read. Unusual wording is missed: the action is then refused, or a moderator is asked.
"""

import re
from collections.abc import Iterable

from forgetmenot.operations.actions import ACTIONS
from forgetmenot.operations.types import ActionClass, PersonFacts
from forgetmenot.text.chat_commands import (
    command_in_words,
    fact_about_other,
    first_word,
    own_fact,
)
from forgetmenot.text.clean import clean
from forgetmenot.text.questions import opens_as_question
from forgetmenot.text.words import stem, words

# As `text/words.words` gives them: small letters, without accents and apostrophes.
_DENYING = "not dont never no cant wont without stop nicht nie kein keinen"
_NOT = frozenset(_DENYING.split())
_ASKING = "is are was were why what whats how did does when who where should if"
_WONDERING = frozenset(_ASKING.split())
_ASKING_IN_GERMAN = "wer wie was wann wo warum welche"
_FOREIGN_QUESTION_STARTS = frozenset(_ASKING_IN_GERMAN.split())
_QUESTION_STARTS = (_WONDERING - {"should", "if"}) | _FOREIGN_QUESTION_STARTS
_STATEMENT_STARTS = frozenset(
    words("""
        i im ive my we ich mein meine wir
        hi hey hello good thanks thank gn gg hallo guten danke hola gracias
    """)
)
_REQUESTS = """
    you u please pls want wanna need should could can would wish lets about someone somebody and
    so then dont
    du bitte will wunsche mochte brauche soll sollen kann konnte jemand und dann ware
    puedes podrias haz hazme pon dame quiero necesito favor
    pode poderia faca coloca quero preciso
    peux peut pourrais pouvez mets donne donnes veux voudrais plait svp stp
    puoi potresti metti dammi voglio
    banear baneas banea bane bana banir bannir mutear silenciar expulsar expulser
"""
_REQUEST_WORDS = frozenset(_REQUESTS.split())


def _guarded_words() -> set[str]:
    """Return the words in the names of guarded actions: "slow", "mode", "ban"."""
    guarded = set()
    for action in ACTIONS:
        if action.kind is not ActionClass.FREE:
            guarded.update(action.name.split("_"))
    # of "emote_only": by itself it asks for nothing
    return guarded - {"only"}


_GUARDED = "|".join(sorted(_guarded_words()))
# The name of an action that needs more than a wish, as it is or with an ending: "timeouts", "banned", "bannt".
_NAMES_ACTION = re.compile(rf"\b(?:{_GUARDED})(?:s|n?t|n?e[nd]?|n?ed|n?ing)?\b")
_SECOND_CLAUSE = re.compile(r"[,;:.!?…–—]\s*\S")
_CALLED = re.compile(r"\A\s*[@＠]\w+[\s,:!]*")
_LEAD_IN = re.compile(
    r"\A\W*(?:do you (?:know|remember)|tell me|wei(?:ß|ss)t du(?: noch)?|sag mal|sabes|(?:você |vc )?sabe|tu sais)\b"
    r"[\s,]*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»")
_BIT = re.compile(
    r"\b(?:running|inside) (?:joke|gag|bit)s?\s*(?:[:,–-]|is\b|that\b)+\s*(\S.{4,})",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")


def asked_for(message: str) -> frozenset[str]:
    """Return the actions that this message asks for, in so many words, for its own author or for everybody."""
    request_words = _request(message)
    request = " ".join(request_words)
    names = set()
    for action in ACTIONS:
        if not action.asks:
            continue
        if not re.search(rf"\b(?:{action.asks})(?!\w)", request):
            continue
        # "is slow mode on?" asks for nothing
        is_wondering = action.channel_wide and request_words[0] in _WONDERING
        if not is_wondering:
            names.add(action.name)
    return frozenset(names)


def _request(message: str) -> list[str]:
    """Return the words of a line that may ask for something; none if there is a "not" or "don't" among them.

    The @name at its beginning is no part of them, and neither is quoted text.
    """
    line = _CALLED.sub("", clean(message))
    # What people quote, they do not ask for.
    unquoted = _QUOTED.sub(" ", line)
    request_words = words(unquoted)
    is_denied = bool(_NOT & set(request_words))
    return [] if is_denied else request_words


def asks_nothing(message: str) -> bool:
    """Return whether a line only greets, laughs, says something of its author, or asks what, when or who.

    It is one clause, has no request word, and names none of the actions that are guarded or asked for.
    """
    marked_line = _asked_line(message)
    line = marked_line.rstrip(" .!?…)。！？")
    line_words = words(line)
    if not line_words:
        return False
    if len(line_words) > 1 and not _opens_plainly(marked_line, line_words):
        return False
    if _REQUEST_WORDS & set(line_words):
        return False
    if _SECOND_CLAUSE.search(line):
        return False
    return not _NAMES_ACTION.search(" ".join(line_words)) and not asked_for(line)


def is_small_talk(message: str) -> bool:
    """Return whether a line asks for nothing and is no question either."""
    line = _asked_line(message)
    if "?" in line:
        return False
    if "？" in line:
        return False
    if not asks_nothing(message):
        return False
    return words(line)[0] not in _QUESTION_STARTS and not opens_as_question(line)


def _asked_line(message: str) -> str:
    """Return what a line says without the name called, and without "do you know" before a question."""
    line = _CALLED.sub("", clean(message))
    question = _LEAD_IN.sub("", line)
    if words(question)[:1] and _is_question_start(question):
        return question
    return line


def _is_question_start(line: str) -> bool:
    """Return whether a line, which has words, begins as a question."""
    return words(line)[0] in _QUESTION_STARTS or opens_as_question(line)


def _opens_plainly(line: str, spoken: list[str]) -> bool:
    """Return whether a line begins as a greeting, a statement of its author or a question."""
    return spoken[0] in _STATEMENT_STARTS or _is_question_start(line)


def typed_texts(
    message: str,
    question: str,
    target: PersonFacts | None,
    asker: PersonFacts,
    effects: Iterable[str] = (),
) -> dict[str, str]:
    """Return the texts that a line has for actions, by the action's name: the joke of "bit", the fact of "remember".

    `question`: the line without the bot's name. `effects`: the names of the effects that the streamer set up.
    """
    line = clean(question or message)
    texts = {}
    bit = _BIT.search(line)
    if bit is not None:
        texts["bit"] = bit[1]
    effect = requested_effect(_request(line), effects)
    if effect is not None:
        texts["effect"] = effect
    command, _, text = command_in_words(line).partition(" ")
    if target is None:
        return texts
    if command not in {"!remember", "!forget"}:
        return texts
    statement = _statement_about(command, text, target, is_own=target.id == asker.id)
    if statement:
        texts[command.removeprefix("!")] = statement
    return texts


def requested_effect(request_words: list[str], effects: Iterable[str]) -> str | None:
    """Return the effect whose every word stands in the request; of several the longest.

    None if no effect is named, or if the request only wonders ("is there confetti?").
    """
    if not request_words:
        return None
    if request_words[0] in _WONDERING:
        return None
    request_stems = {stem(word) for word in request_words}
    matches = []
    for effect in effects:
        effect_stems = {stem(word) for word in words(effect)}
        if effect_stems and effect_stems <= request_stems:
            matches.append(effect)
    return max(matches, key=len, default=None)


def _statement_about(
    command: str,
    text: str,
    target: PersonFacts,
    *,
    is_own: bool,
) -> str:
    """Return the statement if it is about the target, by "I" and "my" or by the name at its start; else ""."""
    is_fact = command == "!remember"
    first, rest = first_word(text.removeprefix("about "))
    if first.casefold() in _names_of(target):
        return fact_about_other(rest) if is_fact else rest.strip()
    if not is_own:
        return ""
    if not is_fact:
        return text
    return own_fact(text) or ""


def names(
    message: str,
    target: PersonFacts,
    asker: PersonFacts,
) -> bool:
    """Return whether a line names a viewer: by login, display name, or (the asker) "me"."""
    line_words = {word.casefold() for word in _WORD.findall(clean(message))}
    if line_words & _names_of(target):
        return True
    return target.id == asker.id and bool(line_words & SELF_WORDS)


def _names_of(person: PersonFacts) -> set[str]:
    return {person.login.casefold(), clean(person.display_name).casefold()} - {""}


# ── targets ───────────────────────────────────────────────────────────────────────────────────
# Among the people in chat now. An id in the proposal means nothing; a name that fits nobody or two people is refused,
# and so is a name that only looks like somebody's in other letters.


SELF_WORDS = frozenset({"me", "myself", "self"})


def resolve(
    name: str,
    present: Iterable[PersonFacts],
    asker: PersonFacts,
) -> list[PersonFacts]:
    """Return the people in chat who have that login or display name; for "me", the asker.

    The name is clear only if it is exactly one person.
    """
    people = {person.id: person for person in present}
    # the line that asks may be the first of its author
    people.setdefault(asker.id, asker)
    bare_name = clean(name).lstrip("@").rstrip(",.:;!?").casefold()
    if bare_name in SELF_WORDS:
        return [people[asker.id]]
    if not bare_name:
        return []
    return [person for person in people.values() if bare_name in _names_of(person)]
