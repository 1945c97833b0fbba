"""What `forgetmenot listen` prints: chat as it comes, what is learned from it, and a result at the end.

It prints what the dock shows: nothing of viewers who opted out or were banned, and no line that was cleared.
"""

from collections.abc import Callable
from typing import Self

from forgetmenot.app.bot import Bot
from forgetmenot.app.replay import summarise
from forgetmenot.memory.heard_facts import said_in
from forgetmenot.store import dock_rows, run_stats, viewers
from forgetmenot.store.dock_rows import FeedCursor
from forgetmenot.text.mentions import ids_in, show

MOST = 200  # of each kind at a time


class ListenOutput:
    """Prints what is new. `print_line` prints one line; `cursor` and `before` are how things stood at the start."""

    def __init__(
        self, bot: Bot, print_line: Callable[[str], None], cursor: FeedCursor, before: run_stats.Totals
    ) -> None:
        self._bot = bot
        self._print = print_line
        self._cursor = cursor
        self._before = before
        self._people: set[str] = set()

    @classmethod
    async def begin(cls, bot: Bot, print_line: Callable[[str], None]) -> Self:
        """From now on: what was there before is not printed, nor counted."""
        return cls(bot, print_line, await dock_rows.feed_cursor(bot.db), await run_stats.totals(bot.db))

    async def print_news(self) -> None:
        """Print what came since the last call."""
        bot, before = self._bot, self._cursor
        await bot.ingest.flush()
        self._cursor = await dock_rows.feed_cursor(bot.db)
        for line in await dock_rows.lines(bot.db, before.line, MOST):
            self._people.add(line.viewer_id)
            self._print(f"{line.name}: {line.text}")
            for fact in said_in(line.text, bot.settings().privacy):
                self._print(f"    heard just now, not yet summarised: {line.name} {fact}")
        for episode in await dock_rows.feed_episodes(bot.db, before.episode, MOST):
            self._print(f"    summary: {await self._named(episode.summary)}")
        for change in await dock_rows.changes(bot.db, before.change, MOST):
            if change.after == "active":
                who = f"<@{change.subject_id}>" if change.subject_id else "the channel:"
                self._print(f"    learned: {await self._named(f'{who} {change.fact}')}")

    async def print_result(self) -> None:
        """Print what all of it came to."""
        await self.print_news()
        bot = self._bot
        done = await summarise(bot.db, bot.run_id, self._before)
        waiting = f" Waiting for a summary: {done.account.uncovered} lines." if done.account.uncovered else ""
        self._print(
            f"Lines heard: {done.account.events}, of viewers: {len(self._people)}. Summaries: {done.added.episodes}, "
            f"notes: {done.added.notes}.{waiting} The memory: {bot.db.path}"
        )

    async def _named(self, text: str) -> str:
        """With present names; "somebody" for who is hidden."""
        people = ids_in(text)
        hidden = await viewers.hidden(self._bot.db, people)
        return show(text, await viewers.names(self._bot.db, sorted(set(people) - hidden)))
