"""A flow: what a function does for all points that were recorded."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from cassette_import.activation.verbs import overdub
from cassette_import.contexts.graph.flow.blocks import Block, Conflict, alike, union
from cassette_import.contexts.graph.flow.context import FlowContext
from cassette_import.contexts.graph.flow.recorder import Again, Recorder, Shared, Symbol
from cassette_import.contexts.graph.nodes import (
    NUMBERS,
    Built,
    Constant,
    Node,
    NotRepresentable,
    Template,
    evaluated,
    numpy_number,
    recorded_value,
)
from cassette_import.contexts.graph.outside import Outside
from cassette_import.contexts.graph.tracing import Trace, is_unknown
from cassette_import.interpreter.callables import python_function
from cassette_import.kits.numbers.numeric_values import is_array

__all__ = ["Effort", "Flow", "GrowingFlow"]


_MOST_RUNS: Final = 200
_OWN: Final = str(Path(__file__).parents[3])


@dataclass
class Effort:
    """How many operations are recorded for one program, in all runs of all its flows.

    Attributes
    ----------
    most:
        The operations after which nothing more is recorded.
    spent:
        The operations that were recorded.
    """

    most: float
    spent: int = 0

    def check(self) -> None:
        """Raise NotRepresentable if nothing more is recorded."""
        if self.spent > self.most:
            raise NotRepresentable(f"more than {self.most} operations would have to be recorded")


class Flow:
    """The branches and loops of a function that some points have taken.

    Parameters
    ----------
    f, args:
        The function, and its arguments, of which the unknown ones are marked.
    functions:
        The functions of numbers that the code made of the flow may call.
    keeps_loops:
        Whether long loops with a known number of iterations may be code.
    arrays:
        Whether arrays of NumPy may be unknown.
    effort:
        How much may be recorded; without one, as much as is needed.

    Attributes
    ----------
    body:
        What the function does.
    result:
        The template of its result.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        functions: frozenset[Any],
        keeps_loops: bool = True,
        arrays: bool = False,
        effort: Effort | None = None,
    ) -> None:
        self._effort = effort or Effort(math.inf)
        self._functions = functions
        self._keeps_loops = keeps_loops
        self._arrays = arrays
        self._f = f
        self._args = args
        self._shared: Shared | None = None
        self._points: list[Trace] = []
        self.body = Block(())
        self.result: Template = Constant(None)

    def copy(self) -> Flow:
        """A flow to which a point can be added while this one stays as it is."""
        made = copy(self)
        made._shared = None if self._shared is None else self._shared.copy()
        return made

    @property
    def has_staying_loops(self) -> bool:
        """Whether a loop is code that could be unrolled."""
        return self._shared is not None and bool(self._shared.staying)

    @property
    def points(self) -> tuple[Trace, ...]:
        """The traces of the points that were recorded."""
        return tuple(self._points)

    @property
    def inputs(self) -> list[Node]:
        """The inputs."""
        return self._points[0].inputs

    def add(self, trace: Trace) -> None:
        """Record the run of a point.

        Parameters
        ----------
        trace:
            The trace of the same call, which has shown that it has no effects.

        Raises
        ------
        NotRepresentable
            If the run cannot be recorded, or does not go with the others. The flow is of no use then.
        """
        if self._shared is None:
            first = 1 + max((node.number for node in trace.inputs), default=0)
            self._shared = Shared(first, self._functions, self._keeps_loops, self._arrays)
        self._points = [*self._points, trace]
        self._record_new(trace)

    def _record_new(self, trace: Trace) -> None:
        """Record a run, and all of them again for as long as one learns something that others have not known."""
        for _ in range(_MOST_RUNS):
            version = self._version()
            try:
                found = self._recorded(trace)
            except Again:
                continue
            if len(self._points) > 1 and version == self._known_version:
                self._join(*found)
                return
            try:
                self._record_all()
                return
            except Again:
                trace = self._points[-1]
        raise NotRepresentable("the ways through the function differ too much to be one program")

    _known_version: Any = None

    def _version(self) -> Any:
        shared: Any = self._shared
        return (
            len(shared.labels),
            frozenset(shared.stale),
            tuple(shared.loops.items()),
            frozenset(shared.unrolled),
            len(shared.promoted),
            len(shared.array_places) + len(shared.changed_arrays) + len(shared.parting),
            sum(map(len, shared.slots.values())),
        )

    def _record_all(self) -> None:
        version = self._version()
        self._shared.fixed.clear()  # type: ignore[union-attr]  # a run has begun
        first = True
        for trace in self._points:
            found = self._recorded(trace)
            if first:
                (self.body, self.result), first = found[:2], False
                self._shared.fixed.update(found[2].fixed)  # type: ignore[union-attr]  # a run has begun
            else:
                self._join(*found)
        if self._version() != version:
            raise Again
        self._known_version = version

    def _join(self, body: Block, result: Template, run: Recorder) -> None:
        try:
            self.body = union(self.body, body)
        except Conflict as error:
            raise NotRepresentable(f"two ways through the function differ in more than numbers: {error}") from None
        if not alike(self.result, result):
            raise NotRepresentable("the results of two ways through the function differ")
        self._shared.fixed.update(run.fixed)  # type: ignore[union-attr]  # a run has begun

    def _recorded(self, trace: Trace) -> tuple[Block, Template, Recorder]:
        """One run."""
        assert self._shared is not None
        self._effort.check()
        known = [self._f, *(one for one in self._args if not is_unknown(one))]
        run = Recorder(self._shared, Outside(self._f, known))
        function: Any = python_function(self._f)
        context = FlowContext(run, frozenset({function.__code__.co_filename}))
        left = [_given(run, argument.template) for argument in trace.arguments]
        given = [left.pop(0) if is_unknown(one) else one for one in self._args]
        try:
            value = overdub(context, self._f, *given)
            result = _template(run, value, 0)
        except NotRepresentable:
            raise
        except Exception as error:
            if run.failure is not None:
                raise run.failure from None
            raise NotRepresentable(f"the function raises {error!r} where it is recorded, {_place(error)}") from error
        finally:
            run.outside.undo()
            self._effort.spent += run.count
        if run.failure is not None:
            raise run.failure
        if not _equal(recorded_value(result), trace.value, promoted=bool(self._shared.promoted)):
            raise NotRepresentable("the recorded run has another result than the function")
        return run.root, result, run


