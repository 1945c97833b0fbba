"""An evening of regulars: streaks, anniversaries, names and pronouns, and what somebody missed, all typed in chat."""

import json
from datetime import UTC
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import OperationResult, Surface
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.memory.recap_markdown import markdown_of
from forgetmenot.operations.run import run
from forgetmenot.operations.targets import owner
from forgetmenot.prompt.instructions import CONGRATULATE
from forgetmenot.store.names import by_login
from forgetmenot.text.days import local_time
from tests.hearing.evening import (
    BOT,
    Evening,
    evening,
    line,
    state_becomes,
    the_stream_begins,
)
from tests.hearing.test_whole_show import ask
from tests.loopback_servers.openai import Sent, SimOpenAI
from tests.rows import put

SUMMARY = "The lighthouse keeper fell at the third try."


class Model(SimOpenAI):
    """Congratulates where it is told to."""

    def _write(self, sent: Sent, *, obey: bool) -> str:  # noqa: ARG002  # it knows every format
        prompt = "\n".join(str(message["content"]) for message in sent["messages"])
        if "Summarise this chat" in prompt or "write its recap" in prompt:
            return json.dumps({"summary": SUMMARY})
        number = len(self.seen)
        greeting = "Happy anniversary" if CONGRATULATE in prompt else "Hello"
        return json.dumps(line(f"{greeting}, number {number}."))

    @property
    def speaker(self) -> str:
        """The line about the speaker in the last prompt."""
        prompt = "\n".join(
            str(message["content"]) for message in self.seen[-1]["messages"]
        )
        return prompt.partition("<speaker>\n")[2].partition("\n</speaker>")[0]


@pytest.mark.slow
async def test_an_evening_of_regulars(tmp_path: Path, clock: ManualClock) -> None:
    model = Model()
    async with evening(tmp_path, clock, model) as tonight:
        tonight.twitch.world.moderator("carol")
        await the_stream_begins(tonight)
        await tonight.passes(MINUTE)
        await alice_was_here_a_year_ago(tonight)
        await her_streak_has_the_anniversary(tonight)
        await the_model_congratulates_her_once(tonight, model)
        await a_watch_streak_is_news(tonight, model)
        await they_are_called_as_they_ask(tonight, model)
        await newcomers_and_returners_catch_up(tonight)
        await the_recap_counts_the_anniversaries(tonight)


async def alice_was_here_a_year_ago(tonight: Evening) -> None:
    """Ten streams before this one, the first of them on this day of last year."""
    await tonight.twitch.say("alice", "good evening")
    await tonight.passes(MINUTE)
    db = tonight.bot.db
    viewer_id = await by_login(db, "alice")
    now = tonight.clock.now()
    today = local_time(now, "UTC")
    noon = today.replace(year=today.year - 1, hour=12, tzinfo=UTC)
    last_year = int(noon.timestamp()) * 1_000
    async with db.write() as tx:
        for began_at in (last_year, *(now - days * DAY for days in range(9, 0, -1))):
            stream = await put(
                tx,
                "streams",
                started_at=began_at,
                last_event_at=began_at + HOUR,
                ended_at=began_at + HOUR,
                recapped_at=began_at + HOUR,
            )
            visit = {"viewer_id": viewer_id, "stream_id": stream, "lines": 3}
            times = {"first_at": began_at, "last_at": began_at + HOUR}
            await put(tx, "attendance", **visit, **times)


async def her_streak_has_the_anniversary(tonight: Evening) -> None:
    answer = await ask(tonight, "alice", "!streak")
    assert answer.text.startswith("You were at the last 11 streams in a row!")
    assert "first here 1 year ago today" in answer.text
    assert "was here a year ago today" not in answer.text, "it was said"


async def the_model_congratulates_her_once(tonight: Evening, model: Model) -> None:
    answer = await ask(tonight, "alice", f"@{BOT} how are you?")
    assert answer.text.startswith("Happy anniversary")
    assert "; first here 1 year ago today" in model.speaker
    answer = await ask(tonight, "alice", f"@{BOT} and now?")
    assert answer.text.startswith("Hello")
    marks = await tonight.bot.db.column(
        "SELECT congratulated_at FROM viewers WHERE login = 'alice'"
    )
    assert marks[0] > 0, "so it survives a restart"


