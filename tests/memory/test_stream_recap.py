"""A stream's recap for the streamer: what and who stands in it, and that what is forgotten leaves its file."""

import asyncio
import os
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot import files
from forgetmenot.domain import NoteStatus, Scope, SourceKind
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.errors import StoreError
from forgetmenot.memory import backups, recap_markdown
from forgetmenot.memory.recap_markdown import (
    about_the_named,
    markdown_of,
    write_file,
)
from forgetmenot.memory.stream_recap import RecapWriter, recap_source
from forgetmenot.privacy import erasure
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.requests import PrivacyService
from forgetmenot.privacy.suppression_list import suppress
from forgetmenot.settings.schema import (
    BotSettings,
    RecapSettings,
    Settings,
    TwitchSettings,
)
from forgetmenot.store import channel_state, notes, streams
from forgetmenot.store.database import open_database
from forgetmenot.store.notes import Stance
from forgetmenot.store.privacy_requests import PrivacyRequest, RequestKind
from forgetmenot.text.markdown import escape_markdown, unescape_markdown
from forgetmenot.text.mentions import with_names
from forgetmenot.text.tokens import estimate_tokens
from tests.full_disk import no_room
from tests.rows import put

if TYPE_CHECKING:
    from tests.notes_world import World

SETTINGS = Settings()
EVIL = "**@everyone** [win](https://evil.example) <@&12> `x` ||y|| # z"


def test_what_fits_is_recapped_from_whole_summaries() -> None:
    summaries = ["P1 won. P2 sang. Chat cheered."] * 20
    assert recap_source(summaries, 3_000) == summaries


@pytest.mark.parametrize(("count", "sentence_count"), [(60, 60), (600, 300)])
def test_a_long_stream_is_recapped_from_two_sentences_of_a_summary(
    count: int, sentence_count: int
) -> None:
    middle = " ".join(f"P2 said thing {i} about the castle." for i in range(12))
    summaries = [f"P1 won race {i:03}. {middle} Chat sang." for i in range(count)]
    source = recap_source(summaries, 3_000)
    assert source[0] == "P1 won race 000. Chat sang."
    assert len(source) == sentence_count
    assert estimate_tokens("\n".join(source)) <= 3_000


async def note_of_stream(
    world: "World", stream: int, fact: str, subject: str | None = "1", **fields: object
) -> int:
    """A note that the stream's summary says."""
    episode = await world.episode("They talked.", {}, stream)
    note = await world.note(fact, subject, **fields)
    async with world.db.write() as tx:
        await notes.add_evidence(
            tx, Stance(note, episode, "stated", None, False, world.clock.now())
        )
    return note


async def bot_said(world: "World", *texts: str, **fields: object) -> None:
    async with world.db.write() as tx:
        for text in texts:
            await put(
                tx,
                "bot_messages",
                text=text,
                **({"at": world.clock.now() - 1} | fields),
            )


async def recap_of(world: "World", stream: int) -> str:
    return await markdown_of(world.db, stream, SETTINGS) or ""


@pytest.fixture
async def boss_night(world: "World") -> int:
    """A stream of Alice, who is a regular, Bob and Dora, whose recap is written."""
    await world.viewer("3", "dora")
    await world.regulars("1")
    stream = await world.over(
        "1", "2", "3", recap="<@9> and <@1> fought the boss. <@3> asked about ladders."
    )
    async with world.db.write() as tx:
        await channel_state.put(tx, {"id": "9", "login": "carol"}, 1)
        await streams.describe(
            tx, stream, twitch_id=None, title="Boss night", category="Ladders of Ash"
        )
    return stream


async def test_it_says_what_happened_and_how_many_came(
    world: "World", boss_night: int
) -> None:
    text = await recap_of(world, boss_night)
    assert text.startswith("# Boss night\n")
    assert "\n\nCarol and Alice fought the boss.\n\n" in text
    assert "- 3 people wrote.\n- 2 were here for the first time." in text
    assert "Dora" not in text


