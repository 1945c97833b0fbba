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


ASKS = {
    TriggerKind.MENTION: (
        "@forgetmenot_bot what do I play?", "hey @ForgetMeNot, you there?", "@FORGETMENOT_BOT @forgetmenot_bot hi",
        "@fmn hello", "@forgetmenot_bot lmao what",
    ),
    TriggerKind.NAME: ("forgetmenot do you know?", "I love FORGETMENOT!", "well...forgetmenot knows"),
    TriggerKind.ALIAS: ("fmn: who won?", "that little marmot again"),
    TriggerKind.BARE: ("@forgetmenot_bot", "forgetmenot?"),
    None: (
        "forgetmenots are blue", "see https://forgetmenot.com/forgetmenot", "free skins at forgetmenot.xyz",
        "hello everybody", "", "!forgetmenot what", "！clip @forgetmenot_bot", "@bob you there?",
        "@forgetmenot_bot 😂😂", "@forgetmenot_bot LOL", "@forgetmenot_bot hahahaha", "@forgetmenot_bot kekw xD",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in ASKS.items() for text in texts])
def test_what_a_line_asks_for(kind: TriggerKind | None, text: str) -> None:
    assert kind_of(text) is kind


def test_it_never_answers_itself_another_bot_or_whom_the_settings_ignore() -> None:
    settings = Settings(
        twitch=TwitchSettings(bot_login="fmn_bot"),
        memory=MemorySettings(known_bots=("MyBot", "55"), ignored_viewers=("Carol",)),
    )
    bot = identity_of(settings, "7", "")
    assert (bot.user_id, bot.login, bot.name) == ("7", "fmn_bot", "ForgetMeNot")
    for who in (
        {"user_id": "7"}, {"login": "FMN_bot"}, {"badges": frozenset({"bot-badge"})}, {"login": "mybot"},
        {"user_id": "55"}, {"login": "carol"}, {"login": "Nightbot"},
    ):  # fmt: skip
        assert trigger_of(said("@fmn_bot hi", **who), bot, NOBODY, settings, NOW) is None
    assert trigger_of(said("@fmn_bot hi"), bot, NOBODY, settings, NOW) is not None


@pytest.mark.parametrize("text", ["@fern hello", "fern, how are you?", "how are you, Fern?"])
def test_a_name_is_called_without_the_pictures_around_it(text: str) -> None:
    assert trigger_of(said(text), Identity("99", "keeper", "🌿 Fern 🌿"), NOBODY, MENTIONS, NOW) is not None


FRESH = Conversations({"1": NOW - 60_000}, fresh={"1"})


def test_a_conversation_goes_on_without_the_name() -> None:
    assert kind_of("and before that?", TALKING) is TriggerKind.FOLLOW_UP
    assert kind_of("and before that?", TALKING, user_id="2") is None
    assert kind_of("and before that?", Conversations({"1": NOW - 181_000})) is None
    assert kind_of("...", TALKING) is None
    assert kind_of("KEKW KEKW", FRESH, emote_only=True) is None
    assert kind_of("LUL", FRESH) is None
    assert kind_of("forgetmenot Kappa", emote_only=True) is None


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("tell me more", True), ("are you sure", True), ("thanks!", True), ("who else ?", True),
        ("my cat is called Miso", False), ("good night all", False),
    ],
)  # fmt: skip
def test_the_next_line_is_to_the_bot_and_later_ones_if_they_sound_like_it(text: str, later: bool) -> None:
    """Whoever was answered once is not followed around: their chatter is for the channel again."""
    assert kind_of(text, FRESH) is TriggerKind.FOLLOW_UP
    assert (kind_of(text, TALKING) is TriggerKind.FOLLOW_UP) is later


def test_a_line_to_the_whole_channel_or_to_somebody_else_is_no_follow_up() -> None:
    for text in (
        "thank you everybody, good night", "thanks chat!", "everyone, look at this", "what a day, guys",
        "hey all of you, who is in?", "hello Chat",
    ):  # fmt: skip
        assert kind_of(text, FRESH) is None, text
        assert kind_of(f"@forgetmenot_bot {text}") is TriggerKind.MENTION
    assert kind_of("@carol same here", TALKING) is None
    assert kind_of("bob, did you see that?", TALKING) is None
    assert kind_of("well, did you see that?", TALKING) is TriggerKind.FOLLOW_UP
    assert kind_of("same", TALKING, reply_to=ReplyTo("m1", "2", "bob", "hi")) is None


def test_by_itself_it_speaks_in_live_mode_only() -> None:
    raid, hello = said("", kind=EventKind.RAID, system_text="5 raiders from bob have joined!"), said("hi all")
    assert trigger_of(raid, BOT, NOBODY, LIVE, NOW) == Trigger(TriggerKind.RAID, raid, raid.system_text)
    back = trigger_of(hello, BOT, NOBODY, LIVE, NOW, returning=True)
    assert back == Trigger(TriggerKind.RETURNER, hello, "hi all")
    assert not back.direct
    assert trigger_of(hello, BOT, NOBODY, LIVE, NOW) is None
    assert trigger_of(said("<"), BOT, NOBODY, LIVE, NOW, returning=True) is None
    for settings in (MENTIONS, Settings()):
        assert trigger_of(raid, BOT, NOBODY, settings, NOW) is None
        assert trigger_of(hello, BOT, NOBODY, settings, NOW, returning=True) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("@forgetmenot_bot what do I play?", "what do I play?"), ("ForgetMeNot, what do I play?", "what do I play?"),
        ("what do I play, forgetmenot?", "what do I play?"), ("what does @bob play @fmn", "what does @bob play"),
        ("is forgetmenot a flower", "is forgetmenot a flower"), ("what is that, fmn?!", "what is that?!"),
        ("hello little marmot", "hello"), ("I said xfmn", "I said xfmn"), ("fmn", ""),
    ],
)  # fmt: skip
def test_the_question_is_the_line_without_the_name(text: str, rest: str) -> None:
    assert without_name(text, BOT) == rest


@pytest.mark.parametrize(
    ("line", "others", "is_for_the_bot"),
    [
        ("please no", 0, True), ("please no", 1, False),  # about what was said meanwhile
        ("what time is it?", 15, True), ("what time is it?", 16, False),  # then chat has gone on: for the streamer
    ],
)  # fmt: skip
def test_a_talk_goes_on_while_few_others_speak(line: str, others: int, *, is_for_the_bot: bool) -> None:
    """Own lines bring nobody further away."""
    talks = ConversationTracker()
    talks.answered("1", NOW - 60_000)
    for i in range(others):
        talks.heard(said("my parrot learned a new word", user_id=str(50 + i), login=f"viewer{i}"))
        talks.heard(said("lol", user_id="1"))
    assert (kind_of(line, talks.conversations()) is TriggerKind.FOLLOW_UP) is is_for_the_bot
    assert talks.answered_at("1") == NOW - 60_000


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    found = trigger_of(said(text), BOT, TALKING, LIVE, NOW, returning=True)
    assert found is None or found.event.text == text
