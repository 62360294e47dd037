#!/usr/bin/env python3
"""Compares what programs cost in different ways to run them: plain, installed, under contexts, under profilers.

    python benchmarks/compare.py                                  # our own workloads; prints the table
    python benchmarks/compare.py --output docs/performance.md     # the same; puts it into the document
    CASSETTE_WORKLOADS=…/workloads.py python benchmarks/compare.py --output docs/performance.md
                                                                  # pyperformance's workloads too, by their driver

Each workload runs in processes of its own, all ways taking turns within each round, so that what else the machine
does meets them alike. Values are seconds of CPU time, taken after the first run: what is compared is a program that
is under way, not how fast functions are specialised. A ratio is that of the least values, since what else the machine
does only ever adds to them. Our own workloads must give the same result in every way.

Needs the extra `benchmarks` (pyperf). The driver makes itself an environment for `--driver-python`, in the folder
that PPW_CACHE names.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # Python has put this file's folder there

from benchmarks import workloads  # noqa: E402
from benchmarks.ways import WAYS, driver_variant  # noqa: E402

OWN: Final = tuple(sorted(module.name for module in pkgutil.iter_modules(workloads.__path__)))
DRIVER_WAYS: Final = ("inactive", "nothing", "three", "count", "count-operators")
NEEDED: Final = ("cassette_import", "benchmarks", "astor", "importlib_metadata", "zipp")
"""What a process of the driver's needs besides what the driver gives it."""

SKELETON: Final = """\
# Performance

<!-- own: begin -->
<!-- own: end -->

<!-- driver: begin -->
<!-- driver: end -->
"""


class Results:
    """Ratios to plain Python by workload and way, and what went wrong."""

    def __init__(self, ways: Sequence[str]) -> None:
        self.ways = [way for way in ways if way != "plain"]
        self.seconds: dict[str, float] = {}
        self.ratios: dict[str, dict[str, float]] = {}
        self.notes: list[str] = []

    def geometric_mean(self, way: str) -> str:
        """Over the workloads that ran in this way."""
        found = [ratios[way] for ratios in self.ratios.values() if way in ratios]
        return f"{statistics.geometric_mean(found):.2f}" if found else "–"

    def table(self) -> str:
        """As Markdown: a workload a line, a way a column."""
        lines = [
            f"| workload | plain, s | {' | '.join(self.ways)} |",
            f"|---|--:|{'--:|' * len(self.ways)}",
            f"| **geometric mean** | | {' | '.join(f'**{self.geometric_mean(way)}**' for way in self.ways)} |",
        ]
        for workload, ratios in self.ratios.items():
            cells = [f"{ratios[way]:.2f}" if way in ratios else "failed" for way in self.ways]
            lines.append(f"| {workload} | {self.seconds[workload]:.4f} | {' | '.join(cells)} |")
        return "\n".join(lines)


# ---- our own workloads, by pyperf


def measure_own(names: Iterable[str], ways: Sequence[str], *, rounds: int, values: int, quick: bool) -> Results:
    """Each workload in each way."""
    import pyperf  # the extra `benchmarks`; the driver needs it not

    results = Results(ways)
    ways = ["plain", *results.ways]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            _say(f"{name} ...")
            measured: dict[str, Any] = {}
            loops = "1" if quick else "calibrate"
            for number in range(rounds):
                for way in [*ways[number % len(ways) :], *ways[: number % len(ways)]] if number else ways:
                    file = os.path.join(folder, "run.json")
                    command = [sys.executable, "-m", "benchmarks.worker", way, name]
                    process = _run([*command, loops, "1", str(values), file], _environment())
                    if process.returncode:
                        results.notes.append(f"{name}, {way}: {_last_line(process.stderr)}")
                        continue
                    benchmark = pyperf.Benchmark.load(file)
                    if way == "plain":
                        loops = str(benchmark.get_loops())  # the others do as much
                    if way in measured:
                        measured[way].add_runs(benchmark)
                    else:
                        measured[way] = benchmark
            _take_in(results, name, measured)
    return results


