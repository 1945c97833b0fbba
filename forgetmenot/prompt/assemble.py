"""Assembles prompts: `compose_prefix` once per compaction pass, `assemble` for each reply.

Guarantees:
- The sections have a fixed order; the current message is last and appears once.
- Until it is composed again, the prefix has the same bytes for every reply, or is a beginning of them.
- The size stays within the budget.
- Instructions, date, speaker, the speaker's own messages and the current message are never dropped.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.domain import Prompt, PromptLine, Recalled, Section
from forgetmenot.durations import MINUTE
from forgetmenot.prompt import rows
from forgetmenot.prompt.instructions import (
    CONGRATULATE,
    MAY_BE_FOR_OTHERS,
    PREFIX_SHARE,
    instructions,
    posture,
)
from forgetmenot.prompt.material import (
    CHANNEL_NOTES,
    NOTES_PER_OTHER,
    OTHERS,
    OWN_LINES,
    SPEAKER_NOTES,
    Past,
    PersonMentioned,
    Prefix,
    PrefixMaterial,
    TailMaterial,
)
from forgetmenot.prompt.plans import open_outcomes
from forgetmenot.prompt.rows import Block, Row, plain_section
from forgetmenot.prompt.working_set import speed_at, working_set
from forgetmenot.settings.schema import BotSettings, Settings, current_persona
from forgetmenot.text.clean import clean
from forgetmenot.text.days import local_time
from forgetmenot.text.mentions import with_names
from forgetmenot.text.tokens import bytes_for_tokens, clip_bytes
from forgetmenot.text.words import is_german, sentences_of

# When a prompt is too large, rows are dropped in seven fixed steps, no more than needed. The prefix loses whole
# sections from its end, so that what remains is the beginning of the same bytes: a model's server has read those
# already, and charges less for them.


class DropStep(NamedTuple):
    """One step: cut the named section to `keep` rows. A section of the prefix is dropped whole."""

    name: str
    section: str
    keep: int = 0


_REST = (
    "past_episode", "looked_up_past", "spoken", "bot_replies", "actions_done", "channel_notes_asked", "anybody",
    "unsummarised", "others", "chat", "happened", "moderation", "brief", "lore", "channel_notes", "channel",
)  # fmt: skip
DROP_STEPS = (
    DropStep("1 episodes", "episodes"),
    DropStep("2 lore past 5", "lore", 5),
    DropStep("3 channel notes past 3", "digest"),
    DropStep("3 channel notes past 3", "channel_notes_more"),
    DropStep("4 chat past 12", "chat", 12),
    DropStep("5 lore past 2", "lore", 2),
    DropStep("6 chat past 8", "chat", 8),
    DropStep("7 chat past 5", "chat", 5),
    *(DropStep("rest", section) for section in _REST),
)


class PromptDraft:
    """A prompt while it is being made to fit. `prefix[0]`, the instructions, never goes."""

    def __init__(self, prefix: tuple[Section, ...], blocks: list[Block]) -> None:
        self.prefix = list(prefix)
        self.blocks = {block.name: block for block in blocks}
        self.sections = {block.name: block.section() for block in blocks}
        self.dropped: list[Section] = []
        self.shed: list[str] = []

    @property
    def tokens(self) -> int:
        """Return the size of what is in the draft now."""
        sections = (*self.prefix, *self.sections.values())
        return sum(section.tokens for section in sections)

    def fit(self, budget: int) -> None:
        """Take drop steps until the draft fits into a budget of tokens, or none is left to take."""
        for step in DROP_STEPS:
            if self.tokens <= budget:
                return
            if self._step(step, budget) and step.name not in self.shed:
                self.shed.append(step.name)

    def _step(self, step: DropStep, budget: int) -> bool:
        """Take one drop step, and return whether anything was dropped."""
        if step.section in self.blocks:
            return self._shorten(step, budget)
        is_only_instructions = len(self.prefix) == 1
        if is_only_instructions or self.prefix[-1].name != step.section:
            return False
        self.dropped.append(self.prefix.pop())
        return True

    def _shorten(self, step: DropStep, budget: int) -> bool:
        """Drop rows of a block until the draft fits, and return whether any was dropped."""
        whole = self.blocks[step.section]
        other_tokens = self.tokens - self.sections[step.section].tokens
        shortened = whole.within(budget - other_tokens, step.keep)
        self.replace(shortened)
        return len(shortened.rows) < len(whole.rows)

    def replace(self, block: Block) -> None:
        """Put a changed block in the place of the one of its name."""
        self.blocks[block.name] = block
        self.sections[block.name] = block.section()


INSTRUCTIONS = "instructions"
TOP_CHANNEL_NOTES = 3
# What is known about one person has this many tokens at most, and what the streamer said aloud.
VIEWER_MEMORY_TOKENS = 1_000
SPOKEN_TOKENS = 150
# Bytes of a title or category, of an action and of a brief, in a prompt.
CHANNEL_BYTES = 300
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
NOTHING_KNOWN = "You remember nothing about them: do not pretend otherwise."
HAPPENED_LEAD = (
    "What happened on the stream in the last half hour, as Twitch reports it:"
)
# The bot's own last replies in a prompt, so that it does not repeat itself.
BOT_REPLIES = 5
# Bytes of each of the speaker's own lines, tried one after the other, and of the message at the least.
SHORTEST_OWN_BYTES = (rows.OWN_BYTES, 120, 60, 30)
SHORTEST_MESSAGE_BYTES = 90
# How many lines of a question that was typed in several are shown before its last: no more are waited for.
LINES_BEFORE = 3


# ── the prefix ────────────────────────────────────────────────────────────────────────────────


def compose_prefix(material: PrefixMaterial, settings: Settings) -> Prefix:
    """Return the part that stays the same, within its share of the budget; the oldest episodes are the first to go."""
    text = instructions(settings, material.channel, material.actions)
    instructions_section = plain_section(INSTRUCTIONS, f"{text}\n")
    sections = [instructions_section]
    tokens_left = int(settings.prompt.budget_tokens * PREFIX_SHARE)
    tokens_left -= instructions_section.tokens
    for block in _prefix_blocks(material, settings.bot.timezone):
        fitting = block.within(tokens_left)
        if not fitting.rows:
            continue
        section = fitting.section()
        tokens_left -= section.tokens
        sections.append(section)
    text = "".join(section.text for section in sections)
    shown_ids: set[tuple[str, int]] = set()
    for section in sections:
        shown_ids.update(section.rows)
    whole_episodes = []
    for past in material.episodes:
        is_shown = ("episodes", past.id) in shown_ids
        if is_shown and rows.shortened(past) == past:
            whole_episodes.append(past.id)
    return Prefix(text, tuple(sections), tuple(whole_episodes))


def _prefix_blocks(material: PrefixMaterial, zone: str) -> list[Block]:
    """Return the blocks of the prefix behind the instructions, in their order."""
    names = material.names
    shown_notes = material.channel_notes[:CHANNEL_NOTES]
    note_rows = [rows.channel_note_row(note, names, zone) for note in shown_notes]
    shown_episodes = [
        rows.shortened(past) for past in _without_repeated_texts(material.episodes)
    ]
    episode_rows = [rows.past_row(past, names, zone) for past in shown_episodes]
    return [
        Block("channel", _channel_rows(material)),
        Block("channel_notes", tuple(note_rows[:TOP_CHANNEL_NOTES])),
        Block("channel_notes_more", tuple(note_rows[TOP_CHANNEL_NOTES:])),
        Block("digest", _digest_rows(material)),
        Block("episodes", tuple(episode_rows), newest_last=True),
    ]


def _channel_rows(material: PrefixMaterial) -> tuple[Row, ...]:
    """Return the title and the category of the stream, as far as it has them."""
    labelled_texts = (("title", material.title), ("category", material.category))
    channel_rows = []
    for label, text in labelled_texts:
        if text.strip():
            shown_text = rows.one_line(text, material.names, CHANNEL_BYTES)
            channel_rows.append(Row(f"{label}: {shown_text}"))
    return tuple(channel_rows)


def _digest_rows(material: PrefixMaterial) -> tuple[Row, ...]:
    """Return the digest of the week without the sentences of the last recap, which stands behind it."""
    recap_sentences: set[str] = set()
    for past in material.episodes:
        recap_sentences |= _sentences(past.text)
    other_sentences = []
    for sentence in sentences_of(material.digest):
        if sentence.casefold() not in recap_sentences:
            other_sentences.append(sentence)
    text = with_names(" ".join(other_sentences), material.names)
    # a letter of some scripts has three bytes
    digest = rows.one_line(
        text[: rows.DIGEST_CHARS], material.names, 3 * rows.DIGEST_CHARS
    )
    return (Row(digest),) if digest else ()


def _sentences(text: str) -> set[str]:
    """Return the sentences of a text, to be compared."""
    return {sentence.casefold() for sentence in sentences_of(text)}


def _without_repeated_texts(episodes: Sequence[Past]) -> list[Past]:
    """Return the episodes that say more than those before them.

    A short stream's recap may say all that its episode does.
    """
    shown_episodes: list[Past] = []
    shown_sentences: set[str] = set()
    for past in episodes:
        sentences = _sentences(past.text)
        if not sentences <= shown_sentences:
            shown_episodes.append(past)
            shown_sentences |= sentences
    return shown_episodes


# ── the prompt of one message ─────────────────────────────────────────────────────────────────


def assemble(
    prefix: Prefix,
    material: TailMaterial,
    settings: Settings,
) -> Prompt:
    """Return the prompt for one message, never larger than the budget."""
    zone = settings.bot.timezone
    material = _without_repeats(_without_hidden(material))
    if is_answered_in_german(material.message.text, settings):
        material = replace(material, language="German")
    now_section = _now_section(material, zone)
    speaker_section = _speaker_section(material, zone)
    budget_left = settings.prompt.budget_tokens
    budget_left -= now_section.tokens + speaker_section.tokens
    material = _without_texts_of(prefix, material)
    draft = PromptDraft(prefix.sections, _blocks(material, zone))
    draft.fit(budget_left)
    # what is left is never dropped, and long lines of it may still not fit
    if draft.tokens > budget_left:
        _tighten(draft, material, budget_left)
    return _prompt(draft, [now_section, speaker_section])


def is_answered_in_german(message: str, settings: Settings) -> bool:
    """Return whether a German message has a German answer, which small models have to be told."""
    # the default leaves the language to the model; a language of the streamer's stands in the instructions
    is_left_to_model = (
        current_persona(settings).language == BotSettings().reply_language
    )
    return is_left_to_model and is_german(message)


def split(prompt: Prompt) -> tuple[str, str]:
    """Return the prompt as a model takes it: the instructions as its system text, and all that is data."""
    system = prompt.sections[0].text
    return system.strip(), prompt.prefix[len(system) :] + prompt.tail


def _prompt(draft: PromptDraft, first_sections: list[Section]) -> Prompt:
    """Return the prompt of a draft that fits, with these sections between its prefix and its blocks."""
    tail_sections = []
    for section in (*first_sections, *draft.sections.values()):
        if section.text or section.dropped:
            tail_sections.append(section)
    # dropped from the end, so the last one is the first of them in the prompt
    dropped_sections = [_emptied(section) for section in reversed(draft.dropped)]
    sections = (*draft.prefix, *dropped_sections, *tail_sections)
    return Prompt(
        prefix="".join(section.text for section in draft.prefix),
        tail="".join(section.text for section in tail_sections).rstrip("\n"),
        sections=sections,
        estimated_tokens=sum(section.tokens for section in sections),
        shed=tuple(draft.shed),
    )


def _emptied(section: Section) -> Section:
    """Return a dropped section, with the number of its rows."""
    dropped_rows = max(1, len(section.rows) + section.dropped)
    return replace(
        section,
        text="",
        tokens=0,
        rows=(),
        dropped=dropped_rows,
    )


def _tighten(
    draft: PromptDraft,
    material: TailMaterial,
    budget: int,
) -> None:
    """Shorten the lines that are never dropped until they fit, the message last. None is left out."""
    for max_bytes in SHORTEST_OWN_BYTES:
        draft.replace(_own_block(material, max_bytes))
        if draft.tokens <= budget:
            return
    other_tokens = draft.tokens - draft.sections["message"].tokens
    empty_block = _message_block(material, 0)
    empty_bytes = len(empty_block.text().encode())
    spare_bytes = bytes_for_tokens(budget - other_tokens) - empty_bytes
    bytes_per_line = spare_bytes // len(empty_block.rows)
    max_bytes = max(SHORTEST_MESSAGE_BYTES, bytes_per_line)
    draft.replace(_message_block(material, max_bytes))


# ── what is left out ──────────────────────────────────────────────────────────────────────────


def _without_hidden(material: TailMaterial) -> TailMaterial:
    """Return the material without hidden people, their lines and the notes about them; the speaker always stays."""
    hidden = material.hidden - {material.speaker.id}
    names = {
        viewer_id: name
        for viewer_id, name in material.names.items()
        if viewer_id not in hidden
    }
    names[material.speaker.id] = rows.name_of(material.speaker)
    others = [other for other in material.others if other.viewer.id not in hidden]
    happened = [event for event in material.happened if event.viewer_id not in hidden]
    return replace(
        material,
        names=names,
        others=tuple(others),
        anybody=_about_shown(material.anybody, hidden),
        looked_up=_about_shown(material.looked_up, hidden),
        unsummarised=_lines_of_shown(material.unsummarised, hidden),
        happened=tuple(happened),
        chat=_lines_of_shown(material.chat, hidden),
    )


def _about_shown(
    recalled: Sequence[Recalled], hidden: Collection[str]
) -> tuple[Recalled, ...]:
    """Return the notes that are about nobody hidden."""
    return tuple(hit for hit in recalled if hit.note.subject_id not in hidden)


def _lines_of_shown(
    lines: Sequence[PromptLine], hidden: Collection[str]
) -> tuple[PromptLine, ...]:
    """Return the lines that nobody hidden said."""
    return tuple(line for line in lines if line.viewer_id not in hidden)


def _without_repeats(material: TailMaterial) -> TailMaterial:
    """Return the material with each line of chat once, where it tells most; the newest own lines only."""
    current = (*material.before, material.message)
    ids = {line.event_id for line in current}
    texts = {(line.viewer_id, clean(line.text).casefold()) for line in current}
    # each call adds what it returns to `ids` and `texts`, so their order matters: what stands in the conversation with
    # the speaker is not shown again among the chat
    oldest_first = reversed(material.unsummarised)
    unsummarised = rows.without_repeats(oldest_first, ids, texts)
    own_lines = rows.without_repeats(material.own_lines[-OWN_LINES:], ids, texts)
    thread = rows.without_repeats(material.thread, ids, texts)
    chat = rows.without_repeats(material.chat, ids, texts)
    bot_replies = rows.without_repeats(material.bot_replies, ids, texts)
    return replace(
        material,
        unsummarised=tuple(reversed(unsummarised)),
        own_lines=tuple(own_lines),
        thread=tuple(thread),
        chat=tuple(chat),
        bot_replies=tuple(bot_replies),
    )


def _without_texts_of(prefix: Prefix, material: TailMaterial) -> TailMaterial:
    """Return the material without past episodes whose text the prefix shows, as that of another row."""

    def is_new(past: Past) -> bool:
        # the prefix has no minutes
        if past.minutes:
            return True
        text = rows.one_line(past.text, material.names, rows.SUMMARY_BYTES)
        return text not in prefix.text

    return replace(
        material,
        past_episodes=tuple(filter(is_new, material.past_episodes)),
        looked_up_past=tuple(filter(is_new, material.looked_up_past)),
    )


# ── sections of our own words ─────────────────────────────────────────────────────────────────


def _now_section(material: TailMaterial, zone: str) -> Section:
    """Return the date, the time, and for how long the stream has been live."""
    live = ""
    # a clock may be behind Twitch's, by which the stream began
    if material.live_since and material.live_since <= material.now:
        minutes_live = (material.now - material.live_since) // MINUTE
        hours, minutes = divmod(minutes_live, 60)
        live = f"; the stream has been live for {hours} h {minutes} min"
    # without a zone's name: where the streamer lives is nobody's business
    today = f"{local_time(material.now, zone):%A, %Y-%m-%d, %H:%M}"
    return plain_section("now", f"Today is {today}{live}.\n\n")


def _speaker_section(material: TailMaterial, zone: str) -> Section:
    """Return who speaks, how to treat them, and what has to be said where nothing is known of them."""
    line = rows.speaker_line(
        material.speaker, material.streams, zone, material.together
    )
    row = Row(line)
    block_text = Block("speaker", (row,)).text().rstrip("\n")
    text_lines = [block_text, posture(material.speaker.role, material.standing)]
    if not _is_anything_known(material):
        text_lines.append(NOTHING_KNOWN)
    if not material.is_addressed:
        text_lines.append(MAY_BE_FOR_OTHERS)
    if material.congratulate_at:
        text_lines.append(CONGRATULATE)
    text = "\n".join(text_lines)
    return plain_section("speaker", f"{text}\n\n")


def _is_anything_known(material: TailMaterial) -> bool:
    """Return whether the prompt has a note, a brief or a line without a summary of the speaker."""
    if material.notes or material.brief.strip():
        return True
    return any(line.viewer_id == material.speaker.id for line in material.unsummarised)


# ── blocks ────────────────────────────────────────────────────────────────────────────────────


def _blocks(material: TailMaterial, zone: str) -> list[Block]:
    """Return what may be dropped, and the two that never are, in their order: the message is last."""
    return [
        *_memory_blocks(material, zone),
        *_conversation_blocks(material),
        *_looked_up_blocks(material, zone),
        _message_block(material, rows.MESSAGE_BYTES),
    ]


def _memory_blocks(material: TailMaterial, zone: str) -> list[Block]:
    """Return what is known: about the speaker, people they mention, anybody, the channel, past streams."""
    names = material.names
    brief = _brief_block(material)
    # a brief is made of the same notes: both together have the tokens that one viewer's memory may take
    tokens_for_notes = VIEWER_MEMORY_TOKENS
    if brief.rows:
        tokens_for_notes -= brief.section().tokens
    channel_rows = []
    for recalled in material.channel:
        channel_rows.append(rows.channel_note_row(recalled.note, names, zone))
    unsummarised_rows = []
    for line in material.unsummarised:
        row = rows.unsummarised_row(line, names, material.now, zone)
        unsummarised_rows.append(row)
    return [
        brief,
        _speaker_notes_block(material, zone).within(tokens_for_notes),
        _others_block(material, zone),
        Block("anybody", _named_rows(material.anybody, material, zone), ANYBODY_LEAD),
        Block("channel_notes_asked", tuple(channel_rows)),
        Block(
            "past_episode",
            _past_rows(material.past_episodes, material, zone),
            BOOK_LEAD if any(past.minutes for past in material.past_episodes) else "",
        ),
        Block("unsummarised", tuple(unsummarised_rows)),
    ]


def _conversation_blocks(material: TailMaterial) -> list[Block]:
    """Return what was said and done lately: on the stream, with the speaker, in chat, by the bot."""
    names = material.names
    now = material.now
    spoken = [rows.chat_row(line, names) for line in material.spoken]
    moderation = [rows.moderation_row(event, now) for event in material.moderation]
    happened = [rows.event_row(event, names, now) for event in material.happened]
    speed = speed_at(now, [line.at for line in material.chat])
    chat = rows.chat_rows(material.chat, names, working_set(speed).chat_lines)
    bot_replies = []
    for line in material.bot_replies[-BOT_REPLIES:]:
        text = rows.one_line(line.text, names, rows.LINE_BYTES)
        bot_replies.append(Row(text, (("replies", line.id),)))
    actions_done = []
    for action in material.actions_done:
        text = rows.one_line(action.text, names, ACTION_BYTES)
        actions_done.append(Row(text, (("actions", action.id),)))
    spoken_block = _newest_last("spoken", spoken, SPOKEN_LEAD)
    return [
        spoken_block.within(SPOKEN_TOKENS),
        _own_block(material),
        _newest_last("moderation", moderation, MODERATION_LEAD),
        _newest_last("happened", happened, HAPPENED_LEAD),
        _newest_last("chat", chat, CHAT_LEAD),
        _newest_last("bot_replies", bot_replies, BOT_REPLIES_LEAD),
        _newest_last("actions_done", actions_done, ACTIONS_LEAD),
    ]


def _looked_up_blocks(material: TailMaterial, zone: str) -> list[Block]:
    """Return what the model looked up by words of its own: notes and past episodes, under one lead."""
    note_rows = _named_rows(material.looked_up, material, zone)
    past_rows = _past_rows(material.looked_up_past, material, zone)
    lead = LOOKED_UP_LEAD if note_rows or past_rows else ""
    notes_block = Block("looked_up", note_rows, lead)
    return [
        notes_block.within(VIEWER_MEMORY_TOKENS),
        Block("looked_up_past", past_rows),
    ]


def _newest_last(name: str, block_rows: Sequence[Row], lead: str) -> Block:
    """Return a block that is read from top to bottom as time went by: its first rows are dropped first."""
    return Block(name, tuple(block_rows), lead, newest_last=True)


def _named_rows(
    recalled_notes: Sequence[Recalled],
    material: TailMaterial,
    zone: str,
) -> tuple[Row, ...]:
    """Return notes that may be about anybody, each with a name."""
    note_rows = []
    for recalled in recalled_notes:
        row = rows.named_note_row(recalled, material.names, material.now, zone)
        note_rows.append(row)
    return tuple(note_rows)


def _past_rows(
    episodes: Sequence[Past],
    material: TailMaterial,
    zone: str,
) -> tuple[Row, ...]:
    """Return past episodes, each with how long ago it was."""
    past_rows = []
    for past in episodes:
        past_rows.append(rows.past_row(past, material.names, zone, material.now))
    return tuple(past_rows)


def _speaker_notes_block(material: TailMaterial, zone: str) -> Block:
    """Return the notes about the speaker, with a mark at plans of which the reply may ask how they went."""
    plan_ids = _open_plan_ids(material, zone)
    note_rows = []
    for recalled in material.notes[:SPEAKER_NOTES]:
        row = rows.note_row(
            recalled,
            material.names,
            material.now,
            zone,
            asks_outcome=recalled.note.id in plan_ids,
        )
        note_rows.append(row)
    return Block("lore", tuple(note_rows), SPEAKER_LEAD)


def _open_plan_ids(material: TailMaterial, zone: str) -> set[int]:
    """Return the ids of the speaker's notes with a plan of which the reply may ask how it went."""
    notes = [recalled.note for recalled in material.notes]
    lines = (*material.own_lines, *material.before, material.message)
    plans = open_outcomes(notes, lines, material.left_at, material.now, zone)
    return {note.id for note in plans}


