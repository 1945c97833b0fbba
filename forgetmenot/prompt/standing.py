"""How well somebody is known, from the streams they came to. Pure; never a flag that nobody sets."""

from forgetmenot.domain.chat import Standing
from forgetmenot.settings.schema import PeopleSettings

_DAY = 86_400_000


def standing_of(streams: int, lately: int, before_at: int | None, people: PeopleSettings, now: int) -> Standing:
    """The standing of somebody who came to so many streams, `lately` of them within the regulars' span.

    `before_at`: when they were last there before the stream that is on.
    """
    if streams < people.newcomer_streams:
        return Standing.NEWCOMER
    if before_at is not None and now - before_at >= people.returner_away_d * _DAY:
        return Standing.RETURNER
    return Standing.REGULAR if lately >= people.regular_streams else Standing.KNOWN
