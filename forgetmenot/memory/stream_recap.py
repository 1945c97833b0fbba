"""Writes a recap of every stream that is over, and from the recaps the digest of the last seven days.

- A recap is written when everything said in the stream has been summarised, and again when one of its episodes was
  rewritten. If the model has given no usable answer for half a day, the summaries' first sentences are the recap.
- The digest is made of the recaps' first sentences. It changes only when a stream has closed or a recap was rewritten,
  so that the prompt's prefix stays the same.

How a recap is shown to people: memory/recap_markdown.
"""

import asyncio
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from forgetmenot.domain import NOTHING, EpisodeKind, Purpose, Stream
from forgetmenot.durations import HOUR
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.languages import ENGLISH, Language, in_language
from forgetmenot.logs import log
from forgetmenot.memory.summarizer import MemoryWriter, within
from forgetmenot.memory.summary_instructions import (
    RECAP,
    SUMMARY_WORDS,
    memory_request,
    read_summary,
)
from forgetmenot.people.handles import Handles
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, episodes, streams
from forgetmenot.text.days import written_days
from forgetmenot.text.mentions import fence, ids_in
from forgetmenot.text.tokens import estimate_tokens
from forgetmenot.text.words import sentences_of

# How long the model is waited for after the end of a stream.
DEADLINE = 12 * HOUR
# A model is given at most this many tokens of summaries. With the instructions, a local model that reads 4,096 has room
# for them.
SOURCE_TOKENS = 3_000
# The digest: its number of days, its limit in characters, and its names in channel_state.
DAYS = 7
CHARACTERS = 500
DIGEST = "digest"
DIGEST_HASH = "digest_of"


class RecapWriter(MemoryWriter):
    """Writes recaps and the digest."""

    # when the model may be asked again after a refusal (ms), by stream; replaced as a whole, never changed
    _ask_again_at: Mapping[int, int] = {}

    async def write_due(self, *, ask: bool = True) -> int:
        """Write the recaps that are due; return their number. Raises StoreError.

        `ask`: whether the model may be asked.
        """
        written = 0
        for stream in await streams.without_recap(self._db):
            if await self._write_recap(stream, ask=ask):
                written += 1
        if written:
            log.info("recaps written", streams=written)
        return written

    async def _write_recap(self, stream: Stream, *, ask: bool) -> bool:
        """Write the recap of a stream; return whether it was written. Raises StoreError."""
        stream_episodes = await episodes.summaries_of_stream(self._db, stream.id)
        summaries = []
        for kind, text in stream_episodes:
            is_by_model = kind is EpisodeKind.CHAT
            if is_by_model and text != NOTHING:
                summaries.append(text)
        if summaries:
            recap = await self._recap(stream, summaries, ask=ask)
        else:
            # summaries in numbers have no story that a model could tell
            counted_texts = [text for _kind, text in stream_episodes]
            recap = within(counted_texts, SUMMARY_WORDS)
        if recap is None:
            return False
        async with self._db.write() as tx:
            # a line may have been cleared, or a fact forgotten, while the model was thinking
            if await episodes.summaries_of_stream(tx, stream.id) != stream_episodes:
                return False
            now = self._clock.now()
            return await streams.set_recap(tx, stream.id, recap, now)

    async def _recap(
        self,
        stream: Stream,
        summaries: Sequence[str],
        *,
        ask: bool,
    ) -> str | None:
        """Return the recap of a stream; None if it has to wait for the model. `ask`: the model may be asked."""
        settings = self._settings()
        language = in_language(settings.bot.language)
        # A single summary is the recap, which saves a call. In other languages the model has to translate it.
        if len(summaries) == 1 and language.code == ENGLISH.code:
            return summaries[0]
        now = self._clock.now()
        may_be_asked = now >= self._ask_again_at.get(stream.id, 0)
        if ask and may_be_asked:
            try:
                return await self._by_model(stream, summaries, language, settings)
            except ModelError as error:
                kind = type(error).__name__
                log.debug("a recap waits for the model", stream=stream.id, error=kind)
                if isinstance(error, ModelBlocked):
                    # the model will probably refuse this stream again, so it has to wait
                    self._ask_again_at = {**self._ask_again_at, stream.id: now + HOUR}
        ended_at = stream.ended_at or 0
        if now - ended_at <= DEADLINE:
            return None
        return await asyncio.to_thread(_without_model, summaries)

    async def _by_model(
        self,
        stream: Stream,
        summaries: Sequence[str],
        language: Language,
        settings: Settings,
    ) -> str:
        """Return the recap that the model writes from a stream's summaries. Raises ModelError."""
        # in a thread: the thousand summaries of a long evening take 150 ms, and chat must not wait so long
        handles, episodes_block = await asyncio.to_thread(_shown_to_model, summaries)
        ended_at = stream.ended_at or self._clock.now()
        days = written_days(stream.started_at, ended_at, settings.bot.timezone)
        prompt = f"The stream of {days}.\n\n{episodes_block}"
        system = RECAP.format(language=language("name"), most=SUMMARY_WORDS)
        request = memory_request(
            Purpose.RECAP,
            system,
            prompt,
            words=SUMMARY_WORDS,
            settings=settings.model,
        )
        answer = await self._model.generate(request)
        summary = read_summary(answer.text) or ""
        recap = await self._stored(summary, (), handles, limit=SUMMARY_WORDS)
        if not recap:
            raise ModelBlocked("The model gave no usable recap.")
        return recap

    async def write_digest(self) -> bool:
        """Write the digest if its recaps have changed; return whether it was written. Raises StoreError."""
        async with self._db.write() as tx:
            closed_streams = await streams.recapped(tx, DAYS)
            if not closed_streams:
                return False
            rows = [f"{stream.id} {stream.recap}" for stream in closed_streams]
            recap_bytes = "\n".join(rows).encode()
            source_hash = hashlib.sha256(recap_bytes).hexdigest()[:32]
            if source_hash == await channel_state.read(tx, DIGEST_HASH):
                return False
            suppressed = await load_filter(tx)
            # the newest stream first: the digest is cut at its end
            recaps = []
            for stream in reversed(closed_streams):
                recaps.append(suppressed.without(stream.recap))
            sentences = _interleaved_sentences(recaps)
            digest = within(sentences, CHARACTERS, len)
            values = {DIGEST: digest, DIGEST_HASH: source_hash}
            await channel_state.put(tx, values, self._clock.now())
        return True


