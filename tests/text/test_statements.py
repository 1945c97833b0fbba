"""What somebody tells about themselves, turned into a fact without its subject."""

import re

import pytest

from forgetmenot.text.chat_commands import denies, others_fact, own_fact

FACTS = {
    "I play drums": "plays drums", "i don't like spiders.": "does not like spiders", "I'm from Oslo": "is from Oslo",
    "Im not a morning person": "is not a morning person", "I can't swim": "cannot swim",
    "I've been to Japan": "has been to Japan", "I never eat fish": "never eats fish",
    "I no longer play Dota": "no longer plays Dota", "i also really love tea": "also really loves tea",
    "I went to Rome": "went to Rome", "I'll move to Rome": "will move to Rome",
    "I study maths with my brother": "studies maths with their brother",
    "my cat is called Miso": "their cat is called Miso", "drums are my life": "drums are their life",
    "all of me loves jazz": "all of them loves jazz", "plays bass": "plays bass", "is left-handed": "is left-handed",
}  # fmt: skip
KEPT = (
    "ich wohne in Köln", "J’habite à Lyon", "je me lève tôt", "me gusta el fútbol", "я люблю борщ",
    "私は寿司が好きです",
)  # fmt: skip
NO_FACTS = (
    "carol is a liar", "Carol ist blöd", "Ben is a liar", "Fridays are horror nights", "this is fun", "we won", "",
)  # fmt: skip


def test_first_person_becomes_third_and_what_cannot_be_turned_stays() -> None:
    told = FACTS | {text: text for text in KEPT} | dict.fromkeys(NO_FACTS)
    assert {text: own_fact(text) for text in told} == told
    followed = {"'s cat is called Miso.": "their cat is called Miso", ": plays drums": "plays drums"}
    assert {rest: others_fact(rest) for rest in followed} == followed


DENIALS = """that's wrong; wrong; not true; false; i never said that; not anymore; that's outdated; no longer
    not me; you mixed me up with bob; thats not me thats bob; nope, wrong; who told you that, not true
    das stimmt nicht; ya no"""
NO_DENIALS = """no; lol no; nah; what's wrong with you; you're not wrong; i was wrong; my mistake; not now
    not right now; wrong chat; that's right; never mind; no thanks; i dont know
    that's not bad; why is that wrong; not yet"""


@pytest.mark.parametrize("line", re.split(r"[;\n]\s*", f"{DENIALS};{NO_DENIALS}"))
def test_a_denial_says_nothing_else(line: str) -> None:
    assert denies(line) is (line in re.split(r"[;\n]\s*", DENIALS))
