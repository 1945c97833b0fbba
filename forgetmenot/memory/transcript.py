"""The windows of chat that a model summarises: how they are cut, and how they are shown to it. Pure.

What it is told to write of them: memory/summary_instructions.

A window has handles for names, repeats collapsed, one line each:

    P3: text                    P3 (to the bot): text
    P1 (spoken): text           KEKW ×37, 30 people
    * P4 subscribed
    BOT: text

llm/offline reads the same format. Commands ("!so") are left out, but for the fact in a
!remember, which was said like any other. Times are left out: they were a quarter of the tokens, and a small model
wrote better summaries without them.
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

# Lines of one stream, in order of time, of which one summary is made.
Window = Sequence[Line]


class Cut(Struct, frozen=True):
    """How unread lines are cut into windows. Times in ms, sizes in lines.

    `silence`: how long chat is silent behind a window that is smaller than `smallest`. `closed`: the streams that are
    over. `everything`: also the remainders. `truncated`: more unread lines follow these. Fewer lines than `largest`
    wait until the first of them is older than `wait`: a quiet chat costs fewer calls.
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

    Lines that no summary came of stay in the windows that they were put in for the next try.
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
        due += _of_stream(stream_lines, cut)
    return sorted(due, key=lambda window: (window[0].at, window[0].seq))


def aged(
    lines: Sequence[Line],
    largest: int,
    before: int,
) -> list[Window]:
    """Return windows over the lines said before a time (ms), whatever their number."""
    old_lines = [line for line in lines if line.at < before]
    aged_windows: list[Window] = []
    for stream_lines in _by_stream(old_lines).values():
        for start in range(0, len(stream_lines), largest):
            end = start + largest
            aged_windows.append(stream_lines[start:end])
    return aged_windows


def halves(window: Window) -> list[Window]:
    """Return a window cut in two at its middle; one line stays alone."""
    middle = len(window) // 2
    if middle == 0:
        return [window]
    return [window[:middle], window[middle:]]


def waiting_time(tries: int) -> int:
    """Return the pause (ms) before another try: from two minutes, doubled each time, to 17 hours.

    So a line is tried again within the day that it may be kept, however long the model was at fault.
    """
    return MINUTE << min(tries, 10)


def _by_stream(lines: Sequence[Line]) -> Mapping[int | None, list[Line]]:
    """Return lines by the id of their stream; None for those outside of streams."""
    lines_of: dict[int | None, list[Line]] = defaultdict(list)
    for line in lines:
        lines_of[line.stream_id].append(line)
    return lines_of


def _of_stream(lines: Sequence[Line], cut: Cut) -> list[Window]:
    """Return the windows that are due among the lines of one stream."""
    is_over = not cut.truncated and _is_over(lines, cut)
    due: list[Window] = []
    remaining = lines
    while _is_enough(remaining, cut):
        end = _end(remaining, cut, is_over=is_over)
        if end is None:
            break
        due.append(remaining[:end])
        remaining = remaining[end:]
    if remaining and is_over:
        due.append(remaining)
    return due


def _is_enough(lines: Sequence[Line], cut: Cut) -> bool:
    """Return whether lines fill a window, or have waited for long enough."""
    if len(lines) >= cut.largest:
        return True
    if len(lines) < cut.smallest:
        return False
    waited = cut.now - lines[0].at
    return waited >= cut.wait


def _is_over(lines: Sequence[Line], cut: Cut) -> bool:
    """Return whether no more lines are waited for after these: their stream is closed, or chat is silent."""
    if cut.everything or lines[0].stream_id in cut.closed:
        return True
    silence = cut.now - lines[-1].at
    return silence >= cut.silence


def _end(
    lines: Sequence[Line],
    cut: Cut,
    *,
    is_over: bool,
) -> int | None:
    """Return where the first window ends: at the longest lull that leaves it large enough, the last of equals.

    None where it may still grow, because the lines are not all there are. Where a full window is there only the larger
    half of the sizes is looked at: each window costs two calls. For the same reason a few lines that nothing follows
    (`is_over`) are no window of their own.
    """
    total = len(lines)
    if total <= cut.largest and cut.truncated:
        return None
    if total <= cut.largest and is_over:
        return total
    smallest = cut.smallest
    if total >= cut.largest:
        smallest = max(cut.smallest, cut.largest // 2)
    largest = min(cut.largest, total)
    if is_over:
        # so that what remains is enough for a window, if it can be
        largest = min(largest, total - cut.smallest)
        largest = max(smallest, largest)

    def lull(end: int) -> int:
        """Return the milliseconds of silence behind the line before `end`."""
        last_line = lines[end - 1]
        if end == total:
            return cut.now - last_line.at
        return lines[end].at - last_line.at

    possible_ends = range(smallest, largest + 1)
    return max(possible_ends, key=lambda end: (lull(end), end))


# ── who is in a window ────────────────────────────────────────────────────────────────────────


# Events that nobody took part in: the viewer they name only stands for the channel.
NOT_OF_A_PERSON = frozenset({EventKind.STREAM, EventKind.MODERATION})
_ROLES = {Role.BROADCASTER: "streamer"}
_RANKS = {Role.BROADCASTER: 0, Role.MODERATOR: 1, Role.VIP: 2}
_LOWEST_RANK = 3


def participations(
    window: Window, mentioned: Sequence[str] = ()
) -> dict[str, Participation]:
    """Return who is in a window, by rank and then by lines: the streamer first, last who was only spoken about."""
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
    streamer: str = "",
) -> str:
    """Return who is in a window: "P1 to P32, P1 (streamer), P4 (moderator)".

    `people`: in the order of their handles. `streamer`: the id of whose channel it is, also where they did not type.
    """
    roles = {}
    for line in window:
        if line.role is not Role.VIEWER:
            roles[line.viewer_id] = _ROLES.get(line.role, line.role.value)
    if streamer:
        roles[streamer] = _ROLES[Role.BROADCASTER]
    introductions = []
    for viewer_id in people:
        if viewer_id in roles:
            handle = handles.handle(viewer_id)
            introductions.append(f"{handle} ({roles[viewer_id]})")
    all_handles = [handles.handle(viewer_id) for viewer_id in people]
    everybody = _range(all_handles)
    # on one line, because a small model copies a list of lines
    return ", ".join([everybody, *introductions])


