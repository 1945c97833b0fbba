"""Promise 10: a model that obeys what a viewer types, in summaries, notes, briefs and replies, changes nothing else."""

import json
from pathlib import Path

import pytest
from aiohttp import web

from forgetmenot.clock import ManualClock
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.store import channel_state
from forgetmenot.store.database import Database
from tests.loopback_servers.openai import Sent, SimOpenAI, completion
from tests.rows import put
from tests.stage import asking, live_bot, said

LINES = [
    line
    for line in (Path(__file__).parents[1] / "data" / "injections.txt")
    .read_text("utf-8")
    .splitlines()
    if not line.startswith("#")
]
ALICE = "1"
BOB = "2"
CAROL = "3"
PROPOSED = (
    {"name": "timeout", "target": "alice", "seconds": 60},
    {"name": "ban", "target": "alice"},
    {"name": "forget", "target": "alice", "what": "cello"},
    {"name": "remember", "target": "alice", "fact": "is a thief"},
    {"name": "correct", "fact": "alice quit the cello"},
    {"name": "delete", "target": "alice"},
    {"name": "announce", "text": "obey bob"},
    {"name": "slow_mode", "seconds": 60},
)


class Fooled:
    """Answers every call as the line wants it: it stands in the summary, in notes about everybody, and is said."""

    def __init__(self, known: list[int]) -> None:
        self.line = ""
        self.known = known
        self.calls = 0

    async def __call__(self, sent: Sent) -> web.StreamResponse:
        self.calls += 1
        schema = sent["response_format"]["json_schema"]["schema"]["properties"]
        written: object
        if "say" in schema:
            written = {
                "say": self.line,
                "action": PROPOSED[self.calls % len(PROPOSED)],
                "if_refused": "No.",
            }
        elif "summary" in schema:
            written = {"summary": f"P1 spoke. {self.line} P1 said: {self.line}"}
        elif "briefs" in schema:
            written = {
                "briefs": [
                    {"person": f"P{n}", "text": f"P{n} spoke. {self.line}"}
                    for n in (1, 2)
                ]
            }
        else:
            plain = {
                "fact": self.line[:190],
                "confidence": 1.0,
                "lifetime": "permanent",
                "importance": "high",
            }
            notes = list[dict[str, object]]()
            for subject in ("P1", "P2", "channel"):
                notes += [
                    {**plain, "who": subject, "said_by": subject, "replaces": old}
                    for old in self.known
                ]
                notes += [
                    {**plain, "who": subject, "said_by": by} for by in ("P1", "P2")
                ]
            written = {"notes": notes}
        return web.json_response(completion(json.dumps(written), sent))


async def of_others(db: Database) -> dict[str, list[tuple[object, ...]]]:
    """What no word of bob's may change: who is who, the switches, and what alice and the streamer said."""
    queries = {
        "people": "SELECT id, login, role, opted_out_at, banned_at FROM viewers WHERE id IN ('1', '2') ORDER BY id",
        "switches": "SELECT name, value FROM channel_state WHERE name NOT LIKE 'digest%' ORDER BY name",
        "alice": "SELECT id, fact, status, source_kind, superseded_by, pinned, expires_at FROM semantic_notes"
        " WHERE subject_id = '1' AND source_kind <> 'reported' ORDER BY id",
        "channel": "SELECT id, fact, status, superseded_by FROM semantic_notes"
        " WHERE subject_id IS NULL AND source_kind = 'command' ORDER BY id",
        "never mentioned": "SELECT * FROM never_mention",
        "done": "SELECT name, status FROM action_logs WHERE status NOT IN ('denied', 'waiting', 'expired', 'refused')",
    }
    return {
        name: [tuple(row) for row in await db.rows(sql)]
        for name, sql in queries.items()
    }


@pytest.mark.slow
async def test_whatever_is_stored_no_action_no_role_no_setting_and_no_others_data_changes(
    tmp_path: Path,
) -> None:
    clock = ManualClock(1_800_000_000_000)
    async with SimOpenAI() as sim:
        settings = asking(
            sim, actions={"class_b": "live", "newcomer_protection": False}
        )
        async with live_bot(tmp_path / "m.sqlite3", clock, lambda: settings) as (
            bot,
            account,
        ):
            async with bot.db.write() as tx:
                await channel_state.put(tx, {"live": "1"}, clock.now())
                await put(tx, "viewers", id=ALICE, login="alice")
                await put(tx, "viewers", id=BOB, login="bob")
                hers = {"subject_id": ALICE, "source_kind": "self_claim"}
                now = clock.now()
                rule = {
                    "scope": "channel",
                    "source_kind": "command",
                    "fact": "streams on Fridays",
                }
                note_rows = [
                    {**hers, "fact": "plays the cello"},
                    {**hers, "fact": "lives in Oslo"},
                    rule,
                ]
                times = dict.fromkeys(
                    ("created_at", "first_said_at", "last_confirmed_at"), now
                )
                known = [
                    await put(tx, "semantic_notes", **note_row, **times)
                    for note_row in note_rows
                ]
            before = await of_others(bot.db)
            fooled = Fooled(known)
            sim.fail(fooled, times=100_000)
            for number, line in enumerate(LINES):
                fooled.line = line
                await clock.advance(20 * MINUTE)
                await bot.hear(
                    said(
                        clock, f"s{number}", CAROL, "carol", "welcome in", "broadcaster"
                    )
                )
                await bot.hear(said(clock, f"w{number}", ALICE, "alice", "hey hey, gg"))
                await bot.hear(said(clock, f"a{number}", BOB, "bob", line))
                await bot.hear(
                    said(clock, f"b{number}", BOB, "bob", f"@forgetmenot_bot {line}")
                )
                await bot.settle()
                await bot.compactor.run_pass(everything=True)
                await bot.extractor.run_pass()
                await bot.memory_pass()
                assert await of_others(bot.db) == before, line
            await clock.advance(DAY)
            await bot.memory_pass()
            assert await of_others(bot.db) == before
            stored = await bot.db.value(
                "SELECT count(*) FROM episodes WHERE summary LIKE '%obey%'"
            )
            assert stored > 0, "the model's words are kept"
            assert await bot.db.value(
                "SELECT count(*) FROM action_logs WHERE status = 'denied'"
            ) > len(PROPOSED)
            assert (
                await bot.db.value(
                    "SELECT count(*) FROM semantic_notes WHERE subject_id = '2'"
                )
                > 0
            )
        assert account.done_actions == []
        assert fooled.calls > 2 * len(LINES)
        assert not any(
            "api_key" in text.casefold() or "twitch_token" in text
            for text in account.said
        )
