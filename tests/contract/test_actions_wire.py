"""Actions over the wire: the executor, the real twitchio, and a Helix on loopback that refuses as Twitch does."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from forgetmenot.actions.approvals import Approvals
from forgetmenot.actions.entry import Hands
from forgetmenot.actions.executor import ActionContext, Carried, Executor
from forgetmenot.actions.lines import NEUTRAL, UNSURE
from forgetmenot.clock import MINUTE, ManualClock
from forgetmenot.domain.action import Outcome, OutcomeKind, Proposal
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.memory.notes.for_actions import NotesForActions
from forgetmenot.settings.schema import (
    ActionSettings,
    BotSettings,
    ClassMode,
    Mode,
    Settings,
    TwitchSettings,
)
from forgetmenot.sim.helix import Recorded
from forgetmenot.sim.twitch import TwitchSim
from forgetmenot.store import channel_state, chatters
from forgetmenot.store.action_logs import Status, latest
from forgetmenot.store.database import Database
from forgetmenot.twitch.auth import Login
from forgetmenot.twitch.helix import Helix
from forgetmenot.twitch.tokens import Account, Token, TokenStore


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

    async def propose(self, name: str, who: str = "alice", text: str = "time me out", **params: str) -> Carried:
        self.count += 1
        user = self.sim.world.user(who)
        badges = frozenset({"moderator"}) if user.id in self.sim.world.moderators else frozenset[str]()
        event = ChatEvent(f"t{self.count}", EventKind.MESSAGE, user.id, who, who, text, self.clock.now(), badges=badges)
        return await self.executor.carry_out(Proposal(name, params), ActionContext(event=event, key=event.id))

    async def timeout(self) -> Carried:
        """Alice asks for a timeout, half an hour after whatever was before."""
        await self.clock.advance(31 * MINUTE)
        return await self.propose("timeout", target="me", seconds="30")

    def calls(self, method: str, path: str) -> list[Recorded]:
        return [one for one in self.sim.requests if (one.method, one.path) == (method, path)]


def _settings(sim: TwitchSim) -> Settings:
    return Settings(
        bot=BotSettings(mode=Mode.MENTIONS),
        actions=ActionSettings(class_b=ClassMode.LIVE, newcomer_protection=False, execute_timeout_s=0.5),
        twitch=TwitchSettings(
            channel="demo", client_id=sim.client_id, bot_login="bot", helix_url=sim.helix_url, id_url=sim.id_url
        ),
    )


def _login(sim: TwitchSim, account: Account, login: str, scopes: tuple[str, ...], store: TokenStore) -> None:
    token = sim.grant(login, *scopes)
    store.save(account, Token(token.access, token.refresh, sim.world.user(login).id, login, token.scopes))


@pytest.fixture
def scopes() -> tuple[str, ...]:
    """The rights of the bot's log-in; none: all of them."""
    return ()


@pytest.fixture
async def wire(db: Database, clock: ManualClock, tmp_path: Path, scopes: tuple[str, ...]) -> AsyncIterator[Wire]:
    """Alice and bob in chat; the bot moderates; the broadcaster is logged in too."""
    async with TwitchSim(channel="demo", now=clock.now, seed=1) as sim:
        sim.world.moderator("bot")
        settings = _settings(sim)
        store = TokenStore(tmp_path / "tokens", use_keyring=False)
        _login(sim, Account.BOT, "bot", scopes, store)
        _login(sim, Account.BROADCASTER, "demo", (), store)
        logins = [
            Login(account=account, store=store, settings=lambda: settings, clock=clock)
            for account in (Account.BOT, Account.BROADCASTER)
        ]
        helix = Helix(settings=lambda: settings, bot=logins[0], broadcaster=logins[1])
        hands = Hands(
            moderation=helix, chat=helix, memory=NotesForActions(db=db, settings=lambda: settings, clock=clock)
        )
        executor = Executor(db=db, hands=hands, settings=lambda: settings, clock=clock)
        approvals = Approvals(executor, db=db, settings=lambda: settings, clock=clock)
        await _fill(db, sim, clock.now())
        yield Wire(sim, db, clock, executor, approvals, helix)
        await helix.aclose()


async def _fill(db: Database, sim: TwitchSim, now: int) -> None:
    async with db.write() as tx:
        await channel_state.put(tx, {"live": "1", "id": sim.world.room_id, "bot_id": sim.world.user("bot").id}, now)
        await tx.insert("INSERT INTO runs (id, started_at, command) VALUES (1, ?, 'test')", (now,))
        for login in ("alice", "bob", "carol"):
            user = sim.world.user(login)
            await tx.insert(
                "INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?, ?)",
                (user.id, login, login, now, now),
            )
            await tx.insert(
                "INSERT INTO events (id, run_id, viewer_id, kind, text, role, at)"
                " VALUES (?, 1, ?, 'message', 'hello', 'viewer', ?)",
                (f"said-{login}", user.id, now),
            )


async def test_a_timeout_carries_the_client_id_and_both_ids(wire: Wire) -> None:
    carried = await wire.timeout()
    assert carried.outcome is not None
    assert carried.outcome.kind is OutcomeKind.DONE
    (call,) = wire.calls("POST", "moderation/bans")
    headers = {name.lower(): value for name, value in call.headers.items()}
    assert headers["client-id"] == wire.sim.client_id
    assert call.user_id == wire.sim.world.user("bot").id
    assert call.param("broadcaster_id") == wire.sim.world.room_id
    assert call.param("moderator_id") == wire.sim.world.user("bot").id
    alice = wire.sim.world.user("alice")
    assert call.body["data"] == {"user_id": alice.id, "duration": 30, "reason": "by the channel's chat bot"}
    assert 0 < wire.sim.world.ban_left(alice.id) <= 30_000


