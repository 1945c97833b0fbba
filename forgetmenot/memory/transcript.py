"""Cuts chat into windows, and writes each window as the lines that a model summarises. Pure.

The instructions of that model: memory/summary_instructions.

The lines have handles for names, and repeats are collapsed:

    P3: text                    P3 (to the bot): text       (unless the text names BOT)
    P1 (spoken): text           KEKW ×37, 30 people
    * P4 subscribed
    BOT: text

llm/offline reads the same format. Commands ("!so") are left out, except the fact in a !remember, which was said like
any other. Times are left out: they were a quarter of the tokens, and a small model wrote better summaries without them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from forgetmenot.domain import (
    EventKind,
    Line,
    Participation,
    Role,
)
from forgetmenot.durations import MINUTE
from forgetmenot.memory.moderation import acts_in_numbers
from forgetmenot.people.handles import BOT, Handles
from forgetmenot.text.chat_commands import is_command, spoken_text
from forgetmenot.text.clean import clean, cut, without_repeated_words, words_key
from forgetmenot.text.small_talk import has_content

# ── windows of chat ───────────────────────────────────────────────────────────────────────────

# Lines of one stream that get one summary, in order of time.
Window = Sequence[Line]


class Cut(Struct, frozen=True):
    """How unread lines are cut into windows. Times in ms, sizes in lines.

    `silence`: after this time without a line, fewer lines than `smallest` are a window, too. `closed`: the streams that
    are over. `everything`: all lines are due now. `truncated`: more unread lines follow these. `wait`: fewer lines than
    `largest` wait until the first of them is this old, so that a quiet chat costs fewer calls.
    """

    smallest: int
    largest: int
    silence: int
    now: int
    closed: Collection[int] = field(default_factory=frozenset)
    everything: bool = False
    truncated: bool = False
    wait: int = 0


def windows(lines: Sequence[Line], cut: Cut) -> list[Window]:
    """Return the windows that are due among unread lines (in order of time), the oldest first.

    Lines whose summary failed stay together in the same window for the next try.
    """
    new_lines = []
    windows_to_retry: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        if line.retry_from is None:
            new_lines.append(line)
        else:
            windows_to_retry[line.retry_from].append(line)
    due: list[Window] = list(windows_to_retry.values())
    for stream_lines in _by_stream(new_lines).values():
        due += _windows_of_stream(stream_lines, cut)
    return sorted(due, key=lambda window: (window[0].at, window[0].seq))


def aged(
    lines: Sequence[Line],
    largest: int,
    before: int,
) -> list[Window]:
    """Return windows of all lines said before a time (ms), of at most `largest` lines each.

    They do not wait for more lines, because they will be deleted soon.
    """
    old_lines = [line for line in lines if line.at < before]
    aged_windows: list[Window] = []
    for stream_lines in _by_stream(old_lines).values():
        for start in range(0, len(stream_lines), largest):
            end = start + largest
            aged_windows.append(stream_lines[start:end])
    return aged_windows


def halves(window: Window) -> list[Window]:
    """Return the two halves of a window; a window of one line stays whole."""
    middle = len(window) // 2
    if middle == 0:
        return [window]
    return [window[:middle], window[middle:]]


def waiting_time(tries: int) -> int:
    """Return the pause (ms) before the next try: two minutes after the first, then doubled each time, at most 17 hours.

    It is less than the day for which a line may be kept, so each line is tried again in time.
    """
    return MINUTE << min(tries, 10)


def _by_stream(lines: Sequence[Line]) -> Mapping[int | None, list[Line]]:
    """Return lines by the id of their stream; the key None has those said outside of streams."""
    lines_of: dict[int | None, list[Line]] = defaultdict(list)
    for line in lines:
        lines_of[line.stream_id].append(line)
    return lines_of


def _windows_of_stream(lines: Sequence[Line], cut: Cut) -> list[Window]:
    """Return the windows that are due among the lines of one stream."""
    # if more unread lines follow, these are not the last ones
    is_over = not cut.truncated and _is_over(lines, cut)
    due: list[Window] = []
    remaining = lines
    while _is_enough(remaining, cut):
        end = _window_length(remaining, cut, is_over=is_over)
        if end is None:
            break
        due.append(remaining[:end])
        remaining = remaining[end:]
    if remaining and is_over:
        due.append(remaining)
    return due


def _is_enough(lines: Sequence[Line], cut: Cut) -> bool:
    """Return whether lines fill a window, or are enough for a small one and have waited long enough."""
    if len(lines) >= cut.largest:
        return True
    if len(lines) < cut.smallest:
        return False
    waited = cut.now - lines[0].at
    return waited >= cut.wait


def _is_over(lines: Sequence[Line], cut: Cut) -> bool:
    """Return whether no more lines will follow these: their stream is closed, or chat is silent."""
    if cut.everything or lines[0].stream_id in cut.closed:
        return True
    silence = cut.now - lines[-1].at
    return silence >= cut.silence


def smallest_full_window(largest: int) -> int:
    """Return to how many lines a window is cut at least, if there are enough for the largest one."""
    return largest * 3 // 4


def _window_length(
    lines: Sequence[Line],
    cut: Cut,
    *,
    is_over: bool,
) -> int | None:
    """Return the number of lines in the first window; None if it may still grow.

    The window ends at the longest pause in chat that leaves it large enough; of equal pauses at the last one. Each
    window costs two calls. So a full window is cut in its last quarter, and a few lines at the very end are no window
    of their own.
    """
    total = len(lines)
    if total <= cut.largest and cut.truncated:
        return None
    if total <= cut.largest and is_over:
        return total
    smallest = cut.smallest
    if total >= cut.largest:
        smallest = max(cut.smallest, smallest_full_window(cut.largest))
    largest = min(cut.largest, total)
    if is_over:
        # the remaining lines should be enough for another window, if possible
        largest = min(largest, total - cut.smallest)
        largest = max(smallest, largest)

    def pause_after(end: int) -> int:
        """Return how long chat was silent after the first `end` lines (ms)."""
        last_line = lines[end - 1]
        if end == total:
            return cut.now - last_line.at
        return lines[end].at - last_line.at

    possible_ends = range(smallest, largest + 1)
    return max(possible_ends, key=lambda end: (pause_after(end), end))


# ── who is in a window ────────────────────────────────────────────────────────────────────────


# Events that count for no viewer: the one they name stands for the channel, or only had something done to them.
NOT_OF_A_PERSON = frozenset({EventKind.STREAM, EventKind.MODERATION})
_RANKS = {Role.BROADCASTER: 0, Role.MODERATOR: 1, Role.VIP: 2}
_LOWEST_RANK = 3


def participations(
    window: Window, mentioned: Sequence[str] = ()
) -> dict[str, Participation]:
    """Return who is in a window and how much they wrote: by rank, then by number of lines.

    People who were only spoken about (`mentioned`) come last.
    """
    line_counts: Counter[str] = Counter()
    addressed_counts: Counter[str] = Counter()
    ranks: dict[str, int] = {}
    for line in window:
        if line.from_bot or line.kind in NOT_OF_A_PERSON:
            continue
        line_counts[line.viewer_id] += 1
        addressed_counts[line.viewer_id] += line.addressed
        ranks[line.viewer_id] = _RANKS.get(line.role, _LOWEST_RANK)

    def order(viewer_id: str) -> tuple[int, int]:
        """Return the sort key: by rank, then who wrote most."""
        return ranks[viewer_id], -line_counts[viewer_id]

    speakers = sorted(line_counts, key=order)
    people: dict[str, Participation] = {}
    for viewer_id in (*speakers, *mentioned):
        # both counts are 0 for somebody who was only spoken about
        people[viewer_id] = Participation(
            lines=line_counts[viewer_id],
            addressed=addressed_counts[viewer_id],
        )
    return people


def introduce(
    people: Sequence[str],
    window: Window,
    handles: Handles,
) -> str:
    """Return who in a window is more than a viewer, in words: "P2 (moderator), P4 (vip)". Empty if nobody is.

    The streamer is left out: what the model reads about the stream names them. `people`: the ids of everybody, in the
    order of their handles.
    """
    roles = {}
    for line in window:
        if line.role not in {Role.VIEWER, Role.BROADCASTER}:
            roles[line.viewer_id] = line.role.value
    introductions = []
    for viewer_id in people:
        if viewer_id in roles:
            handle = handles.handle(viewer_id)
            introductions.append(f"{handle} ({roles[viewer_id]})")
    # on one line, because a small model copies a list of lines
    return ", ".join(introductions)


# ── how a window is shown ─────────────────────────────────────────────────────────────────────

# This many lines with the same words are collapsed.
REPEATS_COLLAPSED = 3
# The same words of at most this many people stay one line for each of them: "Germany", to "where are you from?", is a
# fact about everybody who says it.
FEW_PEOPLE = 5
SPOKEN_MARK = " (spoken): "
LINE_CHARACTERS = 500
REPEAT_CHARACTERS = 200
# Words that look like the beginning of a line of the format. They are quoted, so that "P1: hi", typed by many, does not
# pass for a line of P1.
_LIKE_A_LINE = re.compile(rf"\*|(?:P\d+|{BOT})\b")


def shown_lines(window: Window) -> list[Sequence[Line]]:
    """Return the lines of a window in groups. Each group is shown as one line.

    Most lines are a group of their own. At least REPEATS_COLLAPSED lines with the same words become one group. If at
    most FEW_PEOPLE people typed them, the first line of each person is a group instead.
    """
    lines_by_words: dict[str, list[Line]] = defaultdict(list)
    for line in window:
        if not is_command(line.text):
            lines_by_words[_words_key(line)].append(line)
    groups: list[Sequence[Line]] = []
    # (key of the words, id of who typed them); "" for the id if everybody shares one group
    shown_before: set[tuple[str, str]] = set()
    for line in window:
        words_key = _words_key(line)
        repeats = lines_by_words[words_key]
        if not words_key or len(repeats) < REPEATS_COLLAPSED:
            groups.append([line])
            continue
        people = {repeat.viewer_id for repeat in repeats}
        if len(people) <= FEW_PEOPLE:
            key = (words_key, line.viewer_id)
            group = [line]
        else:
            key = (words_key, "")
            group = repeats
        if key not in shown_before:
            shown_before.add(key)
            groups.append(group)
    return groups


def shown_speakers(window: Window) -> set[str]:
    """Return the ids of the people with a line of their own in the window as it is shown."""
    speakers = set()
    for group in shown_lines(window):
        first_line = group[0]
        if len(group) == 1 and not first_line.from_bot:
            speakers.add(first_line.viewer_id)
    return speakers


# Twitch's reports of these are no news: a follow, a streak, a deleted line.
_NO_NEWS = frozenset({EventKind.FOLLOW, EventKind.NOTICE, EventKind.MODERATION})


def tells_of_anything(window: Window, handles: Handles) -> bool:
    """Return whether a window has something to summarise.

    It has not if people only greeted, laughed or used commands.
    """
    for line in window:
        if line.from_bot:
            continue
        if line.system_text and line.kind not in _NO_NEWS:
            return True
        if has_content(handles.hide_chat(_typed_text(line))):
            return True
    return False


def transcript(window: Window, handles: Handles) -> list[str]:
    """Return a window as lines of the format that the module describes."""
    transcript_lines: list[str] = []
    for group in shown_lines(window):
        if len(group) > 1:
            transcript_lines.append(_collapsed(group, handles))
        else:
            transcript_lines += _transcribed(group[0], handles)
    acts = [line.system_text for line in window if line.kind is EventKind.MODERATION]
    if acts:
        transcript_lines.append(f"* Moderators: {acts_in_numbers(acts)}")
    return transcript_lines


def _words_key(line: Line) -> str:
    """Return the key that lines with the same words share; "" for a line that is always shown by itself.

    Repeated emotes count once in it.
    """
    if line.kind not in {EventKind.MESSAGE, EventKind.ME}:
        return ""
    if line.from_bot or line.addressed:
        return ""
    return words_key(line.text)


def _typed_text(line: Line) -> str:
    """Return what a line says: a caption as it is, and of a command only the fact to remember."""
    if line.kind is EventKind.SPOKEN:
        return line.text
    return spoken_text(line.text)


def _collapsed(repeats: Sequence[Line], handles: Handles) -> str:
    """Return lines with the same words as one line: "KEKW ×37, 30 people"."""
    shown_words = cut(without_repeated_words(repeats[0].text), REPEAT_CHARACTERS)
    shown_words = handles.hide_chat(shown_words)
    if _LIKE_A_LINE.match(shown_words):
        shown_words = f'"{shown_words}"'
    people = {line.viewer_id for line in repeats}
    unit = "person" if len(people) == 1 else "people"
    return f"{shown_words} ×{len(repeats)}, {len(people)} {unit}"


def _transcribed(line: Line, handles: Handles) -> list[str]:
    """Return the lines of the format for one line of chat: Twitch's report, the words said, both, or none."""
    # moderation is counted in one line for the window: it must not become a fact about a viewer
    if line.kind is EventKind.MODERATION:
        return []
    typed_text = _typed_text(line)
    # a command without a fact to remember
    if line.text and not typed_text:
        return []
    text = handles.hide_chat(cut(clean(typed_text), LINE_CHARACTERS))
    if line.from_bot:
        return [f"{BOT}: {text}"] if text else []
    transcript_lines = []
    if line.system_text:
        transcript_lines.append(f"* {_report(line, handles)}")
    if text:
        handle = handles.handle(line.viewer_id)
        is_command_with_fact = typed_text != line.text
        names_bot = BOT in text.split()
        mark = ""
        if line.kind is EventKind.SPOKEN:
            mark = " (spoken)"
        elif is_command_with_fact or (line.addressed and not names_bot):
            mark = " (to the bot)"
        transcript_lines.append(f"{handle}{mark}: {text}")
    return transcript_lines


def _report(line: Line, handles: Handles) -> str:
    """Return Twitch's report, with the viewer's handle in front if the report does not name them."""
    report = handles.hide_chat(line.system_text)
    handle = handles.handle(line.viewer_id)
    # the viewer of an event about the stream only stands for the channel
    if line.kind is EventKind.STREAM or handle in report.split():
        return report
    return f"{handle}: {report}"
