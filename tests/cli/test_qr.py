"""The QR code: check words against the standard's well-known example, and the whole against recorded fingerprints."""

from hashlib import sha256

import pytest

from forgetmenot.cli.qr import draw, encode, remainder

ADDRESS = "https://www.twitch.tv/activate?public=true&device-code=ABCDEFGH"


def test_the_check_words_are_the_standards() -> None:
    words = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
    assert remainder(words, 10) == [196, 35, 39, 119, 235, 215, 231, 226, 93, 23]


@pytest.mark.parametrize(("length", "size"), [(1, 21), (17, 21), (18, 25), (53, 29), (62, 33), (106, 37)])
def test_the_smallest_version_that_holds_the_text_is_used(length: int, size: int) -> None:
    modules = encode("x" * length)
    assert modules is not None
    assert {len(modules), *(len(row) for row in modules)} == {size}


def test_a_text_that_is_too_long_gets_none() -> None:
    assert encode("x" * 107) is None
    assert draw("x" * 107) is None


def test_it_is_drawn_with_a_quiet_zone() -> None:
    drawn = draw(ADDRESS)
    assert drawn is not None
    lines = drawn.split("\n")
    assert {len(line) for line in lines} == {41}
    assert set(lines[0]) == {"█"}
    assert all(line.startswith("████") and line.endswith("████") for line in lines[:-1])


def fingerprint(text: str) -> str:
    modules = encode(text) or []
    return sha256("\n".join("".join("#" if dark else "." for dark in row) for row in modules).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("text", "known"), [("x", "a45ded3cc2244a3a"), (ADDRESS, "fe2f2d6f7630c6a3")])
def test_the_whole_agrees_with_what_was_checked_against_another_encoder(text: str, known: str) -> None:
    assert fingerprint(text) == known
