"""An evening is heard, answered, remembered and gone a day later; a stream begins and ends at once."""

import asyncio
import json
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.memory import backups
from forgetmenot.store import channel_state
from tests.hearing.evening import (
    BOT,
    Evening,
    evening,
    line,
    state_becomes,
    the_stream_begins,
)
from tests.loopback_servers.openai import Sent, SimOpenAI

MARKS = ("quizzleworth", "snorblefax", "brindlewump", "vexatron", "zitherbloom")
"""Words that are only spoken, one in each way that a spoken line comes: in no file a day later."""
PATCH = "so chat the patch brings back the grappling hook and mister quizzleworth"
MOVES = "movie night moves to Saturday says snorblefax"


HYPE = "Chat finished a level-4 hype train."
PLAYED: tuple[tuple[str, tuple[str, ...], dict[str, object]], ...] = (
    ("Summarise this chat", (f"P1 (spoken): {MOVES}", f"* {HYPE}"), {
        "summary": "P1 announced that movie night moves to Saturday. A level-4 hype train came before it."
    }),
    ("bot should remember", ("moves to Saturday",), {
        "notes": [{"who": "channel", "said_by": "P1", "fact": "movie night is on Saturdays", "lifetime": "permanent"}]
    }),
    ("write its recap", ("level-4 hype train",), {
        "summary": "Chat finished a level-4 hype train, and movie night moved to Saturday."
    }),
    ("say", ("which boss is next?",), line("The lighthouse keeper is next.")),
    ("say", ("<spoken>", PATCH), line("He said that it brings the grappling hook back.")),
)  # fmt: skip
"""What a capable model is asked for, what it must have been shown, and what it answers."""


class PlayedModel(SimOpenAI):
    """Answers by the script, so each answer shows that its line was in the prompt."""

    def _write(self, sent: Sent, *, obey: bool) -> str:  # noqa: ARG002  # it knows every format
        prompt = "\n".join(str(message["content"]) for message in sent["messages"])
        fitting = (
            answer
            for task, clues, answer in PLAYED
            if task in prompt and all(clue in prompt for clue in clues)
        )
        return json.dumps(
            next(fitting, {"summary": "Chat talked.", "notes": [], "say": ""})
        )


@pytest.mark.slow
async def test_an_evening_is_heard_answered_remembered_and_gone_a_day_later(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with evening(tmp_path, clock, PlayedModel()) as tonight:
        bot = tonight.bot
        twitch = tonight.twitch
        db = tonight.bot.db
        await the_stream_begins(tonight)
        for end in (2, 5, 9, None):  # a caption in OBS, which grows
            await tonight.obs.write("Captions", " ".join(PATCH.split()[:end]))
            await asyncio.sleep(0.05)
        await tonight.until_heard(MARKS[0])
        await tonight.clock.advance(MINUTE)
        await twitch.say("alice", f"@{BOT} what did he say about the patch?")
        assert (
            await tonight.answered(1)
            == "He said that it brings the grappling hook back."
        )

        await captions_come_in_every_way(tonight)
        await twitch.happens(
            "channel.hype_train.end",
            id="t1",
            level=4,
            total=100,
            top_contributions=[],
            started_at="now",
            ended_at="now",
            cooldown_ends_at="now",
            is_shared_train=False,
            type="regular",
        )
        await twitch.happens(
            "channel.channel_points_custom_reward_redemption.add",
            "alice",
            id="r1",
            status="unfulfilled",
            user_input="which boss is next?",
            redeemed_at="now",
            reward={"id": "w", "title": "Ask the bot", "cost": 9, "prompt": ""},
        )
        assert await tonight.answered(2) == "The lighthouse keeper is next."

        await bot.ingest.flush()
        await backups.make(db, at=clock.now(), keep=3)
        files_by_mark = holding(tmp_path / "bot")
        assert set(files_by_mark) == set(MARKS)
        file_names: set[str] = set()
        for files in files_by_mark.values():
            file_names.update(file.name for file in files)
        assert file_names <= {"memory.sqlite3", "memory.sqlite3-wal"}

        for number in range(50):
            await tonight.clock.advance(5 * SECOND)
            await twitch.say(f"viewer{number % 4}", f"to the boss, part {number}")
        await tonight.passes(30 * MINUTE)
        assert (
            await db.value("SELECT fact FROM semantic_notes")
            == "movie night is on Saturdays"
        )
        twitch.go_offline()
        await twitch.happens("stream.offline")
        for _ in range(5):
            await tonight.passes(10 * MINUTE)
        assert "level-4 hype train" in str(await db.value("SELECT recap FROM streams"))

        await tonight.passes(DAY - HOUR)
        await tonight.passes(HOUR + MINUTE)
        assert holding(tmp_path / "bot") == {}


async def captions_come_in_every_way(tonight: Evening) -> None:
    """A file that is overwritten, appended to, and one of subtitles; and a line from a program."""
    file = tonight.captions
    file.write_text("movie night moves", encoding="utf-8")
    await asyncio.sleep(0.05)
    file.write_text(MOVES, encoding="utf-8")
    await tonight.until_heard(MARKS[1])
    with file.open("a", encoding="utf-8") as end:
        end.write("\nbring popcorn brindlewump\n")
    await tonight.until_heard(MARKS[2])
    file.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\n<i>thanks</i>\n", encoding="utf-8"
    )
    await asyncio.sleep(0.05)
    with file.open("a", encoding="utf-8") as end:
        end.write("\n2\n00:00:03,000 --> 00:00:04,000\nto vexatron for the raid\n\n")
    await tonight.until_heard(MARKS[3])
    assert tonight.stream.sent("a zitherbloom for everybody")
    await tonight.until_heard(MARKS[4])


def holding(folder: Path) -> dict[str, list[Path]]:
    """Which of the spoken words stand in which files."""
    data = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    places = {
        mark: [file for file, content in data.items() if mark.encode() in content]
        for mark in MARKS
    }
    return {mark: files for mark, files in places.items() if files}


async def test_with_the_bots_account_alone_a_stream_begins_and_ends_at_once(
    tmp_path: Path, clock: ManualClock
) -> None:
    """Twitch's API, which is asked at once, knows it later, and does not take it back."""
    async with evening(tmp_path, clock, PlayedModel(), streamer=False) as tonight:
        bot = tonight.bot
        twitch = tonight.twitch
        began = clock.now()
        twitch.world.title = "Boss rush"
        await twitch.happens("stream.online", id="41", type="live", started_at="now")
        await state_becomes(bot, {"live": "1", "title": "Boss rush"})
        await twitch.say("alice", "first!")
        await tonight.passes(2 * MINUTE)
        assert await channel_state.read(bot.db, "live") == "1"
        assert (
            await bot.db.value("SELECT stream_id FROM events WHERE text = 'first!'")
            == 1
        )
        twitch.go_live(at=began)
        await tonight.passes(10 * MINUTE)
        ended = clock.now()
        await twitch.happens("stream.offline")
        await state_becomes(bot, {"live": "0"})
        await tonight.passes(2 * MINUTE)
        assert await channel_state.read(bot.db, "live") == "0", (
            "though the API says that it is on"
        )
        twitch.go_offline()
        await tonight.passes(10 * MINUTE)
        assert await bot.db.column("SELECT ended_at FROM streams") == [ended]
