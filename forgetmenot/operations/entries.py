"""What the entries of handlers share: who may ask, and the usual parameters."""

from forgetmenot.domain import Permission, Surface
from forgetmenot.operations.types import Parameter, ParameterKind

# Who may ask, by surface; an entry joins those that it needs: `ANYBODY | DOCK`.
ANYBODY = {Surface.CHAT: Permission.ANYONE}
MODERATORS = {Surface.CHAT: Permission.MODERATOR}
# Whoever has the dock's link or sits at the terminal is the streamer.
DOCK = {Surface.DOCK: Permission.OWNER}
CLI = {Surface.CLI: Permission.OWNER}
MODEL = {Surface.MODEL: Permission.POLICY}

# Characters of a message on Twitch.
LONGEST_TEXT = 500
# SQLite's integers have 63 bits; a longer number would be an error of the database.
LARGEST_NUMBER = 10**15


def text_parameter(name: str, *, optional: bool = False) -> Parameter:
    """Return a text, as long as a message in chat."""
    return Parameter(name, ParameterKind.TEXT, maximum=LONGEST_TEXT, optional=optional)


def number_parameter(name: str, *, optional: bool = False) -> Parameter:
    """Return a number of a note, an action or a reply, or of minutes."""
    return Parameter(
        name, ParameterKind.NUMBER, maximum=LARGEST_NUMBER, optional=optional
    )


def flag_parameter(name: str) -> Parameter:
    """Return a parameter that is there or not: the "yes" of `!forgetme yes`."""
    return Parameter(name, ParameterKind.FLAG)


ID = number_parameter("id")
ID_OR_LAST = number_parameter("id", optional=True)
VIEWER = Parameter("viewer", ParameterKind.VIEWER, optional=True)
VIEWER_OR_UNSEEN = Parameter("viewer", ParameterKind.VIEWER, optional=True, unseen=True)
# A short form may fit somebody else tomorrow, so it will do only where something is shown.
VIEWER_BY_ANY_NAME = Parameter(
    "viewer", ParameterKind.VIEWER, optional=True, may_be_short=True
)
NEEDED_VIEWER_BY_ANY_NAME = Parameter("viewer", ParameterKind.VIEWER, may_be_short=True)
TARGET = Parameter("target", ParameterKind.VIEWER, optional=True)
