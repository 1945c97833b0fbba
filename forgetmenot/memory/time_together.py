"""Reads facts about somebody's time here, such as streaks and anniversaries, for cards, prompts, `!streak` and recaps.

If the settings turn it off, nothing is read, and the modules that compute it are not imported.
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
    """The facts about one person's time here. `occasions`: those to congratulate on, which nobody did yet."""

    facts: tuple["Fact", ...] = ()
    occasions: tuple["Fact", ...] = ()

    def words(self, now: int, language: Language) -> list[str]:
        """Return the facts that are news today, and a long streak, in words. Occasions come first."""
        if not self.facts:
            return []
        from forgetmenot.people.time_together import words_of

        other_facts = [fact for fact in self.facts if fact not in self.occasions]
        return words_of([*self.occasions, *other_facts], now, language)


async def together_with(
    source: Source,
    viewer_id: str,
    settings: Settings,
    now: int,
) -> Together:
    """Return the facts about somebody's time here that are worth saying; none about hidden people."""
    if not settings.people.time_together:
        return Together()
    from forgetmenot.people.time_together import facts_of, to_congratulate
    from forgetmenot.store.time_together import histories

    histories_by_id = await histories(source, [viewer_id], now)
    history = histories_by_id.get(viewer_id)
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
    """Return by id the anniversaries of these viewers on the day of a stream."""
    if not settings.people.time_together:
        return {}
    from forgetmenot.people.time_together import facts_of
    from forgetmenot.store.time_together import histories

    zone = settings.bot.timezone
    ended_at = stream.ended_at or stream.started_at
    histories_by_id = await histories(source, viewer_ids, ended_at)
    occasions_of = {}
    for viewer_id, history in histories_by_id.items():
        # A streak of 0 leaves streaks out: the present one is not the one of that evening.
        occasions = []
        for fact in facts_of(history, 0, ended_at, zone):
            # it became true after the stream
            if fact.since > ended_at:
                continue
            if fact.is_occasion and fact.is_news(ended_at):
                occasions.append(fact)
        if occasions:
            occasions_of[viewer_id] = occasions
    return occasions_of
