"""Words for command results in chat: one line per result code. Pure."""

from collections.abc import Callable, Sequence
from typing import Any

from forgetmenot.domain.operation import OperationResult

_KEPT_FREE = 60
"""Characters kept free behind the facts, for the count of those that did not fit."""

_LINES = {
    "remembered": "Remembered about {you}: {note}",
    "forgotten": "Permanently deleted: {note}",
    "retracted": "Removed: {note} (!wrong #{id} undo restores it)",
    "restored": "Restored: {note}",
    "edited": "Updated: {note} The old version is in its history.",
    "memory_empty": "I know nothing about {you} yet.",
    "memory_opted_out": "{count} notes from before the opt-out are still stored, but not used. !forgetme deletes them.",
    "missed": "Since you were last here ({ago}): {text}",
    "missed_first": "I have not seen you here before.",
    "missed_nothing": "I know of nothing since you were last here.",
    "name_a_person": "Name a viewer: !remember this about NAME",
    "nothing_said": "I can't find a recent message from {you}.",
    "about_yourself": "Tell me something about yourself, like: !remember I play drums",
    "you_opted_out": "You opted out, so I don't store anything. !optin changes that.",
    "not_stored": "I don't store anything about this account.",
    "forget_what": "What should I forget? !memory shows the numbers, !forget #12 deletes one.",
    "nothing_found": "I can't find anything like that about {you}.",
    "suppressed": "I won't mention that again{whose}. !maymention {id} undoes it.",
    "may_mention": "OK, I may mention that again.",
    "not_suppressed": "You have no entry {id} on that list.",
    "not_yours": "You can only do that for yourself. Ask a moderator.",
    "unknown_viewer": "No viewer named {name}.",
    "erase_a_person": "I can only erase a viewer, not the channel. Type !forgetme NAME.",
    "nothing_held": "I have nothing stored about {you}.",
    "erase_unconfirmed": (
        "This permanently deletes everything about {you}: notes, today's messages, mentions in summaries. "
        "It cannot be undone. To confirm, type !forgetme {typed}confirm"
    ),
    "erase_again": "OK: anything new is erased within a few minutes.",
    "opt_a_person": "Only a viewer can opt in or out, not the channel.",
    "opted_out": "Done: nothing {says} is stored from now on, and I won't use what I knew. !forgetme deletes it.",
    "opted_in": "Welcome back: I remember {you} again.",
    "in_already": "I already remember {you}.",
    "privacy": (
        "I keep short notes and summaries; chat itself is deleted after {hours} h. A filter drops most facts on "
        "health, faith, politics, sex and contacts, not all. !memory shows your notes, !forgetme erases them, "
        "!optout keeps you out. {link}"
    ),
    "fun": "With !fun on I may time you out for up to a minute, as a joke. !fun off stops that.",
    "fun_on": "You're in. !fun off stops it.",
    "fun_off": "You're out: no more joke timeouts.",
    "nothing_waits": "Nothing is waiting for approval.",
    "read_back": "Waiting: {action}. Type !approve {id} to allow it.",
    "not_waiting": "#{id} is not waiting for approval.",
    "denied": "#{id} denied.",
    "approved": "{line}",
    "approved_unknown": "#{id}: Twitch did not answer in time. It may or may not have worked.",
    "approved_failed": "#{id} did not work.",
    "approval_denied": "#{id} cannot be done: {reason}",
    "nothing_to_undo": "Nothing from the last hour can be undone. !undo 3 undoes #3.",
    "cannot_undo": "#{id} cannot be undone.",
    "undone": "#{id} ({name}) is undone.",
    "undo_later": "#{id} ({name}) is not undone yet. I'll try again.",
    "undo_refused": "#{id} ({name}) could not be undone: Twitch refused.",
    "rated": "",  # chat has seen it
    "no_reply_rated": "",
    "no_reply": "I have no reply #{id}.",
    "no_reply_yet": "I haven't said anything yet.",
    "why": "{line}",
    "paused": "Paused. !bot resume brings me back.",
    "quiet": "Quiet for {minutes} min.",
    "safe": "Safe mode: I talk, but take no actions. !bot resume ends it.",
    "status": "{status}",
    "bad_parameter": "I don't understand that. !help shows how to type commands.",
    "input": "{sentence}",
}
_REFUSED = {
    "length": "A fact needs 5 to 200 characters.",
    "link": "I don't store links.",
    "about_a_person": _LINES["not_yours"],
    "pinned": "A pinned note says something else. A moderator has to remove it first.",
    "opted_out": "They opted out, so I don't store anything about them.",
    "forgotten": "They asked me to forget that, so I don't store it.",
    "back_and_forth": "That changed back and forth today. Try again another day.",
    "enough_this_stream": "I've stored enough for one stream.",
    "not_live": "That note is already removed.",
    "nothing_to_undo": "There is nothing to restore.",
    "not_found": "There is no such note.",
    "sensitive": "I don't store that kind of thing about people.",
    "claim": "I don't store that: roles and orders are not facts.",
    "topic": "Tell me what: !nevermention and a topic, or a note's number like #12.",
    "unknown": "I have nothing stored about you, so there is nothing to mention.",
    "enough": "My list of things not to mention is full.",
}


