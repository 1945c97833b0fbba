"""How well somebody is known, from the streams they came to. Pure; never a flag that nobody sets."""

from forgetmenot.domain.chat import Attendance, Standing
from forgetmenot.settings.schema import PeopleSettings

_DAY = 86_400_000


def standing_of(came: Attendance, people: PeopleSettings, now: int) -> Standing:
    """The standing of somebody who came that often, `lately` within the regulars' span."""
    if came.streams < people.newcomer_streams:
        return Standing.NEWCOMER
    if came.before_at is not None and now - came.before_at >= people.returner_away_d * _DAY:
        return Standing.RETURNER
    return Standing.REGULAR if came.lately >= people.regular_streams else Standing.KNOWN
