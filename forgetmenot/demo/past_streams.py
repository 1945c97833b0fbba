"""Thirty invented streams before the demo's two evenings, so that the dock's pictures have something to show.

Nothing of it is chat: it is what the memory keeps of streams (who came, chat by the minute, moments, costs, replies).
"""

import math
from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from forgetmenot.app.bot import Bot
from forgetmenot.domain import Purpose, TokenUsage
from forgetmenot.durations import DAY, MINUTE, SECOND
from forgetmenot.memory.edits import remember
from forgetmenot.settings.schema import PriceSettings, Settings
from forgetmenot.sim.twitch import TwitchSim
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
PLANNED_AHEAD = 25 * DAY
MODEL = "demo-model"
PRICE = PriceSettings(input=0.30, output=2.50, cached=0.03)
GAMES = (
    ("Ladders of Ash: the mines", "Ladders of Ash"),
    ("Cosy Sunday", "Stardew Valley"),
    ("No deaths, maybe", "Hollow Knight"),
    ("Chat picks the map", "GeoGuessr"),
)
# Who came: from which stream on, until which one, and how likely.
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


def with_price(settings: Settings) -> Settings:
    """Return settings in which the invented model has a price, and a day has a limit that no evening reaches."""
    limits = replace(settings.limits, money_per_day=0.15)
    model = replace(settings.model, currency=settings.model.currency or "USD")
    prices = {**settings.prices, MODEL: PRICE}
    return replace(settings, model=model, prices=prices, limits=limits)


async def add_past_streams(
    bot: Bot,
    sim: TwitchSim,
    first_evening: int,
) -> None:
    """Write them: one every second evening, the last one two days before the demo's first."""
    random = Random(7)  # noqa: S311  # the same streams each time
    people = {
        login: sim.world.user(login).id for login in (*REGULARS, *MISSING, *OTHERS)
    }
    for number in range(COUNT):
        began = first_evening - 2 * DAY * (COUNT - number)
        await _add_stream(bot, random, number, began, people)


async def _add_stream(
    bot: Bot,
    random: Random,
    number: int,
    began: int,
    people: dict[str, str],
) -> None:
    length = random.randint(130, 200)
    ended = began + length * MINUTE
    present = [
        login for login in people if random.random() < _likelihood(login, number)
    ]
    title, game = GAMES[number % len(GAMES)]
    zone = bot.settings().bot.timezone
    async with bot.db.write() as tx:
        stream = await streams.add_past(tx, began)
        await streams.describe(tx, stream, twitch_id=None, title=title, category=game)
        await streams.extend_past(tx, stream, began, ended)
        await streams.set_recap(tx, stream, f"Chat watched {game}.", ended)
        seen = [
            SeenViewer(people[login], login, login.title(), None, began, ended)
            for login in present
        ]
        await viewers.record_seen(tx, seen)
        attended = [
            (
                people[login],
                stream,
                began,
                ended,
                random.randint(1, 30 if login in REGULARS else 8),
            )
            for login in present
        ]
        await streams.record_visits(tx, attended)
        raid_at = random.randint(40, length - 20) if number % 3 == 0 else None
        await _add_minutes(tx, random, stream, began, length, raid_at)
        await figures.note_title(tx, stream, began, title=title, game=game)
        await _add_moments(
            tx, random, stream, began, length, raid_at, [people[x] for x in present]
        )
        await _add_costs(tx, random, iso_day(began, zone))
        await _add_replies(
            tx, random, began, length, [people[login] for login in present]
        )
    if number % 2 == 0 and number // 2 < len(FACTS):
        login, fact = FACTS[number // 2]
        at = began + length * MINUTE // 2
        concert = written_day(began + PLANNED_AHEAD, zone)
        fact = fact.format(concert=concert)
        await remember(bot.db, people[login], fact, by=people[login], at=at)


def _likelihood(login: str, number: int) -> float:
    if login in REGULARS:
        return 0.8
    if login in MISSING:
        return 0.85 if number < COUNT // 2 else 0.0
    if login in OTHERS[-3:]:
        return 0.5 if number > COUNT - 4 else 0.0
    return 0.3


async def _add_minutes(
    tx: Transaction,
    random: Random,
    stream: int,
    began: int,
    length: int,
    raid_at: int | None,
) -> None:
    """Chat by the minute: it rises, falls, and jumps after a raid."""
    lines = []
    for minute in range(length):
        busy = 4 + 5 * math.sin(math.pi * minute / length) + 3 * math.sin(minute / 9)
        if raid_at is not None and minute >= raid_at:
            busy += 22 * math.exp((raid_at - minute) / 8)
        for spoken in range(max(0, round(random.gauss(busy, 2)))):
            at = began + minute * MINUTE + spoken * SECOND
            lines.append(figures.PlacedLine(str(random.randint(1, 14)), stream, at))
    await figures.count_past_minutes(tx, lines)


async def _add_moments(
    tx: Transaction,
    random: Random,
    stream: int,
    began: int,
    length: int,
    raid_at: int | None,
    present: Sequence[str],
) -> None:
    """A raid now and then, gifts, a clip."""
    rows = [
        (MomentKind.GIFT, str(random.choice((1, 1, 5))), random.randint(10, length)),
        (
            MomentKind.CLIP,
            f"https://clips.twitch.tv/Demo{stream}",
            random.randint(10, length),
        ),
    ]
    if raid_at is not None:
        rows.append((MomentKind.RAID, str(random.randint(12, 90)), raid_at))
    for kind, text, minute in rows:
        who = random.choice(present) if present else None
        await figures.add_moment(tx, stream, began + minute * MINUTE, kind, text, who)


async def _add_costs(
    tx: Transaction,
    random: Random,
    day: str,
) -> None:
    for purpose, calls, tokens in (
        (Purpose.REPLY, 30, 2_600),
        (Purpose.EXTRACT, 12, 3_400),
    ):
        for _ in range(random.randint(calls // 2, calls)):
            usage = TokenUsage(tokens, tokens // 2, random.randint(60, 220))
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
    began: int,
    length: int,
    present: Sequence[str],
) -> None:
    """Replies of the evening, most of which nobody rated."""
    for _ in range(random.randint(5, 9) if present else 0):
        at = began + random.randint(0, length) * MINUTE
        viewer = random.choice(present)
        reply = await bot_messages.begin(
            tx,
            at=at,
            event_id=None,
            viewer_id=viewer,
            trigger="mention",
            mode="mentions",
        )
        shown = list(await personal_data.facts_of(tx, viewer))
        rows = [["notes", note] for note in shown]
        await bot_messages.record_prompt(
            tx, reply, {"sections": [{"name": "lore", "rows": rows}]}
        )
        used = shown[:1] if random.random() < 0.7 else shown[1:2]
        await bot_messages.record_answer(
            tx,
            reply,
            model=MODEL,
            latency_ms=700,
            usage={},
            filters=(),
            used=used,
        )
        await bot_messages.settle(
            tx, reply, ReplyStatus.SENT, text=random.choice(ANSWERS)
        )
        rated = random.choices(
            (ReplyOutcome.GOOD, ReplyOutcome.BAD, ReplyOutcome.DELETED, None),
            (40, 6, 2, 52),
        )[0]
        if rated is not None:
            await bot_messages.set_outcome(tx, reply, rated.value)
