"""The text of functions that are in no file: those that the standard library generates for classes.

The methods of a dataclass and of a named tuple are generated anew by a second copy of their module, which says what it
passes to `exec` and `eval`. Whether a text is that of a function, the comparison of its code with the function's shows.
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.generated_names import NAMED_TUPLES, is_generated
from cassette_import.interpreter.namespaces import class_attribute, class_namespace

__all__ = ["functions_of_class", "generated_texts", "module_of", "qualified_name"]


def functions_of_class(kind: type) -> Iterator[FunctionType]:
    """The functions in the namespace of a class, those behind wrappers, properties and static methods included."""
    work = list(class_namespace(kind).values())
    while work:
        item = work.pop()
        if type(item) is FunctionType:
            yield item
            work.append(item.__dict__.get("__wrapped__"))
        elif type(item) in (staticmethod, classmethod):
            work.append(item.__func__)
        elif type(item) is property:
            work += (item.fget, item.fset, item.fdel)


def module_of(function: FunctionType) -> str | None:
    """The name of the module that a generated function belongs to. That of a named tuple has one of its own."""
    name: Any = function.__module__
    if type(name) is str and name.startswith(NAMED_TUPLES) and name not in sys.modules:
        kind = _class_of(function)
        name = None if kind is None else class_attribute(kind, "__module__")
    return name if type(name) is str else None


def module_of_method(function: FunctionType) -> str | None:
    """The name of the module of a generated method; None for a function of no class, or of no imported module."""
    name = module_of(function)
    return name if type(sys.modules.get(name or "")) is ModuleType and _class_of(function) is not None else None


def qualified_name(function: FunctionType) -> str:
    """The qualified name of a generated function, with its class: `__repr__` of a dataclass is wrapped without one."""
    kind = _class_of(function) if function.__qualname__ == function.__code__.co_qualname else None
    return function.__qualname__ if kind is None else f"{class_attribute(kind, '__qualname__')}.{function.__name__}"


def generated_texts(function: FunctionType) -> Iterator[str]:
    """The texts of which one may be that of the function."""
    kind = _class_of(function)
    if kind is None:
        return
    if id(kind) not in _texts:
        _texts.clear()
        _texts[id(kind)] = kind, list(_texts_of(kind))  # its other methods may be next
    yield from _texts[id(kind)][1]


_texts: Final[dict[int, tuple[type, list[str]]]] = {}
"""The texts of the class that was asked for last, by its identity."""


def _texts_of(kind: Any) -> Iterator[str]:
    namespace = class_namespace(kind)
    if "__dataclass_fields__" not in namespace:
        yield from _captured("collections", "eval", lambda module: module.namedtuple("_", namespace["_fields"]))
        return
    for slots in (False, True):  # not all versions note what it was made with
        yield from _captured("dataclasses", "exec", functools.partial(_generate_like, kind, slots))


# ---- the class of a function

_classes: Final[dict[int, tuple[FunctionType, type]]] = {}
"""The generated functions of classes with their classes, by identity."""


def _class_of(function: FunctionType) -> type | None:
    """The dataclass or named tuple that has a function."""
    found = _classes.get(id(function))
    if found is None or found[0] is not function:
        _classes.clear()
        for kind in _generated_classes():
            for method in functions_of_class(kind):
                if is_generated(method.__code__.co_filename):
                    _classes[id(method)] = method, kind
        found = _classes.get(id(function))
    return None if found is None or found[0] is not function else found[1]


def _generated_classes() -> Iterator[type]:
    seen: set[int] = set()
    work: list[type] = [object]
    while work:
        subclasses: list[type] = type.__subclasses__(work.pop())
        for kind in subclasses:
            if id(kind) in seen:
                continue
            seen.add(id(kind))
            work.append(kind)
            namespace = class_namespace(kind)
            if "__dataclass_fields__" in namespace or ("_field_defaults" in namespace and "_fields" in namespace):
                yield kind


# ---- what generates


def _captured(name: str, executor: str, generate: Callable[[Any], object]) -> list[str]:
    """The texts that a second copy of a module passes to `exec` or `eval` while it generates something."""
    texts: list[str] = []

    def executed(text: str, *namespaces: Any) -> Any:
        texts.append(text)
        return getattr(builtins, executor)(text, *namespaces)

    module = _copy_of(name)
    setattr(module, executor, executed)
    generate(module)
    return texts


@functools.cache
def _copy_of(name: str) -> ModuleType:
    """A second copy of a module, which nothing else knows."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _generate_like(kind: Any, slots: bool, module: Any) -> None:
    """Have a dataclass generated with the fields of another one."""
    real = sys.modules["dataclasses"]
    missing = getattr(real, "MISSING")  # noqa: B009 - the module may be replaced by another one
    parameters = kind.__dataclass_params__
    annotations, namespace = {}, {"__doc__": "", "__module__": kind.__module__}
    for name, field in kind.__dataclass_fields__.items():
        if field._field_type is getattr(real, "_FIELD_CLASSVAR"):  # noqa: B009
            continue
        is_pseudo = field._field_type is getattr(real, "_FIELD_INITVAR")  # noqa: B009
        annotations[name] = getattr(real, "InitVar")(object) if is_pseudo else object  # noqa: B009
        given = {
            option: getattr(field, option)
            for option in ("default", "default_factory", "init", "repr", "hash", "compare", "kw_only")
            if getattr(field, option) is not missing
        }
        namespace[name] = module.field(**given)
    if hasattr(kind, "__post_init__"):
        namespace["__post_init__"] = None
    flags = {option: getattr(parameters, option) for option in ("init", "repr", "eq", "order", "unsafe_hash", "frozen")}
    like = type("_", (), {**namespace, "__annotations__": annotations})
    module.dataclass(like, **flags, slots=slots)
