"""The function `solve`: all solutions of an equation in a box, each enclosed, and proven unique where that is
possible.

>>> contract(lambda x, y: x * x + y, ((0, 10), (3, 5)), 4)
((0.0, 1.0), (3.0, 4.0))
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from math import inf, isfinite, isnan, nextafter
from numbers import Real
from typing import Any, Final, NamedTuple

from cassette_import.contexts.contract.context import TooManyPaths
from cassette_import.contexts.contract.paths import Path, check_recordable, paths
from cassette_import.contexts.contract.traces import Box, Trace
from cassette_import.kits.numbers.enclosures.bounds import (
    ZERO,
    Bounds,
    Empty,
    add,
    exactly,
    factor_within,
    hull,
    inside,
    meet,
    middle,
    multiply,
    scale,
    subtract,
)
from cassette_import.kits.numbers.enclosures.functions import working_precision

__all__ = ["Solution", "contract", "solve"]

# ---- interval Newton methods on a trace: smaller boxes from derivatives, and the proof that a box has one solution

_REFINEMENTS: Final = 30
_MARGINS: Final = ((0.1, 1e-15), (1.0, 1e-13), (10.0, 1e-11), (100.0, 1e-9))

Matrix = list[list[float]]


def narrowed_by_derivatives(trace: Trace, box: Box, values: Sequence[Bounds], targets: Box) -> Box:
    """A smaller box with the same solutions, by the mean value theorem; raises `Empty` if there is none.

    The conditions of the path do not matter: the operations of a trace are one function on the whole box, and where
    that is not differentiable or leaves its domain, the derivatives have no bounds.
    """
    system = _linear(trace, box, values, targets)
    if system is None:
        return box
    center, rows, rights = system
    offsets = [subtract(side, (mid, mid)) for side, mid in zip(box, center, strict=True)]
    if len(rows) == len(box) and (inverse := _inverse([[middle(entry) for entry in row] for row in rows])) is not None:
        _solve_rows(_product(inverse, rows), [_row(line, rights) for line in inverse], offsets, diagonal=True)
    _solve_rows(rows, rights, offsets, diagonal=False)
    moved = [add(offset, (mid, mid)) for offset, mid in zip(offsets, center, strict=True)]
    return tuple(meet(side, new) for side, new in zip(box, moved, strict=True))


def proven(trace: Trace, box: Box, targets: Box, *, thorough: bool) -> tuple[Box, Box] | None:
    """A box with exactly one solution, and one around it and `box` that has no other; None without proof.

    This is Krawczyk's test, on a box that is a little larger than the given one. So the solution may be beside that.
    A thorough test moves and enlarges the box until it succeeds.
    """
    for larger in _candidates(trace, box, targets) if thorough else (_inflated(box, 0.1, 1e-15, trace.box),):
        found = _krawczyk(trace, larger, targets)
        if found is not None:
            return _sharpened(trace, found, targets), larger
    return None


def _candidates(trace: Trace, box: Box, targets: Box) -> Iterator[Box]:
    """Boxes on which the test may succeed: around the given one and a solution nearby."""
    near = _refined(trace, box, targets)
    for factor, margin in _MARGINS:
        yield _inflated(near, factor, margin, trace.box)


def _sharpened(trace: Trace, box: Box, targets: Box) -> Box:
    """A smaller box around the only solution of a box."""
    for _ in range(_REFINEMENTS):
        try:
            smaller = narrowed_by_derivatives(trace, box, trace.values(box), targets)
        except Empty:  # pragma: no cover - impossible: there is a solution
            return box
        if not _is_smaller(smaller, box):
            return smaller
        box = smaller
    return box


def _refined(trace: Trace, box: Box, targets: Box) -> Box:
    """The hull of a box and a solution that Newton's method with floats finds near it."""
    point = [middle(side) for side in box]
    for _ in range(8):
        try:
            at_point = tuple((x, x) for x in point)
            system = _linear(trace, at_point, trace.values(at_point), targets)
        except Empty:
            return box
        inverse = None if system is None else _inverse([[middle(entry) for entry in row] for row in system[1]])
        if system is None or inverse is None:
            return box
        moved = [x + middle(_row(line, system[2])) for x, line in zip(point, inverse, strict=True)]
        if moved == point:
            break
        point = moved
    if not all(_is_near(x, side) for x, side in zip(point, box, strict=True)):
        return box
    return tuple((min(low, x), max(high, x)) for x, (low, high) in zip(point, box, strict=True))


def _is_near(x: float, side: Bounds) -> bool:
    margin = 2.0 * (side[1] - side[0]) + 1e-12 * abs(x)
    return side[0] - margin <= x <= side[1] + margin


