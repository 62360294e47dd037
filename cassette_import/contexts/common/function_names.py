"""How the ready-made contexts name the functions that they see, without running any code of the program.

Knows Python's kinds of callables; must not know any context.
"""

from __future__ import annotations

import functools
import os
import threading
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple, TypeAlias

__all__ = ["Label", "Named", "described", "display", "module_of", "parameter_names", "thread_name"]

Label: TypeAlias = tuple[str, int, str]
"""File, line and name, as `pstats` has it; of a builtin, `("~", 0, "<built-in method builtins.len>")`."""

_LRU_CACHE: Final = type(functools.lru_cache(len))
_DESCRIPTORS: Final = frozenset(
    {
        type(list.append),
        type(object.__repr__),
        type(dict.__dict__["fromkeys"]),
    }  # method, slot and class method
)
_SYSTEM: Final = os.getpid.__module__
_type_attribute: Final = type.__getattribute__  # a metaclass may have its own, in Python


class Named(NamedTuple):
    """A function's label; and whether the function lasts, so that it may be remembered by its identity."""

    label: Label
    lasts: bool


def described(function: Any) -> Named:
    """The label of a function as cProfile gives it, and whether the same object is likely to come again.

    A closure or a bound method is a new object each time; whoever kept it would keep what it refers to alive.

    >>> described(len)
    Named(label=('~', 0, '<built-in method builtins.len>'), lasts=True)
    >>> described(list.append).label
    ('~', 0, "<method 'append' of 'list' objects>")
    """
    kind = type(function)
    if kind is FunctionType:
        code = function.__code__
        return Named((code.co_filename, code.co_firstlineno, code.co_name), "<" not in function.__qualname__)
    if issubclass(kind, BuiltinFunctionType):  # that of re.Pattern.match is a subclass
        owner = function.__self__
        if type(owner) is ModuleType:
            return Named(("~", 0, f"<built-in method {owner.__name__}.{function.__name__}>"), True)
        descriptor = _found(type(owner), function.__name__)
        if type(descriptor) in _DESCRIPTORS:
            return Named(("~", 0, repr(descriptor)), False)
        return Named(("~", 0, f"<built-in method {function.__name__}>"), False)
    if kind in _DESCRIPTORS:
        return Named(("~", 0, repr(function)), True)
    if kind is _LRU_CACHE:
        return Named(("~", 0, f"<cached {_wrapped_name(function)}>"), False)
    if issubclass(kind, type):
        return _described_class(function)
    method = _found(kind, "__call__")
    if type(method) is FunctionType:
        return Named(described(method).label, False)
    return Named(("~", 0, f"<{_class_name(kind)!r} object>"), False)


def _described_class(called: type) -> Named:
    """Python sees the call of a class as that of its `__init__`, if that is Python."""
    lasts = "<" not in _type_attribute(called, "__qualname__")
    for name in ("__init__", "__new__"):
        method = _found(called, name)
        method = getattr(method, "__func__", method) if type(method) is staticmethod else method
        if type(method) is FunctionType:
            return Named(described(method).label, lasts)
    return Named(("~", 0, f"<class {_class_name(called)!r}>"), lasts)


def display(function: Any) -> str:
    """What a function is called where its file does not matter.

    >>> display(list.append), display(len), display(dict)
    ('list.append', 'len', 'dict')
    """
    kind = type(function)
    if kind is FunctionType and function.__module__ is _SYSTEM:  # `run` has put it in the place of a builtin
        return f"{_SYSTEM}.{function.__qualname__}"
    if kind is FunctionType or kind in _DESCRIPTORS:
        return str(function.__qualname__)
    if issubclass(kind, BuiltinFunctionType):
        owner = function.__self__
        module = owner.__name__ if type(owner) is ModuleType else "builtins"
        # The parts of the standard library that are C are known by the names of those that are Python.
        prefix = "" if module == "builtins" else f"{module.removeprefix('_')}."
        return f"{prefix}{function.__qualname__}"
    if kind is _LRU_CACHE:
        return _wrapped_name(function)
    if issubclass(kind, type):
        return str(_type_attribute(function, "__qualname__"))
    return f"<{_class_name(kind)} object>"


def module_of(function: Any) -> str:
    """The module that a function belongs to; for a method, that of its class.

    >>> module_of(display) == __name__, module_of(list.append), module_of(functools.partial(len))
    (True, 'builtins', 'functools')
    """
    kind = type(function)
    if kind is FunctionType or issubclass(kind, BuiltinFunctionType) or kind is _LRU_CACHE:
        found: Any = function.__module__
    elif kind in _DESCRIPTORS:
        found = _type_attribute(function.__objclass__, "__module__")
    else:
        found = _type_attribute(function if issubclass(kind, type) else kind, "__module__")
    return found if isinstance(found, str) else "builtins"


def parameter_names(function: Any) -> tuple[str | None, ...]:
    """The names of the parameters that positional arguments go to, as far as they have any.

    >>> parameter_names(display), parameter_names(len)
    (('function',), ())
    """
    skip = 0
    if issubclass(type(function), type):
        found = _found(function, "__init__")
        function, skip = found, 1
    if type(function) is not FunctionType:
        return ()
    code = function.__code__
    return code.co_varnames[skip : code.co_argcount]


def _wrapped_name(function: Any) -> str:
    name = vars(function).get("__qualname__")
    return name if isinstance(name, str) else "function"


def _class_name(kind: type) -> str:
    module, name = _type_attribute(kind, "__module__"), _type_attribute(kind, "__qualname__")
    return str(name) if module == "builtins" else f"{module}.{name}"


def _found(kind: type, name: str) -> Any:
    """The attribute as it stands in the class or one of its bases, not bound to anything."""
    for base in type.mro(kind) if type(kind) is type else _type_attribute(kind, "__mro__"):
        namespace = _type_attribute(base, "__dict__")
        if name in namespace:
            return namespace[name]
    return None


def thread_name(ident: int) -> str:
    """The name of a running thread."""
    # Not current_thread(): for a thread that `threading` did not start, it leaves an entry behind.
    return next((thread.name for thread in threading.enumerate() if thread.ident == ident), f"thread {ident}")
