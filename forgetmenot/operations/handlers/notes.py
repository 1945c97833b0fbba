"""The handlers about notes: show, remember, forget, correct, undo, never mention.

Each function is one use case for every surface. operations/run has checked who may ask; whether the note is theirs to
change is checked here. Raises FactRefused for what the memory's rules refuse; `run` turns it into a result.
"""

import re

from msgspec.structs import replace

from forgetmenot.domain import (
    Asker,
    Note,
    NoteStatus,
    OperationResult,
    Scope,
    SourceKind,
    Surface,
    Target,
)
from forgetmenot.durations import MINUTE
from forgetmenot.errors import FactRefused
from forgetmenot.languages import reason
from forgetmenot.memory import edits, own_words
from forgetmenot.memory.arrivals import by_weight
from forgetmenot.memory.compare_facts import Relation, relate
from forgetmenot.memory.merge import LIVE
from forgetmenot.operations.run import CHANNEL_WORDS, Refused, own_target, owner, resolve_target
from forgetmenot.operations.types import OperationContext, Request
from forgetmenot.people import names
from forgetmenot.people.common_words import is_ordinary
from forgetmenot.privacy import suppression
from forgetmenot.store import bot_messages, channel_state, notes, personal_data, viewers
from forgetmenot.text.chat_commands import fact_about_other, first_word, own_fact
from forgetmenot.text.corrections import Amendment, amendment, changed_fact, is_about_object
from forgetmenot.text.mentions import defang, mention, with_names
from forgetmenot.text.names import compact
from forgetmenot.text.phrases import describes_somebody_else
from forgetmenot.text.words import topic_stems, words

_PERMANENTLY = re.compile(
    r"\s*\b(?:permanently|forever|for good|endgültig|für immer)\s*[.!]*\Z", re.IGNORECASE
)
# What means the note that the bot just used.
_THAT = re.compile(r"(?:that|it|this|das|es|dies)(?: (?:one|note))?|die notiz", re.IGNORECASE)
_NUMBER = re.compile(r"(?:(?:note|number|no|nr|notiz|nummer)\.? ?)?#?(\d{1,15})", re.IGNORECASE)
# "this about bob" says nothing that could be kept.
_SAYS_NOTHING = re.compile(
    r"(?:(?:this|that|it) (?:about|of|from)|about|of) @?\w+[.!]*", re.IGNORECASE
)
# How old the reply may be that a correction without a number is about.
LATELY = 5 * MINUTE
OWN_WORD = edits.TellerTrust(SourceKind.SELF_CLAIM, most=10)


async def memory(context: OperationContext, request: Request) -> OperationResult:
    """What is known about a viewer, the most important first; nothing if they opted out, nothing that is suppressed."""
    who = request.target
    held = await notes.of_subject(context.db, who.id, LIVE)
    held.sort(key=by_weight, reverse=True)
    if not held:
        return OperationResult(ok=True, code="memory_empty", target=who)
    if who.id is not None and who.id in await personal_data.opted_out(context.db):
        return OperationResult(ok=True, code="memory_opted_out", data={"n": len(held)}, target=who)
    public = request.asker.surface is Surface.CHAT
    if public and who.id is not None and await viewers.hidden(context.db, [who.id]):
        return OperationResult(ok=True, code="memory_empty", target=who)  # banned
    hidden = await suppression.load_filter(context.db)
    allowed = [note for note in held if hidden.allows(note)]
    # what others say of somebody is not read aloud: they see that there is something, and can remove it
    hearsay = [note for note in allowed if public and note.source_kind is SourceKind.REPORTED]
    shown = [note for note in allowed if note not in hearsay]
    rest = [note for note in held if not hidden.allows(note)]
    facts, now = await _with_names(context, [note.fact for note in shown]), context.clock.now()
    return OperationResult(
        ok=True,
        code="memory",
        data={
            "notes": [
                (note.id, fact, now - note.first_said_at)
                for note, fact in zip(shown, facts, strict=True)
            ],
            "hearsay": [note.id for note in hearsay],
            "suppressed": [note.id for note in rest],
            "max_chars": context.settings().reply.max_chars,
        },
        target=who,
    )


