"""Reads what a prompt says of one message: its speaker, the conversation, the people it names, notes.

- Nothing of hidden people, nothing redacted, nothing suppressed but the message itself, and of the
  bot's own lines only those that were sent.
- Reads only, and the same for a reply, a dry run and a test.
- All of it is one snapshot in the reader's thread, unless notes of a viewer are not cached yet.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import (
    Attendance,
    ChatEvent,
    Prompt,
    PromptLine,
    Recalled,
    Standing,
    StreamEvent,
    Viewer,
)
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.languages import ENGLISH
from forgetmenot.memory import unsummarised
from forgetmenot.memory.channel_search import asks_what_is_sensitive
from forgetmenot.memory.past_episodes import spoken_of
from forgetmenot.memory.query import Query
from forgetmenot.memory.recall import CHANNEL, NotesSnapshot, Recall, fitting
from forgetmenot.memory.time_together import together_with
from forgetmenot.operations import facts
from forgetmenot.people.handles import streamer_of
from forgetmenot.people.names import index_of
from forgetmenot.people.standing import REGULAR_WITHIN, role_of, standing_of
from forgetmenot.privacy.suppression import SuppressionFilter
from forgetmenot.prompt.assemble import assemble
from forgetmenot.prompt.blocks import BOT_REPLIES
from forgetmenot.prompt.chat_speed import FAST
from forgetmenot.prompt.material import (
    EVENT_ROWS,
    NOTES_PER_OTHER,
    OTHERS,
    OWN_LINES,
    PAST_EPISODES,
    SPEAKER_NOTES,
    Past,
    PersonMentioned,
    Prefix,
    TailMaterial,
    UnclearName,
    stranger,
)
from forgetmenot.prompt.rows import are_enough
from forgetmenot.reply.own_name import identity_of, is_request_in_words
from forgetmenot.reply.prefix import KeptPrefix, PrefixKeeper, row_ids
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import Settings, current_persona
from forgetmenot.store import (
    bot_messages,
    channel_state,
    episodes,
    events,
    notes,
    streams,
    viewers,
)
from forgetmenot.store.bot_messages import BotMessage
from forgetmenot.store.database import Database, Source
from forgetmenot.store.events import ChatLines
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.names import NameIndex, Naming
from forgetmenot.text.questions import (
    asks_for_person,
    asks_when,
    is_question,
    speaks_of_self,
    without_when,
)
from forgetmenot.text.words import stems

# How far back lines and events are read (ms).
CHAT_REACHES_BACK = 2 * HOUR
SPOKEN_REACHES_BACK = 3 * MINUTE
HAPPENED_REACHES_BACK = 30 * MINUTE
THREAD_REACHES_BACK = 15 * MINUTE
REPLIES_REACH_BACK = DAY
RECENT_ACTIONS_WINDOW = 2 * HOUR
SAME_TOPIC_WITHIN = MINUTE
SPOKEN_LINES = 6
# Lines that are read for the prompt's chat: mostly the few; all where they do not suffice. They are more
# than it shows: a raid says the same words a hundred times, and they become one row.
FEW_READ = 2 * FAST.chat_lines
ALL_READ = 5 * FAST.chat_lines
THREAD_LINES = 3
RECENT_ACTIONS = 3
# What the book has for a question that asks when something was.
FROM_BOOK = 4
# Notes of somebody asked about of whom nothing that is known fits the question.
NOTES_OF_ANY_KIND = 5

NO_PREFIX = Prefix("", ())
NO_NAMES = NameIndex()
NO_CHAT = ChatLines([], {}, [])

_Line = TypeVar("_Line", PromptLine, StreamEvent, PromptLine | StreamEvent)


class ComposedPrompt(NamedTuple):
    """A prompt and what it was made of. `revision`: of what was suppressed then."""

    prompt: Prompt
    prefix: Prefix
    material: TailMaterial
    revision: notes.Revision = ()


async def compose(
    keeper: PrefixKeeper,
    gatherer: "ContextGatherer",
    trigger: Trigger,
    settings: Settings,
    *,
    bot_id: str,
) -> ComposedPrompt:
    """Return the prompt for one line under one snapshot of the settings.

    Reads only. Raises StoreError.
    """
    kept = keeper.kept
    material = None
    if kept is not None:
        # mostly the prefix may still be shown, and one trip to the database checks it and reads the rest
        material = await gatherer.tail_behind(kept, trigger, settings, bot_id=bot_id)
    if kept is None or material is None:
        kept = await keeper.current()
        material = await gatherer.tail(
            trigger, settings, bot_id=bot_id, prefix=kept.prefix
        )
    prompt = assemble(kept.prefix, material, settings)
    return ComposedPrompt(prompt, kept.prefix, material, kept.revision)


class _MessageContext(Struct, frozen=True):
    """What holds while the material for one message is being read.

    `snapshot`: of the speaker's notes.
    `names`: whom the words of the message and of the lines before it may mean.
    """

    trigger: Trigger
    settings: Settings
    now: int
    channel: Mapping[str, str]
    snapshot: NotesSnapshot
    prefix: Prefix
    names: NameIndex = NO_NAMES
    chat: ChatLines = NO_CHAT

    @property
    def event(self) -> ChatEvent:
        """Return the line of the message."""
        return self.trigger.event

    @property
    def suppression_filter(self) -> SuppressionFilter:
        """Return the filter of what is suppressed now."""
        return self.snapshot.suppression_filter

    @property
    def persona(self) -> str:
        """Return the name of the persona, by which briefs are stored."""
        return current_persona(self.settings).name


class _ReadMaterial(NamedTuple):
    """What one snapshot of the database gave: the material without notes, and what ranks the notes.

    `snapshots`: of each subject's notes, by subject.
    """

    material: TailMaterial
    context: _MessageContext
    query: Query
    snapshots: Mapping[str, NotesSnapshot]


class ContextGatherer(Struct, frozen=True):
    """Reads material. `settings` is handed in per call: one snapshot for one event."""

    db: Database
    recall: Recall
    clock: Clock

    async def tail(
        self,
        trigger: Trigger,
        settings: Settings,
        *,
        bot_id: str = "",
        prefix: Prefix = NO_PREFIX,
    ) -> TailMaterial:
        """Return everything for one message that the prefix does not show. Raises StoreError."""
        await self.recall.active_viewers.look()

        async def read(source: Source) -> _ReadMaterial:
            return await self._read(source, trigger, settings, bot_id, prefix)

        read_material = await self.db.together(read)
        return await self._completed(read_material)

    async def tail_behind(
        self,
        kept: KeptPrefix,
        trigger: Trigger,
        settings: Settings,
        *,
        bot_id: str,
    ) -> TailMaterial | None:
        """Return everything for one message that a prefix does not show, as of one moment.

        None if the prefix may not be shown any more. Raises StoreError.
        """
        await self.recall.active_viewers.look()

        async def read(source: Source) -> _ReadMaterial | None:
            if not await kept.may_still_be_shown(source):
                return None
            return await self._read(source, trigger, settings, bot_id, kept.prefix)

        read_material = await self.db.together(read)
        if read_material is None:
            return None
        return await self._completed(read_material)

    async def _completed(self, read_material: _ReadMaterial) -> TailMaterial:
        """Return what was read together with the notes that fit, and the names of the people in these."""
        material = await self._with_notes(read_material)
        return await with_names(self.db, material)

    async def standing(self, event: ChatEvent, settings: Settings) -> Standing:
        """Return how well the speaker of a line is known. Raises StoreError."""
        attendance = await self._attendance(self.db, event.user_id)
        return standing_of(attendance, settings.people, self.clock.now())

    async def _read(
        self,
        source: Source,
        trigger: Trigger,
        settings: Settings,
        bot_id: str,
        prefix: Prefix,
    ) -> _ReadMaterial:
        """Read everything but the notes, whose ranking needs no database where they are cached."""
        snapshot = await self.recall.look(source, [trigger.event.user_id])
        channel = await channel_state.read_all(source)
        now = self.clock.now()
        context = _MessageContext(trigger, settings, now, channel, snapshot, prefix)
        material = await self._speaker(source, context)
        context = replace(context, chat=await _lines_of_chat(source, context))
        material = await self._with_conversation(source, material, context)
        if snapshot.suppression_filter:
            material = await self._without_suppressed(source, material, context)

        text_before = _text_just_before(material, context)
        names = await self._names(source, material, text_before, context)
        context = replace(context, names=names)
        query = self._query(context, text_before)
        material = await self._with_others(source, material, context, bot_id)
        if query.is_general:
            material = await self._with_briefs(source, material, context)

        people_asked_about = _people_asked_about(material, text_before, context)
        past = await self._past(source, query, people_asked_about, context)
        if text_before:
            query_alone = self._query_alone(material, context)
        else:
            query_alone = query
        material = await self._with_unsummarised(source, material, query_alone, context)
        anybody = await self._notes_of_anybody(
            source, material, people_asked_about, context
        )
        material = replace(material, past_episodes=past, anybody=anybody)

        # those who wrote in chat came with their names, and are not hidden
        unnamed = sorted(_people_in(material) - material.names.keys())
        other_names, hidden = await viewers.shown_and_hidden(source, unnamed)
        names_of_people = {**material.names, **other_names}
        material = replace(material, names=names_of_people, hidden=hidden)
        snapshots = await self._snapshots(source, material, snapshot)
        return _ReadMaterial(material, context, query, snapshots)

    async def _snapshots(
        self,
        source: Source,
        material: TailMaterial,
        speaker_snapshot: NotesSnapshot,
    ) -> dict[str, NotesSnapshot]:
        """Return the state of the notes of each subject, by subject.

        All are of the same moment as the speaker's, and have the same suppressed topics.
        """
        snapshots = {}
        for subject in (*material.other_ids, CHANNEL):
            fingerprint = await notes.fingerprint(source, subject or None)
            snapshots[subject] = speaker_snapshot._replace(fingerprints=(fingerprint,))
        snapshots[material.speaker.id] = speaker_snapshot
        return snapshots

    def _query(self, context: _MessageContext, text_before: str) -> Query:
        """Return what the message asks for, together with the speaker's lines just before it."""
        question = context.trigger.question
        return self.recall.query(
            question,
            before=text_before,
            category=context.channel.get("category", ""),
            title=context.channel.get("title", ""),
            names=context.names.words_of_names(_joined_texts(text_before, question)),
        )

    def _query_alone(self, material: TailMaterial, context: _MessageContext) -> Query:
        """Return what the question asks for, without the speaker's lines just before it."""
        question = _whole_question(material, context)
        names = context.names.words_of_names(question)
        return self.recall.query(question, names=names)

    async def _with_briefs(
        self,
        source: Source,
        material: TailMaterial,
        context: _MessageContext,
    ) -> TailMaterial:
        """Return the material with who its people are, for a message that asks just that.

        Such as "who is Jolene?".
        """
        others = []
        for other in material.others:
            brief, note_ids = await self._brief(source, other.viewer.id, context)
            others.append(replace(other, brief=brief, brief_notes=note_ids))
        return replace(material, others=tuple(others))

    async def _brief(
        self,
        source: Source,
        viewer_id: str,
        context: _MessageContext,
    ) -> tuple[str, tuple[int, ...]]:
        """Return a viewer's brief without what is suppressed, and the ids of its notes; "" if none."""
        stored_brief, note_ids = await episodes.usable_brief(
            source, viewer_id, context.persona
        )
        brief = context.suppression_filter.without(stored_brief)
        if not brief:
            return "", ()
        return brief, note_ids

    async def _attendance(self, source: Source, viewer_id: str) -> Attendance:
        """Return how often a viewer was here, in all and lately."""
        recently = self.clock.now() - REGULAR_WITHIN
        attendance = await streams.attendance_of(source, [viewer_id], lately=recently)
        return attendance[viewer_id]

    async def _speaker(self, source: Source, context: _MessageContext) -> TailMaterial:
        """Return the material with the message and who wrote it."""
        event = context.event
        stored_viewers = await viewers.get_many(source, [event.user_id])
        speaker = stored_viewers.get(event.user_id)
        if speaker is None:
            name = event.display_name or event.login
            speaker = stranger(event.user_id, name, event.at)
        # The role is read from this line's badges, since the stored one may be out of date.
        speaker = replace(speaker, role=role_of(event.badges))
        attendance = await self._attendance(source, event.user_id)
        brief = ""
        brief_notes: tuple[int, ...] = ()
        if not speaker.opted_out:
            brief, brief_notes = await self._brief(source, speaker.id, context)
        together = await together_with(
            source, speaker.id, context.settings, context.now
        )
        text = event.text or event.system_text
        is_addressed = context.trigger.kind is not TriggerKind.FOLLOW_UP
        congratulate_at = 0
        if is_addressed:
            occasion_times = [fact.since for fact in together.occasions]
            congratulate_at = max(occasion_times, default=0)
        return TailMaterial(
            now=context.now,
            speaker=speaker,
            brief=brief,
            brief_notes=brief_notes,
            message=PromptLine(0, event.id, event.user_id, text, event.at),
            standing=standing_of(attendance, context.settings.people, context.now),
            is_addressed=is_addressed,
            together=tuple(together.words(context.now, ENGLISH)),
            congratulate_at=congratulate_at,
            streams=attendance.streams,
            left_at=attendance.before_at or 0,
            live_since=_live_since(context.channel),
        )

    async def _with_conversation(
        self,
        source: Source,
        material: TailMaterial,
        context: _MessageContext,
    ) -> TailMaterial:
        """Return the material with lines of chat, what happened, and what the bot said and did."""
        event = context.event
        since = context.now - CHAT_REACHES_BACK
        speaker_lines = await events.lines(
            source,
            of=event.user_id,
            since=since,
            until=event.at,
            limit=OWN_LINES + 2,
        )
        happened = await events.reported_events(
            source,
            since=context.now - HAPPENED_REACHES_BACK,
            until=event.at,
            limit=EVENT_ROWS,
        )
        spoken: list[PromptLine] = []
        if context.settings.hearing.on:
            spoken = await events.lines(
                source,
                spoken=True,
                since=context.now - SPOKEN_REACHES_BACK,
                until=event.at,
                limit=SPOKEN_LINES,
            )
        moderation: list[StreamEvent] = []
        if material.speaker.role.moderates:
            moderation = await events.moderation_events(
                source,
                since=since,
                until=event.at,
                limit=EVENT_ROWS,
            )
        thread = await bot_messages.recently_sent(
            source,
            THREAD_LINES,
            context.now - THREAD_REACHES_BACK,
            event.user_id,
        )
        replies = await bot_messages.recently_sent(
            source,
            BOT_REPLIES + THREAD_LINES,
            context.now - REPLIES_REACH_BACK,
            commands=False,
        )
        actions_done = await facts.recent_actions(
            source,
            since=context.now - RECENT_ACTIONS_WINDOW,
            limit=RECENT_ACTIONS,
        )
        # The message is among the lines if it is stored already; then it has its row id.
        message = material.message
        earlier_lines = []
        for line in speaker_lines:
            if line.event_id == event.id:
                message = line
            else:
                earlier_lines.append(line)
        continued = await _continued_lines(source, earlier_lines, context.trigger)
        return replace(
            material,
            message=message,
            before=continued,
            own_lines=tuple(earlier_lines),
            spoken=tuple(spoken),
            happened=tuple(happened),
            moderation=tuple(moderation),
            chat=tuple(context.chat.lines),
            names=context.chat.names,
            thread=tuple(_line_of_bot(reply) for reply in thread),
            bot_replies=tuple(_line_of_bot(reply) for reply in replies),
            actions_done=actions_done,
        )

    async def _without_suppressed(
        self,
        source: Source,
        material: TailMaterial,
        context: _MessageContext,
    ) -> TailMaterial:
        """Return the material without the lines that speak of what is suppressed."""
        suppression_filter = context.suppression_filter
        lines_by_kind: dict[str, tuple[PromptLine | StreamEvent, ...]] = {
            "own_lines": material.own_lines,
            "spoken": material.spoken,
            "happened": material.happened,
            "chat": material.chat,
            "thread": material.thread,
            "bot_replies": material.bot_replies,
        }
        people = suppression_filter.people
        # Names are looked up only in lines that may speak of something suppressed. An unlisted topic is
        # known by its hash alone, so with one that may be any line.
        has_unlisted = suppression_filter.unlisted is not None
        suspect_texts = []
        for line in chain.from_iterable(lines_by_kind.values()):
            if has_unlisted or suppression_filter.matches(line.text, people):
                suspect_texts.append(line.text)
        names = await index_of(
            source, suspect_texts, present=self.recall.active_viewers.ids
        )
        allowed_lines = {}
        for kind, lines in lines_by_kind.items():
            allowed_lines[kind] = _allowed_lines(lines, suppression_filter, names)
        everybody = {*people, material.speaker.id}
        actions_done = []
        for action in material.actions_done:
            if not suppression_filter.matches(action.text, everybody):
                actions_done.append(action)
        return replace(material, **allowed_lines, actions_done=tuple(actions_done))

    async def _names(
        self,
        source: Source,
        material: TailMaterial,
        text_before: str,
        context: _MessageContext,
    ) -> NameIndex:
        """Return whom the words of the message and of the lines before it may mean."""
        texts = [context.trigger.question, text_before]
        newest_lines = (*material.own_lines[-1:], *material.thread[-1:])
        texts += [line.text for line in newest_lines]
        return await index_of(
            source,
            texts,
            present=self.recall.active_viewers.ids,
            streamer=await streamer_of(source, context.settings.twitch.channel),
        )

    async def _with_others(
        self,
        source: Source,
        material: TailMaterial,
        context: _MessageContext,
        bot_id: str,
    ) -> TailMaterial:
        """Return the material with the people who are talked about, without what is known of them."""
        namings = _namings(material, context, bot_id)
        mentioned_ids: dict[str, None] = {}
        ordinary_words: dict[str, str] = {}
        for naming in namings:
            for viewer_id in naming.viewer_ids:
                mentioned_ids[viewer_id] = None
                if naming.is_ordinary:
                    ordinary_words[viewer_id] = naming.word
        viewer_ids = list(mentioned_ids)[:OTHERS]
        people: Mapping[str, Viewer] = {}
        if viewer_ids:
            people = await viewers.get_many(source, viewer_ids)
        others = []
        for viewer_id in viewer_ids:
            viewer = people.get(viewer_id)
            if viewer is None or viewer.opted_out:
                continue
            ordinary_word = ordinary_words.get(viewer.id, "")
            others.append(PersonMentioned(viewer, ordinary_word=ordinary_word))
        unclear_names = _unclear_names(namings, people)
        return replace(material, others=tuple(others), unclear_names=unclear_names)

    async def _with_unsummarised(
        self,
        source: Source,
        material: TailMaterial,
        query: Query,
        context: _MessageContext,
    ) -> TailMaterial:
        """Return the material with lines that no summary has yet, of those who may have the answer.

        `query`: without the speaker's lines before the message, each of which would share all of its words with it.
        """
        text = _whole_question(material, context)
        viewer_ids = _whose_lines_may_answer(text, query, material, context)
        event_ids = {context.event.id, *(line.event_id for line in material.before)}
        question = unsummarised.Question(query, event_ids, context.event.at)
        bot_id = context.channel.get("bot_id", "")
        bot_login = context.channel.get("bot_login", "")
        identity = identity_of(context.settings, bot_id, bot_login)

        def is_request(text: str) -> bool:
            """Return whether a line is a command to the bot in words."""
            return is_request_in_words(text, identity)

        lines = await unsummarised.search(
            source,
            question,
            viewer_ids,
            settings=context.settings,
            now=context.now,
            is_request=is_request,
            chat=context.chat,
        )
        suppression_filter = context.suppression_filter
        if not lines or not suppression_filter:
            return replace(material, unsummarised=tuple(lines))
        texts = [line.text for line in lines]
        names = await index_of(source, texts, present=self.recall.active_viewers.ids)
        allowed_lines = _allowed_lines(lines, suppression_filter, names)
        return replace(material, unsummarised=allowed_lines)

    async def _notes_of_anybody(
        self,
        source: Source,
        material: TailMaterial,
        people: Sequence[str],
        context: _MessageContext,
    ) -> tuple[Recalled, ...]:
        """Return the notes of anybody that may answer a question for a person ("who plays the cello?").

        None where the message asks no such question. `people`: the ids of those whom it names.
        """
        question = _whole_question(material, context)
        if not asks_for_person(question):
            return ()
        names = context.names.words_of_names(question)
        recalled = await self.recall.of_anybody(
            source, question, context.snapshot, people, names
        )
        return tuple(recalled)

    async def _past(
        self,
        source: Source,
        query: Query,
        people: Sequence[str],
        context: _MessageContext,
    ) -> tuple[Past, ...]:
        """Return past episodes that fit the message, each with how many streams ago it was.

        Where it asks when something was, it is what the book has of it, each with its minutes.
        `people`: the ids of those whom the message asks about.
        """
        if asks_when(context.trigger.question):
            return await self._looked_up_in_book(source, query, people, context)
        fitting_episodes = await spoken_of(
            source,
            self.recall.episodes,
            query,
            context.suppression_filter,
            PAST_EPISODES,
            people=people,
            without=context.prefix.whole_episodes,
        )
        stream_ids = set()
        for episode in fitting_episodes:
            if episode.stream_id is not None:
                stream_ids.add(episode.stream_id)
        streams_ago: Mapping[int, int] = {}
        if stream_ids:
            streams_ago = await streams.streams_ago(source, stream_ids)
        past = []
        for episode in fitting_episodes:
            past.append(
                Past(
                    episode.id,
                    episode.ended_at,
                    episode.summary,
                    streams_ago=streams_ago.get(episode.stream_id or 0),
                )
            )
        return tuple(past)

    async def _looked_up_in_book(
        self,
        source: Source,
        query: Query,
        people: Sequence[str],
        context: _MessageContext,
    ) -> tuple[Past, ...]:
        """Return what the book has on a question of when something was ("when did we beat Hades?").

        `query`: of the question and the lines before it. It is used where the question has no word of its
        own to search with ("when was that?").
        """
        # Imported late, so that a bot that nobody asks this does not load it.
        from forgetmenot.memory import book

        question = without_when(context.trigger.question)
        names = context.names.words_of_names(question)
        own_query = self.recall.query(question, names=names)
        if own_query.telling:
            query = own_query
        recalled_notes = await self.recall.of_anybody(
            source, question, context.snapshot, people, names
        )
        entries = await book.look_up(
            source,
            self.recall.episodes,
            query,
            context.suppression_filter,
            now=context.now,
            limit=FROM_BOOK,
            people=people,
            recalled=recalled_notes,
        )
        past = []
        for entry in entries:
            row = Past(
                entry.id,
                entry.at,
                entry.text,
                minutes=entry.minutes,
                link=entry.link,
                table=entry.table,
            )
            past.append(row)
        return tuple(past)

    async def _with_notes(self, read: _ReadMaterial) -> TailMaterial:
        """Return the material with the notes that fit the message.

        They are about its speaker, its people and the channel.
        """
        material = read.material
        speaker_notes = await self._notes_about(material.speaker, read, SPEAKER_NOTES)
        question = read.context.trigger.question
        material = _without_ordinary_words(material, speaker_notes, question)
        others = []
        for other in material.others:
            notes_about_other = await self._notes_about(
                other.viewer, read, NOTES_PER_OTHER
            )
            if not notes_about_other:
                # They were asked about, so the newest notes are better than nothing.
                notes_about_other = await self._notes_about(
                    other.viewer, read, NOTES_OF_ANY_KIND, padded=True
                )
            others.append(replace(other, notes=tuple(notes_about_other)))
        prefix_ids = row_ids(read.context.prefix, "notes")
        channel_notes = await self._channel_notes(read, prefix_ids)
        shown_ids = set(prefix_ids)
        shown_ids |= _note_ids(speaker_notes)
        shown_ids |= _note_ids(channel_notes)
        for other in others:
            shown_ids |= _note_ids(other.notes)
        anybody = []
        for recalled in material.anybody:
            if recalled.note.id not in shown_ids:
                anybody.append(recalled)
        return replace(
            material,
            notes=tuple(speaker_notes),
            channel=channel_notes,
            others=tuple(others),
            anybody=tuple(anybody),
        )

    async def _channel_notes(
        self,
        read: _ReadMaterial,
        prefix_ids: Sequence[int],
    ) -> tuple[Recalled, ...]:
        """Return the notes about the channel that fit the message and do not stand in the prefix."""
        # A message of nothing but stopwords ("how are you?") asks for no note.
        if not read.query.telling:
            return ()
        recalled = await self.recall.about(
            [CHANNEL],
            read.query,
            only_if_asked_for=True,
            snapshot=read.snapshots[CHANNEL],
        )
        return fitting(recalled, without=prefix_ids)

    async def _notes_about(
        self,
        viewer: Viewer,
        read: _ReadMaterial,
        limit: int,
        *,
        padded: bool = False,
    ) -> Sequence[Recalled]:
        """Return the notes about a viewer that fit the message.

        `padded`: also others, the newest first.
        """
        if viewer.opted_out:
            return ()
        return await self.recall.about(
            [viewer.id],
            read.query,
            limit,
            padded=padded,
            snapshot=read.snapshots[viewer.id],
        )


