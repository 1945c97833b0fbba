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
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
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
from forgetmenot.people.handles import (
    Handles,
    Streamer,
    names_typed,
    streamer_of,
    unhandled,
)
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

# This many words of one message in a row are a quotation; names and titles are shorter.
QUOTE_WORDS = 13
# The share of a summary's letters that may stand in runs of chat.
COPIED_SHARE_LIMIT = 0.5
# A summary of at most this many letters may all stand in chat: "types with two fingers and wins" can hardly be said
# otherwise.
SHORT_SUMMARY = 160
# This many letters in a row that one message has too are a run of chat, wherever its spaces are: four or five words.
RUN = 22
RUN_UNSPACED = 10
# A message of this many letters or more, all of which a sentence has, is a run as well.
SHORT_LINE = 8
# A model counts its words roughly: only what is longer than this many times the limit is cut.
MARGIN = 1.2
# How many characters of a model's text are looked at: more than it may have words for.
READ_CHARACTERS = 4_000
# Characters of a stream's title: Twitch's own limit.
LONGEST_TITLE = 140

# What one says of another can hardly be said otherwise than it was: it is no copy.
_HEARSAY = re.compile(r"P\d+ \w+ (?:that )?(?=P\d+\b)")
_WORD = re.compile(r"\w+(?:'\w+)*")
People = dict[str, Part]


def number_of_words(text: str) -> int:
    """Return the length of a summary in words."""
    return len(text.split())


def storable_summary(
    summary: str,
    messages: Sequence[str],
    handles: Handles,
    *,
    limit: int,
    privacy: PrivacySettings,
    size: Callable[[str], int] = number_of_words,
) -> tuple[str, Counter[str]]:
    """Return what of a text may be stored, with mentions for handles, and how many sentences each rule cut.

    `limit`: in words, or what else `size` counts. `messages`: those it is about, as the model was shown them.
    """
    sentences = list(
        dict.fromkeys(sentences_of(cut(defang(clean(summary)), READ_CHARACTERS)))
    )
    quotations = _quotations(sentences, messages)
    cut_by: Counter[str] = Counter()
    allowed: dict[str, str] = {}
    for sentence in sentences:
        stored_sentence, fault = _checked_sentence(
            sentence, handles, quotations, privacy
        )
        if fault is None:
            allowed[sentence] = stored_sentence
        else:
            cut_by[fault] += 1
    own_words = uncopied(list(allowed), messages)
    stored_sentences = [allowed[sentence] for sentence in own_words]
    text = within(stored_sentences, int(MARGIN * limit), size)
    cut_by["copied"] += len(allowed) - len(own_words)
    cut_by["length"] += len(own_words) - len(sentences_of(text))
    return text, +cut_by


def _checked_sentence(
    sentence: str,
    handles: Handles,
    quotations: Container[str],
    privacy: PrivacySettings,
) -> tuple[str, str | None]:
    """Return a sentence as it may be stored, and the rule that cuts it; None if none does."""
    with_mentions = handles.ids(sentence)
    if with_mentions is None:
        return "", "handle"
    if sentence in quotations:
        return "", "copied"
    # a name stays where only the age beside it has to go
    stored_sentence = without_ages(with_mentions, privacy) or with_mentions
    if never_stored(stored_sentence, privacy):
        return "", "sensitive"
    return stored_sentence, text_fault(stored_sentence)


def within(
    sentences: Iterable[str],
    limit: int,
    size: Callable[[str], int] = number_of_words,
) -> str:
    """Return the first sentences that fit into a limit of words, or of what `size` counts.

    Of a first sentence that is longer by itself, its beginning.
    """
    text = ""
    for sentence in sentences:
        longer = f"{text} {sentence}".strip()
        if size(longer) > limit:
            return text or _beginning(sentence, limit, size)
        text = longer
    return text


def _beginning(
    sentence: str,
    limit: int,
    size: Callable[[str], int],
) -> str:
    pieces = sentence.split()
    while pieces and size(f"{' '.join(pieces)}…") > limit:
        pieces.pop()
    return f"{' '.join(pieces)}…"


