"""Cached results, which the program cannot change: immutable values, and mutable ones as pickle writes them."""

from __future__ import annotations

import gc
import io
import itertools
import pickle
import sys
import weakref
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from enum import Enum
from sys import getrefcount
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final
from weakref import ReferenceType, getweakrefcount, getweakrefs

from cassette_import.contexts.memoize.argument_keys import (
    IMMUTABLE,
    PROTOCOL,
    CannotCache,
    Key,
    check_was_not_raised,
    is_without_state,
    on_one_line,
)

__all__ = [
    "CachedResult",
    "cached_result",
    "check_can_be_copied",
    "check_memory",
    "is_array",
    "is_hashed_by_identity",
    "is_its_own_copy",
    "is_told_from_a_copy",
    "is_weakly_held",
    "may_be_shared",
    "written",
]

# ---- which objects a program can tell from their copies, and which have something that a copy would not have

_MOST_OBJECTS: Final = 100_000
"""A result of more objects is not searched further for weak references."""
_HASH: Final[Any] = object.__hash__
_SET_ATTRIBUTE: Final[Any] = object.__setattr__


def is_hashed_by_identity(value: Any) -> bool:
    """Whether an object is equal to itself alone, as far as its class says."""
    kind: Any = type(value)
    return bool(kind.__hash__ is _HASH)


def is_told_from_a_copy(value: Any) -> bool:
    """Whether the program can tell an object from an equal one other than by `is`: changes show, or `==` is `is`.

    >>> is_told_from_a_copy([]), is_told_from_a_copy((1, 2))
    (True, False)
    """
    return getattr(type(value), "__hash__", None) is None or is_hashed_by_identity(value) or _has_attributes(value)


def may_be_shared(value: Any) -> bool:
    """Whether an argument may be a part of a result: its copy is the object itself, or an equal value of a type in C.

    A program compares values of its own classes by `is`, to see whether a call has returned its argument unchanged.

    >>> import datetime, fractions
    >>> may_be_shared(len), may_be_shared(datetime.date(2000, 1, 1)), may_be_shared(fractions.Fraction(1, 2))
    (True, True, False)
    """
    is_in_c = not any(
        isinstance(member, FunctionType) for base in type(value).__mro__ for member in vars(base).values()
    )
    return (is_in_c and not is_told_from_a_copy(value)) or is_its_own_copy(value)


def is_its_own_copy(value: Any) -> bool:
    """Whether pickle finds an object again in place of a copy: a class, a logger, a singleton of its class.

    >>> is_its_own_copy(len), is_its_own_copy([])
    (True, False)
    """
    try:
        return pickle.loads(pickle.dumps(value, PROTOCOL)) is value
    except Exception:  # a class may raise anything while it is pickled
        return False


def _has_attributes(value: Any) -> bool:
    """Whether a program may assign to attributes of an object that is hashed by its value.

    A class with a `__setattr__` of its own, such as a frozen dataclass, has the say. Of those of the standard library,
    none that is hashed by its value is changed.
    """
    kind: Any = type(value)
    if kind.__setattr__ is not _SET_ATTRIBUTE or isinstance(value, (type, Enum)):
        return False
    if kind.__module__.partition(".")[0] in sys.stdlib_module_names:
        return False
    return bool(kind.__dictoffset__) or any(vars(base).get("__slots__") for base in kind.__mro__)


def is_weakly_held(value: Any, whole: Any) -> bool:
    """Whether there is a weak reference to a part of a result besides those in the result itself.

    Tables of pandas have such references to themselves.
    """
    return bool(getweakrefcount(value)) and any(
        getrefcount(reference) - _REFERENCES_OF_A_LOOP > inside[id(reference)]
        for inside in [_weak_references_in(whole)]
        for reference in getweakrefs(value)
    )


def _weak_references_in(whole: Any) -> Counter[int]:
    """How often objects that an object refers to, directly or through others, refer to each weak reference."""
    found: Counter[int] = Counter()
    seen = {id(whole)}
    work = [whole]
    while work and len(seen) < _MOST_OBJECTS:
        for one in gc.get_referents(work.pop()):
            if isinstance(one, ReferenceType):
                found[id(one)] += 1
            elif id(one) not in seen and not isinstance(one, (type, FunctionType, ModuleType)):
                seen.add(id(one))
                work.append(one)
    return found


def check_can_be_copied(value: Any, where: str) -> None:
    """Raise for an object of which pickle leaves something out, or whose copies have effects when they are deleted.

    Parameters
    ----------
    value:
        The object.
    where:
        How the reason begins.

    Raises
    ------
    CannotCache
        For an exception that was raised or has a cause, and for an object with a `__del__` in Python.
    """
    if isinstance(value, BaseException):
        check_was_not_raised(value, where)
    if isinstance(getattr(type(value), "__del__", None), FunctionType):
        raise CannotCache(f"{where} an object with a finalizer, which a copy would run too: {type(value).__qualname__}")


