"""The channel's chat modes, as ROOMSTATE reports them."""

from forgetmenot.twitch.chat_lines import RoomState


class RoomModeTracker:
    """The channel's chat modes as Twitch last reported them, so that the bot never switches off a moderator's.

    `modes`: those that are on, as operations/actions names them.
    """

    def __init__(self) -> None:
        self.modes: frozenset[str] = frozenset()

    def heard(self, state: RoomState) -> None:
        """Update from a ROOMSTATE, which names only what changed."""
        slow = None if state.slow_s is None else state.slow_s > 0
        for mode, is_on in (("slow", slow), ("emote_only", state.emote_only)):
            if is_on is not None:
                self.modes = self.modes | {mode} if is_on else self.modes - {mode}

    def switched_off(self, mode: str) -> None:
        """Note that the bot switched its own mode off, before Twitch reports it."""
        self.modes -= {mode}
