"""What the entries of handlers share: who may ask, and the usual parameters."""

from forgetmenot.domain import Permission, Surface
from forgetmenot.operations.types import Parameter, ParameterKind

ANYBODY = {Surface.CHAT: Permission.ANYONE}
MODERATORS = {Surface.CHAT: Permission.MODERATOR}
DOCK = {Surface.DOCK: Permission.OWNER}
CLI = {Surface.CLI: Permission.OWNER}
MODEL = {Surface.MODEL: Permission.POLICY}

LONGEST_TEXT = 500
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
    """Something that is typed or not."""
    return Parameter(name, ParameterKind.FLAG)


ID = number_parameter("id")
ID_OR_LAST = number_parameter("id", optional=True)
VIEWER = Parameter("viewer", ParameterKind.VIEWER, optional=True)
VIEWER_OR_UNSEEN = Parameter("viewer", ParameterKind.VIEWER, optional=True, unseen=True)
# only where something is shown
VIEWER_BY_ANY_NAME = Parameter(
    "viewer", ParameterKind.VIEWER, optional=True, may_be_short=True
)
NEEDED_VIEWER_BY_ANY_NAME = Parameter("viewer", ParameterKind.VIEWER, may_be_short=True)
TARGET = Parameter("target", ParameterKind.VIEWER, optional=True)
