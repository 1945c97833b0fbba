"""How a memory takes corrections: a seeded contract of our own, and scenarios by somebody who knew no rule.

Each case is a new memory, a person with four notes and somebody else with the same kind of note; the old fact was also
said in chat, in the window that will be read after the correction. Then the person (command, plain speech) or the
streamer (dock) corrects it. Everything runs through the bot that `forgetmenot run` makes.
"""

import contextlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forgetmenot.app.control import chain
from forgetmenot.app.scenario_player import ScenarioPlayer
from forgetmenot.app.scenarios import playing, with_settings
from forgetmenot.clock import DAY, MINUTE, SECOND
from forgetmenot.domain.memory import Note, NoteStatus
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings
from forgetmenot.store import notes
from forgetmenot.text.statements import own_fact

WAYS = ("command", "dock", "speech")
SLOTS: Mapping[str, tuple[str, str, str, str]] = {
    # slot: (the note, how its subject says it, a question, values)
    "home": ("lives in {}", "I live in {} now", "where does alice live?", "Oslo Bergen Lyon Porto Brno"),
    "job": ("works as a {}", "I work as a {} now", "what does alice work as?", "nurse baker teacher welder pilot"),
    "game": (
        "favourite game is {}", "my favourite game is {}", "what is alice's favourite game?",
        "Celeste Hades Tunic Factorio Myst",
    ),
    "cat": (
        "has a cat called {}", "my cat is called {}", "what is alice's cat called?", "Miso Crumble Pickle Mochi Soot",
    ),
    "main": ("mains {}", "I main {} now", "who does alice main?", "Ahri Jinx Lux Teemo Zed"),
    "car": ("drives a {}", "I drive a {} now", "what does alice drive?", "Fiat Volvo Skoda Tesla Mazda"),
}  # fmt: skip
FALSE = {
    "quote": ('"{}" is what the other streamer said', 'the song goes "{}"'),
    "hypothetical": ("imagine if {}", "maybe one day {}", "what if {}?"),
    "joke": ("{} Kappa", "{} jk", "lol {} just kidding"),
    "third_party": ("my brother told me: {}", "bob always says {}"),
}
"""What looks like a correction by its subject and is none. Beside these, somebody else says it of them."""


@dataclass
class Tally:
    """Of each figure, how many of how many."""

    counts: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    minutes: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    missed: list[str] = field(default_factory=list)

    def add(self, name: str, case: str, *, holds: bool, good: bool = True) -> None:
        """Count one; what is not as it should be is kept by name."""
        self.counts[name][0] += holds
        self.counts[name][1] += 1
        if holds != good:
            self.missed.append(f"{name}: {case}")

    def figures(self) -> dict[str, Any]:
        """Shares, with what they are of."""
        shares = {name: f"{hit / of:.3f} ({hit} of {of})" for name, (hit, of) in sorted(self.counts.items())}
        waits = {f"{name}, minutes at most": max(took) for name, took in sorted(self.minutes.items())}
        return {**shares, **waits}


