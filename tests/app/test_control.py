"""What the dock asks of a running bot: everything real but Twitch; each request is answered with one sentence."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus, try_out
from forgetmenot.app.live import keep_gap, serve_dock
from forgetmenot.clock import ManualClock
from forgetmenot.dock.context import DockContext
from forgetmenot.dock.pages import now
from forgetmenot.dock.security import TOKEN_FILE
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.errors import ModelUnavailable
from forgetmenot.operations.wording import sentence
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import (
    BotSettings,
    DockSettings,
    LimitSettings,
    Mode,
    Settings,
    TwitchSettings,
)
from forgetmenot.store import channel_state
from forgetmenot.twitch.connection import ConnectionState, Gap, Phase
from tests.ports import unused_port
from tests.rows import put
from tests.stage import ScriptedModel, live_bot

ALICE = "11"
Do = Callable[..., Awaitable[tuple[bool, str]]]
SETTINGS = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    twitch=TwitchSettings(channel="streamer", server="http://127.0.0.1:9/"),
)


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Bot]:
    settings = LiveSettings(SETTINGS)
    async with open_bot(
        tmp_path / "memory.sqlite3", settings=settings, clock=clock
    ) as running:
        for number, (login, text) in enumerate(
            [("alice", "hello"), ("bob", "hi alice")], 11
        ):
            event = ChatEvent(
                f"e{number}",
                EventKind.MESSAGE,
                str(number),
                login,
                login.title(),
                text,
                clock.now(),
            )
            await running.hear(event)
        await running.settle()
        yield running


@pytest.fixture
def control(bot: Bot) -> BotControl:
    settings = bot.settings
    assert isinstance(settings, LiveSettings)
    return BotControl(bot, settings, ConnectionStatus())


@pytest.fixture
def do(control: BotControl) -> Do:
    async def run(name: str, **params: object) -> tuple[bool, str]:
        result = await control.run(name, params)
        return result.ok, sentence(result)

    return run


REFUSED = [
    ("remember", {"target": ALICE, "fact": "no"}, "5 to 240"),
    (
        "remember",
        {"target": ALICE, "fact": "has been diagnosed with depression"},
        "kind of thing about people",
    ),
    (
        "remember",
        {"target": "nobody", "fact": "plays drums in a band"},
        "No viewer named nobody",
    ),
    ("remember", {"target": ALICE}, "`fact` is missing"),
    ("edit", {"id": 99, "text": "plays drums in a band"}, "There is no such note"),
    ("approve", {"id": -1}, "`number` is missing"),
    ("edit", {"id": [3], "text": "plays drums in a band"}, "`number` is missing"),
    ("edit", {"id": 1, "text": "x" * 5_000}, "`text` is missing"),
    ("may_mention", {"id": 1}, "no such note or entry"),
    ("approve", {"id": 1}, "#1 is not waiting"),
    ("undo", {"id": 1}, "cannot be undone"),
    ("erase", {"viewer": ALICE}, "Confirm it first"),
    ("erase", {"viewer": "404", "confirm": True}, "No viewer named 404"),
    ("memory", {}, "cannot be done from here"),
    ("explode", {}, "cannot be done from here"),
]


@pytest.mark.parametrize(("name", "params", "sentence"), REFUSED)
async def test_what_cannot_be_done_is_a_sentence(
    do: Do, name: str, params: dict[str, object], sentence: str
) -> None:
    ok, line = await do(name, **params)
    assert not ok
    assert sentence in line


async def test_a_message_is_tried_without_a_trace(
    bot: Bot, control: BotControl
) -> None:
    await control.run("remember", {"target": ALICE, "fact": "has a cat called Miso"})
    before = await bot.db.value(
        "SELECT (SELECT count(*) FROM bot_messages) + (SELECT count(*) FROM action_logs)"
    )
    preview = await try_out(bot, "alice", "what is my cat called?")
    assert "Miso" in str(preview["text"])
    assert preview["recalled"] == [{"id": 1, "fact": "has a cat called Miso"}]
    await try_out(bot, "", "time me out please")
    await try_out(bot, "somebody new", "hi")
    after = await bot.db.value(
        "SELECT (SELECT count(*) FROM bot_messages) + (SELECT count(*) FROM action_logs)"
    )
    assert after == before


async def test_a_preview_claims_and_spends_what_a_reply_may(
    tmp_path: Path, clock: ManualClock
) -> None:
    model = ScriptedModel(["I made a clip.", "I banned bob."])
    limited = LimitSettings(tokens_per_day=2_000)
    async with live_bot(
        tmp_path / "m.sqlite3", clock, lambda: replace(SETTINGS, limits=limited), model
    ) as (bot, _):
        async with bot.db.write() as tx:
            await put(
                tx, "action_logs", key="k", at=clock.now(), name="clip", status="done"
            )
        tried = [await try_out(bot, "alice", "what did you do?") for _ in range(2)]
        assert [preview["text"] for preview in tried] == ["I made a clip.", ""]
        with pytest.raises(ModelUnavailable):
            await try_out(bot, "alice", "what did you do?")


async def test_a_dock_that_cannot_open_does_not_keep_the_bot_from_running(
    bot: Bot,
) -> None:
    def settings(port: int) -> LiveSettings:
        return LiveSettings(Settings(dock=DockSettings(port=port)))

    port = unused_port()
    messages = list[str]()
    async with serve_dock(
        bot, settings(port), ConnectionStatus(), messages.append
    ) as first:
        assert first.startswith(f"http://127.0.0.1:{port}/?token=")
        for other in (port, 0):
            async with serve_dock(
                bot, settings(other), ConnectionStatus(), messages.append
            ) as second:
                assert second == ""
    assert "used by another program" in messages[1]
    token = bot.db.path.parent / TOKEN_FILE
    token.unlink()
    token.mkdir()
    async with serve_dock(
        bot, settings(port), ConnectionStatus(), messages.append
    ) as address:
        assert address == ""
    assert TOKEN_FILE in messages[-1]


async def test_another_channel_is_read_only_when_the_bot_of_it_has_joined(
    bot: Bot,
) -> None:
    settings = LiveSettings(SETTINGS)
    joined = ConnectionState(Phase.CONNECTED)
    control = BotControl(bot, settings, ConnectionStatus(lambda: joined))
    assert control.state().phase == "connected"
    settings._current = replace(
        SETTINGS, twitch=replace(SETTINGS.twitch, channel="another")
    )
    assert control.state().phase == "connecting"


async def test_a_connection_made_anew_on_purpose_counts_as_no_gap(bot: Bot) -> None:
    now = bot.clock.now()
    await keep_gap(bot, Gap(now - 400, now, "signed in"))
    assert await channel_state.read(bot.db, "gaps") == ""
    await keep_gap(bot, Gap(now - 4_000, now, "no answer"))
    assert await channel_state.read(bot.db, "gaps") == "1"


async def test_a_dock_at_another_port_than_usual_says_so(bot: Bot) -> None:
    settings = LiveSettings(Settings())
    settings.taken_port = 8737
    control = BotControl(bot, settings, ConnectionStatus())
    context = DockContext(control, bot.db, settings, bot.clock, "build", lambda: None)
    standing = await now.standing(context)
    assert "Another program uses port 8737." in str(standing["hint"])
    checks = await control.checks(everything=False)
    [check] = [check for check in checks if check.name == "Dock"]
    assert "8737" in check.line
