"""Rows and weights by term."""

from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.memory.term_table import TermTable

WEIGHTS = st.dictionaries(st.integers(0, 9), st.sampled_from([0.25, 0.5, 1.0]), max_size=5)


@given(st.dictionaries(st.text(max_size=3), WEIGHTS, max_size=8))
def test_what_was_added_is_found_by_its_term(told: dict[str, dict[int, float]]) -> None:
    table = TermTable()
    for term, weights in told.items():
        assert term not in table
        table.add(term, weights, weights.values())
    for term, weights in told.items():
        assert term in table
        assert dict(table.weights(term)) == weights
        assert list(table.rows(term)) == list(weights)


def test_rows_need_no_weights() -> None:
    table = TermTable()
    table.add("drum", [3, 1])
    assert list(table.rows("drum")) == [3, 1]


def test_it_grows_with_what_it_holds() -> None:
    table = TermTable()
    assert table.size == 0
    table.add("drum", [3, 1])
    assert table.size > 0
