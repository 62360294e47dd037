"""A compiled function: which of its points compiled code computes, and which Python does, and when to compile again."""

from __future__ import annotations

import importlib
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from types import FunctionType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from cassette_import.contexts.backends.jax_code import JaxCompiled, JaxFlowKernel, JaxKernel, function_of_floats
from cassette_import.contexts.backends.kernel import HELPERS, KERNEL, LOOP, MISSING, FlowKernel, Kernel, leaves
from cassette_import.contexts.backends.operations import FUNCTIONS
from cassette_import.contexts.backends.points import Columns, as_columns
from cassette_import.contexts.graph import GuardFailed, NotRepresentable, unknown
from cassette_import.contexts.graph.flow import Flow
from cassette_import.contexts.graph.flow.recording import GrowingFlow
from cassette_import.contexts.graph.nodes import ArrayKind, Node, Step, evaluated, kind_of
from cassette_import.contexts.graph.residual import Residual
from cassette_import.contexts.graph.tracing import Trace, is_unknown, marked
from cassette_import.errors import CassetteError
from cassette_import.interpreter.installed_packages import is_installed, needs

__all__ = ["Explorer", "Jitted", "jit"]


# ---- which points a flow still lacks: its kernel, run by Python, comes to a side of a branch that no point has taken

_MOST_REFUSED: Final = 10
_MOST_POINTS: Final = 200


class Explorer:
    """Adds points to the flow of a program.

    Parameters
    ----------
    program:
        The residual program, which traces points.
    make:
        What makes a kernel of a flow.
    arrays:
        Whether kernels can have arrays.

    Raises
    ------
    NotRepresentable
        If the flow of the program's first point cannot be recorded.
    """

    def __init__(self, program: Residual, make: Callable[[Flow], FlowKernel], arrays: bool = False) -> None:
        self._program = program
        self._refused = 0
        self.is_hopeless = False
        """Whether the first two ways differ in more than numbers, so that each path has to be compiled by itself."""
        self._steps: Callable[..., Any] | None = None
        self._growing = GrowingFlow(program.original, program.arguments, program.traces[0], FUNCTIONS, make, arrays)

    @property
    def flow(self) -> Flow:
        """The flow of the points."""
        return self._growing.flow

    @property
    def kernel(self) -> FlowKernel:
        """The kernel of the flow."""
        return self._growing.made

    def explore(self, points: Iterable[tuple[Sequence[Any], tuple[Any, ...]]]) -> bool:
        """Add the points that take new sides.

        Parameters
        ----------
        points:
            The numbers of each point, and its arguments.

        Returns
        -------
        Whether the kernel is another one now.
        """
        before = self.kernel
        for numbers, values in points:
            if self._refused < _MOST_REFUSED and len(self.flow.points) < _MOST_POINTS and self._is_new(numbers):
                self._add(values)
        return self.kernel is not before

    def _is_new(self, point: Sequence[Any]) -> bool:
        if self._steps is None:
            names: dict[str, Any] = dict(self.kernel.arrays)
            exec(compile(self.kernel.in_python, "<kernel>", "exec"), names)
            self._steps = names[KERNEL]
        try:
            return bool(self._steps(*point)[0] == MISSING)
        except (ArithmeticError, ValueError, TypeError):
            return False  # Python raises here, and machine code does not

    def _add(self, point: tuple[Any, ...]) -> None:
        try:
            trace = self._program.traced(point)
        except NotRepresentable:
            self._refused += 1
            return
        except Exception:
            return  # the function raises it, and does so when it is called
        try:
            self._growing.add(trace)
        except NotRepresentable:
            self._refused += 1
            self.is_hopeless |= len(self.flow.points) == 1
            return
        self._steps = None


# ---- a kernel as machine code, by numba

_TYPES: Final = {float: "float64", int: "int64", bool: "boolean"}
_OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy", "nogil": True}
"""Tests take the place of exceptions, and `fastmath` is off: numbers are rounded as in Python."""


@cache
def _helpers() -> dict[str, Any]:
    """The functions that kernels call. They are compiled once for all kernels."""
    import numba

    namespace: dict[str, Any] = {}
    exec(compile(HELPERS, "<helpers>", "exec"), namespace)
    return {name: numba.njit(**_OPTIONS)(one) for name, one in namespace.items() if isinstance(one, FunctionType)}