def _take_in(results: Results, name: str, measured: Mapping[str, Any]) -> None:
    plain = measured.get("plain")
    if plain is None:
        return
    least = {way: min(benchmark.get_values()) for way, benchmark in measured.items()}
    results.seconds[name] = least["plain"]
    results.ratios[name] = {way: seconds / least["plain"] for way, seconds in least.items() if way != "plain"}
    for way, benchmark in measured.items():
        if benchmark.get_metadata()["result"] != plain.get_metadata()["result"]:
            results.notes.append(f"{name}, {way}: the result differs")


def _environment() -> dict[str, str]:
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONHASHSEED": "0"}


# ---- pyperformance's workloads, by their driver


def measure_driver(
    driver: str, names: Sequence[str], ways: Sequence[str], *, python: str, options: Sequence[str], file: Path
) -> Results:
    """Each workload in each way, by the driver's own comparison; its results are kept in a file."""
    if not file.exists():
        with tempfile.TemporaryDirectory() as folder:
            for package in NEEDED:
                _link(package, Path(folder))
            command = [sys.executable, driver, "compare", *names, "--python", python, *options, "--json", str(file)]
            command += ["--variant-path", folder]  # first: xdsl brings a package `benchmarks` too
            for name in ways:
                if name != "plain":
                    command += ["--variant", driver_variant(WAYS[name])]
            subprocess.run(command, env={**os.environ, "PYTHONPATH": folder}, check=False)
    document = json.loads(file.read_text(encoding="utf-8"))
    results = Results([way for way in WAYS if any(way in found for found in document.values())])
    for name, found in document.items():
        if found["note"]:
            results.notes.append(f"{name}: {' '.join(found['note'].split())}")
        if "plain" in found:
            results.seconds[name] = found["plain"]["cpu"]
            results.ratios[name] = {
                way: found[way]["cpu"] / found["plain"]["cpu"] for way in results.ways if way in found
            }
    return results


def _link(package: str, folder: Path) -> None:
    """Make a package importable from a folder, and nothing else that lies beside it."""
    spec = find_spec(package)
    if spec is not None and spec.submodule_search_locations:
        (folder / package).symlink_to(next(iter(spec.submodule_search_locations)), target_is_directory=True)


# ---- the document


def section(title: str, command: str, python: str, how: str, results: Results) -> str:
    """What stands between the marks of one section."""
    ways = "\n".join(f"| {name} | {WAYS[name].what} |" for name in results.ways)
    notes = "".join(f"\n- {note}" for note in results.notes)
    return "\n".join(
        (
            f"## {title}",
            "",
            "```console",
            f"$ {command}",
            "```",
            "",
            f"{python}, {os.cpu_count()} CPUs. {how}",
            "",
            "| column | what runs |",
            "|---|---|",
            ways,
            "",
            results.table(),
            *(("", f"What went wrong:\n{notes}") if notes else ()),
        )
    )


def put_into(document: Path, name: str, text: str) -> None:
    """Replace a section of the document; everything outside the marks stays."""
    whole = document.read_text(encoding="utf-8") if document.exists() else SKELETON
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    found = re.search(f"{re.escape(begin)}.*?{re.escape(end)}", whole, re.DOTALL)
    if found is None:
        raise SystemExit(f"{document}: there is no {begin} … {end}")
    document.write_text(f"{whole[: found.start()]}{begin}\n{text}\n{end}{whole[found.end() :]}", encoding="utf-8")


