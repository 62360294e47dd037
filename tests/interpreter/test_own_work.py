"""Own work: it ends with its block, also where an exception ends the block before it has begun, or while it ends."""

import pytest

from cassette_import.contexts import Noop
from cassette_import.interpreter.own_work import OWN_WORK, Activity, own_work
from cassette_import.runtime.state import ACTIVE


@pytest.mark.parametrize("step", ["suspend", "resume"])
def test_an_interrupt_at_either_end_of_own_work_leaves_the_context_active(step, monkeypatch):
    done = getattr(Activity, step)

    def interrupted(*arguments):
        done(*arguments)
        raise KeyboardInterrupt  # as the handler of a signal does, which runs after a call

    with Noop():
        active = ACTIVE.get()
        with monkeypatch.context() as patch:
            patch.setattr(Activity, step, staticmethod(interrupted))
            with pytest.raises(KeyboardInterrupt), own_work():
                pass
        assert not OWN_WORK.now
        assert ACTIVE.get() is active
