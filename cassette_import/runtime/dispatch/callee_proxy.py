"""What stands in the place of a callee whose call is an event, and what nothing may stand in the place of.

Knows callables, targets and single overloads; must not know how hooks are chosen, or call sites.
"""

from __future__ import annotations

import builtins
import copy
import functools
import sys
import typing
from typing import Any, Final

FRAME_READERS: Final[set[int]] = {
    id(function)
    for function in (
        super, locals, globals, vars, dir, eval, exec, breakpoint, __import__, sys._getframe, sys.exc_info,
        getattr(sys, "_getframemodulename", None), builtins.__build_class__,
        *((type,) if sys.version_info < (3, 12) else ()),
        *(getattr(typing, name) for name in ("TypeVar", "ParamSpec", "TypeVarTuple", "TypeAliasType")
          if hasattr(typing, name)),
    )
}  # fmt: skip
"""Callables that look at the frame they are called from: in the callee form they are handed back untouched."""


class Callee(functools.partial):  # type: ignore[type-arg]  # partial[Any] is no class to inherit from before 3.9
    """What `pick` returns for a callee whose call is an event: calling it runs the event, ``Callee(run, function)``.

    It shows the name of the callee, so that Python's own errors about a call (`f(*1)`) read as they would. As a partial
    object it adds no Python frame.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.args[0], name)

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> Any:
        return copy.copy, (self.args[0],)  # which gives a function back as it is


Callee.__module__ = property(lambda self: self.args[0].__module__)  # type: ignore[assignment]
