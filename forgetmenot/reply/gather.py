"""Reads what one reply needs from the store and from recall: the tail's material, before it is text.

Promises nothing of people who are hidden, nothing redacted, nothing that is to be left alone but the message itself,
and of the bot's own lines only those that went out. Reads only; the same for a reply, for a dry run on the command line
and for a test. It is one read of one moment, in the reader's thread, unless somebody's notes were not read before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forgetmenot.actions import history
from forgetmenot.clock import DAY, HOUR, MINUTE, Clock
from forgetmenot.domain.chat import ChatEvent, Standing, Viewer
from forgetmenot.domain.memory import Recalled
from forgetmenot.memory.episodes.past import spoken_of
from forgetmenot.memory.ranking import Query
from forgetmenot.memory.recall import Recall, Seen
from forgetmenot.memory.roles import role_of
from forgetmenot.memory.silence import Silence
from forgetmenot.memory.standing import standing_of
from forgetmenot.memory.topics import conversation
from forgetmenot.prompt.depth import Depth, depth_for
from forgetmenot.prompt.material import Other, Past, PromptLine, TailMaterial, stranger
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.personas import speaking
from forgetmenot.settings.schema import Settings
from forgetmenot.store import attendance, bot_messages, briefs, channel_state, recent_chat, streams, viewers
from forgetmenot.store.bot_messages import Said
from forgetmenot.store.database import Database, Source
from forgetmenot.text.mentions import ids_in

CHAT_REACHES_BACK = 2 * HOUR
THREAD_REACHES_BACK = 15 * MINUTE
REPLIES_REACH_BACK = DAY
DEEDS_REACH_BACK = 2 * HOUR
ONE_THOUGHT = MINUTE
THREAD_LINES = 3
DEEDS = 3
SPREAD = 3  # so many times the lines that are shown are read, to choose from in a flood


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of the notes, and how the notes of each stand whose are wanted."""

    query: Query
    seen: Mapping[str, Seen]


@dataclass(frozen=True, slots=True)
class _Moment:
    """What holds while the material for one message is being read."""

    trigger: Trigger
    settings: Settings
    now: int
    depth: Depth
    channel: Mapping[str, str]
    seen: Seen  # of the speaker's notes

    @property
    def event(self) -> ChatEvent:
        return self.trigger.event


