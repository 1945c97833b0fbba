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

from forgetmenot.domain import Prompt, Recalled, Section
from forgetmenot.durations import MINUTE
from forgetmenot.prompt import rows
from forgetmenot.prompt.instructions import (
    MAY_BE_FOR_OTHERS,
    PREFIX_SHARE,
    instructions,
    posture,
)
from forgetmenot.prompt.material import (
    CHANNEL_NOTES,
    CHAT_LINES,
    NOTES_PER_OTHER,
    OTHERS,
    OWN_LINES,
    SPEAKER_NOTES,
    Past,
    Prefix,
    PrefixMaterial,
    TailMaterial,
)
from forgetmenot.prompt.plans import open_outcomes
from forgetmenot.prompt.rows import Block, Row, plain_section
from forgetmenot.settings.schema import BotSettings, Settings, current_persona
from forgetmenot.text.clean import clean
from forgetmenot.text.days import local_time
from forgetmenot.text.mentions import with_names
from forgetmenot.text.tokens import bytes_for_tokens, clip_bytes
from forgetmenot.text.words import is_german, sentences_of

# When a prompt is too large, rows are dropped in seven fixed steps, no more than needed. Never dropped: instructions,
# date, speaker, the speaker's own messages and the current message. The prefix loses whole sections from its end, so
# that what remains is the beginning of the same bytes.


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
        """Return the size of what is in it now."""
        sections = (*self.prefix, *self.sections.values())
        return sum(section.tokens for section in sections)

    def fit(self, budget: int) -> None:
        """Take one drop step after another until it fits or only what is never dropped is left."""
        for step in DROP_STEPS:
            if self.tokens <= budget:
                return
            if self._step(step, budget) and step.name not in self.shed:
                self.shed.append(step.name)

    def _step(self, step: DropStep, budget: int) -> bool:
        """Take one drop step, and return whether anything was dropped."""
        if step.section in self.blocks:
            whole = self.blocks[step.section]
            spare = budget - self.tokens + self.sections[step.section].tokens
            self.replace(whole.within(spare, step.keep))
            return len(self.blocks[step.section].rows) < len(whole.rows)
        if len(self.prefix) > 1 and self.prefix[-1].name == step.section:
            self.dropped.append(self.prefix.pop())
            return True
        return False

    def replace(self, block: Block) -> None:
        """Put a changed block in the place of the one of its name."""
        self.blocks[block.name] = block
        self.sections[block.name] = block.section()


INSTRUCTIONS = "instructions"
TOP_CHANNEL_NOTES = 3
VIEWER_MEMORY_TOKENS = 1_000
# Bytes of a title or category, of an action and of a brief, in a prompt.
CHANNEL_BYTES = 300
ACTION_BYTES = 200
BRIEF_BYTES = 1_500
SPEAKER_LEAD = "What you know about them:"
BOT_REPLIES_LEAD = "Your own last lines; do not reuse their openers or phrases:"
LOOKED_UP_LEAD = "What you found when you looked it up:"
ANYBODY_LEAD = "What you know about anybody that may answer this:"
SPOKEN_TOKENS = 150
SPOKEN_LEAD = "The streamer said aloud just now (speech recognition: names and words may be misheard):"
MODERATION_LEAD = "What moderators did lately; Twitch does not say which of them:"
HAPPENED_LEAD = (
    "What happened on the stream in the last half hour, as Twitch reports it:"
)
# The bot's own last replies in a prompt, so that it does not repeat itself.
BOT_REPLIES = 5
SHORTEST_OWN_BYTES = (rows.OWN_BYTES, 120, 60, 30)
SHORTEST_MESSAGE_BYTES = 90


def compose_prefix(material: PrefixMaterial, settings: Settings) -> Prefix:
    """Return the part that stays the same, within its share of the budget; the oldest episodes are the first to go."""
    text = instructions(settings, material.channel, material.actions)
    sections = [plain_section(INSTRUCTIONS, text + "\n")]
    tokens_left = int(settings.prompt.budget_tokens * PREFIX_SHARE) - sections[0].tokens
    for block in _prefix_blocks(material, settings.bot.timezone):
        fitting = block.within(tokens_left)
        if not fitting.rows:
            continue
        section = fitting.section()
        tokens_left -= section.tokens
        sections.append(section)
    return Prefix("".join(section.text for section in sections), tuple(sections))


