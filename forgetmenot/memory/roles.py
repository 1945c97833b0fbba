"""What somebody is in the channel, by the badges of one message. Pure."""

from collections.abc import Set as AbstractSet

from forgetmenot.domain.chat import Role

_BADGES = (
    ("broadcaster", Role.BROADCASTER),
    ("lead_moderator", Role.MODERATOR),
    ("moderator", Role.MODERATOR),
    ("vip", Role.VIP),
    ("subscriber", Role.SUBSCRIBER),
    ("founder", Role.SUBSCRIBER),
)


def role_of(badges: AbstractSet[str]) -> Role:
    """The highest role that a badge stands for."""
    return next((role for badge, role in _BADGES if badge in badges), Role.VIEWER)
