"""The scripts that measure print what they document, and the quick chaos run keeps every promise."""

import json
import sys
from pathlib import Path

import bench
import pytest
from chaos import bad, chaos

ALICE = [["Alice has two dogs.", "D1:1"], ["Alice plays the guitar.", "D1:2"]]
TALK = {
    "sample_id": "small",
    "conversation": {"speaker_a": "Alice", "speaker_b": "Bob", "session_1_date_time": "1:56 pm on 8 May, 2023"},
    "observation": {"session_1_observation": {"Alice": ALICE, "Bob": [["Bob works as a nurse.", "D1:3"]]}},
    "session_summary": {"session_1_summary": "Alice and Bob talk about animals and work."},
    "qa": [
        {"question": "Which pets does Alice have?", "evidence": ["D1:1"], "category": 4},
        {"question": "What is the job of Bob?", "evidence": ["D1:3"], "category": 4},
        {"question": "Which football club does Bob support?", "evidence": ["D1:1"], "category": 5},
    ],
}


def test_recall_is_measured_on_conversations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "talk.json"
    data.write_text(json.dumps([TALK]), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["bench.py", "--recall", str(data), "--json"])
    assert bench.main() == 0
    found = {one["name"]: one["value"] for one in json.loads(capsys.readouterr().out)["figures"]}
    assert found["as asked, all: questions"] == 2
    assert found["as asked, all: recall@10"] == found["as asked, all: MRR"] == 1


@pytest.mark.slow
async def test_nothing_is_lost_doubled_sent_twice_or_left_behind(tmp_path: Path) -> None:
    assert bad(await chaos(tmp_path, 1, quick=True)) == {}
