"""The demo, played once for all tests of all workers, in a process that notes what it gave out."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.program import environment

PLAY = """
import asyncio, json, pathlib, sys
from forgetmenot import logs
from forgetmenot.demo.show import Show, play
from forgetmenot.settings.schema import DockSettings, Settings
from forgetmenot.demo import twitch_server

folder = pathlib.Path(sys.argv[1])
tokens = []
highlight = []
counts = []
class Noted(twitch_server.Tokens):
    def grant(self, *words, **more):
        granted = super().grant(*words, **more)
        tokens.extend((granted.access, granted.refresh))
        return granted
twitch_server.Tokens = Noted
logs.set_up(level="debug", folder=folder / "logs")
settings = Settings(dock=DockSettings(port=0))
show = Show(settings, lambda _style, line: highlight.append(line), finished=counts.append, fast=True)
asyncio.run(play(folder / "memory.sqlite3", show))
print(json.dumps({"tokens": tokens, "highlight": highlight, "counts": counts[0]}))
"""


@dataclass(frozen=True)
class PlayedDemo:
    """A demo that was played at debug level: its memory, its logs, and what came of it."""

    folder: Path
    errors: bytes
    tokens: list[str]
    highlight: list[str]
    counts: dict[str, Any]  # the counts that --json prints

    def rows(self, sql: str, *params: object) -> list[Any]:
        with closing(sqlite3.connect(self.folder / "memory.sqlite3")) as db:
            return list(db.execute(sql, params))

    def sent_replies(self) -> list[str]:
        return [
            row[0]
            for row in self.rows(
                "SELECT text FROM bot_messages WHERE status = 'sent' ORDER BY id"
            )
        ]


@pytest.fixture(scope="session")
def played_demo(tmp_path_factory: pytest.TempPathFactory) -> PlayedDemo:
    """A demo that was played at debug level, by one worker for all: nobody writes there."""
    root = tmp_path_factory.getbasetemp()
    place = (
        root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    ) / "played_demo"
    with FileLock(f"{place}.lock"):
        if not place.exists():
            making = place.with_suffix(".making")
            data = making / "data"
            data.mkdir(parents=True)
            words = [sys.executable, "-c", PLAY, str(data)]
            ended = subprocess.run(
                words,
                check=False,
                env=environment(data),
                capture_output=True,
                timeout=100,
            )
            assert ended.returncode == 0, ended.stderr.decode()[-2_000:]
            (making / "printed.json").write_bytes(ended.stdout)
            (making / "errors").write_bytes(ended.stderr)
            making.rename(place)
    printed = json.loads((place / "printed.json").read_text(encoding="utf-8"))
    return PlayedDemo(place / "data", (place / "errors").read_bytes(), **printed)
