"""Private names: in the class `C`, `self.__x` is the attribute `_C__x`.

A pass gets the tree as it is written, with `__x`, but what it calls with the name of an attribute needs `_C__x`.
"""

from __future__ import annotations

from itertools import pairwise
from types import FunctionType

from cassette_import.runtime.overdubbed_code import OVERDUBBED

__all__ = ["PrivateNames"]


class PrivateNames:
    """The names of attributes in the namespaces of objects, for those that a function's source has.

    The code of the function may be a trampoline, which has no names of the function.

    >>> class Counter:
    ...     def add(self):
    ...         self.__count += 1
    >>> PrivateNames(Counter.add).name_of("__count")
    '_Counter__count'
    """

    def __init__(self, function: FunctionType) -> None:
        code = OVERDUBBED.plain_code_of(function.__code__)
        self._names = code.co_names
        self._class = _class_of(code.co_qualname)

    def name_of(self, written: str) -> str:
        """The name that an attribute has in the namespace of its object."""
        if not written.startswith("__") or written.endswith("__"):
            return written
        if self._class:
            return f"_{self._class}{written}"
        # The qualified name of a function that is declared `global` has no class: Python's code has the name.
        return next((name for name in self._names if name[:1] == "_" and name.endswith(written)), written)


def _class_of(qualified_name: str) -> str:
    """The innermost class around a function, without underscores at its start; empty if there is none."""
    parts = qualified_name.split(".")
    classes = [part for part, following in pairwise(parts) if "<locals>" not in (part, following)]
    return classes[-1].lstrip("_") if classes else ""