def _quotations(sentences: Iterable[str], messages: Iterable[str]) -> set[str]:
    """Return the sentences in which a quotation of one message ends."""
    message_quotes: set[str] = set()
    for message in messages:
        message_quotes.update(_quotable(message))
    quotations: set[str] = set()
    before = ""
    for sentence in sentences:
        so_far = f"{before} {sentence}"
        if message_quotes.isdisjoint(_quotable(so_far)):
            # a quotation may go on over the end of a sentence
            before = so_far[-LONGEST_SENTENCE:]
        else:
            quotations.add(sentence)
    return quotations


def _quotable(text: str) -> set[str]:
    """Return every row of words of a text that would be a quotation of it."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    text_words = _WORD.findall(plain)
    starts = range(len(text_words) - QUOTE_WORDS + 1)
    return {" ".join(text_words[start : start + QUOTE_WORDS]) for start in starts}


def uncopied(sentences: Sequence[str], messages: Iterable[str]) -> list[str]:
    """Return the sentences without those that copy most, until half of the letters at most stands in runs of chat."""
    letters = {sentence: _letters(sentence) for sentence in sentences}
    total = sum(len(text) for text in letters.values())
    if UNSPACED.search("".join(sentences)):
        # a sign of such a script tells as much as two letters
        total = round(total * RUN / RUN_UNSPACED)
    if total <= SHORT_SUMMARY:
        return list(sentences)
    chat = [_letters(message) for message in messages]
    runs = _runs(chat)
    copied = {}
    for sentence, text in letters.items():
        copied[sentence] = (
            0 if _is_hearsay(sentence, chat) else _copied_letters(text, runs)
        )
    remaining = list(sentences)
    while _copied_share(remaining, copied, letters) > COPIED_SHARE_LIMIT:
        remaining.remove(max(remaining, key=copied.__getitem__))
    return remaining


def _copied_share(
    sentences: Sequence[str],
    copied: Mapping[str, int],
    letters: Mapping[str, str],
) -> float:
    total = sum(len(letters[sentence]) for sentence in sentences)
    if not total:
        return 0
    return sum(copied[sentence] for sentence in sentences) / total


def _runs(chat: Iterable[str]) -> set[str]:
    """Return every row of letters of messages that is a run of chat where a summary has it."""
    runs: set[str] = set()
    for letters in chat:
        longest_run = RUN
        shortest_line = SHORT_LINE
        if UNSPACED.search(letters):
            longest_run = RUN_UNSPACED
            shortest_line = SHORT_LINE // 2
        if len(letters) < shortest_line:
            continue
        length = min(len(letters), longest_run)
        runs.update(
            letters[start : start + length]
            for start in range(len(letters) - length + 1)
        )
    return runs


def _copied_letters(text: str, runs: Collection[str]) -> int:
    """Return how many letters of a text stand in runs of chat."""
    copied: set[int] = set()
    for length in {len(run) for run in runs}:
        for start in range(len(text)):
            if text[start : start + length] in runs:
                copied.update(range(start, start + length))
    return len(copied)


def _is_hearsay(sentence: str, chat: Sequence[str]) -> bool:
    """Return whether a sentence reports what chat says of another.

    Only where chat names that other in the same words: any line could be put behind "P1 says that P2".
    """
    hearsay = _HEARSAY.match(sentence)
    if hearsay is None:
        return False
    reported = _letters(sentence[hearsay.end() :])[:RUN]
    return any(reported in letters for letters in chat)


def _letters(text: str) -> str:
    return "".join(char for char in skeleton(text) if char.isalnum())


class MemoryWriter:
    """What asks a model to write memory. `settings` is asked once per text or pass."""

    def __init__(
        self,
        *,
        db: Database,
        model: LanguageModel,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock

    async def _stored(
        self,
        summary: str,
        messages: Sequence[str],
        handles: Handles,
        *,
        limit: int,
        size: Callable[[str], int] = number_of_words,
    ) -> str:
        """Return what of a model's text may be stored; what was cut is counted, for the dock. Raises StoreError."""
        privacy = self._settings().privacy
        text, cut_by = await asyncio.to_thread(
            storable_summary,
            summary,
            messages,
            handles,
            limit=limit,
            size=size,
            privacy=privacy,
        )
        if cut_by:
            log.info("sentences of summaries cut", rules=dict(cut_by))
            counts = {f"summary_cut:{rule}": number for rule, number in cut_by.items()}
            async with self._db.write() as tx:
                await add_counts(tx, counts)
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
        """Return the episode that the model makes of a window. Raises ModelError.

        A window that tells of nothing is counted instead.
        """
        settings = self._settings()
        scene = await self._scene(window, settings)
        handles = scene.handles
        if not tells_of_anything(window, handles):
            return await self._counted(window, scene, settings)
        lines = transcript(window, handles)
        request = _summary_request(window, scene, lines, settings)
        answer = await self._model.generate(request)
        summary = read_summary(answer.text)
        if summary is None:
            raise ModelBlocked("The model gave no usable summary.")
        messages = []
        for line in window:
            messages.append(handles.hide_chat(line.text))
            messages.append(handles.hide_chat(line.system_text))
        stored_summary = await self._stored(
            summary, messages, handles, limit=SUMMARY_WORDS
        )
        if not stored_summary:
            return await self._counted(window, scene, settings)
        people = await self._with_streamer(scene, stored_summary)
        episode = _episode(
            window, people, stored_summary, EpisodeKind.CHAT, answer.model
        )
        return replace(episode, language=read_language(answer.text))

    async def by_counting(self, window: Window) -> NewEpisode:
        """Return the episode of a window without asking a model.

        What cannot even be counted becomes a number of lines, because the age limit cannot wait.
        """
        settings = self._settings()
        try:
            scene = await self._scene(window, settings)
            return await self._counted(window, scene, settings)
        except ODD_INPUT:
            log.exception("a window could not be counted")
            return _episode(
                window, parts(window), f"Chat in numbers: {len(window)} lines."
            )

    async def _counted(
        self,
        window: Window,
        scene: Scene,
        settings: Settings,
    ) -> NewEpisode:
        summary = summary_in_numbers(window, scene.handles, settings)
        return _episode(window, await self._with_streamer(scene, summary), summary)

    async def _with_streamer(self, scene: Scene, summary: str) -> People:
        """Return who is stored with a summary: also the streamer, where it names them. They get a row if need be."""
        streamer = scene.streamer
        if streamer is None or streamer.id not in {*scene.parts, *ids_in(summary)}:
            return scene.parts
        if await viewers.get(self._db, streamer.id) is None:
            async with self._db.write() as tx:
                await viewers.add_unseen(
                    tx, {streamer.id: streamer.login}, self._clock.now()
                )
        return {**scene.parts, streamer.id: scene.parts.get(streamer.id, Part(0, 0))}

    async def _scene(self, window: Window, settings: Settings) -> Scene:
        """Return who spoke in a window and who is named in it, with handles for all whom a model may name."""
        chat_texts = []
        bot_texts = []
        for line in window:
            if line.from_bot:
                bot_texts.append(line.text)
            else:
                chat_texts += [line.text, line.system_text]
        stream = await self._stream_of(window)
        title = stream.title if stream is not None else ""
        speakers = parts(window)
        names = await self._names(
            window, [*chat_texts, *bot_texts, title], speakers, settings
        )
        streamer = await streamer_of(self._db, settings.twitch.channel)
        if streamer is not None:
            is_hidden = bool(await viewers.hidden(self._db, [streamer.id]))
            # somebody hidden has no handle, so that a summary cannot name them
            if is_hidden and streamer.id not in speakers:
                names.update(dict.fromkeys(streamer.names, None))
                streamer = None
            else:
                names.update(dict.fromkeys(streamer.names, streamer.id))
        bot_names = await self._bot_names(settings, streamer)
        streamer_id = streamer.id if streamer is not None else ""
        nameable = {viewer_id for viewer_id in names.values() if viewer_id is not None}
        by_name = Handles.of(sorted(nameable), names, bot_names, streamer_id)
        named_ids = _named_ids(chat_texts, by_name)
        people = parts(window, named_ids)
        has_handle = shown_speakers(window) | set(named_ids)
        in_order = [viewer_id for viewer_id in people if viewer_id in has_handle]
        if streamer_id:
            in_order.insert(0, streamer_id)
        return Scene(
            people,
            Handles.of(in_order, names, bot_names, streamer_id),
            streamer,
            stream,
        )

    async def _names(
        self,
        window: Window,
        texts: Sequence[str],
        speakers: Iterable[str],
        settings: Settings,
    ) -> dict[str, str | None]:
        """Return whom the names in texts mean, by name; None: somebody who is hidden."""
        said_at = window[-1].at
        here = {*speakers, *await active_now(self._db, settings.people, said_at)}
        return await in_chat(self._db, texts, names_typed(texts), said_at, here)

    async def _stream_of(self, window: Window) -> Stream | None:
        stream_id = window[0].stream_id
        if stream_id is None:
            return None
        return (await streams.get_many(self._db, [stream_id])).get(stream_id)

    async def _bot_names(
        self, settings: Settings, streamer: Streamer | None
    ) -> set[str]:
        """What the bot is called; where it uses the streamer's own account, that name is the streamer's."""
        own_login = await channel_state.read(self._db, "bot_login")
        names = {
            settings.bot.name,
            *settings.bot.aliases,
            settings.twitch.bot_login,
            own_login,
        }
        taken = streamer.names if streamer is not None else frozenset()
        return {name for name in names if name and name.casefold() not in taken}


