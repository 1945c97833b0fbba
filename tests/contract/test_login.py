"""Log-ins against a loopback Twitch through the real twitchio: by a code, renewed once, saved first, never lost."""

import asyncio

import pytest
from msgspec.structs import replace

from forgetmenot.clock import ManualClock
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import TwitchLoginNeeded, TwitchRefused, TwitchUnavailable
from forgetmenot.languages import in_language
from forgetmenot.operations.actions import CHAT
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import ActionSettings, ClassMode, GuardedMode, Settings
from forgetmenot.twitch.login import Login, begin_device_login, finish_device_login
from tests.contract.conftest import Computer
from tests.loopback_servers.fixtures import asleep, log_in
from tests.loopback_servers.twitch import TwitchSim

pytestmark = pytest.mark.slow

SCOPES = ("chat:read", "user:write:chat")

# ── by a code ───────────────────────────────────────────────────────────────────────────────


async def test_a_code_is_typed_slowly_through_outages(
    sim: TwitchSim, settings: Settings
) -> None:
    sim.oauth.interval = 0
    code = await begin_device_login(settings, SCOPES)
    for fault in ({"status": 500}, {"drop": True}, {"html": True}, {"status": 429}):
        sim.faults.add("oauth", path="oauth2/token", **fault)
    waiting = asyncio.create_task(finish_device_login(settings, code, SCOPES))
    await sim.until(lambda: sim.oauth.codes[0].polls > 3)
    sim.approve(code.user_code, "keeper")
    granted = sim.tokens.valid((await waiting).access)
    assert granted is not None
    assert (granted.login, set(granted.scopes)) == ("keeper", set(SCOPES))
    assert code.user_code in code.address


async def test_a_code_that_nobody_types_ends_when_twitch_said(
    sim: TwitchSim, settings: Settings
) -> None:
    sim.oauth.interval = 0
    code = await begin_device_login(settings, SCOPES)
    assert code.expires_in == 1_800
    short_lived = replace(code, expires_in=1)
    with pytest.raises(TwitchRefused, match=r"Nobody typed the code in time\. Type"):
        await finish_device_login(settings, short_lived, SCOPES)
    assert sim.oauth.codes[0].polls > 1
    assert sim.tokens.issued == []


async def test_a_code_that_twitch_takes_back_ends_at_once(
    sim: TwitchSim, settings: Settings
) -> None:
    code = await begin_device_login(settings, SCOPES)
    sim.oauth.waiting(code.user_code).ended = True
    with pytest.raises(TwitchRefused, match="has expired or was refused"):
        await finish_device_login(settings, code, SCOPES)
    assert sim.tokens.issued == []


async def test_a_code_is_only_asked_for_in_the_name_of_an_app(
    sim: TwitchSim, settings: Settings
) -> None:
    nameless = replace(settings, twitch=replace(settings.twitch, client_id=""))
    with pytest.raises(TwitchLoginNeeded, match="client_id"):
        await begin_device_login(nameless, SCOPES)
    assert sim.oauth.codes == []


# ── renewed, validated, lost and found ──────────────────────────────────────────────────────


async def test_of_twenty_calls_on_an_expired_token_one_renews_and_saves_it_before_anybody_uses_it(
    computer: Computer,
) -> None:
    used_before_saved: list[int] = []

    class Watching(TokenStore):
        def save(self, account: Account, token: Token) -> None:
            used_before_saved.append(
                sum(1 for r in computer.sim.requests if r.user_id and r.status == 200)
            )
            super().save(account, token)

    log_in(computer.sim, computer.store)
    helix = computer.helix(
        computer.kept_login(store=Watching(computer.store.folder, use_keyring=False))
    )
    computer.sim.expire()
    assert len(await asyncio.gather(*(helix.channel_state() for _ in range(20)))) == 20
    assert (computer.sim.oauth.refreshes, computer.sim.oauth.refused_refreshes) == (
        1,
        0,
    )
    assert used_before_saved == [0]
    saved = computer.kept()
    assert saved is not None
    assert computer.sim.tokens.valid(saved.access) is not None


async def renewing(sim: TwitchSim, login: Login) -> tuple[Token, asyncio.Task[Token]]:
    """An expired token, and its renewal, which Twitch has not answered yet."""
    stale = await login.token()
    sim.expire()
    fault = sim.faults.add("oauth", path="oauth2/token", delay=0.1)
    renewal = asyncio.create_task(login.renew(stale))
    await sim.until(lambda: fault.used)
    return stale, renewal


