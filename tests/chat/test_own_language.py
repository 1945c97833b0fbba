"""Notes are English, and people name what they mean in their own language, in one character or in a picture."""

import pytest

from forgetmenot.domain import NoteStatus, Scope, SourceKind
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.store import notes
from forgetmenot.store.notes import NewNote
from tests.chat.conftest import IDS, Chat

GUINEA_PIGS = (
    "has two guinea pigs",
    ("Meerschweinchen", "Haustiere", "cobayas", "モルモット"),
)
DOG = ("has a dog named Luna", ("perra", "cachorra", "chienne", "犬", "ルナ"))
RABBIT = ("has a rabbit", ("lapin", "animal", "うさぎ"))
CATS = ("has three cats", ("gatas", "Katzen", "chats", "猫"))
SUSHI = ("loves 🍣", ("寿司",))
CHESS = ("plays chess on Sundays", ("Schach", "ajedrez"))


async def know(
    chat: Chat, *facts: tuple[str, tuple[str, ...]], login: str = "alice"
) -> None:
    """Notes as extraction writes them, each with the words of the viewer's language beside it."""
    async with chat.db.write() as tx:
        for fact, asked_with in facts:
            new = NewNote(
                Scope.VIEWER,
                IDS[login],
                fact,
                0.8,
                SourceKind.SELF_CLAIM,
                chat.clock.now(),
                asked_with=asked_with,
            )
            await notes.insert(tx, new, cause="test", now=chat.clock.now())


async def hidden(chat: Chat, login: str = "alice") -> list[int]:
    """The numbers of a viewer's notes that are not mentioned."""
    suppressed = await load_filter(chat.db)
    known = await notes.of_subject(chat.db, IDS[login], (NoteStatus.ACTIVE,))
    return [note.id for note in known if not suppressed.allows(note)]


TOPICS = [
    ("meine Meerschweinchen", 1),
    ("mi perra", 2),
    ("minhas gatas", 4),
    ("mon lapin", 3),
    ("my guinea pigs", 1),
    ("die Katzen", 4),
    ("猫", 4),
    ("私の犬", 2),
    ("うちの猫のこと", 4),
    ("🍣", 5),
    ("モルモット", 1),
    ("寿司", 5),
    ("犬のルナ", 2),
]


@pytest.mark.parametrize(("topic", "note"), TOPICS)
async def test_a_topic_in_ones_own_words_hides_its_note(
    chat: Chat, topic: str, note: int
) -> None:
    await know(chat, GUINEA_PIGS, DOG, RABBIT, CATS, SUSHI, CHESS)
    answer = await chat.say("alice", f"!nevermention {topic}") or ""
    assert await hidden(chat) == [note]
    assert answer == "I won't mention that again. The same command again undoes it."
    suppressed = await load_filter(chat.db)
    fact = [GUINEA_PIGS, DOG, RABBIT, CATS, SUSHI, CHESS][note - 1][0]
    summary = f"<@{IDS['alice']}> {fact}, she says. <@{IDS['alice']}> won."
    assert suppressed.without(summary) == f"<@{IDS['alice']}> won."
    assert (
        await chat.say("alice", f"!nevermention {topic}")
        == "OK, I may mention that again."
    )
    assert await hidden(chat) == []


async def test_a_topic_that_hides_nothing_says_so_and_shows_what_it_could_mean(
    chat: Chat,
) -> None:
    await know(chat, GUINEA_PIGS, DOG, CHESS)
    answer = await chat.say("alice", "!nevermention mes cochons d'Inde") or ""
    assert "Nothing that I know about you says it" in answer
    assert "#1 has two guinea pigs" in answer
    assert "!nevermention 1" in answer
    answer = await chat.say("alice", "!nevermention my chesss games") or ""
    assert answer.count("#") == 1
    assert "#3 plays chess on Sundays" in answer
    assert "The same command again" in await chat.say("bob", "!nevermention my exams")  # type: ignore[operator]


async def test_an_english_word_that_is_a_small_word_elsewhere_counts(
    chat: Chat,
) -> None:
    await know(chat, ("works hard at the gym", ()), ("watched Die Hard twice", ()))
    await chat.say("alice", "!nevermention Die Hard")
    assert await hidden(chat) == [2]


MEANT = [
    ("meine Meerschweinchen", 1),
    ("mi perra", 2),
    ("mon lapin", 3),
    ("猫", 4),
    ("🍣", 5),
    ("lo del ajedrez", 6),
    ("dass ich Schach spiele", 6),
    ("私の犬のこと", 2),
    ("Meerschweinchn", 1),
    ("Katze", 4),
    ("gato", 4),
    ("#2", 2),
]


