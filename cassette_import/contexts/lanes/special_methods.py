"""Special methods of the program whose result code in C checks: `__bool__`, `__float__`, `__str__` and the like.

C code wants one bool, float or text of them, so it gets the one that most lanes have, and the other ones are dropped.
Where the program itself asks, as in `float(x)` or `if x`, the method is called in place of C code, and its result may
differ between lanes.
"""

from __future__ import annotations

import math
import operator
import sys
from types import FunctionType
from typing import Any, Final

from cassette_import.contexts.lanes.columns import is_immutable
from cassette_import.contexts.lanes.elementwise import compute
from cassette_import.contexts.lanes.lane import Lane, agreed
from cassette_import.contexts.lanes.objects import Objects

__all__ = ["SpecialMethods"]

_METHODS: Final[dict[Any, tuple[str, ...]]] = {
    bool: ("__bool__", "__len__"),
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__", "__trunc__"),
    complex: ("__complex__", "__float__", "__index__"),
    operator.index: ("__index__",),
    str: ("__str__", "__repr__"),
    repr: ("__repr__",),
    format: ("__format__", "__str__", "__repr__"),
    len: ("__len__",),
    abs: ("__abs__",),
    round: ("__round__",),
    math.floor: ("__floor__", "__float__"),
    math.ceil: ("__ceil__", "__float__"),
    math.trunc: ("__trunc__",),
}
"""By function: the methods of which it calls the first one that a class has."""
_CHECKED: Final[dict[str, type]] = {
    "__bool__": bool,
    "__float__": float,
    "__int__": int,
    "__index__": int,
    "__len__": int,
    "__complex__": complex,
    "__str__": str,
    "__repr__": str,
    "__format__": str,
}
"""The type of a method's result."""
_RETURNED: Final = frozenset({abs, round})
"""Functions that return whatever the method returns."""


class SpecialMethods(Objects):
    """The part of the context that calls special methods, and returns their results to C code."""

    _asked: Any = None
    """The place and name of the special method whose result the program itself has asked for."""

    def special(self, value: Any) -> Any:
        """The result of a special method, which code in C may have called."""
        if type(value) is not Lane:
            return value
        code = sys._getframe(1).f_code
        if self._asked == (code.co_filename, code.co_firstlineno, code.co_name):
            return value
        return (
            bool(value) if code.co_name == "__bool__" else agreed(value, f"is the result of {code.co_name} for C code")
        )

    def asked(self, method: Any, value: Any, *arguments: Any) -> Any:
        """Call a special method of the program: its result may differ between lanes."""
        code = method.__code__
        outer, self._asked = self._asked, (code.co_filename, code.co_firstlineno, code.co_name)
        try:
            return method(value, *arguments)
        finally:
            self._asked = outer

    def truth_of(self, test: Any) -> Any:
        """The truth of an object of the program; any other value is its own."""
        if type(test) is bool or type(test) is Lane or is_immutable(test):
            return test
        found = self.by_method(bool, (test,))
        return test if found is None else found[0]

    def by_method(self, function: Any, arguments: tuple[Any, ...]) -> tuple[Any] | None:
        """What a function is for an object of the program, by its special method; None if there is none."""
        names = _METHODS.get(function)
        if names is None or not arguments or type(arguments[0]) is Lane or is_immutable(arguments[0]):
            return None
        value, *rest = arguments
        kind = type(value)
        for name in names:
            method = getattr(kind, name, None)
            if type(method) is FunctionType and method.__module__ == "collections" and issubclass(kind, tuple):
                return None  # the text of a named tuple is that of its items
            if type(method) is FunctionType:
                if function is format and name != "__format__":
                    if rest != [""]:
                        return None
                    rest = []
                result = self.asked(method, value, *rest)
                return (self._checked(function, kind, name, result),)
            if method is not None and (name != "__str__" or method is not object.__str__) and name != "__format__":
                return None
        return None

    def as_numbers(self, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Arguments of a function of `math`, with floats in the place of objects; None if there is none."""
        kinds = [type(one) for one in arguments]
        if not any(kind is not Lane and type(getattr(kind, "__float__", None)) is FunctionType for kind in kinds):
            return None
        return tuple(
            one if found is None else found[0] for one in arguments for found in [self.by_method(float, (one,))]
        )

    def _checked(self, function: Any, kind: type, name: str, result: Any) -> Any:
        """The result of a method as the function returns it."""
        if function in _RETURNED or name not in _CHECKED:
            return result
        wanted = _CHECKED[name]
        if type(result) is not Lane:
            return function(_returning(kind, name, result))
        if not issubclass(result.__class__, wanted):
            return function(_returning(kind, name, agreed(result)))  # it raises
        if function in (bool, float, int, complex) and name != f"__{function.__name__}__":
            return compute(function, result)
        return result


def _returning(kind: type, name: str, result: Any) -> Any:
    """An object whose special method returns this: Python checks it."""
    return type(kind.__name__, (), {name: lambda *arguments: result, "__module__": kind.__module__})()
