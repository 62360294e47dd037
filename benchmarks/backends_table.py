#!/usr/bin/env python3
"""Compares ways to run functions of five packages at many points: Python, `jit` with numba and JAX, `lanes`, and C.

    python benchmarks/backends_table.py [--points 1000000] [--rounds 3] [--packages NAME …]     # prints a table
    python benchmarks/backends_table.py --output docs/contexts-backends.md                      # writes it there, too

All ways take turns in one process. Values are the least time of the processor for each point, in microseconds; JAX and
`lanes` get a tenth of the points, and Python a thousand. The time to the first results, of a tenth of the points, is
that of the processor, too. Each result is compared with Python's at some points. Ways and packages that are not
installed are left out. A document has the rows that are done after each of them.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import importlib.util
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lanes_functions as functions  # noqa: E402
from benchmarks.results import put_into  # noqa: E402
from cassette_import import install  # noqa: E402
from cassette_import.contexts.backends import jit  # noqa: E402
from cassette_import.contexts.graph import unknown  # noqa: E402
from cassette_import.contexts.lanes import vectorize  # noqa: E402

COMPARED: Final = 1000
"""At so many points, results are compared with Python's."""
PACKAGES: Final = ("sgp4", "geographiclib", "fluids", "chemicals", "astral")
MODULES: Final = {"geographiclib": "geographiclib.geodesic", "chemicals": "chemicals.iapws", "astral": "astral.sun"}
"""What the functions import, so that it is imported before they are recorded."""
SECONDS: Final = 60
"""No third round begins after a row has taken so long."""
WAYS: Final = ("Python", "numba", "JAX", "lanes", "C")
DEEP: Final = (
    "1 08195U 75081A   06176.33215444  .00000099  00000-0  11873-3 0   813",
    "2 08195  64.1586 279.0717 6877146 264.7651  20.2257  2.00491383225656",
)


class Program(NamedTuple):
    """A function and its columns, what `jit` gets, and the same in C."""

    name: str
    f: Callable[..., Any]
    columns: list[Any]
    package: str
    jitted: tuple[Any, ...]
    compiled: Callable[..., Any] | None = None


def programs(points: int) -> Iterator[Program]:
    """The functions whose packages are installed."""
    source = np.random.default_rng(1)

    def between(low: float, high: float) -> Any:
        return source.uniform(low, high, points)

    if _is_installed("sgp4"):
        yield from _satellites(between(0, 1440))
    if _is_installed("geographiclib"):
        places = [between(-90, 90), between(-180, 180), between(-90, 90), between(-180, 180)]
        yield Program("geographiclib `Inverse`", functions.distance, places, "geographiclib", (), _in_proj())
        place = [between(-90, 90), between(-180, 180), between(-180, 180), between(0, 2e7)]
        yield Program("geographiclib `Direct`", functions.destination, place, "geographiclib", ())
    if _is_installed("fluids"):
        columns = [10 ** between(2, 8), 10 ** between(-6, -2)]
        yield Program("fluids `friction_factor`", functions.friction, columns, "fluids", ())
    if _is_installed("chemicals"):
        columns = [between(300, 1000), 10 ** between(4, 7.9)]
        yield Program("chemicals `iapws97_rho`", functions.water, columns, "chemicals", ())
    if _is_installed("astral"):
        yield Program("astral, two functions of the sun", functions.sun_path, [between(-1, 1)], "astral", ())


def _satellites(minutes: Any) -> Iterator[Program]:
    from sgp4.api import Satrec
    from sgp4.earth_gravity import wgs72
    from sgp4.io import twoline2rv
    from sgp4.propagation import sgp4

    for name, lines in (("sgp4, near the earth", functions.LINES), ("sgp4, deep space", DEEP)):
        known = twoline2rv(*lines, wgs72)
        own = Satrec.twoline2rv(*lines)

        def position(t: float, known: Any = known) -> Any:
            return sgp4(copy.copy(known), t, wgs72)

        def array(t: Any, own: Any = own) -> Any:
            return own.sgp4_array(np.full(len(t), own.jdsatepoch), own.jdsatepochF + t / 1440.0)

        yield Program(name, position, [minutes], "sgp4", (sgp4, known, unknown("t", 100.0), wgs72), array)


