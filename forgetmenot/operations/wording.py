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
from forgetmenot.text.clean import cut

# Characters kept free behind the facts, for the count of those that did not fit.
_KEPT_FREE = 60
MOST_QUOTED = 120
# From when on `!memory` says how long ago something was first said.
OLD = 30 * DAY
# Actions that a viewer may have asked for in words that code does not read. Their refusal names the command to type.
REFUSED_WITH_COMMAND = frozenset({"remember", "forget"})
# The rules that deny what cannot be done now, whoever asks.
IMPOSSIBLE = frozenset({"possible", "stream_live"})
# A parameter in the form of a command: `note` in "!edit <note>".
_PARAMETER = re.compile(r"(?<=[<\[])\w+(?=[>\]])")
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
    """Return the line that is sent in place of `say`, the model's words; "" where these may be sent as they are.

    `moderates`: whether the asker may approve it themselves.
    """
    if decision.verdict is Verdict.ASK:
        action = described(proposal.name, decision.params, target, language)
        key = "action.confirm" if moderates else "action.asked"
        return language(key, action=action, id=log_id)
    if outcome is not None and outcome.kind is OutcomeKind.DONE:
        # With ALLOW_CHANGED other parameters were carried out than the model proposed, so its words may be wrong.
        if say and decision.verdict is Verdict.ALLOW:
            return ""
        return done_line(proposal.name, decision.params, target, language)
    if outcome is not None and outcome.kind is OutcomeKind.UNKNOWN:
        return language("action.unsure")
    # The model's words may claim that it was done, in a language that the filters do not read, so they are not used.
    if decision.verdict is Verdict.DENY and proposal.name in REFUSED_WITH_COMMAND:
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
    parts = [_action_name(name, language)]
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


def _action_name(name: str, language: Language) -> str:
    """Return what a language calls an action; its bare name where the model made one up."""
    key = f"action.name.{name}"
    if key in language:
        return language(key)
    return name.replace("_", " ")


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
    action = described(name, shown_params, target, language)
    return language("action.done", action=action)


def denied_line(
    name: str,
    params: Mapping[str, str],
    target: str,
    language: Language = ENGLISH,
) -> str:
    """Return the sentence for an action that a person refused."""
    key = f"action.denied.{name}"
    if target and key in language:
        return language(key, target=target)
    action = described(name, params, target, language)
    return language("action.not_approved", action=action)


# ── what the dock and the command line say about a result ─────────────────────────────────────


def sentence(result: OperationResult, language: Language = ENGLISH) -> str:
    """Return a result as a sentence for the dock and the command line.

    A code that has no words in the table [result] of the language has them in [chat].
    """
    if result.code.startswith("refused:"):
        return _refusal("result", result, language)
    # the result of a switch
    if "status" in result.data:
        return str(result.data["status"])
    key = f"result.{result.code}"
    if key not in language:
        return chat_line(result, language)
    name = ""
    if result.target is not None:
        name = result.target.name
    unfinished = ""
    # Only an erasure has "wiped". It is False while deleted bytes are still in the database's file.
    if not result.data.get("wiped", True):
        unfinished = language("result.unfinished")
    values = {
        "name": name,
        "unfinished": unfinished,
        "left": _texts_in_doubt("result", result, language),
        **_in_words(result.data, language),
        **_counts(result.data, language),
        "places": _erased_places(result, language),
    }
    line = language(key, **values)
    return _with_receipt("result", result, language, line)


def _erased_places(result: OperationResult, language: Language) -> str:
    """Return the sentence that names the files in which an erasure left traces; "" for none."""
    places = _places(result.data.get("places"), language)
    if not places:
        return ""
    return language("result.erased_places", places=places)


def _texts_in_doubt(
    surface: str,
    result: OperationResult,
    language: Language,
) -> str:
    """Return how many texts of others an erasure kept, though a word in them may be the name; "" for none.

    `surface`: the table of the language that has the sentence, "chat" or "result".
    """
    count = result.data.get("doubtful", 0)
    if not count:
        return ""
    return language(f"{surface}.erased_left", n=count)


def _refusal(
    surface: str,
    result: OperationResult,
    language: Language,
) -> str:
    """Return why a fact is refused, in the words of the surface, else in those of chat."""
    # "refused:sensitive:health" is refused as "sensitive": which kind it is would be read by all of chat.
    rule = result.code.split(":")[1]
    keys = (f"{surface}.refused.{rule}", f"chat.refused.{rule}", f"chat.{rule}")
    for key in keys:
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
    values = {**_people(result, language), **_in_words(result.data, language)}
    line = language(f"chat.{result.code}", **values)
    # Where the last value is empty, as a link that the streamer did not set, a space is left.
    return line.rstrip()


