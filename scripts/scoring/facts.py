"""How often rules say of labelled lines what a person says: facts, sensitive phrases, outcomes, claims of a deed."""

import timeit
from collections import Counter

from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.operations.action_claims import claims_action
from forgetmenot.reply.outcomes import LineAfter, outcome_of
from forgetmenot.text.caches import clear_text_caches
from forgetmenot.text.sensitive import sensitive_category

PEOPLE = ("alice", "bob", "carol", "dave", "streamer")
CLAIMS = {"claim": "claims heard", "no_claim": "other talk taken for one"}
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


def outcomes(rows: list[list[str]]) -> tuple[dict[str, float], list[str]]:
    """How often chat's reaction is read rightly, and the readings of the `dev` half that are wrong."""
    read = [(split, label, _outcome(reply, after), reply) for split, label, reply, after in rows]
    rates: dict[str, float] = {}
    for half in ("dev", "heldout"):
        count = Counter((label, found) for split, label, found, _ in read if split == half)
        rates[f"{half}: right"] = _share(sum(n for (label, found), n in count.items() if label == found), count.total())
        for label in sorted({label for label, _ in count}):
            hits, found = count[label, label], sum(n for (_, one), n in count.items() if one == label)
            rates[f"{half}: {label}, precision"] = _share(hits, found)
            rates[f"{half}: {label}, found"] = _share(hits, sum(n for (one, _), n in count.items() if one == label))
    return rates, [
        f"{label}: {reply} → {found}" for split, label, found, reply in read if split == "dev" and label != found
    ]


def _outcome(reply: str, after: str) -> str:
    lines = [LineAfter(*line.split("|", 1)) for line in after.split(" ¶ ")]
    return outcome_of(reply, lines, people=PEOPLE).value


def claims(rows: list[list[str]]) -> tuple[dict[str, float], list[str]]:
    """How many claims of a deed are heard, and how much other talk is taken for one."""
    rates: dict[str, float] = {}
    for half in ("dev", "heldout"):
        heard = {label: [claims_action(row[3]) for row in rows if row[:2] == [half, label]] for label in CLAIMS}
        rates |= {f"{half}: {CLAIMS[label]}": _share(sum(found), len(found)) for label, found in heard.items()}
    wrong = [row for row in rows if row[0] == "dev" and claims_action(row[3]) != (row[1] == "claim")]
    return rates, [f"{row[1]}: {row[3]}" for row in wrong]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
