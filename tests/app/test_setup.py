"""The set-up's steps by themselves: what is kept, what is refused in words, and what is asked about first."""

import asyncio
import json
import stat
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.setup import SetupService, models_at
from forgetmenot.clock import ManualClock
from forgetmenot.durations import DAY
from forgetmenot.errors import InputError, ModelError, SettingsError
from forgetmenot.languages import in_language, reason
from forgetmenot.llm.build import (
    SERVICE_KEY_ENV,
    environment_with_key,
    keep_key,
    key_variable,
)
from forgetmenot.secret_store import SecretStore
from forgetmenot.settings.live_settings import presets
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import (
    HearingSettings,
    Mode,
    ModelSettings,
    PrivacySettings,
    Provider,
)
from forgetmenot.store import backup
from tests.app.conftest import Steps
from tests.loopback_servers.gemini import KEY, SimGemini
from tests.loopback_servers.openai import SimOpenAI

ODD: list[tuple[str, Mapping[str, object], str]] = [
    *(
        ("channel", {"channel": typed}, "is not a login")
        for typed in ("", "my channel", "https://example.org/alice")
    ),
    ("channel", {"chanel": "x"}, ""),
    ("mode", {"mode": "loud"}, ""),
    ("channel", {"channel": "alice", "more": 1}, "did not understand"),
    ("set", {"table": "bot", "key": "name", "value": " "}, "needs a name"),
    *(
        ("model", {"provider": "openai_compatible", **half}, "and one of its models")
        for half in ({"base_url": "localhost:9/v1"}, {"model": "small-model"})
    ),
    ("nothing", {}, ""),
    ("try", {"viewer": ""}, ""),
    ("try", {"viewer": "alice", "text": " "}, "Type a text"),
    ("listen", {"on": "no"}, ""),
    ("past", {"do": "eat"}, ""),
    ("models", {"base_url": " "}, "The address of a program"),
    ("quit", {}, ""),
    (
        "models",
        {"base_url": "localhost:9/v1", "key": KEY},
        "Start the program that serves the model",
    ),
    (
        "models",
        {"base_url": "http://127.0.0.1:9/v1"},
        "Nothing answers at http://127.0.0.1:9/v1",
    ),
    (
        "models",
        {"base_url": "models.invalid/v1", "key": KEY},
        "https://models.invalid/v1 gave no list of models",
    ),
    ("model", {"provider": "gemini", "key": "schlüssel"}, "the whole key"),
    (
        "model",
        {
            "provider": "openai_compatible",
            "base_url": "http://10.0.0.7/v1",
            "model": "m",
            "key": KEY,
        },
        "https://",
    ),
]


