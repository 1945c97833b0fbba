"""The room's modes as Twitch last told them, so that the bot leaves alone what somebody else has switched on."""

from forgetmenot.twitch.chat_lines import RoomState


class Room:
    """Keeps the last of what was told; a message names only what changed."""

    def __init__(self) -> None:
        self._on = {"slow": False, "emote_only": False}  # as the catalogue of actions names them

    def heard(self, state: RoomState) -> None:
        """Take in what Twitch tells."""
        if state.slow_s is not None:
            self._on["slow"] = state.slow_s > 0
        if state.emote_only is not None:
            self._on["emote_only"] = state.emote_only

    def switched_off(self, mode: str) -> None:
        """The bot took a mode of its own back: it is off, whether Twitch has told us yet or not."""
        if mode in self._on:
            self._on[mode] = False

    @property
    def modes(self) -> frozenset[str]:
        """The modes that are on."""
        return frozenset(mode for mode, is_on in self._on.items() if is_on)
