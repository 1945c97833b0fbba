"""The file of what people asked for: hashes only, lines that are only added, and never fewer than were carried out."""

import stat
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forgetmenot.errors import StoreError, StoreRequestsLost
from forgetmenot.privacy.requests import carry_out, start_new_requests
from forgetmenot.store import privacy_choices
from forgetmenot.store.database import open_database
from forgetmenot.store.privacy_requests import (
    PrivacyRequest,
    PrivacyRequests,
    RequestKind,
)

ALICE = "771234501"
BOB = "771234502"


def test_what_is_written_is_read_by_another_process_and_names_nobody(
    tmp_path: Path,
) -> None:
    mine = PrivacyRequests(tmp_path / "m.sqlite3")
    other = PrivacyRequests(tmp_path / "m.sqlite3")
    words = mine.hashed(ALICE, {"play", "drum"})
    assert mine.add(mine.of(RequestKind.OPT_OUT, BOB, 5)) == 1
    assert (
        other.add(other.of(RequestKind.FORGET, ALICE, 6, words=words, notes=(3,))) == 2
    )
    assert mine.is_forgotten(ALICE, {"drum", "play", "loud"})
    assert not mine.is_forgotten(ALICE, {"drum", "play"}, since=6)
    assert not mine.is_forgotten(BOB, {"drum", "play"})
    mine.add(
        mine.of(RequestKind.ALLOW, ALICE, 7, words=words),
        mine.of(RequestKind.ERASE, ALICE, 8),
    )
    other.refresh()
    assert (other.erased_at(ALICE), other.erased_at(BOB), other.is_out(BOB)) == (
        8,
        -1,
        True,
    )
    assert not other.is_forgotten(ALICE, {"drum", "play"})
    content = mine.path.read_bytes()
    assert not any(
        trace in content for trace in (ALICE.encode(), BOB.encode(), b"drum")
    )
    if sys.platform != "win32":
        assert stat.S_IMODE(mine.path.stat().st_mode) == 0o600
        lock = mine.path.with_name(f"{mine.path.name}.lock")
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_the_first_question_reads_the_file(tmp_path: Path) -> None:
    written = PrivacyRequests(tmp_path / "m.sqlite3")
    topic = written.of_words(RequestKind.NEVER_MENTION, ALICE, {"drum"})
    written.add(
        written.of(RequestKind.OPT_OUT, ALICE, 1),
        written.of(RequestKind.BAN, BOB, 2),
        written.of(RequestKind.ERASE, BOB, 3),
        written.posted(1_000, 4),
        PrivacyRequest(RequestKind.RECAP_FOLDER, "", folder="/recaps"),
        topic,
    )
    questions: list[Callable[[PrivacyRequests], object]] = [
        lambda requests: requests.is_out(ALICE),
        lambda requests: requests.banned_at(BOB) == 2,
        lambda requests: requests.has_erasures(),
        lambda requests: requests.was_posted(1_000),
        lambda requests: list(requests.recap_folders) == ["/recaps"],
        lambda requests: list(requests.topics) == [topic],
        lambda requests: requests.is_topic(topic),
    ]
    for asks in questions:
        assert asks(PrivacyRequests(tmp_path / "m.sqlite3"))
        assert not asks(PrivacyRequests(tmp_path / "another.sqlite3"))


@pytest.mark.slow
def test_lines_that_are_written_while_others_read_are_no_alarm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    requests = PrivacyRequests(tmp_path / "m.sqlite3")
    requests.add()
    written = threading.Event()

    def read_on() -> None:
        while not written.is_set():
            requests.refresh()

    with ThreadPoolExecutor(5) as threads:
        readers = [threads.submit(read_on) for _ in range(4)]
        for number in range(150):
            threads.submit(
                requests.add, requests.of(RequestKind.OPT_OUT, ALICE, number)
            ).result()
        written.set()
        for reader in readers:
            reader.result()
    assert [line.at for line in requests.lines] == list(range(150))
    assert "changed by another program" not in caplog.text


def test_a_line_that_was_cut_off_counts_for_nothing(tmp_path: Path) -> None:
    requests = PrivacyRequests(tmp_path / "m.sqlite3")
    requests.add(requests.of(RequestKind.OPT_OUT, ALICE, 1))
    too_deep = b'{"kind":"erase","subject":"","more":' + 100_000 * b"["
    for rest in (b'{"kind":"era', b"\0\0\0", b"\xff\n", too_deep):
        with requests.path.open("ab") as file:
            file.write(rest)
        requests.add(requests.of(RequestKind.OPT_OUT, BOB, 2))
    again = PrivacyRequests(tmp_path / "m.sqlite3")
    again.refresh()
    assert [line.at for line in again.lines] == [1, 2, 2, 2, 2]


# ── what follows from requests ──────────────────────────────────────────────────────────────


@pytest.fixture
def requests(tmp_path: Path) -> PrivacyRequests:
    return PrivacyRequests(tmp_path / "m.sqlite3")


