"""The benchmark of the memory prints the rates it documents."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("what", "lines", "keys"),
    [
        (
            "pairs",
            "D|r|plays chess|plays chess\nC|v|lives in Rome|lives in Oslo\n",
            {"supersede_recall", "distinct_lost"},
        ),
        ("sensitive", "harmless|plays chess\nfaith|is Muslim\n", {"recall", "precision", "false_positives"}),
    ],
)
def test_rates_come_as_one_object(tmp_path: Path, what: str, lines: str, keys: set[str]) -> None:
    file = tmp_path / "lines.txt"
    file.write_text(lines, "utf-8")
    done = measure(what, file)
    assert keys <= json.loads(done.stdout).keys()


def test_no_line_is_left_out_in_silence(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("C|v|lives in Rome|lives in Oslo\r\nC|likes tea|dislikes tea\r\n", "utf-8-sig")
    done = measure("pairs", file)
    assert json.loads(done.stdout)["supersede_recall"] == 1
    assert done.stderr.startswith("1 lines have no 4 parts")
    gone = measure("pairs", tmp_path / "gone.txt")
    assert (gone.returncode, gone.stdout, "Traceback" in gone.stderr) == (1, "", False)
    assert "gone.txt cannot be read" in gone.stderr


def measure(what: str, file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "bench_memory.py"), what, str(file), "--json"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
