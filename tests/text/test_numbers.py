"""Numbers that belong to a person."""

import pytest

from forgetmenot.text.numbers import has_account, has_card, has_phone


@pytest.mark.parametrize("text", ["4111 1111 1111 1111", "visa 4242424242424242", "5500-0000-0000-0004"])
def test_cards(text: str) -> None:
    assert has_card(text)


@pytest.mark.parametrize("text", ["4111 1111 1111 1112", "0000000000000000", "seed 4815162342108", "12:34"])
def test_no_cards(text: str) -> None:
    assert not has_card(text)


def test_accounts_are_told_by_their_check_sum() -> None:
    assert has_account("iban de89 3704 0044 0532 0130 00")
    assert has_account("gb29nwbk60161331926819 is mine")
    assert not has_account("de00 3704 0044 0532 0130 00")


@pytest.mark.parametrize("text", ["+44 7700 900123", "(212) 555-0147", "0171 5551234", "my cell is 5558675309"])
def test_telephones(text: str) -> None:
    assert has_phone(text)


@pytest.mark.parametrize(
    "text", ["1:23:45.678", "2026-11-21 14:00", "1,234,567,890 points", "v1.20.4", "123456789 points"]
)
def test_no_telephones(text: str) -> None:
    assert not has_phone(text)
