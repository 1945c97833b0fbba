"""Language for results: of commands in chat, of actions, and of operations for the dock and the command line. Pure.

The texts are in forgetmenot/languages. A line about an action never claims more than its outcome.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forgetmenot.domain import Decision, OperationResult, Outcome, OutcomeKind, Proposal, Verdict
from forgetmenot.durations import DAY
from forgetmenot.languages import ENGLISH, Language

# Characters kept free behind the facts, for the count of those that did not fit.
_KEPT_FREE = 60
MOST_QUOTED = 120
# From when on `!memory` says how long ago something was first said.
OLD = 30 * DAY


# Actions.


# What a person types instead, where the model read a wish that code does not read: their answer names the command.
TYPED_INSTEAD = frozenset({"remember", "forget"})


# The rules that deny what nobody could have done now.
IMPOSSIBLE = frozenset({"possible", "stream_live"})


def line_for(
    decision: Decision,
    outcome: Outcome | None,
    proposal: Proposal,
    *,
    target: str,
    say: str = "",
    log_id: int = 0,
    moderates: bool = False,
    language: Language = ENGLISH,
) -> str:
    """The line that replaces what the model wrote to `say`; empty where that may be sent as it is.

    `moderates`: whether the asker may approve it themselves.
    """
    if decision.verdict is Verdict.ASK:
        action = described(proposal.name, decision.params, target, language)
        return language("action.confirm" if moderates else "action.asked", action=action, id=log_id)
    if outcome is not None and outcome.kind is OutcomeKind.DONE:
        as_written = say and decision.verdict is Verdict.ALLOW
        return "" if as_written else done_line(proposal.name, decision.params, target, language)
    if outcome is not None and outcome.kind is OutcomeKind.UNKNOWN:
        return language("action.unsure")
    # the model's words for it may claim that it was done, in a language that no filter of ours reads
    if decision.verdict is Verdict.DENY and proposal.name in TYPED_INSTEAD:
        return language(f"action.not_done.{proposal.name}")
    return harmless(proposal.if_refused, language)


def impossible(decision: Decision, language: Language = ENGLISH) -> str:
    """The sentence for a moderator whose request nobody could have carried out now: what is missing."""
    return language("action.impossible", reason=language.reason(decision.reason))


def harmless(if_refused: str, language: Language = ENGLISH) -> str:
    """The model's words for a refusal; a sentence of ours if there are none."""
    return if_refused.strip() or language("action.neutral")


def described(
    name: str, params: Mapping[str, str], target: str, language: Language = ENGLISH
) -> str:
    """A short description of a proposal: "timeout bob 30 s", "title “Building a shed”"."""
    line = next(
        (params[key] for key in ("text", "fact", "what", "name", "effect") if params.get(key)), ""
    )
    label = (
        language(f"action.name.{name}")
        if f"action.name.{name}" in language
        else name.replace("_", " ")
    )
    parts = [
        label,
        target,
        language("span.s", n=params["seconds"]) if params.get("seconds") else "",
    ]
    short = line if len(line) <= MOST_QUOTED else f"{line[:MOST_QUOTED]}…"
    return " ".join(part for part in (*parts, f"“{short}”" if short else "") if part)


def done_line(
    name: str, params: Mapping[str, str], target: str, language: Language = ENGLISH
) -> str:
    """The sentence for a finished action. What was forgotten is not said once more."""
    params = {} if name == "forget" else params
    return language("action.done", action=described(name, params, target, language))


# What the dock and the command line say about a result.


def sentence(result: OperationResult, language: Language = ENGLISH) -> str:
    """The sentence of the table [result], else what chat is answered: one of the two has each code."""
    if result.code.startswith("refused:"):
        return _refused("result", result, language)
    if "status" in result.data:  # of a switch: how things stand now
        return str(result.data["status"])
    key = f"result.{result.code}"
    if key not in language:
        return chat_line(result, language)
    name = result.target.name if result.target is not None else ""
    unfinished = "" if result.data.get("wiped", True) else language("result.unfinished")
    more = {"name": name, "unfinished": unfinished, "left": _left(result, "result", language)}
    return language(key, **{**more, **_in_words(result.data, language)})


def _left(result: OperationResult, surface: str, language: Language) -> str:
    """How many texts of others an erasure left in doubt, as a sentence; empty for none."""
    count = result.data.get("doubtful", 0)
    return language(f"{surface}.erased_left", n=count) if count else ""


def _refused(surface: str, result: OperationResult, language: Language) -> str:
    rule = result.code.split(":")[1]
    keys = (f"{surface}.refused.{rule}", f"chat.refused.{rule}", f"chat.{rule}")
    return language(next((key for key in keys if key in language), "chat.refused.other"))


def _in_words(data: Mapping[str, object], language: Language) -> dict[str, object]:
    return {name: language.value(name, value) for name, value in data.items()}


# What chat is answered: one line per result code.