async def test_the_streamer_is_named_before_twitch_has_said_their_id(
    world: "World",
) -> None:
    await world.viewer("3", "dora")
    await world.regulars("1")
    stream = await world.over("1", "3", recap="<@3> fought beside <@1>.")
    twitch = TwitchSettings(channel="dora")
    settings = msgspec.structs.replace(SETTINGS, twitch=twitch)
    text = await markdown_of(world.db, stream, settings) or ""
    assert "\n\nDora fought beside Alice.\n\n" in text


async def test_it_has_the_day_as_the_language_writes_it(
    world: "World", boss_night: int
) -> None:
    german = msgspec.structs.replace(SETTINGS, bot=BotSettings(language="de"))
    began_at = await streams.start_of(world.db, boss_night)
    day = datetime.fromtimestamp(began_at / 1_000).astimezone()
    text = await markdown_of(world.db, boss_night, german) or ""
    assert f"*{day:%d.%m.%Y} · " in text


async def test_it_has_running_jokes_and_what_regulars_said_of_their_plans(
    world: "World", boss_night: int
) -> None:
    ladder = "the cursed ladder"
    await note_of_stream(world, boss_night, ladder, None, scope=Scope.RUNNING_BIT)
    await note_of_stream(
        world, boss_night, "has a driving test on 14 December 2026", "1"
    )
    await note_of_stream(world, boss_night, "marries on 24 December 2026", "3")
    reported = SourceKind.REPORTED
    await note_of_stream(
        world, boss_night, "has a test on 14 December 2026", source_kind=reported
    )
    text = await recap_of(world, boss_night)
    assert "## Running jokes\n\n- the cursed ladder\n" in text
    plans = text.partition("## Plans\n\n")[2].partition("\n\n")[0]
    assert plans == "- Alice: has a driving test on 14 December 2026"


async def test_it_has_the_clips_that_were_made(world: "World", boss_night: int) -> None:
    link = "https://clips.twitch.tv/CoolClip-1_a"
    clip = {"name": "clip", "at": world.clock.now() - MINUTE}
    async with world.db.write() as tx:
        await put(tx, "action_logs", key="a", status="done", detail=link, **clip)
        await put(tx, "action_logs", key="c", status="failed", detail="no", **clip)
    text = await recap_of(world, boss_night)
    assert f"- 0:59 clip {link}\n" in text
    assert "clip no" not in text


async def test_it_quotes_what_was_called_good_or_led_on_and_nothing_else(
    world: "World", boss_night: int
) -> None:
    at = world.clock.now() - MINUTE
    await bot_said(world, "a line that led on", viewer_id="1", at=at)
    await bot_said(world, "fine", viewer_id="1", at=at + 1_000)
    await bot_said(world, "said to nobody, and longer than all", at=at)
    await bot_said(world, "called good", "Called Good", viewer_id="2", outcome="good")
    approval = "Type !approve 5 and I'll do it"
    await bot_said(world, approval, viewer_id="2", outcome="good")
    await bot_said(world, "Can't do that one.", viewer_id="2", outcome="good")
    await bot_said(world, "called bad, and the longest of them all", outcome="bad")
    await bot_said(world, "an answer to a command, which is longer", trigger="command")
    await bot_said(world, "never said", status="shadow")
    async with world.db.write() as tx:
        refusal = await tx.value("SELECT id FROM bot_messages WHERE text LIKE 'Can%'")
        denied = {"name": "ban", "status": "denied", "bot_message_id": refusal}
        await put(tx, "action_logs", key="d", at=at, **denied)
    text = await recap_of(world, boss_night)
    said_part = text.partition("## ForgetMeNot said\n\n")[2]
    quotes = [line for line in said_part.splitlines() if line.startswith(">")]
    assert quotes == ["> called good", "> a line that led on"]


