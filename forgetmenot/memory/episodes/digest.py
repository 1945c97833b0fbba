"""The digest: the channel's last seven days in at most 500 characters, out of the recaps of its streams.

Promises that it is written again only when a stream has closed (or one of the recaps it rests on was written anew), so
that the prompt's prefix keeps its bytes. While the model is out of reach the old one stays, for half a day; one that
the model will not write is made of the recaps' first sentences.
"""

import hashlib
from collections.abc import Callable, Sequence
from itertools import zip_longest

from forgetmenot.clock import HOUR, Clock
from forgetmenot.domain.chat import Stream
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory import never
from forgetmenot.memory.episodes import prompts
from forgetmenot.memory.episodes.summaries import kept, sentences_of, within_characters
from forgetmenot.memory.episodes.summarise import forbidden
from forgetmenot.memory.handles import Handles
from forgetmenot.memory.notes.claims import is_plain
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, streams
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in

DAYS = 7
CHARACTERS = 500
PATIENCE = 12 * HOUR
NAME, MADE_OF = "digest", "digest_of"


class Digests:
    """Writes the digest. `settings` is asked once per pass."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock

    async def run_pass(self) -> bool:
        """Write the digest if a stream has closed since the last one; whether it was written. Raises StoreError."""
        told = await streams.recapped(self._db, DAYS)
        made_of = _hash(told)
        if not told or made_of == await channel_state.read(self._db, MADE_OF):
            return False
        text = await self._text(told)
        if text is None:
            return False
        async with self._db.write() as tx:
            if _hash(await streams.recapped(tx, DAYS)) != made_of:
                return False  # a recap went while the model was thinking
            await channel_state.put(tx, {NAME: text, MADE_OF: made_of}, self._clock.now())
        log.info("digest written", streams=len(told), characters=len(text))
        return True

    async def _text(self, told: Sequence[Stream]) -> str | None:
        """The digest; None while it waits for the model."""
        quiet = await never.silence(self._db)
        recaps = [quiet.without(stream.recap) for stream in told]
        recaps = [recap for recap in recaps if recap]
        if len(recaps) > 1:
            try:
                return await self._asked(recaps) or _first_sentences(recaps)
            except ModelBlocked:
                return _first_sentences(recaps)
            except ModelError as error:
                log.debug("the digest waits for the model", error=type(error).__name__)
                if self._clock.now() - (told[-1].ended_at or 0) < PATIENCE:
                    return None
        return _first_sentences(recaps)

    async def _asked(self, recaps: Sequence[str]) -> str:
        settings = self._settings()
        handles = Handles.of([who for recap in recaps for who in ids_in(recap)])
        request = prompts.digest_request(
            [handles.hide(recap) for recap in recaps],
            characters=CHARACTERS,
            max_output_tokens=settings.model.memory_output_tokens,
        )
        answer = prompts.read_summary((await self._model.generate(request)).text)
        text = kept(answer or "", (), handles, most_words=CHARACTERS, forbidden=forbidden(settings))
        return within_characters([one for one in sentences_of(text) if is_plain(one)], CHARACTERS)


def _hash(told: Sequence[Stream]) -> str:
    text = "\n".join(f"{stream.id} {stream.recap}" for stream in told)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _first_sentences(recaps: Sequence[str]) -> str:
    """The first sentence of each recap, the newest first, then the second of each …, as far as the characters go."""
    rows = zip_longest(*(sentences_of(recap) for recap in reversed(recaps)))
    return within_characters([sentence for row in rows for sentence in row if sentence], CHARACTERS)