def _brief_block(material: TailMaterial) -> Block:
    """Return who the speaker is; a block without a row where no brief is written."""
    row = _brief_row(material.brief, material.brief_notes, material.names)
    return Block("brief", (row,) if row.text else ())


def _brief_row(
    brief: str,
    note_ids: tuple[int, ...],
    names: rows.Names,
    about: str = "",
) -> Row:
    """Return who somebody is, in one line with the notes that it is made of; an empty row without a brief."""
    max_bytes = bytes_for_tokens(VIEWER_MEMORY_TOKENS // 3)
    text = clip_bytes(rows.one_line(brief, names, BRIEF_BYTES), max_bytes)
    if about and text:
        text = f"{about}: {text}"
    return Row(text, tuple(("notes", note_id) for note_id in note_ids))


def _others_block(material: TailMaterial, zone: str) -> Block:
    """Return names that may mean several people, and what is known about the people who are mentioned."""
    all_rows = [Row(rows.unclear_line(unclear)) for unclear in material.unclear_names]
    for other in material.others[:OTHERS]:
        person_block = Block("others", _person_rows(other, material, zone))
        all_rows += person_block.within(VIEWER_MEMORY_TOKENS).rows
    return Block("others", tuple(all_rows), OTHERS_LEAD)


def _person_rows(
    other: PersonMentioned,
    material: TailMaterial,
    zone: str,
) -> tuple[Row, ...]:
    """Return how to call somebody who is mentioned, their brief and their notes, each with their name."""
    about = rows.name_of(other.viewer)
    names = material.names
    person_rows = []
    wishes = rows.wishes_of(other.viewer)
    # a word of the language that may be their name mostly is not
    if wishes and not other.ordinary_word:
        person_rows.append(Row(f"{about}: {'; '.join(wishes)}"))
    if other.brief:
        person_rows.append(_brief_row(other.brief, other.brief_notes, names, about))
    for recalled in other.notes[:NOTES_PER_OTHER]:
        row = rows.note_row(recalled, names, material.now, zone, about=about)
        person_rows.append(row)
    return tuple(person_rows)


def _own_block(material: TailMaterial, max_bytes: int = rows.OWN_BYTES) -> Block:
    """Return the thread with the speaker: what they said just before and what the bot said to them, in order."""
    lines = sorted((*material.own_lines, *material.thread), key=lambda line: line.at)
    line_rows = [rows.chat_row(line, material.names, max_bytes) for line in lines]
    return Block("own_messages", tuple(line_rows), CONVERSATION_LEAD)


def _message_block(material: TailMaterial, max_bytes: int) -> Block:
    """Return the message to answer, with the lines that it continues. `max_bytes`: of each line."""
    names = material.names
    line_rows = []
    for line in material.before[-LINES_BEFORE:]:
        line_rows.append(rows.chat_row(line, names, min(rows.LINE_BYTES, max_bytes)))
    line_rows.append(rows.chat_row(material.message, names, max_bytes))
    speaker_name = rows.name_of(material.speaker)
    in_language = f" in {material.language}" if material.language else ""
    lead = f"{speaker_name}'s message, which you answer{in_language}:"
    return Block("message", tuple(line_rows), lead)