def line(result: OperationResult) -> str:
    """The line to say; empty for nothing."""
    if result.code.startswith("refused:"):
        return _REFUSED.get(result.code.split(":")[1], "I can't store that.")
    special = _SPECIAL.get(result.code)
    return special(result) if special else _LINES[result.code].format_map({**_people(result), **result.data}).rstrip()


def _people(result: OperationResult) -> dict[str, object]:
    target = result.target
    own = target is None or target.own
    name = target.name if target is not None else ""
    return {
        "you": "you" if own else name,
        "says": "you say" if own else f"{name} says",
        "whose": "" if own else f" ({name})",
        "note": _quoted(result.data.get("id"), result.data.get("fact")),
    }


def _quoted(note_id: object, fact: object) -> str:
    return f"#{note_id} {fact or ''}".rstrip()


def _erasing(result: OperationResult) -> str:
    """Without a name, because this line is stored after the erasure."""
    own = result.target is None or result.target.own
    who, ending = ("you", "you are") if own else ("them", "they are")
    receipt = f" Receipt: {result.data['receipt']}" if result.data.get("receipt") else ""
    return f"Deleting everything about {who} now; it takes a few seconds. After that {ending} new to me.{receipt}"


def _memory(result: OperationResult) -> str:
    """As many facts as fit, and the number of the others."""
    data = result.data
    notes, suppressed, most = _rows(data["notes"]), _rows(data["suppressed"]), int(str(data["max_chars"]))
    facts = [f"#{note_id} {fact}{' (others say)' if hearsay else ''}" for note_id, fact, hearsay in notes]
    facts += [f"#{note_id} (not mentioned)" for note_id in suppressed]
    facts += [f"{fact} (heard just now)" for fact in _rows(data["heard"])]
    start = f"What I know about {_people(result)['you']}: "
    text, shown = start + facts[0][: most - len(start) - _KEPT_FREE], 1
    for fact in facts[1:]:
        if len(text) + len(fact) + 3 > most - _KEPT_FREE:
            break
        text, shown = f"{text} · {fact}", shown + 1
    left = len(facts) - shown
    return f"{text} · and {left} more; the streamer can give you the whole file." if left else text


def _which_note(result: OperationResult) -> str:
    listed = " · ".join(_quoted(one["id"], one["fact"]) for one in _rows(result.data["notes"]))
    return f"Which one? {listed} (!forget #{result.data['id']} deletes the first)"


def _help(result: OperationResult) -> str:
    mods = " ".join(_rows(result.data["moderators"]))
    commands = f"{' '.join(_rows(result.data['commands']))}{f' · moderators: {mods}' if mods else ''}"
    return f"{commands} · !help COMMAND explains one."


def _rows(value: object) -> Sequence[Any]:
    return value if isinstance(value, Sequence) else ()


_SPECIAL: dict[str, Callable[[OperationResult], str]] = {
    "erasing": _erasing,
    "memory": _memory,
    "which_note": _which_note,
    "which_action": lambda result: f"Which one? {', '.join(_rows(result.data['actions']))}",
    "help": _help,
    "help_command": lambda result: " · ".join(_rows(result.data["forms"])),
}
