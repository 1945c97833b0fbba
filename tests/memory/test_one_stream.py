"""Past chat keeps the rules of live chat: a stream is one stream, a line counts once, and the bot is no evidence."""

import gzip
import itertools
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChannelState
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.languages import ENGLISH, in_language
from forgetmenot.memory.learning import Learned, estimate
from forgetmenot.privacy.past_chat_files import remove_person
from forgetmenot.settings.schema import (
    ModelSettings,
    PriceSettings,
    Provider,
    Settings,
    TwitchSettings,
)
from forgetmenot.store import channel_state
from forgetmenot.store.database import Database
from forgetmenot.text.removal import NameForms
from tests.memory.conftest import open_channel
from tests.memory.test_learning import BEGAN, SETTINGS, Past, past

__all__ = ["past"]  # the fixture

PEOPLE = {"alice": 771001, "bob": 771002}
Line = tuple[int, str, str]


def evening(lines: int = 30, *, at: int = BEGAN) -> list[Line]:
    """Alice and bob take turns, one line in twenty seconds: when (ms), who, what."""
    return [
        (at + 20 * SECOND * n, ("alice", "bob")[n % 2], f"zitherbloom {n}")
        for n in range(lines)
    ]


def as_irc(path: Path, lines: list[Line]) -> Path:
    rows = [
        f"@id=m{n};user-id={PEOPLE.get(login, 9)};tmi-sent-ts={at} :{login}!{login}@{login} PRIVMSG #demo :{text}\n"
        for n, (at, login, text) in enumerate(lines)
    ]
    path.with_suffix(".irc").write_text("".join(rows), encoding="utf-8")
    return path.with_suffix(".irc")


def as_json(path: Path, lines: list[Line]) -> Path:
    comments = [
        {
            "_id": f"m{n}",
            "created_at": datetime.fromtimestamp(at / 1_000).astimezone().isoformat(),
            "commenter": {
                "_id": str(PEOPLE.get(login, 9)),
                "name": login,
                "display_name": login,
            },
            "message": {"body": text},
        }
        for n, (at, login, text) in enumerate(lines)
    ]
    video = {"id": "2134", "title": "Boss rush", "created_at": "2026-05-01T19:58:00Z"}
    path.with_suffix(".json").write_text(
        json.dumps({"video": video, "comments": comments})
    )
    return path.with_suffix(".json")


def as_log(path: Path, lines: list[Line], stamp: str = "%H:%M:%S") -> Path:
    first = datetime.fromtimestamp(lines[0][0] / 1_000).astimezone()
    rows = [f"# Start logging at {first:%Y-%m-%d %H:%M:%S %Z}\n"]
    for at, login, text in lines:
        # by the clock of the PC, which is a second ahead
        moment = datetime.fromtimestamp(at / 1_000 + 1).astimezone()
        rows.append(f"[{moment:{stamp}}] {login}: {text}\n")
    path.with_suffix(".log").write_text("".join(rows), encoding="utf-8")
    return path.with_suffix(".log")


def by_the_minute(path: Path, lines: list[Line]) -> Path:
    return as_log(path, lines, "%H:%M")


Writer = Callable[[Path, list[Line]], Path]
FORMS: list[Writer] = [as_irc, as_json, as_log]


async def attendance(db: Database) -> list[tuple[str, int]]:
    """Who came, and how many lines they said; by login."""
    rows = await db.rows(
        "SELECT coalesce(v.login, v.id), a.lines FROM attendance a JOIN viewers v ON v.id = a.viewer_id ORDER BY 1"
    )
    return [(str(row[0]).removeprefix("login:"), row[1]) for row in rows]


@pytest.mark.parametrize("order", list(itertools.permutations([0, 1, 2])))
async def test_a_stream_that_is_learned_in_three_forms_is_one_stream(
    past: Past, tmp_path: Path, order: tuple[int, ...]
) -> None:
    reports: list[Learned] = []
    before: list[int] = []
    for number in order:
        reports.append(await past.learn(FORMS[number](tmp_path / "chat", evening())))
        if len(reports) == 1:
            before = [*await past.counts(), len(past.model.asked)]
    assert [(report.lines, report.known, report.streams) for report in reports] == [
        (30, 0, 1),
        (0, 30, 0),
        (0, 30, 0),
    ]
    assert [*await past.counts(), len(past.model.asked)] == before
    assert before[0] == 1
    assert await attendance(past.db) == [("alice", 15), ("bob", 15)]
    noted = await past.db.column(
        "SELECT count(*) FROM note_evidence WHERE stance = 'confirmed'"
    )
    assert noted == [0]
    # the broadcast tells more about the stream
    assert await past.db.column("SELECT title || video_id FROM streams") == [
        "Boss rush2134"
    ]


