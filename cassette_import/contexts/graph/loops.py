"""Loops in straight-line code: runs of steps that do the same with the results of the run before.

A loop has columns, the constants and results that differ from iteration to iteration, and variables, whose results are
used in the next iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from cassette_import.contexts.graph.nodes import Built, Constant, Guard, Node, Step, Template, same

__all__ = ["FEWEST", "Loop", "LoopFinder"]

_LITERALS: Final = (int, float, complex, str, bytes, bool, type(None))
FEWEST: Final = 16
"""Loops of fewer iterations stay unrolled."""
_TRIES: Final = 8


class Loop:
    """Iterations of steps that are alike.

    Attributes
    ----------
    steps:
        The steps of all iterations, in order.
    period, iterations:
        How many steps a iteration has, and how many iterations there are.
    columns:
        For each column, its values in each iteration.
    variables:
        By place in the iteration: what a result of the iteration before is in the first iteration.
    kept:
        The places in the iteration whose results in the last iteration are used after the loop.
    body:
        The steps of a iteration. Inputs with negative numbers stand for columns: -1 is the first one.
    """

    def __init__(self, steps: Sequence[Step], period: int, of: Callable[[Node], Node]) -> None:
        self.period = period
        self._of = of
        self._places = {step.number: place for place, step in enumerate(steps) if isinstance(step, Node)}
        self.columns: list[list[Template]] = []
        self._numbers: dict[tuple[Hashable, ...], int] = {}
        self.variables: dict[int, Template] = {}
        self.kept: set[int] = set()
        self.is_possible = True
        self.iterations = len(steps) // period
        rows = [self._row(steps, place) for place in range(period)]
        self.iterations = min([self._checked(leaf, place) for place, row in enumerate(rows) for leaf in row], default=0)
        self.steps = steps[: self.iterations * period]
        if self.iterations >= FEWEST and self.is_possible:
            self.body = [self._step(steps[period + place], place, rows[place]) for place in range(period)]
        else:
            self.is_possible = False

    def _row(self, steps: Sequence[Step], place: int) -> list[list[Template]]:
        """For each leaf of the operands of a step, what it is in each iteration."""
        iterations = steps[place : self.iterations * self.period : self.period]
        found = [[self._shared(leaf) for leaf in _leaves(step)] for step in iterations]
        return [list(column) for column in zip(*found, strict=True)]

    def _shared(self, leaf: Template) -> Template:
        return self._of(leaf) if isinstance(leaf, Node) else leaf

    def _place(self, leaf: Template) -> int | None:
        return self._places.get(leaf.number) if isinstance(leaf, Node) else None

    def _checked(self, column: list[Template], place: int) -> int:
        """The number of iterations in which a leaf is the same kind of thing."""
        source = self._place(column[1])
        offset = None if source is None else source - self.period  # negative: of the iteration before
        for number, leaf in enumerate(column):
            found = self._place(leaf)
            if offset is None:
                fits = found is None and isinstance(leaf, Node) is isinstance(column[1], Node)
                fits = fits and (isinstance(leaf, Node) or _is_literal(leaf) or _same(leaf, column[1]))
            elif offset < 0 and not number:
                fits = found is None and (isinstance(leaf, Node) or _is_literal(leaf)) and self._begins(source, leaf)
            else:
                fits = found == number * self.period + offset
            if not fits:
                self.is_possible &= number > 0
                return number
        return len(column)

    def _begins(self, source: int | None, leaf: Template) -> bool:
        """Note the first value of a variable; False if it has another one already."""
        assert source is not None
        return _same(self.variables.setdefault(source, leaf), leaf)

    # ---- the body

    def _step(self, step: Step, place: int, row: list[list[Template]]) -> Step:
        parts = iter([self._leaf(column[: self.iterations]) for column in row])
        if isinstance(step, Guard):
            node: Any = next(parts)
            return Guard(step.test, node, step.expected, step.site)
        operands = tuple(_filled(part, parts) for part in step.operands)
        named = {name: _filled(part, parts) for name, part in step.keywords.items()}
        made = Node(step.number, step.function, operands, named, step.value, step.site)
        made.fixed = step.fixed
        return made

    def _leaf(self, column: list[Template]) -> Template:
        """A leaf of the body: of the second iteration, or an input that stands for a column."""
        if self._place(column[1]) is not None or all(_same(one, column[1]) for one in column):
            return column[1]
        key = tuple(map(_key, column))
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == len(self.columns):
            self.columns.append(column)
        leaf = column[1]
        return Node(-1 - number, None, (), {}, leaf.value if isinstance(leaf, (Node, Constant)) else None, None)


class LoopFinder:
    """Finds loops among steps.

    Parameters
    ----------
    steps:
        The steps.
    of:
        The node that computes the same as a node, and has computed it first.
    last_use:
        For each node, by number, the last place at which its result is used; beyond the steps if that is elsewhere.
    """

    def __init__(self, steps: Sequence[Step], of: Callable[[Node], Node], last_use: Mapping[int, int]) -> None:
        self._steps = steps
        self._of = of
        self._last_use = last_use
        numbers: dict[Hashable, int] = {}
        self._kinds = [numbers.setdefault(_kind(step), len(numbers)) for step in steps]
        self._next: list[int] = [len(steps)] * len(steps)
        """For each step, the next one of its kind."""
        latest: dict[int, int] = {}
        for place in reversed(range(len(steps))):
            self._next[place] = latest.get(self._kinds[place], len(steps))
            latest[self._kinds[place]] = place
        self._failed: dict[int, tuple[int, int]] = {}

    def find(self, start: int) -> Loop | None:
        """The loop that begins at a place; None if the steps do not repeat."""
        following = start
        for _ in range(_TRIES):
            following = self._next[following] if following < len(self._steps) else following
            period = following - start
            if start + period * FEWEST > len(self._steps):
                return None
            if not self._is_hopeless(period, start):
                found = self._loop(start, period)
                if found is not None:
                    return found
        return None

    def _loop(self, start: int, period: int) -> Loop | None:
        kinds, end = self._kinds, start + period
        while end < len(kinds) and kinds[end] == kinds[end - period]:
            end += 1
        if (end - start) // period < FEWEST:
            return None
        found = Loop(self._steps[start:end], period, self._of)
        if found.is_possible and self._is_own(found, start):
            found.kept = self._kept(found, start + len(found.steps))
            return found
        first = self._failed.get(period, (start, end))
        self._failed[period] = (first[0] if start < first[1] else start), end
        return None

    def _is_hopeless(self, period: int, start: int) -> bool:
        """Whether the loop is known to fail, from a few places at which it may begin."""
        first, end = self._failed.get(period, (start, start))
        return start < end and start - first >= _TRIES

    def _kept(self, loop: Loop, end: int) -> set[int]:
        last = enumerate(loop.steps[-loop.period :])
        return {place for place, step in last if isinstance(step, Node) and self._last_use.get(step.number, -1) >= end}

    def _is_own(self, loop: Loop, start: int) -> bool:
        """Whether the results of all iterations but the last are used in the loop alone."""
        end = start + len(loop.steps)
        return all(
            self._last_use.get(step.number, -1) < end for step in loop.steps[: -loop.period] if isinstance(step, Node)
        )


def _kind(step: Step) -> Hashable:
    """What a step does, its operands excepted."""
    if isinstance(step, Guard):
        return "guard", step.test, type(step.expected), repr(step.expected), str(step.site)
    shapes = [_shape(part) for part in (*step.operands, *step.keywords.values())]
    return id(step.function), step.type, step.fixed, tuple(step.keywords), tuple(shapes), str(step.site)


def _shape(template: Template) -> Hashable:
    if not isinstance(template, Built):
        return None
    return template.kind, tuple(map(repr, template.keys)), tuple(map(_shape, template.parts))


def _leaves(step: Step) -> Iterator[Node | Constant]:
    parts: tuple[Template, ...] = (step.node,) if isinstance(step, Guard) else (*step.operands, *step.keywords.values())
    for part in parts:
        yield from _leaves_of(part)


def _leaves_of(template: Template) -> Iterator[Node | Constant]:
    if isinstance(template, Built):
        for part in template.parts:
            yield from _leaves_of(part)
    else:
        yield template


def _filled(template: Template, leaves: Iterator[Template]) -> Template:
    if isinstance(template, Built):
        return Built(template.kind, tuple(_filled(part, leaves) for part in template.parts), template.keys)
    return next(leaves)


def _is_literal(leaf: Template) -> bool:
    return isinstance(leaf, Constant) and type(leaf.value) in _LITERALS


def _same(one: Template, other: Template) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        return same(one.value, other.value)
    return isinstance(one, Node) and isinstance(other, Node) and one.number == other.number


def _key(leaf: Template) -> Hashable:
    if isinstance(leaf, Node):
        return "node", leaf.number
    value = leaf.value if isinstance(leaf, Constant) else None
    return (type(value), repr(value)) if type(value) in _LITERALS else ("object", id(value))
