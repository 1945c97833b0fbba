"""Train the table of memory/facts/corrections from labelled lines: `train_corrections.py [--check]`.

The environment is that of scripts/train_classifiers.py. The lines are scripts/classifiers/corrections.tsv: what came
before ("bot: ", "own: " and its text, or "told:" for a command), what is known of the speaker, their line, and what it
corrects ("2: the new text", "2: -" where it only no longer holds, "=" where nothing is corrected).

`--check` writes nothing: a fifth of the lines is judged by a table trained on the others. It prints how many are
right, by threshold. tests/memory/facts/test_corrections.py judges tests/data/correction_lines.tsv by the table.
"""

import argparse
import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ROWS = ROOT / "scripts" / "classifiers" / "corrections.tsv"
ORDINARY = ROOT / "scripts" / "classifiers" / "ordinary_lines.txt"
MEASURED = ROOT / "tests" / "data" / "correction_lines.tsv"
sys.path.insert(0, str(ROOT))

from classifiers.training import Examples, fingerprint, packed  # noqa: E402

from forgetmenot.memory.facts import corrections  # noqa: E402
from forgetmenot.memory.facts.correction_features import ARTICLES, Span, line_features, read_words  # noqa: E402
from forgetmenot.memory.facts.corrections import Before, Judged  # noqa: E402
from forgetmenot.text.classifier import WeightTable  # noqa: E402
from forgetmenot.text.statements import own_fact, stated_part  # noqa: E402
from forgetmenot.text.words import words  # noqa: E402

BUCKETS = 1 << 17
FOLDS = 5
THRESHOLDS = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
LABELS = ("line", "fact", "corrects", "ended", "words", "new", "old")
_OUTCOME = re.compile(r"(\d+): ?(.+)")


class Row(NamedTuple):
    """A line, what came before, what is known, and what it corrects: `which` None nothing, `new` "" no new value."""

    before: Before
    facts: tuple[str, ...]
    line: str
    which: int | None
    new: str


def rows_of(path: Path) -> list[Row]:
    """The rows of a file. Raises ValueError naming the line that is not one."""
    found = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        try:
            context, known, line, outcome = text.split("\t")
            by, _, said = context.partition(":")
            facts = tuple(fact.strip() for fact in known.split(" | "))
            match = _OUTCOME.fullmatch(outcome.strip())
            which = int(match[1]) - 1 if match else None
            new = match[2].strip().removeprefix("-") if match else ""
            found.append(Row(Before(by, said.strip()), facts, line, which, new))
            assert facts[which] if which is not None else outcome.strip() == "="  # noqa: S101
        except (ValueError, IndexError, AssertionError) as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
    return found


def values_of(row: Row) -> tuple[Span, Span] | None:
    """Where the new value stands in the line and the old one in the fact, if the new text is the old with another."""
    if row.which is None or not row.new:
        return None
    old, new = read_words(row.facts[row.which]), read_words(row.new)
    before, after = [word.word for word in old], [word.word for word in new]
    most = min(len(before), len(after))
    start = next((at for at in range(most) if before[at] != after[at]), most)
    rest = most - start
    end = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    first, last, value = start, len(before) - end, after[start : len(after) - end]
    while last - first > 1 and before[first] in ARTICLES:
        first += 1
    while len(value) > 1 and value[0] in ARTICLES:
        value = value[1:]
    said = [word.word for word in read_words(row.line)]
    at = next((at for at in range(len(said)) if value and said[at : at + len(value)] == value), None)
    return None if at is None or first >= last else ((at, at + len(value)), (first, last))


def values_taught(rows: Sequence[Row]) -> dict[str, tuple[np.ndarray, float]]:
    """The columns "new" and "old"."""
    new, old = Examples(BUCKETS), Examples(BUCKETS)
    for row in rows:
        if (values := values_of(row)) is None or row.which is None:
            continue
        pairing = corrections.pairings(row.line, row.facts, row.before)[row.which]
        for span in pairing.new_values():
            new.add(pairing.new_value_features(span), good=span == values[0])
        for span in pairing.old_values():
            old.add(pairing.old_value_features(span, values[0]), good=span == values[1])
    return {"new": new.weights(), "old": old.weights()}


def trained(rows: Sequence[Row]) -> bytes:
    """The file of a table from all rows. How values tell is learned from those that the other rows teach to find."""
    line, fact, corrects, ended, right = (Examples(BUCKETS) for _ in range(5))
    strangers = beside_others(rows) + repeated(rows)
    for row in {row.line: row for row in [*strangers, *rows]}.values():
        line.add(line_features(row.line), good=row.which is not None)
    for fold in range(FOLDS):
        others = WeightTable(table_of(values_taught([row for row in rows if fold_of(row) != fold])))
        for row in [*rows, *strangers]:
            if fold_of(row) != fold:
                continue
            for at, pairing in enumerate(corrections.pairings(row.line, row.facts, row.before)):
                values = corrections.likeliest_values(others, pairing)
                outcome = pairing.outcome_features(values) if values else {"no values"}
                features = pairing.features | outcome
                fact.add(pairing.features, good=at == row.which)
                corrects.add(features, good=at == row.which)
                if at == row.which:
                    ended.add(features, good=not row.new)
                if at == row.which and row.new and values:
                    right.add(outcome, good=is_right(row, corrections.with_value(row.line, row.facts[at], *values[:2])))
    columns = {"line": line, "fact": fact, "corrects": corrects, "ended": ended, "words": right}
    return table_of({name: column.weights() for name, column in columns.items()} | values_taught(rows))


