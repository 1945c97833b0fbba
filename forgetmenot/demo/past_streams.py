"""Thirty invented streams before the demo's two evenings, so that the dock's pictures have something to show.

Nothing of it is chat: it is what the memory keeps of streams (who came, chat by the minute, moments, costs, replies).
"""

import math
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.app.bot import Bot
from forgetmenot.demo.twitch_server import TwitchSim
from forgetmenot.domain import Purpose, TokenUsage
from forgetmenot.durations import DAY, MINUTE, SECOND
from forgetmenot.memory.edits import remember
from forgetmenot.settings.schema import PriceSettings, Settings
from forgetmenot.store import (
    bot_messages,
    figures,
    personal_data,
    streams,
    viewers,
)
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Transaction
from forgetmenot.store.figures import MomentKind
from forgetmenot.store.reply_outcomes import ReplyOutcome
from forgetmenot.store.viewers import SeenViewer
from forgetmenot.text.days import iso_day, written_day

COUNT = 30
# How far ahead the concert is.
PLANNED_AHEAD = 25 * DAY
MODEL = "demo-model"
# What a row of a note in a prompt takes.
NOTE_TOKENS = 20
PRICE = PriceSettings(input=0.30, output=2.50, cached=0.03)
GAMES = (
    ("Ladders of Ash: the mines", "Ladders of Ash"),
    ("Cosy Sunday", "Stardew Valley"),
    ("No deaths, maybe", "Hollow Knight"),
    ("Chat picks the map", "GeoGuessr"),
)
# Who comes to most streams; who came to the first half and is missing since; and the others.
REGULARS = ("erin", "frank", "dave", "ivan", "judy", "peggy")
MISSING = ("rupert", "sybil", "oscar")
OTHERS = (
    "niaj",
    "olivia",
    "trent",
    "victor",
    "walter",
    "xena",
    "yuri",
    "uma",
    "wendy",
    "quentin",
)
# What somebody said in every second stream. The last word counts: Peggy moves, Ivan changes his mind.
FACTS = (
    ("peggy", "lives in Oslo"),
    ("judy", "plays the cello"),
    ("ivan", "has a dog called Biscuit"),
    ("peggy", "works as a baker"),
    ("rupert", "is learning Finnish"),
    ("judy", "has a concert on {concert}"),
    ("peggy", "lives in Bergen now, not in Oslo"),
    ("sybil", "restores old radios"),
    ("ivan", "likes pineapple on pizza"),
    ("judy", "plays the cello"),
    ("walter", "collects stamps"),
    ("ivan", "hates pineapple on pizza"),
)
ANSWERS = (
    "Your record here is 41 seconds.",
    "Last week the lighthouse took two hours, so there is hope.",
    "That was the third chest today.",
    "Biscuit would have found the key by now.",
    "The cello comes first, then the boss.",
    "Nobody has beaten that ladder on the first try.",
)


# What becomes of replies, in percent; None: nobody rates it.
OUTCOMES = {
    ReplyOutcome.GOOD: 40,
    ReplyOutcome.BAD: 6,
    ReplyOutcome.DELETED: 2,
    None: 52,
}


def with_price(settings: Settings) -> Settings:
    """Return settings in which the invented model has a price, and a day has a limit that no evening reaches."""
    limits = replace(settings.limits, money_per_day=0.15)
    model = replace(settings.model, currency=settings.model.currency or "USD")
    prices = {**settings.prices, MODEL: PRICE}
    return replace(settings, model=model, prices=prices, limits=limits)


class PastStream(NamedTuple):
    """An invented stream. `began_at` is in ms; `viewer_ids`: who came, regulars first."""

    id: int
    began_at: int
    length_min: int
    viewer_ids: list[str]
    raid_minute: int | None

    def at_minute(self, minute: int) -> int:
        """Return the time of one of its minutes (ms)."""
        return self.began_at + minute * MINUTE


