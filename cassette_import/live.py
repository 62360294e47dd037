"""Finding the live function objects of given files, wherever they are held: closures, decorated, stored in objects.

Knows functions and the garbage collector; must not know contexts.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Collection
from types import FunctionType, MethodType


def functions_of(filenames: Collection[str]) -> list[FunctionType]:
    """All functions whose code comes from one of the files.

    `gc.freeze` hides objects from `gc.get_objects`; functions of modules and classes are found all the same.
    """
    everywhere = [item for item in gc.get_objects() if type(item) is FunctionType]
    found = [item for item in everywhere if item.__code__.co_filename in filenames]
    if not any(item is functions_of for item in everywhere):  # it would be there, but for `gc.freeze`
        known = set(map(id, found))
        for item in _of_modules(filenames):
            if id(item) not in known:
                known.add(id(item))
                found.append(item)
    return found


def _of_modules(filenames: Collection[str]) -> list[FunctionType]:
    found: list[FunctionType] = []
    seen: set[int] = set()
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) not in filenames:
            continue
        work = list(vars(module).values())
        while work:
            item = work.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if type(item) in (
                staticmethod,
                classmethod,
                MethodType,
            ):  # no attribute is read of the program's own objects
                item = item.__func__
            if type(item) is FunctionType:
                if item.__code__.co_filename in filenames:
                    found.append(item)
                work.extend(cell.cell_contents for cell in item.__closure__ or () if cell != type(cell)())
            elif isinstance(item, type):
                work.extend(vars(item).values())
            elif isinstance(item, property):
                work.extend(accessor for accessor in (item.fget, item.fset, item.fdel) if accessor is not None)
    return found
