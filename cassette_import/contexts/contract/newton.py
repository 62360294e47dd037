"""Interval Newton methods on a trace: smaller boxes from derivatives, and the proof that a box has one solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, isfinite, nextafter
from typing import Final

from cassette_import.contexts.common.enclosures.bounds import (
    ZERO,
    Bounds,
    Empty,
    add,
    factor_within,
    meet,
    middle,
    multiply,
    scale,
    subtract,
)
from cassette_import.contexts.contract.traces import Box, Trace

__all__ = ["narrowed_by_derivatives", "proven"]

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