@pytest.mark.parametrize("form", [*FORMS, by_the_minute])
@pytest.mark.parametrize("read", [False, True])
async def test_a_stream_that_was_heard_live_is_not_learned_again(
    db: Database,
    clock: ManualClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: Writer,
    *,
    read: bool,
) -> None:
    """Whether it was summarised already or not; and what was deleted in it stays deleted."""
    monkeypatch.setattr("forgetmenot.memory.learning.LIVE_FIRST_S", 0)
    began = clock.now()
    past = Past(db, clock)
    channel = await open_channel(db, clock, SETTINGS, past.model)
    await channel.stream_tracker.live(
        ChannelState(
            live=True, title="Live", category="", started_at=began, stream_id="77"
        ),
        began,
    )
    for at, login, text in evening(at=began):
        await clock.move_to(at)
        channel.say(login, text, user_id=str(PEOPLE[login]))
    deleted = channel.say("bob", "my number is 5550199", user_id=str(PEOPLE["bob"]))
    await channel.clear(deleted)
    await channel.ingest.flush()
    if read:
        await channel.summarise()
        await clock.move_to(began + 2 * DAY)
        await channel.sweep()
    before = await past.counts()
    await clock.move_to(clock.now() + MINUTE)
    lines = [*evening(at=began), (deleted.at, "bob", deleted.text)]
    report = await past.learn(form(tmp_path / "chat", lines))
    assert (report.lines, report.known, report.streams) == (0, 31, 0)
    assert await past.counts() == before
    assert await attendance(db) == [("alice", 15), ("bob", 16)]
    assert not [request for request in past.model.asked if "5550199" in request.prompt]


async def test_what_was_not_heard_of_a_stream_is_learned_as_part_of_it(
    past: Past, tmp_path: Path
) -> None:
    lines = evening(90)
    await past.learn(as_irc(tmp_path / "first", lines[:30]))
    report = await past.learn(as_log(tmp_path / "all", lines))
    assert (report.streams, report.known + report.lines) == (0, 90)
    assert 30 <= report.known <= 31  # one may be heard at the edge
    assert (await past.counts())[0] == 1


async def test_a_log_of_one_viewer_leaves_the_lines_of_the_others(
    past: Past, tmp_path: Path
) -> None:
    lines = evening()
    await past.learn(
        as_irc(tmp_path / "alice", [line for line in lines if line[1] == "alice"])
    )
    report = await past.learn(as_json(tmp_path / "all", lines))
    assert (report.lines, report.known, report.streams) == (15, 15, 0)
    assert await attendance(past.db) == [("alice", 15), ("bob", 15)]


async def test_logs_of_two_days_are_one_stream_where_it_went_on_over_midnight(
    past: Past, tmp_path: Path
) -> None:
    lines = evening(80)
    first = as_irc(tmp_path / "a", lines[:40])
    second = as_log(tmp_path / "b", lines[40:])
    report = await past.learn(second, first)
    assert (report.streams, report.lines + report.known) == (1, 80)
    assert report.known <= 1
    evening_after = as_irc(tmp_path / "c", evening(at=BEGAN + DAY))
    assert (await past.learn(evening_after)).streams == 1


async def test_the_end_of_a_stream_that_twitch_told_stays(
    db: Database, clock: ManualClock, tmp_path: Path
) -> None:
    """What was said in the hours after it belongs to it all the same, and opens no stream of its own."""
    began = clock.now()
    past = Past(db, clock)
    channel = await open_channel(db, clock, SETTINGS, past.model)
    state = ChannelState(
        live=True, title="", category="", started_at=began, stream_id="77"
    )
    await channel.stream_tracker.live(state, began)
    await clock.move_to(began + HOUR)
    await channel.stream_tracker.live(state, clock.now())
    await clock.move_to(began + 2 * HOUR)
    await channel.stream_tracker.live(
        ChannelState(live=False, title="", category=""), clock.now()
    )
    ended = await db.value("SELECT ended_at FROM streams")
    await clock.move_to(began + 5 * DAY)
    await past.learn(as_irc(tmp_path / "a", evening(at=began + 3 * HOUR)))
    assert await db.column("SELECT ended_at FROM streams") == [ended]
    assert await db.column("SELECT started_at FROM streams") == [began]


