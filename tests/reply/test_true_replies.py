"""What a capable model says goes out as it wrote it: true replies in four moods, over prompts that the bot builds.

The model is a server on loopback that answers with the reply object (tests/data/true_replies.tsv).
"""

import json
from collections.abc import Mapping
from pathlib import Path

from forgetmenot.domain import Scope
from forgetmenot.llm.openai_compatible import OpenAICompatible
from tests.loopback_servers.openai import SimOpenAI
from tests.stage import PEOPLE, Stage

ALICE, BOB, CAROL = PEOPLE
FACTS = (
    (ALICE, "drives a 1994 Volvo called Bertha"), (ALICE, "loves Thai food"), (ALICE, "cannot stand coriander"),
    (ALICE, "plays the cello in a string quartet"), (ALICE, "lives in Bergen"), (ALICE, "works nights as a nurse"),
    (BOB, "is allergic to peanuts"), (BOB, "favourite pizza topping is anchovies"), (BOB, "has two kids"),
    (BOB, "beat the swamp boss without taking a hit"), (CAROL, "wohnt in Kiel"), (CAROL, "hat eine Katze namens Miso"),
    (CAROL, "spielt Schlagzeug"), (None, "movie night is on Fridays at 20:00"),
    (None, "chat votes on the last dish with emotes"),
)  # fmt: skip
ROWS = (
    (Path(__file__).parents[1] / "data" / "true_replies.tsv")
    .read_text(encoding="utf-8")
    .splitlines()[1:]
)
PARAMETERS: Mapping[str, Mapping[str, object]] = {
    "ban": {"target": "alice"}, "long_timeout": {"target": "bob", "seconds": 3_600}, "delete": {"target": "bob"},
    "title": {"text": "alice rules"},
}  # fmt: skip


async def test_true_replies_go_out_as_they_were_written(stage: Stage) -> None:
    ids = [
        await stage.know(fact, viewer_id, Scope.VIEWER if viewer_id else Scope.CHANNEL)
        for viewer_id, fact in FACTS
    ]
    asked_by = {login: viewer for viewer, login in PEOPLE.items()}
    changed = []
    kept_wrongly = []
    async with SimOpenAI() as server:
        stage.writer.model = model = OpenAICompatible("capable", base_url=server.url)
        for mood, login, line, say, facts, refused in (row.split("\t") for row in ROWS):
            for viewer in PEOPLE:  # chat goes on meanwhile
                await stage.hear("that was close", viewer)
            used = [ids[int(number)] for number in facts.split()]
            action = {"name": refused, **PARAMETERS[refused]} if refused else None
            boast = "There you go, done." if refused else say
            server.answers(
                json.dumps(
                    {
                        "action": action,
                        "notes": [*used, 9_999],
                        "say": boast,
                        "if_refused": say,
                    }
                )
            )
            reply = await stage.reply(f"@forgetmenot_bot {line}", asked_by[login])
            if stage.said[-1:] != [say]:
                changed.append((mood, line, say, reply.text, reply.detail))
            row = await stage.row(reply.id)
            rows = list[list[object]]()
            for section in row.prompt["sections"]:
                rows += section["rows"]
            # an id that stood in no prompt is none
            if list(row.used) != [
                note_id for note_id in used if ["notes", note_id] in rows
            ]:
                kept_wrongly.append(line)
            await stage.clock.advance(60_000)
        await model.aclose()
    assert len(ROWS) == 40
    assert (changed, kept_wrongly) == ([], [])
