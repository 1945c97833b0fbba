"""The set-up's steps for Twitch: which app, which account with which rights, and what is stored of it."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import segno

from forgetmenot.app.account import login_rights
from forgetmenot.app.control import ConnectionStatus
from forgetmenot.clock import ManualClock
from forgetmenot.errors import InputError, TwitchLoginNeeded, TwitchUnavailable
from forgetmenot.operations.actions import CHAT
from forgetmenot.secret_store import LOGIN_FOLDER, Account, TokenStore
from forgetmenot.settings.load import load_settings
from tests.app.conftest import Steps, opened_steps
from tests.loopback_servers.twitch import TwitchSim

pytestmark = pytest.mark.slow


@pytest.fixture
async def steps(
    tmp_path: Path, clock: ManualClock, sim: TwitchSim
) -> AsyncIterator[Steps]:
    """The set-up of a bot that knows its channel and no app."""
    sim.oauth.interval = 0
    config = f'[twitch]\nserver = "{sim.url}"\nchannel = "demo"\nbot_login = "keeper"\n'
    async with opened_steps(tmp_path, clock, config, ConnectionStatus()) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    """Where log-ins are kept."""
    return TokenStore(tmp_path / LOGIN_FOLDER, use_keyring=False)


async def begin(steps: Steps, sim: TwitchSim, account: Account) -> str:
    """Name the app and ask for a code; return the code that the page shows."""
    await steps.do("client", client_id=sim.client_id)
    pending = await asked_for(steps, account=account)
    return str(pending["code"])


async def asked_for(steps: Steps, **fields: object) -> dict[str, object]:
    """Ask for a code; return what the page shows of it."""
    answer = await steps.do("login", **fields)
    assert answer["ok"]
    pending = answer["pending"]
    assert isinstance(pending, dict)
    assert pending == (await steps.shown("login"))["pending"]
    return pending


def outcome(steps: Steps) -> str:
    """What the page says of the log-in by code; empty while it waits."""
    pending = steps.service.login.pending()
    assert pending is not None
    return str(pending["line"])


# ── the app ─────────────────────────────────────────────────────────────────────────────────


async def test_an_app_is_kept_once_twitch_gives_it_a_code(
    steps: Steps, sim: TwitchSim
) -> None:
    sim.client_id = "Ab3" * 10
    answer = await steps.do("client", client_id=f" {sim.client_id} ")
    assert answer["line"] == "Saved."
    assert load_settings(steps.file).twitch.client_id == sim.client_id
    assert (await steps.shown("login"))["client_id"] == sim.client_id
    [code] = sim.oauth.codes
    assert code.scopes == CHAT


async def test_an_app_that_twitch_refuses_is_not_kept(
    steps: Steps, sim: TwitchSim
) -> None:
    before = steps.file.read_text()
    refusal = {"status": 400, "message": "invalid client"}
    sim.faults.add("oauth", path="oauth2/device", status=400, body=refusal)
    with pytest.raises(InputError, match="Twitch accepts no such client ID"):
        await steps.do("client", client_id=sim.client_id)
    assert steps.file.read_text() == before
    assert steps.settings().twitch.client_id == ""


async def test_an_outage_of_twitch_is_not_taken_for_a_wrong_app(
    steps: Steps, sim: TwitchSim
) -> None:
    sim.faults.add("oauth", path="oauth2/device", status=503)
    with pytest.raises(TwitchUnavailable):
        await steps.do("client", client_id=sim.client_id)
    assert steps.settings().twitch.client_id == ""


@pytest.mark.parametrize("typed", ["", "short", "x" * 65, "twelve letters", "ä" * 12])
async def test_what_cannot_be_a_client_id_is_refused_without_asking_twitch(
    steps: Steps, sim: TwitchSim, typed: str
) -> None:
    with pytest.raises(InputError, match="about 30 letters and digits"):
        await steps.do("client", client_id=typed)
    assert sim.oauth.codes == []


# ── the log-in ──────────────────────────────────────────────────────────────────────────────


async def test_without_an_app_nobody_is_asked_for_a_code(
    steps: Steps, sim: TwitchSim
) -> None:
    with pytest.raises(TwitchLoginNeeded):
        await steps.do("login")
    assert sim.oauth.codes == []
    assert (await steps.shown("login"))["pending"] is None


async def test_the_bots_log_in_is_stored_once_its_code_is_typed(
    steps: Steps, sim: TwitchSim, store: TokenStore
) -> None:
    await steps.do("client", client_id=sim.client_id)
    # The account that is meant if none is named.
    pending = await asked_for(steps)
    code = str(pending["code"])
    asked = sim.oauth.waiting(code)
    assert asked.scopes == login_rights(Account.BOT, steps.settings())
    assert code in str(pending["address"])
    assert (pending["account"], pending["ok"], pending["line"]) == ("bot", False, "")
    await sim.until(lambda: asked.polls > 1)
    assert store.is_empty(Account.BOT)
    sim.approve(code, "keeper")
    await sim.until(lambda: outcome(steps))
    assert outcome(steps) == "Logged in as keeper."
    [granted] = sim.tokens.issued
    stored = store.load(Account.BOT)
    assert stored is not None
    assert (stored.access, stored.login) == (granted.access, "keeper")
    assert store.is_empty(Account.BROADCASTER)


async def test_the_code_comes_with_a_qr_code_of_its_address_and_with_its_end(
    steps: Steps, sim: TwitchSim
) -> None:
    await steps.do("client", client_id=sim.client_id)
    pending = await asked_for(steps)
    squares = re.findall(r"M(\d+) (\d+)h1v1h-1z", str(pending["qr"]))
    code = segno.make(str(pending["address"]), micro=False)
    # A margin of two light modules: phones need one around a code.
    dark_modules = set()
    for y, row in enumerate(code.matrix):
        for x, is_dark in enumerate(row):
            if is_dark:
                dark_modules.add((str(x + 2), str(y + 2)))
    assert set(squares) == dark_modules
    assert pending["size"] == len(code.matrix) + 4
    until_ms = pending["until"]
    assert isinstance(until_ms, int)
    # The loopback Twitch gives half an hour.
    remaining_s = until_ms / 1_000 - time.time()
    assert 1_700 < remaining_s <= 1_800


async def test_the_streamers_log_in_has_rights_of_its_own_and_its_own_place(
    steps: Steps, sim: TwitchSim, store: TokenStore
) -> None:
    code = await begin(steps, sim, Account.BROADCASTER)
    rights = login_rights(Account.BROADCASTER, steps.settings())
    assert sim.oauth.waiting(code).scopes == rights
    assert rights != login_rights(Account.BOT, steps.settings())
    sim.approve(code, "demo")
    await sim.until(lambda: outcome(steps))
    stored = store.load(Account.BROADCASTER)
    assert stored is not None
    assert stored.login == "demo"
    assert store.is_empty(Account.BOT)


async def test_a_code_that_has_expired_stores_nothing_and_says_so(
    steps: Steps, sim: TwitchSim, store: TokenStore
) -> None:
    code = await begin(steps, sim, Account.BOT)
    sim.oauth.waiting(code).ended = True
    await sim.until(lambda: outcome(steps))
    pending = (await steps.shown("login"))["pending"]
    assert isinstance(pending, dict)
    assert pending["ok"] is False
    assert "Get a new code." in pending["line"]
    assert store.is_empty(Account.BOT)
    assert sim.tokens.issued == []


async def test_the_next_code_takes_the_place_of_the_last(
    steps: Steps, sim: TwitchSim, store: TokenStore
) -> None:
    """Somebody who chose the wrong account begins anew: what they type of the first code changes nothing."""
    first = await begin(steps, sim, Account.BOT)
    second = await begin(steps, sim, Account.BROADCASTER)
    sim.approve(first, "stranger")
    sim.approve(second, "demo")
    await sim.until(lambda: outcome(steps))
    assert outcome(steps) == "Logged in as demo."
    assert [token.login for token in sim.tokens.issued] == ["demo"]
    assert store.is_empty(Account.BOT)


async def test_of_two_codes_asked_for_at_once_the_shown_one_counts(
    steps: Steps, sim: TwitchSim
) -> None:
    """Two pages of the dock are open, and a log-in is begun in both: the other code is not waited for."""
    await steps.do("client", client_id=sim.client_id)
    sim.oauth.codes.clear()
    await asyncio.gather(steps.do("login"), steps.do("login"))
    pending = steps.service.login.pending()
    assert pending is not None
    shown = str(pending["code"])
    [other] = [code for code in sim.oauth.codes if code.user != shown]
    polls = other.polls
    sim.approve(other.user, "stranger")
    await sim.until(lambda: sim.oauth.waiting(shown).polls > polls + 5)
    sim.approve(shown, "keeper")
    await sim.until(lambda: outcome(steps))
    assert [token.login for token in sim.tokens.issued] == ["keeper"]


async def test_a_log_in_that_the_disk_does_not_take_is_said(
    steps: Steps, sim: TwitchSim, tmp_path: Path
) -> None:
    # a file stands where the folder of log-ins has to be
    (tmp_path / LOGIN_FOLDER).write_text("")
    code = await begin(steps, sim, Account.BOT)
    sim.approve(code, "keeper")
    await sim.until(lambda: outcome(steps))
    assert outcome(steps).startswith("The log-in could not be saved: ")
    pending = steps.service.login.pending()
    assert pending is not None
    assert pending["ok"] is False


async def test_a_log_in_counts_also_if_twitch_does_not_say_whose_it_is(
    steps: Steps, sim: TwitchSim, store: TokenStore
) -> None:
    """The code is spent, so the log-in must not be lost; whose it is, is asked again later."""
    code = await begin(steps, sim, Account.BOT)
    sim.faults.add("oauth", path="oauth2/validate", status=503, times=None)
    sim.approve(code, "keeper")
    await sim.until(lambda: outcome(steps))
    pending = steps.service.login.pending()
    assert pending is not None
    assert pending["ok"] is True
    stored = store.load(Account.BOT)
    assert stored is not None
    assert sim.tokens.valid(stored.access) is not None
