"""By which words people are found, and whom a text names."""

from collections.abc import Sequence

import pytest

from forgetmenot.people.common_words import kind_of
from forgetmenot.text.names import (
    Fit,
    NamedPerson,
    NameIndex,
    keys_in,
    name_words,
    nicknames_in,
)

CROWD = (
    NamedPerson("1", "willie_drives", "Willie_Drives", is_here=True),
    NamedPerson("2", "alice92", "Alice92", is_known=True),
    NamedPerson("3", "bobthebuilder", "BobTheBuilder", is_known=True),
    NamedPerson("4", "bob_ross", "bob_ross", is_known=True),
    NamedPerson("5", "game", "Game", is_known=True),
    NamedPerson("6", "carolina", "Carolina", former=("oldcarol",), is_known=True),
    NamedPerson("7", "night_owl", "night_owl", is_known=True),
    NamedPerson("8", "theodor77", "theodor77", is_known=True),
    NamedPerson("9", "xx_annika_xx", "xX_annika_Xx", is_known=True),
    NamedPerson("10", "sebastianplays", "sebastianplays", is_here=True),
    NamedPerson("11", "sebi_1", "Sebi_1", is_known=True),
    NamedPerson("12", "drums", "drums", is_known=True),
    NamedPerson("13", "friday", "Friday", is_known=True),
    NamedPerson("14", "ole_2001", "ole_2001", is_known=True),
    NamedPerson("15", "sakura_88", "さくら", is_known=True),
    NamedPerson("16", "yamada_t", "山田太郎", is_known=True),
    NamedPerson("17", "minji", "민지", is_known=True),
    NamedPerson("18", "yuzu_cha", "yuzu_cha", is_known=True),
    NamedPerson("19", "raider_zed", "raider_zed"),
    NamedPerson("20", "shlomo122", "shlomo122", is_known=True),
    NamedPerson("21", "pianoman", "pianoman", is_known=True),
    NamedPerson("22", "sadgecat", "sadgecat", is_here=True),
    NamedPerson("99", "channel_owner", "Channel_Owner", is_known=True),
)
NICKNAMES = {"mo": ["20"], "shelly": ["20"]}


def index(texts: Sequence[str], people: Sequence[NamedPerson] = CROWD) -> NameIndex:
    """The index that the database would give for these texts."""
    keys = keys_in(texts, kind_of)
    by_word: dict[str, list[str]] = {}
    for person in people:
        names = (person.login, person.display_name, *person.former)
        words = set(name_words(person.login, person.display_name))
        for name in names:
            words |= name_words(name, name)
        for key in keys.exact & words:
            by_word.setdefault(key, []).append(person.viewer_id)
        for key in keys.short:
            is_new = person.viewer_id not in by_word.get(key, [])
            if is_new and any(word.startswith(key) for word in words):
                by_word.setdefault(key, []).append(person.viewer_id)
    return NameIndex(
        people={person.viewer_id: person for person in people},
        by_word=by_word,
        by_nickname=NICKNAMES,
        kind_of=kind_of,
        streamer="99",
        streamer_names=frozenset({"channelowner"}),
    )


@pytest.mark.parametrize(
    ("text", "viewer_ids"),
    [
        ("how does willie drive?", ["1"]),
        ("what about @Alice92?", ["2"]),
        ("alice is late", ["2"]),
        ("carolina and willie and alice", ["6", "1"]),
        ("oldcarol used to come", ["6"]),
        ("nightowl!", ["7"]),
        ("night_owl!", ["7"]),
        ("bob is here", ["3", "4"]),
        ("bobthebuilder is here", ["3"]),
        ("what a game", []),
        ("@game what do you think", ["5"]),
        ("when is carolinas birthday?", ["6"]),
        ("@nobody_here hello", []),
        ("<@2> said so", ["2"]),
        ("", []),
        ("what does theo play?", ["8"]),
        ("theodor?", ["8"]),
        ("is annika coming", ["9"]),
        ("seb is here", ["10"]),  # of two whom it fits the one who is in chat
        ("@theo hi", []),
        ("and zed?", []),  # nothing is known about him
        ("Oles Lauf war gut", ["14"]),
        ("Sadge my cat ran away", []),
        ("@sadgecat hi", ["22"]),
        ("what does shelly do", ["20"]),
        ("@shelly hi", ["20"]),
    ],
)
def test_people_are_found_by_name_and_by_a_short_form_that_fits_one(
    text: str, viewer_ids: list[str]
) -> None:
    assert index([text]).named_in(text) == viewer_ids


@pytest.mark.parametrize(
    ("text", "viewer_ids"),
    [
        ("who plays drums?", ["12"]),
        ("annika plays drums", ["9"]),
        ("@drums hi", ["12"]),
        ("see you on friday", ["13"]),
        ("does willie stream on friday?", ["1"]),
        ("does he play the piano?", []),
    ],
)
def test_an_ordinary_word_names_somebody_only_where_nobody_else_is_named(
    text: str, viewer_ids: list[str]
) -> None:
    assert index([text]).named_in(text) == viewer_ids


