"""Which objects a program can tell from their copies, and which have something that a copy would not have."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref
from collections import Counter
from enum import Enum
from sys import getrefcount
from types import FunctionType, ModuleType
from typing import Any, Final
from weakref import ReferenceType, getweakrefcount, getweakrefs

from cassette_import.contexts.memoize.argument_keys import PROTOCOL, CannotCache, check_was_not_raised

__all__ = [
    "check_can_be_copied",
    "is_hashed_by_identity",
    "is_its_own_copy",
    "is_told_from_a_copy",
    "is_weakly_held",
    "may_be_shared",
]

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
