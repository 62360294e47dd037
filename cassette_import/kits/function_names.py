"""Names of functions in the output of contexts, found without running any code of the program."""

from __future__ import annotations

import functools
import os
import sys
import threading
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from cassette_import.activation.inheritance import DIVERTED
from cassette_import.interpreter.generated_names import NAMED_TUPLES, is_generated
from cassette_import.interpreter.namespaces import bases_of, class_attribute, class_namespace, module_namespace
from cassette_import.kits.text import printable
from cassette_import.runtime.module_imports import ModuleImport
from cassette_import.runtime.overdubbed_code import OVERDUBBED

__all__ = [
    "SYSTEM",
    "Described",
    "Label",
    "described",
    "display",
    "full_name",
    "label_of_code",
    "lasting_part",
    "module_of",
    "modules_by_file",
    "parameter_names",
    "thread_name",
]

Label: TypeAlias = tuple[str, int, str]
"""File, line and name, as in `pstats`; for a builtin, `("~", 0, "<built-in method builtins.len>")`."""

_LRU_CACHE: Final = type(functools.lru_cache(len))
_T = TypeVar("_T")
_ALIASES: Final = frozenset(map(id, (GenericAlias, type(Generic[_T]))))  # type: ignore[index]  # a private class
"""The types of classes with parameters, such as `list[int]`, by identity as the other types."""
_DESCRIPTORS: Final = frozenset(map(id, (type(list.append), type(object.__repr__), type(dict.__dict__["fromkeys"]))))
"""The types of methods in C, by identity: the metaclass of another type may have no hash."""
"""The types of methods, slots and class methods in C, as they are in the `__dict__` of a class."""
SYSTEM: Final = os.getpid.__module__
"""The C module behind `os`, such as `posix`."""


class Described(NamedTuple):
    """A function's label, and whether the function is long-lived, so that tables may refer to it by its `id()`."""

    label: Label
    is_long_lived: bool


def described(function: Any) -> Described:
    """The label of a function as in cProfile, and whether the function is long-lived.

    A closure or a bound method is a new object each time. Keeping it would keep alive all objects that it refers to.

    >>> described(len)
    Described(label=('~', 0, '<built-in method builtins.len>'), is_long_lived=True)
    >>> described(list.append).label
    ('~', 0, "<method 'append' of 'list' objects>")
    """
    kind = type(function)
    if kind is FunctionType:
        code = function.__code__
        is_long_lived = "<" not in function.__qualname__ and (function.__closure__ is None or _is_in_module(function))
        return Described((_filename(function), code.co_firstlineno, _label_name(function)), is_long_lived)
    if issubclass(kind, BuiltinFunctionType):  # `type(re.compile("").match)` is a subclass
        owner = function.__self__
        if type(owner) is ModuleType:
            return Described(("~", 0, f"<built-in method {owner.__name__}.{function.__name__}>"), True)
        descriptor = _found(type(owner), function.__name__)
        if id(type(descriptor)) in _DESCRIPTORS:
            return Described(("~", 0, repr(descriptor)), False)
        return Described(("~", 0, f"<built-in method {function.__name__}>"), False)
    if id(kind) in _DESCRIPTORS:
        return Described(("~", 0, repr(function)), True)
    if kind is ModuleImport:
        return Described((function.filename, 1, function.__name__), False)
    if kind is _LRU_CACHE:
        return Described(("~", 0, f"<cached {_wrapped_name(function)}>"), False)
    if issubclass(kind, type):
        return _described_class(function)
    if name := _foreign_name(function):
        module = module_of(function)
        is_long_lived = getattr(sys.modules.get(module), "__dict__", {}).get(name) is function
        return Described(("~", 0, f"<built-in method {module}.{name}>"), is_long_lived)
    method = _found(kind, "__call__")
    if type(method) is FunctionType:
        return Described(described(method).label, False)
    return Described(("~", 0, f"<{_class_name(kind)!r} object>"), False)


