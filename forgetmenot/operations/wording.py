"""Words for results: of actions in chat, and of operations for the dock and the command line. Pure.

A line about an action never claims more than its outcome.
"""

from collections.abc import Mapping

from forgetmenot.domain.action import Decision, Outcome, OutcomeKind, Verdict
from forgetmenot.domain.operation import OperationResult
from forgetmenot.operations.action_claims import claims_action
from forgetmenot.operations.catalogue import find
from forgetmenot.operations.machine_text import without_machine_text

NEUTRAL = "I can't do that right now."
MOST_QUOTED = 120
UNSURE = "I'm not sure that worked."


def words_for(
    decision: Decision,
    outcome: Outcome | None,
    name: str,
    if_refused: str,
    *,
    log_id: int | None,
    target: str,
    words: str = "",
) -> str:
    """The line that replaces the model's `words`; empty where these may be sent as they are.

    Also empty where there are no words and the action itself was a chat line.
    """
    if decision.verdict is Verdict.ASK:
        return f"I've asked the moderators ({described(name, decision.params, target)}: !approve {log_id})."
    if outcome is not None and outcome.kind is OutcomeKind.DONE:
        line = done_line(name, decision.params, target)
        as_written = decision.verdict is Verdict.ALLOW or not line
        own = words and as_written and not claims_action(words, {name})
        return "" if own or not (words or line) else line or "Done."
    if outcome is not None and outcome.kind is OutcomeKind.UNKNOWN:
        return UNSURE
    return harmless(if_refused)


def harmless(if_refused: str) -> str:
    """The model's words for a refusal; a neutral sentence if they are empty or claim an action."""
    words = without_machine_text(if_refused).strip()
    return words if words and not claims_action(words) else NEUTRAL


def described(name: str, params: Mapping[str, str], target: str) -> str:
    """A short description of a proposal: "timeout bob 30 s", "title “Building a shed”"."""
    line = next((params[key] for key in ("text", "fact", "what", "name") if params.get(key)), "")
    parts = [name.replace("_", " "), target, f"{params['seconds']} s" if params.get("seconds") else ""]
    short = line if len(line) <= MOST_QUOTED else f"{line[:MOST_QUOTED]}…"
    return " ".join(part for part in (*parts, f"“{short}”" if short else "") if part)


def done_line(name: str, params: Mapping[str, str], target: str) -> str:
    """The catalogue's sentence for a finished action; empty where the action was a chat line itself."""
    action = find(name)
    sentence = action.done if action is not None else ""
    for key, value in {**params, "target": target or "they"}.items():
        sentence = sentence.replace(f"{{{key}}}", value)
    return sentence


# What the dock and the command line say about a result.


_SENTENCES = {
    "rated": "Noted.",
    "no_reply_rated": "That reply is not kept any more.",
    "remembered": "Remembered as #{id}.",
    "retracted": "#{id} is removed. Undo restores it.",
    "restored": "#{id} is restored.",
    "edited": "Note updated. The old version is in its history.",
    "pinned": "#{id} is pinned: it is kept permanently.",
    "unpinned": "#{id} is no longer pinned.",
    "suppressed": "The bot won't mention that again.",
    "may_mention": "The bot may mention that again.",
    "not_suppressed": "There is no entry {id} on the list.",
    "erased": "Erased: {notes} notes, {events} lines. Receipt: {receipt}.{unfinished}",
    "erase_unconfirmed": "This permanently deletes everything about {name}. It cannot be undone. Confirm it first.",
    "erase_a_person": "Name the viewer to erase.",
    "nothing_held": "Nothing is stored about {name}.",
    "opt_a_person": "Name the viewer.",
    "opted_out": "Nothing {name} says is stored from now on.",
    "opted_in": "{name} is remembered again.",
    "in_already": "{name} is already remembered.",
    "unknown_viewer": "No viewer named {name}. Use a current login or a Twitch ID.",
    "nothing_waits": "Nothing is waiting for approval.",
    "not_waiting": "#{id} is not waiting for approval.",
    "denied": "#{id} denied.",
    "approved": "{line}",
    "approval_noted": "#{id} is approved",
    "approved_unknown": "#{id}: Twitch did not answer in time. It may or may not have worked.",
    "approved_failed": "#{id} did not work.",
    "approval_denied": "#{id} cannot be done: {reason}",
    "nothing_to_undo": "Nothing from the last hour can be undone.",
    "cannot_undo": "#{id} cannot be undone.",
    "undo_noted": "#{id} will be undone",
    "undone": "#{id} ({name}) is undone.",
    "undo_later": "#{id} ({name}) is not undone yet. The bot tries again.",
    "undo_refused": "#{id} ({name}) could not be undone: Twitch refused.",
    "unknown_action": "There is no action `{name}`. `forgetmenot policy table` lists them.",
    "changed": "`{key}` is changed, {file}.",
    "paused": "{status}",
    "quiet": "{status}",
    "safe": "{status}",
    "status": "{status}",
    "input": "{sentence}",
    "bad_parameter": "`{parameter}` is missing, or `{operation}` does not accept it.",
    "unknown_operation": "There is no operation `{name}`.",
    "not_allowed": "That cannot be done from here.",
    "not_yours": "Only the viewer or a moderator can change that.",
}
_REFUSED = {
    "length": "A fact needs 5 to 200 characters.",
    "link": "Links are not stored.",
    "pinned": "A pinned note says something else. Remove it first.",
    "opted_out": "This viewer is unknown or opted out.",
    "forgotten": "They asked the bot to forget that, so it is not stored.",
    "back_and_forth": "That changed back and forth today. Try again later.",
    "not_live": "This note is no longer active, so there is nothing to change.",
    "nothing_to_undo": "This note has no change to undo.",
    "not_found": "There is no such note. `forgetmenot memory list --status all` lists all notes.",
    "sensitive": "The filter for sensitive facts does not allow that.",
    "claim": "Roles and orders are not stored as facts.",
    "topic": "Enter at least one meaningful word, and at most 200 characters.",
    "unknown": "There is no such viewer.",
    "enough": "The list is full (200 entries). Remove one first.",
}


def sentence(result: OperationResult) -> str:
    """The sentence; every code of a service that the dock or the command line may run has one."""
    if result.code.startswith("refused:"):
        return _REFUSED.get(result.code.split(":")[1], "That can't be stored.")
    name = result.target.name if result.target is not None else ""
    unfinished = " Another program has the file open. The bot finishes the last step when that program closes."
    data = {"name": name, "unfinished": "" if result.data.get("wiped", True) else unfinished, **result.data}
    return _SENTENCES[result.code].format_map(data)
