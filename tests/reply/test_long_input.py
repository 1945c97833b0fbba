"""What reads every line of chat, and every answer of a model, reads long ones in time: a hang here is a broken rule.

Chat lines are cut at 500 characters where they come in; these are six times as long, where a pattern that takes the
square of a text's length would take seconds.
"""

from collections.abc import Callable

import pytest

from forgetmenot.chat.parser import CommandParser
from forgetmenot.domain import ChatEvent, EventKind, ModelAnswer, TokenUsage
from forgetmenot.llm.offline import summary
from forgetmenot.memory.summarizer import storable_summary
from forgetmenot.operations.commands import OPERATIONS
from forgetmenot.operations.request_words import asked_for
from forgetmenot.people.handles import Handles
from forgetmenot.reply.output_filters import FilterContext, claims_action, polish
from forgetmenot.reply.own_name import Identity, without_name
from forgetmenot.reply.reply_object import read_reply
from forgetmenot.reply.triggers import Conversations, trigger_of
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.text.chat_commands import command_in_words
from forgetmenot.text.mentions import has_link, without_links
from forgetmenot.text.sensitive import sensitive_category
from forgetmenot.text.unsendable import without_machine_text, without_phrases

pytestmark = pytest.mark.slow

LENGTH = 3_000
UNITS = [
    *("a", ",", ", ", "a-", "a.", "at", ".", "…", "!", "?", "-", "* ", "@a ", "a:", "1:", "[", " (", "a' ", "//"),
    *("please, ", "\n", "\\", "=", "a ", '{"a": ', "{a:", "✅", "✅ a ", "ban - ", "&#91;", "<|", "ban target=", "„"),
    *("1", "{", "·", "12345 ", "ab12 1234 ", "1/ ", "0x0", "  ,", "corner of ", "12 rue ", "丁", "last "),
]  # fmt: skip
# Each of these can be parted, or read, in more than one way: for every reader.
MANY_WAYS = ("_", "a_", " :", "AAAAA ")
BOT = Identity("99", "forgetmenot_bot", "ForgetMeNot", ("fmn", "forget me not"))
HANDLES = Handles.of(["1", "2"])
CONTEXT = FilterContext(Settings(), ("bob",))


def _trigger(text: str) -> object:
    event = ChatEvent("e", EventKind.MESSAGE, "5", "bob", "Bob", text, 1_000)
    return trigger_of(event, BOT, Conversations({}), Settings(), 1_000)


READERS: list[Callable[[str], object]] = [
    _trigger,
    lambda text: without_name(text, BOT),
    command_in_words,
    CommandParser(OPERATIONS).parse,
    lambda text: polish(text, CONTEXT),
    lambda text: read_reply(ModelAnswer(f'{{"say": "{text}', "m", TokenUsage())),
    without_links,
    lambda text: without_phrases(text, ["badword"]),
    lambda text: sensitive_category(text * 5),
    lambda text: storable_summary(
        text * 8, ["one two three"], HANDLES, limit=150, privacy=PrivacySettings()
    ),
    claims_action,
    asked_for,
    without_machine_text,
    has_link,
    lambda text: summary(f"P1: I play drums {text}"),
]


@pytest.mark.timeout(15)
@pytest.mark.parametrize("reader", range(len(READERS)))
def test_a_long_text_is_read_in_time(reader: int) -> None:
    """A sample of the units, another one for each reader, so that all of them are tried."""
    for number, unit in enumerate(UNITS):
        if number % 6 == reader % 6:
            end = ("", "!x", " fmn")[number % 3]
            READERS[reader]((unit * LENGTH)[: LENGTH - len(end)] + end)
    for unit in MANY_WAYS:
        READERS[reader]((unit * LENGTH)[: LENGTH - 2] + "!x")
