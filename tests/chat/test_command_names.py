"""Commands have German names too, and a slip of the finger is understood; what another bot answers stays its own."""

import msgspec
import pytest

from forgetmenot.chat.answers import ChatCommands
from forgetmenot.chat.parser import CommandParser
from forgetmenot.operations.commands import OPERATIONS
from forgetmenot.settings.schema import BotSettings, Settings
from tests.chat.conftest import Chat

PARSER = CommandParser(OPERATIONS)
GERMAN = {
    "!gedächtnis": "memory",
    "!Gedaechtnis": "memory",
    "!merken ich spiele Schlagzeug": "remember",
    "!merkdir ich spiele Harfe": "remember",
    "!vergiss Harfe": "forget",
    "!falsch": "forget",
    "!ändern 1 spielt Harfe": "edit",
    "!nieerwähnen Prüfungen": "never_mention",
    "!vergissmich ja": "erase",
    "!vergiss alles über mich": "erase",
    "!datenschutz": "privacy",
    "!hilfe": "help",
    "!befehle": "commands",
    "!verpasst": "missed",
    "!warum": "why",
    "!genehmigen 3": "approve",
    "!widerspruch": "opt_out",
}
SLIPS = {
    "!memroy": "memory",
    "!memry": "memory",
    "!meemory": "memory",
    "!Memorz": "memory",
    "!remeber I sing": "remember",
    "!froget drums": "forget",
    "!forgteme yes": "erase",
    "!nevermetion drums": "never_mention",
    "!optuot": "opt_out",
    "!hlep": "help",
    "!eidt 1 sings": "edit",
    "!privcay": "privacy",
    "!datenshutz": "privacy",
    "!approev 3": "approve",
}
SILENT = (
    "!command",
    "!forge",
    "!option",
    "!so alice",
    "!who",
    "!god",
    "!bed",
    "!memorial",
    "!rememberance",
    "!lurk",
    "!edits",
    "!restart",
    "!miss",
    "!hell",
    "!wrangler",
    "!commander",
    "!mem",
    "!discord",
    "!uptime",
)


@pytest.mark.parametrize(("line", "name"), [*GERMAN.items(), *SLIPS.items()])
def test_what_is_meant_is_understood(line: str, name: str) -> None:
    command = PARSER.parse(line)
    assert command is not None
    assert command.name == name


@pytest.mark.parametrize("line", SILENT)
def test_another_bots_command_is_none_of_ours(line: str) -> None:
    command = PARSER.parse(line)
    assert command is None or command.name == "help"
    assert command is None or line == "!who"


async def test_a_slip_is_answered_and_an_unknown_command_is_not(chat: Chat) -> None:
    assert await chat.say("alice", "!memroy") == "I know nothing about you yet."
    assert (
        await chat.say("alice", "@ForgetMeNot !gedächtnis")
        == "I know nothing about you yet."
    )
    assert await chat.say("alice", "!memorial") is None
    assert await chat.say("alice", "!approev 3") is None


async def test_help_and_commands_can_be_left_to_another_bot(chat: Chat) -> None:
    settings = Settings(bot=BotSettings(answers_help=False, answers_commands=False))
    context = msgspec.structs.replace(chat.context, settings=lambda: settings)
    chat.commands = ChatCommands(context, chat.bot.identity)
    for line in ("!help", "!commands", "!help edit", "!hilfe", "!befehle", "!comands"):
        assert await chat.say("alice", line) is None
    for line in (
        "@ForgetMeNot !help",
        "@ForgetMeNot !commands",
        "@ForgetMeNot help",
        "!remember",
    ):
        assert await chat.say("alice", line)
