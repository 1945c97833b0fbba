"""A recap for every stream that is over: once, when everything said in it has been summarised.

The model is asked over the stream's episodes; where it will not answer, or has not answered for half a day, the
recap is made of the episodes' first sentences. Written again only when an episode of the stream was.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from re import split

from forgetmenot.clock import HOUR, Clock
from forgetmenot.domain.chat import Stream
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory.episodes import prompts
from forgetmenot.memory.episodes.summaries import kept, within
from forgetmenot.memory.episodes.summarise import forbidden
from forgetmenot.memory.handles import Handles
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import episodes, streams
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in

PATIENCE = 12 * HOUR
MOST_EPISODES = 120
"""A stream longer than that is recapped from evenly chosen ones: a call stays bounded."""


class Recaps:
    """Writes recaps. `settings` is asked once per stream."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock

    async def write_due(self, *, ask: bool = True) -> int:
        """Write the recaps that are due; how many. `ask`: the model may be asked."""
        written = 0
        for stream in await streams.without_recap(self._db):
            told = await episodes.summaries_of_stream(self._db, stream.id)
            recap = await self._recap(stream, told, ask=ask)
            if recap is None:
                continue
            async with self._db.write() as tx:
                written += await streams.set_recap(tx, stream.id, recap, self._clock.now())
        if written:
            log.info("recaps written", streams=written)
        return written

    async def _recap(self, stream: Stream, told: Sequence[str], *, ask: bool) -> str | None:
        words = self._settings().memory.summary_words
        if len(told) < 2:
            return within(told, words)
        if ask:
            try:
                return await self._asked(told, words) or _first_sentences(told, words)
            except ModelBlocked:
                return _first_sentences(told, words)
            except ModelError as error:
                log.debug("a recap waits for the model", stream=stream.id, error=type(error).__name__)
        waited = self._clock.now() - (stream.ended_at or 0)
        return _first_sentences(told, words) if waited > PATIENCE else None

    async def _asked(self, told: Sequence[str], words: int) -> str:
        settings = self._settings()
        handles = Handles.of([who for summary in told for who in ids_in(summary)])
        step = -(-len(told) // MOST_EPISODES)
        request = prompts.recap_request(
            [handles.hide(summary) for summary in told[::step]],
            words=words,
            max_output_tokens=settings.model.memory_output_tokens,
        )
        answer = prompts.read_summary((await self._model.generate(request)).text)
        return kept(answer or "", (), handles, most_words=words, forbidden=forbidden(settings))


def _first_sentences(told: Sequence[str], words: int) -> str:
    """The first sentence of each episode, then the second of each …, in their order, as far as the words go."""
    sentences = [split(r"(?<=[.!?])\s+", summary) for summary in told]
    order = [sentence for row in zip_longest(*sentences) for sentence in row if sentence]
    fit = within(order, words)
    return " ".join(s for s in dict.fromkeys(s for row in sentences for s in row) if s in fit)
