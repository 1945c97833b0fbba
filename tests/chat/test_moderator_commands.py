"""Moderators' commands: known by badge, deaf to everybody else and to bots, and in need of no model."""

from collections.abc import Awaitable
from typing import Any, NoReturn

import pytest

from forgetmenot.actions import switches
from forgetmenot.actions.approvals import Approvals
from forgetmenot.actions.entry import Hands
from forgetmenot.actions.executor import ActionContext, Executor
from forgetmenot.chat import fun_commands
from forgetmenot.chat.moderator_commands import Command, ModeratorCommands, command_of
from forgetmenot.clock import MINUTE, ManualClock
from forgetmenot.domain.action import Outcome, OutcomeKind, Proposal
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.settings.schema import BotSettings, MemorySettings, Mode, Settings
from forgetmenot.store import bot_messages, channel_state, chatters
from forgetmenot.store.action_logs import latest
from forgetmenot.store.bot_messages import Status
from forgetmenot.store.database import Database

MOD = frozenset({"moderator"})
SETTINGS = Settings(
    bot=BotSettings(mode=Mode.MENTIONS), memory=MemorySettings(known_bots=("helperbot",), ignored_viewers=("dave",))
)


class Titles:
    """A Moderation that can change titles, and nothing else; the rest of the hands is missing."""

    def __init__(self) -> None:
        self.titles: list[str] = []

    async def set_channel(self, *, title: str | None = None, category: str | None = None) -> Outcome:
        assert category is None
        self.titles.append(title or "")
        return Outcome(OutcomeKind.DONE)

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(name)


class Desk:
    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.db, self.clock, self.hands = db, clock, Titles()
        hands: Any = self.hands
        self.executor = Executor(
            db=db, hands=Hands(moderation=hands, chat=hands, memory=hands), settings=lambda: SETTINGS, clock=clock
        )
        approvals = Approvals(self.executor, db=db, settings=lambda: SETTINGS, clock=clock)
        self.commands = ModeratorCommands(db=db, approvals=approvals, settings=lambda: SETTINGS, clock=clock)

    def event(self, text: str, user: str = "9", login: str = "carol", badges: frozenset[str] = MOD) -> ChatEvent:
        now = self.clock.now()
        return ChatEvent(f"e{now}{text}", EventKind.MESSAGE, user, login, login, text, now, badges=badges)

    def say(
        self, text: str, user: str = "9", login: str = "carol", badges: frozenset[str] = MOD
    ) -> Awaitable[str | None]:
        return self.commands.handle(self.event(text, user, login, badges))

    async def wish(self, title: str, bot_message_id: int | None = None) -> int:
        context = ActionContext(
            event=self.event("change the title", user="1", login="alice"), key=title, bot_message_id=bot_message_id
        )
        return (await self.executor.carry_out(Proposal("title", {"text": title}), context)).log_id or 0


@pytest.fixture
async def desk(db: Database, clock: ManualClock) -> Desk:
    async with db.write() as tx:
        await channel_state.put(tx, {"bot_id": "777"}, clock.now())
        await tx.insert(
            "INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at)"
            " VALUES ('1', 'alice', 'A', 0, 0)"
        )
    return Desk(db, clock)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("!approve 3", Command("approve", number=3)),
        ("!APPROVE #3 ", Command("approve", number=3)),
        ("!approve", Command("approve")),
        ("!bot quiet 10", Command("bot", "quiet", 10)),
        ("!bot quiet 10m", Command("bot", "quiet", 10)),
        ("!bot", Command("bot")),
        ("!why 7", Command("why", number=7)),
        ("!approve all", None),
        ("!bot pause please now", None),
        ("say !approve 3", None),
        ("!approve ３", None),
        ("!approve 3 !approve 4", None),
        ("", None),
    ],
)
def test_a_command_is_a_whole_line(text: str, command: Command | None) -> None:
    assert command_of(text) == command


@pytest.mark.parametrize(
    "who",
    [
        {"badges": frozenset()},
        {"badges": frozenset({"vip", "subscriber"})},
        {"user": "777", "login": "forgetmenot"},
        {"login": "helperbot"},
        {"badges": MOD | {"bot-badge"}},
    ],
)
async def test_only_people_who_moderate_are_heard(desk: Desk, who: dict[str, Any]) -> None:
    waiting = await desk.wish("New title")
    assert await desk.say(f"!approve {waiting}", **who) is None
    assert await desk.say("!bot pause", **who) is None
    assert desk.hands.titles == []
    assert not (await switches.read(desk.db)).paused


async def test_approve_deny_and_undo(desk: Desk) -> None:
    waiting = await desk.wish("New title")
    assert await desk.say(f"!approve {waiting}") == "The title is changed."
    assert desk.hands.titles == ["New title"]
    first, second = await desk.wish("a"), await desk.wish("b")
    assert await desk.say("!approve") == f"Which one? #{first} title “a”, #{second} title “b”"
    assert await desk.say(f"!deny {first}", badges=frozenset({"broadcaster"})) == f"#{first} is refused."
    assert await desk.say(f"!deny {first}") == f"#{first} is not waiting."
    assert await desk.say("!undo") == "Nothing of the last hour can be undone. !undo 3 takes back #3."
    assert desk.hands.titles == ["New title"]
    assert (await latest(desk.db, 1))[0].id == second


