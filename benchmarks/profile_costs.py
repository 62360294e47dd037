"""Finds what events cost in a profile: the table `_COSTS` of `contexts/profile/statistics.py`.

`python -m benchmarks.profile_costs --keep DIR [programs]` runs the programs of `benchmarks/profiled` plainly and in a
profile, with the samples that `benchmarks.profile_accuracy --keep DIR` left there. What a node has too much is a sum of
costs: of its own calls, by their kind (inside), and of the calls that it makes (outside). The least squares over all
functions are printed, with the error and the total of each program that they give. It needs NumPy and SciPy.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.profile_accuracy import COMPREHENSIONS, PROGRAMS, Program, is_outside, key, last_name
from cassette_import import install
from cassette_import.contexts.profile import Profile
from cassette_import.contexts.profile.call_tree import CALLED_IN_PYTHON
from cassette_import.contexts.profile.statistics import ANNOUNCED, CALLING, INDIRECT, LEAST_SHARE, ThreadTimes, pair_of

INSIDE_OF_C = 0.21
"""What is inside of a function in C belongs to its caller, too: samples cannot tell, so it is given."""
C_KINDS = ("builtin", "method in C", "class")
LEAST, MOST, EXPECTED = 0.0, 12.0, 1.0
LEAST_OUTSIDE_OF_CLASS = -2.0
"""The plain caller of a class in Python has the time in which that makes the object; here the call has it."""
WEIGHT_OF_TOTAL, WEIGHT_OF_EXPECTED = 0.15, 0.005

# ---- in a process for each program: the nodes, with their measured times and the counts of what costs


def rows(name: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Run a program plainly and in a profile. Times are in seconds."""
    program = Program(name, folder, sys.executable)
    sys.path.insert(0, str(PROGRAMS))
    install([name, *program.packages])
    main = importlib.import_module(name).main
    count = max(1, int(seconds / min(_seconds(main, 2) for _ in range(3))))
    with Profile():
        main()
    before = _seconds(main, count)
    profile = Profile()
    with profile:
        _seconds(main, count)
    plain = (before + _seconds(main, count)) / 2
    nodes = [node for thread in profile.threads() for node in _nodes(ThreadTimes(thread, 0.0), program)]
    return {"plain": plain, "pair": pair_of(type(profile)), "nodes": nodes}


