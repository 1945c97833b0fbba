"""The quick chaos run keeps every promise."""

from pathlib import Path

import pytest
from chaos import bad, chaos


@pytest.mark.slow
async def test_nothing_is_lost_doubled_sent_twice_or_left_behind(tmp_path: Path) -> None:
    assert bad(await chaos(tmp_path, 1, quick=True)) == {}