def _in_proj() -> Callable[..., Any] | None:
    if not _is_installed("pyproj"):
        return None
    from pyproj import Geod

    ellipsoid = Geod(ellps="WGS84")
    return lambda lat1, lon1, lat2, lon2: ellipsoid.inv(lon1, lat1, lon2, lat2)


def _is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def numbers(result: Any) -> list[Any]:
    """The numbers of a result, in their order."""
    if isinstance(result, (tuple, list)):
        return [number for part in result for number in numbers(part)]
    return [result]


def difference(f: Callable[..., Any], columns: Sequence[Any], found: Any) -> float:
    """The largest relative difference to Python's results."""
    arrays = [np.asarray(column) for column in numbers(found)]
    worst = 0.0
    for place in range(min(COMPARED, len(columns[0]))):
        expected = numbers(f(*[column[place].item() for column in columns]))
        for array, number in zip(arrays, expected, strict=True):
            if array[place] != number:
                worst = max(worst, abs(array[place] - number) / abs(number))
    return worst


class Row:
    """The measurements of one function."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.least: dict[str, float] = {}
        self.compile: dict[str, float] = {}
        self.worst: dict[str, float] = {}

    def measure(self, rounds: int) -> None:
        """Run all ways, in turn."""
        program = self.program
        few = [column[:COMPARED] for column in program.columns]
        tenth = self._tenth()
        begin = time.monotonic()
        ways: dict[str, tuple[Callable[..., Any], list[Any]]] = {"Python": (_looped(program.f), few)}
        for way, backend in (("numba", "numba"), ("JAX", "jax")):
            if _is_installed(backend):
                ways[way] = self._compiled(way, backend), program.columns if way == "numba" else tenth
        ways["lanes"] = vectorize(program.f, packages=[program.package]), tenth
        if program.compiled is not None:
            ways["C"] = program.compiled, program.columns
        for number in range(rounds):
            if number > 1 and time.monotonic() - begin > SECONDS:
                break
            for way, (call, columns) in ways.items():
                start = time.process_time()
                call(*columns)
                took = (time.process_time() - start) / len(columns[0]) * 1e6
                self.least[way] = min(took, self.least.get(way, took))

    def _compiled(self, way: str, backend: str) -> Callable[..., Any]:
        program = self.program
        example = [column[0].item() for column in program.columns]
        start = time.process_time()
        compiled = jit(*(program.jitted or (program.f, *example)), backend=backend)
        found = compiled.map(*self._tenth())
        self.compile[way] = time.process_time() - start
        self.worst[way] = difference(program.f, self._tenth(), found)
        return compiled.map

    def _tenth(self) -> list[Any]:
        return [column[: max(COMPARED, len(column) // 10)] for column in self.program.columns]

    def text(self) -> str:
        """The row of the table."""
        cells = [f"{self.least[way]:.3g}" if way in self.least else "–" for way in WAYS]
        more = [f"{self.compile[way]:.1f}" if way in self.compile else "–" for way in WAYS[1:3]]
        more += [f"{self.worst[way]:.1e}" if way in self.worst else "–" for way in WAYS[1:3]]
        return f"| {self.program.name} | {' | '.join([*cells, *more])} |"


def _looped(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *columns: [f(*values) for values in zip(*[column.tolist() for column in columns], strict=True)]


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--packages", nargs="*", default=PACKAGES)
    parser.add_argument("--output", type=Path, help="the document in which the table is replaced")
    options = parser.parse_args()
    heads = [*WAYS, "numba, seconds", "JAX, seconds", "numba, difference", "JAX, difference"]
    rows = [f"| function | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    print("\n".join(rows))
    install([name for name in PACKAGES if _is_installed(name)])
    for name in filter(_is_installed, PACKAGES):
        importlib.import_module(MODULES.get(name, name))
    for program in programs(options.points):
        if program.package not in options.packages:
            continue
        row = Row(program)
        try:
            row.measure(options.rounds)
        except Exception:  # the other rows are measured all the same
            traceback.print_exc()
        rows.append(row.text())
        print(rows[-1], flush=True)
        if options.output is not None:
            put_into(options.output, "backends", f"{_about(options)}\n\n" + "\n".join(rows))


def _about(options: argparse.Namespace) -> str:
    return (
        f"{options.points:,} points, the least of {options.rounds} rounds, Python {platform.python_version()} on "
        f"{platform.machine()} with {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}:"
    )


if __name__ == "__main__":
    main()
