"""A person corrects a note by hand: the new wording supersedes the old row, which stays, and `undo` brings it back.

Unlike what is said in chat, a correction may differ from the old fact by one letter, and may replace a pinned one.
"""

from forgetmenot.domain.memory import EpisodeKind, Note, NoteStatus, SourceKind
from forgetmenot.memory.notes import beliefs
from forgetmenot.memory.notes.proposals import Refused, checked_fact
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes, evidence, forgotten, notes, streams
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.episodes import OwnEpisode
from forgetmenot.store.evidence import Stance
from forgetmenot.store.notes import NewNote
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import ids_in, mention
from forgetmenot.text.removal import traces


async def edit(db: Database, note_id: int, fact: str, *, by: str, at: int, privacy: PrivacySettings) -> Note:
    """Write a note's fact anew on the word of the viewer `by`; the note that stands now. Raises Refused.

    `fact` names people as `<@id>`. Scope, subject, end, pin and persona stay.
    """
    told = checked_fact(clean(fact), allowed=frozenset(privacy.allow_categories), never=privacy.never_store, links=True)
    async with db.write() as tx:
        old = await notes.get(tx, note_id)
        if old is None:
            raise Refused("not_found")
        if old.status not in beliefs.LIVE:
            raise Refused("not_live")
        if old.fact == told:
            return old
        await _refuse_forgotten(tx, old.subject_id, told)
        new_id = await _write(tx, old, told, by, at)
        await notes.set_status(tx, old, NoteStatus.SUPERSEDED, at=at, cause="corrected by hand", superseded_by=new_id)
        found = await notes.get(tx, new_id)
    if found is None:
        raise Refused("not_found")
    return found


async def _refuse_forgotten(tx: Transaction, subject_id: str | None, told: str) -> None:
    if subject_id is not None and await forgotten.is_known(tx, subject_id, traces(told), own_since=None):
        raise Refused("forgotten")


async def _write(tx: Transaction, old: Note, told: str, by: str, at: int) -> int:
    stream = await streams.open_id(tx)
    about = (old.subject_id,) if old.subject_id is not None else ()
    episode = OwnEpisode(
        kind=EpisodeKind.COMMAND,
        summary=f"{mention(by)} corrected a note{f' about {mention(about[0])}' if about else ''}: {told}",
        at=at,
        people=tuple(dict.fromkeys((by, *about, *ids_in(told)))),
        stream_id=stream,
        spoke=by,
    )
    episode_id = await episodes.insert_own(tx, episode, at)
    new = NewNote(
        scope=old.scope,
        subject_id=old.subject_id,
        fact=told,
        confidence=max(old.confidence, 0.95),
        source_kind=SourceKind.COMMAND,
        at=at,
        importance=old.importance,
        topics=old.topics,
        asked_with=old.asked_with,
        expires_at=old.expires_at,
        stream_id=stream,
        pinned=old.pinned,
        persona=old.persona,
    )
    new_id = await notes.insert(tx, new, cause=beliefs.REPLACES, now=at)
    await evidence.add(tx, Stance(new_id, episode_id, "stated", by, addressed=True, at=at))
    return new_id
