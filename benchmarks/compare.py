#!/usr/bin/env python3
"""Compares the costs of programs in different ways to run them: plain, installed, in contexts, under other tools.

    python benchmarks/compare.py --quick                          # about five minutes, with this Python; prints tables
    python benchmarks/compare.py --pythons all --output docs/performance.md
                                                                  # everything, for each Python; tables and charts
                                                                  # into the document
    CASSETTE_WORKLOADS=…/workloads.py python benchmarks/compare.py --parts driver --output docs/performance.md
                                                                  # pyperformance's workloads, by their driver

Parts: `own`, this project's workloads in each way and with each peer, compared with plain Python; `beginning`, imports
of large packages and first results; `growth`, costs by the number of call sites, contexts, threads and tasks, and by
the depth of calls; `tagging`, contexts with tagging, and derivatives compared with autograd's and JAX's; `driver`,
if CASSETTE_WORKLOADS names one.

Each workload runs in each way in a separate process. Plain Python and the way take turns in it, so that other
programs on the machine affect both alike. Values are seconds of CPU time after the first run: `own` compares
programs in their steady state, not the speed of specialising. A ratio is that of the minimums, since other programs
only ever add to them. A workload must return the same result in every way.

Peers that are not installed are left out; the extra `benchmarks` brings them. With `--pythons`, an environment is
made for each Python, in `--environments`, and the peers that can be installed there are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # Python has put this file's folder there

from benchmarks import beginning, chart, growth, line_chart, tagging, workloads  # noqa: E402
from benchmarks.driver import DRIVER_WAYS, measure_driver  # noqa: E402
from benchmarks.pythons import Python, build_accelerator, described, installed, lacks, with_peers  # noqa: E402
from benchmarks.results import SECTIONS, Results, put_into, section, summary  # noqa: E402
from benchmarks.ways import WAYS, Way  # noqa: E402

OWN: Final = tuple(sorted(module.name for module in pkgutil.iter_modules(workloads.__path__)))
CONTEXTS: Final = frozenset(name for name, way in WAYS.items() if way.context)
CHART: Final = "pictures/performance.svg"
GROWTH_CHART: Final = "pictures/growth.svg"
LONGEST: Final = 300
"""Seconds after which a way has failed."""


class Effort:
    """How much is measured."""

    def __init__(self, quick: bool) -> None:
        self.quick = quick
        self.pairs, self.seconds, self.rounds = (2, 0.01, 1) if quick else (7, 0.1, 5)
        self.said = f"{'quick' if quick else 'full'} mode"


# ---- the parts


def measure_own(python: Python, names: Iterable[str], ways: Sequence[str], effort: Effort) -> Results:
    """Each workload in each way, with one Python."""
    environment = _environment()
    needed = sorted({need for way in ways if (need := WAYS[way].needs)})
    missing = lacks(python, needed, environment) if needed else set()
    wanted = [way for way in ways if way != "plain" and not _reason(WAYS[way], python, missing)]
    results = Results(wanted)
    left_out = [f"{way}: {reason}" for way in ways if (reason := _reason(WAYS[way], python, missing))]
    results.notes += [f"CPython {python.name}, {note}" for note in left_out]
    for name in names:
        _say(f"CPython {python.name}: {name} ...")
        for way in results.ways:
            command = [python.command, "-m", "benchmarks.worker", way, name, str(effort.pairs), str(effort.seconds)]
            found, wrong = _json_of(command, environment)
            if found is None:
                results.notes.append(f"CPython {python.name}, {name}, {way}: {wrong}")
                continue
            plain = min(found["plain"])
            results.seconds[name] = min(plain, results.seconds.get(name, plain))
            results.ratios.setdefault(name, {})[way] = min(found["way"]) / plain
            if not found["same"]:
                results.notes.append(f"CPython {python.name}, {name}, {way}: the result differs")
    return results


def _reason(way: Way, python: Python, missing: set[str]) -> str:
    if python.version < way.since:
        return f"from {'.'.join(map(str, way.since))} on"
    return f"{way.needs} is not installed" if way.needs in missing else ""


def _own(pythons: Sequence[Python], given: argparse.Namespace, names: Sequence[str], effort: Effort) -> int:
    found = {}
    for python in pythons:
        found[python.name] = measure_own(python, names, _names(given.ways) or list(WAYS), effort)
    body = [summary(found)] if len(found) > 1 or not given.ways else []
    if given.output is not None and (len(found) > 1 or not given.ways):
        means = {way: {name: found[name].mean(way) for name in found if found[name].mean(way)} for way in WAYS}
        means = {way: row for way, row in means.items() if row}
        title = "CPU time as a ratio to plain Python, geometric means (logarithmic)"
        _draw(given, CHART, chart.bars(title, means, CONTEXTS))  # type: ignore[arg-type]
        body.append(f"![What each way costs, as a ratio to plain Python]({CHART})")
    if len(found) == 1:
        body += [results.table() for results in found.values()]
    how = (
        f"CPython {', '.join(found)}, {os.cpu_count()} CPUs. CPU time, as a ratio to plain Python; the least of up to "
        f"{effort.pairs} values of each, in turns ({effort.said})."
    )
    notes = [note for results in found.values() for note in results.notes]
    _publish(given, "own", section("Workloads of this project", _command(given), how, "\n\n".join(body), notes))
    return int(any(note for note in notes if not note.endswith(("is not installed", " on"))))


def _beginning(pythons: Sequence[Python], given: argparse.Namespace, effort: Effort) -> int:
    found, notes = {}, []
    for python in pythons:
        for package in beginning.PACKAGES:
            _say(f"CPython {python.name}: beginning with {package} ...")
            least, wrong = beginning.measure(python.command, package, effort.rounds, _environment())
            found[f"{package}, {python.name}" if len(pythons) > 1 else package] = least
            notes += [f"CPython {python.name}, {note}" for note in wrong]
    how = (
        "CPU time, and memory, of processes that import a package and make one small result, as a ratio to plain "
        "Python with its `.pyc` files; `cold` is compared with plain Python without them. The minimum of "
        f"{effort.rounds}, in turns ({effort.said})."
    )
    _publish(given, "beginning", section("Startup", _command_of_part(given), how, beginning.table(found), notes))
    return int(any(not note.endswith("not installed") for note in notes))


def _growth(pythons: Sequence[Python], given: argparse.Namespace, effort: Effort) -> int:
    body: list[str] = []
    notes: list[str] = []
    measured: dict[str, list[growth.Row]] = {}
    charts: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for python in pythons:
        _say(f"CPython {python.name}: growth ...")
        command = [python.command, "-m", "benchmarks.growth", "--json", *(["--quick"] if effort.quick else [])]
        found, wrong = _json_of(command, _environment())
        if found is None:
            notes.append(f"CPython {python.name}: {wrong}")
            continue
        measured[python.name] = rows = [growth.Row(*row) for row in found]
        for row in rows:
            if row.ratio is not None:
                charts.setdefault(row.what, {}).setdefault(python.name, []).append((float(row.size), row.ratio))
    if given.output is not None and charts:
        _draw(given, GROWTH_CHART, line_chart.lines("How costs grow, as a ratio to plain Python", charts))
        body.append(f"![How costs grow, as a ratio to plain Python]({GROWTH_CHART})")
    body.append(growth.table(measured))
    how = f"CPU time; the minimum of some runs ({effort.said}). First calls and first entries happen once."
    _publish(given, "growth", section("Growth", _command_of_part(given), how, "\n\n".join(body), notes))
    return int(bool(notes))


def _tagging(pythons: Sequence[Python], given: argparse.Namespace, effort: Effort) -> int:
    measured, notes = {}, []
    for python in pythons:
        _say(f"CPython {python.name}: tagging ...")
        command = [python.command, "-m", "benchmarks.tagging", "--json", *(["--quick"] if effort.quick else [])]
        rows, wrong = _json_of(command, _environment())
        if rows is None:
            notes.append(f"CPython {python.name}: {wrong}")
            continue
        measured[python.name] = rows
    how = (
        "CPU time; the least of some runs. `hooks` reads all events that tagging needs, as a ratio to plain Python; "
        "the next columns are the same hooks with tagging but without tagged values, and tagging without hooks. "
        "Derivatives are first ones; JAX runs without `jit`, each operation by itself; `-` is a function that another "
        f"tool cannot differentiate as it is ({effort.said})."
    )
    _publish(given, "tagging", section("Tagging", _command_of_part(given), how, tagging.table(measured), notes))
    return int(bool(notes))


def _command_of_part(given: argparse.Namespace) -> str:
    """The command, unless the document has it in the section of this project's workloads."""
    return "" if given.output is not None and "own" in (_names(given.parts) or SECTIONS) else _command(given)


