"""Deeds that nobody did, and how strictly they are heard."""

import pytest

from forgetmenot.actions.claims import claims, claims_more, claims_own

BOASTS = [
    "I have timed out Bob for you.",
    "I've banned bob!",
    "Done, timed out bob.",
    "Bob has been banned.",
    "You are muted now.",
    "I just deleted that message.",
    "Your message is gone.",
    "Sure! I timed you out.",
    "I found the culprit and banned him.",
    "I've turned on slow mode.",
    "I turned slow mode on",
    "Slow mode is on now.",
    "I switched the chat to emotes only.",
    "I changed the title.",
    "The category has been changed.",
    "I created a clip",
    "I made you a nice clip",
    "Clipped!",
    "The clip is ready.",
    "I dropped a marker here.",
    "I announced it",
    "I posted an announcement",
    "I gave alice a shoutout",
    "Shouted out alice!",
    "I remembered that",
    "I've noted that you like tea.",
    "Forgotten.",
    "I have forgotten everything about you.",
    "I lifted your timeout",
    "I have executed the ban on bob",
    "The ban has been executed",
    "The timeout is in effect.",
    "✅ bob banned",
    "bob: banned ✅",
    "🔨 ban → bob (60s)",
    "*bans bob*",
    "*quickly times bob out*",
    "Timing out bob now",
    "Okay, banning bob for 60 seconds",
    "*mutes bob*",
    "*kicks the troll out of the chat*",
    "I muted my viewer bob",
    "I kicked bob out of the chat",
    "bob got kicked out of the stream",
    "I slowed down the chat",
    "Your timeout was lifted",
    "I banned bob, right?",
    "No problem I banned bob",
    "I can't believe I banned bob",
    "bob was banned once again",
    "Banned bob once and for all",
    "bob is banned from now on",
    "Slow mode is lifted",
    "I've lifted the silence",
    "bob has been banned from the chat",
    "Ich habe bob gebannt",
    "J’ai banni bob",
    "Я забанил боба",
]
ORDINARY = [
    "I can't ban anybody.",
    "I have not timed out Bob.",
    "I haven't forgotten you, alice.",
    "You changed your title last week, didn't you?",
    "The pizza is gone, noted!",
    "If I banned bob, who would race?",
    "I would have clipped that.",
    "That is done and dusted.",
    "You were playing drums when the stream was announced.",
    "urban memes are banished from my heart",
    "I love clips of the sea.",
    "Clips are what you came for.",
    "I changed my mind about pineapple.",
    "Sorry, I forgot your name.",
    "I remembered that you race on Fridays!",
    "I nearly forgot to ask how it went.",
    "You asked for slow mode twice last week.",
    "Timeouts are for moderators.",
    "Banning people is no fun.",
    "Banning bob would be unfair.",
    "*waves at bob* and good night",
    "✅ tea, ✅ biscuits",
    "Kicking a ball is harder than it looks",
    "*hides from the banned books list*",
    "The effect of a timeout is overrated",
    "Kicking off now!",
    "Kicking back for the evening",
    "*kicks back*",
    "*mutes mic*",
    "*mutes the TV*",
    "*kicks the ball*",
    "*kicks feet excitedly*",
    "*kicks the door open*",
    "I muted my mic by accident",
    "Your mic was muted, we heard nothing",
    "The music is muted on the VOD",
    "I kicked the habit",
    "I kicked off the weekend with a nap",
    "Kicked it old school",
    "I got banned from the buffet",
    "He was banned in 2019 for being too good",
    "You were timed out last week? Rough!",
    "You were muted the whole time",
    "Were you banned?",
    "Your message was deleted by a moderator",
    "I warned you about the stairs!",
    "You were warned!",
    "Warned ya!",
    "Muted colours, lovely palette",
    "The soundtrack is muted here",
    "I lifted weights yesterday",
    "The curse is lifted",
    "I slowed down to enjoy the view",
    "I shouted out loud when you won",
    "I clipped through the floor",
    "The chat is gone wild",
    "You've forgotten your own lore, Alice",
    "Ich habe bob nicht gebannt",
    "Wurdest du gebannt?",
    "Wir schauen gebannt zu",
]


@pytest.mark.parametrize("text", BOASTS)
def test_what_the_bot_says_it_did_is_heard(text: str) -> None:
    assert claims_own(text)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_talk_is_no_claim(text: str) -> None:
    assert not claims_own(text)


@pytest.mark.parametrize(
    ("text", "done", "more"),
    [
        ("I timed out bob", {"timeout"}, False),
        ("I timed out bob", {"clip"}, True),
        ("I made a clip and timed out bob", {"timeout", "clip"}, False),
        ("I timed out bob, and he is banned", {"timeout"}, True),
        ("I noted that for you", {"remember"}, False),
        ("I timed bob out for an hour", {"long_timeout"}, False),
        ("I timed out bob", {"no such action"}, True),
    ],
)
def test_what_was_really_done_may_be_told(text: str, done: set[str], *, more: bool) -> None:
    assert claims_own(text, done) is more
    assert claims_more(text, done) is more


@pytest.mark.parametrize("text", ["bob baneado", "bob wurde gebannt", "боб забанен"])
def test_a_refusal_in_another_language_is_heard_too(text: str) -> None:
    assert claims(text)


@pytest.mark.parametrize("text", ["Ich kann bob nicht bannen", "Je ne peux pas", "Боб не забанен", "Hoy no, bob"])
def test_an_honest_refusal_in_another_language_stays(text: str) -> None:
    assert not claims(text)


@pytest.mark.parametrize("text", ["Enjoy the ban, bob", "Consider it done", "I'll time you out"])
def test_after_a_refusal_any_clause_counts(text: str) -> None:
    assert claims(text)
    assert not claims_own(text)