async def with_names(db: Database, material: TailMaterial) -> TailMaterial:
    """Return the material with the names of the people who are only in its notes. Raises StoreError."""
    recalled_notes = [
        *material.notes,
        *material.channel,
        *material.anybody,
        *material.looked_up,
    ]
    for other in material.others:
        recalled_notes += other.notes
    texts = [recalled.note.fact for recalled in recalled_notes]
    texts += [past.text for past in material.looked_up_past]
    people = set(_subjects(material.looked_up))
    for text in texts:
        people.update(ids_in(text))
    people -= material.names.keys()
    people -= material.hidden
    if not people:
        return material
    names, hidden = await viewers.shown_and_hidden(db, sorted(people))
    return replace(
        material,
        names={**material.names, **names},
        hidden=material.hidden | hidden,
    )


def _note_ids(recalled_notes: Iterable[Recalled]) -> set[int]:
    return {recalled.note.id for recalled in recalled_notes}


# ── the lines ─────────────────────────────────────────────────────────────────────────────────


async def _lines_of_chat(
    source: Source,
    context: _MessageContext,
) -> ChatLines:
    """Return the newest lines of chat: all that its rows may be made of."""
    event = context.event
    since = context.now - CHAT_REACHES_BACK
    few = await events.chat_lines(source, since=since, until=event.at, limit=FEW_READ)
    if len(few.lines) < FEW_READ:
        return few
    if are_enough(few.lines, event.user_id, context.now):
        return few
    older = await events.chat_lines(
        source,
        since=since,
        until=event.at,
        limit=ALL_READ - FEW_READ,
        before=few.lines[0],
    )
    return few.with_older(older)


