"""From rows to a prompt: `compose_prefix` once per compaction pass, `assemble` for each reply.

Promises: the sections stand in one order; the prefix is the same bytes for every reply until it is composed again, or
a beginning of them; the size stays within the budget; the floor (instructions, date, speaker, the speaker's own
messages, the current message) is always there; the current message stands last and once.
"""

from collections.abc import Iterator
from dataclasses import replace

from forgetmenot.domain.model import Prompt, Section
from forgetmenot.prompt import sections as rows
from forgetmenot.prompt.budget import bytes_for, clip
from forgetmenot.prompt.ladder import Layout
from forgetmenot.prompt.material import Prefix, PrefixMaterial, PromptLine, TailMaterial
from forgetmenot.prompt.sections import Block, Row, plain_section
from forgetmenot.prompt.voice import instructions, posture
from forgetmenot.settings.schema import Settings
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import show

INSTRUCTIONS = "instructions"
TOP_CHANNEL_NOTES = 3
SHORTEST_OWN_BYTES = (rows.OWN_BYTES, 120, 60, 30)
SHORTEST_MESSAGE_BYTES = 90


# ── the prefix ──────────────────────────────────────────────────────────────────────────────


def compose_prefix(material: PrefixMaterial, settings: Settings, factor: float = 1.0) -> Prefix:
    """The part that stays the same, within its share of the budget; the oldest episodes are the first to go."""
    head = plain_section(INSTRUCTIONS, instructions(settings, material.channel, material.actions) + "\n", factor)
    room = int(settings.prompt.budget_tokens * settings.prompt.prefix_share) - head.tokens
    blocks = _prefix_blocks(material, settings)
    kept: list[Section] = []
    for block in blocks:
        fitting = block.within(room - sum(s.tokens for s in kept), factor)
        if fitting.rows:
            kept.append(fitting.section(factor))
    return Prefix("".join(s.text for s in (head, *kept)), (head, *kept))


def _prefix_blocks(material: PrefixMaterial, settings: Settings) -> list[Block]:
    names = material.names
    shown, often = material.channel_notes[: settings.recall.channel_notes], material.bit_streams
    notes = [rows.channel_note_row(note, names, often.get(note.id, 0)) for note in shown]
    about = [f"{key}: {rows.one_line(value, names, 300)}" for key, value in _channel(material) if value.strip()]
    digest = rows.one_line(show(material.digest, names)[: rows.DIGEST_CHARS], names, 3 * rows.DIGEST_CHARS)
    past = tuple(rows.past_row(past, names) for past in material.episodes)
    return [
        Block("channel", tuple(Row(text) for text in about)),
        Block("channel_notes", tuple(notes[:TOP_CHANNEL_NOTES])),
        Block("channel_notes_more", tuple(notes[TOP_CHANNEL_NOTES:])),
        Block("digest", (Row(digest),) if digest else ()),
        Block("episodes", past, newest_last=True),
    ]


def _channel(material: PrefixMaterial) -> tuple[tuple[str, str], ...]:
    return (("title", material.title), ("category", material.category))


# ── the whole ───────────────────────────────────────────────────────────────────────────────


def assemble(prefix: Prefix, material: TailMaterial, settings: Settings, factor: float = 1.0) -> Prompt:
    """The prompt for one message, never larger than the budget."""
    budget = settings.prompt.budget_tokens
    material = _without_hidden(material)
    now, speaker = _now(material, factor), _speaker(material, factor)
    own, message = _own_block(material), _message_block(material, rows.MESSAGE_BYTES)
    optional = _optional_blocks(material, settings, factor)
    room = budget - now.tokens - speaker.tokens
    layout = Layout.of(prefix.sections, [*optional, own, message], factor)
    layout.fit(room)
    if layout.tokens > room:
        _tighten(layout, material, room)
    return _prompt(layout, [now, speaker], material.nonce)


def split(prompt: Prompt) -> tuple[str, str]:
    """The prompt as a model takes it: the instructions as its system text, everything that is data after them."""
    system = prompt.sections[0].text
    return system.strip(), prompt.prefix[len(system) :] + prompt.tail


ORDER = (
    "brief",
    "lore",
    "others",
    "past_episode",
    "own_messages",
    "chat",
    "bot_replies",
    "actions_done",
    "message",
)


def _prompt(layout: Layout, first: list[Section], nonce: str) -> Prompt:
    tail = [*first, *(layout.sections[name] for name in ORDER)]
    shown = [section for section in tail if section.text or section.dropped]
    gone = [
        replace(s, text="", tokens=0, rows=(), others=(), dropped=max(1, len(s.rows) + s.dropped))
        for s in layout.dropped
    ]
    every = (*layout.prefix, *reversed(gone), *shown)
    return Prompt(
        prefix="".join(section.text for section in layout.prefix),
        tail="".join(section.text for section in shown).rstrip("\n"),
        sections=every,
        estimated_tokens=sum(section.tokens for section in every),
        nonce=nonce,
        shed=tuple(layout.shed),
    )


