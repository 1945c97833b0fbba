"""The room's modes as Twitch last told them, so that the bot leaves alone what somebody else has switched on."""

from forgetmenot.twitch.irc import RoomState


class Room:
    """Keeps the last of what was told; a message names only what changed."""

    def __init__(self) -> None:
        self._slow = self._emote_only = False

    def heard(self, state: RoomState) -> None:
        """Take in what Twitch tells."""
        if state.slow_s is not None:
            self._slow = state.slow_s > 0
        if state.emote_only is not None:
            self._emote_only = state.emote_only

    @property
    def modes(self) -> frozenset[str]:
        """The modes that are on, as the catalogue of actions names them."""
        known = {"slow": self._slow, "emote_only": self._emote_only}
        return frozenset(mode for mode, is_on in known.items() if is_on)
