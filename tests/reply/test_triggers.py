"""Who is answered, and who is not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.domain import ChatEvent, EventKind, ReplyTo
from forgetmenot.reply.conversations import ConversationTracker
from forgetmenot.reply.own_name import (
    Address,
    Identity,
    address_of,
    identity_of,
    with_right_name,
    without_name,
    without_name_in_front,
)
from forgetmenot.reply.triggers import (
    Conversations,
    Trigger,
    TriggerKind,
    is_unfinished,
    joined,
    trigger_of,
    wait_ms,
)
from forgetmenot.settings.schema import (
    BotSettings,
    MemorySettings,
    Mode,
    ReplySettings,
    Settings,
    TwitchSettings,
)

NOW = 1_784_894_400_000
BOT = Identity("99", "forgetmenot_bot", "ForgetMeNot", ("fmn", "little marmot"))
NOBODY = Conversations({})
TALKING = Conversations({"1": NOW - 60_000}, {"bob", "carol"})
JUST_ANSWERED = Conversations(
    {"1": NOW - 60_000}, {"bob", "carol"}, just_answered={"1"}
)
MENTIONS = Settings(bot=BotSettings(mode=Mode.MENTIONS))
LIVE = Settings(bot=BotSettings(mode=Mode.LIVE))


def chat_line(text: str, **changes: object) -> ChatEvent:
    made = {
        "id": "e1",
        "kind": EventKind.MESSAGE,
        "user_id": "1",
        "login": "alice",
        "display_name": "Alice",
        "at": NOW,
    }
    return ChatEvent(text=text, **(made | changes))  # type: ignore[arg-type]


def kind_of(
    text: str, talks: Conversations = NOBODY, **changes: object
) -> TriggerKind | None:
    trigger = trigger_of(chat_line(text, **changes), BOT, talks, MENTIONS, NOW)
    return trigger.kind if trigger else None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hey @ForgetMeNot, you there?", TriggerKind.MENTION),
        ("@FORGETMENOT_BOT @forgetmenot_bot hi", TriggerKind.MENTION),
        ("@fmn hello", TriggerKind.MENTION),
        ("@forgetmento hi", TriggerKind.MENTION),
        ("@Forget_Me_Not hi", TriggerKind.MENTION),
        ("@forgetmenott what?", TriggerKind.MENTION),
        ("@forgetmenot_bto hi", TriggerKind.MENTION),
        ("@forgetmenot_bot lmao what", TriggerKind.MENTION),
        ("@forgetmenot_bot thanks chat!", TriggerKind.MENTION),
        ("@ForgetMeNotさん、元気？", TriggerKind.MENTION),
        ("@ForgetMeNot你好", TriggerKind.MENTION),
        ("forgetmenot do you know?", TriggerKind.NAME),
        ("I love FORGETMENOT!", TriggerKind.NAME),
        ("well...forgetmenot knows?", TriggerKind.NAME),
        ("ForgetMeNotさん、元気？", TriggerKind.NAME),
        ("hey forgetmenot how are you", TriggerKind.NAME),
        ("what do you think, forgetmenot, is it late?", TriggerKind.NAME),
        ("thank you forgetmenot", TriggerKind.NAME),
        ("forget me not, what do I play?", TriggerKind.NAME),
        ("forgetmnot, hi", TriggerKind.NAME),
        ("do you know, frogetmenot?", TriggerKind.NAME),
        ("fmn: who won?", TriggerKind.ALIAS),
        ("little marmot what's up", TriggerKind.ALIAS),
        ("@forgetmenot_bot", TriggerKind.BARE),
        ("forgetmenot?", TriggerKind.BARE),
        ("forgetmenots are blue", None),
        ("that little marmot again", None),
        ("my forgetmenot died yesterday", None),
        ("please forget me not when you leave", None),
        ("@fmx hi", None),
        ("@notforgetme hi", None),
        ("@forgetmenot_botaniker hi", None),
        ("see https://forgetmenot.com/forgetmenot", None),
        ("free skins at forgetmenot.xyz", None),
        ("hello everybody", None),
        ("", None),
        ("!forgetmenot what", None),
        ("！clip @forgetmenot_bot", None),
        ("@bob you there?", None),
        ("@forgetmenot_bot 😂😂", None),
        ("@forgetmenot_bot LOL", None),
        ("@forgetmenot_bot hahahaha", None),
        ("@forgetmenot_bot kekw xD", None),
    ],
)
def test_what_a_line_asks_for(text: str, kind: TriggerKind | None) -> None:
    assert kind_of(text) is kind


def test_a_line_of_emotes_is_no_question_to_the_bot() -> None:
    assert kind_of("forgetmenot Kappa", emote_only=True) is None


def test_the_name_of_somebody_who_is_here_is_no_slip() -> None:
    assert kind_of("@forgetmento hi", Conversations({}, {"forgetmento"})) is None


def test_a_name_between_pictures_is_typed_without_them() -> None:
    bot = Identity("99", "keeper", "🌿 Fern 🌿")
    trigger = trigger_of(chat_line("how are you, Fern?"), bot, NOBODY, MENTIONS, NOW)
    assert trigger is not None


@pytest.mark.parametrize("name", ["the", "A", "I", "and", "x"])
def test_a_name_that_stands_in_any_sentence_calls_it_behind_an_at_alone(
    name: str,
) -> None:
    bot = Identity("99", "keeper_bot", name)
    for text in (
        f"{name} dog is cute",
        f"what a day, {name}",
        f"{name}, what a day",
        f"so {name} won",
        f"oh {name}",
    ):
        assert trigger_of(chat_line(text), bot, NOBODY, MENTIONS, NOW) is None, text
        assert without_name(text, bot) == text
    called = trigger_of(chat_line(f"@{name} how are you?"), bot, NOBODY, MENTIONS, NOW)
    assert called is not None
    assert called.question == "how are you?"
    assert without_name_in_front(chat_line(f"@{name} !memory"), bot) == "!memory"
    assert without_name_in_front(chat_line(f"{name} !memory"), bot) == f"{name} !memory"


def test_a_name_of_one_letter_in_a_script_without_spaces_calls_it() -> None:
    bot = Identity("99", "keeper_bot", "花")
    assert trigger_of(chat_line("花、元気？"), bot, NOBODY, MENTIONS, NOW) is not None


def test_where_no_space_parts_words_the_question_begins_behind_the_name() -> None:
    questions = {
        "@ForgetMeNotさん、私の猫の名前は？": "私の猫の名前は?",
        "＠ForgetMeNot你好": "你好",
        "ForgetMeNotさん、元気？": "元気?",
        "元気？ @ForgetMeNotさん": "元気?",
    }
    heard = {text: without_name(text, BOT).replace("？", "?") for text in questions}
    assert heard == questions
    named_in_japanese = Identity("99", "wasurenagusa", "忘れな草")
    assert without_name("@忘れな草さん、元気", named_in_japanese) == "元気"
    assert without_name("@忘れな草丸、元気", named_in_japanese) == "@忘れな草丸、元気"


IGNORING = Settings(
    twitch=TwitchSettings(bot_login="fmn_bot"),
    memory=MemorySettings(known_bots=("MyBot", "55"), ignored_viewers=("Carol",)),
)


@pytest.mark.parametrize(
    ("speaker", "is_answered"),
    [
        ({}, True),
        ({"user_id": "7"}, False),
        ({"login": "FMN_bot"}, False),
        ({"badges": frozenset({"bot-badge"})}, False),
        ({"login": "mybot"}, False),
        ({"user_id": "55"}, False),
        ({"login": "carol"}, False),
        ({"login": "Nightbot"}, False),
    ],
    ids=str,
)
def test_it_never_answers_itself_another_bot_or_whom_the_settings_ignore(
    speaker: dict[str, object], *, is_answered: bool
) -> None:
    bot = identity_of(IGNORING, "7", "")
    line = chat_line("@fmn_bot hi", **speaker)
    trigger = trigger_of(line, bot, NOBODY, IGNORING, NOW)
    assert (trigger is not None) is is_answered


# is it taken as meant for the bot: as the next line after its answer, and after others have spoken?
GOES_ON = {
    "and before that?": (True, False),
    "are you sure?": (True, True),
    "are you sure": (True, False),
    "no, that was my brother": (True, False),
    "nein das war mein bruder": (True, False),
    "thanks!": (True, False),
    "well, did you see that?": (True, True),
    "my cat is called Miso": (False, False),
    "I had soup": (False, False),
    "what a jump": (True, False),
    "...": (False, False),
    "LUL": (False, False),
    "thanks everybody, good night": (False, False),
    "what a day, guys": (False, False),
    "@carol same here": (False, False),
    "bob, did you see that?": (False, False),
}


@pytest.mark.parametrize("text", GOES_ON)
def test_a_line_without_its_name_needs_a_sign_that_it_is_for_the_bot(text: str) -> None:
    """Whoever was answered once is not followed around, and what is said to others is for them."""
    is_next = kind_of(text, JUST_ANSWERED) is TriggerKind.FOLLOW_UP
    is_later = kind_of(text, TALKING) is TriggerKind.FOLLOW_UP
    assert (is_next, is_later) == GOES_ON[text]


def test_whoever_types_on_while_an_answer_is_waited_for_asks_no_endless_question() -> (
    None
):
    trigger = trigger_of(
        chat_line("@ForgetMeNot what about"), BOT, NOBODY, MENTIONS, NOW
    )
    assert trigger is not None
    for number in range(40):
        more = chat_line("word " * 90, id=f"line-{number}")
        trigger = joined(trigger, more, more.text)
    assert trigger.question.startswith("what about word")
    assert 900 < len(trigger.question) <= 1_000


def test_two_lines_that_were_not_for_the_bot_end_the_talk() -> None:
    """Else somebody who was answered once has the model asked about each of their lines."""
    tracker = ConversationTracker()
    tracker.answered("1", NOW - 10_000)
    kinds = []
    for _ in range(4):
        kind = kind_of("are you sure?", tracker.conversations())
        kinds.append(kind)
        if kind is not None:
            tracker.was_silent("1")
    assert kinds == [TriggerKind.FOLLOW_UP, TriggerKind.FOLLOW_UP, None, None]
    tracker.answered("1", NOW - 5_000)
    assert kind_of("are you sure?", tracker.conversations()) is TriggerKind.FOLLOW_UP


@pytest.mark.parametrize(
    ("replied_to", "kind"), [("2", None), ("99", TriggerKind.REPLY)]
)
def test_a_reply_to_somebody_else_goes_on_with_no_talk(
    replied_to: str, kind: TriggerKind | None
) -> None:
    reply_to = ReplyTo("m1", replied_to, "bob", "hi")
    assert kind_of("are you sure?", JUST_ANSWERED, reply_to=reply_to) is kind


def test_points_are_a_request_whatever_is_written() -> None:
    event = chat_line("!clip", kind=EventKind.REDEMPTION)
    trigger = trigger_of(event, BOT, NOBODY, MENTIONS, NOW)
    assert trigger == Trigger(TriggerKind.REWARD, event, "!clip")


def test_what_goes_on_is_the_line_itself() -> None:
    event = chat_line("are you sure?")
    trigger = trigger_of(event, BOT, JUST_ANSWERED, MENTIONS, NOW)
    assert trigger == Trigger(TriggerKind.FOLLOW_UP, event, "are you sure?")


@pytest.mark.parametrize(
    ("kind", "answered_at", "spoke_up_at", "wait"),
    [
        (TriggerKind.MENTION, None, NOW - 500, 0),
        (TriggerKind.RAID, None, NOW - 500, 1_500),
        (TriggerKind.RAID, None, None, 0),
        (TriggerKind.MENTION, NOW - 1_000, None, 7_000),
        (TriggerKind.FOLLOW_UP, NOW - 1_000, NOW - 500, 7_000),
        (TriggerKind.MENTION, NOW - 60_000, None, 0),
    ],
)
def test_the_wait_after_its_last_answer_and_after_it_spoke_by_itself(
    kind: TriggerKind, answered_at: int | None, spoke_up_at: int | None, wait: int
) -> None:
    settings = Settings(reply=ReplySettings(viewer_gap_s=8))
    trigger = Trigger(kind, chat_line("hi"), "hi")
    assert wait_ms(trigger, answered_at, spoke_up_at, settings, NOW) == wait


@pytest.mark.parametrize(
    ("kind", "joined_kind"),
    [(TriggerKind.BARE, TriggerKind.MENTION), (TriggerKind.NAME, TriggerKind.NAME)],
)
def test_a_name_alone_and_the_next_line_are_one_question(
    kind: TriggerKind, joined_kind: TriggerKind
) -> None:
    first = Trigger(kind, chat_line("forgetmenot", id="e0"), "")
    next_line = chat_line("what do I play?")
    whole = joined(first, next_line, "what do I play?")
    assert whole == Trigger(joined_kind, next_line, "what do I play?", earlier=("e0",))


def test_a_line_of_emotes_goes_on_with_no_talk() -> None:
    assert kind_of("what is Kappa?", JUST_ANSWERED) is TriggerKind.FOLLOW_UP
    assert kind_of("what is Kappa?", JUST_ANSWERED, emote_only=True) is None


def test_an_answer_to_its_question_is_for_the_bot() -> None:
    talks = Conversations(
        {"1": NOW - 60_000}, {"bob"}, just_answered={"1"}, asked={"1"}
    )
    assert kind_of("my cat is called Miso", talks) is TriggerKind.FOLLOW_UP
    assert kind_of("LUL", talks) is None
    assert (
        kind_of("my cat is called Miso", Conversations(talks.answered_at, asked={"1"}))
        is None
    )


def test_a_conversation_is_that_of_two_for_three_minutes() -> None:
    assert kind_of("are you sure?", TALKING, user_id="2") is None
    assert kind_of("are you sure?", Conversations({"1": NOW - 181_000})) is None
    assert kind_of("same", TALKING, reply_to=ReplyTo("m1", "2", "bob", "hi")) is None


def test_by_itself_it_speaks_in_live_mode_only() -> None:
    raid = chat_line(
        "", kind=EventKind.RAID, system_text="5 raiders from bob have joined!"
    )
    hello = chat_line("hi all")
    for settings, spoken in (
        (LIVE, [TriggerKind.RAID, TriggerKind.RETURNER]),
        (MENTIONS, []),
        (Settings(), []),
    ):
        triggers = [
            trigger_of(line, BOT, NOBODY, settings, NOW, returning=line is hello)
            for line in (raid, hello)
        ]
        assert [trigger.kind for trigger in triggers if trigger] == spoken
        assert not any(trigger.direct for trigger in triggers if trigger)
    assert trigger_of(hello, BOT, NOBODY, LIVE, NOW) is None


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("@forgetmenot_bot what do I play?", "what do I play?"),
        ("what do I play, forgetmenot?", "what do I play?"),
        ("@forgetmenot_bot, what do I play?", "what do I play?"),
        ("what does @bob play @fmn", "what does @bob play"),
        ("is forgetmenot a flower", "is forgetmenot a flower"),
        ("what is that, fmn?!", "what is that?!"),
        ("hello little marmot", "hello"),
        ("I said xfmn", "I said xfmn"),
        ("fmn", ""),
    ],
)
def test_the_question_is_the_line_without_the_name(line: str, question: str) -> None:
    assert without_name(line, BOT) == question


def test_a_talk_goes_on_while_few_others_speak() -> None:
    """Own lines bring nobody further away. "what time" is soon about what was said meanwhile."""
    for line, limit in (("what time is it?", 0), ("are you sure?", 15)):
        for other_speakers in (limit, limit + 1):
            talks = ConversationTracker()
            talks.answered("1", NOW - 60_000)
            for i in range(other_speakers):
                talks.note_line(
                    chat_line(
                        "my parrot learned a new word",
                        user_id=str(50 + i),
                        login=f"viewer{i}",
                    )
                )
                talks.note_line(chat_line("lol", user_id="1"))
            assert (kind_of(line, talks.conversations()) is TriggerKind.FOLLOW_UP) is (
                other_speakers == limit
            )


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    trigger = trigger_of(chat_line(text), BOT, TALKING, LIVE, NOW, returning=True)
    assert trigger is None or trigger.event.text == text


def test_a_line_that_could_be_parted_in_many_ways_takes_no_long_time() -> None:
    identity = Identity("99", "forgetmenot_bot", "ForgetMeNot")
    for piece in ("_", "a_", "a-", "a "):
        start = time.process_time()
        with_right_name((piece * 200)[:200], identity)
        assert time.process_time() - start < 0.5, piece
    assert with_right_name("forget_me-not , hello", identity) == "ForgetMeNot , hello"


@pytest.mark.parametrize(
    ("typed", "corrected"),
    [
        ("@forgatmenot hi", "@ForgetMeNot hi"),
        ("@forgtmenot hi", "@ForgetMeNot hi"),
        ("@forrgetmenot hi", "@ForgetMeNot hi"),
        ("@fogretmenot hi", "@ForgetMeNot hi"),
        ("@forgetmenotbo hi", "@forgetmenot_bot hi"),
        ("@forxytmenot hi", "@forxytmenot hi"),
        ("@forrrgetmenot hi", "@forrrgetmenot hi"),
        ("@litlemarmot hi", "@littlemarmot hi"),
        ("@fmm hi", "@fmm hi"),
    ],
)
def test_one_slip_in_a_name_is_forgiven(typed: str, corrected: str) -> None:
    assert with_right_name(typed, BOT) == corrected


@pytest.mark.parametrize(
    ("name", "typed", "corrected"),
    [("Marmot", "@marmit", "@Marmot"), ("Ferny", "@farny", "@farny")],
)
def test_a_name_of_five_letters_is_too_near_to_other_words(
    name: str, typed: str, corrected: str
) -> None:
    assert with_right_name(typed, Identity("99", "keeper", name)) == corrected


FERN = Identity("99", "keeper", "🌿 Fern 🌿")


@pytest.mark.parametrize(
    ("line", "identity", "question"),
    [
        ("@littlemarmot hi", BOT, "hi"),
        ("@fmn Xenia won", BOT, "Xenia won"),
        ("@ForgetMeNotさん元気？", BOT, "元気?"),
        ("fmn元気？", BOT, "元気?"),
        ("忘れな草、元気", Identity("99", "keeper", "忘れな草"), "元気"),
        ("@abc花丸 hi", Identity("99", "keeper", "abc花"), "@abc花丸 hi"),
        ("Fern, hi", FERN, "hi"),
    ],
)
def test_a_line_without_a_name_of_any_script(
    line: str, identity: Identity, question: str
) -> None:
    assert without_name(line, identity).replace("？", "?") == question


@pytest.mark.parametrize(
    ("line", "identity", "address"),
    [
        ("@bob fmn hi", BOT, Address.ALIAS),
        ("Bo, hi", Identity("99", "keeper", "Bo"), Address.NAME),
        ("say it, fern, and more", FERN, Address.NAME),
        ("say it to fern and more", FERN, None),
    ],
)
def test_how_a_line_calls_the_bot(
    line: str, identity: Identity, address: Address | None
) -> None:
    assert address_of(chat_line(line), identity) is address


@pytest.mark.parametrize(("other_speakers", "is_known"), [(199, True), (200, False)])
def test_the_last_two_hundred_speakers_are_known(
    other_speakers: int, *, is_known: bool
) -> None:
    tracker = ConversationTracker()
    tracker.note_line(chat_line("hi"))
    for number in range(other_speakers):
        name = f"viewer{number}"
        tracker.note_line(chat_line("hi", user_id=name, login=name, display_name=name))
    assert ("alice" in tracker.conversations().speakers) is is_known


@pytest.mark.parametrize(("other_talks", "goes_on"), [(499, True), (500, False)])
def test_five_hundred_conversations_are_kept(
    other_talks: int, *, goes_on: bool
) -> None:
    tracker = ConversationTracker()
    tracker.answered("1", NOW)
    for number in range(other_talks):
        tracker.answered(f"viewer{number}", NOW)
    assert ("1" in tracker.conversations().answered_at) is goes_on


@pytest.mark.parametrize(
    ("question", "goes_on", "waits"),
    [
        ("do you remember the", False, True),
        ("do you remember the thing", False, False),
        ("do you remember?", False, False),
        ("do you remember 🎮", False, False),
        ("the thing with the boss", False, False),
        ("the thing with the boss", True, True),
        ("from last stream?", True, False),
    ],
)
def test_a_short_beginning_of_a_question_waits_for_more(
    question: str, *, goes_on: bool, waits: bool
) -> None:
    assert is_unfinished(question, goes_on=goes_on) is waits