def _people(result: OperationResult, language: Language) -> dict[str, object]:
    """Return whom a result is about, as its texts name them, and its note."""
    target = result.target
    if target is None or target.own:
        you = language("chat.own")
    elif target.id is None:
        you = language("chat.channel")
    else:
        you = target.name
    note = _quoted_note(result.data.get("id"), result.data.get("fact"))
    return {"you": you, "note": note}


def _quoted_note(note_id: object, fact: object) -> str:
    """Return "#5 plays drums"; "#5" where its words may not be said."""
    return f"#{note_id} {fact or ''}".rstrip()


def _list_of_notes(result: OperationResult) -> str:
    """Return several notes with their numbers, so that somebody can choose one."""
    quotes = []
    for note in _rows(result.data["notes"]):
        quotes.append(_quoted_note(note["id"], note["fact"]))
    return " · ".join(quotes)


def _memory(result: OperationResult, language: Language) -> str:
    """Return as many facts as fit, and the number of the others."""
    lines = _lines_of_memory(result.data, language)
    limit = int(str(result.data["max_chars"])) - _KEPT_FREE
    start = language("chat.memory", **_people(result, language))
    # The first fact is always shown, cut where it is too long.
    text = start + lines[0][: limit - len(start)]
    fitting = 1
    for line in lines[1:]:
        longer_text = f"{text} · {line}"
        if len(longer_text) > limit:
            break
        text = longer_text
        fitting += 1
    more = len(lines) - fitting
    if not more:
        return text
    return language("chat.memory_more", text=text, n=more)


def _lines_of_memory(data: Mapping[str, Any], language: Language) -> list[str]:
    """Return a line for a chosen name, for chosen pronouns, and for each note.

    A note's line has its fact, or that it is hearsay or not mentioned.
    """
    lines = []
    if data["chosen_name"]:
        lines.append(language("chat.memory_name", name=data["chosen_name"]))
    if data["pronouns"]:
        lines.append(language("chat.memory_pronouns", words=data["pronouns"]))
    for note_id, fact, age in data["notes"]:
        line = _quoted_note(note_id, fact)
        if age >= OLD:
            ago = language.duration(age, "ago")
            line += f" ({ago})"
        lines.append(line)
    for note_id in data["hearsay"]:
        note = _quoted_note(note_id, "")
        lines.append(language("chat.memory_hearsay", note=note, id=note_id))
    for note_id in data["suppressed"]:
        note = _quoted_note(note_id, "")
        lines.append(language("chat.memory_hidden", note=note))
    return lines


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
    command = result.data["command"]
    hint = language("chat.suppressed_by_number", command=command, list=listed)
    return f"{nothing} {hint}"


def _help_command(result: OperationResult, language: Language) -> str:
    """Return how commands are typed; of a single one with its example."""
    forms = _rows(result.data["forms"])

    def translated(parameter: re.Match[str]) -> str:
        return str(language.value("parameter", parameter[0]))

    lines = []
    for form, name, *examples in forms:
        # `!edit <note>`: the command stays as it is typed, the word in brackets is translated.
        line = _PARAMETER.sub(translated, form)
        description_key = f"does.{name}"
        if description_key in language:
            line += f": {language(description_key)}"
        # Of several commands the examples would not fit into one message.
        shown_examples = examples if len(forms) == 1 else []
        for example in shown_examples:
            if example != form:
                line += language("chat.help_example", line=example)
        lines.append(line)
    joined_lines = " · ".join(lines)
    return language("chat.help_command", forms=joined_lines)


def _erased(result: OperationResult, language: Language) -> str:
    """Return what an erasure searched and found, and the code of its receipt."""
    doubtful = _texts_in_doubt("chat", result, language)
    values = {**_in_words(result.data, language), **_counts(result.data, language)}
    line = language("chat.erased", **values, left=doubtful)
    return _with_receipt("chat", result, language, line)


def _with_receipt(
    surface: str,
    result: OperationResult,
    language: Language,
    line: str,
) -> str:
    """Return a line with the code of the receipt behind it, if there is one."""
    code = result.data.get("receipt_code")
    if not code:
        return line
    receipt = language(f"{surface}.receipt_code", code=code)
    # a note has no full stop of its own
    separator = " " if line.endswith(".") else " · "
    return f"{line}{separator}{receipt}"


def _erasing(result: OperationResult, language: Language) -> str:
    """Return that an erasure is under way, and the code of its receipt."""
    line = language("chat.erasing")
    return _with_receipt("chat", result, language, line)


