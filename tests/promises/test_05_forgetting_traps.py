"""Promise 5, by traps: names that are words or parts of others, facts of two people, facts in other words.

Each row of tests/data/forgetting_drill.tsv is a text in a place, written before somebody is erased or a fact forgotten:
words that must be gone afterwards, words that must stay, and (honestly) words that are left though they should go.
docs/PRIVACY.md has the figures.
"""

import asyncio
import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import Scope, SourceKind
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.requests import PrivacyService
from forgetmenot.store import channel_state, notes, personal_data
from forgetmenot.store.database import Database, Transaction, open_database
from forgetmenot.store.notes import NewNote
from tests.notes_world import World
from tests.rows import put

# Twelve erasures and what each leaves: five seconds.
pytestmark = pytest.mark.slow

NOW = 1_784_894_400_000
DOCS = Path(__file__).parents[2] / "docs" / "PRIVACY.md"
DATA = Path(__file__).parents[1] / "data" / "forgetting_drill.tsv"
# Who is erased: login, name that is shown, former login.
ERASED = (
    ("bob_7", "Bob_7", "robert_old9"),
    ("ann", "Ann", ""),
    ("drums", "Drums", ""),
    ("friday", "Friday", ""),
    ("zelma_9", "Zelma_9", "oldzelma_3"),
    ("kuromi_87", "Kuromi_87", ""),
    ("umitq9", "ÜmitQ9", ""),
    ("xiao_88", "小明明", ""),
    ("lan_88", "王小兰", ""),
    ("will", "Will", ""),
    ("null", "null", ""),
    ("zanzibarian", "zanzibarian", ""),
)
OTHERS = ("carol", "dave", "bob_77", "annika", "bobby", "moderator")
IDS = {row[0]: str(771_000_001 + number) for number, row in enumerate(ERASED)}
IDS |= {login: str(772_000_001 + number) for number, login in enumerate(OTHERS)}
# When everything was written (ms).
AT = NOW - 5_000
HERE = 1
AWAY = 2


@dataclass(frozen=True)
class Trap:
    """One row. `me`: the id of the subject of a forgotten fact, one for each row."""

    number: int
    trap: str
    act: str
    place: str
    text: str
    goes: tuple[str, ...]
    stays: tuple[str, ...]
    remains: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def me(self) -> str:
        verb, _, subject = self.act.partition(" ")
        if verb == "erase":
            return IDS[subject]
        return str(773_000_000 + self.number)

    @property
    def fact(self) -> str:
        verb, _, fact = self.act.partition(" ")
        return fact if verb == "forget" else ""

    @property
    def written(self) -> str:
        """The text as it is stored: people as ids."""
        ids = IDS | {"me": self.me}
        return re.sub(r"<@(\w+)>", lambda name: f"<@{ids[name[1]]}>", self.text)


def traps() -> list[Trap]:
    with DATA.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    read = []
    for number, row in enumerate(rows):
        words = [
            tuple(filter(None, row[name].split("|")))
            for name in ("goes", "stays", "left", "lost")
        ]
        read.append(
            Trap(number, row["trap"], row["act"], row["place"], row["text"], *words)
        )
    return read


TRAPS = traps()


def _row(kind: str, trap: Trap, writer: str) -> tuple[str, str, dict[str, object]]:
    """The table and column of a text, and the rest of its row."""
    key = f"{kind}{trap.number}"
    stream = AWAY if trap.place.endswith(" away") else HERE
    began = NOW - 9_000 - trap.number * 100_000
    of_episode = {"stream_id": stream, "created_at": AT, "extracted_at": AT}
    of_stream = {"started_at": began, "last_event_at": AT, "ended_at": AT}
    line = {"id": key, "viewer_id": writer, "stream_id": HERE, "at": AT}
    reply = {"viewer_id": writer, "at": AT}
    of_note = {"subject_id": writer, "fact": f"was there, <@{trap.me}> too"}
    of_quote = {"viewer_id": writer, "line": key, "stream_id": HERE, "said_at": AT}
    of_brief = {"viewer_id": writer, "persona": key, "made_of": "", "made_at": AT}
    of_bot = {**line, "viewer_id": IDS["moderator"], "from_bot": 1}
    of_action = {"key": key, "asked_by": writer, "at": AT, "status": "done"}
    rows: dict[str, tuple[str, str, dict[str, object]]] = {
        "summary": ("episodes", "summary", {**of_episode}),
        "recap": ("streams", "recap", {**of_stream}),
        "title": ("streams", "title", {**of_stream}),
        "moment": ("moments", "text", {"stream_id": HERE, "at": AT, "kind": "title"}),
        "quote": ("quotes", "text", {**of_quote}),
        "line": ("events", "text", line),
        "bot line": ("events", "text", of_bot),
        "reply": ("bot_messages", "text", {**reply, "trigger": "mention"}),
        "command": ("bot_messages", "text", {**reply, "trigger": "command"}),
        "action": ("action_logs", "params_json", {**of_action}),
        "brief": ("briefs", "text", {**of_brief}),
        "never_mention": ("never_mention", "words", {"at": AT}),
        "topics": ("semantic_notes", "topics", {**of_note}),
        "asked_with": ("semantic_notes", "asked_with", {**of_note}),
    }
    return rows[kind]


