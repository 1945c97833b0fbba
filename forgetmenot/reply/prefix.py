"""Keeps the prompt's prefix from one compaction pass to the next.

- The prefix keeps its bytes until the next pass: it is what makes a provider's cache work. It is composed anew when the
  settings changed, somebody was erased, or something in it may not be shown any more. A restart composes it again.
- Nothing of hidden people, nothing redacted, nothing suppressed.
"""

from collections.abc import Callable

from msgspec import Struct

from forgetmenot.logs import log
from forgetmenot.memory.recall import CHANNEL, Recall, newest, without_hidden
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.prompt.assemble import compose_prefix
from forgetmenot.prompt.material import Prefix, PrefixMaterial
from forgetmenot.reply.reply_object import offered
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, notes, viewers
from forgetmenot.store.database import Database, Source


class PrefixKeeper(Struct):
    """The prefix of the moment. `revision`: of what is suppressed, as it was when the prefix was composed."""

    db: Database
    recall: Recall
    settings: Callable[[], Settings]
    _prefix: Prefix | None = None
    _people: frozenset[str] = frozenset()
    _note_ids: tuple[int, ...] = ()
    revision: notes.Revision = ()

    async def current(self) -> Prefix:
        """Return the prefix; it is composed at the first call, and when something in it may not be shown any more."""
        if self._prefix is not None and await self.db.together(
            self._may_still_be_shown
        ):
            return self._prefix
        return await self.refresh()

    async def refresh(self) -> Prefix:
        """Compose the prefix from what is known now, and return it."""
        settings = self.settings()
        # read before the material: what is suppressed meanwhile makes the next call compose again
        self.revision = await self.db.together(notes.suppression_revision)
        material = await self._material(settings)
        prefix = compose_prefix(material, settings)
        self._people = frozenset(material.names)
        self._note_ids = row_ids(prefix, "notes")
        is_changed = self._prefix is None or self._prefix.text != prefix.text
        self._prefix = prefix
        if is_changed:
            tokens = sum(section.tokens for section in prefix.sections)
            log.info("prefix composed", tokens=tokens, sha=prefix.sha256[:12])
        return prefix

    async def _may_still_be_shown(self, source: Source) -> bool:
        if await notes.suppression_revision(source) != self.revision:
            return False
        if await notes.not_active(source, self._note_ids):
            return False
        return not await viewers.hidden_or_gone(source, self._people)

    async def _material(self, settings: Settings) -> PrefixMaterial:
        channel = await channel_state.read_all(self.db)
        title = channel.get("title", "")
        category = channel.get("category", "")
        suppression_filter = await load_filter(self.db)
        digest = await without_hidden(
            self.db, suppression_filter.without(channel.get("digest", ""))
        )
        query = self.recall.query("", category=category, title=title)
        recalled = await self.recall.about([CHANNEL], query)
        channel_notes = tuple(recall.note for recall in recalled)
        past = await newest(self.db, suppression_filter)
        texts = [
            *(note.fact for note in channel_notes),
            *(entry.text for entry in past),
            digest,
        ]
        return PrefixMaterial(
            channel=settings.twitch.channel or channel.get("login", ""),
            title=title,
            category=category,
            actions=offered(settings.actions, settings.bridge.effects),
            channel_notes=channel_notes,
            digest=digest,
            episodes=tuple(past),
            names=await viewers.named_in(self.db, texts),
        )


def row_ids(prefix: Prefix, table: str) -> tuple[int, ...]:
    """Return the ids of the rows of one kind ("notes", "episodes") that stand in a prefix."""
    ids: list[int] = []
    for section in prefix.sections:
        ids += [row_id for kind, row_id in section.rows if kind == table]
    return tuple(ids)
