"""Assembles prompts: `compose_prefix` once per compaction pass, `assemble` for each reply.

Guarantees:
- The sections have a fixed order; the current message is last and appears once.
- Until it is composed again, the prefix has the same bytes for every reply, or is a beginning of them.
- The size stays within the budget.
- Instructions, date, speaker, the speaker's own messages and the current message are never dropped.
"""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from forgetmenot.domain import Prompt, PromptLine, Recalled, Section
from forgetmenot.durations import MINUTE
from forgetmenot.prompt.blocks import TailBlocks
from forgetmenot.prompt.drop_steps import PromptDraft
from forgetmenot.prompt.instructions import (
    CONGRATULATE,
    MAY_BE_FOR_OTHERS,
    PREFIX_SHARE,
    instructions,
    posture,
)
from forgetmenot.prompt.material import (
    CHANNEL_NOTES,
    OWN_LINES,
    Past,
    Prefix,
    PrefixMaterial,
    TailMaterial,
)
from forgetmenot.prompt.rows import (
    DIGEST_CHARS,
    OWN_BYTES,
    SUMMARY_BYTES,
    Block,
    Row,
    RowWriter,
    TailRowWriter,
    name_of,
    one_line,
    plain_section,
    said_words,
    shortened,
    speaker_line,
    without_repeats,
)
from forgetmenot.settings.schema import BotSettings, Settings, current_persona
from forgetmenot.text.days import local_time
from forgetmenot.text.mentions import with_names
from forgetmenot.text.tokens import bytes_for_tokens
from forgetmenot.text.words import is_german, sentences_of

INSTRUCTIONS = "instructions"
TOP_CHANNEL_NOTES = 3
# Bytes of a title or category.
CHANNEL_BYTES = 300
# Bytes of each of the speaker's own lines, tried one after the other, and of the message at the least.
SHORTEST_OWN_BYTES = (OWN_BYTES, 120, 60, 30)
SHORTEST_MESSAGE_BYTES = 90
NOTHING_KNOWN = "You remember nothing about them: do not pretend otherwise."


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
    text = _joined(sections)
    shown_ids: set[tuple[str, int]] = set()
    for section in sections:
        shown_ids.update(section.rows)
    whole_episodes = []
    for past in material.episodes:
        is_shown = ("episodes", past.id) in shown_ids
        if is_shown and shortened(past) == past:
            whole_episodes.append(past.id)
    return Prefix(text, tuple(sections), tuple(whole_episodes))


def _prefix_blocks(material: PrefixMaterial, zone: str) -> list[Block]:
    """Return the blocks of the prefix behind the instructions, in their order."""
    writer = RowWriter(material.names, zone)
    note_rows = []
    for note in material.channel_notes[:CHANNEL_NOTES]:
        note_rows.append(writer.channel_note_row(note))
    episode_rows = []
    for past in _without_repeated_texts(material.episodes):
        episode_rows.append(writer.past_row(shortened(past)))
    return [
        Block("channel", _channel_rows(material, writer)),
        Block("channel_notes", tuple(note_rows[:TOP_CHANNEL_NOTES])),
        Block("channel_notes_more", tuple(note_rows[TOP_CHANNEL_NOTES:])),
        Block("digest", _digest_rows(material, writer)),
        Block("episodes", tuple(episode_rows), newest_last=True),
    ]


def _channel_rows(material: PrefixMaterial, writer: RowWriter) -> tuple[Row, ...]:
    """Return the title and the category of the stream, as far as it has them."""
    labelled_texts = (("title", material.title), ("category", material.category))
    channel_rows = []
    for label, text in labelled_texts:
        if text.strip():
            shown_text = writer.one_line(text, CHANNEL_BYTES)
            channel_rows.append(Row(f"{label}: {shown_text}"))
    return tuple(channel_rows)


def _digest_rows(material: PrefixMaterial, writer: RowWriter) -> tuple[Row, ...]:
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
    digest = writer.one_line(text[:DIGEST_CHARS], 3 * DIGEST_CHARS)
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
    writer = TailRowWriter(material.names, zone, now=material.now)
    tail = TailBlocks(material, writer)
    draft = PromptDraft(prefix.sections, tail.in_order())
    draft.fit(budget_left)
    # what is left is never dropped, and long lines of it may still not fit
    if draft.tokens > budget_left:
        _tighten(draft, tail, budget_left)
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
    rest_of_prefix = prompt.prefix.removeprefix(system)
    return system.strip(), rest_of_prefix + prompt.tail


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
        prefix=_joined(draft.prefix),
        tail=_joined(tail_sections).rstrip("\n"),
        sections=sections,
        estimated_tokens=sum(section.tokens for section in sections),
        shed=tuple(draft.shed),
    )


def _joined(sections: Sequence[Section]) -> str:
    """Return sections as one text."""
    return "".join(section.text for section in sections)


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
    tail: TailBlocks,
    budget: int,
) -> None:
    """Shorten the lines that are never dropped until they fit, the message last. None is left out."""
    for max_bytes in SHORTEST_OWN_BYTES:
        draft.replace(tail.own_messages(max_bytes))
        if draft.tokens <= budget:
            return
    other_tokens = draft.tokens - draft.sections["message"].tokens
    empty_block = tail.message(0)
    empty_bytes = len(empty_block.text().encode())
    spare_bytes = bytes_for_tokens(budget - other_tokens) - empty_bytes
    bytes_per_line = spare_bytes // len(empty_block.rows)
    max_bytes = max(SHORTEST_MESSAGE_BYTES, bytes_per_line)
    draft.replace(tail.message(max_bytes))


# ── what is left out ──────────────────────────────────────────────────────────────────────────


def _without_hidden(material: TailMaterial) -> TailMaterial:
    """Return the material without hidden people, their lines and the notes about them; the speaker always stays."""
    hidden = material.hidden - {material.speaker.id}
    names = dict(material.names)
    names[material.speaker.id] = name_of(material.speaker)
    if not hidden:
        return replace(material, names=names)
    for viewer_id in hidden:
        names.pop(viewer_id, None)
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
    texts = {said_words(line) for line in current}
    # each call adds what it returns to `ids` and `texts`, so their order matters: what stands in the conversation with
    # the speaker is not shown again among the chat
    oldest_first = reversed(material.unsummarised)
    unsummarised = without_repeats(oldest_first, ids, texts)
    own_lines = without_repeats(material.own_lines[-OWN_LINES:], ids, texts)
    thread = without_repeats(material.thread, ids, texts)
    chat = without_repeats(material.chat, ids, texts)
    bot_replies = without_repeats(material.bot_replies, ids, texts)
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
        text = one_line(past.text, material.names, SUMMARY_BYTES)
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
    speaker = material.speaker
    line = speaker_line(speaker, material.streams, zone, material.together)
    block = Block("speaker", (Row(line),))
    text_lines = [
        block.text().rstrip("\n"),
        posture(speaker.role, material.standing),
    ]
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
    if material.notes:
        return True
    if material.brief.strip():
        return True
    speaker_ids = {line.viewer_id for line in material.unsummarised}
    return material.speaker.id in speaker_ids