def lasting_part(function: Any) -> Any:
    """What tables refer to by its `id()` for a function: the code of a closure; any other function itself.

    Each closure is a new function, but all closures of one `def` share its code.
    """
    return function.__code__ if type(function) is FunctionType and "<" in function.__qualname__ else function


def label_of_code(code: CodeType) -> Label:
    """The label of the function that has some code."""
    return code.co_filename, code.co_firstlineno, _name_of_generated(code) or code.co_name


def _label_name(function: FunctionType) -> str:
    """The name in the label of a function: that of its code, except for generated methods."""
    code = function.__code__
    if name := _name_of_generated(code):
        return name
    if not is_generated(code.co_filename) or function.__qualname__ == code.co_qualname:
        return code.co_name
    return _in_module(function.__qualname__, module_of(function))


def _name_of_generated(code: CodeType) -> str:
    """The name in the label of a generated method, with module and class: all of them are alike in file and line.

    Empty for other code, and for that of modules that are not overdubbed.
    """
    record, name = OVERDUBBED.record_with(code), OVERDUBBED.qualified_name(code)
    return "" if record is None or name == code.co_qualname else _in_module(name, record.module_name)


def _in_module(name: str, module: str) -> str:
    return name if module == "__main__" or module.startswith(NAMED_TUPLES) else f"{module}.{name}"


def _filename(function: FunctionType) -> str:
    """The file of a function; of one that cassette_import has diverted, the file of its module."""
    found = function.__code__.co_filename
    return str(function.__globals__.get("__file__", found)) if found == DIVERTED else found


def _is_in_module(function: Any) -> bool:
    """Whether a function or class is found in its module by its name, so that the module keeps it alive.

    A class that `type` makes, or a closure with the name of what it wraps, may be made for one call.
    """
    found: Any = sys.modules.get(module_of(function))
    name = class_attribute(function, "__qualname__") if issubclass(type(function), type) else function.__qualname__
    for part in name.split("."):
        found = (class_namespace(found) if issubclass(type(found), type) else getattr(found, "__dict__", {})).get(part)
    return found is function or getattr(found, "__func__", None) is function


def _described_class(called: type) -> Described:
    """The label of the method that runs, if that is written in Python; else of the class."""
    is_long_lived = _is_in_module(called)
    for owner, name in ((type(called), "__call__"), (called, "__init__"), (called, "__new__")):
        method = _found(owner, name)
        method = getattr(method, "__func__", method) if type(method) is staticmethod else method
        if type(method) is FunctionType:
            return Described(described(method).label, is_long_lived)
    return Described(("~", 0, f"<class {_class_name(called)!r}>"), is_long_lived)


def display(function: Any) -> str:
    """The name of a function without its file, on one line.

    >>> display(list.append), display(len), display(dict)
    ('list.append', 'len', 'dict')
    """
    name = _name(function)
    return name if name.isprintable() else printable(name)


def _name(function: Any) -> str:
    kind = type(function)
    if kind is FunctionType and function.__module__ is SYSTEM:  # a replacement of `os._exit` or `os.execv`, see `run`
        return f"{SYSTEM}.{function.__qualname__}"
    if kind is FunctionType or id(kind) in _DESCRIPTORS or kind is ModuleImport:
        return str(function.__qualname__)
    if issubclass(kind, BuiltinFunctionType):
        owner = function.__self__
        module = owner.__name__ if type(owner) is ModuleType else "builtins"
        # C modules such as `_json` are known by the names of their Python modules.
        prefix = "" if module == "builtins" else f"{module.removeprefix('_')}."
        return f"{prefix}{function.__qualname__}"
    if kind is _LRU_CACHE:
        return _wrapped_name(function)
    if issubclass(kind, type):
        return str(class_attribute(function, "__qualname__"))
    if id(kind) in _ALIASES:
        return f"{display(function.__origin__)}[…]"  # its arguments may be of the program, and have a `__repr__`
    if name := _foreign_name(function):
        return f"{module_of(function)}.{name}".removeprefix("builtins.")
    return f"<{_class_name(kind)} object>"