async def _continued_lines(
    source: Source,
    earlier_lines: Sequence[PromptLine],
    trigger: Trigger,
) -> tuple[PromptLine, ...]:
    """Return the speaker's lines that the message continues."""
    if trigger.kind is not TriggerKind.BARE:
        return tuple(line for line in earlier_lines if line.event_id in trigger.earlier)
    # A bare name continues the line before, if that was not to the bot as well.
    since = trigger.event.at - SAME_TOPIC_WITHIN
    recent_lines = [line for line in earlier_lines if line.at >= since]
    recent_ids = [line.event_id for line in recent_lines]
    answered_ids = await bot_messages.lines_with_reply(source, recent_ids)
    unanswered = [line for line in recent_lines if line.event_id not in answered_ids]
    return tuple(unanswered[-1:])


def _text_just_before(material: TailMaterial, context: _MessageContext) -> str:
    """Return the speaker's lines just before the message, as one text: what it continues, and the last few."""
    since = context.event.at - SAME_TOPIC_WITHIN
    texts = [line.text for line in material.before]
    texts += [line.text for line in material.own_lines if line.at >= since]
    # A line may be in both lists.
    unique_texts = dict.fromkeys(texts)
    return " ".join(unique_texts)


def _whole_question(material: TailMaterial, context: _MessageContext) -> str:
    """Return the question of a message; of a bare name that of the lines before it."""
    return context.trigger.question or _joined(material.before)


