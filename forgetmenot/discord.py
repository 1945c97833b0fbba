"""Posts a text to a Discord channel through a webhook. Whoever has its address can post there: it is a secret.

The address is one of Discord's or is refused, no redirect is followed, nobody is mentioned, and no error and no log
names it. Nothing is sent twice by itself.
"""

import re

import aiohttp

from forgetmenot.errors import InputError, WebhookError
from forgetmenot.languages import reason
from forgetmenot.network import BadProxy, by_proxy, trusted

_ADDRESS = re.compile(
    r"https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{5,25}/[\w-]{20,120}", re.ASCII
)
_ANSWER_WITHIN = aiohttp.ClientTimeout(total=15, sock_connect=5)
# Discord takes 4,096 characters of an embed, and half of that of a message.
LONGEST = 4_000


def webhook_address(text: str) -> str:
    """The address of a webhook as somebody pasted it. Raises InputError for any other."""
    address = text.strip()
    if not _ADDRESS.fullmatch(address):
        raise InputError(reason("webhook_odd"))
    return address


async def post(address: str, text: str) -> None:
    """Post one message. Raises WebhookError."""
    body = {"allowed_mentions": {"parse": []}, "embeds": [{"description": _within(text)}]}
    connector = aiohttp.TCPConnector(ssl=trusted())
    try:
        async with (
            aiohttp.ClientSession(timeout=_ANSWER_WITHIN, connector=connector, middlewares=(by_proxy,)) as session,
            session.post(address, params={"wait": "true"}, json=body, allow_redirects=False) as answer,
        ):
            if not 200 <= answer.status < 300:
                code = "webhook_busy" if answer.status == 429 else "webhook_refused"
                raise WebhookError(reason(code, status=answer.status), lost=answer.status >= 500)
    except (aiohttp.ClientConnectorError, BadProxy):
        raise WebhookError(reason("webhook_away")) from None  # the error itself names the address
    except (aiohttp.ClientError, TimeoutError, OSError):
        raise WebhookError(reason("webhook_unknown"), lost=True) from None


def _within(text: str) -> str:
    """Its whole lines that fit, with a mark where some are left out."""
    units = text.encode("utf-16-le", "surrogatepass")  # as Discord counts: an emoji may be two
    if len(units) <= 2 * LONGEST:
        return text
    cut = units[: 2 * (LONGEST - 2)].decode("utf-16-le", "ignore")
    return f"{cut.rpartition(chr(10))[0] or cut}\n…"
