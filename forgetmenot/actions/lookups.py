"""Asks Twitch whether what a crash interrupted holds: True, False, or None where Twitch cannot tell. Changes nothing.

What holds by somebody else's hand counts as nobody's to claim (None), or, for the room's modes, as not ours to take
back (False). Raises TwitchError.
"""

from forgetmenot.actions.entry import Hands, Job
from forgetmenot.clock import SECOND
from forgetmenot.domain.action import Penalty

_SLACK = 10 * SECOND  # Twitch's times are whole seconds, and its clock is not ours


async def is_timed_out(hands: Hands, job: Job, now: int) -> bool | None:
    """Whether the bot's timeout holds. One that would be over by now leaves nothing to be seen."""
    penalty = await hands.moderation.penalty_of(job.target)
    if penalty is None:
        return False if job.at <= now < job.at + job.seconds * SECOND else None
    return True if penalty.until is not None and _is_ours(penalty, job) else None


async def is_banned(hands: Hands, job: Job, _now: int) -> bool | None:
    """Whether the bot's ban holds."""
    penalty = await hands.moderation.penalty_of(job.target)
    if penalty is None or penalty.until is not None:
        return False
    return True if _is_ours(penalty, job) else None


async def is_free(hands: Hands, job: Job, _now: int) -> bool | None:
    """Whether nobody keeps them from writing; who was timed out anew since then says nothing about it."""
    penalty = await hands.moderation.penalty_of(job.target)
    if penalty is None:
        return True
    return False if penalty.since < job.at else None


async def is_slow(hands: Hands, job: Job, _now: int) -> bool | None:
    """Whether slow mode is on as the bot wanted it."""
    return (await hands.moderation.room_modes()).slow_s == int(job.params["gap"])


async def is_emote_only(hands: Hands, _job: Job, _now: int) -> bool | None:
    """Whether emote-only mode is on."""
    return (await hands.moderation.room_modes()).emote_only


async def has_title(hands: Hands, job: Job, _now: int) -> bool | None:
    """Whether the title reads so."""
    title, _ = await hands.moderation.title_and_category()
    return title.strip() == job.params["text"].strip()


async def has_category(hands: Hands, job: Job, _now: int) -> bool | None:
    """Whether the category is that one, as Twitch writes it."""
    _, category = await hands.moderation.title_and_category()
    return category.casefold() == job.params["text"].strip().casefold()


def _is_ours(penalty: Penalty, job: Job) -> bool:
    return penalty.by_bot and penalty.since >= job.at - _SLACK
