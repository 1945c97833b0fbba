"""What may be said about an action: fits the outcome, and never claims more. Pure."""

from collections.abc import Mapping

from forgetmenot.actions.catalogue import find
from forgetmenot.actions.claims import claims, claims_more
from forgetmenot.actions.scrub import without_tags
from forgetmenot.domain.action import Decision, Outcome, OutcomeKind, Verdict

NEUTRAL = "I can't do that right now."
MOST_TOLD = 120
UNSURE = "I'm not sure that worked."


def words_for(
    decision: Decision,
    outcome: Outcome | None,
    name: str,
    otherwise: str,
    *,
    log_id: int | None,
    target: str,
    words: str = "",
) -> str:
    """What to say instead of the model's `words`; empty where they may go out: they tell of nothing else.

    Empty too where there are none and what was done was a line itself.
    """
    if decision.verdict is Verdict.ASK:
        return f"I've asked the moderators ({described(name, decision.params, target)}: !approve {log_id})."
    if outcome is not None and outcome.kind is OutcomeKind.DONE:
        told = done_line(name, decision.params, target)
        as_written = decision.verdict is Verdict.ALLOW or not told
        own = words and as_written and not claims_more(words, {name})
        return "" if own or not (words or told) else told or "Done."
    if outcome is not None and outcome.kind is OutcomeKind.UNKNOWN:
        return UNSURE
    return harmless(otherwise)


def harmless(otherwise: str) -> str:
    """The model's words for a refusal, unless they claim something or are none."""
    words = without_tags(otherwise).strip()
    return words if words and not claims(words) else NEUTRAL


def described(name: str, params: Mapping[str, str], target: str) -> str:
    """A proposal in a few words: "timeout bob 30 s", "title “Building a shed”"."""
    told = next((params[key] for key in ("text", "fact", "what") if params.get(key)), "")
    parts = [name.replace("_", " "), target, f"{params['seconds']} s" if params.get("seconds") else ""]
    short = told if len(told) <= MOST_TOLD else f"{told[:MOST_TOLD]}…"
    return " ".join(part for part in (*parts, f"“{short}”" if short else "") if part)


def done_line(name: str, params: Mapping[str, str], target: str) -> str:
    """The catalogue's own sentence for something done; empty where it was a line that all could read."""
    action = find(name)
    sentence = action.done if action is not None else ""
    for key, value in {**params, "target": target or "they"}.items():
        sentence = sentence.replace(f"{{{key}}}", value)
    return sentence
