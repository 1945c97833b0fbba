"""The settings that a streamer changes, in the order in which the dock shows them, worded for people. Pure.

What stands here may be changed while the bot runs; what does not is for the settings file alone.
"""

from typing import NamedTuple

from forgetmenot.settings.schema import BotSettings


class Label(NamedTuple):
    """How a setting is shown. `basic`: shown at once; the others stand under "Advanced". `suffix`: its unit."""

    group: str
    label: str
    sentence: str
    basic: bool = False
    suffix: str = ""


_TALK, _WHO, _MEMORY, _ACT = "How it talks", "Who it is", "What it remembers", "What it may do"
_CHANNEL, _MODEL, _PEOPLE = "Your channel", "AI model", "Your viewers"

LABELS: dict[tuple[str, str], Label] = {
    ("twitch", "channel"): Label(
        _CHANNEL, "Channel", "The name in your channel's address: twitch.tv/NAME.", basic=True
    ),
    ("twitch", "bot_login"): Label(
        _CHANNEL, "Bot's account", "The account it speaks with. Empty: whichever account is signed in."
    ),
    ("twitch", "client_id"): Label(
        _CHANNEL, "Client ID of your Twitch app", "It is not a secret. Without one the bot listens and cannot speak."
    ),
    ("bot", "mode"): Label(
        _WHO,
        "Mode",
        "Silent preview: it thinks and sends nothing. Mentions: it answers who speaks to it. Live: it also speaks up "
        "by itself. Commands such as !memory are always answered.",
        basic=True,
    ),
    ("bot", "name"): Label(_WHO, "Name", "What viewers call it in chat, besides its account's name.", basic=True),
    ("bot", "aliases"): Label(_WHO, "Other names", "Nicknames that it answers to as well.", basic=True),
    ("bot", "persona"): Label(_WHO, "Character", "Who it is, in a few sentences.", basic=True),
    ("bot", "language"): Label(_WHO, "Language", "The language it answers in, in words.", basic=True),
    ("bot", "notice"): Label(_WHO, "Notice", "Said once per stream, so that viewers know. Empty: never.", basic=True),
    ("bot", "speaks_as"): Label(_WHO, "Active persona", "The name of another persona from your settings file."),
    ("model", "provider"): Label(
        _MODEL,
        "Where words come from",
        "Offline: no AI. Gemini: Google's service. The third is any program that speaks OpenAI's protocol, such as "
        "Ollama. The set-up tests these for you.",
    ),
    ("model", "reply_model"): Label(_MODEL, "Model for replies", "Its name, as the service or program lists it."),
    ("model", "memory_model"): Label(_MODEL, "Model for summaries", "Its name; it may be the same one."),
    ("model", "base_url"): Label(_MODEL, "Address of the program", "For example http://127.0.0.1:11434/v1 for Ollama."),
    ("reply", "max_chars"): Label(
        _TALK, "Longest reply", "Longer replies are cut at a word. Twitch allows 500.", basic=True, suffix="characters"
    ),
    ("reply", "viewer_gap_s"): Label(
        _TALK, "Pause per viewer", "The same viewer gets no second answer sooner.", basic=True, suffix="seconds"
    ),
    ("reply", "follow_up_s"): Label(
        _TALK,
        "Follow-up time",
        "Within this time a viewer can go on talking with it without its name.",
        basic=True,
        suffix="seconds",
    ),
    ("reply", "blocklist"): Label(
        _TALK, "Words it never says", "However they are spelt; from four letters also inside other words.", basic=True
    ),
    ("reply", "missed"): Label(
        _TALK, "What did I miss", "Whether !missed says what happened since a viewer was last here."
    ),
    ("reply", "allow_links"): Label(_TALK, "Links in replies", "Whether a reply may contain a web address."),
    ("reply", "spontaneous_gap_s"): Label(
        _TALK, "Pause before it speaks up", "By itself it says nothing sooner after its last words.", suffix="seconds"
    ),
    ("reply", "stale_after_s"): Label(
        _TALK, "Too late to answer", "A message older than this is not answered any more.", suffix="seconds"
    ),
    ("actions", "safe_mode"): Label(_ACT, "Safe mode", "It talks, and does nothing else.", basic=True),
    ("actions", "class_a"): Label(
        _ACT, "Harmless actions", "Extra line, marker, clip, shoutout. Ask: you approve each in the dock.", basic=True
    ),
    ("actions", "class_b"): Label(
        _ACT,
        "Moderation",
        "Timeouts up to a minute, deleting a message, slow mode. Shadow: it only notes them.",
        basic=True,
    ),
    ("actions", "class_c"): Label(
        _ACT, "Serious actions", "Ban, long timeout, title. Never without your approval.", basic=True
    ),
    ("actions", "disabled"): Label(_ACT, "Switched off", "Single actions, by name: clip, shoutout, timeout …"),
    ("actions", "allowed_targets"): Label(
        _ACT, "Only these viewers", "If any are named, moderation can hit no others."
    ),
    ("actions", "denied_targets"): Label(_ACT, "Never these viewers", "They are never the target of an action."),
    ("actions", "max_timeout_s"): Label(_ACT, "Longest timeout", "Longer ones need your approval.", suffix="seconds"),
    ("actions", "newcomer_protection"): Label(
        _ACT, "Protect newcomers", "Viewers in their first streams are never the target of moderation."
    ),
    ("actions", "per_stream"): Label(
        _ACT, "Actions per stream", "After this many it does nothing more until the next."
    ),
    ("actions", "viewer_cooldown_s"): Label(
        _ACT, "Cooldown per viewer", "After moderation of one viewer, none for them for this time.", suffix="seconds"
    ),
    ("actions", "channel_cooldown_s"): Label(
        _ACT, "Cooldown for the channel", "After moderation of anybody, none at all for this time.", suffix="seconds"
    ),
    ("actions", "approval_expires_s"): Label(
        _ACT, "Time to approve", "What you have not approved by then is refused.", suffix="seconds"
    ),
    ("memory", "ignored_viewers"): Label(
        _MEMORY, "Never remember", "Names of viewers about whom nothing is kept.", basic=True
    ),
    ("memory", "known_bots"): Label(
        _MEMORY, "Other bots", "Bots in your chat besides the well-known ones.", basic=True
    ),
    ("privacy", "never_store"): Label(
        _MEMORY, "Words that are never kept", "A note with one of these words is not stored.", basic=True
    ),
    ("privacy", "privacy_url"): Label(_MEMORY, "Privacy page", "Your own page about privacy, shown by !privacy."),
    ("memory", "briefs"): Label(
        _MEMORY, "Briefs", "After a stream, write a short text about each regular: one model call for ten of them."
    ),
    ("recall", "speaker_notes"): Label(_MEMORY, "Notes about the speaker", "The most that one reply looks at."),
    ("recall", "others"): Label(_MEMORY, "Other viewers", "How many viewers who are mentioned bring notes along."),
    ("recall", "notes_per_other"): Label(_MEMORY, "Notes about each of them", "The most that one reply looks at."),
    ("recall", "channel_notes"): Label(_MEMORY, "Notes about the channel", "The most that one reply looks at."),
    ("recall", "topic_gate"): Label(
        _MEMORY, "Stay on topic", "Show a note with topics only when the conversation touches one of them."
    ),
    ("people", "regular_streams"): Label(_PEOPLE, "Regular", "Streams somebody came to, to count as a regular …"),
    ("people", "regular_within_d"): Label(_PEOPLE, "… within", "The time in which these streams count.", suffix="days"),
    ("people", "newcomer_streams"): Label(_PEOPLE, "Newcomer", "Who came to fewer streams than this is a newcomer."),
    ("people", "returner_away_d"): Label(
        _PEOPLE, "Returner", "Who was away this long is welcomed back.", suffix="days"
    ),
}

PRESETS = {
    "Warm regular": BotSettings().persona,
    "Dry wit": "You are a deadpan regular with a dry sense of humour. You say little, and it lands. Never mean, never "
    "long.",
    "Cheerleader": "You are the channel's biggest fan. You celebrate small wins, cheer people up and stay kind when a "
    "run goes wrong. Short and sunny.",
    "Calm guide": "You are patient and helpful. You answer plainly, explain things without showing off, and help "
    "newcomers feel welcome. One or two sentences.",
}
"""Characters to begin with."""

RESTARTING = frozenset({"twitch", "model"})
"""Tables whose changes count when the connection or the model is built anew."""