@pytest.mark.parametrize("command", ["!forget", "!wrong"])
@pytest.mark.parametrize(("typed", "note"), MEANT)
async def test_what_is_to_be_forgotten_is_found_in_ones_own_words(
    chat: Chat, command: str, typed: str, note: int
) -> None:
    await know(chat, GUINEA_PIGS, DOG, RABBIT, CATS, SUSHI, CHESS)
    answer = await chat.say("alice", f"{command} {typed}") or ""
    assert answer.startswith(f"Removed: #{note} ")


async def test_of_two_notes_the_one_that_says_the_word_itself_is_meant(
    chat: Chat,
) -> None:
    await know(chat, ("plays drums", ()), ("is in a band", ("drums", "music")))
    assert (await chat.say("alice", "!forget drums") or "").startswith("Removed: #1 ")


async def test_a_note_is_edited_in_ones_own_words(chat: Chat) -> None:
    await know(chat, GUINEA_PIGS, CHESS)
    await chat.say("alice", "!edit ich habe drei Meerschweinchen")
    assert await chat.facts("alice") == [
        "ich habe drei Meerschweinchen",
        "plays chess on Sundays",
    ]


SAID_AGAIN = [
    ("ich habe zwei Meerschweinchen", GUINEA_PIGS),
    ("ich habe 2 Meerschweinchen", GUINEA_PIGS),
    ("tengo una perra", DOG),
    ("猫が三匹いる", CATS),
    ("j'ai un lapin", RABBIT),
    ("ich spiele Schach", CHESS),
    ("tenho três gatas", CATS),
]
NEW = [
    ("ich hasse Schach", CHESS),
    ("tengo una perra y un gato", DOG),
    ("ich habe keine Meerschweinchen", GUINEA_PIGS),
    ("je n'ai pas de lapin", RABBIT),
    ("mon lapin s'appelle Pompon", RABBIT),
]


@pytest.mark.parametrize(("typed", "note"), SAID_AGAIN)
async def test_what_is_said_again_in_ones_own_language_is_no_twin(
    chat: Chat, typed: str, note: tuple[str, tuple[str, ...]]
) -> None:
    await know(chat, note)
    answer = await chat.say("alice", f"!remember {typed}")
    assert answer == f"Remembered: {note[0]} (1)"
    assert await chat.facts("alice") == [note[0]]


@pytest.mark.parametrize(("typed", "note"), NEW)
async def test_what_says_something_else_is_a_note_of_its_own(
    chat: Chat, typed: str, note: tuple[str, tuple[str, ...]]
) -> None:
    await know(chat, note)
    await chat.say("alice", f"!remember {typed}")
    assert len(await chat.facts("alice")) == 2


async def test_another_number_corrects_the_note(chat: Chat) -> None:
    await know(chat, GUINEA_PIGS)
    await chat.say("alice", "!remember ich habe drei Meerschweinchen")
    assert await chat.facts("alice") == ["ich habe drei Meerschweinchen"]


FACTS = (
    "我住东京",
    "猫が三匹いる",
    "أنا ألعب الشطرنج",
    "ich habe zwei Meerschweinchen",
    "vivo en Madrid",
    "toco guitarra",
    "gosto de sushi",
    "j'habite à Lyon",
    "猫好き",
    "나는 고양이를 키워요",
    "я играю на барабанах",
    "loves 🍣",
)


@pytest.mark.parametrize("fact", FACTS)
async def test_a_fact_in_any_language_is_the_speakers_own(
    chat: Chat, fact: str
) -> None:
    assert fact in (await chat.say("alice", f"!remember {fact}") or "")
    assert await chat.facts("alice") == [fact]


OF_OTHERS = (
    "bob is a liar",
    "bobは嘘つきだ",
    "Bob ist blöd",
    "Fridays are horror nights",
    "carol loves bob",
)


@pytest.mark.parametrize("fact", OF_OTHERS)
async def test_a_fact_about_somebody_else_is_not(chat: Chat, fact: str) -> None:
    await chat.say("alice", f"!remember {fact}")
    assert await chat.facts("alice") == []


async def test_two_pictures_are_two_facts(chat: Chat) -> None:
    for fact in ("loves 🍣", "loves 🍕"):
        await chat.say("alice", f"!remember {fact}")
    assert await chat.facts("alice") == ["loves 🍣", "loves 🍕"]


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("dass ich keinen Spinat mag", "ich mag keinen Spinat"),
        ("que vivo en Bogotá", "vivo en Bogotá"),
        ("qu'il pleut chez moi", "il pleut chez moi"),
        ("dass mein Bruder in Köln wohnt", "mein Bruder wohnt in Köln"),
        ("ギターを弾きます", "ギターを弾きます"),
    ],
)
async def test_what_is_remembered_in_another_language_is_a_main_clause(
    chat: Chat, typed: str, stored: str
) -> None:
    await chat.say("alice", f"!remember {typed}")
    [note] = await notes.of_subject(chat.db, IDS["alice"], (NoteStatus.ACTIVE,))
    assert note.fact == stored
