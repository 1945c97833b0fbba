"""Reads what a prompt is made from: its prefix, kept from one compaction pass to the next, and the tail of one reply.

- Nothing of hidden people, nothing redacted, nothing suppressed but the message itself, and of the bot's own lines only
  those that were sent.
- Reads only, and the same for a reply, a dry run and a test.
- The prefix keeps its bytes until the next pass: it is what makes a provider's cache work. It is composed anew when the
  settings changed, somebody was erased, or something in it may not be shown any more. A restart composes it again.
- The tail is one snapshot in the reader's thread, unless notes of a viewer are not cached yet.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import (
    Attendance,
    ChatEvent,
    Episode,
    Prompt,
    PromptLine,
    Recalled,
    Standing,
    StreamEvent,
    Viewer,
)
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.logs import log
from forgetmenot.memory import unsummarised
from forgetmenot.memory.ranking import Query
from forgetmenot.memory.recall import (
    CHANNEL,
    NotesSnapshot,
    Recall,
    fitting,
    newest,
    spoken_of,
    without_hidden,
)
from forgetmenot.operations import facts
from forgetmenot.people.handles import streamer_of
from forgetmenot.people.names import index_of
from forgetmenot.people.standing import REGULAR_WITHIN, role_of, standing_of
from forgetmenot.privacy.suppression import SuppressionFilter, load_filter
from forgetmenot.prompt.assemble import BOT_REPLIES, assemble, compose_prefix
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
    PrefixMaterial,
    TailMaterial,
    UnclearName,
    stranger,
)
from forgetmenot.reply.reply_object import offered
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import Settings, current_persona
from forgetmenot.store import bot_messages, channel_state, episodes, events, notes, streams, viewers
from forgetmenot.store.bot_messages import BotMessage
from forgetmenot.store.database import Database, Source
from forgetmenot.text.meaning import word_table
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.names import NameIndex, Naming
from forgetmenot.text.questions import asks_for_person, speaks_of_self
from forgetmenot.text.words import stems

CHAT_REACHES_BACK = 2 * HOUR
SPOKEN_REACHES_BACK = 3 * MINUTE
SPOKEN_LINES = 6
HAPPENED_REACHES_BACK = 30 * MINUTE
# Lines that are read for the prompt's chat: a raid says the same words a hundred times, and they become one row.
CHAT_READ = 5 * CHAT_LINES
THREAD_REACHES_BACK = 15 * MINUTE
REPLIES_REACH_BACK = DAY
RECENT_ACTIONS_WINDOW = 2 * HOUR
SAME_TOPIC_WITHIN = MINUTE
THREAD_LINES = 3
RECENT_ACTIONS = 3
# Notes of somebody asked about of whom nothing that is known fits the question.
NOTES_OF_ANY_KIND = 5
# Notes of each subject, and episodes, that a second look adds.
LOOKED_UP, LOOKED_UP_PAST = 8, 2


NO_PREFIX = Prefix("", ())
NO_NAMES = NameIndex()


class _Moment(Struct, frozen=True):
    """What holds while the material for one message is being read."""

    trigger: Trigger
    settings: Settings
    now: int
    channel: Mapping[str, str]
    seen: NotesSnapshot  # of the speaker's notes
    prefix: Prefix
    named: NameIndex = NO_NAMES  # whom the words of the message and of the lines before it may mean

    @property
    def event(self) -> ChatEvent:
        return self.trigger.event


class ContextGatherer(Struct, frozen=True):
    """Reads material. `settings` is handed in per call: one snapshot for one event."""

    db: Database
    recall: Recall
    clock: Clock

    async def tail(
        self, trigger: Trigger, settings: Settings, *, bot_id: str = "", prefix: Prefix = NO_PREFIX
    ) -> TailMaterial:
        """Everything for one message that the prefix does not show."""
        await self.recall.active_viewers.look()
        read = await self.db.together(lambda at: self._read(at, trigger, settings, bot_id, prefix))
        return await self._named(await self._remembered(*read))

    async def _read(
        self, at: Source, trigger: Trigger, settings: Settings, bot_id: str, prefix: Prefix
    ) -> tuple[TailMaterial, _Moment, Query, Mapping[str, NotesSnapshot]]:
        """Everything but the notes: those are ranked by what is asked for, and not read where they are kept.

        What is asked of them, and how the notes of each stand whose are wanted, comes along.
        """
        seen = await self.recall.look(at, [trigger.event.user_id])
        moment = _Moment(
            trigger, settings, self.clock.now(), await channel_state.read_all(at), seen, prefix
        )
        material = await self._conversation(at, await self._speaker(at, moment), moment)
        if seen.suppression_filter:
            material = await self._quiet(at, material, seen.suppression_filter)
        before = self._before(material, moment)
        moment = replace(moment, named=await self._names_in(at, material, before, moment))
        query = self._query(moment, before)
        material = await self._with_others(at, material, moment, bot_id)
        if query.anything:
            material = await self._with_briefs(at, material, moment)
        about = [other.viewer.id for other in material.others]
        # "who plays drums?" is no question about the viewer `drums`, of whom something is shown in case it is
        certain = moment.named.certain_in(f"{before} {trigger.question}")
        named = [viewer_id for viewer_id in about if viewer_id in certain]
        past = await self._past(at, query, named, moment)
        material = await self._with_unsummarised(at, material, moment)
        anybody = await self._anybody(at, material, named, moment)
        material = replace(material, past_episodes=past, anybody=anybody)
        texts = [
            *(one.text for one in past),
            *(done.text for done in material.actions_done),
            material.brief,
            *(other.brief for other in material.others),
        ]
        people = {line.viewer_id for line in material.said if line.viewer_id} | {*about}
        people |= {event.viewer_id for event in material.happened}
        people |= {one.note.subject_id for one in anybody if one.note.subject_id}
        people |= {who for text in texts for who in ids_in(text)}
        names, hidden = await viewers.shown_and_hidden(at, sorted(people))
        snapshots = {
            who: seen._replace(prints=(await notes.fingerprint(at, who or None),))
            for who in (*about, CHANNEL)
        }
        snapshots[material.speaker.id] = seen
        return replace(material, names=names, hidden=hidden), moment, query, snapshots

    def _before(self, material: TailMaterial, moment: _Moment) -> str:
        """Return the speaker's thought before the message."""
        since = moment.event.at - SAME_TOPIC_WITHIN
        lately = [line.text for line in material.own_lines if line.at >= since]
        return " ".join(dict.fromkeys([*(line.text for line in material.before), *lately]))

    def _query(self, moment: _Moment, before: str) -> Query:
        """Return what the message asks for, with the speaker's thought before it."""
        question = moment.trigger.question
        return self.recall.query(
            question,
            before=before,
            category=moment.channel.get("category", ""),
            title=moment.channel.get("title", ""),
            names=moment.named.words_of_names(f"{before} {question}"),
        )

    async def _with_briefs(
        self, at: Source, material: TailMaterial, moment: _Moment
    ) -> TailMaterial:
        """Return the material with who its people are, for a message that asks just that: "who is Jolene?"."""
        persona = current_persona(moment.settings).name
        known = []
        for other in material.others:
            brief, made_of = await episodes.usable_brief(at, other.viewer.id, persona)
            brief = moment.seen.suppression_filter.without(brief)
            known.append(replace(other, brief=brief, brief_notes=made_of if brief else ()))
        return replace(material, others=tuple(known))

    async def standing(self, event: ChatEvent, settings: Settings) -> Standing:
        """How well the speaker of a line is known."""
        return standing_of(
            await self._came(self.db, event.user_id), settings.people, self.clock.now()
        )

    async def _came(self, at: Source, viewer_id: str) -> Attendance:
        lately = self.clock.now() - REGULAR_WITHIN
        return (await streams.attendance_of(at, [viewer_id], lately=lately))[viewer_id]

    async def _speaker(self, at: Source, moment: _Moment) -> TailMaterial:
        event = moment.event
        found = (await viewers.get_many(at, [event.user_id])).get(event.user_id)
        speaker = found or stranger(event.user_id, event.display_name or event.login, event.at)
        # the badges of this line: a role may have changed since the last one was stored
        speaker = replace(speaker, role=role_of(event.badges))
        came = await self._came(at, event.user_id)
        brief, made_of = await episodes.usable_brief(
            at, speaker.id, current_persona(moment.settings).name
        )
        began = moment.channel.get("started_at", "")
        return TailMaterial(
            now=moment.now,
            speaker=speaker,
            brief="" if speaker.opted_out else moment.seen.suppression_filter.without(brief),
            brief_notes=() if speaker.opted_out else made_of,
            message=PromptLine(
                0, event.id, event.user_id, event.text or event.system_text, event.at
            ),
            standing=standing_of(came, moment.settings.people, moment.now),
            is_addressed=moment.trigger.kind is not TriggerKind.FOLLOW_UP,
            streams=came.streams,
            left_at=came.before_at or 0,
            live_since=int(began) if moment.channel.get("live") == "1" and began.isdigit() else 0,
        )

    async def _conversation(
        self, at: Source, material: TailMaterial, moment: _Moment
    ) -> TailMaterial:
        event, until = moment.event, moment.event.at
        since = moment.now - CHAT_REACHES_BACK
        own = await events.lines(
            at, of=event.user_id, since=since, until=until, limit=OWN_LINES + 2
        )
        chat = await events.lines(at, since=since, until=until, limit=CHAT_READ)
        happened = await events.reported_events(
            at, since=moment.now - HAPPENED_REACHES_BACK, until=until, limit=EVENT_ROWS
        )
        heard: list[PromptLine] = []
        if moment.settings.hearing.on:
            heard = await events.lines(
                at,
                spoken=True,
                since=moment.now - SPOKEN_REACHES_BACK,
                until=until,
                limit=SPOKEN_LINES,
            )
        moderation: list[StreamEvent] = []
        if material.speaker.role.moderates:
            moderation = await events.moderation_events(
                at, since=since, until=until, limit=EVENT_ROWS
            )
        current = next((line for line in own if line.event_id == event.id), material.message)
        earlier = [line for line in own if line.event_id != event.id]
        thread = await bot_messages.recently_sent(
            at, THREAD_LINES, moment.now - THREAD_REACHES_BACK, event.user_id
        )
        before = [line for line in earlier if line.event_id in moment.trigger.earlier]
        if (
            moment.trigger.kind is TriggerKind.BARE
        ):  # it continues the line before, if that was not to the bot as well
            lately = [line for line in earlier if line.at >= event.at - SAME_TOPIC_WITHIN]
            taken = await bot_messages.lines_with_reply(at, [line.event_id for line in lately])
            before = [line for line in lately if line.event_id not in taken][-1:]
        replies = await bot_messages.recently_sent(
            at, BOT_REPLIES + THREAD_LINES, moment.now - REPLIES_REACH_BACK
        )
        return replace(
            material,
            message=current,
            before=tuple(before),
            own_lines=tuple(earlier),
            spoken=tuple(heard),
            happened=tuple(happened),
            moderation=tuple(moderation),
            chat=tuple(chat),
            thread=tuple(_own_line(line) for line in thread),
            bot_replies=tuple(_own_line(line) for line in replies),
            actions_done=await facts.lately(
                at, since=moment.now - RECENT_ACTIONS_WINDOW, limit=RECENT_ACTIONS
            ),
        )

    async def _quiet(
        self, at: Source, material: TailMaterial, suppression_filter: SuppressionFilter
    ) -> TailMaterial:
        """The conversation without the lines that speak of what is to be left alone."""
        lines = {
            kind: getattr(material, kind)
            for kind in ("own_lines", "spoken", "happened", "chat", "thread", "bot_replies")
        }
        people = suppression_filter.people
        is_suspect = suppression_filter.unlisted is not None
        suspects = [
            line.text
            for line in chain.from_iterable(lines.values())
            if is_suspect or suppression_filter.has(line.text, people)
        ]
        named = await index_of(at, suspects, present=self.recall.active_viewers.ids)
        allowed = {
            kind: tuple(
                line for line in of_kind if not _speaks_of_it(line, suppression_filter, named)
            )
            for kind, of_kind in lines.items()
        }
        everybody = {*people, material.speaker.id}
        done = tuple(
            one for one in material.actions_done if not suppression_filter.has(one.text, everybody)
        )
        return replace(material, **allowed, actions_done=done)

    async def _names_in(
        self, at: Source, material: TailMaterial, before: str, moment: _Moment
    ) -> NameIndex:
        """Whom the words of the message and of the lines before it may mean."""
        thread = [line.text for line in (*material.own_lines[-1:], *material.thread[-1:])]
        return await index_of(
            at,
            [moment.trigger.question, before, *thread],
            present=self.recall.active_viewers.ids,
            streamer=await streamer_of(at, moment.settings.twitch.channel),
        )

    async def _with_others(
        self, at: Source, material: TailMaterial, moment: _Moment, bot_id: str
    ) -> TailMaterial:
        """The material with the people who are talked about, without what is known about them."""
        without = {material.speaker.id, bot_id}

        def named_in(text: str) -> list[Naming]:
            return moment.named.namings(text, without=without)

        namings = named_in(moment.trigger.question)
        namings += named_in(" ".join(line.text for line in material.before))
        if not namings:
            # "and where does she live?" is about the people of the lines before it
            own = [
                line
                for line in material.own_lines[-1:]
                if moment.event.at - line.at <= THREAD_REACHES_BACK
            ]
            namings = named_in(" ".join(line.text for line in (*own, *material.thread[-1:])))
        mentioned: dict[str, None] = {}
        for naming in namings:
            mentioned.update(dict.fromkeys(naming.viewer_ids))
        viewer_ids = list(mentioned)[:OTHERS]
        people = await viewers.get_many(at, viewer_ids) if viewer_ids else {}
        shown = [people[who] for who in viewer_ids if who in people and not people[who].opted_out]
        unclear = [
            UnclearName(naming.word, tuple(people[who].display_name for who in naming.viewer_ids))
            for naming in namings
            if len(naming.viewer_ids) > 1 and people.keys() >= set(naming.viewer_ids)
        ]
        ordinary_words = {
            who: naming.word
            for naming in namings
            if naming.is_ordinary
            for who in naming.viewer_ids
        }
        others = tuple(
            PersonMentioned(viewer, ordinary_word=ordinary_words.get(viewer.id, ""))
            for viewer in shown
        )
        return replace(material, others=others, unclear_names=tuple(unclear))

    async def _with_unsummarised(
        self, at: Source, material: TailMaterial, moment: _Moment
    ) -> TailMaterial:
        """Return the material with lines that no summary has yet, of the speaker and of those asked about."""
        question = moment.trigger.question or " ".join(line.text for line in material.before)
        # without the speaker's lines before it, each of which would share all of its words with the query
        query = self.recall.query(question, names=moment.named.words_of_names(question))
        about = [other.viewer.id for other in material.others]
        if not query.anything or speaks_of_self(question):
            about.append(material.speaker.id)
        lines = await unsummarised.search(
            at,
            query,
            about,
            settings=moment.settings,
            now=moment.now,
            until=moment.event.at,
            table=word_table(),
        )
        asked = {moment.event.id, *(line.event_id for line in material.before)}
        lines = [line for line in lines if line.event_id not in asked]
        suppression_filter = moment.seen.suppression_filter
        if lines and suppression_filter:
            texts = [line.text for line in lines]
            named = await index_of(at, texts, present=self.recall.active_viewers.ids)
            lines = [line for line in lines if not _speaks_of_it(line, suppression_filter, named)]
        return replace(material, unsummarised=tuple(lines))

    async def _anybody(
        self, at: Source, material: TailMaterial, named: Sequence[str], moment: _Moment
    ) -> tuple[Recalled, ...]:
        """Return what is known about anybody that may answer a question which asks for a person.

        `named`: the ids of those whom it names.
        """
        question = moment.trigger.question or " ".join(line.text for line in material.before)
        if not asks_for_person(question):
            return ()
        names = moment.named.words_of_names(question)
        return tuple(await self.recall.of_anybody(at, question, moment.seen, named, names))

    async def _past(
        self, at: Source, query: Query, people: Sequence[str], moment: _Moment
    ) -> tuple[Past, ...]:
        quiet, shown = moment.seen.suppression_filter, _rows(moment.prefix, "episodes")
        found = await spoken_of(
            at, self.recall.episodes, query, quiet, PAST_EPISODES, people=people, without=shown
        )
        ids = {episode.stream_id for episode in found if episode.stream_id is not None}
        ago = await streams.streams_ago(at, ids) if ids else {}
        return tuple(
            Past(past.id, past.ended_at, past.summary, streams_ago=ago.get(past.stream_id or 0))
            for past in found
        )

    async def _remembered(
        self,
        material: TailMaterial,
        moment: _Moment,
        query: Query,
        seen: Mapping[str, NotesSnapshot],
    ) -> TailMaterial:
        async def about(who: Viewer, most: int, *, padded: bool = False) -> Sequence[Recalled]:
            if who.opted_out:
                return ()
            return await self.recall.about([who.id], query, most, padded=padded, seen=seen[who.id])

        own = await about(material.speaker, SPEAKER_NOTES)
        material = _without_mere_words(material, own, moment.trigger.question)
        others = []
        for other in material.others:
            known = await about(other.viewer, NOTES_PER_OTHER)
            if not known:  # they were asked about, so the newest is better than nothing
                known = await about(other.viewer, NOTES_OF_ANY_KIND, padded=True)
            others.append(replace(other, notes=tuple(known)))
        channel = (
            await self.recall.about([CHANNEL], query, seen=seen[CHANNEL]) if query.telling else ()
        )
        in_prefix = _rows(moment.prefix, "notes")
        fitting_channel = fitting(channel, without=in_prefix)
        shown = {*in_prefix, *(one.note.id for one in (*own, *fitting_channel))}
        shown.update(one.note.id for other in others for one in other.notes)
        anybody = [one for one in material.anybody if one.note.id not in shown]
        people = [material.speaker.id, *(other.viewer.id for other in material.others)]
        people += [one.note.subject_id for one in anybody if one.note.subject_id]
        return replace(
            material,
            notes=tuple(own),
            channel=fitting_channel,
            others=tuple(others),
            anybody=tuple(anybody),
            left_alone=moment.seen.suppression_filter.about(people),
        )

    async def second_look(
        self, made: "Composed", words: str, shown_notes: Collection[int]
    ) -> TailMaterial | None:
        """The material with what other words find of people, channel and past; None if they find nothing.

        What stands in the prompt already (`shown_notes`) is left out. Raises StoreError.
        """
        material = made.material
        names = (await index_of(self.db, [words])).words_of_names(words)
        query = self.recall.query(words, names=names)
        if not query.telling:
            return None
        people = [material.speaker, *(other.viewer for other in material.others)]
        subjects = [CHANNEL, *(one.id for one in people if not one.opted_out)]
        notes_found: list[Recalled] = []
        for subject in subjects:
            recalled = await self.recall.about([subject], query, LOOKED_UP + len(shown_notes))
            fresh = [one for one in recalled if one.asked_for and one.note.id not in shown_notes]
            notes_found += fresh[:LOOKED_UP]
        if not await self._is_about_somebody(material):
            notes_found = await self._looked_up_of_anybody(words, notes_found, shown_notes)
        others = [other.viewer for other in material.others]
        asked_about = others or [material.speaker]
        named = [one.id for one in asked_about if not one.opted_out]
        past = await self._looked_up_past(made, query, named)
        if not (notes_found or past):
            return None
        return await self._named(
            replace(material, looked_up=tuple(notes_found), looked_up_past=past)
        )

    async def _is_about_somebody(self, material: TailMaterial) -> bool:
        """Return whether the message is about its speaker, or names somebody."""
        text = material.message.text
        if material.others or speaks_of_self(text):
            return True
        named = await index_of(self.db, [text], present=self.recall.active_viewers.ids)
        return material.speaker.id in named.named_in(text)

    async def _looked_up_of_anybody(
        self, words: str, notes_found: Sequence[Recalled], shown_notes: Collection[int]
    ) -> list[Recalled]:
        """Return what was found with what is known about anybody else, where nobody is named."""

        async def read(at: Source) -> list[Recalled]:
            return await self.recall.of_anybody(at, words, await self.recall.look(at, []))

        known = {*shown_notes, *(one.note.id for one in notes_found)}
        anybody = await self.db.together(read)
        return [*notes_found, *(one for one in anybody if one.note.id not in known)]

    async def _looked_up_past(
        self, made: "Composed", query: Query, people: Sequence[str]
    ) -> tuple[Past, ...]:
        """Return the past episodes that fit the query and do not stand in the prompt yet.

        The words are other words for one thing: an episode has one of them and the person, or two.
        """
        suppression_filter = await load_filter(self.db)
        in_prompt = [*_rows(made.prefix, "episodes")]
        in_prompt += [past.id for past in made.material.past_episodes]

        async def read(at: Source) -> list[Episode]:
            return await spoken_of(
                at,
                self.recall.episodes,
                query,
                suppression_filter,
                LOOKED_UP_PAST,
                people=people,
                without=in_prompt,
                any_two=True,
            )

        # the index of episodes is the reader's thread's alone
        episodes_found = await self.db.together(read)
        return tuple(Past(one.id, one.ended_at, one.summary) for one in episodes_found)

    async def _named(self, material: TailMaterial) -> TailMaterial:
        """Return the material with the names of the people in the notes, whoever of them is in nothing else."""
        recalled = [*material.notes, *material.channel, *material.anybody, *material.looked_up]
        for other in material.others:
            recalled += other.notes
        texts = [one.note.fact for one in recalled]
        texts += [past.text for past in material.looked_up_past]
        ids = {one.note.subject_id for one in material.looked_up if one.note.subject_id}
        for text in texts:
            ids.update(ids_in(text))
        ids -= material.names.keys() | material.hidden
        if not ids:
            return material
        names, hidden = await viewers.shown_and_hidden(self.db, sorted(ids))
        return replace(material, names={**material.names, **names}, hidden=material.hidden | hidden)


