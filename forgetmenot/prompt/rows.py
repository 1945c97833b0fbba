"""Turns rows into lines, and lines into fenced blocks. One row is one line, whatever was typed into it.

Names are looked up here, at the last moment. Text from chat is cleaned to one visible line and clipped; the fences
keep it from closing its block.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

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
from forgetmenot.text.clean import clean, without_repeated_words, words_key
from forgetmenot.text.dates import periods_in
from forgetmenot.text.days import ago, iso_day, local_time
from forgetmenot.text.mentions import SOMEBODY, fence, shown_name, with_names
from forgetmenot.text.tokens import clip_bytes, estimate_tokens
from forgetmenot.text.words import sentences_of, text_cache

# How many bytes of a text stand in one row: enough for 360 Latin letters, or 120 Chinese signs.
LINE_BYTES = 360
OWN_BYTES = 240
MESSAGE_BYTES = 2_000
SUMMARY_BYTES = 1_200
FACT_BYTES = 400
DIGEST_CHARS = 500
# Words of an episode or a recap in the prefix. What of it fits a message stands in the tail, whole.
PREFIX_EPISODE_WORDS = 60
TOGETHER_TOKENS = 12
NAME_BYTES = 60
# In words, because small models read a digit here as the number of a note.
_NUMBER_WORDS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)

# The present names of people, by id.
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
    """A section before it is text. Rows are dropped from its end, or from its start where the newest stand last.

    `lead`: the sentence before the fence. `already_dropped`: how many rows it had and has not any more.
    """

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
        for keep in range(len(self.rows), least, -1):
            shortened = self.cut(keep)
            # measured as it would stand in the prompt: the fence and the lead cost tokens as well
            if estimate_tokens(shortened.text()) <= tokens:
                return shortened
        return self.cut(least)

    def text(self) -> str:
        """Return the block as it stands in the prompt, with the empty line after it; empty if it has no row."""
        if not self.rows:
            return ""
        # blocks that continue another one have its name in the prompt
        name = self.name.removesuffix("_more").removesuffix("_asked")
        fenced_rows = fence(name, "\n".join(row.text for row in self.rows))
        if not self.lead:
            return f"{fenced_rows}\n\n"
        return f"{self.lead}\n{fenced_rows}\n\n"

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
    """Return foreign text with today's names for its mentions, on one line, clipped."""
    return clip_bytes(clean(with_names(text, names)), max_bytes)


def name_of(viewer: Viewer) -> str:
    """Return a viewer's name as a prompt shows it; "somebody" where nothing visible is left of it."""
    name = clean(viewer.display_name or viewer.login)
    return shown_name(clip_bytes(name, NAME_BYTES)) or SOMEBODY


def unclear_line(unclear: UnclearName) -> str:
    """Return whom a word may mean: `"bob" may be BobTheBuilder or bob_ross`, of which the reply may ask."""
    word = clip_bytes(clean(unclear.word), NAME_BYTES)
    names = " or ".join(_as_shown(name) for name in unclear.names)
    return f'"{word}" may be {names}: ask who is meant, unless it is plain.'


# the same few names stand in every prompt
@text_cache(2_048)
def _as_shown(name: str) -> str:
    """Return a name as a prompt shows it: on one line, clipped."""
    return clip_bytes(clean(shown_name(name)), NAME_BYTES)


def _named(viewer_id: str, names: Names) -> str:
    """Return a viewer's name as a prompt shows it; "somebody" where it is not known."""
    name = names.get(viewer_id)
    # Not through `_as_shown`: "@somebody" is what a viewer called "somebody" is shown as.
    return SOMEBODY if name is None else _as_shown(name)


def chat_row(
    line: PromptLine,
    names: Names,
    max_bytes: int = LINE_BYTES,
) -> Row:
    """Return `alice: what she said`, or `you: …` for the bot's own line. A line with the id 0 is not stored."""
    table = "replies"
    speaker = "you"
    if line.viewer_id is not None:
        table = "events"
        speaker = _named(line.viewer_id, names)
    text = f"{speaker}: {one_line(line.text, names, max_bytes)}"
    if not line.id:
        return Row(text)
    return Row(text, ((table, line.id),))


