"""Correcting and forgetting as people type it: what is known, the lines, the answers, and what is known then.

A line of a dialogue: `+ alice: fact` is known before, `uses alice 1` is a reply of the bot to alice that used note 1,
`alice: …` is typed, `> …` stands in the answer (`> -`: there is none), `= alice: #1 fact · #2 fact` is known then.
"""

import pytest

from forgetmenot.memory import edits
from forgetmenot.store import bot_messages, notes
from forgetmenot.store.bot_messages import ReplyStatus
from tests.chat.conftest import IDS, Chat

DOG = "+ alice: has a dog called Rex\n+ alice: plays the drums\n"
HUND = "+ alice: hat einen Hund namens Rex\n+ alice: spielt Schlagzeug\n"

DIALOGUES = {
    "that's wrong, change it": """
        + bob: lives in Oslo
        + bob: plays the drums
        uses bob 1
        bob: @forgetmenot_bot that's wrong
        > Removed: #1 lives in Oslo
        > !restore 1
        bob: @forgetmenot_bot change it to lives in Tromsø
        > #1 lives in Tromsø
        = bob: #1 lives in Tromsø · #2 plays the drums
    """,
    "change it": """
        + bob: lives in Oslo
        + bob: plays the drums
        uses bob 1
        bob: @forgetmenot_bot change it to Bergen
        > #1 lives in Bergen
        = bob: #1 lives in Bergen · #2 plays the drums
        bob: !restore 1
        = bob: #1 lives in Oslo · #2 plays the drums
    """,
    "an edit by a word": f"""
        {DOG}
        uses alice 2
        alice: !edit dog is called Max
        > #1 dog is called Max
        > was: has a dog called Rex
        = alice: #1 dog is called Max · #2 plays the drums
        alice: !memory
        > #1 dog is called Max
    """,
    "an edit by a slot": """
        + alice: works as a nurse
        + alice: lives in Oslo
        alice: !edit based in Tromsø
        > was: lives in Oslo
        = alice: #1 works as a nurse · #2 based in Tromsø
    """,
    "an edit with its number": f"""
        {DOG}
        + alice: works as a nurse
        alice: !edit 3 works as a doctor
        > #3 works as a doctor
        = alice: #1 has a dog called Rex · #2 plays the drums · #3 works as a doctor
    """,
    "a wrong number": f"""
        {DOG}
        alice: !edit 99 works as a doctor
        > #99
        > !memory
        alice: !wrong 99
        > #99
        alice: !forget 99
        > #99
        = alice: #1 has a dog called Rex · #2 plays the drums
    """,
    "an edit that fits nothing": """
        + alice: plays the drums
        uses alice 1
        alice: !edit favourite colour is green
        > No note
        > #2 favourite colour is green
        > !wrong 2
        = alice: #1 plays the drums · #2 favourite colour is green
    """,
    "one word": """
        + bob: the car is red
        uses bob 1
        bob: !edit it's green
        > Type the whole note, like: !edit 1
        bob: !edit Tesla
        > Type the whole note
        bob: !edit lives in Bergen not Oslo
        > #2 lives in Bergen not Oslo
        bob: !edit lives in Tromsø not Bergen
        > #2 lives in Tromsø (was: lives in Bergen
        bob: !wrong number 2
        > Removed: #2
        bob: !wrong that one
        > Removed: #1
        = bob:
    """,
    "a name within a word": """
        + alice: grows Tomatoes for Tom
        alice: !edit Tim, not Tom
        > #1 grows Tomatoes for Tim
    """,
    "dogs, not cats": """
        + alice: likes cats
        alice: !edit likes dogs, not cats
        > #1 likes dogs (was: likes cats)
    """,
    "an edit that fits two": """
        + alice: has a cat called Mia
        + alice: has a cat called Tom
        alice: !edit cat is called Max
        > #1 has a cat called Mia · #2 has a cat called Tom
        = alice: #1 has a cat called Mia · #2 has a cat called Tom
        alice: !edit 2 has a cat called Max
        = alice: #1 has a cat called Mia · #2 has a cat called Max
    """,
    "wrong and forget are one": """
        + alice: plays the drums
        + alice: lives in Rome
        + alice: has a sister
        uses alice 2
        alice: !wrong drums
        > Removed: #1 plays the drums
        > !restore 1
        alice: !forget sister
        > Removed: #3 has a sister
        > !restore 3
        > permanently
        alice: !wrong
        > Removed: #2 lives in Rome
        alice: !memory
        > I know nothing about you
        alice: !restore 3
        > #3 has a sister
        alice: !forget sister permanently
        > Permanently deleted: #3 has a sister
        alice: !restore 3
        > #3
        = alice:
    """,
    "forgetme, yes": f"""
        {DOG}
        alice: !forgetme
        > !forgetme yes
        alice: yes
        > everything is deleted
        = alice:
    """,
    "forgetme yes": f"""
        {DOG}
        alice: !forgetme
        bob: yes
        > -
        alice: !forgetme yes
        > everything is deleted
        = alice:
    """,
    "forgetme, and something else": f"""
        {DOG}
        alice: !forgetme
        alice: hm, let me think
        > -
        alice: yes
        > -
        = alice: #1 has a dog called Rex · #2 plays the drums
    """,
    "never mention, twice": """
        + alice: has exams in June
        alice: !nevermention exams
        > I won't mention that again
        alice: !nevermention my Exam
        > I may mention that again
        alice: !memory
        > #1 has exams in June
    """,
    "a moderator corrects somebody else's note": """
        + bob: lives in Oslo
        carol: !edit 1 lives in Bergen
        > #1 lives in Bergen
        carol: !edit @bob lives in Tromsø
        > #1 lives in Tromsø
        alice: !edit 1 lives in the attic
        > #1
        = bob: #1 lives in Tromsø
        carol: !forget @bob tromsø
        > Removed: #1 lives in Tromsø
        > !restore 1
        bob: !restore 1
        > moderator
        carol: !restore 1
        = bob: #1 lives in Tromsø
    """,
    "a note about the channel": """
        + alice: lives in Paris
        + channel: the stream starts at 8 pm
        uses alice 1
        alice: !good
        > Thanks
        alice: !bad
        > !wrong
        alice: !edit 2 the stream starts at noon
        > #2
        carol: !edit 2 the stream starts at 9 pm
        > #2 the stream starts at 9 pm
        carol: !edit stream starts at 10 pm
        > #2 stream starts at 10 pm
        = channel: #2 stream starts at 10 pm
        alice: !edit livse in Lyon
        > #5 livse in Lyon
        = alice: #1 lives in Paris · #5 livse in Lyon
    """,
    "das stimmt nicht, ändere das": """
        + bob: wohnt in Hamburg
        + bob: spielt Schlagzeug
        uses bob 1
        bob: @forgetmenot_bot das stimmt nicht
        > wohnt in Hamburg
        bob: @forgetmenot_bot ändere das zu wohnt in Kiel
        > #1 wohnt in Kiel
        = bob: #1 wohnt in Kiel · #2 spielt Schlagzeug
    """,
    "Hund heißt Max": f"""
        {HUND}
        uses alice 2
        alice: !edit Hund heißt Max
        > #1 Hund heißt Max
        = alice: #1 Hund heißt Max · #2 spielt Schlagzeug
    """,
    "forgetme, ja": f"""
        {HUND}
        alice: !forgetme
        alice: Ja!
        > deleted
        = alice:
    """,
    "Prüfungen": """
        + alice: hat im Juni Prüfungen
        alice: !nevermention Prüfungen
        > I won't mention that again
        alice: !nevermention prüfungen
        > I may mention that again
    """,
    "was nicht mehr da ist": """
        + alice: spielt Schlagzeug
        + alice: wohnt in Rom
        alice: !wrong schlagzeug
        > Removed: #1 spielt Schlagzeug
        alice: !forget 2
        > Removed: #2 wohnt in Rom
        alice: !forget 2
        > already removed
        alice: !restore 1
        alice: !forget gitarre
        > can't find
        > !memory
        = alice: #1 spielt Schlagzeug
    """,
    "das ist Bonn, nicht Köln": """
        + alice: spielt Schlagzeug
        + alice: wohnt in Köln
        uses alice 2
        alice: !edit das ist Bonn, nicht Köln
        > #2 wohnt in Bonn
        = alice: #1 spielt Schlagzeug · #2 wohnt in Bonn
    """,
    "Moderatorin und Kanal": """
        + alice: hat zwei Katzen
        + channel: freitags läuft Mario Kart
        carol: !edit 1 hat drei Katzen
        > #1 hat drei Katzen
        carol: !edit 77 samstags läuft Mario Kart
        > #77
        carol: !edit 2 samstags läuft Mario Kart
        > #2 samstags läuft Mario Kart
        alice: !forget Mario
        > can't find
        = channel: #2 samstags läuft Mario Kart
        alice: !help
        > !memory
        > !edit
        > !forgetme
        > !optout
    """,
}


