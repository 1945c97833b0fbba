"""The part of the memory that a proposed action may touch: remember, forget, flag a running bit.

Fills the Protocol that actions/entry.py describes. Who may ask for what was decided before by the policy; what is
never stored is refused here. What names can be told from a text become ids.
"""

from collections.abc import Callable

from forgetmenot.clock import Clock
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.domain.memory import Scope, SourceKind
from forgetmenot.memory.notes import remember, undoing
from forgetmenot.memory.notes.forgetting import forget_fact
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import defang, mention


class NotesForActions:
    """Acts on one memory."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock

    async def remember(self, *, about: str, fact: str, asked_by: str, line: str = "") -> Outcome:
        """Keep a fact about the viewer with the id `about`, on the word of `asked_by`; `line`: see `remember`."""
        return await self._keep(about, fact, asked_by, line, Scope.VIEWER)

    async def flag_bit(self, *, bit: str, asked_by: str, line: str = "") -> Outcome:
        """Note that a running bit came up: as something heard, which weighs less than what somebody told."""
        return await self._keep(None, bit, asked_by, line, Scope.RUNNING_BIT, SourceKind.OBSERVED)

    async def forget(self, *, about: str, what: str, asked_by: str) -> Outcome:
        """Forget the one note that the words, or `#id`, mean: for good if its subject asks, else to be undone."""
        now = self._clock.now()
        found = await remember.find(self._db, about, what, now=now, past=about == asked_by)
        if len(found) != 1:
            return Outcome(OutcomeKind.REFUSED, "no note fits those words" if not found else "several notes fit")
        try:
            if about == asked_by:
                await forget_fact(self._db, found[0].id, at=now)
            else:
                await undoing.retract(self._db, found[0].id, at=now, cause=f"asked for by {mention(asked_by)}")
        except Refused as refused:
            return Outcome(OutcomeKind.REFUSED, refused.rule)
        return Outcome(OutcomeKind.DONE, f"note {found[0].id}")

    async def _keep(
        self,
        about: str | None,
        fact: str,
        asked_by: str,
        line: str,
        scope: Scope,
        source: SourceKind = SourceKind.COMMAND,
    ) -> Outcome:
        privacy = self._settings().privacy
        now = self._clock.now()
        try:
            note = await remember.remember(
                self._db,
                about,
                defang(fact),
                by=asked_by,
                at=now,
                scope=scope,
                privacy=privacy,
                word=remember.VIEWERS_WORD._replace(source=source),
                line=line,
            )
        except Refused as refused:
            return Outcome(OutcomeKind.REFUSED, refused.rule)
        return Outcome(OutcomeKind.DONE, f"note {note.id}")
