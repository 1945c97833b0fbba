"""What an hour of chat costs.

Plays six streams through the bot that the program makes: five short ones, so that there are regulars, and one of
an hour with so many lines a minute, of which every hundredth asks the bot something. The model is a server on loopback
that bills what it reads and writes (about three bytes to a token) and writes what the offline rules find. Counts calls
and tokens of the hour and of what is written after it.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web

from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChannelState, ModelRequest, Purpose
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.llm.offline import Offline
from forgetmenot.memory import extraction
from forgetmenot.memory.summary_instructions import BRIEFS, RECAP, SUMMARY, WRITER
from forgetmenot.settings.load import convert
from forgetmenot.settings.schema import Settings
from forgetmenot.store import counts
from speed.figures import Figure
from speed.invented import Invented
from tests.loopback_servers.openai import SimOpenAI, completion
from tests.stage import live_bot, said

BEGAN = 1_790_000_000_000
REGULARS = 14
ASKS_EVERY = 100
QUESTION = "@forgetmenot_bot how are the stairs of the lighthouse?"
CLAIM_EVERY = 8
_BEGINS = {
    SUMMARY: Purpose.SUMMARY,
    RECAP: Purpose.RECAP,
    BRIEFS: Purpose.BRIEF,
    extraction.SYSTEM: Purpose.EXTRACT,
}


def _settings(base_url: str) -> Settings:
    """The defaults, answering when asked."""
    model = {
        "provider": "openai_compatible",
        "reply_model": "small",
        "memory_model": "small",
        "base_url": base_url,
    }
    bot = {"mode": "mentions", "notice": ""}
    return convert(
        {"bot": bot, "twitch": {"channel": "streamer"}, "model": model}, "the benchmark"
    )


class Billing(SimOpenAI):
    """Writes what the offline rules find, and bills it."""

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        """Answer as long as a real model would, and bill by length."""
        body = await request.json()
        system, prompt = (message["content"] for message in body["messages"][:2])
        purpose = next(
            (
                known_purpose
                for text, known_purpose in _BEGINS.items()
                if _own_words(text) in system
            ),
            Purpose.REPLY,
        )
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        text = (
            await Offline().generate(
                ModelRequest(purpose, system, prompt, 2_000, schema=schema)
            )
        ).text
        if purpose is Purpose.BRIEF:
            people = [
                {"person": f"P{n}", "text": f"P{n} plays drums and lives in Oslo. " * 8}
                for n in range(1, 11)
            ]
            text = json.dumps({"briefs": people[: prompt.count("</p")]})
        elif purpose is Purpose.REPLY and not json.loads(text)["say"]:
            text = json.dumps(
                {
                    "say": "Good question, I am not sure. " * 3,
                    "action": None,
                    "if_refused": "",
                }
            )
        usage = {
            "prompt_tokens": _tokens(system + prompt) + _tokens(_compact(schema)),
            "completion_tokens": _tokens(text),
        }
        return web.json_response(completion(text, body) | {"usage": usage})


def _own_words(instructions: str) -> str:
    """The beginning that no other call's instructions have."""
    return instructions.removeprefix(WRITER).strip().partition("{")[0][:60]


def _compact(schema: object) -> str:
    """A schema as it is billed; empty where there is none."""
    return json.dumps(schema, separators=(",", ":")) if schema else ""


def _tokens(text: str) -> int:
    """Return the tokens of a text, three bytes each, rounded up."""
    return -(-len(text.encode()) // 3)


async def _hour(
    path: Path, base_url: str, rate: int
) -> dict[str, tuple[int, int, int]]:
    """Calls, tokens in and tokens out of an hour at so many lines a minute, by purpose."""
    made = Invented(29)
    number = 0
    at = BEGAN
    people = [f"viewer_{number}" for number in range(max(REGULARS, 2 * rate // 3))]
    settings = _settings(base_url)
    clock = ManualClock(BEGAN)
    async with live_bot(path, clock, lambda: settings) as (bot, _):
        for stream in range(6):
            last = stream == 5
            at = clock.now()
            await bot.channel_is(
                ChannelState(
                    live=True,
                    title="",
                    category="",
                    started_at=at,
                    stream_id=f"s{stream}",
                )
            )
            for line in range(60 * rate if last else 2 * REGULARS):
                await clock.move_to(
                    at + (line * MINUTE // rate if last else line * SECOND)
                )
                login = people[line % (len(people) if last else REGULARS)]
                text = (
                    f"I play {made.words(1)[0]} on weekends"
                    if number % CLAIM_EVERY == 0
                    else made.line()
                )
                if last and line % ASKS_EVERY == ASKS_EVERY - 1:
                    text = QUESTION
                number += 1
                await bot.hear(
                    said(clock, f"line-{number}", f"id-{login}", login, text)
                )
                if text == QUESTION:
                    await bot.settle()
                await bot.tasks.catch_up()
            for _ in range(7):
                await bot.channel_is(ChannelState(live=False, title="", category=""))
                await bot.tasks.catch_up()
                await clock.advance(10 * MINUTE)
        bills = await counts.bills(bot.db, "purpose", at)
    return {
        bill.group: (bill.calls, bill.used.input, bill.used.output) for bill in bills
    }


async def measure(
    folder: Path, rates: Sequence[int], price: tuple[float, float]
) -> list[Figure]:
    """The figures of an hour at each of these rates; `price`: of a million tokens read and written."""
    figures = []
    for rate in rates:
        async with Billing() as server:
            bills = await _hour(folder / f"{rate}.sqlite3", server.url, rate)
        calls, read, written = (
            sum(column) for column in zip(*bills.values(), strict=True)
        )
        cost = (read * price[0] + written * price[1]) / 1_000_000
        figures_of_rate = {
            "calls": calls,
            "of them replies": bills.get("reply", (0,))[0],
        }
        figures_of_rate |= {"tokens read": read, "tokens written": written}
        name = f"an hour at {rate} lines a minute"
        figures += [
            Figure(f"{name}: {label}", value, "")
            for label, value in (*figures_of_rate.items(), ("cost", cost))
        ]
    return figures
