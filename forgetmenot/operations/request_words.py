"""What a proposal rests on: the actions that a viewer's own words ask for, its target, its parameters. Pure.

Guarantees:
- Only whole words count ("urban memes" asks for no ban).
- A message with "not" or "nicht", a question ("is slow mode on?") and quoted text ask for nothing.
- What is to be remembered or forgotten is read from the line itself, never from the model.
- Only declared parameters pass; anything else the model wrote is dropped. Numbers are within their bounds.
- Texts are one clean line without tags, commands or mentions by id. What a model wrote has no links and no blocked
  words.

Some German is read. Unusual wording is missed: the action is then refused, or a moderator is asked.
"""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from forgetmenot.durations import SECOND, parse_duration
from forgetmenot.languages import reason
from forgetmenot.operations.actions import ACTIONS
from forgetmenot.operations.types import Action, ActionClass, Parameter, ParameterKind, PersonFacts
from forgetmenot.settings.schema import ReplySettings, Settings
from forgetmenot.text.chat_commands import command_in_words, fact_about_other, first_word, own_fact
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import defang, without_links
from forgetmenot.text.outgoing import without_command, without_machine_text, without_phrases
from forgetmenot.text.questions import opens_as_question
from forgetmenot.text.words import stem, words

_NOT = frozenset(
    {
        "not",
        "dont",
        "never",
        "no",
        "cant",
        "wont",
        "without",
        "stop",
        "nicht",
        "nie",
        "kein",
        "keinen",
    }
)
_WONDERING = frozenset(
    (
        "is",
        "are",
        "was",
        "were",
        "why",
        "what",
        "whats",
        "how",
        "did",
        "does",
        "when",
        "who",
        "where",
        "should",
        "if",
    )
)
_QUESTION_STARTS = (_WONDERING - {"should", "if"}) | {
    "wer",
    "wie",
    "was",
    "wann",
    "wo",
    "warum",
    "welche",
}
_STATEMENT_STARTS = frozenset(
    words("""i im ive my we ich mein meine wir
    hi hey hello good thanks thank gn gg hallo guten danke hola gracias""")
)
_REQUEST_WORDS = frozenset(
    (
        *(
            "you",
            "u",
            "please",
            "pls",
            "want",
            "wanna",
            "need",
            "should",
            "could",
            "can",
            "would",
            "wish",
            "lets",
        ),
        *(
            "about",
            "someone",
            "somebody",
            "and",
            "so",
            "then",
            "dont",
            "du",
            "bitte",
            "will",
            "wunsche",
            "mochte",
        ),
        *("brauche", "soll", "sollen", "kann", "konnte", "jemand", "und", "dann", "ware"),
        *("puedes", "podrias", "haz", "hazme", "pon", "dame", "quiero", "necesito", "favor"),
        *("pode", "poderia", "faca", "coloca", "quero", "preciso"),
        *(
            "peux",
            "peut",
            "pourrais",
            "pouvez",
            "mets",
            "donne",
            "donnes",
            "veux",
            "voudrais",
            "plait",
            "svp",
            "stp",
        ),
        *("puoi", "potresti", "metti", "dammi", "voglio"),
        *(
            "banear",
            "baneas",
            "banea",
            "bane",
            "bana",
            "banir",
            "bannir",
            "mutear",
            "silenciar",
            "expulsar",
            "expulser",
        ),
    )
)
_GUARDED = "|".join(
    part
    for one in ACTIONS
    if one.kind is not ActionClass.FREE
    for part in one.name.split("_")
    if part != "only"
)
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
    r"\b(?:running|inside) (?:joke|gag|bit)s?\s*(?:[:,–-]|is\b|that\b)+\s*(\S.{4,})", re.IGNORECASE
)
_WORD = re.compile(r"\w+")


def asked_for(message: str) -> frozenset[str]:
    """The names of the actions that this message asks for about its own author or for everybody, in so many words."""
    spoken = _request(message)
    line = " ".join(spoken)
    asked = (one for one in ACTIONS if one.asks and re.search(rf"\b(?:{one.asks})(?!\w)", line))
    return frozenset(
        one.name for one in asked if not (one.channel_wide and spoken[0] in _WONDERING)
    )


def _request(message: str) -> list[str]:
    """The words that may ask for something: without the name called and what is quoted; none if any denies it."""
    # what somebody quotes, they do not ask for
    spoken = words(_QUOTED.sub(" ", _CALLED.sub("", clean(message))))
    return [] if _NOT & set(spoken) else spoken


def asks_nothing(message: str) -> bool:
    """Whether a line only greets, laughs, says something of its author, or asks what, when or who.

    It is one clause, has no request word, and names none of the actions that are guarded or asked for.
    """
    marked_line = _asked_line(message)
    line = marked_line.rstrip(" .!?…)。！？")
    spoken = words(line)
    if not spoken or not (len(spoken) == 1 or _opens_plainly(marked_line, spoken)):
        return False
    return (
        not _REQUEST_WORDS & set(spoken)
        and not _NAMES_ACTION.search(" ".join(spoken))
        and not _SECOND_CLAUSE.search(line)
        and not asked_for(line)
    )


def is_small_talk(message: str) -> bool:
    """Whether a line asks for nothing and is no question either."""
    line = _asked_line(message)
    if "?" in line or "？" in line or not asks_nothing(message):
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
    return words(line)[0] in _QUESTION_STARTS or opens_as_question(line)


