"""What the dock asks of a running bot: everything real but Twitch; each wish answers with one sentence."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import BotControl, Surroundings
from forgetmenot.app.served import served
from forgetmenot.clock import ManualClock
from forgetmenot.dock.security import TOKEN_FILE
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import NoteStatus
from forgetmenot.errors import InputError
from forgetmenot.settings.live import LiveSettings
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import BotSettings, DockSettings, Mode, Settings, TwitchSettings
from forgetmenot.store import channel_state, notes, viewers
from tests.dock.conftest import free_port

ALICE = "11"
SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS), twitch=TwitchSettings(channel="streamer"))


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Bot]:
    settings = LiveSettings(SETTINGS)
    async with open_bot(tmp_path / "memory.sqlite3", "test", settings=settings, clock=clock) as running:
        for number, (login, text) in enumerate([("alice", "hello"), ("bob", "hi alice")], 11):
            event = ChatEvent(f"e{number}", EventKind.MESSAGE, str(number), login, login.title(), text, clock.now())
            await running.hear(event)
        await running.settle()
        yield running


@pytest.fixture
def control(bot: Bot) -> BotControl:
    settings = bot.settings
    assert isinstance(settings, LiveSettings)
    return BotControl(bot, settings, Surroundings("test"))


async def fact(bot: Bot, note_id: int) -> tuple[str, NoteStatus]:
    note = await notes.get(bot.db, note_id)
    assert note is not None
    return note.fact, note.status


def test_its_state_is_told_without_waiting(control: BotControl) -> None:
    state = control.state()
    assert (state.command, state.phase, state.reply_model) == ("test", "none", "offline")
    assert {chore.name for chore in state.chores} >= {"sweep", "memory"}
    assert state.model_trouble == ""


async def test_a_note_is_written_corrected_and_brought_back(bot: Bot, control: BotControl) -> None:
    assert await control.remember(ALICE, "plays drums with @bob") == _ok("Remembered as #1.")
    assert await fact(bot, 1) == ("plays drums with <@12>", NoteStatus.ACTIVE)
    assert (await control.edit(1, "plays drums with @Bob!")).ok  # a letter is enough
    assert await fact(bot, 1) == ("plays drums with <@12>", NoteStatus.SUPERSEDED)
    assert await fact(bot, 2) == ("plays drums with <@12>!", NoteStatus.ACTIVE)
    assert (await control.restore(1)).line == "#1 stands again."
    assert (await fact(bot, 2))[1] is NoteStatus.RETRACTED
    assert (await control.pin(1, on=True)).ok
    assert (await control.edit(1, "plays the cello now")).ok  # by hand even a pinned one
    third = await notes.get(bot.db, 3)
    assert third is not None
    assert third.pinned
    assert third.episode_ids
    assert (await control.retract(3)).ok
    assert not (await control.retract(3)).ok
    assert not (await control.pin(3, on=True)).ok


async def test_what_is_never_stored_is_refused_by_hand_too(control: BotControl) -> None:
    assert not (await control.remember(ALICE, "no")).ok
    assert not (await control.remember(ALICE, "has been diagnosed with depression")).ok
    assert not (await control.remember("nobody", "plays drums in a band")).ok
    assert not (await control.edit(99, "plays drums in a band")).ok
    assert not (await control.restore(99)).ok


async def test_a_typed_mention_is_not_one(bot: Bot, control: BotControl) -> None:
    await control.remember(None, "the channel loves <@12> and @nobody_at_all")
    assert "<@12>" not in (await fact(bot, 1))[0]


async def test_what_is_left_alone_can_be_brought_up_again(bot: Bot, control: BotControl) -> None:
    await control.remember(None, "chat always blames the ladder", bit=True)
    assert (await control.leave_alone(None, "#1")).ok
    assert not (await control.leave_alone(None, "#99")).ok
    assert (await control.allow_again(1)).ok
    assert not (await control.allow_again(1)).ok


async def test_resuming_gives_what_failed_another_chance(bot: Bot, control: BotControl) -> None:
    """As `!bot resume` does in chat."""
    async with bot.db.write() as tx:
        await channel_state.put(tx, {"action_off:clip": "TwitchRefused: no"}, bot.clock.now())
    assert "clip is switched off" in (await control.switch("pause")).line
    assert "clip" not in (await control.switch("resume")).line
    assert await channel_state.read(bot.db, "action_off:clip") == ""


async def test_switches_outlive_the_page(bot: Bot, control: BotControl) -> None:
    for what, name, value in (("pause", "paused", "1"), ("resume", "paused", ""), ("safe", "safe_mode", "1")):
        assert (await control.switch(what)).ok
        assert await channel_state.read(bot.db, name) == value
    assert (await control.switch("quiet", 9_999)).ok
    assert not (await control.switch("explode")).ok


async def test_nothing_waits(control: BotControl) -> None:
    for told in (await control.approve(1), await control.deny(1), await control.undo(1)):
        assert not told.ok


async def test_a_message_is_tried_without_a_trace(bot: Bot, control: BotControl) -> None:
    await control.remember(ALICE, "has a cat called Miso")
    before = await bot.db.value("SELECT (SELECT count(*) FROM bot_messages) + (SELECT count(*) FROM action_logs)")
    told = await control.try_out("alice", "what is my cat called?")
    assert "Miso" in str(told["text"])
    assert told["recalled"] == [{"id": 1, "fact": "has a cat called Miso", "score": pytest.approx(0, abs=1)}]
    await control.try_out("", "time me out please")
    await control.try_out("somebody new", "hi")
    after = await bot.db.value("SELECT (SELECT count(*) FROM bot_messages) + (SELECT count(*) FROM action_logs)")
    assert after == before


async def test_a_persons_rights(bot: Bot, control: BotControl) -> None:
    await control.remember(ALICE, "has a cat called Miso")
    told = json.dumps(await control.export(ALICE))
    assert "Miso" in told
    assert "hello" in told
    assert (await control.opt_out(ALICE, on=True)).ok
    assert not (await control.remember(ALICE, "plays drums in a band")).ok
    assert (await control.opt_out(ALICE, on=False)).ok
    steps: list[str] = []
    assert (await control.erase(ALICE, lambda _share, what: steps.append(what))).ok
    assert steps[0] == "hiding"
    assert steps[-1] == "done"
    assert await viewers.get(bot.db, ALICE) is None
    assert not (await control.erase(ALICE, lambda _share, _what: None)).ok
    assert not (await control.opt_out(ALICE, on=True)).ok
    with pytest.raises(InputError):
        await control.export(ALICE)


async def test_a_setting_changes_for_the_running_bot_and_in_its_file(bot: Bot, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[bot]\nmode = "shadow"  # for now\n')
    settings = LiveSettings(load_settings(path), path)
    control = BotControl(bot, settings, Surroundings("test"))
    assert (await control.change_setting("bot", "mode", "live")).ok
    assert path.read_text() == '[bot]\nmode = "live"  # for now\n'
    refused = await control.change_setting("bot", "persona", "word " * 790)  # fits the schema, not the budget
    assert not refused.ok
    assert "persona" in refused.line
    assert not (await control.change_setting("bot", "mode", ["x"])).ok
    assert not (await control.change_setting("dock", "port", 1)).ok
    assert settings() == load_settings(path)


async def test_the_chain_of_a_note_is_told_with_names(bot: Bot, control: BotControl) -> None:
    await control.remember(ALICE, "plays drums with @bob")
    told = await control.chain(1)
    assert (told["who"], told["fact"]) == ("Alice", "plays drums with Bob")
    with pytest.raises(InputError):
        await control.chain(99)
    with pytest.raises(InputError):
        await control.why(99)


async def test_a_taken_port_does_not_keep_the_bot_from_running(bot: Bot) -> None:
    def settings(port: int) -> LiveSettings:
        return LiveSettings(Settings(dock=DockSettings(port=port)))

    port, told = free_port(), list[str]()
    async with served(bot, settings(port), Surroundings("test"), told.append) as first:
        assert first.startswith(f"http://127.0.0.1:{port}/?token=")
        async with served(bot, settings(port), Surroundings("test"), told.append) as second:
            assert second == ""
        async with served(bot, settings(port), Surroundings("test"), told.append, any_port=True) as third:
            assert third not in {"", first}
        async with served(bot, settings(0), Surroundings("test"), told.append) as none:
            assert none == ""
    assert "taken by another program" in told[1]


async def test_a_token_that_cannot_be_kept_does_not_keep_the_bot_from_running(bot: Bot) -> None:
    (bot.db.path.parent / TOKEN_FILE).mkdir()
    told: list[str] = []
    here = LiveSettings(Settings(dock=DockSettings(port=free_port())))
    async with served(bot, here, Surroundings("test"), told.append) as address:
        assert address == ""
    assert TOKEN_FILE in told[0]


def _ok(line: str) -> object:
    from forgetmenot.ports import Told

    return Told(ok=True, line=line)