@pytest.mark.parametrize("known_from", ["login", "settings"])
async def test_the_bots_own_lines_are_evidence_of_nothing(
    past: Past, tmp_path: Path, known_from: str
) -> None:
    if known_from == "login":
        async with past.db.write() as tx:
            await channel_state.put(
                tx, {"bot_id": "9", "bot_login": "keeper"}, past.clock.now()
            )
    else:
        past.settings = replace(SETTINGS, twitch=TwitchSettings(bot_login="Keeper"))
    lines = [
        (at, login if n % 3 else "keeper", text)
        for n, (at, login, text) in enumerate(evening())
    ]
    for form in FORMS:
        await past.learn(form(tmp_path / "chat", lines))
    assert await attendance(past.db) == [("alice", 10), ("bob", 10)]
    people = await past.db.column(
        "SELECT DISTINCT viewer_id FROM episode_people ORDER BY 1"
    )
    assert "9" not in people
    assert "login:keeper" not in people
    assert not await past.db.column(
        "SELECT 1 FROM semantic_notes WHERE subject_id IN ('9', 'login:keeper')"
    )
    # they are there for context
    assert "BOT: zitherbloom 0" in past.model.asked[0].prompt


async def test_a_file_that_is_deleted_while_it_is_read_ends_it(
    past: Past, tmp_path: Path
) -> None:
    path = as_irc(tmp_path / "chat", evening())

    async def deleted() -> None:
        path.unlink()

    past.model.meanwhile = deleted
    report = await past.learn(path)
    assert 0 < report.lines < 30
    assert "chat.irc is gone" in report.in_words(ENGLISH)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True])
async def test_somebody_is_taken_out_of_a_file_while_it_is_read(
    past: Past, tmp_path: Path, form: Writer, *, packed: bool
) -> None:
    """As an erasure does it: what is left is read on, and nothing of it twice."""
    lines = [
        *evening(28),
        (BEGAN + 20 * MINUTE, "carol", "hi @alice"),
        (BEGAN + 21 * MINUTE, "carol", "hi"),
    ]
    path = form(tmp_path / "chat", lines)
    alice = NameForms("771001", ["alice", "Alice"])
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))

    async def erased() -> None:
        await past.leaves(
            "771001" if form is not as_log else "login:alice", erased=True
        )
        assert remove_person(path, alice)

    past.model.meanwhile = erased
    report = await past.learn(path)
    assert report.trouble == ""
    assert b"alice" not in path.read_bytes().lower()
    assert path.stat().st_mode & 0o777 == 0o600
    assert await attendance(past.db) == [("bob", 14), ("carol", 1)]
    assert await past.db.column("SELECT count(*) FROM streams") == [1]
    assert not remove_person(path, alice)


@pytest.mark.parametrize("text", [b"\x00\x01alice", b"[1, 2] alice", b""])
def test_what_cannot_be_written_anew_is_deleted_if_they_may_stand_in_it(
    tmp_path: Path, text: bytes
) -> None:
    path = tmp_path / "chat.log"
    path.write_bytes(text)
    assert remove_person(path, NameForms("1", ["alice"])) == bool(text)
    assert [*tmp_path.iterdir()] == ([] if text else [path])


# ── what it takes ────────────────────────────────────────────────────────────────────────────

HOSTED = ModelSettings(provider=Provider.GEMINI, memory_model="gemini-3.8-flash")
OWN = ModelSettings(provider=Provider.OPENAI_COMPATIBLE, memory_model="some-model")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            Settings(),
            "It takes less than a minute and costs nothing: no AI model is chosen",
        ),
        (Settings(model=HOSTED), "It takes about 1 min and costs about 0.0"),
        (
            Settings(model=OWN),
            "It takes about 1 min. The price of some-model is not set",
        ),
        (
            Settings(
                model=OWN, prices={"some-model": PriceSettings(input=10, output=10)}
            ),
            "It takes about 1 min and costs about 0.",
        ),
    ],
)
async def test_what_it_takes_is_said_in_money_and_minutes(
    tmp_path: Path, settings: Settings, words: str
) -> None:
    estimated = await estimate(
        [as_irc(tmp_path / "chat", evening())], settings, BEGAN + DAY
    )
    line = estimated.in_words(settings, ENGLISH)
    assert line.startswith("30 lines, 1 stream, 1 day. ")
    assert words in line
    assert "about 0 " not in line
    assert in_language("de") is not ENGLISH
    assert estimated.in_words(settings, in_language("de"))


async def test_what_cannot_be_read_is_counted_and_named(tmp_path: Path) -> None:
    path = as_log(tmp_path / "chat", evening(100))
    rows = path.read_text().splitlines()
    for number in (14, 15, 90):
        rows[number - 1] = "[25:99] what"
    path.write_text("\n".join(rows) + "\n[20:1")
    estimated = await estimate([path], Settings(), BEGAN + DAY)
    words = estimated.in_words(Settings(), ENGLISH)
    assert "chat.log: 3 lines cannot be read: 14, 15, 90." in words
    assert "chat.log is cut off" in words
    path.write_text("\n".join([*rows[:2], *["[25:99] what"] * 34]) + "\n")
    estimated = await estimate([path], Settings(), BEGAN + DAY)
    assert "34 lines cannot be read: 3, 4, 5, 6, 7, …" in estimated.in_words(
        Settings(), ENGLISH
    )
