"""Writes batches of lines in one transaction, which also counts them.

Each line is stored once, by Twitch's id; a line that was cleared, before it arrived or after, has no text; excluded
viewers leave nothing. What waits while the disk takes nothing is memory/ingest's.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from forgetmenot.clock import HOUR, MINUTE, Clock
from forgetmenot.domain import ChatEvent, EventKind, Redaction
from forgetmenot.memory.people import OPTED_OUT, Exclusion, role_of
from forgetmenot.memory.stream_tracker import STREAM_GAP, StreamTracker
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, bot_messages, episodes, events, personal_data, streams, viewers
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Transaction
from forgetmenot.store.events import Clear, NewEvent
from forgetmenot.store.rights import RequestKind
from forgetmenot.store.viewers import SeenViewer
from forgetmenot.text.mentions import provisional

JOKE_TIMEOUT = "timeout"  # as operations/catalogue names it
# What Twitch tells besides chat: who did it, and not whether they are a moderator.
WITHOUT_BADGES = frozenset({EventKind.FOLLOW, EventKind.REDEMPTION, EventKind.STREAM})
# A clear that overtook its line is kept for so long: seconds are usual, a reconnection takes minutes.
WAITS_FOR_ITS_LINE = HOUR
_USER, _ALL = "user:", "all"


class TakenLine(Struct, frozen=True):
    """A line on its way to the disk."""

    event: ChatEvent
    addressed: bool = False
    from_bot: bool = False


class EventWriter:
    """Writes batches of lines."""

    def __init__(self, *, stream_tracker: StreamTracker, settings: Callable[[], Settings], clock: Clock) -> None:
        self._stream_tracker = stream_tracker
        self._settings = settings
        self._clock = clock
        self._cleared: dict[str, int] = {}
        """When a message, a person's lines or (_ALL) the whole chat were cleared, for lines that are still to come."""

    async def store(
        self, tx: Transaction, batch: Sequence[TakenLine | Redaction], counted: Counter[str], own_id: str
    ) -> None:
        """Write a batch. `counted`: what was counted about it before; `own_id`: the bot's, whose echo is left out."""
        counts: Counter[str] = Counter()
        taken = [item for item in batch if isinstance(item, TakenLine)]
        redactions = [item for item in batch if isinstance(item, Redaction) and not await _is_own_joke(tx, item)]
        # before the lines are written: a clear in the same batch covers those that stand behind it as well
        now = self._clock.now()
        self._cleared = {key: at for key, at in self._cleared.items() if at >= now - WAITS_FOR_ITS_LINE}
        for one in redactions:
            key = one.event_id or (_USER + one.user_id if one.user_id else _ALL)
            self._cleared[key] = max(one.at, self._cleared.get(key, 0))
        welcome = await self._welcome(tx, taken, counts, own_id)
        if welcome:
            await self._store_lines(tx, welcome, counts)
        for one in redactions:
            await episodes.clear(tx, Clear(one.at, one.event_id, one.user_id), now)
            # a ban and a timeout are the same command at Twitch; only a timeout has a duration
            if one.user_id and one.duration_s is None and one.event_id is None:
                await viewers.set_banned(tx, one.user_id, one.at)
        counts.update(counted)
        await add_counts(tx, counts)

    async def _welcome(
        self, tx: Transaction, taken: Sequence[TakenLine], counts: Counter[str], own_id: str
    ) -> list[TakenLine]:
        """Those that nothing keeps out."""
        opted_out = await personal_data.opted_out(tx)
        rules = Exclusion(self._settings().memory, opted_out, own_id)
        welcome: list[TakenLine] = []
        by_name: dict[str, str] = {}
        for line in taken:
            why = None if line.from_bot else rules.why(line.event)
            if why is not None:
                counts.update(("excluded", f"excluded_{why}"))
                if why == OPTED_OUT and line.event.user_id not in rules.opted_out:
                    by_name[line.event.login] = line.event.user_id
            else:
                welcome.append(line)
        if by_name:
            # who opted out by name, before they ever spoke here, has opted out as the person they turn out to be
            await viewers.join(tx, by_name)
        for login, viewer_id in by_name.items():
            if provisional(login) in opted_out.ids:  # as it was before they were joined
                await personal_data.opt_out(tx, viewer_id, self._clock.now())
            else:  # of who was erased since, there is a hash alone: it stays so
                out = tx.requests.of(RequestKind.OPT_OUT, viewer_id, self._clock.now())
                await personal_data.write_request(tx, out)
        return welcome

    async def _store_lines(self, tx: Transaction, lines: Sequence[TakenLine], counts: Counter[str]) -> None:
        people = seen(line.event for line in lines if not line.from_bot)
        await viewers.record_seen(tx, people)
        # the bot is no viewer who was seen: it has a name, for its lines, but no attendance and no standing
        for line in {line.event.user_id: line for line in lines if line.from_bot}.values():
            await viewers.add_bot(tx, line.event.user_id, line.event.login, line.event.display_name)
        if own := {line.event.id: line.event.at for line in lines if line.from_bot}:
            # the bot's own line comes after its reply: what that was made from may have been cleared meanwhile
            self._cleared |= {key: own[key] for key in await bot_messages.are_cleared(tx, list(own))}
        times = [line.event.at for line in lines]
        if max(times) - min(times) < STREAM_GAP:
            stream = await self._stream_tracker.place(tx, min(times), max(times))
            placed = [(line, stream) for line in lines]
        else:  # a stream may end inside the batch
            placed = [(line, await self._stream_tracker.place(tx, line.event.at, line.event.at)) for line in lines]
        fresh = await events.insert(tx, [self._row(line, stream) for line, stream in placed])
        new = placed
        if fresh is not None:
            new = list({pair[0].event.id: pair for pair in reversed(placed) if pair[0].event.id in fresh}.values())
        counts["events"] += len(new)
        counts["duplicates"] += len(lines) - len(new)
        said = ((line.event.user_id, stream, line.event.at) for line, stream in new if not line.from_bot)
        await streams.attend(tx, visits(said))

    def _row(self, line: TakenLine, stream_id: int | None) -> NewEvent:
        event, cleared_at = line.event, self._cleared.get(line.event.id)
        if cleared_at is None and self._cleared:
            later = (self._cleared.get(_USER + event.user_id, -1), self._cleared.get(_ALL, -1))
            cleared_at = next((at for at in later if event.at <= at), None)
        return NewEvent(
            event.id,
            stream_id,
            event.user_id,
            event.kind,
            role_of(event.badges),
            event.at,
            text="" if cleared_at is not None else event.text,
            system_text="" if cleared_at is not None else event.system_text,
            addressed=line.addressed,
            from_bot=line.from_bot,
            redacted_at=cleared_at,
        )


