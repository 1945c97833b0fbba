"""Keeps the prompt's prefix: the same bytes for every reply from one compaction pass to the next.

`refresh` is also called when the settings changed or somebody was erased, and it is composed anew as soon as somebody
who stands in it was banned, opted out or is gone, a line it rests on was cleared, or the list of what is never brought
up changed. It is what makes a provider's cache work, so nothing else may change it. In memory only: a restart composes
it again.
"""

from collections.abc import Callable, Sequence

from forgetmenot.clock import Clock
from forgetmenot.domain.memory import Note, Scope
from forgetmenot.logs import log
from forgetmenot.memory.episodes.past_episodes import newest, without_hidden
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.suppression import SuppressionFilter, conversation_stems, load_filter
from forgetmenot.prompt.assemble import compose_prefix
from forgetmenot.prompt.material import Past, Prefix, PrefixMaterial
from forgetmenot.reply.reply_object import offered
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, episode_redaction, evidence, model_calls, notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.mentions import ids_in


class PrefixKeeper:
    """The prefix of the moment. `model`: the name of the model that replies, whose calibration counts."""

    def __init__(
        self, *, db: Database, recall: Recall, settings: Callable[[], Settings], clock: Clock, model: str
    ) -> None:
        self._db = db
        self._recall = recall
        self._settings = settings
        self._clock = clock
        self._model = model
        self._prefix: Prefix | None = None
        self._shown: frozenset[str] = frozenset()
        self._left_alone = (0, 0, 0)
        self._mending = (0, 0)
        self.factor = 1.0

    async def current(self) -> Prefix:
        """The prefix; composed at the first call, and when something in it may not be shown any more."""
        if self._prefix is not None and await self._db.together(self._still_holds):
            return self._prefix
        return await self.refresh()

    async def _still_holds(self, at: Source) -> bool:
        same = (
            await notes.suppression_revision(at) == self._left_alone
            and await episode_redaction.revision(at) == self._mending
        )
        return same and (not self._shown or await viewers.may_be_shown(at, self._shown))

    async def refresh(self) -> Prefix:
        """Compose it from what is known now."""
        settings = self._settings()
        self.factor = await model_calls.factor_of(self._db, self._model)
        self._left_alone = await notes.suppression_revision(self._db)
        self._mending = await episode_redaction.revision(self._db)
        material = await self._material(settings)
        prefix = compose_prefix(material, settings, self.factor)
        self._shown = frozenset(material.names)
        changed = self._prefix is None or self._prefix.text != prefix.text
        self._prefix = prefix
        if changed:
            log.info("prefix composed", tokens=sum(s.tokens for s in prefix.sections), sha=prefix.sha256[:12])
        return prefix

    async def _material(self, settings: Settings) -> PrefixMaterial:
        channel = await channel_state.read_all(self._db)
        title, category, digest = (channel.get(name, "") for name in ("title", "category", "digest"))
        quiet = await load_filter(self._db)
        if self._mending != (0, 0):
            digest = ""  # nobody knows which of its words came from a line that was cleared
        digest = await without_hidden(self._db, quiet.without(digest))
        query = self._recall.query("", category=category, title=title)
        talk = conversation_stems(*query.words)  # of the stream: the conversation is not known yet
        notes = tuple(found.note for found in await self._recall.about_channel(query, talk=talk))
        episodes = await self._episodes(quiet)
        return PrefixMaterial(
            channel=settings.twitch.channel or channel.get("login", ""),
            title=title,
            category=category,
            actions=offered(settings.actions, settings.bridge.effects),
            channel_notes=notes,
            digest=digest,
            episodes=episodes,
            bit_streams=await self._bit_streams(notes),
            names=await self._names([note.fact for note in notes] + [past.text for past in episodes] + [digest]),
        )

    async def _episodes(self, quiet: SuppressionFilter) -> tuple[Past, ...]:
        found = await newest(self._db, quiet)
        before = found.last_stream
        past_rows = [Past(before.stream_id or 0, before.ended_at, found.recap, is_recap=True)] if before else []
        shown = [*([before] if before else []), *found.this_stream]
        past_rows += [Past(episode.id, episode.ended_at, episode.summary) for episode in shown]
        return tuple(past for past in past_rows if past.text)

    async def _bit_streams(self, notes: Sequence[Note]) -> dict[int, int]:
        bits = [note.id for note in notes if note.scope is Scope.RUNNING_BIT]
        return {bit: len(came_up) for bit, came_up in (await evidence.streams_of(self._db, bits)).items()}

    async def _names(self, texts: list[str]) -> dict[str, str]:
        ids = {who for text in texts for who in ids_in(text)}
        return await viewers.names(self._db, sorted(ids - await viewers.hidden(self._db, ids)))
