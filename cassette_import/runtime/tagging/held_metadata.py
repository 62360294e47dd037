"""What objects hold, and which arguments of a leaf hold values with metadata."""

from __future__ import annotations

import gc
import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import partial
from sys import getrefcount
from types import (
    BuiltinFunctionType,
    CellType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import class_namespace, is_a
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.tagging.tags import Tag
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- what containers and objects hold, read without running methods that a class of the program overrides

SEQUENCES: Final = (list, tuple, deque)
CONTAINERS: Final = (*SEQUENCES, dict, set, frozenset)
_SIZED: Final[tuple[type[Sized], ...]] = CONTAINERS


@hidden
def size_of(owner: Any) -> int:
    """The number of items of a sequence, dict or set."""
    return next(kind for kind in _SIZED if is_a(owner, kind)).__len__(owner)


@hidden
def items_in(owner: Any) -> list[Any]:
    """The items of a sequence or set, or the values of a dict."""
    if type(owner) in CONTAINERS:
        return list(owner.values() if type(owner) is dict else owner)
    kind: Any = next(kind for kind in CONTAINERS if is_a(owner, kind))
    return list(dict.values(owner) if kind is dict else kind.__iter__(owner))


@hidden
def has(owner: Any, key: Any) -> bool:
    """Whether a dict has a key, or a set an element."""
    kind: Any = dict if is_a(owner, dict) else set if is_a(owner, set) else frozenset
    return bool(kind.__contains__(owner, key))


@hidden
def buffer_of(owner: Any) -> Any:
    """The object whose memory a view or a part of a C structure shares; any other object itself."""
    while True:
        base: Any = None
        if type(owner) is memoryview:
            base = owner.obj
        elif type(type(owner)).__module__ == "_ctypes":
            base = owner._b_base_
        if base is None:
            return owner
        owner = base


@hidden
def attributes_of(owner: Any) -> dict[str, Any]:
    """The `__dict__` of an object, unless its class computes another one."""
    if is_a(owner, type):
        return {}
    try:
        found = object.__getattribute__(owner, "__dict__")
    except Exception:
        return {}
    return found if type(found) is dict else {}


@hidden
def namespace_in_use(owner: Any) -> dict[str, Any] | None:
    """The `__dict__` of an object, if something else than the object refers to it."""
    if is_a(owner, ModuleType) or (_IS_SHOWN and id(dict) not in map(id, map(type, gc.get_referents(owner)))):
        return None
    namespace = attributes_of(owner)
    return namespace if getrefcount(namespace) > _REFERENCES_OF_OWNER else None


_IS_SHOWN: Final = sys.version_info < (3, 13)
"""Whether an object refers to its `__dict__`. If it does not, and gets one by the question, nothing else changes."""


class _Owner:
    """An object whose `__dict__` nothing else refers to."""


def _count_references_of_owner() -> int:
    namespace = attributes_of(_OWNER)
    return getrefcount(namespace)


_OWNER: Final = _Owner()
_REFERENCES_OF_OWNER: Final = _count_references_of_owner()


# ---- which arguments of a leaf hold values with metadata: in attributes, in variables of callbacks, in iterators

_DEPTH: Final = 6
_MOST_OBJECTS: Final = 1_000
"""How many objects are searched, and how many steps away from the arguments."""

_PLAIN_TYPES: Final = (type, ModuleType, BuiltinFunctionType)


def _of_function(function: FunctionType) -> Iterable[Any]:
    return function.__closure__ or ()


def _of_cell(cell: CellType) -> Iterable[Any]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # empty
        return ()


def _of_suspended(suspended: Any) -> Iterable[Any]:
    frame = suspended.gi_frame if is_a(suspended, GeneratorType) else suspended.cr_frame
    return () if frame is None else dict(frame.f_locals).values()


def _of_padded(iterator: Any) -> Iterable[Any]:
    """The sources of `zip_longest`, whose tuple has gaps for those that have ended: no code may take its items."""
    held = gc.get_referents(iterator)
    return [*gc.get_referents(next(part for part in held if type(part) is tuple)), held[-1]]


HELD_VALUES: Final[dict[int, Callable[[Any], Iterable[Any]]]] = {
    id(FunctionType): _of_function,
    id(CellType): _of_cell,
    id(MethodType): lambda method: (method.__self__, method.__func__),
    id(partial): lambda made: (made.func, *made.args, *made.keywords.values()),
    id(GeneratorType): _of_suspended,
    id(CoroutineType): _of_suspended,
    **dict.fromkeys(map(id, (map, filter, zip)), lambda iterator: iterator.__reduce__()[1]),
    id(itertools.zip_longest): _of_padded,
}
"""For callbacks and iterators, by the identity of their type: the values that they hold, wrapped where they have
metadata. `c_callers` adds its proxies."""


HOLDING_TYPES: Final[frozenset[int]] = frozenset(
    map(
        id,
        (
            *map(type, ({}.keys(), {}.values(), {}.items(), reversed([]), reversed({}.values()), reversed({}.items()))),
            *map(type, map(iter, ([], (), {}, {}.values(), {}.items(), set(), deque()))),
            MappingProxyType, enumerate, reversed, itertools.chain, itertools.islice, itertools.cycle, itertools.repeat,
            itertools.starmap, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.accumulate,
            itertools.compress, itertools.pairwise, itertools.product, itertools.permutations,
            itertools.combinations, itertools.combinations_with_replacement, type(iter(int, 1)),
            itertools.groupby, type(next(itertools.groupby("a"))[1]), type(itertools.tee(())[0]),
            type(gc.get_referents(itertools.tee(())[0])[-1]), *(() if DISPATCH.reason else (DISPATCH.Steps,)),
        ),
    )
)  # fmt: skip
"""Types of views and iterators, by identity, that run no code of the program when the collector asks what they hold."""


@hidden
def holds_metadata(values: Iterable[Any], tag: Tag, depth: int = _DEPTH, most: int = _MOST_OBJECTS) -> bool:
    """Whether values with metadata are held by objects, callbacks or iterators that are at most `depth` steps away.

    At most `most` objects are searched.
    """
    attributes, iterators, items = tag.store.attributes, tag.store.iterators, tag.store.items
    if not (attributes.entries or iterators.entries or items.entries) and not any(map(_may_hold, map(plain, values))):
        return False
    work = [(plain(value), 0) for value in values]
    seen: set[int] = set()
    while work and len(seen) < most:
        item, steps = work.pop()
        if type(item) is Tagged:
            if tag in item._tagged_metas:
                return True
            item = item._tagged_value
        if id(item) in seen or is_a(item, _PLAIN_TYPES):
            continue
        seen.add(id(item))
        for table in (attributes, iterators, items):
            entry = table.of(item)
            if entry is None:
                continue
            beside = getattr(entry.extra, "beside", None) if table is iterators else None
            if beside is not None:
                work.append((beside, steps))
            elif table is iterators or any(tag in metas for _, metas in list(entry.slots.values())):
                return True
            if table is attributes and entry.extra is not None:
                work.append((entry.extra, steps))  # the `__dict__`, which the program has got
        slot = tag.store.recognised.slots.get(id(item))
        if slot is not None and slot[2] is None and tag in slot[1]:
            return True
        if steps < depth:
            work += [(part, steps + 1) for part in _parts(item)]
    return False


@hidden
def leads_to(values: Iterable[Any], target: Any, depth: int = _DEPTH, most: int = _MOST_OBJECTS) -> bool:
    """Whether an object is held by values, at most `depth` steps away. At most `most` objects are searched."""
    work = [(plain(value), 0) for value in values]
    seen: set[int] = set()
    while work and len(seen) < most:
        item, steps = work.pop()
        item = plain(item)
        if item is target:
            return True
        if id(item) not in seen and not is_a(item, _PLAIN_TYPES):
            seen.add(id(item))
            if steps < depth:
                work += [(part, steps + 1) for part in _parts(item)]
    return False


@hidden
def wrapped_values_in(values: Iterable[Any], store: Any) -> Iterator[Tagged]:
    """The values with metadata that objects hold which are at most a few steps away."""
    work = [(plain(value), 0) for value in values]
    seen: set[int] = set()
    while work and len(seen) < _MOST_OBJECTS:
        item, depth = work.pop()
        if type(item) is Tagged:
            yield item
            item = item._tagged_value
        if id(item) in seen or is_a(item, _PLAIN_TYPES):
            continue
        seen.add(id(item))
        for table in (store.attributes, store.items):
            entry = table.of(item)
            if entry is not None:
                yield from [Tagged(*slot) for slot in list(entry.slots.values())]
        found = store.recognised.wrapped(item) if id(item) in store.recognised.slots else None
        if type(found) is Tagged:
            yield found
        if depth < _DEPTH:
            work += [(part, depth + 1) for part in _parts(item)]


def _parts(item: Any) -> Iterable[Any]:
    held = HELD_VALUES.get(id(type(item)))
    if held is not None:
        return held(item)
    if is_a(item, CONTAINERS):
        return items_in(item)
    if is_a(item, BaseException):
        return (item.args, *attributes_of(item).values())
    if id(type(item)) in HOLDING_TYPES:
        return gc.get_referents(item)
    methods = class_namespace(type(item)).values() if type(item).__flags__ & _MADE_BY_PYTHON else ()
    return [*attributes_of(item).values(), *(method for method in methods if type(method) is FunctionType)]


_MADE_BY_PYTHON: Final = 1 << 9
"""The flag `Py_TPFLAGS_HEAPTYPE`."""


def _may_hold(item: Any) -> bool:
    """Whether an object that has no attributes with metadata may still hold values: its methods may be closures."""
    return id(type(item)) in HELD_VALUES or bool(type(item).__flags__ & _MADE_BY_PYTHON)
