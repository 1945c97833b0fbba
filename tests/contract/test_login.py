"""Log-ins against a loopback Twitch through the real twitchio: renewed once, saved first, never lost."""

import asyncio

import pytest

from forgetmenot.clock import HOUR, ManualClock, SystemClock
from forgetmenot.errors import TwitchLoginNeeded, TwitchUnavailable
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.login import Login
from tests.contract.conftest import MakeHelix, MakeLogin
from tests.loopback_servers.fixtures import asleep, log_in
from tests.loopback_servers.twitch import TwitchSim


def bot_login(store: TokenStore, settings: Settings) -> Login:
    return Login(account=Account.BOT, store=store, settings=lambda: settings, clock=SystemClock())


async def test_of_twenty_calls_on_an_expired_token_one_renews_and_all_succeed(
    sim: TwitchSim, make_helix: MakeHelix, make_login: MakeLogin, store: TokenStore
) -> None:
    helix = make_helix(make_login())
    await helix.room_id()
    sim.expire()
    states = await asyncio.gather(*(helix.channel_state() for _ in range(20)))
    assert len(states) == 20
    assert sim.oauth.refreshes == 1
    assert sim.oauth.refused_refreshes == 0
    saved = store.load(Account.BOT)
    assert saved is not None
    assert sim.tokens.valid(saved.access) is not None


async def test_a_renewed_token_is_saved_before_anybody_uses_it(
    sim: TwitchSim, settings: Settings, make_helix: MakeHelix, make_login: MakeLogin, store: TokenStore
) -> None:
    used_before_saved: list[int] = []
    save = store.save

    class Watching(TokenStore):
        def save(self, account: Account, token: Token) -> None:
            used_before_saved.append(sum(1 for r in sim.requests if r.user_id and r.status == 200))
            save(account, token)

    make_login()
    watching = Watching(store.folder, use_keyring=False)
    helix = make_helix(bot_login(watching, settings))
    sim.expire()
    await helix.room_id()
    assert used_before_saved == [0]


async def renewing(sim: TwitchSim, login: Login) -> tuple[Token, asyncio.Task[Token]]:
    """An expired token, and its renewal, which Twitch has not answered yet."""
    stale = await login.token()
    sim.expire()
    fault = sim.faults.add("oauth", path="oauth2/token", delay=0.1)
    renewal = asyncio.create_task(login.renew(stale))
    await sim.until(lambda: fault.used)
    return stale, renewal


async def test_a_caller_who_gives_up_does_not_lose_the_renewed_token(
    sim: TwitchSim, make_login: MakeLogin, store: TokenStore
) -> None:
    login = make_login()
    stale, renewal = await renewing(sim, login)
    renewal.cancel()
    with pytest.raises(asyncio.CancelledError):
        await renewal
    await sim.until(lambda: (kept := store.load(Account.BOT)) and kept.access != stale.access)
    assert (await login.renew(stale)).access != stale.access
    assert sim.oauth.refreshes == 1


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 502}, {"drop": True}, {"html": True}])
async def test_trouble_while_validating_never_ends_a_login_nor_begins_one(
    sim: TwitchSim, make_login: MakeLogin, store: TokenStore, fault: dict[str, object]
) -> None:
    login = make_login()
    before = store.load(Account.BOT)
    sim.faults.add("oauth", times=None, **fault)
    with pytest.raises(TwitchUnavailable):
        await login.validate()
    assert store.load(Account.BOT) == before
    assert sim.oauth.codes == []
    sim.faults.clear()
    assert (await login.validate()).login == "keeper"


async def test_another_process_that_renews_at_the_same_time_makes_nobody_sign_in_again(
    sim: TwitchSim, make_login: MakeLogin, store: TokenStore
) -> None:
    """A refresh token is good for one of the two; the pair that the faster one saved is good for both."""
    login = make_login()
    stale, slower = await renewing(sim, login)
    faster = sim.oauth.refresh(stale.refresh)
    assert faster is not None
    store.save(Account.BOT, Token(faster.access, faster.refresh, faster.user_id, "keeper", faster.scopes))
    assert (await slower).access == faster.access
    assert login.trouble == ""


async def test_a_lapsed_login_says_what_to_type_and_comes_back_when_somebody_has(
    sim: TwitchSim, make_login: MakeLogin, store: TokenStore
) -> None:
    login = make_login()
    sim.disconnect("keeper")
    with pytest.raises(TwitchLoginNeeded, match="forgetmenot login"):
        await login.validate()
    with pytest.raises(TwitchLoginNeeded):
        await login.token()
    assert "expired" in login.trouble
    assert sim.oauth.refused_refreshes == 1
    granted = sim.grant("keeper")  # as `forgetmenot login` does, in another process
    store.save(Account.BOT, Token(granted.access, granted.refresh))
    named = await login.validate()
    assert (named.login, named.access) == ("keeper", granted.access)


