"""What stands in the place of a callee whose call is an event, and what nothing may stand in the place of.

Knows callables, targets and single overloads; must not know how hooks are chosen, or call sites.
"""

from __future__ import annotations

import builtins
import copy
import functools
import sys
import typing
from collections.abc import Callable, Container
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import joined, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE, prefix_of

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


def lone(
    runner: Any, variant: Any, target: Any, number: int, handler: Any, of_target_itself: bool
) -> Callable[..., Any]:
    """The event of a target for which there is one overload, which takes any types, and no hook.

    `event(callee, …)`, or for calls of the target itself with positional arguments only, `event(…)`.
    """
    overload, fewest = handler.call, handler.required
    most = sys.maxsize if handler.has_rest else len(handler.types)
    get, put, reset = ACTIVE.get, ACTIVE.set, ACTIVE.reset

    @hidden
    def event_of_target(*arguments: Any) -> Any:
        activation = get()
        if activation.variant is not variant or not fewest <= len(arguments) <= most:
            return runner.event(target, *arguments)
        prefixes = activation.prefixes
        token = put(prefixes[number] if prefixes and number in prefixes else prefix_of(activation, number))
        try:
            return overload(activation.contexts[number], target, *arguments)
        finally:
            reset(token)

    @hidden
    def event(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if keywords:
            return runner.event(callee, *arguments, **keywords)
        if callee is target:
            return event_of_target(*arguments)
        function, *leading = split(callee)
        full = joined(leading, arguments)
        if function is not target or type(callee) is functools.partial or not fewest <= len(full) <= most:
            return runner.event(callee, *arguments)
        return event_of_target(*full)

    return event_of_target if of_target_itself else event


def handing_on(event: Callable[..., Any], targets: Container[int]) -> Callable[..., Any]:
    """The event of a higher-order leaf that is no target itself: one only if it is handed a target to call."""

    @hidden
    def hand_on(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        for argument in (*arguments, *keywords.values()) if keywords else arguments:
            if callable(argument):
                known = type(argument) is FunctionType
                if (id(argument) if known else id(split(argument)[0])) in targets:
                    return event(callee, *arguments, **keywords)
        if type(callee) is functools.partial:
            return event(callee, *arguments, **keywords)
        return callee(*arguments, **keywords)

    return hand_on
