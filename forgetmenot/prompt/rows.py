"""Turns database rows into lines of the prompt, and lines into fenced blocks.

One row is one line, whatever was typed into it. Names are looked up here, at the last moment. Text from chat is
cleaned to one visible line and clipped; the fences keep it from closing its block.
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
from forgetmenot.prompt.chat_speed import FAST, MEASURED_OVER
from forgetmenot.prompt.material import A_FEW, Past, UnclearName
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import clean, without_repeated_words
from forgetmenot.text.dates import periods_in
from forgetmenot.text.days import ago, iso_day, local_time
from forgetmenot.text.mentions import SOMEBODY, fence, shown_name, with_names
from forgetmenot.text.tokens import clip_bytes, estimate_tokens
from forgetmenot.text.words import (
    folded_line,
    key_of_line,
    sentences_of,
    text_cache,
)

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
        lines = "\n".join(row.text for row in self.rows)
        fenced_rows = fence(name, lines)
        if not self.lead:
            return f"{fenced_rows}\n\n"
        return f"{self.lead}\n{fenced_rows}\n\n"

    def section(self) -> Section:
        """Return the block as text, with its size and the database rows that it comes from."""
        # most blocks of most prompts are empty
        if not self.rows:
            return Section(self.name, text="", tokens=0, dropped=self.already_dropped)
        text = self.text()
        row_ids: list[RowId] = []
        for row in self.rows:
            row_ids += row.rows
        return Section(
            name=self.name,
            text=text,
            tokens=estimate_tokens(text),
            rows=tuple(row_ids),
            dropped=self.already_dropped,
        )


def plain_section(name: str, text: str) -> Section:
    """Return a section of our own words, outside any fence."""
    return Section(name, text, estimate_tokens(text))


def one_line(
    text: str,
    names: Mapping[str, str],
    max_bytes: int = LINE_BYTES,
) -> str:
    """Return foreign text on one line, clipped, with the present name of everybody it mentions, by id."""
    # names are put in before the text is cleaned: they are typed by people too
    return clip_bytes(clean(with_names(text, names)), max_bytes)


def name_of(viewer: Viewer) -> str:
    """Return a viewer's name as a prompt shows it; "somebody" where nothing visible is left of it."""
    name = clean(viewer.display_name or viewer.login)
    return shown_name(clip_bytes(name, NAME_BYTES)) or SOMEBODY


# the same few names stand in every prompt
@text_cache(2_048)
def _as_shown(name: str) -> str:
    """Return a name as a prompt shows it: on one line, clipped."""
    return clip_bytes(clean(shown_name(name)), NAME_BYTES)


