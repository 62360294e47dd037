"""Names in class bodies: they are looked up in the class's namespace, and are events if it does not have them.

Knows how the interpreter looks up names; must not know hooks.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import primitives
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.event_runner import pick_anywhere
from cassette_import.runtime.state import PROVIDED

_pick: Final = pick_anywhere(Events.NAMES)
_frame: Final = sys._getframe  # of depth 1: the first frame that is not hidden
_NOTHING: Final = object()


@hidden
def class_name(name: str) -> Any:
    """The value of a name in the class body that runs."""
    frame = _frame(1)
    namespace: Any = frame.f_locals  # what `__prepare__` gave: any mapping
    if type(namespace) is dict:
        value = namespace.get(name, _NOTHING)
        if value is not _NOTHING:
            return value
    else:
        try:
            return namespace[name]
        except KeyError:
            pass
    return _pick(primitives.load_global)(frame.f_globals, name)


PROVIDED.add({"@class.name": class_name})
