"""A recap for every stream that is over: once, when everything said in it has been summarised.

The model is asked over the stream's episodes; where it has given no usable answer for half a day, the recap is made of
the episodes' first sentences. Written again only when an episode of the stream was.
"""

import hashlib
from collections.abc import Callable, Sequence
from itertools import zip_longest
from re import split

from forgetmenot.clock import HOUR, Clock
from forgetmenot.domain.chat import Stream
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory import suppression
from forgetmenot.memory.episodes import prompts
from forgetmenot.memory.episodes.summarizer import forbidden
from forgetmenot.memory.episodes.summary_rules import kept, sentences_of, within, within_characters
from forgetmenot.memory.handles import Handles
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, episodes, streams
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in

RECAP_DEADLINE = 12 * HOUR
MOST_EPISODES = 120
"""A stream longer than that is recapped from evenly chosen ones: a call stays bounded."""


class RecapWriter:
    """Writes recaps. `settings` is asked once per stream."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock
        self._ask_again_at: dict[int, int] = {}

    async def write_due(self, *, ask: bool = True) -> int:
        """Write the recaps that are due; how many. `ask`: the model may be asked."""
        written = 0
        for stream in await streams.without_recap(self._db):
            summaries = await episodes.summaries_of_stream(self._db, stream.id)
            recap = await self._recap(stream, summaries, ask=ask)
            if recap is None:
                continue
            async with self._db.write() as tx:
                written += await streams.set_recap(tx, stream.id, recap, self._clock.now())
        if written:
            log.info("recaps written", streams=written)
        return written

    async def _recap(self, stream: Stream, summaries: Sequence[str], *, ask: bool) -> str | None:
        words = self._settings().memory.summary_words
        if len(summaries) < 2:
            return within(summaries, words)
        now = self._clock.now()
        if ask and now >= self._ask_again_at.get(stream.id, 0):
            try:
                if recap := await self._asked(summaries, words):
                    return recap
                raise ModelBlocked("The model gave no usable recap.")
            except ModelError as error:
                log.debug("a recap waits for the model", stream=stream.id, error=type(error).__name__)
                if isinstance(error, ModelBlocked):  # it may well be the same for this stream next time
                    self._ask_again_at[stream.id] = now + HOUR
        waited = now - (stream.ended_at or 0)
        return _first_sentences(summaries, words) if waited > RECAP_DEADLINE else None

    async def _asked(self, summaries: Sequence[str], words: int) -> str:
        settings = self._settings()
        handles = Handles.of([who for summary in summaries for who in ids_in(summary)])
        step = -(-len(summaries) // MOST_EPISODES)
        request = prompts.recap_request(
            [handles.hide(summary) for summary in summaries[::step]],
            words=words,
            max_output_tokens=prompts.output_limit(words, settings.model),
        )
        answer = prompts.read_summary((await self._model.generate(request)).text)
        return kept(answer or "", (), handles, most_words=words, forbidden=forbidden(settings)).text


def _first_sentences(summaries: Sequence[str], words: int) -> str:
    """The first sentence of each episode, then the second of each …, in their order, as far as the words go."""
    sentences = [split(r"(?<=[.!?])\s+", summary) for summary in summaries]
    order = [sentence for row in zip_longest(*sentences) for sentence in row if sentence]
    fit = within(order, words)
    return " ".join(s for s in dict.fromkeys(s for row in sentences for s in row) if s in fit)


# The digest covers the channel's last seven days in at most 500 characters, from the recaps of its streams. It is
# rewritten only when a stream has closed or one of its recaps was rewritten, so that the prompt's prefix keeps its
# bytes. While the model is unreachable the old one stays for half a day; if the model refuses, the recaps' first
# sentences are used.


DAYS = 7
CHARACTERS = 500
DIGEST_DEADLINE = 12 * HOUR
NAME, MADE_OF = "digest", "digest_of"


class DigestWriter:
    """Writes the digest. `settings` is asked once per pass."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock

    async def run_pass(self) -> bool:
        """Write the digest if a stream has closed since the last one; whether it was written. Raises StoreError."""
        closed = await streams.recapped(self._db, DAYS)
        made_of = _hash(closed)
        if not closed or made_of == await channel_state.read(self._db, MADE_OF):
            return False
        text = await self._text(closed)
        if text is None:
            return False
        async with self._db.write() as tx:
            if _hash(await streams.recapped(tx, DAYS)) != made_of:
                return False  # a recap went while the model was thinking
            await channel_state.put(tx, {NAME: text, MADE_OF: made_of}, self._clock.now())
        log.info("digest written", streams=len(closed), characters=len(text))
        return True

    async def _text(self, closed: Sequence[Stream]) -> str | None:
        """The digest; None while it waits for the model."""
        quiet = await suppression.load_filter(self._db)
        recaps = [quiet.without(stream.recap) for stream in closed]
        recaps = [recap for recap in recaps if recap]
        if len(recaps) > 1:
            try:
                return await self._asked(recaps) or _first_sentences_digest(recaps)
            except ModelBlocked:
                return _first_sentences_digest(recaps)
            except ModelError as error:
                log.debug("the digest waits for the model", error=type(error).__name__)
                if self._clock.now() - (closed[-1].ended_at or 0) < DIGEST_DEADLINE:
                    return None
        return _first_sentences_digest(recaps)

    async def _asked(self, recaps: Sequence[str]) -> str:
        settings = self._settings()
        handles = Handles.of([who for recap in recaps for who in ids_in(recap)])
        request = prompts.digest_request(
            [handles.hide(recap) for recap in recaps],
            characters=CHARACTERS,
            max_output_tokens=prompts.output_limit(CHARACTERS // 4, settings.model),
        )
        answer = prompts.read_summary((await self._model.generate(request)).text)
        text = kept(answer or "", (), handles, most_words=CHARACTERS, forbidden=forbidden(settings)).text
        return within_characters(sentences_of(text), CHARACTERS)


def _hash(closed: Sequence[Stream]) -> str:
    text = "\n".join(f"{stream.id} {stream.recap}" for stream in closed)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _first_sentences_digest(recaps: Sequence[str]) -> str:
    """The first sentence of each recap, the newest first, then the second of each …, as far as the characters go."""
    rows = zip_longest(*(sentences_of(recap) for recap in reversed(recaps)))
    return within_characters([sentence for row in rows for sentence in row if sentence], CHARACTERS)
