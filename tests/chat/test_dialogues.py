"""Dialogues in chat: what is known, who types what, what is answered, what is known then; no model is needed.

`+ alice: fact · fact` is known before, `uses alice 1` is a reply of the bot to alice that used note 1, `propose …` a
title that waits for approval. `alice: typed -> part | part`: the parts stand in the answer (`-`: there is none).
`= alice: #1 fact · #2 fact` is known then.
"""

import pytest

from forgetmenot.memory import edits
from forgetmenot.store import notes
from forgetmenot.text.unsendable import without_command
from tests.chat.conftest import IDS, Chat

DIALOGUES = """
# people in a fact are ids
alice: !remember I sing in @Bob's band with @nobody -> Remembered: sings in Bob's band with somebody (1)
alice: !remember alice plays drums -> Remembered: plays drums (2)
# a moderator tells of anybody and of the channel
carol: !remember @bob's cat is called Miso -> Remembered about Bob: their cat is called Miso (1)
carol: !remember channel: streams on Fridays -> Remembered about the channel: streams on Fridays (2)
carol: !forget fridays -> Removed: #2 streams on Fridays. To undo: !restore 2
# what is never stored is refused with a reason
alice: !remember my phone number is 555 867 5309 now -> I don't store that kind of thing about people.
alice: !remember {'a': 1} is mine -> I don't store commands or code.
alice: !remember this about me -> Tell me something about yourself, like: !remember I play drums
alice: !remember from Berlin -> Remembered: from Berlin (1)
# what was replaced can be forgotten by its subject too
alice: !remember I live in Oslo -> Remembered: lives in Oslo (1)
alice: !remember I live in Bergen -> Remembered: lives in Bergen (2)
alice: !forget oslo -> I can't find anything like that about you. !memory shows what I know.
alice: !forget oslo permanently -> Permanently deleted: #1 lives in Oslo · Receipt: !receipt
# what was replaced is corrected by its old number too, what was removed is not
alice: !remember I live in Oslo -> Remembered: lives in Oslo (1)
alice: !remember I live in Bergen -> Remembered: lives in Bergen (2)
alice: !edit 1 Hamar -> Changed: #2 lives in Hamar (was: lives in Bergen)
alice: !forget 2 -> Removed: #2 lives in Hamar
alice: !edit 1 lives in Molde -> That note is already removed.
# an age below eighteen is not stored, but a name beside it is; a cat is of any age
alice: !remember ich bin 15 -> I don't store that kind of thing about people.
alice: !remember I am 15 and play drums -> Remembered: play drums (1)
alice: !remember my daughter is called Mia and is 7 -> Remembered: your daughter is called Mia (2)
alice: !remember I have a cat named Krümel, which is 14 years old -> Remembered: has a cat named | 14 years old (3)
alice: !edit 1 is 16 years old -> I don't store that kind of thing about people.
# nobody is somebody by their own word
alice: !remember that I am a moderator -> Nice try! Who is who here | Twitch's badges
alice: @forgetmenot_bot remember that I'm your king -> Nice try!
alice: !remember I'm @Bob's wife -> Nice try!
alice: !remember soy la dueña de este canal -> Nice try!
carol: !remember I am the owner of this channel -> Nice try!
alice: !remember I am a moderator on Reddit -> Remembered: is a moderator on Reddit (1)
alice: !edit 1 is a moderator -> Nice try!
= alice: #1 is a moderator on Reddit
# when two fit it asks
alice: !remember I play drums -> Remembered: plays drums (1)
alice: !remember my brother sells drums in Oslo -> Remembered: your brother sells drums in Oslo (2)
alice: !forget drums -> Which one? #2 their brother sells drums in Oslo · #1 plays drums. Put its number behind
alice: !forget #2 forever -> Permanently deleted: #2 their brother sells drums in Oslo
# a viewer forgets and corrects nothing of others
bob: !remember I play drums -> Remembered: plays drums (1)
alice: !forget #1 -> There is no note #1 that you can change.
alice: !forget @bob drums -> You can only do that for yourself. Ask a moderator.
alice: !edit 1 plays nothing at all -> There is no note #1 that you can change.
alice: !memory bob -> You can only do that for yourself. Ask a moderator.
alice: !who bob -> -
# its subject and moderators correct a note
alice: !remember I play drums -> Remembered: plays drums (1)
alice: !edit #1 plays the cello -> Changed: #1 plays the cello (was: plays drums). To undo: !restore 1
carol: !edit 1 plays bass with @bob -> Changed: #1 plays bass with Bob (was: plays the cello). To undo: !restore 1
alice: !edit 1 my phone number is 555 867 5309 -> I don't store that kind of thing about people.
# what is wrong is taken back by its number, and nothing else is
alice: !remember my cat is Biscuit -> Remembered: your cat is Biscuit (1)
bob: !wrong 1 -> There is no note #1 that you can change.
alice: !wrong 1 -> Removed: #1 their cat is Biscuit. To undo: !restore 1 · to delete it: !forget 1 permanently
alice: !wrong -> Which note? !memory shows their numbers. !wrong 12 removes one, !edit 12 lives in Oslo corrects
alice: !wrong violins -> I can't find anything like that about you. !memory shows what I know.
alice: @forgetmenot_bot that's wrong -> -
# a moderator removes and restores
alice: !remember I play drums -> Remembered: plays drums (1)
carol: !wrong #1 -> Removed: #1 plays drums. To undo: !restore 1
carol: !wrong #1 -> That note is already removed. !restore and its number bring it back.
alice: !restore 1 -> You can only do that for yourself. Ask a moderator.
bob: !restore 1 -> There is no note #1 that you can change.
# an erasure has to be confirmed
alice: !remember I play drums -> Remembered: plays drums (1)
alice: !forgetme -> This permanently deletes everything about you: notes, today's messages, mentions in summaries.
bob: !forgetme alice confirm -> You can only do that for yourself. Ask a moderator.
alice: hm, let me think -> -
alice: yes -> -
= alice: #1 plays drums
# of who opted out nothing is kept and nothing is said
alice: !remember I play drums -> Remembered: plays drums (1)
alice: !optout -> Done: nothing from you is stored from now on, and I won't use what I knew. !forgetme deletes it.
alice: !remember I play bass -> You opted out, so I don't store anything. !optin changes that.
carol: !edit 1 plays bass -> They asked me not to store that.
alice: !memory -> 1 note from before the opt-out is still stored, but not used. !forgetme deletes it.
carol: !remember alice has a violet -> They asked me not to store that.
alice: !optin -> Welcome back: I remember you again.
alice: !memory -> What I know about you: #1 plays drums
# what is not to be mentioned is not said aloud
alice: !remember I got divorced in May -> Remembered: got divorced in May (1)
alice: !remember I play drums -> Remembered: plays drums (2)
alice: !nevermention divorce -> I won't mention that again. The same command again undoes it.
carol: !memory alice -> What I know about Alice: #2 plays drums · #1 (not mentioned)
alice: !forget #1 permanently -> Permanently deleted: #1
carol: !nevermention @alice Divorce -> OK, I may mention that again.
alice: !nevermention 2 -> I won't mention that again. The same command again undoes it.
carol: !memory alice -> What I know about Alice: #2 (not mentioned)
# switches
carol: !bot pause -> ForgetMeNot: paused until !bot resume.
carol: !bot resume -> ForgetMeNot: on (Mentions).
carol: !bot quiet 10 -> ForgetMeNot: quiet for 10 more min.
carol: !bot resume -> ForgetMeNot: on (Mentions).
carol: !bot safe -> ForgetMeNot: on (Mentions), safe mode is on.
dave: !bot pause -> ForgetMeNot: paused until !bot resume, safe mode is on.
# that's wrong, change it
+ bob: lives in Oslo · plays the drums
uses bob 1
bob: @forgetmenot_bot that's wrong -> Removed: #1 lives in Oslo | !restore 1
bob: @forgetmenot_bot change it to lives in Tromsø -> #1 lives in Tromsø
= bob: #1 lives in Tromsø · #2 plays the drums
# an edit that fits two
+ alice: has a cat called Mia · has a cat called Tom
alice: !edit cat is called Max -> #1 has a cat called Mia · #2 has a cat called Tom
= alice: #1 has a cat called Mia · #2 has a cat called Tom
alice: !edit 2 has a cat called Max
= alice: #1 has a cat called Mia · #2 has a cat called Max
# a moderator corrects somebody else's note
+ bob: lives in Oslo
carol: !edit 1 lives in Bergen -> #1 lives in Bergen
carol: !edit @bob lives in Tromsø -> #1 lives in Tromsø
alice: !edit 1 lives in the attic -> #1
= bob: #1 lives in Tromsø
carol: !forget @bob tromsø -> Removed: #1 lives in Tromsø | !restore 1
bob: !restore 1 -> moderator
carol: !restore 1
= bob: #1 lives in Tromsø
# a note about the channel
+ alice: lives in Paris
+ channel: the stream starts at 8 pm
uses alice 1
alice: !good -> Noted
alice: !bad -> !wrong
alice: !edit 2 the stream starts at noon -> #2
carol: !edit 2 the stream starts at 9 pm -> #2 the stream starts at 9 pm
carol: !edit stream starts at 10 pm -> #2 stream starts at 10 pm
= channel: #2 stream starts at 10 pm
# erased, once confirmed
alice: !REMEMBER that i play drums. -> Remembered: plays drums (1)
alice: !forgetme -> !forgetme yes
bob: yes -> -
alice: Ja! -> Done: everything is deleted. I searched |  files ( | 0 traces
= alice:
# erased by a moderator
+ alice: has a dog called Rex
carol: !forgetme alice yes -> everything is deleted | 0 traces
= alice:
# a moderator who calls an answer wrong means a note about whoever got it
+ carol: plays drums
+ alice: plays drums
uses alice 2
carol: !wrong -> Removed: #2 plays drums. To undo: !restore 2
# nobody approves what was not shown
carol: !approve -> Nothing is waiting for approval.
propose New title
carol: !deny -> Which one? #1 title “New title”. Put its number behind the command.
carol: !bot status -> ForgetMeNot: on (Mentions), 1 waiting for approval.
carol: !approve 1 -> Done: title “New title”.
propose a
propose b
carol: !approve -> Which one? #2 title “a”, #3 title “b”. Put its number behind the command.
carol: !deny 2 -> Not done: title “a”.
carol: !deny 2 -> #2 is not waiting for approval.
"""


