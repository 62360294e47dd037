"""Frames in which no event has been carried out yet: they are notified when events have to be.

At each event, rewritten code tests a variable of its own frame, which is None at first. When the first value is tagged,
the extension in C sets it in all frames of all threads. So the test costs less than that of a name. Where frames cannot
be found, the variable has another value from the beginning, and rewritten code asks at each event.
"""

from __future__ import annotations

import gc
import sys
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import temporaries
from cassette_import.runtime.dispatch.accelerator import DISPATCH

NOTIFIED: Final = type("Notified", (), {"__slots__": ()})()
"""What the variable holds in a frame that has to ask."""


@hidden
def at_begin() -> object:
    """What the variable holds when a frame begins, as long as there is no metadata.

    The stacks of greenlets that are not running are in no list. Where they may be used, frames ask.
    """
    are_found = DISPATCH.is_used and DISPATCH.set_in_frames is not None and "greenlet" not in sys.modules
    return None if are_found else NOTIFIED


@hidden
def notify_frames(with_greenlets: bool) -> None:
    """Let all frames ask whether events have to be carried out; those of greenlets that are not running, if wanted."""
    if DISPATCH.set_in_frames is not None:
        DISPATCH.set_in_frames(temporaries.EPOCH, NOTIFIED, _frames_of_greenlets() if with_greenlets else ())


@hidden
def _frames_of_greenlets() -> tuple[object, ...]:
    """The frames at which greenlets are that are not running."""
    kind: Any = getattr(sys.modules.get("greenlet"), "greenlet", None)
    if not isinstance(kind, type):
        return ()
    return tuple(found.gr_frame for found in gc.get_objects() if issubclass(type(found), kind))