def _place(error: Exception) -> str:
    """The line of the program that has raised an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((one for one in reversed(frames) if not one.filename.startswith(_OWN)), frames[-1])
    return f"at {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}"


def _given(run: Recorder, template: Template) -> Any:
    """An argument with symbols for its numbers."""
    if isinstance(template, Node):
        return Symbol(run, template)
    if isinstance(template, Constant):
        return template.value
    if template.kind not in (list, tuple, dict):
        raise NotRepresentable(f"an argument is a {template.kind.__name__} with unknown numbers")
    parts = tuple(Constant(_given(run, part)) for part in template.parts)
    return run.made(evaluated(Built(template.kind, parts, template.keys), {}))


def _template(run: Recorder, value: Any, depth: int) -> Template:
    if type(value) is Symbol:
        return value.node
    kind = type(value)
    if depth < 20 and (kind in (list, tuple) or hasattr(kind, "_fields")):
        return Built(kind, tuple(_template(run, part, depth + 1) for part in value))
    if depth < 20 and kind is dict:
        return Built(dict, tuple(_template(run, part, depth + 1) for part in value.values()), tuple(value))
    if kind in (int, float, bool, str, type(None)) or run.takes(value):
        return Constant(value.copy() if is_array(value) else value)
    raise NotRepresentable(f"the result has a {kind.__name__}")


def _equal(one: Any, other: Any, promoted: bool = False) -> bool:
    """Whether results are equal; if numbers were promoted, one may be a number of NumPy."""
    if isinstance(one, dict) and type(one) is type(other):
        return list(one) == list(other) and all(
            _equal(*pair, promoted) for pair in zip(one.values(), other.values(), strict=True)
        )
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(_equal(*pair, promoted) for pair in zip(one, other, strict=True))
    if promoted and type(other) in NUMBERS:
        other = numpy_number(type(one))(other) if type(one) not in NUMBERS else other
    return type(one) is type(other) and alike(Constant(one), Constant(other))


# ---- a flow that grows point by point, and what is made of it

Made = TypeVar("Made")


class GrowingFlow(Generic[Made]):
    """The flow of some points.

    Parameters
    ----------
    f, args:
        The function, and its arguments, of which the unknown ones are marked.
    first:
        The trace of the first point.
    functions:
        The functions of numbers that the code may call.
    make:
        What makes code of a flow.
    arrays:
        Whether arrays of NumPy may be unknown.
    most_operations:
        How many operations may be recorded, in all runs of all points.

    Attributes
    ----------
    flow, made:
        The flow, and what is made of it.

    Raises
    ------
    NotRepresentable
        If the flow of the first point cannot be recorded.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        first: Trace,
        functions: frozenset[Any],
        make: Callable[[Flow], Made],
        arrays: bool = False,
        most_operations: float = math.inf,
    ) -> None:
        effort = Effort(most_operations)
        self._new: Callable[[bool], Flow] = lambda keeps_loops: Flow(f, args, functions, keeps_loops, arrays, effort)
        self._make = make
        try:
            self.flow, self.made = self._recorded([first], keeps_loops=True)
        except NotRepresentable:
            self.flow, self.made = self._recorded([first], keeps_loops=False)

    def _recorded(self, points: Iterable[Trace], keeps_loops: bool) -> tuple[Flow, Made]:
        flow = self._new(keeps_loops)
        for one in points:
            flow.add(one)
        return flow, self._make(flow)

    def add(self, trace: Trace) -> None:
        """Add a point. Loops that need not be code are unrolled if the points do not go together otherwise.

        Raises
        ------
        NotRepresentable
            If the point does not go with the others. The flow stays as it is.
        """
        flow = self.flow.copy()
        try:
            flow.add(trace)
            self.flow, self.made = flow, self._make(flow)
        except NotRepresentable:
            if not self.flow.has_staying_loops:
                raise
            self.flow, self.made = self._recorded([*self.flow.points, trace], keeps_loops=False)
