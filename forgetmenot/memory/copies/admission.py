"""Whom and what an import may not bring back: people who were erased or opted out, facts that were to be forgotten.

Promises that such a line is refused with a reason, and that others lose their mentions of people who were erased. It
knows people by keyed hashes: on a machine without the old one's key and list, nothing is known of its erasures.
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from forgetmenot.store import forgotten, ledger, rights
from forgetmenot.store.database import Database, Transaction
from forgetmenot.text.mentions import SOMEBODY, ids_in, mention
from forgetmenot.text.removal import traces, without_person

OPTED_OUT = "this person opted out: nothing about them is stored"
ERASED = "this person was erased"
FORGOTTEN = "this was to be forgotten"


async def erased_people(db: Database) -> Mapping[str, int]:
    """When whom was erased, by hash; for `Gate`. Raises StoreError."""
    return await asyncio.to_thread(ledger.erased, ledger.path_of(db.key))


@dataclass(frozen=True, slots=True)
class Gate:
    """What holds for one batch of lines."""

    tx: Transaction
    opted_out: Collection[str]
    forgotten: Collection[str]
    erased: Mapping[str, int]

    @classmethod
    async def of(cls, tx: Transaction, erased: Mapping[str, int]) -> "Gate":
        """Read it."""
        return cls(tx, await rights.opted_out(tx), await forgotten.subjects(tx), erased)

    async def refusal(self, viewer_id: str, fact: str, *, at: int, known: bool) -> str | None:
        """Why a fact is not taken, or None. `at`: when it was observed; `known`: there is such a person."""
        if viewer_id in self.opted_out:
            return OPTED_OUT
        if not self.erased and not self.forgotten:
            return None
        digest = self.tx.key.digest("viewer", viewer_id)
        if digest in self.erased and (not known or at <= self.erased[digest]):
            return ERASED
        if digest in self.forgotten and await forgotten.is_known(self.tx, viewer_id, traces(fact), own_since=None):
            return FORGOTTEN
        return None

    def without_erased(self, text: str, *, cut: bool) -> str:
        """The text without people who were erased. `cut`: sentences about them go, else only their mention does."""
        for one in ids_in(text) if self.erased else ():
            if self.tx.key.digest("viewer", one) in self.erased:
                text = without_person(text, one) if cut else text.replace(mention(one), SOMEBODY)
        return text