async def _with_names(context: OperationContext, texts: list[str]) -> list[str]:
    """Stored texts with present names; hidden viewers are "somebody"."""
    names = await viewers.named_in(context.db, texts)
    return [with_names(text, names) for text in texts]


async def _quoted(context: OperationContext, request: Request, note: Note) -> dict[str, object]:
    """A note as number and fact; in chat only the number if it is suppressed, or what others say."""
    if request.asker.surface is Surface.CHAT:
        suppression_filter = await suppression.load_filter(context.db)
        if note.source_kind is SourceKind.REPORTED or not suppression_filter.allows(note):
            return {"id": note.id, "fact": ""}
    [fact] = await _with_names(context, [note.fact])
    return {"id": note.id, "fact": fact}


async def remember(context: OperationContext, request: Request) -> OperationResult:
    """Store a fact. In chat the text says who it is about, elsewhere the request."""
    fact, about = request.text("fact"), request.target
    if request.asker.surface is Surface.CHAT:
        await _refuse_not_stored(context, request)
        about, fact = await _subject_and_fact(context, request, fact)
    elif request.asker.surface is Surface.DOCK and about.id is not None:
        viewer = await viewers.get(context.db, about.id)
        if viewer is None or viewer.opted_out:
            raise FactRefused("forgotten")
    return await _keep(context, request, about, fact, joke=request.flag("joke"))


async def correct(context: OperationContext, request: Request) -> OperationResult:
    """Replace a note of the asker, named by its number, by how it reads now."""
    old = await notes.get(context.db, request.number("note"))
    if old is None or old.status not in LIVE or old.subject_id != request.asker.viewer_id:
        return OperationResult(ok=False, code="nothing_found")
    note = await edits.remember(
        context.db,
        old.subject_id,
        defang(request.text("fact")),
        by=request.asker.viewer_id,
        at=context.clock.now(),
        scope=old.scope,
        privacy=context.settings().privacy,
        word=OWN_WORD,
        line=request.asker.line_id,
        instead_of=old.id,
    )
    return OperationResult(ok=True, code="remembered", data=await _quoted(context, request, note))


async def flag_joke(context: OperationContext, request: Request) -> OperationResult:
    """Record that a running joke came up; this weighs less than what a viewer states."""
    return await _keep(context, request, Target(), request.text("text"), joke=True)


async def _refuse_not_stored(context: OperationContext, request: Request) -> None:
    """Raise Refused where nothing from this asker is stored: they opted out, or are unknown."""
    if request.asker.viewer_id in await personal_data.opted_out(context.db):
        raise Refused("you_opted_out")
    if await viewers.get(context.db, request.asker.viewer_id) is None:
        raise Refused("not_stored")


async def _subject_and_fact(
    context: OperationContext, request: Request, typed: str
) -> tuple[Target, str]:
    """The subject of a typed text and the fact; a moderator's text about no known viewer is about the channel."""
    asker = request.asker
    if _SAYS_NOTHING.fullmatch(typed):
        raise Refused("about_yourself")
    name, rest = first_word(typed.removeprefix("about "))
    if name.casefold() in {asker.login.casefold(), asker.display_name.casefold()}:
        return own_target(asker), fact_about_other(rest)
    fact = own_fact(typed, for_channel=asker.moderates)
    # "@bob's cat is mine", "bob hates me"
    named = typed.strip().startswith("@") or rest.startswith(("'s ", "’s ", ":"))
    if not is_ordinary(compact(name)):
        named = named or bool(await names.called(context.db, [name.casefold()]))
    if fact is None and not asker.moderates and _is_own_in_another_language(typed):
        fact = typed
    if fact is not None and not named:
        return own_target(asker), fact
    if not asker.moderates:
        raise Refused("about_yourself" if fact is None else "not_yours")
    return await _subject_named(context, asker, typed, name, rest)


def _is_own_in_another_language(typed: str) -> bool:
    """Whether a text that the rules of English cannot read may speak of whoever typed it: "vivo en Madrid"."""
    return own_words.is_foreign(typed) and not describes_somebody_else(typed)


