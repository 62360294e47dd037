"""Branches that fuzzers reach: `python benchmarks/fuzzing.py [TARGET ...]` prints a Markdown table.

    python benchmarks/fuzzing.py --seconds 60 --seeds 20 --results runs.json

`fuzz` is beside atheris and HypoFuzz. Each run is a process of its own, which the kernel ends after so many seconds of
the processor, start included. The inputs that it has kept run once more in another process, which counts branches in
the same way for all tools: a branch is a place in the source and a direction. A cell is the median of the seeds, with
the least and the greatest. Runs that `--results` has already are not repeated, so a table can be made bit by bit.
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
from typing import Any, Final

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
    parser.add_argument("--results", type=Path, help="a file of JSON in which the runs are kept")
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
    missing = [tool for tool in tools if importlib.util.find_spec(TOOLS[tool]) is None]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    tools = [tool for tool in tools if tool not in missing]
    results: dict[str, int] = {}
    if given.results and given.results.exists():
        results = json.loads(given.results.read_text(encoding="utf-8"))
    work = [(tool, name, seed) for seed in range(given.seeds) for name in names for tool in tools]

    def do(one: tuple[str, str, int]) -> None:
        tool, name, seed = one
        key = f"{tool} {name} {seed} {given.seconds}"
        if key not in results:
            results[key] = run(tool, name, seed, given.seconds)
            if given.results:
                given.results.write_text(json.dumps(results, indent=0), encoding="utf-8")

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(do, work))
    print_table(results, names, tools, given.seconds, given.seeds)
    return 0


def print_table(results: dict[str, int], names: list[str], tools: list[str], seconds: int, seeds: int) -> None:
    print(f"| branches in {seconds} s | {' | '.join(tools)} |")
    print(f"|---|{'--:|' * len(tools)}")
    for name in names:
        cells = []
        for tool in tools:
            found = [results[f"{tool} {name} {seed} {seconds}"] for seed in range(seeds)]
            cells.append(_cell(found))
        print(f"| {TARGETS[name].title} | {' | '.join(cells)} |")


def _cell(found: list[int]) -> str:
    middle: Any = statistics.median(found)
    return f"{middle:g} ({min(found)} to {max(found)})" if len(found) > 1 else f"{middle:g}"


if __name__ == "__main__":
    sys.exit(main())
