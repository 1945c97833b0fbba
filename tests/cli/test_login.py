"""Signing in and out, as it is seen in a terminal."""

import asyncio
from pathlib import Path

import pytest

from forgetmenot.cli import bot as command
from forgetmenot.secret_store import Account, TokenStore
from tests.loopback_servers.fixtures import settings_for
from tests.loopback_servers.twitch import TwitchSim


async def sign_in(sim: TwitchSim, store: TokenStore, login: str) -> None:
    """Sign in as somebody who types the code."""

    async def approve() -> None:
        await sim.until(lambda: sim.oauth.codes)
        sim.approve(sim.oauth.codes[-1].user, login)

    sim.oauth.interval = 0
    await asyncio.gather(
        command.sign_in(settings_for(sim), Account.BOT, store), approve()
    )


async def test_one_code_and_the_bot_has_its_account_and_it_is_said_whose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The streamer's browser is signed in as the streamer: the code is easily typed for the wrong account."""
    store = TokenStore(tmp_path, use_keyring=False)
    for login in ("demo", "keeper"):
        async with TwitchSim() as sim:
            await sign_in(sim, store, login)
            output = capsys.readouterr()
            token = store.load(Account.BOT)
            assert token is not None
            assert token.login == login
            for words in (
                sim.oauth.codes[0].user,
                f"Logged in as {login}",
                "clips:edit",
                "account (keeper);",
            ):
                assert words in output.err
            assert ("Note: `bot_login` in" in output.err) == (login == "demo")
            assert not any(
                secret in output.err + output.out
                for secret in (token.access, token.refresh)
            )
            await command.sign_out(settings_for(sim), Account.BOT, store)
            assert sim.tokens.valid(token.access) is None
        assert list(tmp_path.iterdir()) == []
