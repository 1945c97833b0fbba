"""Reads the facts of somebody's time here, for cards, prompts, `!streak` and recaps.

Where the settings leave it off, nothing is read, and what computes it is not imported.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from forgetmenot.domain import Stream
from forgetmenot.languages import Language
from forgetmenot.settings.schema import Settings
from forgetmenot.store import streams
from forgetmenot.store.database import Source

if TYPE_CHECKING:
    from forgetmenot.people.time_together import Fact


class Together(NamedTuple):
    """The facts of one person, and those to congratulate on that nobody did yet."""

    facts: tuple["Fact", ...] = ()
    occasions: tuple["Fact", ...] = ()

    def words(self, now: int, language: Language) -> list[str]:
        """Return today's news and a long streak in words, first what was not told yet."""
        if not self.facts:
            return []
        from forgetmenot.people.time_together import words_of

        rest = [fact for fact in self.facts if fact not in self.occasions]
        return words_of([*self.occasions, *rest], now, language)


async def together_with(
    source: Source,
    viewer_id: str,
    settings: Settings,
    now: int,
) -> Together:
    """Return what is worth saying of somebody's time here; nothing of hidden people."""
    if not settings.people.time_together:
        return Together()
    from forgetmenot.people.time_together import facts_of, to_congratulate
    from forgetmenot.store.time_together import histories

    by_id = await histories(source, [viewer_id], now)
    history = by_id.get(viewer_id)
    # nobody knows them, or they are hidden
    if history is None:
        return Together()
    streak = await streams.streak(source, viewer_id)
    facts = facts_of(history, streak, now, settings.bot.timezone)
    occasions = to_congratulate(facts, history, now)
    return Together(tuple(facts), tuple(occasions))


async def anniversaries(
    source: Source,
    stream: Stream,
    viewer_ids: Collection[str],
    settings: Settings,
) -> dict[str, list["Fact"]]:
    """Return the anniversaries of those who came to a stream, by id."""
    if not settings.people.time_together:
        return {}
    from forgetmenot.people.time_together import facts_of
    from forgetmenot.store.time_together import histories

    zone = settings.bot.timezone
    ended_at = stream.ended_at or stream.started_at
    by_id = await histories(source, viewer_ids, ended_at)
    by_viewer = {}
    for viewer_id, history in by_id.items():
        # Streaks are left out: today's is not the one of that evening.
        occasions = []
        for fact in facts_of(history, 0, ended_at, zone):
            # what came later is no news of a stream that was over
            if fact.since > ended_at:
                continue
            if fact.is_occasion and fact.is_news(ended_at):
                occasions.append(fact)
        if occasions:
            by_viewer[viewer_id] = occasions
    return by_viewer
