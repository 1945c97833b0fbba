"""What is heard of the stream besides chat: the streamer's captions, Twitch's events, channel points.

Nothing is imported or opened for what is off.
"""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from forgetmenot.app.bot import Bot
from forgetmenot.domain import ChannelState, ChatEvent, EventKind
from forgetmenot.durations import HOUR, MINUTE, SlidingWindow
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.ports import HearingState
from forgetmenot.secret_store import SecretStore
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, events
from forgetmenot.text.clean import clean

if TYPE_CHECKING:
    from forgetmenot.app.account import TwitchAccount
    from forgetmenot.hearing.service import Hearing
    from forgetmenot.twitch.eventsub import StateChanges, StreamEvents, StreamReport
    from forgetmenot.twitch.login import Login

OBS_PASSWORD = "obs-password"  # noqa: S105  # the name that it is stored under
# In the channel's state: a bot that is built anew does not listen again by itself.
STOPPED = "hearing_stopped"
# Follows in a minute that are taken in: bought followers come by the thousand.
FOLLOWS_LIMIT = 10
# Twitch's API knows of a begin or an end up to two minutes later than OBS and its own events.
API_LAG = 3 * MINUTE
# Points that were spent longer ago (ms) are not answered any more.
OLD_REDEMPTION = HOUR
LOOK_FOR_LOG_IN_S = 60.0
Task = tuple[str, Callable[[], Awaitable[None]]]


class _Report(NamedTuple):
    """A value that was reported, and when (ms)."""

    value: object
    at: int