async def _subject_named(
    context: OperationContext, asker: Asker, typed: str, name: str, rest: str
) -> tuple[Target, str]:
    """Whom a moderator's text is about, by the name at its beginning; without one, about the channel."""
    if name.casefold() == "the":
        name, rest = first_word(rest)
    must_be = typed.startswith("@") or rest.startswith(":")
    about = await _named(context, asker, _as_typed(typed, name), must_be=must_be)
    if about is None:
        return Target(), typed
    if about.id is None and not rest.lstrip().startswith(":"):
        return about, typed
    return about, fact_about_other(rest)


def _as_typed(typed: str, name: str) -> str:
    """Return the name that begins a text, with its @ if it has one: "@channel" can be a viewer."""
    return f"@{name}" if typed.strip().startswith("@") else name


async def _named(
    context: OperationContext, asker: Asker, name: str, *, must_be: bool
) -> Target | None:
    """Who goes by a name; None if nobody does. Raises Refused where it `must_be` somebody's.

    An ordinary word ("drums are loud") is nobody's name unless it must be.
    """
    if not must_be and is_ordinary(compact(name)) and name.casefold() not in CHANNEL_WORDS:
        return None
    try:
        return await resolve_target(context, asker, name or "?", may_be_short=True)
    except Refused as refused:
        if must_be or refused.result.code != "unknown_viewer":
            raise
        return None


async def _keep(
    context: OperationContext, request: Request, about: Target, fact: str, *, joke: bool = False
) -> OperationResult:
    asker = request.asker
    by_model = asker.surface is Surface.MODEL
    trust = edits.TRUSTED if asker.moderates and not by_model else edits.VIEWER_TRUST
    note = await edits.remember(
        context.db,
        about.id,
        defang(fact),
        by=asker.viewer_id,
        at=context.clock.now(),
        scope=Scope.VIEWER
        if about.id is not None
        else Scope.RUNNING_BIT
        if joke
        else Scope.CHANNEL,
        privacy=context.settings().privacy,
        word=trust._replace(source=SourceKind.OBSERVED) if joke and by_model else trust,
        line=asker.line_id,
    )
    return OperationResult(
        ok=True, code="remembered", data=await _quoted(context, request, note), target=about
    )


async def forget(context: OperationContext, request: Request) -> OperationResult:
    """Remove the one note that the words, the number or "that" mean; permanently where its subject asks for that."""
    typed, asker = request.text("what"), request.asker
    about, what = (
        await _about(context, asker, typed)
        if asker.surface is Surface.CHAT
        else (request.target, typed)
    )
    typed = what.rstrip(" .!?")
    what = _PERMANENTLY.sub("", typed)
    permanently = what != typed
    what = _NUMBER.sub(r"\1", what) if _NUMBER.fullmatch(what) else what
    if not topic_stems(what) or _THAT.fullmatch(what):
        found = await _just_used(context, request)
    else:
        found = await _find(context, request, about, what, past=permanently)
        if not found:
            number = what.strip().removeprefix("#")
            raise (
                Refused("no_note", id=number)
                if number.isdecimal()
                else Refused("nothing_found", about)
            )
    note = await _only(context, request, found, "!forget {}")
    own = note.subject_id is not None and note.subject_id == asker.viewer_id
    if not own or not permanently:
        return await _retract(context, request, note.id, own=own)
    data = await _quoted(context, request, note)
    await context.rights.forget(note.id)
    return OperationResult(ok=True, code="forgotten", data=data)


async def _only(
    context: OperationContext, request: Request, found: list[Note], command: str
) -> Note:
    """The one note that was found. Raises Refused: it lists several, or says that none is meant.

    `command`: how one of several is meant, with its number in the place of `{}`.
    """
    if not found:
        raise Refused("which_none")
    if len(found) > 1:
        several = [await _quoted(context, request, note) for note in found]
        raise Refused(
            "which_note",
            request.target,
            command=command.replace("{}", str(found[0].id), 1),
            notes=several,
        )
    return found[0]


