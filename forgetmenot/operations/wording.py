"""Words results: of commands in chat, of actions, and of operations for the dock and the command line. Pure.

The texts are in forgetmenot/languages. A line about an action never claims more than its outcome.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forgetmenot.domain import (
    Decision,
    OperationResult,
    Outcome,
    OutcomeKind,
    Proposal,
    Verdict,
)
from forgetmenot.durations import DAY
from forgetmenot.languages import ENGLISH, Language

# Characters kept free behind the facts, for the count of those that did not fit.
_KEPT_FREE = 60
MOST_QUOTED = 120
# From when on `!memory` says how long ago something was first said.
OLD = 30 * DAY
# What a person types instead, where the model read a wish that code does not read: their answer names the command.
TYPED_INSTEAD = frozenset({"remember", "forget"})
# The rules that deny what nobody could have done now.
IMPOSSIBLE = frozenset({"possible", "stream_live"})
# The parameters that a description quotes, the first that there is.
_QUOTED_PARAMETERS = ("text", "fact", "what", "name", "effect")


# ── actions ───────────────────────────────────────────────────────────────────────────────────


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
    """Return the line that replaces what the model wrote to `say`; empty where that may be sent as it is.

    `moderates`: whether the asker may approve it themselves.
    """
    if decision.verdict is Verdict.ASK:
        action = described(proposal.name, decision.params, target, language)
        key = "action.confirm" if moderates else "action.asked"
        return language(key, action=action, id=log_id)
    if outcome is not None and outcome.kind is OutcomeKind.DONE:
        if say and decision.verdict is Verdict.ALLOW:
            return ""
        return done_line(proposal.name, decision.params, target, language)
    if outcome is not None and outcome.kind is OutcomeKind.UNKNOWN:
        return language("action.unsure")
    # the model's words for it may claim that it was done, in a language that no filter of ours reads
    if decision.verdict is Verdict.DENY and proposal.name in TYPED_INSTEAD:
        return language(f"action.not_done.{proposal.name}")
    return harmless(proposal.if_refused, language)


def impossible(decision: Decision, language: Language = ENGLISH) -> str:
    """Return the sentence for a moderator whose request nobody could have carried out now: what is missing."""
    return language("action.impossible", reason=language.reason(decision.reason))


def harmless(if_refused: str, language: Language = ENGLISH) -> str:
    """Return the model's words for a refusal; a sentence of ours if there are none."""
    return if_refused.strip() or language("action.neutral")


def described(
    name: str,
    params: Mapping[str, str],
    target: str,
    language: Language = ENGLISH,
) -> str:
    """Return a short description of a proposal: "timeout bob 30 s", "title “Building a shed”"."""
    key = f"action.name.{name}"
    parts = [language(key) if key in language else name.replace("_", " ")]
    if target:
        parts.append(target)
    if params.get("seconds"):
        parts.append(language("span.s", n=params["seconds"]))
    text = _quoted_parameter(params)
    if len(text) > MOST_QUOTED:
        text = f"{text[:MOST_QUOTED]}…"
    if text:
        parts.append(f"“{text}”")
    return " ".join(parts)


def _quoted_parameter(params: Mapping[str, str]) -> str:
    """Return the text that an action is about: what it posts, stores or is called."""
    for name in _QUOTED_PARAMETERS:
        if params.get(name):
            return params[name]
    return ""


def done_line(
    name: str,
    params: Mapping[str, str],
    target: str,
    language: Language = ENGLISH,
) -> str:
    """Return the sentence for a finished action. What was forgotten is not said once more."""
    shown_params = {} if name == "forget" else params
    return language(
        "action.done", action=described(name, shown_params, target, language)
    )


def denied_line(
    name: str,
    params: Mapping[str, str],
    target: str,
    language: Language = ENGLISH,
) -> str:
    """Return the sentence for an action that a person refused."""
    if target and f"action.denied.{name}" in language:
        return language(f"action.denied.{name}", target=target)
    return language(
        "action.not_approved", action=described(name, params, target, language)
    )