def _named_ids(texts: Iterable[str], handles: Handles) -> list[str]:
    """Return the ids of the people whom texts name, in the order in which the names stand there."""
    named_ids: dict[str, None] = {}
    for text in texts:
        with_mentions = handles.ids(handles.hide_chat(text))
        named_ids.update(dict.fromkeys(ids_in(with_mentions or "")))
    return list(named_ids)


def _summary_request(
    window: Window,
    scene: Scene,
    lines: Sequence[str],
    settings: Settings,
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
        rows.append(
            f"title: {scene.handles.hide_chat(cut(scene.stream.title, LONGEST_TITLE))}"
        )
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


def summary_in_numbers(
    window: Window,
    handles: Handles,
    settings: Settings,
) -> str:
    """Return a summary, with mentions, of who spoke most and which words they shared."""
    line_counts = {who: part.lines for who, part in parts(window).items() if part.lines}
    if not line_counts:
        return "Only the bot spoke."
    by_lines = sorted(line_counts, key=lambda viewer_id: -line_counts[viewer_id])
    named = by_lines[:NAMED]
    total = sum(line_counts.values())
    people = ", ".join(
        f"{mention(viewer_id)} ({line_counts[viewer_id]})" for viewer_id in named
    )
    if len(by_lines) > NAMED:
        people += f" and {len(by_lines) - NAMED} more"
    topics = ", ".join(_shared_words(window, named, handles, settings))
    about = f"; words that came up: {topics}" if topics else ""
    return f"Chat in numbers: {total} {'line' if total == 1 else 'lines'} by {people}{about}."


def _shared_words(
    window: Window,
    named: Collection[str],
    handles: Handles,
    settings: Settings,
) -> list[str]:
    """Return the words that several of the named people used, those of most people first.

    Only theirs, in the sentence that names them: who is erased takes what they said along.
    """
    users: dict[str, set[str]] = defaultdict(set)
    for line in window:
        if line.viewer_id not in named or line.from_bot or is_command(line.text):
            continue
        for word in words(handles.hide_chat(line.text)):
            users[word].add(line.viewer_id)
    shared = []
    for word, people in users.items():
        is_topic = len(word) > 3 and word.isalpha() and word not in _NO_TOPICS
        if is_topic and len(people) > 1 and not never_stored(word, settings.privacy):
            shared.append(word)
    shared.sort(key=lambda word: (-len(users[word]), -len(word), word))
    return shared[:TOPICS]
