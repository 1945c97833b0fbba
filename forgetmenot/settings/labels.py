"""The settings that a streamer changes, in the order in which the dock shows them. Pure.

What stands here may be changed while the bot runs; what does not is for the settings file alone. Label and sentence of
each are in forgetmenot/languages, table [settings].
"""

from typing import NamedTuple

from forgetmenot.languages import Language


class Label(NamedTuple):
    """How a setting is shown. `basic`: shown at once; the others stand under "Advanced"."""

    group: str
    basic: bool = False
    unit: str = ""


LABELS: dict[tuple[str, str], Label] = {
    ("twitch", "channel"): Label("channel", basic=True),
    ("twitch", "bot_login"): Label("channel"),
    ("twitch", "client_id"): Label("channel"),
    ("bot", "mode"): Label("who", basic=True),
    ("bot", "name"): Label("who", basic=True),
    ("bot", "aliases"): Label("who", basic=True),
    ("bot", "persona"): Label("who", basic=True),
    ("bot", "language"): Label("who", basic=True),
    ("bot", "reply_language"): Label("who"),
    ("bot", "notice"): Label("who", basic=True),
    ("bot", "speaks_as"): Label("who"),
    ("model", "provider"): Label("model"),
    ("model", "reply_model"): Label("model"),
    ("model", "memory_model"): Label("model"),
    ("model", "base_url"): Label("model"),
    ("reply", "max_chars"): Label("talk", basic=True, unit="characters"),
    ("reply", "viewer_gap_s"): Label("talk", basic=True, unit="seconds"),
    ("reply", "follow_up_s"): Label("talk", basic=True, unit="seconds"),
    ("reply", "blocklist"): Label("talk", basic=True),
    ("reply", "missed"): Label("talk"),
    ("reply", "allow_links"): Label("talk"),
    ("reply", "spontaneous_gap_s"): Label("talk", unit="seconds"),
    ("reply", "stale_after_s"): Label("talk", unit="seconds"),
    ("actions", "safe_mode"): Label("act", basic=True),
    ("actions", "class_a"): Label("act", basic=True),
    ("actions", "class_b"): Label("act", basic=True),
    ("actions", "class_c"): Label("act", basic=True),
    ("actions", "disabled"): Label("act"),
    ("actions", "allowed_targets"): Label("act"),
    ("actions", "denied_targets"): Label("act"),
    ("actions", "max_timeout_s"): Label("act", unit="seconds"),
    ("actions", "newcomer_protection"): Label("act"),
    ("actions", "per_stream"): Label("act"),
    ("actions", "viewer_cooldown_s"): Label("act", unit="seconds"),
    ("actions", "channel_cooldown_s"): Label("act", unit="seconds"),
    ("actions", "approval_expires_s"): Label("act", unit="seconds"),
    ("memory", "ignored_viewers"): Label("memory", basic=True),
    ("memory", "known_bots"): Label("memory", basic=True),
    ("memory", "briefs"): Label("memory"),
    ("privacy", "never_store"): Label("memory", basic=True),
    ("privacy", "privacy_url"): Label("memory"),
    ("recall", "speaker_notes"): Label("memory"),
    ("recall", "others"): Label("memory"),
    ("recall", "notes_per_other"): Label("memory"),
    ("recall", "channel_notes"): Label("memory"),
    ("recall", "topic_gate"): Label("memory"),
    ("people", "regular_streams"): Label("people"),
    ("people", "regular_within_d"): Label("people", unit="days"),
    ("people", "newcomer_streams"): Label("people"),
    ("people", "returner_away_d"): Label("people", unit="days"),
}

RESTARTING = frozenset({"twitch", "model"})
"""Tables whose changes count when the connection or the model is built anew."""


def presets(language: Language) -> dict[str, str]:
    """Characters to begin with, by their titles."""
    return dict(language.pair(f"preset.{name}") for name in ("warm", "dry", "fan", "guide"))