def beside_others(rows: Sequence[Row]) -> list[Row]:
    """Lines of ordinary chat, and those of the rows, beside facts that have nothing to do with them."""
    dice = random.Random(1)  # noqa: S311  # the same every time
    facts = sorted({fact for row in rows for fact in row.facts})
    found = [Row(Before(), (fact,), row.line, None, "") for row in rows for fact in dice.sample(facts, 2)]
    for line in ORDINARY.read_text("utf-8").splitlines():
        one, other, own, bot = dice.sample(facts, 4)
        found += [Row(Before(), (fact,), line, None, "") for fact in (one, other)]
        found.append(Row(Before("own", own), (own,), line, None, ""))
        found.append(Row(Before("bot", f"You told me: {bot}"), (bot,), line, None, ""))
    return found


def repeated(rows: Sequence[Row]) -> list[Row]:
    """What is known, said once more in the first person."""
    found = []
    for fact in sorted({fact for row in rows for fact in row.facts}):
        verb, _, rest = fact.partition(" ")
        said = {"is": "I'm", "has": "I have"}.get(verb, f"I {verb.removesuffix('s')}")
        lines = [line for line in (f"{said} {rest}", f"my {fact}") if own_fact(line) == fact]
        found += [Row(Before(), (fact,), line, None, "") for line in lines]
    return found


def table_of(taught: dict[str, tuple[np.ndarray, float]]) -> bytes:
    """The file of a table; columns that were not taught are empty."""
    columns = [taught.get(name, (np.zeros(BUCKETS), 0.0)) for name in LABELS]
    weights, biases = np.array([weights for weights, _ in columns]), [bias for _, bias in columns]
    return packed(LABELS, weights, biases, rows=fingerprint(ROWS, ORDINARY))


def fold_of(row: Row) -> int:
    """The fifth that a row belongs to; rows with the same facts are in one."""
    return zlib.crc32("|".join(sorted(row.facts)).encode()) % FOLDS


def verdict(row: Row, judged: Sequence[Judged], threshold: float) -> str:
    """What a threshold makes of a row: right, nothing, or what is wrong about it."""
    ranked = sorted(judged, reverse=True)
    ahead = len(ranked) < 2 or ranked[0].sure - ranked[1].sure >= corrections.LEAD
    if not ranked or ranked[0].sure < threshold or not ahead:
        return "nothing"
    best = ranked[0]
    if row.which is None:
        return "FALSE"
    if best.number != row.which:
        return "other fact"
    if best.fact is None:
        return "ended" if row.new else "right"
    if not row.new:
        return "invented"
    return "right" if is_right(row, best.fact) else "wrong words"


def is_right(row: Row, fact: str) -> bool:
    """Whether a new text has the words that it must have, and none that had to go."""
    old, new, got = (set(words(text)) for text in (row.facts[row.which or 0], row.new, fact))
    return new - old <= got and not (old - new) & got


def report(rows: Sequence[Row], judged: Sequence[Sequence[Judged]]) -> None:
    """Print the shares of each verdict, by kind of row and threshold."""
    kinds = ["nothing" if row.which is None else "new value" if row.new else "ended" for row in rows]
    for threshold in THRESHOLDS:
        for kind in ("new value", "ended", "nothing"):
            of = [
                verdict(row, one, threshold) for row, one, mine in zip(rows, judged, kinds, strict=True) if mine == kind
            ]
            shares = ", ".join(f"{name} {count / len(of):.3f}" for name, count in sorted(Counter(of).items()))
            print(f"{threshold}  {kind:10} of {len(of):5}: {shares}")


def main() -> int:
    """Train, or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="print rates, write nothing")
    wanted = parser.parse_args()
    path = ROOT / "forgetmenot" / "text" / "corrections.weights"
    measured = {" ".join(words(row.line)) for row in rows_of(MEASURED)} if MEASURED.exists() else set()
    rows = [row for row in dict.fromkeys(rows_of(ROWS)) if " ".join(words(row.line)) not in measured]
    if wanted.check:
        table = WeightTable(trained([row for row in rows if fold_of(row)]))
        others = [row for row in rows if not fold_of(row)]
        lines = [(stated_part(row.line), row) for row in others]
        may = [line and corrections.likelihood(table, line) >= corrections.MAY_CORRECT for line, _ in lines]
        report(others, [
            corrections.judge(line, row.facts, row.before, table) if likely else []
            for likely, (line, row) in zip(may, lines, strict=True)
        ])  # fmt: skip
        return 0
    path.write_bytes(trained(rows))
    print(f"{path.name}: {len(rows)} lines, {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