def _joined_texts(text_before: str, question: str) -> str:
    """Return the lines before a question and the question as one text: the question where there are none."""
    return f"{text_before} {question}" if text_before else question


def _joined(lines: Iterable[PromptLine]) -> str:
    """Return the texts of lines as one text."""
    return " ".join(line.text for line in lines)


def _line_of_bot(message: BotMessage) -> PromptLine:
    """Return a message of the bot as a line of the prompt. No viewer wrote it, so `viewer_id` is None."""
    return PromptLine(message.id, f"bot:{message.id}", None, message.text, message.at)


def _allowed_lines(
    lines: Iterable[_Line],
    suppression_filter: SuppressionFilter,
    names: NameIndex,
) -> tuple[_Line, ...]:
    """Return the lines that speak of nothing that is suppressed."""
    allowed_lines = []
    for line in lines:
        if not _speaks_of_suppressed(line, suppression_filter, names):
            allowed_lines.append(line)
    return tuple(allowed_lines)


def _speaks_of_suppressed(
    line: PromptLine | StreamEvent,
    suppression_filter: SuppressionFilter,
    names: NameIndex,
) -> bool:
    """Return whether a line speaks of what is suppressed of its writer or of somebody named in it.

    The bot's own lines may not speak of what is suppressed of anybody.
    """
    people = suppression_filter.people
    # Names are looked up only where they may matter: most lines have no word of what is suppressed.
    # Unlisted topics are known by their hashes alone, so for them every line has to be looked up.
    has_unlisted = suppression_filter.unlisted is not None
    if not has_unlisted and not suppression_filter.matches(line.text, people):
        return False
    named_ids = names.named_in(line.text, limit=len(people) + 1)
    if line.viewer_id is None:
        return suppression_filter.matches(line.text, {*people, *named_ids})
    return suppression_filter.matches(line.text, [line.viewer_id, *named_ids])


