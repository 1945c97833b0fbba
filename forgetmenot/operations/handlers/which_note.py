"""Which note a command means: by its number, by words, by "that", or by what the bot just said.

What the command does with it is in the other handlers. Raises Refused where it must be asked which one.
"""

from forgetmenot.domain import Asker, Note, OperationResult, SourceKind, Target
from forgetmenot.durations import MINUTE
from forgetmenot.languages import reason
from forgetmenot.memory import edits
from forgetmenot.memory.merge import LIVE
from forgetmenot.operations.types import Refused, Request
from forgetmenot.privacy import suppression
from forgetmenot.store import bot_messages, notes, viewers
from forgetmenot.store.bot_messages import BotMessage
from forgetmenot.text.mentions import mention, with_names

# How old the reply may be that a correction without a number is about.
CORRECTED_WITHIN = 5 * MINUTE


async def find_notes(
    request: Request,
    about: Target,
    words: str,
    *,
    past: bool = False,
) -> list[Note]:
    """Return the notes about somebody that words or a number mean.

    First the present notes about them. For a moderator in chat then any note of that number, or the notes about the
    channel that the words mean. Last the asker's own notes that were removed or replaced, if a number is named or
    `past` is set.
    """
    db = request.db
    now = request.now
    matches = await edits.find(db, about.id, words, now=now)
    if matches:
        return matches
    number = words.strip().removeprefix("#")
    is_number = number.isdecimal()
    may_name_any = request.asker.moderates and request.is_in_chat
    if may_name_any and is_number:
        # More digits than SQLite's integers have would be an error of the database.
        note = await notes.get(db, int(number[:15]))
        if note is not None:
            return [note]
    elif may_name_any and about.own:
        # "!forget the lamp" of a moderator may be about the channel as well as about themselves.
        matches = await edits.find(db, None, words, now=now)
        if matches:
            return matches
    # Without a number people mean a note that they can see, so by words alone no removed one is found.
    if about.own and (past or is_number):
        return await edits.find(db, about.id, words, now=now, past=True)
    return []


async def only_note(
    request: Request,
    matches: list[Note],
    command: str,
) -> Note:
    """Return the only note of these. Raises Refused if there are several, which it lists, or none.

    `command`: how one of several is meant, with its number in the place of `{}`.
    """
    if not matches:
        raise Refused("which_none")
    first = matches[0]
    if len(matches) == 1:
        return first
    quotes = [await quoted(request, note) for note in matches]
    # A reply to a moderator may have used notes about several people.
    subject_ids = [note.subject_id for note in matches if note.subject_id is not None]
    # Not by format(): a correction that was typed may have braces of its own.
    example = command.replace("{}", str(first.id), 1)
    raise Refused(
        "which_note",
        request.target,
        about_ids=subject_ids,
        command=example,
        notes=quotes,
    )


async def notes_just_used(request: Request) -> list[Note]:
    """Return the notes that the bot's last reply used and that the asker may change.

    The last reply to the asker; of a moderator the last one to anybody.
    """
    reply = await _last_reply(request)
    if reply is None:
        return []
    used = []
    for note_id in reply.used:
        note = await notes.get(request.db, note_id)
        # It may have been removed or replaced since it was used.
        if note is None:
            continue
        if note.status not in LIVE:
            continue
        if may_change(request.asker, note):
            used.append(note)
    return used


async def notes_just_removed(request: Request) -> list[Note]:
    """Return the note that the asker has just removed, as a list; an empty one if there is none.

    "that's wrong" removes it, and "change it to …" then means that note.
    """
    reply = await _last_reply(request)
    since = request.now - CORRECTED_WITHIN
    if reply is not None:
        # If the bot has replied since the removal, "it" means something in that reply.
        since = reply.at
    cause = removal_cause(request.asker)
    removal = await notes.removed_last(request.db, cause, since)
    if removal is None:
        return []
    note = await notes.get(request.db, removal.note_id)
    if note is None:
        return []
    if not may_change(request.asker, note):
        return []
    return [note]


async def _last_reply(request: Request) -> BotMessage | None:
    """Return the last reply of the past few minutes to the asker, or to anybody if a moderator asks; None if none."""
    asker = request.asker
    since = request.now - CORRECTED_WITHIN
    # Moderators correct what the bot said to others.
    to_viewer = None if asker.moderates else asker.viewer_id
    replies = await bot_messages.recently_sent(
        request.db, 1, since, to_viewer, commands=False
    )
    return replies[0] if replies else None


def removal_cause(asker: Asker) -> str:
    """Return the cause of a removal by the asker, as a note's history has it."""
    if not asker.viewer_id:
        return reason("by_hand")
    return reason("removed_by", name=mention(asker.viewer_id))


def may_change(asker: Asker, note: Note | None) -> bool:
    """Return whether a note is the asker's to change: it is about them, or they moderate."""
    if asker.moderates:
        return True
    return note is not None and note.subject_id == asker.viewer_id


async def quoted(request: Request, note: Note) -> dict[str, object]:
    """Return a note as number and fact; in chat only the number if it is suppressed, or what others say."""
    if request.is_in_chat and not await _may_be_read_aloud(request, note):
        return {"id": note.id, "fact": ""}
    [fact] = await texts_with_names(request, [note.fact])
    return {"id": note.id, "fact": fact}


async def _may_be_read_aloud(request: Request, note: Note) -> bool:
    """Return whether all of chat may read a note: it is neither suppressed nor hearsay."""
    if note.source_kind is SourceKind.REPORTED:
        return False
    suppression_filter = await suppression.load_filter(request.db)
    return suppression_filter.allows(note)


async def note_result(
    request: Request,
    code: str,
    note: Note,
) -> OperationResult:
    """Return the result of what was done to a note, which shows the note."""
    data = await quoted(request, note)
    about_ids = frozenset[str]()
    if note.subject_id is not None:
        about_ids = frozenset({note.subject_id})
    return OperationResult(ok=True, code=code, data=data, about_ids=about_ids)


async def texts_with_names(request: Request, texts: list[str]) -> list[str]:
    """Return stored texts with today's names in place of ids; hidden viewers are "somebody"."""
    names = await viewers.named_in(request.db, texts)
    request.named_ids.update(names)
    return [with_names(text, names) for text in texts]
