"""A flow: what a function does for all points that were recorded."""

from __future__ import annotations

import math
import operator
import traceback
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from cassette_import.activation.context import Context
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.graph.flow.blocks import Block, Branch, Conflict, Part, alike, union
from cassette_import.contexts.graph.flow.context import Calls, Loop
from cassette_import.contexts.graph.flow.recorder import (
    Again,
    Recorder,
    Shared,
    Stale,
    Symbol,
    contains_symbol,
    is_array_symbol,
    is_table,
)
from cassette_import.contexts.graph.nodes import (
    NUMBERS,
    Built,
    Constant,
    Node,
    NotRepresentable,
    Template,
    evaluated,
    numpy_number,
)
from cassette_import.contexts.graph.outside import Outside
from cassette_import.contexts.graph.tracing import Trace, is_unknown
from cassette_import.interpreter.callables import python_function
from cassette_import.kits.numbers.numeric_values import is_array
from cassette_import.passes.if_conversion import loop_conversion
from cassette_import.passes.if_conversion.uniform import UNIFORM
from cassette_import.rewriting.events import Events

__all__ = ["Choice", "Effort", "Flow", "FlowContext", "Frame", "GrowingFlow", "choice_of"]


# ---- what converted code calls at its branches and returns: the run takes one side, and is recorded on it

_Values = tuple[Any, ...]


def choice_of(run: Recorder, test: Any, names: tuple[str, ...]) -> Any:
    """The choice for a test; `names` are those of the variables after it."""
    if type(test) is not Symbol:
        return UNIFORM[bool(test)]
    return Choice(run, test.node, names)


class Choice:
    """A branch of which this run takes one side."""

    __slots__ = ("_block", "_key", "_names", "_run", "_truth")
    both: Final = True

    def __init__(self, run: Recorder, node: Node, names: tuple[str, ...]) -> None:
        self._run = run
        self._names = names
        self._truth = bool(node.value)
        self._key = run.place()
        self._block = run.block
        side = Block((*self._key, self._truth))
        run.add(Branch(node, {self._truth: side}))
        run.block = side
        run.opens(self._key)

    def one(self) -> bool:
        """Whether the first side runs."""
        return self._truth

    def two(self) -> bool:
        """Whether the second side runs."""
        return not self._truth

    def swap(self, *values: Any) -> _Values:
        """The variables before the second side."""
        return values

    def join(self, *values: Any) -> _Values:
        """End the side; return the variables after it."""
        run = self._run
        run.closes(self._key)
        if run.active:
            values = run.arrive(self._key, values, self._names)
        else:
            self._block.cut = True
            run.block.cut = True
        run.block = self._block
        return values

    def value(self, one: Any, other: Any) -> Any:
        """The value of an expression of which one side has run."""
        return self.join(one if self._truth else other)[0]


class Frame:
    """A function with several returns. If the arguments decide between them, its body is a part that jumps leave."""

    def __init__(self, run: Recorder) -> None:
        self._run = run
        self._key = (*run.place(), "return")
        self._start = self._block = run.block
        self._value: Any = None
        self.value: Any = None
        self._is_part = self._key in run.shared.labels
        self._has_returned = False
        self._loops = len(run.loops)
        if self._is_part:
            part = Part(self._key, Block((*self._key, "body")))
            run.add(part)
            run.block = self._block = part.body
            run.opens(self._key)

    def returns(self, value: Any) -> bool:
        """Whether to return now; otherwise, the jump is recorded."""
        run = self._run
        if run.block is not self._block:
            for loop in run.loops[self._loops :]:
                loop.is_returned_from()
        if not self._is_part:
            del run.loops[self._loops :]
            if run.block is not self._start:
                run.shared.labels.add(self._key)
                raise Again
            self.value = value
            return True
        self._arrives(value)
        run.jumps(self._key)
        return False

    def _arrives(self, value: Any) -> None:
        run = self._run
        run.notes(self._key, self._key)
        self._value = run.arrive(self._key, (value,))[0]
        self._has_returned = True

    def alone(self) -> None:
        """Refuse a `return` in a `try` or `with` statement that only some arguments make."""
        if self._is_part or self._run.block is not self._start:
            raise self._run.refuse("a return from a try or with statement depends on the arguments")

    def result(self) -> Any:
        """The value of the function, at its end."""
        run = self._run
        if not self._is_part:
            return None
        if run.active:
            self._arrives(None)
        while run.regions and run.regions.pop()[0] != self._key:
            pass
        run.block = self._start
        run.active = True
        del run.loops[self._loops :]
        return self._value


