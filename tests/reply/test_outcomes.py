"""How chat takes a reply, and what of its prompt a reply used."""

from pathlib import Path

import pytest
from bench_memory import lines_of
from scoring import facts
from scoring.facts import PEOPLE

from forgetmenot.memory.grounding import alike
from forgetmenot.reply.outcomes import LineAfter, ReplyOutcome, outcome_of
from forgetmenot.reply.support import (
    Claim,
    borrowed,
    contradicted,
    facts_in,
    never_said,
    repeated,
    says_nothing,
    unfounded,
    unsupported,
    used_notes,
    without_unsupported,
)

DATA = Path(__file__).parents[1] / "data" / "outcomes.tsv"


def test_outcomes_are_read_as_well_as_they_were() -> None:
    """On the half that the rules were made on; `scripts/bench_memory.py outcomes` prints the other one, too."""
    rates, _ = facts.outcomes(lines_of(DATA, "\t", 4))
    assert rates["dev: right"] >= 0.88
    assert rates["dev: corrected, precision"] >= 0.85


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([], ReplyOutcome.IGNORED),
        ([("bob", "alice lol that jump")], ReplyOutcome.IGNORED),
        ([("bob", "@alice no way")], ReplyOutcome.IGNORED),
        ([("alice", "lol"), ("alice", "no that's wrong")], ReplyOutcome.CORRECTED),
    ],
)
def test_a_line_to_somebody_else_counts_for_nothing(lines: list[tuple[str, str]], outcome: ReplyOutcome) -> None:
    assert outcome_of("the boss is weak to ice", [LineAfter(*one) for one in lines], people=PEOPLE) is outcome


LORE = "[id:1; said by them; 2 days ago] plays the cello\n[id:2] collects stamps from Peru\n"


def test_what_a_reply_used_and_what_nothing_supports() -> None:
    assert facts_in(LORE) == {1: "plays the cello", 2: "collects stamps from Peru"}
    reply = "You play the cello, alice, and last time in Rome you won 12 medals. Stamps are fun."
    assert used_notes(reply, facts_in(LORE), "what do I play?") == [1, 2]
    assert used_notes("I have no idea.", facts_in(LORE)) == []
    claims = unsupported(reply, [LORE], ["alice"])
    assert [(one.kind, reply[one.start : one.end]) for one in claims] == [
        ("past", "last time"),
        ("name", "Rome"),
        ("number", "12"),
    ]
    assert without_unsupported(reply, claims) == "You play the cello, alice. Stamps are fun."
    assert unsupported("You have stamps from Peru, two of them.", [LORE]) == []
    assert unsupported("Last time we spoke of your cello and stamps.", [LORE]) == []
    assert without_unsupported("In Rome.", [Claim("name", 3, 7)]) == ""


