"""Which rights each account must give, from what the settings switch on. Pure."""

from collections.abc import Iterable

from forgetmenot.settings.schema import ActionSettings, ClassMode, GuardedMode, Settings
from forgetmenot.twitch.tokens import Account

CHAT = ("chat:read", "user:read:chat", "user:write:chat")
IMMUNITY = ("moderation:read", "channel:read:vips")
_BANS = "moderator:manage:banned_users"
_MODES = "moderator:manage:chat_settings"

# action → (its class, whose right it is, the right)
NEEDS: dict[str, tuple[str, Account, str]] = {
    "clip": ("a", Account.BOT, "clips:edit"),
    "shoutout": ("a", Account.BOT, "moderator:manage:shoutouts"),
    "marker": ("a", Account.BROADCASTER, "channel:manage:broadcast"),
    "timeout": ("b", Account.BOT, _BANS),
    "untimeout": ("b", Account.BOT, _BANS),
    "delete": ("b", Account.BOT, "moderator:manage:chat_messages"),
    "announce": ("b", Account.BOT, "moderator:manage:announcements"),
    "slow_mode": ("b", Account.BOT, _MODES),
    "emote_only": ("b", Account.BOT, _MODES),
    "ban": ("c", Account.BOT, _BANS),
    "unban": ("c", Account.BOT, _BANS),
    "long_timeout": ("c", Account.BOT, _BANS),
    "title": ("c", Account.BROADCASTER, "channel:manage:broadcast"),
    "category": ("c", Account.BROADCASTER, "channel:manage:broadcast"),
}
_HARMFUL = ("timeout", "delete", "ban", "long_timeout")


def scopes_for(account: Account, settings: Settings) -> tuple[str, ...]:
    """The rights to ask an account for. An account that is both the bot's and the channel's gives both sets."""
    if account is Account.BOT and same_account(settings):
        return tuple(dict.fromkeys(_of(Account.BOT, settings) + _of(Account.BROADCASTER, settings)))
    return _of(account, settings)


def same_account(settings: Settings) -> bool:
    """Whether the settings name one account for the bot and for the channel."""
    twitch = settings.twitch
    return bool(twitch.bot_login) and twitch.bot_login.lower() == twitch.channel.lower().lstrip("#")


def lacking(account: Account, settings: Settings, held: Iterable[str]) -> str:
    """One sentence on the rights that the settings need and the log-in lacks, with the way out; "" if none."""
    missing = [scope for scope in scopes_for(account, settings) if scope not in set(held)]
    if not missing:
        return ""
    users = [name for name, (_, _, scope) in NEEDS.items() if scope in missing and _enabled(name, settings.actions)]
    purpose = f" (for: {', '.join(users)})" if users else ""
    return (
        f"The {account.value}'s log-in lacks {', '.join(missing)}{purpose}. Type `forgetmenot login --as "
        f"{account.value}` to add it, or switch the action off in the table [actions]."
    )


def _of(account: Account, settings: Settings) -> tuple[str, ...]:
    on = [name for name in NEEDS if _enabled(name, settings.actions)]
    base = CHAT if account is Account.BOT else ()
    asked = tuple(NEEDS[name][2] for name in on if NEEDS[name][1] is account)
    immunity = IMMUNITY if account is Account.BROADCASTER and any(name in _HARMFUL for name in on) else ()
    return tuple(dict.fromkeys((*base, *asked, *immunity)))


def _enabled(name: str, actions: ActionSettings) -> bool:
    mode = {"a": actions.class_a, "b": actions.class_b, "c": actions.class_c}[NEEDS[name][0]]
    acts = mode in (ClassMode.LIVE, ClassMode.ASK, GuardedMode.ASK)
    return acts and name not in actions.disabled and not actions.safe_mode