async def _is_own_joke(tx: Transaction, redaction: Redaction) -> bool:
    """Whether it is a timeout that somebody asked the bot for: it takes nothing back."""
    if not redaction.user_id or not redaction.duration_s:
        return False
    return await action_logs.did(tx, JOKE_TIMEOUT, redaction.user_id, redaction.at - MINUTE, redaction.at + MINUTE)


def seen(chat: Iterable[ChatEvent]) -> list[SeenViewer]:
    """Who was seen under which name, in the order of their last line."""
    seen: dict[tuple[str, str, str], SeenViewer] = {}
    for event in chat:
        key = (event.user_id, event.login, event.display_name)
        before = seen.pop(key, None)
        first, last = (before.first_at, before.last_at) if before else (event.at, event.at)
        role = role_of(event.badges) if event.kind not in WITHOUT_BADGES else before.role if before else None
        seen[key] = SeenViewer(*key, role, min(first, event.at), max(last, event.at))
    return list(seen.values())


def visits(lines: Iterable[tuple[str, int | None, int]]) -> list[tuple[str, int, int, int, int]]:
    """Who was in which stream (viewer, stream, first at, last at, lines), from each line's viewer, stream and time."""
    found: dict[tuple[str, int], list[int]] = {}
    for viewer_id, stream, at in lines:
        if stream is not None:
            found.setdefault((viewer_id, stream), []).append(at)
    return [(*key, min(times), max(times), len(times)) for key, times in found.items()]
