"""Makes the episode of one window of chat, with a model or by counting. Writes nothing.

A model is asked once for a window, and what it writes stands but for what memory/text_gate cuts. The people
are those who spoke in the window or are named in it. Raises ModelError where the model gave no summary (ModelBlocked:
it never will for this window). A window of which nothing may be kept is counted, as is one that no model could read.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence

from forgetmenot.clock import Clock, local_days
from forgetmenot.domain import EpisodeKind, Part, Purpose
from forgetmenot.errors import ODD_INPUT, ModelBlocked
from forgetmenot.logs import log
from forgetmenot.memory.people import Handles, names_typed
from forgetmenot.memory.text_gate import number_of_words, storable_summary
from forgetmenot.memory.transcript import (
    SPOKEN,
    SPOKEN_MARK,
    SUMMARY,
    SUMMARY_WORDS,
    Window,
    introduce,
    memory_request,
    parts,
    read_summary,
    transcript,
)
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, viewers
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.mentions import fence, ids_in, mention
from forgetmenot.text.words import STOPWORDS, words

People = dict[str, Part]


class MemoryWriter:
    """What asks a model to write memory. `settings` is asked once per text or pass."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock

    async def _kept(
        self,
        written: str,
        messages: Sequence[str],
        handles: Handles,
        *,
        most: int,
        size: Callable[[str], int] = number_of_words,
    ) -> str:
        """What of a model's text may be stored; what was cut is counted, for the dock. Raises StoreError."""
        forbidden = _forbidden(self._settings())
        kept = await asyncio.to_thread(
            storable_summary, written, messages, handles, most=most, size=size, forbidden=forbidden
        )
        if kept.cut:
            log.info("sentences of summaries cut", rules=dict(kept.cut))
            async with self._db.write() as tx:
                await add_counts(tx, {f"summary_cut:{rule}": number for rule, number in kept.cut.items()})
        return kept.text


class Summarizer(MemoryWriter):
    """Reads windows."""

    async def with_model(self, window: Window) -> NewEpisode:
        """Ask the model. Raises ModelError. A window without a line worth showing is counted instead."""
        settings = self._settings()
        people, handles = await self._people(window, settings)
        lines = transcript(window, handles)
        # commands and the bot's own lines only: there is nothing for a model to read
        if not lines or not any(part.lines for part in people.values()):
            return _episode(window, people, summary_in_numbers(window, handles, settings))
        most, spoken = SUMMARY_WORDS, any(SPOKEN_MARK in line[:20] for line in lines)
        system = SUMMARY.format(words=most, spoken=SPOKEN if spoken else "")
        said_on = f"Said on {local_days(window[0].at, window[-1].at)}."
        introduced = fence("people", introduce(people, window, handles))
        prompt = f"{said_on}\n\n{introduced}\n\n{fence('chat', chr(10).join(lines))}"
        request = memory_request(Purpose.SUMMARY, system, prompt, most, settings.model)
        answer = await self._model.generate(request)
        written = read_summary(answer.text)
        if written is None:
            raise ModelBlocked("The model gave no usable summary.")
        messages = [handles.hide_chat(text) for line in window for text in (line.text, line.system_text)]
        kept = await self._kept(written, messages, handles, most=most)
        if not kept:
            return _episode(window, people, summary_in_numbers(window, handles, settings))
        return _episode(window, people, kept, EpisodeKind.CHAT, answer.model)

    async def by_counting(self, window: Window) -> NewEpisode:
        """Without a model. What cannot even be counted becomes a number of lines, because the age limit cannot wait."""
        settings = self._settings()
        try:
            people, handles = await self._people(window, settings)
            return _episode(window, people, summary_in_numbers(window, handles, settings))
        except ODD_INPUT:
            log.exception("a window could not be counted")
            return _episode(window, parts(window), f"Chat in numbers: {len(window)} lines.")

    async def _people(self, window: Window, settings: Settings) -> tuple[People, Handles]:
        """Who spoke in a window and who is named in it, and everybody's handle."""
        texts = [text for line in window if not line.from_bot for text in (line.text, line.system_text)]
        known = await viewers.called(self._db, names_typed([*texts, *(line.text for line in window if line.from_bot)]))
        speakers = parts(window)
        # somebody hidden has no handle, so that a summary cannot name them
        names = {one.name: None if one.hidden and one.id not in speakers else one.id for one in known}
        own = await channel_state.read(self._db, "bot_login")
        bot = [name for name in (settings.bot.name, *settings.bot.aliases, settings.twitch.bot_login, own) if name]
        # who is named without speaking, in the order in which the names fall
        others = Handles.of(sorted({who for who in names.values() if who is not None} - set(speakers)), names, bot)
        named = dict.fromkeys(who for text in texts for who in ids_in(others.ids(others.hide_chat(text)) or ""))
        people = parts(window, list(named))
        return people, Handles.of(list(people), names, bot)


def _episode(
    window: Window, people: People, summary: str, kind: EpisodeKind = EpisodeKind.COUNTED, model: str = ""
) -> NewEpisode:
    times = [line.at for line in window]
    seqs = [line.seq for line in window]
    return NewEpisode(kind, window[0].stream_id, min(times), max(times), summary, people, seqs, model)


def _forbidden(settings: Settings) -> Callable[[str], bool]:
    """Judges whether a text holds something that is never stored."""
    from forgetmenot.memory.proposals import never_stored

    return lambda text: never_stored(text, settings.privacy) is not None


# Without a model: who was there, how much was said, what about. Nothing is quoted: words that two people used or more.

NAMED = 5
TOPICS = 5
_NO_TOPICS = STOPWORDS | {"someone", "bot"}


def summary_in_numbers(window: Window, handles: Handles, settings: Settings) -> str:
    """The summary, with mentions: who spoke most, and the words of most people."""
    people = [(who, part.lines) for who, part in parts(window).items() if part.lines]
    if not people:
        return "Only the bot spoke."
    people.sort(key=lambda one: -one[1])
    lines = sum(count for _, count in people)
    most = ", ".join(f"{mention(who)} ({count})" for who, count in people[:NAMED])
    rest = f" and {len(people) - NAMED} more" if len(people) > NAMED else ""
    users: dict[str, set[str]] = defaultdict(set)
    for line in window:
        if not line.from_bot and not is_command(line.text):
            for word in set(words(handles.hide_chat(line.text))):
                users[word].add(line.viewer_id)
    forbidden = _forbidden(settings)
    topics = (word for word in users if len(word) > 3 and word.isalpha() and word not in _NO_TOPICS)
    fit = [word for word in topics if len(users[word]) > 1 and not forbidden(word)]
    fit.sort(key=lambda word: (-len(users[word]), -len(word), word))
    about = f" Words that came up: {', '.join(fit[:TOPICS])}." if fit else ""
    return f"Chat in numbers: {lines} {'line' if lines == 1 else 'lines'} by {most}{rest}.{about}"