async def test_no_quote_has_somebody_in_the_place_of_a_name(world: "World") -> None:
    await world.viewer("3", "foxface")
    await world.viewer("4", "lumi_x")
    await world.viewer("5", "deborah77")
    await world.regulars("1")
    stream = await world.over("1", "3", "4", "5", recap="<@1> fought the boss.")
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET called = 'Trixi' WHERE id = '5'")
    at = world.clock.now() - MINUTE
    for private in ("Lumi works at a hospital.", "Trixi sold a car."):
        await bot_said(world, private, viewer_id="1", outcome="good", at=at)
    await bot_said(
        world,
        "Foxface raided us with 5000 people.",
        viewer_id="1",
        outcome="good",
        at=at,
    )
    await bot_said(
        world, "Alice fell off the ladder.", viewer_id="1", outcome="good", at=at
    )
    text = await recap_of(world, stream)
    assert "> Alice fell off the ladder." in text
    assert "raided us" not in text
    assert "hospital" not in text
    assert "sold a car" not in text


async def test_no_sentence_is_about_one_who_is_not_named_or_hearsay(
    world: "World",
) -> None:
    await world.viewer("3", "dora")
    await world.viewer("4", "eve")
    await world.regulars("1")
    recap = (
        "<@3> has a new dog. <@3> and <@4> sang. <@1> fought beside <@3>. <@4>'s cat beat <@1>."
        " <@3> blamed <@4> for the mouse."
        " <@1> owes money to a bank. They hide it. Chat voted for Hades."
    )
    stream = await world.over("1", "3", "4", recap=recap)
    rumour = {"source_kind": SourceKind.REPORTED}
    await note_of_stream(world, stream, "owes money to a bank", "1", **rumour)
    await note_of_stream(
        world, stream, "the bank joke", None, scope=Scope.RUNNING_BIT, **rumour
    )
    text = await recap_of(world, stream)
    assert "\n\nChat sang. Alice fought beside chat. Chat voted for Hades.\n\n" in text
    assert [
        word for word in ("Somebody", "dog", "cat", "bank", "hide") if word in text
    ] == []


@pytest.mark.parametrize(
    ("recap", "expected"),
    [
        ("<@2>, <@1>, <@3> and <@4> baked.", "Ann, Cleo and chat baked."),
        ("<@2>, <@4>, and <@5> baked.", "Chat baked."),
        ("<@3> and <@1> baked.", "Cleo and Ann baked."),
        ("<@1> asked <@2>; <@3> baked.", "Ann asked chat; Cleo baked."),
    ],
)
def test_all_who_are_not_named_are_one_chat(recap: str, expected: str) -> None:
    names = {"1": "Ann", "3": "Cleo"}
    assert with_names(about_the_named(recap, names), names) == expected


@pytest.mark.parametrize(
    ("recap", "expected"),
    [
        ("<@1> won. <@2> has a dog. They named it Rex.", "Ann won."),
        ("<@1> won. <@2> has a dog. Then <@3> sang.", "Ann won. Then Cleo sang."),
        ("<@2> has a dog. Chat voted. They won.", "Chat voted. They won."),
        ("<@1> won. They cheered.", "Ann won. They cheered."),
    ],
)
def test_they_of_a_sentence_that_is_left_out_means_nobody_else(
    recap: str, expected: str
) -> None:
    names = {"1": "Ann", "3": "Cleo"}
    assert with_names(about_the_named(recap, names), names) == expected


async def test_games_stand_there_with_their_share(world: "World") -> None:
    stream = await world.over("1", recap="They played.")
    async with world.db.write() as tx:
        for game, minutes in (
            ("Hades", 27),
            ("Hades", 60),
            ("Celeste", 12),
            ("Just Chatting", 1),
        ):
            times = {"started_at": 1, "ended_at": 1 + minutes * MINUTE}
            await put(tx, "episodes", stream_id=stream, summary="", topic=game, **times)
        await streams.describe(
            tx, stream, twitch_id=None, title="", category="Just Chatting"
        )
    assert " · Hades (87 %), Celeste (12 %)*" in await recap_of(world, stream)


async def streams_without_them(world: "World") -> None:
    """Two streams that everybody missed: whoever comes to the next one is back."""
    for _ in range(2):
        await world.over(recap="")


async def test_nobody_is_back_when_the_channel_itself_paused(world: "World") -> None:
    await world.regulars("1")
    await world.clock.advance(41 * DAY)
    stream = await world.over("1", recap="<@1> came.")
    assert "Back after a while" not in await recap_of(world, stream)


