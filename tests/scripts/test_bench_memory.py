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
    command = [sys.executable, str(ROOT / "scripts" / "bench_memory.py"), what, str(file), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert keys <= json.loads(done.stdout).keys()