async def test_nobody_approves_what_was_not_shown(desk: Desk) -> None:
    """A bare `!approve` reads back what waits, unless that one thing was read back, or said in chat, before."""
    assert await desk.say("!approve") == "Nothing is waiting."
    waiting = await desk.wish("Hacked")
    assert await desk.say("!approve") == f"Waiting: #{waiting} title “Hacked”. !approve {waiting} does it."
    assert desk.hands.titles == []
    assert await desk.say("!deny") == f"#{waiting} is refused."
    other = await desk.wish("New title")
    assert await desk.say("!approve") == f"Waiting: #{other} title “New title”. !approve {other} does it."
    assert await desk.say("!approve") == "The title is changed."
    assert desk.hands.titles == ["New title"]


@pytest.mark.parametrize(("status", "does_it"), [(Status.SENT, True), (Status.DROPPED, False)])
async def test_what_was_said_in_chat_was_shown(desk: Desk, status: Status, does_it: bool) -> None:
    async with desk.db.write() as tx:
        line = await bot_messages.begin(tx, at=0, event_id="e", viewer_id="1", trigger="mention", mode="mentions")
    waiting = await desk.wish("New title", bot_message_id=line)
    async with desk.db.write() as tx:
        await bot_messages.settle(tx, line, status, text=f"I asked (title “New title”: !approve {waiting}).")
    await desk.say("!approve")
    assert desk.hands.titles == (["New title"] if does_it else [])


async def test_pause_quiet_safe_and_resume_outlive_a_restart(desk: Desk) -> None:
    await desk.say("!bot pause")
    assert (await switches.read(desk.db)).silent(desk.clock.now())
    assert await desk.say("!bot resume") == "ForgetMeNot: on (mentions)."
    assert await desk.say("!bot quiet 10") == "Quiet for 10 min."
    assert await desk.say("!bot status") == "ForgetMeNot: quiet for 10 more min."
    await desk.clock.advance(10 * MINUTE)
    assert not (await switches.read(desk.db)).silent(desk.clock.now())
    await desk.say("!bot safe")
    assert await desk.say("!bot") == "ForgetMeNot: on (mentions), safe mode is on."
    assert await desk.say("!bot dance") == "I know !bot pause · resume · quiet 10 · safe · status"


async def test_status_tells_what_waits_and_what_was_switched_off(desk: Desk) -> None:
    await desk.wish("a")
    async with desk.db.write() as tx:
        await channel_state.put(tx, {"action_off:clip": "TwitchRefused: no"}, desk.clock.now())
    line = await desk.say("!bot status")
    told = "clip is switched off after three failures (!bot resume tries it again)"
    assert line == f"ForgetMeNot: on (mentions), 1 waiting for approval, {told}."
    assert await desk.say("!bot resume") == "ForgetMeNot: on (mentions), 1 waiting for approval."


async def test_why_is_one_line(desk: Desk) -> None:
    assert await desk.say("!why") == "I haven't said anything yet."
    async with desk.db.write() as tx:
        reply = await bot_messages.begin(
            tx, at=desk.clock.now(), event_id="e", viewer_id="1", trigger="mention", mode="mentions"
        )
        lore = {"name": "lore", "of": "notes", "rows": [4, 7], "tokens": 9, "dropped": 0}
        await bot_messages.record_prompt(tx, reply, {"sections": [lore]})
        await bot_messages.record_sending(tx, reply, "hi", desk.clock.now())
    assert await desk.say("!why") == ("#1: A spoke to me (mention); I had notes #4, #7 in mind; it is being sent.")
    assert await desk.say("!why 77") == "I know of no reply #77."


async def test_why_is_about_what_it_said_by_itself(desk: Desk) -> None:
    """Not about the answer to the moderator's last command, nor about a notice."""
    async with desk.db.write() as tx:
        for number, trigger in enumerate(["mention", "command", "notice"]):
            reply = await bot_messages.begin(
                tx, at=desk.clock.now() + number, event_id=f"e{number}", viewer_id="1", trigger=trigger, mode="mentions"
            )
            await bot_messages.record_sending(tx, reply, "hi", desk.clock.now() + number)
    assert (await desk.say("!why") or "").startswith("#1: ")
    assert (await desk.say("!why 2") or "").startswith("#2: ")


async def test_a_viewer_opts_in_and_out_of_fun(desk: Desk) -> None:
    event = desk.event("!fun on", user="1", login="alice", badges=frozenset())
    assert await fun_commands.handle(event, desk.db, desk.clock) is not None
    alice = await chatters.one(desk.db, "1")
    assert alice is not None
    assert alice.opted_in
    event = desk.event("!fun OFF", user="1", login="alice", badges=frozenset())
    assert await fun_commands.handle(event, desk.db, desk.clock) == "You're out: I leave you alone."
    alice = await chatters.one(desk.db, "1")
    assert alice is not None
    assert not alice.opted_in
    assert await fun_commands.handle(desk.event("!funny"), desk.db, desk.clock) is None


async def test_a_moderator_who_is_not_remembered_may_pause_it_all_the_same(desk: Desk) -> None:
    assert await desk.say("!bot pause", user="8", login="dave") == "Paused. !bot resume brings me back."
