"""A recap for every stream that is over, above the recaps the digest of the last seven days, and a recap as Markdown.

- A recap is written once, when everything said in the stream has been summarised, and again only when an episode of it
  was. Where the model has given no usable answer for half a day, it is made of the summaries' first sentences.
- The digest is made of the recaps' first sentences, only when a stream has closed or one of its recaps was rewritten,
  so that the prompt's prefix keeps its bytes.
- As Markdown it says what happened, who came, jokes, plans, clips, the bot's best lines. Only regulars stand there by
  their name, and none who opted out or was banned; of others their number, and no sentence about one of them. No
  hearsay stands there; the best lines are answers that were called good or led on. What a viewer or a model wrote
  is neither markup nor a mention there (text/outgoing).
- A file of it is found by its folder, also where the memory does not know the stream any more: an erasure, a forgotten
  fact and an opt-out take their sentences out of it.
"""

import asyncio
import contextlib
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from errno import ENOENT
from itertools import zip_longest
from pathlib import Path

from forgetmenot.domain import (
    NOTHING,
    Attendance,
    EpisodeKind,
    Note,
    Purpose,
    Scope,
    SourceKind,
    Standing,
    Stream,
)
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import ModelBlocked, ModelError, StoreError
from forgetmenot.files import replace_file
from forgetmenot.languages import ENGLISH, Language, in_language, reason
from forgetmenot.logs import log
from forgetmenot.memory.summarizer import MemoryWriter, within
from forgetmenot.memory.transcript import RECAP, SUMMARY_WORDS, memory_request, read_summary
from forgetmenot.people.handles import Handles, names_typed
from forgetmenot.people.names import called
from forgetmenot.people.standing import REGULAR_WITHIN, standing_of
from forgetmenot.privacy.suppression import load_filter, only_naming
from forgetmenot.prompt.plans import plan_end
from forgetmenot.settings.schema import Settings
from forgetmenot.store import (
    action_logs,
    bot_messages,
    channel_state,
    episodes,
    notes,
    personal_data,
    streams,
    viewers,
)
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.rights import PrivacyRequest, RequestKind
from forgetmenot.text.days import local_time, written_days
from forgetmenot.text.mentions import fence, ids_in, with_names
from forgetmenot.text.outgoing import escape_markdown
from forgetmenot.text.words import join_sentences, sentences_of, telling_stems

DEADLINE = 12 * HOUR
# A stream longer than that is recapped from evenly chosen ones: a call stays bounded.
MOST_EPISODES = 120
DAYS = 7
CHARACTERS = 500
NAME, MADE_OF = "digest", "digest_of"
MOST_LISTED, MOST_MOMENTS, QUOTES = 5, 10, 3
QUOTED = "> "
_CLIP = re.compile(r"https://clips\.twitch\.tv/[\w-]{1,120}", re.ASCII)
_BEGINS = re.compile(r"(?:\A|(?<=[.!?] ))s(?=ome(?:body|one)\b)")
# What people type to a bot: a line that tells them to is no line to remember.
_COMMAND = re.compile(r"(?:\A|\s)!\w")
# More lines than are shown, because some of the best are the same or tell people to type something.
QUOTES_READ = 10 * QUOTES
CHAT = "chat"
_SEVERAL = re.compile(r"\bchat(?:(?:,| and|, and) chat\b)+", re.IGNORECASE)
# What hangs on a mention makes the sentence one about that person's own things.
_OWN_THINGS = re.compile(r"<@([\w:-]+)>['’]s?\b")
# A game of less than this share of a stream is not named.
SMALLEST_SHARE = 0.05


