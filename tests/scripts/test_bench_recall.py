"""What `scripts/bench_recall.py` prints of what it measured."""

import bench_recall
import pytest

NONE_FOUND = {
    "questions": 2, "answered": 0.0, "recall@5": 0.0, "recall@10": 0.0, "mrr": 0.0, "ms_p50": 0.1, "ms_p95": 0.2,
}  # fmt: skip


def test_figures_are_printed_also_when_no_prompt_would_tell_of_the_past(capsys: pytest.CaptureFixture[str]) -> None:
    bench_recall.show({way: {"all": NONE_FOUND} for way in ("recall", "episodes", "past")})
    assert "past: a prompt tells one in 0.000 of the cases" in capsys.readouterr().out