class _Compiled:
    """The machine code of a kernel. `seconds` says how long the compiler has taken.

    Raises
    ------
    NotRepresentable
        If numba cannot compile it.
    """

    def __init__(self, kernel: Kernel) -> None:
        import numba
        import numpy

        self.kernel = kernel
        before = time.perf_counter()
        namespace: dict[str, Any] = {}
        exec(compile(kernel.source, "<kernel>", "exec"), namespace)
        namespace.update(_helpers())
        namespace.update({name: numpy.array(values) for name, values in kernel.tables.items()})
        types = tuple(getattr(numba, _TYPES[node.type]) for node in kernel.inputs)
        try:
            self._kernel = numba.njit(types, **_OPTIONS)(namespace[KERNEL])
        except numba.core.errors.NumbaError as error:
            raise NotRepresentable(f'numba cannot compile this program; use backend="python"\n{error}') from error
        namespace[KERNEL] = self._kernel
        self._loop_source: Any = namespace[LOOP]
        self._loop: Any = None
        self.seconds = time.perf_counter() - before

    def call(self, numbers: Sequence[Any]) -> tuple[int, list[Any]] | None:
        """The path and the numbers of a result; None if Python has to compute it."""
        found = self._kernel(*numbers)
        path = found[0]
        if path < 0:
            return None
        kinds = self.kernel.kinds[path]
        floats, integers = iter(found[1:]), iter(found[1 + self.kernel.floats :])
        return path, [next(floats) if kind is float else kind(next(integers)) for kind in kinds]

    def loop(self, arrays: Sequence[Any], results: Columns, traces: Sequence[Trace]) -> list[int]:
        """Put the results of all points into columns; returns the places of those that Python has to compute."""
        import numba
        import numpy

        if self._loop is None:
            self._loop = numba.njit(**_OPTIONS)(self._loop_source)
        size = results.size
        paths = numpy.empty(size, "int64")
        floats = numpy.empty((self.kernel.floats, size))
        integers = numpy.empty((self.kernel.integers, size), "int64")
        self._loop(*arrays, paths, floats, integers)
        counts = numpy.bincount(paths - MISSING).tolist()[-MISSING:]
        for path, count in enumerate(counts):
            if count:
                places = slice(None) if count == size else paths == path
                results.put_path(traces[path].result, places, floats, integers)
        return [int(place) for place in numpy.flatnonzero(paths < 0)] if sum(counts) < size else []


# ---- a compiled function


class _Compiler(Protocol):
    """What a compiler makes of a kernel."""

    @property
    def kernel(self) -> Kernel: ...

    @property
    def seconds(self) -> float: ...

    def call(self, numbers: Sequence[Any]) -> tuple[int, list[Any]] | None: ...

    def loop(self, arrays: Sequence[Any], results: Columns, traces: Sequence[Trace]) -> list[int]: ...


class _Machine(NamedTuple):
    """A compiled kernel, with its paths."""

    compiler: _Compiler
    traces: Sequence[Trace]


class _Backend(NamedTuple):
    """How a backend makes kernels, and compiles them."""

    paths: Callable[[Sequence[Trace]], Kernel]
    flow: Callable[[Flow], FlowKernel]
    compiled: Callable[[Any], _Compiler]
    takes_arrays: bool = False


_COMPILERS: Final[dict[str, _Backend]] = {
    "numba": _Backend(Kernel, FlowKernel, _Compiled),
    "jax": _Backend(JaxKernel, JaxFlowKernel, JaxCompiled, takes_arrays=True),
}
_BACKENDS: Final = (*_COMPILERS, "python")
_AnyKernel = TypeVar("_AnyKernel", bound=Kernel)
_MOST_STEPS: Final = 3_000
"""How many steps a kernel has at most, so that compiling it does not take minutes."""
_MOST_PASSES: Final = 4
_MOST_SHAPES: Final = 20
_MOST_EXPLORED: Final = 500
"""At so many points of an array at most, Python looks for new sides of branches."""