async def _take_part(tx: Transaction, episode: int, people: Iterable[str]) -> None:
    for viewer_id in people:
        await put(
            tx, "episode_people", episode_id=episode, viewer_id=viewer_id, lines=1
        )


async def _attend(tx: Transaction, stream: int, people: Iterable[str]) -> None:
    for viewer_id in people:
        times = {"first_at": NOW - 9_000, "last_at": NOW, "lines": 3}
        await put(tx, "attendance", viewer_id=viewer_id, stream_id=stream, **times)


class Drill:
    """A memory with the text of every trap in it."""

    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.db = db
        self.clock = clock
        # by number of the trap: the table, column and row of its text
        self.rows: dict[int, tuple[str, str, int]] = {}
        # by number of the trap: what is known after it was learned again
        self.learned: dict[int, str] = {}

    async def people(self) -> None:
        display_names = {login: name for login, name, _former in ERASED}
        async with self.db.write() as tx:
            for stream in (HERE, AWAY):
                ended = NOW - (AWAY - stream) * 1_000
                times = {"started_at": NOW - 9_000 * stream, "last_event_at": ended}
                await put(tx, "streams", id=stream, ended_at=ended, **times)
            subjects = {f"subject{trap.number}": trap.me for trap in TRAPS if trap.fact}
            for login, viewer_id in (IDS | subjects).items():
                await put(
                    tx,
                    "viewers",
                    id=viewer_id,
                    login=login,
                    display_name=display_names.get(login, login.title()),
                    first_seen_at=1,
                    last_seen_at=NOW,
                )
            for login, name, former in ERASED:
                names = [(login, name)]
                if former:
                    names.append((former, former))
                for old_login, old_name in names:
                    await put(
                        tx,
                        "viewer_names",
                        viewer_id=IDS[login],
                        login=old_login,
                        display_name=old_name,
                        first_seen_at=1,
                        last_seen_at=NOW,
                    )
            await _attend(tx, HERE, (IDS | subjects).values())

    async def place(self, trap: Trap) -> None:
        """Write the text of a trap where it belongs."""
        text = trap.written
        kind = trap.place.removeprefix("own ").removesuffix(" away")
        is_own = trap.place.startswith("own ")
        writer = trap.me if is_own else IDS["carol"]
        if kind == "learned":
            return
        async with self.db.write() as tx:
            if kind == "digest":
                await channel_state.put(tx, {"digest": text}, AT)
                return
            if kind == "fact":
                row = await self._note(tx, writer, text, trap.me)
                self.rows[trap.number] = ("semantic_notes", "fact", row)
                return
            table, column, fields = _row(kind, trap, writer)
            row = await put(tx, table, **{column: text}, **fields)
            self.rows[trap.number] = (table, column, row)
            is_here = not trap.place.endswith(" away")
            if table == "episodes":
                people = {*re.findall(r"<@(\w+)>", text), IDS["carol"]}
                people |= {trap.me} if is_here else set()
                await _take_part(tx, row, people)
            if table == "streams" and is_here:
                await _attend(tx, row, [trap.me])

    async def _note(
        self, tx: Transaction, subject_id: str, fact: str, present_id: str
    ) -> int:
        new = NewNote(
            scope=Scope.VIEWER,
            subject_id=subject_id,
            fact=fact,
            confidence=0.9,
            source_kind=SourceKind.SELF_CLAIM,
            at=AT,
        )
        note_id = await notes.insert(tx, new, cause="said", now=AT)
        times = {"created_at": AT, "extracted_at": AT}
        episode = await put(tx, "episodes", summary="", **times)
        for viewer_id in {subject_id, present_id}:
            await put(
                tx, "episode_people", episode_id=episode, viewer_id=viewer_id, lines=1
            )
        await put(
            tx,
            "note_evidence",
            note_id=note_id,
            episode_id=episode,
            stance="stated",
            at=AT,
        )
        return note_id

    async def forget(self, eraser: Eraser) -> None:
        """Have every fact forgotten, then everybody erased."""
        service = PrivacyService(db=self.db, clock=self.clock, eraser=eraser)
        for trap in TRAPS:
            if trap.fact:
                async with self.db.write() as tx:
                    note_id = await self._note(tx, trap.me, trap.fact, trap.me)
                await service.forget(note_id)
            if trap.place == "learned":
                self.learned[trap.number] = await self._learn(trap)
        for login, _name, _former in ERASED:
            await eraser.erase(IDS[login])

    async def _learn(self, trap: Trap) -> str:
        """A model makes a note of what was said again in chat; what is known then."""
        claim = {"who": "P1", "fact": trap.text, "lifetime": "permanent"}
        people = {trap.me: (5, 1)}
        world = World(self.db, self.clock)
        await world.learn(claim, people=people, summary=f"<@{trap.me}> talked.")
        return "; ".join((await personal_data.facts_of(self.db, trap.me)).values())

    async def text_of(self, trap: Trap) -> str:
        """What is left of the text of a trap."""
        if trap.place == "learned":
            return self.learned[trap.number]
        if trap.place == "digest":
            return await channel_state.read(self.db, "digest") or ""
        table, column, row = self.rows[trap.number]
        sql = f"SELECT {column} FROM {table} WHERE rowid = ?"  # noqa: S608
        return await self.db.value(sql, (row,)) or ""