def _seconds(main: Any, count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        main()
    return time.perf_counter() - began


def _nodes(times: ThreadTimes, program: Program) -> list[dict[str, Any]]:
    times.subtract_overhead({})
    nodes: list[dict[str, Any]] = []
    callers = {times.parents[position] for position in range(1, len(times.nodes))}
    for position, node in enumerate(times.nodes):
        parent, calls = times.parents[position], times.calls[position]
        owner = nodes[parent]["owner"] if position else None
        if program.has(node.label[0]) and last_name(node.label[2]) not in COMPREHENSIONS:
            owner = key(*node.label)
        nodes.append({"owner": owner, "measured": times.own[position], "counts": {}})
        if not node.kind:
            continue
        outside = {node.kind: calls, INDIRECT: node.indirect}
        is_calling = position in callers and node.kind in CALLED_IN_PYTHON
        inside = {**outside, ANNOUNCED: calls * bool(node.announces), CALLING: calls * is_calling}
        for row, place, costs in ((nodes[position], 0, inside), (nodes[parent], 1, outside)):
            for kind, number in costs.items():
                row["counts"][f"{kind}:{place}"] = row["counts"].get(f"{kind}:{place}", 0) + number
    return nodes


# ---- the least squares


class Measured(NamedTuple):
    """The nodes of one program as arrays. Times are parts of the plain run."""

    name: str
    own: Any
    """The measured self times, by node."""
    costs: Any
    """By node and column: what a cost of 1 takes."""
    owners: Any
    """The place of its function, by node; -1: none."""
    sampled: Any
    """The sampled self times, by function."""
    cprofile: float
    """The error of cProfile."""

    def estimated(self, costs: Any) -> Any:
        """The self times without the costs, by function."""
        import numpy as np

        own = np.maximum(self.own - self.costs @ costs, LEAST_SHARE * self.own)
        inside = self.owners >= 0
        return np.bincount(self.owners[inside], own[inside], minlength=len(self.sampled))

    def result(self, costs: Any) -> tuple[float, float]:
        """The error, and the total as a multiple of the plain run."""
        estimated = self.estimated(costs)
        return float(abs(estimated / estimated.sum() - self.sampled).sum()), float(estimated.sum())


def arrays(name: str, samples: dict[str, Any], run: dict[str, Any], columns: list[str]) -> Measured:
    """What the samples and the rows of a program say."""
    import numpy as np

    nodes, unit = run["nodes"], run["pair"] / run["plain"]
    owners = sorted({node["owner"] for node in nodes if node["owner"] and not is_outside(node["owner"])})
    places = {owner: place for place, owner in enumerate(owners)}
    costs = np.zeros((len(nodes), len(columns)))
    for row, node in enumerate(nodes):
        for column, count in node["counts"].items():
            costs[row, columns.index(column)] = count * unit
    own = np.array([node["measured"] for node in nodes]) / run["plain"]
    sampled = np.array([samples["shares"].get(owner, 0.0) for owner in owners])
    return Measured(
        name, own, costs, np.array([places.get(node["owner"], -1) for node in nodes]), sampled, min(samples["cprofile"])
    )


def solved(programs: list[Measured], columns: list[str]) -> Any:
    """The costs by column, in pairs of hooks."""
    import numpy as np
    from scipy.optimize import least_squares

    fixed = {f"{kind}:0": INSIDE_OF_C for kind in C_KINDS}
    free = [place for place, column in enumerate(columns) if column not in fixed]
    least = [LEAST_OUTSIDE_OF_CLASS if columns[place] == "class in Python:1" else LEAST for place in free]

    def costs_with(values: Any) -> Any:
        costs = np.array([fixed.get(column, 0.0) for column in columns])
        costs[free] = values
        return costs

    def residuals(values: Any) -> Any:
        costs, parts = costs_with(values), [WEIGHT_OF_EXPECTED * (values - EXPECTED)]
        for program in programs:
            estimated = program.estimated(costs)
            parts += [estimated / estimated.sum() - program.sampled, [WEIGHT_OF_TOTAL * (estimated.sum() - 1.0)]]
        return np.concatenate(parts)

    start = np.full(len(free), EXPECTED)
    return costs_with(least_squares(residuals, start, bounds=(least, MOST), loss="soft_l1", f_scale=0.01).x)


def main() -> None:
    """Print the costs, and then a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="names of programs; all that have samples, if none is given")
    parser.add_argument("--keep", type=Path, required=True, help="the folder with the samples")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a plain run takes")
    parser.add_argument("--rows", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(rows(arguments.programs[0], Path(folder), arguments.seconds)))
        return
    samples, runs = {}, {}
    for name in arguments.programs or sorted(path.stem for path in arguments.keep.glob("*.json")):
        samples[name] = json.loads((arguments.keep / f"{name}.json").read_text())
        command = [sys.executable, "-m", __spec__.name, "--keep", str(arguments.keep), "--rows"]
        command += ["--seconds", str(arguments.seconds), name]
        runs[name] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    columns = sorted({column for run in runs.values() for node in run["nodes"] for column in node["counts"]})
    programs = [arrays(name, samples[name], runs[name], columns) for name in samples]
    costs = solved(programs, columns)
    by_column = dict(zip(columns, costs, strict=True))
    for kind in sorted({column.rpartition(":")[0] for column in columns}):
        print(f"{kind:16} Cost({by_column.get(f'{kind}:0', 0.0):.2f}, {by_column.get(f'{kind}:1', 0.0):.2f})")
    print("\n| program | error | cProfile | total |\n|---|--:|--:|--:|")
    for program in programs:
        error, total = program.result(costs)
        print(f"| {program.name} | {error:.2f} | {program.cprofile:.2f} | {total:.2f} |")


if __name__ == "__main__":
    main()
