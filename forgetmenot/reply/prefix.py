"""Keeps the prompt's prefix: composed anew after a compaction pass, the same bytes for every reply until the next.

`refresh` is also called when the settings changed or somebody was erased, and it is composed anew as soon as somebody
who stands in it was banned, opted out or is gone, a line it rests on was cleared, or the list of what is never brought
up changed. It is what makes a provider's cache work, so nothing else may change it. In memory only: a restart composes
it again.
"""

from collections.abc import Callable, Sequence

from forgetmenot.actions.catalogue import ACTIONS
from forgetmenot.actions.entry import Action, ActionClass, Kind
from forgetmenot.clock import Clock
from forgetmenot.domain.memory import Note, Scope
from forgetmenot.logs import log
from forgetmenot.memory.episodes.past import newest, without_hidden
from forgetmenot.memory.never import silence
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.silence import Silence
from forgetmenot.prompt.assemble import compose_prefix
from forgetmenot.prompt.material import Past, Prefix, PrefixMaterial
from forgetmenot.settings.schema import ActionSettings, Settings
from forgetmenot.store import calibration, channel_state, episode_mending, evidence, never, viewers
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
        same = await never.revision(at) == self._left_alone and await episode_mending.revision(at) == self._mending
        return same and (not self._shown or await viewers.may_be_shown(at, self._shown))

    async def refresh(self) -> Prefix:
        """Compose it from what is known now."""
        settings = self._settings()
        self.factor = await calibration.factor_of(self._db, self._model)
        self._left_alone = await never.revision(self._db)
        self._mending = await episode_mending.revision(self._db)
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
        quiet = await silence(self._db)
        if self._mending != (0, 0):
            digest = ""  # nobody knows which of its words came from a line that was cleared
        digest = await without_hidden(self._db, quiet.without(digest))
        query = self._recall.query("", category=category, title=title)
        notes = tuple(found.note for found in await self._recall.about_channel(query))
        episodes = await self._episodes(quiet)
        return PrefixMaterial(
            channel=settings.twitch.channel or channel.get("login", ""),
            title=title,
            category=category,
            actions=offered(settings.actions),
            channel_notes=notes,
            digest=digest,
            episodes=episodes,
            bit_streams=await self._bit_streams(notes),
            names=await self._names([note.fact for note in notes] + [past.text for past in episodes] + [digest]),
        )

    async def _episodes(self, quiet: Silence) -> tuple[Past, ...]:
        found = await newest(self._db, quiet)
        before = found.last_stream
        told = [Past(before.stream_id or 0, before.ended_at, found.recap, is_recap=True)] if before else []
        shown = [*([before] if before else []), *found.this_stream]
        told += [Past(episode.id, episode.ended_at, episode.summary) for episode in shown]
        return tuple(past for past in told if past.text)

    async def _bit_streams(self, notes: Sequence[Note]) -> dict[int, int]:
        bits = [note.id for note in notes if note.scope is Scope.RUNNING_BIT]
        return {bit: len(came_up) for bit, came_up in (await evidence.streams_of(self._db, bits)).items()}

    async def _names(self, texts: list[str]) -> dict[str, str]:
        ids = {who for text in texts for who in ids_in(text)}
        return await viewers.names(self._db, sorted(ids - await viewers.hidden(self._db, ids)))


def offered(settings: ActionSettings) -> tuple[str, ...]:
    """The actions that may be proposed under these settings, as the prompt names them."""
    if settings.safe_mode:
        return ()
    modes = {
        ActionClass.FREE: settings.class_a.value,
        ActionClass.GUARDED: settings.class_b.value,
        ActionClass.NEVER_ALONE: settings.class_c.value,
    }
    chosen = [a for a in ACTIONS if modes[a.kind] != "off" and a.name not in settings.disabled]
    return tuple(_form(action) for action in chosen)


def _form(action: Action) -> str:
    values = {Kind.VIEWER: "NAME", Kind.TEXT: '"…"'}
    params = [f"{p.name}={values.get(p.kind) or f'{p.least}-{p.most}'}" for p in action.params]
    return " ".join([action.name, *params])
