"""Callbacks in C: the Python functions that a callable in C, or what is given to it, holds and may call."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import python_function, split
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.driven_generators import SUSPENDABLE

_DEPTH: Final = 3
"""How many objects in C, one in another, are searched for functions: a partial object in a `map`, for example."""
_HELD: Final = ((), *[(tuple, dict)] * (_DEPTH - 1), ())
"""The containers that are searched at each depth: those that the objects in C hold, not those that are given."""


def functions_behind(values: Iterable[Any], depth: int = _DEPTH) -> Iterator[FunctionType]:
    """The Python functions that calls and steps of some values run, through objects in C that hold such functions."""
    for value in values:
        kind = type(value)
        if kind in SUSPENDABLE:
            function = function_of(value)
        else:
            function = python_function(value) if callable(value) else None
        if function is not None:
            yield function
        elif depth and kind is not type and (callable(value) or hasattr(kind, "__next__") or kind in _HELD[depth]):
            yield from functions_behind(gc.get_referents(value), depth - 1)


def callbacks_of(f: Any, arguments: Iterable[Any], keywords: dict[str, Any]) -> Iterator[FunctionType]:
    """The Python functions that a root in C would call, as far as that is known: those that `f` itself holds, those
    that a higher-order leaf gets, and those whose generators are advanced."""
    yield from functions_behind([f])
    values = [*arguments, *keywords.values()]
    key = id(split(f)[0])
    if key not in HIGHER_ORDER.by_id or key in HIGHER_ORDER.keepers:
        values = [value for value in values if type(value) in SUSPENDABLE]
    yield from functions_behind(values)


def function_of(suspendable: Any) -> FunctionType | None:
    """The function that has made a generator or coroutine; None if it has ended."""
    for referent in gc.get_referents(suspendable):
        if type(referent) is FunctionType and referent.__qualname__ == suspendable.__qualname__:
            return referent
    return None