@pytest.mark.parametrize("script", DIALOGUES.values(), ids=DIALOGUES)
async def test_a_dialogue_about_what_is_known(chat: Chat, script: str) -> None:
    answer: str | None = None
    for line in filter(None, map(str.strip, script.splitlines())):
        who, _, text = line.partition(": ")
        if line.startswith("> "):
            assert (line == "> -" and answer is None) or line[2:] in (answer or ""), (line, answer)
        elif line.startswith("= "):
            who = line[2:].partition(":")[0]
            known = await notes.of_subject(chat.db, IDS.get(who))
            assert f"= {who}: {' · '.join(f'#{note.id} {note.fact}' for note in known)}".strip() == line
        elif line.startswith("+ "):
            about = IDS.get(who[2:])
            await edits.remember(chat.db, about, text, by=IDS["carol"], at=chat.clock.now())
        elif line.startswith("uses "):
            await _replied(chat, *line.split()[1:])
        else:
            answer = await chat.say(who, text)


async def _replied(chat: Chat, to: str, note: str) -> None:
    async with chat.db.write() as tx:
        reply = await bot_messages.begin(
            tx, at=chat.clock.now(), event_id=None, viewer_id=IDS[to], trigger="mention", mode="mentions"
        )
        await bot_messages.record_answer(tx, reply, model="m", latency_ms=1, usage={}, filters=(), used=[int(note)])
        await bot_messages.settle(tx, reply, ReplyStatus.SENT, text="As I remember it.")
