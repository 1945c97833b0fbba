"""Train the tables of text/classifier from labelled sentences: `train_classifiers.py [NAME] [--check]`.

    python -m venv train-env
    train-env/bin/pip install scikit-learn -e .
    train-env/bin/python scripts/train_classifiers.py

The sentences are scripts/classifiers/*.tsv (label, language, sentence); "none" asks for nothing; beside a question
stand facts, and which of them answer it; a "fact" lasts, a "joke" or a "moment" does not. A sentence nearly like one
that tests/data measures with is left out. `--check` writes nothing and prints how every fifth of the rows is judged by
a table trained on the others. tests/text/test_questions.py and test_statements.py have the rates on sentences that were
not trained on. The same rows and versions give the same file.
"""

import argparse
import random
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
sys.path.insert(0, str(ROOT))

from classifiers.training import STRENGTH, Examples, fingerprint, packed  # noqa: E402

from forgetmenot.text import classifier  # noqa: E402
from forgetmenot.text.questions import answer_features, question_signs  # noqa: E402
from forgetmenot.text.statements import claims as claims_of  # noqa: E402
from forgetmenot.text.statements import fact_of  # noqa: E402
from forgetmenot.text.words import words  # noqa: E402

BUCKETS = 1 << 16
ALIKE = 0.8
"""A training row that shares so large a part of its words with a measured one is left out."""
JOINED_EACH, MOST_JOINED = 5, 4
"""How many examples of joined facts each question gives, and of how many other facts one is made at most."""
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6)
ASKED = [ROOT / "scripts" / "classifiers" / name for name in ("questions.tsv", "ordinary_lines.txt")]
SAYS_WHAT_IS = re.compile(r"(?:[a-z]+s|moved|never|only|cannot|main|favou?rite|their) ")
"""How a known fact begins that is of use here."""
Row = tuple[str, str]
"""A label and its sentence."""


class Task(NamedTuple):
    """What one table is trained on: the `harmless` label, the caller's own signs, rows, and the measured rows."""

    name: str
    harmless: str
    signs: Callable[[str], list[str]]
    rows: list[Row]
    measured: list[str]
    files: Sequence[Path]


def table(path: Path) -> list[list[str]]:
    """The rows of a file of fields between tabs."""
    return [line.split("\t") for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]


def written(name: str) -> list[Row]:
    """The sentences of one of the files."""
    return [(label, text) for label, _, text, *_ in table(ROOT / "scripts" / "classifiers" / f"{name}.tsv")]


def questions() -> Task:
    """What text/questions asks of a line."""
    ordinary = ASKED[1].read_text("utf-8").splitlines()
    named = [f"<@1> {text}" if at % 2 else f"{text} <@1>" for at, text in enumerate(ordinary)]
    rows = written("questions") + [("none", text) for text in ordinary + named]
    measured = [text for _, text, *_ in table(DATA / "question_lines.tsv")]
    return Task("questions", "none", question_signs, rows, measured, ASKED)


def answers() -> bytes:
    """The file of the table "answers": which of the facts beside a question give what it asks for."""
    measured = {text for _, text, *_ in table(DATA / "question_lines.tsv")}
    examples, chosen = Examples(2 * BUCKETS), random.Random(1)  # noqa: S311 - the same examples each time
    asked = [(line, *beside) for _, _, line, *beside in table(ASKED[0]) if beside and line not in measured]
    every = [fact for _, facts, _ in asked for fact in facts.split(" | ")]
    for line, facts, which in asked:
        told: dict[bool, list[str]] = {True: [], False: []}
        for at, fact in enumerate(facts.split(" | "), 1):
            told[str(at) in which.split(",")].append(fact)
        for good, own in told.items():
            for fact in own:
                examples.add(answer_features(line, fact), good=good)
        # the written facts are short: without joined ones the table takes any long sentence for an answer
        for _ in range(JOINED_EACH):
            others = chosen.sample(every, chosen.randint(1, MOST_JOINED))
            for good, own in told.items():
                if own or not good:
                    joined = [chosen.choice(own or every), *others]
                    chosen.shuffle(joined)
                    examples.add(answer_features(line, " and ".join(joined)), good=good)
    weights, bias = examples.weights()
    return packed(["answers"], weights[None], [bias], rows=fingerprint(*ASKED))


