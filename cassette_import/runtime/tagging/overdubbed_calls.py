"""Which calls run overdubbed Python functions, which get wrapped values as they are.

Knows which code is live; must not know rules.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any, Final

from cassette_import.interpreter.callables import lookup, python_function
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE, Activation

VERBS: Final[set[int]] = set()
"""Functions of ours that take wrapped values."""

NEVER_PYTHON: Final = frozenset(map(id, (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)))
"""Types of functions that are written in C, by identity: a metaclass of the program may have no hash."""


def enters(activation: Activation, function: Any) -> bool:
    """Whether a call runs an overdubbed Python function that gets the arguments as they are."""
    target = function if type(function) is FunctionType else _behind(function)
    if target is None:
        return False
    code = target.__code__
    record = OVERDUBBED.files.get(code.co_filename)
    if record is None or not (record.installed or code.co_filename in activation.roots):
        return False
    return OVERDUBBED.overdubbable(target)


def _behind(function: Any) -> FunctionType | None:
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
    filename = generator.gi_code.co_filename
    record = OVERDUBBED.files.get(filename)
    return record is not None and (record.installed or filename in ACTIVE.get().roots)