# ── what the dock and the command line say about a result ─────────────────────────────────────


def sentence(result: OperationResult, language: Language = ENGLISH) -> str:
    """Return the sentence of the table [result], else what chat is answered: one of the two has each code."""
    if result.code.startswith("refused:"):
        return _refusal("result", result, language)
    # the result of a switch
    if "status" in result.data:
        return str(result.data["status"])
    key = f"result.{result.code}"
    if key not in language:
        return chat_line(result, language)
    is_wiped = result.data.get("wiped", True)
    values = {
        "name": result.target.name if result.target is not None else "",
        "unfinished": "" if is_wiped else language("result.unfinished"),
        "left": _texts_in_doubt("result", result, language),
        **_in_words(result.data, language),
        **_counts(result.data, language),
    }
    return _with_receipt("result", result, language, language(key, **values))


def _texts_in_doubt(
    surface: str,
    result: OperationResult,
    language: Language,
) -> str:
    """Return how many texts of others an erasure left in doubt, as a sentence; empty for none."""
    count = result.data.get("doubtful", 0)
    return language(f"{surface}.erased_left", n=count) if count else ""


def _refusal(
    surface: str,
    result: OperationResult,
    language: Language,
) -> str:
    """Return why a fact is refused, in the words of the surface, else in those of chat."""
    # "refused:sensitive:health" is refused as "sensitive"
    rule = result.code.split(":")[1]
    for key in (f"{surface}.refused.{rule}", f"chat.refused.{rule}", f"chat.{rule}"):
        if key in language:
            return language(key)
    return language("chat.refused.other")


def _in_words(data: Mapping[str, object], language: Language) -> dict[str, object]:
    """Return values as a language writes them: numbers, durations, days."""
    return {name: language.value(name, value) for name, value in data.items()}


# ── what chat is answered: one line per result code ───────────────────────────────────────────


def chat_line(result: OperationResult, language: Language = ENGLISH) -> str:
    """Return the line to say; empty for nothing."""
    if result.code.startswith("refused:"):
        return _refusal("chat", result, language)
    special_line = _SPECIAL.get(result.code)
    if special_line is not None:
        return special_line(result, language)
    data = {**_people(result, language), **_in_words(result.data, language)}
    return language(f"chat.{result.code}", **data).rstrip()


def _people(result: OperationResult, language: Language) -> dict[str, object]:
    """Return whom a result is about, as its texts name them, and its note."""
    target = result.target
    if target is None or target.own:
        you = language("chat.own")
    elif target.id is None:
        you = language("chat.channel")
    else:
        you = target.name
    return {
        "you": you,
        "note": _quoted_note(result.data.get("id"), result.data.get("fact")),
    }


def _quoted_note(note_id: object, fact: object) -> str:
    """Return "#5 plays drums"; "#5" where its words may not be said."""
    return f"#{note_id} {fact or ''}".rstrip()


def _list_of_notes(result: OperationResult) -> str:
    """Return several notes, by which somebody may choose one."""
    quotes = [
        _quoted_note(note["id"], note["fact"]) for note in _rows(result.data["notes"])
    ]
    return " · ".join(quotes)


def _memory(result: OperationResult, language: Language) -> str:
    """Return as many facts as fit, and the number of the others."""
    data = result.data
    lines = []
    for note_id, fact, age in _rows(data["notes"]):
        line = _quoted_note(note_id, fact)
        if age >= OLD:
            line += f" ({language.duration(age, 'ago')})"
        lines.append(line)
    lines += [
        language("chat.memory_hearsay", note=f"#{note_id}", id=note_id)
        for note_id in _rows(data["hearsay"])
    ]
    lines += [
        language("chat.memory_hidden", note=f"#{note_id}")
        for note_id in _rows(data["suppressed"])
    ]
    limit = int(str(data["max_chars"])) - _KEPT_FREE
    start = language("chat.memory", **_people(result, language))
    # The first fact stands there in any case, cut if need be.
    text = start + lines[0][: limit - len(start)]
    fitting = 1
    for line in lines[1:]:
        longer_text = f"{text} · {line}"
        if len(longer_text) > limit:
            break
        text = longer_text
        fitting += 1
    more = len(lines) - fitting
    return language("chat.memory_more", text=text, n=more) if more else text