def _without_mere_words(
    material: TailMaterial, own: Sequence[Recalled], question: str
) -> TailMaterial:
    """Return the material without people whose name is a word of the language, where a note about another has it.

    "who plays drums?" does not mean the viewer `drums` where somebody is known to play them, nor does "how long have I
    played drums?" where the speaker does.
    """
    fitting_notes = [*material.anybody]
    if speaks_of_self(question):
        fitting_notes += own
    stems_about: dict[str | None, set[str]] = {}
    for recalled in fitting_notes:
        fact_stems = stems_about.setdefault(recalled.note.subject_id, set())
        fact_stems.update(stems(recalled.note.fact))
    people = []
    for other in material.others:
        others_stems = [
            fact_stems
            for viewer_id, fact_stems in stems_about.items()
            if viewer_id != other.viewer.id
        ]
        word_stems = set(stems(other.ordinary_word))
        if not word_stems or not any(word_stems <= fact_stems for fact_stems in others_stems):
            people.append(other)
    return replace(material, others=tuple(people))


def _own_line(said: BotMessage) -> PromptLine:
    return PromptLine(said.id, f"bot:{said.id}", None, said.text, said.at)


def _speaks_of_it(
    line: PromptLine | StreamEvent, suppression_filter: SuppressionFilter, named: NameIndex
) -> bool:
    """Whether a line speaks of what is left alone of whoever said it or is named in it; the bot's own, of whomever."""
    people = suppression_filter.people
    if suppression_filter.unlisted is None and not suppression_filter.has(line.text, people):
        return False
    mentioned = named.named_in(line.text, limit=len(people) + 1)
    if line.viewer_id is None:
        return suppression_filter.has(line.text, {*people, *mentioned})
    return suppression_filter.has(line.text, [line.viewer_id, *mentioned])