def _driver(driver: str, names: Sequence[str], given: argparse.Namespace, effort: Effort) -> int:
    scale, repeat, rounds = (0.02, 1, 1) if effort.quick else (given.scale, 3, given.driver_rounds)
    options = ["--scale", str(scale), "--repeat", str(repeat), "--rounds", str(rounds), "--timeout", str(LONGEST)]
    ways = _names(given.ways) or DRIVER_WAYS
    found = {}
    for python in _names(given.driver_python):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(given.driver_results) if given.driver_results else Path(folder, "driver.json")
            file = place if len(_names(given.driver_python)) == 1 else place.with_stem(f"{place.stem}-{len(found)}")
            name = made.name if (made := described(python)) is not None else python
            found[name] = measure_driver(driver, names, ways, python=python, options=options, file=file)
    parts = []
    for name, results in found.items():
        parts += [*([f"### CPython {name}: pyperformance"] if len(found) > 1 else []), results.table()]
    how = (
        f"CPython {', '.join(found)}, {os.cpu_count()} CPUs. CPU time; the least of {rounds} × {repeat} values, "
        f"`--scale {scale}`, by the driver. The columns are those of this project's workloads."
    )
    command = f"CASSETTE_WORKLOADS=.../workloads.py {_command(given)}"
    notes = [note for results in found.values() for note in results.notes]
    _publish(given, "driver", section("pyperformance's workloads", command, how, "\n\n".join(parts), notes))
    return int(bool(notes))


