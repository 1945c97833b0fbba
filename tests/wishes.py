"""What a viewer asks for about their data, done to a memory without a bot."""

from forgetmenot.clock import ManualClock
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.requests import PrivacyService
from forgetmenot.store.database import Database


async def forget_fact(db: Database, note_id: int, *, at: int) -> None:
    clock = ManualClock(at)
    await PrivacyService(db=db, clock=clock, eraser=Eraser(db=db, clock=clock)).forget(
        note_id
    )


async def erase(db: Database, viewer_id: str, *, now: int) -> None:
    await Eraser(db=db, clock=ManualClock(now)).erase(viewer_id)
