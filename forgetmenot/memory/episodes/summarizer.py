"""Makes the episode of one window of chat, with a model or by counting. Writes nothing.

The text passes memory/episodes/summary_rules; the people are those who spoke in the window or are named in it. Raises
ModelError where the model gave no summary (ModelBlocked: it never will for this window).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from forgetmenot.domain.chat import Role
from forgetmenot.domain.memory import EpisodeKind, Part
from forgetmenot.errors import ODD_INPUT, ModelBlocked
from forgetmenot.logs import log
from forgetmenot.memory.episodes import prompts
from forgetmenot.memory.episodes.summary_rules import KeptText, storable_summary, summary_in_numbers, topic_of
from forgetmenot.memory.episodes.transcript import Window, introduce, parts, transcript
from forgetmenot.memory.grounding import Evidence, Said
from forgetmenot.memory.handles import Handles, names_typed
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, run_stats, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.text import statement_rules
from forgetmenot.text.chat_commands import said_text
from forgetmenot.text.mentions import MENTION, ids_in

TEMPERATURES = (0.0, 0.4)
"""With which a model is asked: the same question at 0 has the same answer."""
BY_RULES = "offline"
OFFICIAL = frozenset({Role.BROADCASTER, Role.MODERATOR})
"""Whose lines make a fact about the channel."""


@dataclass(frozen=True, slots=True)
class WindowCase:
    """A window with who is in it."""

    window: Window
    people: dict[str, Part]
    handles: Handles

    def evidence(self, title: str = "") -> Evidence:
        """What was said, for memory/grounding: without the bot's lines, which are evidence of nothing."""
        said = [Said("", title, official=True)] if title else []
        for line in self.window:
            texts = ((line.system_text, True), (said_text(line.text), line.role in OFFICIAL))
            for text, official in texts if not line.from_bot else ():
                if text:
                    named = self.handles.ids(self.handles.hide_chat(text))
                    said.append(Said(line.viewer_id, named or "", official=official))
        streamers = (line.viewer_id for line in self.window if line.role is Role.BROADCASTER)
        return Evidence(said, next(streamers, None))


def forbidden(settings: Settings) -> Callable[[str], bool]:
    """Judges whether a text holds something that is never stored."""
    from forgetmenot.memory.notes.proposals import never_stored
    from forgetmenot.text.sensitive_words import in_uncovered_language

    def judge(text: str) -> bool:
        bare = MENTION.sub("somebody", text)
        return in_uncovered_language(bare) or never_stored(bare, settings.privacy) is not None

    return judge


class Summarizer:
    """Reads windows. `settings` is asked once per window."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings]) -> None:
        self._db = db
        self._model = model
        self._settings = settings

    async def with_model(self, window: Window) -> NewEpisode:
        """Ask the model. Raises ModelError. A window without a line worth showing is counted instead."""
        settings = self._settings()
        case = await window_case(self._db, window, settings)
        lines = transcript(window, case.handles)
        # commands and the bot's own lines only: there is nothing for a model to read
        if not lines or not any(part.lines for part in case.people.values()):
            return self._counted(case, settings)
        introduced, words = introduce(case.people, window, case.handles), settings.memory.summary_words
        request = prompts.summary_request(introduced, lines, words, settings.model)
        cut: Counter[str] = Counter()
        supported = False
        for temperature in TEMPERATURES:
            answer = await self._model.generate(replace(request, temperature=temperature))
            by_rules = answer.model == BY_RULES  # the offline model counts and sorts, and invents nothing
            text = prompts.read_summary(answer.text) or ""
            summary = await asyncio.to_thread(self._kept, text, case, settings, by_rules=by_rules)
            cut += summary.cut
            supported = supported or bool(summary.text)
            if summary.text and not summary.mostly_cut:
                await self._count(cut)
                return _episode(case, EpisodeKind.CHAT, summary.text, answer.model)
        await self._count(cut + Counter({"by_rules": int(supported)}))
        if supported:
            return await self._by_rules(case, lines, settings)
        raise ModelBlocked("The model gave no usable summary.")

    async def _by_rules(self, case: WindowCase, lines: Sequence[str], settings: Settings) -> NewEpisode:
        """What rules read in the lines, where a model's summary is mostly not supported by them; else counts."""
        written = statement_rules.summary("\n".join(lines))
        if written != statement_rules.NOTHING:
            summary = await asyncio.to_thread(self._kept, written, case, settings, by_rules=True)
            if summary.text:
                return _episode(case, EpisodeKind.CHAT, summary.text, BY_RULES)
        return self._counted(case, settings)

    async def _count(self, cut: Counter[str]) -> None:
        if cut := +cut:
            log.info("sentences of summaries cut", rules=dict(cut))
            async with self._db.write() as tx:
                await run_stats.add_to_latest(tx, {f"summary_cut:{rule}": number for rule, number in cut.items()})

    async def by_counting(self, window: Window) -> NewEpisode:
        """Without a model. What cannot even be counted becomes a number of lines, because the age limit cannot wait."""
        settings = self._settings()
        try:
            return self._counted(await window_case(self._db, window, settings), settings)
        except ODD_INPUT:
            log.exception("a window could not be counted")
            bare = WindowCase(window, parts(window), Handles.of([]))
            return _episode(bare, EpisodeKind.COUNTED, f"Chat in numbers: {len(window)} lines.", "")

    def _counted(self, case: WindowCase, settings: Settings) -> NewEpisode:
        summary = summary_in_numbers(case.window, case.handles, forbidden(settings))
        return _episode(case, EpisodeKind.COUNTED, summary, "")

    def _kept(self, summary: str, case: WindowCase, settings: Settings, *, by_rules: bool) -> KeptText:
        words = settings.memory.summary_words
        return storable_summary(
            summary,
            [case.handles.hide_chat(text) for line in case.window for text in (line.text, line.system_text)],
            case.handles,
            most_words=words,
            forbidden=forbidden(settings),
            evidence=None if by_rules else case.evidence(),
            instructions=prompts.instruction_words(words),
        )


async def window_case(db: Database, window: Window, settings: Settings) -> WindowCase:
    """A window with who spoke in it, who is named in it, and everybody's handle."""
    typed = names_typed(text for line in window for text in (line.text, line.system_text))
    known = await viewers.called(db, typed)
    speakers = parts(window)
    # somebody hidden has no handle, so that a summary cannot name them
    names = {one.name: None if one.hidden and one.id not in speakers else one.id for one in known}
    state = await channel_state.read_all(db)
    bot = [settings.bot.name, *settings.bot.aliases, settings.twitch.bot_login, state.get("bot_login", "")]
    named = _named(window, list(speakers), names, [name for name in bot if name])
    people = parts(window, named)
    return WindowCase(window, people, Handles.of(list(people), names, [name for name in bot if name]))


def _named(window: Window, speakers: Sequence[str], names: dict[str, str | None], bot: Sequence[str]) -> list[str]:
    """Who is named in the window without speaking in it, in the order in which the names fall."""
    others = {who for who in names.values() if who is not None and who not in speakers}
    handles = Handles.of(sorted(others), names, bot)
    hidden = (handles.hide_chat(text) for line in window for text in (line.text, line.system_text) if not line.from_bot)
    return list(dict.fromkeys(who for text in hidden for who in ids_in(handles.ids(text) or "")))


def _episode(case: WindowCase, kind: EpisodeKind, summary: str, model: str) -> NewEpisode:
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
        topic=topic_of(window, case.handles, summary),
    )
