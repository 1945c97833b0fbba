"""The channel's chat modes, as ROOMSTATE reports them."""

from forgetmenot.twitch.chat_lines import RoomState


class RoomModeTracker:
    """The channel's chat modes as Twitch last reported them.

    They keep the bot from switching off a moderator's. `modes` are those that are on, as
    operations/actions names them.
    """

    def __init__(self) -> None:
        self.modes: frozenset[str] = frozenset()

    def heard(self, state: RoomState) -> None:
        """Update from a ROOMSTATE, which names only what changed."""
        if state.slow_s is not None:
            self._set("slow", is_on=state.slow_s > 0)
        if state.emote_only is not None:
            self._set("emote_only", is_on=state.emote_only)

    def switched_off(self, mode: str) -> None:
        """Note that the bot switched its own mode off, before Twitch reports it."""
        # Until Twitch's report comes, the mode would still pass for a moderator's.
        self._set(mode, is_on=False)

    def _set(self, mode: str, *, is_on: bool) -> None:
        if is_on:
            self.modes |= {mode}
        else:
            self.modes -= {mode}
