"""The interpreter is set for a loop that runs on, and set back."""

import gc
import sys

from forgetmenot.app.live import SWITCH_S, YOUNG, short_pauses


def test_threads_give_way_soon_and_old_objects_are_not_walked_again_until_it_ends() -> None:
    before, thresholds = sys.getswitchinterval(), gc.get_threshold()
    with short_pauses():
        assert sys.getswitchinterval() < before
        assert abs(sys.getswitchinterval() - SWITCH_S) < SWITCH_S / 10
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold() == (YOUNG, *thresholds[1:])
    assert sys.getswitchinterval() == before
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == thresholds
