"""What rows say of somebody's time here, from lines as Twitch sends them."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import DAY, HOUR
from forgetmenot.languages import ENGLISH
from forgetmenot.memory.arrival_cards import card
from forgetmenot.memory.time_together import anniversaries, together_with
from forgetmenot.settings.schema import PeopleSettings, Settings
from forgetmenot.store import streams, viewers
from forgetmenot.twitch.chat_lines import parse, understand
from tests.chat.conftest import IDS, Chat, chat  # noqa: F401  # a fixture
from tests.rows import put

if TYPE_CHECKING:
    from tests.notes_world import World

SETTINGS = Settings()


def event_of(tags: str, command: str = "PRIVMSG") -> ChatEvent:
    line = f"@user-id=7;login=erin;{tags} :erin!erin@erin.tmi.twitch.tv {command} #demo :hi"
    item = understand(parse(line), "demo", 1)
    assert isinstance(item, ChatEvent)
    return item


def test_months_and_streaks_are_read_from_tags() -> None:
    assert event_of("badge-info=subscriber/14").sub_months == 14
    assert event_of("badge-info=predictions/blue,founder/3").sub_months == 3
    assert event_of("badge-info=").sub_months == 0
    assert event_of("badge-info=subscriber/²").sub_months == 0
    assert event_of("badge-info=subscriber/-3").sub_months == 0
    shared = "msg-id=viewermilestone;msg-param-category=watch-streak"
    assert event_of(f"{shared};msg-param-value=20", "USERNOTICE").watch_streak == 20
    assert event_of(f"{shared};msg-param-value=x", "USERNOTICE").watch_streak == 0
    assert event_of("msg-id=viewermilestone;msg-param-value=9").watch_streak == 0


async def say(chat: Chat, months: int = 0, *badges: str) -> None:  # noqa: F811
    await chat.clock.advance(1_000)
    event = chat.event("alice", "hi")
    chat.ingest.take(replace(event, sub_months=months, badges=frozenset(badges)))
    await chat.ingest.flush()


async def words(chat: Chat) -> list[str]:  # noqa: F811
    now = chat.clock.now()
    together = await together_with(chat.db, IDS["alice"], SETTINGS, now)
    return together.words(now, ENGLISH)


async def test_only_a_number_that_was_seen_to_grow_is_news(chat: Chat) -> None:  # noqa: F811
    await say(chat, 11, "subscriber")
    assert await words(chat) == ["here for the first time"]
    await say(chat, 12, "subscriber")
    assert await words(chat) == ["subscribed for 12 months", "here for the first time"]
    await chat.clock.advance(DAY)
    assert await words(chat) == []
    await say(chat)
    row = await chat.db.row("SELECT * FROM viewers WHERE id = ?", (IDS["alice"],))
    assert row is not None
    assert row["sub_months"] == 0
    await say(chat, 1, "subscriber")
    assert "subscribed for 1 month" in await words(chat)


async def test_moderators_are_counted_from_their_first_badge(chat: Chat) -> None:  # noqa: F811
    await say(chat, 0, "moderator")
    now = chat.clock.now()
    await say(chat, 0, "moderator")
    sql = "SELECT moderator_since FROM viewers WHERE id = ?"
    assert await chat.db.value(sql, (IDS["alice"],)) == now
    await say(chat)
    assert await chat.db.value(sql, (IDS["alice"],)) is None


async def test_a_card_has_it(chat: Chat) -> None:  # noqa: F811
    await say(chat, 0)
    await say(chat, 1, "subscriber")
    viewer_id = IDS["alice"]
    now = chat.clock.now()
    async with chat.db.write() as tx:
        await put(tx, "semantic_notes", subject_id=viewer_id, fact="plays drums")
    arrival_card = await card(chat.db, viewer_id, now, now, SETTINGS)
    assert arrival_card is not None
    assert arrival_card.together == "subscribed for 1 month · here for the first time"


async def test_of_hidden_people_and_where_it_is_off_nothing_is_said(
    chat: Chat,  # noqa: F811
) -> None:
    await say(chat, 1, "subscriber")
    off = replace(SETTINGS, people=PeopleSettings(time_together=False))
    now = chat.clock.now()
    assert (await together_with(chat.db, IDS["alice"], off, now)).facts == ()
    assert await words(chat) != []
    async with chat.db.write() as tx:
        await viewers.set_banned(tx, IDS["alice"], now + HOUR)
    assert await words(chat) == []


async def test_a_recap_has_only_what_was_true_then(chat: Chat) -> None:  # noqa: F811
    await say(chat, 11, "subscriber")
    ended_at = chat.clock.now()
    stream_id = await chat.db.highest_id("streams")
    stream = (await streams.get_many(chat.db, [stream_id]))[stream_id]
    over = replace(stream, ended_at=ended_at)
    viewer_id = IDS["alice"]
    assert await anniversaries(chat.db, over, [viewer_id], SETTINGS) == {}
    await chat.clock.advance(HOUR)
    await say(chat, 12, "subscriber")
    assert await anniversaries(chat.db, over, [viewer_id], SETTINGS) == {}
    still_on = replace(stream, ended_at=chat.clock.now())
    occasions = await anniversaries(chat.db, still_on, [viewer_id], SETTINGS)
    assert [fact.words(ENGLISH) for fact in occasions[viewer_id]] == [
        "subscribed for 12 months"
    ]


def test_the_kinds_are_as_tags_are() -> None:
    assert event_of("msg-id=viewermilestone", "USERNOTICE").kind is EventKind.NOTICE


async def test_a_pause_of_the_channel_is_nobodys_absence(world: "World") -> None:
    await world.over("1", "2")
    await world.clock.advance(41 * DAY)
    await world.over("1")
    await world.over()
    await world.attends("2", await world.stream())

    async def words_about(viewer_id: str) -> list[str]:
        now = world.clock.now()
        together = await together_with(world.db, viewer_id, SETTINGS, now)
        return together.words(now, ENGLISH)

    assert await words_about("1") == []
    assert await words_about("2") == ["back after 43 days"]
