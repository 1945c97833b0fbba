"""Nothing that twitchio or aiohttp raises escapes untranslated, and no sentence holds a token."""

import asyncio
import inspect

import aiohttp
import pytest
import twitchio.exceptions
from aiohttp import client_exceptions
from twitchio.exceptions import HTTPException, MessageRejectedError

from forgetmenot.errors import (
    TwitchError,
    TwitchLoginNeeded,
    TwitchRateLimited,
    TwitchRefused,
    TwitchUnavailable,
)
from forgetmenot.twitch.errors import AnswerLost, translated, translation

SECRET = "abcdefghijklmnopqrstuvwxyz1234"


def bare(kind: type[BaseException]) -> BaseException:
    """An instance without its constructor, with what a translation may look at."""
    error = kind.__new__(kind, SECRET)
    looked_at = {
        "status": 500,
        "extra": {"message": SECRET},
        "request_info": None,
        "history": (),
        "message": SECRET,
    }
    for name, value in {
        **looked_at,
        **({"code": "msg_banned"} if kind is MessageRejectedError else {}),
    }.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    ("module", "root", "becomes"),
    [
        (twitchio.exceptions, BaseException, TwitchError),
        (client_exceptions, Exception, TwitchUnavailable),
    ],
)
def test_every_exception_of_twitchio_and_aiohttp_is_translated(
    module: object, root: type[BaseException], becomes: type[TwitchError]
) -> None:
    for kind in (
        member
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, root)
    ):
        ours = translation(bare(kind), "do it")
        assert isinstance(ours, becomes), kind
        assert SECRET not in str(ours)


@pytest.mark.parametrize(
    "error",
    [
        asyncio.CancelledError(),
        KeyboardInterrupt(),
        TwitchRefused("no"),
        GeneratorExit(),
    ],
)
def test_what_is_not_twitchs_passes_through(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, translated("do it"):
        raise error
    assert raised.value is error


def test_nothing_is_chained_that_could_hold_a_token() -> None:
    with pytest.raises(TwitchUnavailable) as raised, translated("do it"):
        raise HTTPException(f"…?refresh_token={SECRET}", status=500, extra="")
    assert (raised.value.__cause__, raised.value.__suppress_context__) == (None, True)


def answered(status: int, message: str = "") -> HTTPException:
    return HTTPException("", status=status, extra={"message": message})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (answered(400, "The message is odd"), TwitchRefused),
        (answered(401, "Invalid token"), TwitchLoginNeeded),
        (answered(403, "Not a moderator"), TwitchRefused),
        (answered(404), TwitchRefused),
        (answered(408), AnswerLost),
        (answered(429), TwitchRateLimited),
        (answered(500), AnswerLost),
        (answered(503), TwitchUnavailable),
        # whether the request went out is told apart; an answer may be nested without end
        (
            aiohttp.ClientConnectorError.__new__(aiohttp.ClientConnectorError),
            TwitchUnavailable,
        ),
        (aiohttp.ServerDisconnectedError(), AnswerLost),
        (RecursionError(), AnswerLost),
    ],
    ids=(
        "400",
        "401",
        "403",
        "404",
        "408",
        "429",
        "500",
        "503",
        "no connection",
        "disconnected",
        "nested without end",
    ),
)
def test_what_an_answer_means(error: BaseException, kind: type[TwitchError]) -> None:
    assert type(translation(error, "do it")) is kind