# ── the people ────────────────────────────────────────────────────────────────────────────────


def _people_asked_about(
    material: TailMaterial,
    text_before: str,
    context: _MessageContext,
) -> list[str]:
    """Return the ids of the people whom the message certainly names.

    They are fewer than `material.others`: "who plays drums?" may be about the viewer `drums`, who is
    shown, but it is not searched for as a question about them.
    """
    if not material.others:
        return []
    text = _joined_texts(text_before, context.trigger.question)
    certain_ids = context.names.certain_in(text)
    return [viewer_id for viewer_id in material.other_ids if viewer_id in certain_ids]


def _whose_lines_may_answer(
    question: str,
    query: Query,
    material: TailMaterial,
    context: _MessageContext,
) -> list[str] | None:
    """Return the ids of the people whose lines may answer a question; None if anybody's may.

    Those are the people whom it names and the speaker. Nothing fits a general question ("hi", "how is
    Jolene?") better than anything else, so it has the speaker's lines only if it asks about them.
    """
    if not query.is_general and _may_ask_anybody(question, material, context):
        return None
    viewer_ids = list(material.other_ids)
    if not query.is_general or speaks_of_self(question):
        viewer_ids.append(material.speaker.id)
    return viewer_ids


def _may_ask_anybody(
    question: str,
    material: TailMaterial,
    context: _MessageContext,
) -> bool:
    """Return whether a message is a question that anybody's line may answer.

    It names nobody, nor its author, and asks for nothing that is never stored about people.
    """
    if not is_question(question):
        return False
    if speaks_of_self(question):
        return False
    if material.unclear_names:
        return False
    if context.names.certain_in(question):
        return False
    return not asks_what_is_sensitive(question)


