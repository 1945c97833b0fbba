"""Makes the episode of one window of chat, with a model or by counting. It stores no episode.

A model is asked once for a window. The people of an episode are those who spoke in the window or are named in it.
ModelError means that the model gave no summary; ModelBlocked, that it never will for this window. A window is counted
if nothing of its summary may be kept, or if no model could read it.

A model's words are kept as they are. What they say is not judged, because stored words are shown as data and can
command nothing. A sentence is cut, and counted under the name of the rule, if it

- names a handle that was not given out ("handle"),
- has more than twelve words of one message in a row ("copied"),
- holds what is never stored about people ("sensitive"),
- has a link, markup or a command in it ("link", "markup"),
- copies more than the others, while more than half of a longer summary is copied from chat ("copied"),
- is too long, or is beyond the limit of words ("length"). A fifth more than was asked for is not too long.
"""

import asyncio
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import EpisodeKind, ModelRequest, Participation, Purpose, Stream
from forgetmenot.errors import ODD_INPUT, ModelBlocked
from forgetmenot.logs import log
from forgetmenot.memory.proposals import (
    LONGEST_SENTENCE,
    never_stored,
    text_fault,
    without_ages,
)
from forgetmenot.memory.sentence_times import times_of_sentences
from forgetmenot.memory.summary_instructions import (
    SUMMARY_SCHEMA,
    memory_request,
    read_language,
    read_summary,
    summary_instructions,
    summary_words,
)
from forgetmenot.memory.transcript import (
    Window,
    introduce,
    participations,
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
from forgetmenot.store import bot_messages, channel_state, streams, viewers
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
# The share of a summary's letters that may be copied from chat.
COPIED_SHARE_LIMIT = 0.5
# A summary of at most this many letters may be copied as a whole: "types with two fingers and wins" can hardly be said
# in other words.
SHORT_SUMMARY = 160
# This many letters in a row are copied if one message has them too, wherever its spaces are: four or five words.
COPIED_RUN = 22
COPIED_RUN_UNSPACED = 10
# A message that is shorter than a run is copied if a sentence has all its letters, and these are at least this many.
SHORT_LINE = 8
# A model counts its words roughly: only what is longer than this many times the limit is cut.
LENGTH_MARGIN = 1.2
# Only this many characters of a model's text are read. Its words never need as many.
READ_CHARACTERS = 4_000
# Characters of a stream's title: Twitch's own limit.
LONGEST_TITLE = 140

# "P1 says that P2": what somebody said about another can hardly be reported in other words, so it is no copy.
_HEARSAY = re.compile(r"P\d+ \w+ (?:that )?(?=P\d+\b)")
_WORD = re.compile(r"\w+(?:'\w+)*")


# Who is in a window, by id, and how much each said.
People = dict[str, Participation]


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
    """Return the part of a text that may be stored, with mentions for handles, and how many sentences each rule cut.

    `limit`: in words, or in the unit of `size`. `messages`: the summarised messages, as the model was shown them.
    """
    read_text = cut(defang(clean(summary)), READ_CHARACTERS)
    # a model may repeat itself: each sentence is read once
    sentences = list(dict.fromkeys(sentences_of(read_text)))
    quotations = _quotations(sentences, messages)
    cut_by: Counter[str] = Counter()
    # by sentence of the model: the form in which it would be stored
    stored_forms: dict[str, str] = {}
    for sentence in sentences:
        stored_form, fault = _checked_sentence(sentence, handles, quotations, privacy)
        if fault is None:
            stored_forms[sentence] = stored_form
        else:
            cut_by[fault] += 1
    own_sentences = uncopied(list(stored_forms), messages)
    cut_by["copied"] += len(stored_forms) - len(own_sentences)
    stored_sentences = [stored_forms[sentence] for sentence in own_sentences]
    generous_limit = int(LENGTH_MARGIN * limit)
    text = within(stored_sentences, generous_limit, size)
    cut_by["length"] += len(own_sentences) - len(sentences_of(text))
    # the plus sign removes the rules that cut nothing
    return text, +cut_by


def _checked_sentence(
    sentence: str,
    handles: Handles,
    quotations: Container[str],
    privacy: PrivacySettings,
) -> tuple[str, str | None]:
    """Return the form in which a sentence may be stored, and the rule that cuts it (None if none does)."""
    with_mentions = handles.ids(sentence)
    if with_mentions is None:
        return "", "handle"
    if sentence in quotations:
        return "", "copied"
    # only the ages of minors are removed; if nothing is left without them, the whole sentence is checked
    stored_form = without_ages(with_mentions, privacy) or with_mentions
    if never_stored(stored_form, privacy):
        return "", "sensitive"
    return stored_form, text_fault(stored_form)


def within(
    sentences: Iterable[str],
    limit: int,
    size: Callable[[str], int] = number_of_words,
) -> str:
    """Return the first sentences that fit into a limit, in words or in the unit of `size`.

    If even the first sentence does not fit, its beginning is returned.
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
    """Return the first words of a sentence that fit into a limit, followed by "…"."""
    sentence_words = sentence.split()
    while True:
        beginning = f"{' '.join(sentence_words)}…"
        if not sentence_words or size(beginning) <= limit:
            return beginning
        sentence_words.pop()


def _quotations(sentences: Iterable[str], messages: Iterable[str]) -> set[str]:
    """Return the sentences that quote a message, or that complete a quotation from earlier sentences.

    A quotation is QUOTE_WORDS words in a row from one message.
    """
    message_sequences: set[str] = set()
    for message in messages:
        message_sequences |= _word_sequences(message)
    quotations: set[str] = set()
    unquoted_end = ""
    for sentence in sentences:
        text_so_far = f"{unquoted_end} {sentence}"
        if message_sequences.isdisjoint(_word_sequences(text_so_far)):
            # a quotation may begin here and go on in the next sentence
            unquoted_end = text_so_far[-LONGEST_SENTENCE:]
        else:
            quotations.add(sentence)
    return quotations


def _word_sequences(text: str) -> set[str]:
    """Return all sequences of QUOTE_WORDS words in a text, in lower case and without punctuation."""
    # a quotation may have other forms of the letters ("ｂｉｇ") or another apostrophe
    folded = unicodedata.normalize("NFKC", text).casefold()
    text_words = _WORD.findall(folded.replace("’", "'"))
    sequences = set()
    for start in range(len(text_words) - QUOTE_WORDS + 1):
        sequence = text_words[start : start + QUOTE_WORDS]
        sequences.add(" ".join(sequence))
    return sequences


def uncopied(sentences: Sequence[str], messages: Iterable[str]) -> list[str]:
    """Return the sentences without those that copy most of chat.

    Sentences are removed until at most COPIED_SHARE_LIMIT of the letters that remain is copied.
    """
    letters_of = {sentence: _letters(sentence) for sentence in sentences}
    total = sum(len(letters) for letters in letters_of.values())
    if UNSPACED.search("".join(sentences)):
        # a sign of a script without spaces says as much as two letters
        total = round(total * COPIED_RUN / COPIED_RUN_UNSPACED)
    if total <= SHORT_SUMMARY:
        return list(sentences)
    message_letters = [_letters(message) for message in messages]
    runs = _runs(message_letters)
    copied_letters = {}
    for sentence, letters in letters_of.items():
        if _is_hearsay(sentence, message_letters):
            copied_letters[sentence] = 0
        else:
            copied_letters[sentence] = _count_copied(letters, runs)
    remaining = list(sentences)
    while _copied_share(remaining, copied_letters, letters_of) > COPIED_SHARE_LIMIT:
        most_copied = max(remaining, key=copied_letters.__getitem__)
        remaining.remove(most_copied)
    return remaining


def _copied_share(
    sentences: Sequence[str],
    copied_letters: Mapping[str, int],
    letters_of: Mapping[str, str],
) -> float:
    """Return the share of the letters of sentences that is copied from chat (0 to 1)."""
    total = sum(len(letters_of[sentence]) for sentence in sentences)
    if not total:
        return 0
    copied = sum(copied_letters[sentence] for sentence in sentences)
    return copied / total


def _runs(message_letters: Iterable[str]) -> set[str]:
    """Return the runs of letters that a summary must not copy.

    They are all sequences of COPIED_RUN letters of each message, or the whole of a shorter message. `message_letters`:
    the letters of each message.
    """
    runs: set[str] = set()
    for letters in message_letters:
        longest_run = COPIED_RUN
        shortest_line = SHORT_LINE
        if UNSPACED.search(letters):
            longest_run = COPIED_RUN_UNSPACED
            shortest_line = SHORT_LINE // 2
        if len(letters) < shortest_line:
            continue
        length = min(len(letters), longest_run)
        for start in range(len(letters) - length + 1):
            runs.add(letters[start : start + length])
    return runs


def _count_copied(letters: str, runs: Collection[str]) -> int:
    """Return how many of these letters stand in one of the runs."""
    copied_places: set[int] = set()
    run_lengths = {len(run) for run in runs}
    for length in run_lengths:
        for start in range(len(letters)):
            end = start + length
            if letters[start:end] in runs:
                copied_places.update(range(start, end))
    return len(copied_places)


def _is_hearsay(sentence: str, message_letters: Sequence[str]) -> bool:
    """Return whether a sentence reports what somebody said about another person: "P1 says that P2 is late".

    What follows "says that" must begin like a message, with P2 in it. Otherwise any copied line could hide behind such
    a beginning. `message_letters`: the letters of each message.
    """
    hearsay = _HEARSAY.match(sentence)
    if hearsay is None:
        return False
    reported_words = sentence[hearsay.end() :]
    reported_letters = _letters(reported_words)[:COPIED_RUN]
    return any(reported_letters in letters for letters in message_letters)


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without spaces and marks. Letters that look alike become the same."""
    return "".join(char for char in skeleton(text) if char.isalnum())


class MemoryWriter:
    """The base of the classes that let a model write memory. `settings` returns the present settings."""

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
        """Return the part of a model's text that may be stored. Raises StoreError.

        The sentences that are cut are counted for the dock.
        """
        privacy = self._settings().privacy
        # in a thread: chat does not wait while the text is compared with all lines of a window
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
    """The people and the stream of a window.

    `participations`: the people who are stored with the episode. `streamer`: None if nobody knows whose channel it is,
    or if the streamer is hidden and did not speak.
    """

    participations: People
    handles: Handles
    streamer: Streamer | None
    stream: Stream | None


class Summarizer(MemoryWriter):
    """Makes the episode of a window. The caller stores it."""

    async def with_model(self, window: Window) -> NewEpisode:
        """Return the episode of a window with a summary by the model. Raises ModelError.

        A window is counted instead if it has nothing to summarise, or if nothing of the summary may be stored.
        """
        settings = self._settings()
        scene = await self._scene(window, settings)
        lines = await self._without_answers_to_commands(window)
        # Texts are worked on in threads: 400 lines take 80 ms, and chat must not wait so long.
        request = await asyncio.to_thread(_summary_request, lines, scene, settings)
        if request is None:
            return await self._counted(window, scene, settings)
        answer = await self._model.generate(request)
        summary = read_summary(answer.text)
        if summary is None:
            raise ModelBlocked("The model gave no usable summary.")
        messages = await asyncio.to_thread(_shown_messages, window, scene.handles)
        # never less than was asked for: the window as it is shown may have fewer lines
        most_words = summary_words(len(window))
        stored_summary = await self._stored(
            summary, messages, scene.handles, limit=most_words
        )
        if not stored_summary:
            return await self._counted(window, scene, settings)
        sentence_times = await asyncio.to_thread(
            times_of_sentences, stored_summary, window
        )
        people = await self._with_streamer(scene, stored_summary)
        episode = _episode(
            window, people, stored_summary, EpisodeKind.CHAT, answer.model
        )
        return replace(
            episode,
            language=read_language(answer.text),
            sentence_times=sentence_times,
        )

    async def _without_answers_to_commands(self, window: Window) -> Window:
        """Return a window without the bot's answers to commands.

        The model is not shown the command. It would take what `!missed` or `!quote` repeats for something new.
        """
        own_ids = [line.id for line in window if line.from_bot]
        answers = await bot_messages.answers_to_commands(self._db, own_ids)
        return [line for line in window if line.id not in answers]

    async def by_counting(self, window: Window) -> NewEpisode:
        """Return the episode of a window without asking a model.

        A window that cannot even be counted becomes a number of lines: its lines are deleted soon and cannot wait.
        """
        settings = self._settings()
        try:
            scene = await self._scene(window, settings)
            return await self._counted(window, scene, settings)
        except ODD_INPUT:
            log.exception("a window could not be counted")
            summary = f"Chat in numbers: {len(window)} lines."
            return _episode(window, participations(window), summary)

    async def _counted(
        self,
        window: Window,
        scene: Scene,
        settings: Settings,
    ) -> NewEpisode:
        """Return the episode of a window with a summary in numbers."""
        summary = await asyncio.to_thread(
            summary_in_numbers, window, scene.handles, settings
        )
        people = await self._with_streamer(scene, summary)
        return _episode(window, people, summary)

    async def _with_streamer(self, scene: Scene, summary: str) -> People:
        """Return the people to store with a summary, and the streamer among them if it names them.

        A streamer who has no row yet gets one.
        """
        streamer = scene.streamer
        if streamer is None:
            return scene.participations
        is_participant = streamer.id in scene.participations
        if not is_participant and streamer.id not in ids_in(summary):
            return scene.participations
        # a streamer who never typed has no row in the table of viewers
        if await viewers.get(self._db, streamer.id) is None:
            logins = {streamer.id: streamer.login}
            async with self._db.write() as tx:
                await viewers.add_unseen(tx, logins, self._clock.now())
        silent = Participation(lines=0, addressed=0)
        participation = scene.participations.get(streamer.id, silent)
        return {**scene.participations, streamer.id: participation}

    async def _scene(self, window: Window, settings: Settings) -> Scene:
        """Return the people and the stream of a window, with handles for everybody whom a model may name."""
        stream = await self._stream_of(window)
        speakers = participations(window)
        names = await self._names(window, stream, speakers, settings)
        # this adds the streamer's names to `names`
        streamer = await self._nameable_streamer(speakers, settings, names)
        streamer_id = streamer.id if streamer is not None else ""
        bot_names = await self._bot_names(settings, streamer)

        people, handles = await asyncio.to_thread(
            _people_with_handles, window, names, bot_names, streamer_id
        )
        return Scene(people, handles, streamer, stream)

    async def _nameable_streamer(
        self,
        speakers: Container[str],
        settings: Settings,
        names: dict[str, str | None],
    ) -> Streamer | None:
        """Return the streamer if a summary may name them, and add their names to `names`.

        None if nobody knows whose channel it is. None also if they are hidden and did not speak: then they get no
        handle, and a summary cannot name them.
        """
        streamer = await streamer_of(self._db, settings.twitch.channel)
        if streamer is None:
            return None
        is_hidden = bool(await viewers.hidden(self._db, [streamer.id]))
        if is_hidden and streamer.id not in speakers:
            names.update(dict.fromkeys(streamer.names, None))
            return None
        names.update(dict.fromkeys(streamer.names, streamer.id))
        return streamer

    async def _names(
        self,
        window: Window,
        stream: Stream | None,
        speakers: Iterable[str],
        settings: Settings,
    ) -> dict[str, str | None]:
        """Return by name the id of the person meant in a window or its stream's title; None for a hidden person."""
        texts = _chat_texts(window)
        texts += [line.text for line in window if line.from_bot]
        if stream is not None:
            texts.append(stream.title)
        said_at = window[-1].at
        active = await active_now(self._db, settings.people, said_at)
        # if two people fit a name, the one who is present is meant
        present = {*speakers, *active}
        typed_names = await asyncio.to_thread(names_typed, texts)
        return await in_chat(self._db, texts, typed_names, said_at, present)

    async def _stream_of(self, window: Window) -> Stream | None:
        """Return the stream of a window; None outside of streams."""
        stream_id = window[0].stream_id
        if stream_id is None:
            return None
        streams_by_id = await streams.get_many(self._db, [stream_id])
        return streams_by_id.get(stream_id)

    async def _bot_names(
        self, settings: Settings, streamer: Streamer | None
    ) -> set[str]:
        """Return the names of the bot, without the streamer's: the bot may use the streamer's account."""
        own_login = await channel_state.read(self._db, "bot_login")
        possible_names = {
            settings.bot.name,
            *settings.bot.aliases,
            settings.twitch.bot_login,
            own_login,
        }
        streamer_names: Collection[str] = ()
        if streamer is not None:
            streamer_names = streamer.names
        own_names = set()
        for name in possible_names:
            if name and name.casefold() not in streamer_names:
                own_names.add(name)
        return own_names


def _people_with_handles(
    window: Window,
    names: Mapping[str, str | None],
    bot_names: Collection[str],
    streamer_id: str,
) -> tuple[People, Handles]:
    """Return everybody who spoke in a window or is named in it, and handles for the people that the model reads about.

    `names`: by name, the id of the person it means. `streamer_id`: "" if nobody knows whose channel it is.
    """

    def handles_for(viewer_ids: Sequence[str]) -> Handles:
        """Return handles for these viewers."""
        return Handles.of(viewer_ids, names, bot_names, streamer_id)

    # first, handles for everybody whom a name may mean: they show who is named
    nameable = {viewer_id for viewer_id in names.values() if viewer_id is not None}
    handles_for_all = handles_for(sorted(nameable))
    named_ids = _named_ids(_chat_texts(window), handles_for_all)
    people = participations(window, named_ids)
    # Then handles only for those whom the model reads of. Somebody whose lines are all collapsed with those of others
    # needs none.
    shown_ids = shown_speakers(window) | set(named_ids)
    with_handle = [viewer_id for viewer_id in people if viewer_id in shown_ids]
    if streamer_id:
        with_handle.insert(0, streamer_id)
    return people, handles_for(with_handle)


def _shown_messages(window: Window, handles: Handles) -> list[str]:
    """Return the texts of a window as the model was shown them, with handles for names.

    A sentence that copies a line has handles, too, so only these texts can be compared with it.
    """
    messages = []
    for line in window:
        messages.append(handles.hide_chat(line.text))
        messages.append(handles.hide_chat(line.system_text))
    return messages


def _chat_texts(window: Window) -> list[str]:
    """Return what people typed in a window and what Twitch reported; nothing of the bot's own."""
    texts = []
    for line in window:
        if not line.from_bot:
            texts += [line.text, line.system_text]
    return texts


def _named_ids(texts: Iterable[str], handles: Handles) -> list[str]:
    """Return the ids of the people named in texts, in the order of their names there."""
    named_ids: list[str] = []
    for text in texts:
        with_handles = handles.hide_chat(text)
        with_mentions = handles.ids(with_handles)
        named_ids += ids_in(with_mentions or "")
    return list(dict.fromkeys(named_ids))


def _summary_request(
    window: Window,
    scene: Scene,
    settings: Settings,
) -> ModelRequest | None:
    """Return the request for a summary of a window; None if the window has nothing to summarise."""
    if not tells_of_anything(window, scene.handles):
        return None
    lines = transcript(window, scene.handles)
    system = summary_instructions(lines)
    viewer_ids = list(scene.handles.people)
    people = introduce(viewer_ids, window, scene.handles)
    first_at = window[0].at
    last_at = window[-1].at
    days = written_days(first_at, last_at, settings.bot.timezone)
    blocks = [f"Said on {days}."]
    about_stream = _about_stream(scene)
    if about_stream:
        blocks.append(fence("stream", about_stream))
    if people:
        blocks.append(fence("people", people))
    blocks.append(fence("chat", "\n".join(lines)))
    prompt = "\n\n".join(blocks)
    return memory_request(
        Purpose.SUMMARY,
        system,
        prompt,
        words=summary_words(len(lines)),
        settings=settings.model,
        schema=SUMMARY_SCHEMA,
    )


def _about_stream(scene: Scene) -> str:
    """Return the channel, title and game of a window, those that are known, one a line.

    They explain words like "this level" in chat.
    """
    handles = scene.handles
    streamer = scene.streamer
    rows = []
    if streamer is not None:
        # the name stands here once, so that the model knows its misspellings and short forms in chat
        channel = unhandled(streamer.login)
        rows.append(f"channel: {channel}, streamer: {handles.handle(streamer.id)}")
    stream = scene.stream
    if stream is not None and stream.title:
        title = handles.hide_chat(cut(stream.title, LONGEST_TITLE))
        rows.append(f"title: {title}")
    if stream is not None and stream.category:
        game = unhandled(clean(stream.category))
        rows.append(f"game: {game}")
    return "\n".join(rows)


def _episode(
    window: Window,
    people: People,
    summary: str,
    kind: EpisodeKind = EpisodeKind.COUNTED,
    model: str = "",
) -> NewEpisode:
    """Return an episode of a window with this summary."""
    times = [line.at for line in window]
    return NewEpisode(
        kind=kind,
        # a window is of one stream
        stream_id=window[0].stream_id,
        started_at=min(times),
        ended_at=max(times),
        summary=summary,
        people=people,
        seqs=[line.seq for line in window],
        model=model,
    )


# ── without a model ───────────────────────────────────────────────────────────────────────────
# A summary in numbers: who was there, how much was said, and about what. Nothing is quoted but single words that at
# least two people used.

# A summary in numbers has at most this many people, and this many shared words.
PEOPLE_NAMED = 5
TOPICS_NAMED = 5
_NO_TOPICS = STOPWORDS | {SOMEBODY, "bot"}


def summary_in_numbers(
    window: Window,
    handles: Handles,
    settings: Settings,
) -> str:
    """Return a summary in numbers: the people with the most lines, as mentions, and the words that they shared."""
    line_counts: dict[str, int] = {}
    for viewer_id, part in participations(window).items():
        if part.lines:
            line_counts[viewer_id] = part.lines
    if not line_counts:
        return "Only the bot spoke."
    most_lines_first = sorted(line_counts, key=line_counts.__getitem__, reverse=True)
    named_ids = most_lines_first[:PEOPLE_NAMED]
    named_people = [
        f"{mention(viewer_id)} ({line_counts[viewer_id]})" for viewer_id in named_ids
    ]
    people = ", ".join(named_people)
    if len(most_lines_first) > PEOPLE_NAMED:
        people += f" and {len(most_lines_first) - PEOPLE_NAMED} more"
    total = sum(line_counts.values())
    lines_word = "line" if total == 1 else "lines"
    summary = f"Chat in numbers: {total} {lines_word} by {people}"
    topics = _shared_words(window, named_ids, handles, settings)
    if topics:
        summary += f"; words that came up: {', '.join(topics)}"
    return f"{summary}."


def _shared_words(
    window: Window,
    named_ids: Collection[str],
    handles: Handles,
    settings: Settings,
) -> list[str]:
    """Return the words that several of the named people used, those of most people first.

    Words of other people are left out. The words and the named people stand in one sentence, and an erasure of any of
    them deletes it. So no word of somebody erased can stay.
    """
    users_of: dict[str, set[str]] = defaultdict(set)
    for line in window:
        if line.viewer_id not in named_ids or line.from_bot:
            continue
        if is_command(line.text):
            continue
        text = handles.hide_chat(line.text)
        for word in words(text):
            users_of[word].add(line.viewer_id)
    shared_words = []
    for word, users in users_of.items():
        if len(users) < 2 or not _may_be_topic(word):
            continue
        if not never_stored(word, settings.privacy):
            shared_words.append(word)

    def rank(word: str) -> tuple[int, int, str]:
        """Return the sort key: words of most people, then the longest, then by the alphabet."""
        return -len(users_of[word]), -len(word), word

    shared_words.sort(key=rank)
    return shared_words[:TOPICS_NAMED]


def _may_be_topic(word: str) -> bool:
    """Return whether a word may be a topic of chat: more than three letters, and none of the commonest words."""
    return len(word) > 3 and word.isalpha() and word not in _NO_TOPICS
