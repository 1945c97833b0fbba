"""An answer to one viewer that is about another: its row goes when that other is erased."""

import pytest

from forgetmenot.domain import Proposal, Scope, SourceKind
from forgetmenot.operations.facts import ActionContext
from forgetmenot.store import notes
from forgetmenot.store.notes import NewNote
from tests.chat.conftest import IDS, Chat


async def remember(chat: Chat, login: str | None, fact: str) -> int:
    """Note something about somebody, or about the channel; return the note's number."""
    now = chat.clock.now()
    scope = Scope.VIEWER if login else Scope.CHANNEL
    subject_id = IDS[login] if login else None
    new = NewNote(scope, subject_id, fact, 0.9, SourceKind.SELF_CLAIM, now)
    async with chat.db.write() as tx:
        return await notes.insert(tx, new, cause="test", now=now)


async def propose_ban_of_bob(chat: Chat) -> int:
    """A ban of bob waits for a moderator; return its number."""
    event = chat.event("carol", "please ban bob")
    context = ActionContext(event=event, key=event.id)
    proposal = Proposal("ban", {"target": "bob"})
    carried = await chat.bot.executor.carry_out(proposal, context)
    return carried.log_id or 0


async def stored_answers(chat: Chat) -> list[str]:
    """The words of answers to commands that are stored."""
    return await chat.db.column(
        "SELECT text FROM bot_messages WHERE trigger = 'command' AND text <> ''"
    )


@pytest.mark.parametrize(
    ("command", "answer"),
    [("approve", "Done: ban Bob."), ("deny", "Bob is not banned.")],
)
async def test_a_decision_goes_with_whom_it_is_about(
    chat: Chat, command: str, answer: str
) -> None:
    action_id = await propose_ban_of_bob(chat)
    await chat.hear("carol", f"!{command} {action_id}")
    assert await stored_answers(chat) == [answer]
    await chat.hear("bob", "!forgetme yes")
    assert await stored_answers(chat) == []


async def test_what_became_of_a_note_goes_with_its_subject(chat: Chat) -> None:
    note_id = await remember(chat, "bob", "plays the tuba")
    answer = await chat.hear("carol", f"!forget #{note_id}")
    assert "plays the tuba" in answer
    assert await stored_answers(chat) == [answer]
    await chat.hear("bob", "!forgetme yes")
    assert await stored_answers(chat) == []


@pytest.mark.parametrize("other", ["bob", None])
async def test_a_question_which_note_is_meant_goes_with_their_subject(
    chat: Chat, other: str | None
) -> None:
    first = await remember(chat, other, "owns a llama")
    second = await remember(chat, "bob", "plays the tuba")
    await chat.replied("carol", note=f"{first}, {second}")
    answer = await chat.hear("carol", "!forget that")
    assert "#2 plays the tuba" in answer
    assert await stored_answers(chat) == [answer]
    await chat.hear("bob", "!forgetme yes")
    assert await stored_answers(chat) == []
