"""`forgetmenot recall`: the notes that would be recalled for a message, in order."""

import argparse
from time import perf_counter
from typing import TYPE_CHECKING, Any

from forgetmenot.cli.common import (
    Commands,
    add_db_option,
    add_json_option,
    emit,
    existing_database,
    known_viewer,
    number_from,
    run_async,
    show_line,
    text_lines,
)
from forgetmenot.cli.note_output import as_json

if TYPE_CHECKING:
    from forgetmenot.domain.memory import Recalled
    from forgetmenot.memory.recall import Recall
    from forgetmenot.store.database import Database

KEYS = """JSON of one question: {"viewer_id", "ms", "notes": [{"rank", "score", and the keys of a note as in
`forgetmenot memory show --help`}]}. A score of 0 is padding by confidence and recency.
--batch takes JSON lines {"id", "viewers": [logins or ids], "text", "limit"?} and prints a line for each, in order:
{"id", "note_ids": [best first], "ms"}; a line that cannot be used gets {"id", "error"}."""


def add(subparsers: Commands) -> None:
    """Name the command and its options."""
    parser = subparsers.add_parser(
        "recall",
        help="show the notes that a message would bring up",
        description="Shows the notes about a viewer that a message would bring up, best first.",
        epilog=KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("text", nargs="?", metavar="TEXT", help="the message")
    parser.add_argument("--viewer", metavar="LOGIN", help="the viewer (login or id)")
    parser.add_argument("--batch", metavar="FILE", help="questions as JSON lines (- reads standard input)")
    parser.add_argument("--limit", type=number_from(1), default=10, help="at most this many notes (default: 10)")
    parser.add_argument("--now", metavar="ISO", help="the time to recall at (default: now)")
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=lambda arguments: run_async(_run(arguments)))


async def _run(arguments: argparse.Namespace) -> None:
    from forgetmenot.clock import ManualClock
    from forgetmenot.errors import InputError
    from forgetmenot.memory.recall import Recall
    from forgetmenot.settings.schema import Settings
    from forgetmenot.store.database import open_database

    if (arguments.batch is None) == (arguments.viewer is None or arguments.text is None):
        raise InputError("Give --viewer LOGIN and a TEXT, or --batch FILE.")
    settings = Settings()
    clock = ManualClock(_now(arguments))
    async with open_database(existing_database(arguments)) as db:
        recall = Recall(db=db, settings=lambda: settings, clock=clock)
        if arguments.batch is not None:
            await _batch(db, recall, arguments.batch)
        else:
            await _one(db, recall, arguments)


def _now(arguments: argparse.Namespace) -> int:
    from forgetmenot.clock import SystemClock, parse_iso
    from forgetmenot.errors import InputError

    if arguments.now is None:
        return SystemClock().now()
    try:
        return parse_iso(arguments.now)
    except ValueError as error:
        raise InputError(f"--now {arguments.now} is not an ISO 8601 time, such as 2026-11-20T18:30:00Z.") from error


async def _one(db: "Database", recall: "Recall", arguments: argparse.Namespace) -> None:
    viewer = await known_viewer(db, arguments.viewer)
    started = perf_counter()
    found = await recall.about([viewer], recall.query(arguments.text, names=(arguments.viewer,)), arguments.limit)
    ms = (perf_counter() - started) * 1_000
    shown = await as_json(db, [one.note for one in found])
    if arguments.json:
        emit({"viewer_id": viewer, "ms": round(ms, 3), "notes": _ranked(found, shown)})
        return
    for rank, (one, note) in enumerate(zip(found, shown, strict=True), start=1):
        show_line(f"{rank:3} {one.score:.4f} #{one.note.id} {note['fact']}")


def _ranked(found: "list[Recalled]", shown: list[dict[str, object]]) -> list[dict[str, object]]:
    return [
        {"rank": rank, "score": one.score, **note}
        for rank, (one, note) in enumerate(zip(found, shown, strict=True), start=1)
    ]


async def _batch(db: "Database", recall: "Recall", name: str) -> None:
    with text_lines(name) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                emit(await _answer(db, recall, number, line))


async def _answer(db: "Database", recall: "Recall", number: int, line: str) -> dict[str, object]:
    import msgspec

    from forgetmenot.store import viewers

    try:
        asked = msgspec.json.decode(line, type=_question_type())
    except msgspec.MsgspecError as error:
        return {"id": None, "error": f"line {number}: {error}"}
    started = perf_counter()
    given = [name.removeprefix("@").casefold() for name in asked.viewers]
    ids = await viewers.find_many(db, given)
    subjects = tuple(dict.fromkeys(ids[name] for name in given if name in ids))
    found = await recall.about(subjects, recall.query(asked.text, names=given), asked.limit) if subjects else []
    ms = (perf_counter() - started) * 1_000
    return {"id": asked.id, "note_ids": [one.note.id for one in found], "ms": round(ms, 3)}


def _question_type() -> Any:  # noqa: ANN401  # a class made late, so that msgspec is imported late
    import msgspec

    return msgspec.defstruct(
        "Question", [("id", str | int), ("viewers", list[str]), ("text", str), ("limit", int, 10)], frozen=True
    )
