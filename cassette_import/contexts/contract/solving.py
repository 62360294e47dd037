"""The function `solve`: all solutions of an equation in a box, each enclosed, and proven unique where that is
possible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from numbers import Real
from typing import Any, Final, NamedTuple

from cassette_import.contexts.common.enclosures.bounds import Empty, inside, middle
from cassette_import.contexts.common.enclosures.functions import working_precision
from cassette_import.contexts.contract.contracting import MAX_PATHS, as_box, narrowed, targets_of
from cassette_import.contexts.contract.errors import TooManyPaths
from cassette_import.contexts.contract.newton import proven
from cassette_import.contexts.contract.paths import Path, check_function, paths
from cassette_import.contexts.contract.traces import Box, Trace

__all__ = ["Solution", "solve"]

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
    check_function(f)
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
