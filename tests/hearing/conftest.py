"""What everything here shares: looks are quick."""

import pytest

from forgetmenot.hearing import service, sources


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(sources, "ASK_EVERY_S", 0.02)