@pytest.mark.parametrize(
    ("text", "viewer_ids"),
    [
        ("さくらさんは元気?", ["15"]),
        ("昨日さくらさんが来た", ["15"]),
        ("山田太郎さんの猫", ["16"]),
        ("민지는 뭐해?", ["17"]),
        ("@yuzu_chaさん私も来月札幌に引っ越すよ", ["18"]),
        ("＠yuzu_chaさん", ["18"]),
        ("yuzu_chaさん", ["18"]),
        ("猫が好き", []),
        ("annikaさん", ["9"]),
    ],
)
def test_names_are_found_where_no_space_ends_them(
    text: str, viewer_ids: list[str]
) -> None:
    assert index([text]).named_in(text) == viewer_ids


ABROAD = (
    NamedPerson("1", "camillejoue", "CamilleJoue", is_here=True),
    NamedPerson("2", "abuela_pro", "abuela_pro", is_here=True),
    NamedPerson("3", "noe_lyon", "Noe_Lyon", is_here=True),
    NamedPerson("4", "der_olli", "der_olli", is_known=True),
    NamedPerson("5", "tito_du_93", "tito_du_93", is_known=True),
    NamedPerson("6", "guimarreta", "GuiMarreta", is_known=True),
    NamedPerson("7", "pixelpaula", "pixelpaula", is_known=True),
    NamedPerson("8", "katze", "katze", is_here=True),
    NamedPerson("9", "elchinogaming", "elChinoGaming", is_known=True),
    NamedPerson("10", "duda_77", "Duda_77", is_known=True),
    NamedPerson("11", "zeldafan", "ZeldaFan", is_here=True),
)


@pytest.mark.parametrize(
    "text",
    [
        "je joue du ukulélé dans le métro",
        "bien joué",
        "mi abuela vive en Madrid",
        "je le refais chaque noël",
        "meine Katze schläft",
        "je joue à zelda depuis hier",
        "je joue à Zelda depuis hier",
        "ich spiele heute Zelda",
    ],
)
def test_a_word_of_another_language_is_surely_nobodys_name(text: str) -> None:
    assert index([text], ABROAD).certain_in(text) == set()


@pytest.mark.parametrize(
    ("text", "viewer_ids"),
    [
        ("wie viele Kinder hat der Olli?", ["4"]),
        ("pourquoi tito est tonton ?", ["5"]),
        ("que carro o Gui está reformando?", ["6"]),
        ("was ist Paulas Beruf?", ["7"]),
        ("wie geht es der @katze?", ["8"]),
        ("qu'est-ce que Camille joue ?", ["1"]),
        ("dónde vive elChino ahora?", ["9"]),
        ("noé est là ?", ["3"]),
        ("@ForgetMeNot onde foi o casamento da Duda?", ["10"]),
        ("eu tenho uma duda", []),
    ],
)
def test_a_word_of_english_may_be_a_name_in_another_language(
    text: str, viewer_ids: list[str]
) -> None:
    assert index([text], ABROAD).named_in(text) == viewer_ids


@pytest.mark.parametrize(
    "text",
    ["what does the streamer eat?", "@channel_owner hi", "was isst der Streamer?"],
)
def test_the_streamer_is_meant_by_role_and_by_the_channels_name(text: str) -> None:
    assert index([text]).named_in(text) == ["99"]


def test_two_whom_a_short_form_fits_are_both_named_and_three_are_nobody() -> None:
    question = "what does bob play?"
    [naming] = index([question]).namings(question)
    assert (naming.viewer_ids, naming.fit) == (("3", "4"), Fit.PART)
    third = NamedPerson("30", "bob_5", "bob_5", is_known=True)
    assert index([question], (*CROWD, third)).namings(question) == []
    # who speaks does not ask about themselves
    assert index([question]).named_in(question, without={"3"}) == ["4"]


def test_a_login_is_its_holders_whoever_else_is_shown_by_it_or_had_it() -> None:
    people = (
        NamedPerson("1", "alicia", "Alicia", former=("alice",), is_here=True),
        NamedPerson("2", "alice", "Alice"),
        NamedPerson("3", "mallory", "Alice", is_here=True),
    )
    assert index(["@alice hi"], people).named_in("@alice hi") == ["2"]
    assert index(["@alice hi"], (people[0],)).named_in("@alice hi") == ["1"]


@pytest.mark.parametrize(
    ("fact", "names"),
    [
        ("goes by Deb", ["deb"]),
        ("is called “Shlomo” by chat", ["shlomo"]),
        ("goes by Deb or Debbie.", ["deb", "debbie"]),
        ("is called Deb Smith", []),
        ("has a dog called Max", []),
        ("wird Debbie genannt", ["debbie"]),
        ("prefers to be called さくら", ["さくら"]),
        ("is called in for work", []),
        ("plays drums", []),
        ("goes by king", []),
        ("goes by moderator", []),
        ("is known as the", []),
    ],
)
def test_a_note_gives_its_subject_nicknames_of_one_word(
    fact: str, names: list[str]
) -> None:
    assert nicknames_in(fact) == names
