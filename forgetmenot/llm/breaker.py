"""A circuit breaker: after some failures in a row nobody is asked for a while, then one call tries whether it is over.

It knows no clock: the time in seconds (any monotonic one) is handed in.
"""

FAILURES = 5
FIRST_REST_S = 15.0
LONGEST_REST_S = 300.0


class Breaker:
    """Closed (calls pass), open (none does), half-open (one does, and decides)."""

    def __init__(self, failures: int = FAILURES) -> None:
        self._allowed = failures
        self._in_a_row = 0
        self._rest_s = FIRST_REST_S
        self._open_until: float | None = None
        self._probing = False
        self._reason = ""

    def rest_s(self, now: float) -> float:
        """Seconds until a call may pass; 0.0 where one may pass now."""
        if self._open_until is None:
            return 0.0
        return max(self._open_until - now, 1.0 if self._probing else 0.0)

    def begin(self) -> None:
        """A call passes: if the breaker was open, it is the probe."""
        self._probing = self._open_until is not None

    def succeeded(self) -> None:
        """The server answered."""
        self._in_a_row, self._rest_s, self._open_until, self._probing, self._reason = 0, FIRST_REST_S, None, False, ""

    def failed(self, now: float, reason: str) -> None:
        """The server gave no answer. Opens after enough of these in a row, and for longer after a failed probe."""
        self._in_a_row += 1
        self._reason = reason
        if self._probing:
            self._rest_s = min(self._rest_s * 2, LONGEST_REST_S)
        if self._probing or self._in_a_row >= self._allowed:
            self._open_until = now + self._rest_s
        self._probing = False

    def abandoned(self) -> None:
        """The call was given up by its caller: it proves nothing."""
        self._probing = False

    def trouble(self, now: float) -> str | None:
        """A sentence for the health page, or None where all is well."""
        if not self._in_a_row:
            return None
        times = "once" if self._in_a_row == 1 else f"{self._in_a_row} times in a row"
        rest = self.rest_s(now)
        then = f" Next try in {rest:.0f} s." if rest else ""
        return f"failed {times}: {self._reason}{then}"
