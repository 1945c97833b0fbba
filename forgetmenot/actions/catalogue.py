"""Everything the bot can do, one small entry each. Adding an action is adding an entry here, and nothing else.

`run` and `undo` make exactly one call through the ports and return what came of it; they decide nothing. `lookup` asks
Twitch whether what a crash interrupted holds; where Helix cannot tell (a deleted message, a clip) there is none.
"""

from forgetmenot.actions import lookups
from forgetmenot.actions.entry import Action, ActionClass, Hands, Job, Kind, Parameter
from forgetmenot.domain.action import Outcome
from forgetmenot.settings.load import refuse_unknown_words
from forgetmenot.settings.schema import ActionSettings

TARGET = Parameter("target", Kind.VIEWER, most=50)
LONGEST_TIMEOUT_S = 14 * 24 * 3_600
A, B, C = ActionClass.FREE, ActionClass.GUARDED, ActionClass.NEVER_ALONE


def _text(name: str, most: int, default: str | None = None) -> Parameter:
    return Parameter(name, Kind.TEXT, most=most, default=default)


def _words(most: int) -> Parameter:
    return Parameter("text", Kind.TEXT, most=most, spoken=True)


def _seconds(least: int, most: int, default: str) -> Parameter:
    return Parameter("seconds", Kind.SECONDS, least=least, most=most, default=default)


async def _say(hands: Hands, job: Job) -> Outcome:
    return await hands.chat.say(job.params["text"])


async def _warn(hands: Hands, job: Job) -> Outcome:
    return await hands.chat.say(f"@{job.target_login} {job.params['text']}")


