"""One window of chat becomes the episode that is to be written: with a model, or by counting. Writes nothing.

Promises what memory/episodes/summaries promises about the text, and that people are those who spoke in the window or
are named in it. Raises ModelError where the model gave none (ModelBlocked: it will not give one for this window).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from forgetmenot.clock import DAY, Clock
from forgetmenot.domain.chat import Standing
from forgetmenot.domain.memory import EpisodeKind, Part
from forgetmenot.errors import ModelBlocked
from forgetmenot.memory.episodes import prompts
from forgetmenot.memory.episodes.counted import counted
from forgetmenot.memory.episodes.summaries import kept
from forgetmenot.memory.episodes.transcript import introduce, parts, transcript
from forgetmenot.memory.episodes.windows import Window
from forgetmenot.memory.handles import Handles, names_typed
from forgetmenot.memory.standing import standing_of
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import PeopleSettings, Settings
from forgetmenot.store import attendance, channel_state, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.text.mentions import MENTION, ids_in

TRIES = 2
"""How often a model is asked for an answer of the right shape."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A window with who is in it."""

    window: Window
    people: dict[str, Part]
    handles: Handles


def forbidden(settings: Settings) -> Callable[[str], bool]:
    """Judges whether a text holds something that is never stored."""
    from forgetmenot.text.sensitive import sensitive_category

    allow, extra = frozenset(settings.privacy.allow_categories), tuple(settings.privacy.never_store)
    return lambda text: sensitive_category(MENTION.sub("somebody", text), allow=allow, extra=extra) is not None


class Summariser:
    """Reads windows. `settings` is asked once per window."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock

    async def with_model(self, window: Window) -> NewEpisode:
        """Ask the model. Raises ModelError. A window without a line worth showing is counted instead."""
        settings = self._settings()
        case = await self._case(window, settings)
        lines = transcript(window, case.handles)
        if not lines or not any(part.lines for part in case.people.values()):
            return self._counted(case, settings)
        standings = await self._standings(window, case.people, settings.people)
        request = prompts.summary_request(
            introduce(case.people, window, standings, case.handles),
            lines,
            words=settings.memory.summary_words,
            max_output_tokens=settings.model.memory_output_tokens,
        )
        for _ in range(TRIES):
            answer = await self._model.generate(request)
            summary = self._kept(prompts.read_summary(answer.text) or "", case, settings)
            if summary:
                return _episode(case, EpisodeKind.CHAT, summary, answer.model)
        raise ModelBlocked("The model gave no usable summary.")

    async def _standings(
        self, window: Window, people: Collection[str], settings: PeopleSettings
    ) -> dict[str, Standing]:
        now = self._clock.now()
        lately = now - settings.regular_within_d * DAY
        came = await attendance.of(self._db, people, lately=lately, during=window[0].stream_id)
        return {who: standing_of(one, settings, now) for who, one in came.items()}

    async def by_counting(self, window: Window) -> NewEpisode:
        """Without a model."""
        settings = self._settings()
        return self._counted(await self._case(window, settings), settings)

    def _counted(self, case: _Case, settings: Settings) -> NewEpisode:
        summary = counted(case.window, case.handles, forbidden(settings))
        return _episode(case, EpisodeKind.COUNTED, summary, "")

    def _kept(self, summary: str, case: _Case, settings: Settings) -> str:
        said = [case.handles.hide_chat(text) for line in case.window for text in (line.text, line.system_text)]
        return kept(
            summary,
            said,
            case.handles,
            most_words=settings.memory.summary_words,
            forbidden=forbidden(settings),
        )

    async def _case(self, window: Window, settings: Settings) -> _Case:
        typed = names_typed(text for line in window for text in (line.text, line.system_text))
        known = await viewers.called(self._db, typed)
        speakers = parts(window)
        names = {one.name: None if one.hidden and one.id not in speakers else one.id for one in known}
        state = await channel_state.read_all(self._db)
        bot = [settings.bot.name, *settings.bot.aliases, settings.twitch.bot_login, state.get("bot_login", "")]
        named = _named(window, list(speakers), names, [name for name in bot if name])
        people = parts(window, named)
        return _Case(window, people, Handles.of(list(people), names, [name for name in bot if name]))


def _named(window: Window, speakers: Sequence[str], names: dict[str, str | None], bot: Sequence[str]) -> list[str]:
    """Who is named in the window without speaking in it, in the order in which the names fall."""
    others = {who for who in names.values() if who is not None and who not in speakers}
    handles = Handles.of(sorted(others), names, bot)
    hidden = (handles.hide_chat(text) for line in window for text in (line.text, line.system_text) if not line.from_bot)
    return list(dict.fromkeys(who for text in hidden for who in ids_in(handles.ids(text) or "")))


def _episode(case: _Case, kind: EpisodeKind, summary: str, model: str) -> NewEpisode:
    window = case.window
    return NewEpisode(
        kind=kind,
        stream_id=window[0].stream_id,
        started_at=min(line.at for line in window),
        ended_at=max(line.at for line in window),
        summary=summary,
        people=case.people,
        seqs=[line.seq for line in window],
        model=model,
    )
