"""The scripts of the demo can be read, and hold what a demo has to show."""

import pytest

from forgetmenot.demo.script import Cue, load, parse

BOTH = [*load("first_stream"), *load("second_stream")]
VERBS = {"say", "delete", "timeout", "sub", "gift", "raid", "cheer", "announce", "shared", "again"}


def test_the_two_streams_have_at_least_300_lines_and_12_viewers() -> None:
    assert len(BOTH) >= 300
    assert len({cue.name for cue in BOTH}) >= 12


def test_everything_a_channel_sees_happens_at_least_once() -> None:
    assert {cue.verb for cue in BOTH} == VERBS


@pytest.mark.parametrize("name", ["first_stream", "second_stream"])
def test_time_does_not_run_backwards(name: str) -> None:
    times = [cue.at for cue in load(name)]
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("line", "cue"),
    [
        ("01:05 bob: well: second", Cue(65_000, "say", "bob", "well: second")),
        ("00:01 bob* waves", Cue(1_000, "me", "bob", "waves")),
        ("00:02 bob > alice: yes", Cue(2_000, "say", "bob", "yes", other="alice")),
        ("00:03 !timeout bob 60", Cue(3_000, "timeout", "bob", number=60)),
        ("00:04 !cheer bob 100: for you", Cue(4_000, "cheer", "bob", "for you", 100)),
    ],
)
def test_each_kind_of_line_is_read(line: str, cue: Cue) -> None:
    assert list(parse(f"# a comment\n\n{line}\n")) == [cue]


@pytest.mark.parametrize("line", ["bob: no time", "00:01", "00:01 !!"])
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="line 2 of the script"):
        list(parse(f"00:01 bob: fine\n{line}"))