async def _marker(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.create_marker(job.params["text"])


async def _clip(hands: Hands, _job: Job) -> Outcome:
    return await hands.moderation.create_clip()


async def _shoutout(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.shoutout(job.target)


async def _bit(hands: Hands, job: Job) -> Outcome:
    return await hands.memory.flag_bit(bit=job.params["text"], asked_by=job.asked_by, line=job.line)


async def _remember(hands: Hands, job: Job) -> Outcome:
    fact = job.params["fact"]
    return await hands.memory.remember(about=job.target, fact=fact, asked_by=job.asked_by, line=job.line)


async def _forget(hands: Hands, job: Job) -> Outcome:
    return await hands.memory.forget(about=job.target, what=job.params["what"], asked_by=job.asked_by)


async def _timeout(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.timeout(job.target, job.seconds, job.params["reason"])


async def _lift(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.untimeout(job.target)


async def _delete(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.delete_message(job.message_id)


async def _announce(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.announce(job.params["text"])


async def _slow(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.set_slow_mode(int(job.params["gap"]))


async def _unslow(hands: Hands, _job: Job) -> Outcome:
    return await hands.moderation.set_slow_mode(None)


async def _emote_only(hands: Hands, _job: Job) -> Outcome:
    return await hands.moderation.set_emote_only(on=True)


async def _all_words(hands: Hands, _job: Job) -> Outcome:
    return await hands.moderation.set_emote_only(on=False)


async def _ban(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.ban(job.target, job.params["reason"])


async def _title(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.set_channel(title=job.params["text"])


async def _category(hands: Hands, job: Job) -> Outcome:
    return await hands.moderation.set_channel(category=job.params["text"])


BANS = "moderator:manage:banned_users"
CHAT_MODES = "moderator:manage:chat_settings"
TIMED_OUT = r"tim(?:ed?|ing)[\s-]*(?:\w+\s)?out|time[\s-]?out(?:s|ed)?|mut(?:ed?|ing)|silenc(?:ed|ing)"

_SWITCH = "(?:turn|switch|put|set|start|enable|activate)"

ACTIONS: tuple[Action, ...] = (
    Action("say", A, "say one more line", "", _say, (_words(300),), cooldown_s=30),
    Action(
        "marker", A, "mark this moment of the stream", "Marked.", _marker, (_text("text", 140, ""),),
        scope="channel:manage:broadcast", cooldown_s=60, needs_live=True,
        tells="mark(?:ed|ing)|markers?",
    ),
    Action(
        "clip", A, "clip the last moments", "Clipped.", _clip, scope="clips:edit", cooldown_s=60, needs_live=True,
        tells="clip(?:s|ped|ping)?",
    ),
    Action(
        "shoutout", A, "give somebody a shoutout", "A shoutout for {target}.", _shoutout, (TARGET,),
        scope="moderator:manage:shoutouts", cooldown_s=120, channel_wide=True, needs_live=True,
        asks=r"shout ?outs? (?:to|for)?|shout \w+ out|shout ?out",
        tells=r"shout(?:ed|ing)?[\s-]?out",
    ),
    Action(
        "bit", A, "note that a running joke came up", "Noted.", _bit, (_text("text", 200),), cooldown_s=60,
        channel_wide=True, told="text",
        tells="noted", of="bit|joke|down",
    ),
    Action(
        "warn", A, "warn somebody playfully", "", _warn, (TARGET, _words(200)),
        cooldown_s=60, playful=True,
        tells="warn(?:ed|ing)",
    ),
    Action(
        "remember", A, "remember a fact about somebody", "I'll remember that.", _remember, (TARGET, _text("fact", 200)),
        cooldown_s=5, self_only=True, told="fact",
        tells="remembered|noted|saved", of="down|for you|for later|for next",
    ),
    Action(
        "forget", A, "forget something about somebody", "Forgotten.", _forget, (TARGET, _text("what", 200)),
        cooldown_s=5, self_only=True, told="what",
        tells="forgot(?:ten)?|erased", of="you|your|all",
    ),
    Action(
        "timeout", B, "time out somebody who asked for it", "{target} is timed out for {seconds} s.", _timeout,
        (TARGET, _seconds(1, 60, "30"), _text("reason", 200, "by the channel's chat bot")),
        scope=BANS, undo=_lift, lookup=lookups.is_timed_out, harms=True, consent=True, playful=True, needs_live=True,
        asks="time ?out me|time me out|mute me|(?:give|get) me (?:a|the) time ?out|put me in time ?out",
        tells=TIMED_OUT,
    ),
    Action(
        "untimeout", B, "lift a timeout of your own", "{target} may talk again.", _lift, (TARGET,),
        scope=BANS, lookup=lookups.is_free, own_only=True, absent=True,
        tells="lifted|unmuted|untimed",
    ),
    Action(
        "delete", B, "delete somebody's last message, if they ask for it", "The message is gone.", _delete, (TARGET,),
        scope="moderator:manage:chat_messages", harms=True, consent=True,
        asks="(?:delete|remove) my (?:last |previous )?message",
        tells="delet(?:ed|ing)|remov(?:ed|ing)|gone", of="messages?|chat|lines?",
    ),
    Action(
        "announce", B, "post an announcement", "Announced.", _announce, (_text("text", 300),),
        scope="moderator:manage:announcements", channel_wide=True, needs_live=True,
        asks="announce|(?:make|post|send) (?:an?|the) announcement",
        tells="announc(?:ed|ing|ements?)",
    ),
    Action(
        "slow_mode", B, "slow the chat down for up to a minute", "Slow mode for {seconds} s.", _slow,
        (_seconds(10, 60, "60"), Parameter("gap", Kind.SECONDS, least=3, most=30, default="5")),
        scope=CHAT_MODES, undo=_unslow, lookup=lookups.is_slow, reverts=True, channel_wide=True, needs_live=True,
        mode="slow",
        asks=f"{_SWITCH} (?:the |on |to |in |into )*slow ?mode|slow ?mode (?:on|please|pls|now|for)|slow ?mode$"
        "|slow (?:the |this |our )?(?:chat|it|things|everyone|everybody) down|slow (?:the |this |our )?chat",
        tells=r"slow[\s-]?mode|slowed",
    ),
    Action(
        "emote_only", B, "allow nothing but emotes for up to a minute", "Emotes only for {seconds} s.", _emote_only,
        (_seconds(10, 60, "30"),),
        scope=CHAT_MODES, undo=_all_words, lookup=lookups.is_emote_only, reverts=True, channel_wide=True, playful=True,
        needs_live=True, mode="emote_only",
        asks=f"{_SWITCH} (?:the |on |to |in |into |chat )*emotes? ?only|emotes? ?only (?:on|please|pls|now|for|mode)"
        "|emotes? ?only$",
        tells=r"emotes?[\s-]?only",
    ),
    Action(
        "ban", C, "ban somebody", "{target} is banned.", _ban, (TARGET, _text("reason", 200, "")),
        scope=BANS, undo=_lift, lookup=lookups.is_banned, harms=True,
        tells="bann(?:ed|ing)|ban(?:s|hammer)?|kick(?:ed|ing)",
    ),
    Action(
        "unban", C, "lift a ban", "{target} is unbanned.", _lift, (TARGET,), scope=BANS, lookup=lookups.is_free,
        absent=True,
        tells="unbann?(?:ed|ing)?",
    ),
    Action(
        "long_timeout", C, "time somebody out for longer", "{target} is timed out for {seconds} s.", _timeout,
        (TARGET, _seconds(61, LONGEST_TIMEOUT_S, "600"), _text("reason", 200, "")),
        scope=BANS, undo=_lift, lookup=lookups.is_timed_out, harms=True,
        tells=TIMED_OUT,
    ),
    Action(
        "title", C, "change the stream's title", "The title is changed.", _title, (_text("text", 140),),
        scope="channel:manage:broadcast", lookup=lookups.has_title,
        tells="renam(?:ed|ing)|chang(?:ed|ing)", of="title|stream",
    ),
    Action(
        "category", C, "change the stream's category", "The category is changed.", _category, (_text("text", 100),),
        scope="channel:manage:broadcast", lookup=lookups.has_category,
        tells="chang(?:ed|ing)", of="category|game",
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
