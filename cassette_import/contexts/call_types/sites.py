"""Call sites as `CallTypes` records them: the calls at one place in the code, with the types of what went in and out.

Knows frames, code and callables; must not know hooks, or how call sites are reported.
"""

from __future__ import annotations

import functools
from itertools import islice
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias

from cassette_import.contexts.common.function_names import display
from cassette_import.interpreter.callables import python_function
from cassette_import.runtime.module_imports import ModuleImport

__all__ = ["Outcome", "Site", "TypeShape"]

TypeShape: TypeAlias = Any
"""A type as the `id()` of the class. The shape of a container with known elements is a tuple: the `id()` of its class,
then the shapes of its elements."""
Outcome: TypeAlias = tuple[tuple[TypeShape, ...], tuple[tuple[str, TypeShape], ...], bool, TypeShape]
"""The types in one call: the shapes of the arguments, the shapes of the keyword arguments by name, whether the call
raised, and the shape of the result or exception."""

_LRU_CACHE: Final = type(functools.lru_cache(len))


class Site:
    """One place in the code and one callee there, in one thread.

    `caller` and `module` name the calling function and its module. `python` is the Python function that runs, or None
    if the callee is not written in Python. `outcomes` counts the calls by outcome; the key None is for all calls
    that were made when there were too many outcomes to tell apart.
    """

    __slots__ = ("caller", "code", "function", "lasti", "module", "outcomes", "python")

    def __init__(self, frame: FrameType, lasti: int, function: Any) -> None:
        self.code: CodeType = frame.f_code
        self.lasti = lasti
        self.caller = frame.f_code.co_qualname.replace(".<locals>", "")
        self.module = frame.f_globals.get("__name__")
        self.function = function
        wrapped = vars(function).get("__wrapped__") if type(function) is _LRU_CACHE else function
        self.python = python_function(wrapped) if type(wrapped) is not ModuleImport else None
        self.outcomes: dict[Outcome | None, int] = {}

    @property
    def position(self) -> tuple[int, int]:
        """The line and the column of the call, both counted from 1."""
        line, _, column, _ = next(islice(self.code.co_positions(), self.lasti // 2, None), (None,) * 4)
        return line or self.code.co_firstlineno, (column or 0) + 1

    @property
    def name(self) -> str:
        """The name of the callee."""
        return display(self.function).replace(".<locals>", "")