def lasting() -> bytes:
    """The file of the table "lasting": which of the facts that rules read in a line are meant, and last."""
    path = ROOT / "scripts" / "classifiers" / "lasting.tsv"
    rows = unlike(written("lasting"), [line for _, line, *_ in table(DATA / "own_lines.tsv")])
    facts = [(label == "fact", fact_of(claim)) for label, line in rows for claim in claims_of(line) or [line]]
    known = {fact for _, _, _, *beside in table(ASKED[0]) if beside for fact in beside[0].split(" | ")}
    facts += [(True, fact) for fact in sorted(known) if fact.isascii() and SAYS_WHAT_IS.match(fact)]
    examples = Examples(BUCKETS)
    for good, fact in facts:
        examples.add(classifier.pieces(fact), good=good)
    weights, bias = examples.weights()
    return packed(["lasting"], weights[None], [bias], rows=fingerprint(path))


def unlike(rows: Sequence[Row], measured: Sequence[str]) -> list[Row]:
    """The rows, each once, without those that nearly repeat a measured one."""
    others = [frozenset(words(text)) for text in measured]
    kept = []
    for label, text in dict.fromkeys(rows):
        own = frozenset(words(text))
        if all(len(own & other) < ALIKE * max(1, len(own | other)) for other in others):
            kept.append((label, text))
    return kept


def features(texts: Sequence[str], names: Sequence[str], signs: Callable[[str], list[str]]) -> csr_matrix:
    """A row for each text: its pieces, as a WeightTable weighs them, then its signs."""
    examples = Examples(BUCKETS)
    for text in texts:
        examples.add(classifier.pieces(text))
    found_signs = np.array([[float(name in found) for name in names] for found in map(signs, texts)])
    return hstack([examples.matrix(), csr_matrix(found_signs)]).tocsr()


def table_of(task: Task, model: LogisticRegression, names: Sequence[str]) -> bytes:
    """The file of a table."""
    signs = {name: model.coef_[:, BUCKETS + at] for at, name in enumerate(names)}
    return packed(
        model.classes_, model.coef_[:, :BUCKETS], model.intercept_, rows=fingerprint(*task.files), signs=signs
    )


def main() -> int:
    """Train, or check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("task", nargs="?", choices=["questions", "answers", "lasting"], help="only this one")
    parser.add_argument("--check", action="store_true", help="print rates, write nothing")
    wanted = parser.parse_args()
    task = questions()
    if wanted.task in {None, task.name}:
        rows = unlike(task.rows, task.measured)
        names = task_signs(task, rows)
        model = LogisticRegression(C=STRENGTH, max_iter=3_000)
        known, labels = features([text for _, text in rows], names, task.signs), [label for label, _ in rows]
        if wanted.check:
            check(task, model, known, labels)
        else:
            path = ROOT / "forgetmenot" / "text" / f"{task.name}.weights"
            path.write_bytes(table_of(task, model.fit(known, labels), names))
            print(f"{path.name}: {len(rows)} sentences, {path.stat().st_size} bytes")
    for name, made in (("answers", answers), ("lasting", lasting)):
        if wanted.task in {None, name} and not wanted.check:
            (ROOT / "forgetmenot" / "text" / f"{name}.weights").write_bytes(made())
    return 0


def task_signs(task: Task, rows: Sequence[Row]) -> list[str]:
    """Every sign that any row has."""
    return sorted({name for _, text in rows for name in task.signs(text)})


def check(task: Task, model: LogisticRegression, known: csr_matrix, labels: Sequence[str]) -> None:
    """Print the share of harmless and of other rows that is refused, by threshold."""
    at = sorted(set(labels)).index(task.harmless)
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    shares = 1 - cross_val_predict(model, known, labels, cv=folds, method="predict_proba")[:, at]
    harmless = np.array(labels) == task.harmless
    for threshold in THRESHOLDS:
        refused = shares > threshold
        found, wrong = refused[~harmless].mean(), refused[harmless].mean()
        print(f"{task.name} > {threshold}: refused {found:.3f}, harmless {wrong:.3f}")


if __name__ == "__main__":
    sys.exit(main())
