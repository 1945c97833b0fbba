"""Odd inputs for everything that reads what comes from outside: `python scripts/fuzz.py [--inputs 10000]`.

Lines of chat, commands, answers of models, settings, imports, Helix's words, requests to the dock. Each reader may
refuse an input with its own errors and nothing else, and must not take long. Inputs are mutations of good ones
(seeded: `--seed 7` does the same again). Prints a table; the exit code is 1 if a reader raised anything else or took
longer than a second. Nothing leaves this machine.
"""

import argparse
import contextlib
import json
import logging
import random
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from forgetmenot.chat.parser import CommandParser
from forgetmenot.domain import ModelAnswer, Participant, Role, TokenUsage
from forgetmenot.errors import ODD_INPUT, FactRefused, SettingsError
from forgetmenot.llm.answer_text import json_object, unwrapped, visible_text
from forgetmenot.llm.offline import claims
from forgetmenot.logs import set_up
from forgetmenot.memory import summarizer, summary_instructions, transfer
from forgetmenot.memory.proposals import Screen, answer_items, checked_changes
from forgetmenot.operations import proposed_params
from forgetmenot.operations.commands import OPERATIONS
from forgetmenot.operations.run import checked
from forgetmenot.operations.types import Refused
from forgetmenot.people.handles import Handles
from forgetmenot.reply.output_filters import tidy
from forgetmenot.reply.reply_object import read_reply
from forgetmenot.settings.load import example_toml, parse_settings
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.store.privacy_requests import _decoded
from forgetmenot.text.chat_commands import own_fact
from forgetmenot.twitch.chat_lines import parse, understand
from forgetmenot.twitch.errors import dropped, from_status

TOO_LONG_S = 1.0
TAGS = "@badges=moderator/1;id=b1;user-id=42;display-name=Bob;tmi-sent-ts=1784894400000;room-id=1;emotes= "
SETTINGS = Settings()
PARSER = CommandParser(OPERATIONS)
SCREEN_NOW = 1_784_894_400_000
PEOPLE = {"P1": Participant("1", Role.VIEWER, lines=1, addressed=1, hidden=False)}
SCREEN = Screen(
    PEOPLE, lambda text: text.replace("P1", "<@1>"), privacy=PrivacySettings()
)


# ── the readers ─────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Reader:
    """What reads an input, some good inputs, and what it may raise. `share`: of the inputs, for one that is slow."""

    read: Callable[[str], object]
    seeds: tuple[str, ...]
    may_raise: tuple[type[Exception], ...] = ()
    share: float = 1.0


def _chat_line(text: str) -> None:
    """Read a line of chat, in the demo and in a channel."""
    understand(parse(text), "demo", SCREEN_NOW)
    understand(parse(text), None)


def _command(text: str) -> None:
    """Read a chat command, and check its parameters."""
    for question in ("", text):
        command = PARSER.parse(text, question)
        if command is not None:
            checked(OPERATIONS[command.name], command.params)


def _reply(text: str) -> None:
    """Read a model's reply, and check the action that it proposes."""
    for plain in (False, True):
        answer = read_reply(ModelAnswer(text, "m", TokenUsage(), plain=plain))
        tidy(answer.say, SETTINGS).encode()
        operation = (
            OPERATIONS.get(answer.proposal.name)
            if answer.proposal is not None
            else None
        )
        if (
            operation is not None
            and operation.action is not None
            and answer.proposal is not None
        ):
            proposed_params.check(operation.action, answer.proposal.params, SETTINGS)


def _summary(text: str) -> None:
    """Read a model's summary of an episode."""
    written = summary_instructions.read_summary(text) or text
    handles = Handles.of(["1", "2"])
    summarizer.storable_summary(
        written,
        ["P1 went to the shop", text[:200]],
        handles,
        limit=150,
        privacy=PrivacySettings(),
    )
    json_object(unwrapped(visible_text(text)))


def _notes(text: str) -> None:
    """Read a model's changes to the notes."""
    for change in answer_items(text) or []:
        with contextlib.suppress(FactRefused, *ODD_INPUT):  # refused alone, and counted
            checked_changes(change, SCREEN)


def _speech(text: str) -> None:
    """Read a viewer's words about themselves."""
    claims(text)
    own_fact(text[:200])


