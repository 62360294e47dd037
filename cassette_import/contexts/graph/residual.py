"""`residual` and `inline`: partial evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.contexts.graph.context import LITERALS
from cassette_import.contexts.graph.errors import GuardFailed, NotRepresentable
from cassette_import.contexts.graph.flow import Flow
from cassette_import.contexts.graph.flow.growing import GrowingFlow
from cassette_import.contexts.graph.flow.uses import has_open_loops
from cassette_import.contexts.graph.flow_program import NUMBER_FUNCTIONS, flow_program
from cassette_import.contexts.graph.kinds import NUMBERS
from cassette_import.contexts.graph.nodes import Constant, Guard, leaves_in
from cassette_import.contexts.graph.program import aligned, program
from cassette_import.contexts.graph.tracing import Trace, argument_names, is_unknown, trace, unknown
from cassette_import.interpreter.callables import python_function

__all__ = ["Residual", "inline", "residual"]

_MODES: Final = ("trace", "call", "raise")
_MOST_PATHS: Final = 50
_MOST_REFUSED: Final = 10
_MOST_OPERATIONS: Final = 300_000  # to be recorded, so that loops stay loops: some ten seconds


class Residual:
    """A function of the unknown arguments, which computes what is left of another one. `residual` makes it.

    Attributes
    ----------
    source:
        The program as text: it imports the standard library and NumPy alone.

    Example
    -------
    >>> def magnitude(x, scale):
    ...     return x * scale if x > 0 else -x * scale
    >>> scaled = residual(magnitude, unknown("x", 1.0), 3.0)
    >>> scaled(-2.0), scaled.paths
    (6.0, 2)
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], on_guard: str, keeps_loops: bool = True) -> None:
        self._f = f
        self._args = args
        self._on_guard = on_guard
        function = python_function(f)
        self._name = "residual" if function is None else function.__name__.strip("<>")
        self._traces: list[Trace] = []
        self._refused = 0
        self.source = ""
        self._program: Callable[..., Any] = len
        first = trace(f, args)
        self._use(program(self._name, [first]))
        self._traces.append(first)
        self._flow: GrowingFlow[str] | None = None
        if keeps_loops and any(isinstance(step, Guard) for step in first.steps):
            self._begin_flow(first)

    def __call__(self, *values: Any) -> Any:
        """The result for the unknown arguments."""
        try:
            return self._program(*values)
        except Exception as error:
            failed = error
        return self._elsewhere(values, failed)  # outside of the handler: the function must not see the exception

    @property
    def paths(self) -> int:
        """How many paths the program has; if it has loops, from how many runs it was made."""
        return len(self._traces)

    @property
    def traces(self) -> Sequence[Trace]:
        """The paths, in the order in which they were added."""
        return tuple(self._traces)

    @property
    def original(self) -> Callable[..., Any]:
        """The function itself."""
        return self._f

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Its arguments, the unknown ones marked."""
        return self._args

    def _use(self, source: str) -> None:
        namespace: dict[str, Any] = {}
        exec(compile(source, f"<residual of {self._name}>", "exec"), namespace)
        definition: Any = ast.parse(source).body[-1]
        self.source, self._program = source, namespace[definition.name]

    def _add(self, found: Trace) -> None:
        """Add a path: as a point of the flow if the program has loops, else as a path of its own."""
        is_point = self._flow is not None and self._extends(self._flow, found)
        if self._flow is not None and self._flow.made:
            self._traces += [found] if is_point else []
        elif all(_is_alike(found, one) and aligned(one, found) for one in self._traces):
            try:
                self._use(program(self._name, [*self._traces, found]))
            except NotRepresentable:
                return  # the program keeps the paths that it has
            self._traces.append(found)

    # ---- loops

    def _begin_flow(self, first: Trace) -> None:
        """Record the flow, in which loops stay loops. Without such loops, paths are the program."""
        if not _has_numbers(first):
            return
        try:
            self._flow = GrowingFlow(
                self._f, self._args, first, NUMBER_FUNCTIONS, self._program_of, most_operations=_MOST_OPERATIONS
            )
        except NotRepresentable:
            return
        if self._flow.made:
            self._use(self._flow.made)

    def _extends(self, flow: GrowingFlow[str], found: Trace) -> bool:
        """Add a point to the flow. One that does not go with the first ends the flow, later ones are left out."""
        try:
            if not _has_numbers(found):
                raise NotRepresentable("other values than numbers")
            flow.add(found)
        except NotRepresentable:
            if flow.made and len(flow.flow.points) > 1:
                self._refused += 1
            else:
                self._flow = None
            return False
        if flow.made:
            self._use(flow.made)
        return True

    def _program_of(self, flow: Flow) -> str:
        return flow_program(self._name, flow) if has_open_loops(flow.body) else ""

    def _elsewhere(self, values: tuple[Any, ...], error: Exception) -> Any:
        """The result where the program has no path for the arguments, or has raised an exception."""
        self._check_count(values)
        if self._on_guard == "raise":
            raise GuardFailed(f"another path: {error}") from error
        is_full = len(self._traces) >= _MOST_PATHS or self._refused >= _MOST_REFUSED
        if self._on_guard == "call" or is_full or not self._has_structure(values):
            return self.computed(values)
        try:
            found = self.traced(values)
        except NotRepresentable:
            return self.computed(values)
        self._add(found)
        return found.value

    def _check_count(self, values: tuple[Any, ...]) -> None:
        count = sum(map(is_unknown, self._args))
        if len(values) != count:
            raise TypeError(f"the function has {count} unknown arguments, not {len(values)}") from None

    def _has_structure(self, values: tuple[Any, ...]) -> bool:
        """Whether arguments have the types and the structure of the examples, so that a path can be added."""
        try:
            for argument, value in zip(self._traces[0].arguments, values, strict=True):
                argument.read(value, {})
        except GuardFailed:
            return False
        return True

    def traced(self, values: tuple[Any, ...]) -> Trace:
        """The trace for the unknown arguments; it is not added to the program."""
        left = list(values)
        return trace(self._f, tuple(unknown(one.name, left.pop(0)) if is_unknown(one) else one for one in self._args))

    def computed(self, values: tuple[Any, ...]) -> Any:
        """The result of the function itself. What it writes into its known arguments is undone."""
        self._check_count(values)
        if any(one.is_changed for one in self._traces):
            return self.traced(values).value
        left = list(values)
        return self._f(*[left.pop(0) if is_unknown(one) else one for one in self._args])

    def __repr__(self) -> str:
        return f"<Residual with {len(self._traces)} paths>"


def _is_alike(one: Trace, other: Trace) -> bool:
    """Whether the arguments of two traces have the same structure and types."""
    return [(node.name, node.type) for node in one.inputs] == [(node.name, node.type) for node in other.inputs]


def _has_numbers(found: Trace) -> bool:
    """Whether a trace computes with numbers alone, and returns no object that is older than the call."""
    parts = [one.value for one in leaves_in(found.result) if isinstance(one, Constant)]
    return all(node.type in NUMBERS for node in found.inputs) and all(type(one) in LITERALS for one in parts)


def marked(f: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as unknown ones; as they are, if some are marked already."""
    if any(map(is_unknown, args)):
        return args
    return tuple(unknown(*pair) for pair in zip(argument_names(f, len(args)), args, strict=True))


