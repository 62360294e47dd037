"""The context `PathRecorder`: the metadata of a number is the node of a trace that computes it."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from threading import get_ident
from typing import Any, Final, NamedTuple

from cassette_import.activation.tagging import tag
from cassette_import.contexts.contract.operations import OPERATIONS, Operation
from cassette_import.contexts.contract.traces import Box, Condition, Step
from cassette_import.errors import CassetteError
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.numbers.enclosures.bounds import Bounds, Empty, exactly, middle
from cassette_import.kits.numbers.lost_numbers import unshared
from cassette_import.kits.numbers.overloads import FoldCall
from cassette_import.kits.numbers.ruled_numbers import NO_RULE_FOR_OPERANDS, Bounded, NoRule

__all__ = ["Node", "NotContracted", "Option", "PathRecorder", "TooManyPaths", "Unreachable"]

# ---- the errors of code through which no constraint can be followed


class NotContracted(NoRule):
    """A function without a rule computed something from the numbers of a box. `site` is its call site."""


class TooManyPaths(CassetteError):
    """The numbers of a box take more paths through the function than are allowed. `site` is the last decision."""

    def __init__(self, paths: int, site: CallSite) -> None:
        self.site = site
        super().__init__(
            f"the box takes more than {paths} paths through the function; the last decision is at {site}: "
            f"{site.source}\n"
            "Give a smaller box, or more paths: max_paths=1000"
        )


# ---- the recorder of paths: the metadata of a number is the node of a trace that computes it


_OF_INFINITY: Final = frozenset(
    {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, min, max}
)
"""Functions for which infinity is an operand like any other."""


class Node(NamedTuple):
    """A number of the program, or one on the way to it."""

    place: int


class Option(NamedTuple):
    """One way to go on at a decision, and what holds for the numbers that go this way."""

    value: Any
    conditions: tuple[Condition, ...] = ()


class Unreachable(BaseException):
    """No number of the box takes this path. Programs do not catch it."""


class PathRecorder(Bounded, tagging=True):
    """Records what a function computes on one path, for the numbers of a box.

    Parameters
    ----------
    box:
        The bounds of the arguments.
    decisions:
        The numbers of the options that are taken first.
    room:
        How many further paths may be found.
    paths:
        How many paths the caller allows in all: for messages.
    """

    without_rule = "there is no rule that contracts"
    its_numbers = points = "numbers of the box"
    error_type, bounds_type = NotContracted, Node

    def __init__(self, box: Box = (), decisions: Sequence[int] = (), *, room: int = 0, paths: int = 0) -> None:
        super().__init__()
        self.box = box
        self.bounds: list[Bounds] = list(box)
        """The bounds of each node on this path."""
        self.start: list[Bounds] = list(box)
        """The bounds that they had before any decision."""
        self.steps: list[Step] = []
        self.conditions: list[Condition] = []
        self.decisions = list(decisions)
        self.other_paths: list[list[int]] = []
        self.unreachable = False
        self.intended: Exception | None = None
        """The last exception that a rule raised in the place of the function."""
        self.exact: dict[Node, Any] = {}
        """The nodes of constants, and the numbers that they are."""
        self._known: dict[Any, Node] = {}
        self._decided = 0
        self._room = room
        self._paths = paths
        self._thread = get_ident()

    # ---- nodes

    def arguments(self) -> list[Any]:
        """The numbers that the function is called with."""
        return [self.number(Node(index)) for index in range(len(self.box))]

    def number(self, node: Node) -> Any:
        """A number of the program for a node: some number between its bounds, which nothing may depend on."""
        return tag(unshared(middle(self.bounds[node.place])), self, node)

    def constant(self, number: Any) -> Node:
        """The node of a number that does not depend on the arguments."""
        bounds = exactly(number)
        node = self.fixed(bounds, bounds if bounds[0] == bounds[1] else Fraction(number))
        self.exact.setdefault(node, number)
        return node

    def fixed(self, bounds: Bounds, name: Any) -> Node:
        """The node of a constant that is known by its bounds; the same name means the same constant."""
        if name not in self._known:
            self._known[name] = self._new(bounds)
        return self._known[name]

    def _new(self, bounds: Bounds) -> Node:
        self.bounds.append(bounds)
        self.start.append(bounds)
        return Node(len(self.bounds) - 1)

    def node(self, operation: str | Operation, *operands: Node) -> Node:
        """The node of the result of an operation; the same one for the same operands."""
        if isinstance(operation, str):
            operation = OPERATIONS[operation]
        key = operation.name, operands
        if key not in self._known:
            try:
                bounds = operation.forward(*[self.bounds[operand.place] for operand in operands])
            except Empty:
                raise self.abandon() from None
            self._known[key] = self._new(bounds)
            self.steps.append(Step(self._known[key].place, operation, tuple(operand.place for operand in operands)))
        return self._known[key]

    def is_operand(self, f: Any, value: Any) -> bool:
        return super().is_operand(f, value) and (math.isfinite(value) or f in _OF_INFINITY)

    @hidden
    def apply(self, f: Any, arguments: tuple[Any, ...]) -> Any:
        operands = [self.operand(f, argument) for argument in arguments]
        try:
            result = self.rules[f](self, f, *operands)
        except Exception as error:
            if error is self.intended or isinstance(error, CassetteError):
                raise
            raise self.refused(f, NO_RULE_FOR_OPERANDS) from error
        return self.number(result) if isinstance(result, Node) else result

    @hidden
    def fold(self, f: Any, call: FoldCall) -> Any:
        operands = [self.operand(f, value) for value in call.operands]
        return self.number(functools.reduce(functools.partial(self.node, self.folds[f]), operands))

    # ---- decisions

    def abandon(self) -> Unreachable:
        """The signal that no number of the box takes this path."""
        self.unreachable = True
        return Unreachable()

    def decide(self, options: Sequence[Option]) -> Any:
        """Take one of the ways to go on; the other ones that some number may take are kept for further runs."""
        possible = [number for number, option in enumerate(options) if self._is_possible(option)]
        if not possible:
            raise self.abandon()
        if len(possible) == 1:
            return options[possible[0]].value
        if get_ident() != self._thread:  # threads decide in no fixed order
            raise self.too_many_paths()
        if self._decided == len(self.decisions):
            self._room -= len(possible) - 1
            if self._room < 0:
                raise self.too_many_paths()
            self.other_paths += [[*self.decisions, number] for number in possible[1:]]
            self.decisions.append(possible[0])
        taken = options[self.decisions[self._decided]]
        self._decided += 1
        for condition in taken.conditions:
            self.conditions.append(condition)
            self.bounds[condition.node] = condition.narrowed(self.bounds[condition.node])
        self._look_back()
        return taken.value

    def _is_possible(self, option: Option) -> bool:
        try:
            for condition in option.conditions:
                condition.narrowed(self.bounds[condition.node])
        except Empty:
            return False
        return True

    def _look_back(self) -> None:
        """Narrow the nodes by the conditions of the path, so that later decisions agree with it."""
        try:
            for node, operation, operands in reversed(self.steps):
                if operation.backward is not None:
                    found = operation.backward(self.bounds[node], *[self.bounds[operand] for operand in operands])
                    for operand, bounds in zip(operands, found, strict=True):
                        self.bounds[operand] = bounds
        except Empty:
            raise self.abandon() from None

    def too_many_paths(self) -> CassetteError:
        """The error for a decision with more ways to go on than are allowed."""
        return self.refuse(TooManyPaths(self._paths, nearest_site()))

    def integer(self, options: range, conditions: Callable[[int], tuple[Condition, ...]]) -> int:
        """One of several possible integers."""
        if len(options) > self._room + 1 and self._decided == len(self.decisions):
            raise self.too_many_paths()
        return int(self.decide([Option(number, conditions(number)) for number in options]))

    # ---- what leaves do with numbers

    def check_sign(self, f: Any, bounds: Any) -> None:
        low, high = self.bounds[bounds.place]
        if low <= 0.0 <= high and (low, high) != (0.0, 0.0):
            self.compared(f)
