"""What somebody tells about themselves, turned into a fact without its subject."""

import re

import pytest

from forgetmenot.text.chat_commands import denies, others_fact, own_fact


@pytest.mark.parametrize(
    ("told", "fact"),
    [
        ("I play drums", "plays drums"),
        ("i don't like spiders.", "does not like spiders"),
        ("I'm from Oslo", "is from Oslo"),
        ("Im not a morning person", "is not a morning person"),
        ("I can't swim", "cannot swim"),
        ("I've been to Japan", "has been to Japan"),
        ("I never eat fish", "never eats fish"),
        ("I no longer play Dota", "no longer plays Dota"),
        ("i also really love tea", "also really loves tea"),
        ("I went to Rome", "went to Rome"),
        ("I'll move to Rome", "will move to Rome"),
        ("I study maths with my brother", "studies maths with their brother"),
        ("my cat is called Miso", "their cat is called Miso"),
        ("drums are my life", "drums are their life"),
        ("plays bass", "plays bass"),
        ("is left-handed", "is left-handed"),
        ("ich wohne in Köln", "ich wohne in Köln"),
        ("J’habite à Lyon", "J’habite à Lyon"),
        ("je me lève tôt", "je me lève tôt"),
        ("me gusta el fútbol", "me gusta el fútbol"),
        ("all of me loves jazz", "all of them loves jazz"),
        ("я люблю борщ", "я люблю борщ"),
        ("私は寿司が好きです", "私は寿司が好きです"),
        ("carol is a liar", None),
        ("Carol ist blöd", None),
        ("Ben is a liar", None),
        ("Fridays are horror nights", None),
        ("this is fun", None),
        ("we won", None),
        ("", None),
    ],
)
def test_first_person_becomes_third(told: str, fact: str | None) -> None:
    assert own_fact(told) == fact


def test_what_follows_a_name_is_the_fact() -> None:
    assert others_fact("'s cat is called Miso.") == "their cat is called Miso"
    assert others_fact(": plays drums") == "plays drums"
    assert others_fact(" – lives in Oslo!") == "lives in Oslo"


DENIALS = """that's wrong; wrong; not true; false; i never said that; not anymore; that's outdated; no longer
    not me; you mixed me up with bob; thats not me thats bob; nope, wrong; who told you that, not true
    das stimmt nicht; ya no"""
NO_DENIALS = """no; lol no; nah; what's wrong with you; you're not wrong; i was wrong; my mistake; not now
    not right now; wrong chat; that's right; never mind; no thanks; i dont know
    that's not bad; why is that wrong; not yet"""


@pytest.mark.parametrize("line", re.split(r"[;\n]\s*", f"{DENIALS};{NO_DENIALS}"))
def test_a_denial_says_nothing_else(line: str) -> None:
    assert denies(line) is (line in re.split(r"[;\n]\s*", DENIALS))