@pytest.mark.parametrize(
    ("reply", "fits", "left"),
    [
        ("Alice plays the cello in Rome, lovely town.", True, "Alice plays the cello in Rome, lovely town."),
        ("She plays the trombone. Nice question!", True, "Nice question!"),
        ("Her band tours Norway in June.", True, ""),
        ("It is a fearsome beast, and a cello would be of little use in that fight.", True, ""),
        ("I don't remember that, sorry.", False, "I don't remember that, sorry."),
        ("I can't tell you anything about bands.", False, "I can't tell you anything about bands."),
        ("Alice plays the cello.", False, "Alice plays the cello."),
        ("Alice plays the cello, imported from Norway in June. Nice!", False, "Alice plays the cello. Nice!"),
        ("Nothing much, just a few songs.", False, ""),
        ("I have nothing on that.", False, "I have nothing on that."),
        ("I don't remember much, just that she had a nice chat with bob.", False, "I don't remember much."),
        ("Das weiß ich leider nicht.", False, "Das weiß ich leider nicht."),
        ("She plays stamps on a cello.", False, ""),  # words of two notes
        ("She is 2 days old.", False, ""),  # of when a note was said
    ],
)
def test_an_answer_about_somebody_needs_a_note_about_them(reply: str, fits: bool, left: str) -> None:
    """Words of one note suffice where recall found one that fits."""
    asked = "what instrument does alice play?"
    assert without_unsupported(reply, unfounded(reply, asked, [LORE], fits=fits)) == left


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("I play the cello, thanks for asking! Nice day.", "Nice day."),
        ("I got a raise today, who would have thought that it comes so late in the year.", ""),
        ("You live in Porto, just like me!", "You live in Porto."),
        ("I got a raise today, thank you!", ""),
        ("I got a raise today too!", ""),
        ("My cat is called Miso.", ""),
        ("I play the cello too!", ""),
        ("My cat is called Miso. But dogs are nice.", "Dogs are nice."),
        ("I got a raise today!", ""),
        ("Congrats, I heard about your raise today!", "Congrats, I heard about your raise today!"),
        ("I hope the raise comes with a day off.", "I hope the raise comes with a day off."),
        ("Miso is my cat, how about him?", ""),
        ("You play the cello. I love it!", "You play the cello. I love it!"),
        ("I think Alice plays the cello.", "I think Alice plays the cello."),
        ("My notes about Alice say: plays the cello.", "My notes about Alice say: plays the cello."),
        ("I'm a bot, and I like cats.", "I'm a bot, and I like cats."),
        ("I remember: Miso the cat.", "I remember: Miso the cat."),
    ],
)
def test_the_bot_takes_nobodys_life_for_its_own(reply: str, left: str) -> None:
    known = ["[id:1; said by them] plays the cello\n[just now] has a cat called Miso"]
    assert without_unsupported(reply, borrowed(reply, known, "I got a raise today lol")) == left


def test_the_bot_may_like_what_it_is_asked_about() -> None:
    assert not borrowed("I like horror games.", ["[id:1] hates horror games"], "do you like horror games?")
    assert borrowed("Yes, I am a sentient being.", [], "are you human?")
    assert not borrowed("I'm not a human, I have never heard of it.", [], "are you human?")
    assert borrowed("I've always loved violins.", [], "no, I play the viola")
    assert borrowed("My cat is Miso.", ["[id:1] has a cat named Miso"], "what is your cat called?")
    assert not borrowed("I like horror games too!", [], "I like horror games")
    assert borrowed("Ich habe morgen Prüfung.", [], "ich hab morgen eine Prüfung, drück mir die Daumen")
    assert not borrowed("Ich habe von deiner Prüfung morgen gehört.", [], "ich hab morgen eine Prüfung")


@pytest.mark.parametrize(
    "reply",
    [
        "Bob is a nurse in Oslo, if I'm not mistaken.",
        "Pflegt in Oslo als nurse, wenn ich mich richtig erinnere.",
        "Nurse in Oslo, soweit ich weiß.",
    ],
)
def test_who_is_unsure_of_somebody_says_nothing_of_itself(reply: str) -> None:
    assert not borrowed(reply, ["[id:1] is a nurse in Oslo"], "what does bob do?", ["Bob"])
    assert borrowed("Ich bin nurse in Oslo.", ["[id:1] is a nurse in Oslo"], "what does bob do?", ["Bob"])


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("That's a clever one right there! Ha.", "Ha."),
        ("Alice plays the cello in Rome.", "Alice plays the cello in Rome."),
        ("I don't remember anything of that.", "I don't remember anything of that."),
        ("A boss has nine lives, as they say.", "A boss has nine lives, as they say."),
        ("Good one, alice!", "Good one, alice!"),
        ("What's on your mind?", ""),
    ],
)
def test_what_tells_of_no_note_is_not_said_twice(reply: str, left: str) -> None:
    before = [f"Well. Ah, {reply}"]
    assert without_unsupported(reply, repeated(reply, before, facts_in(LORE), "how many lives has it got?")) == left


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("Bob lives in Brno now.", ""),
        ("He drives an old Volvo. He also loves horror games, so ask him.", "He drives an old Volvo."),
        ("Bob hates horror games, and moved out of Brno.", "Bob hates horror games, and moved out of Brno."),
        ("Does Bob love horror games?", "Does Bob love horror games?"),
        ("You live in Brno, Bob. Nice town!", "Nice town!"),
        ("You're a fan of horror games.", ""),
    ],
)
def test_an_answer_says_nothing_against_a_note(reply: str, left: str) -> None:
    facts = ["hates horror games", "moved out of Brno", "drives an old Volvo"]
    assert without_unsupported(reply, contradicted(reply, facts, ["Bob"])) == left


