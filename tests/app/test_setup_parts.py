"""The set-up's steps for the other parts of the bot: captions, past chat, recaps, a trial, OBS, the start."""

import json
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from forgetmenot.app import autostart
from forgetmenot.app.control import LONGEST_MESSAGE, ConnectionStatus
from forgetmenot.app.recap_sharing import WEBHOOK, WEBHOOK_ENV
from forgetmenot.app.setup import SetupService
from forgetmenot.app.stream_input import OBS_PASSWORD, STOPPED
from forgetmenot.clock import ManualClock
from forgetmenot.dock.security import TOKEN_FILE
from forgetmenot.durations import HOUR
from forgetmenot.errors import (
    HearingError,
    InputError,
    SettingsError,
    WebhookError,
)
from forgetmenot.local_api import server as local_api
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import HearingSettings, Mode
from forgetmenot.store import channel_state, streams
from tests.app.conftest import Steps, opened_steps
from tests.hearing.obs_server import LoopbackObs, loopback_obs
from tests.loopback_servers.openai import SimOpenAI
from tests.ports import unused_port
from tests.stage import until

pytestmark = pytest.mark.slow

DISCORD = "https://discord.com/api/webhooks/123456789012345678/" + "a" * 68
A_LOG = "[2026-05-01 20:15:03] alice: I play the cello\n" * 6


# ── captions ────────────────────────────────────────────────────────────────────────────────


async def test_a_password_of_obs_is_kept_once_it_works(steps: Steps) -> None:
    steps.service.restarts = True
    obs = LoopbackObs({"Captions": ""}, password="hunter")
    async with loopback_obs(obs):
        with pytest.raises(HearingError, match="refused the password"):
            await steps.do("sources", obs=obs.url, password="wrong")
        assert not steps.service.secrets.load(OBS_PASSWORD)
        answer = await steps.do("sources", obs=f" {obs.url} ", password="hunter")
        assert answer == {
            "ok": True,
            "sources": ["Captions"],
            "line": "",
            "restarting": True,
        }
        assert steps.service.secrets.load(OBS_PASSWORD) == "hunter"
        again = await steps.do("sources", obs=obs.url)
        assert (again["sources"], again["restarting"]) == (["Captions"], False)
        with pytest.raises(HearingError, match="refused the password"):
            await steps.do("sources", obs=obs.url, password="newer")
    assert steps.service.secrets.load(OBS_PASSWORD) == "hunter"
    assert "hunter" not in json.dumps(await steps.service.state(), default=str)


async def test_an_obs_without_a_text_source_is_said(steps: Steps) -> None:
    async with loopback_obs(LoopbackObs({})) as obs:
        answer = await steps.do("sources", obs=obs.url)
    assert (answer["sources"], answer["line"]) == (
        [],
        "This OBS has no text source yet.",
    )


async def test_where_captions_come_from_is_kept(steps: Steps, tmp_path: Path) -> None:
    file = str(tmp_path / "captions.txt")
    answer = await steps.do(
        "hearing", obs=" ", source="", captions=f" {file} ", programs=True
    )
    assert answer["line"] == "Saved."
    saved = load_settings(steps.file).hearing
    assert saved == HearingSettings(captions=file, programs=True)


async def test_the_streamer_is_not_heard_until_listening_goes_on(steps: Steps) -> None:
    for on, stopped in ((False, "1"), (True, "")):
        assert (await steps.do("listen", on=on))["ok"] is True
        assert await channel_state.read(steps.bot.db, STOPPED) == stopped


# ── chat of past streams ────────────────────────────────────────────────────────────────────


