"""Where the recap of a stream goes: a file in a folder of the streamer's, and a Discord channel.

- It is posted after the streamer pressed "Post", or at once where the settings say so; never twice, also after a crash
  or an answer that was lost.
- Whoever has a webhook's address can post there: it is a secret, and no error and no log names it. It is one of
  Discord's or is refused, no redirect is followed, and nobody is mentioned.
"""

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping

import aiohttp

from forgetmenot.clock import Clock
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.errors import ForgetMeNotError, InputError, WebhookError
from forgetmenot.languages import reason
from forgetmenot.memory.recap_markdown import markdown_of, write_file
from forgetmenot.network import BadProxy, web_session
from forgetmenot.secret_store import SecretStore
from forgetmenot.settings.schema import Settings
from forgetmenot.store import privacy_choices, streams
from forgetmenot.store.database import Database

WEBHOOK = "recap-webhook"
WEBHOOK_ENV = "FORGETMENOT_RECAP_WEBHOOK"
# Streams that ended before are not shared by themselves: somebody may have learned from old chat.
RECENT = 2 * DAY
# Longer than Discord asks a webhook to wait.
RETRY_AFTER = 15 * MINUTE
_ADDRESS = re.compile(
    r"https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,25}/[\w-]{20,120}",
    re.ASCII,
)
_ANSWER_WITHIN = aiohttp.ClientTimeout(total=15, sock_connect=5)
# Discord takes 4,096 characters of an embed, and half of that of a message.
LONGEST = 4_000
PICTURE_FILE = "evening.png"
PNG = b"\x89PNG\r\n\x1a\n"


def webhook_address(text: str) -> str:
    """Return the address of a webhook as somebody pasted it. Raises InputError for any other."""
    address = text.strip()
    if not _ADDRESS.fullmatch(address):
        raise InputError(reason("webhook_odd"))
    return address


def webhook_of(secrets: SecretStore) -> str:
    """Return the address that the set-up stored, or an environment variable names; empty for none."""
    from_environment = os.environ.get(WEBHOOK_ENV, "").strip()
    return from_environment or secrets.load(WEBHOOK) or ""


class RecapSharing:
    """Shares the recaps of one bot. `address`: the check of a webhook's address."""

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
        secrets: SecretStore,
        address: Callable[[str], str] = webhook_address,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._secrets = secrets
        self._address = address
        self._again_at = 0

    async def run_pass(self) -> None:
        """A periodic task: write the files that are missing or outdated, and post what is to be posted at once."""
        settings = self._settings()
        recap = settings.recap
        if not recap.folder and not recap.post_at_once:
            return
        now = self._clock.now()
        to_share = await streams.to_share(self._db, now - RECENT)
        # one stream that fails does not keep the others from being shared
        failure: ForgetMeNotError | None = None
        for stream in to_share:
            stream_id = stream["id"]
            is_unposted = recap.post_at_once and stream["posted_at"] is None
            try:
                if recap.folder and not stream["in_file"]:
                    await write_file(self._db, stream_id, settings)
                if is_unposted and now >= self._again_at:
                    await self.post(stream_id)
            except WebhookError as error:
                failure = error
                self._again_at = now + RETRY_AFTER
            except ForgetMeNotError as error:
                failure = error
        if failure is not None:
            raise failure

    async def post(
        self,
        stream_id: int,
        *,
        again: bool = False,
        picture: bytes = b"",
    ) -> None:
        """Post a stream's recap; one that was posted, or may have been, only with `again`.

        `picture`: of the evening, as a PNG; empty for none. Raises WebhookError, and InputError where there is nothing
        to post or no webhook.
        """
        if picture and not picture.startswith(PNG):
            raise InputError(reason("request_odd"))
        address = await asyncio.to_thread(webhook_of, self._secrets)
        if not address:
            raise InputError(reason("webhook_odd"))
        # Also one of the environment: a recap goes to Discord and nowhere else.
        address = self._address(address)
        async with self._db.write() as tx:
            text = await markdown_of(tx, stream_id, self._settings())
            if text is None:
                raise InputError(reason("nothing_here"))
            now = self._clock.now()
            claimed = await streams.claim_post(tx, stream_id, now, again=again)
            if not claimed:
                raise InputError(reason("already_handled"))
            # written down before it is sent: a copy of the memory that is older does not post it again
            started_at = await streams.start_of(tx, stream_id)
            if not tx.requests.was_posted(started_at):
                posted = tx.requests.posted(started_at, now)
                await privacy_choices.write_request(tx, posted)
        try:
            await send(address, text, picture)
        except WebhookError as error:
            # What may have arrived counts as posted.
            if not (error.lost or again):
                async with self._db.write() as tx:
                    await streams.unclaim_post(tx, stream_id)
            raise

    async def show(self, stream_id: int) -> Mapping[str, object]:
        """Return a stream's recap as the dock shows it. Raises InputError where there is none."""
        text = await markdown_of(self._db, stream_id, self._settings())
        if text is None:
            raise InputError(reason("nothing_here"))
        sharing = await streams.sharing_of(self._db, stream_id)
        webhook = await asyncio.to_thread(webhook_of, self._secrets)
        return {"markdown": text, **sharing, "webhook": bool(webhook)}


async def send(
    address: str,
    text: str,
    picture: bytes = b"",
) -> None:
    """Post one message to Discord, with a picture (PNG) if there is one. Raises WebhookError."""
    body = _message(text, picture)
    try:
        async with (
            web_session(_ANSWER_WITHIN) as session,
            session.post(
                address,
                # Discord answers when the message is stored, not before.
                params={"wait": "true"},
                data=body,
                allow_redirects=False,
            ) as answer,
        ):
            status = answer.status
    except (aiohttp.ClientConnectorError, BadProxy):
        # the error itself names the address
        raise WebhookError(reason("webhook_away")) from None
    except (aiohttp.ClientError, TimeoutError, OSError):
        raise WebhookError(reason("webhook_unknown"), lost=True) from None
    if not 200 <= status < 300:
        code = "webhook_away" if status == 429 else "webhook_refused"
        refused = reason(code, status=status)
        raise WebhookError(refused, lost=status >= 500)


def _message(text: str, picture: bytes) -> aiohttp.FormData:
    """Return the form of a message: its JSON, and the picture that the JSON shows by its file's name."""
    embed: dict[str, object] = {"description": _within(text)}
    form = aiohttp.FormData()
    if picture:
        url = f"attachment://{PICTURE_FILE}"
        embed["image"] = {"url": url}
        form.add_field(
            "files[0]",
            picture,
            filename=PICTURE_FILE,
            content_type="image/png",
        )
    message = {
        "allowed_mentions": {"parse": []},
        "embeds": [embed],
    }
    encoded = json.dumps(message)
    form.add_field("payload_json", encoded, content_type="application/json")
    return form


def _within(text: str) -> str:
    """Return the whole lines of a text that fit, with a mark where some are left out."""
    # as Discord counts: an emoji may be two
    units = text.encode("utf-16-le", "surrogatepass")
    if len(units) <= 2 * LONGEST:
        return text
    # Two bytes a unit; a line end and the mark are two units.
    room = 2 * (LONGEST - 2)
    cut = units[:room].decode("utf-16-le", "ignore")
    whole_lines = cut.rpartition("\n")[0]
    return f"{whole_lines or cut}\n…"