def _references_of_a_loop() -> int:
    """How many references to a weak reference the generator in `is_weakly_held` has."""
    target = frozenset("x")
    kept = [weakref.ref(target)]
    return next(getrefcount(reference) for reference in getweakrefs(target)) - len(kept)


_REFERENCES_OF_A_LOOP: Final = _references_of_a_loop()


# ---- exact copies of NumPy arrays: pickle does not write whether an array is read-only
#
# An array may also show memory of another object; a copy has memory of its own.


def is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy, if the program has imported it."""
    numpy = sys.modules.get("numpy")
    kind = getattr(numpy, "ndarray", None)
    return isinstance(kind, type) and isinstance(value, kind)


def written(array: Any) -> Any:
    """What pickle writes for an array, as `__reduce_ex__` returns it."""
    if array.flags.writeable:
        return NotImplemented
    constructor, arguments, *state = array.__reduce_ex__(PROTOCOL)
    return read_only, (constructor, arguments, state[0] if state else None)


def read_only(constructor: Any, arguments: Any, state: Any) -> Any:
    """A new array that is read-only."""
    made = constructor(*arguments)
    if state is not None:
        made.__setstate__(state)
    made.flags.writeable = False
    return made


def check_memory(parts: Iterable[Any]) -> None:
    """Raise if arrays among the parts of a result show memory that another object shows, too.

    A change of such an array is seen elsewhere; a change of its copy would not be.
    """
    arrays = list(filter(is_array, parts))
    owners = {id(array) for array in arrays}
    views = Counter(id(array.base) for array in arrays)
    for array in arrays:
        if array.base is None or type(array.base) is bytes:
            continue
        if id(array.base) in owners or views[id(array.base)] > 1:
            raise CannotCache("arrays in its result share memory, which copies would not")
        if getrefcount(array.base) > _REFERENCES:
            raise CannotCache("its result shows the memory of an array that is held elsewhere too")


def _references() -> int:
    """How many references `getrefcount` counts to the owner of some memory if one object shows it."""
    view = memoryview(bytearray(1))
    return getrefcount(view.obj)


_REFERENCES: Final = _references()


# ---- cached results, which the program cannot change: immutable values, and mutable ones as pickle writes them


class CachedResult:
    """A result in the cache: an immutable value, or the bytes that pickle writes for it."""

    __slots__ = ("is_pickled", "stored")

    def __init__(self, stored: Any, is_pickled: bool) -> None:
        self.stored = stored
        self.is_pickled = is_pickled

    def value(self) -> Any:
        """The result; if it is mutable, a new copy."""
        return pickle.loads(self.stored) if self.is_pickled else self.stored

    def pickled(self) -> bytes:
        """The result as bytes for a file."""
        return self.stored if self.is_pickled else pickle.dumps(self.stored, PROTOCOL)


def cached_result(result: Any, key: Key, others: int) -> CachedResult:
    """A result in a form that can be cached.

    Parameters
    ----------
    result:
        The result of a call.
    key:
        The arguments of the call.
    others:
        How many references there are to the result besides that of the caller.

    Raises
    ------
    CannotCache
        If it cannot be copied, or if a copy could be told from it: it contains an argument, others hold it, or it
        contains an object whose identity is all that distinguishes it.
    """
    if type(result) in IMMUTABLE:
        return CachedResult(result, is_pickled=False)
    file = io.BytesIO()
    pickler = _ResultPickler(file, PROTOCOL)
    try:
        pickler.dump(result)
        copied = pickle.loads(file.getvalue())
    except CannotCache:
        raise
    except Exception as error:  # a class may raise anything while it is pickled
        raise CannotCache(f"its result cannot be copied: {on_one_line(error)}") from None
    if copied is result:  # such as a class, a function of a module, or a member of an enum
        return CachedResult(result, is_pickled=False)
    if is_told_from_a_copy(result) and (
        is_weakly_held(result, result) or (others and others > _ReferenceCounter.references_in(result))
    ):
        raise CannotCache("its result is held elsewhere too, and a copy would be another object")
    if _is_part_held(result, pickler):
        raise CannotCache("a part of its result is held elsewhere too, and a copy would be another object")
    check_memory(part for _, part in pickler.memo.copy().values())
    if not all(map(may_be_shared, key.shared_with(pickler.memo.copy()))):
        raise CannotCache("its result contains one of its arguments")
    if type(result) is tuple and all(type(item) in IMMUTABLE for item in result):
        return CachedResult(result, is_pickled=False)
    return CachedResult(file.getvalue(), is_pickled=True)


class _ResultPickler(pickle.Pickler):
    """Writes results; raises for an object whose identity is all that distinguishes it, as a sentinel."""

    def reducer_override(self, obj: Any) -> Any:
        """Called by pickle for objects that are neither containers nor plain values."""
        if isinstance(obj, (MethodType, BuiltinFunctionType)) and not isinstance(obj.__self__, (ModuleType, type)):
            raise CannotCache("its result contains a bound method, whose receiver would be copied")
        if (
            not isinstance(obj, (FunctionType, BuiltinFunctionType, ModuleType, type))
            and is_hashed_by_identity(obj)
            and is_without_state(obj)
        ):
            raise CannotCache(f"its result contains an object without state: {type(obj).__qualname__} object")
        check_can_be_copied(obj, "its result contains")
        if is_array(obj):
            return written(obj)
        return NotImplemented


class _ReferenceCounter(pickle.Pickler):
    """Counts the references to an object among its own parts: those of the children of a node to their parent."""

    def __init__(self, counted: Any) -> None:
        super().__init__(io.BytesIO(), PROTOCOL)
        self._counted = counted
        self._count = 0

    @classmethod
    def references_in(cls, counted: Any) -> int:
        counter = cls(counted)
        counter.dump(counted)
        return counter._count - 1  # the first one is the object itself

    def persistent_id(self, obj: Any) -> None:
        """Called for each reference to an object."""
        self._count += obj is self._counted


_SHARED: Final = (type, FunctionType, BuiltinFunctionType, ModuleType)
"""Objects of which a copy is the object itself."""


def _is_part_held(result: Any, pickler: pickle.Pickler) -> bool:
    """Whether other code holds a part of a pickled result, and would notice that a copy is another object."""
    counts = _other_references(result, pickler)  # before any variable here holds a part
    memo = pickler.memo.copy()
    parts = [part for _, part in memo.values() if part is not result]
    held = [part for part in parts if _is_changeable(part) and is_weakly_held(part, result)]
    repeated = _class_attributes_in_states(result, memo)
    held += [
        memo[identity][1]
        for identity, count in counts.items()
        if count > _REFERENCES_OF_PICKLING and identity not in repeated
    ]
    return not all(map(is_its_own_copy, held))


def _class_attributes_in_states(result: Any, memo: Mapping[int, tuple[int, Any]]) -> set[int]:
    """The identities of attributes of classes that only a `__getstate__` repeats, as pandas does."""
    parts = [part for _, part in memo.values()]
    referred = {id(part): _referents(part, memo) for part in parts}
    inside = set(itertools.chain.from_iterable(referred.values()))
    namespaces = {id(one) for part in parts if type(one := getattr(part, "__dict__", None)) is dict}
    states = {id(part) for part in parts if type(part) is dict and part is not result} - inside - namespaces
    of_objects = set(itertools.chain.from_iterable(found for one, found in referred.items() if one not in states))
    kinds = {base for part in parts for base in type(part).__mro__}
    return {id(value) for kind in kinds for value in vars(kind).values()} - of_objects


def _other_references(result: Any, pickler: pickle.Pickler) -> dict[int, int]:
    """The references to each mutable part of a pickled result, without those of the result's other parts."""
    memo = pickler.memo.copy()
    counted = list(filter(_is_changeable, (part for _, part in memo.values() if part is not result)))
    if not counted:
        return {}
    # In functions of their own: no variable here may hold a part.
    parts, always = [part for _, part in memo.values()], itertools.repeat(memo.keys())
    inside = Counter(itertools.chain.from_iterable(map(_referents, parts, always)))
    del parts
    return {id(part): getrefcount(part) - inside[id(part)] for part in counted}


def _is_changeable(part: Any) -> bool:
    return is_told_from_a_copy(part) and not isinstance(part, _SHARED)


def _referents(part: Any, memo: Container[int]) -> list[int]:
    """The identities of the objects to which an object refers.

    From Python 3.13 on, either an object or its `__dict__` is said to refer to the attributes. Here they count for the
    `__dict__` if that was pickled, else for the object.
    """
    if type(part) is dict:
        return [*map(id, part.keys()), *map(id, part.values())]
    found = [id(one) for one in gc.get_referents(part)]
    namespace = getattr(part, "__dict__", None)
    if type(namespace) is not dict or isinstance(part, _SHARED):
        return found
    values = [id(value) for value in namespace.values()]
    slots = [one for one in found if one not in values and one != id(namespace)]
    return [*slots, id(namespace)] if id(namespace) in memo else [*slots, *values]


def _references_of_pickling() -> int:
    """How many references to a part the pickler and the code here have."""
    result: list[list[Any]] = [[]]
    pickler = _ResultPickler(io.BytesIO(), PROTOCOL)
    pickler.dump(result)
    return next(iter(_other_references(result, pickler).values()))


_REFERENCES_OF_PICKLING: Final = _references_of_pickling()
