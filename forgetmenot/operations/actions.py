"""The actions that the model may propose, one entry each. A new action is a new entry here.

`run` and `undo` make exactly one call through the ports and return its outcome; they decide nothing.
At the end: which rights on Twitch the switched-on actions need.
"""

from collections.abc import Iterable

from forgetmenot.domain import Asker, Outcome, OutcomeKind, Surface
from forgetmenot.languages import reason
from forgetmenot.operations.types import (
    Action,
    ActionCall,
    ActionClass,
    ActionPorts,
    Parameter,
    ParameterKind,
    Runner,
)
from forgetmenot.secret_store import Account
from forgetmenot.settings.load import refuse_unknown_words
from forgetmenot.settings.schema import ActionSettings, Settings

TARGET = Parameter("target", ParameterKind.VIEWER, maximum=50)
LONGEST_TIMEOUT_S = 14 * 24 * 3_600
A, B, C = ActionClass.FREE, ActionClass.GUARDED, ActionClass.NEVER_ALONE


def _text(name: str, most: int, default: str | None = None) -> Parameter:
    return Parameter(name, ParameterKind.TEXT, maximum=most, default=default)


def _seconds(least: int, most: int, default: str) -> Parameter:
    return Parameter("seconds", ParameterKind.SECONDS, minimum=least, maximum=most, default=default)


def _operation(name: str, *kept: str) -> Runner:
    """An action that changes memory runs the same operation that people use; the policy has already allowed it."""

    async def runner(ports: ActionPorts, call: ActionCall) -> Outcome:
        asker = Asker(Surface.MODEL, call.asked_by, line_id=call.line)
        result = await ports.run(name, {one: call.params[one] for one in kept}, asker)
        if not result.ok:
            return Outcome(OutcomeKind.REFUSED, result.code.removeprefix("refused:"))
        return Outcome(OutcomeKind.DONE, f"note {result.data['id']}" if "id" in result.data else "")

    return runner


async def _effect(ports: ActionPorts, call: ActionCall) -> Outcome:
    if ports.run_effect is None:
        return Outcome(OutcomeKind.REFUSED, "there is no other bot here")
    return await ports.run_effect(call.params["effect"])


