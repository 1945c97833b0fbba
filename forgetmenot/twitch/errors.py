"""Translates errors of twitchio and aiohttp into TwitchError, in one place.

Their messages may have tokens in them (twitchio puts a refresh token into a URL, and the URL into
the message), so they are neither repeated nor chained.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.errors import (
    TwitchError,
    TwitchLoginNeeded,
    TwitchRateLimited,
    TwitchRefused,
    TwitchUnavailable,
)
from forgetmenot.languages import reason
from forgetmenot.network import BadProxy

# The connection was never made, so Twitch cannot have done what was asked for.
_NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
)
# Not Twitch: a proxy that takes no WebSocket, or a page in the place of JSON.
_OTHER_SERVER = (aiohttp.WSServerHandshakeError, aiohttp.ContentTypeError)
_BROKEN = (
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    ValueError,
    AssertionError,
    RecursionError,
)


class AnswerLost(TwitchUnavailable):
    """The request went out and no usable answer came: what was asked for may have been done."""


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Raise TwitchError for all that goes wrong with Twitch inside of the block.

    `doing` is what was tried: "send a message".
    """
    try:
        yield
    except TwitchError:
        raise
    except Exception as error:
        twitch_error = translation(error, doing)
        if twitch_error is None:
            raise
        # From None: the original may have a token in its words.
        raise twitch_error from None


def translation(error: BaseException, doing: str) -> TwitchError | None:
    """Return the TwitchError for an error; None if it is not Twitch's, such as a cancellation."""
    # By its package: the classes are not imported before twitchio itself is.
    package, _, _ = type(error).__module__.partition(".")
    if package == "twitchio":
        return _from_twitchio(error, doing)
    if isinstance(error, _OTHER_SERVER):
        return _from_other_server(error.status, doing)
    # This class alone: the classes derived from it are about the connection.
    if type(error) is aiohttp.ClientResponseError:
        return from_status(error.status, error.message, doing)
    if isinstance(error, aiohttp.ClientError | OSError):
        kind = TwitchUnavailable if isinstance(error, _NEVER_SENT) else AnswerLost
        why = network_reason(error)
        return kind(_could_not(doing, why))
    if isinstance(error, BadProxy):
        why = str(error).rstrip(".")
        return TwitchUnavailable(_could_not(doing, why))
    if isinstance(error, json.JSONDecodeError) and _is_page(error.doc):
        return _portal(doing)
    # twitchio reads answers without looking: a field that is missing ends as one of these.
    if isinstance(error, _BROKEN):
        why = reason("no_answer")
        return AnswerLost(_could_not(doing, why))
    return None


def _portal(doing: str) -> TwitchUnavailable:
    """Return the error for a web page in the place of an answer: a hotel's terms, say."""
    return TwitchUnavailable(reason("portal", doing=doing))


def _from_other_server(status: int, doing: str) -> TwitchError:
    """Return the error for an answer that cannot be Twitch's."""
    # 511 is for networks that want a log-in of their own.
    if status < 400 or status == 511:
        return _portal(doing)
    why = reason("server_status", status=status)
    return TwitchUnavailable(_could_not(doing, why))


def _from_twitchio(error: BaseException, doing: str) -> TwitchError:
    from twitchio.exceptions import HTTPException, MessageRejectedError

    no_answer = reason("no_answer")
    if isinstance(error, MessageRejectedError):
        why = error.code or no_answer
        return TwitchRefused(_could_not(doing, why))
    if not isinstance(error, HTTPException):
        return TwitchUnavailable(_could_not(doing, no_answer))
    message = str(error.extra.get("message", ""))
    if _is_page(message):
        return _portal(doing)
    return from_status(error.status, message, doing)


def from_status(
    status: int,
    message: str,
    doing: str,
    retry_after_s: float = 1.0,
) -> TwitchError:
    """Return the error for an HTTP status of 400 or more; `message` is Twitch's own text on it."""
    twitch_text = message.rstrip(".")
    if status == 401:
        message = twitch_text or str(status)
        return TwitchLoginNeeded(reason("expired", doing=doing, message=message))
    if status == 429:
        why = reason("asked_to_wait")
        return TwitchRateLimited(_could_not(doing, why), retry_after_s)
    server_status = reason("server_status", status=status)
    # 407 and 408 come from a proxy on the way.
    if 400 <= status < 500 and status not in (407, 408):
        return TwitchRefused(_could_not(doing, twitch_text or server_status))
    # A 503 says that nobody took the request. Behind another 5xx it may have been carried out.
    kind = TwitchUnavailable if status == 503 else AnswerLost
    return kind(_could_not(doing, server_status))


def _could_not(doing: str, why: str) -> str:
    return reason("could_not", doing=doing, reason=why)


# The first class that fits an error says why a server could not be reached.
_NETWORK_REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (TimeoutError, "in_time"),
    (aiohttp.ClientSSLError, "insecure"),
    (aiohttp.ClientHttpProxyError, "proxy_away"),
    (aiohttp.ClientProxyConnectionError, "proxy_away"),
    (aiohttp.ClientConnectorError, "no_connection"),
)


def network_reason(error: BaseException) -> str:
    """Return why a server could not be reached."""
    for kind, code in _NETWORK_REASONS:
        if isinstance(error, kind):
            return reason(code)
    return reason("no_answer")


def _is_page(text: str) -> bool:
    beginning = text.lstrip()[:9]
    return beginning.lower().startswith(("<!doctype", "<html", "<head", "<body"))


# ── messages that Twitch took and did not show ────────────────────────────────────────────────

# The codes of which there is more to say than Twitch's own sentence does. It does not publish a
# list of them.
_FOLLOWERS = (
    "The chat is for followers only. Let the bot follow, or make it a moderator."
)
HELD = "AutoMod holds the message until a moderator releases it."
TOO_FAST = "Twitch says that the bot writes too fast."
DROPS = {
    "msg_rejected": HELD,
    "automod_held": HELD,
    "msg_too_long": "The message is too long for Twitch.",
    "msg_ratelimit": TOO_FAST,
    "msg_slowmode": "The chat is in slow mode. Moderators are exempt.",
    "msg_followersonly": _FOLLOWERS,
    "msg_followersonly_zero": _FOLLOWERS,
    "msg_followersonly_followed": _FOLLOWERS,
    "msg_subsonly": "The chat is for subscribers only. Make the bot a moderator or a VIP.",
    "": "Twitch did not show the message and gave no reason.",
}
# In codes of what another message might not meet: blocked terms, links, signs that nobody is shown,
# a repetition (r9k is unique-chat mode), its length. `msg_channel_blocked` is about the account.
_ABOUT_TEXT = re.compile(
    r"reject|automod|(?<!channel_)block|term|link|character|duplicate|r9k|long",
    re.IGNORECASE,
)


def dropped(code: str | None, sentence: str | None = None) -> Outcome:
    """Return the outcome of a message that was not shown; `sentence` is Twitch's own.

    AutoMod may still release one that it holds, so its outcome is unknown.
    """
    code = code or ""
    known_text = DROPS.get(code.lower())
    why = known_text or sentence or f"Twitch did not show the message ({code})."
    kind = OutcomeKind.UNKNOWN if why == HELD else OutcomeKind.REFUSED
    is_about_text = _ABOUT_TEXT.search(code) is not None
    return Outcome(kind, why, is_about_text=is_about_text)
