"""Which rights on Twitch each account must give, from the actions that the settings switch on. Pure."""

from collections.abc import Iterable

from forgetmenot.operations.catalogue import ACTIONS
from forgetmenot.operations.entry import Action
from forgetmenot.operations.rules import class_mode
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.token_store import Account

CHAT = ("chat:read", "user:read:chat", "user:write:chat")
IMMUNITY = ("moderation:read", "channel:read:vips")
_BROADCASTERS = frozenset({"channel:manage:broadcast"})  # Twitch takes these from the channel's own account alone
NEEDS = tuple(action for action in ACTIONS if action.scope)


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
    users = [action.name for action in NEEDS if action.scope in missing and _enabled(action, settings)]
    purpose = f" (for: {', '.join(users)})" if users else ""
    return (
        f"The {account.value}'s log-in lacks {', '.join(missing)}{purpose}. Type `forgetmenot login --as "
        f"{account.value}` to add it, or switch the action off in the table [actions]."
    )


def _of(account: Account, settings: Settings) -> tuple[str, ...]:
    on = [action for action in NEEDS if _enabled(action, settings)]
    base = CHAT if account is Account.BOT else ()
    asked = tuple(action.scope for action in on if account_of(action.scope) is account)
    immunity = IMMUNITY if account is Account.BROADCASTER and any(action.harms for action in on) else ()
    return tuple(dict.fromkeys((*base, *asked, *immunity)))


def account_of(scope: str) -> Account:
    """Whose right it is."""
    return Account.BROADCASTER if scope in _BROADCASTERS else Account.BOT


def _enabled(action: Action, settings: Settings) -> bool:
    acts = class_mode(action, settings) in {"live", "ask"}
    return acts and action.name not in settings.actions.disabled and not settings.actions.safe_mode
