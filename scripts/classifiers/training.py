"""What the scripts that train a table of text/classifier have in common: examples, weights, the file of a table."""

import hashlib
import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from forgetmenot.text.classifier import bucketed, numbered

STRENGTH = 30.0
"""The inverse of the regularisation: of 10, 30 and 100 the one that judged the fifths best."""


class Examples:
    """Examples of one label, each as the features that a WeightTable sums."""

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets
        self.good: list[bool] = []
        self._at = [0]
        self._indices: list[int] = []
        self._values: list[float] = []

    def add(self, features: Iterable[str | int], *, good: bool = False) -> None:
        """One more example, by its features or their numbers."""
        numbers = (one if isinstance(one, int) else numbered(one) for one in features)
        found = sorted(bucketed(numbers, self.buckets))
        self._indices += found
        self._values += [1 / math.sqrt(len(found) + 1)] * len(found)
        self._at.append(len(self._indices))
        self.good.append(good)

    def matrix(self) -> csr_matrix:
        """A row for each example, a column for each bucket."""
        return csr_matrix((self._values, self._indices, self._at), shape=(len(self.good), self.buckets))

    def weights(self) -> tuple[np.ndarray, float]:
        """What they teach: a weight for each bucket, and the bias."""
        model = LogisticRegression(C=STRENGTH, max_iter=1_000).fit(self.matrix(), np.array(self.good))
        return model.coef_[0], float(model.intercept_[0])


def packed(
    labels: Sequence[str],
    weights: np.ndarray,
    biases: Sequence[float],
    *,
    rows: str,
    signs: Mapping[str, Sequence[float]] | None = None,
) -> bytes:
    """The file of a table: `weights` has a line for each label, `rows` is the fingerprint of what it was trained on."""
    scale = float(np.abs(weights).max()) / 127
    head = {
        "labels": list(labels),
        "buckets": weights.shape[1],
        "scale": round(scale, 9),
        "biases": [round(float(bias), 5) for bias in biases],
        "signs": {name: [round(float(one), 5) for one in some] for name, some in (signs or {}).items()},
        "rows": rows,
    }
    return json.dumps(head).encode() + b"\n" + zlib.compress(np.round(weights / scale).astype(np.int8).tobytes(), 9)


def fingerprint(*paths: Path) -> str:
    """A hash of all rows: a test compares it with the one in the table."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]