def _inflated(box: Box, factor: float, margin: float, limits: Box) -> Box:
    """A box with wider sides, inside limits."""
    size = max(high - low for low, high in box)
    sides = []
    for (low, high), limit in zip(box, limits, strict=True):
        more = (high - low) * factor + margin * max(abs(low), abs(high), size) + 1e-300
        sides.append(meet((nextafter(low - more, -inf), nextafter(high + more, inf)), limit))
    return tuple(sides)


def _krawczyk(trace: Trace, box: Box, targets: Box) -> Box | None:
    """A part of the box with its only solution, if the test proves that there is exactly one."""
    try:
        values = trace.values(box)
        system = _linear(trace, box, values, targets) if trace.hold(values) else None
    except Empty:
        return None
    if system is None or len(system[1]) != len(box):
        return None
    center, rows, rights = system
    inverse = _inverse([[middle(entry) for entry in row] for row in rows])
    if inverse is None:
        return None
    offsets = [subtract(side, (mid, mid)) for side, mid in zip(box, center, strict=True)]
    found = []
    for number, (line, product) in enumerate(zip(inverse, _product(inverse, rows), strict=True)):
        total = add(_row(line, rights), (center[number],) * 2)
        for other, entry in enumerate(product):
            rest = subtract((1.0, 1.0) if other == number else ZERO, entry)
            total = add(total, multiply(rest, offsets[other]))
        if not box[number][0] < total[0] <= total[1] < box[number][1]:
            return None
        found.append(total)
    return tuple(found)


def _linear(
    trace: Trace, box: Box, values: Sequence[Bounds], targets: Box
) -> tuple[list[float], list[list[Bounds]], list[Bounds]] | None:
    """A point, the derivatives on the box, and the distances from the results at the point to the targets."""
    if not all(isfinite(low) and isfinite(high) for low, high in box):
        return None
    rows = trace.gradients(values, len(box))
    if rows is None:
        return None
    center = [middle(side) for side in box]
    try:
        results = trace.results(trace.values(tuple((x, x) for x in center)))
    except Empty:  # a function is not defined there
        return None
    rights = [subtract(target, result) for target, result in zip(targets, results, strict=True)]
    return (center, rows, rights) if all(isfinite(low) and isfinite(high) for low, high in rights) else None


def _solve_rows(
    rows: Sequence[Sequence[Bounds]], rights: Sequence[Bounds], offsets: list[Bounds], *, diagonal: bool
) -> None:
    """One round of Gauss-Seidel: narrow each unknown by each row, or by its own row only."""
    for number, (row, right) in enumerate(zip(rows, rights, strict=True)):
        for unknown in (number,) if diagonal else range(len(offsets)):
            rest = right
            for other, entry in enumerate(row):
                if other != unknown:
                    rest = subtract(rest, multiply(entry, offsets[other]))
            offsets[unknown] = factor_within(rest, row[unknown], offsets[unknown])


def _row(line: Sequence[float], column: Sequence[Bounds]) -> Bounds:
    total = ZERO
    for factor, entry in zip(line, column, strict=True):
        total = add(total, scale(entry, factor))
    return total


def _product(inverse: Matrix, rows: Sequence[Sequence[Bounds]]) -> list[list[Bounds]]:
    columns = list(zip(*rows, strict=True))
    return [[_row(line, column) for column in columns] for line in inverse]


