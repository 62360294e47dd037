"""A kernel as machine code, by numba. Knows numba; must not know traces' steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cassette_import.contexts.backends.kernel import KERNEL, LOOP, MISSING, Kernel
from cassette_import.contexts.backends.points import Columns
from cassette_import.contexts.graph.tracing import Trace

__all__ = ["Compiled"]

_TYPES: Final = {float: "float64", int: "int64", bool: "boolean"}


class Compiled:
    """The machine code of a kernel."""

    def __init__(self, kernel: Kernel) -> None:
        import numba

        self.kernel = kernel
        namespace: dict[str, Any] = {}
        exec(compile(kernel.source, "<kernel>", "exec"), namespace)
        # Tests take the place of exceptions, and `fastmath` is off: numbers are rounded as in Python.
        options = {"error_model": "numpy", "nogil": True}
        for name, value in list(namespace.items()):
            if name.startswith("_") and hasattr(value, "__code__"):
                namespace[name] = numba.njit(**options)(value)
        types = tuple(getattr(numba, _TYPES[node.type]) for node in kernel.inputs)
        self._kernel = numba.njit(types, **options)(namespace[KERNEL])
        namespace[KERNEL] = self._kernel
        self._loop_source: Any = namespace[LOOP]
        self._loop: Any = None
        self._options = options

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
            self._loop = numba.njit(**self._options)(self._loop_source)
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