async def test_undo_lifts_it_and_a_second_undo_does_nothing(wire: Wire) -> None:
    await wire.timeout()
    assert (await wire.approvals.undo("9")).ok
    assert len(wire.calls("DELETE", "moderation/bans")) == 1
    assert wire.sim.world.ban_left(wire.sim.world.user("alice").id) == 0
    assert not (await wire.approvals.undo("9")).ok


async def test_an_undo_of_what_has_ended_asks_twitch_nothing(wire: Wire) -> None:
    await wire.timeout()
    await wire.clock.advance(MINUTE)
    assert not (await wire.approvals.undo("9")).ok
    await wire.approvals.work_off()
    assert wire.calls("DELETE", "moderation/bans") == []


async def test_an_undo_of_what_somebody_else_lifted_is_done_and_asked_once(wire: Wire) -> None:
    await wire.timeout()
    del wire.sim.world.bans[wire.sim.world.user("alice").id]
    assert (await wire.approvals.undo("9")).ok
    await wire.approvals.work_off()
    assert len(wire.calls("DELETE", "moderation/bans")) == 1


async def test_somebody_banned_already_is_a_refusal_not_a_claim(wire: Wire) -> None:
    await wire.sim.ban("alice")
    carried = await wire.timeout()
    assert carried.outcome is not None
    assert carried.outcome.kind is OutcomeKind.REFUSED
    assert carried.words_hint == NEUTRAL


async def test_somebody_timed_out_already_gets_the_new_length(wire: Wire) -> None:
    await wire.sim.timeout("alice", 10_000)
    carried = await wire.timeout()
    assert carried.outcome is not None
    assert carried.outcome.kind is OutcomeKind.DONE


async def test_twitch_knows_of_a_moderator_whose_badge_was_not_seen(wire: Wire) -> None:
    wire.sim.world.moderator("bob")
    async with wire.db.write() as tx:
        await chatters.set_fun(tx, wire.sim.world.user("bob").id, wire.clock.now(), takes_part=True)
    carried = await wire.propose("timeout", target="bob", seconds="30")
    assert carried.decision.rule == "immune_on_twitch"
    assert wire.calls("POST", "moderation/bans") == []


@pytest.mark.parametrize(
    ("status", "kinds", "said"),
    [
        (403, {OutcomeKind.REFUSED}, NEUTRAL),
        (429, {OutcomeKind.FAILED}, NEUTRAL),
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


async def test_a_lapsed_token_is_renewed_on_the_way(wire: Wire) -> None:
    wire.sim.expire("bot")
    carried = await wire.timeout()
    assert carried.outcome is not None
    assert carried.outcome.kind is OutcomeKind.DONE


@pytest.mark.parametrize("how", [{"stall": True}, {"lose": True}])
async def test_an_answer_that_never_comes_is_unknown(wire: Wire, how: dict[str, bool]) -> None:
    wire.sim.faults.add("helix", path="moderation/bans", **how)
    carried = await wire.timeout()
    assert carried.outcome is not None
    assert carried.outcome.kind is OutcomeKind.UNKNOWN
    assert carried.words_hint == UNSURE
    assert [row.status for row in await latest(wire.db, 1)] == [Status.UNKNOWN]


@pytest.mark.parametrize("scopes", [("chat:read", "user:write:chat")])
async def test_a_missing_right_three_times_switches_the_action_off(wire: Wire) -> None:
    for _ in range(3):
        carried = await wire.timeout()
        assert carried.outcome is not None
        assert carried.outcome.kind in {OutcomeKind.REFUSED, OutcomeKind.FAILED}
        async with wire.db.write() as tx:
            await tx.execute("UPDATE events SET at = ?", (wire.clock.now() + 31 * MINUTE,))
    assert (await wire.timeout()).decision.rule == "failing"
    assert "action_off:timeout" in await channel_state.read_all(wire.db)


async def test_slow_mode_and_emote_only_are_taken_back(wire: Wire) -> None:
    wire.sim.world.moderator("carol")
    await wire.propose("slow_mode", who="carol", text="slow mode please", seconds="20", gap="10")
    assert (wire.sim.world.rules.slow_mode, wire.sim.world.rules.slow_mode_wait_time) == (True, 10)
    await wire.clock.advance(31 * MINUTE)
    await wire.propose("emote_only", who="carol", text="emote only now", seconds="20")
    assert wire.sim.world.rules.emote_mode
    await wire.clock.advance(MINUTE)
    await wire.approvals.work_off()
    assert not wire.sim.world.rules.slow_mode
    assert not wire.sim.world.rules.emote_mode


async def test_a_ban_is_made_when_a_person_approves_it(wire: Wire) -> None:
    wire.sim.world.moderator("carol")
    carried = await wire.propose("ban", who="carol", target="bob")
    assert wire.calls("POST", "moderation/bans") == []
    answer = await wire.approvals.approve(carried.log_id or 0, "9")
    assert (answer.ok, answer.line) == (True, "bob is banned.")
    (call,) = wire.calls("POST", "moderation/bans")
    assert call.body["data"] == {"user_id": wire.sim.world.user("bob").id}


async def test_exactly_the_message_before_the_request_is_deleted(wire: Wire) -> None:
    said = await wire.sim.say("alice", "oops")
    async with wire.db.write() as tx:
        await tx.execute("UPDATE events SET id = ? WHERE id = 'said-alice'", (said,))
    carried = await wire.propose("delete", text="delete my message", target="me")
    assert carried.outcome == Outcome(OutcomeKind.DONE)
    (call,) = wire.calls("DELETE", "moderation/chat")
    assert call.param("message_id") == said
