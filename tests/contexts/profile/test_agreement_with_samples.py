"""The shares of a profile are closer to samples of the plain program than those of `cProfile`.

See `benchmarks/profile_accuracy.py`, which also prints a table of all programs.
"""

import argparse
import os
import shutil
import sys

import pytest

from benchmarks.profile_accuracy import PROGRAMS, Program, measured, reference

PY_SPY = shutil.which("py-spy", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")]))

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("CASSETTE_TEST_TIMINGS"),
        reason="compares times: set CASSETTE_TEST_TIMINGS=1 on a machine that is quiet",
    ),
    pytest.mark.skipif(PY_SPY is None, reason="py-spy is not installed"),
]


@pytest.mark.parametrize("name", sorted(path.stem for path in PROGRAMS.glob("[a-z]*.py")))
def test_the_shares_are_closer_to_samples_than_those_of_cprofile(name, tmp_path, hooks):
    arguments = argparse.Namespace(seconds=4.0, py_spy=PY_SPY, rounds=3)
    program = Program(name, tmp_path, sys.executable)
    known = reference(program, arguments, None)
    error, _, _ = measured(program, known, 3, "1" if hooks == "in C" else "0")
    assert error <= sorted(known["cprofile"])[1]
