"""The functions of NumPy that only move elements, as data: which of their arguments they move, and how.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy

from cassette_import.kits.numbers.table import MOVEMENTS
from cassette_import.kits.tagging import plain


def functions_named(*names: str) -> list[Any]:
    """The functions of NumPy, and methods of its arrays and numbers, with these names, if this version has them."""
    owners = (numpy, numpy.linalg, numpy.ndarray, numpy.generic)
    return [vars(owner)[name] for name in names for owner in owners if callable(vars(owner).get(name))]


_TYPED: Final = functions_named(
    "array", "asarray", "asanyarray", "asarray_chkfinite", "require", "astype", "__array__", "item"
)
_FILLED: Final = functions_named("full", "full_like")

MOVED_ARGUMENTS: Final[dict[Any, tuple[int, ...]]] = {
    **{function: moved for name, moved in MOVEMENTS.items() for function in functions_named(name)},
    **dict.fromkeys([operator.getitem, numpy.resize, *_TYPED], (0,)),
    **dict.fromkeys(functions_named("where", "select"), (1, 2)),
    **dict.fromkeys([*_FILLED, *functions_named("choose", "extract")], (1,)),
}
"""For each function, the numbers of the arguments whose elements it moves."""

for _function in functions_named("compress"):
    MOVED_ARGUMENTS[_function] = (0,) if _function is numpy.ndarray.compress else (1,)

MOVED_ARGUMENTS[numpy.ndarray.choose] = tuple(range(1, 32))

_KEYWORDS: Final = frozenset({
    "a", "m", "arr", "x", "v", "ary", "A", "tup", "arrays", "object", "array", "fill_value", "values", "choicelist",
    "default", "constant_values",
})  # fmt: skip
"""The names of these parameters."""
_PADDED: Final = frozenset({"constant", "edge", "reflect", "symmetric", "wrap"})


def moved_arguments(function: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> list[Any]:
    """The arguments of a call whose elements move: their numbers or names."""
    return [number for number in MOVED_ARGUMENTS[function] if number < len(arguments)] + [
        k for k in keywords if k in _KEYWORDS
    ]


def first_by_position(arguments: Sequence[Any], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, the first one by position even if it was given by name."""
    if arguments:
        return tuple(arguments), keywords
    name = next(name for name in keywords if name in _KEYWORDS)
    return (keywords[name],), {other: value for other, value in keywords.items() if other != name}


def only_moves(function: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> bool:
    """Whether a call only moves elements, with these options."""
    if function in _PADS:
        mode = plain(arguments[2]) if len(arguments) > 2 else keywords.get("mode", "constant")
        return isinstance(mode, str) and mode in _PADDED and not {"end_values", "stat_length"} & keywords.keys()
    if "a" in keywords and 0 not in MOVED_ARGUMENTS[function]:
        return False  # this keyword is another parameter
    return keywords.get("out") is None and not (function in _TYPED and keywords.get("ndmin"))


def is_view(function: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> bool:
    """Whether a call returns a view of an array, in which each element occurs once."""
    if function is operator.getitem:
        keys = arguments[1] if type(arguments[1]) is tuple else (arguments[1],)
        return all(type(key) in _BASIC for key in keys)
    return function in _VIEWS and not keywords and len(arguments) > 0


_BASIC: Final = frozenset({int, slice, type(None), type(...)})
_VIEWS: Final = frozenset(functions_named("transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze"))


_PADS: Final = frozenset(functions_named("pad"))


def rearrangement(function: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Callable[[dict[Any, Any]], Any]:
    """A function that repeats the call with other arrays instead of the moved arguments."""
    named_ = {name: plain(value) for name, value in keywords.items()}
    given = [plain(argument) for argument in arguments]
    if function in _TYPED and getattr(function, "__name__", "") != "item":
        return lambda arrays: numpy.array(next(iter(arrays.values())))
    if function in _FILLED:
        named_, given = {**named_, "dtype": numpy.int64}, given[:2]
    if getattr(function, "__objclass__", None) is numpy.generic:
        function = vars(numpy.ndarray)[function.__name__]

    def rearranged(arrays: dict[Any, Any]) -> Any:
        placed = [arrays.get(number, argument) for number, argument in enumerate(given)]
        return function(*placed, **{name: arrays.get(name, value) for name, value in named_.items()})

    return rearranged
