"""A command is known by its form alone, in the forms of the table; talk and other bots' commands are left alone."""

import time

import pytest

from forgetmenot.chat.parser import CommandParser
from forgetmenot.operations.commands import OPERATIONS
from forgetmenot.text.chat_commands import is_command

PARSER = CommandParser(OPERATIONS)
Command = tuple[str, dict[str, str]]

TYPED: list[tuple[str, Command]] = [
    ("！memory @Bob", ("memory", {"viewer": "@Bob"})),
    ("!memory?", ("memory", {})),
    ("!forget me", ("erase", {})),
    ("!forgetme CONFIRM", ("erase", {"confirm": "CONFIRM"})),
    ("!forgetme ja!", ("erase", {"confirm": "ja"})),
    ("!forgetme @bob confirm", ("erase", {"viewer": "@bob", "confirm": "confirm"})),
    ("!forget everything please!", ("erase", {})),
    ("!forget todo sobre mí", ("erase", {})),
    ("!optin bob", ("opt_in", {"viewer": "bob"})),
    (
        "!forget everything about trains",
        ("forget", {"what": "everything about trains"}),
    ),
    (
        "!privacy? what do you keep of me",
        ("privacy", {"question": "what do you keep of me"}),
    ),
    ("!remember", ("help", {"command": "!remember"})),
    ("!wrong #12", ("forget", {"what": "#12"})),
    ("!wrong", ("forget", {})),
    ("!edit 12 plays the cello", ("edit", {"id": "12", "text": "plays the cello"})),
    ("!APPROVE #3 ", ("approve", {"id": "3"})),
    ("!bot quiet 10m", ("quiet", {"minutes": "10"})),
    ("!bot pause please now", ("help", {"command": "!bot"})),
]
TYPED_NOT = (
    *(
        "!memory of the day please",
        "!memoryleak",
        "!approve all",
        "!approve ３",
        "!approve 3 !approve 4",
    ),
    *("say !approve 3", "!so alice", "hello", ""),
)
IN_WORDS: list[tuple[str, Command]] = [
    (
        "please remember I'm left-handed, thanks!",
        ("remember", {"fact": "I'm left-handed"}),
    ),
    (", please remember I play drums", ("remember", {"fact": "I play drums"})),
    ("forget that I play drums", ("forget", {"what": "I play drums"})),
    ("forget that", ("forget", {})),
    ("no, Lumi is no queen, that was a joke. forget that", ("forget", {})),
    ("nein, das war ein Witz, vergiss das bitte", ("forget", {})),
    ("forget everything you know about me", ("erase", {})),
    ("delete that", ("forget", {"what": "permanently"})),
    ("what do you know about me?", ("memory", {"viewer": "me"})),
    ("nope, not true anymore", ("forget", {})),
    ("change it to Bergen", ("edit", {"text": "that Bergen"})),
    ("what did I miss?", ("missed", {})),
    (
        "correct note 12: plays the viola",
        ("edit", {"id": "12", "text": "plays the viola"}),
    ),
    ("opt me out please", ("opt_out", {})),
    ("why did you say that?", ("why", {})),
    ("ändere das zu Bergen", ("edit", {"text": "that Bergen"})),
    ("was hab ich verpasst?", ("missed", {})),
    ("was weißt du über @alice?", ("memory", {"viewer": "alice"})),
    ("vergiss alles über mich", ("erase", {})),
    ("vergiss, dass ich Harfe spiele", ("forget", {"what": "ich Harfe spiele"})),
    (
        "kannst du dir merken dass ich nachts arbeite",
        ("remember", {"fact": "ich arbeite nachts"}),
    ),
    ("merk dir, dass ich in Wien wohne", ("remember", {"fact": "ich wohne in Wien"})),
    (
        "vergiss nicht, dass ich Harfe spiele",
        ("remember", {"fact": "ich spiele Harfe"}),
    ),
    (
        "denk bitte dran, dass meine Katze Mia heißt",
        ("remember", {"fact": "meine Katze heißt Mia"}),
    ),
    ("merk dir bitte, ich mag Tee", ("remember", {"fact": "ich mag Tee"})),
    (
        "my cat is called Mia, remember that",
        ("remember", {"fact": "my cat is called Mia"}),
    ),
    ("ich mag keinen Tee, merk dir das", ("remember", {"fact": "ich mag keinen Tee"})),
    *(
        (line, ("erase", {}))
        for line in (
            "forget everything about me",
            "please delete my data",
            "can you forget me?",
            "vergiss mich",
            "lösch meine daten",
            "kannst du bitte alles löschen, was du über mich weißt?",
            "¡Olvídame!",
            "olvídate de mí, por favor",
            "borra mis datos",
            "oublie-moi",
            "peux-tu m'oublier ?",
            "supprime mes données stp",
            "apaga os meus dados",
            "esquece tudo sobre mim",
            "dimenticami",
            "cancella i miei dati",
            "私のことを忘れてください",
            "私のデータを削除して",
            "est-ce que tu peux m'oublier ?",
            "você pode deletar meus dados?",
            "I want you to forget me",
            "quiero que me olvides",
            "streich mich aus deinem Gedächtnis",
        )
    ),
    ("recuerda que toco la guitarra", ("remember", {"fact": "toco la guitarra"})),
    ("Souviens-toi que j'habite à Lyon !", ("remember", {"fact": "j'habite à Lyon"})),
    (
        "por favor lembra que eu moro em Lisboa",
        ("remember", {"fact": "eu moro em Lisboa"}),
    ),
    ("no olvides que soy zurdo", ("remember", {"fact": "soy zurdo"})),
    ("não esquece que eu sou canhoto", ("remember", {"fact": "eu sou canhoto"})),
    ("N'oublie pas que je suis gaucher", ("remember", {"fact": "je suis gaucher"})),
    ("ピアノが弾けること忘れないでね", ("remember", {"fact": "ピアノが弾ける"})),
    ("将棋が好きって覚えておいてください", ("remember", {"fact": "将棋が好き"})),
    ("olvida lo de mi perra, por favor", ("forget", {"what": "mi perra"})),
    ("oublie mon lapin", ("forget", {"what": "lapin"})),
    ("esquece que eu toco piano", ("forget", {"what": "eu toco piano"})),
    ("猫のことを忘れて", ("forget", {"what": "猫"})),
    ("was speicherst du?", ("privacy", {})),
    ("warum hast du das gesagt?", ("why", {})),
]
IN_WORDS_NOT = (
    *(
        "remember that boss?",
        "remember when I won",
        "vergiss nicht den Boss",
        "merk dir das",
        "i will always, always remember that",
        "my god, remember that",
        "no way, we lost that again and I can't forget that",
        "my friend said: remember that",
        "i play drums. do you remember thus",
        "no olvides",
        "do you remember that I play drums",
        "forget it",
        "no",
    ),
    *(
        "don't forget me",
        "you forget me",
        "forget me not",
        "vergiss mein nicht",
        "vergiss mich nicht",
        "no me olvides",
        "ne m'oublie pas",
        "não me esqueça",
        "私を忘れないで",
        "delete my last message",
        "du vergisst mich",
    ),
    *(
        "what's wrong with you",
        "what did I miss on that boss?",
        "what do you know",
        "vergiss es",
    ),
)


