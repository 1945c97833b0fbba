"""What somebody tells about themselves, turned into a fact without its subject."""

import re

from forgetmenot.text.chat_commands import denies, fact_about_other, own_fact

FACTS = {
    "i don't like spiders.": "does not like spiders", "Im not a morning person": "is not a morning person",
    "I can't swim": "cannot swim", "I've been to Japan": "has been to Japan", "I'll move to Rome": "will move to Rome",
    "I no longer play Dota": "no longer plays Dota", "i also really love tea": "also really loves tea",
    "I study maths with my brother": "studies maths with their brother",
    "my cat is called Miso": "their cat is called Miso", "drums are my life": "drums are their life",
    "is left-handed": "is left-handed",
}  # fmt: skip
KEPT = (
    "ich wohne in Köln",
    "J’habite à Lyon",
    "me gusta el fútbol",
    "я люблю борщ",
    "私は寿司が好きです",
)
NO_FACTS = (
    "carol is a liar",
    "Carol ist blöd",
    "Fridays are horror nights",
    "this is fun",
    "we won",
    "",
)


def test_first_person_becomes_third_and_what_cannot_be_turned_stays() -> None:
    told = FACTS | {text: text for text in KEPT} | dict.fromkeys(NO_FACTS)
    assert {text: own_fact(text) for text in told} == told
    followed = {
        "'s cat is called Miso.": "their cat is called Miso",
        ": plays drums": "plays drums",
    }
    assert {rest: fact_about_other(rest) for rest in followed} == followed


DENIALS = """that's wrong; not true; i never said that; that's outdated; not me; you mixed me up with bob
    thats not me thats bob; nope, wrong; who told you that, not true; das stimmt nicht; ya no"""
NO_DENIALS = """no; lol no; what's wrong with you; you're not wrong; i was wrong; not now; wrong chat; that's right
    never mind; no thanks; that's not bad; why is that wrong"""


def test_a_denial_says_nothing_else() -> None:
    denials = re.split(r"[;\n]\s*", DENIALS)
    assert [
        line for line in (*denials, *re.split(r"[;\n]\s*", NO_DENIALS)) if denies(line)
    ] == denials
