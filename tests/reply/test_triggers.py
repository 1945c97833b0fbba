"""Who is answered, and who is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.domain import ChatEvent, EventKind, ReplyTo
from forgetmenot.reply.engine import ConversationTracker
from forgetmenot.reply.triggers import (
    Conversations,
    Identity,
    Trigger,
    TriggerKind,
    identity_of,
    is_ignored,
    trigger_of,
    without_name,
)
from forgetmenot.settings.schema import BotSettings, MemorySettings, Mode, Settings, TwitchSettings

NOW = 1_784_894_400_000
BOT = Identity("99", "forgetmenot_bot", "ForgetMeNot", ("fmn", "little marmot"))
NOBODY = Conversations({})
TALKING = Conversations({"1": NOW - 60_000}, {"bob", "carol"})
MENTIONS = Settings(bot=BotSettings(mode=Mode.MENTIONS))
LIVE = Settings(bot=BotSettings(mode=Mode.LIVE))


def said(text: str, **changes: object) -> ChatEvent:
    made = {"id": "e1", "kind": EventKind.MESSAGE, "user_id": "1", "login": "alice", "display_name": "Alice", "at": NOW}
    return ChatEvent(text=text, **(made | changes))  # type: ignore[arg-type]


def kind_of(text: str, talks: Conversations = NOBODY, **changes: object) -> TriggerKind | None:
    found = trigger_of(said(text, **changes), BOT, talks, MENTIONS, NOW)
    return found.kind if found else None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("@forgetmenot_bot what do I play?", TriggerKind.MENTION),
        ("hey @ForgetMeNot, you there?", TriggerKind.MENTION),
        ("@FORGETMENOT_BOT @forgetmenot_bot hi", TriggerKind.MENTION),
        ("forgetmenot do you know?", TriggerKind.NAME),
        ("I love FORGETMENOT!", TriggerKind.NAME),
        ("forgetmenot_bot hello", TriggerKind.NAME),
        ("fmn: who won?", TriggerKind.ALIAS),
        ("that little marmot again", TriggerKind.ALIAS),
        ("@fmn hello", TriggerKind.MENTION),
        ("@forgetmenot_bot", TriggerKind.BARE),
        ("forgetmenot?", TriggerKind.BARE),
        ("forgetmenots are blue", None),
        ("see https://forgetmenot.com/forgetmenot", None),
        ("free skins at forgetmenot.xyz", None),
        ("forgetmenot.zip/x is new", None),
        ("well...forgetmenot knows", TriggerKind.NAME),
        ("hello everybody", None),
        ("", None),
        ("!forgetmenot what", None),
        ("！clip @forgetmenot_bot", None),
        ("@forgetmenot_bot 😂😂", None),
        ("@bob you there?", None),
    ],
)
def test_what_a_line_asks_for(text: str, kind: TriggerKind | None) -> None:
    assert kind_of(text) is kind


def test_it_never_answers_itself_or_another_bot() -> None:
    line = "@forgetmenot_bot hi"
    assert kind_of(line, user_id="99") is None
    assert kind_of(line, login="ForgetMeNot_Bot") is None
    assert kind_of(line, login="Nightbot") is None
    assert kind_of(line, badges=frozenset({"bot-badge"})) is None


def test_the_settings_name_more_bots_and_people_to_ignore() -> None:
    settings = Settings(
        twitch=TwitchSettings(bot_login="fmn_bot"),
        memory=MemorySettings(known_bots=("MyBot", "55"), ignored_viewers=("Carol",)),
    )
    bot = identity_of(settings, "7", "")
    assert (bot.user_id, bot.login, bot.name) == ("7", "fmn_bot", "ForgetMeNot")
    for who in ({"login": "mybot"}, {"user_id": "55"}, {"login": "carol"}, {"login": "Nightbot"}):
        assert is_ignored(said("@fmn_bot hi", **who), bot, settings)
    assert not is_ignored(said("@fmn_bot hi"), bot, settings)


@pytest.mark.parametrize("text", ["@fern hello", "fern, how are you?", "how are you, Fern?"])
def test_a_name_is_called_without_the_pictures_around_it(text: str) -> None:
    assert trigger_of(said(text), Identity("99", "keeper", "🌿 Fern 🌿"), NOBODY, MENTIONS, NOW) is not None


def test_a_line_of_emotes_is_not_answered() -> None:
    assert [kind_of(f"@forgetmenot_bot {text}") for text in ("LOL", "hahahaha", "kekw xD")] == [None] * 3
    assert kind_of("@forgetmenot_bot lmao what") is TriggerKind.MENTION
    assert kind_of("forgetmenot Kappa", emote_only=True) is None
    assert kind_of("KEKW", TALKING, emote_only=True) is None


def test_a_conversation_goes_on_without_the_name() -> None:
    assert kind_of("and before that?", TALKING) is TriggerKind.FOLLOW_UP
    assert kind_of("and before that?", TALKING, user_id="2") is None
    assert kind_of("and before that?", Conversations({"1": NOW - 181_000})) is None
    assert kind_of("...", TALKING) is None


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("tell me more", True),
        ("are you sure", True),
        ("thanks!", True),
        ("who else ?", True),
        ("my cat is called Miso", False),
        ("good night all", False),
    ],
)
def test_the_next_line_is_to_the_bot_and_later_ones_if_they_sound_like_it(text: str, later: bool) -> None:
    """Whoever was answered once is not followed around: their chatter is for the channel again."""
    fresh = Conversations({"1": NOW - 60_000}, fresh={"1"})
    assert kind_of(text, fresh) is TriggerKind.FOLLOW_UP
    assert (kind_of(text, TALKING) is TriggerKind.FOLLOW_UP) is later


@pytest.mark.parametrize(
    "text",
    [
        "thank you everybody, good night", "thanks chat!", "everyone, look at this", "what a day, guys",
        "good night folks", "hey all of you, who is in?", "hello Chat",
    ],
)  # fmt: skip
def test_a_line_to_the_whole_channel_is_no_follow_up(text: str) -> None:
    assert kind_of(text, Conversations({"1": NOW - 60_000}, fresh={"1"})) is None
    assert kind_of(f"@forgetmenot_bot {text}") is TriggerKind.MENTION


def test_a_line_to_somebody_else_is_no_follow_up() -> None:
    assert kind_of("@carol same here", TALKING) is None
    assert kind_of("bob, did you see that?", TALKING) is None
    assert kind_of("well, did you see that?", TALKING) is TriggerKind.FOLLOW_UP
    assert kind_of("same", TALKING, reply_to=ReplyTo("m1", "2", "bob", "hi")) is None


def test_by_itself_it_speaks_in_live_mode_only() -> None:
    raid = said("", kind=EventKind.RAID, system_text="5 raiders from bob have joined!")
    assert trigger_of(raid, BOT, NOBODY, MENTIONS, NOW) is None
    assert trigger_of(raid, BOT, NOBODY, Settings(), NOW) is None
    assert trigger_of(raid, BOT, NOBODY, LIVE, NOW) == Trigger(TriggerKind.RAID, raid, raid.system_text)
    hello = said("hi all")
    assert trigger_of(hello, BOT, NOBODY, LIVE, NOW) is None
    back = trigger_of(hello, BOT, NOBODY, LIVE, NOW, returning=True)
    assert back is not None
    assert back.kind is TriggerKind.RETURNER
    assert not back.direct
    assert trigger_of(said("<3"[:1]), BOT, NOBODY, LIVE, NOW, returning=True) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("@forgetmenot_bot what do I play?", "what do I play?"),
        ("ForgetMeNot, what do I play?", "what do I play?"),
        ("what do I play, forgetmenot?", "what do I play?"),
        ("what does @bob play @fmn", "what does @bob play"),
        ("is forgetmenot a flower", "is forgetmenot a flower"),
        ("what is that, fmn?!", "what is that?!"),
        ("hello little marmot", "hello"),
        ("I said xfmn", "I said xfmn"),
        ("fmn", ""),
        ("FORGETMENOT hello ForgetMeNot", "hello"),
    ],
)
def test_the_question_is_the_line_without_the_name(text: str, rest: str) -> None:
    assert without_name(text, BOT) == rest


@pytest.mark.parametrize(("others", "is_for_the_bot"), [(0, True), (1, False)])
def test_a_statement_goes_on_with_a_talk_only_while_nobody_else_spoke(others: int, *, is_for_the_bot: bool) -> None:
    """What is said after a line about a parrot is about the parrot; a question stays a question."""
    talks = ConversationTracker()
    talks.answered("1", NOW - 10_000)
    for i in range(others):
        talks.heard(said("my parrot learned a new word", user_id=str(50 + i), login=f"viewer{i}"))
    assert (kind_of("please no", talks.conversations()) is TriggerKind.FOLLOW_UP) is is_for_the_bot
    assert kind_of("and what about his car?", talks.conversations()) is TriggerKind.FOLLOW_UP


@pytest.mark.parametrize(("others", "is_for_the_bot"), [(15, True), (16, False)])
def test_a_question_is_for_the_bot_until_chat_has_gone_on(others: int, *, is_for_the_bot: bool) -> None:
    """In a busy chat "what time is it?" a minute later is for the streamer; own lines bring nobody further away."""
    talks = ConversationTracker()
    talks.answered("1", NOW - 60_000)
    for i in range(others):
        talks.heard(said("gg", user_id=str(50 + i), login=f"viewer{i}"))
        talks.heard(said("lol", user_id="1"))
    assert (kind_of("what time is it?", talks.conversations()) is TriggerKind.FOLLOW_UP) is is_for_the_bot
    assert talks.answered_at("1") == NOW - 60_000


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    found = trigger_of(said(text), BOT, TALKING, LIVE, NOW, returning=True)
    assert found is None or found.event.text == text
