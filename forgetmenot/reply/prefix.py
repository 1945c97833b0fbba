"""Keeps the prompt's prefix from one compaction pass to the next.

- The prefix keeps its bytes until the next pass, because only an unchanged one is found in a
  provider's cache. It is composed anew when the settings, the title or the category changed,
  somebody was erased, or something in it may not be shown any more. A restart composes it again.
- Nothing of hidden people, nothing redacted, nothing suppressed.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import Struct

from forgetmenot.domain import Note
from forgetmenot.logs import log
from forgetmenot.memory.past_episodes import newest, without_hidden
from forgetmenot.memory.recall import CHANNEL, Recall
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.prompt.assemble import compose_prefix
from forgetmenot.prompt.material import Prefix, PrefixMaterial
from forgetmenot.reply.reply_object import offered
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, notes, viewers
from forgetmenot.store.database import Database, Source


class KeptPrefix(NamedTuple):
    """A prefix, and what decides whether it may still be shown.

    `revision`: of what was suppressed before it was composed. `stream`: the title and the category that stand in it.
    `note_ids`, `people`: the ids of the notes and of the people in it.
    """

    prefix: Prefix
    revision: notes.Revision
    stream: tuple[str, str]
    note_ids: tuple[int, ...]
    people: frozenset[str]

    async def may_still_be_shown(self, source: Source) -> bool:
        """Return whether it is still true: nothing in it was suppressed, replaced, hidden or renamed."""
        # Asked before every reply, so these are four short queries and no text is compared.
        channel = await channel_state.read_all(source)
        if _title_and_category(channel) != self.stream:
            return False
        if await notes.suppression_revision(source) != self.revision:
            return False
        if await notes.not_active(source, self.note_ids):
            return False
        return not await viewers.hidden_or_gone(source, self.people)


class PrefixKeeper(Struct):
    """Keeps the prefix that was composed last. `kept`: that one, which may be out of date; None before the first."""

    db: Database
    recall: Recall
    settings: Callable[[], Settings]
    kept: KeptPrefix | None = None

    async def current(self) -> KeptPrefix:
        """Return the prefix.

        It is composed at the first call, when the title or the category is another one, and when
        something in it may not be shown any more. Raises StoreError.
        """
        kept = self.kept
        if kept is None:
            return await self.refresh()
        if not await self.db.together(kept.may_still_be_shown):
            return await self.refresh()
        return kept

    async def refresh(self) -> KeptPrefix:
        """Compose the prefix from what is known now, and return it. Raises StoreError."""
        settings = self.settings()
        # Read before the material: if a topic is suppressed meanwhile, the next call composes again.
        revision = await self.db.together(notes.suppression_revision)
        material = await self._material(settings)
        prefix = compose_prefix(material, settings)
        kept_before = self.kept
        self.kept = KeptPrefix(
            prefix=prefix,
            revision=revision,
            stream=(material.title, material.category),
            note_ids=row_ids(prefix, "notes"),
            people=frozenset(material.names),
        )
        if kept_before is None or kept_before.prefix.text != prefix.text:
            tokens = sum(section.tokens for section in prefix.sections)
            log.info("prefix composed", tokens=tokens, sha=prefix.sha256[:12])
        return self.kept

    async def _material(self, settings: Settings) -> PrefixMaterial:
        """Return what the prefix is composed of."""
        db = self.db
        channel = await channel_state.read_all(db)
        title, category = _title_and_category(channel)
        suppression_filter = await load_filter(db)
        allowed_digest = suppression_filter.without(channel.get("digest", ""))
        digest = await without_hidden(db, allowed_digest)
        channel_notes = await self._channel_notes(title, category)
        past = await newest(db, suppression_filter)
        texts = [note.fact for note in channel_notes]
        texts += [entry.text for entry in past]
        texts.append(digest)
        names = await viewers.named_in(db, texts)
        return PrefixMaterial(
            # Before the first log-in only the settings know the channel.
            channel=settings.twitch.channel or channel.get("login", ""),
            title=title,
            category=category,
            actions=offered(settings.actions, settings.bridge.effects),
            channel_notes=channel_notes,
            digest=digest,
            episodes=tuple(past),
            names=names,
        )

    async def _channel_notes(
        self,
        title: str,
        category: str,
    ) -> tuple[Note, ...]:
        """Return the notes about the channel that fit what is streamed."""
        query = self.recall.query("", category=category, title=title)
        recalled_notes = await self.recall.about([CHANNEL], query)
        return tuple(recalled.note for recalled in recalled_notes)


def _title_and_category(channel: Mapping[str, str]) -> tuple[str, str]:
    title = channel.get("title", "")
    category = channel.get("category", "")
    return title, category


def row_ids(prefix: Prefix, table: str) -> tuple[int, ...]:
    """Return the ids of the rows of one kind ("notes", "episodes") that stand in a prefix."""
    ids = []
    for section in prefix.sections:
        for kind, row_id in section.rows:
            if kind == table:
                ids.append(row_id)
    return tuple(ids)
