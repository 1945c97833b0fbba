"""The handlers of what the bot never mentions: `!nevermention`, and its list on the dock and the command line."""

from forgetmenot.domain import OperationResult, Target
from forgetmenot.errors import FactRefused
from forgetmenot.memory import edits, own_words
from forgetmenot.memory.merge import LIVE
from forgetmenot.operations.entries import (
    ANYBODY,
    CLI,
    DOCK,
    ID,
    VIEWER,
    text_parameter,
)
from forgetmenot.operations.handlers.text_subject import as_typed
from forgetmenot.operations.handlers.which_note import quoted
from forgetmenot.operations.targets import CHANNEL_WORDS, own_target, resolve_target
from forgetmenot.operations.types import Operation, Request
from forgetmenot.privacy import suppression, suppression_list
from forgetmenot.store import notes
from forgetmenot.text.chat_commands import first_word
from forgetmenot.text.mentions import defang


async def never_mention(request: Request) -> OperationResult:
    """Suppress a topic or a note: viewers about themselves, moderators also about others or the whole channel.

    The same again in chat undoes it.
    """
    about = request.target
    typed = request.text("what")
    if request.is_in_chat:
        about, typed = await _subject_and_topic(request, typed)
        # a note's number, as behind the other commands
        typed = (
            f"#{typed}" if typed.isdecimal() else own_words.without_small_words(typed)
        )
    topic = await edits.with_mentions(request.db, defang(typed))
    now = request.now
    if request.is_in_chat:
        entries = await notes.suppressions(request.db)
        listed = suppression_list.find_entry(entries, about.id, topic)
        if listed is not None:
            await suppression_list.unsuppress(request.db, listed.id, now)
            return OperationResult(ok=True, code="may_mention", data={"id": listed.id})
    listed_by = request.asker.viewer_id or None
    entry_id = await suppression_list.suppress(
        request.db, about.id, topic, by=listed_by, at=now
    )
    data: dict[str, object] = {"id": entry_id}
    code = "suppressed"
    is_topic = not typed.startswith("#")
    is_answered = request.is_in_chat and is_topic
    if is_answered and await suppression.suppresses_nothing(
        request.db, about.id, topic
    ):
        code = "suppressed_nothing"
        data |= await _notes_near_topic(request, about, topic)
    return OperationResult(
        ok=True,
        code=code,
        data=data,
        target=about,
    )


async def _subject_and_topic(request: Request, typed: str) -> tuple[Target, str]:
    """Return whom `!nevermention` is about and the words behind the name; without a name the asker. Raises Refused."""
    asker = request.asker
    name, topic = first_word(typed)
    topic = topic.strip()
    begins_with_name = typed.startswith("@") or name.casefold() in CHANNEL_WORDS
    if asker.moderates and begins_with_name and topic:
        about = await resolve_target(request.context, asker, as_typed(typed, name))
        return about, topic
    return own_target(asker), typed


async def _notes_near_topic(
    request: Request,
    about: Target,
    topic: str,
) -> dict[str, object]:
    """Return the notes that a topic which hides none could mean, and the command that hides the first.

    The newest notes where none is near.
    """
    known = await notes.of_subject(request.db, about.id, LIVE)
    matches = own_words.best_matches(topic, known)
    if not matches:
        matches = sorted(known, key=lambda note: -note.last_confirmed_at)
    quotes = [await quoted(request, note) for note in matches[: edits.FOUND_LIMIT]]
    command = f"!nevermention {matches[0].id}" if matches else ""
    return {"notes": quotes, "command": command}


async def may_mention(request: Request) -> OperationResult:
    """Remove an entry from that list."""
    entry_id = request.number("id")
    if not await suppression_list.unsuppress(request.db, entry_id, request.now):
        raise FactRefused("not_found")
    return OperationResult(ok=True, code="may_mention", data={"id": entry_id})


OPERATIONS = (
    Operation(
        "never_mention",
        ANYBODY | DOCK | CLI,
        never_mention,
        params=(text_parameter("what"), VIEWER),
        chat=("!nevermention <what>",),
        examples=(
            "!nevermention my exams",
            "forgetmenot memory nevermention exams --viewer alice",
        ),
        edits_memory=True,
    ),
    Operation(
        "may_mention",
        DOCK | CLI,
        may_mention,
        params=(ID,),
        examples=("forgetmenot memory maymention 1",),
        edits_memory=True,
    ),
)
