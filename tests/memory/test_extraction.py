"""A model's answer can only propose: what code lets pass, what it refuses, and that an episode is read once."""

from collections import Counter

import pytest

from forgetmenot.domain import SourceKind
from forgetmenot.durations import DAY, HOUR
from forgetmenot.errors import ModelBlocked
from forgetmenot.memory import edits
from forgetmenot.store import episodes, notes
from forgetmenot.text.mentions import fenced_texts
from tests.notes_world import Scripted, World, change, live, prompt_for, section

MALFORMED = [
    "",
    "null",
    "[]",
    '{"notes": null}',
    '{"notes": "add"}',
    '{"notes": [{"who": "P1"',
    "<think>hm</think>",
    "\u0000\u0001",
    "[" * 5_000,
    '{"notes": 1e999}',
    "notes:\n- who: P1",
]


@pytest.mark.parametrize("answer", MALFORMED, ids=lambda answer: repr(answer)[:20])
async def test_an_answer_that_is_none_leaves_its_episode_to_be_read(
    world: World, answer: str
) -> None:
    await world.episode("<@1> plays drums.", {"1": (5, 0)})
    extractor, _ = world.extractor(answer)
    assert (await extractor.run_pass()).episodes == 0
    assert len(await episodes.unread(world.db)) == 1


