"""Which lines of chat tell nothing."""

import pytest

from forgetmenot.text.small_talk import has_content


@pytest.mark.parametrize(
    "line",
    [
        "hi",
        "Hello everyone!",
        "gm chat",
        "good night all <3",
        "bye P3 see you",
        "KEKW KEKW",
        "LUL",
        "lmaooo",
        "GGs",
        "carolHype carolHype",
        "hello carolWave",
        "I'm back",
        "Guten Morgen zusammen",
        "tschüss, bis dann",
        "bonsoir tout le monde",
        "buenas noches a todos",
        "boa noite galera",
        "こんばんは！",
        "おつかれさまです",
        "草",
        "안녕하세요",
        "😂😂",
        "!!!",
        "@somebody hi",
        "BOT hello",
    ],
)
def test_a_line_of_greetings_laughter_and_emotes_tells_nothing(line: str) -> None:
    assert not has_content(line)


@pytest.mark.parametrize(
    "line",
    [
        "hi, I moved to Oslo",
        "my son is sick",
        "got an iPhone",
        "we beat the boss gg",
        "I play drums",
        "猫を飼った",
        "ich wohne in Wien",
        "habe einen Hund",
        "j'ai un chien",
        "mi perro se llama Rex",
        "good morning from Lisbon",
        "P2 is my brother",
        "raid OX raid",
        "what game is this?",
        "저는 고양이를 키워요",
        "hype train to Berlin",
    ],
)
def test_a_line_with_any_other_word_tells_something(line: str) -> None:
    assert has_content(line)