def unsummarised_row(
    line: PromptLine,
    names: Names,
    now: int,
    zone: str,
) -> Row:
    """Return `[said today at 20:14, not summarised yet] alice: what she said`."""
    row = chat_row(line, names)
    day = ago(line.at, now, zone)
    clock_time = f"{local_time(line.at, zone):%H:%M}"
    label = f"[said {day} at {clock_time}, not summarised yet]"
    return Row(f"{label} {row.text}", row.rows)


def chat_rows(
    lines: Sequence[PromptLine],
    names: Names,
    limit: int,
) -> list[Row]:
    """Return the newest rows of chat, at most `limit`, oldest first.

    Each line has a row; all lines with the same words of more than A_FEW people have one together, where the last of
    them was said: "18 people: RAID".
    """
    keys = [words_key(line.text) for line in lines]
    lines_by_words: dict[str, list[PromptLine]] = defaultdict(list)
    for key, line in zip(keys, lines, strict=True):
        lines_by_words[key].append(line)
    newest_first: list[Row] = []
    for key, line in zip(reversed(keys), reversed(lines), strict=True):
        if len(newest_first) == limit:
            break
        same_lines = lines_by_words[key]
        people = {same_line.viewer_id for same_line in same_lines}
        if len(people) <= A_FEW:
            newest_first.append(chat_row(line, names))
        elif line is same_lines[-1]:
            text = one_line(without_repeated_words(line.text), names, LINE_BYTES)
            row_ids = tuple(("events", same_line.id) for same_line in same_lines)
            newest_first.append(Row(f"{len(people)} people: {text}", row_ids))
    return newest_first[::-1]


def event_row(
    event: StreamEvent,
    names: Names,
    now: int,
) -> Row:
    """Return `12 min ago: 120 raiders from Ox have joined!`; with who it was, where Twitch's words do not say it."""
    when = _minutes_ago(now - event.at)
    text = one_line(event.text, names, LINE_BYTES)
    name = _named(event.viewer_id, names)
    # the viewer of a stream's event only stands for the channel
    is_of_viewer = event.kind is not EventKind.STREAM
    if is_of_viewer and name.casefold() not in text.casefold():
        text = f"{name}: {text}"
    return Row(f"{when}: {text}", (("events", event.id),))


def moderation_row(event: StreamEvent, now: int) -> Row:
    """Return `2 min ago: Bob was banned`, without the row that it is from: what explains a reply is read by anybody."""
    when = _minutes_ago(now - event.at)
    text = one_line(event.text, {}, LINE_BYTES)
    return Row(f"{when}: {text}")


def _minutes_ago(elapsed: int) -> str:
    """Return a time that has passed (ms) in words; "just now" below a minute."""
    minutes = max(0, elapsed) // MINUTE
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
    """Return `[id:12; 2 days ago] likes tea`. `about`: the name of whom it is about, to stand before it.

    A note that was said on several days has the first and the last. What is over has its month, unless it names its
    time itself. `asks_outcome`: it is a plan of which the reply may ask how it went.
    """
    note = recalled.note
    labels = [f"id:{note.id}"]
    if note.source_kind in _SOURCE_LABELS:
        labels.append(_SOURCE_LABELS[note.source_kind])
    is_over = note.status is NoteStatus.PAST or note.is_over(now)
    if not is_over:
        labels.append(_when_said(note, now, zone))
    if asks_outcome:
        labels.append("its day has passed: ask how it went")
    text = one_line(note.fact, names, FACT_BYTES)
    if is_over and not periods_in(note.fact.lower()):
        month = f"{local_time(note.last_confirmed_at, zone):%B %Y}"
        text = f"in {month}: {text}"
    text = f"[{'; '.join(labels)}] {text}"
    if about:
        text = f"{about}: {text}"
    return Row(text, (("notes", note.id),))


