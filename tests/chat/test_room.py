"""What is known of the room's modes."""

from forgetmenot.actions.catalogue import ACTIONS
from forgetmenot.chat.room import Room
from forgetmenot.twitch.chat_lines import RoomState


def test_a_mode_that_was_told_holds_until_it_is_told_to_be_off() -> None:
    room = Room()
    assert room.modes == frozenset()
    room.heard(RoomState("100", emote_only=False, slow_s=30, subs_only=False))
    room.heard(RoomState("100", emote_only=True))
    assert room.modes == {"slow", "emote_only"}
    room.heard(RoomState("100", slow_s=0))
    assert room.modes == {"emote_only"}


def test_the_modes_are_named_as_the_actions_name_them() -> None:
    room = Room()
    room.heard(RoomState("100", emote_only=True, slow_s=3))
    assert room.modes == {action.mode for action in ACTIONS if action.mode}
