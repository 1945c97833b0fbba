"""Turns rows into lines, and lines into fenced blocks. One row is one line, whatever was typed into it.

Names are looked up here, at the last moment. Text from chat is cleaned to one visible line and clipped; the fences
keep it from closing its block.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import (
    EventKind,
    Note,
    NoteStatus,
    PromptLine,
    Recalled,
    Role,
    RowId,
    Scope,
    Section,
    SourceKind,
    StreamEvent,
    Viewer,
)
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.prompt.material import A_FEW, Past, UnclearName
from forgetmenot.text.clean import clean, without_repeated_words
from forgetmenot.text.dates import periods_in
from forgetmenot.text.days import ago, iso_day, local_time
from forgetmenot.text.mentions import SOMEBODY, fence, shown_name, with_names
from forgetmenot.text.tokens import clip_bytes, estimate_tokens
from forgetmenot.text.words import text_cache

LINE_BYTES = 360
OWN_BYTES = 240
MESSAGE_BYTES = 2_000
SUMMARY_BYTES = 1_200
FACT_BYTES = 400
DIGEST_CHARS = 500
_LATELY = {0: ", earlier this stream", 1: ", the last stream"}
_NUMBER_WORDS = dict(
    enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2
    )
)

Names = Mapping[str, str]

# The label of a note's source, where it is not what its subject said.
_SOURCE_LABELS = {
    SourceKind.OBSERVED: "seen in chat",
    SourceKind.REPORTED: "said by others",
}
# A note that was said within this time is shown with its age, an older one with its date.
_SHOWN_BY_AGE = 14 * DAY


class Row(Struct, frozen=True):
    """One line of a block, and the database rows that it comes from."""

    text: str
    rows: tuple[RowId, ...] = ()


class Block(Struct, frozen=True):
    """A section before it is text. Rows are dropped from the end, or from the start where the newest stand last."""

    name: str
    rows: tuple[Row, ...]
    lead: str = ""
    newest_last: bool = False
    already_dropped: int = 0

    def cut(self, keep: int) -> "Block":
        """Return the block with at most `keep` rows."""
        dropped = len(self.rows) - keep
        if dropped <= 0:
            return self
        rows = self.rows[dropped:] if self.newest_last else self.rows[:keep]
        return replace(self, rows=rows, already_dropped=self.already_dropped + dropped)

    def within(self, tokens: int, least: int = 0) -> "Block":
        """Return the block with as many rows as fit into these tokens; with `least` rows if no more do."""
        # each cut is measured as it would stand there: the fence and the lead cost tokens as well
        for keep in range(len(self.rows), least, -1):
            cut = self.cut(keep)
            if estimate_tokens(cut.text()) <= tokens:
                return cut
        return self.cut(least)

    def text(self) -> str:
        """Return the block as it stands in the prompt, with the empty line after it; empty if it has no row."""
        if not self.rows:
            return ""
        # blocks that continue another one have its name in the prompt
        name = self.name.removesuffix("_more").removesuffix("_asked")
        body = fence(name, "\n".join(row.text for row in self.rows))
        return f"{self.lead}\n{body}\n\n" if self.lead else f"{body}\n\n"

    def section(self) -> Section:
        """Return the block as text, with its size and the database rows that it comes from."""
        text = self.text()
        row_ids: list[RowId] = []
        for row in self.rows:
            row_ids += row.rows
        return Section(
            self.name, text, estimate_tokens(text), tuple(row_ids), self.already_dropped
        )


def plain_section(name: str, text: str) -> Section:
    """Return a section of our own words, outside any fence."""
    return Section(name, text, estimate_tokens(text))


def one_line(
    text: str,
    names: Names,
    max_bytes: int,
) -> str:
    """Return foreign text with today's names, on one line, clipped."""
    return clip_bytes(clean(with_names(text, names)), max_bytes)


def name_of(viewer: Viewer) -> str:
    """Return a viewer's name as a prompt shows it."""
    return (
        shown_name(clip_bytes(clean(viewer.display_name or viewer.login), 60))
        or "somebody"
    )


