"""Which leaf or pattern runs at the moment: functions of the program that it calls are entered with plain values."""

from __future__ import annotations

from _thread import get_ident
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden

LEAVES: Final[dict[int, Any]] = {}
"""The call of the innermost leaf that runs, by the identity of the thread. It is None while a function of the program
runs that another one has called."""

SUBJECTS: Final[dict[int, Any]] = {}
"""The subjects of `match` statements, by the identity of the frame, while patterns are tested: not while guards run.
Patterns run properties and other special methods of the program."""


@hidden
def outside(function: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function of the program from another one: the leaf that runs further out does not pass its arguments."""
    thread = get_ident()
    outer = LEAVES.get(thread)
    if outer is None:
        return function(*arguments, **keywords)
    LEAVES[thread] = None
    try:
        return function(*arguments, **keywords)
    finally:
        LEAVES[thread] = outer
