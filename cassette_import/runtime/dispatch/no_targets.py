"""Callees that are certainly no targets: `callee in NoTargets(functions, names)`, which the extension in C does without
a call.

Call sites that call a local name ask this: it may hold many functions in turn.
"""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.accelerator import DISPATCH


class NoTargetsInPython:
    """Contains Python functions and methods that are one, and, with the extension, methods of builtin types.

    Parameters
    ----------
    functions:
        The Python functions that are targets, or that may get one as a callback.
    names:
        The names of such functions in C.
    """

    __slots__ = ("_functions",)

    @hidden
    def __init__(self, functions: frozenset[FunctionType], names: frozenset[str]) -> None:
        self._functions = functions

    @hidden
    def __contains__(self, callee: Any) -> bool:
        function = callee.__func__ if type(callee) is MethodType else callee
        return type(function) is FunctionType and function not in self._functions


NoTargets: Final[Any] = NoTargetsInPython if DISPATCH.reason else DISPATCH.NoTargets
