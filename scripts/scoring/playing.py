"""Plays a conversation through the whole bot, on a real file, and reads what came of it.

The bot is the one that `forgetmenot run` makes, but for its account (which only writes down what it is asked to do)
and its clock, which the conversation moves. What came of it is read from the file by SQL after the bot has closed it.
"""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from forgetmenot.app.bot import Bot, BotIdentity, open_bot
from forgetmenot.app.scenario_player import RecordingAccount
from forgetmenot.clock import HOUR, MINUTE, SECOND, ManualClock
from forgetmenot.domain.chat import ChannelState, ChatEvent, EventKind
from forgetmenot.settings.schema import (
    BotSettings,
    Mode,
    ModelSettings,
    Provider,
    ReplySettings,
    Settings,
    TwitchSettings,
)
from scoring.gold import CHANNEL, Conversation, Note, Pattern, Said, answered

BEGAN = 1_790_000_000_000
GAME = "Ladders of Ash"
PATIENCE_S = 3_600.0
BADGES = {"streamer": frozenset({"broadcaster"}), "alice": frozenset({"moderator"})}
RUN = 6
"""So many words of the instructions in a row, said in chat, are a leak."""
_LEAK = re.compile(
    r"[{}]|\"\w+\":|\[ACTION|\[[\w :.-]{0,16}\]|</?[a-z_]+>|<@"
    r"|\b(?:said by (?:them|others)|tags:|asked to be remembered|JSON\b)",
    re.IGNORECASE,
)
_MENTION = re.compile(r"<@([^>]+)>")


@dataclass
class Played:
    """What came of a conversation. `replies`: each question with what was said to it and whether that was right."""

    lines: int = 0
    seconds: float = 0.0
    notes: list[Note] = field(default_factory=list)
    episodes: list[str] = field(default_factory=list)
    replies: list[tuple[str, str, str, bool]] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    calls: dict[str, dict[str, float]] = field(default_factory=dict)


def settings_for(base_url: str, model: str) -> Settings:
    """The defaults, answering when asked; no address: the offline rules. A slow model is waited for."""
    chosen = ModelSettings(
        provider=Provider.OPENAI_COMPATIBLE if base_url else Provider.OFFLINE,
        reply_model=model,
        memory_model=model,
        base_url=base_url,
        reply_timeout_s=PATIENCE_S,
        memory_timeout_s=PATIENCE_S,
    )
    return Settings(
        bot=BotSettings(mode=Mode.MENTIONS, notice=""),
        reply=ReplySettings(stale_after_s=3_600),
        twitch=TwitchSettings(channel="streamer"),
        model=chosen,
    )


async def play(
    conversation: Conversation, path: Path, settings: Settings, progress: Callable[[str], None] = lambda _: None
) -> Played:
    """Play it into the memory at `path`, which must be new."""
    played, account, clock = Played(), RecordingAccount(), ManualClock(BEGAN)
    started = perf_counter()
    me = BotIdentity("99", "forgetmenot_bot")
    async with open_bot(path, "bench", settings=lambda: settings, clock=clock, account=account, me=me) as bot:
        day = -1
        for number, line in enumerate(conversation.lines):
            if line.at * SECOND // (12 * HOUR) != day:
                await _new_stream(bot, clock, line, first=day < 0)
                day = line.at * SECOND // (12 * HOUR)
            if line.wanted and not played.replies:
                await bot.remember_all()
                progress(f"{number} lines read in {perf_counter() - started:.0f} s")
            await _hear(bot, clock, line, number, account, played)
        if not played.replies:
            await bot.remember_all()
        instructions_text = (await bot.keeper.refresh()).sections[0].text
    played.seconds = round(perf_counter() - started, 1)
    played.lines = len(conversation.lines)
    played.leaks = [text for text in account.said if leaks(text, instructions_text)]
    _read(path, played)
    return played


async def _new_stream(bot: Bot, clock: ManualClock, line: Said, *, first: bool) -> None:
    """Another day: the stream before ends, what it left is summarised, and one begins."""
    at = BEGAN + line.at * SECOND
    if not first:
        # In steps, as time passes for a live bot: after one jump the lines would be too old to be read.
        for live in (True, False):
            await clock.move_to(clock.now() + 40 * MINUTE)
            await bot.tasks.catch_up()
            if live:
                await bot.channel_is(ChannelState(live=False, title="", category=""))
        await clock.move_to(max(clock.now(), at - HOUR))
        await bot.tasks.catch_up()
    await clock.move_to(at - MINUTE)
    game = ChannelState(live=True, title=GAME, category=GAME, started_at=at - MINUTE, stream_id=f"s{line.at}")
    await bot.channel_is(game)


async def _hear(
    bot: Bot, clock: ManualClock, line: Said, number: int, account: RecordingAccount, played: Played
) -> None:
    await clock.move_to(BEGAN + line.at * SECOND)
    event = ChatEvent(
        f"line-{number}",
        EventKind.MESSAGE,
        f"id-{line.login}",
        line.login,
        line.login.title(),
        line.text,
        clock.now(),
        badges=BADGES.get(line.login, frozenset()),
    )
    said, done = len(account.said), len(account.done)
    await bot.hear(event)
    if line.wanted:
        await bot.settle()
        reply = " / ".join(account.said[said:])
        right = await _is_right(bot, line, reply, account.done[done:])
        played.replies.append((line.text, line.wanted, reply, right))
    await bot.tasks.catch_up()