async def test_only_regulars_who_did_not_opt_out_are_named(world: "World") -> None:
    await world.viewer("3", "dora")
    await world.regulars("1", "3")
    await world.clock.advance(30 * DAY)
    await streams_without_them(world)
    stream = await world.over(
        "1", "2", "3", recap="<@1>, <@2> and <@3> came back. dora cheered."
    )
    await bot_said(
        world,
        "hey @Dora, @bob, 東京の田中さん!",
        "大阪の山田太郎さん",
        viewer_id="2",
        outcome="good",
    )
    async with world.db.write() as tx:
        await tx.execute(
            "UPDATE viewers SET opted_out_at = 1, display_name = '田中さん' WHERE id = '3'"
        )
        await put(tx, "viewers", id="4", login="eve", display_name="山田太郎")
    text = await recap_of(world, stream)
    assert "Back after a while: Alice" in text
    assert [
        name for name in ("bob", "dora", "田中", "山田") if name in text.lower()
    ] == []


async def test_nothing_that_somebody_wrote_is_markup_or_a_mention(
    world: "World",
) -> None:
    await world.regulars("2")
    await world.clock.advance(30 * DAY)
    await streams_without_them(world)  # it also says who is back
    stream = await world.over("2", recap=f"<@2> said {EVIL}")
    await note_of_stream(world, stream, EVIL, None, scope=Scope.RUNNING_BIT)
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET display_name = ? WHERE id = '2'", (EVIL,))
        await streams.describe(tx, stream, twitch_id=None, title=EVIL, category=EVIL)
        detail = "https://clips.twitch.tv/x) @everyone"
        await put(
            tx,
            "action_logs",
            key="e",
            at=world.clock.now() - 1,
            name="clip",
            status="done",
            detail=detail,
        )
    await bot_said(world, EVIL, viewer_id="2", outcome="good")
    for line in (await recap_of(world, stream)).splitlines():
        plain = re.sub(r"\\[\\*\[`]", "", line.lstrip("#>-* "))
        assert [
            evil for evil in ("@everyone", "**", "[", "`", "s://evil") if evil in plain
        ] == []


@given(st.text(max_size=80))
def test_what_is_escaped_is_one_line_and_can_be_read_again(text: str) -> None:
    once = escape_markdown(text)
    assert "\n" not in once
    assert "@everyone" not in once
    assert escape_markdown(unescape_markdown(once)) == once


