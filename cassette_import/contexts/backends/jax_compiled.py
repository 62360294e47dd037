"""A kernel as a program of XLA, by JAX."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from cassette_import.contexts.backends.jax_flow import JaxFlowKernel
from cassette_import.contexts.backends.jax_kernel import JaxKernel
from cassette_import.contexts.backends.points import Columns, alike, filled
from cassette_import.contexts.graph.kinds import ArrayKind, dtype_of, kind_of, name_of, shape_of
from cassette_import.contexts.graph.nodes import Node
from cassette_import.contexts.graph.tracing import Trace
from cassette_import.errors import CassetteError

__all__ = ["JaxCompiled"]

_EXACT: Final[dict[str, Any]] = {
    "xla_backend_optimization_level": 0,
    "xla_disable_hlo_passes": "fusion,algsimp",
}
"""Numbers are rounded as in Python. Where XLA compiles several operations as one, it fuses products and sums, which are
rounded once then, and its algebraic simplifier makes `x / (y / z)` one quotient of a product."""


class JaxCompiled:
    """The program of a kernel. It is compiled as soon as it is needed: for numbers, and for arrays of a few lengths.

    `seconds` says how long the compiler has taken.
    """

    def __init__(self, kernel: JaxKernel | JaxFlowKernel) -> None:
        self.kernel = kernel
        self.function = kernel.function()
        self.seconds = 0.0
        self._compiled: dict[int | None, Any] = {}

    def _program(self, length: int | None) -> Any:
        """The program for arrays of a length; for numbers if it is None."""
        import jax

        made = self._compiled.get(length)
        if made is None:
            before = time.perf_counter()
            axis = () if length is None else (length,)
            function = self.function if length is None else jax.vmap(self.function)
            kinds = [kind_of(node.value) for node in self.kernel.inputs]
            examples = [jax.ShapeDtypeStruct((*axis, *shape_of(kind)), dtype_of(kind)) for kind in kinds]
            options = None if self.kernel.has_arrays else _EXACT
            made = jax.jit(function, compiler_options=options).lower(*examples).compile()
            self._compiled[length] = made
            self.seconds += time.perf_counter() - before
        return made

    def call(self, numbers: Sequence[Any]) -> tuple[int, list[Any]] | None:
        """The path and the numbers of a result; None if Python has to compute it."""
        import jax
        import numpy

        with jax.enable_x64(True):
            path, floats, integers, arrays = self._program(None)(
                *(
                    numpy.asarray(one, dtype_of(kind_of(node.value)))
                    for one, node in zip(numbers, self.kernel.inputs, strict=True)
                )
            )
        number = int(path)
        if number < 0:
            return None
        rows = {float: iter(floats), int: iter(integers)}
        rows[bool] = rows[int]
        of_arrays = iter(arrays)
        return number, [
            _as_numpy(next(of_arrays), kind) if isinstance(kind, ArrayKind) else kind(next(rows[kind]).item())
            for kind in self.kernel.kinds[number]
        ]

    def loop(self, arrays: Sequence[Any], results: Columns, traces: Sequence[Trace]) -> list[int]:
        """Put the results of all points into columns; returns the places of those that Python has to compute."""
        import jax
        import numpy

        size = results.size
        if not size:
            return []
        more = _length(size) - size
        with jax.enable_x64(True):
            found = self._program(size + more)(*(numpy.pad(array, (0, more), "edge") for array in arrays))
        paths = numpy.asarray(found[0])[:size]
        floats, integers = ([numpy.asarray(row)[:size] for row in rows] for rows in found[1:3])
        for path, trace in enumerate(traces):
            places = paths == path
            if places.any():
                results.put_path(trace.result, places, floats, integers)
        return [int(place) for place in numpy.flatnonzero(paths < 0)]


def _as_numpy(array: Any, kind: ArrayKind) -> Any:
    """An array of NumPy that can be changed, or one of its numbers."""
    import numpy

    found = numpy.array(array)
    return found if issubclass(kind.owner, numpy.ndarray) else found[()]


def _length(size: int) -> int:
    """A length of arrays that is somewhat larger, so that few lengths are compiled."""
    step = 1 << max(size.bit_length() - 4, 6)
    return -(-size // step) * step


def function_of_floats(compiled: JaxCompiled, traces: Sequence[Trace]) -> Callable[..., Any]:
    """The compiled paths as a function of JAX, whose result is NaN where Python has to compute it.

    Raises
    ------
    ValueError
        If arguments or results are no floats, or the results of two paths differ in structure.
    """
    result = traces[0].result
    arguments = [kind_of(one.template.value) for one in traces[0].arguments if isinstance(one.template, Node)]
    has_parts = len(arguments) < len(traces[0].arguments)
    floats = all(map(_is_of_floats, (*arguments, *compiled.kernel.kinds[0])))
    if has_parts or not floats or not all(alike(result, trace.result) for trace in traces):
        raise ValueError("a function of JAX has floats as arguments and results, or arrays of them: return these alone")

    def function(*values: Any) -> Any:
        import jax
        import jax.numpy as jnp

        if not jax.config.jax_enable_x64:
            raise CassetteError("64-bit numbers of JAX are off: use `with jax.enable_x64(True):`")
        if len(values) != len(compiled.kernel.inputs):
            raise TypeError(f"the function has {len(compiled.kernel.inputs)} arguments, not {len(values)}")
        found = {str(jnp.result_type(one)) for one in values}
        if found != {"float64"} == {*map(dtype_of, arguments)}:
            raise TypeError(f"the arguments are 64-bit floats, not {', '.join(sorted(found))}")
        for value, kind in zip(values, arguments, strict=True):
            given = f"{jnp.result_type(value)}{list(jnp.shape(value))}"
            if given != f"{dtype_of(kind)}{list(shape_of(kind))}":
                raise TypeError(f"an argument is {given}, and its example was {name_of(kind)}: give such an example")
        return filled(result, iter(numbers_of(*map(jnp.asarray, values))))

    numbers_of = _differentiable(compiled)
    return function


def _is_of_floats(kind: Any) -> bool:
    return kind is float or (isinstance(kind, ArrayKind) and kind.dtype.startswith("float"))


def _differentiable(compiled: JaxCompiled) -> Callable[..., Any]:
    """The floats of the result, for all kinds of derivatives of JAX."""
    import jax
    import jax.numpy as jnp

    def numbers_of(*values: Any) -> tuple[Any, ...]:
        path, floats, _, arrays = compiled.function(*values)
        factor = jnp.where(path < 0, jnp.nan, 1.0)
        nothing = (factor - 1.0) * sum(map(jnp.sum, values))  # it makes derivatives NaN where the result is
        rows = {True: iter(floats), False: iter(arrays)}
        found = [next(rows[kind is float]) for kind in compiled.kernel.kinds[0]]
        return tuple(jnp.where(path < 0, (one * factor + nothing).astype(one.dtype), one) for one in found)

    if not compiled.kernel.has_open_loops:
        return numbers_of
    made: Any = jax.custom_jvp(numbers_of)

    def derivative(values: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        """JAX differentiates a `while_loop` forwards only; what it gives is linear, so it goes backwards as well."""
        rows = jax.jacfwd(numbers_of, tuple(range(len(values))))(*values)
        changes = (
            sum(jnp.tensordot(part, tangent, tangent.ndim) for part, tangent in zip(row, tangents, strict=True))
            for row in rows
        )
        return numbers_of(*values), tuple(changes)

    made.defjvp(derivative)
    found: Callable[..., Any] = made
    return found