def _dock_request(text: str) -> None:
    """Check a request's values as the parameters of each operation."""
    given_params = json.loads(text)
    for operation in OPERATIONS.values():
        with contextlib.suppress(Refused):
            checked(
                operation,
                given_params
                if isinstance(given_params, dict)
                else {"what": given_params},
            )


def _import(text: str) -> None:
    """Read one line of an import of notes."""
    screening = transfer._Screening(PrivacySettings())  # noqa: SLF001
    transfer._read_batch([(1, text)], SCREEN_NOW, screening, [])  # noqa: SLF001  # as a batch


def _privacy_request(text: str) -> None:
    """Read one line of the file of privacy requests."""
    list(_decoded([text.encode("utf-8", "surrogatepass")]))


def _helix_words(text: str) -> None:
    """Read Twitch's answer to a message that was sent."""
    status, _, words = text.partition(" ")
    from_status(
        int(status[:3]) if status[:3].isdecimal() else 400, words, "send a message"
    )
    dropped(status, words)


CHAT = (
    "!memory",
    "!forget #12",
    "@keeper remember that I play drums",
    "!forgetme confirm",
    "!edit 12 sings",
)
LINES = (
    f"{TAGS}:bob!bob@bob.tmi.twitch.tv PRIVMSG #demo :hello there",
    f"{TAGS}:tmi.twitch.tv USERNOTICE #demo :five months",
    "@ban-duration=60;target-user-id=42;tmi-sent-ts=1 :tmi.twitch.tv CLEARCHAT #demo :bob",
    "@target-msg-id=b1 :tmi.twitch.tv CLEARMSG #demo :hello",
    "@emote-only=0;followers-only=-1;slow=5 :tmi.twitch.tv ROOMSTATE #demo",
    *("PING :tmi.twitch.tv", ":tmi.twitch.tv 001 keeper :Welcome"),
)
REPLIES = (
    '{"say": "Hello!", "action": null, "if_refused": ""}',
    '{"say": "", "action": {"name": "timeout", "target": "bob", "seconds": 60}, "if_refused": "no"}',
    *('```json\n{"say": "Hi"}\n```', "<think>hm</think> Hello."),
)
NOTES = (
    '{"notes": [{"who": "P1", "said_by": "P1", "fact": "plays drums", "confidence": 0.9}]}',
    '[{"who": "P1", "fact": "plays", "repeats": 4, "confidence": 1}]',
    '{"notes": [{"who": "channel", "fact": "races", "lifetime": "7d", "topics": [1]}]}',
)
TOML = (
    example_toml(),
    '[twitch]\nchannel = "demo"\n',
    "[memory]\nraw_events_h = 2\n[privacy]\nnever_store = []\n",
)
IMPORTS = (
    '{"scope": "viewer", "viewer": "alice", "fact": "plays drums", "observed_at": "2026-07-24T12:00:00Z"}',
    '{"scope": "channel", "fact": "races", "topics": ["a"], "expires_at": "2027-01-01", "id": 7}',
)
SPEECH = ("I live in Bergen now", "cello, not viola", "I do play the harp")
SUMMARIES = (
    '{"summary": "P1 went to the shop. P2 won."}',
    "P1 won.",
    '{"summary": ["P1"]}',
)
CALLS = ('{"viewer": "alice", "what": "#3", "id": 4}', "[]")
READERS: dict[str, Reader] = {
    "chat lines": Reader(_chat_line, LINES),
    "commands": Reader(_command, CHAT, (Refused,)),
    "replies": Reader(_reply, REPLIES, share=0.3),
    "summaries": Reader(_summary, SUMMARIES, share=0.1),
    "notes": Reader(_notes, NOTES, share=0.1),
    "plain speech": Reader(_speech, SPEECH, share=0.3),
    "settings": Reader(
        lambda text: parse_settings(text, "fuzz.toml"),
        TOML,
        (SettingsError,),
        share=0.1,
    ),
    "imports": Reader(_import, IMPORTS, share=0.1),
    "dock requests": Reader(_dock_request, CALLS, (ValueError, RecursionError)),
    "privacy requests": Reader(
        _privacy_request, ('{"kind":"erase","subject":"ab","at":5}',)
    ),
    "Helix's words": Reader(
        _helix_words, ("401 Invalid OAuth token", "429 slow down", "msg_rejected held")
    ),
}