async def test_a_caller_who_gives_up_does_not_lose_the_renewed_token(
    computer: Computer,
) -> None:
    login = computer.login()
    stale, renewal = await renewing(computer.sim, login)
    renewal.cancel()
    with pytest.raises(asyncio.CancelledError):
        await renewal

    def has_new_token() -> bool:
        saved = computer.kept()
        return saved is not None and saved.access != stale.access

    await computer.sim.until(has_new_token)
    assert (await login.renew(stale)).access != stale.access
    assert computer.sim.oauth.refreshes == 1


async def test_another_process_that_renews_at_the_same_time_makes_nobody_sign_in_again(
    computer: Computer,
) -> None:
    """A refresh token is good for one of the two; the pair that the faster one saved is good for both."""
    login = computer.login()
    stale, slower = await renewing(computer.sim, login)
    faster = computer.sim.oauth.refresh(stale.refresh)
    assert faster is not None
    computer.store.save(
        Account.BOT,
        Token(faster.access, faster.refresh, faster.user_id, "keeper", faster.scopes),
    )
    assert (await slower).access == faster.access
    assert login.trouble == ""


async def test_trouble_while_validating_never_ends_a_login_nor_begins_one(
    computer: Computer,
) -> None:
    login = computer.login()
    before = computer.kept()
    faults: tuple[dict[str, object], ...] = (
        {"status": 500},
        {"drop": True},
        {"html": True},
    )
    for fault in faults:
        computer.sim.faults.add("oauth", times=None, **fault)
        with pytest.raises(TwitchUnavailable):
            await login.validate()
        assert computer.kept() == before
        computer.sim.faults.clear()
    assert computer.sim.oauth.codes == []
    assert (await login.validate()).login == "keeper"


async def test_a_lapsed_login_says_what_to_type_and_comes_back_when_somebody_has(
    computer: Computer,
) -> None:
    login = computer.login()
    computer.sim.disconnect("keeper")
    with pytest.raises(TwitchLoginNeeded, match="forgetmenot login"):
        await login.validate()
    with pytest.raises(TwitchLoginNeeded):
        await login.token()
    assert "expired" in login.trouble
    assert computer.sim.oauth.refused_refreshes == 1
    # as `forgetmenot login` does, in another process
    granted = computer.sim.grant("keeper")
    computer.store.save(Account.BOT, Token(granted.access, granted.refresh))
    token = await login.validate()
    assert (token.login, token.access) == ("keeper", granted.access)
    # the old one still works: it is taken up all the same
    log_in(computer.sim, computer.store, "keeper", "chat:read")
    await login.validate()
    assert "user:write:chat" in login.trouble
    new = log_in(computer.sim, computer.store)
    assert (await login.validate()).access == new.access
    assert login.trouble == ""


async def test_what_a_log_in_lacks_is_named_by_actions_or_by_the_rights_of_chat(
    computer: Computer,
) -> None:
    off = ActionSettings(
        class_a=ClassMode.OFF, class_b=ClassMode.OFF, class_c=GuardedMode.OFF
    )
    computer.settings = replace(computer.settings, actions=off)
    login = computer.login("keeper", "chat:read")
    await login.validate()
    account = "Not allowed yet to the bot's account on Twitch"
    assert login.hint == f"{account}: user:read:chat, user:write:chat."
    live = replace(off, class_a=ClassMode.LIVE)
    computer.settings = replace(computer.settings, actions=live)
    log_in(computer.sim, computer.store, "keeper", *CHAT)
    await login.validate()
    assert login.hint == f"{account}: clip, shoutout."
    assert "(für: clip, shoutout)" in in_language("de").reason(login.trouble)


async def test_the_login_is_validated_at_start_and_every_hour(
    computer: Computer,
) -> None:
    sim = computer.sim
    clock = ManualClock(1_000)
    log_in(sim, computer.store)
    task = asyncio.create_task(computer.kept_login(clock=clock).keep_valid())
    sim.oauth.expires_in = 1_200  # each look renews, so that looks can be counted
    await sim.until(lambda: sim.oauth.refreshes == 1 and asleep(clock))
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


async def test_a_log_in_that_cannot_be_read_is_not_taken_for_none(
    computer: Computer,
) -> None:
    login = computer.kept_login(store=Locked(computer.store.folder, use_keyring=False))
    for asking in (login.token, login.log_out):
        with pytest.raises(
            TwitchLoginNeeded,
            match="cannot be read just now from your system's keyring",
        ):
            await asking()
    assert "keyring" in login.trouble


# ── logging out ─────────────────────────────────────────────────────────────────────────────


