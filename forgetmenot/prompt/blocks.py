"""Builds the blocks of a prompt's tail: what is known, what was said and done lately, and the message. Pure.

Each block has a name, a sentence that leads to it, and rows, the most valuable first or the newest last.
"""

from collections.abc import Sequence

from msgspec import Struct

from forgetmenot.domain import Recalled
from forgetmenot.prompt.chat_speed import speed_at, working_set
from forgetmenot.prompt.material import (
    NOTES_PER_OTHER,
    OTHERS,
    SPEAKER_NOTES,
    Past,
    PersonMentioned,
    TailMaterial,
)
from forgetmenot.prompt.rows import (
    LINE_BYTES,
    MESSAGE_BYTES,
    OWN_BYTES,
    Block,
    Row,
    TailRowWriter,
    name_of,
    unclear_line,
    wishes_of,
)
from forgetmenot.prompt.viewer_plans import open_outcomes
from forgetmenot.text.tokens import bytes_for_tokens, clip_bytes

# What is known about one person has this many tokens at most, and what the streamer said aloud.
VIEWER_MEMORY_TOKENS = 1_000
SPOKEN_TOKENS = 150
# Bytes of an action and of a brief in a prompt.
ACTION_BYTES = 200
BRIEF_BYTES = 1_500
# What stands before a block in the prompt.
SPEAKER_LEAD = "What you know about them:"
OTHERS_LEAD = "What you know about people they mention:"
ANYBODY_LEAD = "What you know about anybody that may answer this:"
BOOK_LEAD = "They ask when it was: say the day, the minute of the stream, and the video's link as it stands."
LOOKED_UP_LEAD = "What you found when you looked it up:"
CONVERSATION_LEAD = "The conversation with them so far:"
CHAT_LEAD = "The channel lately:"
ACTIONS_LEAD = "What you really did lately:"
BOT_REPLIES_LEAD = "Your own last lines; do not reuse their openers or phrases:"
SPOKEN_LEAD = "The streamer said aloud just now (speech recognition: names and words may be misheard):"
MODERATION_LEAD = "What moderators did lately; Twitch does not say which of them:"
HAPPENED_LEAD = (
    "What happened on the stream in the last half hour, as Twitch reports it:"
)
# The bot's own last replies in a prompt, so that it does not repeat itself.
BOT_REPLIES = 5
# How many lines of a question that was typed in several are shown before its last: no more are waited for.
LINES_BEFORE = 3


