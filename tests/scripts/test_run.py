"""Who ends `scripts/run.py` ends the bot, and an older Python can read what tells its age."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
START = """
import sys
from pathlib import Path
import environment, run
environment.ensure = lambda: Path(sys.executable)
sys.exit(run.main())
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no SIGTERM from outside")
def test_a_request_to_end_reaches_the_bot() -> None:
    command = [sys.executable, "-c", START, "sim", "--json"]
    with subprocess.Popen(command, cwd=SCRIPTS, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)  # a bot that were left behind would hold the pipe


@pytest.mark.parametrize("script", ["run.py", "test.py", "environment.py", "browser.py"])
def test_an_older_python_gets_as_far_as_the_sentence_about_its_age(script: str) -> None:
    tree = ast.parse((SCRIPTS / script).read_text("utf-8"), feature_version=(3, 7))
    postponed = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    assert postponed or not [name for name in annotations(tree) if "|" in name or "[" in name]


def annotations(tree: ast.Module) -> list[str]:
    """What stands at the parameters and the results of the functions: an older Python evaluates it."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    said = [part for node in functions for part in (node.returns, *(one.annotation for one in node.args.args))]
    return [ast.unparse(part) for part in said if part]
