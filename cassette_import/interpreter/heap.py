"""Finding the live function objects of given files, wherever they are held: closures, decorated, stored in objects.

Knows functions and the garbage collector; must not know contexts.
"""

from __future__ import annotations

import _thread
import gc
import operator
import os
import sys
from collections.abc import Collection
from itertools import chain, compress, repeat, starmap
from types import FunctionType, MethodType, ModuleType
from typing import Final

from cassette_import.interpreter.namespaces import IMMUTABLE, flags_of, of_class, of_module
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

_OLDER: Final = os.walk
"""A function that was there before this module; to count what is frozen tells nothing on 3.12, where some objects are
from the beginning."""


def functions_of(filenames: Collection[str]) -> list[FunctionType]:
    """All functions whose code comes from one of the files.

    `gc.freeze` hides objects from `gc.get_objects`; functions that modules and classes hold, themselves or in
    containers, are found all the same.
    """
    everywhere = _functions()
    found = [item for item in everywhere if item.__code__.co_filename in filenames]
    if (
        sum(item is functions_of or item is _OLDER for item in everywhere) < 2
    ):  # both would be there, but for `gc.freeze`
        known = set(map(id, found))
        for item in functions_of_modules(filenames):
            if id(item) not in known:
                known.add(id(item))
                found.append(item)
    return found


def _functions() -> list[FunctionType]:
    """All functions that the garbage collector knows.

    The list of all objects also holds tuples that another thread is about to fill, `tuple(f(x) for x in xs)`. Whoever
    holds such a tuple while that thread goes on makes it fail. So no other thread may run while there is the list: if
    there are others, it is made, searched and dropped within one call of a function in C.
    """
    if _thread._count() == 0:
        return [item for item in gc.get_objects() if type(item) is FunctionType]
    collects = gc.isenabled()
    gc.disable()  # up to 3.11 it may run when a list is made, and finalizers let other threads run
    try:
        found = [item for generation in range(3) for item in _functions_in(generation)]
    finally:
        if collects:
            gc.enable()
    if all(type(item) is FunctionType for item in found):
        return found
    return [item for item in gc.get_objects() if type(item) is FunctionType]


def _functions_in(generation: int) -> list[FunctionType]:
    # Two lists, since one that is held while it is searched would hold itself, by what searches it. What is new in the
    # second one stands at its end.
    objects = chain.from_iterable(starmap(gc.get_objects, [(generation,)]))
    kinds = map(type, chain.from_iterable(starmap(gc.get_objects, [(generation,)])))
    wanted = map(operator.is_, kinds, repeat(FunctionType))
    rest = compress(wanted, repeat(False))  # nothing, but a list is dropped when it is read to its end
    return list(chain(compress(objects, wanted), rest))


_METHODS: Final = frozenset(map(id, (staticmethod, classmethod, MethodType)))
_CONTAINERS: Final = frozenset(map(id, (list, tuple, dict, set, frozenset)))
"""Types, by identity: a metaclass of the program may have no hash."""
_MOST_ITEMS: Final = 10_000
"""Containers with more items are data."""


def functions_of_modules(filenames: Collection[str]) -> list[FunctionType]:
    """Those of them that stand in modules and classes, or in containers that stand there; they are found without
    looking at all objects."""
    found: list[FunctionType] = []
    seen: set[int] = set()
    for module in list(sys.modules.values()):
        # Nothing is asked of the program's own objects: a lazy module would be loaded.
        namespace = of_module(module) if issubclass(type(module), ModuleType) else {}
        if namespace.get("__file__") not in filenames:
            continue
        work = [value for name, value in namespace.items() if name != "__builtins__"]
        while work:
            item = work.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if id(type(item)) in _METHODS:
                item = item.__func__
            if type(item) is FunctionType:
                filename = item.__code__.co_filename
                if filename in filenames:
                    found.append(item)
                if not filename.startswith(PACKAGE_FOLDER):  # closures of cassette_import lead to every variant
                    work.extend(cell.cell_contents for cell in item.__closure__ or () if cell != type(cell)())
            elif id(type(item)) in _CONTAINERS:
                if len(item) <= _MOST_ITEMS:
                    work.extend(gc.get_referents(item))
            elif issubclass(type(item), type):
                if not flags_of(item) & IMMUTABLE:
                    work.extend(of_class(item).values())
            elif issubclass(type(item), property):
                work.extend(accessor for accessor in (item.fget, item.fset, item.fdel) if accessor is not None)
    return found