async def _just_used(context: OperationContext, request: Request) -> list[Note]:
    """The notes that the bot's last reply to the asker used, a moderator: to anybody, as far as they are theirs."""
    used = [
        await notes.get(context.db, one)
        for reply in await _last_reply(context, request)
        for one in reply.used
    ]
    return [
        note
        for note in used
        if note is not None and note.status in LIVE and _may_change(request.asker, note)
    ]


async def _last_reply(context: OperationContext, request: Request) -> list[bot_messages.BotMessage]:
    asker, since = request.asker, context.clock.now() - LATELY
    whose = None if asker.moderates else asker.viewer_id
    return await bot_messages.recently_sent(context.db, 1, since, whose, commands=False)


async def _just_removed(context: OperationContext, request: Request) -> list[Note]:
    """The note that the asker removed since the bot's last reply: "that's wrong", then "change it to …"."""
    last = await _last_reply(context, request)
    since = last[0].at if last else context.clock.now() - LATELY
    removed = await notes.removed_last(context.db, _by(request.asker), since)
    note = await notes.get(context.db, removed.note_id) if removed is not None else None
    return [note] if note is not None and _may_change(request.asker, note) else []


def _by(asker: Asker) -> str:
    """The cause of a removal by the asker, as a note's history has it."""
    return (
        reason("removed_by", name=mention(asker.viewer_id))
        if asker.viewer_id
        else reason("by_hand")
    )


def _may_change(asker: Asker, note: Note | None) -> bool:
    return asker.moderates or (note is not None and note.subject_id == asker.viewer_id)


async def _about(context: OperationContext, asker: Asker, typed: str) -> tuple[Target, str]:
    """The subject of a text and the rest: "@bob drums" is about bob if a moderator says it."""
    name, rest = first_word(typed.removeprefix("about "))
    named = typed.strip().startswith("@")
    meant = _as_typed(typed, name)
    about = await _named(context, asker, meant, must_be=named) if asker.moderates or named else None
    return (about, rest) if about is not None and asker.moderates else (own_target(asker), typed)


async def _find(
    context: OperationContext, request: Request, about: Target, what: str, *, past: bool = False
) -> list[Note]:
    """Moderators may also name any note by its number, or a note about the channel.

    `past`: also notes that were removed or replaced; a number means one of one's own in any case.
    """
    now, number = context.clock.now(), what.strip().removeprefix("#")
    anybodys = request.asker.moderates and request.asker.surface is Surface.CHAT
    fitting = await edits.find(context.db, about.id, what, now=now)
    if not fitting and anybodys and number.isdecimal():
        note = await notes.get(context.db, int(number[:15]))
        fitting = [note] if note is not None else []
    elif not fitting and anybodys and about.own:
        fitting = await edits.find(context.db, None, what, now=now)
    if not fitting and about.own and (past or number.isdecimal()):
        fitting = await edits.find(context.db, about.id, what, now=now, past=True)
    return fitting


async def edit(context: OperationContext, request: Request) -> OperationResult:
    """Correct a note: its subject and moderators may; the old version stays in its history.

    Without a number: the note that has the same slot, else a word of what is typed; "it" is the note that was just
    removed or used. Where nothing fits, a note is added.
    """
    asker = request.asker
    typed = defang(request.text("text"))
    in_chat = asker.surface is Surface.CHAT
    if in_chat:
        await _refuse_not_stored(context, request)
    if not asker.viewer_id:  # on the command line; a fact is somebody's word: the streamer's
        login = await channel_state.read(context.db, "login") or ""
        asker = await owner(context.db, asker.surface, login, context.clock.now())
    number = request.number("id")
    if number:
        note = await notes.get(context.db, number)
        if note is None and not in_chat:
            raise FactRefused("not_found")
        if note is None or not _may_change(asker, note):
            raise Refused("no_note", id=number)  # whether it is another's is not for them to know
        # elsewhere the whole note is shown, and typed anew
        change = amendment(typed) if in_chat else Amendment(typed, sentence=typed)
        return await _edited(context, request, asker, note, change)
    about = own_target(asker)
    rest = typed
    if typed.startswith("@"):
        about, rest = await _about(context, asker, typed)
    change = amendment(rest)
    fitting = await _to_edit(context, request, about, change)
    if not fitting and len(words(change.right)) < 2:
        raise Refused("whole_note", command="!edit")
    if not fitting and not change.it:
        return await _added(context, request, about, rest)
    note = await _only(context, request, fitting, "!edit {} " + change.right)
    return await _edited(context, request, asker, note, change)


