"""The page Book: what it is sent, and whom it never shows."""

from forgetmenot.domain import Video
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.store import notes, privacy_choices, quotes, streams
from forgetmenot.store.database import Database
from forgetmenot.text.days import iso_day
from tests.conftest import NOON
from tests.dock.conftest import Served
from tests.dock.test_pictures import put_streams, read
from tests.rows import put


async def fill(db: Database) -> None:
    """Ten streams, of which the first has a quote, the start of a joke, a clip and a marker."""
    ids = await put_streams(db, 10)
    began_at = NOON - 9 * DAY
    async with db.write() as tx:
        await streams.set_video(tx, ids[0], Video(77, began_at, NOON + DAY))
        await quotes.add(
            tx,
            quotes.NewQuote(
                "1",
                "stairs are ladders that gave up",
                "m1",
                ids[0],
                began_at + 21 * MINUTE,
                "3",
            ),
        )
        episode = await put(
            tx,
            "episodes",
            stream_id=ids[0],
            summary="<@1> fell off the ladder. <@3> laughed. The tower shook.",
            started_at=began_at + 20 * MINUTE,
            ended_at=began_at + 40 * MINUTE,
        )
        joke = await put(
            tx,
            "semantic_notes",
            scope="running_bit",
            fact="<@1> always blames the ladder",
            first_said_at=began_at + 22 * MINUTE,
            last_confirmed_at=NOON,
        )
        for at in (began_at + 22 * MINUTE, NOON):
            if at == NOON:
                episode = await put(tx, "episodes", stream_id=ids[-1], summary="More.")
            await put(
                tx,
                "note_evidence",
                note_id=joke,
                episode_id=episode,
                stance="stated",
                speaker_id="3",
                at=at,
            )
        for kind, text in (("clip", "https://clips.twitch.tv/Abc"), ("marker", "")):
            await put(
                tx,
                "moments",
                stream_id=ids[0],
                at=began_at + 25 * MINUTE,
                kind=kind,
                text=text,
                viewer_id="1",
            )


async def test_quotes_jokes_and_clips_have_their_minute_people_and_summary(
    dock: Served, db: Database
) -> None:
    await fill(db)
    book = await read(dock, "book")
    [quote] = book["quotes"]
    assert quote["text"] == "Alice: “stairs are ladders that gave up”"
    assert quote["minutes"] == "0:21"
    assert quote["link"].endswith("videos/77?t=0h21m0s")
    [joke] = book["jokes"]
    assert joke["text"] == "Alice always blames the ladder"
    assert joke["people"] == ["Carol"]
    assert len(joke["times"]) == 2
    assert joke["minutes"] == "0:22"
    clip, marker = book["clips"]
    assert clip["address"] == "https://clips.twitch.tv/Abc"
    assert clip["text"] == "Alice fell off the ladder. Carol laughed. The tower shook."
    assert marker["kind"] == "marker"
    assert marker["minutes"] == "0:25"


async def test_a_search_finds_it_in_other_words(dock: Served, db: Database) -> None:
    await fill(db)
    entries = (await read(dock, "book?find=who tumbled off the ladder"))["found"]
    assert "Alice fell off the ladder." in [row["text"] for row in entries]
    assert (await read(dock, "book?find=zebra"))["found"] == []


async def test_whoever_is_hidden_and_what_is_suppressed_is_not_sent(
    dock: Served, db: Database
) -> None:
    await fill(db)
    async with db.write() as tx:
        await privacy_choices.opt_out(tx, "1", NOON)
        await notes.add_suppression(
            tx, None, "ladder", note_id=None, by_id="3", at=NOON
        )
    for path in ("book", "book?find=ladder", "book/markdown"):
        sent = str(await read(dock, path))
        for word in ("Alice", "stairs", "blames", "fell"):
            assert word not in sent


async def test_it_is_exported_as_markdown(dock: Served, db: Database) -> None:
    await fill(db)
    async with db.write() as tx:
        await tx.execute("UPDATE quotes SET text = 'so *bold* of [you](http://x.org)'")
    text = (await read(dock, "book/markdown"))["text"]
    day = iso_day(NOON - 9 * DAY, "")
    assert text.startswith("# Book\n\n## Quotes\n\n- Alice: “so \\*bold\\* of ")
    assert "[you](" not in text
    assert f"({day}, 0:22, Carol)" in text
    assert "https://clips.twitch.tv/Abc" in text


async def test_a_stream_gives_its_chapters_as_a_file(
    dock: Served, db: Database
) -> None:
    await fill(db)
    stream_id = await db.value("SELECT min(id) FROM streams")
    for form, ending in (("youtube", "txt"), ("csv", "csv"), ("edl", "edl")):
        file = await read(dock, f"chapters/{stream_id}?form={form}")
        day = iso_day(NOON - 9 * DAY, "")
        assert file["name"] == f"chapters-{day}.{ending}"
        # nobody was a regular yet who could be named
        assert "The tower shook" in file["text"]
    for path, status in (
        (f"chapters/{stream_id}?form=exe", 404),
        ("chapters/999?form=csv", 404),
        (f"chapters/{stream_id + 1}?form=csv", 404),
        ("chapters/x?form=csv", 404),
    ):
        assert (await dock.get(f"/api/{path}"))[0] == status


async def test_an_empty_book_says_how_it_is_filled(dock: Served) -> None:
    assert await read(dock, "book") == {"quotes": [], "jokes": [], "clips": []}
