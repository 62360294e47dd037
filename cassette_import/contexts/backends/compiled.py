"""A kernel as machine code, by numba."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from types import FunctionType
from typing import Any, Final

from cassette_import.contexts.backends.helper_functions import HELPERS
from cassette_import.contexts.backends.kernel import KERNEL, LOOP, MISSING, Kernel
from cassette_import.contexts.backends.points import Columns
from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.tracing import Trace

__all__ = ["Compiled"]

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


class Compiled:
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
