"""What a run did, as numbers: the JSON that `demo` and `replay` end with (keys: cli/common.py), and in words."""

from dataclasses import dataclass

from forgetmenot.store import report, tally
from forgetmenot.store.database import Database
from forgetmenot.store.report import Totals


@dataclass(frozen=True, slots=True)
class Summary:
    """One run's account and what was added to the memory meanwhile."""

    account: tally.Account
    added: Totals

    def as_json(self) -> dict[str, object]:
        """The documented keys."""
        account, added = self.account, self.added
        return {
            "events": account.events,
            "redacted": account.redacted,
            "episodes": added.episodes,
            "notes": added.notes,
            "superseded": added.superseded,
            "replies": added.replies,
            "actions": {
                "proposed": added.proposed,
                "allowed": added.allowed,
                "denied": added.denied,
                "executed": added.executed,
            },
            "pruned_unread": account.pruned_unread,
            "lines": account.lines,
            "duplicates": account.duplicates,
            "excluded": account.excluded,
            "other_room": account.other_room,
            "unparsed": account.unparsed,
            "other": account.other,
            "covered": account.covered,
            "uncovered": account.uncovered,
            "llm_calls": added.llm_calls,
            "tokens": {
                "estimated": added.estimated,
                "billed": added.billed,
                "cached": added.cached,
                "prefix": added.prefix,
            },
        }

    def in_words(self) -> list[str]:
        """A few lines for a person."""
        account, added = self.account, self.added
        kept_out = account.duplicates + account.excluded + account.other_room + account.unparsed + account.other
        heard = (
            f"{account.lines} lines were heard: {account.events} stored, {kept_out} kept out ({account.duplicates} "
            f"doubled, {account.excluded} of bots or ignored people, {account.other_room} of another room, "
            f"{account.unparsed} unreadable, {account.other} that say nothing)."
        )
        read = (
            f"Of the stored ones {account.covered} are summarised, {account.redacted} were cleared by moderators, "
            f"{account.uncovered} wait; {account.pruned_unread} were lost unread."
        )
        learned = (
            f"The memory gained {added.episodes} episodes and {added.notes} notes; "
            f"{added.superseded} facts were replaced."
        )
        did = (
            f"{added.replies} replies were written. Of {added.proposed} proposed actions {added.allowed} were allowed, "
            f"{added.denied} denied, {added.executed} done."
        )
        paid = (
            f"{added.llm_calls} model calls; {added.billed_in_all} input tokens billed, "
            f"{added.billed} of them for replies{_in_prefix(added)}."
        )
        return [heard, read, learned, did, paid]


def _in_prefix(added: Totals) -> str:
    if not added.estimated:
        return ""
    return f", of which {round(100 * added.prefix / added.estimated)} % stood in the unchanged prefix (estimated)"


async def summarise(db: Database, run_id: int, before: Totals) -> Summary:
    """The account of a run; `before`: the totals when it began."""
    return Summary(await tally.account(db, run_id), (await report.totals(db)).since(before))