# ---- the context of a recorded run: what converted code calls


class FlowContext(Context, Calls, events=Events.NONE):
    """Runs a function with symbols in the place of numbers, and records what it does with them."""

    passes: Any = [loop_conversion]

    def __init__(self, run: Recorder, roots: frozenset[str]) -> None:
        Context.__init__(self)
        Calls.__init__(self, run, roots)

    # ---- branches

    def choice(self, test: Any, *saved: Any, names: tuple[str, ...] = ()) -> Any:
        """A branch."""
        return choice_of(self.run, test, names)

    def loop(self, *iterable: Any, names: tuple[str, ...] = ()) -> Loop:
        """A loop."""
        return Loop(self.run, iterable[0] if iterable else None, names)

    def frame(self) -> Frame:
        """A function that is left in several places."""
        return Frame(self.run)

    def alive(self) -> bool:
        """Whether the run has not left."""
        return self.run.active

    # ---- expressions

    def not_(self, value: Any) -> Any:
        """`not value`."""
        return self.run.operation(operator.not_, value) if type(value) is Symbol else not value

    def is_(self, one: Any, other: Any) -> Any:
        """`one is other`."""
        for value in (one, other):
            if type(value) is Stale:
                raise value.error()
        if type(one) is Symbol and type(other) is Symbol:
            raise self.run.refuse("the identity of an unknown number decides")
        for symbol, single in ((one, other), (other, one)):
            if type(symbol) is Symbol:
                if type(single) is not symbol.node.type:
                    return False
                if type(single) is bool:
                    return self.run.operation(operator.eq, symbol, single)
                raise self.run.refuse("the identity of an unknown number decides")
        return one is other

    def contains(self, item: Any, container: Any) -> Any:
        """`item in container`: each comparison is a check."""
        if contains_symbol(item) and not isinstance(container, (list, tuple)):
            raise self.run.refuse("an unknown number is looked up")
        return item in container

    def item(self, holder: Any, key: Any) -> Any:
        """`holder[key]`."""
        if contains_symbol(key):
            if is_array_symbol(holder) or (self.run.arrays and is_array(holder)):
                return self.run.item(holder, key)
            if is_array_symbol(key) and key.node.value.dtype.kind in "iu":
                key = self.run.operation(int, key)
            if type(key) is Symbol and key.node.type in (int, bool) and is_table(holder):
                return self.run.item(holder, key)
            raise self.run.refuse("an item with an unknown index is read")
        return holder[key]

    def mod(self, one: Any, other: Any) -> Any:
        """`one % other`."""
        if contains_symbol(other) and isinstance(one, (str, bytes)):
            raise self.run.refuse("the text of an unknown number is made")
        return one % other

    def subject(self, value: Any) -> Any:
        """The subject of `match`."""
        if contains_symbol(value):
            raise self.run.refuse("an unknown number is the subject of match")
        return value

    def made(self, value: Any) -> Any:
        """A display."""
        return self.run.made(value)

    # ---- variables, exceptions, scopes

    def caught(self) -> None:
        """Refuse a handler: what raised was a way of its own."""
        raise self.run.refuse("the program catches an exception")

    def refuses(self, what: str) -> None:
        """Refuse a construct."""
        raise self.run.refuse(f"{what} cannot be followed")


# ---- a flow: what a function does for all points that were recorded

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
        results = {node.number: node.value for node in trace.inputs}
        expected = trace.value
        found = evaluated(_values(result), results)
        if not _equal(found, expected, promoted=bool(self._shared.promoted)):
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
    parts = [_given(run, part) for part in template.parts]
    if template.kind in (list, tuple):
        return run.made(template.kind(parts))
    if template.kind is dict:
        return run.made(dict(zip(template.keys, parts, strict=True)))
    raise NotRepresentable(f"an argument is a {template.kind.__name__} with unknown numbers")


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


def _values(template: Template) -> Template:
    """The template with values in the place of nodes."""
    if isinstance(template, Node):
        return Constant(template.value)
    if isinstance(template, Built):
        return Built(template.kind, tuple(map(_values, template.parts)), template.keys)
    return template


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
