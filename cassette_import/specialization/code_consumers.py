"""Packages that keep or read the code objects of functions. The lists are data.

Some packages keep code objects, to recognise the frames of their functions: they get the new code objects too. Others
read code objects, to send functions elsewhere or to compile them: they get the plain ones, because names of rewritten
code exist in this process only, and because the globals and instructions of a trampoline or a compiled body are not
those of the function.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.code_objects import DERIVED
from cassette_import.interpreter.namespaces import class_namespace, module_namespace
from cassette_import.interpreter.own_work import own_work

# ---- packages that keep code objects

KEEPERS: Final[list[tuple[str, str]]] = [
    ("jinja2.utils", "internal_code"),
    ("trio._core._ki", "_CODE_KI_PROTECTION_STATUS_WMAP"),
]
"""Module and global name of a set of code objects, or of a mapping with weak references to its keys."""


def update_keepers(former: Iterable[CodeType | None], code: CodeType) -> None:
    """Add the new code object of a function to each container that holds one of its former code objects."""
    for module_name, name in KEEPERS:
        module = sys.modules.get(module_name)
        kept = vars(module).get(name) if module is not None else None
        if kept is not None:
            known = [one for one in former if one is not None and one is not code]
            if isinstance(kept, set):
                if any(one in kept for one in known):
                    kept.add(code)
            else:
                _add_to_mapping(kept, [one for one in known if weakref.getweakrefcount(one)], code)


def _add_to_mapping(kept: Any, known: list[CodeType], code: CodeType) -> None:
    """Store the value of an old code object for a new one. The mapping's methods run plain: they may be overdubbed."""
    with own_work():
        for one in known:
            try:
                kept[code] = kept[one]
            except KeyError:
                continue
            return


# ---- packages that read code objects

_CLOUDPICKLE: Final = ("_extract_code_globals", "_find_imported_submodules", "Pickler._dispatch_table")

READERS: Final[dict[str, tuple[str, ...]]] = {
    "cloudpickle.cloudpickle": _CLOUDPICKLE,
    "joblib.externals.cloudpickle.cloudpickle": _CLOUDPICKLE,
    "pyspark.cloudpickle.cloudpickle": _CLOUDPICKLE,
    "ray.cloudpickle.cloudpickle": _CLOUDPICKLE,
    "dill._dill": ("Pickler.dispatch",),
    "numba.core.bytecode": ("FunctionIdentity.from_function",),
}
"""By module, the names that are called with a function or a code object: a function, a class method, or a table of
functions by the type of their argument."""

_patched: dict[str, ModuleType] = {}

PlainCode = Callable[[CodeType], CodeType]


def patch_readers(plain_code_of: PlainCode) -> None:
    """Let the readers that have been imported by now get the result of `plain_code_of` instead of a code object."""
    for name, readers in READERS.items():
        module = sys.modules.get(name)
        if type(module) is not ModuleType or _patched.get(name) is module:
            continue
        if any(reader.partition(".")[0] not in module_namespace(module) for reader in readers):
            continue  # it is being imported, or is of a version with other names
        _patched[name] = module
        for reader in readers:
            _patch(module, reader, plain_code_of)


def _patch(module: ModuleType, reader: str, plain_code_of: PlainCode) -> None:
    name, _, attribute = reader.partition(".")
    holder = module_namespace(module)[name]
    if not attribute:
        setattr(module, name, _with_plain_arguments(holder, plain_code_of))
        return
    found = class_namespace(holder).get(attribute)
    if isinstance(found, classmethod):
        setattr(holder, attribute, classmethod(_with_plain_arguments(found.__func__, plain_code_of)))
    elif isinstance(found, dict) and CodeType in found:
        found[CodeType] = _with_plain_arguments(found[CodeType], plain_code_of)


def _with_plain_arguments(function: Callable[..., Any], plain_code_of: PlainCode) -> Callable[..., Any]:
    """The function, called with plain functions and code objects instead of rewritten ones."""

    def plain(argument: Any) -> Any:
        if type(argument) is CodeType:
            return plain_code_of(argument)
        if type(argument) is FunctionType and plain_code_of(argument.__code__) is not argument.__code__:
            return _with_code(argument, plain_code_of(argument.__code__))
        return argument

    @functools.wraps(function)
    def reading(*arguments: Any, **keywords: Any) -> Any:
        return function(*map(plain, arguments), **keywords)

    return reading


def _with_code(function: FunctionType, code: CodeType) -> FunctionType:
    """A copy of the function with other code. It stays plain: its reader may keep it."""
    made = FunctionType(
        DERIVED.add(code.replace()),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(made, function)
    return made
