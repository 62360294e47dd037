"""Compares `profile` and cProfile with samples of the plain program: `python -m benchmarks.profile_accuracy --help`.

For each program in `benchmarks/profiled`, py-spy samples the plain run a thousand times a second from another process.
A function's share is its part of all self times; the time of functions in C, and of modules that are not installed,
belongs to the function that calls them. The error of a profiler is the sum over functions of |share - sampled share|.
Its total is the cumulative time of `main`, as a multiple of the processor's time of the plain run.
"""

from __future__ import annotations

import argparse
import json
import os
import pstats
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import Any

PROGRAMS = Path(__file__).parent / "profiled"
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}
OUTSIDE = {"driver", "<module>"}
"""Functions that only run the program."""

DRIVER = """

def driver():
    import sys, time
    main()
    processor, clock = time.process_time(), time.perf_counter()
    for _ in range(int(sys.argv[1])):
        main()
    print("TIMES", time.process_time() - processor, time.perf_counter() - clock)


if __name__ == "__main__":
    driver()
"""

Shares = dict[str, float]


class Program:
    """A program, with a driver that runs it many times."""

    def __init__(self, name: str, folder: Path, python: str, prefix: str = "") -> None:
        self.name = name
        self.python = python
        self.prefix = prefix.split()
        source = (PROGRAMS / f"{name}.py").read_text()
        self.path = folder / f"{name}.py"
        self.path.write_text(source + DRIVER)
        packages = re.search(r'^PACKAGES = "(.*)"', source, re.MULTILINE)
        self.packages = packages[1].split(",") if packages else []

    def run(self, count: int, *before: str, **environment: str) -> tuple[float, float]:
        """Run it; return the seconds of one `main` by the processor's clock and by the wall's."""
        command = [*self.prefix, *(before or (self.python,)), str(self.path), str(count)]
        variables = {**os.environ, **environment}
        run = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=self.path.parent, check=False)
        times = re.search(r"TIMES (\S+) (\S+)", run.stdout)
        if times is None:
            raise SystemExit(f"{' '.join(command)}\n{run.stderr}")
        return float(times[1]) / count, float(times[2]) / count

    def has(self, filename: str) -> bool:
        """Whether a file belongs to the program, or to the packages that it names."""
        if os.path.basename(filename) == self.path.name and "site-packages" not in filename:
            return True
        return any(re.search(rf"(^|/){package}(/|\.py$)", filename) for package in self.packages)

    def sampled(self, seconds: float, py_spy: str) -> Shares:
        """The shares by samples of the plain run."""
        count = max(1, int(seconds / self.run(20)[0]))
        raw = self.path.with_suffix(".raw")
        self.run(count, py_spy, "record", "-r", "1000", "-f", "raw", "-F", "-o", str(raw), "--", self.python)
        samples: dict[str, float] = Counter()
        for line in raw.read_text().splitlines():
            stack, number = line.rsplit(" ", 1)
            frames = [re.match(r"(.*) \((.*?)(?::(\d+))?\)$", frame) for frame in stack.split(";")]
            for frame in reversed([frame for frame in frames if frame]):
                if self.has(frame[2]) and last_name(frame[1]) not in COMPREHENSIONS:
                    samples[key(frame[2], frame[3], frame[1])] += int(number)
                    break
        return shares(samples)

    def profiled(self, count: int, *before: str, **environment: str) -> tuple[Shares, float]:
        """The shares by a profiler that writes a file for `pstats`, and the cumulative seconds of `main`."""
        self.run(count, self.python, "-m", *before, "-o", self._statistics, **environment)
        stats: dict[Any, Any] = pstats.Stats(self._statistics).stats  # type: ignore[attr-defined]
        cumulative = sum(entry[3] for label, entry in stats.items() if label[2] == "main" and self.has(label[0]))
        own = self._own_times(stats)
        return shares({key(*label): seconds for label, seconds in own.items()}), cumulative / (count + 1)

    @property
    def _statistics(self) -> str:
        return str(self.path.with_suffix(".prof"))

    def _own_times(self, stats: dict[Any, Any]) -> dict[Any, float]:
        """Self times of the program's functions. Those of others go to their callers, in proportion."""
        inside = {label for label in stats if self.has(label[0]) and last_name(label[2]) not in COMPREHENSIONS}
        own: dict[Any, float] = defaultdict(float)
        pending = {label: entry[2] for label, entry in stats.items()}
        for _ in range(100):
            later: dict[Any, float] = defaultdict(float)
            for label, seconds in pending.items():
                if label in inside:
                    own[label] += seconds
                    continue
                callers = {caller: max(by[3], 1e-12) for caller, by in stats[label][4].items() if caller in stats}
                for caller, weight in callers.items():
                    later[caller] += seconds * weight / sum(callers.values())
            pending = later
        return own