class RowWriter(Struct, frozen=True):
    """Writes rows with today's names of people, and days and times in the channel's time zone.

    `names`: the present names of people, by id.
    """

    names: Mapping[str, str]
    zone: str = "UTC"

    def one_line(self, text: str, max_bytes: int = LINE_BYTES) -> str:
        """Return foreign text on one line, clipped, with the present names of those it mentions."""
        return one_line(text, self.names, max_bytes)

    def name(self, viewer_id: str) -> str:
        """Return a viewer's name as a prompt shows it; "somebody" where it is not known."""
        name = self.names.get(viewer_id)
        # Not through `_as_shown`: "@somebody" is what a viewer called "somebody" is shown as.
        return SOMEBODY if name is None else _as_shown(name)

    def chat_row(self, line: PromptLine, max_bytes: int = LINE_BYTES) -> Row:
        """Return `alice: what she said`, or `you: …` for the bot's own line. A line with the id 0 is not stored."""
        table = "replies"
        speaker = "you"
        if line.viewer_id is not None:
            table = "events"
            speaker = self.name(line.viewer_id)
        text = f"{speaker}: {self.one_line(line.text, max_bytes)}"
        if not line.id:
            return Row(text)
        return Row(text, ((table, line.id),))

    def chat_rows(self, lines: Sequence[PromptLine], limit: int) -> list[Row]:
        """Return the newest rows of chat, at most `limit`, oldest first.

        Each line has a row; all lines with the same words of more than A_FEW people have one together, where the last
        of them was said: "18 people: RAID". Commands have none.
        """
        talk = _talk(lines)
        keys = [key_of_line(line.text) for line in talk]
        lines_by_words: dict[str, list[PromptLine]] = defaultdict(list)
        for key, line in zip(keys, talk, strict=True):
            lines_by_words[key].append(line)
        newest_first: list[Row] = []
        for key, line in zip(reversed(keys), reversed(talk), strict=True):
            if len(newest_first) == limit:
                break
            same_lines = lines_by_words[key]
            # one person who types the same five times is five lines: that says something of them
            people = {same_line.viewer_id for same_line in same_lines}
            if len(people) <= A_FEW:
                newest_first.append(self.chat_row(line))
            elif line is same_lines[-1]:
                text = self.one_line(without_repeated_words(line.text))
                row_ids = tuple(("events", same_line.id) for same_line in same_lines)
                newest_first.append(Row(f"{len(people)} people: {text}", row_ids))
        return newest_first[::-1]

    def channel_note_row(self, note: Note) -> Row:
        """Return a fact about the channel, or a running bit, with its dates.

        It has no age: the prefix stays the same as time goes by.
        """
        labels = [f"id:{note.id}"]
        if note.scope is Scope.RUNNING_BIT:
            labels.append("running bit")
        if note.source_kind is SourceKind.REPORTED:
            labels.append(_SOURCE_LABELS[note.source_kind])
        first_day = iso_day(note.first_said_at, self.zone)
        last_day = iso_day(note.last_confirmed_at, self.zone)
        if first_day == last_day:
            labels.append(first_day)
        else:
            labels.append(f"{first_day}, again {last_day}")
        fact = self.one_line(note.fact, FACT_BYTES)
        return Row(f"[{'; '.join(labels)}] {fact}", (("notes", note.id),))

    def past_row(self, past: Past) -> Row:
        """Return an episode or a recap with its date."""
        day = iso_day(past.at, self.zone)
        return self._dated_row(past, [day])

    def _dated_row(self, past: Past, when: list[str]) -> Row:
        """Return an episode or a recap with these words for when it was."""
        if past.minutes:
            when.append(f"at {past.minutes} of the stream")
        if past.link:
            when.append(f"video: {past.link}")
        label = ", ".join(when)
        table = past.table
        if past.is_recap:
            label = f"recap of the stream of {label}"
            table = "streams"
        text = self.one_line(past.text, SUMMARY_BYTES)
        return Row(f"({label}) {text}", ((table, past.id),))