def _forgotten(result: OperationResult, language: Language) -> str:
    """Return which note is deleted, and the code of its receipt."""
    line = language("chat.forgotten", **_people(result, language))
    return _with_receipt("chat", result, language, line)


def _receipt(result: OperationResult, language: Language) -> str:
    """Return what a receipt says, and what a search for it found now.

    A receipt does not say whose it is. `named` in the data: a person was named, or is the asker, so the search was for
    them. Else only texts can be found that mention somebody of whom nothing else is stored.
    """
    data: Mapping[str, Any] = result.data
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
    return _as_many_as_fit(parts, data.get("max_chars"))


def _kept_quote(result: OperationResult, language: Language) -> str:
    """Return that a quote is kept, and as much of it as fits before the command that removes it.

    By the number in that command the answer is found again when the quote goes.
    """
    text = str(result.data["text"])
    max_chars = int(str(result.data["max_chars"]))
    values = {**_people(result, language), **_in_words(result.data, language)}
    frame = language("chat.quoted", **{**values, "text": ""})
    text_chars = max_chars - len(frame)
    if len(text) > text_chars:
        beginning = cut(text, max(0, text_chars - 1))
        text = f"{beginning.rstrip()}…"
    return language("chat.quoted", **{**values, "text": text})


def _as_many_as_fit(sentences: Sequence[str], max_chars: int | None) -> str:
    """Return the first sentence with as many of the next ones as fit; all of them without a limit."""
    text = sentences[0]
    for next_sentence in sentences[1:]:
        longer_text = f"{text} {next_sentence}"
        if max_chars is not None and len(longer_text) > max_chars:
            break
        text = longer_text
    return text


def _traces(data: Mapping[str, Any], language: Language) -> list[str]:
    """Return the sentences on what a search for a person found.

    "newer" in the data: places of what was written after the receipt, or since they came back. "doubtful": the number
    of texts with a word that may be the name. "unknown": that of texts that mention somebody without a row.
    """
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
    """Return where something was found, with how often: "notes 1, summaries 2"; a file by its name."""
    if not isinstance(counts, Mapping):
        return ""
    words = language.tables["place"]
    found_places = []
    for place, count in counts.items():
        # It stands behind the places that have a name.
        if place == "elsewhere":
            continue
        word = words.get(place, place)
        found_places.append(f"{word} {count}")
    found_places.sort()
    if "elsewhere" in counts:
        found_places.append(f"{words['elsewhere']} {counts['elsewhere']}")
    return ", ".join(found_places)


def _missed(result: OperationResult, language: Language) -> str:
    """Return one line on what somebody missed: since they were last here, and in the present stream so far."""
    before = result.data["text"]
    so_far = result.data["so_far"]
    this_stream = language("chat.missed_newcomer", text=so_far)
    if result.code == "missed_newcomer":
        return this_stream
    time_away = int(str(result.data["ago"]))
    ago = language.duration(time_away, "ago")
    if not before:
        # The present stream is all they missed, so "since you were last here" is enough of an introduction.
        return language("chat.missed", ago=ago, text=so_far)
    line = language("chat.missed", ago=ago, text=before)
    return f"{line} {this_stream}" if so_far else line


def _streak(result: OperationResult, language: Language) -> str:
    """Return how many streams in a row they came to, and the other facts of somebody's time here."""
    people = _people(result, language)
    streak = language(f"chat.{result.code}", **people, n=result.data["n"])
    facts = " · ".join(_rows(result.data["facts"]))
    if not facts:
        return streak
    return language("chat.streak_also", text=streak, facts=facts)


def _approved_unknown(_result: OperationResult, language: Language) -> str:
    """Return that Twitch did not answer in time: nothing is claimed."""
    return language("action.unsure")


def _which_action(result: OperationResult, language: Language) -> str:
    """Return the question which of the waiting actions is meant."""
    actions = ", ".join(_rows(result.data["actions"]))
    return language("chat.which_action", list=actions)


def _commands(result: OperationResult, language: Language) -> str:
    """Return the names of all commands that the asker may type."""
    commands = " ".join(_rows(result.data["commands"]))
    return language("chat.commands", commands=commands)


def _ready_made(name: str) -> Callable[[OperationResult, Language], str]:
    """Return the wording of results that have their line in `data`, under this name."""
    return lambda result, _language: str(result.data[name])


def _rows(value: object) -> Sequence[Any]:
    """Return the list in a result's data, whose values have no type of their own."""
    return value if isinstance(value, Sequence) else ()


# Results whose answer is more than one text with values filled in.
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
    "quoted": _kept_quote,
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