def _remembered(result: OperationResult, language: Language) -> str:
    """Return what was stored, with its number behind it; "their dog" is yours where it is about you."""
    fact = str(result.data["fact"]) or "…"
    note_id = result.data["id"]
    if result.target is not None and not result.target.own:
        people = _people(result, language)
        return language("chat.remembered", **people, fact=fact, id=note_id)
    their = language("chat.their")
    if fact.startswith(their):
        fact = language("chat.your") + fact.removeprefix(their)
    return language("chat.remembered_own", fact=fact, id=note_id)


def _edited(result: OperationResult, language: Language) -> str:
    """Return how a note reads now, and how it did; what others had said is not read aloud."""
    was = result.data["was"]
    key = "chat.edited" if was else "chat.edited_unseen"
    return language(key, **_people(result, language), id=result.data["id"], was=was)


def _which_note(result: OperationResult, language: Language) -> str:
    """Return the question which of several notes is meant, or that none is."""
    values = {**_people(result, language), **result.data}
    return language(f"chat.{result.code}", **values, list=_list_of_notes(result))


def _suppressed_nothing(result: OperationResult, language: Language) -> str:
    """Return that a topic hides nothing, and which notes it could mean."""
    nothing = language("chat.suppressed_nothing", **_people(result, language))
    listed = _list_of_notes(result)
    if not listed:
        return nothing
    hint = language(
        "chat.suppressed_by_number", command=result.data["command"], list=listed
    )
    return f"{nothing} {hint}"


def _help_command(result: OperationResult, language: Language) -> str:
    """Return how commands are typed; of a single one with its example."""
    forms = _rows(result.data["forms"])

    def translated(parameter: re.Match[str]) -> str:
        return str(language.value("parameter", parameter[0]))

    lines = []
    for form, name, *examples in forms:
        # `!edit <note>`: the command stays as it is typed, the word in brackets is translated.
        line = re.sub(r"(?<=[<\[])\w+(?=[>\]])", translated, form)
        if f"does.{name}" in language:
            line += f": {language(f'does.{name}')}"
        if len(forms) == 1:
            for example in examples:
                if example != form:
                    line += language("chat.help_example", line=example)
        lines.append(line)
    return language("chat.help_command", forms=" · ".join(lines))


def _erased(result: OperationResult, language: Language) -> str:
    doubtful = _texts_in_doubt("chat", result, language)
    values = {**result.data, **_counts(result.data, language)}
    line = language("chat.erased", **values, left=doubtful)
    return _with_receipt("chat", result, language, line)


def _with_receipt(
    surface: str,
    result: OperationResult,
    language: Language,
    line: str,
) -> str:
    """A line, with the code of the receipt behind it if there is one."""
    code = result.data.get("receipt_code")
    if not code:
        return line
    return f"{line} {language(f'{surface}.receipt_code', code=code)}"


def _erasing(result: OperationResult, language: Language) -> str:
    return _with_receipt("chat", result, language, language("chat.erasing"))


def _forgotten(result: OperationResult, language: Language) -> str:
    line = language("chat.forgotten", **_people(result, language))
    return _with_receipt("chat", result, language, line)


def _receipt(result: OperationResult, language: Language) -> str:
    """Return what a receipt says, and what a search for it found now."""
    data = result.data
    values = {
        **_people(result, language),
        **_in_words(data, language),
        **_counts(data, language),
    }
    kind = data["receipt"] if data["finished"] else "unfinished"
    parts = [language(f"chat.receipt_{kind}", **values)]
    if data["named"]:
        parts.append(language("chat.receipt", **values))
        parts += _traces(data, language)
    else:
        parts.append(language("chat.receipt_searched", **values))
        parts.append(language("chat.receipt_unknown", n=data["unknown"]))
        parts.append(language("chat.receipt_name_them"))
    return " ".join(parts)