async def in_pieces(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def drop_file(steps: Steps) -> None:
    """Drop a chat log on the dock."""
    data = A_LOG.encode()
    answer = await steps.service.take_file("chat.log", len(data), in_pieces(data))
    assert answer == {"ok": True, "line": ""}


async def test_a_dropped_file_is_looked_at_learned_from_and_gone(steps: Steps) -> None:
    await drop_file(steps)
    assert (await steps.shown("past_chat"))["files"] == ["chat.log"]
    assert "6 lines" in str((await steps.do("past", do="look"))["line"])
    assert (await steps.do("past", do="learn"))["line"] == ""
    upload = steps.service.upload()
    await until(lambda: not upload.state["running"])
    past_chat = await steps.shown("past_chat")
    assert "Learned from 6 lines" in str(past_chat["line"])
    assert past_chat["files"] == []


async def test_a_dropped_file_can_be_taken_away(steps: Steps) -> None:
    await drop_file(steps)
    assert (await steps.do("past", do="drop"))["line"] == ""
    assert (await steps.shown("past_chat"))["files"] == []
    with pytest.raises(InputError):
        await steps.do("past", do="learn")


async def test_learning_stops_soon_and_the_page_says_so(steps: Steps) -> None:
    await drop_file(steps)
    await steps.do("past", do="learn")
    line = (await steps.do("past", do="stop"))["line"]
    assert line == "It stops after the lines that are being read."
    upload = steps.service.upload()
    await until(lambda: not upload.state["running"])


async def test_a_file_that_is_larger_than_any_is_refused_by_its_size(
    steps: Steps,
) -> None:
    with pytest.raises(InputError, match="not enough room"):
        await steps.service.take_file("chat.log", 10**15, in_pieces(b""))


# ── recaps ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
async def stream_id(
    steps: Steps, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> int:
    """A stream that is over, with a recap, and no webhook in the environment."""
    monkeypatch.delenv(WEBHOOK_ENV, raising=False)
    now = clock.now()
    async with steps.bot.db.write() as tx:
        stream = await streams.begin(tx, now - HOUR)
        await streams.end(tx, stream, now)
        await streams.set_recap(tx, stream, "The boss fell.", now)
    return stream


async def test_a_webhook_is_kept_as_a_secret_and_deleted_by_an_empty_address(
    steps: Steps, stream_id: int
) -> None:
    async def has_webhook() -> object:
        recap = await steps.do("recap", stream=stream_id)
        assert recap["ok"] is True
        assert "The boss fell." in str(recap["markdown"])
        return recap["webhook"]

    assert await has_webhook() is False
    with pytest.raises(InputError, match="begins with https://discord"):
        await steps.do("webhook", address="https://example.org/hook")
    assert await has_webhook() is False
    assert (await steps.do("webhook", address=f" {DISCORD} "))["line"] == "Saved."
    assert steps.service.secrets.load(WEBHOOK) == DISCORD
    assert await has_webhook() is True
    shown = json.dumps(await steps.service.state(), default=str)
    assert DISCORD not in shown + steps.file.read_text()
    assert (await steps.do("webhook", address=" "))["line"] == "Saved."
    assert await has_webhook() is False


async def test_a_recap_without_a_webhook_or_with_an_odd_picture_is_not_posted(
    steps: Steps, stream_id: int
) -> None:
    with pytest.raises(InputError, match="The address of a Discord webhook"):
        await steps.do("post_recap", stream=stream_id)
    await steps.do("webhook", address=DISCORD)
    with pytest.raises(InputError, match="did not understand"):
        await steps.do("post_recap", stream=stream_id, picture="SGVsbG8=")
    with pytest.raises(InputError, match="There is nothing here"):
        await steps.do("post_recap", stream=stream_id + 1)


async def test_a_recap_that_was_posted_is_posted_again_only_if_that_is_asked_for(
    steps: Steps, stream_id: int, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What goes to Discord ends at a proxy that is not there.
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{unused_port()}")
    for name in ("https_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    await steps.do("webhook", address=DISCORD)
    with pytest.raises(WebhookError):
        await steps.do("post_recap", stream=stream_id)
    async with steps.bot.db.write() as tx:
        await streams.claim_post(tx, stream_id, clock.now(), again=False)
    with pytest.raises(InputError, match="done already"):
        await steps.do("post_recap", stream=stream_id)
    with pytest.raises(WebhookError):
        await steps.do("post_recap", stream=stream_id, again=True)


@pytest.mark.usefixtures("stream_id")
@pytest.mark.parametrize("number", [-1, 2**63, 2**70])
async def test_a_number_that_no_stream_has_finds_nothing(
    steps: Steps, number: int
) -> None:
    """Also one that is too large for a number of SQLite."""
    await steps.do("webhook", address=DISCORD)
    for step in ("recap", "post_recap"):
        with pytest.raises(InputError, match="There is nothing here"):
            await steps.do(step, stream=number)


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"null", b'{"on": \xff}', b"[" * 100_000, b""]
)
async def test_what_is_no_request_is_not_understood(steps: Steps, body: bytes) -> None:
    with pytest.raises(InputError, match="did not understand this request"):
        await steps.service.run("listen", body)


# ── what it would say, and how much ─────────────────────────────────────────────────────────


async def test_a_trial_shows_a_reply_and_sends_none(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with SimOpenAI() as sim:
        config = (
            f'[model]\nprovider = "openai_compatible"\nbase_url = "{sim.url}"\n'
            'reply_model = "small-model"\nmemory_model = "small-model"\n'
        )
        async with opened_steps(tmp_path, clock, config, ConnectionStatus()) as steps:
            sim.answers(json.dumps({"say": "A cello, I think."}))
            text = "what do I play? ".ljust(LONGEST_MESSAGE, "?")
            answer = await steps.do("try", viewer="alice", text=text)
            rows = await steps.bot.db.value("SELECT count(*) FROM bot_messages")
    assert (answer["ok"], answer["text"]) == (True, "A cello, I think.")
    assert answer["model"] == "small-model"
    asked = json.dumps(sim.seen[-1])
    assert "alice" in asked
    assert "what do I play?" in asked
    assert rows == 0


async def test_a_trial_takes_no_more_than_chat_does(steps: Steps) -> None:
    with pytest.raises(InputError, match=f"at most {LONGEST_MESSAGE} characters"):
        await steps.do("try", viewer="alice", text="x" * (LONGEST_MESSAGE + 1))


async def test_the_question_before_it_speaks_has_a_button(steps: Steps) -> None:
    answer = await steps.do("mode", mode="live")
    assert answer["ok"] is False
    assert answer["yes"] == "Switch it on"
    back = await steps.do("mode", mode="shadow")
    assert (back["ok"], back["line"]) == (True, "Saved.")


async def test_a_mode_that_there_is_not_is_refused_by_the_settings(
    steps: Steps,
) -> None:
    with pytest.raises(SettingsError):
        await steps.do("set", table="bot", key="mode", value="loud")
    assert steps.settings().bot.mode is Mode.SHADOW


async def test_a_bot_needs_a_name(steps: Steps) -> None:
    with pytest.raises(InputError, match="The bot needs a name"):
        await steps.do("character", name=" ", persona="kind")


async def test_a_change_reaches_the_prompt_of_the_running_bot(steps: Steps) -> None:
    bot = steps.bot
    before = (await bot.keeper.current()).prefix.text
    await steps.do("character", name="Pat", persona="a pirate of the old kind")
    after = (await bot.keeper.current()).prefix.text
    assert "a pirate of the old kind" in after
    assert after != before


# ── OBS, other programs, the start of the computer, quitting ────────────────────────────────


async def test_the_page_for_obs_leads_to_this_dock(
    steps: Steps, tmp_path: Path
) -> None:
    answer = await steps.do("obs")
    assert answer["ok"] is True
    address = urlsplit(str(answer["address"]))
    assert address.scheme == "file"
    page = Path(unquote(address.path))
    assert page.parent == tmp_path
    text = page.read_text()
    assert (tmp_path / TOKEN_FILE).read_text() in text
    assert str(steps.settings().dock.port) in text
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    await steps.do("set", table="bot", key="language", value="de")
    await steps.do("obs")
    assert 'lang="de"' in page.read_text()


async def test_other_programs_get_a_token_of_their_own(
    steps: Steps, tmp_path: Path
) -> None:
    await steps.do("obs")
    answer = await steps.do("connect")
    assert answer["ok"] is True
    port = steps.settings().dock.port
    assert answer["address"] == f"http://127.0.0.1:{port}/v1/"
    assert answer["token"] == (tmp_path / local_api.TOKEN_FILE).read_text()
    assert answer["token"] != (tmp_path / TOKEN_FILE).read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="a systemd user unit")
async def test_it_starts_with_the_computer_as_it_was_started_or_not(
    steps: Steps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "installed"))
    service = SetupService(
        steps.settings,
        tmp_path,
        use_keyring=False,
        start_options=["--db", "other.sqlite3"],
    )
    with_options = Steps(service, steps.settings, steps.bot, steps.file)
    assert (await with_options.do("autostart", on=True))["line"] == "Saved."
    assert "other.sqlite3" in autostart.entry().read_text()
    assert (await service.state())["autostart"] is True
    assert (await with_options.do("autostart", on=False))["line"] == "Saved."
    assert (await service.state())["autostart"] is False


async def test_a_program_that_may_not_be_ended_is_not(steps: Steps) -> None:
    with pytest.raises(InputError, match="did not understand"):
        await steps.do("quit")
