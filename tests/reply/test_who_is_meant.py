"""Anybody of whom something is known can be meant, however long ago they were here."""

import pytest

from forgetmenot.durations import DAY
from forgetmenot.settings.schema import Settings, TwitchSettings
from forgetmenot.store import privacy_choices, viewers
from tests.notes_world import World, prompt_for, section

# Somebody's login, a part of it by which chat calls them, and one thing that is known of them.
EIGHT = (
    ("theodor77", "theo", "plays the cello"), ("xx_annika_xx", "annika", "keeps bees on the roof"),
    ("sebastianplays", "seb", "lives in Bergen"), ("debbie_1990", "deb", "drives a tram"),
    ("carolina", "carolina", "has an iguana called Pickle"), ("night_owl_jo", "owl", "won the pumpkin race"),
    ("mirko99", "mirko", "paints miniature dragons"), ("pianopaula", "pianopaula", "bakes sourdough"),
)  # fmt: skip


async def two_evenings(world: World) -> None:
    """Eight people came, four an evening, and one thing is known of each."""
    for number, (login, _part, fact) in enumerate(EIGHT):
        if number % 4 == 0:
            await world.over(recap="")
        await world.viewer(f"1{number}", login)
        await world.note(fact, f"1{number}")


async def others_lines(world: World, text: str) -> str:
    """What a third viewer's line brings up about the people it names."""
    return section(await prompt_for(world, "2", "bob", text), "others")


@pytest.mark.parametrize("days", [1, 7, 90])
async def test_eight_people_are_found_by_login_and_by_short_name_however_long_ago(
    world: World, days: int
) -> None:
    await two_evenings(world)
    await world.clock.advance(days * DAY)
    hits = {"@login": 0, "login": 0, "part": 0}
    for login, part, fact in EIGHT:
        for way, name in (("@login", f"@{login}"), ("login", login), ("part", part)):
            hits[way] += fact in await others_lines(
                world, f"what do you know about {name}?"
            )
    assert (hits["@login"], hits["login"]) == (8, 8)
    assert hits["part"] >= 7  # an owl is a bird first, and she is not here


async def test_of_two_who_fit_both_are_told_and_the_reply_may_ask(world: World) -> None:
    await world.viewer("11", "bob_ross")
    await world.viewer("12", "bobcat")
    await world.viewer("13", "mirko_a")
    await world.viewer("14", "mirko_b")
    for number in range(11, 15):
        await world.note(f"owns {number} ferrets", str(number))
    await world.clock.advance(9 * DAY)
    others_text = await others_lines(world, "what does mirko own?")
    assert '"mirko" may be Mirko_A or Mirko_B: ask who is meant' in others_text
    assert "owns 13 ferrets" in others_text
    assert "owns 14 ferrets" in others_text
    # whoever is here comes first
    await world.attends("14", await world.stream())
    others_text = await others_lines(world, "what does mirko own?")
    assert ("owns 13 ferrets" in others_text, "owns 14 ferrets" in others_text) == (
        False,
        True,
    )
    assert "may be" not in others_text


async def test_a_former_name_and_a_nickname_mean_the_person(world: World) -> None:
    await world.viewer("11", "theodor77")
    await world.note("plays the cello", "11")
    await world.note("goes by Momo", "11")
    async with world.db.write() as tx:
        renamed = viewers.SeenViewer("11", "quietstorm", "quietstorm", None, 5, 5)
        await viewers.record_seen(
            tx, [viewers.SeenViewer("11", "theodor77", "t", None, 1, 1)]
        )
        await viewers.record_seen(tx, [renamed])
    await world.clock.advance(30 * DAY)
    for name in ("quietstorm", "@theodor77", "theodor77", "momo", "@momo"):
        others_text = await others_lines(world, f"what does {name} play?")
        assert "plays the cello" in others_text
        assert "theodor77" not in others_text


async def test_the_streamer_is_meant_by_role_and_by_the_channels_name(
    world: World,
) -> None:
    world.settings = Settings(twitch=TwitchSettings(channel="rocketlab"))
    await world.viewer("99", "rocketlab", "broadcaster")
    await world.note("is allergic to peanuts", "99")
    await world.clock.advance(90 * DAY)
    for name in ("the streamer", "@rocketlab", "rocketlab"):
        assert "peanuts" in await others_lines(world, f"what can {name} not eat?")


async def test_who_opted_out_is_found_by_no_name(world: World) -> None:
    await world.viewer("11", "theodor77")
    await world.note("plays the cello", "11")
    await world.note("goes by Momo", "11")
    async with world.db.write() as tx:
        await privacy_choices.opt_out(tx, "11", world.clock.now())
    for name in ("@theodor77", "theodor77", "theo", "momo"):
        assert await others_lines(world, f"what does {name} play?") == ""


@pytest.mark.parametrize(
    ("login", "display_name", "question"),
    [
        ("ole_1999", "", "weißt du was über Oles Hund?"),
        ("tobi_xyz", "", "und Tobis Grafikkarte?"),
        ("sakura_88", "さくら", "さくらさんは犬を飼っていますか"),
        ("minji_kr", "민지", "민지는 뭐 해?"),
        ("yuzu_cha", "", "＠yuzu_chaさんの犬は?"),
    ],
)
async def test_names_are_found_in_the_grammar_of_other_languages(
    world: World, login: str, display_name: str, question: str
) -> None:
    async with world.db.write() as tx:
        person = viewers.SeenViewer("11", login, display_name or login, None, 1, 1)
        await viewers.record_seen(tx, [person])
    await world.note("has a dog called Rex", "11")
    await world.clock.advance(9 * DAY)
    assert "Rex" in await others_lines(world, question)


@pytest.mark.parametrize(
    ("question", "is_meant"),
    [
        ("who plays drums?", False),
        ("how long have I played drums?", False),
        ("@drums hi", True),
        ("who plays @drums songs?", True),
        ("what does drums like?", True),
    ],
)
async def test_a_word_is_no_name_where_it_is_the_word_of_a_note_that_fits(
    world: World, question: str, *, is_meant: bool
) -> None:
    await world.viewer("11", "drums")
    await world.note("likes liquorice", "11")
    await world.note("plays drums in a band", "1")
    await world.note("has played drums since 2019", "2")
    assert ("liquorice" in await others_lines(world, question)) is is_meant


async def test_it_may_be_a_name_where_no_note_has_the_word(world: World) -> None:
    await world.viewer("11", "drums")
    await world.note("likes liquorice", "11")
    await world.note("plays the cello", "1")
    assert "liquorice" in await others_lines(world, "who plays drums?")