def _shown_to_model(summaries: Sequence[str]) -> tuple[Handles, str]:
    """Return a stream's summaries as a model is shown them, with the handles that stand in them."""
    named_ids: list[str] = []
    for text in summaries:
        named_ids += ids_in(text)
    handles = Handles.of(named_ids)
    shown_summaries = [handles.hide(text) for text in summaries]
    fitting = recap_source(shown_summaries, SOURCE_TOKENS)
    return handles, fence("episodes", "\n".join(fitting))


def _without_model(summaries: Sequence[str]) -> str:
    """Return the recap of a stream for which the model gave no usable answer."""
    sentences = _interleaved_sentences(summaries)
    return within(sentences, SUMMARY_WORDS)


def recap_source(summaries: Sequence[str], tokens: int) -> Sequence[str]:
    """Return the parts of a stream's summaries that fit into this many tokens, spread evenly over the stream.

    The parts are the whole summaries. If these do not fit, it is the first sentence of each, which says what mattered
    most about people, and the last, which says what happened. If there are still too many, only every second, third …
    summary has its two sentences.
    """
    if estimate_tokens("\n".join(summaries)) <= tokens:
        return summaries
    shortened = []
    for summary in summaries:
        sentences = sentences_of(summary)
        first_and_last = [*sentences[:1], *sentences[-1:]]
        # a summary of one sentence has it once
        distinct_sentences = dict.fromkeys(first_and_last)
        shortened.append(" ".join(distinct_sentences))
    total_tokens = estimate_tokens("\n".join(shortened))
    step = math.ceil(total_tokens / tokens)
    return shortened[::step]


def _interleaved_sentences(texts: Iterable[str]) -> list[str]:
    """Return the first sentence of each text, then the second of each, and so on. No sentence comes twice."""
    sentences_by_text = [sentences_of(text) for text in texts]
    # a dict is a set that keeps its order
    sentences: dict[str, None] = {}
    for row in zip_longest(*sentences_by_text):
        for sentence in row:
            # shorter texts fill the row with None
            if sentence:
                sentences[sentence] = None
    return list(sentences)