def last_name(name: str) -> str:
    """A name without the class or function that it is in."""
    return name.rpartition(".")[2]


def key(filename: str, line: Any, name: str) -> str:
    """What identifies a function in all tools."""
    return f"{os.path.basename(filename)}:{line}:{last_name(name)}"


def is_outside(label: str) -> bool:
    """Whether this is a function that only runs the program, or the level of a module, which has the module's name."""
    file, line, name = label.split(":")
    return name in OUTSIDE or (line == "1" and file == f"{name}.py")


def shares(own: dict[str, float]) -> Shares:
    """Each function's part of all times."""
    inner = {label: seconds for label, seconds in own.items() if not is_outside(label)}
    whole = sum(inner.values())
    return {label: seconds / whole for label, seconds in inner.items()} if whole else {}


def distance(first: Shares, second: Shares) -> float:
    """The sum of the differences."""
    return sum(abs(first.get(label, 0.0) - second.get(label, 0.0)) for label in first.keys() | second.keys())


def reference(program: Program, arguments: argparse.Namespace, kept: Path | None) -> dict[str, Any]:
    """Samples and plain time of a program, and the shares of cProfile; from a file, if they were kept."""
    if kept is not None and kept.exists():
        known: dict[str, Any] = json.loads(kept.read_text())
        return known
    sampled = program.sampled(arguments.seconds, arguments.py_spy)
    plain = median(program.run(100)[0] for _ in range(5))
    count = max(1, int(1.0 / plain))
    rounds = [program.profiled(count, "cProfile") for _ in range(arguments.rounds)]
    found = {
        "shares": sampled,
        "plain": plain,
        "cprofile": [distance(sampled, found) for found, _ in rounds],
        "cprofile_total": median(total for _, total in rounds) / plain,
    }
    if kept is not None:
        kept.write_text(json.dumps(found))
    return found


def measured(program: Program, known: dict[str, Any], rounds: int, accelerator: str) -> tuple[float, float, Shares]:
    """The error of `profile`, its total as a multiple of the plain run, and the shares of one round."""
    command = ("cassette_import", "run", "-p", ",".join([program.name, *program.packages]))
    count = max(1, int(1.0 / known["plain"]))
    found = [program.profiled(count, *command, CASSETTE_IMPORT_ACCELERATOR=accelerator) for _ in range(rounds)]
    error = median(distance(known["shares"], one) for one, _ in found)
    plain = median([known["plain"], *(program.run(100)[0] for _ in range(2))])
    return error, median(total for _, total in found) / plain, found[0][0]


def main() -> None:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="names of programs; all, if none is given")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--py-spy", default="py-spy")
    parser.add_argument("--seconds", type=float, default=4.0, help="how long the plain run is sampled")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="a folder for the samples, so that later runs need not sample")
    parser.add_argument(
        "--prefix", default="", help="what runs a program undisturbed on a busy machine, as `nice -n -15`"
    )
    parser.add_argument("--details", action="store_true", help="also show the shares of the costliest functions")
    arguments = parser.parse_args()
    names = arguments.programs or sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "__init__")
    print("| program | accelerated | in Python | cProfile | total: accelerated | in Python | cProfile |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            program = Program(name, Path(folder), arguments.python, arguments.prefix)
            known = reference(program, arguments, arguments.keep / f"{name}.json" if arguments.keep else None)
            in_c, in_python = (measured(program, known, arguments.rounds, number) for number in "10")
            row = [in_c[0], in_python[0], median(known["cprofile"]), in_c[1], in_python[1], known["cprofile_total"]]
            print(f"| {name} | {' | '.join(f'{value:.2f}' for value in row)} |", flush=True)
            if arguments.details:
                print_details(known["shares"], in_c[2], in_python[2])


def print_details(*found: Shares) -> None:
    """The shares of the functions that differ most: sampled, by hooks in C, by hooks in Python."""
    labels = set().union(*found)
    for label in sorted(labels, key=lambda label: -abs(found[0].get(label, 0.0) - found[1].get(label, 0.0)))[:10]:
        print(f"    {label:40} {'  '.join(f'{share.get(label, 0.0):.3f}' for share in found)}")


if __name__ == "__main__":
    main()
