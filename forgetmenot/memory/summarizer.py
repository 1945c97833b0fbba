"""Makes the episode of one window of chat, with a model or by counting. Writes nothing.

A model is asked once for a window, and what it writes stands but for what is cut. The people are those who
spoke in the window or are named in it. Raises ModelError where the model gave no summary (ModelBlocked: it never will
for this window). A window of which nothing may be kept is counted, as is one that no model could read.

A model's words are kept as they are, and what they say is not judged: stored words are shown as data and can command
nothing. A sentence is cut, and counted under the name of the rule, where it

- names a handle that was not given out ("handle"),
- has more than twelve words of one message in a row ("copied"),
- holds what is never stored about people ("sensitive"),
- has a link, markup or a command in it ("link", "markup"),
- copies most, while more than half of all letters stand in runs of chat, unless the text is short ("copied"),
- is too long, or stands where there are words enough ("length"). A fifth more than was asked for is not too long.
"""

import asyncio
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import EpisodeKind, ModelRequest, Part, Purpose, Stream
from forgetmenot.errors import ODD_INPUT, ModelBlocked
from forgetmenot.logs import log
from forgetmenot.memory.proposals import (
    LONGEST_SENTENCE,
    never_stored,
    text_fault,
    without_ages,
)
from forgetmenot.memory.transcript import (
    SPOKEN,
    SPOKEN_MARK,
    SUMMARY,
    SUMMARY_SCHEMA,
    SUMMARY_WORDS,
    WRITTEN_IN,
    Window,
    introduce,
    memory_request,
    parts,
    read_language,
    read_summary,
    shown_speakers,
    tells_of_anything,
    transcript,
)
from forgetmenot.people.handles import Handles, Streamer, names_typed, streamer_of, unhandled
from forgetmenot.people.names import in_chat
from forgetmenot.people.standing import active_now
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.store import channel_state, streams, viewers
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import clean, cut, skeleton
from forgetmenot.text.days import written_days
from forgetmenot.text.mentions import SOMEBODY, defang, fence, ids_in, mention
from forgetmenot.text.words import STOPWORDS, UNSPACED, sentences_of, words

# So many words of one message in a row are a quotation; names and titles are shorter.
QUOTE = 13
# The share of a summary's letters that may stand in runs of chat.
COPIED_AT_MOST = 0.5
# Letters of a summary that may all stand in chat: "types with two fingers and wins" can hardly be said otherwise.
SHORT = 160
# So many letters in a row that one message has too are a run of chat, wherever its spaces are: four or five words.
RUN, RUN_UNSPACED = 22, 10
# A message of so many letters or more, all of which a sentence has, is a run as well.
SHORT_LINE = 8
# A model counts its words roughly: only what is longer than that many times the limit is cut.
MARGIN = 1.2
# Characters of a model's text that are looked at: more than it may have words for.
MOST_READ = 4_000
# Characters of a stream's title: Twitch's own limit.
LONGEST_TITLE = 140

# What one says of another can hardly be said otherwise than it was: it is no copy.
_HEARSAY = re.compile(r"P\d+ \w+ (?:that )?(?=P\d+\b)")
_WORD = re.compile(r"\w+(?:'\w+)*")
People = dict[str, Part]


def number_of_words(text: str) -> int:
    """What a summary's length is counted in."""
    return len(text.split())


def storable_summary(
    summary: str,
    messages: Sequence[str],
    handles: Handles,
    *,
    most: int,
    privacy: PrivacySettings,
    size: Callable[[str], int] = number_of_words,
) -> tuple[str, Counter[str]]:
    """What of a text may be stored, with mentions for handles, and how many sentences each rule cut.

    `most` words, or what else `size` counts. `messages` are those it tells of, as the model was shown them.
    """
    written = list(dict.fromkeys(sentences_of(cut(defang(clean(summary)), MOST_READ))))
    quotes = _quotes(written, messages)
    refused: Counter[str] = Counter()
    allowed: dict[str, str] = {}
    for sentence in written:
        named = handles.ids(sentence)
        if named is None:
            fault: str | None = "handle"
        elif sentence in quotes:
            fault = "copied"
        else:
            # a name stays where only the age beside it has to go
            named = without_ages(named, privacy) or named
            fault = "sensitive" if never_stored(named, privacy) else text_fault(named)
        if named is None or fault is not None:
            refused[fault or "handle"] += 1
        else:
            allowed[sentence] = named
    own = uncopied(list(allowed), messages)
    text = within((allowed[sentence] for sentence in own), int(MARGIN * most), size)
    refused["copied"] += len(allowed) - len(own)
    refused["length"] += len(own) - len(sentences_of(text))
    return text, +refused


