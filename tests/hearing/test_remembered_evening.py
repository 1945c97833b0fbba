"""An evening that is remembered: names, a quote, a raid, forgetting with its code, the recap, and a month later."""

import json
import re
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.memory.chapters import chapters_of
from forgetmenot.memory.recap_markdown import markdown_of
from forgetmenot.store.names import by_login
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

BOAST = "I will win this with my eyes closed"
# What a summary says where its chat has the words, with the handles of whoever said them.
SUMMARIES = (
    (r"^(P\d+): the lamp is a spoon", "{0} says that the lamp is a spoon."),
    (r"^(P\d+): it fell on the forty", "The kraken fell on the forty-first try."),
    (r"^(P\d+): I play drums in Rust", "{0} plays drums in a band called Rust."),
)
NOTES = ((r"(P\d+) plays drums", "plays drums in a band called Rust"),)


class Model(SimOpenAI):
    """Summarises what it knows the words of, and answers with what its prompt shows."""

    def _write(self, sent: Sent, *, obey: bool) -> str:  # noqa: ARG002  # it knows every format
        prompt = "\n".join(str(message["content"]) for message in sent["messages"])
        if "Summarise this chat" in prompt:
            sentences = []
            for words, sentence in SUMMARIES:
                for handle in re.findall(words, prompt, re.MULTILINE):
                    sentences.append(sentence.format(handle))
            return json.dumps({"summary": " ".join(sentences) or "Chat greeted."})
        if "write its recap" in prompt:
            return json.dumps({"summary": "The kraken fell on the forty-first try."})
        if "<episode>" in prompt:
            notes = []
            for words, fact in NOTES:
                for handle in re.findall(words, prompt.partition("<episode>")[2]):
                    note = {"who": handle, "fact": fact, "lifetime": "permanent"}
                    notes.append(note)
            return json.dumps({"notes": notes})
        return json.dumps(line(f"I hear you, number {len(self.seen)}."))

    @property
    def prompt(self) -> str:
        """What it was shown for the last reply."""
        prompts = [
            "\n".join(str(message["content"]) for message in sent["messages"])
            for sent in self.seen
        ]
        return [prompt for prompt in prompts if "<message>" in prompt][-1]

    @property
    def summarised(self) -> str:
        """All chat that it was asked to summarise."""
        prompts = [str(sent["messages"][-1]["content"]) for sent in self.seen]
        chats = [prompt.rpartition("<chat>")[2] for prompt in prompts]
        is_summary = ["Said on" in prompt for prompt in prompts]
        return "".join(
            chat for chat, is_chosen in zip(chats, is_summary, strict=True) if is_chosen
        )


@pytest.mark.slow
async def test_an_evening_that_is_remembered(
    tmp_path: Path, clock: ManualClock
) -> None:
    model = Model()
    async with evening(tmp_path, clock, model) as tonight:
        tonight.twitch.world.moderator("carol")
        await regulars_came_before(tonight)
        await the_stream_begins(tonight)
        await tonight.passes(MINUTE)
        await the_first_prompt_has_tonights_title(tonight, model)
        await names_are_used_by_others_too(tonight, model)
        await a_line_is_kept_in_the_book(tonight)
        await the_hour_is_summarised(tonight, model)
        await newcomers_are_told_what_they_missed(tonight, model)
        await one_of_them_is_forgotten_with_a_receipt(tonight)
        await the_recap_has_the_anniversary(tonight)
        await a_month_later_it_is_remembered(tonight, model)


async def regulars_came_before(tonight: Evening) -> None:
    """Alice was at five streams, the first of them on this day of last year."""
    await tonight.twitch.say("alice", "good evening")
    await tonight.passes(MINUTE)
    db = tonight.bot.db
    viewer_id = await by_login(db, "alice")
    now = tonight.clock.now()
    async with db.write() as tx:
        for days in (365, 4, 3, 2, 1):
            began_at = now - days * DAY
            times = {"started_at": began_at, "last_event_at": began_at + HOUR}
            over = {"ended_at": began_at + HOUR, "recapped_at": began_at + HOUR}
            stream = await put(tx, "streams", title="Before", **times, **over)
            visit = {"viewer_id": viewer_id, "stream_id": stream, "lines": 3}
            visited = {"first_at": began_at, "last_at": began_at + HOUR}
            await put(tx, "attendance", **visit, **visited)


async def the_first_prompt_has_tonights_title(tonight: Evening, model: Model) -> None:
    await ask(tonight, "alice", f"@{BOT} hi")
    assert "title: Boss rush\ncategory: Hades\n" in model.prompt
    assert "; first here 1 year ago today" in model.prompt
    answer = await ask(tonight, "alice", "!streak")
    assert answer.text.count("year ago today") == 1
    await tonight.twitch.happens(
        "channel.update",
        title="Credits",
        language="en",
        category_id="1",
        category_name="Hades",
        content_classification_labels=[],
    )
    await state_becomes(tonight.bot, {"title": "Credits"})
    await ask(tonight, "alice", f"@{BOT} and now?")
    assert "title: Credits\n" in model.prompt, "not the one of a minute ago"


async def names_are_used_by_others_too(tonight: Evening, model: Model) -> None:
    answer = await ask(tonight, "kim", "!callme Kimmy")
    assert answer.text == "I'll call you Kimmy. !callme off removes it."
    await ask(tonight, "kim", "!pronouns they/them")
    await ask(tonight, "alice", f"@{BOT} what do you think of kim?")
    notes_of_others = model.prompt.partition("<others>\n")[2].partition("</others>")[0]
    assert notes_of_others.startswith(
        'Kim: call them "Kimmy"; their pronouns: they/them\n'
    )
    replies = model.prompt.partition("<bot_replies>\n")[2]
    assert "!callme off" not in replies, "no openers of commands"


