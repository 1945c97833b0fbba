"""The stretches in which chat was not heard, in a sentence. Pure."""

from collections.abc import Mapping

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000


def gaps_told(state: Mapping[str, str], now: int) -> str:
    """How many there were since the start, and the last one, without a full stop; an empty text if there was none.

    `state`: what is kept of the channel (`gaps`, `gap_from`, `gap_to`; times in ms).
    """
    count = int(state.get("gaps") or 0)
    if not count:
        return ""
    began, ended = int(state.get("gap_from") or 0), int(state.get("gap_to") or 0)
    gaps = "1 gap" if count == 1 else f"{count} gaps"
    last = "of" if count == 1 else "the last of"
    return f"{gaps} in what was heard since the start, {last} {_span(ended - began)}, {_span(now - ended)} ago"


def _span(ms: int) -> str:
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if ms >= 2 * unit:
            return f"{ms // unit} {name}"
    return f"{max(1, ms // 1_000)} s"
