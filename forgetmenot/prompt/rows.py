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
_COUNT = dict(
    enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)
)

Names = Mapping[str, str]

# What a prompt says of a note's source, where it is not what its subject said: a label is in every row.
_WHOSE_WORD = {
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
        """The block with at most `keep` rows."""
        dropped = max(0, len(self.rows) - keep)
        if not dropped:
            return self
        kept = self.rows[dropped:] if self.newest_last else self.rows[:keep]
        return replace(self, rows=kept, already_dropped=self.already_dropped + dropped)

    def within(self, tokens: int, least: int = 0) -> "Block":
        """The block with as many rows as cost no more than that; with `least` rows if not even one more does."""
        # each cut is measured as it would stand there: the fence and the lead cost tokens as well
        cuts = (self.cut(keep) for keep in range(len(self.rows), least, -1))
        return next((cut for cut in cuts if estimate_tokens(cut.text()) <= tokens), self.cut(least))

    def text(self) -> str:
        """The block as it stands in the prompt, with the empty line after it; nothing if it has no row."""
        if not self.rows:
            return ""
        body = fence(
            self.name.removesuffix("_more").removesuffix("_asked"),
            "\n".join(row.text for row in self.rows),
        )
        return f"{self.lead}\n{body}\n\n" if self.lead else f"{body}\n\n"

    def section(self) -> Section:
        """The block as text, with its size and where it comes from."""
        text = self.text()
        rows = tuple(one for row in self.rows for one in row.rows)
        return Section(self.name, text, estimate_tokens(text), rows, self.already_dropped)


def plain_section(name: str, text: str) -> Section:
    """A section of our own words, outside any fence."""
    return Section(name, text, estimate_tokens(text))


def one_line(text: str, names: Names, max_bytes: int) -> str:
    """Foreign text with today's names, on one line, clipped."""
    return clip_bytes(clean(with_names(text, names)), max_bytes)


def name_of(viewer: Viewer) -> str:
    """A viewer's name as a prompt shows it."""
    return shown_name(clip_bytes(clean(viewer.display_name or viewer.login), 60)) or "somebody"


def unclear_line(unclear: UnclearName) -> str:
    """Whom a word may mean: `"bob" may be BobTheBuilder or bob_ross`, of which the reply may ask."""
    names = " or ".join(_as_shown(name) for name in unclear.names)
    return f'"{clip_bytes(clean(unclear.word), 60)}" may be {names}: ask who is meant, unless it is plain.'


@text_cache(2_048)
def _as_shown(name: str) -> str:
    return clip_bytes(clean(shown_name(name)), 60)


def chat_row(line: PromptLine, names: Names, max_bytes: int = LINE_BYTES) -> Row:
    """`alice: what she said`, or `you: …` for the bot's own. An id of 0 is none."""
    of, who = ("replies", "you") if line.viewer_id is None else ("events", SOMEBODY)
    if (name := names.get(line.viewer_id or "")) is not None:
        who = _as_shown(name)
    return Row(
        f"{who}: {one_line(line.text, names, max_bytes)}", ((of, line.id),) if line.id else ()
    )


def unsummarised_row(line: PromptLine, names: Names, now: int, zone: str) -> Row:
    """`[said today at 20:14, not summarised yet] alice: what she said`."""
    row = chat_row(line, names)
    clock_time = f"{local_time(line.at, zone):%H:%M}"
    label = f"[said {ago(line.at, now, zone)} at {clock_time}, not summarised yet]"
    return Row(f"{label} {row.text}", row.rows)


def chat_rows(lines: Sequence[PromptLine], names: Names) -> list[Row]:
    """A row for each line, oldest first; one for all lines with the same words of more than A_FEW people.

    It stands where the last of them was said: "18 people: RAID".
    """
    by_words: dict[str, list[PromptLine]] = defaultdict(list)
    for line in lines:
        by_words[without_repeated_words(line.text).casefold()].append(line)
    chat: list[Row] = []
    for line in lines:
        same = by_words[without_repeated_words(line.text).casefold()]
        people = len({one.viewer_id for one in same})
        if people <= A_FEW:
            chat.append(chat_row(line, names))
        elif line is same[-1]:
            text = one_line(without_repeated_words(line.text), names, LINE_BYTES)
            chat.append(Row(f"{people} people: {text}", tuple(("events", one.id) for one in same)))
    return chat


def event_row(event: StreamEvent, names: Names, now: int) -> Row:
    """`12 min ago: 120 raiders from Ox have joined!`; with who it was, where Twitch's words do not say it."""
    text = one_line(event.text, names, LINE_BYTES)
    name = _as_shown(names.get(event.viewer_id, SOMEBODY))
    if event.kind is not EventKind.STREAM and name.casefold() not in text.casefold():
        text = f"{name}: {text}"
    return Row(f"{_minutes_ago(now - event.at)}: {text}", (("events", event.id),))


def moderation_row(event: StreamEvent, now: int) -> Row:
    """`2 min ago: Bob was banned`. Without the row that it is from: what explains a reply is read by anybody."""
    return Row(f"{_minutes_ago(now - event.at)}: {one_line(event.text, {}, LINE_BYTES)}")


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
    """`[id:12; 2 days ago] likes tea`, with whom it is about, if given.

    A note that was said on several days has the first and the last. What is over is told with its month, unless it
    names its time itself. `asks_outcome`: it is a plan of which the reply may ask how it went.
    """
    note = recalled.note
    known = [f"id:{note.id}"]
    if note.source_kind in _WHOSE_WORD:
        known.append(_WHOSE_WORD[note.source_kind])
    text = one_line(note.fact, names, FACT_BYTES)
    if note.status is NoteStatus.PAST or note.is_over(now):
        if not periods_in(note.fact.lower()):
            text = f"in {local_time(note.last_confirmed_at, zone):%B %Y}: {text}"
    else:
        known.append(_said(note, now, zone))
    if asks_outcome:
        known.append("its day has passed: ask how it went")
    subject = f"{about}: " if about else ""
    return Row(f"{subject}[{'; '.join(known)}] {text}", (("notes", note.id),))


def _said(note: Note, now: int, zone: str) -> str:
    """When a note was said: "2 days ago", "2026-03-01", "2025-11-02, again yesterday"."""
    last = iso_day(note.last_confirmed_at, zone)
    is_recent = now - note.last_confirmed_at < _SHOWN_BY_AGE
    when = ago(note.last_confirmed_at, now, zone) if is_recent else last
    first = iso_day(note.first_said_at, zone)
    return when if first == last else f"{first}, again {when}"


def named_note_row(recalled: Recalled, names: Names, now: int, zone: str) -> Row:
    """A note with the name of whom it is about, who may be anybody, or "channel"."""
    subject_id = recalled.note.subject_id
    about = "channel" if subject_id is None else _as_shown(names.get(subject_id, SOMEBODY))
    return note_row(recalled, names, now, zone, about=about)


def channel_note_row(note: Note, names: Names, zone: str) -> Row:
    """A fact about the channel, or a running bit, with its dates. No age: the prefix stays the same as time goes by."""
    kind = ["running bit"] if note.scope is Scope.RUNNING_BIT else []
    hearsay = [_WHOSE_WORD[note.source_kind]] if note.source_kind is SourceKind.REPORTED else []
    first = iso_day(note.first_said_at, zone)
    last = iso_day(note.last_confirmed_at, zone)
    known = "; ".join(
        [f"id:{note.id}", *kind, *hearsay, first if first == last else f"{first}, again {last}"]
    )
    return Row(f"[{known}] {one_line(note.fact, names, FACT_BYTES)}", (("notes", note.id),))


def past_row(past: Past, names: Names, zone: str, now: int | None = None) -> Row:
    """An episode or a recap with its date; with `now` also how long ago that is (never in the prefix)."""
    when = iso_day(past.at, zone)
    if now is not None:
        when += f", {ago(past.at, now, zone)}"
    if now is not None and (streams := past.streams_ago) is not None:
        when += _LATELY.get(streams, f", {_COUNT.get(streams, str(streams))} streams ago")
    kind = "recap of the stream of " if past.is_recap else ""
    text = f"({kind}{when}) {one_line(past.text, names, SUMMARY_BYTES)}"
    return Row(text, (("streams" if past.is_recap else "episodes", past.id),))


def speaker_line(viewer: Viewer, streams: int, zone: str) -> str:
    """`alice (moderator; here since 2025-11-02; 31 streams)`."""
    role = "" if viewer.role is Role.VIEWER else f"{viewer.role.value}; "
    count = f"; {streams} stream{'' if streams == 1 else 's'}" if streams else ""
    return f"{name_of(viewer)} ({role}here since {iso_day(viewer.first_seen_at, zone)}{count})"


def without_repeats(
    lines: Iterable[PromptLine], seen_ids: set[str], seen_texts: set[tuple[str | None, str]]
) -> list[PromptLine]:
    """The lines that were not shown yet, by id and by who said what; of a repeated one the last stays."""
    kept: list[PromptLine] = []
    for line in reversed(list(lines)):
        key = (line.viewer_id, clean(line.text).casefold())
        if line.event_id not in seen_ids and key not in seen_texts:
            seen_ids.add(line.event_id)
            seen_texts.add(key)
            kept.append(line)
    kept.reverse()
    return kept
