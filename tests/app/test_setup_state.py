"""What the page of the set-up is given: how everything stands, and nothing that is secret."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forgetmenot.app.bot import BotIdentity
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.setup import SetupService
from forgetmenot.clock import ManualClock
from forgetmenot.errors import InputError
from forgetmenot.languages import in_language, reason
from forgetmenot.settings.live_settings import presets
from forgetmenot.settings.schema import Provider, Settings
from forgetmenot.twitch.connection import ConnectionState, Phase
from tests.app.conftest import Steps, opened_steps

# What the page shows where nothing is set up and the bot starts.
AT_FIRST = {
    "channel": {"name": "", "phase": "starting", "trouble": ""},
    "character": {
        "name": "ForgetMeNot",
        "persona": Settings().bot.persona,
        "presets": presets(in_language("en")),
        "own": False,
        "sample": "hi! how do you like the stream so far?",
    },
    "model": {
        "provider": Provider.OFFLINE,
        "base_url": "",
        "model": Settings().model.reply_model,
        "local": False,
        "trouble": "",
        "key_kept": False,
        "terms": in_language("en").reason(reason("terms")),
        "key_page": "https://aistudio.google.com/apikey",
        "example": "http://127.0.0.1:11434/v1",
    },
    "login": {
        "client_id": "",
        "supplied": False,
        "console": "https://dev.twitch.tv/console/apps/create",
        "redirect": "http://localhost",
        "account": "",
        "pending": None,
        "trouble": "",
        "streamer": False,
    },
    "hearing": {
        "obs": "",
        "source": "",
        "captions": "",
        "programs": False,
        "offline": False,
        "answer_aloud": False,
        "now": None,
    },
    "past_chat": None,
    "autostart": False,
    "quit": False,
}


@pytest.fixture(autouse=True)
def nothing_set_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A computer on which nothing of the bot is set up."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for name in ("FORGETMENOT_CLIENT_ID", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


async def with_status(steps: Steps, status: ConnectionStatus) -> dict[str, object]:
    """What the page shows of the bot while its connection and log-in are like this."""
    service = SetupService(steps.settings, steps.file.parent, use_keyring=False)
    async with service.attached(BotControl(steps.bot, steps.settings, status)):
        return dict(await service.state())


def trouble_of(state: dict[str, object], part: str) -> object:
    values = state[part]
    assert isinstance(values, dict)
    return values["trouble"]


async def test_the_page_is_given_all_that_it_shows_while_the_bot_starts(
    steps: Steps, tmp_path: Path
) -> None:
    service = SetupService(steps.settings, tmp_path, use_keyring=False)
    assert await service.state() == AT_FIRST


async def test_the_page_is_given_what_the_running_bot_says(steps: Steps) -> None:
    assert await steps.service.state() == {
        **AT_FIRST,
        "channel": {"name": "", "phase": "none", "trouble": ""},
        "past_chat": {"files": [], "running": False, "share": 0.0, "line": ""},
    }


async def test_a_bot_that_has_ended_is_not_shown_any_more(steps: Steps) -> None:
    service = SetupService(steps.settings, steps.file.parent, use_keyring=False)
    control = BotControl(steps.bot, steps.settings, ConnectionStatus())
    async with service.attached(control):
        assert service.running() is control
    assert await service.state() == AT_FIRST


@pytest.mark.parametrize(
    ("step", "fields"),
    [
        ("try", {"viewer": "alice", "text": "hello"}),
        ("listen", {"on": True}),
        ("past", {"do": "look"}),
        ("recap", {"stream": 1}),
        ("backup", {}),
    ],
)
async def test_while_the_bot_starts_a_step_that_needs_it_says_so(
    steps: Steps, tmp_path: Path, step: str, fields: dict[str, object]
) -> None:
    starting = Steps(
        SetupService(steps.settings, tmp_path, use_keyring=False),
        steps.settings,
        steps.bot,
        steps.file,
    )
    with pytest.raises(InputError, match=r"The bot is starting\. Try again"):
        await starting.do(step, **fields)


def connected(phase: Phase, error: str = "") -> Callable[[], ConnectionState]:
    return lambda: ConnectionState(phase, error)


async def test_without_a_connection_the_channel_says_what_is_wrong_with_the_log_in(
    steps: Steps,
) -> None:
    lapsed = reason("nobody_in", account=reason("bot"), command="forgetmenot login")
    line = in_language("en").reason(lapsed)

    def login_trouble() -> str:
        return lapsed

    none = await with_status(steps, ConnectionStatus(login_trouble=login_trouble))
    assert (trouble_of(none, "channel"), trouble_of(none, "login")) == (line, line)
    reading = ConnectionStatus(connected(Phase.CONNECTED), login_trouble)
    state = await with_status(steps, reading)
    assert (trouble_of(state, "channel"), trouble_of(state, "login")) == ("", line)


async def test_the_channel_shows_how_its_connection_is(steps: Steps) -> None:
    status = ConnectionStatus(connected(Phase.WAITING, reason("chat_closed")))
    state = await with_status(steps, status)
    channel = state["channel"]
    assert isinstance(channel, dict)
    assert channel["phase"] == "waiting"
    assert channel["trouble"] == in_language("en").reason(reason("chat_closed"))


async def test_the_streamer_is_asked_to_log_in_unless_the_bot_is_the_streamer(
    steps: Steps,
) -> None:
    await steps.do("channel", channel="demo")
    for login, is_missing in (("keeper", True), ("demo", False)):
        steps.bot.become(BotIdentity("77", login))
        shown = await steps.shown("login")
        assert (shown["account"], shown["streamer"]) == (login, is_missing)


async def test_the_page_shows_what_is_heard_of_the_streamer(
    tmp_path: Path, clock: ManualClock
) -> None:
    captions = tmp_path / "captions.txt"
    config = f"[hearing]\ncaptions = '{captions}'\n"
    async with opened_steps(tmp_path, clock, config, ConnectionStatus()) as steps:
        steps.service.running().stream.tasks()
        hearing = await steps.shown("hearing")
        assert hearing["captions"] == str(captions)
        # nobody is listened to before it is known whether that was stopped
        assert hearing["now"] == {
            "listening": False,
            "trouble": "",
            "last": "",
            "last_at": 0,
        }


async def test_a_model_on_this_computer_is_shown_as_one(
    tmp_path: Path, clock: ManualClock
) -> None:
    config = (
        '[model]\nprovider = "openai_compatible"\nbase_url = "http://127.0.0.1:9/v1"\n'
        'reply_model = "small-model"\nmemory_model = "small-model"\n'
    )
    async with opened_steps(tmp_path, clock, config, ConnectionStatus()) as steps:
        model = await steps.shown("model")
    assert (model["provider"], model["base_url"], model["model"], model["local"]) == (
        Provider.OPENAI_COMPATIBLE,
        "http://127.0.0.1:9/v1",
        "small-model",
        True,
    )


async def test_an_app_that_came_with_the_program_is_shown_as_supplied(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGETMENOT_CLIENT_ID", "1234567890abcdef")
    assert (await steps.shown("login"))["supplied"] is True