async def add_past_streams(
    bot: Bot,
    sim: TwitchSim,
    first_evening: int,
) -> None:
    """Write them: one every second evening, the last one two days before the demo's first."""
    random = Random(7)  # noqa: S311  # the same streams each time
    # The order counts: each stream draws its numbers for one after the other.
    people = {}
    for login in (*REGULARS, *MISSING, *OTHERS):
        people[login] = sim.world.user(login).id
    for number in range(COUNT):
        # Oldest first, as a memory grows: a note that replaces another one comes after it.
        began_at = first_evening - 2 * DAY * (COUNT - number)
        stream = await _add_stream(bot, random, number, began_at, people)
        if number % 2 == 0 and number // 2 < len(FACTS):
            login, fact = FACTS[number // 2]
            await _add_fact(bot, stream, people[login], fact)


async def _add_stream(
    bot: Bot,
    random: Random,
    number: int,
    began_at: int,
    people: dict[str, str],
) -> PastStream:
    """Write one stream with everything that its pictures show. `people`: ids by login."""
    length_min = random.randint(130, 200)
    present = []
    for login in people:
        if random.random() < _likelihood(login, number):
            present.append(login)
    title, game = GAMES[number % len(GAMES)]
    zone = bot.settings().bot.timezone
    # A raid comes to every third stream, when there is time left for it.
    raid_minute = None
    if number % 3 == 0:
        raid_minute = random.randint(40, length_min - 20)
    async with bot.db.write() as tx:
        stream = PastStream(
            id=await streams.add_past(tx, began_at),
            began_at=began_at,
            length_min=length_min,
            viewer_ids=[people[login] for login in present],
            raid_minute=raid_minute,
        )
        ended_at = stream.at_minute(length_min)
        await streams.describe(
            tx,
            stream.id,
            twitch_id=None,
            title=title,
            category=game,
        )
        await streams.extend_past(tx, stream.id, began_at, ended_at)
        await streams.set_recap(tx, stream.id, _recap(stream, game), ended_at)
        await _add_viewers(tx, random, stream, present)
        await _add_minutes(tx, random, stream)
        await figures.note_title(tx, stream.id, began_at, title=title, game=game)
        await _add_moments(tx, random, stream)
        await _add_costs(tx, random, iso_day(began_at, zone))
        await _add_replies(tx, random, stream)
    return stream


def _likelihood(login: str, number: int) -> float:
    """Return how likely somebody is to come to the stream of this number."""
    if login in REGULARS:
        return 0.8
    if login in MISSING:
        return 0.85 if number < COUNT // 2 else 0.0
    # The last three are new: they came to the last streams alone.
    if login in OTHERS[-3:]:
        return 0.5 if number > COUNT - 4 else 0.0
    return 0.3


def _recap(stream: PastStream, game: str) -> str:
    """Return a recap that names two people who came."""
    first, second = stream.viewer_ids[:2]
    recap = f"<@{first}> and <@{second}> watched {game} to the end."
    if stream.raid_minute is not None:
        recap += f" A raid came after {stream.raid_minute} minutes."
    return recap


async def _add_viewers(
    tx: Transaction,
    random: Random,
    stream: PastStream,
    logins: list[str],
) -> None:
    """Write who came, and how many lines each of them wrote. Regulars write more."""
    began_at = stream.began_at
    ended_at = stream.at_minute(stream.length_min)
    seen = []
    attended = []
    for login, viewer_id in zip(logins, stream.viewer_ids, strict=True):
        most_lines = 30 if login in REGULARS else 8
        lines = random.randint(1, most_lines)
        name = login.title()
        seen.append(SeenViewer(viewer_id, login, name, None, began_at, ended_at))
        attended.append((viewer_id, stream.id, began_at, ended_at, lines))
    await viewers.record_seen(tx, seen)
    await streams.record_visits(tx, attended)


async def _add_fact(
    bot: Bot,
    stream: PastStream,
    viewer_id: str,
    fact: str,
) -> None:
    """Have a viewer say something about themselves in the middle of a stream."""
    zone = bot.settings().bot.timezone
    concert = written_day(stream.began_at + PLANNED_AHEAD, zone)
    await remember(
        bot.db,
        viewer_id,
        fact.format(concert=concert),
        by=viewer_id,
        at=stream.at_minute(stream.length_min // 2),
    )


async def _add_minutes(
    tx: Transaction,
    random: Random,
    stream: PastStream,
) -> None:
    """Write chat by the minute: it rises, falls, and jumps after a raid."""
    lines = []
    for minute in range(stream.length_min):
        share = minute / stream.length_min
        arc = 5 * math.sin(math.pi * share)
        wave = 3 * math.sin(minute / 9)
        lines_wanted = 4 + arc + wave
        if stream.raid_minute is not None and minute >= stream.raid_minute:
            # Those who came with it leave one after the other.
            minutes_since = minute - stream.raid_minute
            lines_wanted += 22 * math.exp(-minutes_since / 8)
        line_count = round(random.gauss(lines_wanted, 2))
        for second in range(max(0, line_count)):
            speaker = str(random.randint(1, 14))
            at = stream.at_minute(minute) + second * SECOND
            lines.append(figures.PlacedLine(speaker, stream.id, at))
    await figures.count_past_minutes(tx, lines)


async def _add_moments(
    tx: Transaction,
    random: Random,
    stream: PastStream,
) -> None:
    """Write gifts, a clip, and a raid if there was one."""
    # Most gifts are of one subscription.
    gifts = str(random.choice((1, 1, 5)))
    clip = f"https://clips.twitch.tv/Demo{stream.id}"
    moments = [
        (MomentKind.GIFT, gifts, random.randint(10, stream.length_min)),
        (MomentKind.CLIP, clip, random.randint(10, stream.length_min)),
    ]
    if stream.raid_minute is not None:
        raiders = str(random.randint(12, 90))
        moments.append((MomentKind.RAID, raiders, stream.raid_minute))
    for kind, text, minute in moments:
        viewer_id = random.choice(stream.viewer_ids)
        at = stream.at_minute(minute)
        await figures.add_moment(tx, stream.id, at, kind, text, viewer_id)


async def _add_costs(
    tx: Transaction,
    random: Random,
    day: str,
) -> None:
    """Write what an evening's calls used: many short ones for replies, fewer and longer ones for notes."""
    for purpose, most_calls, input_tokens in (
        (Purpose.REPLY, 30, 2_600),
        (Purpose.EXTRACT, 12, 3_400),
    ):
        calls = random.randint(most_calls // 2, most_calls)
        for _ in range(calls):
            output_tokens = random.randint(60, 220)
            # As if the provider had cached half of each prompt.
            cached_tokens = input_tokens // 2
            usage = TokenUsage(input_tokens, cached_tokens, output_tokens)
            await figures.add_spending(
                tx,
                day=day,
                purpose=purpose.value,
                model=MODEL,
                usage=usage,
                failed=False,
            )


async def _add_replies(
    tx: Transaction,
    random: Random,
    stream: PastStream,
) -> None:
    """Write replies of the evening. Most of them nobody rates."""
    for _ in range(random.randint(5, 9)):
        viewer_id = random.choice(stream.viewer_ids)
        minute = random.randint(0, stream.length_min)
        reply_id = await bot_messages.begin(
            tx,
            at=stream.at_minute(minute),
            event_id=None,
            viewer_id=viewer_id,
            trigger="mention",
            mode="mentions",
        )
        facts = await personal_data.facts_of(tx, viewer_id)
        note_ids = list(facts)
        rows = [["notes", note_id] for note_id in note_ids]
        section = {
            "name": "lore",
            "tokens": NOTE_TOKENS * len(rows),
            "rows": rows,
            "dropped": 0,
        }
        await bot_messages.record_prompt(tx, reply_id, {"sections": [section]})
        # Mostly the note that recall put first is the one that helps.
        used_ids = note_ids[:1]
        if random.random() >= 0.7:
            used_ids = note_ids[1:2]
        await bot_messages.record_answer(
            tx,
            reply_id,
            model=MODEL,
            latency_ms=700,
            usage={},
            filters=(),
            used=used_ids,
        )
        text = random.choice(ANSWERS)
        await bot_messages.settle(tx, reply_id, ReplyStatus.SENT, text=text)
        (outcome,) = random.choices(list(OUTCOMES), list(OUTCOMES.values()))
        if outcome is not None:
            await bot_messages.set_outcome(tx, reply_id, outcome.value)
