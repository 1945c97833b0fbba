"""A command is known by its form alone, in the forms of the table; talk and other bots' commands are left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.chat import CommandParser
from forgetmenot.operations.table import OPERATIONS
from forgetmenot.text.chat_commands import is_command

PARSER = CommandParser(OPERATIONS)
Command = tuple[str, dict[str, str]]

TYPED: list[tuple[str, Command]] = [
    ("!memory", ("memory", {})), ("！memory @Bob", ("memory", {"viewer": "Bob"})), ("!memory?", ("memory", {})),
    ("!forget me", ("erase", {})), ("!forgetme CONFIRM", ("erase", {"confirm": "CONFIRM"})),
    ("!forgetme confirm.", ("erase", {"confirm": "confirm"})),
    ("!forgetme @bob confirm", ("erase", {"viewer": "bob", "confirm": "confirm"})),
    ("!forgetme ja!", ("erase", {"confirm": "ja"})), ("!forget everything about me", ("erase", {})),
    ("!forget everything please!", ("erase", {})),
    ("!forget everything about trains", ("forget", {"what": "everything about trains"})),
    ("!optout!!", ("opt_out", {})), ("!optin bob", ("opt_in", {"viewer": "bob"})),
    ("!privacy? what do you keep of me", ("privacy", {"question": "what do you keep of me"})),
    ("!remember that I play drums", ("remember", {"fact": "I play drums"})),
    ("!remember", ("help", {"command": "!remember"})), ("!wrong #12", ("forget", {"what": "#12"})),
    ("!wrong", ("forget", {})), ("!edit 12 plays the cello", ("edit", {"id": "12", "text": "plays the cello"})),
    ("!nevermention my exams", ("never_mention", {"what": "my exams"})), ("!approve 3", ("approve", {"id": "3"})),
    ("!APPROVE #3 ", ("approve", {"id": "3"})), ("!bot pause", ("pause", {})),
    ("!bot quiet 10m", ("quiet", {"minutes": "10"})), ("!bot", ("help", {"command": "!bot"})),
    ("!bot pause please now", ("help", {"command": "!bot"})),
]  # fmt: skip
TYPED_NOT = (
    *("!memory of the day please", "!memoryleak", "!privacypolicy", "!remembering", "!nevermentioned"),
    *("!approve all", "!approve ３", "!approve 3 !approve 4", "say !approve 3", "!so alice", "hello", ""),
)
IN_WORDS: list[tuple[str, Command]] = [
    ("remember that I play drums", ("remember", {"fact": "I play drums"})),
    ("please remember I'm left-handed, thanks!", ("remember", {"fact": "I'm left-handed"})),
    ("forget that I play drums", ("forget", {"what": "I play drums"})),
    ("forget everything you know about me", ("erase", {})), ("delete everything about me", ("erase", {})),
    ("what do you know about me?", ("memory", {"viewer": "me"})),
    ("what do you remember about @alice", ("memory", {"viewer": "alice"})), ("forget that", ("forget", {})),
    ("delete that", ("forget", {"what": "permanently"})), ("erase it!", ("forget", {"what": "permanently"})),
    ("that's wrong", ("forget", {})), ("nope, not true anymore", ("forget", {})),
    ("change it to Bergen", ("edit", {"text": "that Bergen"})),
    ("correction: lives in Bergen", ("edit", {"text": "lives in Bergen"})),
    ("ändere das zu Bergen", ("edit", {"text": "that Bergen"})),
    ("correct note 12: plays the viola", ("edit", {"id": "12", "text": "plays the viola"})),
    ("what did I miss?", ("missed", {})), (", please remember I play drums", ("remember", {"fact": "I play drums"})),
    ("opt me out please", ("opt_out", {})), ("why did you say that?", ("why", {})),
    ("was weißt du über @alice?", ("memory", {"viewer": "alice"})), ("was hab ich verpasst?", ("missed", {})),
    ("vergiss alles über mich", ("erase", {})),
    ("vergiss, dass ich Harfe spiele", ("forget", {"what": "ich Harfe spiele"})),
    ("merk dir bitte: ich spiele Harfe", ("remember", {"fact": "ich spiele Harfe"})),
    ("kannst du dir merken dass ich nachts arbeite", ("remember", {"fact": "ich nachts arbeite"})),
    ("merke dir, dass ich Harfe spiele", ("remember", {"fact": "ich Harfe spiele"})),
    ("was speicherst du?", ("privacy", {})), ("warum hast du das gesagt?", ("why", {})),
]  # fmt: skip
IN_WORDS_NOT = (
    *("remember that boss?", "remember that time we lost", "remember when I won"),
    *("do you remember that I play drums", "forget it", "what's wrong with you", "you're not wrong", "no"),
    *("what did I miss on that boss?", "what do you know", "help me with this boss", "vergiss es"),
)


@pytest.mark.parametrize(("line", "command"), [*TYPED, *((line, None) for line in TYPED_NOT)])
def test_a_command_is_a_whole_line(line: str, command: Command | None) -> None:
    found = PARSER.parse(line)
    assert (found and (found.name, dict(found.params))) == command


@pytest.mark.parametrize(("said", "command"), [*IN_WORDS, *((line, None) for line in IN_WORDS_NOT)])
def test_the_same_said_to_the_bot(said: str, command: Command | None) -> None:
    found = PARSER.parse(f"@bot {said}", said)
    assert (found and (found.name, dict(found.params), found.in_words)) == (command and (*command, True))
    assert PARSER.parse(f"@bot {said}") is None


@given(st.text(max_size=200), st.one_of(st.just(""), st.text(max_size=200)))
def test_anything_may_be_typed(text: str, question: str) -> None:
    found = PARSER.parse(text, question)
    assert found is None or found.name in OPERATIONS


@pytest.mark.parametrize(
    ("text", "command"),
    [
        *((text, True) for text in ("!so alice", "  !bot pause", "！forgetme", "!Why", "@bot !edit 1 tea")),
        *((text, False) for text in ("", "!", "!!!", "! wow", "wow !so", "!1", "so alice", "@bob wow!", "@bob !")),
    ],
)
def test_what_looks_like_a_command_to_some_bot(text: str, command: bool) -> None:
    assert is_command(text) is command