class TailRowWriter(RowWriter, frozen=True, kw_only=True):
    """Writes rows that also say how long ago something was: never in the prefix, which stays the same.

    `now`: the time of the reply (ms).
    """

    now: int

    def note_row(
        self,
        recalled: Recalled,
        *,
        about: str = "",
        asks_outcome: bool = False,
    ) -> Row:
        """Return `[id:12; 2 days ago] likes tea`. `about`: the name of whom it is about, to stand before it.

        A note that was said on several days has the first and the last. What is over has its month, unless it names
        its time itself. `asks_outcome`: it is a plan of which the reply may ask how it went.
        """
        note = recalled.note
        labels = [f"id:{note.id}"]
        if note.source_kind in _SOURCE_LABELS:
            labels.append(_SOURCE_LABELS[note.source_kind])
        is_over = note.status is NoteStatus.PAST or note.is_over(self.now)
        if not is_over:
            labels.append(self._when_said(note))
        if asks_outcome:
            labels.append("its day has passed: ask how it went")
        text = self.one_line(note.fact, FACT_BYTES)
        if is_over and not periods_in(note.fact.lower()):
            month = f"{local_time(note.last_confirmed_at, self.zone):%B %Y}"
            text = f"in {month}: {text}"
        text = f"[{'; '.join(labels)}] {text}"
        if about:
            text = f"{about}: {text}"
        return Row(text, (("notes", note.id),))

    def named_note_row(self, recalled: Recalled) -> Row:
        """Return a note with the name of whom it is about, who may be anybody, or "channel"."""
        subject_id = recalled.note.subject_id
        about = "channel" if subject_id is None else self.name(subject_id)
        return self.note_row(recalled, about=about)

    def _when_said(self, note: Note) -> str:
        """Return when a note was said: "2 days ago", "2026-03-01", "2025-11-02, again yesterday"."""
        first_day = iso_day(note.first_said_at, self.zone)
        last_day = iso_day(note.last_confirmed_at, self.zone)
        when = last_day
        if self.now - note.last_confirmed_at < _SHOWN_BY_AGE:
            when = self._ago(note.last_confirmed_at)
        if first_day == last_day:
            return when
        return f"{first_day}, again {when}"

    def unsummarised_row(self, line: PromptLine) -> Row:
        """Return `[said today at 20:14, not summarised yet] alice: what she said`."""
        row = self.chat_row(line)
        clock_time = f"{local_time(line.at, self.zone):%H:%M}"
        label = f"[said {self._ago(line.at)} at {clock_time}, not summarised yet]"
        return Row(f"{label} {row.text}", row.rows)

    def event_row(self, event: StreamEvent) -> Row:
        """Return `12 min ago: 120 raiders from Ox have joined!`, with who it was if Twitch's words do not say it."""
        text = self.one_line(event.text)
        name = self.name(event.viewer_id)
        # the viewer of a stream's event only stands for the channel
        is_of_viewer = event.kind is not EventKind.STREAM
        if is_of_viewer and name.casefold() not in text.casefold():
            text = f"{name}: {text}"
        return Row(f"{self._minutes_ago(event)}: {text}", (("events", event.id),))

    def moderation_row(self, event: StreamEvent) -> Row:
        """Return `2 min ago: Bob was banned`, without the row that it is from.

        Anybody may read what explains a reply; what moderators did is for moderators alone.
        """
        return Row(f"{self._minutes_ago(event)}: {one_line(event.text, {})}")

    def past_row(self, past: Past) -> Row:
        """Return an episode or a recap with its date and how long ago that is."""
        day = iso_day(past.at, self.zone)
        when = [day, self._ago(past.at)]
        if past.streams_ago is not None:
            when.append(_streams_ago(past.streams_ago))
        return self._dated_row(past, when)

    def _ago(self, at: int) -> str:
        """Return how many days ago a time (ms) is, in words."""
        return ago(at, self.now, self.zone)

    def _minutes_ago(self, event: StreamEvent) -> str:
        """Return how long ago an event was, in words; "just now" below a minute."""
        minutes = max(0, self.now - event.at) // MINUTE
        return f"{minutes} min ago" if minutes else "just now"


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


def unclear_line(unclear: UnclearName) -> str:
    """Return whom a word may mean: `"bob" may be BobTheBuilder or bob_ross`, of which the reply may ask."""
    word = clip_bytes(clean(unclear.word), NAME_BYTES)
    names = " or ".join(_as_shown(name) for name in unclear.names)
    return f'"{word}" may be {names}: ask who is meant, unless it is plain.'


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
        # one sentence stays, however long it is
        if kept and words > PREFIX_EPISODE_WORDS:
            break
        kept.append(sentence)
    if len(kept) == len(sentences):
        return past
    shown = kept if past.is_recap else kept[::-1]
    return replace(past, text=" ".join(shown))


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


def said_words(line: PromptLine) -> tuple[str | None, str]:
    """Return who said which words, to tell whether a line is repeated."""
    return (line.viewer_id, folded_line(line.text))


def _talk(lines: Sequence[PromptLine]) -> list[PromptLine]:
    """Return the lines that are no commands, since those would push out what people say."""
    return [line for line in lines if not is_command(line.text)]


def are_enough(
    lines: Sequence[PromptLine],
    speaker_id: str,
    now: int,
) -> bool:
    """Return whether the newest lines of chat make all rows of it, so that older ones may stay unread.

    They do if chat is not fast, no two people had the same words, which many may have had before, and enough lines are
    left without commands, the speaker's and repeated ones. What one person says again minutes after many did is a row
    of theirs.
    `lines`: oldest first. `now` in ms.
    """
    if lines[0].at >= now - MEASURED_OVER:
        return False
    others = [line for line in _talk(lines) if line.viewer_id != speaker_id]
    speakers_and_keys = {(line.viewer_id, key_of_line(line.text)) for line in others}
    # more than are shown while chat is not fast: some may speak of what is suppressed
    if len(speakers_and_keys) < FAST.chat_lines:
        return False
    keys = {key for _speaker, key in speakers_and_keys}
    return len(keys) == len(speakers_and_keys)


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
        key = said_words(line)
        if line.event_id in seen_ids:
            continue
        if key in seen_texts:
            continue
        seen_ids.add(line.event_id)
        seen_texts.add(key)
        newest_first.append(line)
    return newest_first[::-1]
