"""`forgetmenot recap`: the recap of a stream, and its chapters for a video."""

from argparse import Namespace
from typing import TYPE_CHECKING

from forgetmenot.cli import common
from forgetmenot.cli.common import command, number_from, option
from forgetmenot.errors import InputError

if TYPE_CHECKING:
    from forgetmenot.cli.common import Shown
    from forgetmenot.store.database import Database

FORMATS = ("youtube", "csv", "edl")


@command(
    "recap",
    option(
        "--stream",
        type=number_from(1),
        metavar="NUMBER",
        help="which stream (default: the last that is over)",
    ),
    option(
        "--chapters",
        choices=FORMATS,
        metavar="FORMAT",
        help="its chapters instead: youtube, csv or edl",
    ),
    shared="config db json",
    on_memory=True,
)
async def _recap(db: "Database", arguments: Namespace) -> "Shown":
    """Print the recap of a stream, or its chapters.

    Chapters are made from the stream's summaries, under the same rules as the recap: as the text that YouTube reads in
    a description, as CSV, or as an edit list (EDL) of markers.
    """
    from forgetmenot.memory import chapters
    from forgetmenot.memory.recap_markdown import markdown_of
    from forgetmenot.store import streams

    settings = common.chosen_settings(arguments.config)
    # A number is at least 1, so 0 is not one that somebody typed.
    stream_id = arguments.stream or await chapters.newest_stream(db)
    if arguments.chapters is None:
        recap = await markdown_of(db, stream_id, settings)
        if recap is None:
            raise InputError("There is no recap of that stream.")
        return {"stream": stream_id, "markdown": recap}, recap.splitlines()
    # Raises InputError for a stream that there is not, so that it is there below.
    rows = await chapters.chapters_of(db, stream_id, settings)
    stream_by_id = await streams.get_many(db, [stream_id])
    stream = stream_by_id[stream_id]
    text = chapters.as_text(rows, arguments.chapters, stream.title)
    shown_rows = [row._asdict() for row in rows]
    return {"stream": stream_id, "chapters": shown_rows}, text.splitlines()
