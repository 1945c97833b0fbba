"""The quick chaos run keeps every promise."""

from pathlib import Path

import pytest
from chaos import bad, chaos


@pytest.mark.slow
@pytest.mark.timeout(400)  # a minute on a quiet machine, but all gates run beside it
async def test_nothing_is_lost_doubled_sent_twice_or_left_behind(
    tmp_path: Path,
) -> None:
    assert bad(await chaos(tmp_path, 1, quick=True)) == {}