def chat_line(result: OperationResult, language: Language = ENGLISH) -> str:
    """The line to say; empty for nothing."""
    if result.code.startswith("refused:"):
        return _refused("chat", result, language)
    if special := _SPECIAL.get(result.code):
        return special(result, language)
    data = {**_people(result, language), **_in_words(result.data, language)}
    return language(f"chat.{result.code}", **data).rstrip()


def _people(result: OperationResult, language: Language) -> dict[str, object]:
    target, you = result.target, language("chat.own")
    if target is not None and not target.own:
        you = target.name if target.id is not None else language("chat.channel")
    return {"you": you, "note": _quoted(result.data.get("id"), result.data.get("fact"))}


def _quoted(note_id: object, fact: object) -> str:
    return f"#{note_id} {fact or ''}".rstrip()


def _memory(result: OperationResult, language: Language) -> str:
    """As many facts as fit, and the number of the others."""
    data = result.data
    notes, suppressed, most = (
        _rows(data["notes"]),
        _rows(data["suppressed"]),
        int(str(data["max_chars"])),
    )
    facts = []
    for note_id, fact, age in notes:
        when = f" ({language.duration(age, 'ago')})" if age >= OLD else ""
        facts.append(f"{_quoted(note_id, fact)}{when}")
    facts += [
        language("chat.memory_hearsay", note=f"#{note_id}", id=note_id)
        for note_id in _rows(data["hearsay"])
    ]
    facts += [language("chat.memory_hidden", note=f"#{note_id}") for note_id in suppressed]
    start = language("chat.memory", **_people(result, language))
    text, shown = start + facts[0][: most - len(start) - _KEPT_FREE], 1
    for fact in facts[1:]:
        if len(text) + len(fact) + 3 > most - _KEPT_FREE:
            break
        text, shown = f"{text} · {fact}", shown + 1
    left = len(facts) - shown
    return language("chat.memory_more", text=text, n=left) if left else text


def _remembered(result: OperationResult, language: Language) -> str:
    """What was kept, with its number behind it; "their dog" is yours where it is about you."""
    fact = str(result.data["fact"]) or "…"
    if result.target is not None and not result.target.own:
        people = _people(result, language)
        return language("chat.remembered", **people, fact=fact, id=result.data["id"])
    theirs, your = language("chat.their"), language("chat.your")
    if fact.startswith(theirs):
        fact = your + fact.removeprefix(theirs)
    return language("chat.remembered_own", fact=fact, id=result.data["id"])


def _which_note(result: OperationResult, language: Language) -> str:
    listed = " · ".join(_quoted(note["id"], note["fact"]) for note in _rows(result.data["notes"]))
    shown = {**_people(result, language), **result.data}
    return language(f"chat.{result.code}", **shown, list=listed)


def _suppressed_nothing(result: OperationResult, language: Language) -> str:
    """That a topic hides nothing, and which notes it could mean."""
    people = _people(result, language)
    nothing = language("chat.suppressed_nothing", **people)
    notes = _rows(result.data["notes"])
    if not notes:
        return nothing
    listed = " · ".join(_quoted(note["id"], note["fact"]) for note in notes)
    hint = language("chat.suppressed_by_number", command=result.data["command"], list=listed)
    return f"{nothing} {hint}"


def _help_command(result: OperationResult, language: Language) -> str:
    forms, given = [], _rows(result.data["forms"])
    for form, name, *examples in given:
        does = f": {language(f'does.{name}')}" if f"does.{name}" in language else ""
        example = "".join(
            language("chat.help_example", line=line)
            for line in examples
            if len(given) == 1 and line != form
        )
        named = re.sub(
            r"(?<=[<\[])\w+(?=[>\]])",
            lambda found: str(language.value("parameter", found[0])),
            form,
        )
        forms.append(f"{named}{does}{example}")
    return language("chat.help_command", forms=" · ".join(forms))


def _rows(value: object) -> Sequence[Any]:
    return value if isinstance(value, Sequence) else ()


_SPECIAL: dict[str, Callable[[OperationResult, Language], str]] = {
    "memory": _memory,
    "remembered": _remembered,
    "erased": lambda result, say: say(
        "chat.erased", **result.data, left=_left(result, "chat", say)
    ),
    "missed": lambda result, say: say(
        "chat.missed",
        ago=say.duration(int(str(result.data["ago"])), "ago"),
        text=result.data["text"],
    ),
    **{code: lambda result, _: str(result.data["line"]) for code in ("approved", "why")},
    "approved_unknown": lambda _, say: say("action.unsure"),
    "status": lambda result, _: str(result.data["status"]),
    "input": lambda result, _: str(result.data["sentence"]),
    "which_note": _which_note,
    "suppressed_nothing": _suppressed_nothing,
    "which_action": lambda result, say: say(
        "chat.which_action", list=", ".join(_rows(result.data["actions"]))
    ),
    "commands": lambda result, say: say(
        "chat.commands", commands=" ".join(_rows(result.data["commands"]))
    ),
    "help_command": _help_command,
}