def test_the_last_choice_counts(requests: PrivacyRequests) -> None:
    requests.add(requests.of(RequestKind.OPT_OUT, ALICE, 1))
    requests.add(requests.of(RequestKind.OPT_IN, ALICE, 2))
    requests.add(requests.of(RequestKind.OPT_OUT, BOB, 3))
    assert (requests.is_out(ALICE), requests.is_out(BOB)) == (False, True)
    assert requests.chose_last(requests.digest("viewer", ALICE)) is RequestKind.OPT_IN


def test_the_latest_erasure_counts_whatever_comes_last(
    requests: PrivacyRequests,
) -> None:
    requests.add(requests.of(RequestKind.ERASE, ALICE, 9))
    requests.add(requests.of(RequestKind.ERASE, ALICE, 4))
    assert (requests.erased_at(ALICE), requests.erased_at(BOB)) == (9, -1)


def test_a_ban_counts_until_it_is_lifted(requests: PrivacyRequests) -> None:
    alice = requests.digest("viewer", ALICE)
    assert (requests.banned_at(ALICE), requests.is_banned(alice)) == (None, False)
    requests.add(requests.of(RequestKind.BAN, ALICE, 5))
    assert (requests.banned_at(ALICE), requests.banned_at(BOB)) == (5, None)
    assert requests.is_banned(alice)
    requests.add(requests.of(RequestKind.UNBAN, ALICE, 6))
    assert (requests.banned_at(ALICE), requests.is_banned(alice)) == (None, False)


def test_a_topic_counts_until_it_may_be_mentioned_again(
    requests: PrivacyRequests,
) -> None:
    topic = requests.of_words(RequestKind.NEVER_MENTION, ALICE, {"old", "job"}, at=3)
    of_channel = requests.of_words(
        RequestKind.NEVER_MENTION, None, {"old", "job"}, at=3
    )
    requests.add(topic)
    assert (requests.is_topic(topic), requests.is_topic(of_channel)) == (True, False)
    assert list(requests.topics) == [topic]
    requests.add(requests.of_words(RequestKind.MAY_MENTION, ALICE, {"job", "old"}))
    assert not requests.is_topic(topic)
    assert not requests.topics


def test_a_topic_is_its_words(requests: PrivacyRequests) -> None:
    requests.add(requests.of_words(RequestKind.NEVER_MENTION, ALICE, {"old", "job"}))
    another = requests.of_words(RequestKind.NEVER_MENTION, ALICE, {"new", "job"})
    assert (requests.is_topic(another), another.at) == (False, 0)


def test_only_the_fact_that_is_allowed_may_be_remembered_again(
    requests: PrivacyRequests,
) -> None:
    facts = ({"play", "drum"}, {"live", "oslo"})
    drums, oslo = (requests.hashed(ALICE, fact) for fact in facts)
    for at, words in enumerate((drums, oslo)):
        requests.add(requests.of(RequestKind.FORGET, ALICE, at, words=words))
    requests.add(requests.of(RequestKind.ALLOW, ALICE, 5, words=drums))
    assert [requests.is_forgotten(ALICE, fact) for fact in facts] == [False, True]


@pytest.mark.parametrize(
    "kind",
    [
        RequestKind.ALLOW,
        RequestKind.MAY_MENTION,
        RequestKind.UNBAN,
        RequestKind.BRING_BACK,
    ],
)
def test_what_was_never_asked_for_can_be_taken_back(
    requests: PrivacyRequests, kind: RequestKind
) -> None:
    request = requests.of_words(kind, ALICE, {"play", "drum"})
    requests.add(request)
    assert requests.lines == [request]


def test_a_note_is_removed_until_it_is_brought_back(requests: PrivacyRequests) -> None:
    removed = requests.of_words(RequestKind.REMOVE, ALICE, {"play", "drum"}, note_id=4)
    of_another_note = requests.of_words(
        RequestKind.REMOVE, ALICE, {"play", "drum"}, note_id=5
    )
    requests.add(removed)
    assert removed.notes == (4,)
    assert (requests.is_removed(removed), requests.is_removed(of_another_note)) == (
        True,
        False,
    )
    requests.add(
        requests.of_words(RequestKind.BRING_BACK, ALICE, {"play", "drum"}, note_id=4)
    )
    assert not requests.is_removed(removed)


@pytest.mark.parametrize(
    ("claim", "says_it"),
    [
        ({"play", "drum", "in", "a", "band"}, True),
        ({"play", "drum", "in"}, True),  # three of five words: 60 %
        ({"play", "drum"}, False),
        (set(), False),
    ],
)
def test_a_claim_with_three_fifths_of_a_facts_words_says_it(
    requests: PrivacyRequests, claim: set[str], says_it: bool
) -> None:
    fact = {"play", "drum", "in", "a", "band"}
    forgotten = requests.of(
        RequestKind.FORGET, ALICE, 5, words=requests.hashed(ALICE, fact)
    )
    requests.add(forgotten)
    assert requests.says(ALICE, claim, forgotten) is says_it
    assert requests.is_forgotten(ALICE, claim) is says_it
    assert not requests.says(BOB, claim, forgotten)


