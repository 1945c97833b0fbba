"""People: who comes, and what is known of one person, with what they may ask for."""

import asyncio

from forgetmenot.dock.context import (
    Item,
    PageRequest,
    named_rows,
    reads,
)
from forgetmenot.domain import ABSENCE_STREAMS
from forgetmenot.durations import DAY
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.memory.briefs import about_viewer
from forgetmenot.memory.time_together import together_with
from forgetmenot.operations.wording import sentence
from forgetmenot.people.standing import REGULAR_WITHIN
from forgetmenot.privacy import suppression_list
from forgetmenot.store import (
    channel_state,
    dock_rows,
    notes,
    picture_rows,
    viewers,
)
from forgetmenot.store.database import Database, Row
from forgetmenot.store.dock_rows import Person
from forgetmenot.store.picture_rows import PeopleBounds
from forgetmenot.store.receipts import ReceiptFile
from forgetmenot.text.dates import stated_plan_end
from forgetmenot.text.mentions import with_names

RECEIPTS_LIMIT = 50


async def _people(page: PageRequest) -> object:
    """Return a part of the list of people, each with a row of cells: lines in each of the latest streams."""
    offset, limit = page.part()
    kind = page.text("kind")
    if kind and kind not in picture_rows.KINDS:
        raise InputError(reason("request_odd"))
    bounds = await _bounds(page)
    bot_id = await channel_state.read(page.db, "bot_id")
    total, people = await dock_rows.people(
        page.db,
        find=page.text("find"),
        kind=kind,
        bounds=bounds,
        bot=bot_id,
        offset=offset,
        limit=limit,
    )
    latest_streams = await _latest_streams(page.db)
    viewer_ids = [person["id"] for person in people]
    stream_ids = [stream["id"] for stream in latest_streams]
    # Only of those on this part of the list: of all people there may be a million cells.
    cells = await picture_rows.attendance(page.db, viewer_ids, stream_ids)
    rows = []
    for person in people:
        viewer_id = person["id"]
        row = {
            **person,
            **_coming_marks(person, bounds),
            "cells": cells.get(viewer_id, []),
        }
        rows.append(row)
    return {"total": total, "rows": rows}


def _coming_marks(person: Person, bounds: PeopleBounds) -> dict[str, bool]:
    """Return whether somebody is a regular, and whether they came often and are missing."""
    comes_often = person["lately"] >= bounds.regular_streams
    came_often = person["streams"] >= bounds.regular_streams
    is_away = person["last_seen_at"] < bounds.missing_before
    return {
        # Whoever is away keeps the streams of the last weeks for a while: missing comes first.
        "regular": comes_often and not is_away,
        "missing": came_often and is_away,
    }


async def _latest_streams(db: Database) -> list[Row]:
    """Return the streams that a row of cells has a cell for."""
    return await picture_rows.latest_streams(db, picture_rows.STREAMS_IN_ROW)


async def _bounds(page: PageRequest) -> PeopleBounds:
    """Return what makes a regular, a newcomer and somebody who is missing."""
    people = page.settings.people
    away_ms = people.returner_away_d * DAY
    missing_before = page.now - away_ms
    # While the channel itself pauses, nobody is missing: a few streams went by without them.
    streams = await picture_rows.latest_streams(page.db, ABSENCE_STREAMS)
    if len(streams) < ABSENCE_STREAMS:
        missing_before = 0
    else:
        missing_before = min(missing_before, streams[0]["at"])
    return PeopleBounds(
        regular_streams=people.regular_streams,
        regular_since=page.now - REGULAR_WITHIN,
        newcomer_streams=people.newcomer_streams,
        missing_before=missing_before,
    )


async def _attendance(page: PageRequest) -> object:
    """Return the streams of a row of cells, how many people came, and how many the list has of each kind.

    "everybody" are all of the list: also the streamer, and whoever opted out or is hidden.
    """
    bounds = await _bounds(page)
    # The bot itself is nobody of the channel's people.
    bot_id = await channel_state.read(page.db, "bot_id")
    counts = await picture_rows.count_kinds(page.db, bounds, bot_id)
    rows = await _latest_streams(page.db)
    streams = [dict(row) for row in rows]
    listed = await dock_rows.count_people(page.db, bot_id)
    return {"streams": streams, "kinds": {**counts, "everybody": listed}}


