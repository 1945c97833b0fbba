"""What is heard of the stream besides chat: the streamer's captions, Twitch's events, channel points.

Nothing is imported or opened for what is off.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from forgetmenot.app.bot import Bot
from forgetmenot.domain import ChannelState, ChatEvent, EventKind
from forgetmenot.secret_store import Account, SecretStore
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state

if TYPE_CHECKING:
    from forgetmenot.app.account import TwitchAccount
    from forgetmenot.hearing.service import Hearing
    from forgetmenot.twitch.eventsub import Happened

OBS_PASSWORD = "obs-password"  # noqa: S105  # the name that it is kept under
Task = tuple[str, Callable[[], Awaitable[None]]]


class StreamInput:
    """The inputs of one running bot. `folder`: where secrets are kept where there is no keyring."""

    def __init__(self, bot: Bot, settings: Callable[[], Settings], folder: Path) -> None:
        self._bot = bot
        self._settings = settings
        self._folder = folder
        self._numbers = count()
        self.hearing: Hearing | None = None

    def tasks(self, account: "TwitchAccount | None" = None) -> list[Task]:
        """What has to run, by name. `account`: where there is a log-in for Twitch's events."""
        found: list[Task] = []
        if self._settings().hearing.on:
            from forgetmenot.hearing.service import Hearing

            self.hearing = Hearing(
                settings=lambda: self._settings().hearing,
                clock=self._bot.clock,
                hear=self.said_aloud,
                live=self._obs_streams,
                password=lambda: SecretStore(self._folder).load(OBS_PASSWORD) or "",
            )
            found.append(("hearing", self.hearing.run))
        if account is not None and self._settings().twitch.client_id:
            found.append(("events", lambda: self._follow_events(account)))
        return found

    async def said_aloud(self, text: str) -> None:
        """Take in a line that the streamer said, unless the channel is off and the settings want it only while live."""
        state = await channel_state.read_all(self._bot.db)
        if not state.get("id") or not (state.get("live") == "1" or self._settings().hearing.offline):
            return
        now, login = self._bot.clock.now(), state.get("login", "")
        # the broadcaster's word: it makes facts about the channel, and ends them
        key, badges = f"spoken:{now}:{next(self._numbers)}", frozenset({"broadcaster"})
        await self._bot.hear(ChatEvent(key, EventKind.SPOKEN, state["id"], login, login, text, now, badges=badges))

    async def _obs_streams(self, live: bool) -> None:  # noqa: FBT001  # as hearing reports it
        """OBS began or ended the stream: known at once, where Twitch says so a minute later."""
        state = await self._state()
        if state.live != live:
            await self._bot.channel_is(replace(state, live=live, started_at=self._bot.clock.now() if live else None))

    async def _state(self) -> ChannelState:
        state = await channel_state.read_all(self._bot.db)
        began = state.get("started_at", "")
        return ChannelState(
            live=state.get("live") == "1",
            title=state.get("title", ""),
            category=state.get("category", ""),
            started_at=int(began) if began.isdigit() else None,
        )

    async def _follow_events(self, account: "TwitchAccount") -> None:
        from forgetmenot.twitch.eventsub import StreamEvents

        login = account.streamer if await account.streamer.exists() else account.login
        channel = self._settings().twitch.channel.lower().lstrip("#")
        if not await login.exists() or (login.account is Account.BOT and (await login.token()).login != channel):
            await self._bot.clock.sleep(60_000)  # nobody who may see them is logged in
            return
        await StreamEvents(
            login=login,
            settings=self._settings,
            clock=self._bot.clock,
            room=account.helix.room_id,
            state=self._state,
            happened=self.happened,
        ).run()

    async def happened(self, what: "Happened") -> None:
        """Take in one event of Twitch's."""
        if isinstance(what, ChannelState):
            await self._bot.channel_is(what)
        elif isinstance(what, ChatEvent):
            await self._bot.hear(what)
        else:
            # what was typed comes as a line of chat as well, and is remembered from there
            await self._bot.hear(replace(what.event, text=""))
            rewards, title = self._settings().rewards, what.reward.casefold()
            if what.event.text and title and title in {rewards.ask.casefold(), rewards.remember.casefold()}:
                self._bot.router.redeemed(what.event, remember=title == rewards.remember.casefold())
