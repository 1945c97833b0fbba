"""How often rules say of labelled lines what a person says: facts, sensitive phrases."""

import timeit
from collections import Counter

from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.text.caches import clear_text_caches
from forgetmenot.text.sensitive import sensitive_category

_LETTER = {Relation.DUPLICATE: "D", Relation.CONFLICT: "C", Relation.DISTINCT: "X"}


def pairs(rows: list[list[str]]) -> tuple[dict[str, float], list[str]]:
    """The rates for pairs, and the pairs that were judged wrong."""
    judged = [(row, _LETTER[relate(row[2], row[3])]) for row in rows]
    count = Counter((row[0], said) for row, said in judged)
    kinds = Counter(row[0] for row, _ in judged)
    superseded = sum(count[kind, "C"] for kind in "DCX")
    rates = {
        "pairs": len(rows),
        "conflicts_confirmed": _share(count["C", "D"], kinds["C"]),
        "distinct_lost": _share(count["X", "D"] + count["X", "C"], kinds["X"]),
        "supersede_precision": _share(count["C", "C"], superseded),
        "supersede_recall": _share(count["C", "C"], kinds["C"]),
        "duplicates_found": _share(count["D", "D"], kinds["D"]),
        "duplicates_superseded": _share(count["D", "C"], kinds["D"]),
        **_timed(rows),
    }
    return rates, [f"{'|'.join(row)} → {said}" for row, said in judged if said != row[0]]


def _timed(rows: list[list[str]]) -> dict[str, float]:
    def run() -> None:
        for row in rows:
            relate(row[2], row[3])

    def fresh() -> None:
        clear_text_caches()
        run()

    each = max(1, len(rows)) / 1e6
    return {
        "us_per_pair": round(min(timeit.repeat(fresh, number=1, repeat=5)) / each, 1),
        "us_per_known_pair": round(min(timeit.repeat(run, number=1, repeat=5)) / each, 1),
    }


def sensitive_phrases(rows: list[list[str]]) -> tuple[dict[str, float], list[str]]:
    """The rates for phrases, and the phrases that were judged wrong."""
    judged = [(category, phrase, sensitive_category(phrase)) for category, phrase in rows]
    harmless = [said for category, _, said in judged if category == "harmless"]
    caught = [(category, said) for category, _, said in judged if category != "harmless" and said]
    sensitive = len(rows) - len(harmless)
    false = sum(said is not None for said in harmless)
    rates = {
        "phrases": len(rows),
        "sensitive": sensitive,
        "harmless": len(harmless),
        "recall": _share(len(caught), sensitive),
        "precision": _share(len(caught), len(caught) + false),
        "false_positives": _share(false, len(harmless)),
        "category_accuracy": _share(sum(category == said for category, said in caught), len(caught)),
    }
    return rates, [
        f"{category}|{phrase} → {said}" for category, phrase, said in judged if (said or "harmless") != category
    ]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
