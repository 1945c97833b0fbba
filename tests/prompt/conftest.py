"""Rows to make prompts from."""

from collections.abc import Callable

import pytest

from forgetmenot.domain import Note, Recalled, Role, Scope, Viewer
from forgetmenot.prompt.material import Past, PrefixMaterial, PromptLine, TailMaterial
from tests.notes_world import NOW
from tests.notes_world import note as plain_note

DAY = 86_400_000
ALICE = Viewer("1", "alice", "Alice", Role.VIEWER, NOW - 90 * DAY, NOW)
BOB = Viewer("2", "bob", "Bob", Role.MODERATOR, NOW - 50 * DAY, NOW)


def note(note_id: int, fact: str, *, subject: str | None = "1", scope: Scope = Scope.VIEWER) -> Note:
    at = NOW - 2 * DAY
    return plain_note(
        note_id, fact, subject_id=subject, scope=scope, topics=("music",), first_said_at=at, last_confirmed_at=at
    )


def lore(count: int, fact: str = "plays drums in band number {}") -> tuple[Recalled, ...]:
    return tuple(Recalled(note(100 + i, fact.format(i)), 1.0) for i in range(count))


def line(seq: int, text: str, viewer: str | None = "2", at: int = NOW) -> PromptLine:
    return PromptLine(seq, f"e{seq}" if viewer else f"bot:{seq}", viewer, text, at - 1_000 + seq)


@pytest.fixture
def prefix_material() -> PrefixMaterial:
    return PrefixMaterial(
        channel="thechannel",
        title="Racing at night",
        category="Gran Turismo",
        actions=("timeout target=NAME seconds=1-60 reason=TEXT", "clip"),
        channel_notes=tuple(note(10 + i, f"channel fact {i}", subject=None, scope=Scope.CHANNEL) for i in range(5)),
        digest="A week of <@2> racing.",
        episodes=(
            Past(1, NOW - 3 * DAY, "the stream was about races", is_recap=True),
            Past(7, NOW - DAY, "<@1> told of a new kit"),
            Past(8, NOW, "<@2> won twice"),
        ),
        names={"1": "Alice", "2": "Bob"},
    )


@pytest.fixture
def tail_material() -> TailMaterial:
    return make_tail()


def make_tail(chat: int = 20, notes: int = 10, text: str = "@bot what do I play?") -> TailMaterial:
    return TailMaterial(
        now=NOW,
        speaker=ALICE,
        message=line(900, text, "1"),
        streams=12,
        notes=lore(notes),
        own_lines=tuple(line(800 + i, f"my line {i}", "1") for i in range(5)),
        chat=tuple(line(1 + i, f"chat line number {i}") for i in range(chat)),
        bot_replies=tuple(line(50 + i, f"my reply {i}", None) for i in range(5)),
        names={"1": "Alice", "2": "Bob"},
    )


@pytest.fixture
def tail_of() -> Callable[..., TailMaterial]:
    return make_tail
