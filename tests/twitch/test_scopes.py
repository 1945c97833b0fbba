"""Rights are asked for as the settings need them, and no more."""

from pathlib import Path

from forgetmenot.actions.catalogue import ACTIONS
from forgetmenot.settings.schema import ActionSettings, ClassMode, GuardedMode, Settings, TwitchSettings
from forgetmenot.twitch.scopes import CHAT, IMMUNITY, NEEDS, lacking, scopes_for
from forgetmenot.twitch.tokens import Account

NOTHING = ActionSettings(class_a=ClassMode.OFF, class_b=ClassMode.SHADOW, class_c=GuardedMode.OFF)


def test_a_bot_that_only_talks_asks_for_chat_alone() -> None:
    assert scopes_for(Account.BOT, Settings(actions=NOTHING)) == CHAT
    assert scopes_for(Account.BROADCASTER, Settings(actions=NOTHING)) == ()


def test_what_is_switched_on_is_asked_for_and_what_is_disabled_is_not() -> None:
    actions = ActionSettings(class_a=ClassMode.LIVE, class_b=ClassMode.OFF, class_c=GuardedMode.OFF)
    assert scopes_for(Account.BOT, Settings(actions=actions)) == (*CHAT, "clips:edit", "moderator:manage:shoutouts")
    assert scopes_for(Account.BROADCASTER, Settings(actions=actions)) == ("channel:manage:broadcast",)
    less = ActionSettings(class_a=ClassMode.LIVE, class_c=GuardedMode.OFF, disabled=("clip", "marker"))
    assert scopes_for(Account.BOT, Settings(actions=less)) == (*CHAT, "moderator:manage:shoutouts")
    assert scopes_for(Account.BROADCASTER, Settings(actions=less)) == ()


def test_whoever_may_do_harm_must_be_able_to_ask_who_is_immune() -> None:
    actions = ActionSettings(class_a=ClassMode.OFF, class_b=ClassMode.LIVE, class_c=GuardedMode.OFF)
    assert scopes_for(Account.BROADCASTER, Settings(actions=actions)) == ("moderation:read", "channel:read:vips")


def test_safe_mode_asks_for_no_right_to_act() -> None:
    assert scopes_for(Account.BOT, Settings(actions=ActionSettings(safe_mode=True))) == CHAT


def test_one_account_for_both_gives_both_sets() -> None:
    settings = Settings(twitch=TwitchSettings(channel="#Demo", bot_login="demo"))
    assert {*CHAT, "channel:manage:broadcast"} <= set(scopes_for(Account.BOT, settings))


def test_what_is_lacking_is_named_with_its_use_and_the_way_out() -> None:
    sentence = lacking(Account.BOT, Settings(), CHAT)
    assert "clips:edit" in sentence
    assert "clip" in sentence
    assert "forgetmenot login --as bot" in sentence
    assert lacking(Account.BOT, Settings(), scopes_for(Account.BOT, Settings())) == ""


def test_the_catalogue_of_actions_and_this_table_agree() -> None:
    assert {action.name: action.scope for action in ACTIONS if action.scope} == {
        name: scope for name, (_, _, scope) in NEEDS.items()
    }


def test_every_right_and_every_action_that_needs_one_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "TWITCH_APP.md").read_text(encoding="utf-8")
    asked = {*CHAT, *IMMUNITY, *(scope for _, _, scope in NEEDS.values()), *NEEDS}
    assert [name for name in sorted(asked) if f"`{name}`" not in page] == []