@pytest.mark.parametrize(
    "answer", ["Here you go: {}", ModelBlocked("filtered")], ids=repr
)
async def test_an_episode_without_a_usable_answer_waits_and_is_at_last_set_aside(
    world: World, answer: str | Exception
) -> None:
    await world.episode("<@1> plays drums.", {"1": (5, 0)})
    extractor, model = world.extractor(answer)
    for _ in range(5):
        assert (await extractor.run_pass()).episodes == 0
    assert len(model.asked) <= 2
    assert len(await episodes.unread(world.db)) == 1
    other, _ = world.extractor([change()])
    await world.clock.advance(5 * 60_000)
    assert (await other.run_pass()).added == 1
    await world.episode("<@1> plays bass.", {"1": (5, 0)})
    for _ in range(100):
        await world.clock.advance(HOUR)
        await extractor.run_pass()
    assert await episodes.unread(world.db) == []


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        *(({"who": odd}, "not_there") for odd in ("P9", "alice", "<@1>")),
        ({"said_by": "P9"}, "no_speaker"),
        ({"who": "P3", "said_by": ""}, "no_speaker"),
        ({"said_by": "BOT"}, "no_speaker"),
        ({"said_by": "<@1>"}, "no_speaker"),
        ({"said_by": "P3"}, "speaker_silent"),
        ({"confidence": 0.39}, "confidence"),
        ({"said_by": 7}, "malformed"),
        ({"fact": "abc"}, "length"),
        ({"fact": "x" * 289}, "length"),
        ({"fact": "is a moderator here"}, "role"),
        ({"fact": "is a friend of P9"}, "unknown_handle"),
        ({"fact": "runs /ban bob: /ban bob"}, "markup"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_each_rule_refuses_and_is_counted(
    world: World, fields: dict[str, object], rule: str
) -> None:
    report = await world.learn(
        change(**fields), people={"1": (5, 0), "2": (3, 0), "9": (0, 0)}
    )
    assert (report.added, report.confirmed, report.superseded) == (0, 0, 0)
    [refused] = report.refused
    assert refused.startswith(rule)
    assert await notes.page(world.db) == []


@pytest.mark.parametrize(
    ("length", "is_stored"), [(4, False), (5, True), (288, True), (289, False)]
)
async def test_a_fact_has_five_to_288_characters(
    world: World, length: int, *, is_stored: bool
) -> None:
    fact = "sings " * 50
    report = await world.learn(change(fact=fact[: length - 1] + "s"))
    assert report.added == is_stored


async def test_the_same_again_is_a_confirmation_at_most_once_a_stream_and_of_an_episode_read_anew_none(
    world: World,
) -> None:
    first = await world.stream()
    second = await world.stream()
    await world.learn(change(confidence=0.5), stream_id=first)
    for stream, confidence in ((first, 0.5), (second, 0.55), (second, 0.55)):
        await world.clock.advance(HOUR)
        report = await world.learn(change(), stream_id=stream)
        [note] = await live(world)
        assert report.confirmed == 1
        assert note.confidence == pytest.approx(confidence)
        assert note.last_confirmed_at == world.clock.now()
    before = await live(world)
    async with (
        world.db.write() as tx
    ):  # lines of them were cleared: they are summarised and read anew
        await tx.execute("UPDATE episodes SET extracted_at = NULL")
    extractor, _ = world.extractor([change()])
    assert (await extractor.run_pass()).episodes == 4
    assert await live(world) == before
    stances = await world.db.column(
        "SELECT stance FROM note_evidence ORDER BY episode_id"
    )
    assert stances == ["stated", *["confirmed"] * 3]


async def test_a_model_s_words_stand(world: World) -> None:
    """Whatever the summary says, and whatever the words look like: what is stored is only quoted as data."""
    facts = [
        "moved to Oslo last week",
        "mentioned a brother in Lima",
        "plays games called mods",
        "asked P2 to join the band",
        "thinks that P2 cheats at cards",
    ]
    report = await world.learn(*(change(fact=fact) for fact in facts))
    assert dict(report.refused) == {}
    assert [note.fact for note in await live(world)] == [
        fact.replace("P2", "<@2>") for fact in facts
    ]


THINGS = ("boats", "stamps", "tomatoes", "horses", "clocks", "maps", "violins")


@pytest.mark.parametrize(
    "odd",
    [
        *({"confidence": odd} for odd in (1.5, "high", 10**400, None, True)),
        {"repeats": "the first"},
        {"repeats": [1]},
        {"replaces": -(2**64)},
        {"replaces": 2**70},
        {"replaces": {}},
    ],
    ids=lambda value: str(value)[:30],
)
async def test_an_odd_field_costs_no_note(world: World, odd: dict[str, object]) -> None:
    report = await world.learn(change(**odd))
    assert (report.added, dict(report.refused)) == (1, {})


@pytest.mark.parametrize("confidence", [None, "high", 1.5])
async def test_a_model_that_does_not_say_how_sure_it_is_is_three_quarters_sure(
    world: World, confidence: object
) -> None:
    await world.learn(change(confidence=confidence))
    [note] = await live(world)
    assert note.confidence == 0.75


async def test_nothing_is_learnt_about_or_from_somebody_who_opted_out_meanwhile(
    world: World,
) -> None:
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '2'")
    report = await world.learn(
        change(who="P2", said_by="P1"), change(who="P1", said_by="P2")
    )
    assert report.added == 0
    assert sum(report.refused.values()) == 2


async def test_hearsay_becomes_a_fact_by_its_subjects_word_and_comes_not_back_when_they_took_it_back(
    world: World,
) -> None:
    hearsay = change(who="P2", said_by="P1")
    await world.learn(hearsay)
    await world.clock.advance(DAY)
    assert (await world.learn(change(who="P2", said_by="P2"))).confirmed == 1
    [note] = await live(world, "2")
    assert note.source_kind is SourceKind.SELF_CLAIM
    assert note.confidence > 0.5
    await edits.retract(world.db, note.id, at=world.clock.now(), cause="wrong")
    assert (await world.learn(hearsay)).refused == {"retracted": 1}


@pytest.mark.parametrize(
    ("sql", "read"),
    [("UPDATE episodes SET summary = 'Nothing.'", 1), ("DELETE FROM episodes", 0)],
)
async def test_an_episode_that_was_summarised_again_or_erased_meanwhile_leaves_nothing(
    world: World, sql: str, read: int
) -> None:
    """The model's answer about the old summary is thrown away: it may rest on a line that was cleared."""
    await world.episode("<@1> plays drums.", {"1": (5, 0)})
    extractor, model = world.extractor([change()], '{"notes": []}')

    async def changed() -> None:
        async with world.db.write() as tx:
            await tx.execute(sql)

    model.meanwhile = changed
    report = await extractor.run_pass()
    assert (report.episodes, report.added, len(model.asked)) == (read, 0, read + 1)


@pytest.mark.parametrize("by_number", [True, False])
async def test_a_repeat_that_says_more_takes_the_new_words(
    world: World, *, by_number: bool
) -> None:
    await world.learn(change(fact="plays drums in a band"))
    [old] = await live(world)
    await world.clock.advance(DAY)
    more = (
        "plays drums in a band called Five Boats"
        if by_number
        else "plays drums in a jazz band"
    )
    report = await world.learn(
        change(fact=more, **({"repeats": old.id} if by_number else {}))
    )
    [note] = await live(world)
    assert (report.confirmed, note.fact) == (1, more)
    assert (note.first_said_at, note.last_confirmed_at) == (
        old.first_said_at,
        old.last_confirmed_at + DAY,
    )
    assert note.confidence > old.confidence
    assert [word.stance for word in await notes.evidence_of(world.db, note.id)] == [
        "stated",
        "confirmed",
    ]
    [before] = await notes.predecessors(world.db, note.id)
    assert before.fact == "plays drums in a band"


async def test_somebody_with_many_notes_is_read_about_as_well(world: World) -> None:
    """The model sees the five that fit the summary best; what it writes is compared with all of them."""
    for kind in ("red", "old", "tiny", "huge", "wooden", "broken"):
        await world.learn(*(change(fact=f"owns {kind} {thing}") for thing in THINGS))
    await world.episode(
        "<@1> spoke about wooden boats, and owns red stamps.", {"1": (3, 0)}
    )
    extractor, model = world.extractor([change(fact="owns red stamps")])
    report = await extractor.run_pass()
    known = known_in(model)
    assert len(known) == 5
    assert any(line.endswith("owns wooden boats") for line in known)
    assert (report.added, report.confirmed) == (0, 1)


async def test_what_may_be_done_with_known_notes_is_said_where_there_are_some(
    world: World,
) -> None:
    await world.episode("<@1> likes tea.", {"1": (3, 0)})
    extractor, model = world.extractor([change(fact="likes tea")])
    await extractor.run_pass()
    await world.episode("<@1> likes tea a lot.", {"1": (3, 0)})
    await extractor.run_pass()
    first, second = (request.system for request in model.asked)
    for words in ("<known>", "- repeats:", "- replaces:"):
        assert words not in first
        assert words in second


def known_in(model: Scripted) -> list[str]:
    """The known notes in the last prompt, as it shows them."""
    return fenced_texts(model.asked[-1].prompt).get("known", "").splitlines()


async def test_of_many_people_the_notes_that_fit_are_shown_whoever_comes_last(
    world: World,
) -> None:
    """Fifty people with ten notes each: sixty are shown, and of everybody the one that was said again."""
    people = {str(number): (1, 0) for number in range(100, 150)}
    for viewer_id in people:
        await world.viewer(viewer_id, f"viewer{viewer_id}")
        for kind in (
            "red",
            "old",
            "tiny",
            "huge",
            "wooden",
            "broken",
            "new",
            "lost",
            "cheap",
        ):
            await world.note(f"owns {kind} clocks", viewer_id)
        await world.note(f"plays tune {viewer_id} on the violin", viewer_id)
    summary = " ".join(
        f"<@{viewer_id}> played tune {viewer_id} on the violin again."
        for viewer_id in people
    )
    await world.episode(summary, people)
    extractor, model = world.extractor([])
    await extractor.run_pass()
    known = known_in(model)
    assert len(known) == 60
    assert sum("on the violin" in line for line in known) == 50
    assert max(Counter(line.split()[1] for line in known).values()) <= 5


async def test_a_note_in_other_words_is_shown_where_there_is_room(world: World) -> None:
    await world.note("works as a baker")
    await world.note("likes tea", "2")
    await world.episode(
        "<@1> quit and drives a bus now. <@2> laughed.", {"1": (3, 0), "2": (1, 0)}
    )
    extractor, model = world.extractor([])
    await extractor.run_pass()
    assert [line.partition("] ")[2] for line in known_in(model)] == [
        "P1: works as a baker",
        "P2: likes tea",
    ]


@pytest.mark.parametrize(("words", "number"), [(60, 12), (140, 20), (180, 25)])
async def test_a_full_window_may_give_more_notes(
    world: World, words: int, number: int
) -> None:
    summary = "<@1> likes tea. " * (words // 3)
    facts = [f"collects {chr(97 + i)}{chr(122 - i)}ix" for i in range(20)]
    await world.episode(summary, {"1": (5, 0)})
    extractor, model = world.extractor([change(fact=fact) for fact in facts])
    assert (
        await extractor.run_pass()
    ).added == 20  # what comes is taken, asked for or not
    assert f"at most {number}" in model.asked[0].system
    # room for all of them in the answer
    assert model.asked[0].max_output_tokens >= 90 * number


BOAT = "is building a wooden boat in the garage with three friends from the rowing club"


async def test_a_repeat_that_is_too_long_for_a_fact_of_its_own_is_taken(
    world: World,
) -> None:
    note_id = await world.note(BOAT)
    await world.clock.advance(DAY)
    longer = f"{BOAT}{', and now also a sail for it' * 9}"
    assert 288 < len(longer) < 500
    report = await world.learn(change(repeats=note_id, fact=longer))
    [note] = await live(world)
    assert (report.confirmed, dict(report.refused), note.fact) == (1, {}, longer)


@pytest.mark.parametrize("fact", ["x" * 501, "ok", f"{BOAT} and more" * 9])
async def test_a_repeat_of_no_fit_length_is_still_a_confirmation(
    world: World, fact: str
) -> None:
    note_id = await world.note(BOAT)
    await world.clock.advance(DAY)
    report = await world.learn(change(repeats=note_id, fact=fact))
    [note] = await live(world)
    assert (report.confirmed, dict(report.refused)) == (1, {})
    assert (note.id, note.fact) == (note_id, BOAT)
    assert note.last_confirmed_at == world.clock.now()
    assert (await world.learn(change(repeats=999, fact=fact))).refused == {"length": 1}


@pytest.mark.parametrize(
    ("stored", "repeat", "expected"),
    [
        # the known words left out: what is new is a note of its own
        (
            "plays a strategy game about the war of 1812 with P2 every Sunday",
            "encircled half a million soldiers",
            [
                "plays a strategy game about the war of 1812 with P2 every Sunday",
                "encircled half a million soldiers",
            ],
        ),
        (
            "is from Lisbon and lives in Oslo with two cats",
            "cats are called Ada and Bo",
            [
                "is from Lisbon and lives in Oslo with two cats",
                "cats are called Ada and Bo",
            ],
        ),
        # most of the known words kept: they stand with what is new
        ("plays drums", "plays drums in a jazz band", ["plays drums in a jazz band"]),
        ("has a cat that is 3", "has a cat that is 4", ["has a cat that is 4"]),
        # other words and nothing new
        ("plays drums in a band", "is a band's drummer", ["plays drums in a band"]),
        ("likes tea", "likes tea", ["likes tea"]),
    ],
)
async def test_a_repeat_keeps_what_was_known_and_what_is_new(
    world: World, stored: str, repeat: str, expected: list[str]
) -> None:
    note_id = await world.note(stored.replace("P2", "<@2>"))
    await world.clock.advance(DAY)
    report = await world.learn(change(repeats=note_id, fact=repeat))
    live_notes = await live(world)
    assert sorted(note.fact.replace("<@2>", "P2") for note in live_notes) == sorted(
        expected
    )
    assert dict(report.refused) == {}
    confirmed = min(live_notes, key=lambda note: note.id)
    assert confirmed.last_confirmed_at == world.clock.now()


async def test_what_nobody_said_is_observed(world: World) -> None:
    """Of somebody who spoke and of somebody who did not; it stands behind their own word and before hearsay."""
    people = {"1": (5, 0), "9": (0, 0)}
    report = await world.learn(
        change(
            fact="seems to be from Poland", said_by="", observed=True, confidence=0.6
        ),
        change(who="P2", fact="beat the last boss", said_by="", observed=True),
        people=people,
    )
    assert report.added == 2
    [seems] = await live(world)
    [beat] = await live(world, "9")
    assert (seems.source_kind, seems.confidence) == (SourceKind.OBSERVED, 0.6)
    assert (beat.source_kind, beat.confidence) == (SourceKind.OBSERVED, 0.8)
    [evidence] = await notes.evidence_of(world.db, seems.id)
    assert evidence.speaker_id is None
    lore = section(await prompt_for(world, "1", "alice", "poland?"), "lore")
    assert "said by them" not in lore
    await world.learn(change(fact="comes from Poland, says alice", replaces=seems.id))
    [own] = await live(world)
    assert own.source_kind is SourceKind.SELF_CLAIM


@pytest.mark.parametrize("said_by", ["", "P1"])
async def test_what_twitch_tells_is_observed_and_certain(
    world: World, said_by: str
) -> None:
    gift = "alice is gifting 5 Tier 1 Subs to carol's community!"
    raid = "30 raiders from bob have joined!"
    episode = await world.chat(("1", ""), ("2", ""), ("2", "wow alice gifted 5 subs"))
    async with world.db.write() as tx:
        for number, kind, text in ((0, "gift", gift), (1, "raid", raid)):
            await tx.execute(
                "UPDATE events SET kind = ?, system_text = ? WHERE id = ?",
                (kind, text, f"{episode}-{number}"),
            )
    changes: list[object] = [  # bob has two lines and is P1
        change(
            who="P2",
            fact="gifted 5 subs to the community",
            said_by=said_by,
            confidence=0.5,
        ),
        change(who="P1", fact="raided with 30 viewers", said_by="", confidence=0.5),
    ]
    extractor, _ = world.extractor(changes)
    await extractor.run_pass()
    for viewer_id in ("1", "2"):
        [note] = await live(world, viewer_id)
        assert (note.source_kind, note.confidence) == (SourceKind.OBSERVED, 0.95)


async def test_hearsay_does_not_become_observed_by_saying_so(world: World) -> None:
    await world.chat(("1", "gg"), ("2", "alice cheats at cards lol"))
    extractor, _ = world.extractor(
        [change(fact="cheats at cards", said_by="", observed=True, confidence=1.0)]
    )
    await extractor.run_pass()
    [note] = await live(world)
    assert (note.source_kind, note.confidence) == (SourceKind.REPORTED, 0.5)


@pytest.mark.parametrize("subjects", ["P1 and P2", "P1, P2", "P2 & P1"])
async def test_what_is_true_of_two_is_a_note_of_each(
    world: World, subjects: str
) -> None:
    report = await world.learn(change(who=subjects, said_by="P1", fact="are siblings"))
    assert report.added == 2
    [hers] = await live(world)
    [his] = await live(world, "2")
    assert (hers.fact, hers.source_kind) == (
        "are siblings (with <@2>)",
        SourceKind.SELF_CLAIM,
    )
    assert (his.fact, his.source_kind) == (
        "are siblings (with <@1>)",
        SourceKind.REPORTED,
    )
    again = await world.learn(change(who=subjects, said_by="P2", fact="are siblings"))
    assert (again.added, again.confirmed) == (0, 2)
    assert (await live(world, "2"))[0].source_kind is SourceKind.SELF_CLAIM


async def test_what_is_true_of_more_than_two_is_no_note_of_each(world: World) -> None:
    await world.viewer("3", "dave")
    everybody = {"1": (5, 1), "2": (3, 0), "3": (2, 0)}
    of_three = change(who="P1, P2 and P3", said_by="P1", fact="play in a band")
    report = await world.learn(of_three, people=everybody)
    assert dict(report.refused) == {"not_there": 1}
    of_two = change(who="P2 and P3", said_by="P2", fact="play in a band")
    report = await world.learn(of_two, people=everybody)
    assert report.added == 2


@pytest.mark.parametrize(
    ("subjects", "fact", "stored"),
    [
        (
            "P1 and P2",
            "P1 and P2 are married",
            ["are married (with <@2>)", "are married (with <@1>)"],
        ),
        ("P1 and P2", "play in a band with P9", None),
        ("P1, P2, P3", "are siblings", None),
        ("P1 and channel", "are siblings", None),
        ("P1 and P1", "are siblings", None),
    ],
)
async def test_two_are_two_who_were_there(
    world: World, subjects: str, fact: str, stored: list[str] | None
) -> None:
    await world.learn(change(who=subjects, said_by="P1", fact=fact))
    live_notes = [*await live(world, "1"), *await live(world, "2")]
    assert [note.fact for note in live_notes] == (stored or [])


async def test_a_note_has_words_of_the_language_that_chat_is_in(world: World) -> None:
    episode = await world.episode("<@1> lives in Vienna.", {"1": (5, 0)})
    async with world.db.write() as tx:
        await tx.execute(
            "UPDATE episodes SET language = 'German' WHERE id = ?", (episode,)
        )
    asked_with = ["home", "city", "house", "town", "where", "Austria"]
    german = ["wohnt", "wohnort", "Wien", "Stadt", "Zuhause", "Österreich"]
    extractor, model = world.extractor(
        [change(fact="lives in Vienna", asked_with=[*asked_with, *german])]
    )
    await extractor.run_pass()
    [note] = await live(world)
    assert note.asked_with[-6:] == (
        "wohnt",
        "wohnort",
        "wien",
        "stadt",
        "zuhause",
        "österreich",
    )
    assert "Chat was in German" in model.asked[0].prompt
    await world.learn(change(asked_with=[*asked_with, *german]))
    assert len((await live(world))[-1].asked_with) == 6


@pytest.mark.parametrize(
    ("typed", "repeat"),
    [
        ("ich in Wien wohne", "lives in Vienna"),
        ("好きな色は青です", "favourite colour is blue"),
    ],
)
async def test_what_was_asked_to_be_remembered_is_put_into_english_when_chat_is_read(
    world: World, typed: str, repeat: str
) -> None:
    stored_note = await edits.remember(
        world.db, "1", typed, by="1", at=world.clock.now()
    )
    report = await world.learn(
        change(repeats=stored_note.id, fact=repeat, asked_with=["wohnort"])
    )
    assert (report.confirmed, report.added) == (1, 0)
    [note] = await live(world)
    assert (note.fact, note.source_kind) == (repeat, SourceKind.COMMAND)
    # and is found by the words that they had for it
    assert [
        note.id
        for note in await edits.find(world.db, "1", typed, now=world.clock.now())
    ] == [note.id]