# ── odd inputs ──────────────────────────────────────────────────────────────────────────────

PIECES = (
    *(
        "",
        " ",
        "\0",
        "\r",
        "\n",
        "\\s",
        "\\",
        ";",
        "=",
        "@",
        ":",
        "#",
        "!",
        "<@42>",
        "P1",
        "P99",
        "{",
        "}",
        "[",
        "]",
    ),
    *(
        '"',
        "\ud800",
        "\udfff",
        "\u202e",
        "\u200b",
        "\ufeff",
        "\u0130",
        "\xdf",
        "\ufb01",
        "\xe9" * 40,
        "\u5b57" * 60,
    ),
    *(
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\x01ACTION ",
        "-1",
        "0",
        "1e999",
        "NaN",
        str(2**63),
        str(2**70),
        "9" * 400,
    ),
    *(
        "true",
        "null",
        "\\ud800",
        "[" * 300,
        '{"a":' * 200,
        "a" * 3_000,
        "ab " * 900,
        "1" * 900,
        "/*",
        "*/",
        "'''",
    ),
    *('"""', "inf", "-0", "0x1f", "1979-05-27", "${x}", "%s", "..", "--"),
)


def mutated(dice: random.Random, seeds: tuple[str, ...]) -> str:
    """A good input with some changes; now and then two of them joined, or something else altogether."""
    text = dice.choice(seeds)
    if dice.random() < 0.02:
        text = "".join(
            chr(dice.randrange(0x11_0000)) for _ in range(dice.randrange(40))
        )
    for _ in range(dice.choice((1, 1, 2, 3, 8))):
        at, end = sorted((dice.randint(0, len(text)), dice.randint(0, len(text))))
        match dice.randrange(7):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:end] + text[at:]
            case 2:
                text = (
                    text[:at]
                    + chr(dice.choice((dice.randrange(128), dice.randrange(0x3_000))))
                    + text[at + 1 :]
                )
            case 3:
                other = dice.choice(seeds)
                text = text[:at] + other[dice.randint(0, len(other)) :]
            case 4:
                text = text[:at] + dice.choice(PIECES) + text[end:]
            case _:
                text = text[:at] + dice.choice(PIECES) + text[at:]
        text = text[:8_000]
    return text


# ── running ─────────────────────────────────────────────────────────────────────────────────


@dataclass
class Tried:
    """What came of one reader. `faults`: the first input for each kind of fault."""

    inputs: int
    refused: int = 0
    slowest_s: float = 0.0
    faults: dict[str, str] = field(default_factory=dict)


def run(name: str, inputs: int, seed: int) -> Tried:
    """What came of one reader."""
    reader = READERS[name]
    dice = random.Random(f"{seed} {name}")  # noqa: S311  # the same again
    tried = Tried(max(1, round(inputs * reader.share)))
    for _ in range(tried.inputs):
        text = mutated(dice, reader.seeds)
        began = time.process_time()
        try:
            reader.read(text)
        except reader.may_raise:
            tried.refused += 1
        except Exception as error:  # noqa: BLE001  # what this looks for
            last = traceback.extract_tb(error.__traceback__)[-1]
            tried.faults.setdefault(
                f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}",
                text,
            )
        took = time.process_time() - began
        if took > max(TOO_LONG_S, tried.slowest_s):
            tried.faults["slow"] = text
        tried.slowest_s = max(tried.slowest_s, took)
    return tried


def main() -> int:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--inputs",
        type=int,
        default=10_000,
        help="for each reader; slow ones get a share",
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    set_up(console=False)
    logging.disable(logging.CRITICAL)
    print(
        f"{'reader':28}{'inputs':>12}{'refused':>12}{'slowest':>10}{'faults':>8}",
        flush=True,
    )
    faults = 0
    for name in READERS:
        tried = run(name, options.inputs, options.seed)
        faults += len(tried.faults)
        counts = f"{tried.inputs:>12,}{tried.refused:>12,}{tried.slowest_s:>8.3f} s{len(tried.faults):>8}"
        print(f"{name:28}{counts}", flush=True)
        for kind, text in tried.faults.items():
            print(f"   {kind}: {text[:300]!r}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
