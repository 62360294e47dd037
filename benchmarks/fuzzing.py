"""Branches that fuzzers reach: `python benchmarks/fuzzing.py [TARGET ...]` prints a Markdown table.

    python benchmarks/fuzzing.py --seconds 60 --seeds 20 --results runs.jsonl

`fuzz` is beside atheris and HypoFuzz. Each run is a process of its own, which the kernel ends after so many seconds of
the processor, start included. The inputs that it has kept run once more in another process, which counts branches in
the same way for all tools: a branch is a place in the source and a direction. A cell is the median of the seeds, with
the least and the greatest.

Runs go in rounds: all targets and tools with one seed, then with the next one. `--results` keeps each as a line of a
file, and runs that it has already are not repeated. So a table can be made bit by bit; `--table` prints what there is.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.fuzzing_targets import TARGETS, Target  # noqa: E402

TOOLS: Final = {"fuzz": "cassette_import", "atheris": "atheris", "hypofuzz": "hypofuzz"}
"""The tools, each with the module that it needs."""


def branches_of(target: Target, folder: Path) -> int:
    """How many branches the inputs in a folder reach."""
    from cassette_import.contexts.fuzz.coverage import coverage

    call = target.call()
    found = coverage(target.is_covered)
    found.start()
    for file in sorted(folder.iterdir()):
        contents = file.read_bytes()
        value = contents.decode("utf-8", "ignore") if isinstance(target.first, str) else contents
        with contextlib.suppress(Exception):
            found.call(call, value)
    found.stop()
    return len(found.branches)


def run(tool: str, name: str, seed: int, seconds: int) -> int:
    """The branches that one run has reached."""
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "corpus"
        folder.mkdir()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        words = ["-m", "benchmarks.fuzzing_run", tool, name, str(seed), str(seconds), str(folder)]
        with open(Path(base) / "log", "w+", encoding="utf-8", errors="replace") as log:
            ended = subprocess.run(
                [sys.executable, *words], cwd=base, env=environment, stdout=log, stderr=log, check=False
            )
            log.seek(0)
            if ended.returncode >= 0:
                print(f"{tool} on {name} ended by itself:\n{log.read()[-2000:]}", file=sys.stderr)
        words = [str(Path(__file__)), "--count", str(folder), name]
        counted = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
        return int(counted.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all by default", metavar="TARGET")
    parser.add_argument("--tools", default=",".join(TOOLS), help="default: %(default)s")
    parser.add_argument("--seconds", type=int, default=60, help="of the processor, for each run (%(default)s)")
    parser.add_argument("--seeds", type=int, default=20, help="how many runs of each tool (%(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="how many runs at a time (%(default)s)")
    parser.add_argument("--results", type=Path, help="a file that keeps each run, as a line of JSON")
    parser.add_argument("--table", action="store_true", help="run nothing; print the table of the kept runs")
    parser.add_argument("--count", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.targets or list(TARGETS)
    tools = given.tools.split(",")
    for word, known in [*((name, TARGETS) for name in names), *((tool, TOOLS) for tool in tools)]:
        if word not in known:
            parser.error(f"there is no {word}: choose from {', '.join(known)}")
    if given.count:
        print(branches_of(TARGETS[names[0]], given.count))
        return 0
    missing = [tool for tool in tools if importlib.util.find_spec(TOOLS[tool]) is None and not given.table]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    tools = [tool for tool in tools if tool not in missing]
    results = kept_runs(given.results, given.seconds)
    work = [Run(tool, name, seed) for seed in range(given.seeds) for name in names for tool in tools]

    def do(one: Run) -> None:
        if one not in results:
            results[one] = run(*one, given.seconds)
            if given.results:
                line = {**one._asdict(), "seconds": given.seconds, "branches": results[one]}
                with open(given.results, "a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")

    if not given.table:
        with ThreadPoolExecutor(given.jobs) as pool:
            list(pool.map(do, work))
    print_table(results, names, tools, given.seconds)
    return 0


class Run(NamedTuple):
    """One run: a tool, the name of a target, and a seed."""

    tool: str
    target: str
    seed: int


def kept_runs(path: Path | None, seconds: int) -> dict[Run, int]:
    """The branches of the runs of so many seconds in a file of results; the last line may be cut off."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path and path.exists() else ():
        with contextlib.suppress(ValueError):
            one = json.loads(line)
            if one["seconds"] == seconds:
                found[Run(one["tool"], one["target"], one["seed"])] = one["branches"]
    return found


def print_table(results: dict[Run, int], names: list[str], tools: list[str], seconds: int) -> None:
    """A row for each target, over the seeds that all tools have run; how many there are is on standard error."""
    print(f"| branches in {seconds} s | {' | '.join(tools)} |")
    print(f"|---|{'--:|' * len(tools)}")
    for name in names:
        seeds = sorted(one.seed for one in results if one.target == name and one.tool == tools[0])
        seeds = [seed for seed in seeds if all(Run(tool, name, seed) in results for tool in tools)]
        if seeds:
            cells = [_cell([results[Run(tool, name, seed)] for seed in seeds]) for tool in tools]
            print(f"| {TARGETS[name].title} | {' | '.join(cells)} |")
            print(f"{name}: {len(seeds)} seeds", file=sys.stderr)


def _cell(found: list[int]) -> str:
    middle: Any = statistics.median(found)
    return f"{middle:g} ({min(found)} to {max(found)})" if len(found) > 1 else f"{middle:g}"


if __name__ == "__main__":
    sys.exit(main())
