"""Imports of large packages, warm and cold; first results, without a cache and with the cache of the first process.

Each package is copied into a separate folder, so that its caches can be removed; its dependencies stay warm.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.starting import PROGRAMS

FIND = "import importlib.util; print(importlib.util.find_spec({!r}).submodule_search_locations[0])"

Seconds = dict[tuple[str, str, str], float]
"""The minimum by way, state of the caches, and kind of measurement."""


class Row(NamedTuple):
    """One line of the table: a ratio of two measurements."""

    what: str
    measured: tuple[str, str, str]
    to: tuple[str, str, str]
    target: str


def _row(what: str, way: str, state: str, kind: str, target: str = "", to: str = "") -> Row:
    return Row(what, (way, state, kind), ("plain", to or state, kind), target)


ROWS = (
    _row("import, warm", "inactive", "warm", "import", "1.05"),
    _row("import, cold", "inactive", "cold", "import", "2.0"),
    _row("first result in `nothing`, no compiled bodies cached", "Nothing", "uncached", "first", to="warm"),
    _row("first result in `nothing`, second process", "Nothing", "warm", "first", "1.3"),
    _row("first result in `count`, no compiled bodies cached", "Count", "uncached", "first", to="warm"),
    _row("first result in `count`, second process", "Count", "warm", "first", "1.3"),
    _row("first result in `look`, no compiled bodies cached", "Look", "uncached", "first", to="warm"),
    _row("first result in `look`, second process", "Look", "warm", "first", "1.3"),
    Row("memory, installed and inactive", ("inactive", "warm", "memory"), ("bare", "warm", "memory"), "1.05"),
)


def measure(
    python: str, package: str, rounds: int, environment: Mapping[str, str], source: str | None = None
) -> tuple[Seconds, list[str]]:
    """The least of each measurement; the ways take turns. And the problems."""
    notes: list[str] = []
    if source is None:
        found = subprocess.run(
            [python, "-c", FIND.format(package)], env=environment, capture_output=True, text=True, check=False
        )
        if found.returncode:
            return {}, [f"{package}: not installed"]
        source = found.stdout.strip()
    least: Seconds = defaultdict(lambda: float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, package)
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "tests"))
        paths = os.pathsep.join([folder, environment["PYTHONPATH"]])
        for _ in range(rounds):
            for way in ("plain", "bare", "inactive", "Nothing", "Count", "Look"):
                steps = ("cold", "warm") if way in ("plain", "bare", "inactive") else ("uncached", "warm")
                for state in steps:
                    _prepare(copy, state)
                    process = subprocess.run(
                        [python, "-m", "benchmarks.starting", way, package],
                        env={**environment, "PYTHONPATH": paths},
                        stdin=subprocess.DEVNULL,
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                    if process.returncode:
                        notes.append(f"{package}, {way}: {process.stderr.strip().splitlines()[-1]}")
                        break
                    for kind, value in json.loads(process.stdout.splitlines()[-1]).items():
                        least[way, state, kind] = min(least[way, state, kind], value)
    return dict(least), notes


def _prepare(copy: Path, state: str) -> None:
    """Remove all caches, or those of cassette_import."""
    if state == "cold":
        for folder in list(copy.rglob("__pycache__")):
            shutil.rmtree(folder)
    elif state == "uncached":
        for file in list(copy.rglob("__pycache__/*cassette*")):
            file.unlink()


def table(found: Mapping[str, Seconds]) -> str:
    """Return a Markdown table: a row for each measurement, a column for each package."""
    lines = [f"| | target | {' | '.join(found)} |", f"|---|--:|{'--:|' * len(found)}"]
    for row in ROWS:
        cells = [
            f"{least[row.measured] / least[row.to]:.2f}" if row.measured in least and row.to in least else "–"
            for least in found.values()
        ]
        lines.append(f"| {row.what} | {row.target} | {' | '.join(cells)} |")
    for what, key, unit, factor in (
        ("plain import, warm", ("plain", "warm", "import"), "s", 1.0),
        ("plain import, cold", ("plain", "cold", "import"), "s", 1.0),
        ("plain, up to the first result", ("plain", "warm", "first"), "s", 1.0),
        ("plain memory", ("bare", "warm", "memory"), "MB", 1 / 1024),
    ):
        cells = [f"{least[key] * factor:.2f} {unit}" if key in least else "–" for least in found.values()]
        lines.append(f"| {what} | | {' | '.join(cells)} |")
    return "\n".join(lines)


PACKAGES = tuple(PROGRAMS)
