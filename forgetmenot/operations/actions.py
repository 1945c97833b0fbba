"""The actions that the model may propose, one entry each. A new action is a new entry here.

`run` and `undo` make exactly one call through the ports and return its outcome; they decide nothing.
At the end: which rights on Twitch the switched-on actions need.
"""

from collections.abc import Iterable

from forgetmenot.domain import Asker, MissingRights, Outcome, OutcomeKind, Surface
from forgetmenot.durations import DAY, SECOND
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
LONGEST_TIMEOUT_S = 14 * DAY // SECOND
BANS = "moderator:manage:banned_users"
# Twitch shows it to whoever is timed out, and to moderators.
DEFAULT_REASON = "by the channel's chat bot"
CHAT_MODES = "moderator:manage:chat_settings"


def _text(
    name: str,
    maximum: int,
    default: str | None = None,
) -> Parameter:
    return Parameter(name, ParameterKind.TEXT, maximum=maximum, default=default)


def _duration_parameter(
    minimum: int,
    maximum: int,
    default: str,
) -> Parameter:
    """Return the parameter `seconds`: for how long an action holds.

    `minimum` and `maximum` are in seconds; `default` is a text, as a person types it: "30", "10m".
    """
    return Parameter(
        "seconds",
        ParameterKind.SECONDS,
        minimum=minimum,
        maximum=maximum,
        default=default,
    )


# ── what the actions do ───────────────────────────────────────────────────────────────────────


def _operation(operation: str, *names: str) -> Runner:
    """Return what runs an action that changes the memory: it calls the operation that people use for the same.

    `names`: the parameters that are handed on.
    """

    async def runner(ports: ActionPorts, call: ActionCall) -> Outcome:
        asker = Asker(Surface.MODEL, call.asked_by, line_id=call.line)
        params = {name: call.params[name] for name in names}
        result = await ports.run(operation, params, asker)
        if not result.ok:
            return Outcome(OutcomeKind.REFUSED, result.code.removeprefix("refused:"))
        detail = f"note {result.data['id']}" if "id" in result.data else ""
        return Outcome(OutcomeKind.DONE, detail)

    return runner