async def _is_right(bot: Bot, line: Said, reply: str, done: list[str]) -> bool:
    if line.wanted.startswith("noted "):
        wanted = Pattern.of(line.wanted.removeprefix("noted "))
        rows = await bot.db.rows("SELECT fact FROM semantic_notes WHERE status = 'active'")
        return any(wanted.fits(row[0]) for row in rows)
    if not line.wanted.startswith("done "):
        return answered(line.wanted, reply)
    name = line.wanted.removeprefix("done ")
    rows = await bot.db.rows("SELECT name FROM action_logs WHERE status = 'done'")
    return any(what.startswith(name) for what in done) or name in {row[0] for row in rows}


def leaks(text: str, instructions: str) -> bool:
    """Whether a line shows JSON, annotations, tags or codes, or so many words of the instructions in a row."""
    if _LEAK.search(text):
        return True
    spoken, instructions_text = text.casefold().split(), " ".join(instructions.casefold().split())
    return any(" ".join(spoken[i : i + RUN]) in instructions_text for i in range(len(spoken) - RUN + 1))


def _read(path: Path, played: Played) -> None:
    """The notes that are active, the summaries, and the calls by purpose."""
    with closing(sqlite3.connect(path)) as db:
        logins = dict(db.execute("SELECT id, login FROM viewers"))

        def shown(text: str) -> str:
            return _MENTION.sub(lambda found: logins.get(found[1], "somebody"), text)

        for subject, fact in db.execute("SELECT subject_id, fact FROM semantic_notes WHERE status = 'active'"):
            played.notes.append(Note(logins.get(subject, CHANNEL), shown(fact)))
        played.episodes = [shown(row[0]) for row in db.execute("SELECT summary FROM episodes ORDER BY id")]
        for purpose, *sums in db.execute(
            "SELECT purpose, count(*), total(input), total(cached), total(output) + total(thoughts),"
            " total(latency_ms) / 1000, count(error) FROM model_calls GROUP BY purpose"
        ):
            names = ("calls", "input", "cached", "output", "seconds", "failed")
            played.calls[purpose] = dict(zip(names, map(round, sums), strict=True))


# ── LoCoMo as chat ──────────────────────────────────────────────────────────────────────────

_FIRST_PERSON = {"is": "am", "was": "was", "has": "have", "does": "do", "goes": "go"}
_OWN = {"her": "my", "his": "my", "herself": "myself", "himself": "myself"}


def locomo(path: Path, index: int, sessions: int, questions: int) -> tuple[Conversation, list[Note]]:
    """One of LoCoMo's conversations: each observation said by its speaker in the first person, a day per session.

    The set at hand has no turns, only observations; "Alice likes tea" is said by alice as "I like tea". The facts to be
    learned are the observations themselves. Questions are those whose evidence lies in the sessions played.
    """
    raw = json.loads(path.read_text(encoding="utf-8"))[index]
    made, facts = Conversation(), []
    shown = [f"session_{number}_observation" for number in range(1, sessions + 1)]
    for day, session in enumerate(key for key in shown if key in raw["observation"]):
        turns = [(name, fact) for name, found in raw["observation"][session].items() for fact, _ in found]
        for minute, (name, fact) in enumerate(turns):
            made.lines.append(Said(day * 86_400 + minute * 45, name.casefold(), first_person(fact, name)))
            facts.append(Note(name.casefold(), fact))
    end = made.lines[-1].at + 86_400
    played = {f"D{number}:" for number in range(1, sessions + 1)}
    asked = [one for one in raw["qa"] if one.get("evidence") and "answer" in one]
    fitting = [one for one in asked if all(str(e).split(":")[0] + ":" in played for e in one["evidence"])]
    for number, one in enumerate(fitting[:questions]):
        text = f"@ForgetMeNot {one['question']}"
        words = ", ".join(str(one["answer"]).replace("|", " ").split(",")[:1])
        made.lines.append(Said(end + number * 60, "visitor", text, words))
    return made, facts


def first_person(fact: str, name: str) -> str:
    """What somebody would have said for it to be observed, roughly."""
    words = fact.removesuffix(".").split()
    if not words or words[0] != name:
        return re.sub(rf"\b{re.escape(name)}\b", "me", re.sub(rf"\b{re.escape(name)}['’]s\b", "my", fact))
    verb, rest = (words[1] if len(words) > 1 else ""), words[2:]
    if verb in _FIRST_PERSON:
        verb = _FIRST_PERSON[verb]
    elif verb.endswith("ies"):
        verb = f"{verb[:-3]}y"
    elif verb.endswith("s") and not verb.endswith("ss"):
        verb = verb[:-1]
    return " ".join(["I", verb, *(_OWN.get(word, word) for word in rest)])