def full_name(function: Any) -> str:
    """The name of a function with its module; what is in `builtins` has none.

    >>> full_name(list.append), full_name(len), full_name(full_name)
    ('list.append', 'len', 'cassette_import.kits.function_names.full_name')
    """
    kind = type(function)
    if kind is FunctionType or issubclass(kind, type):
        return f"{module_of(function)}.{display(function)}".removeprefix("builtins.")
    if class_attribute(kind, "__module__") == "numpy" and type(name := getattr(function, "__name__", None)) is str:
        return f"numpy.{name}"  # a ufunc, or a function that dispatches
    return display(function)


def module_of(function: Any) -> str:
    """The module that defines a function; for a method in C, that of its class.

    >>> module_of(display) == __name__, module_of(list.append), module_of(functools.partial(len))
    (True, 'builtins', 'functools')
    """
    kind = type(function)
    if kind is FunctionType or issubclass(kind, BuiltinFunctionType) or kind is _LRU_CACHE:
        found: Any = function.__module__
    elif kind is ModuleImport:
        found = function.name
    elif id(kind) in _DESCRIPTORS:
        found = class_attribute(function.__objclass__, "__module__")
    else:
        found = None if issubclass(kind, type) else _of_instance(function, "__module__")
        if type(found) is not str:
            found = class_attribute(function if issubclass(kind, type) else kind, "__module__")
    return found if isinstance(found, str) else "builtins"


def modules_by_file() -> dict[str, str]:
    """The names of the imported modules by their files, without the program's own module.

    >>> modules_by_file()[functools.__file__]
    'functools'
    """
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        filename = module_namespace(module).get("__file__") if type(module) is ModuleType else None
        if type(filename) is str and name != "__main__":
            found.setdefault(filename, name)
    return found


def parameter_names(function: Any) -> tuple[str | None, ...]:
    """The names of the positional parameters of a function or class in Python; none for others.

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


def _foreign_name(function: Any) -> str:
    """The name of a function of another compiler (Cython, nanobind), or of NumPy; empty for any other callable."""
    for attribute in ("__qualname__", "__name__"):
        name = _of_instance(function, attribute)
        if type(name) is str:
            return name
    return ""


def _of_instance(function: Any, attribute: str) -> Any:
    """What the type in C of a function has an attribute for; None for objects of Python classes."""
    kind = type(function)
    found = _found(kind, attribute)
    if type(found) in (GetSetDescriptorType, MemberDescriptorType):
        try:
            return found.__get__(function, kind)
        except AttributeError:
            return None
    if type(_found(kind, "__init__")) is FunctionType or type(_found(kind, "__call__")) is FunctionType:
        return None
    namespace = _found(kind, "__dict__")
    return namespace.__get__(function, kind).get(attribute) if type(namespace) is GetSetDescriptorType else None


def _wrapped_name(function: Any) -> str:
    name = vars(function).get("__qualname__")
    return name if isinstance(name, str) else "function"


def _class_name(kind: type) -> str:
    module, name = class_attribute(kind, "__module__"), class_attribute(kind, "__qualname__")
    return f"{module}.{name}" if type(module) is str and module != "builtins" else str(name)


def _found(kind: type, name: str) -> Any:
    """The attribute from the `__dict__` of the class or a base class, not bound."""
    for base in type.mro(kind) if type(kind) is type else bases_of(kind) or ():
        namespace = class_namespace(base)
        if name in namespace:
            return namespace[name]
    return None


def thread_name(ident: int) -> str:
    """The name of a running thread, on one line."""
    # No function of `threading` is called: it may be overdubbed, and `current_thread` registers a thread that
    # `threading` did not start.
    active: dict[int, Any] = vars(threading).get("_active", {})
    return printable(str(getattr(active.get(ident), "_name", f"thread {ident}")))
