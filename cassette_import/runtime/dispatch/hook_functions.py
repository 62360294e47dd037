"""Hook functions: the copies of the program's functions that are called as hooks and overloads.

A hook is called through a copy of its function, for two reasons: the copy takes its leading parameters by position
only, and its frames are distinguished from those of the original, which the program may call itself.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.code_objects import DERIVED
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.overdubbed_code import OVERDUBBED

# ---- the code of live functions and of hooks, replaced so that the interpreter goes on specialising calls of them
#
# From CPython 3.13 on, a function whose `__code__` was assigned has no version any more, and one that `FunctionType`
# made has none: the call sites that call it stay unspecialised, which costs a sixth of a call. The accelerator gives it
# that of its code. Without the accelerator, the interpreter does what it does.


@hidden
def set_code(function: FunctionType, code: CodeType) -> None:
    """Assign the code of a function.

    One that has no version, for example since the program assigned its defaults, stays without.
    """
    if DISPATCH.set_code is not None:
        DISPATCH.set_code(function, code)
    else:
        function.__code__ = code


def specialised_calls(function: FunctionType) -> FunctionType:
    """Return a function that was made of its code just now, whose calls are specialised from now on."""
    return function if DISPATCH.specialised_calls is None else DISPATCH.specialised_calls(function)


# ---- hook functions: the copies of the program's functions that are called as hooks and overloads

LEADING: Final = {"prehook": 2, "overdub": 2, "posthook": 3, "errorhook": 3}
"""How many parameters come before the arguments of the call: the context, the function and, for two kinds, the result
or the exception."""
KINDS: Final = tuple(LEADING)
HOOKS: Final = tuple(kind for kind in KINDS if kind != "overdub")


class HookFunctions:
    """The functions that are called as hooks and overloads, by file, name and line.

    Each of the `listeners` is called with the original function and its new copy, before the copy is used.
    `activation.context` adds `specialization.hook_copies.instrument_copy`.
    """

    def __init__(self) -> None:
        self.listeners: list[Callable[[FunctionType, FunctionType], None]] = []
        self._functions: dict[tuple[str, str, int], weakref.WeakSet[FunctionType]] = {}

    def copied(self, original: FunctionType, copy: FunctionType) -> None:
        """Notify the listeners of a new copy, and add it."""
        for listener in self.listeners:
            listener(original, copy)
        self.add(copy)

    def add(self, function: FunctionType) -> None:
        """Register a function as one that is called as a hook or overload."""
        code = function.__code__
        place = code.co_filename, code.co_name, code.co_firstlineno
        self._functions.setdefault(place, weakref.WeakSet()).add(function)

    def has_place(self, code: CodeType) -> bool:
        """Whether a hook function is defined where this code comes from: its copies have other code."""
        return (code.co_filename, code.co_name, code.co_firstlineno) in self._functions

    def has_code(self, code: CodeType) -> bool:
        """Whether a code object is that of a hook function."""
        known = self._functions.get((code.co_filename, code.co_name, code.co_firstlineno))
        return known is not None and any(function.__code__ is code for function in known)


HOOK_FUNCTIONS: Final = HookFunctions()


def plain_code(function: FunctionType) -> CodeType:
    """The code that Python compiled for a function, which may be instrumented."""
    return OVERDUBBED.plain_code_of(function.__code__)


def positional_only(function: Callable[..., Any], count: int, *, stays_plain: bool = False) -> Callable[..., Any]:
    """A copy of a hook whose first `count` parameters are positional-only: a program may well call `g(f=1)` or
    `g(self=1)` (checklist R14).

    Bound methods, partial objects and objects with a `__call__` keep their kind, around a copy of their function.

    Parameters
    ----------
    function:
        The hook, as the program has it.
    count:
        The number of its leading parameters.
    stays_plain:
        Whether the copy is never overdubbed. Other copies are if the module of the hook is, for the contexts that are
        active while the hook runs.
    """
    kind = type(function)
    if isinstance(function, MethodType):
        inner = positional_only(function.__func__, count + 1, stays_plain=stays_plain)
        return MethodType(inner, function.__self__)
    if kind is functools.partial:
        assert isinstance(function, functools.partial)
        inner = positional_only(function.func, count + len(function.args), stays_plain=stays_plain)
        return functools.partial(inner, *function.args, **function.keywords)
    if not isinstance(function, FunctionType):
        call = None if isinstance(function, type) else lookup(kind, "__call__")
        if type(call) is not FunctionType:
            return function
        return MethodType(positional_only(call, count + 1, stays_plain=stays_plain), function)
    code = plain_code(function)
    positional = max(code.co_posonlyargcount, min(count, code.co_argcount))
    return hook_copy(function, code.replace(co_posonlyargcount=positional), stays_plain=stays_plain)


def hook_copy(function: FunctionType, code: CodeType, *, stays_plain: bool = False) -> FunctionType:
    """A copy of a hook with other code, which is a copy of its plain code."""
    made = FunctionType(
        DERIVED.add(code) if stays_plain else code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    specialised_calls(made)
    if stays_plain:
        HOOK_FUNCTIONS.add(made)
    else:
        HOOK_FUNCTIONS.copied(function, made)
    return made