def residual(f: Callable[..., Any], *args: Any, on_guard: str = "trace") -> Residual:
    """What is left of an unmodified function where some of its arguments are known: a function of the others.

    Parameters
    ----------
    f:
        A function. Its own module and installed packages are overdubbed.
    args:
        The arguments. Those marked by `unknown` stay, the others are known.
    on_guard:
        What happens where a decision differs from those that were traced. ``"trace"``: the new path is traced, and
        added to the program. ``"call"``: the function itself is called. ``"raise"``: `GuardFailed` is raised.

    Returns
    -------
    The function of the unknown arguments. Its `source` is a program.

    Raises
    ------
    NotRepresentable
        If the function does something that a program cannot represent exactly.
    NotOverdubbable
        If the function has no Python source.
    ValueError
        If no argument is unknown, or `on_guard` is another text.

    >>> def power(x, n):
    ...     return 1.0 if n == 0 else x * power(x, n - 1)
    >>> cube = residual(power, unknown("x", 2.0), 3)
    >>> cube(5.0)
    125.0
    >>> print(cube.source.splitlines()[-1].strip())
    return (x * (x * (x * 1.0)))
    """
    if on_guard not in _MODES:
        raise ValueError(f"on_guard is one of {', '.join(_MODES)}, not {on_guard!r}")
    if not any(map(is_unknown, args)):
        raise ValueError("no argument is unknown: mark one by unknown(name, example)")
    return Residual(f, args, on_guard)


def inline(f: Callable[..., Any], *args: Any) -> Residual:
    """One new function of an unmodified function and all functions that it calls: `residual` with everything unknown.

    Parameters
    ----------
    f:
        A function. Its own module and installed packages are overdubbed.
    args:
        Examples of all its arguments.

    Returns
    -------
    The function. Its `source` is a program.

    >>> def program(x, y):
    ...     def double(number):
    ...         return number + number
    ...     return double(x) * double(y)
    >>> inline(program, 1.0, 2.0)(3.0, 4.0)
    48.0
    """
    pairs = zip(argument_names(f, len(args)), args, strict=True)
    return residual(f, *[unknown(*pair) for pair in pairs])
