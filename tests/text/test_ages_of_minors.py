"""Ages of people below eighteen are never stored; those of cats, cars and channels are, and a name stays."""

from forgetmenot.text.ages_of_minors import states_minor_age, without_minor_age

OF_MINORS = """
    is 15; is 15 years old; am 13; turned 16 last week; is only 12 now; is 17 and plays drums; plays
    drums and is 14; ich bin 15; ist 14 Jahre alt; bin 16 Jahre alt; wird 17 Jahre alt; tengo 15
    años; tengo 15; j'ai 15 ans; a 15 ans; tenho 14 anos; ho 16 anni; ma 12 lat; мне 15 лет; 14歳です;
    私は15歳; 15살이에요; is a 15-year-old gamer; is a 15 year old; has a daughter who is 7 years old;
    their son is 7; has a kid named Tim that is 4 years old; their daughter Mia is 6; Mia is 7;
    their little brother turned 10; has a 7-year-old daughter named Mia; babysits a 4 year old girl;
    has a 7-year-old; has a daughter aged 7; has two kids, Tim (7) and Mia (9); has a son, he is 8
    years old; is fifteen; is sixteen years old; their baby is 6 months old; their cousin, who is
    12, plays chess; their youngest is 3; <@2> is 15; hat eine Tochter, die 7 Jahre alt ist; ihre
    Tochter ist 7 Jahre alt; tiene una hija que tiene 7 años; a une fille qui a 7 ans; mein Bruder
    ist 12; 娘は7歳です; their daughter's friend is 12
"""
OF_OTHERS = """
    has a cat named Krümel, which is 14 years old; has a cat that is 14 years old; their dog is 12;
    their dog Rex is 7 years old; has a 14-year-old cat; adopted a 9 year old dog named Bo; drives a
    Corsa that is 14 years old; their PC is 8 years old; their channel turned 10 last week; their
    favourite number is 7; their marriage turned 15 this year; owns a whisky aged 12 years; has a
    dog, he is 14 years old; ihr Hund ist 14 Jahre alt; hat eine Katze, die 14 Jahre alt ist; mi
    perra tiene 12 años; mon chat a 14 ans; minha gata tem 13 anos; il mio cane ha 11 anni;
    うちの猫は14歳です; is 25 years old; is 34; is 13 points ahead; is level 12; is 5 feet tall; has 12
    cats; has 15 years of experience; <@2>'s cat is 14 years old; their daughter's cat is 14 years
    old; is 12 wins from gold; played for 15 hours; tengo 15 gatos; ist seit 12 Jahren Koch; started
    drumming at 7; their team is 3 and 0; ranks 12; owns two cats named Salt and Pepper who are 7
    years old; their old grey laptop is 12 years old; lives at floor 7; has been streaming for 12
    years; turned 16 lights on; is number 1; has a daughter named Mia
"""
CUT = {
    "has a daughter named Mia, who is 7 years old": "has a daughter named Mia",
    "has a daughter named Mia who is 7.": "has a daughter named Mia.",
    "has a 7-year-old daughter named Mia": "has a daughter named Mia",
    "has an 8-year-old boy called Tim": "has a boy called Tim",
    "is 15 and plays drums": "plays drums",
    "plays drums and is 15": "plays drums",
    "is 15 years old, plays drums": "plays drums",
    "has two kids, Tim (7) and Mia (9)": "has two kids, Tim and Mia",
    "their daughter is called Mia and is 7": "their daughter is called Mia",
    "has a daughter aged 7": "has a daughter",
    "ich bin 15 und spiele Schlagzeug": "ich spiele Schlagzeug",
    "hat eine Tochter namens Mia, die 7 Jahre alt ist": "hat eine Tochter namens Mia",
    "their cousin, who is 12, plays chess": "their cousin plays chess",
    "<@1> is 15 years old and plays drums.": "<@1> plays drums.",
    "is 15": "",
    "ich bin 15": "",
    "their daughter is 7": "",
    "has a daughter who is 7 and plays chess": "",
    "14歳です": "",
    "has a cat named Krümel, which is 14 years old": "has a cat named Krümel, which is 14 years old",
}


def listed(phrases: str) -> list[str]:
    return [" ".join(phrase.split()) for phrase in phrases.split(";")]


def test_the_age_of_somebody_below_eighteen_is_known() -> None:
    assert [text for text in listed(OF_MINORS) if not states_minor_age(text)] == []


def test_of_anything_else_an_age_is_none() -> None:
    assert [text for text in listed(OF_OTHERS) if states_minor_age(text)] == []


def test_only_the_age_goes_where_the_rest_is_a_sentence() -> None:
    assert {text: without_minor_age(text) for text in CUT} == CUT


def test_words_of_which_nothing_can_be_seen_are_read() -> None:
    # a mark that shows nothing parts "must" into two words, one of them empty
    assert not states_minor_age("What must\u200d be zero, and is not.")
    assert without_minor_age("What must\u200d be zero, and is not.") == (
        "What must\u200d be zero, and is not."
    )
