"""The list of known limits names tests that exist."""

import subprocess
import sys
from pathlib import Path

from helpers.known_limits import KNOWN_LIMITS

TESTS = Path(__file__).parents[1]


def test_every_known_limit_names_a_test():
    names = sorted({test.partition("::")[0] for test in KNOWN_LIMITS})
    files = [str(path) for name in names for path in TESTS.rglob(name)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "--thorough", "-q", "-p", "no:cacheprovider", *files],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=True,
    )
    collected = {line.rpartition("/")[2] if "::" not in line else line for line in done.stdout.splitlines()}
    tests = {test for test in KNOWN_LIMITS if not any(line.endswith(test) for line in collected)}
    assert tests == set()
