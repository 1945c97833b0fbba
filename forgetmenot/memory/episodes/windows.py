"""Where chat is cut into windows, each of which becomes one episode. Pure.

Promises: every window lies in one stream and keeps the order; none is larger than `largest`; one smaller than
`smallest` is cut only where nothing more can be waited for (its stream is over, chat fell silent, or it is asked for).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from forgetmenot.domain.chat import Line

Window = Sequence[Line]


@dataclass(frozen=True, slots=True)
class Cut:
    """How to cut. Times in ms. `everything`: also the remainders. `truncated`: more unread lines follow these."""

    smallest: int
    largest: int
    silence: int
    now: int
    closed: Collection[int] = field(default_factory=frozenset)
    everything: bool = False
    truncated: bool = False


def windows(lines: Sequence[Line], cut: Cut) -> list[Window]:
    """The windows that are due among unread lines (in order of time), the oldest first."""
    due = [window for stream in _by_stream(lines).values() for window in _of_stream(stream, cut)]
    return sorted(due, key=lambda window: (window[0].at, window[0].seq))


def aged(lines: Sequence[Line], largest: int, before: int) -> list[Window]:
    """Windows over the lines said before then, whatever their number."""
    old = [line for line in lines if line.at < before]
    return [part[i : i + largest] for part in _by_stream(old).values() for i in range(0, len(part), largest)]


def halves(window: Window) -> tuple[Window, Window]:
    """A window cut in two at its middle."""
    middle = len(window) // 2
    return window[:middle], window[middle:]


def _by_stream(lines: Sequence[Line]) -> Mapping[int | None, list[Line]]:
    streams: dict[int | None, list[Line]] = {}
    for line in lines:
        streams.setdefault(line.stream_id, []).append(line)
    return streams


def _of_stream(lines: Sequence[Line], cut: Cut) -> list[Window]:
    found: list[Window] = []
    start = 0
    while len(lines) - start >= cut.smallest and (end := _end(lines, start, cut)):
        found.append(lines[start:end])
        start = end
    rest = lines[start:]
    if rest and _is_over(rest, cut):
        found.append(rest)
    return found


def _end(lines: Sequence[Line], start: int, cut: Cut) -> int | None:
    """Where the window from `start` ends: at the longest lull that leaves it large enough, the last of equals.

    With much still to read only the larger half of the sizes is looked at, so that a slow model catches up. Where the
    lines are not all there are, what may still grow is left to grow.
    """
    left = len(lines) - start
    if left <= cut.largest and cut.truncated:
        return None
    smallest = max(cut.smallest, cut.largest // 2) if left > 3 * cut.largest else cut.smallest
    ends = range(start + smallest, start + min(cut.largest, left) + 1)
    lull: Callable[[int], int] = lambda end: (lines[end].at if end < len(lines) else cut.now) - lines[end - 1].at  # noqa: E731
    return max(ends, key=lambda end: (lull(end), end))


def _is_over(rest: Sequence[Line], cut: Cut) -> bool:
    if cut.truncated:
        return False
    return cut.everything or rest[0].stream_id in cut.closed or cut.now - rest[-1].at >= cut.silence
