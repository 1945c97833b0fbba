"""Where the recap of a stream goes: a file in a folder of the streamer's, and a Discord channel.

It is posted after the streamer pressed "Post", or at once where the settings say so; never twice, also after a crash or
an answer that was lost.
"""

import asyncio
import os
from collections.abc import Callable, Mapping

from forgetmenot import discord
from forgetmenot.clock import DAY, MINUTE, Clock
from forgetmenot.errors import ForgetMeNotError, InputError, WebhookError
from forgetmenot.languages import reason
from forgetmenot.memory.stream_recap import markdown_of, write_file
from forgetmenot.secret_store import SecretStore
from forgetmenot.settings.schema import Settings
from forgetmenot.store import streams
from forgetmenot.store.database import Database

WEBHOOK, WEBHOOK_ENV = "recap-webhook", "FORGETMENOT_RECAP_WEBHOOK"
# Streams that ended before are not shared by themselves: somebody may have learned from old chat.
RECENT = 2 * DAY
TRY_AGAIN = 15 * MINUTE  # longer than Discord asks a webhook to wait


def webhook_of(secrets: SecretStore) -> str:
    """The address that the set-up keeps, or an environment variable names; empty for none."""
    return os.environ.get(WEBHOOK_ENV, "").strip() or secrets.load(WEBHOOK) or ""


class RecapSharing:
    """Of one bot. `address`: the check of a webhook's address."""

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
        secrets: SecretStore,
        address: Callable[[str], str] = discord.webhook_address,
    ) -> None:
        self._db, self._settings, self._clock, self._secrets, self._address = db, settings, clock, secrets, address
        self._again_at = 0

    async def run_pass(self) -> None:
        """A periodic task: write the files that are missing or outdated, and post what is to be posted at once."""
        chosen, now = self._settings().recap, self._clock.now()
        failed: ForgetMeNotError | None = None
        if not (chosen.folder or chosen.post_at_once):
            return
        for stream in await streams.to_share(self._db, now - RECENT):
            try:
                if chosen.folder and not stream["in_file"]:
                    await write_file(self._db, stream["id"], self._settings())
                if chosen.post_at_once and stream["posted_at"] is None and now >= self._again_at:
                    await self.post(stream["id"])
            except WebhookError as error:
                failed, self._again_at = error, now + TRY_AGAIN
            except ForgetMeNotError as error:
                failed = error
        if failed is not None:
            raise failed

    async def post(self, stream_id: int, *, again: bool = False) -> None:
        """Post a stream's recap; one that was posted, or may have been, only with `again`.

        Raises WebhookError, and InputError where there is nothing to post or no webhook.
        """
        address = await asyncio.to_thread(webhook_of, self._secrets)
        if not address:
            raise InputError(reason("webhook_odd"))
        address = self._address(address)
        async with self._db.write() as tx:
            text = await markdown_of(tx, stream_id, self._settings())
            if text is None:
                raise InputError(reason("nothing_here"))
            if not await streams.claim_post(tx, stream_id, self._clock.now(), again=again):
                raise InputError(reason("recap_posted"))
        try:
            await discord.post(address, text)
        except WebhookError as error:
            if not (error.lost or again):
                async with self._db.write() as tx:
                    await streams.unclaim_post(tx, stream_id)
            raise

    async def show(self, stream_id: int) -> Mapping[str, object]:
        """A stream's recap as the dock shows it. Raises InputError where there is none."""
        text = await markdown_of(self._db, stream_id, self._settings())
        if text is None:
            raise InputError(reason("nothing_here"))
        place = await streams.shared(self._db, stream_id)
        return {"markdown": text, **place, "webhook": bool(await asyncio.to_thread(webhook_of, self._secrets))}
