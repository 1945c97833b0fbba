"""Weights by term and row."""

from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.memory.term_table import TermTable

ROWS = st.lists(st.dictionaries(st.text(max_size=3), st.sampled_from([0.25, 0.5, 1.0])), max_size=8)


@given(ROWS)
def test_what_was_added_is_found_by_its_term(rows: list[dict[str, float]]) -> None:
    table = TermTable()
    for row, weights in enumerate(rows):
        table.add(row, weights)
    terms = {term for weights in rows for term in weights}
    for term in terms:
        assert sorted(table.of(term)) == [(i, weights[term]) for i, weights in enumerate(rows) if term in weights]
        assert sorted(table.rows(term)) == [row for row, _ in sorted(table.of(term))]
        assert term in table


def test_an_unknown_term_has_no_rows() -> None:
    assert list(TermTable().of("drum")) == []
    assert TermTable().rows("drum") == []
    assert "drum" not in TermTable()
    assert TermTable().size == 0