def _prefix_blocks(material: PrefixMaterial, zone: str) -> list[Block]:
    names = material.names
    shown_notes = material.channel_notes[:CHANNEL_NOTES]
    notes = [rows.channel_note_row(note, names, zone) for note in shown_notes]
    channel = []
    for key, value in (("title", material.title), ("category", material.category)):
        if value.strip():
            channel.append(Row(f"{key}: {rows.one_line(value, names, CHANNEL_BYTES)}"))
    past = [
        rows.past_row(past, names, zone)
        for past in _without_repeated_texts(material.episodes)
    ]
    past_text = " ".join(row.text for row in past)
    digest_start = with_names(material.digest, names)[: rows.DIGEST_CHARS]
    digest = rows.one_line(digest_start, names, 3 * rows.DIGEST_CHARS)
    # the digest of a week with one stream is that stream's recap
    shows_digest = digest and digest not in past_text
    return [
        Block("channel", tuple(channel)),
        Block("channel_notes", tuple(notes[:TOP_CHANNEL_NOTES])),
        Block("channel_notes_more", tuple(notes[TOP_CHANNEL_NOTES:])),
        Block("digest", (Row(digest),) if shows_digest else ()),
        Block("episodes", tuple(past), newest_last=True),
    ]


def _without_repeated_texts(episodes: Sequence[Past]) -> list[Past]:
    """Return the episodes that say more than those before them.

    A short stream's recap may say all that its episode does.
    """
    shown: list[Past] = []
    shown_sentences: set[str] = set()
    for past in episodes:
        sentences = {sentence.casefold() for sentence in sentences_of(past.text)}
        if not sentences <= shown_sentences:
            shown.append(past)
            shown_sentences |= sentences
    return shown


def assemble(
    prefix: Prefix,
    material: TailMaterial,
    settings: Settings,
) -> Prompt:
    """Return the prompt for one message, never larger than the budget."""
    budget = settings.prompt.budget_tokens
    language = (
        "German" if is_answered_in_german(material.message.text, settings) else ""
    )
    material = replace(_without_hidden(material), language=language)
    zone = settings.bot.timezone
    now = _now(material, zone)
    speaker = _speaker(material, zone)
    room = budget - now.tokens - speaker.tokens
    material = _without_texts_of(prefix, material)
    draft = PromptDraft(prefix.sections, _blocks(material, zone))
    draft.fit(room)
    # what is left is never dropped, and long lines of it may still not fit
    if draft.tokens > room:
        _tighten(draft, material, room)
    return _prompt(draft, [now, speaker])


def is_answered_in_german(message: str, settings: Settings) -> bool:
    """Return whether a German message has a German answer, which small models have to be told."""
    # the default leaves the language to the model; a language of the streamer's stands in the instructions
    return current_persona(
        settings
    ).language == BotSettings().reply_language and is_german(message)


def split(prompt: Prompt) -> tuple[str, str]:
    """Return the prompt as a model takes it: the instructions as system text, and everything that is data."""
    system = prompt.sections[0].text
    return system.strip(), prompt.prefix[len(system) :] + prompt.tail


