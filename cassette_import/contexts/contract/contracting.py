"""The function `contract`: a smaller box that has lost no solution.

>>> contract(lambda x, y: x * x + y, ((0, 10), (3, 5)), 4)
((0.0, 1.0), (3.0, 4.0))
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import isnan
from numbers import Real
from typing import Any, Final

from cassette_import.contexts.common.enclosures.bounds import Bounds, Empty, exactly, hull
from cassette_import.contexts.common.enclosures.functions import working_precision
from cassette_import.contexts.contract.newton import narrowed_by_derivatives
from cassette_import.contexts.contract.paths import Path, check_function, paths
from cassette_import.contexts.contract.traces import Box, Trace

__all__ = ["as_box", "contract", "hull_of", "narrowed", "targets_of"]

MAX_PATHS: Final = 64


def contract(f: Callable[..., Any], box: Sequence[Any], value: Any, *, max_paths: int = MAX_PATHS) -> Box | None:
    """A box that contains all solutions of f(…) = value in a given box.

    Parameters
    ----------
    f:
        An unmodified function of numbers. Its own module and installed packages are overdubbed.
    box:
        A tuple of `(low, high)`, one for each argument. Bounds may be infinite.
    value:
        What `f` has to return: a number, or `(low, high)` for any number between two; a tuple of these if `f` returns
        a tuple.
    max_paths:
        How many paths through its branches `f` may take. It runs once for each, so it should have no side effects.

    Returns
    -------
    The smaller box; None if the box has no solution. A solution is a tuple of real numbers, and `f` stands for the
    exact function: constants of the program are the binary numbers that they are, and nothing is rounded. Where `f`
    raises an exception, it has no value.

    Raises
    ------
    NotContracted
        If a function without a rule computes something from the arguments. The message names it and its call site.
    TooManyPaths
        If the numbers of the box take too many paths.

    >>> import math
    >>> contract(lambda x: math.exp(x), ((-5, 5),), (1, 2))
    ((0.0, 0.6931471805599454),)
    >>> contract(lambda x: abs(x) + 1, ((-5, 5),), 0.5) is None
    True
    """
    check_function(f)
    sides = as_box(box)
    with working_precision():
        found = []
        for path in paths(f, sides, max_paths):
            targets, _ = targets_of(value, path)
            try:
                found.append(narrowed(path.trace, sides, targets))
            except Empty:
                continue
    return functools.reduce(hull_of, found) if found else None


def narrowed(trace: Trace, box: Box, targets: Box) -> Box:
    """A smaller box with the same solutions, by HC4 and by derivatives; raises `Empty` if there is none."""
    box = trace.contracted(box, targets)
    return narrowed_by_derivatives(trace, box, trace.values(box), targets)


def hull_of(one: Box, other: Box) -> Box:
    """The smallest box that contains both."""
    return tuple(hull(*sides) for sides in zip(one, other, strict=True))


def as_box(box: Sequence[Any]) -> Box:
    """A box of floats that contains the given one."""
    if not isinstance(box, (tuple, list)) or not all(_is_pair(side) for side in box) or not box:
        raise TypeError(f"a box is a tuple of (low, high), one for each argument, not {box!r}")
    return tuple(_range(side) for side in box)


def targets_of(value: Any, path: Path) -> tuple[Box, bool]:
    """The bounds of the results that are asked for, and whether each is a single number."""
    wanted = value if path.is_tuple else (value,)
    count = len(path.trace.outputs)
    if not isinstance(wanted, (tuple, list)) or len(wanted) != count:
        raise TypeError(f"the function returns a tuple of {count} numbers: the value must be one, too, not {value!r}")
    return tuple(map(_target, wanted)), all(not _is_pair(one) or one[0] == one[1] for one in wanted)


def _target(wanted: Any) -> Bounds:
    if _is_pair(wanted):
        return _range(wanted)
    if not isinstance(wanted, Real) or isnan(wanted):
        raise TypeError(f"the value must be a number or (low, high), or a tuple of these for a tuple, not {wanted!r}")
    return exactly(wanted)


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(end, Real) for end in value)


def _range(pair: Sequence[Any]) -> Bounds:
    low, high = pair
    if not low <= high:
        raise ValueError(f"bounds go from the lower one to the higher one, which {pair!r} do not")
    return exactly(low)[0], exactly(high)[1]