async def _person(page: PageRequest) -> object:
    """Return one person. Raises InputError if nobody who may be shown has this id."""
    db = page.db
    now = page.now
    settings = page.settings
    viewer_id = page.viewer_id
    bounds = await _bounds(page)
    person = await dock_rows.person(db, viewer_id, bounds.regular_since)
    if person is None:
        raise InputError(reason("nothing_here"))
    viewer = await viewers.get(db, viewer_id)
    wishes = ""
    # Of somebody who opted out the page shows no more than that.
    if viewer is not None and not viewer.opted_out:
        wishes = viewer.wishes
    together = await together_with(db, viewer_id, settings, now)
    facts_together = [fact.words(page.language) for fact in together.facts]
    return {
        **person,
        **_coming_marks(person, bounds),
        "brief": await about_viewer(db, viewer_id),
        "left_alone": await _suppressed(db, viewer_id),
        "wishes": wishes,
        "together": facts_together,
    }


async def _suppressed_for_all(page: PageRequest) -> object:
    """Return what the bot never mentions about anybody."""
    return await _suppressed(page.db, None)


async def _suppressed(db: Database, viewer_id: str | None) -> list[Item]:
    """Return what the bot never mentions about somebody, or about anybody (None). An unlisted topic has no words."""
    items = []
    suppressions = await notes.suppressions(db)
    names = await viewers.named_in(db, [row.words for row in suppressions])
    for row in suppressions:
        if row.viewer_id != viewer_id:
            continue
        item = {
            "id": row.id,
            "words": with_names(row.words, names),
            "note": row.note_id,
            "at": row.at,
        }
        items.append(item)
    # Of these only hashes are stored, so that the list itself mentions nothing.
    for topic in await suppression_list.unlisted_of(db, viewer_id):
        unlisted_item = {
            "id": topic.id,
            "words": "",
            "note": None,
            "at": topic.at,
        }
        items.append(unlisted_item)
    return items


async def _receipts(page: PageRequest) -> object:
    """Return the receipts of erasures and of forgotten facts: numbers of nobody."""
    # The file grows with each receipt: it is read off the event loop.
    file = ReceiptFile(page.db.path)
    receipts = await asyncio.to_thread(file.all, page.now)
    items = []
    for receipt in receipts[:RECEIPTS_LIMIT]:
        removed_rows = sum(receipt.removed.values())
        item = {
            "code": receipt.code.upper(),
            "kind": receipt.kind,
            "day": receipt.day,
            "removed": removed_rows,
            "remaining": receipt.remaining + receipt.doubtful,
            "finished": receipt.is_finished,
        }
        items.append(item)
    return items


async def _timeline(page: PageRequest) -> object:
    """Return a person's time here: streams, facts with the days of plans, running jokes, gifts and raids."""
    db = page.db
    viewer_id = page.viewer_id
    visits = await picture_rows.visits(db, viewer_id)
    moments = await picture_rows.moments_of_person(db, viewer_id)
    jokes = await picture_rows.jokes(db, viewer_id)
    facts = await _facts(db, viewer_id, page.zone)
    named_jokes = await named_rows(db, jokes, "fact")
    return {
        "streams": [dict(row) for row in visits],
        "notes": facts,
        "jokes": named_jokes,
        "moments": [dict(row) for row in moments],
    }


async def _facts(
    db: Database,
    viewer_id: str,
    zone: str,
) -> list[Item]:
    """Return what is noted of somebody, each with the end (ms) of the plan that it states, if it states one."""
    rows = await picture_rows.facts(db, viewer_id)
    facts = await named_rows(db, rows, "fact")
    for fact, row in zip(facts, rows, strict=True):
        # Read in the stored text, which has ids: a name may be a word such as "May".
        stored_text = row["fact"]
        said_at = row["at"]
        expires_at = row["expires_at"]
        plan_end = stated_plan_end(stored_text, said_at, expires_at, zone)
        fact["plan_at"] = plan_end
    return facts


async def _export(page: PageRequest) -> object:
    """Return everything that is stored about somebody."""
    control = page.context.control
    params = {"viewer": page.viewer_id}
    result = await control.run("export", params)
    if not result.ok:
        raise InputError(sentence(result, page.language))
    return result.data


ROUTES = (
    reads("/api/people", _people),
    reads("/api/attendance", _attendance),
    reads("/api/person/{id}", _person),
    reads("/api/timeline/{id}", _timeline),
    reads("/api/left_alone", _suppressed_for_all),
    reads("/api/receipts", _receipts),
    reads("/api/export/{id}", _export),
)