@dataclass(frozen=True)
class Outcome:
    """What is left of each text, and the texts in doubt that the streamer is shown."""

    texts: Mapping[int, str]
    doubtful: frozenset[str]


async def _played(path: Path) -> Outcome:
    clock = ManualClock(NOW)
    async with open_database(path) as db:
        drill = Drill(db, clock)
        await drill.people()
        for trap in TRAPS:
            await drill.place(trap)
        await drill.forget(Eraser(db=db, clock=clock))
        texts = {trap.number: await drill.text_of(trap) for trap in TRAPS}
        rows = await personal_data.doubtful_texts(db, clock.now())
        return Outcome(texts, frozenset(str(row["text"]) for row in rows))


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """All traps at once: what is done to one of them must not touch the others."""
    return asyncio.run(_played(tmp_path_factory.mktemp("drill") / "memory.sqlite3"))


def _name(trap: Trap) -> str:
    return f"{trap.number + 2}-{trap.act}-{trap.place}"


def _readable(trap: Trap, text: str) -> str:
    """A text with the names of the drill in the place of ids."""
    names = {viewer_id: login for login, viewer_id in IDS.items()}
    if trap.fact:
        names[trap.me] = "me"
    return re.sub(
        r"<@(\w+)>", lambda match: f"<@{names.get(match[1], match[1])}>", text
    )


@pytest.mark.parametrize("trap", TRAPS, ids=_name)
def test_what_goes_is_gone_and_what_stays_is_there(
    trap: Trap, outcome: Outcome
) -> None:
    text = _readable(trap, outcome.texts[trap.number])
    removed_words = (*trap.goes, *trap.lost)
    assert [word for word in removed_words if word.casefold() in text.casefold()] == []
    assert [word for word in (*trap.stays, *trap.remains) if word not in text] == []


def test_the_streamer_is_shown_what_is_in_doubt(outcome: Outcome) -> None:
    doubtful = [
        trap for trap in TRAPS if trap.trap.startswith("doubtful") and trap.remains
    ]
    assert len(doubtful) > 2
    for trap in doubtful:
        assert any(outcome.texts[trap.number] in text for text in outcome.doubtful)


def test_the_figures_are_in_the_documentation() -> None:
    tried = Counter(trap.trap for trap in TRAPS)
    remaining_counts = Counter(trap.trap for trap in TRAPS if trap.remains)
    lost = Counter(trap.trap for trap in TRAPS if trap.lost)
    assert tried.total() >= 120
    documentation = DOCS.read_text(encoding="utf-8")
    rows = [
        f"| {name} | {tried[name]} | {remaining_counts[name]} | {lost[name]} |"
        for name in tried
    ]
    rows.append(
        f"| all | {tried.total()} | {remaining_counts.total()} | {lost.total()} |"
    )
    missing = [row for row in rows if row not in documentation]
    assert missing == [], "\n".join(missing)