async def test_logging_out_forgets_claims_no_more_and_revokes_what_has_expired(
    computer: Computer,
) -> None:
    faults: tuple[dict[str, object], ...] = (
        {"drop": True},
        {"html": True},
        {"status": 429},
        {"status": 404},
    )
    for fault in faults:
        login = computer.login()
        computer.sim.faults.add("oauth", times=None, **fault)
        assert await login.log_out() is False
        assert computer.kept() is None
        computer.sim.faults.clear()
    # Twitch takes back only a living one; else the refresh token would stay good for a month
    login = computer.login()
    before = len(computer.sim.tokens.issued) - 1
    computer.sim.expire()
    assert await login.log_out() is True
    assert all(
        token.expired and token.used for token in computer.sim.tokens.issued[before:]
    )


async def test_of_a_log_in_that_is_dead_already_nothing_is_left_to_revoke(
    computer: Computer,
) -> None:
    login = computer.login()
    computer.sim.disconnect("keeper")
    assert await login.log_out() is True
    assert computer.kept() is None
    assert await login.log_out() is None, "nobody is logged in any more"


async def test_a_log_out_in_another_process_ends_the_running_one(
    computer: Computer,
) -> None:
    running = computer.login()
    token = await running.token()
    # the refresh token is still good
    computer.sim.faults.add("oauth", path="oauth2/revoke", drop=True)
    assert await computer.kept_login().log_out() is False
    for asking in (running.renew(token), running.validate()):
        with pytest.raises(TwitchLoginNeeded, match="is not signed in"):
            await asking
    assert computer.kept() is None
    assert computer.sim.oauth.refreshes == 0


async def test_after_a_full_disk_the_old_pair_is_not_taken_for_a_newer_one(
    computer: Computer,
) -> None:
    class Full(TokenStore):
        full = True

        def save(self, account: Account, token: Token) -> None:
            if self.full:
                raise OSError(28, "No space left on device")
            super().save(account, token)

    log_in(computer.sim, computer.store)
    full = Full(computer.store.folder, use_keyring=False)
    login = computer.kept_login(store=full)
    computer.sim.expire()
    assert (await login.validate()).login == "keeper"
    assert "No space left" in login.trouble
    assert computer.sim.oauth.refreshes == 1
    computer.sim.expire()
    fresh = await login.validate()
    assert computer.sim.tokens.valid(fresh.access) is not None
    full.full = False
    await login.validate()
    assert computer.kept() == fresh


class Refusing(TokenStore):
    """A place that takes nothing for a while, as where a virus scanner looks at the file."""

    refuses = True

    def save(self, account: Account, token: Token) -> None:
        if self.refuses:
            raise PermissionError(13, "Access is denied")
        super().save(account, token)


async def test_a_renewed_pair_that_no_place_took_is_saved_within_a_minute(
    computer: Computer,
) -> None:
    """A refresh token works once: after a restart the old pair would be worth nothing."""
    log_in(computer.sim, computer.store)
    store = Refusing(computer.store.folder, use_keyring=False)
    clock = ManualClock(1_000)
    login = computer.kept_login(store=store, clock=clock)
    computer.sim.expire()
    task = asyncio.create_task(login.keep_valid())
    await computer.sim.until(
        lambda: "Access is denied" in login.trouble and asleep(clock)
    )
    store.refuses = False
    await clock.advance(MINUTE)
    await computer.sim.until(lambda: computer.kept() == login.pair and asleep(clock))
    assert computer.sim.oauth.refreshes == 1
    assert login.trouble == ""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_stop_waits_for_a_renewal_and_tries_once_more_to_save(
    computer: Computer,
) -> None:
    log_in(computer.sim, computer.store)
    store = Refusing(computer.store.folder, use_keyring=False)
    login = computer.kept_login(store=store)
    _stale, renewal = await renewing(computer.sim, login)
    renewal.cancel()
    await asyncio.gather(renewal, return_exceptions=True)
    await computer.sim.until(lambda: computer.sim.oauth.refreshes == 1)
    store.refuses = False
    await login.aclose()
    assert computer.kept() == login.pair
    saved = computer.kept()
    assert saved is not None
    assert computer.sim.tokens.valid(saved.access) is not None


async def test_log_in_and_helix_go_through_the_proxy(
    computer: Computer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is named without http://."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        for variable in (name, name.upper()):
            monkeypatch.delenv(variable, raising=False)
    computer.settings = Settings(
        twitch=replace(computer.settings.twitch, server="http://twitch.invalid")
    )
    monkeypatch.setenv(
        "http_proxy", computer.sim.url.removeprefix("http://").rstrip("/")
    )
    login = computer.login()
    computer.sim.expire()
    assert (await login.validate()).login == "keeper"
    await computer.helix(login).channel_state()
    assert computer.sim.requests[-1].headers["Host"] == "twitch.invalid"
