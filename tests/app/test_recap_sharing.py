"""A recap goes into the folder and to Discord: once, when it is wanted, and what goes wrong is said."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp.test_utils import unused_port

from forgetmenot.app.bot import Bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.recap_sharing import RECENT, TRY_AGAIN, WEBHOOK, WEBHOOK_ENV, RecapSharing
from forgetmenot.app.setup import SetupService
from forgetmenot.clock import HOUR, MINUTE
from forgetmenot.errors import InputError, WebhookError
from forgetmenot.secret_store import SecretStore
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import parse_settings
from forgetmenot.settings.schema import Settings
from forgetmenot.store import streams
from tests.loopback_servers.discord import TOKEN, Discord


class Sharing:
    """A stream that is over, and what is done with its recap."""

    def __init__(self, bot: Bot, folder: Path, there: Discord, address: str) -> None:
        self.bot, self.there = bot, there
        self.secrets = SecretStore(folder / "login", use_keyring=False)
        self.secrets.save(WEBHOOK, address)
        self.settings = Settings()
        self.sharing = self.anew()

    def anew(self) -> RecapSharing:
        """As after a start. The loopback address stands in for one of Discord's."""
        bot = self.bot
        return RecapSharing(
            db=bot.db, settings=lambda: self.settings, clock=bot.clock, secrets=self.secrets, address=str
        )

    async def stream(self, recap: str = "The boss fell.") -> int:
        bot = self.bot
        async with bot.db.write() as tx:
            stream = await streams.begin(tx, bot.clock.now() - HOUR)
            await streams.end(tx, stream, bot.clock.now())
            await streams.set_recap(tx, stream, recap, bot.clock.now())
        return stream

    def use(self, recap: str) -> None:
        self.settings = parse_settings(f"[recap]\n{recap}", "test")


@pytest.fixture
async def shared(bot: Bot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sharing]:
    monkeypatch.delenv(WEBHOOK_ENV, raising=False)
    there = Discord()
    async with there.at() as address:
        yield Sharing(bot, tmp_path, there, address)


async def test_nothing_is_posted_before_somebody_says_so_and_then_once(shared: Sharing) -> None:
    stream = await shared.stream()
    await shared.sharing.run_pass()
    assert shared.there.got == []
    await shared.sharing.post(stream)
    with pytest.raises(InputError, match="done already"):
        await shared.sharing.post(stream)
    shared.use("post_at_once = true")
    await shared.anew().run_pass()
    [body] = shared.there.got
    assert "The boss fell." in body["embeds"][0]["description"]
    await shared.sharing.post(stream, again=True)
    assert len(shared.there.got) == 2


async def test_at_once_posts_what_just_ended_and_tries_a_refusal_again_later_and_a_lost_answer_never(
    shared: Sharing,
) -> None:
    clock, got = shared.bot.clock, shared.there.got
    await shared.stream()
    await clock.advance(RECENT + MINUTE)  # type: ignore[attr-defined]  # a ManualClock
    shared.use("post_at_once = true")
    await shared.sharing.run_pass()
    assert got == []
    await shared.stream()
    shared.there.status = 429
    with pytest.raises(WebhookError, match="in a few minutes"):
        await shared.sharing.run_pass()
    await shared.sharing.run_pass()
    assert len(got) == 1  # not every minute
    await clock.advance(TRY_AGAIN)  # type: ignore[attr-defined]
    shared.there.status = 502
    with pytest.raises(WebhookError):
        await shared.sharing.run_pass()
    await clock.advance(TRY_AGAIN)  # type: ignore[attr-defined]
    shared.there.status = 200
    await shared.anew().run_pass()
    assert len(got) == 2
    await shared.stream()
    await shared.sharing.run_pass()
    await shared.sharing.run_pass()
    assert len(got) == 3


async def test_the_file_is_written_even_where_discord_is_away(shared: Sharing, tmp_path: Path) -> None:
    (tmp_path / "recaps").mkdir()
    shared.secrets.save(WEBHOOK, f"http://127.0.0.1:{unused_port()}/")
    await shared.stream()
    shared.use(f"folder = '{tmp_path / 'recaps'}'\npost_at_once = true")
    with pytest.raises(WebhookError, match="cannot be reached"):
        await shared.sharing.run_pass()
    assert len(list((tmp_path / "recaps").iterdir())) == 1


async def test_a_recap_that_is_made_again_goes_into_its_file(shared: Sharing, tmp_path: Path) -> None:
    """Of which a line was deleted in chat, when the stream was over."""
    (tmp_path / "recaps").mkdir()
    stream = await shared.stream("Somebody sang.")
    shared.use(f"folder = '{tmp_path / 'recaps'}'")
    await shared.sharing.run_pass()
    [file] = (tmp_path / "recaps").iterdir()
    file.write_text("Somebody sang. My own words.")
    await shared.sharing.run_pass()
    assert "My own words" in file.read_text()
    await shared.bot.clock.advance(MINUTE)  # type: ignore[attr-defined]
    async with shared.bot.db.write() as tx:
        await tx.execute("UPDATE streams SET recap = '', recapped_at = NULL")
        await streams.set_recap(tx, stream, "The boss fell.", shared.bot.clock.now())
    await shared.sharing.run_pass()
    assert "The boss fell." in file.read_text()
    assert "sang" not in file.read_text()


async def test_the_webhook_is_a_secret_of_discords(shared: Sharing, bot: Bot, tmp_path: Path) -> None:
    live = LiveSettings(Settings())
    setup = SetupService(live, tmp_path, use_keyring=False)
    stream = await shared.stream()
    async with setup.attached(BotControl(bot, live, ConnectionStatus())):
        with pytest.raises(InputError, match=r"discord\.com"):
            await setup.run("webhook", b'{"address": "https://example.com/api/webhooks/123456/' + b"a" * 60 + b'"}')
        address = f"https://discord.com/api/webhooks/123456/{TOKEN}"
        kept = await setup.run("webhook", b'{"address": " ' + address.encode() + b' "}')
        assert kept["ok"]
        assert shared.secrets.load(WEBHOOK) == address
        shown = await setup.run("recap", b'{"stream": %d}' % stream)
        assert (shown["webhook"], shown["posted_at"], shown["recap_file"]) == (True, None, "")
        assert TOKEN not in str(shown)
        assert TOKEN not in str(kept)
        await setup.run("webhook", b'{"address": ""}')
        assert not (await setup.run("recap", b'{"stream": %d}' % stream))["webhook"]
        with pytest.raises(InputError, match="address of a Discord webhook"):
            await setup.run("post_recap", b'{"stream": %d}' % stream)
        for number in (b"99", b"99999999999999999999"):
            with pytest.raises(InputError, match="nothing here"):
                await setup.run("recap", b'{"stream": %s}' % number)
    assert shared.there.got == []