def unclear_line(unclear: UnclearName) -> str:
    """Return whom a word may mean: `"bob" may be BobTheBuilder or bob_ross`, of which the reply may ask."""
    names = " or ".join(_as_shown(name) for name in unclear.names)
    return f'"{clip_bytes(clean(unclear.word), 60)}" may be {names}: ask who is meant, unless it is plain.'


@text_cache(2_048)
def _as_shown(name: str) -> str:
    return clip_bytes(clean(shown_name(name)), 60)


def chat_row(
    line: PromptLine,
    names: Names,
    max_bytes: int = LINE_BYTES,
) -> Row:
    """Return `alice: what she said`, or `you: …` for the bot's own line. A line with the id 0 is not stored."""
    if line.viewer_id is None:
        table = "replies"
        speaker = "you"
    else:
        table = "events"
        name = names.get(line.viewer_id)
        speaker = SOMEBODY if name is None else _as_shown(name)
    text = f"{speaker}: {one_line(line.text, names, max_bytes)}"
    return Row(text, ((table, line.id),) if line.id else ())


def unsummarised_row(
    line: PromptLine,
    names: Names,
    now: int,
    zone: str,
) -> Row:
    """Return `[said today at 20:14, not summarised yet] alice: what she said`."""
    row = chat_row(line, names)
    clock_time = f"{local_time(line.at, zone):%H:%M}"
    label = f"[said {ago(line.at, now, zone)} at {clock_time}, not summarised yet]"
    return Row(f"{label} {row.text}", row.rows)


def chat_rows(lines: Sequence[PromptLine], names: Names) -> list[Row]:
    """Return a row for each line, oldest first; one for all lines with the same words of more than A_FEW people.

    It stands where the last of them was said: "18 people: RAID".
    """
    by_words: dict[str, list[PromptLine]] = defaultdict(list)
    for line in lines:
        by_words[without_repeated_words(line.text).casefold()].append(line)
    chat: list[Row] = []
    for line in lines:
        same_lines = by_words[without_repeated_words(line.text).casefold()]
        people = {same_line.viewer_id for same_line in same_lines}
        if len(people) <= A_FEW:
            chat.append(chat_row(line, names))
        elif line is same_lines[-1]:
            text = one_line(without_repeated_words(line.text), names, LINE_BYTES)
            row_ids = tuple(("events", same_line.id) for same_line in same_lines)
            chat.append(Row(f"{len(people)} people: {text}", row_ids))
    return chat


def event_row(
    event: StreamEvent,
    names: Names,
    now: int,
) -> Row:
    """Return `12 min ago: 120 raiders from Ox have joined!`; with who it was, where Twitch's words do not say it."""
    text = one_line(event.text, names, LINE_BYTES)
    name = _as_shown(names.get(event.viewer_id, SOMEBODY))
    if event.kind is not EventKind.STREAM and name.casefold() not in text.casefold():
        text = f"{name}: {text}"
    return Row(f"{_minutes_ago(now - event.at)}: {text}", (("events", event.id),))


def moderation_row(event: StreamEvent, now: int) -> Row:
    """Return `2 min ago: Bob was banned`, without the row that it is from: what explains a reply is read by anybody."""
    return Row(
        f"{_minutes_ago(now - event.at)}: {one_line(event.text, {}, LINE_BYTES)}"
    )


def _minutes_ago(ms: int) -> str:
    minutes = max(0, ms) // MINUTE
    return f"{minutes} min ago" if minutes else "just now"


def note_row(
    recalled: Recalled,
    names: Names,
    now: int,
    zone: str,
    *,
    about: str = "",
    asks_outcome: bool = False,
) -> Row:
    """Return `[id:12; 2 days ago] likes tea`, with whom it is about, if given.

    A note that was said on several days has the first and the last. What is over has its month, unless it names its
    time itself. `asks_outcome`: it is a plan of which the reply may ask how it went.
    """
    note = recalled.note
    labels = [f"id:{note.id}"]
    if note.source_kind in _SOURCE_LABELS:
        labels.append(_SOURCE_LABELS[note.source_kind])
    text = one_line(note.fact, names, FACT_BYTES)
    if note.status is NoteStatus.PAST or note.is_over(now):
        if not periods_in(note.fact.lower()):
            text = f"in {local_time(note.last_confirmed_at, zone):%B %Y}: {text}"
    else:
        labels.append(_when_said(note, now, zone))
    if asks_outcome:
        labels.append("its day has passed: ask how it went")
    subject = f"{about}: " if about else ""
    return Row(f"{subject}[{'; '.join(labels)}] {text}", (("notes", note.id),))


