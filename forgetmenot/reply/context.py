"""Reads what a prompt says of one message: its speaker, the conversation, the people it names, and notes.

- Nothing of hidden people, nothing redacted, nothing suppressed but the message itself, and of the bot's own lines only
  those that were sent.
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
from forgetmenot.memory.ranking import Query
from forgetmenot.memory.recall import CHANNEL, NotesSnapshot, Recall, fitting, spoken_of
from forgetmenot.memory.together import together_with
from forgetmenot.operations import facts
from forgetmenot.people.handles import streamer_of
from forgetmenot.people.names import index_of
from forgetmenot.people.standing import REGULAR_WITHIN, role_of, standing_of
from forgetmenot.privacy.suppression import SuppressionFilter
from forgetmenot.prompt.assemble import BOT_REPLIES, assemble
from forgetmenot.prompt.material import (
    CHAT_LINES,
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
from forgetmenot.reply.prefix import PrefixKeeper, row_ids
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
from forgetmenot.text.meaning import word_table
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.names import NameIndex, Naming
from forgetmenot.text.questions import (
    asks_for_person,
    asks_when,
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
# Lines that are read for the prompt's chat: a raid says the same words a hundred times, and they become one row.
CHAT_READ = 5 * CHAT_LINES
THREAD_LINES = 3
RECENT_ACTIONS = 3
# What the book has for a question that asks when something was.
FROM_BOOK = 4
# Notes of somebody asked about of whom nothing that is known fits the question.
NOTES_OF_ANY_KIND = 5

NO_PREFIX = Prefix("", ())
NO_NAMES = NameIndex()

_Line = TypeVar("_Line", PromptLine, StreamEvent, PromptLine | StreamEvent)


class Composed(NamedTuple):
    """A prompt and what it was made of."""

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
) -> Composed:
    """Return the prompt for one line under one snapshot of the settings. Reads only. Raises StoreError."""
    prefix = await keeper.current()
    revision = keeper.revision
    material = await gatherer.tail(trigger, settings, bot_id=bot_id, prefix=prefix)
    return Composed(assemble(prefix, material, settings), prefix, material, revision)


class _Moment(Struct, frozen=True):
    """What holds while the material for one message is being read.

    `snapshot`: of the speaker's notes. `names`: whom the words of the message and of the lines before it may mean.
    """

    trigger: Trigger
    settings: Settings
    now: int
    channel: Mapping[str, str]
    snapshot: NotesSnapshot
    prefix: Prefix
    names: NameIndex = NO_NAMES

    @property
    def event(self) -> ChatEvent:
        return self.trigger.event

    @property
    def suppression_filter(self) -> SuppressionFilter:
        return self.snapshot.suppression_filter

    @property
    def persona(self) -> str:
        return current_persona(self.settings).name


class _WithoutNotes(NamedTuple):
    """The material before notes are added. `query`: what is asked of them; `snapshots`: of each subject's notes."""

    material: TailMaterial
    moment: _Moment
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

        async def read(source: Source) -> _WithoutNotes:
            return await self._without_notes(source, trigger, settings, bot_id, prefix)

        material = await self._with_notes(await self.db.together(read))
        return await with_names(self.db, material)

    async def standing(self, event: ChatEvent, settings: Settings) -> Standing:
        """Return how well the speaker of a line is known."""
        attendance = await self._attendance(self.db, event.user_id)
        return standing_of(attendance, settings.people, self.clock.now())

    async def _without_notes(
        self,
        source: Source,
        trigger: Trigger,
        settings: Settings,
        bot_id: str,
        prefix: Prefix,
    ) -> _WithoutNotes:
        """Read everything but the notes: those are ranked outside of this read, and most of them are cached."""
        snapshot = await self.recall.look(source, [trigger.event.user_id])
        channel = await channel_state.read_all(source)
        moment = _Moment(trigger, settings, self.clock.now(), channel, snapshot, prefix)
        material = await self._speaker(source, moment)
        material = await self._with_conversation(source, material, moment)
        if snapshot.suppression_filter:
            material = await self._without_suppressed(source, material, moment)

        thought_before = _thought_before(material, moment)
        moment = replace(
            moment, names=await self._names(source, material, thought_before, moment)
        )
        query = self._query(moment, thought_before)
        material = await self._with_others(source, material, moment, bot_id)
        if query.anything:
            material = await self._with_briefs(source, material, moment)

        # "who plays drums?" is no question about the viewer `drums`, of whom something is shown in case it is
        certain = moment.names.certain_in(f"{thought_before} {trigger.question}")
        asked_about = [
            other.viewer.id for other in material.others if other.viewer.id in certain
        ]
        past = await self._past(source, query, asked_about, moment)
        material = await self._with_unsummarised(source, material, moment)
        anybody = await self._anybody(source, material, asked_about, moment)
        material = replace(material, past_episodes=past, anybody=anybody)

        names, hidden = await viewers.shown_and_hidden(
            source, sorted(_people_in(material))
        )
        material = replace(material, names=names, hidden=hidden)
        snapshots = await self._snapshots(source, material, snapshot)
        return _WithoutNotes(material, moment, query, snapshots)

    async def _snapshots(
        self,
        source: Source,
        material: TailMaterial,
        of_speaker: NotesSnapshot,
    ) -> dict[str, NotesSnapshot]:
        """Return how the notes of each subject stand now, by subject."""
        snapshots = {}
        for subject in (*(other.viewer.id for other in material.others), CHANNEL):
            fingerprint = await notes.fingerprint(source, subject or None)
            snapshots[subject] = of_speaker._replace(fingerprints=(fingerprint,))
        snapshots[material.speaker.id] = of_speaker
        return snapshots

    def _query(self, moment: _Moment, thought_before: str) -> Query:
        """Return what the message asks for, with the speaker's thought before it."""
        question = moment.trigger.question
        return self.recall.query(
            question,
            before=thought_before,
            category=moment.channel.get("category", ""),
            title=moment.channel.get("title", ""),
            names=moment.names.words_of_names(f"{thought_before} {question}"),
        )

    async def _with_briefs(
        self,
        source: Source,
        material: TailMaterial,
        moment: _Moment,
    ) -> TailMaterial:
        """Return the material with who its people are, for a message that asks just that: "who is Jolene?"."""
        others = []
        for other in material.others:
            brief, note_ids = await episodes.usable_brief(
                source, other.viewer.id, moment.persona
            )
            brief = moment.suppression_filter.without(brief)
            brief_notes = note_ids if brief else ()
            others.append(replace(other, brief=brief, brief_notes=brief_notes))
        return replace(material, others=tuple(others))

    async def _attendance(self, source: Source, viewer_id: str) -> Attendance:
        recently = self.clock.now() - REGULAR_WITHIN
        return (await streams.attendance_of(source, [viewer_id], lately=recently))[
            viewer_id
        ]

    async def _speaker(self, source: Source, moment: _Moment) -> TailMaterial:
        """Return the material with the message and who wrote it."""
        event = moment.event
        speaker = (await viewers.get_many(source, [event.user_id])).get(event.user_id)
        if speaker is None:
            speaker = stranger(
                event.user_id, event.display_name or event.login, event.at
            )
        # the badges of this line: a role may have changed since the last one was stored
        speaker = replace(speaker, role=role_of(event.badges))
        attendance = await self._attendance(source, event.user_id)
        brief, brief_notes = await episodes.usable_brief(
            source, speaker.id, moment.persona
        )
        brief = moment.suppression_filter.without(brief)
        if speaker.opted_out:
            brief = ""
            brief_notes = ()
        together = await together_with(source, speaker.id, moment.settings, moment.now)
        text = event.text or event.system_text
        is_addressed = moment.trigger.kind is not TriggerKind.FOLLOW_UP
        return TailMaterial(
            now=moment.now,
            speaker=speaker,
            brief=brief,
            brief_notes=brief_notes,
            message=PromptLine(0, event.id, event.user_id, text, event.at),
            standing=standing_of(attendance, moment.settings.people, moment.now),
            is_addressed=is_addressed,
            together=tuple(together.words(moment.now, ENGLISH)),
            congratulate_at=max(
                (fact.since for fact in together.occasions if is_addressed), default=0
            ),
            streams=attendance.streams,
            left_at=attendance.before_at or 0,
            live_since=_live_since(moment.channel),
        )

    async def _with_conversation(
        self,
        source: Source,
        material: TailMaterial,
        moment: _Moment,
    ) -> TailMaterial:
        """Return the material with lines of chat, what happened, and what the bot said and did."""
        event = moment.event
        since = moment.now - CHAT_REACHES_BACK
        own_lines = await events.lines(
            source,
            of=event.user_id,
            since=since,
            until=event.at,
            limit=OWN_LINES + 2,
        )
        chat = await events.lines(source, since=since, until=event.at, limit=CHAT_READ)
        happened = await events.reported_events(
            source,
            since=moment.now - HAPPENED_REACHES_BACK,
            until=event.at,
            limit=EVENT_ROWS,
        )
        spoken: list[PromptLine] = []
        if moment.settings.hearing.on:
            spoken = await events.lines(
                source,
                spoken=True,
                since=moment.now - SPOKEN_REACHES_BACK,
                until=event.at,
                limit=SPOKEN_LINES,
            )
        moderation: list[StreamEvent] = []
        if material.speaker.role.moderates:
            moderation = await events.moderation_events(
                source, since=since, until=event.at, limit=EVENT_ROWS
            )
        message = next(
            (line for line in own_lines if line.event_id == event.id), material.message
        )
        earlier_lines = [line for line in own_lines if line.event_id != event.id]
        thread = await bot_messages.recently_sent(
            source, THREAD_LINES, moment.now - THREAD_REACHES_BACK, event.user_id
        )
        replies = await bot_messages.recently_sent(
            source, BOT_REPLIES + THREAD_LINES, moment.now - REPLIES_REACH_BACK
        )
        actions_done = await facts.lately(
            source, since=moment.now - RECENT_ACTIONS_WINDOW, limit=RECENT_ACTIONS
        )
        return replace(
            material,
            message=message,
            before=await _continued_lines(source, earlier_lines, moment.trigger),
            own_lines=tuple(earlier_lines),
            spoken=tuple(spoken),
            happened=tuple(happened),
            moderation=tuple(moderation),
            chat=tuple(chat),
            thread=tuple(_line_of_bot(reply) for reply in thread),
            bot_replies=tuple(_line_of_bot(reply) for reply in replies),
            actions_done=actions_done,
        )

    async def _without_suppressed(
        self,
        source: Source,
        material: TailMaterial,
        moment: _Moment,
    ) -> TailMaterial:
        """Return the material without the lines that speak of what is suppressed."""
        suppression_filter = moment.suppression_filter
        by_kind: dict[str, tuple[PromptLine | StreamEvent, ...]] = {
            "own_lines": material.own_lines,
            "spoken": material.spoken,
            "happened": material.happened,
            "chat": material.chat,
            "thread": material.thread,
            "bot_replies": material.bot_replies,
        }
        people = suppression_filter.people
        is_any_suspect = suppression_filter.unlisted is not None
        suspect_texts = [
            line.text
            for line in chain.from_iterable(by_kind.values())
            if is_any_suspect or suppression_filter.matches(line.text, people)
        ]
        names = await index_of(
            source, suspect_texts, present=self.recall.active_viewers.ids
        )
        allowed = {
            kind: _allowed_lines(lines, suppression_filter, names)
            for kind, lines in by_kind.items()
        }
        everybody = {*people, material.speaker.id}
        actions_done = tuple(
            action
            for action in material.actions_done
            if not suppression_filter.matches(action.text, everybody)
        )
        return replace(material, **allowed, actions_done=actions_done)

    async def _names(
        self,
        source: Source,
        material: TailMaterial,
        thought_before: str,
        moment: _Moment,
    ) -> NameIndex:
        """Return whom the words of the message and of the lines before it may mean."""
        last_lines = (*material.own_lines[-1:], *material.thread[-1:])
        return await index_of(
            source,
            [
                moment.trigger.question,
                thought_before,
                *(line.text for line in last_lines),
            ],
            present=self.recall.active_viewers.ids,
            streamer=await streamer_of(source, moment.settings.twitch.channel),
        )

    async def _with_others(
        self,
        source: Source,
        material: TailMaterial,
        moment: _Moment,
        bot_id: str,
    ) -> TailMaterial:
        """Return the material with the people who are talked about, without what is known about them."""
        namings = _namings(material, moment, bot_id)
        mentioned: dict[str, None] = {}
        for naming in namings:
            mentioned.update(dict.fromkeys(naming.viewer_ids))
        viewer_ids = list(mentioned)[:OTHERS]
        people = await viewers.get_many(source, viewer_ids) if viewer_ids else {}
        ordinary_words: dict[str, str] = {}
        for naming in namings:
            if naming.is_ordinary:
                ordinary_words.update(dict.fromkeys(naming.viewer_ids, naming.word))
        others = []
        for viewer_id in viewer_ids:
            viewer = people.get(viewer_id)
            if viewer is not None and not viewer.opted_out:
                ordinary_word = ordinary_words.get(viewer.id, "")
                others.append(PersonMentioned(viewer, ordinary_word=ordinary_word))
        unclear_names = _unclear_names(namings, people)
        return replace(material, others=tuple(others), unclear_names=unclear_names)

    async def _with_unsummarised(
        self,
        source: Source,
        material: TailMaterial,
        moment: _Moment,
    ) -> TailMaterial:
        """Return the material with lines that no summary has yet, of the speaker and of those asked about."""
        question = _whole_question(material, moment)
        # without the speaker's lines before it, each of which would share all of its words with the query
        query = self.recall.query(question, names=moment.names.words_of_names(question))
        subjects = [other.viewer.id for other in material.others]
        if not query.anything or speaks_of_self(question):
            subjects.append(material.speaker.id)
        lines = await unsummarised.search(
            source,
            query,
            subjects,
            settings=moment.settings,
            now=moment.now,
            until=moment.event.at,
            table=word_table(),
        )
        question_ids = {moment.event.id, *(line.event_id for line in material.before)}
        lines = [line for line in lines if line.event_id not in question_ids]
        suppression_filter = moment.suppression_filter
        if lines and suppression_filter:
            texts = [line.text for line in lines]
            names = await index_of(
                source, texts, present=self.recall.active_viewers.ids
            )
            return replace(
                material, unsummarised=_allowed_lines(lines, suppression_filter, names)
            )
        return replace(material, unsummarised=tuple(lines))

    async def _anybody(
        self,
        source: Source,
        material: TailMaterial,
        people: Sequence[str],
        moment: _Moment,
    ) -> tuple[Recalled, ...]:
        """Return what is known about anybody that may answer a question which asks for a person.

        `people`: the ids of those whom it names.
        """
        question = _whole_question(material, moment)
        if not asks_for_person(question):
            return ()
        names = moment.names.words_of_names(question)
        recalled = await self.recall.of_anybody(
            source, question, moment.snapshot, people, names
        )
        return tuple(recalled)

    async def _past(
        self,
        source: Source,
        query: Query,
        people: Sequence[str],
        moment: _Moment,
    ) -> tuple[Past, ...]:
        """Return past episodes that fit the message, each with how many streams ago it was.

        Where it asks when something was, it is what the book has of it, each with its minutes.
        """
        if asks_when(moment.trigger.question):
            return await self._from_book(source, people, moment)
        fitting_episodes = await spoken_of(
            source,
            self.recall.episodes,
            query,
            moment.suppression_filter,
            PAST_EPISODES,
            people=people,
            without=row_ids(moment.prefix, "episodes"),
        )
        stream_ids = {
            episode.stream_id
            for episode in fitting_episodes
            if episode.stream_id is not None
        }
        streams_ago = (
            await streams.streams_ago(source, stream_ids) if stream_ids else {}
        )
        past = []
        for episode in fitting_episodes:
            ago = streams_ago.get(episode.stream_id or 0)
            past.append(
                Past(episode.id, episode.ended_at, episode.summary, streams_ago=ago)
            )
        return tuple(past)

    async def _from_book(
        self,
        source: Source,
        people: Sequence[str],
        moment: _Moment,
    ) -> tuple[Past, ...]:
        """Return what happened that a question means which asks when it was."""
        # a part that nobody asks for imports nothing
        from forgetmenot.memory import book

        question = without_when(moment.trigger.question)
        names = moment.names.words_of_names(question)
        entries = await book.look_up(
            source,
            self.recall.episodes,
            self.recall.query(question, names=names),
            moment.suppression_filter,
            now=moment.now,
            limit=FROM_BOOK,
            people=people,
            recalled=await self.recall.of_anybody(
                source, question, moment.snapshot, people, names
            ),
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

    async def _with_notes(self, read: _WithoutNotes) -> TailMaterial:
        """Return the material with the notes about its speaker, its people and the channel that fit the message."""
        material = read.material
        speaker_notes = await self._notes_about(material.speaker, read, SPEAKER_NOTES)
        material = _without_ordinary_words(
            material, speaker_notes, read.moment.trigger.question
        )
        others = []
        for other in material.others:
            recalled = await self._notes_about(other.viewer, read, NOTES_PER_OTHER)
            if not recalled:
                # they were asked about, so the newest is better than nothing
                recalled = await self._notes_about(
                    other.viewer, read, NOTES_OF_ANY_KIND, padded=True
                )
            others.append(replace(other, notes=tuple(recalled)))

        in_prefix = row_ids(read.moment.prefix, "notes")
        channel_notes: tuple[Recalled, ...] = ()
        if read.query.telling:
            of_channel = await self.recall.about(
                [CHANNEL], read.query, snapshot=read.snapshots[CHANNEL]
            )
            channel_notes = fitting(of_channel, without=in_prefix)

        shown_notes = {*in_prefix}
        for recalled in (
            speaker_notes,
            channel_notes,
            *(other.notes for other in others),
        ):
            shown_notes.update(candidate.note.id for candidate in recalled)
        anybody = [
            candidate
            for candidate in material.anybody
            if candidate.note.id not in shown_notes
        ]
        return replace(
            material,
            notes=tuple(speaker_notes),
            channel=channel_notes,
            others=tuple(others),
            anybody=tuple(anybody),
        )

    async def _notes_about(
        self,
        viewer: Viewer,
        read: _WithoutNotes,
        limit: int,
        *,
        padded: bool = False,
    ) -> Sequence[Recalled]:
        """Return the notes about a viewer that fit the message; `padded`: also others, the newest first."""
        if viewer.opted_out:
            return ()
        snapshot = read.snapshots[viewer.id]
        return await self.recall.about(
            [viewer.id], read.query, limit, padded=padded, snapshot=snapshot
        )


async def with_names(db: Database, material: TailMaterial) -> TailMaterial:
    """Return the material with the names of the people in its notes, whoever of them is in nothing else."""
    recalled = [
        *material.notes,
        *material.channel,
        *material.anybody,
        *material.looked_up,
    ]
    for other in material.others:
        recalled += other.notes
    texts = [candidate.note.fact for candidate in recalled]
    texts += [past.text for past in material.looked_up_past]
    people = set(_subjects(material.looked_up))
    for text in texts:
        people.update(ids_in(text))
    people -= material.names.keys() | material.hidden
    if not people:
        return material
    names, hidden = await viewers.shown_and_hidden(db, sorted(people))
    return replace(
        material, names={**material.names, **names}, hidden=material.hidden | hidden
    )


# ── the lines ─────────────────────────────────────────────────────────────────────────────────


async def _continued_lines(
    source: Source,
    earlier_lines: Sequence[PromptLine],
    trigger: Trigger,
) -> tuple[PromptLine, ...]:
    """Return the speaker's lines that the message continues."""
    if trigger.kind is not TriggerKind.BARE:
        return tuple(line for line in earlier_lines if line.event_id in trigger.earlier)
    # a bare name continues the line before, if that was not to the bot as well
    since = trigger.event.at - SAME_TOPIC_WITHIN
    recent_lines = [line for line in earlier_lines if line.at >= since]
    answered = await bot_messages.lines_with_reply(
        source, [line.event_id for line in recent_lines]
    )
    return tuple([line for line in recent_lines if line.event_id not in answered][-1:])


def _thought_before(material: TailMaterial, moment: _Moment) -> str:
    """Return what the speaker said just before the message."""
    since = moment.event.at - SAME_TOPIC_WITHIN
    texts = [line.text for line in material.before]
    texts += [line.text for line in material.own_lines if line.at >= since]
    return " ".join(dict.fromkeys(texts))


def _whole_question(material: TailMaterial, moment: _Moment) -> str:
    """Return the question of a message; of a bare name that of the lines before it."""
    return moment.trigger.question or _joined(material.before)


def _joined(lines: Iterable[PromptLine]) -> str:
    return " ".join(line.text for line in lines)


def _line_of_bot(message: BotMessage) -> PromptLine:
    return PromptLine(message.id, f"bot:{message.id}", None, message.text, message.at)


def _allowed_lines(
    lines: Iterable[_Line],
    suppression_filter: SuppressionFilter,
    names: NameIndex,
) -> tuple[_Line, ...]:
    """Return the lines that speak of nothing that is suppressed."""
    return tuple(
        line
        for line in lines
        if not _speaks_of_suppressed(line, suppression_filter, names)
    )


def _speaks_of_suppressed(
    line: PromptLine | StreamEvent,
    suppression_filter: SuppressionFilter,
    names: NameIndex,
) -> bool:
    """Return whether a line speaks of what is suppressed of its writer or of somebody named in it.

    The bot's own lines may not speak of what is suppressed of anybody.
    """
    people = suppression_filter.people
    if suppression_filter.unlisted is None and not suppression_filter.matches(
        line.text, people
    ):
        return False
    mentioned = names.named_in(line.text, limit=len(people) + 1)
    if line.viewer_id is None:
        return suppression_filter.matches(line.text, {*people, *mentioned})
    return suppression_filter.matches(line.text, [line.viewer_id, *mentioned])


# ── the people ────────────────────────────────────────────────────────────────────────────────


def _live_since(channel: Mapping[str, str]) -> int:
    """Return when the stream began (ms), 0 where none is on."""
    began = channel.get("started_at", "")
    if channel.get("live") != "1" or not began.isdigit():
        return 0
    return int(began)


def _namings(
    material: TailMaterial,
    moment: _Moment,
    bot_id: str,
) -> list[Naming]:
    """Return the words that name somebody other than the speaker and the bot."""
    without = {material.speaker.id, bot_id}
    namings = moment.names.namings(moment.trigger.question, without=without)
    namings += moment.names.namings(_joined(material.before), without=without)
    if namings:
        return namings
    # "and where does she live?" is about the people of the lines before it
    since = moment.event.at - THREAD_REACHES_BACK
    own_line = [line for line in material.own_lines[-1:] if line.at >= since]
    text = _joined([*own_line, *material.thread[-1:]])
    return moment.names.namings(text, without=without)


def _unclear_names(
    namings: Iterable[Naming], people: Mapping[str, Viewer]
) -> tuple[UnclearName, ...]:
    """Return the words that may name several people, all of whom are known."""
    unclear = []
    for naming in namings:
        viewer_ids = naming.viewer_ids
        if len(viewer_ids) < 2 or not people.keys() >= set(viewer_ids):
            continue
        names = tuple(people[viewer_id].display_name for viewer_id in viewer_ids)
        unclear.append(UnclearName(naming.word, names))
    return tuple(unclear)


def _people_in(material: TailMaterial) -> set[str]:
    """Return the ids of everybody who is in the material, or named in a text of it."""
    texts = [
        *(past.text for past in material.past_episodes),
        *(action.text for action in material.actions_done),
        material.brief,
        *(other.brief for other in material.others),
    ]
    people = {other.viewer.id for other in material.others}
    people |= {line.viewer_id for line in material.lines_heard if line.viewer_id}
    people |= {event.viewer_id for event in material.happened}
    people.update(_subjects(material.anybody))
    for text in texts:
        people.update(ids_in(text))
    return people


def _subjects(recalled: Iterable[Recalled]) -> list[str]:
    """Return whom notes are about, by id."""
    return [
        candidate.note.subject_id for candidate in recalled if candidate.note.subject_id
    ]


def _without_ordinary_words(
    material: TailMaterial,
    speaker_notes: Sequence[Recalled],
    question: str,
) -> TailMaterial:
    """Return the material without people whose name is a word of the language, where a note about another has it.

    "who plays drums?" does not mean the viewer `drums` where somebody is known to play them, nor does "how long have I
    played drums?" where the speaker does.
    """
    recalled = [*material.anybody]
    if speaks_of_self(question):
        recalled += speaker_notes
    stems_about: dict[str | None, set[str]] = {}
    for candidate in recalled:
        fact_stems = stems_about.setdefault(candidate.note.subject_id, set())
        fact_stems.update(stems(candidate.note.fact))
    others = []
    for other in material.others:
        word_stems = set(stems(other.ordinary_word))
        about_another = [
            fact_stems
            for viewer_id, fact_stems in stems_about.items()
            if viewer_id != other.viewer.id
        ]
        if not word_stems or not any(
            word_stems <= fact_stems for fact_stems in about_another
        ):
            others.append(other)
    return replace(material, others=tuple(others))