@pytest.mark.parametrize(
    ("line", "command"), [*TYPED, *((line, None) for line in TYPED_NOT)]
)
def test_a_command_is_a_whole_line(line: str, command: Command | None) -> None:
    parsed = PARSER.parse(line)
    assert (parsed and (parsed.name, dict(parsed.params))) == command


@pytest.mark.parametrize(
    ("words", "command"), [*IN_WORDS, *((line, None) for line in IN_WORDS_NOT)]
)
def test_the_same_said_to_the_bot(words: str, command: Command | None) -> None:
    parsed = PARSER.parse(f"@bot {words}", words)
    assert (parsed and (parsed.name, dict(parsed.params), parsed.in_words)) == (
        command and (*command, True)
    )
    assert PARSER.parse(f"@bot {words}") is None


@pytest.mark.parametrize(
    ("text", "command"),
    [
        *(
            (text, True)
            for text in (
                "!so alice",
                "  !bot pause",
                "！forgetme",
                "!Why",
                "@bot !edit 1 tea",
            )
        ),
        *(
            (text, False)
            for text in (
                "",
                "!",
                "!!!",
                "! wow",
                "wow !so",
                "!1",
                "so alice",
                "@bob wow!",
                "@bob !",
            )
        ),
    ],
)
def test_what_looks_like_a_command_to_some_bot(text: str, command: bool) -> None:
    assert is_command(text) is command


@pytest.mark.parametrize("marks", [",", "–", " , ", " ", "so ", "!"])
def test_a_line_of_marks_takes_no_long_time(marks: str) -> None:
    line = f"i am {marks * 5_000} remember thus"
    start = time.process_time()
    PARSER.parse(f"@bot {line}", line)
    assert time.process_time() - start < 0.3