@pytest.mark.parametrize(("step", "body", "words"), ODD)
async def test_what_is_wrong_is_said_and_changes_nothing(
    steps: Steps, step: str, body: Mapping[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words or None):
        await steps.do(step, **body)
    assert steps.file.read_text() == "# mine\n"
    assert not (steps.file.parent / "login").exists()


async def test_speaking_without_a_model_is_asked_about_first(steps: Steps) -> None:
    for step, fields in (
        ("mode", {"mode": "mentions"}),
        ("set", {"table": "bot", "key": "mode", "value": "live"}),
    ):
        answer = await steps.do(step, **fields)
        assert "No AI model" in str(answer["ask"])
        assert steps.settings().bot.mode is Mode.SHADOW
    assert (await steps.do("mode", mode="mentions", sure=True))["ok"]
    assert load_settings(steps.file).bot.mode is Mode.MENTIONS


async def test_a_setting_changes_for_the_running_bot_and_in_its_file(
    steps: Steps,
) -> None:
    steps.file.write_text('[bot]\nmode = "shadow"  # for now\n')
    assert (await steps.do("set", table="bot", key="name", value="Pat"))[
        "line"
    ] == "Saved."
    assert steps.file.read_text() == '[bot]\nmode = "shadow"  # for now\nname = "Pat"\n'
    for table, key, value, message in (
        ("bot", "persona", "word " * 790, "persona"),  # fits the schema, not the budget
        ("bot", "name", ["x"], "Name"),
        ("bot", "language", "xx", "none of de, en"),
        ("dock", "port", 1, "port"),
    ):
        with pytest.raises(SettingsError, match=message):
            await steps.do("set", table=table, key=key, value=value)
    assert steps.settings() == load_settings(steps.file)


async def test_a_model_is_kept_only_if_it_answers(steps: Steps) -> None:
    async with SimOpenAI(key="another") as closed:
        with pytest.raises(ModelError, match="does not accept the key"):
            await steps.do(
                "model",
                provider="openai_compatible",
                base_url=closed.url,
                model="small-model",
            )
    assert steps.settings().model.provider is Provider.OFFLINE
    async with SimOpenAI() as sim:
        answer = await steps.do(
            "model", provider="openai_compatible", base_url=sim.url, model="small-model"
        )
    assert "small-model says: “Understood.”" in str(answer["line"])
    saved = load_settings(steps.file).model
    assert (saved.base_url, saved.reply_model, saved.memory_model) == (
        sim.url,
        "small-model",
        "small-model",
    )


async def test_a_pasted_key_is_kept_for_its_owner_alone_and_never_shown(
    steps: Steps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    async with SimGemini() as sim:
        model = ModelSettings(provider=Provider.GEMINI, base_url=sim.url)
        steps.settings._current = msgspec.structs.replace(steps.settings(), model=model)
        await steps.do("model", provider="gemini", key=KEY)
    [file] = (tmp_path / "login").iterdir()
    assert file.read_text() == f"gemini {KEY}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KEY not in steps.file.read_text() + json.dumps(
        await steps.service.state(), default=str
    )
    environment = environment_with_key(
        steps.settings().model, tmp_path / "login", use_keyring=False
    )
    assert environment["GEMINI_API_KEY"] == KEY
    monkeypatch.setenv(
        "GEMINI_API_KEY", "from the shell"
    )  # a variable that is set goes first
    environment = environment_with_key(
        steps.settings().model, tmp_path / "login", use_keyring=False
    )
    assert environment["GEMINI_API_KEY"] == "from the shell"


def test_a_pasted_key_goes_to_its_provider_and_its_host_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("GEMINI_API_KEY", "OTHER_KEY", SERVICE_KEY_ENV):
        monkeypatch.delenv(variable, raising=False)
    secrets = SecretStore(tmp_path, use_keyring=False)
    openai = ModelSettings(
        provider=Provider.OPENAI_COMPATIBLE, base_url="https://one.example/v1"
    )
    gemini = ModelSettings(provider=Provider.GEMINI, api_key_env="OTHER_KEY")
    keep_key(secrets, openai, "key-of-one")
    keep_key(secrets, gemini, "key-of-gemini")

    def key_for(settings: ModelSettings) -> str:
        return environment_with_key(settings, tmp_path, use_keyring=False).get(
            key_variable(settings), ""
        )

    assert (key_for(openai), key_for(gemini)) == ("key-of-one", "key-of-gemini")
    for elsewhere in (
        "https://two.example/v1",
        "http://127.0.0.1:11434/v1",
        "https://one.example:8443/v1",
    ):
        assert key_for(msgspec.structs.replace(openai, base_url=elsewhere)) == ""
    assert (
        key_for(msgspec.structs.replace(openai, api_key_env="OTHER_KEY"))
        == "key-of-one"
    )


async def test_an_expired_log_in_shows_as_expired(steps: Steps) -> None:
    trouble = reason("nobody_in", account=reason("bot"), command="forgetmenot login")
    control = BotControl(
        steps.bot, steps.settings, ConnectionStatus(login_trouble=lambda: trouble)
    )
    service = SetupService(steps.settings, steps.file.parent, use_keyring=False)
    async with service.attached(control):
        login = dict(await service.state())["login"]
    assert isinstance(login, Mapping)
    assert "has expired" in str(login["trouble"])


async def test_a_character_to_begin_with_stays_the_same_in_another_language(
    steps: Steps,
) -> None:
    english = presets(in_language("en")).values()
    german = presets(in_language("de")).values()
    for english_text, german_text in zip(english, german, strict=True):
        await steps.do("character", name="Bot", persona=english_text)
        await steps.do("set", table="bot", key="language", value="de")
        assert steps.settings().bot.persona == german_text
        await steps.do("set", table="bot", key="language", value="en")
        assert steps.settings().bot.persona == english_text


async def test_a_character_of_ones_own_is_not_written_anew_by_another_language(
    steps: Steps,
) -> None:
    before = steps.settings().bot.persona
    steps.settings.change({("bot", "persona"): "dry and kind"}, lambda _new: None)
    await steps.do("set", table="bot", key="language", value="de")
    assert steps.settings().bot.persona == "dry and kind" != before


@pytest.mark.parametrize("typed", ["Alice", "@alice", "https://www.twitch.tv/alice"])
async def test_a_channel_is_kept_by_its_name(steps: Steps, typed: str) -> None:
    assert (await steps.do("channel", channel=typed))["line"] == "Saved."
    assert load_settings(steps.file).twitch.channel == "alice"
    assert (await steps.shown("channel"))["name"] == "alice"


async def test_the_models_of_a_program_are_listed_by_its_address_as_it_is_typed(
    steps: Steps,
) -> None:
    async with SimOpenAI() as sim:
        typed = sim.url.removeprefix("http://").removesuffix("/v1")
        answer = await steps.do("models", base_url=f" {typed}/ ")
        assert answer["base_url"] == sim.url
        assert answer["models"] == await models_at(sim.url)
        assert answer["models"]


async def test_a_change_of_channel_restarts_the_bot_and_a_change_of_name_does_not(
    steps: Steps,
) -> None:
    assert (await steps.do("channel", channel="alice"))["restarting"] is False
    steps.service.restarts = True
    assert (await steps.do("channel", channel="bob"))["restarting"] is True
    named = await steps.do("character", name="Pat", persona="kind")
    assert named["restarting"] is False


async def test_the_page_shows_the_character_and_whether_it_is_the_streamers_own(
    steps: Steps,
) -> None:
    await steps.do("character", name=" Pat ", persona="dry and kind")
    character = await steps.shown("character")
    assert (character["name"], character["own"]) == ("Pat", True)
    [first, *_] = presets(in_language("en")).values()
    await steps.do("character", name="Pat", persona=first)
    assert (await steps.shown("character"))["own"] is False


async def test_the_page_shows_whether_a_key_is_kept_for_the_model(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    assert (await steps.shown("model"))["key_kept"] is False, "of no model"
    gemini = ModelSettings(provider=Provider.GEMINI)
    steps.settings._current = msgspec.structs.replace(steps.settings(), model=gemini)
    assert (await steps.shown("model"))["key_kept"] is True
    monkeypatch.delenv("GEMINI_API_KEY")
    assert (await steps.shown("model"))["key_kept"] is False


async def test_quit_ends_a_program_that_may_be_ended_after_its_answer(
    steps: Steps,
) -> None:
    stopped = asyncio.Event()
    assert (await steps.service.state())["quit"] is False
    folder = steps.file.parent
    service = SetupService(steps.settings, folder, use_keyring=False, stop=stopped.set)
    assert (await service.state())["quit"] is True
    answer = await service.run("quit", b"{}")
    assert str(answer["line"]).startswith("The bot stops.")
    assert not stopped.is_set()
    await asyncio.wait_for(stopped.wait(), 60)


async def test_a_copy_is_made_also_where_none_are_made_by_themselves(
    steps: Steps, tmp_path: Path, clock: ManualClock
) -> None:
    """The newest one stays."""
    privacy = PrivacySettings(keep_backups=0)
    steps.settings._current = msgspec.structs.replace(steps.settings(), privacy=privacy)
    line = str((await steps.do("backup"))["line"])
    copy = Path(line.removeprefix("Backed up: "))
    assert copy.is_file()
    assert copy.is_relative_to(tmp_path)
    await clock.advance(DAY)
    line = str((await steps.do("backup"))["line"])
    assert backup.copies_of(steps.bot.db.path) == [
        Path(line.removeprefix("Backed up: "))
    ]


async def test_obs_without_a_text_source_is_not_listened_to(steps: Steps) -> None:
    fields = {"obs": "localhost:4455", "captions": "", "programs": False}
    await steps.do("hearing", source=" ", **fields)
    assert load_settings(steps.file).hearing == HearingSettings()
    await steps.do("hearing", source=" Captions ", **fields)
    saved = load_settings(steps.file).hearing
    assert (saved.obs, saved.source) == ("localhost:4455", "Captions")
