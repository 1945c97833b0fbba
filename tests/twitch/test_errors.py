"""Nothing that twitchio or aiohttp raises escapes untranslated, and no sentence holds a token."""

import asyncio
import inspect

import aiohttp
import pytest
import twitchio.exceptions
from aiohttp import client_exceptions
from twitchio.exceptions import HTTPException, MessageRejectedError

from forgetmenot.errors import TwitchError, TwitchLoginNeeded, TwitchRateLimited, TwitchRefused, TwitchUnavailable
from forgetmenot.twitch.errors import AnswerLost, translated, translation

SECRET = "abcdefghijklmnopqrstuvwxyz1234"


def bare(kind: type[BaseException]) -> BaseException:
    """An instance without its constructor, with what a translation may look at."""
    error = kind.__new__(kind, SECRET)
    looked_at = {"status": 500, "extra": {"message": SECRET}, "request_info": None, "history": (), "message": SECRET}
    for name, value in {**looked_at, **({"code": "msg_banned"} if kind is MessageRejectedError else {})}.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    ("module", "root", "becomes"),
    [(twitchio.exceptions, BaseException, TwitchError), (client_exceptions, Exception, TwitchUnavailable)],
)
def test_every_exception_of_twitchio_and_aiohttp_is_translated(
    module: object, root: type[BaseException], becomes: type[TwitchError]
) -> None:
    for kind in (one for _, one in inspect.getmembers(module, inspect.isclass) if issubclass(one, root)):
        ours = translation(bare(kind), "do it")
        assert isinstance(ours, becomes), kind
        assert SECRET not in str(ours)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), KeyboardInterrupt(), TwitchRefused("no"), GeneratorExit()])
def test_what_is_not_twitchs_passes_through(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, translated("do it"):
        raise error
    assert raised.value is error


def test_nothing_is_chained_that_could_hold_a_token() -> None:
    with pytest.raises(TwitchUnavailable) as raised, translated("do it"):
        raise HTTPException(f"…?refresh_token={SECRET}", status=500, extra="")
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "The message is odd", TwitchRefused), (401, "Invalid OAuth token", TwitchLoginNeeded),
        (401, "Missing scope: clips:edit", TwitchLoginNeeded), (403, "Not a moderator", TwitchRefused),
        (404, "", TwitchRefused), (407, "", TwitchUnavailable), (408, "", AnswerLost), (429, "", TwitchRateLimited),
        (500, "", AnswerLost), (503, "", TwitchUnavailable),
    ],
)  # fmt: skip
def test_what_a_status_means(status: int, message: str, kind: type[TwitchError]) -> None:
    ours = translation(HTTPException("", status=status, extra={"message": message}), "do it")
    assert isinstance(ours, kind)


def test_whether_a_request_went_out_is_told_apart() -> None:
    key = aiohttp.ClientConnectorError.__new__(aiohttp.ClientConnectorError)
    assert type(translation(key, "do it")) is TwitchUnavailable
    assert type(translation(aiohttp.ServerDisconnectedError(), "do it")) is AnswerLost
    assert type(translation(RecursionError(), "do it")) is AnswerLost  # an answer that is nested without end
