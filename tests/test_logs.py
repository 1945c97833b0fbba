"""What is written down about the bot's work holds neither chat nor secrets."""

import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from forgetmenot import logs
from forgetmenot.app.periodic_tasks import PeriodicTask


def read(folder: Path) -> str:
    for handler in logging.getLogger().handlers:
        handler.flush()
    return (folder / "forgetmenot.log").read_text(encoding="utf-8")


SECRETS = (
    "oauth:abcdefghij0123456789klmnopqrst",
    "Bearer abcdefghij0123456789klmnopqrst",
    "sk-proj-abcdefghijklmnop",
    "AIzaSyA1234567890abcdefghijklmnopqrstu",
    "refresh_token=shortbutsecret",
    "client_secret=shortbutsecret",
    "https://llm.example.org/v1?api_key=shortbutsecret",
    "device_code=ike3GM8QIdYZs43KdrWPIO36LofILoCyFEzjlQ91",
    "https://me:shortbutsecret@llm.example.org/v1",
    "gsk_abcdefghijklmnopqrstuvwxyz0123456789",
    "abcdefghij0123456789klmnopqrst",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
)


@pytest.mark.parametrize("secret", SECRETS)
def test_whatever_is_shaped_like_a_token_is_masked(secret: str) -> None:
    masked = logs.mask(f"Twitch answered 401 to {secret} just now")
    assert re.split("[: =]", secret)[-1] not in masked


def test_numbers_and_ids_are_not_masked() -> None:
    sentence = (
        "episode 12 covers 40 events of stream 3 (9f6d2c1e-0a50-4a34-8a77-6b1f3c1e2d11)"
    )
    assert logs.mask(sentence) == sentence


def test_a_bug_is_told_without_its_message_and_without_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Messages and local variables may quote what somebody said in chat."""
    empty = dict[str, str]()
    words = "my secret birthday"
    logs.set_up(folder=tmp_path)
    for logger in (logs.log, logging.getLogger("somebody.else")):
        try:
            empty[words]
        except KeyError:
            logger.exception("a line failed")
    logged = capsys.readouterr().err + read(tmp_path)
    assert words not in logged
    assert logged.count("KeyError") >= 4
    assert "in test_a_bug" in logged


def test_nor_before_the_log_is_set_up() -> None:
    code = "from forgetmenot.logs import log\ntry:\n    {}['my secret']\nexcept KeyError:\n    log.exception('failed')"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "KeyError" in ended.stderr
    assert "my secret" not in ended.stderr


def test_keys_that_could_hold_chat_are_dropped_and_secrets_masked_however_deep_and_for_libraries(
    tmp_path: Path,
) -> None:
    logs.set_up(level="debug", folder=tmp_path, console=False)
    secret = "sk-proj-abcdefghijklmnop"
    logs.log.warning("a line", **dict.fromkeys(logs.CHAT_KEYS, "what alice said"))
    logging.getLogger("somebody.else").warning("token=%s", secret)
    deep = {
        "episode": 7,
        "text": "alice said",
        "rows": [{"login": "alice", "count": 3}, (secret,)],
        secret: [{secret}],
    }
    logs.log.info(
        "nested",
        deep=deep,
        thing=Thing(),
        folder=tmp_path / "x",
        endless=[[[[[["alice said"]]]]]],
    )
    written = read(tmp_path)
    assert "alice" not in written
    assert secret not in written
    assert '"episode": 7' in written
    assert '"count": 3' in written
    assert '"thing": "Thing"' in written
    assert str(tmp_path) in written


class Thing:
    """Something that would tell too much of itself."""

    def __repr__(self) -> str:
        return "what alice said"


async def test_a_periodic_task_is_named_in_each_line_that_it_logs(
    tmp_path: Path,
) -> None:
    logs.set_up(folder=tmp_path, console=False)

    async def work() -> None:
        logs.log.info("three rows were removed", rows=3)

    await PeriodicTask("retention", 60_000, work).do(now=0)
    logs.log.info("afterwards")
    inside, afterwards = [json.loads(line) for line in read(tmp_path).splitlines()]
    assert (inside["task"], inside["rows"], inside["level"]) == ("retention", 3, "info")
    assert "task" not in afterwards


async def test_an_unexpected_fault_of_a_task_is_logged_once_with_its_place_and_its_task(
    tmp_path: Path,
) -> None:
    logs.set_up(folder=tmp_path, console=False)

    async def work() -> None:
        raise KeyError("what alice said")

    task = PeriodicTask("retention", 60_000, work)
    with capture_logs() as logged:
        await task.do(now=0)
    assert [entry["log_level"] for entry in logged] == ["error", "warning"]
    await task.do(now=1)
    written = read(tmp_path)
    assert written == "", "the same trouble is not logged again"
