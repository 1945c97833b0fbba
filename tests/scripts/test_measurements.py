"""The scripts that measure: their lists are sound and they print what they document."""

import json
import subprocess
import sys
from pathlib import Path

import bench_recall
import pytest
from chaos import bad, chaos

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


TALK = {
    "sample_id": "small",
    "conversation": {"speaker_a": "Alice", "speaker_b": "Bob", "session_1_date_time": "1:56 pm on 8 May, 2023"},
    "observation": {
        "session_1_observation": {
            "Alice": [["Alice has two dogs.", "D1:1"], ["Alice plays the guitar.", "D1:2"]],
            "Bob": [["Bob works as a nurse.", "D1:3"]],
        }
    },
    "session_summary": {"session_1_summary": "Alice and Bob talk about animals and work."},
    "qa": [
        {"question": "Which pets does Alice have?", "evidence": ["D1:1"], "category": 4},
        {"question": "What is the job of Bob?", "evidence": ["D1:3"], "category": 4},
        {"question": "Which football club does Bob support?", "evidence": ["D1:1"], "category": 5},
    ],
}


def test_it_prints_tables_and_draws_charts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, drawn = tmp_path / "talk.json", tmp_path / "recall.svg"
    data.write_text(json.dumps([TALK]), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["bench_recall.py", str(data), "--fill", "300", "--svg", str(drawn)])
    bench_recall.main()
    printed = capsys.readouterr().out
    first = next(line for line in printed.splitlines() if line.startswith("recall: all"))
    assert first.split()[2:6] == ["2", "1", "1", "1"]
    assert "fit ≥ 0.3, recall: 1.000 of what has an answer, 0.000 of what has none" in printed
    assert "filled: notes 303" in printed
    assert drawn.read_text(encoding="utf-8").count("<polyline") >= 5


@pytest.mark.slow
async def test_nothing_is_lost_doubled_sent_twice_or_left_behind(tmp_path: Path) -> None:
    assert bad(await chaos(tmp_path, 1, quick=True)) == {}