async def a_line_is_kept_in_the_book(tonight: Evening) -> None:
    """The line that is replied to, not the newest one."""
    twitch = tonight.twitch
    boast = await twitch.say("demo", BOAST)
    await twitch.say("demo", "or not")
    await twitch.settled()
    reply = twitch.world.message(
        twitch.world.user("carol"), "!quote", reply_to=twitch.world.messages[boast]
    )
    count = len(twitch.sent)
    await twitch.irc.deliver(reply)
    answer = await tonight.answered(count + 1)
    assert answer.startswith(f"Kept in the book: “{BOAST}” (Demo, ")
    assert await tonight.bot.db.column("SELECT text FROM quotes") == [BOAST]


async def the_hour_is_summarised(tonight: Evening, model: Model) -> None:
    for login, text in (
        ("lars", "the lamp is a spoon"),
        ("gina", "I play drums in Rust"),
        ("alice", "it fell on the forty-first try!"),
    ):
        await tonight.twitch.say(login, text)
        await tonight.passes(MINUTE)
    for _ in range(4):
        await tonight.passes(10 * MINUTE)
    assert "forty-first" in model.summarised
    for answer_to_command in ("!callme off", "Kept in the book", "in a row"):
        assert answer_to_command not in model.summarised


async def newcomers_are_told_what_they_missed(tonight: Evening, model: Model) -> None:
    answer = await ask(tonight, "newbie", "!missed")
    assert answer.text.startswith("This stream so far: ")
    assert "Lars says that the lamp is a spoon." in answer.text
    await ask(tonight, "erin", f"@{BOT} who knows drums?")
    anybody = model.prompt.partition("<anybody>\n")[2].partition("\n</anybody>")[0]
    assert anybody.endswith("] plays drums in a band called Rust")
    assert anybody.startswith("Gina: [id:")


async def one_of_them_is_forgotten_with_a_receipt(tonight: Evening) -> None:
    answer = await ask(tonight, "lars", "!forgetme")
    assert answer.text.endswith("To confirm, type !forgetme yes")
    assert await by_login(tonight.bot.db, "lars") is not None
    answer = await ask(tonight, "lars", "!forgetme yes")
    assert answer.text.startswith("Done: everything is deleted.")
    assert "found 0 traces" in answer.text
    code = re.search(r"!receipt [A-Z]{6}", answer.text)
    assert code is not None, answer.text
    assert await by_login(tonight.bot.db, "lars") is None
    answer = await ask(tonight, "newbie", "!missed")
    assert "spoon" not in answer.text
    answer = await ask(tonight, "lars", code[0])
    assert "I searched for you now" in answer.text
    assert answer.text.endswith("Nothing is there.")
    # of somebody else it finds what is theirs, and says that it looked for them
    answer = await ask(tonight, "gina", code[0])
    assert "I searched for you now" in answer.text
    assert "summaries 1" in answer.text
    await it_finds_what_is_put_back(tonight, code[0])


async def it_finds_what_is_put_back(tonight: Evening, receipt: str) -> None:
    id_of_lars = tonight.twitch.world.user("lars").id
    async with tonight.bot.db.write() as tx:
        saboteur = {"summary": f"<@{id_of_lars}> says that the lamp is a spoon."}
        episode_id = await put(tx, "episodes", **saboteur)
    answer = await ask(tonight, "lars", receipt)
    assert "summaries 1" in answer.text
    async with tonight.bot.db.write() as tx:
        await tx.execute("DELETE FROM episodes WHERE id = ?", (episode_id,))


async def the_recap_has_the_anniversary(tonight: Evening) -> None:
    bot = tonight.bot
    stream = await bot.db.value("SELECT id FROM streams WHERE ended_at IS NULL")
    await tonight.obs.stream(on=False)
    await state_becomes(bot, {"live": "0"})
    tonight.twitch.go_offline()
    for _ in range(5):
        await tonight.passes(10 * MINUTE)
    recap = await markdown_of(bot.db, stream, bot.settings())
    assert recap is not None
    recap = recap.replace("\\", "")
    assert "1 anniversary: Alice (first here 1 year ago today)" in recap
    assert "The kraken fell on the forty-first try." in recap
    assert "lars" not in recap.casefold()
    chapters = await chapters_of(bot.db, stream, bot.settings())
    assert chapters[0].begin == 0
    assert "lars" not in str(chapters).casefold()


async def a_month_later_it_is_remembered(tonight: Evening, model: Model) -> None:
    """By somebody else, in other words and another language."""
    await tonight.clock.advance(30 * DAY)
    await tonight.bot.tasks.catch_up()
    await the_stream_begins(tonight)
    for question, entry in (
        ("remember when the kraken finally fell?", "forty-first try"),
        ("weißt du noch, als der Kraken gefallen ist?", "forty-first try"),
        ("remember when demo wanted to win with closed eyes?", f"“{BOAST}”"),
    ):
        await ask(tonight, "newbie", f"@{BOT} {question}")
        past = model.prompt.partition("<past_episode>\n")[2]
        past = past.partition("</past_episode>")[0]
        [line] = [line for line in past.splitlines() if entry in line][:1]
        assert ", 4 weeks ago, at 0:" in line
        assert "Lars" not in model.prompt
