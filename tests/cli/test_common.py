"""What the commands print is safe for a terminal, whatever chat was made of."""

import argparse

import pytest

from forgetmenot import cli
from forgetmenot.cli.common import emit, printable, say, show_line

SAID = "alice: my secret is at https://id.example/?token=abcdef"


def test_a_bug_is_told_without_what_it_choked_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def choke() -> argparse.ArgumentParser:
        try:
            raise ValueError(SAID)  # noqa: TRY301
        except ValueError as error:
            raise ExceptionGroup(SAID, [RuntimeError(SAID)]) from error

    monkeypatch.setattr(cli, "build_parser", choke)
    assert cli.main(["sim"]) == 1
    told = capsys.readouterr().err
    assert "in choke" in told
    assert "RuntimeError" in told
    assert not any(part in told for part in ("alice", "secret", "abcdef"))


@pytest.mark.parametrize(
    "evil", ["\x1b]0;PWNED\x07", "\x9b31m", "\x08\x7f", "\r", "\u202eabc", "\u2066x", "\u2028", "\ud800"]
)
def test_nothing_a_terminal_obeys_is_printed(evil: str, capsys: pytest.CaptureFixture[str]) -> None:
    for write in (say, show_line):
        write(f"before {evil} after\nnext\tcolumn 😀👩‍🚀 שלום é")
    out, err = capsys.readouterr()
    assert out == err
    assert out.endswith(" after\nnext\tcolumn 😀👩‍🚀 שלום é\n")
    assert not set(evil) & set("\x1b\x07\x9b\x08\x7f\r\u202e\u2066\u2028\ud800") & set(out)
    assert printable(out) == out


def test_json_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    emit({"fact": "a\x1b[2Jb"})
    assert capsys.readouterr().out == '{"fact":"a\\u001b[2Jb"}\n'