async def a_watch_streak_is_news(tonight: Evening, model: Model) -> None:
    await tonight.twitch.watch_streak("bob", 20, months=14)
    answer = await ask(tonight, "bob", f"@{BOT} hi, I am back")
    assert answer.text.startswith("Happy anniversary")
    assert "; watch streak on Twitch: 20 streams" in model.speaker
    answer = await ask(tonight, "bob", "!streak")
    assert "watch streak on Twitch: 20 streams" in answer.text


async def they_are_called_as_they_ask(tonight: Evening, model: Model) -> None:
    answer = await ask(tonight, "alice", "!callme Deb (say: deb)")
    assert answer.text == "I'll call you Deb. !callme off removes it."
    answer = await ask(tonight, "alice", "!pronouns they/them")
    assert answer.text.startswith("I'll use they/them for you.")
    await ask(tonight, "alice", f"@{BOT} who am I?")
    assert model.speaker.endswith('; call them "Deb"; their pronouns: they/them)')
    answer = await ask(tonight, "bob", "!callme alice")
    assert answer.text.startswith("I can't call you that.")
    answer = await ask(tonight, "carol", "!uncall alice")
    assert answer.text.startswith("Alice goes by the name on Twitch again")
    await ask(tonight, "alice", f"@{BOT} and who am I now?")
    assert "call them" not in model.speaker


async def newcomers_and_returners_catch_up(tonight: Evening) -> None:
    """From the summaries, then in the streamer's own words, which can be pinned."""
    await tonight.passes(31 * MINUTE)
    answer = await ask(tonight, "newbie", "!missed")
    assert answer.text == f"This stream so far: {SUMMARY}"
    result = await by_the_streamer(tonight, "so_far", text="The keeper fell to Alice!")
    assert result.ok
    answer = await ask(tonight, "rookie", "!missed")
    assert answer.text == "This stream so far: The keeper fell to Alice!"

    await tonight.twitch.say("dora", "good evening")
    await tonight.passes(MINUTE)
    db = tonight.bot.db
    recap = {"recap": "Chat voted for Hades.", "id": 2}
    async with db.write() as tx:
        # she was at the first stream, and missed the one behind it
        await tx.execute("UPDATE streams SET recap = :recap WHERE id = :id + 1", recap)
        ended_at = await tx.value("SELECT ended_at FROM streams WHERE id = :id", recap)
        visit = {"viewer_id": await by_login(tx, "dora"), "stream_id": 2, "lines": 1}
        times = {"first_at": ended_at - 1, "last_at": ended_at}
        await put(tx, "attendance", **visit, **times)
    answer = await ask(tonight, "dora", "!missed")
    assert answer.text.startswith("Since you were last here (")
    assert "Chat voted for Hades." in answer.text
    assert answer.text.endswith("This stream so far: The keeper fell to Alice!")

    refused = await by_the_streamer(tonight, "pin_so_far")
    assert refused.code == "so_far_not_pinned"
    tonight.twitch.world.moderator(BOT)
    await ask(tonight, "newbie", "!streak")  # its next line shows that it is one
    await tonight.passes(31 * SECOND)  # with that line read, too
    result = await by_the_streamer(tonight, "pin_so_far")
    assert result.ok
    pinned = "This stream so far: The keeper fell to Alice!"
    assert tonight.twitch.helix.pinned == pinned


async def by_the_streamer(
    tonight: Evening, name: str, **params: str
) -> OperationResult:
    """The streamer presses a button of the dock."""
    bot = tonight.bot
    asker = await owner(bot.db, Surface.DOCK, "demo", bot.clock.now())
    return await run(bot.operations, name, params, asker)


async def the_recap_counts_the_anniversaries(tonight: Evening) -> None:
    db = tonight.bot.db
    stream = await db.value("SELECT id FROM streams WHERE ended_at IS NULL")
    await tonight.obs.stream(on=False)
    await state_becomes(tonight.bot, {"live": "0"})
    tonight.twitch.go_offline()
    for _ in range(5):
        await tonight.passes(10 * MINUTE)
    recap = await markdown_of(db, stream, tonight.bot.settings())
    assert recap is not None
    assert (
        "3 anniversaries: Alice (first here 1 year ago today), 2 others"
        in recap.replace("\\", "")
    )
