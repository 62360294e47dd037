"""Runs programs in separate processes: by plain Python, and by `python -m cassette_import`."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import cassette_import

CHECKOUT = str(Path(cassette_import.__file__).parents[1])
"""Where the package is imported from: it may have been installed."""

PROJECT = Path(__file__).parents[2]


class Outcome(NamedTuple):
    """Exit status and output of a program; addresses, which differ from run to run, are removed."""

    status: int
    stdout: str
    stderr: str


def environment(**variables):
    """Return the environment of a test's child process: this package is importable, and no other option is set."""
    others = ("PYTEST_", "PYTHON", "COV_", "CASSETTE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    return {
        **kept,
        "PYTHONPATH": CHECKOUT,
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **variables,
    }


def run(*words, folder, flags=(), stdin="", **variables):
    """Run Python with these arguments."""
    done = subprocess.run(
        [sys.executable, *flags, *map(str, words)],
        cwd=folder,
        env=environment(**variables),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Outcome(done.returncode, without_addresses(done.stdout), without_addresses(done.stderr))


def cassette(*words, folder, flags=(), **more):
    """Run `python -m cassette_import` with these arguments; the notice of a slow first run is removed."""
    done = run("-m", "cassette_import", *words, folder=folder, flags=flags, **more)
    return done._replace(
        stderr=re.sub(r"(?m)^cassette_import: .* specialised in .* seconds so far; .*\n", "", done.stderr)
    )


def without_addresses(text):
    return re.sub(r"\b0x[0-9a-f]{6,}", "0x", text)