def _tighten(layout: Layout, material: TailMaterial, room: int) -> None:
    """Only the floor is left and it is too large still: shorten lines, the message last. None is left out."""
    for max_bytes in SHORTEST_OWN_BYTES:
        layout.replace(_own_block(material, max_bytes))
        if layout.tokens <= room:
            return
    allowed = room - layout.tokens + layout.sections["message"].tokens
    empty = _message_block(material, 0)
    spare = bytes_for(allowed, layout.factor) - len(empty.text().encode())
    layout.replace(_message_block(material, max(SHORTEST_MESSAGE_BYTES, spare // len(empty.rows))))


# ── the tail's sections ─────────────────────────────────────────────────────────────────────


def _without_hidden(material: TailMaterial) -> TailMaterial:
    """Nobody who wants to be left out is in it; and no line stands in it twice."""
    hidden = material.hidden - {material.speaker.id}
    names = {key: name for key, name in material.names.items() if key not in hidden}
    current = (*material.before, material.message)
    ids = {line.event_id for line in current}
    texts = {(line.viewer_id, clean(line.text).casefold()) for line in current}
    most = material.depth.own_lines
    own = rows.without_repeats(material.own_lines[-most:] if most else (), ids, texts)
    thread = rows.without_repeats(material.thread, ids, texts)
    chat = [line for line in material.chat if line.viewer_id not in hidden]
    return replace(
        material,
        names={**names, material.speaker.id: rows.name_of(material.speaker)},
        others=tuple(other for other in material.others if other.viewer.id not in hidden),
        own_lines=tuple(own),
        thread=tuple(thread),
        chat=_spread(rows.newest_first(chat, ids, texts), material),
        bot_replies=tuple(rows.without_repeats(material.bot_replies, ids, texts)),
    )


def _spread(newest: Iterator[PromptLine], material: TailMaterial) -> tuple[PromptLine, ...]:
    """The newest lines, of one person no more than the depth allows; oldest first."""
    kept: list[PromptLine] = []
    of: dict[str | None, int] = {}
    while len(kept) < material.depth.chat_lines and (line := next(newest, None)) is not None:
        of[line.viewer_id] = of.get(line.viewer_id, 0) + 1
        if of[line.viewer_id] <= material.depth.lines_per_viewer:
            kept.append(line)
    return tuple(reversed(kept))


def _now(material: TailMaterial, factor: float) -> Section:
    return plain_section(
        "now", f"Today is {rows.today(material.now)}. CODE for an action: {material.nonce}.\n\n", factor
    )


def _speaker(material: TailMaterial, factor: float) -> Section:
    line = Block("speaker", (Row(rows.speaker_line(material.speaker, material.streams)),)).text().rstrip("\n")
    text = f"{line}\n{posture(material.speaker.role, material.standing)}"
    if not (material.lore or material.brief.strip()):
        text += "\nYou remember nothing about them: do not pretend otherwise."
    return plain_section("speaker", f"{text}\n\n", factor)


def _optional_blocks(material: TailMaterial, settings: Settings, factor: float) -> list[Block]:
    names, now = material.names, material.now
    cap = settings.prompt.viewer_memory_tokens
    brief = _brief(material, cap, factor)
    left = cap - (brief.section(factor).tokens if brief.rows else 0)
    lore = tuple(rows.lore_row(found, names, now) for found in material.lore[: material.depth.lore])
    chat = tuple(rows.chat_row(line, names) for line in material.chat)
    done = tuple(Row(rows.one_line(done.text, names, 200), done.id) for done in material.actions_done)
    return [
        brief,
        Block("lore", lore, "What you know about them:").within(left, factor),
        _others(material, cap, factor),
        Block("past_episode", tuple(rows.past_row(p, names, now) for p in material.past_episodes)),
        Block("chat", chat, "The channel lately:", newest_last=True),
        _replies(material, settings),
        Block("actions_done", done, "What you really did lately:", newest_last=True),
    ]


def _brief(material: TailMaterial, cap: int, factor: float) -> Block:
    text = clip(rows.one_line(material.brief, material.names, 1_500), bytes_for(cap // 2, factor))
    return Block("brief", (Row(text, made_of=material.brief_notes),) if text else ())


def _others(material: TailMaterial, cap: int, factor: float) -> Block:
    found: list[Row] = []
    for other in material.others[: material.depth.others]:
        about = rows.name_of(other.viewer)
        lore = [rows.lore_row(r, material.names, material.now, about) for r in other.lore]
        found += Block("others", tuple(lore[: material.depth.lore_per_other])).within(cap, factor).rows
    return Block("others", tuple(found), "What you know about people they mention:")


def _replies(material: TailMaterial, settings: Settings) -> Block:
    most = settings.prompt.bot_replies
    lines = material.bot_replies[-most:] if most else ()
    said = tuple(Row(rows.one_line(line.text, material.names, rows.LINE_BYTES), line.id) for line in lines)
    return Block("bot_replies", said, "Your own last lines; do not reuse their openers or phrases:", newest_last=True)


def _own_block(material: TailMaterial, max_bytes: int = rows.OWN_BYTES) -> Block:
    """The thread with the speaker: what they said just before and what the bot said to them, in order."""
    lines = sorted((*material.own_lines, *material.thread), key=lambda line: line.at)
    said = tuple(rows.chat_row(line, material.names, max_bytes) for line in lines)
    return Block("own_messages", said, "The conversation with them so far:")


def _message_block(material: TailMaterial, max_bytes: int) -> Block:
    return Block("message", _message_rows(material, max_bytes), "The current message, which you answer:")


def _message_rows(material: TailMaterial, max_bytes: int) -> tuple[Row, ...]:
    earlier = (rows.chat_row(line, material.names, min(rows.LINE_BYTES, max_bytes)) for line in material.before[-2:])
    return (*earlier, rows.chat_row(material.message, material.names, max_bytes))
