"""A recap goes into the folder and to Discord: once, when it is wanted, and what goes wrong is said."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.recap_sharing import (
    PNG,
    RECENT,
    RETRY_AFTER,
    WEBHOOK,
    WEBHOOK_ENV,
    RecapSharing,
)
from forgetmenot.clock import ManualClock
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import InputError, WebhookError
from forgetmenot.memory import backups
from forgetmenot.secret_store import SecretStore
from forgetmenot.settings.load import parse_settings
from forgetmenot.settings.schema import Settings
from forgetmenot.store import streams
from forgetmenot.store.database import Database, open_database
from tests.loopback_servers.discord import Discord


class Sharing:
    """A stream that is over, and what is done with its recap."""

    def __init__(
        self,
        db: Database,
        clock: ManualClock,
        folder: Path,
        there: Discord,
        address: str,
    ) -> None:
        self.db = db
        self.clock = clock
        self.there = there
        self.secrets = SecretStore(folder / "login", use_keyring=False)
        self.secrets.save(WEBHOOK, address)
        self.settings = Settings()
        self.sharing = self.anew()

    def anew(self) -> RecapSharing:
        """As after a start. The loopback address stands in for one of Discord's."""
        secrets = self.secrets
        return RecapSharing(
            db=self.db,
            settings=lambda: self.settings,
            clock=self.clock,
            secrets=secrets,
            address=str,
        )

    async def stream(self, recap: str = "The boss fell.") -> int:
        now = self.clock.now()
        async with self.db.write() as tx:
            stream = await streams.begin(tx, now - HOUR)
            await streams.end(tx, stream, now)
            await streams.set_recap(tx, stream, recap, now)
        return stream

    def use(self, recap: str) -> None:
        self.settings = parse_settings(f"[recap]\n{recap}", "test")


@pytest.fixture
async def shared(
    db: Database, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Sharing]:
    monkeypatch.delenv(WEBHOOK_ENV, raising=False)
    there = Discord()
    async with there.at() as address:
        yield Sharing(db, clock, tmp_path, there, address)


async def test_nothing_is_posted_before_somebody_says_so_and_then_once(
    shared: Sharing,
) -> None:
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


async def test_a_recap_is_not_posted_again_after_a_restore(
    shared: Sharing, tmp_path: Path
) -> None:
    """Of an older copy, in which it was not posted: by itself; whoever asks for it twice gets it."""
    copy = tmp_path / "copy.sqlite3"
    stream = await shared.stream()
    await backups.copy_to(shared.db, copy)
    shared.use("post_at_once = true")
    await shared.sharing.run_pass()
    path = tmp_path / "restored.sqlite3"
    path.with_name(path.name + ".requests").write_bytes(
        shared.db.requests.path.read_bytes()
    )
    await backups.restore(copy, path, now=shared.clock.now(), keep=3)
    async with open_database(path) as shared.db:
        await shared.anew().run_pass()
        with pytest.raises(InputError, match="done already"):
            await shared.anew().post(stream)
        assert len(shared.there.got) == 1
        await shared.anew().post(stream, again=True)
        assert len(shared.there.got) == 2


async def test_at_once_posts_what_just_ended_and_tries_a_refusal_again_later_and_a_lost_answer_never(
    shared: Sharing,
) -> None:
    clock = shared.clock
    got = shared.there.got
    await shared.stream()
    await clock.advance(RECENT + MINUTE)
    shared.use("post_at_once = true")
    await shared.sharing.run_pass()
    assert got == []
    await shared.stream()
    shared.there.status = 429
    with pytest.raises(WebhookError, match="in a few minutes"):
        await shared.sharing.run_pass()
    await shared.sharing.run_pass()
    assert len(got) == 1  # not every minute
    await clock.advance(RETRY_AFTER)
    shared.there.status = 502
    with pytest.raises(WebhookError):
        await shared.sharing.run_pass()
    await clock.advance(RETRY_AFTER)
    shared.there.status = 200
    await shared.anew().run_pass()
    assert len(got) == 2
    await shared.stream()
    await shared.sharing.run_pass()
    await shared.sharing.run_pass()
    assert len(got) == 3


async def test_a_stream_that_is_learned_from_its_chat_is_not_posted_by_itself_half_read(
    shared: Sharing,
) -> None:
    now = shared.clock.now()
    async with shared.db.write() as tx:
        stream = await streams.add_past(tx, now - HOUR)
        await streams.set_recap(tx, stream, "It began.", now)
    shared.use("post_at_once = true")
    await shared.sharing.run_pass()
    assert shared.there.got == []
    await shared.sharing.post(stream)
    assert len(shared.there.got) == 1


async def test_a_recap_that_is_made_again_goes_into_its_file(
    shared: Sharing, tmp_path: Path
) -> None:
    """Of which a line was deleted in chat, when the stream was over."""
    (tmp_path / "recaps").mkdir()
    stream = await shared.stream("Somebody sang.")
    shared.use(f"folder = '{tmp_path / 'recaps'}'")
    await shared.sharing.run_pass()
    [file] = (tmp_path / "recaps").iterdir()
    file.write_text("Somebody sang. My own words.")
    await shared.sharing.run_pass()
    assert "My own words" in file.read_text()
    await shared.clock.advance(MINUTE)
    async with shared.db.write() as tx:
        await tx.execute("UPDATE streams SET recap = '', recapped_at = NULL")
        await streams.set_recap(tx, stream, "The boss fell.", shared.clock.now())
    await shared.sharing.run_pass()
    assert "The boss fell." in file.read_text()
    assert "sang" not in file.read_text()


async def test_the_picture_of_the_evening_is_posted_with_its_recap(
    shared: Sharing,
) -> None:
    stream = await shared.stream()
    picture = PNG + b"what was drawn"
    with pytest.raises(InputError):
        await shared.sharing.post(stream, picture=b"<svg>")
    assert shared.there.got == []
    await shared.sharing.post(stream, picture=picture)
    [body] = shared.there.got
    assert body["embeds"][0]["image"] == {"url": "attachment://evening.png"}
    assert shared.there.pictures == {"evening.png": picture}