def _live_since(channel: Mapping[str, str]) -> int:
    """Return when the stream began (ms); 0 where none is on."""
    started_at = channel.get("started_at", "")
    if channel.get("live") != "1":
        return 0
    if not started_at.isdigit():
        return 0
    return int(started_at)


def _namings(
    material: TailMaterial,
    context: _MessageContext,
    bot_id: str,
) -> list[Naming]:
    """Return the words that name somebody other than the speaker and the bot."""
    excluded_ids = {material.speaker.id, bot_id}
    names = context.names
    namings = names.namings(context.trigger.question, without=excluded_ids)
    namings += names.namings(_joined(material.before), without=excluded_ids)
    if namings:
        return namings
    # "and where does she live?" is about the people of the lines before it.
    since = context.event.at - THREAD_REACHES_BACK
    own_line = material.own_lines[-1:]
    if own_line and own_line[0].at < since:
        own_line = ()
    text = _joined((*own_line, *material.thread[-1:]))
    return names.namings(text, without=excluded_ids)


def _unclear_names(
    namings: Iterable[Naming], people: Mapping[str, Viewer]
) -> tuple[UnclearName, ...]:
    """Return the words that may name several people, if all of these people are in the material."""
    unclear = []
    for naming in namings:
        viewer_ids = naming.viewer_ids
        if len(viewer_ids) < 2:
            continue
        if not people.keys() >= set(viewer_ids):
            continue
        names = tuple(people[viewer_id].display_name for viewer_id in viewer_ids)
        unclear.append(UnclearName(naming.word, names))
    return tuple(unclear)