class RecapWriter(MemoryWriter):
    """Writes recaps and the digest."""

    _ask_again_at: Mapping[
        int, int
    ] = {}  # by stream, after a refusal; replaced as a whole, never changed

    async def write_due(self, *, ask: bool = True) -> int:
        """Write the recaps that are due; how many. `ask`: the model may be asked. Raises StoreError."""
        written = 0
        for stream in await streams.without_recap(self._db):
            told = await episodes.summaries_of_stream(self._db, stream.id)
            summaries = [
                text for kind, text in told if kind is EpisodeKind.CHAT and text != NOTHING
            ]
            if summaries:
                recap = await self._recap(stream, summaries, ask=ask)
            else:
                # what was only counted is no story that a model could tell
                recap = within([text for _, text in told], SUMMARY_WORDS)
            if recap is None:
                continue
            async with self._db.write() as tx:
                if await episodes.summaries_of_stream(tx, stream.id) != told:
                    continue  # a line was cleared or a fact forgotten while the model was thinking
                written += await streams.set_recap(tx, stream.id, recap, self._clock.now())
        if written:
            log.info("recaps written", streams=written)
        return written

    async def _recap(self, stream: Stream, summaries: Sequence[str], *, ask: bool) -> str | None:
        """The recap of a stream; None while the model may still write it."""
        settings = self._settings()
        language = in_language(settings.bot.language)
        # one summary is its own recap: no call is paid for, unless to say it in the bot's language
        if len(summaries) == 1 and language.code == ENGLISH.code:
            return summaries[0]
        now = self._clock.now()
        if ask and now >= self._ask_again_at.get(stream.id, 0):
            try:
                return await self._written(stream, summaries, language, settings)
            except ModelError as error:
                kind = type(error).__name__
                log.debug("a recap waits for the model", stream=stream.id, error=kind)
                if isinstance(error, ModelBlocked):
                    # it may well be the same for this stream next time
                    self._ask_again_at = {**self._ask_again_at, stream.id: now + HOUR}
        if now - (stream.ended_at or 0) <= DEADLINE:
            return None
        return within(_first_sentences(summaries), SUMMARY_WORDS)

    async def _written(
        self, stream: Stream, summaries: Sequence[str], language: Language, settings: Settings
    ) -> str:
        """What the model writes of a stream's summaries. Raises ModelError."""
        handles = Handles.of([who for text in summaries for who in ids_in(text)])
        # divided and rounded up: of 121 summaries every second one
        every = -(-len(summaries) // MOST_EPISODES)
        chosen = [handles.hide(text) for text in summaries[::every]]
        ended_at = stream.ended_at or self._clock.now()
        days = written_days(stream.started_at, ended_at, settings.bot.timezone)
        day = f"The stream of {days}."
        prompt = f"{day}\n\n{fence('episodes', chr(10).join(chosen))}"
        system = RECAP.format(language=language("name"), most=SUMMARY_WORDS)
        request = memory_request(Purpose.RECAP, system, prompt, SUMMARY_WORDS, settings.model)
        answer = await self._model.generate(request)
        recap = await self._stored(
            read_summary(answer.text) or "", (), handles, limit=SUMMARY_WORDS
        )
        if not recap:
            raise ModelBlocked("The model gave no usable recap.")
        return recap

    async def write_digest(self) -> bool:
        """Write the digest if a stream has closed since the last one; whether it was written. Raises StoreError."""
        async with self._db.write() as tx:
            closed = await streams.recapped(tx, DAYS)
            written_of = "\n".join(f"{stream.id} {stream.recap}" for stream in closed)
            made_of = hashlib.sha256(written_of.encode()).hexdigest()[:32]
            if not closed or made_of == await channel_state.read(tx, MADE_OF):
                return False
            suppressed = await load_filter(tx)
            recaps = [suppressed.without(stream.recap) for stream in reversed(closed)]
            text = within(_first_sentences(recaps), CHARACTERS, len)
            await channel_state.put(tx, {NAME: text, MADE_OF: made_of}, self._clock.now())
        return True


def _first_sentences(texts: Iterable[str]) -> list[str]:
    """The first sentence of each text, then the second of each, and so on."""
    rows = zip_longest(*map(sentences_of, texts))
    return list(dict.fromkeys(sentence for row in rows for sentence in row if sentence))


# ── as Markdown, for the streamer ─────────────────────────────────────────────────────────────


async def markdown_of(source: Source, stream_id: int, settings: Settings) -> str | None:
    """The recap of a stream that is over; None while there is none."""
    stream = (await streams.get_many(source, [stream_id])).get(stream_id)
    if stream is None or stream.ended_at is None or not stream.recap:
        return None
    say, people = in_language(settings.bot.language), settings.people
    came = await streams.attendance_at(source, stream_id, lately=stream.started_at - REGULAR_WITHIN)
    back = [
        one
        for one in came
        if standing_of(came[one], people, stream.started_at) is Standing.RETURNER
    ]
    streamer = await channel_state.read(source, "id")
    regulars = [
        one
        for one, visits in came.items()
        if (visits.streams if one in back else visits.lately) >= people.regular_streams
    ]
    shown, _hidden = await viewers.shown_and_hidden(source, [*regulars, streamer])
    suppressed = await load_filter(source)

    async def told(text: str, to: str | None = None) -> str:
        """A text with the names of those who may be named."""
        named = await called(source, names_typed([text]))
        text = suppressed.without(text, [to, *(one.id for one in named)])
        text = await only_naming(source, with_names(text, shown), shown)
        return escape_markdown(_BEGINS.sub("S", text))

    def about(note: Note) -> str:
        return f"{shown[note.subject_id]}: {note.fact}" if note.subject_id in shown else note.fact

    made = [one for one in await notes.of_stream(source, stream_id) if suppressed.allows(one)]
    hearsay = [one for one in made if one.source_kind is SourceKind.REPORTED]
    found = [one for one in made if one.source_kind is not SourceKind.REPORTED]
    jokes = [one.fact for one in found if one.scope is Scope.RUNNING_BIT]
    may_be_told = (one for one in found if one.subject_id is None or one.subject_id in shown)
    zone = settings.bot.timezone
    plans = [about(one) for one in may_be_told if (plan_end(one, zone) or 0) > stream.ended_at]
    during = (stream.started_at, stream.ended_at)
    moments = [
        f"{_into(at - stream.started_at)} {say(f'action.name.{name}')} "
        + (text if _CLIP.fullmatch(text) else await told(text))
        for at, name, text in await action_logs.clips_and_markers(source, *during, MOST_MOMENTS)
    ]
    quotable = []
    for text, viewer_id in await bot_messages.best_answers(source, *during, QUOTES_READ):
        # with "somebody" in the place of a name it would be no quote
        if await only_naming(source, with_names(text, shown), shown) == with_names(text, shown):
            quotable.append((text, viewer_id))
    quotes = best_quotes(quotable)
    began = local_time(stream.started_at, zone)
    # a language without words for days and months in its form is given numbers: Python's words are English
    facts = (
        began.strftime(say("recap.date")).replace(" 0", " "),
        say.duration(during[1] - during[0]),
        played(await episodes.games_of(source, stream_id), say) or stream.category,
    )
    happened = without_hearsay(stream.recap, hearsay)
    parts = [
        f"# {escape_markdown(stream.title or say('recap.untitled'))}",
        f"*{escape_markdown(' · '.join(filter(None, facts)))}*",
        await told(about_the_named(happened, shown)),
        _listed(
            say("recap.people"), [escape_markdown(one) for one in _counted(came, back, shown, say)]
        ),
        _listed(say("recap.jokes"), [await told(one) for one in jokes[:MOST_LISTED]]),
        _listed(say("recap.plans"), [await told(one) for one in plans[:MOST_LISTED]]),
        _listed(say("recap.moments"), moments),
        _listed(
            say("recap.quotes", name=escape_markdown(settings.bot.name)),
            [await told(*one) for one in quotes],
            QUOTED,
        ),
        f"*{say('recap.footer')}*",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def best_quotes(lines: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the first QUOTES of the bot's lines that are different and name no command, each with whom it answered."""
    quotes: list[tuple[str, str]] = []
    used: set[str] = set()
    for text, viewer_id in lines:
        words = text.casefold().strip(" .!?")
        if _COMMAND.search(text) or words in used:
            continue
        used.add(words)
        quotes.append((text, viewer_id))
    return quotes[:QUOTES]


def played(games: Mapping[str, int], say: Language) -> str:
    """Return what was played, the longest first, each with its share where there are several."""
    whole = sum(games.values())
    shares = {game: length / whole for game, length in games.items()}
    named = {game: share for game, share in shares.items() if share >= SMALLEST_SHARE}
    if len(named) < 2:
        return "".join(named)
    return ", ".join(
        say("recap.share", game=game, percent=round(100 * share)) for game, share in named.items()
    )


def without_hearsay(recap: str, hearsay: Sequence[Note]) -> str:
    """Return a recap without the sentences that say what notes of others' word say of the same person."""
    kept = []
    for sentence in sentences_of(recap):
        stems = telling_stems(sentence)
        people = ids_in(sentence)
        told = [note for note in hearsay if note.subject_id is None or note.subject_id in people]
        if not any(telling_stems(note.fact) <= stems for note in told):
            kept.append(sentence)
    return join_sentences(kept)


def about_the_named(recap: str, shown: Mapping[str, str]) -> str:
    """Return a recap without the sentences about one person who may not be named, or about what is theirs.

    Where several people did something, those without a name are "chat". `shown`: the names that may stand there.
    """
    sentences = []
    for sentence in sentences_of(recap):
        people = ids_in(sentence)
        nameless = [viewer_id for viewer_id in people if viewer_id not in shown]
        theirs = set(_OWN_THINGS.findall(sentence)).intersection(nameless)
        if nameless and (len(people) == 1 or theirs):
            continue
        for viewer_id in nameless:
            sentence = sentence.replace(f"<@{viewer_id}>", CHAT)  # noqa: PLW2901
        sentence = _SEVERAL.sub(CHAT, sentence)  # noqa: PLW2901
        sentences.append(sentence[:1].upper() + sentence[1:])
    return join_sentences(sentences)


def _into(ms: int) -> str:
    return f"{ms // HOUR}:{ms // MINUTE % 60:02}"


def _counted(
    came: dict[str, Attendance], back: Iterable[str], shown: dict[str, str], say: Language
) -> Iterable[str]:
    """How many wrote, how many of them for the first time, and who came back."""
    first, back = sum(visits.streams == 1 for visits in came.values()), list(back)
    named = sorted(shown[one] for one in back if one in shown)
    others = len(back) - len(named)
    yield say("recap.wrote", n=len(came))
    if first:
        yield say("recap.first", n=first)
    if back:
        yield say(
            "recap.back",
            who=", ".join([*named, *([say("recap.others", n=others)] if others else [])]),
        )


def _listed(title: str, lines: Iterable[str], mark: str = "- ") -> str:
    rows = [f"{mark}{line}" for line in lines if line]
    between = "\n\n" if mark == QUOTED else "\n"
    return f"## {title}\n\n{between.join(rows)}" if rows else ""


# ── the file ──────────────────────────────────────────────────────────────────────────────────


async def write_file(db: Database, stream_id: int, settings: Settings) -> None:
    """Write a stream's recap into the folder of the settings. Raises StoreError.

    Not while others wait for the memory: the folder may be on a slow drive. What was forgotten meanwhile is seen after.
    """
    folder = Path(settings.recap.folder).expanduser().absolute()
    began = local_time(await streams.start_of(db, stream_id), settings.bot.timezone)
    # with the time: after a restore of an older copy another stream of that day may get the number
    path = folder / f"{began:%Y-%m-%d %H-%M} stream {stream_id}.md"
    written: str | None = None
    while (text := await markdown_of(db, stream_id, settings)) not in {None, written}:
        written = text or ""
        async with db.write() as tx:
            if folder.is_dir():
                await _note_folder(tx, str(folder))
            await streams.set_recap_file(tx, stream_id, str(path))
        try:
            if not folder.is_dir():
                raise FileNotFoundError(ENOENT, "the folder for recaps does not exist", str(folder))
            await asyncio.to_thread(replace_file, path, written)
        except OSError as error:
            with contextlib.suppress(OSError):
                path.unlink(
                    missing_ok=True
                )  # of an earlier turn: it may know who was erased meanwhile
            async with db.write() as tx:
                await streams.set_recap_file(tx, stream_id, "")
            raise StoreError(
                reason("not_written", path=str(path), error=error.strerror or "")
            ) from error


async def _note_folder(tx: Transaction, folder: str) -> None:
    """Write down where recaps are: an older copy of the memory does not know, and somebody may be erased in it."""
    if folder not in tx.requests.recap_folders:
        request = PrivacyRequest(RequestKind.RECAP_FOLDER, "", folder=folder)
        await personal_data.write_request(tx, request)