class TailBlocks(Struct, frozen=True):
    """The blocks of one message's tail, from what was read for it."""

    material: TailMaterial
    rows: TailRowWriter

    def in_order(self) -> list[Block]:
        """Return all blocks as they stand in the prompt: the message is last."""
        return [
            *self._memory(),
            *self._conversation(),
            *self._looked_up(),
            self.message(MESSAGE_BYTES),
        ]

    # ── what is known ─────────────────────────────────────────────────────────────────────────

    def _memory(self) -> list[Block]:
        """Return what is known: about the speaker, people they mention, anybody, the channel, past streams."""
        brief = self._brief()
        # a brief is made of the same notes: both together have the tokens that one viewer's memory may take
        tokens_for_notes = VIEWER_MEMORY_TOKENS
        if brief.rows:
            tokens_for_notes -= brief.section().tokens
        return [
            brief,
            self._speaker_notes().within(tokens_for_notes),
            self._others(),
            Block("anybody", self._named_rows(self.material.anybody), ANYBODY_LEAD),
            self._channel_notes(),
            self._past_episodes(),
            self._unsummarised(),
        ]

    def _brief(self) -> Block:
        """Return who the speaker is; a block without a row where no brief is written."""
        row = self._brief_row(self.material.brief, self.material.brief_notes)
        return Block("brief", (row,) if row.text else ())

    def _brief_row(
        self,
        brief: str,
        note_ids: tuple[int, ...],
        about: str = "",
    ) -> Row:
        """Return who somebody is, in one line with the notes that it is made of; an empty row without a brief."""
        max_bytes = bytes_for_tokens(VIEWER_MEMORY_TOKENS // 3)
        text = clip_bytes(self.rows.one_line(brief, BRIEF_BYTES), max_bytes)
        if about and text:
            text = f"{about}: {text}"
        return Row(text, tuple(("notes", note_id) for note_id in note_ids))

    def _speaker_notes(self) -> Block:
        """Return the notes about the speaker, with a mark at plans of which the reply may ask how they went."""
        plan_ids = self._open_plan_ids()
        note_rows = []
        for recalled in self.material.notes[:SPEAKER_NOTES]:
            is_open_plan = recalled.note.id in plan_ids
            note_rows.append(self.rows.note_row(recalled, asks_outcome=is_open_plan))
        return Block("lore", tuple(note_rows), SPEAKER_LEAD)

    def _open_plan_ids(self) -> set[int]:
        """Return the ids of the speaker's notes with a plan of which the reply may ask how it went."""
        material = self.material
        plans = open_outcomes(
            notes=[recalled.note for recalled in material.notes],
            lines=(*material.own_lines, *material.before, material.message),
            left_at=material.left_at,
            now=material.now,
            zone=self.rows.zone,
        )
        return {note.id for note in plans}

    def _others(self) -> Block:
        """Return names that may mean several people, and what is known about the people who are mentioned."""
        all_rows = []
        for unclear in self.material.unclear_names:
            all_rows.append(Row(unclear_line(unclear)))
        for other in self.material.others[:OTHERS]:
            person_block = Block("others", self._person_rows(other))
            all_rows += person_block.within(VIEWER_MEMORY_TOKENS).rows
        return Block("others", tuple(all_rows), OTHERS_LEAD)

    def _person_rows(self, other: PersonMentioned) -> tuple[Row, ...]:
        """Return how to call somebody who is mentioned, their brief and their notes, each with their name."""
        about = name_of(other.viewer)
        person_rows = []
        wishes = wishes_of(other.viewer)
        # a word of the language that may be their name mostly is not
        if wishes and not other.ordinary_word:
            person_rows.append(Row(f"{about}: {'; '.join(wishes)}"))
        if other.brief:
            person_rows.append(self._brief_row(other.brief, other.brief_notes, about))
        for recalled in other.notes[:NOTES_PER_OTHER]:
            person_rows.append(self.rows.note_row(recalled, about=about))
        return tuple(person_rows)

    def _channel_notes(self) -> Block:
        """Return the notes about the channel that fit the message and stand in no prefix."""
        note_rows = []
        for recalled in self.material.channel:
            note_rows.append(self.rows.channel_note_row(recalled.note))
        return Block("channel_notes_asked", tuple(note_rows))

    def _past_episodes(self) -> Block:
        """Return the episodes that the message is about; with minutes if it asks when something was."""
        episodes = self.material.past_episodes
        asks_when = any(past.minutes for past in episodes)
        lead = BOOK_LEAD if asks_when else ""
        return Block("past_episode", self._past_rows(episodes), lead)

    def _unsummarised(self) -> Block:
        """Return the lines that fit the message and are in no summary yet."""
        line_rows = map(self.rows.unsummarised_row, self.material.unsummarised)
        return Block("unsummarised", tuple(line_rows))

    def _named_rows(self, recalled_notes: Sequence[Recalled]) -> tuple[Row, ...]:
        """Return notes that may be about anybody, each with a name."""
        return tuple(map(self.rows.named_note_row, recalled_notes))

    def _past_rows(self, episodes: Sequence[Past]) -> tuple[Row, ...]:
        """Return past episodes, each with how long ago it was."""
        return tuple(map(self.rows.past_row, episodes))

    # ── what was said and done lately ─────────────────────────────────────────────────────────

    def _conversation(self) -> list[Block]:
        """Return what was said and done lately: on the stream, with the speaker, in chat, by the bot."""
        material = self.material
        spoken = list(map(self.rows.chat_row, material.spoken))
        moderation = list(map(self.rows.moderation_row, material.moderation))
        happened = list(map(self.rows.event_row, material.happened))
        spoken_block = _newest_last("spoken", spoken, SPOKEN_LEAD)
        return [
            spoken_block.within(SPOKEN_TOKENS),
            self.own_messages(),
            _newest_last("moderation", moderation, MODERATION_LEAD),
            _newest_last("happened", happened, HAPPENED_LEAD),
            self._chat(),
            self._bot_replies(),
            self._actions_done(),
        ]

    def own_messages(self, max_bytes: int = OWN_BYTES) -> Block:
        """Return the thread with the speaker: what they said just before and what the bot said to them, in order.

        `max_bytes`: of each line.
        """
        lines = [*self.material.own_lines, *self.material.thread]
        lines.sort(key=lambda line: line.at)
        line_rows = [self.rows.chat_row(line, max_bytes) for line in lines]
        return Block("own_messages", tuple(line_rows), CONVERSATION_LEAD)

    def _chat(self) -> Block:
        """Return the newest lines of chat, as many as its speed asks for."""
        lines = self.material.chat
        line_times = [line.at for line in lines]
        speed = speed_at(self.material.now, line_times)
        limit = working_set(speed).chat_lines
        chat_rows = self.rows.chat_rows(lines, limit)
        return _newest_last("chat", chat_rows, CHAT_LEAD)

    def _bot_replies(self) -> Block:
        """Return the bot's last replies, so that it does not repeat itself."""
        reply_rows = []
        for line in self.material.bot_replies[-BOT_REPLIES:]:
            text = self.rows.one_line(line.text)
            reply_rows.append(Row(text, (("replies", line.id),)))
        return _newest_last("bot_replies", reply_rows, BOT_REPLIES_LEAD)

    def _actions_done(self) -> Block:
        """Return what the bot really did lately."""
        action_rows = []
        for action in self.material.actions_done:
            text = self.rows.one_line(action.text, ACTION_BYTES)
            action_rows.append(Row(text, (("actions", action.id),)))
        return _newest_last("actions_done", action_rows, ACTIONS_LEAD)

    # ── what the model asked for, and what it answers ─────────────────────────────────────────

    def _looked_up(self) -> list[Block]:
        """Return what the model looked up by words of its own: notes and past episodes, under one lead."""
        note_rows = self._named_rows(self.material.looked_up)
        past_rows = self._past_rows(self.material.looked_up_past)
        lead = LOOKED_UP_LEAD if note_rows or past_rows else ""
        notes_block = Block("looked_up", note_rows, lead)
        return [
            notes_block.within(VIEWER_MEMORY_TOKENS),
            Block("looked_up_past", past_rows),
        ]

    def message(self, max_bytes: int) -> Block:
        """Return the message to answer, with the lines that it continues. `max_bytes`: of each line."""
        material = self.material
        bytes_before = min(LINE_BYTES, max_bytes)
        line_rows = []
        for line in material.before[-LINES_BEFORE:]:
            line_rows.append(self.rows.chat_row(line, bytes_before))
        line_rows.append(self.rows.chat_row(material.message, max_bytes))
        speaker_name = name_of(material.speaker)
        in_language = f" in {material.language}" if material.language else ""
        lead = f"{speaker_name}'s message, which you answer{in_language}:"
        return Block("message", tuple(line_rows), lead)


def _newest_last(
    name: str,
    block_rows: Sequence[Row],
    lead: str,
) -> Block:
    """Return a block that is read from top to bottom as time went by: its first rows are dropped first."""
    return Block(name, tuple(block_rows), lead, newest_last=True)
