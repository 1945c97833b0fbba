"""A recap for every stream that is over, and above the recaps the digest of the last seven days.

A recap is written once, when everything said in the stream has been summarised, and again only when an episode of it
was. Where the model has given no usable answer for half a day, it is made of the summaries' first sentences. The digest
is made of the recaps' first sentences, only when a stream has closed or one of its recaps was rewritten, so that the
prompt's prefix keeps its bytes.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from forgetmenot.clock import HOUR, local_days
from forgetmenot.domain import Purpose, Stream
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory import prompts, suppression
from forgetmenot.memory.people import Handles
from forgetmenot.memory.summarizer import MemoryWriter
from forgetmenot.memory.text_gate import within
from forgetmenot.store import channel_state, episodes, streams
from forgetmenot.text.mentions import fence, ids_in
from forgetmenot.text.words import sentences_of

DEADLINE = 12 * HOUR
# A stream longer than that is recapped from evenly chosen ones: a call stays bounded.
MOST_EPISODES = 120
DAYS = 7
CHARACTERS = 500
NAME, MADE_OF = "digest", "digest_of"


class RecapWriter(MemoryWriter):
    """Writes recaps and the digest."""

    _ask_again_at: Mapping[int, int] = {}  # by stream, after a refusal; replaced as a whole, never changed

    async def write_due(self, *, ask: bool = True) -> int:
        """Write the recaps that are due; how many. `ask`: the model may be asked. Raises StoreError."""
        written = 0
        for stream in await streams.without_recap(self._db):
            summaries = await episodes.summaries_of_stream(self._db, stream.id)
            recap = await self._recap(stream, summaries, ask=ask)
            if recap is None:
                continue
            async with self._db.write() as tx:
                if await episodes.summaries_of_stream(tx, stream.id) != summaries:
                    continue  # a line was cleared or a fact forgotten while the model was thinking
                written += await streams.set_recap(tx, stream.id, recap, self._clock.now())
        if written:
            log.info("recaps written", streams=written)
        return written

    async def _recap(self, stream: Stream, summaries: Sequence[str], *, ask: bool) -> str | None:
        # one summary is its own recap: no call is paid for
        if len(summaries) < 2:
            return "".join(summaries)
        now = self._clock.now()
        if ask and now >= self._ask_again_at.get(stream.id, 0):
            try:
                settings, words = self._settings(), prompts.SUMMARY_WORDS
                handles = Handles.of([who for text in summaries for who in ids_in(text)])
                # divided and rounded up: of 121 summaries every second one
                chosen = [handles.hide(text) for text in summaries[:: -(-len(summaries) // MOST_EPISODES)]]
                day = f"The stream of {local_days(stream.started_at, stream.ended_at)}."
                prompt = f"{day}\n\n{fence('episodes', chr(10).join(chosen))}"
                system = prompts.RECAP.format(most=words)
                request = prompts.memory_request(Purpose.RECAP, system, prompt, words, settings.model)
                written = prompts.read_summary((await self._model.generate(request)).text) or ""
                if recap := await self._kept(written, (), handles, most=words):
                    return recap
                raise ModelBlocked("The model gave no usable recap.")
            except ModelError as error:
                log.debug("a recap waits for the model", stream=stream.id, error=type(error).__name__)
                if isinstance(error, ModelBlocked):  # it may well be the same for this stream next time
                    self._ask_again_at = {**self._ask_again_at, stream.id: now + HOUR}
        if now - (stream.ended_at or 0) <= DEADLINE:
            return None
        return within(_first_sentences(summaries), prompts.SUMMARY_WORDS)

    async def write_digest(self) -> bool:
        """Write the digest if a stream has closed since the last one; whether it was written. Raises StoreError."""
        async with self._db.write() as tx:
            closed = await streams.recapped(tx, DAYS)
            written_of = "\n".join(f"{stream.id} {stream.recap}" for stream in closed)
            made_of = hashlib.sha256(written_of.encode()).hexdigest()[:32]
            if not closed or made_of == await channel_state.read(tx, MADE_OF):
                return False
            suppressed = await suppression.load_filter(tx)
            recaps = [suppressed.without(stream.recap) for stream in reversed(closed)]
            text = within(_first_sentences(recaps), CHARACTERS, len)
            await channel_state.put(tx, {NAME: text, MADE_OF: made_of}, self._clock.now())
        return True


def _first_sentences(texts: Iterable[str]) -> list[str]:
    """The first sentence of each text, then the second of each, and so on."""
    rows = zip_longest(*map(sentences_of, texts))
    return list(dict.fromkeys(sentence for row in rows for sentence in row if sentence))
