"""The table of NumPy's functions with a rule, and the tools that the rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity.arrays import as_objects, dependences_of, plain_deep
from cassette_import.contexts.sparsity.number import Number
from cassette_import.contexts.sparsity.run import Run, joined

__all__ = ["FUNCTIONS", "Handler", "axis_of", "call_plain", "depends", "each", "handles", "joined_over"]

Handler = Callable[[Run, Any, tuple[Any, ...], dict[str, Any]], Any]
FUNCTIONS: Final[dict[Any, Handler]] = {}
"""The handler of each function."""


def handles(names: str, module: Any = np) -> Callable[[Handler], Handler]:
    """Decorator: register a handler for functions of a module, by their names. Some versions of NumPy lack some."""

    def register(handler: Handler) -> Handler:
        FUNCTIONS.update((getattr(module, name), handler) for name in names.split() if hasattr(module, name))
        return handler

    return register


def call_plain(f: Any, arguments: Iterable[Any], keywords: dict[str, Any]) -> Any:
    """Call a function with the values of its arguments, without their dependences."""
    return f(*map(plain_deep, arguments), **{name: plain_deep(one) for name, one in keywords.items()})


def joined_over(values: Iterable[Any]) -> int:
    """The union of the dependences of all elements of several values."""
    return joined(joined(dependences_of(one).flat) for one in values)


def each(function: Callable[[int], int], dependences: Any) -> Any:
    """A function of each dependence of an array."""
    return as_objects(np.frompyfunc(function, 1, 1)(dependences))


def axis_of(arguments: tuple[Any, ...], keywords: dict[str, Any], default: Any = None) -> Any:
    """The argument `axis` of a call."""
    axis = arguments[1] if len(arguments) > 1 else keywords.get("axis", default)
    return plain_deep(axis)


def depends(value: Any) -> bool:
    """Whether a number or array depends on the inputs."""
    return bool(value.dependence) if type(value) is Number else not value.is_constant()
