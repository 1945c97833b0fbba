"""Web addresses, personal numbers and blocked words are found; ordinary words stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.text.clean import skeleton
from forgetmenot.text.mentions import has_link, without_addresses
from forgetmenot.text.outgoing import without_command, without_phrases
from forgetmenot.text.sensitive import has_account, has_card, has_phone

ADDRESSES = """evil.zip/abc evil.cc _https://evil.zip/x 1.2.3.4/x 1.2.3.4 evil。com evil.com:8080 http:/evil.zip t.co
evil․com evil.ｃom ｗｗｗ.x bob@evil.com 😀evil.com evil_.com (evil.cc) //x evil.js/x evil.com.js xn--e1a.xn--p1ai"""
WORDS = """... e.g. i.e. 3.5 3.5k 1.5hrs v1.2 1.2.3 v1.2.3-rc1 Node.js (Vue.js). a.k.a. U.S.A. S.T.A.L.K.E.R.
10:30. well...yes wait..what です。ok and/or 12.5% a.m. :/ .NET config.ini"""
PARTED = [
    ("drums.You too", "drums. You too"),
    ("evil.Com", "evil. Com"),
    ("Dr.Who", "Dr. Who"),
    ("1.First", "1. First"),
]


@pytest.mark.parametrize("address", ADDRESSES.split())
def test_an_address_is_taken_out(address: str) -> None:
    assert without_addresses(f"see {address} now") == "see now"


@pytest.mark.parametrize("word", WORDS.split())
def test_a_word_with_a_dot_stays(word: str) -> None:
    assert without_addresses(f"see {word} now") == f"see {word} now"


LINKS = (
    *("https://evil.zip", "see evil.com now", "www.evil", "EVIL.GG/x", "sub.evil.tv/abc?d", "evil dot com"),
    *("evil (dot) gg", "hxxps evil"),
)
TALK = ("plays drums", "e.g. tea", "3.14", "a dot on the map", "node.js", "dot matrix", "")


@pytest.mark.parametrize("text", LINKS + TALK)
def test_a_link_is_one_however_it_is_spelt(text: str) -> None:
    assert has_link(text) is (text in LINKS)


@pytest.mark.parametrize(("text", "parted"), PARTED)
def test_a_forgotten_space_is_put_in(text: str, parted: str) -> None:
    assert without_addresses(text) == parted


@given(st.text(alphabet="a1B.-_/:。 ｃé", max_size=60))
def test_twice_is_once_and_nothing_is_left(text: str) -> None:
    once = without_addresses(text)
    assert without_addresses(once) == once
    assert "//" not in once


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *((text, True) for text in ("4111 1111 1111 1111", "visa 4242424242424242", "5500-0000-0000-0004")),
        *((text, False) for text in ("4111 1111 1111 1112", "0000000000000000", "seed 4815162342108", "12:34")),
    ],
)
def test_cards(text: str, *, found: bool) -> None:
    assert has_card(text) is found


def test_accounts_have_their_countrys_form_and_check_sum() -> None:
    assert has_account("iban de89 3704 0044 0532 0130 00")
    assert has_account("gb29nwbk60161331926819 is mine")
    assert not has_account("de00 3704 0044 0532 0130 00")
    words = ["alice", "bob", "carol", "drums", "piano", "chess", "level", "boss", "again", "today"]
    assert not any(has_account(f"gg{n} {' '.join(words[n % 7 :])}") for n in range(10, 100))  # one in seven has the sum


TELEPHONES = (
    *("+44 7700 900123", "(212) 555-0147", "0171 5551234", "my cell is 5558675309", "06 12 34 56 78"),
    *("call 555-0147 for alice", "soita 040 123 4567", "звони 8 (916) 123-45-67", "電話番号は090-1234-5678です"),
    "tel 0470/12.34.56",
)
NO_TELEPHONES = (
    *("1:23:45.678", "2026-11-21 14:00", "1,234,567,890 points", "v1.20.4", "123456789 points"),
    *("order number 100234567", "phone has 128 gb and 5000 mah", "0110 1001 1100", "base at 1200 64 -3400"),
    "numbers 4 8 15 16 23 42",
)


@pytest.mark.parametrize("text", TELEPHONES + NO_TELEPHONES)
def test_telephones(text: str) -> None:
    assert has_phone(skeleton(text)) is (text in TELEPHONES)


def test_what_goes_out_is_without_them() -> None:
    assert without_command(" /ban bob") == "ban bob"
    assert without_phrases("a BAD word, badword", ["bad word"]) == "a …, …"


@given(st.text(max_size=60))
def test_twice_is_once(text: str) -> None:
    assert without_command(without_command(text)) == without_command(text)
    assert not without_command(text).startswith(("/", "!", "."))