def _when_said(
    note: Note,
    now: int,
    zone: str,
) -> str:
    """Return when a note was said: "2 days ago", "2026-03-01", "2025-11-02, again yesterday"."""
    first_day = iso_day(note.first_said_at, zone)
    last_day = iso_day(note.last_confirmed_at, zone)
    when = last_day
    if now - note.last_confirmed_at < _SHOWN_BY_AGE:
        when = ago(note.last_confirmed_at, now, zone)
    if first_day == last_day:
        return when
    return f"{first_day}, again {when}"


def named_note_row(
    recalled: Recalled,
    names: Names,
    now: int,
    zone: str,
) -> Row:
    """Return a note with the name of whom it is about, who may be anybody, or "channel"."""
    about = "channel"
    subject_id = recalled.note.subject_id
    if subject_id is not None:
        about = _named(subject_id, names)
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
    first_day = iso_day(note.first_said_at, zone)
    last_day = iso_day(note.last_confirmed_at, zone)
    if first_day == last_day:
        labels.append(first_day)
    else:
        labels.append(f"{first_day}, again {last_day}")
    fact = one_line(note.fact, names, FACT_BYTES)
    return Row(f"[{'; '.join(labels)}] {fact}", (("notes", note.id),))


def shortened(past: Past) -> Past:
    """Return a past event with the sentences that the prefix has of it, PREFIX_EPISODE_WORDS at most.

    They are the last ones of an episode, which tells what happened after what people said of themselves (those are
    notes soon), and the first ones of a recap, which begins with what the stream was about.
    """
    sentences = sentences_of(past.text)
    in_order = sentences if past.is_recap else sentences[::-1]
    kept: list[str] = []
    words = 0
    for sentence in in_order:
        words += len(sentence.split())
        if kept and words > PREFIX_EPISODE_WORDS:
            break
        kept.append(sentence)
    if len(kept) == len(sentences):
        return past
    shown = kept if past.is_recap else kept[::-1]
    return replace(past, text=" ".join(shown))


def past_row(
    past: Past,
    names: Names,
    zone: str,
    now: int | None = None,
) -> Row:
    """Return an episode or a recap with its date.

    With `now` also how long ago that is: never in the prefix, which stays the same as time goes by.
    """
    when = [iso_day(past.at, zone)]
    if now is not None:
        when.append(ago(past.at, now, zone))
        if past.streams_ago is not None:
            when.append(_streams_ago(past.streams_ago))
    if past.minutes:
        when.append(f"at {past.minutes} of the stream")
    if past.link:
        when.append(f"video: {past.link}")
    label = ", ".join(when)
    table = past.table
    if past.is_recap:
        label = f"recap of the stream of {label}"
        table = "streams"
    text = one_line(past.text, names, SUMMARY_BYTES)
    return Row(f"({label}) {text}", ((table, past.id),))


def _streams_ago(streams: int) -> str:
    """Return how many streams ago something was, in words."""
    if streams == 0:
        return "earlier this stream"
    if streams == 1:
        return "the last stream"
    number = str(streams)
    if 2 <= streams < 2 + len(_NUMBER_WORDS):
        number = _NUMBER_WORDS[streams - 2]
    return f"{number} streams ago"


def speaker_line(
    viewer: Viewer,
    streams: int,
    zone: str,
    together: Sequence[str] = (),
) -> str:
    """Return `alice (moderator; here since 2025-11-02; 31 streams; call them Deb)`.

    `together`: news of their time here; the first that fits stands in the line.
    """
    labels = []
    if viewer.role is not Role.VIEWER:
        labels.append(viewer.role.value)
    labels.append(f"here since {iso_day(viewer.first_seen_at, zone)}")
    if streams:
        labels.append("1 stream" if streams == 1 else f"{streams} streams")
    fitting = (words for words in together if estimate_tokens(words) <= TOGETHER_TOKENS)
    labels.extend(islice(fitting, 1))
    labels += wishes_of(viewer)
    return f"{name_of(viewer)} ({'; '.join(labels)})"


def wishes_of(viewer: Viewer) -> list[str]:
    """Return how somebody asks to be called and spoken of."""
    wishes = []
    if viewer.called:
        wishes.append(f'call them "{viewer.called}"')
    if viewer.pronouns:
        wishes.append(f"their pronouns: {viewer.pronouns}")
    return wishes


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
