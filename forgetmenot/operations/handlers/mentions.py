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
    if request.is_in_chat:
        return await _never_mention_in_chat(request)
    about = request.target
    topic = await _topic_of(request, request.text("what"))
    entry_id = await _suppress(request, about, topic)
    data = {"id": entry_id}
    return OperationResult(ok=True, code="suppressed", data=data, target=about)


async def _never_mention_in_chat(request: Request) -> OperationResult:
    """Suppress what is typed in chat, or take it off the list; a topic that hides nothing is answered so."""
    db = request.db
    about, typed = await _subject_and_topic(request, request.text("what"))
    is_number = typed.isdecimal()
    # A note's number is typed without its mark, as behind the other commands.
    typed = f"#{typed}" if is_number else own_words.without_small_words(typed)
    topic = await _topic_of(request, typed)
    entries = await notes.suppressions(db)
    listed = suppression_list.find_entry(entries, about.id, topic)
    if listed is not None:
        await suppression_list.unsuppress(db, listed.id, request.now)
        return OperationResult(ok=True, code="may_mention", data={"id": listed.id})
    entry_id = await _suppress(request, about, topic)
    data: dict[str, object] = {"id": entry_id}
    code = "suppressed"
    is_topic = not typed.startswith("#")
    # The entry stays all the same: such a note may be learned tomorrow.
    if is_topic and await suppression.suppresses_nothing(db, about.id, topic):
        code = "suppressed_nothing"
        data |= await _notes_near_topic(request, about, topic)
    return OperationResult(ok=True, code=code, data=data, target=about)


async def _topic_of(request: Request, typed: str) -> str:
    """Return a topic as it is stored: with mentions in the place of names."""
    return await edits.with_mentions(request.db, defang(typed))


async def _suppress(
    request: Request,
    about: Target,
    topic: str,
) -> int:
    """Put a topic on the list and return the id of its entry. Raises FactRefused."""
    listed_by = request.asker.viewer_id or None
    return await suppression_list.suppress(
        request.db,
        about.id,
        topic,
        by=listed_by,
        at=request.now,
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
    """Return notes to choose from, for a topic that hides no note, and the command that hides the first of them.

    They are those with the words nearest to the topic; without such, those that were confirmed last.
    """
    known = await notes.of_subject(request.db, about.id, LIVE)
    matches = own_words.best_matches(topic, known)
    if not matches:
        matches = sorted(known, key=lambda note: -note.last_confirmed_at)
    # Each note costs characters of the only message that the answer may be.
    matches = matches[: edits.FOUND_LIMIT]
    quotes = [await quoted(request, note) for note in matches]
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
