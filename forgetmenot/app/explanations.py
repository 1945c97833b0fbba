"""Replies and notes with everything behind them, as JSON: what `why` and `memory why` print, for the dock."""

import re
from dataclasses import asdict

from forgetmenot.errors import InputError
from forgetmenot.memory.notes import why as notes_why
from forgetmenot.reply import trail
from forgetmenot.settings import prices
from forgetmenot.settings.schema import Settings
from forgetmenot.store import viewers
from forgetmenot.store.database import Database
from forgetmenot.store.dock import memory as dock_memory
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import defang, mention, show

_NAMED = re.compile(r"@(\w{2,50})")


async def why(db: Database, reply_id: int, settings: Settings) -> dict[str, object]:
    """One reply: who asked, what was said, the prompt's sections with their rows, tokens, cost, decisions."""
    told = await trail.explain(db, reply_id)
    reply, prompt = told.reply, told.reply.prompt
    return {
        "id": reply.id,
        "at": reply.at,
        "who": told.speaker,
        "asked": told.asked.removeprefix("@").removeprefix(f"{told.speaker}: "),
        "text": reply.text,
        "status": reply.status,
        "detail": reply.detail,
        "twitch_id": reply.twitch_id,
        "trigger": reply.trigger,
        "mode": reply.mode,
        "model": reply.model,
        "latency_ms": reply.latency_ms,
        "usage": reply.usage,
        "cost": prices.in_words(settings, used) if (used := trail.used(reply)) else "",
        "filters": reply.filters,
        "actions": told.actions,
        "sections": [asdict(section) for section in told.sections],
        "shed": prompt.get("shed", []),
        "estimated": prompt.get("estimated"),
        "budget": prompt.get("budget"),
        "prefix_tokens": prompt.get("prefix_tokens"),
        "depth": prompt.get("depth", ""),
    }


async def chain(db: Database, note_id: int) -> dict[str, object]:
    """One note: streams and episodes it rests on, its history, what it replaced, the replies that used it."""
    told = await notes_why.explain(db, note_id)
    if told is None:
        raise InputError(f"There is no note {note_id} (any more).")
    note, known = told.note, told.names
    streams = sorted({word.episode.stream_id for word in told.evidence if word.episode.stream_id is not None})
    titles = await dock_memory.titles(db, streams)
    return {
        "id": note.id,
        "fact": show(note.fact, known),
        "who": known.get(note.subject_id or "", ""),
        "scope": note.scope,
        "status": note.status,
        "streams": [{"id": one, "title": titles[one][0], "at": titles[one][1]} for one in streams if one in titles],
        "evidence": [
            {
                "episode": word.episode.id,
                "stream": word.episode.stream_id,
                "kind": word.episode.kind,
                "stance": word.stance,
                "speaker": known.get(word.speaker_id or "", ""),
                "at": word.at,
                "summary": show(word.episode.summary, known),
            }
            for word in told.evidence
        ],
        "history": [
            {"at": one.at, "from": one.from_status, "to": one.to_status, "cause": notes_why.because(one.cause)}
            for one in told.history
        ],
        "replaced": [{"id": old.id, "fact": show(old.fact, known)} for old in told.replaced],
        "replaced_by": {"id": told.replaced_by.id, "fact": show(told.replaced_by.fact, known)}
        if told.replaced_by
        else None,
        "replies": [{"id": reply, "at": at} for reply, at in told.replies],
    }


async def with_ids(db: Database, text: str) -> str:
    """`@name` of somebody who is known becomes `<@id>`; a mention that was typed as such does not count."""
    safe = defang(clean(text))
    found = {login: await viewers.by_login(db, login) for login in set(_NAMED.findall(safe))}
    return _NAMED.sub(lambda named: mention(who.id) if (who := found[named[1]]) else named[0], safe)