async def _to_edit(
    context: OperationContext, request: Request, about: Target, change: Amendment
) -> list[Note]:
    """The notes that a correction without a number may mean."""
    if change.it:
        meant = await _just_removed(context, request) or await _just_used(context, request)
        if not meant and change.wrong:
            return await _find(context, request, about, change.wrong)
        if len(meant) < 2:
            return meant
        wrong = set(words(change.wrong))
        fitting = [note for note in meant if wrong and wrong <= set(words(note.fact))]
        return fitting or meant
    now_so = own_fact(change.sentence) or change.sentence
    known = await notes.of_subject(context.db, about.id, LIVE)
    same_slot = [note for note in known if relate(note.fact, now_so) is Relation.CONFLICT]
    if same_slot:
        return same_slot
    replaced = await _find(context, request, about, change.wrong) if change.wrong else []
    return replaced or await _find(context, request, about, f"{change.right} {change.wrong}")


async def _edited(
    context: OperationContext, request: Request, asker: Asker, old: Note, change: Amendment
) -> OperationResult:
    """Write a note anew as a correction says, and answer with both."""
    now = context.clock.now()
    in_chat = asker.surface is Surface.CHAT
    text = await _corrected_text(context, asker, old, change)
    fact = await edits.with_mentions(context.db, text)
    async with context.db.write() as tx:
        if old.status is NoteStatus.RETRACTED and change.it:
            await edits.undo(tx, old.id, at=now)
        note = await edits.edit(
            tx,
            old.id,
            fact,
            by=asker.viewer_id,
            at=now,
            privacy=context.settings().privacy,
            links=asker.moderates or not in_chat,
            line=asker.line_id,
        )
    was = await _quoted(context, request, old)
    data = {**await _quoted(context, request, note), "was": was["fact"]}
    return OperationResult(ok=True, code="edited", data=data)


async def _corrected_text(
    context: OperationContext, asker: Asker, old: Note, change: Amendment
) -> str:
    """How a note reads after a correction: with the value in its place, as typed, or in a model's words.

    Raises Refused: only whoever typed it knows.
    """
    if asker.surface is not Surface.CHAT:
        return change.sentence
    changed = changed_fact(old.fact, change)
    if changed is not None:
        return changed
    sentence = change.sentence
    is_sentence = len(words(sentence)) > 1
    if is_sentence and old.subject_id is None:
        return sentence
    is_sentence = is_sentence and not is_about_object(old.fact, sentence)
    own = own_fact(sentence)
    if is_sentence and own is not None:
        return own
    if is_sentence and (old.subject_id != asker.viewer_id or own_words.is_foreign(sentence)):
        return sentence
    typed = await edits.with_mentions(context.db, sentence)
    written = await context.reword(old.fact, typed)
    if written is None:
        raise Refused("whole_note", command=f"!edit {old.id}")
    return written


async def _added(
    context: OperationContext, request: Request, about: Target, fact: str
) -> OperationResult:
    if about.own and not request.asker.moderates:
        fact = own_fact(fact) or fact
    elif about.own:
        about, fact = await _subject_and_fact(context, request, fact)
    return replace(await _keep(context, request, about, fact), code="edit_added")


async def pin(context: OperationContext, request: Request, *, pinned: bool) -> OperationResult:
    """Keep a note permanently, or let it age again."""
    note_id = request.number("id")
    await edits.pin(context.db, note_id, at=context.clock.now(), pinned=pinned)
    return OperationResult(ok=True, code="pinned" if pinned else "unpinned", data={"id": note_id})