class Jitted:
    """A compiled function of the unknown arguments. `jit` makes it.

    Attributes
    ----------
    program:
        The residual program that is compiled. Its `source` is readable.
    in_python:
        How many results Python has computed, because no compiled path had them.
    """

    def __init__(self, program: Residual, backend: str) -> None:
        self.program = program
        self.backend = backend
        self.in_python = 0
        self._machine: _Machine | None = None
        self._kernel: Kernel | None = None
        self._others: dict[tuple[Any, ...], Jitted | None] = {}
        self._explorer: Explorer | None = None
        self._traces: list[Trace] = []
        self._seen = 0
        self._seconds_in_python = 0.0
        self._seconds_of_all = 0.0
        self._seconds_before = 0.0
        templates = [argument.template for argument in program.traces[0].arguments]
        self._types = [one.type for one in templates if isinstance(one, Node)]
        self._has_arrays = any(isinstance(kind_of(node.value), ArrayKind) for node in program.traces[0].inputs)
        if len(self._types) < len(templates) or self._has_arrays:
            self._types = []  # some arguments have parts, or a shape
        if backend in _COMPILERS:
            self._begin(_COMPILERS[backend])

    def _begin(self, backend: _Backend) -> None:
        """Make the first kernel: of the flow, or else of the path that was traced."""
        try:
            self._explorer = Explorer(self.program, lambda flow: self._small(backend.flow(flow)), backend.takes_arrays)
        except NotRepresentable as error:
            if self._has_arrays:
                raise  # other kernels have numbers alone
            try:
                self._begin_paths(backend)
            except NotRepresentable:
                if backend.takes_arrays and any(map(_is_of_array, self.program.traces[0].steps)):
                    raise error from None
                raise
        else:
            self._use(self._explorer.kernel)

    def _begin_paths(self, backend: _Backend) -> None:
        self._explorer = None
        self._seen = self.program.paths
        self._use(self._small(backend.paths(self.program.traces)), list(self.program.traces))

    def _small(self, kernel: _AnyKernel) -> _AnyKernel:
        return _small(kernel, self.program.traces[0])

    def _explored(self, points: Iterable[tuple[Sequence[Any], tuple[Any, ...]]]) -> bool:
        """Add points to the flow; returns whether the kernel is another one now."""
        explorer = self._explorer
        if explorer is None:
            return False
        found = explorer.explore(points)
        if explorer.is_hopeless:
            try:
                self._begin_paths(_COMPILERS[self.backend])
                return True
            except NotRepresentable:
                self._explorer, explorer.is_hopeless = explorer, False
        if found:
            self._use(explorer.kernel)
        return found

    @property
    def source(self) -> str:
        """What is compiled, as text."""
        return self.program.source if self._kernel is None else self._kernel.source

    @property
    def function(self) -> Callable[..., Any]:
        """For the backend `"jax"`: the compiled paths as a function that `jax.grad`, `jax.vmap` and `jax.jit` take.

        Its arguments are numbers. Its result is NaN where Python has to compute the result. 64-bit numbers of JAX have
        to be on: ``jax.enable_x64(True)``.

        Raises
        ------
        ValueError
            If the backend is another one, or the arguments or results are no floats.
        """
        compiled = None if self._kernel is None else self._compiled(self._kernel).compiler
        if not isinstance(compiled, JaxCompiled):
            raise ValueError(f'only backend="jax" makes a function of JAX, not {self.backend!r}')
        return function_of_floats(compiled, self._traces)

    @property
    def compile_time(self) -> float:
        """How many seconds the compiler has taken, in all."""
        return self._seconds_before + (0.0 if self._machine is None else self._machine.compiler.seconds)

    @property
    def paths(self) -> int:
        """How many paths were recorded for what is compiled, and for what will be."""
        if self._explorer is not None:
            return len(self._explorer.flow.points)
        return self.program.paths if self._kernel is None else len(self._traces)

    def _compiled(self, kernel: Kernel) -> _Machine:
        """The newest kernel, compiled."""
        machine = self._machine
        if machine is None or machine.compiler.kernel is not kernel:
            if machine is not None:
                self._seconds_before += machine.compiler.seconds
            machine = self._machine = _Machine(_COMPILERS[self.backend].compiled(kernel), tuple(self._traces))
            self._seconds_in_python = 0.0
        return machine

    def _worthwhile(self, kernel: Kernel) -> _Machine:
        """A compiled kernel: the newest one, unless Python has taken less time than the compiler would take for it."""
        machine = self._machine
        if machine is not None and self._seconds_in_python < machine.compiler.seconds:
            return machine
        return self._compiled(kernel)

    def __call__(self, *values: Any) -> Any:
        """The result for the unknown arguments."""
        if self._kernel is None:
            return self.program(*values)
        numbers = self._numbers(values)
        if numbers is None and self._has_arrays:
            return self._with_other_shapes(values)
        if numbers is not None:
            machine = self._worthwhile(self._kernel)
            found = machine.compiler.call(numbers)
            if found is not None:
                path, results = found
                return _rebuilt(machine.traces[path], results)
        result = self._in_python(values)
        if self._explorer is None:
            self._update()
        elif numbers is not None:
            self._explored([(numbers, values)])
        return result

    def map(self, *columns: Any) -> Any:
        """The results for each element of arrays, as the function's result with arrays in place of its numbers.

        Parameters
        ----------
        columns:
            An array of one dimension, or a number, for each unknown argument.

        Returns
        -------
        A number's place is taken by an array with the result of each point.

        Raises
        ------
        ValueError
            If the arguments are no numbers, or the results of two points differ in more than their numbers.
        TypeError
            If the elements of an array have another type than the example.

        >>> import numpy as np
        >>> from cassette_import.contexts.backends import jit
        >>> jit(lambda x, y: (x * y, x > y), 2.0, 3.0, backend="python").map(np.array([1.0, 5.0]), 3.0)
        (array([ 3., 15.]), array([False,  True]))
        """
        first = self.program.traces[0]
        arrays = as_columns(columns, [argument.template for argument in first.arguments])
        results = Columns(first.result, arrays)
        if self._kernel is None:
            for place in range(results.size):
                results.put(place, self.program(*results.point(place)))
            return results.value()
        for place in self._loop(arrays, results):
            results.put(place, self._in_python(results.point(place)))
        if self._explorer is None:
            self._update()
        return results.value()

    def _loop(self, arrays: Sequence[Any], results: Columns) -> Iterator[int]:
        """Compute the points with compiled code; gives the places of those that Python has to compute.

        Sides that no run has taken are compiled as soon as Python has taken as long as the compiler does.
        """
        if self._machine is None:
            self._explore(results, range(results.size))
        done: set[int] = set()
        waiting: deque[int] = deque()
        machine = self._worthwhile(self._kernel)  # type: ignore[arg-type]
        for _ in range(_MOST_PASSES):
            left = machine.compiler.loop(arrays, results, machine.traces)
            waiting = deque(place for place in left if place not in done)
            while waiting and not self._pays(machine, len(waiting)):
                yield waiting[0]
                done.add(waiting.popleft())
            if waiting:
                self._explore(results, waiting)
            if not waiting or machine.compiler.kernel is self._kernel:
                break
            machine = self._compiled(self._kernel)  # type: ignore[arg-type]
        yield from waiting

    def _pays(self, machine: _Machine, count: int) -> bool:
        """Whether Python has taken, and takes for so many more points, as long as the compiler does."""
        mean = self._seconds_of_all / self.in_python if self.in_python else 0.0
        return self._seconds_in_python + count * mean >= machine.compiler.seconds

    def _explore(self, results: Columns, places: Collection[int]) -> bool:
        """Look for new sides of branches at some of the points; returns whether the kernel is another one."""
        chosen = islice(places, 0, None, max(1, len(places) // _MOST_EXPLORED))
        points = (results.point(place) for place in chosen)
        return self._explored((point, point) for point in points)

    def _with_other_shapes(self, values: tuple[Any, ...]) -> Any:
        """The result for arrays of other shapes or types than the examples, for which another function is compiled."""
        kinds = tuple(kind_of(one) for one in values)
        other = self._others.get(kinds)
        if other is None and kinds not in self._others and len(self._others) < _MOST_SHAPES:
            other = self._others[kinds] = self._compiled_for(values)
        if other is None:
            return self._in_python(values)
        before = other.in_python
        try:
            return other(*values)
        finally:
            self.in_python += other.in_python - before

    def _compiled_for(self, values: tuple[Any, ...]) -> Jitted | None:
        """A function with other examples; None if it cannot be compiled for them."""
        left = list(values)
        marked = tuple(unknown(one.name, left.pop(0)) if is_unknown(one) else one for one in self.program.arguments)
        try:
            found = Jitted(Residual(self.program.original, marked, "trace", keeps_loops=False), self.backend)
        except NotRepresentable:
            return None
        return found if found._numbers(values) is not None else None

    # ---- paths

    def _numbers(self, values: tuple[Any, ...]) -> list[Any] | None:
        """The machine numbers of arguments; None if they have other types than the examples, or do not fit."""
        if self._types and [*map(type, values)] == self._types:
            return None if int in self._types and not all(map(_fits, values)) else list(values)
        first = self._traces[0]
        if len(values) != len(first.arguments):
            return None
        results: dict[int, Any] = {}
        try:
            for argument, value in zip(first.arguments, values, strict=True):
                argument.read(value, results)
        except GuardFailed:
            return None
        numbers = [results[node.number] for node in first.inputs]
        alike = all(kind_of(one) is kind_of(node.value) for one, node in zip(numbers, first.inputs, strict=True))
        return numbers if alike and all(map(_fits, numbers)) else None

    def _in_python(self, values: tuple[Any, ...]) -> Any:
        self.in_python += 1
        before = time.perf_counter()
        try:
            return self.program(*values) if self._explorer is None else self.program.computed(values)
        finally:
            seconds = time.perf_counter() - before
            self._seconds_in_python += seconds
            self._seconds_of_all += seconds

    def _update(self) -> None:
        """Compile the paths that Python has found since."""
        found = list(self.program.traces)
        if len(found) == self._seen:
            return
        new, self._seen = found[self._seen :], len(found)
        try:
            self._compile([*self._traces, *new])
        except NotRepresentable:
            for one in new if len(new) > 1 else []:
                try:
                    self._compile([*self._traces, one])
                except NotRepresentable:
                    pass  # Python computes this path

    def _compile(self, traces: list[Trace]) -> None:
        self._use(self._small(_COMPILERS[self.backend].paths(traces)), traces)

    def _use(self, kernel: Kernel, traces: Sequence[Trace] = ()) -> None:
        """Compile a kernel as soon as it is worthwhile."""
        self._kernel = kernel
        self._traces = list(traces or kernel.traces)

    def __repr__(self) -> str:
        return f"<Jitted by {self.backend} with {self.paths} paths>"


def _small(kernel: _AnyKernel, trace: Trace) -> _AnyKernel:
    """The kernel of a function, unless compiling it would take minutes."""
    if kernel.steps > _MOST_STEPS:
        counts = Counter(step.site for step in trace.steps if isinstance(step, Node) and step.site is not None)
        ((site, count),) = counts.most_common(1)
        raise NotRepresentable(
            f"the program has {kernel.steps} operations, and at most {_MOST_STEPS} are compiled; "
            f"{count} of them at {site}: {site.source}\n"
            "Compile the functions that its loops call"
        )
    return kernel


def _is_of_array(step: Step) -> bool:
    """Whether a step makes an array."""
    return isinstance(step, Node) and isinstance(kind_of(step.value), ArrayKind)


def _fits(number: Any) -> bool:
    """Whether a number that may be an integer has 64 bits."""
    return type(number) is not int or -(2**63) <= number < 2**63


def _rebuilt(trace: Trace, numbers: list[Any]) -> Any:
    """The result of a path, of its numbers."""
    if isinstance(trace.result, Node):
        return numbers[0]
    found = {
        part.number: number
        for part, number in zip(leaves(trace.result), numbers, strict=True)
        if isinstance(part, Node)
    }
    return evaluated(trace.result, found)


# ---- `jit`: an unmodified function and all that it calls, compiled by a backend

_EXTRAS: Final = {"numba": "backends", "jax": "jax"}


def jit(f: Callable[..., Any], *examples: Any, backend: str = "numba") -> Jitted:
    """Compile an unmodified function and all functions that it calls, from whatever package.

    Parameters
    ----------
    f:
        A function. Its own module and installed packages are overdubbed.
    examples:
        Examples of its arguments. If some are marked by `unknown`, the others are known.
    backend:
        ``"numba"``: machine code, for programs of numbers (extra `backends`). ``"jax"``: XLA, for such programs, with
        derivatives by `jax.grad` (extra `jax`). ``"python"``: the residual program.

    Returns
    -------
    The function of the unknown arguments. A path that is not compiled yet is traced, and compiled, too.

    Raises
    ------
    NotRepresentable
        If the function does something that the backend cannot represent exactly. The message names the line.
    NotOverdubbable
        If the function has no Python source.
    ValueError
        If there is no such backend.
    CassetteError
        If the backend is not installed.

    >>> def program(x, y):
    ...     def double(number):
    ...         return number + number
    ...     return double(x) * y if x > 0.0 else y
    >>> compiled = jit(program, 1.0, 2.0, backend="python")
    >>> compiled(3.0, 4.0), compiled(-3.0, 4.0), compiled.paths
    (24.0, 4.0, 2)
    """
    if backend not in _BACKENDS:
        raise ValueError(f"backend is one of {', '.join(_BACKENDS)}, not {backend!r}")
    if backend in _EXTRAS:
        _check_installed(backend)
    return Jitted(Residual(f, marked(f, examples), "trace", keeps_loops=backend == "python"), backend)


def _check_installed(backend: str) -> None:
    try:
        if not is_installed(backend):
            raise ModuleNotFoundError(f"there is no package {backend}", name=backend)
        importlib.import_module(backend)
    except ImportError as error:
        raise CassetteError(needs(f'backend="{backend}"', backend, _EXTRAS[backend])) from error
