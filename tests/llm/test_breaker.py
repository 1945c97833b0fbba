"""When a server is left alone, and when it is tried again."""

from forgetmenot.llm.breaker import FIRST_REST_S, LONGEST_REST_S, Breaker


def _broken(times: int = 3) -> Breaker:
    breaker = Breaker(failures=3)
    for _ in range(times):
        breaker.begin()
        breaker.failed(0.0, "no answer.")
    return breaker


def test_it_opens_after_enough_failures_in_a_row_and_not_before() -> None:
    assert _broken(2).rest_s(0.0) == 0.0
    assert _broken(3).rest_s(0.0) == FIRST_REST_S


def test_a_success_in_between_starts_the_count_again() -> None:
    breaker = _broken(2)
    breaker.succeeded()
    breaker.begin()
    breaker.failed(0.0, "no answer.")
    assert breaker.rest_s(0.0) == 0.0


def test_after_the_rest_one_call_probes_and_the_others_wait() -> None:
    breaker = _broken()
    assert breaker.rest_s(FIRST_REST_S) == 0.0
    breaker.begin()
    assert breaker.rest_s(FIRST_REST_S) > 0.0
    breaker.succeeded()
    assert breaker.rest_s(FIRST_REST_S) == 0.0
    assert breaker.trouble(FIRST_REST_S) is None


def test_a_failed_probe_makes_the_rest_longer_up_to_a_limit() -> None:
    breaker, now = _broken(), 0.0
    rests = []
    for _ in range(8):
        now += breaker.rest_s(now)
        breaker.begin()
        breaker.failed(now, "no answer.")
        rests.append(breaker.rest_s(now))
    assert rests[0] == 2 * FIRST_REST_S
    assert rests == sorted(rests)
    assert rests[-1] == LONGEST_REST_S


def test_an_abandoned_probe_lets_the_next_call_probe() -> None:
    breaker = _broken()
    breaker.begin()
    breaker.abandoned()
    assert breaker.rest_s(FIRST_REST_S) == 0.0


def test_the_trouble_is_a_sentence_with_the_reason_and_the_next_try() -> None:
    assert _broken().trouble(5.0) == "failed 3 times in a row: no answer. Next try in 10 s."
    assert _broken(1).trouble(0.0) == "failed once: no answer."
