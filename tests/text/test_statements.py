"""What somebody tells about themselves, turned into a fact without its subject."""

import re

import pytest

from forgetmenot.text.chat_commands import denies, fact_about_other, own_fact


@pytest.mark.parametrize(
    ("statement", "fact"),
    [
        ("i don't like spiders.", "does not like spiders"),
        ("Im not a morning person", "is not a morning person"),
        ("I can't swim", "cannot swim"),
        ("I've been to Japan", "has been to Japan"),
        ("I'll move to Rome", "will move to Rome"),
        ("I no longer play Dota", "no longer plays Dota"),
        ("i also really love tea", "also really loves tea"),
        ("I study maths with my brother", "studies maths with their brother"),
        ("my cat is called Miso", "their cat is called Miso"),
        ("drums are my life", "drums are their life"),
        ("is left-handed", "is left-handed"),
        ("I sing and I'm in a band", "sings and they are in a band"),
        ("I fell while I was asleep", "fell while they were asleep"),
        ("I think I still wasn't awake", "thinks they still weren't awake"),
        ("I know what am I doing", "knows what are they doing"),
        ("I bake and I was told so", "bakes and they were told so"),
    ],
)
def test_first_person_becomes_third(statement: str, fact: str) -> None:
    assert own_fact(statement) == fact


@pytest.mark.parametrize(
    "statement",
    [
        "ich wohne in Köln",
        "J’habite à Lyon",
        "me gusta el fútbol",
        "я люблю борщ",
        "私は寿司が好きです",
    ],
)
def test_what_cannot_be_turned_stays(statement: str) -> None:
    assert own_fact(statement) == statement


@pytest.mark.parametrize(
    "statement",
    [
        "carol is a liar",
        "Carol ist blöd",
        "Fridays are horror nights",
        "this is fun",
        "we won",
        "",
    ],
)
def test_what_is_not_about_its_speaker_is_no_fact(statement: str) -> None:
    assert own_fact(statement) is None


@pytest.mark.parametrize(
    ("rest", "fact"),
    [
        ("'s cat is called Miso.", "their cat is called Miso"),
        (": plays drums", "plays drums"),
    ],
)
def test_what_follows_a_name_is_a_fact_about_its_person(rest: str, fact: str) -> None:
    assert fact_about_other(rest) == fact


DENIALS = """that's wrong; not true; i never said that; that's outdated; not me; you mixed me up with bob
    thats not me thats bob; nope, wrong; who told you that, not true; das stimmt nicht; ya no"""
NO_DENIALS = """no; lol no; what's wrong with you; you're not wrong; i was wrong; not now; wrong chat; that's right
    never mind; no thanks; that's not bad; why is that wrong"""


def test_a_denial_says_nothing_else() -> None:
    denials = re.split(r"[;\n]\s*", DENIALS)
    assert [
        line for line in (*denials, *re.split(r"[;\n]\s*", NO_DENIALS)) if denies(line)
    ] == denials