async def contract(seed: int, cases: int) -> Tally:
    """So many seeded cases for each way to correct."""
    tally, dice = Tally(), random.Random(seed)  # noqa: S311  # the same cases every time
    for way in WAYS:
        for _ in range(cases):
            slot = dice.choice(sorted(SLOTS))
            old, new, other = dice.sample(SLOTS[slot][3].split(), 3)
            await _corrected(tally, way, slot, old, new, other)
            await _not_corrected(tally, dice, slot, old, new)
    for _ in range(max(1, cases // 2)):
        slot = dice.choice(sorted(SLOTS))
        await _forgotten(tally, slot, dice.choice(SLOTS[slot][3].split()))
    return tally


async def _facts(player: ScenarioPlayer, who: str = "alice") -> str:
    return " | ".join(await player.seen("note", who)).casefold()


async def _begin(player: ScenarioPlayer, slot: str, old: str, other: str) -> None:
    note, speech = SLOTS[slot][0], SLOTS[slot][1]
    await player.know(f"alice: {note.format(old)}")
    await player.know(f"bob: {note.format(other)}")
    for fact in ("plays the cello", "collects stamps", "is afraid of spiders"):
        await player.know(f"alice: {fact}")
    await player.hear("dave", "good evening everybody")
    await player.hear("alice", speech.format(old).removesuffix(" now"))


async def _correct(player: ScenarioPlayer, way: str, slot: str, old: str, new: str) -> None:
    note, speech = SLOTS[slot][0], SLOTS[slot][1]
    if way == "command":
        await player.hear("alice", f"!remember {speech.format(new).removesuffix(' now')}")
    elif way == "dock":
        await player.pass_time(5 * SECOND)
        await player.order(f"dock edit alice: {old} -> {note.format(new)}")
    else:
        await player.hear("alice", speech.format(new))


async def _uptake(player: ScenarioPlayer, slot: str, old: str, new: str) -> bool:
    await player.hear("carol", f"@ForgetMeNot {SLOTS[slot][2]}")
    said = " ".join(await player.seen_reply()).casefold()
    recalled = " ".join(await player.seen_rows("others")).casefold()
    return all(new.casefold() in text and old.casefold() not in text for text in (said, recalled))


async def _corrected(  # one case
    tally: Tally, way: str, slot: str, old: str, new: str, other: str
) -> None:
    case = f"{slot}, {old} to {new}"
    async with playing(with_settings()) as player:
        await _begin(player, slot, old, other)
        before, began = await _facts(player, "bob"), player.clock.now()
        await _correct(player, way, slot, old, new)
        taken = await _uptake(player, slot, old, new)
        tally.add(f"{way}: uptake at the next reply", case, holds=taken)
        for wait in (5, 30, 5):
            if taken:
                break
            await player.pass_time(wait * MINUTE)
            taken = await _uptake(player, slot, old, new)
        tally.minutes[f"{way}: uptake"].append(round((player.clock.now() - began) / MINUTE, 1) if taken else 999.0)
        await player.order("backup")
        for when, orders in (
            ("maintenance", ["maintenance"]),
            ("the same chat is read again", ["clear dave", "maintenance"]),
            ("restore", ["restore", "maintenance"]),
        ):
            for order in orders:
                await player.order(order)
            tally.add(
                f"{way}: resurrection after {when}", case, holds=old.casefold() in await _facts(player), good=False
            )
        facts = await _facts(player)
        harmed = [word for word in ("cello", "stamps", "spiders") if word not in facts]
        tally.add(f"{way}: collateral damage", case, holds=bool(harmed), good=False)
        scoped = await _facts(player, "bob") == before and not await player.seen("note", "channel")
        tally.add(f"{way}: scope kept", case, holds=scoped)
        tally.add(f"{way}: provenance", case, holds=await _has_provenance(player, old, new))
        await player.pass_time(1 * DAY)
        await player.order("stream ends")
        await player.order("stream begins")
        await player.hear("alice", "hello again everybody")
        await _correct(player, way, slot, new, old)
        tally.add(f"{way}: reassertion at the next reply", case, holds=await _uptake(player, slot, new, old))


async def _has_provenance(player: ScenarioPlayer, old: str, new: str) -> bool:
    """Whether the new note rests on an episode, and the old one points to it."""
    held = await notes.of_subject(player.bot.db, "id-alice", tuple(NoteStatus))
    live = [note for note in held if new in note.fact and note.status is NoteStatus.ACTIVE]
    replaced = [note for note in held if old in note.fact and note.status is NoteStatus.SUPERSEDED]
    if not live or not replaced:
        return False
    origin = await chain(player.bot.db, live[-1].id)
    return bool(origin.get("evidence")) and any(note.superseded_by == live[-1].id for note in replaced)


async def _not_corrected(tally: Tally, dice: random.Random, slot: str, old: str, new: str) -> None:
    speech, note = SLOTS[slot][1].format(new), SLOTS[slot][0].format(new)
    kind = dice.choice(sorted(FALSE))
    lines = [("alice", dice.choice(FALSE[kind]).format(speech)), ("carol", f"alice {note}"), ("carol", speech)]
    async with playing(with_settings()) as player:
        await _begin(player, slot, old, old)
        for (who, line), name in zip(lines, (kind, "third_party", "third_party"), strict=True):
            await player.hear(who, line)
            await player.order("maintenance")
            facts = await _facts(player)
            wrong = new.casefold() in facts or old.casefold() not in facts
            tally.add(f"false application: {name}", f"{who}: {line}", holds=wrong, good=False)
            if wrong:
                return


async def _forgotten(tally: Tally, slot: str, value: str) -> None:
    """What its subject has forgotten stays forgotten, also where an older copy is put back."""
    async with playing(with_settings()) as player:
        await _begin(player, slot, value, value)
        await player.order("backup")
        held = [note for note in await _live(player) if value in note.fact]
        await player.hear("alice", f"!forget #{held[0].id}")
        for when, orders in (
            ("maintenance", ["maintenance"]),
            ("the same chat is read again", ["clear dave"]),
            ("restore of an older copy", ["restore", "maintenance"]),
        ):
            for order in orders:
                await player.order(order)
            back = value.casefold() in await _facts(player)
            tally.add(f"forgotten: resurrection after {when}", f"{slot}, {value}", holds=back, good=False)


async def _live(player: ScenarioPlayer) -> Sequence[Note]:
    return await notes.of_subject(player.bot.db, "id-alice", (NoteStatus.ACTIVE,))


# ── scenarios by somebody else ────────────────────────────────────────────────────────────────


def unseen(path: Path, split: str) -> Iterator[dict[str, Any]]:
    """The scenarios of one split of tests/data/corrections.jsonl."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if (found := json.loads(line))["split"] == split:
            yield found


async def play_unseen(path: Path, split: str) -> Tally:
    """What came before is written into the memory as notes, so that the correction is measured and not the learning."""
    tally = Tally()
    for one in unseen(path, split):
        async with playing(with_settings()) as player:
            who, text, way = one["correction"]
            people = await _before(player, one)
            if way == "dock":
                await _by_dock(player, text)
            else:
                await player.hear(who, text)
            for when in ("next reply", "after the chat was read"):
                if when != "next reply":
                    await player.order("maintenance")
                await player.hear("visitor", f"@ForgetMeNot {one['question']}")
                known = await _known(player, people)
                tally.add(f"{when}: {one['kind']}, {way}", f"{text} → {known}", holds=_is_right(one, known))
    return tally


async def play_behind_replies(path: Path) -> Tally:
    """What viewers say to correct the bot: it is right at once, or the bot answers how to put it right, or neither."""
    tally = Tally()
    for row in path.read_text("utf-8").splitlines():
        if row.startswith("#"):
            continue
        which, known, before, line, kept, gone = row.split("\t")
        async with playing(with_settings()) as player:
            for note in (f"alice: {known}", "alice: likes trains", "bob: collects stamps"):
                await player.know(note)
            for who in ("bob", "alice"):
                await player.hear(who, "good evening")
            said = line.removeprefix("= ") if line.startswith("= ") else ""
            who, _, text = line.partition(": ")
            if before:
                await player.order(f"says {before}")
                about = "me" if who == "alice" else "alice"
                await player.hear(who, f"@ForgetMeNot what do you know about {about}, tell")
            await (player.order(said) if said else player.hear(who, text))
            facts = " | ".join(await player.seen("note", "alice")).casefold()
            answers = [player.dock_said] if said else await player.seen_reply()
        right = (not gone or not re.search(rf"\b{gone}\b", facts)) and "trains" in facts
        right = right and (not kept or any(one in facts for one in kept.split("|")))
        told = not right and bool(answers)
        for name, holds in (("right at once", right), ("told how", told), ("neither", not (right or told))):
            tally.add(f"{which} list: {name}", f"{line} → {answers} {facts}", holds=holds, good=name == "right at once")
    return tally


SPOKEN_TO = ("uptake", "scope", "reassertion")


async def play_spoken_to(path: Path, split: str, settings: Settings) -> Tally:
    """What a model makes of the corrections in plain speech that the rules leave, where they are said to the bot."""
    tally = Tally()
    for one in unseen(path, split):
        who, text, way = one["correction"]
        if one["kind"] not in SPOKEN_TO or way != "speech":
            continue
        for asked in (with_settings(), settings):
            async with playing(asked) as player:
                people = await _before(player, one)
                await player.hear(who, f"@ForgetMeNot {text}")
                known, decided = await _known(player, people), await player.seen_action("correct")
            right = _is_right(one, known)
            if asked is not settings:
                tally.add(f"{one['kind']}: right by rules", text, holds=right)
                if right:
                    break
                continue
            said = f"{text} → {decided} → {known}"
            tally.add("left by rules: `correct` proposed", said, holds=bool(decided))
            tally.add("left by rules: `correct` allowed", said, holds=any(row.startswith("allow") for row in decided))
            tally.add(f"{one['kind']}: left by rules, right with the model", said, holds=right)
    return tally


async def _before(player: ScenarioPlayer, one: Mapping[str, Any]) -> list[str]:
    """Write and say what came before a correction; the people of it."""
    people = list(dict.fromkeys(speaker for speaker, _ in one["before"]))
    for speaker, line in one["before"]:
        head, _, rest = line.partition(": ")
        about, fact = (head, rest) if head in people else (speaker, line)
        about = "channel" if about == "streamer" else about
        with contextlib.suppress(InputError):  # "no spoilers please" is an order, which no note keeps
            await player.know(f"{about}: {(own_fact(fact) or fact).removesuffix('.')}")
        await player.hear(speaker, line)
    return people


async def _known(player: ScenarioPlayer, people: Sequence[str]) -> str:
    return " | ".join([await _facts(player, about) for about in (*people, "channel")])


def _is_right(one: Mapping[str, Any], text: str) -> bool:
    return all(word in text for word in one["expect"]) and not any(word in text for word in one["never"])


async def _by_dock(player: ScenarioPlayer, text: str) -> None:
    """`viewer: new text`: the streamer rewrites that viewer's newest note, or writes one where none was kept."""
    about, _, fact = text.partition(": ")
    subject = "channel" if about == "channel" else f"id-{about}"
    held = await notes.of_subject(player.bot.db, None if subject == "channel" else subject, (NoteStatus.ACTIVE,))
    if not held:
        with contextlib.suppress(InputError):
            await player.know(text)
        return
    await player.order(f"dock edit {about}: {held[-1].fact} -> {fact}")