class StreamInput:
    """The inputs of one running bot. `folder`: where secrets are kept where there is no keyring."""

    def __init__(
        self,
        bot: Bot,
        settings: Callable[[], Settings],
        folder: Path,
    ) -> None:
        self._bot = bot
        self._db = bot.db
        self._clock = bot.clock
        self._settings = settings
        self._folder = folder
        self._numbers = count()
        self._changing = asyncio.Lock()
        self._follows = SlidingWindow(FOLLOWS_LIMIT, MINUTE)
        # What OBS or an event reported of the channel, by field of ChannelState.
        self._reports: dict[str, _Report] = {}
        self._to_ask = asyncio.Event()
        self._account: TwitchAccount | None = None
        self.hearing: Hearing | None = None
        self._events: StreamEvents | None = None

    def tasks(self, account: "TwitchAccount | None" = None) -> list[Task]:
        """Return what has to run, by name. `account`: where there is a log-in for Twitch's events."""
        tasks: list[Task] = []
        settings = self._settings()
        if settings.hearing.on:
            hearing = self._make_hearing()
            self.hearing = hearing
            tasks.append(("hearing", lambda: self._listen(hearing)))
        self._account = account
        if account is not None and settings.twitch.client_id:
            tasks.append(("events", lambda: self._follow_events(account)))
            tasks.append(("channel reports", self._ask_when_reported))
        return tasks

    def _make_hearing(self) -> "Hearing":
        from forgetmenot.hearing.service import Hearing

        secrets = SecretStore(self._folder)
        hearing = Hearing(
            settings=lambda: self._settings().hearing,
            clock=self._clock,
            hear=self.said_aloud,
            live=lambda live: self.obs_streams(live=live),
            password=lambda: secrets.load(OBS_PASSWORD) or "",
        )
        # until it is known whether it was stopped
        hearing.paused = True
        return hearing

    @property
    def reports_state(self) -> bool:
        """Return whether Twitch reports by itself when the stream begins or ends and what it is about."""
        if self._events is None:
            return False
        return self._events.reports_state

    def corrected(self, state: ChannelState) -> ChannelState:
        """Return what Twitch's API answers, corrected by what OBS or an event has reported since."""
        since = self._clock.now() - API_LAG
        reports: dict[str, Any] = {}
        for name, report in self._reports.items():
            if report.at >= since:
                reports[name] = report.value
        if reports.get("live") == state.live:
            # both agree; the API knows the stream's id and when it began
            for name in ("live", "started_at", "stream_id"):
                reports.pop(name, None)
        return replace(state, **reports)

    async def _ask_when_reported(self) -> None:
        """Ask Twitch's API at once each time OBS or an event reports something: neither knows all of it."""
        while True:
            await self._to_ask.wait()
            self._to_ask.clear()
            await self._bot.tasks.do("channel")

    async def _listen(self, hearing: "Hearing") -> None:
        stopped = await channel_state.read(self._db, STOPPED)
        hearing.paused = stopped == "1"
        await hearing.run()

    def state(self) -> HearingState | None:
        """Return how hearing stands, for the dock; None while it is off."""
        hearing = self.hearing
        if hearing is None:
            return None
        return HearingState(
            listening=hearing.listening,
            trouble=hearing.trouble if hearing.listening else "",
            last=hearing.last,
            last_at=hearing.last_at,
        )

    def sent(self, text: str) -> bool:
        """Take a line from a program on this computer; return False if too many come.

        Raises InputError while hearing is off.
        """
        hearing = self.hearing
        may_send = self._settings().hearing.programs
        if hearing is None or not hearing.listening or not may_send:
            raise InputError(reason("hearing_off"))
        return hearing.sent(text)

    async def listen(self, *, on: bool) -> None:
        """Stop listening at once, or go on; it stays so at the next start. Raises StoreError."""
        if self.hearing is not None:
            self.hearing.paused = not on
        stopped = "" if on else "1"
        now = self._clock.now()
        async with self._db.write() as tx:
            await channel_state.put(tx, {STOPPED: stopped}, now)

    async def said_aloud(self, text: str) -> None:
        """Take in a line that the streamer said, unless the channel is off and the settings want it only while live."""
        state = await channel_state.read_all(self._db)
        if not state.get("id"):
            return
        is_live = state.get("live") == "1"
        hears_offline = self._settings().hearing.offline
        if not is_live and not hears_offline:
            return
        now = self._clock.now()
        number = next(self._numbers)
        login = state.get("login", "")
        line = ChatEvent(
            id=f"spoken:{now}:{number}",
            kind=EventKind.SPOKEN,
            user_id=state["id"],
            login=login,
            display_name=login,
            text=text,
            at=now,
            # The broadcaster's word: it makes facts about the channel, and ends them.
            badges=frozenset({"broadcaster"}),
        )
        await self._bot.hear(line)

    async def obs_streams(self, *, live: bool | None) -> None:
        """Take in that OBS began or ended the stream: known at once, where Twitch says so a minute later.

        None: it does not stream now. The stream may come from another computer then: it is off only where nobody asks
        Twitch and OBS has reported a stream before.
        """
        stored_live = await channel_state.read(self._db, "live")
        if live is None:
            if not stored_live:
                return
            if await self._has_log_in():
                return
        was_live = stored_live == "1"
        is_live = bool(live)
        changes: StateChanges = {}
        if was_live != is_live:
            changes["live"] = is_live
            changes["started_at"] = None
        if is_live and not was_live:
            changes["started_at"] = self._clock.now()
        await self._channel_changed(changes)

    async def _has_log_in(self) -> bool:
        if self._account is None:
            return False
        return await self._account.login.exists()

    async def _channel_changed(self, changes: "StateChanges") -> None:
        """Take over what is reported of the channel, and have Twitch asked about the rest."""
        # two sources may report at the same moment
        async with self._changing:
            now = self._clock.now()
            for name, value in changes.items():
                self._reports[name] = _Report(value, now)
            state = await channel_state.read_all(self._db)
            # Empty while the channel is off.
            started_at = state.get("started_at")
            before = ChannelState(
                live=state.get("live") == "1",
                title=state.get("title", ""),
                category=state.get("category", ""),
                started_at=int(started_at) if started_at else None,
            )
            after = replace(before, **changes)
            if before.live and not after.live:
                # it was live until this moment
                await self._bot.channel_is(before)
            await self._bot.channel_is(after)
        self._to_ask.set()

    async def _follow_events(self, account: "TwitchAccount") -> None:
        """Follow Twitch's events with the best log-in there is; returns when there is a better one."""
        from forgetmenot.twitch.eventsub import StreamEvents

        login = await _login_for_events(account)
        if login is None:
            await asyncio.sleep(LOOK_FOR_LOG_IN_S)
            return
        events = StreamEvents(
            login=login,
            settings=self._settings,
            clock=self._clock,
            room=account.helix.room_id,
            happened=self.happened,
        )
        self._events = events
        async with asyncio.TaskGroup() as group:
            following = group.create_task(events.run())
            # a log-in is a file or an entry of the keyring, and nothing reports a new one
            while await _login_for_events(account) is login:  # noqa: ASYNC110
                await asyncio.sleep(LOOK_FOR_LOG_IN_S)
            following.cancel()

    async def happened(self, report: "StreamReport") -> None:
        """Take in one event of Twitch's: a change of the channel, something for the chat, or a reward."""
        if isinstance(report, dict):
            # The changed fields of the channel's state. An event that is hours old has none: after it
            # Twitch is only asked how the channel is now.
            if report:
                await self._channel_changed(report)
            self._to_ask.set()
            return
        if not isinstance(report, ChatEvent):
            await self._redeemed(report.event, report.reward)
            return
        # Bought followers come by the thousand: a line for each would fill the memory.
        if report.kind is EventKind.FOLLOW and not self._has_room_for_follow():
            return
        await self._bot.hear(report)

    async def _redeemed(self, event: ChatEvent, reward: str) -> None:
        """Take in that channel points were spent on a reward, and answer if it is one of the settings'."""
        # Twitch repeats an event that it takes for lost; this run's are known to the router
        stored_event = await events.by_id(self._db, event.id)
        # what was typed comes as a line of chat as well, and is remembered from there
        without_text = replace(event, text="")
        await self._bot.hear(without_text)
        if stored_event is not None:
            return
        age = self._clock.now() - event.at
        if age > OLD_REDEMPTION:
            return
        rewards = self._settings().rewards
        title = _comparable(reward)
        ask_title = _comparable(rewards.ask)
        remember_title = _comparable(rewards.remember)
        # An empty title of the settings stands for no reward.
        if title and title in {ask_title, remember_title}:
            is_fact = title == remember_title and bool(event.text)
            self._bot.router.redeemed(event, remember=is_fact)

    def _has_room_for_follow(self) -> bool:
        """Return whether few enough follows came within the last minute; if so, this one is counted."""
        now = self._clock.now()
        if self._follows.is_full(now):
            return False
        self._follows.count(now)
        return True


def _comparable(title: str) -> str:
    return clean(title).casefold()


async def _login_for_events(account: "TwitchAccount") -> "Login | None":
    """Return the streamer's log-in, which hears everything; else the bot's; None if nobody is logged in."""
    if await account.streamer.exists():
        return account.streamer
    if await account.login.exists():
        return account.login
    return None