def _inverse(matrix: Matrix) -> Matrix | None:
    """The approximate inverse of a square matrix, by elimination; None if it seems to have none."""
    size = len(matrix)
    if any(len(row) != size for row in matrix):
        return None
    work = [[*row, *(1.0 if i == j else 0.0 for j in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda line: abs(work[line][column]))
        work[column], work[pivot] = work[pivot], work[column]
        head = work[column][column]
        if head == 0.0 or not isfinite(head):
            return None
        work[column] = [entry / head for entry in work[column]]
        for line in range(size):
            if line != column and (factor := work[line][column]):
                work[line] = [entry - factor * top for entry, top in zip(work[line], work[column], strict=True)]
    inverse = [row[size:] for row in work]
    return inverse if all(isfinite(entry) for row in inverse for entry in row) else None


def _is_smaller(new: Box, old: Box) -> bool:
    return any(b - a < 0.9 * (d - c) for (a, b), (c, d) in zip(new, old, strict=True))


# ---- the function `contract`: a smaller box that has lost no solution

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
    check_recordable(f)
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


# ---- the function `solve`

_SHARE: Final = 0.47
"""Where a side is bisected: solutions often lie in the middle, and would then be in both halves."""


class Solution(NamedTuple):
    """A box in which solutions may lie.

    >>> [ray] = solve(lambda x: abs(x) + x, ((1, 2),), (0, 10), width=0.1)
    >>> ray.box, ray.inner
    (((1.0, 2.0),), True)
    """

    box: Box
    unique: bool
    """Whether the box is proven to contain exactly one solution. Otherwise it may have none, one or many."""
    inner: bool = False
    """Whether all numbers of the box are proven to be solutions."""


def solve(
    f: Callable[..., Any], box: Sequence[Any], value: Any, *, width: float, max_paths: int = MAX_PATHS
) -> list[Solution]:
    """All solutions of f(…) = value in a box, as a list of small boxes: every solution is in one of them.

    Parameters
    ----------
    f, box, value, max_paths:
        As for `contract`. A box with too many paths is bisected.
    width:
        Boxes are bisected until no side is wider, or until they are proven to have one solution or only solutions.

    Returns
    -------
    A list of objects with `box`, `unique` and `inner`, sorted by `box`. A box that is `unique` contains exactly one
    solution. That can be proven if there are as many results as arguments, and the derivatives are regular there.
    All numbers of a box that is `inner` are solutions, as happens for a value `(low, high)`.

    Raises
    ------
    NotContracted, TooManyPaths
        As for `contract`.

    >>> [root] = solve(lambda x: x * x, ((0, 10),), 2, width=1e-9)
    >>> root
    Solution(box=((1.414213562373095, 1.414213562373095...),), unique=True, inner=False)
    """
    check_recordable(f)
    sides = as_box(box)
    _check_width(width)
    found: list[Solution] = []
    with working_precision():
        pending = [sides]
        while pending:
            part = pending.pop()
            try:
                recorded = paths(f, part, max_paths)
            except TooManyPaths:
                halves = _bisected(part)
                if halves is None or _width(part) <= width:
                    raise
                pending += halves
                continue
            for path in recorded:
                found += _Search(path, value, float(width)).run(part)
    return sorted(dict.fromkeys(found))


def _check_width(width: Any) -> None:
    if isinstance(width, bool) or not isinstance(width, Real) or not float(width) > 0:
        raise ValueError(f"width is a number above zero, not {width!r}")


class _Search:
    """The search for the solutions on one path."""

    def __init__(self, path: Path, value: Any, width: float) -> None:
        self._trace: Trace = path.trace
        self._targets, self._is_point = targets_of(value, path)
        self._width = width
        self._found: list[Solution] = []
        self._regions: list[Box] = []
        """Boxes of which all solutions are found: one in each."""

    def run(self, box: Box) -> list[Solution]:
        """All solutions in a box."""
        square = len(box) == len(self._targets) and self._is_point
        pending = [box]
        while pending:
            part = pending.pop()
            if self._is_done(part):
                continue
            before = _width(part)
            try:
                part = narrowed(self._trace, part, self._targets)
                values = self._trace.values(part)
            except Empty:
                continue
            if self._is_done(part):
                continue
            if self._holds_only_solutions(values):
                self._found.append(Solution(part, unique=all(low == high for low, high in part), inner=True))
                continue
            now = _width(part)
            halves = _bisected(part) if now > self._width else None
            if square and (halves is None or now < 0.5 * before) and self._prove(part, thorough=halves is None):
                continue
            if halves is None:
                self._found.append(Solution(part, unique=False))
            elif now < 0.3 * before:
                pending.append(part)
            else:
                pending += halves
        return self._outside_regions()

    def _is_done(self, box: Box) -> bool:
        return any(all(map(inside, box, region)) for region in self._regions)

    def _holds_only_solutions(self, values: Any) -> bool:
        results = self._trace.results(values)
        return all(map(inside, results, self._targets)) and self._trace.hold(values)

    def _prove(self, part: Box, *, thorough: bool) -> bool:
        """Whether all solutions of a box are found, because there is exactly one near it."""
        proof = proven(self._trace, part, self._targets, thorough=thorough)
        if proof is None:
            return False
        root, region = proof
        if not self._is_done(root):
            self._found.append(Solution(root, unique=True))
        self._regions.append(region)
        return True

    def _outside_regions(self) -> list[Solution]:
        """The solutions without the boxes for which it was proven later that their solution is another box."""
        return [one for one in self._found if one.unique or one.inner or not self._is_done(one.box)]


def _width(box: Box) -> float:
    return max(high - low for low, high in box)


def _bisected(box: Box) -> list[Box] | None:
    """Two halves of a box, the first one last; None if there are no floats between its bounds."""
    for number in sorted(range(len(box)), key=lambda side: box[side][0] - box[side][1]):
        low, high = box[number]
        cut = low + (high - low) * _SHARE if isfinite(low) and isfinite(high) else middle((low, high))
        if not low < cut < high:
            cut = middle((low, high))
        if low < cut < high:
            sides = list(box), list(box)
            sides[0][number], sides[1][number] = (cut, high), (low, cut)
            return [tuple(sides[0]), tuple(sides[1])]
    return None
