"""Which calls run overdubbed Python functions: these get wrapped arguments."""

from __future__ import annotations

from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup, python_function
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE, Activation

WRAPPER_AWARE: Final[set[int]] = set()
"""Functions of cassette_import, by identity, that take wrapped arguments: `tag`, `overdub` and the like."""

TYPES_IN_C: Final = frozenset(map(id, (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)))
"""Types of functions that are written in C, by identity, as a metaclass of the program may have no hash."""


def calls_overdubbed(activation: Activation, function: Any) -> bool:
    """Whether a call runs an overdubbed Python function, which gets wrapped arguments."""
    target = function if type(function) is FunctionType else function_behind(function)
    if target is None:
        return False
    record = OVERDUBBED.record_with(target.__code__)
    if record is None or not (record.installed or record.filename in activation.roots):
        return False
    return OVERDUBBED.runs_overdubbed(target)


def function_behind(function: Any) -> FunctionType | None:
    """The Python function that the call of a class or of a callable object runs."""
    if is_a(function, type):
        if lookup(type(function), "__call__") is not _TYPE_CALL:
            return python_function(function)
        new, init = lookup(function, "__new__"), lookup(function, "__init__")
        if type(init) is FunctionType and new is _OBJECT_NEW:
            return init
        if is_a(new, staticmethod) and type(new.__func__) is FunctionType and init is _OBJECT_INIT:
            return new.__func__
        return None
    call = lookup(type(function), "__call__")
    return call if type(call) is FunctionType else None


_TYPE_CALL: Final = type.__dict__["__call__"]
_OBJECT_NEW: Final = object.__dict__["__new__"]
_OBJECT_INIT: Final = object.__dict__["__init__"]


@hidden
def runs_overdubbed(generator: Any) -> bool:
    """Whether a generator runs the body of an overdubbed function."""
    return is_of_overdubbed_file(generator.gi_code)


@hidden
def is_of_overdubbed_file(code: CodeType) -> bool:
    """Whether the functions of the file that code belongs to are overdubbed in the active activation."""
    record = OVERDUBBED.record_with(code)
    return record is not None and (record.installed or record.filename in ACTIVE.get().roots)
