"""Makes the episode of one window of chat, with a model or by counting. Writes nothing.

A model is asked once for a window, and what it writes stands but for what memory/text_gate cuts. The people
are those who spoke in the window or are named in it. Raises ModelError where the model gave no summary (ModelBlocked:
it never will for this window). A window of which nothing may be kept is counted, as is one that no model could read.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from msgspec import Struct

from forgetmenot.clock import local_days
from forgetmenot.domain import EpisodeKind, EventKind, Part
from forgetmenot.errors import ODD_INPUT, ModelBlocked
from forgetmenot.logs import log
from forgetmenot.memory import prompts
from forgetmenot.memory.people import Handles, names_typed
from forgetmenot.memory.text_gate import storable_summary
from forgetmenot.memory.transcript import Window, introduce, parts, transcript
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, viewers
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.text.command_phrases import is_command
from forgetmenot.text.mentions import ids_in, mention
from forgetmenot.text.words import STOPWORDS, words


class WindowCase(Struct, frozen=True):
    """A window with who is in it."""

    window: Window
    people: dict[str, Part]
    handles: Handles


def forbidden(settings: Settings) -> Callable[[str], bool]:
    """Judges whether a text holds something that is never stored."""
    from forgetmenot.memory.proposals import never_stored

    return lambda text: never_stored(text, settings.privacy) is not None


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
        introduced, most = introduce(case.people, window, case.handles), prompts.SUMMARY_WORDS
        answer = await self._model.generate(
            prompts.summary_request(introduced, lines, local_days(window[0].at, window[-1].at), most, settings.model)
        )
        written = prompts.read_summary(answer.text)
        if written is None:
            raise ModelBlocked("The model gave no usable summary.")
        messages = [case.handles.hide_chat(text) for line in window for text in (line.text, line.system_text)]
        kept = await asyncio.to_thread(
            storable_summary, written, messages, case.handles, most=most, forbidden=forbidden(settings)
        )
        await count_cut(self._db, kept.cut)
        return _episode(case, EpisodeKind.CHAT, kept.text, answer.model) if kept.text else self._counted(case, settings)

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


async def count_cut(db: Database, cut: Counter[str]) -> None:
    """Count what was cut of a model's text, for the dock. Raises StoreError."""
    if cut:
        log.info("sentences of summaries cut", rules=dict(cut))
        async with db.write() as tx:
            await add_counts(tx, {f"summary_cut:{rule}": number for rule, number in cut.items()})


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
    )


# Without a model: who was there, how much was said, what about. Nothing is quoted: words that two people used or more.

NAMED = 5
TOPICS = 5
_NO_TOPICS = STOPWORDS | {"someone", "bot"}


def summary_in_numbers(window: Window, handles: Handles, forbidden: Callable[[str], bool] = lambda _: False) -> str:
    """The summary, with mentions. `forbidden` judges one word."""
    people = sorted(parts(window).items(), key=lambda item: -item[1].lines)
    people = [(who, part) for who, part in people if part.lines]
    if not people:
        return " ".join(["Only the bot spoke.", *_happened(window)])
    lines = sum(part.lines for _, part in people)
    most = ", ".join(f"{mention(who)} ({part.lines})" for who, part in people[:NAMED])
    rest = f" and {len(people) - NAMED} more" if len(people) > NAMED else ""
    first = f"Chat in numbers: {lines} {'line' if lines == 1 else 'lines'} by {most}{rest}."
    topics = topic_words(window, handles, forbidden)[:TOPICS]
    about = [f"Words that came up: {', '.join(topics)}."] if topics else []
    return " ".join([first, *_happened(window), *about])


def _happened(window: Window) -> list[str]:
    kinds = Counter(line.kind for line in window if line.kind not in {EventKind.MESSAGE, EventKind.ME})
    return [f"Also: {', '.join(f'{kind.value} ×{number}' for kind, number in kinds.items())}."] if kinds else []


def topic_words(window: Window, handles: Handles, forbidden: Callable[[str], bool]) -> list[str]:
    """The words that at least two people used, those of most people first, then the longer ones."""
    users: dict[str, set[str]] = defaultdict(set)
    for line in window:
        if not line.from_bot and not is_command(line.text):
            for word in set(words(handles.hide_chat(line.text))):
                users[word].add(line.viewer_id)
    topics = (word for word in users if len(word) > 3 and word.isalpha() and word not in _NO_TOPICS)
    fit = [word for word in topics if len(users[word]) > 1 and not forbidden(word)]
    return sorted(fit, key=lambda word: (-len(users[word]), -len(word), word))
