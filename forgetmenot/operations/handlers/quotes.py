"""The handlers of quotes: keep a line as a quote, remove one.

A quote is somebody's wish to keep a line in its own words; operations/run has checked who may ask. Whoever opted out is
never quoted, nor is what is never stored about people.
"""

from forgetmenot.domain import Line, OperationResult, Target
from forgetmenot.durations import DAY, HOUR, minute_of
from forgetmenot.errors import FactRefused
from forgetmenot.memory.edits import with_mentions
from forgetmenot.memory.proposals import never_stored, text_fault, without_ages
from forgetmenot.operations.entries import (
    ANYBODY,
    DOCK,
    ID_OR_LAST,
    MODERATORS,
    VIEWER_BY_ANY_NAME,
)
from forgetmenot.operations.types import Operation, Refused, Request
from forgetmenot.store import events, quotes, streams, viewers
from forgetmenot.store.quotes import NewQuote
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import clean
from forgetmenot.text.days import iso_day
from forgetmenot.text.mentions import MENTION, defang, with_names
from forgetmenot.text.questions import without_called_names

# Lines of chat that are looked through for one that can be kept.
LINES_READ = 100


async def quote(request: Request) -> OperationResult:
    """Keep a line: the one that is replied to, the last one of a viewer, or the last one of anybody else."""
    line = await _line_to_keep(request)
    if line is None:
        raise Refused("nothing_to_quote")
    author_id = line.viewer_id
    text = await _checked_words(request, line.text)
    new_quote = NewQuote(
        author_id,
        text,
        line.id,
        line.stream_id,
        line.at,
        request.asker.viewer_id,
    )
    async with request.db.write() as tx:
        # Asked inside the write: the line may have been deleted in chat since it was read.
        if await events.by_id(tx, line.id) is None:
            raise Refused("nothing_to_quote")
        if await viewers.hidden(tx, [author_id]):
            raise Refused("never_quoted")
        quote_id = await quotes.add(tx, new_quote)
    names, _hidden = await viewers.shown_and_hidden(
        request.db, [author_id, *MENTION.findall(text)]
    )
    request.named_ids.update(names)
    data = {
        "id": quote_id,
        "text": with_names(text, names),
        "when": await _when(request, line),
        "max_chars": request.settings.reply.max_chars,
    }
    author = Target(author_id, names.get(author_id, ""))
    return OperationResult(
        ok=True,
        code="quoted",
        data=data,
        target=author,
    )


async def _line_to_keep(request: Request) -> Line | None:
    """Return the line that is meant; None if there is none that can be kept."""
    asker = request.asker
    author_id = request.target.id if request.text("viewer") else None
    if asker.reply_to_id:
        candidate_ids = [asker.reply_to_id]
    else:
        recent = await events.lines(
            request.db,
            of=author_id,
            since=request.now - DAY,
            # Twitch's clock may be ahead of ours.
            until=request.now + HOUR,
            limit=LINES_READ,
        )
        candidate_ids = [line.event_id for line in reversed(recent)]
    for event_id in candidate_ids:
        line = await events.by_id(request.db, event_id)
        if line is None:
            continue
        if line.from_bot:
            continue
        if is_command(line.text):
            continue
        # `!quote` alone means what somebody else said last, not the asker's own line before it.
        is_meant = author_id is not None or line.viewer_id != asker.viewer_id
        if line.text and (is_meant or asker.reply_to_id):
            return line
    return None


async def _checked_words(request: Request, typed: str) -> str:
    """Return a line as it is kept, with mentions in the place of names. Raises FactRefused."""
    privacy = request.settings.privacy
    line = clean(defang(typed))
    # the names that it begins with say to whom it was said, and are no part of the quote
    words = without_ages(without_called_names(line) or line, privacy)
    category = never_stored(words, privacy)
    if not words or category is not None:
        raise FactRefused(f"sensitive:{category or 'minor_age'}")
    fault = text_fault(words)
    if fault is not None:
        raise FactRefused(fault)
    return await with_mentions(request.db, words)


async def _when(request: Request, line: Line) -> str:
    """Return the day of a line, and the minute of its stream where it was said in one."""
    day = iso_day(line.at, request.settings.bot.timezone)
    if line.stream_id is None:
        return day
    started_at = await streams.start_of(request.db, line.stream_id)
    return f"{day}, {minute_of(line.at, started_at)}"


async def unquote(request: Request) -> OperationResult:
    """Remove a quote: of one's own the last, or one by its number; moderators and the streamer remove any."""
    number = request.number("id")
    if number:
        stored_quote = await quotes.get(request.db, number)
    else:
        stored_quote = await quotes.newest_of(request.db, request.asker.viewer_id)
    if stored_quote is None:
        raise Refused("no_quote")
    asker = request.asker
    # The words are the author's, who may remove them whoever kept them.
    if stored_quote.viewer_id != asker.viewer_id and not asker.moderates:
        raise Refused("not_your_quote")
    async with request.db.write() as tx:
        await quotes.remove(tx, stored_quote, request.now)
    return OperationResult(ok=True, code="unquoted", data={"id": stored_quote.id})


OPERATIONS = (
    Operation(
        "quote",
        MODERATORS,
        quote,
        params=(VIEWER_BY_ANY_NAME,),
        chat=("!quote [viewer]",),
        examples=("!quote alice",),
        about_replied_line=True,
    ),
    Operation(
        "unquote",
        ANYBODY | DOCK,
        unquote,
        params=(ID_OR_LAST,),
        chat=("!unquote [id]",),
        examples=("!unquote 3",),
    ),
)