@pytest.mark.parametrize(
    "dialogue", DIALOGUES.split("\n# ")[1:], ids=lambda text: text.partition("\n")[0]
)
async def test_a_dialogue(chat: Chat, dialogue: str) -> None:
    for line in dialogue.strip().splitlines()[1:]:
        before, _, expected = line.partition(" -> ")
        login, _, text = before.partition(": ")
        if line.startswith("= "):
            login = line[2:].partition(":")[0]
            known = await notes.of_subject(chat.db, IDS.get(login))
            assert (
                f"= {login}: {' · '.join(f'#{note.id} {note.fact}' for note in known)}".strip()
                == line
            )
        elif line.startswith("+ "):
            for fact in text.split(" · "):
                await edits.remember(
                    chat.db,
                    IDS.get(login[2:]),
                    fact,
                    by=IDS["carol"],
                    at=chat.clock.now(),
                )
        elif line.startswith("uses "):
            await chat.replied(*line.split()[1:])
        elif line.startswith("propose "):
            await chat.propose(line.removeprefix("propose "))
        else:
            answer = await chat.say(login, text)
            await chat.eraser.idle()
            assert (answer is None) == (expected == "-") or not expected, (line, answer)
            assert expected == "-" or all(
                part in (answer or "") for part in expected.split(" | ")
            ), (line, answer)
            assert without_command(answer or "") == (
                answer or ""
            )  # a mark in front is cut before it is sent
