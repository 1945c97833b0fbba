"""Words of the blocklist and commands leave no text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.outgoing import without_command, without_phrases


def test_what_goes_out_is_without_them() -> None:
    assert without_command(" /ban bob") == "ban bob"
    assert without_phrases("a BAD word, badword", ["bad word"]) == "a …, …"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_twice_is_once(text: str) -> None:
    assert without_command(without_command(text)) == without_command(text)
    assert not without_command(text).startswith(("/", "!", "."))