class Gatherer:
    """Reads material. `settings` is handed in per call: one snapshot for one event."""

    def __init__(self, *, db: Database, recall: Recall, clock: Clock) -> None:
        self._db = db
        self._recall = recall
        self._clock = clock

    async def tail(
        self, trigger: Trigger, settings: Settings, *, nonce: str, bot_id: str = "", shown_episodes: Sequence[int] = ()
    ) -> TailMaterial:
        """Everything for one message. `shown_episodes`: those that the prefix tells anyway."""
        await self._recall.crowd.look()
        moment, material, asked = await self._db.together(
            lambda at: self._read(at, trigger, settings, nonce, bot_id, shown_episodes)
        )
        return await self._named(await self._remembered(material, moment, asked))

    async def _read(
        self, at: Source, trigger: Trigger, settings: Settings, nonce: str, bot_id: str, shown: Sequence[int]
    ) -> tuple[_Moment, TailMaterial, _Asked]:
        """Everything but the notes: those are ranked by what is asked for, and not read where they are kept."""
        now = self._clock.now()
        depth = depth_for(await recent_chat.count_since(at, now - MINUTE), settings)
        seen = await self._recall.look(at, [trigger.event.user_id])
        moment = _Moment(trigger, settings, now, depth, await channel_state.read_all(at), seen)
        material = await self._conversation(at, await self._speaker(at, moment, nonce), moment)
        if seen.silence:
            material = self._quiet(material, seen.silence)
        query = self._query(material, moment)
        others = await self._others(at, material, moment, bot_id)
        past = await self._past(at, query, [other.viewer.id for other in others], moment, shown)
        material = replace(material, others=others, past_episodes=past)
        names, hidden = await viewers.shown_and_hidden(at, sorted(_people_of(material)))
        theirs = {other.viewer.id: await self._recall.look(at, [other.viewer.id]) for other in others}
        asked = _Asked(query, {**theirs, material.speaker.id: seen})
        return moment, replace(material, names=names, hidden=hidden), asked

    async def standing(self, event: ChatEvent, settings: Settings) -> Standing:
        """How well the speaker of a line is known."""
        return (await self._known(self._db, event.user_id, settings))[0]

    async def _known(self, at: Source, viewer_id: str, settings: Settings) -> tuple[Standing, int]:
        people, now = settings.people, self._clock.now()
        came = (await attendance.of(at, [viewer_id], lately=now - people.regular_within_d * DAY))[viewer_id]
        return standing_of(came, people, now), came.streams

    # ── who and what ────────────────────────────────────────────────────────────────────────

    async def _speaker(self, at: Source, moment: _Moment, nonce: str) -> TailMaterial:
        event = moment.event
        found = (await viewers.get_many(at, [event.user_id])).get(event.user_id)
        speaker = found or stranger(event.user_id, event.display_name or event.login, event.at)
        speaker = replace(speaker, role=role_of(event.badges))
        standing, streams = await self._known(at, event.user_id, moment.settings)
        brief, made_of = await briefs.usable(at, speaker.id, speaking(moment.settings).name)
        return TailMaterial(
            now=moment.now,
            nonce=nonce,
            speaker=speaker,
            brief="" if speaker.opted_out else moment.seen.silence.without(brief),
            brief_notes=() if speaker.opted_out else made_of,
            message=PromptLine(0, event.id, event.user_id, event.text or event.system_text, event.at),
            standing=standing,
            streams=streams,
            depth=moment.depth,
        )

    async def _conversation(self, at: Source, material: TailMaterial, moment: _Moment) -> TailMaterial:
        event, settings, until = moment.event, moment.settings, moment.event.at
        since = moment.now - CHAT_REACHES_BACK
        own = [
            PromptLine(*line)
            for line in await recent_chat.lines_of(
                at, event.user_id, since=since, until=until, limit=moment.depth.own_lines + 2
            )
        ]
        chat = await recent_chat.lines(at, since=since, until=until, limit=SPREAD * moment.depth.chat_lines + 1)
        current = next((line for line in own if line.event_id == event.id), material.message)
        earlier = [line for line in own if line.event_id != event.id]
        thread = await bot_messages.said_to(at, event.user_id, THREAD_LINES, moment.now - THREAD_REACHES_BACK)
        said = await bot_messages.said_lately(
            at, settings.prompt.bot_replies + THREAD_LINES, moment.now - REPLIES_REACH_BACK
        )
        return replace(
            material,
            message=current,
            before=_before(moment.trigger, earlier),
            own_lines=tuple(earlier),
            chat=tuple(PromptLine(*line) for line in chat),
            thread=tuple(_own_line(line) for line in thread),
            bot_replies=tuple(_own_line(line) for line in said),
            actions_done=await history.lately(at, since=moment.now - DEEDS_REACH_BACK, limit=DEEDS),
        )

    def _quiet(self, material: TailMaterial, silence: Silence) -> TailMaterial:
        """The conversation without the lines that speak of what is to be left alone."""

        def kept(lines: Sequence[PromptLine]) -> tuple[PromptLine, ...]:
            return tuple(line for line in lines if not self._speaks_of_it(line, silence))

        return replace(
            material,
            own_lines=kept(material.own_lines),
            chat=kept(material.chat),
            thread=kept(material.thread),
            bot_replies=kept(material.bot_replies),
            actions_done=tuple(done for done in material.actions_done if not silence.has(done.text, silence.people)),
        )

    def _speaks_of_it(self, line: PromptLine, silence: Silence) -> bool:
        """Whether a line does, of whoever said it or is named in it; the bot's own, of whomever."""
        if not silence.has(line.text, silence.people):
            return False
        if line.viewer_id is None:
            return True
        named = self._recall.crowd.named_in(line.text, limit=len(silence.people))
        return silence.has(line.text, [line.viewer_id, *named])

    # ── what is remembered ──────────────────────────────────────────────────────────────────

    def _query(self, material: TailMaterial, moment: _Moment) -> Query:
        thought = [line.text for line in material.before]
        thought += [line.text for line in material.own_lines if moment.event.at - line.at <= ONE_THOUGHT]
        return self._recall.query(
            moment.trigger.question,
            before=" ".join(dict.fromkeys(thought)),
            category=moment.channel.get("category", ""),
            title=moment.channel.get("title", ""),
        )

    async def _others(self, at: Source, material: TailMaterial, moment: _Moment, bot_id: str) -> tuple[Other, ...]:
        """The people who are talked about, without what is known about them."""
        text = " ".join([*(line.text for line in material.before), moment.trigger.question])
        named = self._recall.crowd.named_in(text, without={material.speaker.id, bot_id}, limit=moment.depth.others)
        people = await viewers.get_many(at, named) if named else {}
        return tuple(Other(people[who], ()) for who in named if who in people and not people[who].opted_out)

    async def _past(
        self, at: Source, query: Query, people: Sequence[str], moment: _Moment, shown: Sequence[int]
    ) -> tuple[Past, ...]:
        most = moment.depth.past_episodes
        found = await spoken_of(at, query, moment.seen.silence, most, people=people, without=shown)
        ids = {episode.stream_id for episode in found if episode.stream_id is not None}
        ago = await streams.ago(at, ids) if ids else {}
        return tuple(Past(one.id, one.ended_at, one.summary, streams_ago=ago.get(one.stream_id or 0)) for one in found)

    async def _remembered(self, material: TailMaterial, moment: _Moment, asked: _Asked) -> TailMaterial:
        talk = _talk(material) if moment.settings.recall.topic_gate else None

        async def about(who: Viewer, most: int) -> tuple[Recalled, ...]:
            if who.opted_out:
                return ()
            seen = asked.seen[who.id]
            return tuple(await self._recall.about_viewer(who.id, asked.query, most, talk=talk, seen=seen))

        per_other = moment.depth.lore_per_other
        others = [replace(other, lore=await about(other.viewer, per_other)) for other in material.others]
        people = [material.speaker.id, *(other.viewer.id for other in others)]
        return replace(
            material,
            lore=await about(material.speaker, moment.depth.lore),
            others=tuple(others),
            left_alone=moment.seen.silence.about(people),
        )

    # ── names, last ─────────────────────────────────────────────────────────────────────────

    async def _named(self, material: TailMaterial) -> TailMaterial:
        """With the names of the people in the notes too, whoever of them is in nothing else."""
        lore = (*material.lore, *(recalled for other in material.others for recalled in other.lore))
        ids = {who for recalled in lore for who in ids_in(recalled.note.fact)} - material.names.keys() - material.hidden
        if not ids:
            return material
        names, hidden = await viewers.shown_and_hidden(self._db, sorted(ids))
        return replace(material, names={**material.names, **names}, hidden=material.hidden | hidden)


def _talk(material: TailMaterial) -> frozenset[str]:
    """What the conversation in the prompt is about, for the topic gate."""
    return conversation(*(line.text for line in material.said))


def _before(trigger: Trigger, earlier: list[PromptLine]) -> tuple[PromptLine, ...]:
    """A bare mention continues what its speaker said just before."""
    return tuple(earlier[-1:]) if trigger.kind is TriggerKind.BARE else ()


def _own_line(said: Said) -> PromptLine:
    return PromptLine(said.id, f"bot:{said.id}", None, said.text, said.at)


def _people_of(material: TailMaterial) -> set[str]:
    """Everybody in it, but for the notes."""
    texts = [*(past.text for past in material.past_episodes), *(done.text for done in material.actions_done)]
    texts.append(material.brief)
    ids = {line.viewer_id for line in material.said if line.viewer_id}
    return ids | {other.viewer.id for other in material.others} | {who for text in texts for who in ids_in(text)}