def _opens_plainly(line: str, spoken: list[str]) -> bool:
    """Return whether a line begins as a greeting, a statement of its author or a question."""
    return spoken[0] in _STATEMENT_STARTS or _is_question_start(line)


def typed(
    message: str,
    question: str,
    target: PersonFacts | None,
    asker: PersonFacts,
    effects: Iterable[str] = (),
) -> dict[str, str]:
    """The asker's text in this line, by action. `question`: it without the bot's name. `effects`: those there are."""
    said = clean(question or message)
    bit = _BIT.search(said)
    texts = {"bit": bit[1]} if bit else {}
    if effect := _effect(_request(said), effects):
        texts["effect"] = effect
    name, _, text = command_in_words(said).partition(" ")
    own = target is not None and target.id == asker.id
    if target is None or name not in {"!remember", "!forget"}:
        return texts
    if about_target := _about(name, text, target, own=own):
        texts[name.removeprefix("!")] = about_target
    return texts


def _effect(spoken: list[str], effects: Iterable[str]) -> str:
    """The effect that a request names with all its words, the longest such; "" if there is none."""
    said = {stem(word) for word in spoken if spoken[0] not in _WONDERING}
    named = (one for one in effects if words(one) and said.issuperset(map(stem, words(one))))
    return max(named, key=len, default="")


def _about(name: str, text: str, target: PersonFacts, *, own: bool) -> str:
    """The statement, if it is about the target: by "I" and "my", or by the name at its start."""
    first, rest = first_word(text.removeprefix("about "))
    named = first.casefold() in _names(target)
    if not (named or own):
        return ""
    if name == "!remember":
        return fact_about_other(rest) if named else own_fact(text) or ""
    return rest.strip() if named else text


def names(message: str, target: PersonFacts, asker: PersonFacts) -> bool:
    """Whether a line names a viewer: by login, display name, or (the asker) "me"."""
    said = {word.casefold() for word in _WORD.findall(clean(message))}
    return bool(said & _names(target)) or (target.id == asker.id and bool(said & SELF_WORDS))


def _names(person: PersonFacts) -> set[str]:
    return {person.login.casefold(), clean(person.display_name).casefold()} - {""}


# Targets among the people in chat now. An id in the proposal means nothing; a name that fits nobody or two people is
# refused, and so is a name that only looks like somebody's in other letters.


SELF_WORDS = frozenset({"me", "myself", "self"})


def resolve(name: str, present: Iterable[PersonFacts], asker: PersonFacts) -> list[PersonFacts]:
    """The people in chat who go by that login or display name: one is meant; `me` is the asker."""
    wanted = clean(name).lstrip("@").rstrip(",.:;!?").casefold()  # without punctuation around it
    people = {person.id: person for person in present}
    # the line that asks may be the first of its author
    people.setdefault(asker.id, asker)
    if wanted in SELF_WORDS:
        return [people[asker.id]]
    return [person for person in people.values() if wanted and wanted in _names(person)]


# The parameters of a proposal, checked against the action's declaration.


class Checked(Struct, frozen=True):
    """Checked parameters. `problem` is a sentence if they do not fit; `changed` one if something was reduced."""

    params: Mapping[str, str]
    problem: str = ""
    changed: str = ""


def check(action: Action, given: Mapping[str, str], settings: Settings) -> Checked:
    """The parameters of a proposal as the action takes them."""
    params: dict[str, str] = {}
    changed = ""
    for parameter in action.params:
        name, value = parameter.name, given.get(parameter.name, parameter.default)
        if value is None:
            fitted = None
        elif parameter.kind is ParameterKind.SECONDS:
            fitted = _fit_seconds(parameter, value, settings.actions.max_timeout_s)
        elif parameter.kind is ParameterKind.EFFECT:
            named = (
                one for one in settings.bridge.effects if one.casefold() == value.strip().casefold()
            )
            fitted = next(((one, False) for one in named), None)
        else:
            fitted = _fit_text(action, parameter, value, settings.reply)
        if fitted is None:
            return Checked({}, reason("needs", parameter=name))
        params[name], reduced = fitted
        changed = changed or (reason("changed", parameter=name) if reduced else "")
    return Checked(params, changed=changed)


def _fit_seconds(parameter: Parameter, value: str, most_seconds: int) -> tuple[str, bool] | None:
    """The value as it is used, and whether it was reduced; None if it does not fit."""
    duration = parse_duration(value, default_unit="s")
    if duration is None:
        return None
    seconds = duration // SECOND
    if seconds < parameter.minimum:
        return None
    # the settings' limit is for what runs without a person; longer ones always ask one
    most = min(parameter.maximum, most_seconds) if parameter.maximum <= 60 else parameter.maximum
    return str(min(seconds, most)), seconds > most


def _fit_text(
    action: Action, parameter: Parameter, value: str, reply: ReplySettings
) -> tuple[str, bool] | None:
    """Likewise. `reply`: apply the filters of replies, for texts that are sent to chat."""
    # twice, because what is cut from the middle may leave a command at the beginning
    said = line = without_command(
        clean(without_machine_text(defang(without_command(clean(value)))))
    )
    if parameter.kind is ParameterKind.TEXT and parameter.name != action.typed:
        bare = said if reply.allow_links else without_links(said)
        line = without_command(without_machine_text(without_phrases(bare, reply.blocklist)))
    if not line and parameter.default is None:
        return None
    if len(line) > parameter.maximum:
        line = line[: parameter.maximum].rsplit(" ", 1)[0]
    return line, line != said