async def _create_marker(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.create_marker(call.params["text"])


async def _create_clip(ports: ActionPorts, _call: ActionCall) -> Outcome:
    return await ports.moderation.create_clip()


async def _shout_out(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.shoutout(call.target)


async def _run_effect(ports: ActionPorts, call: ActionCall) -> Outcome:
    if ports.run_effect is None:
        return Outcome(OutcomeKind.REFUSED, "there is no other bot here")
    return await ports.run_effect(call.params["effect"])


async def _timeout(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.timeout(
        call.target, call.seconds, call.params["reason"]
    )


async def _ban(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.ban(call.target, call.params["reason"])


async def _untimeout(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.untimeout(call.target)


async def _delete_message(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.delete_message(call.message_id)


async def _announce(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.announce(call.params["text"])


async def _slow_mode_on(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.set_slow_mode(int(call.params["gap"]))


async def _slow_mode_off(ports: ActionPorts, _call: ActionCall) -> Outcome:
    return await ports.moderation.set_slow_mode(None)


async def _emote_only_on(ports: ActionPorts, _call: ActionCall) -> Outcome:
    return await ports.moderation.set_emote_only(on=True)


async def _emote_only_off(ports: ActionPorts, _call: ActionCall) -> Outcome:
    return await ports.moderation.set_emote_only(on=False)


async def _set_title(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.set_channel(title=call.params["text"])


async def _set_category(ports: ActionPorts, call: ActionCall) -> Outcome:
    return await ports.moderation.set_channel(category=call.params["text"])


# ── the words that ask for them ───────────────────────────────────────────────────────────────

# As `text/words.words` gives them: small letters, no accents, no signs.
_SWITCH = "(?:turn|switch|put|set|start|enable|activate)"
_POLITE = "please|pls|bitte|hey|ok|now|(?:can|could|would|will) you"
# Words before a request: "please", "can you", "kann jemand".
_BEFORE_REQUEST = (
    rf"(?:(?:{_POLITE}|lets|someone|somebody|anyone|jemand|mal|(?:can|could) (?:we|i|someone|somebody|anyone)"
    r"|(?:kannst|konntest|wurdest) du|(?:kann|konnte) jemand) )*"
)
# Words between the verb and the thing: "make us a quick clip".
_FILLER = (
    "(?:(?:me|us|an?|the|that|this|another|quick|short|please|pls|ein(?:en)?|nen|n|den|die|das|es|diese[nrs]?|stelle"
    "|moment|davon|hier|mal|bitte|kurz|uns|mir|schnell) )*"
)
# What directly follows the verb: "clip that", "clip her".
_OBJECT = "(?:that|this|it|the|him|her|them|das|es|den|die|diese[nrs]?|mal|bitte|please|pls|now|jetzt|here|hier)"


def _asks_to_make(thing: str, verb: str) -> str:
    """Return the pattern of a line that asks to make a thing: "clip that", "kannst du das clippen".

    `thing` and `verb`: patterns of the nouns and of the verb's stem.
    """
    # "make a clip", "mach einen clip"
    make_thing = (
        r"(?:make|take|create|get|have|grab|save|record|set|put|add|drop|mache?|erstelle?|setze?)"
        rf" {_FILLER}(?:{thing})"
    )
    # "clip that", but not "clip that is …"
    verb_first = rf"(?:{verb})e? {_OBJECT}(?! (?:is|was|ist|war)\b)"
    # "clip please"
    thing_alone = rf"(?:{thing})(?: (?:please|pls|bitte|now|jetzt|here|hier))*$"
    # "einen clip machen", "das clippen"
    german_verb_last = rf"{_FILLER}(?:(?:{thing}) (?:machen|setzen|erstellen)|(?:{verb})en)(?: bitte)?$"
    return rf"^{_BEFORE_REQUEST}(?:{make_thing}|{verb_first}|{thing_alone}|{german_verb_last})"


# ── the actions ───────────────────────────────────────────────────────────────────────────────


ACTIONS: tuple[Action, ...] = (
    Action(
        "marker",
        ActionClass.FREE,
        _create_marker,
        params=(_text("text", 140, ""),),
        scope="channel:manage:broadcast",
        cooldown_s=60,
        needs_live=True,
        asks=_asks_to_make("markers?|markierung", "mark(?:ier)?"),
    ),
    Action(
        "clip",
        ActionClass.FREE,
        _create_clip,
        scope="clips:edit",
        cooldown_s=60,
        needs_live=True,
        asks=_asks_to_make("clips?", "clipp?"),
    ),
    Action(
        "shoutout",
        ActionClass.FREE,
        _shout_out,
        params=(TARGET,),
        scope="moderator:manage:shoutouts",
        cooldown_s=120,
        channel_wide=True,
        needs_live=True,
        asks=r"shout ?outs? (?:to|for)?|shout \w+ out|shout ?out",
    ),
    Action(
        "effect",
        ActionClass.FREE,
        _run_effect,
        params=(Parameter("effect", ParameterKind.EFFECT, maximum=80),),
        cooldown_s=30,
        needs_live=True,
        typed="effect",
    ),
    Action(
        "bit",
        ActionClass.FREE,
        _operation("bit", "text"),
        params=(_text("text", 200),),
        cooldown_s=60,
        channel_wide=True,
        typed="text",
    ),
    Action(
        "remember",
        ActionClass.FREE,
        _operation("remember", "target", "fact"),
        params=(TARGET, _text("fact", 200)),
        cooldown_s=5,
        self_only=True,
        typed="fact",
    ),
    Action(
        "correct",
        ActionClass.FREE,
        _operation("correct", "note", "fact"),
        params=(_text("note", 12), _text("fact", 200)),
        cooldown_s=5,
        typed="fact",
    ),
    Action(
        "forget",
        ActionClass.FREE,
        _operation("forget", "target", "what"),
        params=(TARGET, _text("what", 200)),
        cooldown_s=5,
        self_only=True,
        typed="what",
    ),
    Action(
        "timeout",
        ActionClass.GUARDED,
        _timeout,
        params=(
            TARGET,
            _duration_parameter(1, 60, "30"),
            _text("reason", 200, DEFAULT_REASON),
        ),
        scope=BANS,
        undo=_untimeout,
        harms=True,
        consent=True,
        needs_live=True,
        asks="time ?out me|time me out|mute me|(?:give|get) me (?:a|the) time ?out"
        "|put me in time ?out",
    ),
    Action(
        "delete",
        ActionClass.GUARDED,
        _delete_message,
        params=(TARGET,),
        scope="moderator:manage:chat_messages",
        harms=True,
        consent=True,
        asks="(?:delete|remove) my (?:last |previous )?message",
    ),
    Action(
        "announce",
        ActionClass.GUARDED,
        _announce,
        params=(_text("text", 300),),
        scope="moderator:manage:announcements",
        channel_wide=True,
        needs_live=True,
        asks="announce|(?:make|post|send) (?:an?|the) announcement",
    ),
    Action(
        "slow_mode",
        ActionClass.GUARDED,
        _slow_mode_on,
        params=(
            _duration_parameter(10, 60, "60"),
            Parameter("gap", ParameterKind.SECONDS, minimum=3, maximum=30, default="5"),
        ),
        scope=CHAT_MODES,
        undo=_slow_mode_off,
        reverts=True,
        channel_wide=True,
        needs_live=True,
        mode="slow",
        asks=f"{_SWITCH} (?:the |on |to |in |into )*slow ?mode"
        "|slow ?mode (?:on|please|pls|now|for|[0-9]+)|slow ?mode$"
        "|slow (?:the |this |our )?(?:chat|it|things|everyone|everybody) down"
        "|slow (?:the |this |our )?chat",
    ),
    Action(
        "emote_only",
        ActionClass.GUARDED,
        _emote_only_on,
        params=(_duration_parameter(10, 60, "30"),),
        scope=CHAT_MODES,
        undo=_emote_only_off,
        reverts=True,
        channel_wide=True,
        needs_live=True,
        mode="emote_only",
        asks=f"{_SWITCH} (?:the |on |to |in |into |chat )*emotes? ?only"
        "|emotes? ?only (?:on|please|pls|now|for|mode)|emotes? ?only$",
    ),
    Action(
        "ban",
        ActionClass.NEVER_ALONE,
        _ban,
        params=(TARGET, _text("reason", 200, "")),
        scope=BANS,
        undo=_untimeout,
        harms=True,
    ),
    Action(
        "long_timeout",
        ActionClass.NEVER_ALONE,
        _timeout,
        params=(
            TARGET,
            _duration_parameter(61, LONGEST_TIMEOUT_S, "600"),
            _text("reason", 200, ""),
        ),
        scope=BANS,
        undo=_untimeout,
        harms=True,
    ),
    Action(
        "title",
        ActionClass.NEVER_ALONE,
        _set_title,
        params=(_text("text", 140),),
        scope="channel:manage:broadcast",
    ),
    Action(
        "category",
        ActionClass.NEVER_ALONE,
        _set_category,
        params=(_text("text", 100),),
        scope="channel:manage:broadcast",
    ),
)

BY_NAME = {action.name: action for action in ACTIONS}
NAMES = frozenset(BY_NAME)


def refuse_unknown(settings: ActionSettings, source: str) -> None:
    """Raise SettingsError if `disabled` names an action that does not exist.

    If it were ignored, a misspelt name would leave its action on. `source`: the settings file, for the error.
    """
    refuse_unknown_words(
        settings.disabled, NAMES, f"{source}: table [actions], key `disabled`"
    )


def find(name: str) -> Action | None:
    """Return the action of that name."""
    return BY_NAME.get(name)


def class_mode(action: Action, settings: ActionSettings) -> str:
    """`off`, `shadow`, `ask` or `live`; class C is never live, whatever the settings hold."""
    if settings.safe_mode:
        return "off"
    if action.name in settings.disabled:
        return "off"
    if action.kind is ActionClass.FREE:
        return str(settings.class_a)
    if action.kind is ActionClass.GUARDED:
        return str(settings.class_b)
    mode = str(settings.class_c)
    return "ask" if mode == "live" else mode


# ── the rights on Twitch that they need ───────────────────────────────────────────────────────

CHAT = ("chat:read", "user:read:chat", "user:write:chat")
# to ask Twitch, before somebody is timed out or banned, whether they are a moderator or VIP
IMMUNITY = ("moderation:read", "channel:read:vips")
# Twitch takes these from the channel's own account alone.
_OF_BROADCASTER = frozenset({"channel:manage:broadcast"})
NEEDS = tuple(action for action in ACTIONS if action.scope)


def scopes_of(action: Action) -> dict[Account, tuple[str, ...]]:
    """Return the rights that an action needs, by the account that has to give them.

    Those to ask Twitch whether its target is immune belong to them.
    """
    scopes = (action.scope,) if action.scope else ()
    if action.scope in _OF_BROADCASTER:
        return {Account.BROADCASTER: scopes}
    immunity = IMMUNITY if action.harms else ()
    return {Account.BOT: scopes, Account.BROADCASTER: immunity}


def scopes_for(account: Account, settings: Settings) -> tuple[str, ...]:
    """Return the rights to ask an account for.

    The bot's account is asked for the channel's rights as well if it is the channel's own account, or if it may be,
    because the settings do not name it.
    """
    scopes = _scopes_of_account(account, settings)
    has_one_account = not settings.twitch.bot_login or same_account(settings)
    if account is Account.BOT and has_one_account:
        scopes += _scopes_of_account(Account.BROADCASTER, settings)
    return tuple(dict.fromkeys(scopes))


def same_account(settings: Settings) -> bool:
    """Return whether the settings name one account for the bot and for the channel."""
    bot_login = settings.twitch.bot_login.lower()
    channel = settings.twitch.channel.lower().lstrip("#")
    return bool(bot_login) and bot_login == channel


def lacking(
    account: Account,
    settings: Settings,
    scopes: Iterable[str],
) -> MissingRights:
    """Return the rights that the settings need and a log-in's `scopes` lack."""
    present = set(scopes)
    missing = [scope for scope in scopes_for(account, settings) if scope not in present]
    if not missing:
        return MissingRights()
    users = [
        action.name for action in _enabled_actions(settings) if action.scope in missing
    ]
    purpose = reason("for_actions", names=", ".join(users)) if users else ""
    name = account.value
    trouble = reason(
        "lacking",
        account=reason(name),
        scopes=", ".join(missing),
        purpose=purpose,
        login_as=name,
    )
    return MissingRights(trouble, tuple(users or missing))


def _scopes_of_account(account: Account, settings: Settings) -> tuple[str, ...]:
    """Return the rights that one account's log-in needs, each once."""
    enabled = _enabled_actions(settings)
    of_broadcaster = [
        action.scope for action in enabled if action.scope in _OF_BROADCASTER
    ]
    of_bot = [action.scope for action in enabled if action.scope not in _OF_BROADCASTER]
    if account is Account.BOT:
        scopes = [*CHAT, *of_bot]
    elif any(action.harms for action in enabled):
        # who the moderators and VIPs are, because no action may hit them
        scopes = [*of_broadcaster, *IMMUNITY]
    else:
        scopes = of_broadcaster
    return tuple(dict.fromkeys(scopes))


def _enabled_actions(settings: Settings) -> list[Action]:
    """Return the actions that need a right and that the settings allow to be done."""
    modes = {"live", "ask"}
    return [action for action in NEEDS if class_mode(action, settings.actions) in modes]