def _people_in(material: TailMaterial) -> set[str]:
    """Return the ids of everybody who is in the material, or named in a text of it."""
    people = set(material.other_ids)
    people |= {line.viewer_id for line in material.lines_heard if line.viewer_id}
    people |= {event.viewer_id for event in material.happened}
    people.update(_subjects(material.anybody))
    texts = [material.brief]
    texts += [other.brief for other in material.others]
    texts += [past.text for past in material.past_episodes]
    texts += [action.text for action in material.actions_done]
    for text in texts:
        people.update(ids_in(text))
    return people


def _subjects(recalled_notes: Iterable[Recalled]) -> list[str]:
    """Return the ids of the viewers whom notes are about."""
    subject_ids = [recalled.note.subject_id for recalled in recalled_notes]
    return [subject_id for subject_id in subject_ids if subject_id]


def _without_ordinary_words(
    material: TailMaterial,
    speaker_notes: Sequence[Recalled],
    question: str,
) -> TailMaterial:
    """Return the material without people whose name is an ordinary word, if the question means the word.

    It means the word if a note about somebody else has it. If bob is known to play drums, "who plays
    drums?" is not about the viewer `drums`; nor is "how long have I played drums?" of bob.
    """
    recalled_notes = [*material.anybody]
    if speaks_of_self(question):
        recalled_notes += speaker_notes
    stems_about: dict[str | None, set[str]] = {}
    for recalled in recalled_notes:
        subject_stems = stems_about.setdefault(recalled.note.subject_id, set())
        subject_stems.update(stems(recalled.note.fact))
    others = []
    for other in material.others:
        if not _is_word_about_another(other, stems_about):
            others.append(other)
    return replace(material, others=tuple(others))


def _is_word_about_another(
    person: PersonMentioned,
    stems_about: Mapping[str | None, set[str]],
) -> bool:
    """Return whether the ordinary word that is a person's name stands in notes about somebody else.

    `stems_about`: the stems of the notes about each subject.
    """
    word_stems = set(stems(person.ordinary_word))
    if not word_stems:
        return False
    for subject_id, subject_stems in stems_about.items():
        if subject_id != person.viewer.id and word_stems <= subject_stems:
            return True
    return False
