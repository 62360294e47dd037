"""Arrays in a recorded run: functions of NumPy that get unknown arrays or numbers, and what an unknown array can do."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any, Final, Protocol

from cassette_import.contexts.graph.array_functions import (
    ATTRIBUTES,
    KNOWN_ATTRIBUTES,
    METHODS,
    asks_for_shapes,
    is_array_function,
)
from cassette_import.contexts.graph.flow.symbol import Records, Symbol, value_of
from cassette_import.contexts.graph.kinds import ArrayKind, kind_of

__all__ = ["NOT_OF_ARRAYS", "applied", "attribute", "axis_length", "contains_symbol", "is_array_symbol", "rows"]

_DEEP: Final = 4
NOT_OF_ARRAYS: Final = object()
"""What `applied` returns for a function that it does not know."""


def contains_symbol(value: Any, depth: int = _DEEP) -> bool:
    """Whether a value is a symbol, or a container has one."""
    if type(value) is Symbol:
        return True
    if type(value) is slice:
        return any(type(one) is Symbol for one in (value.start, value.stop, value.step))
    if not depth or not isinstance(value, (list, tuple, dict)):
        return False
    return any(contains_symbol(one, depth - 1) for one in (value.values() if isinstance(value, dict) else value))


def is_array_symbol(value: Any) -> bool:
    """Whether it is a symbol for an array or a number of NumPy."""
    return type(value) is Symbol and isinstance(kind_of(value.node.value), ArrayKind)


class _Calls(Protocol):
    """The recorder, as far as functions of arrays need it."""

    @property
    def arrays(self) -> bool: ...

    def operation(self, f: Any, *operands: Any, **keywords: Any) -> Any: ...

    def refuse(self, what: str) -> BaseException: ...


def applied(run: _Calls, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The result of a function of NumPy that gets symbols; `NOT_OF_ARRAYS` for other functions."""
    if asks_for_shapes(f):
        return f(*map(value_of, arguments), **{name: value_of(one) for name, one in keywords.items()})
    return run.operation(f, *arguments, **keywords) if is_array_function(f) else NOT_OF_ARRAYS


def attribute(run: Records, symbol: Symbol, name: str) -> Any:
    """An attribute of an unknown array, or a method of it."""
    value = symbol.node.value
    if not is_array_symbol(symbol):
        raise run.refuse(f"the attribute {name} of an unknown number is read")
    if name in KNOWN_ATTRIBUTES:
        return getattr(value, name)
    if name in ATTRIBUTES:
        return run.operation(ATTRIBUTES[name], symbol)
    if name == "item" and not value.shape:
        return functools.partial(kind_of(value).number, symbol)  # type: ignore[union-attr]  # of an array
    if name not in METHODS:
        raise run.refuse(f"the attribute {name} of an unknown array is read")
    return functools.partial(METHODS[name], symbol)


def axis_length(run: Records, symbol: Symbol) -> int:
    """The length of an unknown array."""
    if not is_array_symbol(symbol):
        raise run.refuse("an unknown number is taken for a container")
    return len(symbol.node.value)


def rows(run: Records, symbol: Symbol) -> Iterator[Any]:
    """The items of an unknown array."""
    for place in range(axis_length(run, symbol)):
        yield run.operation(operator.getitem, symbol, place)