async def _timeout(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.timeout(call.target, call.seconds, call.params["reason"])


async def _lift(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.untimeout(call.target)


BANS = "moderator:manage:banned_users"
DEFAULT_REASON = "by the channel's chat bot"
CHAT_MODES = "moderator:manage:chat_settings"

_SWITCH = "(?:turn|switch|put|set|start|enable|activate)"
_POLITE = "please|pls|bitte|hey|ok|now|(?:can|could|would|will) you"
_ANYBODY = (
    rf"(?:(?:{_POLITE}|lets|someone|somebody|anyone|jemand|mal|(?:can|could) (?:we|i|someone|somebody|anyone)"
    r"|(?:kannst|konntest|wurdest) du|(?:kann|konnte) jemand) )*"
)
_FILLER = (
    "(?:(?:me|us|an?|the|that|this|another|quick|short|please|pls|ein(?:en)?|nen|n|den|die|das|es|diese[nrs]?|stelle"
    "|moment|davon|hier|mal|bitte|kurz|uns|mir|schnell) )*"
)
_OBJECT = "(?:that|this|it|the|him|her|them|das|es|den|die|diese[nrs]?|mal|bitte|please|pls|now|jetzt|here|hier)"


def _asks_to_make(thing: str, verb: str) -> str:
    """Asks anybody for it, at a line's start: "clip that", "can we get a clip", "kannst du das clippen"."""
    return (
        rf"^{_ANYBODY}(?:(?:make|take|create|get|have|grab|save|record|set|put|add|drop|mache?"
        rf"|erstelle?|setze?) {_FILLER}(?:{thing})|(?:{verb})e? {_OBJECT}(?! (?:is|was|ist|war)\b)"
        rf"|(?:{thing})(?: (?:please|pls|bitte|now|jetzt|here|hier))*$"
        rf"|{_FILLER}(?:(?:{thing}) (?:machen|setzen|erstellen)|(?:{verb})en)(?: bitte)?$)"
    )


ACTIONS: tuple[Action, ...] = (
    Action(
        "marker", A,
        lambda ports, call: ports.moderation.create_marker(call.params["text"]), (_text("text", 140, ""),),
        scope="channel:manage:broadcast", cooldown_s=60, needs_live=True,
        asks=_asks_to_make("markers?|markierung", "mark(?:ier)?"),
    ),
    Action(
        "clip", A,
        lambda ports, _call: ports.moderation.create_clip(), scope="clips:edit", cooldown_s=60, needs_live=True,
        asks=_asks_to_make("clips?", "clipp?"),
    ),
    Action(
        "shoutout", A,
        lambda ports, call: ports.moderation.shoutout(call.target), (TARGET,),
        scope="moderator:manage:shoutouts", cooldown_s=120, channel_wide=True, needs_live=True,
        asks=r"shout ?outs? (?:to|for)?|shout \w+ out|shout ?out",
    ),
    Action(
        "effect", A, _effect,
        (Parameter("effect", ParameterKind.EFFECT, maximum=80),), cooldown_s=30, needs_live=True, typed="effect",
    ),
    Action(
        "bit", A,
        _operation("bit", "text"), (_text("text", 200),), cooldown_s=60,
        channel_wide=True, typed="text",
    ),
    Action(
        "remember", A,
        _operation("remember", "target", "fact"), (TARGET, _text("fact", 200)),
        cooldown_s=5, self_only=True, typed="fact",
    ),
    Action(
        "correct", A,
        _operation("correct", "note", "fact"), (_text("note", 12), _text("fact", 200)), cooldown_s=5, typed="fact",
    ),
    Action(
        "forget", A,
        _operation("forget", "target", "what"), (TARGET, _text("what", 200)),
        cooldown_s=5, self_only=True, typed="what",
    ),
    Action(
        "timeout", B, _timeout,
        (TARGET, _seconds(1, 60, "30"), _text("reason", 200, DEFAULT_REASON)),
        scope=BANS, undo=_lift, harms=True, consent=True, needs_live=True,
        asks="time ?out me|time me out|mute me|(?:give|get) me (?:a|the) time ?out|put me in time ?out",
    ),
    Action(
        "delete", B,
        lambda ports, call: ports.moderation.delete_message(call.message_id), (TARGET,),
        scope="moderator:manage:chat_messages", harms=True, consent=True,
        asks="(?:delete|remove) my (?:last |previous )?message",
    ),
    Action(
        "announce", B,
        lambda ports, call: ports.moderation.announce(call.params["text"]), (_text("text", 300),),
        scope="moderator:manage:announcements", channel_wide=True, needs_live=True,
        asks="announce|(?:make|post|send) (?:an?|the) announcement",
    ),
    Action(
        "slow_mode", B,
        lambda ports, call: ports.moderation.set_slow_mode(int(call.params["gap"])),
        (_seconds(10, 60, "60"), Parameter("gap", ParameterKind.SECONDS, minimum=3, maximum=30, default="5")),
        scope=CHAT_MODES, undo=lambda ports, _call: ports.moderation.set_slow_mode(None),
        reverts=True, channel_wide=True, needs_live=True,
        mode="slow",
        asks=f"{_SWITCH} (?:the |on |to |in |into )*slow ?mode|slow ?mode (?:on|please|pls|now|for|[0-9]+)|slow ?mode$"
        "|slow (?:the |this |our )?(?:chat|it|things|everyone|everybody) down|slow (?:the |this |our )?chat",
    ),
    Action(
        "emote_only", B,
        lambda ports, _call: ports.moderation.set_emote_only(on=True),
        (_seconds(10, 60, "30"),),
        scope=CHAT_MODES, undo=lambda ports, _call: ports.moderation.set_emote_only(on=False),
        reverts=True, channel_wide=True,
        needs_live=True, mode="emote_only",
        asks=f"{_SWITCH} (?:the |on |to |in |into |chat )*emotes? ?only|emotes? ?only (?:on|please|pls|now|for|mode)"
        "|emotes? ?only$",
    ),
    Action(
        "ban", C,
        lambda ports, call: ports.moderation.ban(call.target, call.params["reason"]),
        (TARGET, _text("reason", 200, "")), scope=BANS, undo=_lift, harms=True,
    ),
    Action(
        "long_timeout", C, _timeout,
        (TARGET, _seconds(61, LONGEST_TIMEOUT_S, "600"), _text("reason", 200, "")),
        scope=BANS, undo=_lift, harms=True,
    ),
    Action(
        "title", C,
        lambda ports, call: ports.moderation.set_channel(title=call.params["text"]), (_text("text", 140),),
        scope="channel:manage:broadcast",
    ),
    Action(
        "category", C,
        lambda ports, call: ports.moderation.set_channel(category=call.params["text"]), (_text("text", 100),),
        scope="channel:manage:broadcast",
    ),
)  # fmt: skip

BY_NAME = {action.name: action for action in ACTIONS}
NAMES = frozenset(BY_NAME)


def refuse_unknown(settings: ActionSettings, source: str) -> None:
    """A misspelt name in `disabled` would leave an action on. Raises SettingsError."""
    refuse_unknown_words(settings.disabled, NAMES, f"{source}: table [actions], key `disabled`")


def find(name: str) -> Action | None:
    """The action of that name."""
    return BY_NAME.get(name)


def class_mode(action: Action, settings: ActionSettings) -> str:
    """`off`, `shadow`, `ask` or `live`; class C is never live, whatever the settings hold."""
    if settings.safe_mode or action.name in settings.disabled:
        return "off"
    modes = {
        ActionClass.FREE: settings.class_a,
        ActionClass.GUARDED: settings.class_b,
        ActionClass.NEVER_ALONE: settings.class_c,
    }
    mode = str(modes[action.kind])
    return "ask" if action.kind is ActionClass.NEVER_ALONE and mode == "live" else mode


CHAT = ("chat:read", "user:read:chat", "user:write:chat")
# to ask Twitch, before somebody is timed out or banned, whether they are a moderator or VIP
IMMUNITY = ("moderation:read", "channel:read:vips")
_BROADCASTERS = frozenset(
    {"channel:manage:broadcast"}
)  # Twitch takes these from the channel's own account alone
NEEDS = tuple(action for action in ACTIONS if action.scope)


def scopes_of(action: Action) -> dict[Account, tuple[str, ...]]:
    """The rights that an action needs, by the account that has to give them.

    Those to ask Twitch whether its target is immune belong to them.
    """
    scopes = (action.scope,) if action.scope else ()
    if action.scope in _BROADCASTERS:
        return {Account.BROADCASTER: scopes}
    return {Account.BOT: scopes, Account.BROADCASTER: IMMUNITY if action.harms else ()}


def scopes_for(account: Account, settings: Settings) -> tuple[str, ...]:
    """The rights to ask an account for. One that is, or may be, both the bot's and the channel's gives both sets."""
    if account is Account.BOT and (not settings.twitch.bot_login or same_account(settings)):
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
    users = [
        action.name for action in NEEDS if action.scope in missing and _enabled(action, settings)
    ]
    purpose, name = f" (for: {', '.join(users)})" if users else "", account.value
    return reason(
        "lacking", account=reason(name), scopes=", ".join(missing), purpose=purpose, same=name
    )


def _of(account: Account, settings: Settings) -> tuple[str, ...]:
    on = [action for action in NEEDS if _enabled(action, settings)]
    base = CHAT if account is Account.BOT else ()
    asked = (
        action.scope
        for action in on
        if (action.scope in _BROADCASTERS) is (account is Account.BROADCASTER)
    )
    immunity = (
        IMMUNITY if account is Account.BROADCASTER and any(action.harms for action in on) else ()
    )
    return tuple(dict.fromkeys((*base, *asked, *immunity)))


def _enabled(action: Action, settings: Settings) -> bool:
    return class_mode(action, settings.actions) in {"live", "ask"}
