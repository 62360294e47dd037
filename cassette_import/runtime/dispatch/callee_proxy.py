"""Callee proxies: what call sites call instead of a callee whose call is an event."""

from __future__ import annotations

import copy
import functools
from types import FunctionType, MethodType
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden


class Callee(functools.partial):  # type: ignore[type-arg]  # partial[Any] is no class to inherit from before 3.9
    """The proxy of a callee whose call is an event: ``Callee(event, callee)(*arguments)`` runs the event.

    It has the attributes of the callee, so that Python's own errors about a call (`f(*1)`) name the callee. As a
    partial object it adds no Python frame.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.args[0], name)

    def __str__(self) -> str:
        return str(self.args[0])

    def __repr__(self) -> str:
        return repr(self.args[0])

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A function that a class, or what stands for one of its methods, keeps is bound as a method."""
        is_bound = instance is not None and type(self.args[0]) is FunctionType
        return MethodType(self, instance) if is_bound else self

    # The program may compare what something has kept with the function that it was given: `signal.getsignal(…) == f`.
    def __eq__(self, other: object) -> bool:
        return bool(self.args[0] == shown_callee(other))

    def __hash__(self) -> int:
        return hash(self.args[0])

    def __reduce__(self) -> Any:
        return copy.copy, (self.args[0],)  # `copy` returns a function as it is


# For the type checker: these are those of each object, not of the class.
Callee.__module__ = property(lambda self: self.args[0].__module__)  # type: ignore[assignment]
Callee.__doc__ = property(lambda self: self.args[0].__doc__)  # type: ignore[assignment]


@hidden
def shown_callee(callee: Any) -> Any:
    """The callee of a proxy; any other callee itself."""
    return callee.args[0] if type(callee) is Callee else callee