def _traces(data: Mapping[str, Any], language: Language) -> list[str]:
    """Return the sentences on what a search for one person found."""
    traces = _places(data["traces"], language)
    newer = _places(data["newer"], language)
    sentences = []
    if traces:
        sentences.append(language("chat.receipt_found", places=traces))
    else:
        sentences.append(language("chat.receipt_nothing"))
    if newer:
        sentences.append(language("chat.receipt_newer", places=newer))
    if data["doubtful"]:
        sentences.append(language("chat.erased_left", n=data["doubtful"]).strip())
    if data["unknown"]:
        sentences.append(language("chat.receipt_unknown", n=data["unknown"]))
    return sentences


def _counts(data: Mapping[str, Any], language: Language) -> dict[str, object]:
    """Return the counts of an erasure or a receipt with their nouns: "1 file", "3 files"."""
    counts: dict[str, object] = {}
    for name in language.tables["count"]:
        if name in data:
            counts[name] = language(f"count.{name}", n=data[name])
    return counts


def _places(counts: object, language: Language) -> str:
    """Return where something was named_counts, with how often: "summaries 2, notes 1"; a file by its name."""
    if not isinstance(counts, Mapping):
        return ""
    words = language.tables["place"]
    named_counts = [(words.get(place, place), count) for place, count in counts.items()]
    return ", ".join(f"{place} {count}" for place, count in sorted(named_counts))


def _missed(result: OperationResult, language: Language) -> str:
    """Return what happened since somebody was last here, and of the stream that is on, as one line."""
    so_far = result.data["so_far"]
    if result.code == "missed_newcomer":
        return language("chat.missed_newcomer", text=so_far)
    ago = language.duration(int(str(result.data["ago"])), "ago")
    before = result.data["text"]
    # of a single stream it needs no second beginning
    line = language("chat.missed", ago=ago, text=before or so_far)
    if before and so_far:
        line += " " + language("chat.missed_newcomer", text=so_far)
    return line


def _streak(result: OperationResult, language: Language) -> str:
    """Return how many streams in a row they came to, and the other facts of somebody's time here."""
    people = _people(result, language)
    sentence = language(f"chat.{result.code}", **people, n=result.data["n"])
    facts = " · ".join(_rows(result.data["facts"]))
    return (
        language("chat.streak_also", text=sentence, facts=facts) if facts else sentence
    )


def _approved_unknown(_result: OperationResult, language: Language) -> str:
    return language("action.unsure")


def _which_action(result: OperationResult, language: Language) -> str:
    return language("chat.which_action", list=", ".join(_rows(result.data["actions"])))


def _commands(result: OperationResult, language: Language) -> str:
    return language("chat.commands", commands=" ".join(_rows(result.data["commands"])))


def _ready_made(name: str) -> Callable[[OperationResult, Language], str]:
    """Results that hold their line."""
    return lambda result, _language: str(result.data[name])


def _rows(value: object) -> Sequence[Any]:
    return value if isinstance(value, Sequence) else ()


_SPECIAL: dict[str, Callable[[OperationResult, Language], str]] = {
    "approved": _ready_made("line"),
    "approved_unknown": _approved_unknown,
    "commands": _commands,
    "edited": _edited,
    "erased": _erased,
    "erasing": _erasing,
    "forgotten": _forgotten,
    "help_command": _help_command,
    "input": _ready_made("sentence"),
    "memory": _memory,
    "missed": _missed,
    "missed_newcomer": _missed,
    "receipt": _receipt,
    "remembered": _remembered,
    "status": _ready_made("status"),
    "streak": _streak,
    "streak_none": _streak,
    "streak_of": _streak,
    "suppressed_nothing": _suppressed_nothing,
    "which_action": _which_action,
    "which_note": _which_note,
    "why": _ready_made("line"),
}
