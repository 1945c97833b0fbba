"""Scripts that run the bot."""

import ast
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import program

SCRIPTS = Path(__file__).parents[2] / "scripts"
START = """
import sys
from pathlib import Path
import environment, run
environment.ensure = lambda: Path(sys.executable)
sys.exit(run.main())
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no SIGTERM from outside")
@pytest.mark.slow
def test_a_request_to_end_reaches_the_bot(tmp_path: Path) -> None:
    command = [sys.executable, "-c", START, "demo"]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = program.environment(tmp_path, TMPDIR=str(temporary))
    with subprocess.Popen(
        command, cwd=SCRIPTS, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(
            timeout=60
        )  # a bot that were left behind would hold the pipe
    assert list(temporary.iterdir()) == []


def _checkout(folder: Path) -> Path:
    """What the scripts need of a checkout, in a folder of the test's own."""
    shutil.copytree(
        SCRIPTS, folder / "scripts", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(SCRIPTS.parent / name, folder)
    return folder


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (
            "PermissionError(13, 'Permission denied', '.venv')",
            ".venv cannot be written: Permission",
        ),
        (
            "OSError(30, 'Read-only file system', '.venv')",
            "Move this folder to a place where you may",
        ),
        ("KeyboardInterrupt()", "stopped. Start again"),
    ],
)
def test_a_first_start_that_fails_says_why(
    tmp_path: Path, trouble: str, words: str
) -> None:
    code = f"import venv, run\ndef fails(*_, **__): raise {trouble}\nvenv.create = fails\nrun.main()"
    folder = _checkout(tmp_path) / "scripts"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="its interpreter here is a script of POSIX")
def test_a_measurement_goes_on_in_the_environment_that_run_made(tmp_path: Path) -> None:
    """Another Python, without our packages, starts bench.py."""
    folder = _checkout(tmp_path)
    (folder / ".venv" / "bin").mkdir(parents=True)
    made = folder / ".venv" / "bin" / "python"
    made.write_text('#!/bin/sh\necho entered "$@"\n')
    made.chmod(0o755)
    code = "import environment, sys; sys.path.insert(0, '.'); print(environment._fingerprint())"
    stamp = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder / "scripts",
        capture_output=True,
        text=True,
        check=True,
    )
    (folder / ".venv" / "installed-dev").write_text(stamp.stdout.strip())
    command = [sys.executable, "-S", str(folder / "scripts" / "bench.py"), "--quick"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "entered" in result.stdout, result.stderr
    assert "--quick" in result.stdout


@pytest.mark.skipif(os.name == "nt", reason="quotes for a POSIX shell")
def test_the_command_it_shows_works_from_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my bot"
    folder.mkdir()
    _checkout(folder)
    code = """
import os, sys
sys.path.insert(0, 'scripts')
import environment, run
environment.ensure = lambda: sys.executable
os.execv = lambda *_: sys.exit(print(os.environ['FORGETMENOT_COMMAND'], os.environ['FORGETMENOT_TYPED'], sep='\\n'))
sys.argv = ['scripts/run.py', 'login']
run.main()
"""
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    full, typed = result.stdout.splitlines()
    assert shlex.split(full)[1] == str(folder / "scripts" / "run.py")
    assert shlex.split(typed)[1] == "scripts/run.py"


def test_help_names_the_command_as_it_was_started() -> None:
    started = {
        "FORGETMENOT_COMMAND": "python3 /x/run.py",
        "FORGETMENOT_TYPED": "python3 run.py",
    }
    result = subprocess.run(
        [sys.executable, "-m", "forgetmenot", "why", "--help"],
        env={**os.environ, **started},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith("usage: python3 run.py why ")


@pytest.mark.skipif(os.name == "nt", reason="a script of POSIX")
def test_it_starts_through_a_link_on_the_desktop(tmp_path: Path) -> None:
    folder = tmp_path / "the program"
    folder.mkdir()
    for file in ("start.sh", "start.command"):
        shutil.copy(SCRIPTS.parent / file, folder)
    (folder / "scripts").mkdir()
    (folder / "scripts" / "run.py").write_text(
        "import pathlib; print(pathlib.Path.cwd())"
    )
    (tmp_path / "desktop").mkdir()
    (tmp_path / "desktop" / "first").symlink_to(
        Path("..") / "the program" / "start.command"
    )
    (tmp_path / "desktop" / "Start").symlink_to("first")
    command = ["sh", str(tmp_path / "desktop" / "Start")]
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    assert result.stdout.strip() == str(folder)


@pytest.mark.parametrize(
    "script",
    ["run.py", "test.py", "build_app.py", "environment.py", "browser.py", "release.py"],
)
def test_it_needs_the_standard_library_alone_and_an_older_python_gets_as_far_as_the_sentence_about_its_age(
    script: str,
) -> None:
    tree = ast.parse((SCRIPTS / script).read_text("utf-8"), feature_version=(3, 7))
    nodes = list(ast.walk(tree))
    modules = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    modules |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in modules} <= {
        *sys.stdlib_module_names,
        "browser",
        "build_app",
        "environment",
        "release",
    }
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    # what an older Python evaluates, unless annotations are postponed
    evaluated = []
    for function in functions:
        annotations = [argument.annotation for argument in function.args.args]
        evaluated += [
            ast.unparse(part) for part in (function.returns, *annotations) if part
        ]
    assert "__future__" in modules or not [
        name for name in evaluated if "|" in name or "[" in name
    ]