class PrefixKeeper(Struct):
    """The prefix of the moment."""

    db: Database
    recall: Recall
    settings: Callable[[], Settings]
    _prefix: Prefix | None = None
    _shown: frozenset[str] = frozenset()
    _notes: tuple[int, ...] = ()
    revision: notes.Revision = ()

    async def current(self) -> Prefix:
        """The prefix; composed at the first call, and when something in it may not be shown any more."""
        if self._prefix is not None and await self.db.together(self._still_holds):
            return self._prefix
        return await self.refresh()

    async def _still_holds(self, at: Source) -> bool:
        return (
            await notes.suppression_revision(at) == self.revision
            and not await notes.not_active(at, self._notes)
            and not await viewers.hidden_or_gone(at, self._shown)
        )

    async def refresh(self) -> Prefix:
        """Compose it from what is known now."""
        settings = self.settings()
        self.revision = await self.db.together(notes.suppression_revision)
        material = await self._material(settings)
        prefix = compose_prefix(material, settings)
        self._shown = frozenset(material.names)
        self._notes = _rows(prefix, "notes")
        changed = self._prefix is None or self._prefix.text != prefix.text
        self._prefix = prefix
        if changed:
            log.info(
                "prefix composed",
                tokens=sum(s.tokens for s in prefix.sections),
                sha=prefix.sha256[:12],
            )
        return prefix

    async def _material(self, settings: Settings) -> PrefixMaterial:
        channel = await channel_state.read_all(self.db)
        title, category, quiet = (
            channel.get("title", ""),
            channel.get("category", ""),
            await load_filter(self.db),
        )
        digest = await without_hidden(self.db, quiet.without(channel.get("digest", "")))
        query = self.recall.query("", category=category, title=title)
        held = tuple(found.note for found in await self.recall.about([CHANNEL], query))
        found = await newest(self.db, quiet)
        before = found.last_stream
        past = (
            [Past(before.stream_id or 0, before.ended_at, found.recap, is_recap=True)]
            if before
            else []
        )
        shown = [*([before] if before else []), *found.this_stream]
        past += [Past(episode.id, episode.ended_at, episode.summary) for episode in shown]
        past = [one for one in past if one.text]
        return PrefixMaterial(
            channel=settings.twitch.channel or channel.get("login", ""),
            title=title,
            category=category,
            actions=offered(settings.actions, settings.bridge.effects),
            channel_notes=held,
            digest=digest,
            episodes=tuple(past),
            names=await viewers.named_in(
                self.db, [*(n.fact for n in held), *(one.text for one in past), digest]
            ),
        )


class Composed(NamedTuple):
    """A prompt and what it was made of."""

    prompt: Prompt
    prefix: Prefix
    material: TailMaterial
    revision: notes.Revision = ()


async def compose(
    keeper: PrefixKeeper,
    gatherer: ContextGatherer,
    trigger: Trigger,
    settings: Settings,
    *,
    bot_id: str,
) -> Composed:
    """The prompt for one line under one snapshot of the settings. Reads only. Raises StoreError."""
    prefix, revision = await keeper.current(), keeper.revision
    material = await gatherer.tail(trigger, settings, bot_id=bot_id, prefix=prefix)
    return Composed(assemble(prefix, material, settings), prefix, material, revision)


def _rows(prefix: Prefix, of: str) -> tuple[int, ...]:
    return tuple(row for section in prefix.sections for what, row in section.rows if what == of)