async def test_a_new_login_with_more_rights_is_taken_up_while_the_old_one_still_works(
    sim: TwitchSim, make_login: MakeLogin, store: TokenStore
) -> None:
    login = make_login("keeper", "chat:read")
    await login.validate()
    assert "user:write:chat" in login.trouble
    new = log_in(sim, store)
    assert (await login.validate()).access == new.access
    assert login.trouble == ""


async def test_the_login_is_validated_at_start_and_every_hour(
    sim: TwitchSim, settings: Settings, make_login: MakeLogin, store: TokenStore
) -> None:
    make_login()
    clock = ManualClock(1_000)
    login = Login(account=Account.BOT, store=store, settings=lambda: settings, clock=clock)
    task = asyncio.create_task(login.keep_valid())
    sim.oauth.expires_in = 1_200  # each look renews, so that looks can be counted
    await sim.until(lambda: sim.oauth.refreshes == 1)
    await sim.until(lambda: asleep(clock))
    await clock.advance(HOUR - 1)
    await sim.until(lambda: asleep(clock))
    assert sim.oauth.refreshes == 1
    await clock.advance(1)
    await sim.until(lambda: sim.oauth.refreshes == 2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class Locked(TokenStore):
    """A keyring that asks for its password and gets none."""

    def load(self, account: Account) -> None:
        """Nothing that could be read."""

    def is_empty(self, account: Account) -> bool:  # noqa: ARG002  # nor whether there is one
        return False


async def test_a_log_in_that_cannot_be_read_is_not_taken_for_none(settings: Settings, store: TokenStore) -> None:
    locked = Locked(store.folder, use_keyring=False)
    login = bot_login(locked, settings)
    with pytest.raises(TwitchLoginNeeded, match="cannot be read just now from your system's keyring"):
        await login.token()
    assert "keyring" in login.trouble
    with pytest.raises(TwitchLoginNeeded, match="cannot be read just now from your system's keyring"):
        await login.log_out()


@pytest.mark.parametrize("fault", [{"drop": True}, {"html": True}, {"status": 429}, {"status": 404}])
async def test_logging_out_without_a_network_forgets_and_does_not_claim_more(
    sim: TwitchSim, make_login: MakeLogin, store: TokenStore, fault: dict[str, object]
) -> None:
    login = make_login()
    sim.faults.add("oauth", times=None, **fault)
    assert await login.log_out() is False
    assert store.load(Account.BOT) is None


async def test_a_token_that_has_expired_is_renewed_to_be_revoked(sim: TwitchSim, make_login: MakeLogin) -> None:
    """Twitch takes back only a living one; else the refresh token would stay good for a month."""
    login = make_login()
    sim.expire()
    assert await login.log_out() is True
    assert all(token.expired and token.used for token in sim.tokens.issued)


@pytest.mark.parametrize("asking", ["renew", "validate"])
async def test_a_log_out_in_another_process_ends_the_running_one(
    sim: TwitchSim, settings: Settings, make_login: MakeLogin, store: TokenStore, asking: str
) -> None:
    running = make_login()
    token = await running.token()
    sim.faults.add("oauth", path="oauth2/revoke", drop=True)  # the refresh token is still good
    other = bot_login(store, settings)
    assert await other.log_out() is False
    with pytest.raises(TwitchLoginNeeded, match="Nobody is logged in"):
        await (running.renew(token) if asking == "renew" else running.validate())
    assert store.load(Account.BOT) is None
    assert sim.oauth.refreshes == 0


# ── nowhere to keep it ───────────────────────────────────────────────────────────────────────


class Full(TokenStore):
    """A place that holds what it holds."""

    full = True

    def save(self, account: Account, token: Token) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        super().save(account, token)


async def keep_nothing(sim: TwitchSim, settings: Settings, full: Full) -> Login:
    """A log-in whose renewed pair a full disk did not take; the old one still lies there."""
    login = bot_login(full, settings)
    sim.expire()
    assert (await login.validate()).login == "keeper"
    assert "No space left" in login.trouble
    assert sim.oauth.refreshes == 1
    return login


async def test_after_a_full_disk_the_old_pair_is_not_taken_for_a_newer_one(
    sim: TwitchSim, settings: Settings, make_login: MakeLogin, store: TokenStore
) -> None:
    make_login()
    full = Full(store.folder, use_keyring=False)
    login = await keep_nothing(sim, settings, full)
    sim.expire()
    fresh = await login.validate()
    assert sim.tokens.valid(fresh.access) is not None
    full.full = False
    await login.validate()
    assert store.load(Account.BOT) == fresh
