"""What viewers say about themselves is known before the first summary; what may not be kept is not."""

import pytest

from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.llm.offline.answer import answer
from forgetmenot.memory import suppression
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.memory.heard_facts import heard_facts, said_in
from forgetmenot.memory.recall import Recall
from forgetmenot.prompt.assemble import assemble, compose_prefix
from forgetmenot.prompt.material import PrefixMaterial
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.store.database import Database
from tests.chat.conftest import IDS, Chat, chat
from tests.rows import put

__all__ = ["chat"]


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("I play the cello", ["plays the cello"]), ("@carol my cat is called Miso!", ["has a cat called Miso"]),
        ("I live in Bergen, it rains a lot", ["lives in Bergen"]), ("do I play the cello?", []), ("I think so", []),
        ("!remember I play drums", []), ("forget that I play drums", []), ("I have a diagnosis of diabetes", []),
    ],
)  # fmt: skip
def test_a_plain_statement_about_its_speaker_is_a_fact_and_nothing_else_is(line: str, facts: list[str]) -> None:
    assert said_in(line, PrivacySettings()) == facts


async def heard(db: Database) -> list[tuple[str, str]]:
    return [(one.viewer_id, one.fact) for one in await heard_facts(db, PrivacySettings())]


async def test_it_names_nobody_who_opted_out(chat: Chat) -> None:
    await chat.say("bob", "!optout")
    await chat.say("alice", "I play chess with Bob")
    assert await chat.say("alice", "!memory") == "What I know about you: plays chess with someone (heard just now)"
    assert await heard(chat.db) == [(IDS["alice"], "plays chess with someone")]


async def test_it_is_known_to_memory_at_once_and_gone_with_its_line(chat: Chat) -> None:
    await chat.say("alice", "I play the cello")
    assert await chat.say("alice", "!memory") == "What I know about you: plays the cello (heard just now)"
    assert await heard(chat.db) == [(IDS["alice"], "plays the cello")]
    await chat.say("alice", "!optout")
    assert await heard(chat.db) == []


async def test_an_edit_of_it_that_is_refused_leaves_no_note_behind(chat: Chat) -> None:
    await chat.say("alice", "I live in Bergen")
    async with chat.db.write() as tx:
        said = {"trigger": "mention", "text": "You live in Bergen.", "status": "sent", "mode": "mentions"}
        await put(tx, "bot_messages", at=chat.clock.now(), viewer_id=IDS["alice"], **said)
    refusal = "I don't store that kind of thing about people."
    assert await chat.say("alice", "!edit my phone number is 555 867 5309") == refusal
    assert await chat.facts("alice") == []
    assert await chat.say("alice", "!edit Oslo") == "Updated: #2 lives in Oslo (the old version stays in its history)"


async def test_what_is_a_note_or_never_to_be_mentioned_is_not_shown_again(chat: Chat) -> None:
    await chat.say("alice", "I play the cello")
    await chat.say("alice", "!remember I play the cello")
    assert await chat.say("alice", "!memory") == "What I know about you: #1 plays the cello"
    await chat.say("bob", "I live in Bergen")
    await suppression.suppress(chat.db, IDS["bob"], "Bergen", by=None, at=chat.clock.now())
    assert await heard(chat.db) == []


async def test_what_is_said_later_replaces_what_it_repeats_or_contradicts(chat: Chat) -> None:
    await chat.say("alice", "I live in Bergen")
    await chat.say("alice", "I live in Oslo")
    await chat.ingest.flush()
    assert await heard(chat.db) == [(IDS["alice"], "lives in Oslo")]
    await chat.say("alice", "!remember I live in Trondheim")
    assert await heard(chat.db) == []
    assert await chat.say("alice", "!memory") == "What I know about you: #1 lives in Trondheim"


async def test_a_viewer_who_says_very_much_holds_nobody_up(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fact is compared with later ones; of all of a talkative viewer's that took half a minute for each reply."""
    compared = 0

    def counted(old: str, new: str) -> Relation:
        nonlocal compared
        compared += 1
        return relate(old, new)

    monkeypatch.setattr("forgetmenot.memory.heard_facts.relate", counted)
    for line in range(8):
        await chat.say("alice", " ".join(f"I live in Town{line}x{number}." for number in range(6)))
        await chat.say("alice", " ".join(f"I love the zeta{line}x{number}." for number in range(6)))
    await chat.ingest.flush()
    assert len(await heard(chat.db)) == 20
    assert compared < 1_000
    assert [one.fact for one in await heard_facts(chat.db, PrivacySettings(), IDS["alice"], limit=1)] == [
        "loves the zeta7x5"
    ]


async def test_the_next_reply_knows_it(chat: Chat) -> None:
    await chat.say("alice", "I play the cello")
    await chat.ingest.flush()
    recall = Recall(db=chat.db, settings=Settings, clock=chat.clock)
    gatherer = ContextGatherer(db=chat.db, recall=recall, clock=chat.clock)

    async def asked(who: str) -> tuple[str, str]:
        text = "@bot what do I play?"
        event = ChatEvent("e", EventKind.MESSAGE, IDS[who], who, who.title(), text, chat.clock.now())
        tail = await gatherer.tail(Trigger(TriggerKind.MENTION, event, text), Settings())
        prompt = assemble(compose_prefix(PrefixMaterial(), Settings()), tail, Settings())
        return prompt.tail, str(answer(prompt.prefix, prompt.tail, "en")["say"])

    whole, reply = await asked("alice")
    assert "[just now] plays the cello" in whole
    assert "You remember nothing about them" not in whole
    assert reply == "My notes about you say: “plays the cello”."
    whole, reply = await asked("bob")
    assert "You remember nothing about them" in whole
    assert reply == ""
