"""A few answers at once, then one every ten seconds, for each viewer by themselves."""

from forgetmenot.chat.patience import AT_ONCE, ONE_PER_MS, VIEWERS, Patience


def test_a_few_at_once_then_one_at_a_time() -> None:
    patience = Patience()
    assert [patience.allows("1", 0) for _ in range(AT_ONCE + 2)] == [True] * AT_ONCE + [False, False]
    assert patience.allows("2", 0)
    assert not patience.allows("1", ONE_PER_MS - 1)
    assert patience.allows("1", ONE_PER_MS)
    assert not patience.allows("1", ONE_PER_MS)
    assert [patience.allows("1", 9 * ONE_PER_MS) for _ in range(AT_ONCE + 1)] == [True] * AT_ONCE + [False]


def test_a_clock_that_steps_back_refills_nothing() -> None:
    patience = Patience()
    assert all(patience.allows("1", 9 * ONE_PER_MS) for _ in range(AT_ONCE))
    assert not patience.allows("1", 0)
    assert not patience.allows("1", 9 * ONE_PER_MS)


def test_only_so_many_viewers_are_kept() -> None:
    patience = Patience()
    for number in range(3 * VIEWERS):
        patience.allows(str(number), 0)
    assert len(patience._buckets) == VIEWERS  # the bound is the promise