def into(folder: Path) -> Settings:
    return msgspec.structs.replace(SETTINGS, recap=RecapSettings(folder=str(folder)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "recaps").mkdir()
    return tmp_path / "recaps"


async def written(world: "World", folder: Path) -> tuple[int, Path]:
    """The file of a stream in which the bot spoke of alice and dora, who fell off a ladder and dances."""
    await world.viewer("3", "dora_1")
    await world.regulars("1", "2", "3")
    await world.clock.advance(30 * DAY)
    await streams_without_them(world)
    recap = "<@1> beat the boss. <@3> fell off a ladder, and she laughed. The mines were dark."
    stream = await world.over("1", "2", "3", recap=recap)
    note = await note_of_stream(
        world, stream, "dances in a show on 24 December 2026", "3"
    )
    rests = f'{{"sections": [{{"rows": [["notes", {note}]]}}]}}'
    await bot_said(world, "Break a leg on stage!", viewer_id="3", outcome="good")
    await bot_said(
        world,
        "Well fallen, @dora_1, whose show it is!",
        viewer_id="2",
        prompt_json=rests,
        outcome="good",
    )
    await bot_said(world, "Ladders are no stage.", viewer_id="2", outcome="good")
    await write_file(world.db, stream, into(folder))
    [file] = folder.iterdir()
    return stream, file


async def test_who_is_erased_and_what_is_forgotten_leave_the_file_and_the_rest_stays(
    world: "World", folder: Path
) -> None:
    stream, file = await written(world, folder)
    assert file.name.endswith(f" stream {stream}.md")
    before = file.read_text(encoding="utf-8")
    assert "Dora\\_1 fell off a ladder" in before
    assert [
        word
        for word in ("Well fallen", "Break a leg", "dances in a show")
        if word not in before
    ] == []
    eraser = Eraser(db=world.db, clock=world.clock)
    await PrivacyService(db=world.db, clock=world.clock, eraser=eraser).forget(1)
    before = file.read_text(encoding="utf-8")
    assert "dances" not in before
    assert "Dora\\_1 fell off a ladder" in before
    file.write_text(before + "My own line about Alice and tea.\n", encoding="utf-8")
    report = await eraser.erase("3")
    after = file.read_text(encoding="utf-8")
    assert [
        word
        for word in ("dora", "fell", "laughed", "dances", "break a leg")
        if word in after.lower()
    ] == []
    assert [line for line in after.splitlines() if line.startswith(">")] == [
        "> Ladders are no stage."
    ]
    assert "Alice beat the boss. The mines were dark." in after
    assert "My own line about Alice and tea." in after
    assert report.rewritten["recap_files"] >= 3
    assert report.found == 0


async def test_what_a_crash_left_of_a_file_half_written_is_cleaned_too(
    world: "World", folder: Path
) -> None:
    _, file = await written(world, folder)
    young, old = (folder / f".{file.name}-{end}.new" for end in ("abc", "def"))
    for leftover in (young, old):
        leftover.write_bytes(file.read_bytes())
    os.utime(old, (1, 1))
    await Eraser(db=world.db, clock=world.clock).erase("3")
    assert "dora" not in young.read_text(encoding="utf-8").lower()
    assert not old.exists()


async def test_who_opts_out_leaves_the_files_that_name_them(
    world: "World", folder: Path
) -> None:
    _, file = await written(world, folder)
    assert "Dora" in file.read_text(encoding="utf-8")
    privacy = PrivacyService(
        db=world.db, clock=world.clock, eraser=Eraser(db=world.db, clock=world.clock)
    )
    await privacy.opt_out("3")
    after = file.read_text(encoding="utf-8")
    assert [word for word in ("dora", "fell", "dances") if word in after.lower()] == []
    assert "Alice beat the boss. The mines were dark." in after
    assert await notes.of_subject(world.db, "3")


async def test_a_name_that_is_a_word_leaves_the_file_where_it_is_a_person(
    world: "World", folder: Path
) -> None:
    await world.viewer("4", "drums")
    await world.regulars("1", "2", "4")
    await world.clock.advance(30 * DAY)
    await streams_without_them(world)
    recap = (
        "<@1> plays drums. <@4> fell off a ladder, and she laughed. Drums were loud."
    )
    stream = await world.over("1", "2", "4", recap=recap)
    await note_of_stream(world, stream, "buys drums on 24 December 2026", "1")
    await note_of_stream(world, stream, "dances in a show on 24 December 2026", "4")
    await note_of_stream(world, stream, "meets <@4> on 24 December 2026", "2")
    await note_of_stream(
        world, stream, "the cursed drums", None, scope=Scope.RUNNING_BIT
    )
    await bot_said(world, "Drums are no stage.", viewer_id="1", outcome="good")
    await write_file(world.db, stream, into(folder))
    [file] = folder.iterdir()
    before = file.read_text(encoding="utf-8").splitlines()
    await Eraser(db=world.db, clock=world.clock).erase("4")
    changed_lines = {
        "Alice plays drums. Drums fell off a ladder, and she laughed. Drums were loud.": (
            "Alice plays drums. Drums were loud."
        ),
        "- Back after a while: Alice, Bob, Drums": "- Back after a while: Alice, Bob",
        "- Drums: dances in a show on 24 December 2026": None,
        "- Bob: meets Drums on 24 December 2026": None,
    }
    assert changed_lines.keys() <= set(before)
    expected = [changed_lines.get(line, line) for line in before]
    after = file.read_text(encoding="utf-8").splitlines()
    assert after == [line for line in expected if line is not None]


async def copy_without_streams(world: "World", folder: Path) -> Path:
    """A copy as from before the first stream."""
    copy = folder / "copy.sqlite3"
    await backups.copy_to(world.db, copy)
    async with open_database(copy) as db, db.write() as tx:
        for forget in (
            "UPDATE episodes SET stream_id = NULL",
            "DELETE FROM attendance",
            "DELETE FROM streams",
        ):
            await tx.execute(forget)
    return copy


async def test_a_file_of_a_stream_that_a_restored_copy_does_not_know_is_cleaned_all_the_same(
    world: "World", folder: Path, tmp_path: Path
) -> None:
    """Also where the copy knows no file of a recap at all, and the folder holds the streamer's own files."""
    _, file = await written(world, folder)
    copy = await copy_without_streams(world, tmp_path)
    own = folder / "plans.md"
    own.write_text("Ask dora_1 about the ladder.", encoding="utf-8")
    path = tmp_path / "restored.sqlite3"
    path.with_name(path.name + ".requests").write_bytes(
        world.db.requests.path.read_bytes()
    )
    await backups.restore(copy, path, now=world.clock.now(), keep=3)
    async with open_database(path) as db:
        assert await streams.recap_files(db) == []
        report = await Eraser(db=db, clock=world.clock).erase("3")
    assert report.rewritten["recap_files"] >= 1
    assert "dora" not in file.read_text(encoding="utf-8").lower()
    assert "Alice beat the boss" in file.read_text(encoding="utf-8")
    assert own.read_text(encoding="utf-8") == "Ask dora_1 about the ladder."


async def test_a_restore_costs_no_file_of_a_stream_that_the_copy_does_not_know(
    world: "World", folder: Path, tmp_path: Path
) -> None:
    """The next stream of that day gets the number of the lost one."""
    copy = tmp_path / "copy.sqlite3"
    await backups.copy_to(world.db, copy)
    lost = await world.over(recap="Somebody sang.")
    await write_file(world.db, lost, into(folder))
    [file] = folder.iterdir()
    path = tmp_path / "restored.sqlite3"
    await backups.restore(copy, path, now=world.clock.now(), keep=3)
    later = world.clock.now() + 2 * HOUR
    async with open_database(path) as db:
        async with db.write() as tx:
            again = await streams.begin(tx, later)
            await streams.end(tx, again, later + HOUR)
            await streams.set_recap(tx, again, "The boss fell.", later + HOUR)
        assert again == lost
        await write_file(db, again, into(folder))
    assert "Somebody sang." in file.read_text(encoding="utf-8")
    assert len(list(folder.iterdir())) == 2


async def test_who_was_erased_since_leaves_the_file_with_the_restore(
    world: "World", folder: Path, tmp_path: Path
) -> None:
    _, file = await written(world, folder)
    copy = await copy_without_streams(world, tmp_path)
    await Eraser(db=world.db, clock=world.clock).erase("3")
    file.write_text(
        "# Brought back from elsewhere\n\nDora\\_1 fell off a ladder.\n",
        encoding="utf-8",
    )
    path = tmp_path / "restored.sqlite3"
    path.with_name(path.name + ".requests").write_bytes(
        world.db.requests.path.read_bytes()
    )
    await backups.restore(copy, path, now=world.clock.now(), keep=3)
    assert "Dora" not in file.read_text(encoding="utf-8")


async def test_what_is_never_mentioned_or_was_taken_back_is_quoted_of_nobody_by_any_name(
    world: "World",
) -> None:
    await world.regulars("1")
    stream = await world.over("1", recap="<@1> beat the boss.")
    await bot_said(
        world,
        "Alice aced her chemistry exams!",
        "Your chemistry exams are due.",
        viewer_id="2",
        outcome="good",
    )
    await bot_said(
        world,
        "You aced your chemistry exams. Well done!",
        viewer_id="1",
        outcome="good",
    )
    await suppress(world.db, "1", "chemistry exams", by="1", at=world.clock.now())
    quotes = [
        line
        for line in (await recap_of(world, stream)).splitlines()
        if line.startswith(">")
    ]
    assert sorted(quotes) == ["> Well done!", "> Your chemistry exams are due."]
    await world.note("plays the zither", "1", status=NoteStatus.RETRACTED)
    await bot_said(world, "Alice plays the zither!", viewer_id="2", outcome="good")
    assert "zither" not in await recap_of(world, stream)


async def test_a_crash_in_an_erasure_leaves_nothing_in_the_file(
    world: "World", folder: Path
) -> None:
    _, file = await written(world, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            erasure, "finish", None
        )  # the process dies when the rows are gone
        with pytest.raises(TypeError):
            await Eraser(db=world.db, clock=world.clock).erase("3")
    await Eraser(db=world.db, clock=world.clock).erase_due()
    assert "dora" not in file.read_text(encoding="utf-8").lower()


async def test_who_is_erased_while_the_file_is_written_is_not_in_it(
    world: "World", folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.regulars("1", "2")
    stream = await world.over("1", "2", recap="<@1> beat the boss. <@2> cheered.")
    loop = asyncio.get_running_loop()
    slow = files.replace_file

    def slowly(path: Path, text: str) -> None:
        """A drive on which a write takes as long as an erasure."""
        if "Bob" in text:
            erasing = Eraser(db=world.db, clock=world.clock).erase("2")
            asyncio.run_coroutine_threadsafe(erasing, loop).result()
        slow(path, text)

    monkeypatch.setattr(recap_markdown, "replace_file", slowly)
    await write_file(world.db, stream, into(folder))
    [file] = folder.iterdir()
    text = file.read_text(encoding="utf-8")
    assert "Alice beat the boss." in text
    assert "Bob" not in text


async def test_a_file_that_cannot_be_reached_is_named_and_one_that_is_gone_is_not(
    world: "World", folder: Path, tmp_path: Path
) -> None:
    _, file = await written(world, folder)
    folder.rename(tmp_path / "unplugged")
    report = await Eraser(db=world.db, clock=world.clock).erase("3")
    assert (report.found, report.places) == (1, {str(file): 1})
    (tmp_path / "unplugged").rename(folder)
    file.unlink()
    assert (await Eraser(db=world.db, clock=world.clock).erase("2")).found == 0


async def test_a_folder_that_is_missing_or_full_says_so_and_is_tried_again(
    world: "World", folder: Path
) -> None:
    stream = await world.over()
    folder.rmdir()
    with pytest.raises(StoreError, match="does not exist"):
        await write_file(world.db, stream, into(folder))
    folder.mkdir()
    world.db.requests.add(
        PrivacyRequest(RequestKind.RECAP_FOLDER, "", folder=str(folder))
    )
    with no_room(), pytest.raises(StoreError, match="Check the disk"):
        await write_file(world.db, stream, into(folder))
    assert (list(folder.iterdir()), await streams.recap_files(world.db)) == ([], [])
    await write_file(world.db, stream, into(folder))
    assert len(await streams.recap_files(world.db)) == len(list(folder.iterdir())) == 1


# ── the last seven days in 500 characters: written when a stream closes, and never in between ──


async def test_the_digest_is_written_once_per_closed_stream_when_its_recap_is_there(
    world: "World",
) -> None:
    recaps, _ = world.writer(RecapWriter)
    await world.over(recap="Long ago.")
    await world.clock.advance(7 * DAY)
    await world.over(recap="<@1> beat the boss. Chat talked about the divorce.")
    await suppress(world.db, None, "divorce", by="9", at=0)
    stream = await world.over(recap=None)
    assert not await recaps.write_digest()
    async with world.db.write() as tx:
        await streams.set_recap(tx, stream, "<@2> raided.", world.clock.now())
    assert [await recaps.write_digest() for _ in range(2)] == [True, False]
    assert (
        await channel_state.read(world.db, "digest")
        == "<@2> raided. <@1> beat the boss."
    )
    async with world.db.write() as tx:  # a recap that goes takes it along
        await tx.execute(
            "UPDATE streams SET recap = '', recapped_at = NULL WHERE id = ?", (stream,)
        )
    assert await channel_state.read(world.db, "digest") == ""