async def retract(context: OperationContext, request: Request) -> OperationResult:
    """Remove a note from use; it keeps its text and can be restored."""
    return await _retract(context, request, request.number("id"))


async def _retract(
    context: OperationContext, request: Request, note_id: int, *, own: bool = False
) -> OperationResult:
    note = await edits.retract(
        context.db, note_id, at=context.clock.now(), cause=_by(request.asker), own=own
    )
    data = await _quoted(context, request, note)
    return OperationResult(ok=True, code="retracted_own" if own else "retracted", data=data)


async def restore(context: OperationContext, request: Request) -> OperationResult:
    """Undo the last change of a note: a removal, or a replacement (named by the old or the new note).

    A viewer may undo what they changed themselves, and not what a moderator removed.
    """
    asker, number = request.asker, request.number("id")
    if asker.surface is Surface.CHAT and not asker.moderates:
        await _refuse_not_stored(context, request)
        note = await notes.get(context.db, number)
        if note is None or not _may_change(asker, note):
            raise Refused("no_note", id=number)
        if note.status is NoteStatus.RETRACTED and (await notes.changes(context.db, number))[
            -1
        ].cause != _by(asker):
            raise Refused("not_yours")
    note = await edits.undo(context.db, number, at=context.clock.now())
    return OperationResult(ok=True, code="restored", data=await _quoted(context, request, note))


async def never_mention(context: OperationContext, request: Request) -> OperationResult:
    """Suppress a topic or a note: viewers about themselves, moderators also about others or the whole channel.

    The same again in chat takes it back.
    """
    asker = request.asker
    about = request.target
    what = request.text("what")
    in_chat = asker.surface is Surface.CHAT
    if in_chat:
        about, what = await _suppressed_of(context, request, what)
        # a note's number, as behind the other commands
        what = f"#{what}" if what.isdecimal() else own_words.without_small_words(what)
    topic = await edits.with_mentions(context.db, defang(what))
    entries = await notes.suppressions(context.db)
    listed = suppression.same_entry(entries, about.id, topic) if in_chat else None
    if listed is not None:
        await suppression.unsuppress(context.db, listed.id, context.clock.now())
        return OperationResult(ok=True, code="may_mention", data={"id": listed.id})
    by = asker.viewer_id or None
    row_id = await suppression.suppress(context.db, about.id, topic, by=by, at=context.clock.now())
    data: dict[str, object] = {"id": row_id}
    code = "suppressed"
    is_note = what.startswith("#")
    if in_chat and not is_note and await suppression.hides_nothing(context.db, about.id, topic):
        code = "suppressed_nothing"
        data |= await _could_mean(context, request, about, topic)
    return OperationResult(ok=True, code=code, data=data, target=about)


async def _could_mean(
    context: OperationContext, request: Request, about: Target, topic: str
) -> dict[str, object]:
    """The notes that a topic which hides none could mean, and the command that hides the first.

    The newest notes where none is near.
    """
    known = await notes.of_subject(context.db, about.id, LIVE)
    near = own_words.best_matches(topic, known)
    meant = near or sorted(known, key=lambda note: -note.last_confirmed_at)
    quoted = [await _quoted(context, request, note) for note in meant[: edits.MOST_FOUND]]
    command = f"!nevermention {meant[0].id}" if meant else ""
    return {"notes": quoted, "command": command}


async def _suppressed_of(
    context: OperationContext, request: Request, typed: str
) -> tuple[Target, str]:
    asker = request.asker
    name, what = first_word(typed)
    named = typed.startswith("@") or name.casefold() in CHANNEL_WORDS
    if asker.moderates and named and what.strip():
        return await resolve_target(context, asker, _as_typed(typed, name)), what.strip()
    return own_target(asker), typed


async def may_mention(context: OperationContext, request: Request) -> OperationResult:
    """Remove an entry from that list."""
    row_id = request.number("id")
    if not await suppression.unsuppress(context.db, row_id, context.clock.now()):
        raise FactRefused("not_found")
    return OperationResult(ok=True, code="may_mention", data={"id": row_id})
