"""The heap: finds the live functions of given files, also those that only closures, decorators or objects refer to."""

from __future__ import annotations

import gc
import operator
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain, compress, islice, repeat, starmap
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.generated_names import is_generated
from cassette_import.interpreter.namespaces import IMMUTABLE, class_namespace, flags_of, module_namespace
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

_OLDER: Final = os.walk
"""A function that is older than this module. (`gc.get_freeze_count` does not help: on 3.12 some objects are frozen from
the beginning.)"""


def functions_of(filenames: Collection[str]) -> list[FunctionType]:
    """All functions whose code comes from one of the files, and those whose code is in no file.

    `gc.freeze` hides objects from `gc.get_objects`. Functions are found in spite of it if a module or a class refers to
    them, directly or through containers.
    """
    if not filenames:  # a context is entered before anything is imported
        return []
    everywhere = _functions()
    found = [item for item in everywhere if _is_of(item, filenames)]
    if sum(item is functions_of or item is _OLDER for item in everywhere) < 2:  # one is missing: objects are frozen
        known = set(map(id, found))
        for item in functions_of_modules(filenames):
            if id(item) not in known:
                known.add(id(item))
                found.append(item)
    return found


def _is_of(function: FunctionType, filenames: Collection[str]) -> bool:
    """Whether the code of a function is of some files, or of none: then its module tells what it belongs to."""
    name = function.__code__.co_filename
    return name in filenames or (name[0:1] == "<" and is_generated(name))


def _functions() -> list[FunctionType]:
    """All functions that the garbage collector tracks."""
    if len(sys._current_frames()) == 1:  # `_thread._count` does not count threads that C code has started
        return [item for item in gc.get_objects() if type(item) is FunctionType]
    return _tracked(lambda kinds: map(operator.is_, kinds, repeat(FunctionType)))


def objects_of(types: Iterable[type]) -> list[Any]:
    """All objects of exactly these types that the garbage collector tracks."""
    wanted = set(map(id, types))  # a metaclass of the program may have no hash
    return _tracked(lambda kinds: map(wanted.__contains__, map(id, kinds)))


def _tracked(choose: Callable[[Iterable[type]], Iterable[bool]]) -> list[Any]:
    """Tracked objects, which are chosen by their types.

    The list of all objects also contains tuples that another thread is about to fill, as in `tuple(f(x) for x in xs)`.
    A reference to such a tuple makes that thread fail when it goes on. So no other thread may run while the list
    exists: if there are other threads, the list is made, searched and dropped within one call of a C function. That
    call makes one list: an audit hook that is written in Python runs before a list is made, and would let other
    threads run while a list made before exists. What reads the list is in the list, and so has to be read to its end.
    """
    collects = gc.isenabled()
    gc.disable()  # up to 3.11 it may run when a list is made, and finalizers may let other threads run
    try:
        same = chain.from_iterable(map(repeat, starmap(gc.get_objects, [()]), repeat(2)))  # the list, and then again
        objects, kinds = (chain.from_iterable(islice(same, 1)) for _ in range(2))
        wanted = choose(map(type, kinds))
        rest = compress(chain(wanted, same), repeat(False))  # empty; it reads both to their ends, which drops the list
        return list(chain(compress(objects, wanted), rest))
    finally:
        if collects:
            gc.enable()


_MOST_ITEMS: Final = 10_000
"""Containers with more items hold data, and are not searched."""


def functions_of_modules(filenames: Collection[str]) -> list[FunctionType]:
    """The functions of the files to which their modules refer: directly, or through classes, closures and containers.

    Functions whose code is in no file are among them. This does not search all objects.
    """
    found: list[FunctionType] = []
    seen: set[int] = set()
    for name, module in list(sys.modules.items()):
        # No attribute of the program's objects is read: that could load a lazy module.
        namespace = module_namespace(module) if issubclass(type(module), ModuleType) else {}
        if namespace.get("__file__") not in filenames and f"<frozen {name}>" not in filenames:
            continue
        found += functions_below(namespace, filenames, seen)
    return found


def functions_below(
    namespace: Mapping[str, Any], filenames: Collection[str], seen: set[int] | None = None
) -> Iterator[FunctionType]:
    """The functions of the files to which a namespace refers: directly, or through classes, closures and containers.

    Functions whose code is in no file are among them. Objects whose identity is in `seen` are passed over; it gets
    those of the others.
    """
    seen = set() if seen is None else seen
    work = [value for name, value in namespace.items() if name != "__builtins__"]
    while work:
        item = work.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if type(item) is FunctionType and _is_of(item, filenames):
            yield item
        work.extend(_referents(item))


def _referents(item: Any) -> Iterable[Any]:
    """The objects to which a function, method, container, class or property refers; none for other objects."""
    kind = type(item)
    referents_of = _REFERENTS.get(id(kind))
    if referents_of is not None:
        return referents_of(item)
    if issubclass(kind, type):
        return () if flags_of(item) & IMMUTABLE else class_namespace(item).values()
    if issubclass(kind, property):
        return [accessor for accessor in (item.fget, item.fset, item.fdel) if accessor is not None]
    return ()


def _referents_of_function(function: FunctionType) -> Iterable[Any]:
    if function.__code__.co_filename.startswith(PACKAGE_FOLDER):  # closures of cassette_import lead to every variant
        return ()
    return [cell.cell_contents for cell in function.__closure__ or () if cell != type(cell)()]


def _referents_of_method(method: Any) -> Iterable[Any]:
    return (method.__func__,)


def _referents_of_container(container: Any) -> Iterable[Any]:
    return gc.get_referents(container) if len(container) <= _MOST_ITEMS else ()


_REFERENTS: Final[dict[int, Callable[[Any], Iterable[Any]]]] = {
    id(FunctionType): _referents_of_function,
    **dict.fromkeys(map(id, (staticmethod, classmethod, MethodType)), _referents_of_method),
    **dict.fromkeys(map(id, (list, tuple, dict, set, frozenset)), _referents_of_container),
}
"""By type. The key is the identity of the type, because a metaclass of the program may have no hash."""