def test_who_chats_back_answers_nothing() -> None:
    assert says_nothing("How about you? I'm here to chat with you.", "what's my dog called?")
    assert not says_nothing("Biscuit!", "what's my dog called?")


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("You said 'that boss has a name' earlier.", ""),
        ("You asked 'what is the name of that boss?' earlier. Right?", "Right?"),
        ("You said that your tea is cold.", "You said that your tea is cold."),
        ("You asked about tea earlier! Still cold?", "You asked about tea earlier! Still cold?"),
        ("Du hast nach dem Boss gefragt.", ""),
        ("You said it!", "You said it!"),
    ],
)
def test_nobody_said_what_only_others_said(reply: str, left: str) -> None:
    own = ["dave: ugh, my tea is cold already"]
    assert without_unsupported(reply, never_said(reply, own)) == left


def test_a_reply_is_not_compared_with_every_word_of_a_long_prompt() -> None:
    def word(number: int) -> str:
        return "".join("bdfgklmnprstvwz"[number // 15**at % 15] + "aeiou"[number // 5**at % 5] for at in range(4))

    rows = [" ".join(map(word, range(at, at + 12))) for at in range(0, 4_800, 12)]
    reply = ", ".join(f"{word(at)} {word(at + 9)}" for at in range(5_000, 5_080, 2))
    before = alike.cache_info()  # type: ignore[attr-defined]
    unfounded(reply, "what does alice say?", rows, fits=False)
    after = alike.cache_info()  # type: ignore[attr-defined]
    assert after.hits + after.misses - before.hits - before.misses < 1_000


def test_no_note_answers_for_a_past_that_a_question_names() -> None:
    reply = "Alice collects stamps."
    assert unfounded(reply, "what did alice say yesterday?", [LORE], fits=False)
    assert not unfounded(reply, "what does alice say?", [LORE], fits=False)


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("Du wohnst in Rostock!", "Du wohnst in Rostock!"),
        ("Du wohnst seit Mai in Rostock und hast zwei Hunde.", ""),
        ("No lo sé, lo siento.", "No lo sé, lo siento."),
        ("Je ne sais plus du tout.", "Je ne sais plus du tout."),
    ],
)
def test_an_answer_needs_a_note_in_other_languages_too(reply: str, left: str) -> None:
    known = "[id:1; said by them] wohnt in Rostock\n[id:2; said by them] spielt Posaune"
    assert without_unsupported(reply, unfounded(reply, "wo wohne ich nochmal?", [known], fits=False)) == left


@pytest.mark.parametrize(
    ("asked", "note", "reply"),
    [
        ("weißt du noch, wo ich wohne?", "wohnt in Rostock", "Klar, du wohnst in Rostock!"),
        ("wo wohne ich?", "lives in Rostock", "Du wohnst in Rostock."),
        ("où est-ce que j'habite ?", "lives in Lyon", "Tu habites à Lyon."),
        ("¿dónde vives?", "vive en Sevilla", "¡Pues vives en Sevilla, claro!"),
        ("weißt du wo bob wohnt", "wohnt in Rostock", "Soweit ich weiß, wohnt er in Rostock."),
        ("remember how old my cat is?", "has a cat of nine years", "Your cat is nine years old."),
    ],
)
def test_a_right_answer_may_use_the_words_of_the_question_in_any_form(asked: str, note: str, reply: str) -> None:
    assert not unfounded(reply, asked, [f"[id:1; said by them] {note}"], fits=False)
    assert unfounded("Hamburg!", asked, [f"[id:1; said by them] {note}"], fits=False)


def test_a_japanese_reply_keeps_its_supported_sentences() -> None:
    reply = "雨が降った。点が出た。"
    assert without_unsupported(reply, [Claim("number", 6, 7)]) == "雨が降った。"
