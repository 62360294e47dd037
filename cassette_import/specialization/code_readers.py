"""Packages that read the code of functions, to send it elsewhere or to compile it, are given the plain code. The list
is data.

Elsewhere nobody knows our names, and what a gate or a body says of itself (the globals that it uses, its instructions)
is not what the function says. Knows functions and code objects; must not know rewriting.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.namespaces import of_class, of_module

_CLOUDPICKLE: Final = ("_extract_code_globals", "_find_imported_submodules", "Pickler._dispatch_table")

READERS: Final[dict[str, tuple[str, ...]]] = {
    "cloudpickle.cloudpickle": _CLOUDPICKLE,
    "joblib.externals.cloudpickle.cloudpickle": _CLOUDPICKLE,
    "pyspark.cloudpickle.cloudpickle": _CLOUDPICKLE,
    "ray.cloudpickle.cloudpickle": _CLOUDPICKLE,
    "dill._dill": ("Pickler.dispatch",),
    "numba.core.bytecode": ("FunctionIdentity.from_function",),
}
"""By module, what is called with a function or a code object: a function, a class method, or a table of functions by
the type of their argument."""

_changed: dict[str, ModuleType] = {}

Plain = Callable[[CodeType], CodeType]


def patch_readers(plain_code_of: Plain) -> None:
    """See to it that those readers that have been imported by now read what `plain_code_of` makes of a code object."""
    for name, readers in READERS.items():
        module = sys.modules.get(name)
        if type(module) is not ModuleType or _changed.get(name) is module:
            continue
        if any(reader.partition(".")[0] not in of_module(module) for reader in readers):
            continue  # it is being imported, or is of a version that has others
        _changed[name] = module
        for reader in readers:
            _change(module, reader, plain_code_of)


def _change(module: ModuleType, reader: str, plain_code_of: Plain) -> None:
    name, _, attribute = reader.partition(".")
    holder = of_module(module)[name]
    if not attribute:
        setattr(module, name, _reading(holder, plain_code_of))
        return
    found = of_class(holder).get(attribute)
    if isinstance(found, classmethod):
        setattr(holder, attribute, classmethod(_reading(found.__func__, plain_code_of)))
    elif isinstance(found, dict) and CodeType in found:
        found[CodeType] = _reading(found[CodeType], plain_code_of)


def _reading(function: Callable[..., Any], plain_code_of: Plain) -> Callable[..., Any]:
    """The function, called with plain functions and code in the place of ours."""

    def plain(argument: Any) -> Any:
        if type(argument) is CodeType:
            return plain_code_of(argument)
        if type(argument) is FunctionType and plain_code_of(argument.__code__) is not argument.__code__:
            return _twin(argument, plain_code_of(argument.__code__))
        return argument

    @functools.wraps(function)
    def reading(*arguments: Any, **keywords: Any) -> Any:
        return function(*map(plain, arguments), **keywords)

    return reading


def _twin(function: FunctionType, code: CodeType) -> FunctionType:
    """A function like this one, with other code."""
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(made, function)
    return made
