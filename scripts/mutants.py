"""Which small faults in a module do its tests notice? Uses mutmut, which puts them in one by one.

    python scripts/mutants.py                    # every module of the list below
    python scripts/mutants.py triggers policy    # these
    python scripts/mutants.py ranking --tenths 2 # a fifth of its faults

Prints for each module how many faults its tests caught, and of the others the changed lines. It runs only the tests
named beside the module, in a copy of the checkout, and takes a minute or two per module. mutmut is fetched into a
temporary folder. It changes functions, no constants of a module: put those wrong by hand. Not part of the gate.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import environment

MUTMUT = "mutmut==3.8.1"
MINUTES = 30
# mutmut runs the tests once without a fault and forks from there: what a function had cached by then
# would be an answer without the fault.
CLEAR_CACHES = """
import functools
import gc

def pytest_sessionstart():
    kind = type(functools.cache(lambda: None))
    for cached in [thing for thing in gc.get_objects() if isinstance(thing, kind)]:
        cached.cache_clear()
"""
# Prints the changed lines of some faults: `mutmut show` takes seconds for each.
SHOW = """
import sys
from mutmut.__main__ import show

for mutant in sys.argv[1:]:
    show.callback(mutant)
"""
UNTRIED = "not checked"
# Of each module: its file, and the tests that are run.
MODULES = {
    "triggers": (
        "reply/triggers.py",
        "tests/reply/test_triggers.py tests/reply/test_gathering.py",
    ),
    "own_name": (
        "reply/own_name.py",
        "tests/reply/test_triggers.py tests/chat/test_addressed.py",
    ),
    "policy": ("operations/policy.py", "tests/operations/test_policy.py"),
    "request_words": (
        "operations/request_words.py",
        "tests/operations/test_request_words.py tests/operations/test_attacks.py",
    ),
    "retention": ("memory/retention.py", "tests/memory/test_retention.py"),
    "compare_facts": ("memory/compare_facts.py", "tests/memory/test_compare_facts.py"),
    "ranking": (
        "memory/ranking.py",
        "tests/memory/test_ranking.py tests/memory/test_recall.py",
    ),
    "note_index": (
        "memory/note_index.py",
        "tests/memory/test_note_index.py tests/memory/test_ranking.py",
    ),
    "word_index": (
        "memory/word_index.py",
        "tests/memory/test_word_index.py tests/memory/test_ranking.py",
    ),
    "privacy_requests": (
        "store/privacy_requests.py",
        "tests/store/test_privacy_requests.py",
    ),
    "standing": ("people/standing.py", "tests/people/test_standing.py"),
    "time_together": ("people/time_together.py", "tests/people/test_time_together.py"),
    "chosen_names": ("people/chosen_names.py", "tests/people/test_chosen_names.py"),
    "viewer_plans": ("prompt/viewer_plans.py", "tests/prompt/test_viewer_plans.py"),
    "dates": ("text/dates.py", "tests/text/test_dates.py"),
    "prices": ("settings/prices.py", "tests/settings/test_prices.py"),
    "captions": ("hearing/captions.py", "tests/hearing/test_captions.py"),
    "setup": (
        "app/setup.py",
        (
            "tests/app/test_setup.py tests/app/test_setup_login.py tests/app/test_setup_model.py"
            " tests/app/test_setup_parts.py tests/app/test_setup_state.py"
        ),
    ),
    "account": (
        "app/account.py",
        "tests/app/test_account.py tests/app/test_setup_login.py",
    ),
    "login": (
        "twitch/login.py",
        (
            "tests/contract/test_login.py tests/app/test_account.py tests/app/test_setup_login.py"
            " tests/contract/test_irc_connection.py"
        ),
    ),
}


def main() -> None:
    """Run the chosen modules; the exit code is 1 if the tests fail without any fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", choices=[[], *MODULES], metavar="MODULE")
    parser.add_argument(
        "--tenths",
        type=int,
        choices=range(1, 11),
        default=10,
        help="tenths of the faults of a module to try, spread over it (default: 10)",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        library = Path(folder, "library")
        install = ["pip", "install", "--quiet", "--target", str(library)]
        subprocess.run(
            [sys.executable, "-m", *install, "-c", "constraints.txt", MUTMUT],
            cwd=environment.ROOT,
            check=True,
        )
        for name in options.modules or list(MODULES):
            tree = Path(folder, name)
            _prepare(tree, *MODULES[name])
            _try(name, tree, library, options.tenths)
            shutil.rmtree(tree)


def _prepare(tree: Path, file: str, tests: str) -> None:
    """Copy the checkout into an empty folder, with what mutmut has to know."""
    _copy_checkout(tree)
    Path(tree, "conftest.py").write_text(CLEAR_CACHES, encoding="utf-8")
    settings = (
        "[mutmut]",
        "source_paths=forgetmenot",
        f"only_mutate=forgetmenot/{file}",
        "pytest_add_cli_args_test_selection=",
        *(f"    {test}" for test in tests.split()),
        "also_copy=",
        *(f"    {entry.name}" for entry in sorted(tree.iterdir())),
    )
    Path(tree, "setup.cfg").write_text("\n".join(settings), encoding="utf-8")


def _try(
    name: str,
    tree: Path,
    library: Path,
    tenths: int,
) -> None:
    """Run mutmut for one module, and print what its tests missed."""
    _run(tree, library, "-m", "mutmut", "run", *_numbered(tenths))
    listed = _run(tree, library, "-m", "mutmut", "results", "--all", "True")
    lines = [line.strip() for line in listed.splitlines() if ": " in line]
    results = dict(line.split(": ") for line in lines)
    tried = {mutant: status for mutant, status in results.items() if status != UNTRIED}
    caught = [status for status in tried.values() if status in {"killed", "timeout"}]
    share = 100 * len(caught) // len(tried)
    print(f"{name}: {len(caught)} of {len(tried)} caught ({share} %)")
    survivors = [mutant for mutant, status in tried.items() if status == "survived"]
    if survivors:
        for line in _run(tree, library, "-c", SHOW, *survivors).splitlines():
            if line.startswith("# "):
                print(_function_of(line.removeprefix("# ").split(":")[0]))
            elif re.match(r"[-+](?![-+])", line):
                print(line)
    not_run = Counter(
        _function_of(mutant) for mutant, status in tried.items() if status == "no tests"
    )
    for function, count in not_run.items():
        print(f"{function} is not run by these tests ({count} faults)")


def _numbered(tenths: int) -> list[str]:
    """Return the pattern of the faults to try, by the last digit of their numbers; none for all."""
    if tenths == 10:
        return []
    return [f"*__mutmut_*[{'1627384950'[:tenths]}]"]


def _run(tree: Path, library: Path, *arguments: str) -> str:
    """Run Python with mutmut in a tree; return its output. Exits with the end of it if it fails."""
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(library)},
        capture_output=True,
        text=True,
        check=False,
        timeout=MINUTES * 60,
    )
    if result.returncode:
        # its progress is one line that it overwrites again and again
        lines = [
            line for line in result.stdout.splitlines() if line.strip()[1:].strip()
        ]
        last = "\n".join([*lines[-10:], result.stderr[-1000:]])
        raise SystemExit(f"{tree.name}: ended with {result.returncode}\n{last}")
    return result.stdout


def _function_of(mutant: str) -> str:
    """Return the function of a mutant, "forgetmenot.reply.triggers.x_joined__mutmut_3"."""
    name = mutant.rpartition(".")[2].rpartition("__mutmut_")[0]
    # of a method: "xǁPrivacyRequestsǁadd"
    return name.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")


def _copy_checkout(tree: Path) -> None:
    """Copy the files that git knows, or will know, into an empty folder."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(
        listing, cwd=environment.ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, names.stdout.split("\0")):
        source = environment.ROOT / name
        if source.is_file():
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


if __name__ == "__main__":
    environment.enter("dev")
    main()
