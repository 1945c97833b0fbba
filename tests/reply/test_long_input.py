"""What reads every line of chat, and every answer of a model, reads long ones in time: a hang here is a broken rule.

Chat lines are cut at 500 characters where they come in; these are six times as long, where a pattern that takes the
square of a text's length would take seconds.
"""

from collections.abc import Callable

import pytest

from forgetmenot.actions.claims import claims_own
from forgetmenot.actions.grammar import parse
from forgetmenot.actions.requests import asked_for
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.memory.episodes.summaries import kept
from forgetmenot.memory.handles import Handles
from forgetmenot.reply.postprocess import Manner, polish, whole_sentences
from forgetmenot.reply.triggers import Conversations, Identity, trigger_of, without_name
from forgetmenot.settings.schema import Settings
from forgetmenot.text.addresses import without_addresses
from forgetmenot.text.sensitive import sensitive_category
from forgetmenot.text.spelt import without_phrase
from forgetmenot.text.wishes import wish_of

pytestmark = pytest.mark.slow

LENGTH = 3_000
UNITS = [
    "a",
    ",",
    ", ",
    "a-",
    "a.",
    "at",
    ".",
    "…",
    "!",
    "?",
    "-",
    "* ",
    "@a ",
    "a:",
    "1:",
    "[",
    " (",
    "a' ",
    "//",
    "please, ",
    "\n",
    "\\",
    "=",
    "a ",
    "[ACTION:a ",
    "✅",
    "✅ a ",
    "ban - ",
    "&#91;",
    "<|",
    "ban target=",
    "„",
]
BOT = Identity("99", "forgetmenot_bot", "ForgetMeNot", ("fmn", "forget me not"))
HANDLES = Handles.of(["1", "2"])
MANNER = Manner(Settings(), ("fmn",), ("Well, hello there.",), ("bob",))


def _trigger(text: str) -> object:
    event = ChatEvent("e", EventKind.MESSAGE, "5", "bob", "Bob", text, 1_000)
    return trigger_of(event, BOT, Conversations({}), Settings(), 1_000)


def _forbidden(text: str) -> bool:
    return sensitive_category(text) is not None


READERS: list[Callable[[str], object]] = [
    _trigger,
    lambda text: without_name(text, BOT),
    lambda text: wish_of(text, text),
    lambda text: polish(text, MANNER),
    whole_sentences,
    without_addresses,
    lambda text: without_phrase(text, "badword"),
    lambda text: sensitive_category(text * 5),
    lambda text: kept(text * 8, ["one two three"], HANDLES, most_words=150, forbidden=_forbidden),
    claims_own,
    asked_for,
    lambda text: parse(text, "a"),
]


@pytest.mark.timeout(4)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("reader", range(len(READERS)))
def test_a_long_text_is_read_in_time(reader: int, unit: str) -> None:
    for end in ("", "!x", " fmn"):
        READERS[reader]((unit * LENGTH)[: LENGTH - len(end)] + end)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("what is that, fmn?!", "what is that?!"),
        ("Fmn, what is that", "what is that"),
        ("hello forget me not", "hello"),
        ("I said xfmn", "I said xfmn"),
        ("fmn", ""),
        ("FORGETMENOT hello ForgetMeNot", "hello"),
    ],
)
def test_the_name_is_taken_off_both_ends(text: str, question: str) -> None:
    assert without_name(text, BOT) == question