def _when_said(
    note: Note,
    now: int,
    zone: str,
) -> str:
    """Return when a note was said: "2 days ago", "2026-03-01", "2025-11-02, again yesterday"."""
    last = iso_day(note.last_confirmed_at, zone)
    is_recent = now - note.last_confirmed_at < _SHOWN_BY_AGE
    when = ago(note.last_confirmed_at, now, zone) if is_recent else last
    first = iso_day(note.first_said_at, zone)
    return when if first == last else f"{first}, again {when}"


def named_note_row(
    recalled: Recalled,
    names: Names,
    now: int,
    zone: str,
) -> Row:
    """Return a note with the name of whom it is about, who may be anybody, or "channel"."""
    subject_id = recalled.note.subject_id
    about = (
        "channel" if subject_id is None else _as_shown(names.get(subject_id, SOMEBODY))
    )
    return note_row(recalled, names, now, zone, about=about)


def channel_note_row(
    note: Note,
    names: Names,
    zone: str,
) -> Row:
    """Return a fact about the channel, or a running bit, with its dates.

    It has no age: the prefix stays the same as time goes by.
    """
    labels = [f"id:{note.id}"]
    if note.scope is Scope.RUNNING_BIT:
        labels.append("running bit")
    if note.source_kind is SourceKind.REPORTED:
        labels.append(_SOURCE_LABELS[note.source_kind])
    first = iso_day(note.first_said_at, zone)
    last = iso_day(note.last_confirmed_at, zone)
    labels.append(first if first == last else f"{first}, again {last}")
    text = f"[{'; '.join(labels)}] {one_line(note.fact, names, FACT_BYTES)}"
    return Row(text, (("notes", note.id),))


def past_row(
    past: Past,
    names: Names,
    zone: str,
    now: int | None = None,
) -> Row:
    """Return an episode or a recap with its date; with `now` also how long ago that is (never in the prefix)."""
    when = iso_day(past.at, zone)
    if now is not None:
        when += f", {ago(past.at, now, zone)}"
    if now is not None and past.streams_ago is not None:
        when += _streams_ago(past.streams_ago)
    kind = ""
    table = "episodes"
    if past.is_recap:
        kind = "recap of the stream of "
        table = "streams"
    text = f"({kind}{when}) {one_line(past.text, names, SUMMARY_BYTES)}"
    return Row(text, ((table, past.id),))


def _streams_ago(streams: int) -> str:
    if streams in _LATELY:
        return _LATELY[streams]
    return f", {_NUMBER_WORDS.get(streams, str(streams))} streams ago"


def speaker_line(
    viewer: Viewer,
    streams: int,
    zone: str,
) -> str:
    """Return `alice (moderator; here since 2025-11-02; 31 streams)`."""
    role = "" if viewer.role is Role.VIEWER else f"{viewer.role.value}; "
    count = ""
    if streams:
        count = "; 1 stream" if streams == 1 else f"; {streams} streams"
    return f"{name_of(viewer)} ({role}here since {iso_day(viewer.first_seen_at, zone)}{count})"


def without_repeats(
    lines: Iterable[PromptLine],
    seen_ids: set[str],
    seen_texts: set[tuple[str | None, str]],
) -> list[PromptLine]:
    """Return the lines that were not shown yet, by id and by who said what; of a repeated one the last stays.

    What is returned is added to `seen_ids` and `seen_texts`.
    """
    newest_first: list[PromptLine] = []
    for line in reversed(list(lines)):
        key = (line.viewer_id, clean(line.text).casefold())
        if line.event_id in seen_ids or key in seen_texts:
            continue
        seen_ids.add(line.event_id)
        seen_texts.add(key)
        newest_first.append(line)
    return newest_first[::-1]