def test_posted_recaps_and_their_folders_are_known(requests: PrivacyRequests) -> None:
    posted = requests.posted(1_000, 7)
    assert posted.at == 7
    requests.add(posted)
    requests.add(PrivacyRequest(RequestKind.RECAP_FOLDER, "", folder="/recaps"))
    assert (requests.was_posted(1_000), requests.was_posted(2_000)) == (True, False)
    assert set(requests.recap_folders) == {"/recaps"}


def test_a_request_that_waits_for_the_disk_counts_at_once(
    requests: PrivacyRequests,
) -> None:
    requests.add(requests.of(RequestKind.OPT_OUT, BOB, 1))
    first = requests.of(RequestKind.OPT_OUT, ALICE, 2)
    second = requests.of(RequestKind.ERASE, ALICE, 3)
    requests.keep_waiting(first)
    requests.keep_waiting(second)
    assert (requests.is_out(ALICE), requests.count, len(requests.lines)) == (True, 3, 1)
    requests.write_waiting()
    assert (requests.waiting, requests.lines[1:]) == ([], [first, second])


def test_a_folder_that_cannot_be_written_is_named_with_the_way_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    requests = PrivacyRequests(tmp_path / "file" / "m.sqlite3")
    with pytest.raises(
        StoreError, match=r"m\.sqlite3\.requests cannot be read or written: .+ disk"
    ):
        requests.add()


# ── a file that is lost ─────────────────────────────────────────────────────────────────────


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A memory in which two opted out, one of whom it does not know."""
    path = tmp_path / "data" / "memory.sqlite3"
    async with open_database(path) as db:
        async with db.write() as tx:
            await privacy_choices.opt_out(tx, ALICE, 5)
        db.requests.add(db.requests.of(RequestKind.OPT_OUT, BOB, 6))
        await carry_out(db)
    return path


def lose(file: Path, how: str) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    if how == "missing":
        file.unlink()
    elif how == "shorter":
        file.write_bytes(b"".join(lines[:-1]))
    elif how == "without its key":
        file.write_bytes(b"".join(lines[1:]))
    else:
        other = PrivacyRequests(file.with_name("other"))
        other.add(*(other.of(RequestKind.OPT_OUT, viewer_id, 1) for viewer_id in "123"))
        other.path.replace(file)


@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ("missing", "is missing"),
        ("shorter", "holds 1 of 2 requests"),
        ("without its key", "lacks its first line, which is its key"),
        ("another", "belongs to another memory"),
    ],
)
async def test_a_memory_does_not_open_without_what_it_carried_out(
    path: Path, how: str, fault: str
) -> None:
    file = PrivacyRequests(path).path
    content = file.read_bytes()
    lose(file, how)
    with pytest.raises(
        StoreRequestsLost,
        match=rf"{fault}: .* Put the file back, or run `forgetmenot memory new-requests",
    ):
        async with open_database(path):
            pass
    file.write_bytes(content)
    async with open_database(path) as db:
        assert ALICE in await privacy_choices.opted_out(db)
        assert BOB in await privacy_choices.opted_out(db)


@pytest.mark.parametrize("how", ["missing", "without its key"])
async def test_a_new_file_keeps_the_opt_outs_of_the_people_in_the_memory(
    path: Path, how: str
) -> None:
    lose(PrivacyRequests(path).path, how)
    async with open_database(path, requests_lost=True) as db:
        assert await start_new_requests(db, 9) == 1
    async with open_database(path) as db:
        assert (await privacy_choices.opted_out(db)).ids == {ALICE}
        assert BOB not in await privacy_choices.opted_out(db)
        assert await privacy_choices.carried_out(db) == len(db.requests.lines) == 1


# ── a file that is harmed while a bot runs ──────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["missing", "shorter", "another"])
async def test_a_file_that_is_harmed_while_it_is_used_costs_no_request(
    path: Path, how: str
) -> None:
    async with open_database(path) as db:
        file = db.requests.path
        lose(file, how)
        late = db.requests.of(RequestKind.OPT_OUT, "771234503", 7)
        assert db.requests.add(late) == 3
        assert all(
            db.requests.is_out(viewer_id) for viewer_id in (ALICE, BOB, "771234503")
        )
        assert (await carry_out(db)).total() == 0
        file.unlink()
        db.requests.refresh()
        db.requests.write_waiting()
    async with open_database(path) as db:
        assert all(
            db.requests.is_out(viewer_id) for viewer_id in (ALICE, BOB, "771234503")
        )
        assert len(db.requests.lines) == await privacy_choices.carried_out(db) == 3
