#!/usr/bin/env python3
"""Compares sgp4's position of two satellites with the residual program for each: bits, and time for each point.

    python benchmarks/residual_table.py [--points 100000] [--rounds 3]                  # prints a table
    python benchmarks/residual_table.py --output docs/contexts-graph.md                 # writes it there, too

Both take turns in one process. Values are the least time of the processor for each point, in microseconds. All results
are compared. It needs the package sgp4.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.backends_table import DEEP  # noqa: E402
from benchmarks.lanes_functions import LINES  # noqa: E402
from benchmarks.results import put_into  # noqa: E402
from cassette_import import install  # noqa: E402
from cassette_import.contexts.graph import residual, unknown  # noqa: E402

SATELLITES: Final = {"near the earth (the ISS)": LINES, "deep space": DEEP}
HEADS: Final = ("satellite", "`sgp4`", "residual", "paths", "seconds to make", "results that differ")


def _seconds(call: Callable[[float], Any], points: Sequence[float]) -> float:
    start = time.process_time()
    for point in points:
        call(point)
    return time.process_time() - start


def _row(name: str, lines: tuple[str, str], points: Sequence[float], rounds: int) -> str:
    from sgp4.earth_gravity import wgs72
    from sgp4.io import twoline2rv
    from sgp4.propagation import sgp4

    satellite, other = twoline2rv(*lines, wgs72), twoline2rv(*lines, wgs72)
    start = time.process_time()
    program = residual(sgp4, satellite, unknown("t", 100.0), wgs72)
    wrong = sum(repr(program(point)) != repr(sgp4(other, point, wgs72)) for point in points[:1000])
    made = time.process_time() - start
    wrong += sum(repr(program(point)) != repr(sgp4(other, point, wgs72)) for point in points[1000:])
    ways: dict[str, Callable[[float], Any]] = {"sgp4": lambda t: sgp4(other, t, wgs72), "residual": program}
    least = dict.fromkeys(ways, math.inf)
    for _ in range(rounds):
        for way, call in ways.items():
            least[way] = min(least[way], _seconds(call, points) / len(points) * 1e6)
    return f"| {name} | {least['sgp4']:.1f} | {least['residual']:.1f} | {program.paths} | {made:.1f} | {wrong} |"


def main() -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, help="the document in which the table is replaced")
    options = parser.parse_args()
    install("sgp4")
    source = random.Random(1)
    points = [source.uniform(0.0, 1440.0) for _ in range(options.points)]
    rows = [f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}"]
    rows += [_row(name, lines, points, options.rounds) for name, lines in SATELLITES.items()]
    print("\n".join(rows))
    if options.output is not None:
        about = (
            f"{options.points:,} random times of one day, the least of {options.rounds} rounds, microseconds for each, "
            f"Python {platform.python_version()} on {platform.machine()}, load {os.getloadavg()[0]:.1f}:"
        )
        put_into(options.output, "residual", f"{about}\n\n" + "\n".join(rows))


if __name__ == "__main__":
    main()
