"""Call sites as `CallTypes` records them: the calls at one place in the code, with the types of what went in
and out.
"""

from __future__ import annotations

import functools
from itertools import islice
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
)
from typing import Any, Final, TypeAlias

from cassette_import.interpreter.callables import python_function
from cassette_import.kits.function_names import display
from cassette_import.runtime.dispatch.call_sites import characters_before
from cassette_import.runtime.module_imports import ModuleImport

__all__ = ["Outcome", "Site", "TypeShape"]

TypeShape: TypeAlias = Any
"""A type as the `id()` of the class. The shape of a container with known elements is a tuple: the `id()` of its class,
then the shapes of its elements."""
Outcome: TypeAlias = tuple[tuple[TypeShape, ...], tuple[tuple[str, TypeShape], ...], bool, TypeShape]
"""The types in one call: the shapes of the arguments, the shapes of the keyword arguments by name, whether the call
raised, and the shape of the result or exception."""

_LRU_CACHE: Final = type(functools.lru_cache(len))
_WITHOUT_RECEIVER: Final = (FunctionType, MethodType, BuiltinFunctionType, MethodDescriptorType, _LRU_CACHE)
"""The types of callees whose arguments are all among those of the call."""


class Site:
    """One place in the code and one callee there, in one thread.

    `caller` and `module` name the calling function and its module. `python` is the Python function that runs, or None
    if the callee is not written in Python. `is_class` and `takes_receiver` say whether it is a class, and whether its
    body has a receiver that is not among the arguments. `kept` keeps a callee alive that the program keeps, too.
    `outcomes` counts the calls by outcome; the key None is for all calls that were made when there were too many
    outcomes to tell apart.
    """

    __slots__ = (
        "caller",
        "code",
        "is_class",
        "kept",
        "lasti",
        "module",
        "name",
        "outcomes",
        "python",
        "takes_receiver",
    )

    def __init__(self, frame: FrameType, lasti: int, function: Any, is_long_lived: bool) -> None:
        self.code: CodeType = frame.f_code
        self.lasti = lasti
        self.caller = frame.f_code.co_qualname.replace(".<locals>", "")
        self.module = frame.f_globals.get("__name__")
        self.name = display(function).replace(".<locals>", "")
        kind = type(function)
        self.is_class = issubclass(kind, type)
        self.takes_receiver = self.is_class or not issubclass(kind, _WITHOUT_RECEIVER)
        self.kept = function if is_long_lived else None
        wrapped = vars(function).get("__wrapped__") if type(function) is _LRU_CACHE else function
        python = python_function(wrapped) if type(wrapped) is not ModuleImport else None
        self.python = python if is_long_lived or python is None else _without_cells(python)
        self.outcomes: dict[Outcome | None, int] = {}

    @property
    def position(self) -> tuple[int, int]:
        """The line and the column of the call, both counted from 1."""
        line, _, column, _ = next(islice(self.code.co_positions(), self.lasti // 2, None), (None,) * 4)
        line = line or self.code.co_firstlineno
        return line, (characters_before(self.code.co_filename, line, column) or 0) + 1


def _without_cells(function: FunctionType) -> FunctionType:
    """A function with the same signature that keeps nothing of what a closure refers to."""
    if function.__closure__ is None:
        return function
    cells = tuple([CellType() for _ in function.__closure__])
    made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
    made.__module__ = function.__module__
    return made
