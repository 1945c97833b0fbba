"""The hands of a bot without an account: it listens, remembers and thinks, and every deed is a refusal that says so."""

from forgetmenot.domain.action import Outcome, OutcomeKind, Penalty, RoomModes
from forgetmenot.errors import TwitchLoginNeeded

NO_ACCOUNT = Outcome(OutcomeKind.REFUSED, "there is no log-in; type: forgetmenot login")


class NoAccount:
    """A ports.ChatOut and ports.Moderation that does nothing, honestly."""

    async def say(self, _text: str, _reply_to: str | None = None) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def timeout(self, _user_id: str, _seconds: int, _reason: str) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def untimeout(self, _user_id: str) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def ban(self, _user_id: str, _reason: str) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def delete_message(self, _event_id: str) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def announce(self, _text: str) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def set_slow_mode(self, _seconds: int | None) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def set_emote_only(self, *, on: bool) -> Outcome:  # noqa: ARG002  # the port's name
        """Refused."""
        return NO_ACCOUNT

    async def shoutout(self, _user_id: str) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def create_marker(self, _description: str) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def create_clip(self) -> Outcome:
        """Refused."""
        return NO_ACCOUNT

    async def set_channel(self, *, title: str | None = None, category: str | None = None) -> Outcome:  # noqa: ARG002
        """Refused."""
        return NO_ACCOUNT

    async def is_immune(self, _user_id: str) -> bool:
        """Whoever cannot be asked about is left alone."""
        return True

    async def penalty_of(self, _user_id: str) -> Penalty | None:
        """Nothing can be asked. Raises TwitchLoginNeeded, as do the next two."""
        raise TwitchLoginNeeded(NO_ACCOUNT.detail)

    async def room_modes(self) -> RoomModes:
        """Nothing can be asked."""
        raise TwitchLoginNeeded(NO_ACCOUNT.detail)

    async def title_and_category(self) -> tuple[str, str]:
        """Nothing can be asked."""
        raise TwitchLoginNeeded(NO_ACCOUNT.detail)
