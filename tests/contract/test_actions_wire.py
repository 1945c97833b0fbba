"""Actions over the wire: the executor, the real twitchio, and a Helix on loopback that refuses as Twitch does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import twitchio  # noqa: F401  # takes longer than the time limit below, at the first call

from forgetmenot.clock import MINUTE, SECOND, ManualClock
from forgetmenot.domain import ChatEvent, EventKind, Outcome, OutcomeKind, Proposal
from forgetmenot.languages import in_language
from forgetmenot.operations.approvals import Approvals
from forgetmenot.operations.catalogue import find
from forgetmenot.operations.executor import ExecutedProposal, Executor, revert_time
from forgetmenot.operations.facts import ActionContext
from forgetmenot.operations.types import ActionCall, ActionPorts
from forgetmenot.secret_store import Account, TokenStore
from forgetmenot.settings.schema import ActionSettings, BotSettings, ClassMode, Mode, Settings
from forgetmenot.store import action_logs, channel_state
from forgetmenot.store.action_logs import ActionStatus, NewAction
from forgetmenot.store.database import Database
from forgetmenot.twitch.helix import Helix
from forgetmenot.twitch.login import Login
from tests.loopback_servers.fixtures import log_in, settings_for
from tests.loopback_servers.twitch import Recorded, TwitchSim
from tests.rows import put
from tests.stage import refused

UNSURE = in_language()("action.unsure")
REFUSED = in_language()("action.neutral")

if TYPE_CHECKING:
    from forgetmenot.store.action_logs import LoggedAction


@dataclass
class Wire:
    """Everything between a proposal and the loopback Twitch."""

    sim: TwitchSim
    db: Database
    clock: ManualClock
    executor: Executor
    approvals: Approvals
    helix: Helix
    count: int = 0

    async def propose(
        self, name: str, who: str = "alice", text: str = "time me out", **params: str
    ) -> ExecutedProposal:
        self.count += 1
        user = self.sim.world.user(who)
        badges = frozenset({"moderator"}) if user.id in self.sim.world.moderators else frozenset[str]()
        event = ChatEvent(f"t{self.count}", EventKind.MESSAGE, user.id, who, who, text, self.clock.now(), badges=badges)
        return await self.executor.carry_out(Proposal(name, params), ActionContext(event=event, key=event.id))

    async def timeout(self) -> ExecutedProposal:
        """Alice asks for a timeout, half an hour after whatever was before."""
        await self.clock.advance(31 * MINUTE)
        return await self.propose("timeout", target="me", seconds="30")

    def calls(self, method: str, path: str) -> list[Recorded]:
        return [one for one in self.sim.requests if (one.method, one.path) == (method, path)]


def _settings(sim: TwitchSim) -> Settings:
    return Settings(
        bot=BotSettings(mode=Mode.MENTIONS),
        actions=ActionSettings(class_b=ClassMode.LIVE, newcomer_protection=False),
        twitch=settings_for(sim, bot_login="bot").twitch,
    )


@pytest.fixture
async def wire(db: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Wire]:
    """Alice and bob in chat; the bot moderates; the broadcaster is logged in too."""
    async with TwitchSim(channel="demo", now=clock.now) as sim:
        sim.world.moderator("bot")
        settings = _settings(sim)
        store = TokenStore(tmp_path / "tokens", use_keyring=False)
        log_in(sim, store, "bot")
        log_in(sim, store, "demo", account=Account.BROADCASTER)
        logins = [
            Login(account=account, store=store, settings=lambda: settings, clock=clock)
            for account in (Account.BOT, Account.BROADCASTER)
        ]
        helix = Helix(settings=lambda: settings, bot=logins[0], broadcaster=logins[1])
        ports = ActionPorts(moderation=helix, run=refused)
        executor = Executor(db=db, ports=ports, settings=lambda: settings, clock=clock, timeout_s=1.0)
        approvals = Approvals(executor)
        await _fill(db, sim, clock.now())
        yield Wire(sim, db, clock, executor, approvals, helix)
        await helix.aclose()


async def _fill(db: Database, sim: TwitchSim, now: int) -> None:
    async with db.write() as tx:
        await channel_state.put(tx, {"live": "1", "id": sim.world.room_id, "bot_id": sim.world.user("bot").id}, now)
        for login in ("alice", "bob", "carol"):
            user = sim.world.user(login)
            await put(tx, "viewers", id=user.id, login=login, display_name=login, first_seen_at=now, last_seen_at=now)
            await put(tx, "events", id=f"said-{login}", viewer_id=user.id, text="hello", at=now)


@pytest.mark.parametrize(
    ("status", "kinds", "said"),
    [
        (403, {OutcomeKind.REFUSED}, REFUSED),
        (429, {OutcomeKind.FAILED}, REFUSED),
        (500, {OutcomeKind.UNKNOWN}, UNSURE),
        (503, {OutcomeKind.UNKNOWN}, UNSURE),
    ],
)
async def test_what_goes_wrong_is_never_claimed_and_never_repeated(
    wire: Wire, status: int, kinds: set[OutcomeKind], said: str
) -> None:
    wire.sim.faults.add("helix", path="moderation/bans", status=status, times=None)
    carried = await wire.timeout()
    assert carried.outcome is not None
    assert carried.outcome.kind in kinds
    assert carried.words_hint == said
    assert len(wire.calls("POST", "moderation/bans")) == 1


async def test_exactly_the_message_before_the_request_is_deleted(wire: Wire) -> None:
    said = await wire.sim.say("alice", "oops")
    async with wire.db.write() as tx:
        await tx.execute("UPDATE events SET id = ? WHERE id = 'said-alice'", (said,))
    carried = await wire.propose("delete", text="delete my message", target="me")
    assert carried.outcome == Outcome(OutcomeKind.DONE)
    (call,) = wire.calls("DELETE", "moderation/chat")
    assert call.param("message_id") == said


SENDING = ("POST", "PATCH", "DELETE", "PUT")


async def interrupted(wire: Wire, name: str, *, done: bool, **params: str) -> None:
    """What a crash leaves: a row that is still running, and the deed at Twitch or not."""
    action, now = find(name), wire.clock.now()
    assert action is not None
    if "target" in params:
        params["target"] = wire.sim.world.user(params["target"]).id
    row = NewAction(
        key=name,
        at=now,
        name=name,
        kind=action.kind,
        params=params,
        verdict="allow",
        rule="allowed",
        reason="",
        status=ActionStatus.RUNNING,
        target_id=params.get("target"),
        revert_at=revert_time(action, params, now),
    )
    async with wire.db.write() as tx:
        await action_logs.insert(tx, row)
    if done:
        await wire.executor.call(action.run, ActionCall(params, "1", message_id="m"))


async def after_the_start(wire: Wire) -> LoggedAction:
    """The row once the program has started again; whatever was done before the crash was done once."""
    before = [one for one in wire.sim.requests if one.method in SENDING]
    await wire.approvals.start()
    assert [one for one in wire.sim.requests if one.method in SENDING] == before
    [row] = await action_logs.latest(wire.db, 5)
    return row


async def test_a_mode_that_holds_is_still_taken_back_in_time(wire: Wire) -> None:
    await interrupted(wire, "emote_only", done=True, seconds="60")
    await wire.clock.advance(20 * SECOND)
    await after_the_start(wire)
    assert wire.sim.world.rules.emote_mode
    await wire.clock.advance(MINUTE)
    await wire.approvals.work_off()
    assert not wire.sim.world.rules.emote_mode
    assert (await action_logs.latest(wire.db, 1))[0].status is ActionStatus.UNDONE


@pytest.mark.parametrize(
    ("name", "params"),
    [("ban", {"target": "bob", "reason": ""}), ("announce", {"text": "hi"}), ("clip", {})],
)
async def test_what_a_crash_interrupted_is_unknown_and_nothing_is_asked_or_repeated(
    wire: Wire, name: str, params: dict[str, str]
) -> None:
    await interrupted(wire, name, done=False, **params)
    before = len(wire.sim.requests)
    assert (await after_the_start(wire)).status is ActionStatus.UNKNOWN
    assert len(wire.sim.requests) == before