def within(
    sentences: Iterable[str], most: int, size: Callable[[str], int] = number_of_words
) -> str:
    """The first sentences that fit into so many words (or what `size` counts); of a longer one, its beginning."""
    text = ""
    for sentence in sentences:
        longer = f"{text} {sentence}".strip()
        if size(longer) > most:
            if not text:
                pieces = sentence.split()
                while pieces and size(f"{' '.join(pieces)}…") > most:
                    pieces.pop()
                text = f"{' '.join(pieces)}…"
            return text
        text = longer
    return text


def _quotes(sentences: Iterable[str], messages: Iterable[str]) -> set[str]:
    """The sentences in which a quotation of one message ends."""
    quoted = {run for message in messages for run in _runs(message)}
    found: set[str] = set()
    before = ""
    for sentence in sentences:
        so_far = f"{before} {sentence}"
        if quoted.isdisjoint(_runs(so_far)):
            before = so_far[-LONGEST_SENTENCE:]  # a quotation may go on over the end of a sentence
        else:
            found.add(sentence)
    return found


def _runs(text: str) -> set[str]:
    """All that would be a quotation of a text."""
    said = _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    return {" ".join(said[i : i + QUOTE]) for i in range(len(said) - QUOTE + 1)}


def uncopied(sentences: Sequence[str], messages: Iterable[str]) -> list[str]:
    """The sentences without those that copy most, until half of the letters at most stands in runs of chat."""
    letters = {sentence: _letters(sentence) for sentence in sentences}
    size = sum(map(len, letters.values()))
    if size * (RUN / RUN_UNSPACED if UNSPACED.search("".join(sentences)) else 1) <= SHORT:
        return list(sentences)
    runs: set[str] = set()
    chat = [_letters(message) for message in messages]
    for message in chat:
        unspaced = UNSPACED.search(message)
        if len(message) >= (SHORT_LINE // 2 if unspaced else SHORT_LINE):
            run = min(len(message), RUN_UNSPACED if unspaced else RUN)
            runs.update(message[at : at + run] for at in range(len(message) - run + 1))
    copied: dict[str, int] = {}
    for sentence, text in letters.items():
        ends = [
            (at, at + run)
            for run in set(map(len, runs))
            for at in range(len(text))
            if text[at : at + run] in runs
        ]
        hearsay = _HEARSAY.match(sentence)
        # only where chat names that other in the same words: any line could be put behind "P1 says that P2"
        told = _letters(sentence[hearsay.end() :])[:RUN] if hearsay else ""
        said_so = hearsay and any(told in message for message in chat)
        copied[sentence] = 0 if said_so else len({at for one in ends for at in range(*one)})
    left = list(sentences)
    while sum(copied[one] for one in left) > COPIED_AT_MOST * sum(
        len(letters[one]) for one in left
    ):
        left.remove(max(left, key=copied.__getitem__))
    return left


def _letters(text: str) -> str:
    return "".join(char for char in skeleton(text) if char.isalnum())


class MemoryWriter:
    """What asks a model to write memory. `settings` is asked once per text or pass."""

    def __init__(
        self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock
    ) -> None:
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
        privacy = self._settings().privacy
        text, cut_by = await asyncio.to_thread(
            storable_summary, written, messages, handles, most=most, size=size, privacy=privacy
        )
        if cut_by:
            log.info("sentences of summaries cut", rules=dict(cut_by))
            async with self._db.write() as tx:
                await add_counts(
                    tx, {f"summary_cut:{rule}": number for rule, number in cut_by.items()}
                )
        return text


class Scene(NamedTuple):
    """Who is in a window, and on which stream.

    `parts`: who is stored with the episode; `streamer` None: nobody knows whose channel it is, or they are hidden.
    """

    parts: People
    handles: Handles
    streamer: Streamer | None
    stream: Stream | None


class Summarizer(MemoryWriter):
    """Reads windows."""

    async def with_model(self, window: Window) -> NewEpisode:
        """Ask the model. Raises ModelError. A window that tells of nothing is counted instead."""
        settings = self._settings()
        scene = await self._scene(window, settings)
        if not tells_of_anything(window, scene.handles):
            return await self._counted(window, scene, settings)
        lines = transcript(window, scene.handles)
        request = _summary_request(window, scene, lines, settings)
        answer = await self._model.generate(request)
        written = read_summary(answer.text)
        if written is None:
            raise ModelBlocked("The model gave no usable summary.")
        handles = scene.handles
        messages = []
        for line in window:
            messages.append(handles.hide_chat(line.text))
            messages.append(handles.hide_chat(line.system_text))
        kept = await self._kept(written, messages, handles, most=SUMMARY_WORDS)
        if not kept:
            return await self._counted(window, scene, settings)
        named = await self._with_streamer(scene, kept)
        episode = _episode(window, named, kept, EpisodeKind.CHAT, answer.model)
        return replace(episode, language=read_language(answer.text))

    async def by_counting(self, window: Window) -> NewEpisode:
        """Without a model. What cannot even be counted becomes a number of lines, because the age limit cannot wait."""
        settings = self._settings()
        try:
            return await self._counted(window, await self._scene(window, settings), settings)
        except ODD_INPUT:
            log.exception("a window could not be counted")
            return _episode(window, parts(window), f"Chat in numbers: {len(window)} lines.")

    async def _counted(self, window: Window, scene: Scene, settings: Settings) -> NewEpisode:
        summary = summary_in_numbers(window, scene.handles, settings)
        return _episode(window, await self._with_streamer(scene, summary), summary)

    async def _with_streamer(self, scene: Scene, summary: str) -> People:
        """Who is stored with a summary: also the streamer, where it names them. They get a row if they have none."""
        streamer = scene.streamer
        if streamer is None or streamer.id not in {*scene.parts, *ids_in(summary)}:
            return scene.parts
        if await viewers.get(self._db, streamer.id) is None:
            async with self._db.write() as tx:
                await viewers.add_unseen(tx, {streamer.id: streamer.login}, self._clock.now())
        return {**scene.parts, streamer.id: scene.parts.get(streamer.id, Part(0, 0))}

    async def _scene(self, window: Window, settings: Settings) -> Scene:
        """Who spoke in a window and who is named in it, and the handles of all whom a model may name."""
        texts = [
            text for line in window if not line.from_bot for text in (line.text, line.system_text)
        ]
        stream = await self._stream_of(window)
        title = stream.title if stream is not None else ""
        bot_lines = [line.text for line in window if line.from_bot]
        streamer = await streamer_of(self._db, settings.twitch.channel)
        speakers = parts(window)
        # somebody hidden has no handle, so that a summary cannot name them
        typed = [*texts, *bot_lines, title]
        said_at = window[-1].at
        here = {*speakers, *await active_now(self._db, settings.people, said_at)}
        names = await in_chat(self._db, typed, names_typed(typed), said_at, here)
        if streamer is not None:
            is_hidden = bool(await viewers.hidden(self._db, [streamer.id]))
            is_hidden = is_hidden and streamer.id not in speakers
            names.update(dict.fromkeys(streamer.names, None if is_hidden else streamer.id))
            streamer = None if is_hidden else streamer
        bot_names = await self._bot_names(settings, streamer)
        streamer_id = streamer.id if streamer is not None else ""
        # who is named, in the order in which the names fall
        may_be_named = {who for who in names.values() if who is not None}
        by_name = Handles.of(sorted(may_be_named), names, bot_names, streamer_id)
        named: dict[str, None] = {}
        for text in texts:
            named.update(dict.fromkeys(ids_in(by_name.ids(by_name.hide_chat(text)) or "")))
        people = parts(window, list(named))
        shown = shown_speakers(window) | set(named)
        first = [streamer_id] if streamer_id else []
        in_order = [*first, *(who for who in people if who in shown)]
        return Scene(people, Handles.of(in_order, names, bot_names, streamer_id), streamer, stream)

    async def _stream_of(self, window: Window) -> Stream | None:
        stream_id = window[0].stream_id
        if stream_id is None:
            return None
        return (await streams.get_many(self._db, [stream_id])).get(stream_id)

    async def _bot_names(self, settings: Settings, streamer: Streamer | None) -> set[str]:
        """What the bot is called; where it uses the streamer's own account, that name is the streamer's."""
        own_login = await channel_state.read(self._db, "bot_login")
        names = {settings.bot.name, *settings.bot.aliases, settings.twitch.bot_login, own_login}
        taken = streamer.names if streamer is not None else frozenset()
        return {name for name in names if name and name.casefold() not in taken}


def _summary_request(
    window: Window, scene: Scene, lines: Sequence[str], settings: Settings
) -> ModelRequest:
    is_spoken = any(SPOKEN_MARK in line[:20] for line in lines)
    system = SUMMARY.format(
        language=WRITTEN_IN, words=SUMMARY_WORDS, spoken=SPOKEN if is_spoken else ""
    )
    streamer_id = scene.streamer.id if scene.streamer is not None else ""
    people = introduce(list(scene.handles.people), window, scene.handles, streamer_id)
    days = written_days(window[0].at, window[-1].at, settings.bot.timezone)
    blocks = [f"Said on {days}."]
    about_stream = _about_stream(scene)
    if about_stream:
        blocks.append(fence("stream", about_stream))
    blocks.append(fence("people", people))
    blocks.append(fence("chat", "\n".join(lines)))
    prompt = "\n\n".join(blocks)
    return memory_request(
        Purpose.SUMMARY, system, prompt, SUMMARY_WORDS, settings.model, SUMMARY_SCHEMA
    )


def _about_stream(scene: Scene) -> str:
    """The channel, its title and its game, as far as they are known: what "this level" in chat is of."""
    rows = []
    if scene.streamer is not None:
        handle = scene.handles.handle(scene.streamer.id)
        # the name stands here once, so that it is known in chat's misspellings and short forms
        rows.append(f"channel: {unhandled(scene.streamer.login)}, which is {handle}")
    if scene.stream is not None and scene.stream.title:
        rows.append(f"title: {scene.handles.hide_chat(cut(scene.stream.title, LONGEST_TITLE))}")
    if scene.stream is not None and scene.stream.category:
        rows.append(f"game: {unhandled(clean(scene.stream.category))}")
    return "\n".join(rows)


def _episode(
    window: Window,
    people: People,
    summary: str,
    kind: EpisodeKind = EpisodeKind.COUNTED,
    model: str = "",
) -> NewEpisode:
    times = [line.at for line in window]
    seqs = [line.seq for line in window]
    return NewEpisode(
        kind, window[0].stream_id, min(times), max(times), summary, people, seqs, model
    )


# Without a model: who was there, how much was said, what about. Nothing is quoted: words that two people used or more.

NAMED = 5
TOPICS = 5
_NO_TOPICS = STOPWORDS | {SOMEBODY, "bot"}


def summary_in_numbers(window: Window, handles: Handles, settings: Settings) -> str:
    """The summary, with mentions: who spoke most, and which words they shared."""
    people = [(who, part.lines) for who, part in parts(window).items() if part.lines]
    if not people:
        return "Only the bot spoke."
    people.sort(key=lambda one: -one[1])
    lines = sum(count for _, count in people)
    most = ", ".join(f"{mention(who)} ({count})" for who, count in people[:NAMED])
    rest = f" and {len(people) - NAMED} more" if len(people) > NAMED else ""
    # words of those who are named, in the sentence that names them: who is erased takes what they said along
    named = {who for who, _ in people[:NAMED]}
    users: dict[str, set[str]] = defaultdict(set)
    for line in window:
        if line.viewer_id in named and not line.from_bot and not is_command(line.text):
            for word in set(words(handles.hide_chat(line.text))):
                users[word].add(line.viewer_id)
    topics = (word for word in users if len(word) > 3 and word.isalpha() and word not in _NO_TOPICS)
    fit = [
        word for word in topics if len(users[word]) > 1 and not never_stored(word, settings.privacy)
    ]
    fit.sort(key=lambda word: (-len(users[word]), -len(word), word))
    about = f"; words that came up: {', '.join(fit[:TOPICS])}" if fit else ""
    return f"Chat in numbers: {lines} {'line' if lines == 1 else 'lines'} by {most}{rest}{about}."
