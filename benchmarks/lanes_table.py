#!/usr/bin/env python3
"""Compares ways to run scalar functions on arrays: a loop, `np.vectorize`, `lanes`, Numba, by hand, and C.

    python benchmarks/lanes_table.py [--lanes 100000] [--rounds 3]      # prints a table

All ways take turns in one process, so that other programs on the machine affect all of them. Values are the least time
of the processor for each lane, divided by that of the loop; the time to compile or convert is not counted. The loop
and `np.vectorize` run for 2000 lanes where all of them would take longer than half a second. Ways whose package, or
whose compiler, is not installed are left out, and so are those that cannot compute the function.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import lanes_functions as functions  # noqa: E402
from cassette_import.contexts.lanes import vectorize  # noqa: E402

WAYS: Final = ("loop", "np.vectorize", "numba", "own", "NumPy", "C", "lanes")
FEW: Final = 2000
"""So many lanes are run by the slow ways, where all would take longer than `LONG`."""
LONG: Final = 0.5
TOLERANCE: Final = 1e-6
IN_A_ROW: Final = 3
"""How often a way is called in its turn: its first call finds what the other ways have left in the caches."""


def in_c() -> Any:
    """The functions in C as a library; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    folder = Path(tempfile.mkdtemp())
    (folder / "lanes.c").write_text(functions.C_SOURCE, encoding="utf-8")
    flags = ["-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", folder / "lanes.so", folder / "lanes.c", "-lm"], check=True)
    return ctypes.CDLL(str(folder / "lanes.so"))


def called_in_c(function: Any) -> Callable[..., Any]:
    """A function of the library, for arrays."""

    def call(*columns: Any) -> Any:
        out = np.empty_like(columns[0])
        pointers = [column.ctypes.data_as(ctypes.c_void_p) for column in (*columns, out)]
        function(ctypes.c_long(len(out)), *pointers)
        return out

    return call


def by_numba(f: Callable[..., Any]) -> Callable[..., Any] | None:
    """A function compiled by Numba."""
    try:
        from numba import vectorize as compiled
    except ImportError:
        return None
    return compiled(f)  # type: ignore[no-any-return]


def looped(f: Callable[..., Any]) -> Callable[..., Any]:
    """A loop over all lanes."""
    return lambda *columns: [f(*values) for values in zip(*[column.tolist() for column in columns], strict=True)]


def programs(lanes: int) -> dict[str, tuple[Callable[..., Any], list[Any], dict[str, Any], list[str]]]:
    """By name: the function, its columns, its ways of its own, and the packages to install."""
    source = np.random.default_rng(1)
    library = in_c()

    def own(name: str) -> dict[str, Any]:
        f = getattr(functions, name)
        compiled = called_in_c(getattr(library, name)) if library is not None else None
        return {"numba": by_numba(f), "NumPy": getattr(functions, f"{name}_by_hand"), "C": compiled}

    def between(low: float, high: float) -> Any:
        return source.uniform(low, high, lanes)

    found: dict[str, Any] = {
        "sRGB, one branch": (functions.companded, [between(0, 1)], own("companded"), []),
        "Kepler's equation": (functions.kepler, [between(0, 6), between(0, 0.9)], own("kepler"), []),
    }
    places = [between(-90, 90), between(-180, 180), between(-90, 90), between(-180, 180)]
    try:
        position, array = functions.satellite()
        found["sgp4"] = (position, [between(0, 1440)], {"own": array}, ["sgp4"])
    except ImportError:
        pass
    for package, name, f, columns in [
        ("geographiclib", "geographiclib `Inverse`", functions.distance, places),
        ("fluids", "fluids `friction_factor`", functions.friction, [10 ** between(2, 8), 10 ** between(-6, -2)]),
        ("astral", "astral `elevation`", functions.sun, [between(-60, 60), between(-180, 180)]),
    ]:
        try:
            __import__(package)
        except ImportError:
            continue
        found[name] = (f, columns, {}, [package])
    return found


def times(
    f: Callable[..., Any], columns: list[Any], more: dict[str, Any], packages: list[str], rounds: int
) -> dict[str, float]:
    """The least time for each lane, by way, in microseconds."""
    few = [column[:FEW] for column in columns]
    start = time.process_time()
    expected = np.array(looped(f)(*few)).T
    if (time.process_time() - start) * len(columns[0]) / len(few[0]) < LONG:
        few = columns
    is_number = isinstance(f(*[column[0].item() for column in columns]), float)
    ways = {
        "loop": (looped(f), few),
        "np.vectorize": (np.vectorize(f) if is_number else np.vectorize(f, otypes=[object]), few),
        "lanes": (vectorize(f, packages=packages), columns),
        **{way: (call, columns) for way, call in more.items() if call is not None},
    }
    least = dict.fromkeys(ways, float("inf"))
    for turn in range(rounds + 1):
        for way, (call, given) in ways.items():
            for _ in range(IN_A_ROW):
                start = time.process_time()
                result = call(*given)
                took = (time.process_time() - start) / len(given[0]) * 1e6
                if turn:  # the first one compiles
                    least[way] = min(least[way], took)
            if not turn and is_number and way != "own":
                assert np.allclose(np.asarray(result)[:FEW], expected, rtol=TOLERANCE, atol=TOLERANCE), way
    return least


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lanes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"| function | loop, µs | {' | '.join(f'`{way}`' if '.' in way else way for way in WAYS[1:])} |")
    print(f"|---|{'--:|' * len(WAYS)}")
    for name, (f, columns, more, packages) in programs(options.lanes).items():
        found = times(f, columns, more, packages, options.rounds)
        cells = [f"{found['loop'] / found[way]:.3g} ×" if way in found else "–" for way in WAYS[1:]]
        print(f"| {name} | {found['loop']:.2f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