# ---- the command


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and tell."""
    driver = os.environ.get("CASSETTE_WORKLOADS")
    given = _parser().parse_args(arguments)
    wanted = _names(given.workloads)
    own = [name for name in OWN if not wanted or name in wanted]
    theirs = [name for name in wanted if name not in OWN]
    if theirs and not driver:
        return _wrong(f"no such workload: {', '.join(theirs)}; there are {', '.join(OWN)}")
    ways = _names(given.ways)
    if unknown := [way for way in ways if way not in WAYS]:
        return _wrong(f"no such way: {', '.join(unknown)}; there are {', '.join(WAYS)}")
    status = 0
    if own and not given.driver_only:
        if find_spec("pyperf") is None:
            return _wrong("pyperf is missing; pip install 'cassette_import[benchmarks]'")
        rounds, values = (1, 1) if given.quick else (given.rounds, 3)
        results = measure_own(own, ways or list(WAYS), rounds=rounds, values=values, quick=given.quick)
        how = f"CPU time; the least of {rounds} × {values} values, by pyperf."
        status |= _tell(given.output, "own", "Our own workloads", _command(given, False), _python(), how, results)
    if driver and (theirs or not wanted):
        scale, repeat, rounds = (0.02, 1, 1) if given.quick else (given.scale, 3, given.driver_rounds)
        options = ["--scale", str(scale), "--repeat", str(repeat), "--rounds", str(rounds), "--timeout", "300"]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(given.driver_results or os.path.join(folder, "driver.json"))
            results = measure_driver(
                driver, theirs, ways or DRIVER_WAYS, python=given.driver_python, options=options, file=file
            )
        how = f"CPU time; the least of {rounds} × {repeat} values, `--scale {scale}`, by the driver."
        status |= _tell(
            given.output,
            "driver",
            "pyperformance's workloads",
            _command(given, True),
            f"CPython {given.driver_python}",
            how,
            results,
        )
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    add = parser.add_argument
    add(
        "--workloads",
        default="",
        metavar="A,B",
        help=f"of ours ({', '.join(OWN)}) or of the driver's; all if not given",
    )
    add("--ways", default="", metavar="A,B", help=f"of {', '.join(WAYS)}; all for our workloads, some for the driver's")
    add("--quick", action="store_true", help="one value of each, to see that it works")
    add("--rounds", type=int, default=3, help="how often all ways take their turn on our own workloads")
    add("--output", type=Path, metavar="FILE", help="the Markdown document to put the tables into")
    add("--driver-only", action="store_true", help="without our own workloads")
    add(
        "--driver-python",
        default="3.12.1",
        metavar="VERSION",
        help="for the driver: a version that pyenv has, or a path",
    )
    add("--driver-rounds", type=int, default=1, help="how often all ways take their turn on the driver's workloads")
    add(
        "--driver-results",
        metavar="FILE",
        help="where the driver's results are kept; not measured again if they are there",
    )
    add("--scale", type=float, default=0.3, help="how much work the driver's workloads do")
    return parser


def _tell(output: Path | None, name: str, title: str, command: str, python: str, how: str, results: Results) -> int:
    text = section(title, command, python, how, results)
    print(text, flush=True)
    if output is not None:
        put_into(output, name, text)
    return 1 if results.notes else 0


def _command(given: argparse.Namespace, is_driver: bool) -> str:
    words = ["python", "benchmarks/compare.py"]
    options = [
        "workloads",
        "ways",
        *(["driver_python", "driver_rounds", "scale"] if is_driver else ["rounds"]),
        "output",
    ]
    for option in options:
        value = getattr(given, option)
        if value is not None and value != _parser().get_default(option):
            words += [f"--{option.replace('_', '-')}", str(value)]
    words += ["--quick"] if given.quick else []
    before = "CASSETTE_WORKLOADS=.../workloads.py " if is_driver else ""
    return before + shlex.join(words) + (" --driver-only" if is_driver and given.driver_only else "")


def _python() -> str:
    return f"{sys.implementation.name.replace('cp', 'CP')} {sys.version.split()[0]}"


def _names(text: str) -> list[str]:
    return [name for name in (part.strip() for part in text.split(",")) if name]


def _run(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no message")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _wrong(text: str) -> int:
    _say(f"compare.py: {text}")
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