def _range(names: Sequence[str]) -> str:
    """Return handles in order as their first and last: "P1 to P32"."""
    if len(names) < 2:
        return "".join(names)
    return f"{names[0]} to {names[-1]}"


# ── how a window is shown ─────────────────────────────────────────────────────────────────────

# This many lines with the same words are shown as one.
OFTEN = 3
# Same words of at most this many people stay a line of each: "Germany", to "where are you from?", is a fact about
# everybody who says it.
A_FEW = 5
SPOKEN_MARK = " (spoken): "
LINE_CHARACTERS = 500
REPEAT_CHARACTERS = 200
# Words that begin like a line of somebody's: a name and a colon, said by many, is no line of the one named.
_LIKE_A_LINE = re.compile(rf"\*|(?:P\d+|{BOT})\b")


def shown_lines(window: Window) -> list[Sequence[Line]]:
    """Return the lines of a window in groups, each of which is shown as one line.

    Most lines are a group of their own. Lines with the same words are shown once if there are OFTEN or more: all as one
    group, or, if at most A_FEW people typed them, the first line of each person.
    """
    lines_by_words: dict[str, list[Line]] = defaultdict(list)
    for line in window:
        if not is_command(line.text):
            lines_by_words[_words_key(line)].append(line)
    groups: list[Sequence[Line]] = []
    # (the words, who typed them); "" where all who typed them share one group
    shown_before: set[tuple[str, str]] = set()
    for line in window:
        words_key = _words_key(line)
        repeats = lines_by_words[words_key]
        if not words_key or len(repeats) < OFTEN:
            groups.append([line])
            continue
        people = {repeat.viewer_id for repeat in repeats}
        if len(people) <= A_FEW:
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
    """Return the ids of those who have a line of their own in the window as it is shown."""
    speakers = set()
    for group in shown_lines(window):
        first_line = group[0]
        if len(group) == 1 and not first_line.from_bot:
            speakers.add(first_line.viewer_id)
    return speakers


# What Twitch reports of these is no news: somebody follows, or keeps a streak, or lost a line.
_NO_NEWS = frozenset({EventKind.FOLLOW, EventKind.NOTICE, EventKind.MODERATION})


def tells_of_anything(window: Window, handles: Handles) -> bool:
    """Return whether a model has anything to write down of a window.

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
    """Return the window as lines of the format above."""
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
    """Return by what two lines are the same: their words, an emote once however often it is repeated.

    Empty for a line that is always shown by itself.
    """
    if line.kind not in {EventKind.MESSAGE, EventKind.ME}:
        return ""
    if line.from_bot or line.addressed:
        return ""
    return words_key(line.text)


def _typed_text(line: Line) -> str:
    """Return what a line says: the caption as it is, or the typed text, of a command only the fact to remember."""
    if line.kind is EventKind.SPOKEN:
        return line.text
    return spoken_text(line.text)


def _collapsed(repeats: Sequence[Line], handles: Handles) -> str:
    """Return lines with the same words as one: "KEKW ×37, 30 people"."""
    words = cut(without_repeated_words(repeats[0].text), REPEAT_CHARACTERS)
    words = handles.hide_chat(words)
    if _LIKE_A_LINE.match(words):
        words = f'"{words}"'
    people = {line.viewer_id for line in repeats}
    unit = "person" if len(people) == 1 else "people"
    return f"{words} ×{len(repeats)}, {len(people)} {unit}"


def _transcribed(line: Line, handles: Handles) -> list[str]:
    """Return the lines of the format for one line of chat: what Twitch reported, what was said, both, or nothing."""
    # whom moderators hit has no name here: what happened to them is nothing to know about them
    if line.kind is EventKind.MODERATION:
        return []
    typed_text = _typed_text(line)
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
        mark = ""
        if line.kind is EventKind.SPOKEN:
            mark = " (spoken)"
        elif line.addressed or is_command_with_fact:
            mark = " (to the bot)"
        transcript_lines.append(f"{handle}{mark}: {text}")
    return transcript_lines


def _report(line: Line, handles: Handles) -> str:
    """Return what Twitch reported, in its words, with who it was where they do not say it themselves."""
    report = handles.hide_chat(line.system_text)
    handle = handles.handle(line.viewer_id)
    # the viewer of a stream's event only stands for the channel
    if line.kind is EventKind.STREAM or handle in report.split():
        return report
    return f"{handle}: {report}"
