"""pyperformance's workloads, by a driver that prepares and runs them: a program that has `compare` and `--variant`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.results import Results
from benchmarks.ways import WAYS, driver_variant

DRIVER_WAYS: Final = (
    "inactive",
    "nothing",
    "three",
    "count",
    "count-operators",
    "look",
    "tagging",
    "profile",
    "profile-in-python",
    "setprofile",
    "cprofile",
)
NEEDED: Final = ("cassette_import", "benchmarks", "astor", "importlib_metadata", "zipp")
"""What a process of the driver's needs besides what the driver gives it."""


def measure_driver(
    driver: str, names: Sequence[str], ways: Sequence[str], *, python: str, options: Sequence[str], file: Path
) -> Results:
    """Measure each workload in each way by the driver's own comparison; store its results in a file."""
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
    """Make a package importable from a folder, and none of its neighbours."""
    spec = find_spec(package)
    if spec is not None and spec.submodule_search_locations:
        (folder / package).symlink_to(next(iter(spec.submodule_search_locations)), target_is_directory=True)