# ---- the command


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the results."""
    driver = os.environ.get("CASSETTE_WORKLOADS")
    given = _parser().parse_args(arguments)
    wanted = _names(given.workloads)
    own = [name for name in OWN if not wanted or name in wanted]
    theirs = [name for name in wanted if name not in OWN]
    if theirs and not driver:
        return _wrong(f"no such workload: {', '.join(theirs)}; there are {', '.join(OWN)}")
    for option, known in (("ways", list(WAYS)), ("parts", list(SECTIONS))):
        if unknown := [name for name in _names(getattr(given, option)) if name not in known]:
            return _wrong(f"no such {option[:-1]}: {', '.join(unknown)}; there are {', '.join(known)}")
    parts = _names(given.parts) or (SECTIONS if not (wanted or given.ways) else ("own", "driver"))
    if "driver" in _names(given.parts) and not driver:
        return _wrong("there is no driver; CASSETTE_WORKLOADS has to name its workloads.py")
    pythons = _pythons(given)
    if isinstance(pythons, str):
        return _wrong(pythons)
    effort, status = Effort(given.quick), 0
    if "own" in parts and own:
        status |= _own(pythons, given, own, effort)
    if "beginning" in parts:
        status |= _beginning(pythons, given, effort)
    if "growth" in parts:
        status |= _growth(pythons, given, effort)
    if "tagging" in parts:
        status |= _tagging(pythons, given, effort)
    if "driver" in parts and driver and (theirs or not wanted):
        status |= _driver(driver, theirs, given, effort)
    return status


def _pythons(given: argparse.Namespace) -> list[Python] | str:
    """Return the interpreters to measure with, or an error message."""
    if not given.pythons:
        python = described(sys.executable)
        return [python] if python is not None else "this is no CPython from 3.11 on"
    if given.pythons == "all":
        found = installed()
    else:
        found = []
        for command in _names(given.pythons):
            python = described(command)
            if python is None:
                return f"{command} is no CPython from 3.11 on"
            found.append(python)
    environments = []
    for python in found:
        _say(f"CPython {python.name}: its environment ...")
        made, missing = with_peers(python, given.environments)
        if missing:
            _say(f"CPython {python.name}: not installed: {', '.join(missing)}")
        if problem := build_accelerator(made, ROOT, given.environments):
            _say(f"CPython {python.name}: no accelerator: {problem}")
        environments.append(made)
    return environments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    add = parser.add_argument
    listed = ", ".join(OWN)
    add("--workloads", default="", metavar="A,B", help=f"of this project ({listed}) or of the driver; all if not given")
    add(
        "--ways",
        default="",
        metavar="A,B",
        help=f"of {', '.join(WAYS)}; all for this project's workloads, some for the driver's",
    )
    add("--parts", default="", metavar="A,B", help=f"of {', '.join(SECTIONS)}; all if not given")
    add("--quick", action="store_true", help="few and short runs: five minutes for each Python")
    add("--pythons", default="", metavar="all|A,B", help="interpreters, or all that are found; this one if not given")
    add("--environments", type=Path, default=ROOT / ".benchmarks", metavar="DIR", help="where their environments lie")
    add("--output", type=Path, metavar="FILE", help="the Markdown document to put tables and chart into")
    add("--driver-python", default="3.12.1", metavar="A,B", help="for the driver: pyenv's versions, or paths")
    add("--driver-rounds", type=int, default=1, help="how often all ways take their turn on the driver's workloads")
    add(
        "--driver-results", metavar="FILE", help="where the driver's results are kept; if they are there, they are read"
    )
    add("--scale", type=float, default=0.3, help="how much work the driver's workloads do")
    return parser


def _draw(given: argparse.Namespace, name: str, picture: str) -> None:
    place = given.output.parent / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(picture, encoding="utf-8")


def _publish(given: argparse.Namespace, name: str, text: str) -> None:
    print(text, flush=True)
    if given.output is not None:
        put_into(given.output, name, text)


def _command(given: argparse.Namespace) -> str:
    """Return the command that was typed, without the paths of this machine."""
    words = ["python", "benchmarks/compare.py"]
    for option in ("workloads", "ways", "parts", "scale", "output"):
        value = getattr(given, option)
        if value is not None and value != _parser().get_default(option):
            words += [f"--{option}", str(value)]
    words += ["--pythons", "all"] if given.pythons else []
    return shlex.join([*words, *(["--quick"] if given.quick else [])])


def _environment() -> dict[str, str]:
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    caching = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")  # the cache beside the `.pyc` files is measured
    others = {name: value for name, value in os.environ.items() if name not in caching}
    return {**others, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONHASHSEED": "0"}


def _json_of(command: Sequence[str], environment: Mapping[str, str]) -> tuple[Any, str]:
    """What a worker process prints as JSON on its last line; None, and its error output, if it fails."""
    try:
        process = subprocess.run(
            command,
            env=environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return None, f"not done after {LONGEST} seconds"
    said = [line for line in process.stderr.splitlines() if line.strip()]
    if process.returncode:
        return None, said[-1] if said else f"status {process.returncode}"
    return json.loads(process.stdout.splitlines()[-1]), ""


def _names(text: str) -> list[str]:
    return [name for name in (part.strip() for part in text.split(",")) if name]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _wrong(text: str) -> int:
    _say(f"compare.py: {text}")
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