def _prompt(draft: PromptDraft, first: list[Section]) -> Prompt:
    tail = [*first, *draft.sections.values()]
    shown = [section for section in tail if section.text or section.dropped]
    # dropped from the end, so the last one is the first of them in the prompt
    dropped_sections = [_emptied(section) for section in reversed(draft.dropped)]
    every = (*draft.prefix, *dropped_sections, *shown)
    return Prompt(
        prefix="".join(section.text for section in draft.prefix),
        tail="".join(section.text for section in shown).rstrip("\n"),
        sections=every,
        estimated_tokens=sum(section.tokens for section in every),
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
    room: int,
) -> None:
    """Shorten the lines that are never dropped until they fit, the message last. None is left out."""
    for max_bytes in SHORTEST_OWN_BYTES:
        draft.replace(_own_block(material, max_bytes))
        if draft.tokens <= room:
            return
    allowed = room - draft.tokens + draft.sections["message"].tokens
    empty = _message_block(material, 0)
    spare = bytes_for_tokens(allowed) - len(empty.text().encode())
    draft.replace(
        _message_block(material, max(SHORTEST_MESSAGE_BYTES, spare // len(empty.rows)))
    )


def _without_hidden(material: TailMaterial) -> TailMaterial:
    """Return the material without hidden viewers and repeated lines."""
    hidden = material.hidden - {material.speaker.id}
    names = {key: name for key, name in material.names.items() if key not in hidden}
    current = (*material.before, material.message)
    ids = {line.event_id for line in current}
    texts = {(line.viewer_id, clean(line.text).casefold()) for line in current}
    fresh = [line for line in material.unsummarised if line.viewer_id not in hidden]
    # newest first, and of repeated words the newest is kept
    fresh = rows.without_repeats(reversed(fresh), ids, texts)[::-1]
    # in this order: what stands in the conversation with them is not shown again among the chat
    own = rows.without_repeats(material.own_lines[-OWN_LINES:], ids, texts)
    thread = rows.without_repeats(material.thread, ids, texts)
    visible_chat = [line for line in material.chat if line.viewer_id not in hidden]
    chat = rows.without_repeats(visible_chat, ids, texts)
    return replace(
        material,
        names={**names, material.speaker.id: rows.name_of(material.speaker)},
        others=tuple(
            other for other in material.others if other.viewer.id not in hidden
        ),
        anybody=_about_shown(material.anybody, hidden),
        looked_up=_about_shown(material.looked_up, hidden),
        own_lines=tuple(own),
        thread=tuple(thread),
        unsummarised=tuple(fresh),
        happened=tuple(
            event for event in material.happened if event.viewer_id not in hidden
        ),
        chat=tuple(chat),
        bot_replies=tuple(rows.without_repeats(material.bot_replies, ids, texts)),
    )


def _about_shown(
    recalled: Sequence[Recalled], hidden: Collection[str]
) -> tuple[Recalled, ...]:
    """Return the notes that are about nobody hidden."""
    return tuple(hit for hit in recalled if hit.note.subject_id not in hidden)


def _without_texts_of(prefix: Prefix, material: TailMaterial) -> TailMaterial:
    """Return the material without past episodes whose text the prefix shows, as that of another row."""

    def is_new(past: Past) -> bool:
        return (
            rows.one_line(past.text, material.names, rows.SUMMARY_BYTES)
            not in prefix.text
        )

    return replace(
        material,
        past_episodes=tuple(filter(is_new, material.past_episodes)),
        looked_up_past=tuple(filter(is_new, material.looked_up_past)),
    )


def _now(material: TailMaterial, zone: str) -> Section:
    live = ""
    if material.live_since and material.live_since <= material.now:
        hours, minutes = divmod((material.now - material.live_since) // MINUTE, 60)
        live = f"; the stream has been live for {hours} h {minutes} min"
    # without a zone's name: where the streamer lives is nobody's business
    text = f"Today is {local_time(material.now, zone):%A, %Y-%m-%d, %H:%M}{live}.\n\n"
    return plain_section("now", text)


def _speaker(material: TailMaterial, zone: str) -> Section:
    row = Row(rows.speaker_line(material.speaker, material.streams, zone))
    block = Block("speaker", (row,)).text().rstrip("\n")
    text = f"{block}\n{posture(material.speaker.role, material.standing)}"
    has_lines = any(
        line.viewer_id == material.speaker.id for line in material.unsummarised
    )
    if not (material.notes or material.brief.strip() or has_lines):
        text += "\nYou remember nothing about them: do not pretend otherwise."
    if not material.is_addressed:
        text += f"\n{MAY_BE_FOR_OTHERS}"
    return plain_section("speaker", f"{text}\n\n")


def _blocks(material: TailMaterial, zone: str) -> list[Block]:
    """Return what may be dropped, and the two that never are, in their order: the message is last."""
    names = material.names
    now = material.now
    brief_row = _brief_row(material.brief, material.brief_notes, names)
    brief = Block("brief", (brief_row,) if brief_row.text else ())
    # a brief is made of the same notes: both together have the tokens that one viewer's memory may take
    tokens_for_notes = VIEWER_MEMORY_TOKENS
    if brief.rows:
        tokens_for_notes -= brief.section().tokens
    open_ids = _open_outcomes(material, zone)
    speaker_notes = [
        rows.note_row(hit, names, now, zone, asks_outcome=hit.note.id in open_ids)
        for hit in material.notes[:SPEAKER_NOTES]
    ]
    channel_notes = [
        rows.channel_note_row(hit.note, names, zone) for hit in material.channel
    ]
    past_episodes = [
        rows.past_row(past, names, zone, now) for past in material.past_episodes
    ]
    happened = tuple(rows.event_row(event, names, now) for event in material.happened)
    moderation = tuple(rows.moderation_row(event, now) for event in material.moderation)
    chat = tuple(rows.chat_rows(material.chat, names)[-CHAT_LINES:])
    spoken = tuple(rows.chat_row(line, names) for line in material.spoken)
    unsummarised = tuple(
        rows.unsummarised_row(line, names, now, zone) for line in material.unsummarised
    )
    bot_replies = tuple(
        Row(rows.one_line(line.text, names, rows.LINE_BYTES), (("replies", line.id),))
        for line in material.bot_replies[-BOT_REPLIES:]
    )
    actions_done = tuple(
        Row(rows.one_line(action.text, names, ACTION_BYTES), (("actions", action.id),))
        for action in material.actions_done
    )
    looked_up = tuple(
        rows.named_note_row(hit, names, now, zone) for hit in material.looked_up
    )
    looked_up_past = tuple(
        rows.past_row(past, names, zone, now) for past in material.looked_up_past
    )
    looked_up_lead = LOOKED_UP_LEAD if looked_up or looked_up_past else ""
    return [
        brief,
        Block("lore", tuple(speaker_notes), SPEAKER_LEAD).within(tokens_for_notes),
        _others(material, zone),
        _anybody(material, zone),
        Block("channel_notes_asked", tuple(channel_notes)),
        Block("past_episode", tuple(past_episodes)),
        Block("unsummarised", unsummarised),
        Block("spoken", spoken, SPOKEN_LEAD, newest_last=True).within(SPOKEN_TOKENS),
        _own_block(material),
        Block("moderation", moderation, MODERATION_LEAD, newest_last=True),
        Block("happened", happened, HAPPENED_LEAD, newest_last=True),
        Block("chat", chat, "The channel lately:", newest_last=True),
        Block("bot_replies", bot_replies, BOT_REPLIES_LEAD, newest_last=True),
        Block(
            "actions_done",
            actions_done,
            "What you really did lately:",
            newest_last=True,
        ),
        Block("looked_up", looked_up, looked_up_lead).within(VIEWER_MEMORY_TOKENS),
        Block("looked_up_past", looked_up_past),
        _message_block(material, rows.MESSAGE_BYTES),
    ]


def _open_outcomes(material: TailMaterial, zone: str) -> set[int]:
    """Return the ids of the speaker's notes with a plan of which the reply may ask how it went."""
    notes = [recalled.note for recalled in material.notes]
    lines = (*material.own_lines, *material.before, material.message)
    waiting = open_outcomes(notes, lines, material.left_at, material.now, zone)
    return {note.id for note in waiting}


def _brief_row(
    brief: str,
    made_of: tuple[int, ...],
    names: rows.Names,
    about: str = "",
) -> Row:
    """Return who somebody is, in one line with the notes that it is made of; an empty row without a brief."""
    max_bytes = bytes_for_tokens(VIEWER_MEMORY_TOKENS // 3)
    text = clip_bytes(rows.one_line(brief, names, BRIEF_BYTES), max_bytes)
    subject = f"{about}: " if about and text else ""
    return Row(subject + text, tuple(("notes", note_id) for note_id in made_of))


def _others(material: TailMaterial, zone: str) -> Block:
    shown = [Row(rows.unclear_line(unclear)) for unclear in material.unclear_names]
    for other in material.others[:OTHERS]:
        about = rows.name_of(other.viewer)
        other_rows = [
            rows.note_row(hit, material.names, material.now, zone, about=about)
            for hit in other.notes[:NOTES_PER_OTHER]
        ]
        if other.brief:
            brief_row = _brief_row(
                other.brief, other.brief_notes, material.names, about
            )
            other_rows.insert(0, brief_row)
        shown += Block("others", tuple(other_rows)).within(VIEWER_MEMORY_TOKENS).rows
    return Block("others", tuple(shown), "What you know about people they mention:")


def _anybody(material: TailMaterial, zone: str) -> Block:
    """Return the notes about anybody that may answer a question which asks for a person."""
    note_rows = [
        rows.named_note_row(hit, material.names, material.now, zone)
        for hit in material.anybody
    ]
    return Block("anybody", tuple(note_rows), ANYBODY_LEAD)


def _own_block(material: TailMaterial, max_bytes: int = rows.OWN_BYTES) -> Block:
    """Return the thread with the speaker: what they said just before and what the bot said to them, in order."""
    lines = sorted((*material.own_lines, *material.thread), key=lambda line: line.at)
    thread = tuple(rows.chat_row(line, material.names, max_bytes) for line in lines)
    return Block("own_messages", thread, "The conversation with them so far:")


# Lines of one question before its last: no more are waited for.
LINES_BEFORE = 3


def _message_block(material: TailMaterial, max_bytes: int) -> Block:
    names = material.names
    earlier_bytes = min(rows.LINE_BYTES, max_bytes)
    earlier_lines = material.before[-LINES_BEFORE:]
    message_rows = [rows.chat_row(line, names, earlier_bytes) for line in earlier_lines]
    message_rows.append(rows.chat_row(material.message, names, max_bytes))
    in_language = f" in {material.language}" if material.language else ""
    lead = f"{rows.name_of(material.speaker)}'s message, which you answer{in_language}:"
    return Block("message", tuple(message_rows), lead)
