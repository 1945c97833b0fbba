"""What is never brought up, as viewers and moderators say it in chat."""

import pytest

from forgetmenot.chat import never_commands
from forgetmenot.clock import ManualClock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.store import never
from forgetmenot.store.database import Database

IDS = {"alice": "1001", "bob": "1002", "carol": "1003"}
NOBODY = "2000"


@pytest.fixture(autouse=True)
async def people(db: Database) -> None:
    async with db.write() as tx:
        await tx.many(
            "INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at) VALUES (?, ?, ?, 0, 0)",
            [(key, login, login.title()) for login, key in IDS.items()],
        )


async def say(db: Database, clock: ManualClock, who: str, text: str) -> str | None:
    badges = frozenset({"moderator"}) if who == "carol" else frozenset[str]()
    event = ChatEvent("m", EventKind.MESSAGE, IDS.get(who, NOBODY), who, who.title(), text, clock.now(), badges=badges)

    async def flush() -> None:
        return None

    return await never_commands.handle(event, db, clock, flush)


async def entries(db: Database) -> list[tuple[str | None, str]]:
    return [(row.viewer_id, row.words) for row in await never.listed(db)]


@pytest.mark.parametrize(
    ("who", "text", "entry"),
    [
        ("alice", "!nevermention my divorce", ("1001", "my divorce")),
        ("alice", "!nevermention channel points", ("1001", "channel points")),
        ("alice", "!nevermention @bob and me", ("1001", "<@1002> and me")),
        ("carol", "!nevermention my exam", ("1003", "my exam")),
        ("carol", "!nevermention channel elections", (None, "elections")),
        ("carol", "!NeverMention @alice her exam", ("1001", "her exam")),
    ],
)
async def test_whose_it_is_depends_on_who_says_it(
    db: Database, clock: ManualClock, who: str, text: str, entry: tuple[str | None, str]
) -> None:
    answer = await say(db, clock, who, text)
    assert await entries(db) == [entry]
    assert answer is not None
    assert "takes it back" in answer
    assert entry[1] not in answer


async def test_it_is_taken_back_by_whose_it_is_or_a_moderator(db: Database, clock: ManualClock) -> None:
    await say(db, clock, "alice", "!nevermention my divorce")
    await say(db, clock, "alice", "!nevermention my exam")
    assert await say(db, clock, "bob", "!maymention 1") == "There is no entry 1 that is yours."
    assert await say(db, clock, "alice", "!maymention 1") == "I may bring that up again."
    assert await say(db, clock, "carol", "!maymention #2") == "I may bring that up again."
    assert await entries(db) == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("!nevermention", never_commands.USAGE),
        ("!nevermention the", never_commands.USAGE),
        ("!nevermention #77", never_commands.SORRY["not_found"]),
        ("!maymention", never_commands.USAGE_AGAIN),
        ("!maymention me", never_commands.USAGE_AGAIN),
        ("never mention it", None),
        ("!nevermentioned", None),
    ],
)
async def test_what_is_no_wish_changes_nothing(db: Database, clock: ManualClock, text: str, answer: str | None) -> None:
    assert await say(db, clock, "alice", text) == answer
    assert await entries(db) == []


async def test_who_is_not_stored_is_not_stored_by_it(db: Database, clock: ManualClock) -> None:
    assert await say(db, clock, "dora", "!nevermention my exam") == never_commands.SORRY["unknown"]
    assert await entries(db) == []


async def test_a_stranger_is_not_known(db: Database, clock: ManualClock) -> None:
    assert await say(db, clock, "carol", "!nevermention @dora her exam") == "I don't know anybody called dora."
