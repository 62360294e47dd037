"""Traces: what one path through a function computes, as a graph of operations on bounds, with the path's conditions.

A trace runs forwards (bounds of every node), backwards (HC4: narrower bounds of the operands, from those of the
result), and gives bounds of the derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Final, NamedTuple

from cassette_import.contexts.contract.operations import Operation
from cassette_import.kits.numbers.enclosures.bounds import ENTIRE, ZERO, Bounds, Empty, add, inside, meet, multiply

__all__ = ["Box", "Condition", "Step", "Trace"]

Box = tuple[Bounds, ...]

_ROUNDS: Final = 20
_GAIN: Final = 0.9
"""A contraction is repeated while some side of the box shrinks below this part of what it was."""


class Step(NamedTuple):
    """The node that an operation computes from others."""

    node: int
    operation: Operation
    operands: tuple[int, ...]


class Condition(NamedTuple):
    """What holds for a node on a path. The numbers of the path are a part of what `bounds` and `open` allow."""

    node: int
    bounds: Bounds
    open: bool = False
    """Whether a number on one of the bounds may take another path."""
    nonzero: bool = False
    narrows: bool = True
    """Whether other numbers than those in the bounds are certain to take another path."""

    def narrowed(self, x: Bounds) -> Bounds:
        """The numbers of the node that may be on the path."""
        if self.nonzero and x == ZERO:
            raise Empty
        return meet(x, self.bounds) if self.narrows else x

    def holds(self, x: Bounds) -> bool:
        """Whether all these numbers of the node are on the path."""
        if self.nonzero and x[0] <= 0.0 <= x[1]:
            return False
        low, high = self.bounds
        if self.open:
            return (low < x[0] or low == -inf) and (x[1] < high or high == inf)
        return low <= x[0] and x[1] <= high


class Trace:
    """One path.

    Parameters
    ----------
    box:
        The box for whose numbers the path was recorded. Decisions that all of them take alike are no conditions.
    start:
        The bounds of the nodes: those of constants count.
    steps:
        The operations, in an order in which they can be computed.
    conditions, outputs:
        The conditions of the path, and the nodes of the results.
    """

    def __init__(
        self,
        box: Box,
        start: Sequence[Bounds],
        steps: Sequence[Step],
        conditions: Sequence[Condition],
        outputs: Sequence[int],
    ) -> None:
        self.box = box
        self.outputs = tuple(outputs)
        self.conditions = tuple(conditions)
        needed = {*outputs, *(condition.node for condition in conditions)}
        kept = []
        for step in reversed(steps):
            if step.node in needed:
                kept.append(step)
                needed.update(step.operands)
        self._backward = tuple(kept)
        self._forward = tuple(reversed(kept))
        self._start = list(start)
        self._derived = [self._ancestors(output) for output in outputs]

    def _ancestors(self, output: int) -> tuple[Step, ...]:
        """The operations on the way to an output, the last one first."""
        needed, found = {output}, []
        for step in self._backward:
            if step.node in needed:
                found.append(step)
                needed.update(step.operands)
        return tuple(found)

    def values(self, box: Box) -> list[Bounds]:
        """Bounds of all nodes for the numbers of a box; raises `Empty` if none of them has a value."""
        values = self._start.copy()
        values[: len(box)] = box
        for node, operation, operands in self._forward:
            values[node] = operation.forward(*[values[operand] for operand in operands])
        return values

    def hold(self, values: Sequence[Bounds]) -> bool:
        """Whether all numbers of a box, for which the nodes have these values, are certain to take the path."""
        return all(condition.holds(values[condition.node]) for condition in self.conditions)

    def results(self, values: Sequence[Bounds]) -> Box:
        """The bounds of the results."""
        return tuple(values[output] for output in self.outputs)

    def contracted(self, box: Box, targets: Box) -> Box:
        """A smaller box without any number that takes another path or has another result; raises `Empty`."""
        values = self.values(box)
        for _ in range(_ROUNDS):
            self._constrain(values, targets)
            for node, operation, operands in self._backward:
                if operation.backward is not None:
                    narrower = operation.backward(values[node], *[values[operand] for operand in operands])
                    for operand, bounds in zip(operands, narrower, strict=True):
                        values[operand] = meet(values[operand], bounds)
            before, box = box, tuple(values[: len(box)])
            if not _shrank(before, box):
                break
            for node, operation, operands in self._forward:
                values[node] = meet(values[node], operation.forward(*[values[operand] for operand in operands]))
        return box

    def _constrain(self, values: list[Bounds], targets: Box) -> None:
        for output, target in zip(self.outputs, targets, strict=True):
            values[output] = meet(values[output], target)
        for condition in self.conditions:
            values[condition.node] = condition.narrowed(values[condition.node])

    def gradients(self, values: Sequence[Bounds], inputs: int) -> list[list[Bounds]] | None:
        """Bounds of the derivatives of each result by each input; None if there are none."""
        partials = {}
        try:
            for node, operation, operands in self._forward:
                partials[node] = operation.partials(values[node], *[values[operand] for operand in operands])
        except Empty:  # a function is not differentiable there; that does not make it undefined
            return None
        rows = []
        for output, steps in zip(self.outputs, self._derived, strict=True):
            sums: dict[int, Bounds] = {output: (1.0, 1.0)}
            for node, _, operands in steps:
                for operand, partial in zip(operands, partials[node], strict=True):
                    part = multiply(sums[node], partial)
                    sums[operand] = add(sums[operand], part) if operand in sums else part
            rows.append([sums.get(number, ZERO) for number in range(inputs)])
        return rows if all(_is_finite(row) for row in rows) else None

    def __len__(self) -> int:
        return len(self._forward)


def _is_finite(row: Iterable[Bounds]) -> bool:
    return all(-inf < low and high < inf for low, high in row)


def _shrank(before: Box, after: Box) -> bool:
    """Whether a contraction is worth another round."""
    return any(
        inside(new, old) and new != old and (old == ENTIRE or new[1] - new[0] < _GAIN * (old[1] - old[0]))
        for old, new in zip(before, after, strict=True)
    )
